#include <string.h>

#include "fcgi/handlers/handlers.h"

static const char *method_name(enum method m)
{
    return m == METHOD_GET ? "GET" : m == METHOD_POST ? "POST" : m == METHOD_DELETE ? "DELETE" : "PUT";
}

static void add_route(struct buf *b, const struct route *r)
{
    buf_add_fmt(b, "{\"method\":\"%s\",\"path\":", method_name(r->method));
    buf_add_json_str(b, r->pattern, strlen(r->pattern));
    buf_add_str(b, ",\"summary\":");
    buf_add_json_str(b, r->summary, strlen(r->summary));
    buf_add_char(b, '}');
}

void handle_root(struct worker *w, struct request *rq, struct reply *rp)
{
    bool first = true;
    size_t i;

    (void)w;
    (void)rq;
    buf_add_fmt(&rp->body,
                "{\"message\":\"agentsim\",\"service\":\"agentsim\",\"version\":\"%s\",\"generators\":[\"agent\"],"
                "\"supported_generators\":[\"agent\"],\"endpoints\":[",
                AGENTSIM_VERSION);
    for (i = 0; i < routes_len; i++) {
        if (routes[i].surface != SURFACE_PUBLIC)
            continue;
        if (!first)
            buf_add_char(&rp->body, ',');
        first = false;
        add_route(&rp->body, &routes[i]);
    }
    buf_add_str(&rp->body,
                ",{\"method\":\"GET\",\"path\":\"/besser_api/simulation/{id}/ws\",\"summary\":\"the conversation "
                "(WebSocket)\"}]}");
    reply_json(rp, 200);
}
