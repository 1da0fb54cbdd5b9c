/* The supervisor's connection: who owns the session, when it ends, what became of it. */
#include <stdio.h>
#include <string.h>

#include "shared/base/log.h"
#include "shared/base/mem.h"
#include "shared/ipc/rpc.h"
#include "shared/ipc/version.h"
#include "supervisor/holder/holder.h"

#define PAYLOAD_MAX 1024

static void send_or_close(struct holder *h, uint16_t type, const struct buf *b)
{
    struct conn *c = h->control;

    if (c && conn_put(c, type, b) < 0)
        conn_close(c); /* it does not read: its successor hears everything again */
}

static void push(struct holder *h)
{
    if (h->control)
        conn_push(h->control);
}

static void send_identity(struct holder *h)
{
    auto_buf struct buf b;

    buf_init(&b, PAYLOAD_MAX);
    wire_put_id(&b, &h->id);
    wire_put_str(&b, h->actor);
    wire_put_u64(&b, h->started_wall_ms);
    wire_put_u64(&b, session_expires_wall_ms(h));
    send_or_close(h, HOLD_IDENTITY, &b);
}

void control_phase(struct holder *h)
{
    auto_buf struct buf b;

    buf_init(&b, PAYLOAD_MAX);
    h->told_frames = journal_count(&h->journal);
    wire_put_u8(&b, (uint8_t)h->phase);
    wire_put_u8(&b, h->attach != NULL);
    wire_put_u64(&b, h->told_frames);
    send_or_close(h, HOLD_PHASE, &b);
}

void control_count(struct holder *h)
{
    if (!h->control || !h->tells || h->told_frames == journal_count(&h->journal))
        return;
    h->tells--;
    control_phase(h);
    push(h);
}

void control_gone(struct holder *h)
{
    auto_buf struct buf b;

    buf_init(&b, PAYLOAD_MAX);
    wire_put_u8(&b, (uint8_t)h->reason);
    wire_put_u32(&b, h->code);
    send_or_close(h, HOLD_GONE, &b);
    push(h); /* the browser is told next, and may ask for the state at once */
}

void control_done(struct holder *h)
{
    send_or_close(h, HOLD_DONE, NULL);
}

void control_warm(struct holder *h, const char *why)
{
    enum hold_warm state = h->warm.state == WARM_NONE    ? HOLD_WARM_LOST
                           : h->warm.state == WARM_LOADS ? HOLD_WARM_MAKING
                                                         : HOLD_WARM_READY;
    auto_buf struct buf b;

    buf_init(&b, PAYLOAD_MAX);
    wire_put_u8(&b, (uint8_t)state);
    wire_put_str(&b, why);
    send_or_close(h, HOLD_WARM, &b);
}

static void send_version(struct holder *h)
{
    auto_buf struct buf b;

    buf_init(&b, PAYLOAD_MAX);
    wire_put_u32(&b, IPC_VERSION);
    wire_put_u32(&b, IPC_OLDEST);
    send_or_close(h, HOLD_VERSION, &b);
}

/* A newer one replaces it. */
static void take_control(struct conn *c)
{
    struct holder *h = c->holder;

    if (h->control)
        conn_close(h->control);
    h->control = c;
    h->control_version = 0;
    send_version(h);
}

static void send_all(struct holder *h)
{
    send_identity(h);
    control_phase(h);
    if (h->phase == HOLD_ENDED)
        control_gone(h);
    if (h->done)
        control_done(h);
}

static int on_control(struct conn *c, struct wire_in *in)
{
    struct holder *h = c->holder;
    const char *actor = wire_get_str(in, RPC_ACTOR_MAX);
    uint64_t started = wire_get_u64(in), lifetime = wire_get_u64(in);

    if (wire_end(in) < 0 || c == h->control)
        return -1;
    take_control(c);
    if (h->warm.unclaimed) {
        control_warm(h, "");
        return 0;
    }
    if (lifetime)
        session_begin(h, actor, started, lifetime);
    send_all(h);
    return 0;
}

static int on_warm_up(struct conn *c, struct wire_in *in)
{
    struct holder *h = c->holder;
    struct err err = { 0 };

    if (wire_end(in) < 0 || c == h->control || h->warm.unclaimed)
        return -1;
    if (warm_up(h, &err) < 0)
        log_warn("nothing waits here: %s", err.msg);
    if (!h->warm.unclaimed)
        return -1;
    take_control(c);
    control_warm(h, err.msg);
    return 0;
}

static int on_claim(struct conn *c, struct wire_in *in)
{
    struct holder *h = c->holder;
    struct id id;
    const char *actor;
    uint64_t started, lifetime;

    wire_get_id(in, &id);
    actor = wire_get_str(in, RPC_ACTOR_MAX);
    started = wire_get_u64(in);
    lifetime = wire_get_u64(in);
    if (wire_end(in) < 0 || c == h->control || warm_claim(h, &id, actor, started, lifetime) < 0)
        return -1;
    take_control(c);
    send_all(h);
    return 0;
}

static int on_end(struct conn *c, struct wire_in *in)
{
    unsigned reason = wire_get_u8(in);

    if (wire_end(in) < 0 || reason == HOLD_REASON_NONE || reason >= HOLD_REASON__MAX)
        return -1;
    session_end(c->holder, (enum hold_reason)reason);
    return 0;
}

static int on_ping(struct conn *c, struct wire_in *in)
{
    return wire_end(in) < 0 || c != c->holder->control ? -1 : conn_put(c, HOLD_PONG, NULL);
}

static int on_version(struct conn *c, struct wire_in *in)
{
    struct holder *h = c->holder;
    uint32_t version = wire_get_u32(in), oldest = wire_get_u32(in);

    if (wire_end(in) < 0 || c != h->control)
        return -1;
    if (!ipc_compatible(version, oldest))
        log_warn("the supervisor speaks version %u, and none before %u; we speak %u to %u", version, oldest, IPC_OLDEST,
                 IPC_VERSION);
    h->control_version = version;
    return 0;
}

static int on_message(struct conn *c, uint16_t type, struct wire_in *in)
{
    switch (type) {
    case HOLD_CONTROL:
        return on_control(c, in);
    case HOLD_WARM_UP:
        return on_warm_up(c, in);
    case HOLD_CLAIM:
        return on_claim(c, in);
    case HOLD_END:
        return on_end(c, in);
    case HOLD_PING:
        return on_ping(c, in);
    case HOLD_VERSION:
        return on_version(c, in);
    default:
        return c == c->holder->control && c->holder->control_version > IPC_VERSION ? 0 : -1; /* it came after us */
    }
}

static void on_closed(struct conn *c)
{
    if (c->holder->control == c)
        c->holder->control = NULL;
}

const struct conn_role control_role = { "control", on_message, NULL, NULL, on_closed };
