/* supervisor/holder/transcript.h -- what was said in a session, both ways, with times, from its beginning. Pure.
 * Holds at most max bytes: a replay needs the beginning, so it is the end that is cut, and from the first message that
 * does not fit nothing more is kept. Messages are those of browser and agent; output is none. */
#ifndef HOLDER_TRANSCRIPT_H
#define HOLDER_TRANSCRIPT_H

#include <stddef.h>
#include <stdint.h>

#include "shared/base/buf.h"
#include "shared/ipc/hold.h"

struct transcript {
    struct buf records;
    int64_t began_ms; /* monotonic */
    uint64_t began_wall_ms;
    uint64_t cut; /* messages that came after the cut */
};

struct transcript_entry {
    enum hold_said who;
    uint64_t at_ms; /* since the beginning */
    const char *text;
    size_t len;
};

void transcript_init(struct transcript *t, size_t max, int64_t now_ms, uint64_t wall_ms);
void transcript_release(struct transcript *t); /* NULL is fine */

void transcript_add(struct transcript *t, enum hold_said who, int64_t now_ms, const void *text, size_t len);

/* Walks the entries; *at is 0 first. 1 and *ret, borrowed until the next transcript_add(); 0 at the end. */
int transcript_next(const struct transcript *t, size_t *at, struct transcript_entry *ret);

#endif
