#include "fcgi/handlers/handlers.h"

static void add_limit(struct buf *b, const char *key, double value)
{
    if (value > 0)
        buf_add_fmt(b, "\"%s\":%.15g,", key, value);
    else
        buf_add_fmt(b, "\"%s\":null,", key);
}

void handle_limits(struct worker *w, struct request *rq, struct reply *rp)
{
    const struct config *c = w->config;
    char actor[RPC_ACTOR_MAX + 1];
    struct err err;

    if (access_actor(c, w->supervisor_socket, rq, actor, &err) < 0) {
        reply_err(rp, &err);
        return;
    }
    buf_add_char(&rp->body, '{');
    add_limit(&rp->body, "memoryMb", (double)c->memory_mb);
    add_limit(&rp->body, "cpuCores", c->cpu_cores);
    add_limit(&rp->body, "diskMb", (double)c->disk_mb);
    add_limit(&rp->body, "sessionLifetimeSeconds", (double)c->session_lifetime_s);
    buf_add_fmt(&rp->body, "\"editorQuotaEnabled\":%s}", c->quota_enabled ? "true" : "false");
    reply_json(rp, 200);
}
