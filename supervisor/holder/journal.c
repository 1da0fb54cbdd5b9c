#include "supervisor/holder/journal.h"

#include "shared/base/mem.h"

/* Small frames cost their list entry and their allocation, too. */
#define OVERHEAD 64
#define FIRST_CAP 64
#define UNDER_WAY 2                  /* frames of any size that the supervisor may hold for a browser */
#define LONG_TEXT ((size_t)16 << 10) /* dearer to copy than its buffer's room is to give back */

static struct journal_frame *at(const struct journal *j, uint64_t q)
{
    return &j->ring[q & (j->cap - 1)];
}

static size_t cost(const struct journal_frame *f)
{
    return f->len + OVERHEAD;
}

void journal_init(struct journal *j, size_t max)
{
    *j = (struct journal){ .max = max };
}

void journal_release(struct journal *j)
{
    uint64_t q;

    if (!j)
        return;
    for (q = j->first; q < j->end; q++)
        mem_free(at(j, q)->data);
    mem_free(j->ring);
    journal_init(j, j->max);
}

static int grow(struct journal *j)
{
    size_t cap = j->cap ? j->cap * 2 : FIRST_CAP;
    struct journal_frame *ring = mem_zalloc(cap, sizeof(*ring));
    uint64_t q;

    if (!ring)
        return -1;
    for (q = j->first; q < j->end; q++)
        ring[q & (cap - 1)] = *at(j, q);
    mem_free(j->ring);
    j->ring = ring;
    j->cap = cap;
    return 0;
}

static void drop_first(struct journal *j)
{
    struct journal_frame *f = at(j, j->first);

    j->bytes -= cost(f);
    if (j->first >= j->next)
        j->pending -= cost(f);
    mem_free(f->data);
    *f = (struct journal_frame){ 0 };
    j->first++;
}

/* What the client was given. */
static size_t history(const struct journal *j)
{
    return j->bytes - j->pending;
}

/* The newest frame always stays, and a long one until enough came behind it: who loses a socket in the middle of it
 * gets it again. */
static bool is_too_much(const struct journal *j)
{
    size_t first;

    if (j->end - j->first <= 1)
        return false;
    first = cost(at(j, j->first));
    if (j->bytes - first < j->max)
        return false;
    return !j->attached || (j->first + UNDER_WAY < j->next && history(j) - first >= j->max / 2);
}

static void trim(struct journal *j)
{
    while (is_too_much(j))
        drop_first(j);
}

static int make_room(struct journal *j)
{
    return j->end - j->first == j->cap ? grow(j) : 0;
}

static void append(struct journal *j, char *data, size_t len)
{
    *at(j, j->end) = (struct journal_frame){ data, len };
    j->bytes += len + OVERHEAD;
    j->pending += len + OVERHEAD;
    j->end++;
    trim(j);
}

int journal_add(struct journal *j, const void *data, size_t len)
{
    char *copy;

    if (make_room(j) < 0 || !(copy = mem_dup(data, len)))
        return -1;
    append(j, copy, len);
    return 0;
}

int journal_take(struct journal *j, struct buf *text)
{
    size_t len = text->len;
    char *fitting;

    if (len < LONG_TEXT)
        return journal_add(j, text->data, len);
    if (make_room(j) < 0 || !(fitting = mem_resize(text->data, len + 1, 1)))
        return -1;
    text->data = fitting;
    append(j, buf_steal(text, NULL), len);
    return 0;
}

static void set_next(struct journal *j, uint64_t q)
{
    j->next = q;
    j->pending = 0;
    for (; q < j->end; q++)
        j->pending += cost(at(j, q));
}

/* A new count begins: the first frame it gets is number 1. */
static void attach_fresh(struct journal *j, uint64_t *ret_from, uint64_t *ret_lost)
{
    uint64_t start = j->next > j->first ? j->next : j->first;

    *ret_lost = start - j->next;
    *ret_from = 1;
    j->shift = start;
    j->gap_number = j->gap_lost = j->moved = 0;
    j->counts_lost = false;
    set_next(j, start);
}

/* Nobody has received a frame that was not given out: whoever says so after a gap counts the lost ones, too. */
static void learn_how_it_counts(struct journal *j, uint64_t after)
{
    uint64_t most = j->given > j->shift ? j->given - j->shift : 0;

    if (!j->moved || after <= most || after - j->moved > most)
        return;
    j->shift -= j->moved;
    j->moved = j->gap_number = j->gap_lost = 0;
    j->counts_lost = true;
}

/* After a gap the numbers move up, so that the client's count goes on without a jump. The gap is
 * told again to a client that asks from before it: the first answer may not have arrived. */
static void attach_resumed(struct journal *j, uint64_t after, uint64_t *ret_from, uint64_t *ret_lost)
{
    uint64_t have, want, lost = 0;

    learn_how_it_counts(j, after);
    have = j->end - j->shift; /* highest number there is */
    if (after > have)
        after = have; /* it cannot have received more */
    want = after + j->shift;
    if (j->gap_lost && after + 1 <= j->gap_number)
        lost = j->gap_lost;
    if (want < j->first) {
        lost += j->first - want;
        if (!j->counts_lost) {
            j->shift += j->first - want;
            j->moved += j->first - want;
            j->gap_number = after + 1;
            j->gap_lost = lost;
        }
        want = j->first;
    }
    *ret_from = after + 1;
    *ret_lost = lost;
    set_next(j, want);
}

void journal_attach(struct journal *j, uint64_t after, uint64_t *ret_from, uint64_t *ret_lost)
{
    if (after == JOURNAL_FRESH)
        attach_fresh(j, ret_from, ret_lost);
    else
        attach_resumed(j, after, ret_from, ret_lost);
    j->attached = true;
}

void journal_detach(struct journal *j)
{
    j->attached = false; /* the next frame makes room: a client that comes soon finds all that it was not given */
}

const struct journal_frame *journal_peek(const struct journal *j, size_t ahead, uint64_t *ret_number)
{
    if (!j->attached || ahead >= j->end - j->next)
        return NULL;
    *ret_number = j->next + ahead + 1 - j->shift;
    return at(j, j->next + ahead);
}

void journal_pass(struct journal *j)
{
    if (j->next >= j->end)
        return;
    j->pending -= cost(at(j, j->next));
    j->next++;
    if (j->given < j->next)
        j->given = j->next;
    trim(j);
}

bool journal_is_full(const struct journal *j)
{
    return j->attached && j->pending > j->max / 2;
}

uint64_t journal_count(const struct journal *j)
{
    return j->end;
}
