/* fcgi/reply.h -- the answer to one request: collected and sent at the end, or, once reply_stream() was called, sent
 * as it comes. Owns its buffers; reply_release() frees. Nothing of an error that names our machine reaches a client. */
#ifndef FCGI_REPLY_H
#define FCGI_REPLY_H

#include <stdbool.h>
#include <stddef.h>

#include "shared/base/buf.h"
#include "shared/base/err.h"

#define REPLY_BODY_MAX (96u << 20)

struct reply {
    int status;               /* 0 = no answer yet */
    const char *content_type; /* a literal */
    struct buf headers;       /* further header lines */
    struct buf body;
    bool head;      /* no body is sent */
    bool streaming; /* status and headers are out */
    bool broken;    /* what was sent has no proper end: the connection is to be cut */
    int (*write)(void *port, const void *data, size_t len); /* 0, or -1 when the client is gone */
    void *port;
};

void reply_init(struct reply *rp, int (*write)(void *port, const void *data, size_t len), void *port);
void reply_release(struct reply *rp);

/* A line "Name: value"; a value that could end the line is left out. */
void reply_header(struct reply *rp, const char *name, const char *value);

/* JSON answer whose body is what the caller puts into rp->body. */
void reply_json(struct reply *rp, int status);

/* {"detail": "<sentence>"}; replaces what was collected. */
void reply_detail(struct reply *rp, int status, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* The answer to an error: status of its kind, its sentence where a client may see it, Retry-After where it says. */
void reply_err(struct reply *rp, const struct err *err);

/* {"detail": <list>}, 422. */
void reply_schema(struct reply *rp, const struct buf *list);

/* Sends status and headers; the body follows by reply_write(). */
void reply_stream(struct reply *rp, int status, const char *content_type);
int reply_write(struct reply *rp, const void *data, size_t len); /* 0, or -1: the client is gone (broken is set) */

/* Sends what was collected; nothing more to do after a stream. */
void reply_send(struct reply *rp);

/* "attachment" with the name in the two forms of RFC 6266. */
void reply_attachment(struct reply *rp, const char *filename);

#endif
