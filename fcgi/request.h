/* fcgi/request.h -- one request as the handlers see it, whoever delivered it (door.h, or a test).
 * Owns target, body and arguments; the FastCGI parameters are borrowed and outlive it. */
#ifndef FCGI_REQUEST_H
#define FCGI_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

#include "fcgi/target.h"
#include "shared/base/buf.h"
#include "shared/base/err.h"
#include "shared/base/id.h"

#define REQUEST_BODY_MAX (50u << 20)
#define REQUEST_ARGS_MAX 2

enum method {
    METHOD_GET = 1,
    METHOD_POST = 2,
    METHOD_PUT = 4,
    METHOD_DELETE = 8,
    METHOD_OPTIONS = 16,
    METHOD_OTHER = 32, /* routes have none of these; HEAD is a GET */
};

enum surface { SURFACE_PUBLIC, SURFACE_INTERNAL };

struct request {
    char *const *params; /* "NAME=value", NULL at the end */
    enum method method;
    bool head; /* a GET whose body nobody wants */
    enum surface surface;
    struct target target;
    char *args[REQUEST_ARGS_MAX]; /* what stood in place of {..} of the route, in order */
    struct buf body;              /* wiped when released: it may hold credentials */
    bool handed_over;             /* another process answers it (waiting.h) */
    int claim;                    /* to a session that ends unless it is taken (supervisor.h); -1: none. Owned */
    int (*read_body)(void *port, struct buf *body, struct err *err); /* NULL: body is there */
    void *port;
};

/* Fills r from the parameters: 0, or -1 (ERR_NOT_FOUND: no usable address). r is to be released in either case. */
int request_init(struct request *r, char *const *params, struct err *err);
void request_release(struct request *r);

/* A FastCGI parameter, "" when there is none. */
const char *request_param(const struct request *r, const char *name);

/* Reads the body up to max bytes: ERR_TOO_LARGE beyond, also when only announced. */
int request_load_body(struct request *r, size_t max, struct err *err);

/* Argument i as a session id: 0, or -1 ERR_BAD_REQUEST. */
int request_session_id(const struct request *r, size_t i, struct id *ret, struct err *err);

#endif
