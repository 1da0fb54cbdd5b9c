/* supervisor/metrics.h -- what the supervisor counts, and its page in the Prometheus text format (0.0.4).
 * Counters only grow and begin at 0 with the process; what is true at the moment (gauges) is handed in when the page is
 * written. Names of actors, sessions and addresses never appear. Pure but for the memory of the page. */
#ifndef SUPERVISOR_METRICS_H
#define SUPERVISOR_METRICS_H

#include <stdbool.h>
#include <stdint.h>

#include "shared/base/buf.h"
#include "shared/base/err.h"
#include "shared/ipc/hold.h"
#include "shared/ipc/rpc.h"
#include "supervisor/session.h"

#define METRICS_BUCKETS 12
#define METRICS_RPC_MAX 64 /* request types are below (rpc.h) */

/* How long something took; bounds of the buckets are metrics.c's. */
struct metrics_times {
    uint64_t buckets[METRICS_BUCKETS + 1]; /* the last one is beyond all bounds */
    uint64_t count;
    double seconds; /* sum */
};

enum metrics_surface { METRICS_PUBLIC, METRICS_INTERNAL, METRICS_SURFACE__MAX };
enum metrics_outcome { METRICS_STARTED, METRICS_LIMITED, METRICS_UNAVAILABLE, METRICS_FAILED, METRICS_OUTCOME__MAX };
enum metrics_limit { METRICS_RATE, METRICS_OWNER_CAP, METRICS_CAPACITY, METRICS_LIMIT__MAX };

struct metrics {
    uint64_t starts[METRICS_SURFACE__MAX][METRICS_OUTCOME__MAX];
    struct metrics_times start; /* request for a place until the holder takes the program */
    struct metrics_times ready; /* the same until the agent listens */
    uint64_t ends[HOLD_REASON__MAX];
    uint64_t limits[METRICS_LIMIT__MAX];
    uint64_t sandbox_refusals;
    uint64_t warm_starts;
    uint64_t attached, taken_over;
    uint64_t frames_to_browsers, bytes_to_browsers, frames_to_agents, bytes_to_agents;
    struct metrics_times rpc[METRICS_RPC_MAX]; /* by request type */
};

struct metrics_now {
    uint32_t sessions[SESSION__MAX];
    uint32_t slots, slots_free, slots_quarantined, warm;
    uint32_t browsers, queue;
    uint64_t uptime_s;
    bool sandbox_ok, draining;
    uint64_t rate_actors;
};

void metrics_observe(struct metrics_times *t, double seconds);

/* A request for a session was answered; err NULL: with one. */
void metrics_start(struct metrics *m, enum metrics_surface surface, const struct err *err);

void metrics_write(const struct metrics *m, const struct metrics_now *now, struct buf *out);

#endif
