/* supervisor/egress/request.h -- what an agent asks the proxy for. Pure; everything in it is hostile.
 * Two forms: "CONNECT host:port" for a tunnel, and a request with an absolute "http://..." target, of which one goes
 * over a connection: the server gets it in origin form, with the host that was checked, without headers that were
 * meant for us, with "Connection: close". What could be read in two ways is refused. */
#ifndef EGRESS_REQUEST_H
#define EGRESS_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

#include "shared/base/buf.h"
#include "shared/base/err.h"
#include "supervisor/egress/body.h"
#include "supervisor/egress/policy.h"

#define EGRESS_HEAD_MAX ((size_t)32 << 10)
#define EGRESS_HEADERS_MAX 128

struct egress_request {
    bool tunnel;
    struct egress_target target;
    struct buf head;         /* for the server, with its empty line; empty for a tunnel */
    struct egress_body body; /* for the server, behind the head; done for a tunnel */
};

/* Length of the head, its empty line included, or 0 when its end has not come. Bytes before *scanned were looked at
 * before; it is moved on. */
size_t egress_head_end(const char *data, size_t len, size_t *scanned);

/* head: exactly what egress_head_end() found. 0 and *ret is the caller's; -1 and err (ERR_BAD_REQUEST: a sentence that
 * an agent's author understands). */
int egress_request_parse(const char *head, size_t len, struct egress_request *ret, struct err *err);
void egress_request_release(struct egress_request *r); /* NULL is fine */

#endif
