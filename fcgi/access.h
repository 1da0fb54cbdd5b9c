/* fcgi/access.h -- who asks: the token of the internal surface, the actor of the public one. */
#ifndef FCGI_ACCESS_H
#define FCGI_ACCESS_H

#include "fcgi/request.h"
#include "shared/config/config.h"
#include "shared/ipc/actor.h"

/* The internal surface: 0 when the token is right, ERR_UNAVAILABLE while none is configured, else ERR_AUTH. */
int access_token(const struct config *c, const struct request *rq, struct err *err);

/* The public surface: whom sessions and counts belong to. ERR_AUTH when a sign-in is
 * needed and is not there, unknown or over; the supervisor is asked only then. */
int access_actor(const struct config *c, const char *supervisor_socket, const struct request *rq,
                 char ret[RPC_ACTOR_MAX + 1], struct err *err);

#endif
