/* Any order of frames, attaches, deliveries and departures: every client sees a gapless count, bounds hold. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "shared/base/mem.h"
#include "supervisor/holder/journal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define LIMIT 2000
#define BIGGEST 300

static void must(bool fact)
{
    if (!fact)
        abort();
}

/* The client's side: what it has received, and which frame (numbered by us in its content) came last. */
struct client {
    uint64_t received;
    uint64_t last; /* content */
    bool attached, any;
};

static void attach(struct journal *j, struct client *c, uint64_t after)
{
    uint64_t from, lost;

    journal_attach(j, after, &from, &lost);
    if (after != c->received)
        c->any = false; /* fresh, or it pretends to have seen less: contents begin anew */
    c->received = after == JOURNAL_FRESH ? 0 : after;
    must(from == c->received + 1);
    must(lost <= journal_count(j));
    c->attached = true;
}

static void deliver(struct journal *j, struct client *c, size_t ahead)
{
    uint64_t number, content;
    const struct journal_frame *f = journal_peek(j, ahead, &number);

    must(!f || number == c->received + 1 + ahead);
    f = journal_peek(j, 0, &number);
    if (!f)
        return;
    must(c->attached && number == c->received + 1 && f->len >= sizeof(content));
    memcpy(&content, f->data, sizeof(content));
    must(!c->any || content > c->last);
    c->last = content;
    c->any = true;
    c->received++;
    journal_pass(j);
}

static void add(struct journal *j, uint64_t *counter, size_t len)
{
    char frame[BIGGEST + 8];

    memset(frame, 'x', sizeof(frame));
    memcpy(frame, counter, sizeof(*counter));
    ++*counter;
    must(journal_add(j, frame, 8 + len % BIGGEST) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct client c = { 0 };
    struct journal j;
    uint64_t counter = 0;
    size_t i;

    journal_init(&j, LIMIT);
    for (i = 0; i + 1 < size && i < 4000; i += 2) {
        uint8_t arg = data[i + 1];

        switch (data[i] % 6) {
        case 0:
        case 1:
            if (!journal_is_full(&j)) /* a full one is not read into */
                add(&j, &counter, arg);
            break;
        case 2:
            deliver(&j, &c, arg);
            break;
        case 3:
            attach(&j, &c, JOURNAL_FRESH);
            break;
        case 4:
            attach(&j, &c, c.received - (c.received < arg ? c.received : arg % 4));
            break;
        case 5:
            journal_detach(&j);
            c.attached = false;
            break;
        }
        must(j.pending <= j.bytes && j.next <= j.end && j.first <= j.end);
        must(j.bytes <= LIMIT + 4 * (BIGGEST + 8 + 64) || j.end - j.first == 1);
    }
    journal_release(&j);
    return 0;
}
