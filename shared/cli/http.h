/* shared/cli/http.h -- the command line as a client of the service: one request at a time, and a raw connection for the
 * conversation socket. Only user of libcurl here. Proxies of the environment are not used. */
#ifndef CLI_HTTP_H
#define CLI_HTTP_H

#include <stddef.h>
#include <sys/types.h>

#include "shared/base/buf.h"
#include "shared/base/err.h"

#define HTTP_ANSWER_MAX (64u << 20)

struct http_request {
    const char *method; /* "POST" */
    const char *url;
    const char *body;    /* JSON, NULL = none */
    const char *session; /* X-GitHub-Session, NULL or "" = none */
};

/* 0 and the status (any), answer filled (the caller's, its ceiling applies); -1: nobody answers (ERR_UNAVAILABLE). */
int http_ask(const struct http_request *r, long *ret_status, struct buf *answer, struct err *err);

/* The sentence of an error body {"detail": ...}, else the start of the body; into out. */
void http_error_text(long status, const struct buf *answer, char *out, size_t size);

struct http_link; /* a connection (TLS for https), non-blocking */

int http_connect(const char *url, struct http_link **ret, struct err *err);
void http_link_free(struct http_link *l);
int http_link_fd(const struct http_link *l); /* to wait on */

/* Bytes moved; 0 end of stream (receive only), -1 with errno EAGAIN, or EIO when broken. */
ssize_t http_receive(struct http_link *l, void *data, size_t len);
ssize_t http_send(struct http_link *l, const void *data, size_t len);

#endif
