/* supervisor/rpc_request.h -- a request of a worker or the command line, as a checked struct (shared/ipc/rpc.h). Pure.
 */
#ifndef SUPERVISOR_RPC_REQUEST_H
#define SUPERVISOR_RPC_REQUEST_H

#include <stddef.h>
#include <stdint.h>

#include "shared/base/err.h"
#include "shared/base/id.h"
#include "shared/ipc/rpc.h"
#include "shared/ipc/signin.h"

struct rpc_request {
    enum rpc_type type;
    struct id id;                 /* zero where the type has none */
    const char *actor;            /* borrowed from the message, "" where the type has none, else never empty */
    uint32_t flags;               /* known ones only */
    struct signin_hash hashes[2]; /* in wire order, zero where the type has fewer */
    const char *login, *avatar;   /* borrowed, "" where the type has none */
};

/* 0, or -1: ERR_BAD_REQUEST when the fields are not those of its type, ERR_UNAVAILABLE when type or flags are unknown.
 */
int rpc_request_parse(uint16_t type, const void *payload, size_t len, struct rpc_request *ret, struct err *err);

#endif
