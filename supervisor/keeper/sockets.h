/* supervisor/keeper/sockets.h -- the directories and listening sockets of the service, made once at the start and
 * kept while children come and go, so that a connection made meanwhile waits. The launcher makes its own
 * socket: its one client has to start over with it anyway. Modes: see the tables in sockets.c. */
#ifndef KEEPER_SOCKETS_H
#define KEEPER_SOCKETS_H

#include <sys/types.h>

#include "shared/base/err.h"
#include "shared/config/config.h"
#include "supervisor/keeper/child.h"

enum keeper_socket { SOCKET_SUPERVISOR, SOCKET_WEBSOCKET, SOCKET_FCGI, SOCKET__MAX };

struct keeper_sockets {
    int fds[SOCKET__MAX]; /* -1 = none */
};

const char *keeper_socket_name(enum keeper_socket s); /* for LISTEN_FDNAMES */

/* RUNTIME_DIR, STATE_DIR and what is in them: 0, or -1 naming the path. */
int keeper_make_directories(const struct config *c, const struct child_user *user, struct err *err);

/* All sockets, stale ones replaced: 0, or -1 with none left. */
int keeper_make_sockets(const struct config *c, const struct child_user *user, gid_t web_group,
                        struct keeper_sockets *ret, struct err *err);
void keeper_close_sockets(const struct config *c, struct keeper_sockets *s); /* closes and unlinks */

#endif
