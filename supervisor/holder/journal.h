/* supervisor/holder/journal.h -- the frames of a session, in order, for a browser that comes, goes and returns. Pure.
 * Frames are sent from where they lie here: one is given out when all of it has left.
 * Holds at most max bytes and three frames of any size; the oldest go first. While a browser is attached nothing is
 * dropped that it has not been given yet, and half of max is kept of what has left, as it may be lost between here and
 * there: journal_is_full() says "stop reading" when the other half waits.
 * Numbers that leave this module are the client's count: the next frame of a client that has received N frames is
 * number N + 1, whatever was dropped before (then lost tells how many). A client that counts what it was told is lost
 * says more than it can have received, and from then on its gaps count. */
#ifndef HOLDER_JOURNAL_H
#define HOLDER_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shared/base/buf.h"

/* For journal_attach(): a client that has received nothing yet; it starts where delivery stopped. */
#define JOURNAL_FRESH UINT64_MAX

struct journal_frame {
    char *data;
    size_t len;
};

struct journal {
    struct journal_frame *ring; /* frame q is at q % cap */
    size_t cap;                 /* a power of two, or 0 */
    uint64_t first;             /* oldest that is still here */
    uint64_t next;              /* next to be given out */
    uint64_t end;               /* one past the newest; counts from 0 */
    uint64_t shift;             /* number = q + 1 - shift */
    uint64_t given;             /* one past the newest that was ever given out */
    uint64_t moved;             /* frames lost in this count, by which its numbers moved up */
    bool counts_lost;           /* the client counts those: its numbers do not move */
    uint64_t gap_number;        /* last resume that found frames gone: number it wanted, how many */
    uint64_t gap_lost;
    size_t bytes, pending; /* held; of those, not given out yet */
    size_t max;
    bool attached;
};

void journal_init(struct journal *j, size_t max);
void journal_release(struct journal *j);

/* Copies a frame in: 0, or -1 when memory is short (nothing changed). */
int journal_add(struct journal *j, const void *data, size_t len);
int journal_take(struct journal *j, struct buf *text); /* the same; a long text is taken out of its buffer */

/* A client that received frames up to number after (or JOURNAL_FRESH) wants what follows.
 * *ret_from: number of the frame it gets first; *ret_lost: frames it misses in between. */
void journal_attach(struct journal *j, uint64_t after, uint64_t *ret_from, uint64_t *ret_lost);
void journal_detach(struct journal *j);

/* The frame so many behind the next one to give out, with its number, or NULL; it stays valid until the next call that
 * changes the journal. A NUL stands behind its bytes. */
const struct journal_frame *journal_peek(const struct journal *j, size_t ahead, uint64_t *ret_number);
void journal_pass(struct journal *j); /* the next one has been given out */

bool journal_is_full(const struct journal *j);   /* attached, and too much waits */
uint64_t journal_count(const struct journal *j); /* frames so far, dropped ones included */

#endif
