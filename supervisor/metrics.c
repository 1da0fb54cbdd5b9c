#include "supervisor/metrics.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "shared/base/mem.h"

static const double bounds[METRICS_BUCKETS] = { 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1., 2.5, 10. };

static const char *const surfaces[METRICS_SURFACE__MAX] = { "public", "internal" };
static const char *const outcomes[METRICS_OUTCOME__MAX] = { "started", "limited", "unavailable", "failed" };
static const char *const limits[METRICS_LIMIT__MAX] = { "rate", "owner_cap", "capacity" };

static const struct {
    enum rpc_type type;
    const char *name;
} rpc_names[] = {
    { RPC_ADMIT, "admit" },
    { RPC_CREATE, "create" },
    { RPC_INFO, "info" },
    { RPC_OPEN, "open" },
    { RPC_END, "end" },
    { RPC_HEALTH, "health" },
    { RPC_LIST, "list" },
    { RPC_METRICS, "metrics" },
    { RPC_DRAIN, "drain" },
    { RPC_RELOAD, "reload" },
    { RPC_SIGNIN_BEGIN, "signin_begin" },
    { RPC_SIGNIN_TAKE, "signin_take" },
    { RPC_SIGNIN_MAKE, "signin_make" },
    { RPC_SIGNIN_SHOW, "signin_show" },
    { RPC_SIGNIN_END, "signin_end" },
    { RPC_QUEUE, "queue" },
};

/* Rows of one number each. */
enum unit { GAUGE, COUNTER };
#define NOW(member) true, offsetof(struct metrics_now, member), sizeof(((struct metrics_now *)0)->member)
#define SUM(member) false, offsetof(struct metrics, member), sizeof(((struct metrics *)0)->member)

static const struct {
    const char *name, *help;
    enum unit unit;
    bool now;
    size_t at, size;
} numbers[] = {
    { "agentsim_up_seconds", "Age of the supervisor.", GAUGE, NOW(uptime_s) },
    { "agentsim_slots", "Places for sessions.", GAUGE, NOW(slots) },
    { "agentsim_slots_free", "Places that a session could take now.", GAUGE, NOW(slots_free) },
    { "agentsim_slots_quarantined", "Places whose last session cannot be cleared away.", GAUGE,
      NOW(slots_quarantined) },
    { "agentsim_warm", "Interpreters that wait ready for a session.", GAUGE, NOW(warm) },
    { "agentsim_warm_starts_total", "Sessions that took one of them.", COUNTER, SUM(warm_starts) },
    { "agentsim_queue_length", "Requests that wait for a place.", GAUGE, NOW(queue) },
    { "agentsim_browsers", "Open sockets of browsers.", GAUGE, NOW(browsers) },
    { "agentsim_rate_actors", "Actors that the rate limit remembers.", GAUGE, NOW(rate_actors) },
    { "agentsim_sandbox_ok", "1 when sessions can be confined.", GAUGE, NOW(sandbox_ok) },
    { "agentsim_draining", "1 when no new sessions are taken.", GAUGE, NOW(draining) },
    { "agentsim_sandbox_refusals_total", "Sessions refused because they could not be confined.", COUNTER,
      SUM(sandbox_refusals) },
    { "agentsim_attached_total", "Browsers that took a session.", COUNTER, SUM(attached) },
    { "agentsim_taken_over_total", "Browsers that lost their session to another one.", COUNTER, SUM(taken_over) },
    { "agentsim_relay_frames_to_browsers_total", "Frames written to browsers.", COUNTER, SUM(frames_to_browsers) },
    { "agentsim_relay_bytes_to_browsers_total", "Bytes of these frames.", COUNTER, SUM(bytes_to_browsers) },
    { "agentsim_relay_frames_to_agents_total", "Frames taken from browsers.", COUNTER, SUM(frames_to_agents) },
    { "agentsim_relay_bytes_to_agents_total", "Bytes of these frames.", COUNTER, SUM(bytes_to_agents) },
};

void metrics_observe(struct metrics_times *t, double seconds)
{
    size_t i;

    for (i = 0; i < METRICS_BUCKETS && seconds > bounds[i]; i++)
        ;
    t->buckets[i]++;
    t->count++;
    t->seconds += seconds > 0 ? seconds : 0;
}

void metrics_start(struct metrics *m, enum metrics_surface surface, const struct err *err)
{
    enum metrics_outcome outcome = !err                           ? METRICS_STARTED
                                   : err->kind == ERR_LIMIT       ? METRICS_LIMITED
                                   : err->kind == ERR_UNAVAILABLE ? METRICS_UNAVAILABLE
                                                                  : METRICS_FAILED;

    m->starts[surface][outcome]++;
}

static void head(struct buf *out, const char *name, const char *help, const char *type)
{
    buf_add_fmt(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static uint64_t number_at(const void *base, size_t at, size_t size)
{
    const char *p = (const char *)base + at;

    switch (size) {
    case sizeof(bool):
        return *(const bool *)p;
    case sizeof(uint32_t):
        return *(const uint32_t *)(const void *)p;
    default:
        return *(const uint64_t *)(const void *)p;
    }
}

static void write_numbers(const struct metrics *m, const struct metrics_now *now, struct buf *out)
{
    size_t i;

    for (i = 0; i < ARRAY_LEN(numbers); i++) {
        const void *base = numbers[i].now ? (const void *)now : (const void *)m;

        head(out, numbers[i].name, numbers[i].help, numbers[i].unit == GAUGE ? "gauge" : "counter");
        buf_add_fmt(out, "%s %llu\n", numbers[i].name,
                    (unsigned long long)number_at(base, numbers[i].at, numbers[i].size));
    }
}

/* label: `request="create",` or "". */
static void write_times(const char *name, const char *label, const struct metrics_times *t, struct buf *out)
{
    unsigned long long sum = 0;
    size_t i;

    for (i = 0; i < METRICS_BUCKETS; i++) {
        sum += t->buckets[i];
        buf_add_fmt(out, "%s_bucket{%sle=\"%g\"} %llu\n", name, label, bounds[i], sum);
    }
    buf_add_fmt(out, "%s_bucket{%sle=\"+Inf\"} %llu\n", name, label, (unsigned long long)t->count);
    if (*label) {
        int len = (int)strlen(label) - 1; /* without the comma */

        buf_add_fmt(out, "%s_sum{%.*s} %.6f\n%s_count{%.*s} %llu\n", name, len, label, t->seconds, name, len, label,
                    (unsigned long long)t->count);
        return;
    }
    buf_add_fmt(out, "%s_sum %.6f\n%s_count %llu\n", name, t->seconds, name, (unsigned long long)t->count);
}

static void write_starts(const struct metrics *m, struct buf *out)
{
    int s, o;

    head(out, "agentsim_starts_total", "Requests for a session, by what became of them.", "counter");
    for (s = 0; s < METRICS_SURFACE__MAX; s++)
        for (o = 0; o < METRICS_OUTCOME__MAX; o++)
            buf_add_fmt(out, "agentsim_starts_total{surface=\"%s\",outcome=\"%s\"} %llu\n", surfaces[s], outcomes[o],
                        (unsigned long long)m->starts[s][o]);
    head(out, "agentsim_start_seconds", "From the request for a place until the program can be handed over.",
         "histogram");
    write_times("agentsim_start_seconds", "", &m->start, out);
    head(out, "agentsim_ready_seconds", "From the request for a place until the agent listens.", "histogram");
    write_times("agentsim_ready_seconds", "", &m->ready, out);
}

static void write_sessions(const struct metrics *m, const struct metrics_now *now, struct buf *out)
{
    int i;

    head(out, "agentsim_sessions", "Sessions by state.", "gauge");
    for (i = 0; i < SESSION_GONE; i++)
        buf_add_fmt(out, "agentsim_sessions{state=\"%s\"} %u\n", session_state_name((enum session_state)i),
                    now->sessions[i]);
    head(out, "agentsim_ends_total", "Agents that ended, by reason.", "counter");
    for (i = HOLD_REASON_NONE + 1; i < HOLD_REASON__MAX; i++)
        buf_add_fmt(out, "agentsim_ends_total{reason=\"%s\"} %llu\n", hold_reason_name((enum hold_reason)i),
                    (unsigned long long)m->ends[i]);
    head(out, "agentsim_limited_total", "Requests that met a limit.", "counter");
    for (i = 0; i < METRICS_LIMIT__MAX; i++)
        buf_add_fmt(out, "agentsim_limited_total{limit=\"%s\"} %llu\n", limits[i], (unsigned long long)m->limits[i]);
}

static void write_rpc(const struct metrics *m, struct buf *out)
{
    char label[64];
    size_t i;

    head(out, "agentsim_rpc_seconds", "Time the supervisor took for a worker's question.", "histogram");
    for (i = 0; i < ARRAY_LEN(rpc_names); i++) {
        const struct metrics_times *t = &m->rpc[rpc_names[i].type];

        (void)snprintf(label, sizeof(label), "request=\"%s\",", rpc_names[i].name);
        if (t->count)
            write_times("agentsim_rpc_seconds", label, t, out);
    }
}

void metrics_write(const struct metrics *m, const struct metrics_now *now, struct buf *out)
{
    write_sessions(m, now, out);
    write_starts(m, out);
    write_numbers(m, now, out);
    write_rpc(m, out);
}
