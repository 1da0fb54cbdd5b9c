#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "shared/base/io.h"
#include "shared/base/log.h"
#include "shared/base/mem.h"
#include "supervisor/holder/holder.h"

#define FIRST_MESSAGE_S 10.0
#define DRAIN_S 10.0
#define ACCEPT_AGAIN_S 0.2
#define CONNS_MAX 64
#define OUT_MAX ((size_t)FRAME_MAX + ((size_t)1 << 20))

static const struct conn_role *role_for(uint16_t type)
{
    switch (type) {
    case HOLD_CONTROL:
    case HOLD_WARM_UP:
    case HOLD_CLAIM:
        return &control_role;
    case HOLD_BUNDLE:
        return &bundle_role;
    case HOLD_ATTACH:
        return &attach_role;
    case HOLD_LIST:
    case HOLD_READ:
    case HOLD_WALK:
        return &files_role;
    case HOLD_TRANSCRIPT:
        return &transcript_role;
    case HOLD_PROBE:
        return &probe_role;
    default:
        return NULL;
    }
}

/* Freed later: callers up the stack may still look at it. */
void conn_close(struct conn *c)
{
    struct holder *h = c->holder;
    struct conn **p;

    if (c->fd < 0)
        return;
    ev_io_stop(h->loop, &c->reader);
    ev_io_stop(h->loop, &c->writer);
    ev_timer_stop(h->loop, &c->patience);
    cleanup_fd_close(&c->fd);
    c->fd = -1;
    for (p = &h->conns; *p && *p != c; p = &(*p)->next)
        ;
    if (*p)
        *p = c->next;
    c->next = h->dead;
    h->dead = c;
    if (c->role && c->role->closed)
        c->role->closed(c);
}

/* Frees what conn_close() left. */
static void bury(struct holder *h)
{
    while (h->dead) {
        struct conn *c = h->dead;

        h->dead = c->next;
        frame_reader_release(&c->in);
        frame_writer_release(&c->out);
        mem_free(c);
    }
}

void conn_close_all(struct holder *h)
{
    while (h->conns)
        conn_close(h->conns);
    bury(h);
}

/* A peer in the middle of its own words would hear of a broken pipe before it reads ours. */
static void said_all(struct conn *c)
{
    if (!c->drain) {
        conn_close(c);
        return;
    }
    (void)shutdown(c->fd, SHUT_WR);
    ev_timer_stop(c->holder->loop, &c->patience);
    ev_timer_set(&c->patience, DRAIN_S, 0);
    ev_timer_start(c->holder->loop, &c->patience);
}

static void discard(struct conn *c)
{
    char chunk[16384];
    ssize_t n = recv(c->fd, chunk, sizeof(chunk), MSG_DONTWAIT);

    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
        conn_close(c);
}

static void flush(struct conn *c)
{
    if (c->broken || frame_writer_flush(&c->out, c->fd) < 0) {
        conn_close(c);
        return;
    }
    if (frame_writer_pending(&c->out))
        ev_io_start(c->holder->loop, &c->writer);
    else
        ev_io_stop(c->holder->loop, &c->writer);
    if (c->last && !frame_writer_pending(&c->out))
        said_all(c);
    else if (c->role && c->role->sent)
        c->role->sent(c);
}

int conn_put(struct conn *c, uint16_t type, const struct buf *payload)
{
    if (c->fd < 0)
        return -1;
    if (payload && buf_failed(payload))
        return -1;
    if (frame_writer_put(&c->out, type, payload ? payload->data : NULL, payload ? payload->len : 0) < 0)
        return -1;
    ev_io_start(c->holder->loop, &c->writer);
    return 0;
}

/* The watcher stays while something waits, and finds out what an error means. */
void conn_push(struct conn *c)
{
    if (c->fd < 0 || c->last || frame_writer_flush(&c->out, c->fd) < 0)
        return;
    if (!frame_writer_pending(&c->out))
        ev_io_stop(c->holder->loop, &c->writer);
}

/* A peer that is gone may have said something before: it ends when the loop comes to it. */
size_t conn_send(struct conn *c, struct iovec *parts, size_t count)
{
    const struct msghdr m = { .msg_iov = parts, .msg_iovlen = count };
    size_t i, all = 0;
    ssize_t n;

    for (i = 0; i < count; i++)
        all += parts[i].iov_len;
    do
        n = sendmsg(c->fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (n < 0 && errno == EINTR);
    c->broken = n < 0 && errno != EAGAIN;
    n = n < 0 ? 0 : n;
    if ((size_t)n < all)
        ev_io_start(c->holder->loop, &c->writer);
    else
        ev_io_stop(c->holder->loop, &c->writer);
    return (size_t)n;
}

/* What still comes in is of no interest any more; an end of the connection shows in the writer. */
void conn_finish(struct conn *c)
{
    if (c->fd < 0)
        return;
    c->last = true;
    if (c->drain)
        ev_io_start(c->holder->loop, &c->reader);
    else
        ev_io_stop(c->holder->loop, &c->reader);
    ev_io_start(c->holder->loop, &c->writer);
}

void conn_fail(struct conn *c, const struct err *err)
{
    auto_buf struct buf b;

    buf_init(&b, 4096);
    wire_put_u32(&b, err->kind);
    wire_put_u32(&b, 0);
    wire_put_str(&b, err->msg);
    c->drain = true;
    if (conn_put(c, HOLD_FAILED, &b) < 0)
        conn_close(c);
    else
        conn_finish(c);
}

bool conn_peer_gone(const struct conn *c)
{
    struct pollfd p = { .fd = c->fd };

    return c->fd >= 0 && poll(&p, 1, 0) > 0 && (p.revents & (POLLHUP | POLLERR));
}

/* One message: -1 when the connection has to end. */
static int handle(struct conn *c, uint16_t type, const void *payload, size_t len)
{
    struct wire_in in;

    if (!c->role) {
        c->role = role_for(type);
        ev_timer_stop(c->holder->loop, &c->patience);
    }
    if (!c->role) { /* of a build that came after us, perhaps: whoever asks for a user can tell why it does not work */
        struct err err;

        err_set(&err, ERR_UNAVAILABLE, 0,
                "This session was started by another version of the service and cannot do that");
        conn_fail(c, &err);
        return 0;
    }
    wire_start(&in, payload, len);
    return c->role->message(c, type, &in);
}

static void handle_all(struct conn *c)
{
    while (c->fd >= 0 && !c->paused && !c->last) {
        const void *payload;
        struct err err = { 0 };
        uint16_t type;
        size_t len;
        int r = frame_reader_next(&c->in, &type, &payload, &len, &err);

        if (r == 0) {
            frame_reader_slim(&c->in);
            break;
        }
        if (r < 0 || handle(c, type, payload, len) < 0) {
            if (c->fd >= 0 && !c->last) {
                log_debug("connection ended: %s", r < 0 ? err.msg : "unexpected message");
                conn_close(c);
            }
            return;
        }
    }
    if (c->fd < 0 || c->last)
        return;
    if (c->paused)
        ev_io_stop(c->holder->loop, &c->reader);
    else
        ev_io_start(c->holder->loop, &c->reader);
}

void conn_resume(struct conn *c)
{
    c->paused = false;
    handle_all(c);
}

/* Whoever says nothing before there is a program was to bring it: a worker that died, or hangs. */
static void lose(struct conn *c)
{
    struct holder *h = c->holder;
    bool awaited = !c->role && h->phase == HOLD_WAITING && !h->bundle.seen;

    conn_close(c);
    if (awaited)
        session_end(h, HOLD_REASON_START_FAILED);
}

static void on_readable(struct ev_loop *loop, ev_io *w, int events)
{
    struct conn *c = w->data;
    struct err err = { 0 };

    (void)loop;
    (void)events;
    if (c->last)
        discard(c);
    else if (frame_reader_fill(&c->in, c->fd, &err) <= 0)
        lose(c);
    else
        handle_all(c);
    if (c->fd >= 0 && c->role && c->role->turned)
        c->role->turned(c);
}

static void on_writable(struct ev_loop *loop, ev_io *w, int events)
{
    (void)loop;
    (void)events;
    flush(w->data);
}

static void on_impatience(struct ev_loop *loop, ev_timer *w, int events)
{
    (void)loop;
    (void)events;
    lose(w->data);
}

static int conn_new(struct holder *h, int fd)
{
    struct conn *c = mem_zalloc(1, sizeof(*c));

    if (!c)
        return -1;
    c->holder = h;
    c->fd = fd;
    frame_reader_init(&c->in, HOLD_MAX_PAYLOAD);
    frame_writer_init(&c->out, OUT_MAX);
    ev_io_init(&c->reader, on_readable, fd, EV_READ);
    ev_io_init(&c->writer, on_writable, fd, EV_WRITE);
    ev_timer_init(&c->patience, on_impatience, FIRST_MESSAGE_S, 0);
    c->reader.data = c->writer.data = c->patience.data = c;
    c->next = h->conns;
    h->conns = c;
    ev_io_start(h->loop, &c->reader);
    ev_timer_start(h->loop, &c->patience);
    return 0;
}

static unsigned count(const struct holder *h)
{
    const struct conn *c;
    unsigned n = 0;

    for (c = h->conns; c; c = c->next)
        n++;
    return n;
}

/* The connection waits in the backlog, which keeps the listener readable: without a pause this would spin. */
static void accept_later(struct holder *h)
{
    if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED)
        return;
    log_error("accept: %s", strerror(errno));
    ev_io_stop(h->loop, &h->listener);
    ev_timer_stop(h->loop, &h->accept_again);
    ev_timer_set(&h->accept_again, ACCEPT_AGAIN_S, 0);
    ev_timer_start(h->loop, &h->accept_again);
}

static void on_accept_again(struct ev_loop *loop, ev_timer *w, int events)
{
    struct holder *h = w->data;

    (void)events;
    ev_io_start(loop, &h->listener);
}

static void on_client(struct ev_loop *loop, ev_io *w, int events)
{
    struct holder *h = w->data;
    auto_fd int fd = accept4(w->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    uid_t uid;

    (void)loop;
    (void)events;
    if (fd < 0) {
        accept_later(h);
        return;
    }
    if (io_peer_uid(fd, &uid) < 0 || (uid != 0 && uid != h->service_uid)) {
        log_warn("a stranger connected to the holder: refused");
        return;
    }
    if (count(h) < CONNS_MAX && conn_new(h, fd) == 0)
        (void)steal_fd(fd);
}

static void on_burial(struct ev_loop *loop, ev_prepare *w, int events)
{
    (void)loop;
    (void)events;
    bury(w->data);
}

void conn_accept(struct holder *h)
{
    ev_io_init(&h->listener, on_client, h->listen_fd, EV_READ);
    ev_prepare_init(&h->burial, on_burial);
    ev_init(&h->accept_again, on_accept_again);
    h->listener.data = h->burial.data = h->accept_again.data = h;
    ev_io_start(h->loop, &h->listener);
    ev_prepare_start(h->loop, &h->burial);
}
