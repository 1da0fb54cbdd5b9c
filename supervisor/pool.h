/* supervisor/pool.h -- sandboxes that wait for the next session, with the framework loaded (adr/0024). They are made in
 * the background, one at a time, when nothing else starts and nobody waits for a place; a session takes one with its
 * slot. What cannot be made is tried again with growing pauses. They are no sessions: nobody owns them, no limit counts
 * them, and a slot that one waits in is as good as a free one. Owns the slots of those that wait and the connections to
 * their holders. */
#ifndef SUPERVISOR_POOL_H
#define SUPERVISOR_POOL_H

#include <ev.h>
#include <stdbool.h>
#include <stdint.h>

#include "shared/ipc/launch.h"
#include "supervisor/control.h"

struct pool;
struct sessions;

enum pool_step {
    POOL_NONE,
    POOL_STARTING, /* the launcher was asked for a holder, or that one for an interpreter */
    POOL_LOADING,  /* a session may take it: it will be ready before one that starts now */
    POOL_READY,
    POOL_CLAIMED,  /* its holder was told whose it is, and has not answered */
    POOL_CLEARING, /* its slot is being cleaned */
};

struct pool_place {
    struct pool *pool;
    enum pool_step step;
    uint32_t slot;
    struct id id; /* by which the launcher knows it */
    struct control *control;
    struct ev_timer patience;
    int64_t ready_ms;
};

struct pool {
    struct sessions *sessions;
    struct pool_place *places;
    uint32_t size;
    struct ev_timer next; /* the next look whether one is to be made */
    unsigned failures;    /* in a row */
};

int pool_init(struct pool *p, struct sessions *sessions, uint32_t size); /* 0, or -1 out of memory */
void pool_release(struct pool *p);

void pool_tend(struct pool *p);  /* something has changed: is one to be made? */
void pool_renew(struct pool *p); /* other settings: those that wait are replaced */

/* One that waits, ready if possible, for a session: its slot is the caller's, who asks its holder and then says
 * pool_taken(), or pool_give_back() when that came to nothing. -1: there is none. */
int pool_take(struct pool *p, uint32_t *ret_slot);
void pool_taken(struct pool *p, uint32_t slot);
void pool_give_back(struct pool *p, uint32_t slot);

/* How many are at that step. */
uint32_t pool_count(const struct pool *p, enum pool_step step);
uint32_t pool_takeable(const struct pool *p);

/* The launcher's news. */
bool pool_owns(const struct pool *p, uint32_t slot);
bool pool_clears(const struct pool *p, uint32_t slot);         /* it is one of ours, and is being cleaned */
void pool_message(struct pool *p, const struct launch_msg *m); /* about a slot of ours */
void pool_launcher_lost(struct pool *p);

#endif
