#include "tests/support/fake_service.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shared/base/io.h"
#include "shared/base/mem.h"
#include "shared/ipc/frame.h"
#include "shared/ipc/wire.h"

/* One end for the worker; the other is played by a process of its own. */
static int play_holder(const struct fake_plan *plan)
{
    int s[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, s) < 0)
        return -1;
    if (fork() == 0) {
        close(s[0]);
        plan->holder(s[1]);
        _exit(0);
    }
    close(s[1]);
    return s[0];
}

static void refuse(int sock, const struct fake_plan *plan, enum err_kind kind)
{
    struct err said = { .kind = kind, .wait = plan->wait, .msg = "the plan says no" }, err;
    auto_buf struct buf b;

    buf_init(&b, 1000);
    rpc_put_error(&b, &said);
    frame_send(sock, RPC_ERROR, &b, -1, &err);
}

static void put_answer(uint16_t type, const struct fake_plan *plan, struct buf *b)
{
    const struct rpc_session s = { .actor = "ip:192.0.2.1",
                                   .state = "READY",
                                   .started_wall_ms = 1769860800123,
                                   .expires_wall_ms = 1769861700123,
                                   .frames = 7,
                                   .exit_reason = "" };
    const struct rpc_status st = { .sessions = 2, .capacity = 5, .sandbox = "ok", .egress = "none", .cgroup = "v2" };

    if (type == RPC_CREATE)
        wire_put_u32(b, plan->port);
    else if (type == RPC_INFO)
        rpc_put_session(b, &s);
    else if (type == RPC_HEALTH)
        rpc_put_status(b, &st);
}

static void grant(int sock, uint16_t type, const struct fake_plan *plan)
{
    static const uint16_t answers[] = {
        [RPC_ADMIT] = RPC_OK, [RPC_CREATE] = RPC_CREATED, [RPC_INFO] = RPC_SESSION,
        [RPC_OPEN] = RPC_OK,  [RPC_END] = RPC_OK,         [RPC_HEALTH] = RPC_STATUS,
    };
    auto_fd int fd = -1;
    auto_buf struct buf b;
    struct err err;

    buf_init(&b, RPC_MAX_PAYLOAD);
    put_answer(type, plan, &b);
    if (type == RPC_CREATE || type == RPC_OPEN)
        fd = play_holder(plan);
    frame_send(sock, answers[type], &b, fd, &err);
}

static bool refused(const struct fake_plan *plan, uint16_t type, const struct buf *request)
{
    uint32_t flags;

    if (plan->refuse[type] == ERR_NONE)
        return false;
    if (type != RPC_ADMIT || !plan->refuse_cap_only)
        return true;
    memcpy(&flags, request->data + request->len - sizeof(flags), sizeof(flags));
    return flags & RPC_ADMIT_CAP;
}

static void serve_one(int sock, const struct fake_plan *plan, int log)
{
    auto_buf struct buf request;
    struct err err;
    uint16_t type;

    buf_init(&request, RPC_MAX_PAYLOAD);
    if (frame_recv(sock, &type, &request, NULL, &err) != 1 || type < RPC_ADMIT || type > RPC_HEALTH)
        return;
    io_write_all(log, &"?ACIOEH"[type], 1);
    if (refused(plan, type, &request))
        refuse(sock, plan, plan->refuse[type]);
    else
        grant(sock, type, plan);
}

int fake_service_start(struct fake_service *f, const struct fake_plan *plan)
{
    int server, log[2];
    struct err err;

    *f = (struct fake_service){ .asked = -1 };
    snprintf(f->dir, sizeof(f->dir), "/tmp/fake_service_XXXXXX");
    if (!mkdtemp(f->dir))
        return -1;
    snprintf(f->socket, sizeof(f->socket), "%s/supervisor.sock", f->dir);
    server = io_unix_listen(f->socket, 0600, (gid_t)-1, 16, &err);
    if (server < 0 || pipe(log) < 0)
        return -1;
    f->pid = fork();
    if (f->pid == 0) {
        close(log[0]);
        for (;;) {
            int sock = accept4(server, NULL, NULL, SOCK_CLOEXEC);

            if (sock < 0)
                _exit(1);
            serve_one(sock, plan, log[1]);
            close(sock);
        }
    }
    close(server);
    close(log[1]);
    f->asked = log[0];
    return f->pid < 0 ? -1 : 0;
}

void fake_service_stop(struct fake_service *f, struct buf *asked)
{
    struct err err;

    if (f->pid > 0) {
        kill(f->pid, SIGKILL);
        waitpid(f->pid, NULL, 0);
    }
    if (asked && f->asked >= 0)
        io_read_rest(f->asked, asked, &err);
    if (f->asked >= 0)
        close(f->asked);
    unlink(f->socket);
    rmdir(f->dir);
}
