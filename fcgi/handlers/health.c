#include <string.h>

#include "fcgi/handlers/handlers.h"
#include "fcgi/siblings.h"
#include "fcgi/supervisor.h"
#include "shared/base/str.h"

void handle_health(struct worker *w, struct request *rq, struct reply *rp)
{
    (void)w;
    (void)rq;
    buf_add_str(&rp->body, "{\"status\":\"ok\"}");
    reply_json(rp, 200);
}

static void add_text(struct buf *b, const char *key, const char *value)
{
    buf_add_fmt(b, ",\"%s\":", key);
    buf_add_json_str(b, value, strlen(value));
}

/* "off" is no fault of the machine, but nobody should overlook it. */
static void add_status(struct buf *b, const struct rpc_status *s)
{
    bool ready = !str_starts(s->sandbox, "unavailable");

    buf_add_fmt(b, "{\"status\":\"%s\",\"sessions\":%u", ready ? "ok" : "degraded", s->sessions);
    add_text(b, "sandbox", s->sandbox);
    buf_add_fmt(b, ",\"capacity\":%u,\"quarantined\":%u", s->capacity, s->quarantined);
    add_text(b, "egress", s->egress);
    add_text(b, "cgroup", s->cgroup);
    buf_add_fmt(b, ",\"draining\":%s", s->draining ? "true" : "false");
    buf_add_char(b, '}');
}

void handle_internal_health(struct worker *w, struct request *rq, struct reply *rp)
{
    auto_buf struct buf answer;
    struct rpc_status status;
    struct err err;

    (void)rq;
    buf_init(&answer, RPC_MAX_PAYLOAD);
    if (supervisor_health(w->supervisor_socket, &answer, &status, &err) == 0) {
        add_status(&rp->body, &status);
    } else {
        buf_add_str(&rp->body,
                    "{\"status\":\"degraded\",\"sessions\":0,\"sandbox\":\"unavailable: the supervisor does not "
                    "answer\"}");
    }
    reply_json(rp, 200);
}

/* Liveness: whoever gets this answer has met a worker. */
void handle_healthz(struct worker *w, struct request *rq, struct reply *rp)
{
    handle_health(w, rq, rp);
}

/* Readiness: a POST of a good diagram would start a session, if there is a place. */
void handle_readyz(struct worker *w, struct request *rq, struct reply *rp)
{
    auto_buf struct buf answer;
    struct rpc_status status;
    struct err err;

    (void)rq;
    buf_init(&answer, RPC_MAX_PAYLOAD);
    if (supervisor_health(w->supervisor_socket, &answer, &status, &err) < 0) {
        reply_detail(rp, 503, "The supervisor does not answer");
    } else if (str_starts(status.sandbox, "unavailable")) {
        reply_detail(rp, 503, "Sessions cannot be confined: %s", status.sandbox);
    } else if (status.draining) {
        reply_detail(rp, 503, "The service is drained: no new sessions");
    } else {
        buf_add_str(&rp->body, "{\"status\":\"ready\"}");
        reply_json(rp, 200);
    }
}

void handle_metrics(struct worker *w, struct request *rq, struct reply *rp)
{
    int running = siblings_count();
    auto_buf struct buf answer;
    const char *page;
    struct err err;
    size_t len;

    (void)rq;
    buf_init(&answer, RPC_MAX_PAYLOAD);
    if (supervisor_metrics(w->supervisor_socket, &answer, &page, &len, &err) < 0) {
        reply_err(rp, &err);
        return;
    }
    buf_add(&rp->body, page, len);
    buf_add_fmt(&rp->body,
                "# HELP agentsim_workers FastCGI workers that are configured.\n# TYPE agentsim_workers gauge\n"
                "agentsim_workers %lld\n",
                (long long)w->config->workers);
    if (running >= 0)
        buf_add_fmt(&rp->body,
                    "# HELP agentsim_workers_running FastCGI workers that run.\n"
                    "# TYPE agentsim_workers_running gauge\nagentsim_workers_running %d\n",
                    running);
    rp->content_type = "text/plain; version=0.0.4; charset=utf-8";
    rp->status = 200;
}
