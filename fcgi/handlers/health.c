#include <string.h>

#include "fcgi/handlers/handlers.h"
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
