/* One browser, through the supervisor: frames out as it takes them, frames in as the agent takes them. */
#include <string.h>

#include "shared/base/log.h"
#include "shared/base/mem.h"
#include "shared/base/time.h"
#include "supervisor/holder/holder.h"

#define OUT_HIGH ((size_t)256 << 10)  /* bytes on their way to the supervisor */
#define LONG_FRAME ((size_t)16 << 10) /* better sent at once than copied to go with others */
#define EXIT_SIZE (FRAME_HEADER + 1 + 4)
#define FRAME_FIELDS (FRAME_HEADER + 8 + 4 + 1) /* what a frame costs on the wire besides itself */

/* Fields as wire_put_bytes() makes them; a frame keeps a NUL behind its bytes, which closes its field. */
static int put_frame(struct conn *c, uint64_t number, const struct journal_frame *f)
{
    auto_buf struct buf b;

    buf_init(&b, 64);
    wire_put_u64(&b, number);
    wire_put_u32(&b, (uint32_t)f->len);
    if (buf_failed(&b) || f->len > HOLD_MAX_PAYLOAD)
        return -1;
    return (f->len < LONG_FRAME ? conn_put_two : conn_send_two)(c, HOLD_FRAME, &b, f->data, f->len + 1);
}

static void put_exit(struct conn *c)
{
    struct holder *h = c->holder;
    auto_buf struct buf b;

    buf_init(&b, 64);
    wire_put_u8(&b, (uint8_t)h->reason);
    wire_put_u32(&b, h->code);
    if (conn_put(c, HOLD_EXIT, &b) < 0)
        conn_close(c);
    else
        conn_finish(c);
}

/* What waits in our memory has not left; behind the frames that may be the exit. */
static void settle(struct conn *c)
{
    size_t waiting = frame_writer_pending(&c->out), behind = c->last ? EXIT_SIZE : 0;

    journal_left(&c->holder->journal, waiting > behind ? waiting - behind : 0, FRAME_FIELDS);
}

void attach_pump(struct holder *h)
{
    struct conn *c = h->attach;
    const struct journal_frame *f;
    uint64_t number;

    if (!c)
        return;
    settle(c);
    if (c->last)
        return;
    while (frame_writer_pending(&c->out) < OUT_HIGH && (f = journal_peek(&h->journal, &number))) {
        if (put_frame(c, number, f) < 0) {
            log_error("no memory for a frame: the browser has to come again");
            conn_close(c);
            return;
        }
        journal_pass(&h->journal);
    }
    if (h->phase == HOLD_ENDED && !journal_peek(&h->journal, &number))
        put_exit(c);
    agent_flow(h);
}

void attach_push(struct holder *h)
{
    if (!h->attach)
        return;
    conn_push(h->attach);
    attach_pump(h); /* there may be more than was on its way at once */
}

static int on_attach(struct conn *c, struct wire_in *in)
{
    struct holder *h = c->holder;
    struct conn *old = h->attach;
    uint64_t after = wire_get_u64(in), from, lost;
    auto_buf struct buf b;

    buf_init(&b, 64);
    if (wire_end(in) < 0 || old == c)
        return -1;
    if (old)
        settle(old);
    h->attach = c;
    if (old)
        conn_close(old); /* nobody leaves: what it was not given is not dropped */
    journal_attach(&h->journal, after, &from, &lost);
    wire_put_u64(&b, from);
    wire_put_u64(&b, lost);
    if (conn_put(c, HOLD_ATTACHED, &b) < 0)
        return -1;
    session_attached(h);
    attach_pump(h);
    return 0;
}

/* Frames beyond the agent's queue stay unread: the browser's side fills up, nothing is lost. */
static int on_send(struct conn *c, struct wire_in *in)
{
    struct holder *h = c->holder;
    size_t len;
    const void *data = wire_get_bytes(in, AGENT_WS_MESSAGE_MAX, &len);

    if (wire_end(in) < 0 || h->attach != c)
        return -1;
    if (h->phase == HOLD_ENDED || h->ending)
        return 0;
    if (agent_ws_send(&h->ws, data, len) < 0)
        return -1;
    transcript_add(&h->transcript, HOLD_SAID_BROWSER, time_mono_ms(), data, len);
    c->paused = agent_ws_is_full(&h->ws);
    return 0;
}

static int on_message(struct conn *c, uint16_t type, struct wire_in *in)
{
    switch (type) {
    case HOLD_ATTACH:
        return on_attach(c, in);
    case HOLD_SEND:
        return on_send(c, in);
    default:
        return -1;
    }
}

void attach_drained(struct holder *h)
{
    if (h->attach && h->attach->paused)
        conn_resume(h->attach);
}

static void on_turned(struct conn *c)
{
    struct holder *h = c->holder;

    if (h->attach == c)
        agent_ws_push(&h->ws);
}

static void on_sent(struct conn *c)
{
    struct holder *h = c->holder;

    if (h->attach != c)
        return;
    if (h->phase == HOLD_ENDED)
        session_progress(h);
    attach_pump(h);
}

static void on_closed(struct conn *c)
{
    struct holder *h = c->holder;
    bool told = c->last && !frame_writer_pending(&c->out);

    if (h->attach != c)
        return;
    settle(c);
    h->attach = NULL;
    journal_detach(&h->journal);
    if (told)
        session_delivered(h);
    else
        session_detached(h);
    agent_flow(h);
}

const struct conn_role attach_role = { "attach", on_message, on_turned, on_sent, on_closed };
