#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "shared/base/io.h"
#include "shared/base/mem.h"
#include "shared/base/time.h"
#include "shared/ipc/frame.h"
#include "shared/ipc/hold.h"
#include "shared/ipc/rpc.h"
#include "shared/ipc/wire.h"

struct fake { /* a supervisor that takes one connection in a child process */
    char dir[40], path[60];
    int server;
    pid_t child;
};

static int make_fake(void **state)
{
    struct fake *f = mem_zalloc(1, sizeof(*f));
    struct err err;

    *state = f;
    if (!f)
        return -1;
    snprintf(f->dir, sizeof(f->dir), "/tmp/test_rpc_XXXXXX");
    if (!mkdtemp(f->dir))
        return -1;
    snprintf(f->path, sizeof(f->path), "%s/s", f->dir);
    f->server = io_unix_listen(f->path, 0600, (gid_t)-1, 4, &err);
    return f->server < 0 ? -1 : 0;
}

static int drop_fake(void **state)
{
    struct fake *f = *state;
    int status = 0;

    close(f->server);
    if (f->child)
        waitpid(f->child, &status, 0);
    unlink(f->path);
    rmdir(f->dir);
    mem_free(f);
    return status;
}

/* The child answers the first request with what answer() sends. */
static void serve(struct fake *f, void (*answer)(int sock, uint16_t type, const struct buf *request))
{
    auto_buf struct buf request;
    struct err err;
    uint16_t type = 0;
    int sock;

    buf_init(&request, RPC_MAX_PAYLOAD);
    f->child = fork();
    assert_true(f->child >= 0);
    if (f->child)
        return;
    sock = accept(f->server, NULL, NULL);
    if (frame_recv(sock, &type, &request, NULL, &err) == 1)
        answer(sock, type, &request);
    buf_release(&request);
    _exit(0);
}

static void answer_created(int sock, uint16_t type, const struct buf *request)
{
    auto_buf struct buf b;
    struct wire_in in;
    struct err err;

    wire_start(&in, request->data, request->len);
    buf_init(&b, 100);
    wire_put_u32(&b, type == RPC_CREATE && strcmp(wire_get_str(&in, 100), "hello") == 0 ? 8765 : 0);
    frame_send(sock, RPC_CREATED, &b, STDIN_FILENO, &err);
}

static void an_answer_comes_back_with_its_descriptor(void **state)
{
    struct fake *f = *state;
    auto_buf struct buf request;
    auto_buf struct buf answer;
    auto_fd int fd = -1;
    enum rpc_type type;
    struct wire_in in;
    struct err err;

    buf_init(&request, 100);
    buf_init(&answer, RPC_MAX_PAYLOAD);
    wire_put_str(&request, "hello");
    serve(f, answer_created);
    assert_int_equal(rpc_call(f->path, RPC_CREATE, &request, 5000, &type, &answer, &fd, &err), 0);
    assert_int_equal(type, RPC_CREATED);
    wire_start(&in, answer.data, answer.len);
    assert_int_equal(wire_get_u32(&in), 8765);
    assert_true(fd > 2);
}

static void answer_refusal(int sock, uint16_t type, const struct buf *request)
{
    struct err said = { .kind = ERR_LIMIT, .wait = 17, .msg = "too many" }, err;
    auto_buf struct buf b;

    (void)type;
    (void)request;
    buf_init(&b, 1000);
    rpc_put_error(&b, &said);
    frame_send(sock, RPC_ERROR, &b, -1, &err);
}

static void a_refusal_keeps_kind_wait_and_words(void **state)
{
    struct fake *f = *state;
    auto_buf struct buf answer;
    enum rpc_type type;
    struct err err;

    buf_init(&answer, RPC_MAX_PAYLOAD);
    serve(f, answer_refusal);
    assert_int_equal(rpc_call(f->path, RPC_HEALTH, NULL, 5000, &type, &answer, NULL, &err), -1);
    assert_int_equal(err.kind, ERR_LIMIT);
    assert_int_equal(err.wait, 17);
    assert_string_equal(err.msg, "too many");
}

static void answer_nonsense(int sock, uint16_t type, const struct buf *request)
{
    auto_buf struct buf b;
    struct err err;

    (void)type;
    (void)request;
    buf_init(&b, 1000);
    wire_put_u32(&b, 9999);
    frame_send(sock, RPC_ERROR, &b, -1, &err);
}

static void answer_garbage(int sock, uint16_t type, const struct buf *request)
{
    (void)type;
    (void)request;
    io_write_all(sock, "HTTP/1.1 200 OK\r\n\r\n", 19);
}

static void answer_nothing(int sock, uint16_t type, const struct buf *request)
{
    (void)type;
    (void)request;
    close(sock);
}

static void broken_answers_are_told_apart_from_none(void **state)
{
    static const struct {
        void (*answer)(int sock, uint16_t type, const struct buf *request);
        enum err_kind kind;
    } rows[] = {
        { answer_nonsense, ERR_UPSTREAM },
        { answer_garbage, ERR_UPSTREAM },
        { answer_nothing, ERR_UNAVAILABLE },
    };
    struct fake *f = *state;
    size_t i;

    for (i = 0; i < ARRAY_LEN(rows); i++) {
        auto_buf struct buf answer;
        enum rpc_type type;
        struct err err;
        int status;

        buf_init(&answer, RPC_MAX_PAYLOAD);
        serve(f, rows[i].answer);
        assert_int_equal(rpc_call(f->path, RPC_HEALTH, NULL, 5000, &type, &answer, NULL, &err), -1);
        assert_int_equal(err.kind, rows[i].kind);
        assert_int_equal(waitpid(f->child, &status, 0), f->child);
        f->child = 0;
    }
}

static void a_silent_supervisor_costs_the_deadline_only(void **state)
{
    struct fake *f = *state;
    auto_buf struct buf answer;
    enum rpc_type type;
    struct err err;
    int64_t before = time_mono_ms();

    buf_init(&answer, RPC_MAX_PAYLOAD);
    assert_int_equal(rpc_call(f->path, RPC_HEALTH, NULL, 50, &type, &answer, NULL, &err), -1);
    assert_int_equal(err.kind, ERR_UNAVAILABLE);
    assert_in_range(time_mono_ms() - before, 40, 5000);
}

static void no_supervisor_is_unavailable(void **state)
{
    auto_buf struct buf answer;
    enum rpc_type type;
    struct err err;

    (void)state;
    buf_init(&answer, RPC_MAX_PAYLOAD);
    assert_int_equal(rpc_call("/nonexistent/s", RPC_HEALTH, NULL, 50, &type, &answer, NULL, &err), -1);
    assert_int_equal(err.kind, ERR_UNAVAILABLE);
}

static void records_survive_the_wire(void **state)
{
    struct rpc_session s = { .actor = "ip:192.0.2.1",
                             .state = "ready",
                             .started_wall_ms = 1,
                             .expires_wall_ms = 2,
                             .attached = true,
                             .frames = 3,
                             .exit_reason = "",
                             .exit_code = -9,
                             .slot = 4 },
                       t;
    struct rpc_status u = { .sessions = 1,
                            .capacity = 5,
                            .quarantined = 2,
                            .sandbox = "ok",
                            .egress = "none",
                            .cgroup = "v2",
                            .warm = 1,
                            .warm_pool = 2 },
                      v;
    auto_buf struct buf b;
    struct wire_in in;
    size_t n;

    (void)state;
    id_new(&s.id);
    buf_init(&b, 1000);
    rpc_put_session(&b, &s);
    wire_start(&in, b.data, b.len);
    assert_int_equal(rpc_get_session(&in, &t), 0);
    assert_int_equal(wire_end(&in), 0);
    assert_true(id_equal(&s.id, &t.id));
    assert_string_equal(t.actor, "ip:192.0.2.1");
    assert_int_equal(t.exit_code, -9);
    assert_int_equal(t.slot, 4);
    for (n = 0; n < b.len; n++) {
        wire_start(&in, b.data, n);
        assert_int_equal(rpc_get_session(&in, &t), -1);
    }
    buf_clear(&b);
    rpc_put_status(&b, &u);
    wire_start(&in, b.data, b.len);
    assert_int_equal(rpc_get_status(&in, &v), 0);
    assert_string_equal(v.cgroup, "v2");
    assert_true(v.warm == 1 && v.warm_pool == 2);
    for (n = 0; n < b.len; n++) {
        wire_start(&in, b.data, n);
        assert_int_equal(rpc_get_status(&in, &v), -1);
    }
}

static void holder_words_are_those_of_the_contract(void **state)
{
    (void)state;
    assert_string_equal(hold_reason_name(HOLD_REASON_START_FAILED), "start-failed");
    assert_string_equal(hold_reason_name(HOLD_REASON_EXITED), "exited");
    assert_string_equal(hold_reason_name(HOLD_REASON_NONE), "");
    assert_string_equal(hold_reason_name(HOLD_REASON__MAX), "");
    assert_string_equal(hold_phase_name(HOLD_READY), "ready");
    assert_string_equal(hold_phase_name(HOLD_PHASE__MAX), "");
    assert_int_equal(hold_agent_port(false, 7700, 3), HOLD_AGENT_PORT);
    assert_int_equal(hold_agent_port(true, 7700, 3), 7703);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_answer_comes_back_with_its_descriptor, make_fake, drop_fake),
        cmocka_unit_test_setup_teardown(a_refusal_keeps_kind_wait_and_words, make_fake, drop_fake),
        cmocka_unit_test_setup_teardown(broken_answers_are_told_apart_from_none, make_fake, drop_fake),
        cmocka_unit_test_setup_teardown(a_silent_supervisor_costs_the_deadline_only, make_fake, drop_fake),
        cmocka_unit_test(records_survive_the_wire),
        cmocka_unit_test(holder_words_are_those_of_the_contract),
        cmocka_unit_test(no_supervisor_is_unavailable),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
