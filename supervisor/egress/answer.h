/* supervisor/egress/answer.h -- the head of a server's answer on its way to the agent. Pure.
 * One request goes over a connection, and the agent's client has to be told: else it sends its next one to a connection
 * that is about to close. Only "Connection" and what belongs to it is replaced. What is no HTTP, or has no end in
 * sight, is handed on as it came. */
#ifndef EGRESS_ANSWER_H
#define EGRESS_ANSWER_H

#include <stdbool.h>
#include <stddef.h>

#include "shared/base/buf.h"

#define EGRESS_ANSWER_HEAD_MAX ((size_t)64 << 10)

struct egress_answer {
    struct buf head; /* what has come of a head that is not whole yet */
    size_t scanned;
    bool done; /* the rest is handed on untouched */
};

void egress_answer_init(struct egress_answer *a);
void egress_answer_release(struct egress_answer *a); /* a zeroed one is fine */

/* Appends to out what can be handed on now. Failure is buf_failed(). */
void egress_answer_take(struct egress_answer *a, const char *data, size_t len, struct buf *out);

/* Nothing more comes: what is left, as it is. */
void egress_answer_end(struct egress_answer *a, struct buf *out);

#endif
