/* supervisor/sessions.h -- all sessions of the service: starts them through the launcher, follows them through their
 * holders, ends them, and finds those that an earlier supervisor left. Owns sessions, slots and the launcher channel.
 * One thread of events; who waits for one is a waiter in a session's list. */
#ifndef SUPERVISOR_SESSIONS_H
#define SUPERVISOR_SESSIONS_H

#include <ev.h>
#include <stdbool.h>
#include <stdint.h>

#include "shared/base/err.h"
#include "shared/config/config.h"
#include "supervisor/ended.h"
#include "supervisor/launch_client.h"
#include "supervisor/metrics.h"
#include "supervisor/pool.h"
#include "supervisor/queue.h"
#include "supervisor/selftest.h"
#include "supervisor/session.h"
#include "supervisor/session_table.h"
#include "supervisor/slots.h"

#define SESSIONS_FOREIGN "the launcher is of another version, the service has to be restarted"
#define SESSIONS_PATH_MAX 108 /* a socket path and its NUL */

/* Told once, then out of every list. err NULL: what was waited for has happened. */
struct waiter {
    struct list link;
    void (*done)(struct waiter *w, struct session *s, const struct err *err);
};

struct create_request {
    struct waiter waiter; /* done: the holder runs, its socket listens */
    struct id id;
    char actor[RPC_ACTOR_MAX + 1];
    bool internal;   /* no cap for its owner */
    unsigned wait_s; /* it waits so long for a place; 0: not at all */
    /* sessions_queue.c's */
    bool full;       /* what it was told of: every place is taken */
    size_t position; /* full: where it stands, or would */
    bool turn;       /* it was first in the queue: others do not come before it */
    struct queue_entry entry;
    struct ev_timer patience;
    struct sessions *queued; /* waits in the queue of these */
};

struct sessions {
    struct ev_loop *loop;
    const struct config *config;
    struct session_table table;
    struct slots slots;
    struct launch_client launch;
    struct selftest selftest;
    struct pool pool;
    char launcher_path[SESSIONS_PATH_MAX];
    uint32_t limits; /* enum launch_limit, what the launcher bounds sessions with; 0: it has not said yet */
    struct metrics metrics;
    bool draining;      /* no new sessions (an operator's wish) */
    bool adopting;      /* no inventory of the launcher was complete yet: unknown sessions are ours from before */
    bool serving;       /* somebody's turn is being tried: what that causes must not try again */
    struct queue queue; /* create requests that wait for a place */
    struct list
        pending;      /* create requests that wait until their owner's former sessions are gone, or for the self-test */
    struct list dead; /* sessions without memory of their own any more but ours, freed between two events */
    struct ended ended; /* what became of the others */
    struct ev_prepare reaper;
    /* About the browser of a session: its end has begun, the session's reason is final; then it is gone: close it,
     * forget the session. */
    void (*warn_browser)(struct browser *b);
    void (*release_browser)(struct browser *b);
};

int sessions_init(struct sessions *ss, struct ev_loop *loop, const struct config *config, struct err *err);
void sessions_start(struct sessions *ss);   /* connects to the launcher */
void sessions_release(struct sessions *ss); /* holders and agents live on; waiters are not told */

/* Every session that an earlier supervisor left is known by now: whoever asks for one gets the truth. */
bool sessions_settled(const struct sessions *ss);

void waiter_init(struct waiter *w, void (*done)(struct waiter *w, struct session *s, const struct err *err));
void waiter_cancel(struct waiter *w);         /* never called again; a start that nobody waits for is undone */
void create_cancel(struct create_request *r); /* the same, out of the queue too; a zeroed one is fine */

/* Answers through r->waiter, perhaps at once. Room is made first by the owner's detached sessions, then by any whose
 * agent has ended and that nobody looks at. */
void sessions_create(struct sessions *ss, struct create_request *r);

/* In sessions_queue.c. The queue, when a place may have come free; whoever r is, every place is taken: -1, and err says
 * how long it takes; r joins the queue: 0, or -1. */
void sessions_serve_queue(struct sessions *ss);
int sessions_full(struct sessions *ss, struct create_request *r, struct err *err);
int sessions_join_queue(struct sessions *ss, struct create_request *r);

/* 1 it starts, 0 it does when what ends now is gone or the sandbox has been tried, -1 and err; r->full tells whether it
 * is for want of a place. */
int sessions_try(struct sessions *ss, struct create_request *r, struct err *err);

/* 0, or -1: ERR_LIMIT when this owner may have no further session now. */
int sessions_check_cap(const struct sessions *ss, const char *actor, struct err *err);

/* A session of this actor: NULL and ERR_NOT_FOUND, the same for somebody else's and for one that never was. */
struct session *sessions_find(const struct sessions *ss, const struct id *id, const char *actor, struct err *err);

/* What is known of a session of this actor, also for a while after its end: 0, or -1 ERR_NOT_FOUND. */
int sessions_describe(const struct sessions *ss, const struct id *id, const char *actor, struct rpc_session *ret,
                      struct err *err);

/* Begins its end; w (may be NULL) is told when nothing is left. */
void sessions_end(struct sessions *ss, struct session *s, enum hold_reason reason, struct waiter *w);

/* A browser took the session or left it. Attaching over another one is the caller's to settle first. */
void sessions_attach(struct session *s, struct browser *b);
void sessions_detach(struct session *s, struct browser *b); /* only if b is the one attached */

void sessions_holder_path(const struct sessions *ss, uint32_t slot, char out[SESSIONS_PATH_MAX]);

/* Events (sessions_events.c), for the files of this module. */
extern const struct launch_events sessions_launch_events;
extern const struct control_events sessions_control_events;
void sessions_retry_pending(struct sessions *ss);
void sessions_count_end(struct session *s); /* in the metrics, once, with its reason */
void sessions_tell(struct list *waiters, struct session *s, const struct err *err);
void sessions_set_timer(struct session *s, double seconds);
int sessions_claim(struct session *s, struct err *err); /* asks the holder that waits in its slot */
void sessions_forget_claim(struct session *s);          /* that came to nothing: it never was; waiters are not told */

/* A session in the table at that slot, NULL: no memory. */
struct session *sessions_add(struct sessions *ss, const struct id *id, const char *actor, uint32_t slot);

#endif
