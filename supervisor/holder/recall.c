/* The transcript for a worker: all that was kept, then how much was not. */
#include "shared/base/mem.h"
#include "supervisor/holder/holder.h"

#define ENTRY_FIELDS 64

static int put_entry(struct conn *c, const struct transcript_entry *e)
{
    auto_buf struct buf b;

    buf_init(&b, HOLD_MAX_PAYLOAD);
    if (buf_reserve(&b, e->len + ENTRY_FIELDS) < 0)
        return -1;
    wire_put_u8(&b, (uint8_t)e->who);
    wire_put_u64(&b, e->at_ms);
    wire_put_bytes(&b, e->text, e->len);
    return conn_put(c, HOLD_SAID, &b);
}

static int on_transcript(struct conn *c, uint16_t type, struct wire_in *in)
{
    const struct transcript *t = &c->holder->transcript;
    struct transcript_entry e;
    auto_buf struct buf b;
    size_t at = 0;

    buf_init(&b, 64);
    if (type != HOLD_TRANSCRIPT || wire_end(in) < 0)
        return -1;
    while (transcript_next(t, &at, &e))
        if (put_entry(c, &e) < 0)
            return -1;
    wire_put_u64(&b, t->began_wall_ms);
    wire_put_u64(&b, t->cut);
    if (conn_put(c, HOLD_SAID_ALL, &b) < 0)
        return -1;
    conn_finish(c);
    return 0;
}

const struct conn_role transcript_role = { "transcript", on_transcript, NULL, NULL, NULL };
