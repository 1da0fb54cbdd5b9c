#include "supervisor/launch_client.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "shared/base/log.h"
#include "shared/base/mem.h"
#include "shared/ipc/version.h"

#define PAUSE_MIN 0.05
#define PAUSE_MAX 2.0
#define QUEUE_MAX 65536 /* two messages for each of the most slots there can be is far less */

static void try_to_connect(struct launch_client *c);

bool launch_msg_valid(const struct launch_msg *m, size_t len, uint32_t slots)
{
    if (len != sizeof(*m) || m->magic != LAUNCH_MAGIC || m->op < LAUNCH_SLOT || m->op > LAUNCH_QUARANTINED)
        return false;
    if (m->op == LAUNCH_READY)
        return m->value >= 0 && m->value <= slots;
    return m->slot < slots && m->state <= LAUNCH_SLOT_QUARANTINED;
}

static void try_later(struct launch_client *c)
{
    ev_timer_stop(c->loop, &c->retry);
    ev_timer_set(&c->retry, c->pause, 0.);
    ev_timer_start(c->loop, &c->retry);
    c->pause = c->pause * 2 > PAUSE_MAX ? PAUSE_MAX : c->pause * 2;
}

static void hang_up(struct launch_client *c)
{
    ev_io_stop(c->loop, &c->read);
    ev_io_stop(c->loop, &c->write);
    close(c->fd);
    c->fd = -1;
    c->ready = c->foreign = false;
    c->version = 0;
    c->queue_len = c->queue_pos = 0;
}

static void lose(struct launch_client *c, const char *why, int errnum)
{
    log_warn("launcher: %s%s%s; connecting again", why, errnum ? ": " : "", errnum ? strerror(errnum) : "");
    hang_up(c);
    c->events->lost(c->owner);
    try_later(c);
}

/* A launcher that came after us has news that we do not know. */
static bool may_be_skipped(const struct launch_client *c, const struct launch_msg *m, size_t len)
{
    return c->version > IPC_VERSION && len == sizeof(*m) && m->magic == LAUNCH_MAGIC && m->op >= LAUNCH_OP_MAX;
}

/* -1: it is of a build that has nothing in common with ours. It is not asked for anything. */
static int take_version(struct launch_client *c, uint32_t word)
{
    uint32_t oldest;

    launch_version_split(word, &c->version, &oldest);
    c->foreign = !ipc_compatible(c->version, oldest);
    if (c->foreign)
        log_error(
            "launcher: it speaks version %u, and none before %u; this supervisor speaks %u to %u: restart the service",
            c->version, oldest, IPC_OLDEST, IPC_VERSION);
    else if (c->version < IPC_VERSION)
        log_warn("launcher: it is of an older build (version %u, ours is %u)", c->version, IPC_VERSION);
    return c->foreign ? -1 : 0;
}

/* Handlers may send, and so lose the connection, while messages are being taken. */
static void on_readable(struct ev_loop *loop, struct ev_io *w, int revents)
{
    struct launch_client *c = w->data;

    (void)loop;
    (void)revents;
    while (c->fd >= 0) {
        struct launch_msg m = { 0 };
        ssize_t n = recv(c->fd, &m, sizeof(m), MSG_TRUNC);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return;
        if (n <= 0) {
            lose(c, n < 0 ? "receive" : "it closed the channel", n < 0 ? errno : 0);
            return;
        }
        if (may_be_skipped(c, &m, (size_t)n))
            continue;
        if (!launch_msg_valid(&m, (size_t)n, c->ready ? c->there : c->slots)) {
            lose(c, "it sent a malformed message", 0);
            return;
        }
        if (m.op == LAUNCH_READY) {
            if (take_version(c, m.slot) < 0)
                continue;
            c->ready = true;
            c->there = m.value ? (uint32_t)m.value : c->slots;
            c->complained = false;
            c->pause = PAUSE_MIN;
        }
        c->events->message(c->owner, &m);
    }
}

static int send_queue(struct launch_client *c)
{
    while (c->queue_pos < c->queue_len) {
        ssize_t n = send(c->fd, &c->queue[c->queue_pos], sizeof(*c->queue), MSG_NOSIGNAL | MSG_DONTWAIT);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN) {
            ev_io_start(c->loop, &c->write);
            return 0;
        }
        if (n < 0)
            return -1;
        c->queue_pos++;
    }
    c->queue_len = c->queue_pos = 0;
    ev_io_stop(c->loop, &c->write);
    return 0;
}

static void on_writable(struct ev_loop *loop, struct ev_io *w, int revents)
{
    struct launch_client *c = w->data;

    (void)loop;
    (void)revents;
    if (send_queue(c) < 0)
        lose(c, "send", errno);
}

int launch_client_send(struct launch_client *c, enum launch_op op, uint32_t slot, const struct id *id)
{
    void *queue = c->queue;

    if (!c->ready)
        return -1;
    if (c->queue_len >= QUEUE_MAX || mem_grow(&queue, c->queue_len, &c->queue_cap, sizeof(*c->queue)) < 0) {
        shutdown(c->fd, SHUT_RDWR); /* the end is noticed on the loop, not inside a caller */
        return -1;
    }
    c->queue = queue;
    c->queue[c->queue_len++] = (struct launch_msg){ .magic = LAUNCH_MAGIC, .op = op, .slot = slot };
    if (id)
        c->queue[c->queue_len - 1].id = *id;
    if (send_queue(c) < 0)
        shutdown(c->fd, SHUT_RDWR);
    return 0;
}

static void complain_once(struct launch_client *c, int errnum)
{
    if (!c->complained)
        log_warn("launcher: connect to %s: %s; trying until it answers", c->path, strerror(errnum));
    c->complained = true;
}

static void try_to_connect(struct launch_client *c)
{
    struct sockaddr_un a = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (strlen(c->path) < sizeof(a.sun_path))
        memcpy(a.sun_path, c->path, strlen(c->path) + 1);
    if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof(a)) < 0) {
        complain_once(c, errno);
        if (fd >= 0)
            close(fd);
        try_later(c);
        return;
    }
    c->fd = fd;
    ev_io_set(&c->read, fd, EV_READ);
    ev_io_set(&c->write, fd, EV_WRITE);
    ev_io_start(c->loop, &c->read);
}

static void on_retry(struct ev_loop *loop, struct ev_timer *w, int revents)
{
    (void)loop;
    (void)revents;
    try_to_connect(w->data);
}

void launch_client_start(struct launch_client *c, struct ev_loop *loop, const char *path, uint32_t slots,
                         const struct launch_events *events, void *owner)
{
    *c = (struct launch_client){
        .loop = loop, .path = path, .slots = slots, .events = events, .owner = owner, .fd = -1, .pause = PAUSE_MIN
    };
    ev_io_init(&c->read, on_readable, -1, EV_READ);
    ev_io_init(&c->write, on_writable, -1, EV_WRITE);
    ev_timer_init(&c->retry, on_retry, 0., 0.);
    c->read.data = c->write.data = c->retry.data = c;
    try_to_connect(c);
}

void launch_client_stop(struct launch_client *c)
{
    if (!c->loop)
        return;
    ev_timer_stop(c->loop, &c->retry);
    if (c->fd >= 0)
        hang_up(c);
    mem_free(c->queue);
    *c = (struct launch_client){ .fd = -1 };
}

bool launch_client_ready(const struct launch_client *c)
{
    return c->ready;
}
