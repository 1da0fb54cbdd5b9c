#include "supervisor/peer.h"

#include <stdio.h>
#include <unistd.h>

#include "shared/base/io.h"

static void end(struct peer *p, const char *fault)
{
    p->ended = true;
    snprintf(p->fault, sizeof(p->fault), "%s", fault);
    ev_io_stop(p->loop, &p->read);
    ev_io_stop(p->loop, &p->write);
}

static void on_readable(struct ev_loop *loop, struct ev_io *w, int revents)
{
    struct peer *p = w->data;
    struct err err;
    int r;

    (void)revents;
    if (!p->reading) { /* only now it costs a system call to stop; mostly the owner has caught up before more comes */
        ev_io_stop(loop, w);
        return;
    }
    r = frame_reader_fill(&p->in, p->fd, &err);
    if (r <= 0)
        end(p, r < 0 ? err.msg : "");
    p->events->readable(p);
}

static void on_writable(struct ev_loop *loop, struct ev_io *w, int revents)
{
    struct peer *p = w->data;

    (void)revents;
    if (frame_writer_flush(&p->out, p->fd) < 0) {
        end(p, "it does not listen any more");
        p->events->readable(p);
        return;
    }
    if (!frame_writer_pending(&p->out))
        ev_io_stop(loop, w);
    if (p->events->sent)
        p->events->sent(p);
}

void peer_open(struct peer *p, struct ev_loop *loop, int fd, size_t max_in, size_t max_out,
               const struct peer_events *events, void *owner)
{
    *p = (struct peer){ .loop = loop, .events = events, .owner = owner, .fd = fd, .reading = true };
    frame_reader_init(&p->in, max_in);
    frame_writer_init(&p->out, max_out);
    ev_io_init(&p->read, on_readable, fd, EV_READ);
    ev_io_init(&p->write, on_writable, fd, EV_WRITE);
    p->read.data = p->write.data = p;
    ev_io_start(loop, &p->read);
}

int peer_connect(struct peer *p, struct ev_loop *loop, const char *path, size_t max_in, size_t max_out,
                 const struct peer_events *events, void *owner, struct err *err)
{
    int fd = io_unix_connect(path, true, err);

    if (fd < 0)
        return -1;
    peer_open(p, loop, fd, max_in, max_out, events, owner);
    return 0;
}

void peer_close(struct peer *p)
{
    if (!peer_is_open(p))
        return;
    ev_io_stop(p->loop, &p->read);
    ev_io_stop(p->loop, &p->write);
    frame_reader_release(&p->in);
    frame_writer_release(&p->out);
    close(p->fd);
    p->fd = -1;
}

bool peer_is_open(const struct peer *p)
{
    return p && p->loop && p->fd >= 0;
}

/* An idle connection keeps no buffer: there may be thousands. */
static void drop_empty_buffer(struct peer *p)
{
    if (p->in.pos == p->in.in.len && p->in.in.data) {
        buf_release(&p->in.in);
        p->in.pos = 0;
    }
}

int peer_next(struct peer *p, uint16_t *ret_type, const void **ret_payload, size_t *ret_len)
{
    struct err err;
    int r = frame_reader_next(&p->in, ret_type, ret_payload, ret_len, &err);

    if (r < 0)
        end(p, err.msg);
    if (r == 0)
        drop_empty_buffer(p);
    return r;
}

bool peer_ended(const struct peer *p)
{
    return p->ended;
}

void peer_reading(struct peer *p, bool on)
{
    p->reading = on;
    if (on && !p->ended)
        ev_io_start(p->loop, &p->read);
}

int peer_send(struct peer *p, uint16_t type, const void *payload, size_t len)
{
    const struct iovec part = { (void *)(uintptr_t)payload, len };

    return peer_send_parts(p, type, &part, 1);
}

int peer_send_parts(struct peer *p, uint16_t type, const struct iovec *parts, size_t count)
{
    if (p->ended || frame_writer_send_parts(&p->out, p->fd, type, parts, count) < 0)
        return -1;
    if (frame_writer_pending(&p->out))
        ev_io_start(p->loop, &p->write);
    return 0;
}

size_t peer_pending(const struct peer *p)
{
    return frame_writer_pending(&p->out);
}
