#include "supervisor/holder/transcript.h"

#include <string.h>

#include "shared/base/mem.h"

struct record {
    uint64_t at_ms;
    uint32_t len; /* of the text behind */
    uint32_t who;
};

void transcript_init(struct transcript *t, size_t max, int64_t now_ms, uint64_t wall_ms)
{
    *t = (struct transcript){ .began_ms = now_ms, .began_wall_ms = wall_ms };
    buf_init(&t->records, max);
}

void transcript_release(struct transcript *t)
{
    if (t)
        buf_release(&t->records);
}

void transcript_add(struct transcript *t, enum hold_said who, int64_t now_ms, const void *text, size_t len)
{
    const struct record r = { now_ms > t->began_ms ? (uint64_t)(now_ms - t->began_ms) : 0, (uint32_t)len, who };

    if (t->cut || len > UINT32_MAX || buf_reserve(&t->records, sizeof(r) + len) < 0) {
        t->cut++;
        return;
    }
    buf_add(&t->records, &r, sizeof(r));
    buf_add(&t->records, text, len);
}

int transcript_next(const struct transcript *t, size_t *at, struct transcript_entry *ret)
{
    struct record r;

    if (*at >= t->records.len)
        return 0;
    memcpy(&r, t->records.data + *at, sizeof(r));
    *ret = (struct transcript_entry){ (enum hold_said)r.who, r.at_ms, t->records.data + *at + sizeof(r), r.len };
    *at += sizeof(r) + r.len;
    return 1;
}
