/* What a supervisor that was taken over may say to the launcher: any records, also with descriptors, also over a
 * connection that replaces its own. Nothing but a start or stop of a slot that there is comes out of the door. */
#include <ev.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "shared/base/log.h"
#include "shared/base/mem.h"
#include "supervisor/launcher/door.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define SLOTS 5

static void must(bool fact)
{
    if (!fact)
        abort();
}

struct world {
    struct ev_loop *loop;
    struct door door;
    char dir[40], path[64];
    int listener, peer;
    unsigned greeted, told;
};

static void on_connect(void *arg)
{
    struct world *w = arg;

    w->greeted++;
    door_send(&w->door, (struct launch_msg){ .op = LAUNCH_READY, .value = SLOTS });
}

static void on_message(void *arg, const struct launch_msg *m)
{
    struct world *w = arg;

    must(m->magic == LAUNCH_MAGIC && (m->op == LAUNCH_START || m->op == LAUNCH_STOP) && m->slot < SLOTS);
    w->told++;
    door_send(&w->door, (struct launch_msg){ .op = LAUNCH_CLEAN, .slot = m->slot });
}

static void reconnect(struct world *w)
{
    struct sockaddr_un a = { .sun_family = AF_UNIX };

    if (w->peer >= 0)
        close(w->peer);
    memcpy(a.sun_path, w->path, strlen(w->path) + 1);
    w->peer = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    must(w->peer >= 0 && connect(w->peer, (struct sockaddr *)&a, sizeof(a)) == 0);
    ev_run(w->loop, EVRUN_NOWAIT);
    ev_run(w->loop, EVRUN_NOWAIT);
}

static void set_up(struct world *w)
{
    *w = (struct world){ .peer = -1 };
    memcpy(w->dir, "/tmp/agentsim-fuzz-XXXXXX", 26);
    must(mkdtemp(w->dir) != NULL);
    (void)snprintf(w->path, sizeof(w->path), "%s/s", w->dir);
    w->listener = door_listen(w->path, (gid_t)-1, NULL);
    w->loop = ev_loop_new(EVBACKEND_EPOLL);
    must(w->listener >= 0 && w->loop);
    w->door = (struct door){
        .client = getuid(), .n_slots = SLOTS, .on_connect = on_connect, .on_message = on_message, .arg = w
    };
    door_open(&w->door, w->loop, w->listener);
    reconnect(w);
}

static void tear_down(struct world *w)
{
    door_close(&w->door);
    ev_loop_destroy(w->loop);
    close(w->listener);
    close(w->peer);
    unlink(w->path);
    rmdir(w->dir);
}

static void say(struct world *w, const void *data, size_t len, bool with_descriptor)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control = { { 0 } };
    struct iovec part = { (void *)(uintptr_t)data, len };
    struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1 };
    struct cmsghdr *c;

    if (with_descriptor) {
        m.msg_control = control.bytes;
        m.msg_controllen = sizeof(control.bytes);
        c = CMSG_FIRSTHDR(&m);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(c), &w->listener, sizeof(int));
    }
    (void)sendmsg(w->peer, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
    ev_run(w->loop, EVRUN_NOWAIT);
}

/* One step: how, how long, then bytes. Bit 0: bytes are a message's fields behind the right magic; bit 1: a descriptor
 * comes along; bit 2: over a new connection; bit 3: answers are read. */
static const uint8_t *step(struct world *w, const uint8_t *data, const uint8_t *end)
{
    uint8_t how = data[0], drop[64];
    size_t len = data[1];
    struct launch_msg m = { .magic = LAUNCH_MAGIC };

    data += 2;
    if (len > (size_t)(end - data))
        len = (size_t)(end - data);
    if (how & 4)
        reconnect(w);
    if (how & 1) {
        memcpy((char *)&m + sizeof(m.magic), data,
               len < sizeof(m) - sizeof(m.magic) ? len : sizeof(m) - sizeof(m.magic));
        say(w, &m, sizeof(m), how & 2);
    } else {
        say(w, data, len, how & 2);
    }
    while ((how & 8) && recv(w->peer, drop, sizeof(drop), MSG_DONTWAIT) > 0)
        ;
    return data + len;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *end = data + size;
    struct world w;
    int before, after;

    log_setup("fuzz", false, LOG__MAX);
    set_up(&w);
    before = fcntl(w.listener, F_DUPFD_CLOEXEC, 0);
    close(before);
    while (end - data >= 2)
        data = step(&w, data, end);
    reconnect(&w);
    must(w.greeted >= 2 && w.door.conn >= 0); /* whatever was said: the next one is served */
    after = fcntl(w.listener, F_DUPFD_CLOEXEC, 0);
    close(after);
    must(after <= before + 1); /* no descriptor that came along stays */
    tear_down(&w);
    return 0;
}
