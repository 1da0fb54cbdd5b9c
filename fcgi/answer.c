/* The order of checks that every request passes before its handler runs (http-api contract, sections 2 and 8). */
#include "fcgi/access.h"
#include "fcgi/cors.h"
#include "fcgi/route.h"
#include "fcgi/worker.h"
#include "shared/base/mem.h"

static void answer_unknown(const struct request *rq, struct reply *rp, unsigned allow)
{
    auto_free char *elsewhere = NULL;
    auto_buf struct buf methods;
    struct target other;
    struct err err;

    buf_init(&methods, 200);
    if (allow) {
        route_allow(allow, &methods);
        reply_header(rp, "Allow", methods.data ? methods.data : "");
        reply_detail(rp, 405, "Method Not Allowed");
        return;
    }
    elsewhere = target_toggle_slash(&rq->target);
    if (elsewhere && target_parse(elsewhere, &other, &err) == 0) {
        if (route_exists(routes, routes_len, rq->surface, &other)) {
            reply_header(rp, "Location", elsewhere);
            reply_detail(rp, 307, "The address is the one without, or with, the slash at its end");
            target_release(&other);
            return;
        }
        target_release(&other);
    }
    reply_detail(rp, 404, "Not Found");
}

static int load_body(struct request *rq, const struct route *route, struct reply *rp)
{
    struct err err;

    if (!route->max_body || request_load_body(rq, route->max_body, &err) == 0)
        return 0;
    reply_err(rp, &err);
    return -1;
}

void worker_answer(struct worker *w, struct request *rq, struct reply *rp)
{
    const struct route *route;
    struct err err = { 0 };
    unsigned allow;

    rp->head = rq->head;
    if (rq->surface == SURFACE_INTERNAL && access_token(w->config, rq, &err) < 0) {
        reply_err(rp, &err);
        return;
    }
    cors_apply(w->config, rq, rp);
    if (cors_preflight(w->config, rq, rp))
        return;
    route = route_find(routes, routes_len, rq, &allow, &err);
    if (route) {
        if (load_body(rq, route, rp) == 0)
            route->handle(w, rq, rp);
    } else if (err.kind) {
        reply_err(rp, &err);
    } else {
        answer_unknown(rq, rp, allow);
    }
}
