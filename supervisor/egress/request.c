#include "supervisor/egress/request.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "shared/base/mem.h"
#include "shared/base/str.h"

#define LENGTH_DIGITS_MAX 18
#define METHOD_MAX 32

/* A piece of the head, not NUL-terminated. */
struct piece {
    const char *p;
    size_t len;
};

struct head {
    struct piece method, target;
    bool http_1_0;
    struct piece names[EGRESS_HEADERS_MAX], values[EGRESS_HEADERS_MAX];
    size_t n;
};

/* Meant for the next hop, or made anew by us. */
static const char *const dropped[] = { "host",    "connection",     "proxy-connection",    "keep-alive",
                                       "te",      "trailer",        "transfer-encoding",   "content-length",
                                       "upgrade", "http2-settings", "proxy-authorization", "proxy-authenticate" };

static int bad(struct err *err, const char *text)
{
    return err_set(err, ERR_BAD_REQUEST, 0, "%s", text);
}

static bool is(struct piece p, const char *word)
{
    return strlen(word) == p.len && strncasecmp(p.p, word, p.len) == 0;
}

static bool is_token(struct piece p)
{
    size_t i;

    for (i = 0; i < p.len; i++)
        if (!isascii((unsigned char)p.p[i]) ||
            (!isalnum((unsigned char)p.p[i]) && !strchr("!#$%&'*+-.^_`|~", p.p[i])) || !p.p[i])
            return false;
    return p.len > 0;
}

size_t egress_head_end(const char *data, size_t len, size_t *scanned)
{
    size_t from = *scanned > 3 ? *scanned - 3 : 0;
    const char *end = len > from ? memmem(data + from, len - from, "\r\n\r\n", 4) : NULL;

    *scanned = len;
    return end ? (size_t)(end - data) + 4 : 0;
}

/* ---- lines ---------------------------------------------------------------------------------------- */

/* The next line without its end; *pos moves behind it. A line feed or carriage return alone, or a NUL, is no line:
 * others might see an end there. */
static int next_line(const char *head, size_t len, size_t *pos, struct piece *ret)
{
    const char *start = head + *pos, *end = memmem(start, len - *pos, "\r\n", 2);
    size_t i;

    if (!end)
        return -1;
    *ret = (struct piece){ start, (size_t)(end - start) };
    for (i = 0; i < ret->len; i++)
        if ((iscntrl((unsigned char)start[i]) && start[i] != '\t') || start[i] == '\0')
            return -1;
    *pos += ret->len + 2;
    return 0;
}

static int parse_request_line(struct piece line, struct head *ret, struct err *err)
{
    const char *space = memchr(line.p, ' ', line.len), *last = memrchr(line.p, ' ', line.len);
    struct piece version;
    size_t i;

    if (!space || space == last)
        return bad(err, "The request line is malformed.");
    ret->method = (struct piece){ line.p, (size_t)(space - line.p) };
    ret->target = (struct piece){ space + 1, (size_t)(last - space - 1) };
    version = (struct piece){ last + 1, line.len - (size_t)(last + 1 - line.p) };
    if (!is_token(ret->method) || ret->method.len > METHOD_MAX || !ret->target.len)
        return bad(err, "The request line is malformed.");
    for (i = 0; i < ret->target.len; i++)
        if (ret->target.p[i] <= ' ' || ret->target.p[i] > '~')
            return bad(err, "The target of the request has characters that must be percent-encoded.");
    ret->http_1_0 = version.len == 8 && memcmp(version.p, "HTTP/1.0", 8) == 0;
    if (!ret->http_1_0 && (version.len != 8 || memcmp(version.p, "HTTP/1.1", 8) != 0))
        return bad(err, "This proxy speaks HTTP/1.1 and HTTP/1.0.");
    return 0;
}

static struct piece trim(struct piece p)
{
    while (p.len && (*p.p == ' ' || *p.p == '\t'))
        p.p++, p.len--;
    while (p.len && (p.p[p.len - 1] == ' ' || p.p[p.len - 1] == '\t'))
        p.len--;
    return p;
}

static int parse_header(struct piece line, struct head *ret, struct err *err)
{
    const char *colon = memchr(line.p, ':', line.len);
    struct piece name;

    if (ret->n == EGRESS_HEADERS_MAX)
        return bad(err, "The request has too many headers.");
    if (!colon)
        return bad(err, "A header of the request is malformed.");
    name = (struct piece){ line.p, (size_t)(colon - line.p) };
    if (!is_token(name)) /* also a folded line, and a blank before the colon */
        return bad(err, "The name of a header of the request is malformed.");
    ret->names[ret->n] = name;
    ret->values[ret->n++] = trim((struct piece){ colon + 1, line.len - name.len - 1 });
    return 0;
}

static int split_head(const char *data, size_t len, struct head *ret, struct err *err)
{
    struct piece line;
    size_t pos = 0;

    if (next_line(data, len, &pos, &line) < 0)
        return bad(err, "The request line is malformed.");
    if (parse_request_line(line, ret, err) < 0)
        return -1;
    while (pos < len) {
        if (next_line(data, len, &pos, &line) < 0)
            return bad(err, "The request has a control character in a header.");
        if (!line.len)
            return pos == len ? 0 : bad(err, "The request is malformed.");
        if (parse_header(line, ret, err) < 0)
            return -1;
    }
    return bad(err, "The request is malformed.");
}

/* ---- the target ----------------------------------------------------------------------------------- */

static int parse_host(struct piece host, struct egress_target *ret)
{
    char text[HOST_NAME_MAX_LEN + 2]; /* a final dot may come on top */
    bool bracketed = host.len >= 2 && host.p[0] == '[' && host.p[host.len - 1] == ']';

    if (bracketed)
        host = (struct piece){ host.p + 1, host.len - 2 };
    if (!host.len || host.len >= sizeof(text))
        return -1;
    memcpy(text, host.p, host.len);
    text[host.len] = '\0';
    ret->name[0] = '\0';
    if (address_parse(text, &ret->address) == 0)
        return (ret->address.family == AF_INET6) == bracketed ? 0 : -1;
    if (bracketed || host_name_check(text) < 0)
        return -1;
    memcpy(ret->name, text, strlen(text) + 1);
    return 0;
}

/* default_port 0: the port must be there. */
static int parse_authority(struct piece a, uint16_t default_port, struct egress_target *ret, struct err *err)
{
    const char *colon = memrchr(a.p, ':', a.len), *bracket = memrchr(a.p, ']', a.len);
    struct piece host = a;
    char digits[8];
    int64_t port = default_port;

    if (memchr(a.p, '@', a.len))
        return bad(err, "A user name in the target of the request is not passed on: use the Authorization header.");
    if (colon && (!bracket || bracket < colon)) {
        size_t n = a.len - (size_t)(colon + 1 - a.p);

        host.len = (size_t)(colon - a.p);
        if (!n || n > 5 || !isdigit((unsigned char)colon[1]))
            return bad(err, "The port of the target is not a number from 1 to 65535.");
        memcpy(digits, colon + 1, n);
        digits[n] = '\0';
        if (str_to_int(digits, 1, UINT16_MAX, &port) < 0)
            return bad(err, "The port of the target is not a number from 1 to 65535.");
    }
    if (!port)
        return bad(err, "The target needs a port.");
    ret->port = (uint16_t)port;
    return parse_host(host, ret) < 0 ? bad(err, "The target is neither a host name nor an IP address in full form.")
                                     : 0;
}

/* "http://host:port/path?query" -> target and what the server is asked for. */
static int parse_absolute(struct piece t, struct egress_target *ret, struct piece *ret_path, struct err *err)
{
    static const char scheme[] = "http://";
    size_t skip = sizeof(scheme) - 1, n;

    if (t.len > skip && strncasecmp(t.p, "https://", 8) == 0)
        return bad(err, "An https target needs CONNECT.");
    if (t.len <= skip || strncasecmp(t.p, scheme, skip) != 0)
        return bad(err, "This is a proxy: it takes CONNECT host:port and targets that start with http://.");
    if (memchr(t.p, '#', t.len))
        return bad(err, "The target of the request has a fragment.");
    t.p += skip;
    t.len -= skip;
    for (n = 0; n < t.len && t.p[n] != '/' && t.p[n] != '?'; n++)
        ;
    *ret_path = (struct piece){ t.p + n, t.len - n };
    return parse_authority((struct piece){ t.p, n }, 80, ret, err);
}

/* ---- what the server gets ------------------------------------------------------------------------- */

/* True when a Connection header names it. */
static bool is_nominated(const struct head *h, struct piece name)
{
    size_t i;

    for (i = 0; i < h->n; i++) {
        struct piece rest = h->values[i];

        if (!is(h->names[i], "connection") && !is(h->names[i], "proxy-connection"))
            continue;
        while (rest.len) {
            const char *comma = memchr(rest.p, ',', rest.len);
            size_t n = comma ? (size_t)(comma - rest.p) : rest.len;
            struct piece word = trim((struct piece){ rest.p, n });

            if (word.len == name.len && strncasecmp(word.p, name.p, word.len) == 0)
                return true;
            n += comma != NULL;
            rest = (struct piece){ rest.p + n, rest.len - n };
        }
    }
    return false;
}

static bool is_dropped(const struct head *h, struct piece name)
{
    size_t i;

    for (i = 0; i < ARRAY_LEN(dropped); i++)
        if (is(name, dropped[i]))
            return true;
    return is_nominated(h, name);
}

static int parse_length(struct piece value, uint64_t *ret)
{
    uint64_t v = 0;
    size_t i;

    if (!value.len || value.len > LENGTH_DIGITS_MAX)
        return -1;
    for (i = 0; i < value.len; i++) {
        if (!isdigit((unsigned char)value.p[i]))
            return -1;
        v = v * 10 + (unsigned)(value.p[i] - '0');
    }
    *ret = v;
    return 0;
}

/* Exactly one way to find the body's end, or none. */
static int parse_framing(const struct head *h, struct egress_request *r, struct err *err)
{
    unsigned lengths = 0, codings = 0;
    uint64_t length = 0;
    size_t i;

    for (i = 0; i < h->n; i++) {
        if (is(h->names[i], "content-length")) {
            if (lengths++ || parse_length(h->values[i], &length) < 0)
                return bad(err, "The Content-Length of the request is malformed.");
        } else if (is(h->names[i], "transfer-encoding")) {
            if (codings++ || !is(h->values[i], "chunked") || h->http_1_0)
                return bad(err, "The Transfer-Encoding of the request is not supported: only chunked is.");
        }
    }
    if (lengths && codings)
        return bad(err, "The request has both Content-Length and Transfer-Encoding.");
    if (codings)
        egress_body_chunked(&r->body);
    else
        egress_body_length(&r->body, length);
    if (lengths)
        buf_add_fmt(&r->head, "Content-Length: %llu\r\n", (unsigned long long)length);
    if (codings)
        buf_add_str(&r->head, "Transfer-Encoding: chunked\r\n");
    return 0;
}

static void add_host(struct buf *out, const struct egress_target *t)
{
    char text[EGRESS_TARGET_TEXT];
    size_t len;

    egress_target_format(t, text);
    len = strlen(text);
    if (t->port == 80)
        len -= 3; /* ":80" */
    buf_add_str(out, "Host: ");
    buf_add(out, text, len);
    buf_add_str(out, "\r\n");
}

static int write_head(const struct head *h, struct piece path, struct egress_request *r, struct err *err)
{
    struct buf *out = &r->head;
    size_t i;

    buf_add(out, h->method.p, h->method.len);
    buf_add_char(out, ' ');
    if (!path.len || *path.p != '/')
        buf_add_char(out, '/');
    buf_add(out, path.p, path.len);
    buf_add_str(out, h->http_1_0 ? " HTTP/1.0\r\n" : " HTTP/1.1\r\n");
    add_host(out, &r->target);
    for (i = 0; i < h->n; i++) {
        if (is_dropped(h, h->names[i]))
            continue;
        buf_add(out, h->names[i].p, h->names[i].len);
        buf_add_str(out, ": ");
        buf_add(out, h->values[i].p, h->values[i].len);
        buf_add_str(out, "\r\n");
    }
    if (parse_framing(h, r, err) < 0)
        return -1;
    buf_add_str(out, "Connection: close\r\n\r\n");
    return buf_failed(out) ? err_nomem(err) : 0;
}

int egress_request_parse(const char *head, size_t len, struct egress_request *ret, struct err *err)
{
    struct egress_request r = { 0 };
    struct piece path = { NULL, 0 };
    struct head h = { 0 };
    int e;

    if (split_head(head, len, &h, err) < 0)
        return -1;
    buf_init(&r.head, EGRESS_HEAD_MAX + 1024);
    egress_body_none(&r.body);
    r.tunnel = h.method.len == 7 && memcmp(h.method.p, "CONNECT", 7) == 0;
    if (r.tunnel)
        e = parse_authority(h.target, 0, &r.target, err);
    else
        e = parse_absolute(h.target, &r.target, &path, err) < 0 ? -1 : write_head(&h, path, &r, err);
    if (e < 0) {
        egress_request_release(&r);
        return -1;
    }
    *ret = r;
    return 0;
}

void egress_request_release(struct egress_request *r)
{
    if (r)
        buf_release(&r->head);
}
