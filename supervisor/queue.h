/* supervisor/queue.h -- who waits for a place: one line per owner, and the owners take turns, so that many requests of
 * one do not keep the others waiting. Bounded in all and per owner. Pure; owns its lines, borrows the entries. */
#ifndef SUPERVISOR_QUEUE_H
#define SUPERVISOR_QUEUE_H

#include <stddef.h>

#include "supervisor/list.h"

struct queue_line;

struct queue_entry {
    struct list link;        /* in its line */
    struct queue_line *line; /* NULL: does not wait */
};

struct queue {
    struct list lines; /* the owner whose turn it is comes first */
    size_t count, max, max_of_one;
};

void queue_init(struct queue *q, size_t max, size_t max_of_one);
void queue_release(struct queue *q); /* entries that still wait are let go */

/* At the end of its owner's line: 0; -1 too many wait, or no memory. The entry is zeroed, or has left. */
int queue_join(struct queue *q, struct queue_entry *e, const char *owner);

/* Out of the line, without its turn; harmless when it does not wait. */
void queue_leave(struct queue *q, struct queue_entry *e);

struct queue_entry *queue_first(const struct queue *q); /* NULL: nobody waits */
struct queue_entry *queue_take(struct queue *q);        /* the first leaves; then it is the next owner's turn */

/* 1: the next; 0: does not wait. */
size_t queue_position(const struct queue *q, const struct queue_entry *e);

#endif
