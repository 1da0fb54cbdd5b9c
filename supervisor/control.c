#include "supervisor/control.h"

#include "shared/base/mem.h"
#include "shared/ipc/rpc.h"
#include "shared/ipc/wire.h"
#include "supervisor/peer.h"

#define MESSAGE_MAX (HOLD_TEXT_MAX + 64)

struct control {
    struct peer peer;
    enum hold_role role;
    const struct control_events *events;
    void *owner;
    bool busy; /* a handler runs: who closes now leaves the memory to it */
    bool closed;
};

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
        if (hold_event_parse(c->role, type, payload, len, &e) < 0) {
            c->events->lost(c->owner, "it sent a malformed message");
            peer_reading(p, false);
            break;
        }
        c->events->said(c->owner, &e);
    }
    if (!c->closed && r <= 0 && peer_ended(p))
        c->events->lost(c->owner, p->fault[0] ? p->fault : "it closed the connection");
    c->busy = false;
    if (c->closed)
        mem_free(c);
}

static const struct peer_events peer_events = { .readable = on_readable };

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
