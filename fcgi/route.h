/* fcgi/route.h -- which function answers what: one row per route. */
#ifndef FCGI_ROUTE_H
#define FCGI_ROUTE_H

#include <stddef.h>

#include "fcgi/reply.h"
#include "fcgi/request.h"

struct worker;

struct route {
    enum method method;
    enum surface surface;
    const char *pattern; /* "/a/{id}/b"; "{path*}" at the end takes all that follows */
    void (*handle)(struct worker *w, struct request *rq, struct reply *rp);
    size_t max_body;     /* 0: the route takes none */
    const char *summary; /* for the list of the root */
};

extern const struct route routes[];
extern const size_t routes_len;

/* The route of a request, its arguments in rq->args. NULL: *ret_allow has the methods (enum method) that the address
 * knows, 0 for an unknown one; or err is filled, when memory was short. */
const struct route *route_find(const struct route *table, size_t len, struct request *rq, unsigned *ret_allow,
                               struct err *err);

/* True when some route has this address, whatever the method. */
bool route_exists(const struct route *table, size_t len, enum surface surface, const struct target *t);

/* "GET, HEAD, POST" of a set of methods. */
void route_allow(unsigned methods, struct buf *out);

#endif
