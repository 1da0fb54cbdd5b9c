/* supervisor/session.h -- what the supervisor knows about one session, and the states it passes.
 * Owns nothing but its own memory: connections, timer and slot are put up and taken down by the entry actions of its
 * keeper (sessions.c), which session_set_state() runs. Design, section 4.
 *
 *   NEW       asked the launcher for a holder                        STARTING  the holder runs, the agent not yet
 *   READY     the agent listens, nobody ever talked to it            ATTACHED  a browser is there (perhaps before
 * READY) DETACHED  the browser left, the holder waits for another         STOPPING  the slot is being cleared GONE
 * nothing is left of it                                                                                  */
#ifndef SUPERVISOR_SESSION_H
#define SUPERVISOR_SESSION_H

#include <ev.h>
#include <stdbool.h>
#include <stdint.h>

#include "shared/base/id.h"
#include "shared/ipc/hold.h"
#include "shared/ipc/rpc.h"
#include "supervisor/list.h"

#define SESSION_STATES(X) X(NEW) X(STARTING) X(READY) X(ATTACHED) X(DETACHED) X(STOPPING) X(GONE)
enum session_state {
#define X(name) SESSION_##name,
    SESSION_STATES(X)
#undef X
        SESSION__MAX
};

struct browser;
struct control;
struct session;

/* What entering a state does to the world; NULL entries do nothing. */
struct session_actions {
    void (*enter[SESSION__MAX])(struct session *s);
};

struct session {
    struct id id;
    char name[ID_TEXT_LEN + 1];
    char actor[RPC_ACTOR_MAX + 1];
    uint32_t slot;
    enum session_state state; /* written by session_set_state() only */
    const struct session_actions *actions;
    void *keeper; /* for the actions */

    int64_t started_wall_ms, expires_wall_ms; /* to be shown */
    int64_t expires_mono_ms;                  /* to be waited for */
    int64_t asked_us;                         /* monotonic: when its place was asked for */
    enum hold_phase phase;
    enum hold_reason reason; /* why the agent ended; NONE: it has not */
    int32_t code;
    bool ending;            /* its end was asked for, the holder says good-bye */
    enum hold_reason asked; /* why its end was asked for */
    int64_t detached_ms;    /* DETACHED: since when, monotonic */
    bool unwanted;          /* its owner ended it: nothing of it is remembered */
    bool found;             /* left by an earlier supervisor; its holder has not said yet who it is */
    bool adopted;           /* was found, and is known by now */
    bool foreign;           /* its holder is of a build that does not work with ours */
    bool claims;            /* its holder waited for a session, and has not said yet that this one is it */
    bool waited;            /* it is none: what an earlier supervisor left waiting for one */
    bool counts_end;        /* was started or adopted, and its end is not in the metrics yet */

    uint64_t frames; /* made so far; its holder tells, at most a second late */

    struct control *control; /* connection to the holder, NULL: none */
    struct browser *browser; /* who is attached, NULL: nobody */
    struct ev_timer timer;   /* lifetime, then patience with its end */
    struct list creators;    /* waiters for its start */
    struct list enders;      /* waiters for its end */
    struct list link;        /* of its keeper's list of the dead */

    struct session *id_chain, *actor_chain; /* of session_table.c */
};

/* actor is cut at RPC_ACTOR_MAX. NULL: out of memory. The first state is NEW; its action is not run. */
struct session *session_new(const struct id *id, const char *actor, uint32_t slot,
                            const struct session_actions *actions, void *keeper);
void session_free(struct session *s); /* NULL is fine; connections and timer must be down */

/* The only writer of s->state. The same state again does nothing; a step that is not allowed is a bug and aborts. */
void session_set_state(struct session *s, enum session_state to);
bool session_may(const struct session *s, enum session_state to); /* is that step allowed now? */
const char *session_state_name(enum session_state state);         /* "READY" */

/* Alive as far as its owner's cap counts: neither on its way out, nor left by its browser, nor without its agent. */
bool session_counts(const struct session *s);

/* Its end was asked for or is under way: to its owner it is gone already. */
bool session_is_leaving(const struct session *s);

/* Somebody may talk to it: its holder runs, and its end was not asked for. */
bool session_can_attach(const struct session *s);

void session_describe(const struct session *s, struct rpc_session *ret); /* strings are borrowed from s */

#endif
