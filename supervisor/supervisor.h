/* supervisor/supervisor.h -- agentsim-supervisor as a whole: one event loop that owns sessions, the answers to workers
 * and the browsers' sockets. Design, sections 2, 4 and 8 (decision 1). */
#ifndef SUPERVISOR_SUPERVISOR_H
#define SUPERVISOR_SUPERVISOR_H

#include <ev.h>
#include <stdbool.h>

#include "shared/base/err.h"
#include "shared/config/config.h"
#include "supervisor/quota.h"
#include "supervisor/rpc_server.h"
#include "supervisor/sessions.h"

struct ws_server;

struct supervisor {
    struct ev_loop *loop;
    const struct config *config;
    struct sessions sessions;
    struct quota *quota;
    struct rpc_server rpc;
    struct ws_server *ws;
    struct ev_signal stop[2]; /* SIGTERM, SIGINT */
    struct ev_timer drain;
    bool stopping;
};

/* Runs until SIGTERM or SIGINT: browsers are told to come back (1012), sessions live on without us. 0, or -1. */
int supervisor_run(const struct config *config, struct err *err);

/* One request of a worker (rpc_calls.c); owner of the server is the supervisor. */
void supervisor_call(struct rpc_conn *c, const struct rpc_request *r);

#endif
