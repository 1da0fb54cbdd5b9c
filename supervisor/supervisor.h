/* supervisor/supervisor.h -- agentsim-supervisor as a whole: one event loop that owns sessions, the answers to workers
 * and the browsers' sockets. Design, sections 2, 4 and 8 (decision 1). */
#ifndef SUPERVISOR_SUPERVISOR_H
#define SUPERVISOR_SUPERVISOR_H

#include <ev.h>
#include <stdbool.h>

#include "shared/base/err.h"
#include "shared/config/config.h"
#include "supervisor/quota.h"
#include "supervisor/quota_log.h"
#include "supervisor/rpc_server.h"
#include "supervisor/sessions.h"
#include "supervisor/signin_desk.h"

struct ws_server;

struct supervisor {
    struct ev_loop *loop;
    struct config *config;
    const char *config_file; /* borrowed; NULL = the usual one */
    int64_t started_ms;      /* monotonic */
    struct sessions sessions;
    struct quota *quota;
    struct quota_log rates;
    struct signin_desk signins;
    struct rpc_server rpc;
    struct ws_server *ws;
    struct ev_signal stop[2]; /* SIGTERM, SIGINT */
    struct ev_signal hangup;  /* SIGHUP: reload */
    struct ev_timer drain, settle;
    bool open; /* the doors are */
    bool stopping;
    int64_t stopping_ms; /* monotonic */
};

/* Runs until SIGTERM or SIGINT: browsers are told to come back (1012), sessions live on without us. SIGHUP reloads the
 * settings, which stay the caller's to release. 0, or -1. */
int supervisor_run(struct config *config, const char *config_file, struct err *err);

/* config_reload() of ours, and what follows from it: 0, or -1 and nothing has changed. */
int supervisor_reload(struct supervisor *sv, struct err *err);

/* One request of a worker (rpc_calls.c); owner of the server is the supervisor. */
void supervisor_call(struct rpc_conn *c, const struct rpc_request *r);
void supervisor_answered(void *owner, enum rpc_type type, double seconds); /* for the metrics */
void supervisor_abandoned(void *owner, const struct id *id);               /* a session that nobody will hear of */

#endif
