#include "fcgi/reply.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "shared/base/mem.h"
#include "shared/base/str.h"

#define HEADERS_MAX ((size_t)16384)
#define FILENAME_MAX_BYTES ((size_t)1024)

static const struct {
    int status;
    const char *reason;
} reasons[] = {
    { 200, "OK" },
    { 302, "Found" },
    { 307, "Temporary Redirect" },
    { 400, "Bad Request" },
    { 401, "Unauthorized" },
    { 403, "Forbidden" },
    { 404, "Not Found" },
    { 405, "Method Not Allowed" },
    { 409, "Conflict" },
    { 413, "Content Too Large" },
    { 415, "Unsupported Media Type" },
    { 422, "Unprocessable Content" },
    { 429, "Too Many Requests" },
    { 500, "Internal Server Error" },
    { 502, "Bad Gateway" },
    { 503, "Service Unavailable" },
};

void reply_init(struct reply *rp, int (*write)(void *port, const void *data, size_t len), void *port)
{
    *rp = (struct reply){ .write = write, .port = port };
    buf_init(&rp->headers, HEADERS_MAX);
    buf_init(&rp->body, REPLY_BODY_MAX);
}

void reply_release(struct reply *rp)
{
    if (!rp)
        return;
    buf_release(&rp->headers);
    buf_release(&rp->body);
}

void reply_header(struct reply *rp, const char *name, const char *value)
{
    const unsigned char *p;

    for (p = (const unsigned char *)value; *p; p++)
        if (*p < 0x20 || *p == 0x7f)
            return;
    buf_add_fmt(&rp->headers, "%s: %s\r\n", name, value);
}

void reply_json(struct reply *rp, int status)
{
    rp->status = status;
    rp->content_type = "application/json";
}

void reply_detail(struct reply *rp, int status, const char *fmt, ...)
{
    auto_buf struct buf text;
    va_list ap;

    buf_init(&text, 65536);
    va_start(ap, fmt);
    buf_add_vfmt(&text, fmt, ap);
    va_end(ap);
    buf_clear(&rp->body);
    buf_add_str(&rp->body, "{\"detail\":");
    buf_add_json_str(&rp->body, text.data ? text.data : "", text.len);
    buf_add_char(&rp->body, '}');
    reply_json(rp, status);
}

void reply_err(struct reply *rp, const struct err *err)
{
    char seconds[16];

    if (err->kind == ERR_LIMIT && err->wait) {
        snprintf(seconds, sizeof(seconds), "%u", err->wait);
        reply_header(rp, "Retry-After", seconds);
    }
    if (err->kind == ERR_INTERNAL || err->kind == ERR_NONE)
        reply_detail(rp, 500, "The service failed to answer; its log says more under the id of this request");
    else
        reply_detail(rp, err_http_status(err->kind), "%s", err->msg);
}

void reply_schema(struct reply *rp, const struct buf *list)
{
    buf_clear(&rp->body);
    buf_add_str(&rp->body, "{\"detail\":");
    buf_add(&rp->body, list->data, list->len);
    buf_add_char(&rp->body, '}');
    if (buf_failed(list))
        rp->body.failed = true;
    reply_json(rp, 422);
}

static const char *reason_of(int status)
{
    size_t i;

    for (i = 0; i < ARRAY_LEN(reasons); i++)
        if (reasons[i].status == status)
            return reasons[i].reason;
    return "Unknown";
}

/* Status and headers. length -1: not known yet. */
static int send_head(struct reply *rp, long long length)
{
    auto_buf struct buf head;

    buf_init(&head, 2 * HEADERS_MAX);
    buf_add_fmt(&head, "Status: %d %s\r\nContent-Type: %s\r\n", rp->status, reason_of(rp->status),
                rp->content_type ? rp->content_type : "application/json");
    if (length >= 0)
        buf_add_fmt(&head, "Content-Length: %lld\r\n", length);
    if (!buf_failed(&rp->headers))
        buf_add(&head, rp->headers.data, rp->headers.len);
    buf_add_str(&head, "\r\n");
    if (buf_failed(&head) || rp->write(rp->port, head.data, head.len) < 0) {
        rp->broken = true;
        return -1;
    }
    return 0;
}

void reply_stream(struct reply *rp, int status, const char *content_type)
{
    rp->status = status;
    rp->content_type = content_type;
    rp->streaming = true;
    send_head(rp, -1);
}

int reply_write(struct reply *rp, const void *data, size_t len)
{
    if (rp->broken)
        return -1;
    if (rp->head || !len)
        return 0;
    if (rp->write(rp->port, data, len) == 0)
        return 0;
    rp->broken = true;
    return -1;
}

void reply_send(struct reply *rp)
{
    static const char short_of_memory[] = "{\"detail\":\"The service is short of memory, try again in a moment\"}";
    const char *data = rp->body.data;
    size_t len = rp->body.len;

    if (rp->streaming)
        return;
    if (!rp->status || buf_failed(&rp->body)) {
        reply_json(rp, rp->status ? 503 : 500);
        data = short_of_memory;
        len = strlen(short_of_memory);
    }
    if (send_head(rp, (long long)len) == 0 && !rp->head && len)
        reply_write(rp, data, len);
}

static bool is_token(unsigned char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c && strchr("-._~", c));
}

void reply_attachment(struct reply *rp, const char *filename)
{
    auto_buf struct buf b;
    const unsigned char *p;

    buf_init(&b, 5 * FILENAME_MAX_BYTES);
    buf_add_str(&b, "attachment; filename=\"");
    for (p = (const unsigned char *)filename; *p; p++)
        buf_add_char(&b, *p >= 0x20 && *p < 0x7f && !strchr("\"\\%/", *p) ? (char)*p : '_');
    buf_add_str(&b, "\"; filename*=UTF-8''");
    for (p = (const unsigned char *)filename; *p; p++) {
        if (is_token(*p))
            buf_add_char(&b, (char)*p);
        else
            buf_add_fmt(&b, "%%%02X", *p);
    }
    reply_header(rp, "Content-Disposition", buf_failed(&b) ? "attachment" : b.data);
}
