/* supervisor/ended.h -- what became of sessions that are over, so that their owners can still ask why: the newest
 * ENDED_MAX of them, each for ENDED_SECONDS. In memory only: a supervisor that starts anew knows none. Owns its ring.
 */
#ifndef SUPERVISOR_ENDED_H
#define SUPERVISOR_ENDED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "supervisor/session.h"

#define ENDED_MAX 1024
#define ENDED_SECONDS 300

struct ended_session;

struct ended {
    struct ended_session *ring;
    size_t newest, count; /* the newest is at newest - 1 */
};

int ended_init(struct ended *e); /* 0, or -1 out of memory */
void ended_release(struct ended *e);

void ended_add(struct ended *e, const struct session *s, int64_t now_ms); /* monotonic time, as below */

/* The actor's session of that id: true and *ret, whose texts are borrowed until the next ended_add(). */
bool ended_find(const struct ended *e, const struct id *id, const char *actor, int64_t now_ms, struct rpc_session *ret);

#endif
