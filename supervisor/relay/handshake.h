/* supervisor/relay/handshake.h -- what a WebSocket request is, judged before the upgrade. Pure.
 * nginx tells in X-Agentsim-Surface which of its two servers the request came through; without it the public rules
 * hold. Source: the HTTP contract, sections 2, 3 and 8. */
#ifndef RELAY_HANDSHAKE_H
#define RELAY_HANDSHAKE_H

#include <stdbool.h>

#include "shared/base/err.h"
#include "shared/base/id.h"
#include "shared/config/config.h"
#include "shared/ipc/rpc.h"

/* Texts of the request; NULL or "" where the header is missing. */
struct handshake_request {
    const char *path; /* decoded, without the query */
    const char *surface, *token, *address, *origin, *host;
};

struct handshake {
    bool internal;
    bool id_valid; /* else the socket is opened, told why, and closed */
    struct id id;
    char actor[RPC_ACTOR_MAX + 1]; /* of the address, or "internal" */
};

/* 0: upgrade. -1: refuse, err's kind is the status (403 for all but a path that does not exist, 404). */
int handshake_judge(const struct config *config, const struct handshake_request *r, struct handshake *ret,
                    struct err *err);

#endif
