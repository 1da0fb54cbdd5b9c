/* supervisor/relay/ws_server.h -- libwebsockets as a guest on our loop: the browsers' WebSockets and nothing else.
 * Owns the listener, the context and all browsers. Design, section 8, decision 1. */
#ifndef RELAY_WS_SERVER_H
#define RELAY_WS_SERVER_H

#include <libwebsockets.h>
#include <stdbool.h>
#include <stdint.h>

#include "shared/base/err.h"
#include "supervisor/acceptor.h"
#include "supervisor/list.h"

struct supervisor;

struct ws_server {
    struct supervisor *supervisor; /* borrowed: loop, configuration, sessions, quota */
    struct lws_context *context;
    struct lws_vhost *vhost;
    struct acceptor door;
    struct list browsers;
    unsigned count, max; /* connections; beyond max the others wait in the backlog */
    unsigned gone;       /* since free memory went back to the system */
    struct {
        int64_t since_ms;
        unsigned told; /* or only counted */
    } refused;
};

/* Takes the listening fd, also on failure. At most max connections at a time. */
struct ws_server *ws_server_new(struct supervisor *sv, int fd, unsigned max, struct err *err);

/* No new ones; those there are told to come back in a moment (1012). */
void ws_server_drain(struct ws_server *ws);
bool ws_server_empty(const struct ws_server *ws);
bool ws_server_told(const struct ws_server *ws); /* the kernel has the close of each that is left */
void ws_server_free(struct ws_server *ws);       /* NULL is fine */

/* A browser's memory is gone (browser_free()). */
void ws_server_forget(struct ws_server *ws);

#endif
