#include "supervisor/egress/pump.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "shared/base/mem.h"

static void stop(struct pump *p)
{
    if (!p->loop)
        return;
    ev_io_stop(p->loop, &p->up.reader);
    ev_io_stop(p->loop, &p->up.writer);
    ev_io_stop(p->loop, &p->down.reader);
    ev_io_stop(p->loop, &p->down.writer);
    ev_timer_stop(p->loop, &p->linger);
}

static void end(struct pump *p, enum pump_end how)
{
    stop(p);
    p->over(p->arg, how); /* may release the pump */
}

static struct pump_way *other(struct pump_way *w)
{
    return w == &w->pump->up ? &w->pump->down : &w->pump->up;
}

/* The way carries nothing any more. */
static void finish(struct pump_way *w)
{
    w->finished = w->ended = true;
    w->len = 0;
    ev_io_stop(w->pump->loop, &w->writer);
}

/* An answer is whole when its server has closed, whether or not it wanted the rest of the request. */
static bool is_over(const struct pump *p)
{
    return p->down.finished && (p->up.finished || p->up.body);
}

/* Quiet is fine while both sides can speak; afterwards it is how long somebody may not know that nobody listens. */
static void progress(struct pump *p)
{
    if (!p->half_closed)
        return;
    ev_timer_stop(p->loop, &p->linger);
    ev_timer_set(&p->linger, p->linger_s, 0);
    ev_timer_start(p->loop, &p->linger);
}

static void half_close(struct pump *p)
{
    p->half_closed = true;
    progress(p);
}

/* Everything that waits, as far as it goes: 0, or -1 when the receiver is gone. */
static int send_some(struct pump_way *w)
{
    while (w->len) {
        ssize_t n = send(w->to, w->data + w->start, w->len, MSG_NOSIGNAL);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno == EAGAIN ? 0 : -1;
        w->start += (size_t)n;
        w->len -= (size_t)n;
    }
    w->start = 0;
    return 0;
}

/* A request's end is known by its body: its server may take a closed direction for a client that has gone away. */
static void pass_end_on(struct pump_way *w)
{
    if (!w->body)
        (void)shutdown(w->to, SHUT_WR);
    finish(w);
    if (!w->body)
        half_close(w->pump);
}

static void flow(struct pump_way *w)
{
    struct pump *p = w->pump;

    if (!w->finished && send_some(w) < 0) {
        finish(w);
        ev_io_stop(p->loop, &w->reader);
        p->broken = true;
        half_close(p);
    }
    if (!w->finished && w->ended && !w->len)
        pass_end_on(w);
    if (is_over(p)) {
        end(p, p->broken ? PUMP_BROKEN : PUMP_DONE);
        return;
    }
    if (w->len)
        ev_io_start(p->loop, &w->writer);
    else
        ev_io_stop(p->loop, &w->writer);
    if (w->ended || w->len)
        ev_io_stop(p->loop, &w->reader);
    else
        ev_io_start(p->loop, &w->reader);
}

static void on_writable(struct ev_loop *loop, ev_io *io, int events)
{
    struct pump_way *w = io->data;

    (void)loop;
    (void)events;
    progress(w->pump);
    flow(w);
}

/* The request was carried whole. What its client says now is no part of it and stays unread; that it has gone is worth
 * knowing. */
static void watch_client(struct pump_way *w)
{
    struct pump *p = w->pump;
    char c;
    ssize_t n = recv(w->from, &c, 1, MSG_PEEK);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    ev_io_stop(p->loop, &w->reader);
    if (n < 0)
        end(p, PUMP_BROKEN);
    else if (n == 0)
        half_close(p);
}

/* Cuts what does not belong to the body: bytes to carry, or -1. */
static ssize_t keep_body(struct pump_way *w, const char *data, size_t len)
{
    return w->body ? egress_body_take(w->body, data, len) : (ssize_t)len;
}

/* What waits to be sent becomes what out holds. */
static int replace(struct pump_way *w, const struct buf *out)
{
    char *larger = w->data;

    if (buf_failed(out) || (out->len > w->cap && !(larger = mem_resize(w->data, out->len, 1))))
        return -1;
    w->data = larger;
    w->cap = out->len > w->cap ? out->len : w->cap;
    w->len = out->len;
    if (out->len)
        memcpy(w->data, out->data, out->len);
    return 0;
}

/* n bytes were read into the buffer, which is empty but for them; 0 at the end of the stream. */
static int rewrite(struct pump_way *w, size_t n)
{
    auto_buf struct buf out;

    buf_init(&out, 2 * (EGRESS_ANSWER_HEAD_MAX + PUMP_BUFFER));
    if (!w->answer || w->answer->done) {
        w->len = n ? n : w->len;
        return 0;
    }
    if (n)
        egress_answer_take(w->answer, w->data, n, &out);
    else
        egress_answer_end(w->answer, &out);
    return replace(w, &out);
}

static void take(struct pump_way *w, ssize_t n)
{
    struct pump *p = w->pump;
    ssize_t kept;

    if ((uint64_t)n > *p->budget) {
        *p->budget = 0;
        end(p, PUMP_BUDGET);
        return;
    }
    *p->budget -= (uint64_t)n;
    w->bytes += (uint64_t)n;
    kept = keep_body(w, w->data, (size_t)n);
    if (kept < 0) {
        end(p, PUMP_MALFORMED);
        return;
    }
    if (rewrite(w, (size_t)kept) < 0) {
        end(p, PUMP_NOMEM);
        return;
    }
    progress(p);
    flow(w);
}

static void on_readable(struct ev_loop *loop, ev_io *io, int events)
{
    struct pump_way *w = io->data;
    ssize_t n;

    (void)loop;
    (void)events;
    if (w->body && w->body->state == BODY_DONE) {
        watch_client(w);
        return;
    }
    n = recv(w->from, w->data, w->cap, 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n > 0) {
        take(w, n);
        return;
    }
    if (n < 0) { /* neither does this side take anything */
        w->pump->broken = true;
        finish(other(w));
    }
    w->ended = true;
    if (w->body) /* gone in the middle of its request */
        end(w->pump, PUMP_BROKEN);
    else if (rewrite(w, 0) < 0)
        end(w->pump, PUMP_NOMEM);
    else
        flow(w);
}

static void on_linger(struct ev_loop *loop, ev_timer *t, int events)
{
    (void)loop;
    (void)events;
    end(t->data, PUMP_QUIET);
}

static int init_way(struct pump *p, struct pump_way *w, int from, int to, const struct buf *first)
{
    *w = (struct pump_way){ .pump = p, .from = from, .to = to };
    w->cap = first && first->len > PUMP_BUFFER ? first->len : PUMP_BUFFER;
    w->data = mem_zalloc(w->cap, 1);
    if (!w->data)
        return -1;
    if (first && first->len) {
        memcpy(w->data, first->data, first->len);
        w->len = first->len;
    }
    ev_io_init(&w->reader, on_readable, from, EV_READ);
    ev_io_init(&w->writer, on_writable, to, EV_WRITE);
    w->reader.data = w->writer.data = w;
    return 0;
}

int pump_start(struct pump *p, struct ev_loop *loop, int client, int server, const struct buf *first_up,
               const struct buf *first_down)
{
    p->loop = loop;
    p->half_closed = p->broken = false;
    p->up = p->down = (struct pump_way){ 0 };
    ev_init(&p->linger, on_linger);
    p->linger.data = p;
    if (init_way(p, &p->up, client, server, first_up) < 0 || init_way(p, &p->down, server, client, first_down) < 0) {
        mem_free(p->up.data);
        mem_free(p->down.data);
        p->up.data = p->down.data = NULL;
        p->loop = NULL;
        return -1;
    }
    p->up.body = p->body;
    p->down.answer = p->answer;
    /* from the loop: whoever starts a pump is not told of its end before this call returns */
    ev_io_start(loop, p->up.len ? &p->up.writer : &p->up.reader);
    ev_io_start(loop, p->down.len ? &p->down.writer : &p->down.reader);
    return 0;
}

void pump_release(struct pump *p)
{
    stop(p);
    mem_free(p->up.data);
    mem_free(p->down.data);
    p->up.data = p->down.data = NULL;
    p->loop = NULL;
}
