/* supervisor/control.h -- a connection to a holder for talk about the session itself: control or probe (hold.h).
 * Owns the connection; checks every message; a broken one, a wrong one or the end is one event, and the last. So is
 * silence, where it is watched for: a holder that is stopped or turns in a circle neither speaks nor hangs up. */
#ifndef SUPERVISOR_CONTROL_H
#define SUPERVISOR_CONTROL_H

#include <ev.h>
#include <stdint.h>

#include "shared/base/err.h"
#include "supervisor/hold_event.h"

struct control; /* opaque; freed by control_close(), which handlers may call too; NULL is fine */

struct control_events {
    void (*said)(void *owner, const struct hold_event *e); /* HOLD_VERSION: one that we do not work with */
    void (*lost)(void *owner, const char *why);            /* the owner still has to close */
    void (*silent)(void *owner); /* as lost: of so many pings none was answered; NULL where nothing is watched */
};

struct control *control_open(struct ev_loop *loop, const char *path, enum hold_role role,
                             const struct control_events *events, void *owner, struct err *err);
void control_close(struct control *c);

/* Each is 0, or -1: the holder does not listen; the loss is told on the loop as well. */
int control_claim(struct control *c, const char *actor, int64_t started_wall_ms, int64_t lifetime_ms); /* 0, 0: adopt */
int control_warm_up(struct control *c); /* of a holder that has no session */
int control_take(struct control *c, const struct id *id, const char *actor, int64_t started_wall_ms,
                 int64_t lifetime_ms); /* and gets this one */
int control_end(struct control *c, enum hold_reason reason);
int control_probe(struct control *c);

/* The holder is pinged every so many seconds from now on, and given up when none of CONTROL_PINGS was answered, be it
 * that it has not said anything yet. One that does not tell its version is left alone once it has spoken. A ping counts
 * only once this process had all of the time after it to hear the answer: nothing is lost by a machine that was
 * suspended, or when it was we who stood still. */
#define CONTROL_PINGS 4
#define CONTROL_PING_SECONDS 5. /* what everybody uses but tests: a holder that hangs is found within 25 s */
void control_watch(struct control *c, double seconds);

#endif
