/* fcgi/supervisor.h -- what a worker asks the supervisor (shared/ipc/rpc.h), one function per question.
 * All block up to their deadline. An error has a sentence for clients: what the supervisor said, or one of ours. */
#ifndef FCGI_SUPERVISOR_H
#define FCGI_SUPERVISOR_H

#include <stdint.h>

#include "shared/base/buf.h"
#include "shared/base/err.h"
#include "shared/base/id.h"
#include "shared/ipc/rpc.h"

/* socket: path of supervisor.sock. flags: enum rpc_admit. */
int supervisor_admit(const char *socket, const char *actor, uint32_t flags, struct err *err);

/* A started holder that waits for its program: *ret_fd is the caller's, *ret_port what the agent has to listen on.
 * flags: enum rpc_create. */
int supervisor_create(const char *socket, const struct id *id, const char *actor, uint32_t flags, uint32_t *ret_port,
                      int *ret_fd, struct err *err);

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

#endif
