/* supervisor/rpc_server.h -- workers and the command line ask over a UNIX socket: one request, one answer, then the end
 * (shared/ipc/rpc.h), which a worker that has got a session puts off until its client is told of it. Owns the listener
 * and its connections: a bounded number of them, each with a deadline, so that a worker that is stuck costs a
 * descriptor for a while and nothing else. What requests mean is rpc_calls.c's. */
#ifndef SUPERVISOR_RPC_SERVER_H
#define SUPERVISOR_RPC_SERVER_H

#include <ev.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "shared/base/buf.h"
#include "supervisor/acceptor.h"
#include "supervisor/peer.h"
#include "supervisor/rpc_request.h"
#include "supervisor/sessions.h"

#define RPC_CONNECTIONS_MAX 256

struct rpc_server;

struct rpc_conn {
    struct list link;
    struct rpc_server *server;
    struct peer peer;
    struct ev_timer deadline;
    bool asked, answered;
    enum rpc_type type; /* once it has asked */
    int64_t asked_us;
    /* of rpc_calls.c: at most one of them waits in a list of sessions.c */
    struct waiter waiter;
    struct create_request create;
    bool may_wait; /* who asked for it knows RPC_FULL, */
    bool takes;    /* will say RPC_TAKEN, */
    bool open;     /* and has not yet: what was created ends with the connection */
};

struct rpc_server {
    struct ev_loop *loop;
    void (*call)(struct rpc_conn *c, const struct rpc_request *r);     /* answers now, or when a waiter is told */
    void (*answered)(void *owner, enum rpc_type type, double seconds); /* NULL: nobody counts */
    void (*abandoned)(void *owner, const struct id *id);               /* of a create request that was answered */
    void *owner;
    uid_t user; /* who may ask, beside root */
    struct acceptor door;
    struct list connections;
    unsigned count;
};

/* Takes the listening fd. */
void rpc_server_start(struct rpc_server *r, struct ev_loop *loop, int fd,
                      void (*call)(struct rpc_conn *c, const struct rpc_request *r), void *owner);
void rpc_server_release(struct rpc_server *r); /* closes everything; one that was never started is fine */

/* One of these, once per connection; the connection may be gone when they return. fd (-1: none) stays the caller's. */
void rpc_answer(struct rpc_conn *c, enum rpc_type type, const struct buf *payload, int fd);
void rpc_answer_error(struct rpc_conn *c, const struct err *err);

/* Gives a request that has to wait for others this long before it is answered with an error. */
void rpc_wait_for(struct rpc_conn *c, double seconds);

#endif
