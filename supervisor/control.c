#include "supervisor/control.h"

#include "shared/base/mem.h"
#include "shared/ipc/rpc.h"
#include "shared/ipc/version.h"
#include "shared/ipc/wire.h"
#include "supervisor/peer.h"

#define MESSAGE_MAX (HOLD_TEXT_MAX + 64)

struct control {
    struct peer peer;
    enum hold_role role;
    const struct control_events *events;
    void *owner;
    struct ev_timer ping;
    unsigned unanswered; /* pings in a row */
    uint32_t version;    /* of the holder (version.h); 0: it has not told */
    bool busy;           /* a handler runs: who closes now leaves the memory to it */
    bool closed;
};

static void lose(struct control *c, const char *why)
{
    ev_timer_stop(c->peer.loop, &c->ping);
    c->events->lost(c->owner, why);
}

/* It hears what we speak once it is clear that it understands. */
static void greet(struct control *c, const struct hold_event *e)
{
    auto_buf struct buf b;

    buf_init(&b, 64);
    c->version = e->version.number;
    if (!ipc_compatible(e->version.number, e->version.oldest)) {
        c->events->said(c->owner, e);
        return;
    }
    wire_put_u32(&b, IPC_VERSION);
    wire_put_u32(&b, IPC_OLDEST);
    if (!buf_failed(&b))
        (void)peer_send(&c->peer, HOLD_VERSION, b.data, b.len);
}

static void said(struct control *c, const struct hold_event *e)
{
    c->unanswered = 0;
    if (e->type == HOLD_VERSION) {
        greet(c, e);
        return;
    }
    if (!c->version)
        ev_timer_stop(c->peer.loop, &c->ping); /* it may be from before pings, which would end its connection */
    if (e->type != HOLD_PONG)
        c->events->said(c->owner, e);
}

/* Of a holder that came after us. */
static bool may_be_skipped(const struct control *c, uint16_t type)
{
    return c->version > IPC_VERSION && !hold_event_known(c->role, type);
}

static void on_readable(struct peer *p)
{
    struct control *c = p->owner;
    const void *payload;
    struct hold_event e;
    uint16_t type;
    size_t len;
    int r = 0;

    c->busy = true;
    while (!c->closed && (r = peer_next(p, &type, &payload, &len)) > 0) {
        if (may_be_skipped(c, type))
            continue;
        if (hold_event_parse(c->role, type, payload, len, &e) < 0) {
            lose(c, "it sent a malformed message");
            peer_reading(p, false);
            break;
        }
        said(c, &e);
    }
    if (!c->closed && r <= 0 && peer_ended(p))
        lose(c, p->fault[0] ? p->fault : "it closed the connection");
    c->busy = false;
    if (c->closed)
        mem_free(c);
}

static const struct peer_events peer_events = { .readable = on_readable };

/* However late it rings, the next time is a whole pause later. Of one turn of the loop it is the last: answers that
 * have come are read. */
static void on_ping(struct ev_loop *loop, struct ev_timer *w, int revents)
{
    struct control *c = w->data;

    (void)revents;
    if (c->unanswered == CONTROL_PINGS) {
        ev_timer_stop(loop, w);
        c->events->silent(c->owner);
        return;
    }
    ev_timer_again(loop, w);
    c->unanswered++;
    if (c->version)
        (void)peer_send(&c->peer, HOLD_PING, NULL, 0); /* when it cannot be sent the loss is told */
}

struct control *control_open(struct ev_loop *loop, const char *path, enum hold_role role,
                             const struct control_events *events, void *owner, struct err *err)
{
    struct control *c = mem_zalloc(1, sizeof(*c));

    if (!c) {
        err_nomem(err);
        return NULL;
    }
    c->role = role;
    c->events = events;
    c->owner = owner;
    ev_timer_init(&c->ping, on_ping, 0., 0.);
    ev_set_priority(&c->ping, EV_MINPRI);
    c->ping.data = c;
    if (peer_connect(&c->peer, loop, path, MESSAGE_MAX, MESSAGE_MAX, &peer_events, c, err) < 0) {
        mem_free(c);
        return NULL;
    }
    return c;
}

void control_close(struct control *c)
{
    if (!c)
        return;
    ev_timer_stop(c->peer.loop, &c->ping);
    peer_close(&c->peer);
    c->closed = true;
    if (!c->busy)
        mem_free(c);
}

int control_claim(struct control *c, const char *actor, int64_t started_wall_ms, int64_t lifetime_ms)
{
    auto_buf struct buf b;

    buf_init(&b, RPC_ACTOR_MAX + 64);
    wire_put_str(&b, actor);
    wire_put_u64(&b, (uint64_t)started_wall_ms);
    wire_put_u64(&b, (uint64_t)lifetime_ms);
    return buf_failed(&b) ? -1 : peer_send(&c->peer, HOLD_CONTROL, b.data, b.len);
}

int control_warm_up(struct control *c)
{
    return peer_send(&c->peer, HOLD_WARM_UP, NULL, 0);
}

int control_take(struct control *c, const struct id *id, const char *actor, int64_t started_wall_ms,
                 int64_t lifetime_ms)
{
    auto_buf struct buf b;

    buf_init(&b, RPC_ACTOR_MAX + 64);
    wire_put_id(&b, id);
    wire_put_str(&b, actor);
    wire_put_u64(&b, (uint64_t)started_wall_ms);
    wire_put_u64(&b, (uint64_t)lifetime_ms);
    return buf_failed(&b) ? -1 : peer_send(&c->peer, HOLD_CLAIM, b.data, b.len);
}

int control_end(struct control *c, enum hold_reason reason)
{
    uint8_t byte = (uint8_t)reason;

    return peer_send(&c->peer, HOLD_END, &byte, sizeof(byte));
}

int control_probe(struct control *c)
{
    return peer_send(&c->peer, HOLD_PROBE, NULL, 0);
}

void control_watch(struct control *c, double seconds)
{
    c->ping.repeat = seconds;
    ev_timer_again(c->peer.loop, &c->ping);
}
