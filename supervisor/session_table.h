/* supervisor/session_table.h -- the sessions there are, found by id, by slot and by owner in constant time.
 * Borrows the sessions. The one place that a second machine would have to share (design, decision 11). */
#ifndef SUPERVISOR_SESSION_TABLE_H
#define SUPERVISOR_SESSION_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "shared/base/keyed_hash.h"
#include "supervisor/session.h"

struct session_table {
    struct session **by_slot;           /* slots of them */
    struct session **by_id, **by_actor; /* buckets, a power of two */
    uint32_t slots;
    size_t buckets;
    size_t count;
    struct hash_key key;
};

int session_table_init(struct session_table *t, uint32_t slots); /* 0, or -1 out of memory */
void session_table_release(struct session_table *t);             /* not the sessions; NULL is fine */

/* The slot and the id must not be in use. Never fails: the room was made by the init. */
void session_table_add(struct session_table *t, struct session *s);
void session_table_remove(struct session_table *t, struct session *s); /* no harm when it is not in */

struct session *session_table_find(const struct session_table *t, const struct id *id);   /* NULL: none */
struct session *session_table_at(const struct session_table *t, uint32_t slot);           /* NULL: none */
struct session *session_table_first_of(const struct session_table *t, const char *actor); /* NULL: none */
struct session *session_table_next_of(const struct session *s); /* of the same actor; NULL: no more */

#endif
