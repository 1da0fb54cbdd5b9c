/* shared/ipc/actor.h -- the name under which a caller owns sessions and is counted, the same in every process:
 * "ip:192.0.2.1", "ip:2001:db8:1:2::/64" (one household, not one address), "gh:<sha256>", "internal". Pure. */
#ifndef IPC_ACTOR_H
#define IPC_ACTOR_H

#include "shared/ipc/rpc.h"

#define ACTOR_INTERNAL "internal"

/* Actor of a client address as nginx writes it (no port): 0, or -1 when it is no address (out is "ip:unknown" then).
 * An IPv4 address inside IPv6 is that IPv4 address. */
int actor_from_address(const char *address, char out[RPC_ACTOR_MAX + 1]);

#endif
