/* fcgi/cors.h -- pages of other origins that may call the public surface (http-api contract, sections 6 and 8). Pure.
 */
#ifndef FCGI_CORS_H
#define FCGI_CORS_H

#include "fcgi/reply.h"
#include "fcgi/request.h"
#include "shared/config/config.h"

/* The headers an answer to this request needs; nothing without an Origin, or for one that is not configured. */
void cors_apply(const struct config *c, const struct request *rq, struct reply *rp);

/* True when the request is a preflight, and rp answers it: 200, or 400 for what is not allowed. */
bool cors_preflight(const struct config *c, const struct request *rq, struct reply *rp);

#endif
