/* supervisor/quota.h -- how often an actor may knock: a sliding window per actor, one truth for all workers.
 * An actor holds at most max_hits times; one that has been silent for a window is forgotten, and when max_actors are
 * known the one silent for longest makes room. The clock is the caller's, so that tests own time.
 * Source of the numbers: the HTTP contract, section 4. */
#ifndef SUPERVISOR_QUOTA_H
#define SUPERVISOR_QUOTA_H

#include <stddef.h>
#include <stdint.h>

#include "shared/base/err.h"

struct quota_rule {
    int64_t window_ms;
    size_t max_hits;
    size_t max_actors; /* at least 1 */
};

struct quota; /* opaque; freed by quota_free(), NULL is fine */

struct quota *quota_new(const struct quota_rule *rule); /* NULL: out of memory */
void quota_free(struct quota *q);

/* Other numbers from now on; what was counted stays counted. Fewer actors than are known: the oldest are forgotten as
 * others come. */
void quota_change(struct quota *q, const struct quota_rule *rule);

/* One knock at now_ms (never earlier than the last one): 0 and counted, or -1: ERR_LIMIT with the whole seconds until
 * the next would pass in err->wait (such a knock is not counted), or out of memory, which refuses as well. */
int quota_hit(struct quota *q, const char *actor, int64_t now_ms, struct err *err);

/* Is told of every knock that is counted from now on. */
void quota_tell(struct quota *q, void (*counted)(void *owner, const char *actor, int64_t now_ms), void *owner);

size_t quota_actors(const struct quota *q); /* known ones */

#endif
