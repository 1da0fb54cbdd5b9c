/* supervisor/signin_desk.h -- sign-ins of the running supervisor: the table (signins.h), its file (signin_store.h), and
 * when the one goes into the other. What a worker was told is in the file before it is told, and on the disk when it is
 * a session that began or ended; a state that began is written within a second. */
#ifndef SUPERVISOR_SIGNIN_DESK_H
#define SUPERVISOR_SIGNIN_DESK_H

#include <ev.h>
#include <stdbool.h>

#include "shared/base/err.h"
#include "shared/config/config.h"
#include "supervisor/rpc_server.h"
#include "supervisor/signin_store.h"
#include "supervisor/signins.h"

struct signin_desk { /* owns all; all zero is one that was never opened: it knows nobody */
    struct ev_loop *loop;
    struct signins *table;
    struct signin_store store;
    struct ev_timer later; /* writes what has changed since, forgets what is over */
    bool changed, complained;
    int64_t wall_is_ahead_ms; /* of the time since the machine's start, as it was when last looked at */
};

/* A file that cannot be used is told in the log and costs the sign-ins in it; -1 only out of memory. */
int signin_desk_open(struct signin_desk *d, struct ev_loop *loop, const struct config *config, struct err *err);
void signin_desk_release(struct signin_desk *d); /* writes what has changed */

/* Whether the session is known now: 0, or -1 ERR_AUTH. */
int signin_desk_check(struct signin_desk *d, const struct signin_hash *session, struct err *err);

/* The requests RPC_SIGNIN_*; true when r was one of them. */
bool signin_desk_call(struct signin_desk *d, struct rpc_conn *c, const struct rpc_request *r);

#endif
