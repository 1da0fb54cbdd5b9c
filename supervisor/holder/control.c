/* The supervisor's connection: who owns the session, when it ends, what became of it. */
#include <stdio.h>
#include <string.h>

#include "shared/base/log.h"
#include "shared/base/mem.h"
#include "shared/ipc/rpc.h"
#include "supervisor/holder/holder.h"

#define PAYLOAD_MAX 1024

static void send_or_close(struct holder *h, uint16_t type, const struct buf *b)
{
    struct conn *c = h->control;

    if (c && conn_put(c, type, b) < 0)
        conn_close(c); /* it does not read: its successor hears everything again */
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

void control_gone(struct holder *h)
{
    auto_buf struct buf b;

    buf_init(&b, PAYLOAD_MAX);
    wire_put_u8(&b, (uint8_t)h->reason);
    wire_put_u32(&b, h->code);
    send_or_close(h, HOLD_GONE, &b);
}

void control_done(struct holder *h)
{
    send_or_close(h, HOLD_DONE, NULL);
}

static int on_control(struct conn *c, struct wire_in *in)
{
    struct holder *h = c->holder;
    const char *actor = wire_get_str(in, RPC_ACTOR_MAX);
    uint64_t started = wire_get_u64(in), lifetime = wire_get_u64(in);

    if (wire_end(in) < 0 || c == h->control)
        return -1;
    if (h->control)
        conn_close(h->control);
    h->control = c;
    if (lifetime)
        session_begin(h, actor, started, lifetime);
    send_identity(h);
    control_phase(h);
    if (h->phase == HOLD_ENDED)
        control_gone(h);
    if (h->done)
        control_done(h);
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

static int on_message(struct conn *c, uint16_t type, struct wire_in *in)
{
    switch (type) {
    case HOLD_CONTROL:
        return on_control(c, in);
    case HOLD_END:
        return on_end(c, in);
    default:
        return -1;
    }
}

static void on_closed(struct conn *c)
{
    if (c->holder->control == c)
        c->holder->control = NULL;
}

const struct conn_role control_role = { "control", on_message, NULL, NULL, on_closed };
