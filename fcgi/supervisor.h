/* fcgi/supervisor.h -- what a worker asks the supervisor (shared/ipc/rpc.h), one function per question.
 * All block up to their deadline. An error has a sentence for clients: what the supervisor said, or one of ours. */
#ifndef FCGI_SUPERVISOR_H
#define FCGI_SUPERVISOR_H

#include <stdint.h>

#include "shared/base/buf.h"
#include "shared/base/err.h"
#include "shared/base/id.h"
#include "shared/ipc/rpc.h"
#include "shared/ipc/signin.h"

/* socket: path of supervisor.sock. flags: enum rpc_admit. */
int supervisor_admit(const char *socket, const char *actor, uint32_t flags, struct err *err);

/* Where one stands who finds every place taken; position 0: that is not so. */
struct place_queue {
    unsigned position, waiting;
};

/* A started holder that waits for its program. Both descriptors are the caller's. */
struct place {
    uint32_t port; /* what the agent has to listen on */
    int holder;    /* for the program */
    int claim;     /* supervisor_taken() when somebody is told of the session: closed before, it ends */
};

/* flags: enum rpc_create, without RPC_CREATE_TAKES. ret_full may be NULL; else it is written also on failure. */
int supervisor_create(const char *socket, const struct id *id, const char *actor, uint32_t flags, struct place *ret,
                      struct place_queue *ret_full, struct err *err);
void supervisor_taken(int claim);

/* The same, waiting up to seconds for a place, as long as client_fd (the other end's interest in it) is open. */
int supervisor_queue(const char *socket, const struct id *id, const char *actor, unsigned seconds, int client_fd,
                     struct place *ret, struct place_queue *ret_full, struct err *err);

/* Texts of *ret are borrowed from answer (the caller's, any state). */
int supervisor_info(const char *socket, const struct id *id, const char *actor, struct buf *answer,
                    struct rpc_session *ret, struct err *err);
int supervisor_health(const char *socket, struct buf *answer, struct rpc_status *ret, struct err *err);

/* *ret is borrowed from answer: the page of counters, *ret_len bytes. */
int supervisor_metrics(const char *socket, struct buf *answer, const char **ret, size_t *ret_len, struct err *err);

/* A connection to the session's holder, for its files. */
int supervisor_open(const char *socket, const struct id *id, const char *actor, int *ret_fd, struct err *err);

/* Returns once nothing of the session is left. */
int supervisor_end(const char *socket, const struct id *id, const char *actor, struct err *err);

/* Sign-ins; secrets are texts of signin.h and go out as their digests only. One without the form of a secret is
 * ERR_AUTH. take: ERR_AUTH or ERR_LIMIT as signins.h says. check: that a session is known, and whom it counts as. */
int supervisor_signin_begin(const char *socket, const char *state, const char *browser, const char *actor,
                            struct err *err);
int supervisor_signin_take(const char *socket, const char *state, const char *browser, struct err *err);
int supervisor_signin_make(const char *socket, const char *state, const char *session, const char *login,
                           const char *avatar, struct err *err);
void supervisor_signin_give_up(const char *socket, const char *state); /* the supervisor does it alone after a while */
int supervisor_signin_show(const char *socket, const char *session, struct buf *answer, struct rpc_signin *ret,
                           struct err *err);
int supervisor_signin_end(const char *socket, const char *session, struct err *err);
int supervisor_signin_check(const char *socket, const char *session, char ret_actor[RPC_ACTOR_MAX + 1],
                            struct err *err);

#endif
