#include "supervisor/rpc_server.h"

#include <unistd.h>

#include "shared/base/io.h"
#include "shared/base/log.h"
#include "shared/base/mem.h"
#include "shared/base/time.h"
#include "shared/ipc/wire.h"

#define REQUEST_SECONDS 10. /* to send the request, and again to take the answer */
#define TAKEN_SECONDS 130.  /* for a program to start, and its client to be told: more than nginx gives a worker */

static void set_deadline(struct rpc_conn *c, double seconds)
{
    ev_timer_stop(c->server->loop, &c->deadline);
    ev_timer_set(&c->deadline, seconds, 0.);
    ev_timer_start(c->server->loop, &c->deadline);
}

static void drop(struct rpc_conn *c)
{
    struct rpc_server *r = c->server;
    const struct id id = c->create.id;
    bool abandons = c->open && r->abandoned;

    waiter_cancel(&c->waiter);
    create_cancel(&c->create);
    ev_timer_stop(r->loop, &c->deadline);
    peer_close(&c->peer);
    list_remove(&c->link);
    mem_free(c);
    r->count--;
    acceptor_pause(&r->door, false);
    if (abandons)
        r->abandoned(r->owner, &id);
}

/* All of the answer has left. */
static void said_all(struct rpc_conn *c)
{
    if (c->open)
        set_deadline(c, TAKEN_SECONDS);
    else
        drop(c);
}

void rpc_wait_for(struct rpc_conn *c, double seconds)
{
    set_deadline(c, seconds);
}

/* A descriptor travels with the first byte; the socket is empty, so a small message never blocks here. */
static int send_with_fd(struct rpc_conn *c, enum rpc_type type, const struct buf *payload, int fd)
{
    struct err err;

    if (frame_send(c->peer.fd, (uint16_t)type, payload, fd, &err) == 0)
        return 0;
    log_warn("rpc: answer with a descriptor: %s", err.msg);
    return -1;
}

void rpc_answer(struct rpc_conn *c, enum rpc_type type, const struct buf *payload, int fd)
{
    int r;

    waiter_cancel(&c->waiter);
    create_cancel(&c->create);
    c->answered = true;
    if (c->asked && c->server->answered)
        c->server->answered(c->server->owner, c->type, (double)(time_mono_us() - c->asked_us) / 1e6);
    if (fd >= 0)
        r = send_with_fd(c, type, payload, fd);
    else
        r = peer_send(&c->peer, (uint16_t)type, payload ? payload->data : NULL, payload ? payload->len : 0);
    if (r < 0)
        drop(c);
    else if (!peer_pending(&c->peer))
        said_all(c);
    else
        set_deadline(c, REQUEST_SECONDS);
}

void rpc_answer_error(struct rpc_conn *c, const struct err *err)
{
    auto_buf struct buf b;

    buf_init(&b, sizeof(err->msg) + 64);
    rpc_put_error(&b, err);
    if (buf_failed(&b))
        drop(c);
    else
        rpc_answer(c, RPC_ERROR, &b, -1);
}

static void on_sent(struct peer *p)
{
    struct rpc_conn *c = p->owner;

    if (c->answered && !peer_pending(p))
        said_all(c);
}

static void on_readable(struct peer *p)
{
    struct rpc_conn *c = p->owner;
    struct rpc_request request;
    const void *payload;
    uint16_t type;
    size_t len;
    struct err err;
    int r = c->asked && !c->open ? -1 : peer_next(p, &type, &payload, &len);

    if (r > 0 && c->open) {
        c->open = type != RPC_TAKEN || len;
        drop(c);
        return;
    }
    /* The end, or more than one request: whoever asked does not care for the answer any more. */
    if (r < 0 || (r == 0 && peer_ended(p))) {
        drop(c);
        return;
    }
    if (r == 0)
        return;
    c->asked = true;
    c->type = (enum rpc_type)type;
    c->asked_us = time_mono_us();
    if (rpc_request_parse(type, payload, len, &request, &err) < 0)
        rpc_answer_error(c, &err);
    else
        c->server->call(c, &request);
}

static const struct peer_events peer_events = { on_readable, on_sent };

static void on_deadline(struct ev_loop *loop, struct ev_timer *w, int revents)
{
    struct rpc_conn *c = w->data;
    struct err err;

    (void)loop;
    (void)revents;
    if (!c->asked || c->answered) {
        drop(c);
        return;
    }
    err_set(&err, ERR_UNAVAILABLE, 0, "The supervisor could not do it in time");
    rpc_answer_error(c, &err);
}

static bool may_ask(const struct rpc_server *r, int fd)
{
    uid_t uid;

    return io_peer_uid(fd, &uid) == 0 && (uid == 0 || uid == r->user);
}

static void on_accepted(void *owner, int fd)
{
    struct rpc_server *r = owner;
    struct rpc_conn *c = mem_zalloc(1, sizeof(*c));

    if (!c || !may_ask(r, fd)) {
        mem_free(c);
        close(fd);
        return;
    }
    c->server = r;
    list_init(&c->link);
    list_append(&r->connections, &c->link);
    waiter_init(&c->waiter, NULL);
    waiter_init(&c->create.waiter, NULL);
    peer_open(&c->peer, r->loop, fd, RPC_MAX_PAYLOAD, RPC_MAX_PAYLOAD + FRAME_HEADER, &peer_events, c);
    ev_timer_init(&c->deadline, on_deadline, REQUEST_SECONDS, 0.);
    c->deadline.data = c;
    ev_timer_start(r->loop, &c->deadline);
    if (++r->count >= RPC_CONNECTIONS_MAX)
        acceptor_pause(&r->door, true); /* the others wait in the backlog until one is done */
}

void rpc_server_start(struct rpc_server *r, struct ev_loop *loop, int fd,
                      void (*call)(struct rpc_conn *c, const struct rpc_request *r), void *owner)
{
    *r = (struct rpc_server){ .loop = loop, .call = call, .owner = owner, .user = geteuid() };
    list_init(&r->connections);
    acceptor_start(&r->door, loop, fd, on_accepted, r);
}

void rpc_server_release(struct rpc_server *r)
{
    if (!r->loop)
        return;
    acceptor_stop(&r->door);
    r->abandoned = NULL; /* sessions live on, and the next supervisor does not know who was told of them */
    while (!list_empty(&r->connections))
        drop(list_entry(r->connections.next, struct rpc_conn, link));
}
