#include "supervisor/egress/answer.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "shared/base/mem.h"

static const char *const replaced[] = { "connection", "proxy-connection", "keep-alive" };

static const char prefix[] = "HTTP/1.";

void egress_answer_init(struct egress_answer *a)
{
    *a = (struct egress_answer){ 0 };
    buf_init(&a->head, EGRESS_ANSWER_HEAD_MAX);
}

void egress_answer_release(struct egress_answer *a)
{
    buf_release(&a->head);
}

/* False once the bytes cannot become "HTTP/1." any more. */
static bool may_be_http(const struct buf *b)
{
    size_t n = b->len < sizeof(prefix) - 1 ? b->len : sizeof(prefix) - 1;

    return n == 0 || memcmp(b->data, prefix, n) == 0;
}

/* Length of the head with its empty line, or 0. Line feeds alone are line ends, too: servers are what they are. */
static size_t head_end(struct egress_answer *a)
{
    const char *data = a->head.data, *p = data + (a->scanned > 3 ? a->scanned - 3 : 0), *end = data + a->head.len;

    while ((p = memchr(p, '\n', (size_t)(end - p)))) {
        p++;
        if (p < end && *p == '\n')
            return (size_t)(p + 1 - data);
        if (p + 1 < end && p[0] == '\r' && p[1] == '\n')
            return (size_t)(p + 2 - data);
    }
    a->scanned = a->head.len;
    return 0;
}

static bool is_replaced(const char *line, size_t len)
{
    const char *colon = memchr(line, ':', len);
    size_t n = colon ? (size_t)(colon - line) : 0, i;

    while (n && (line[n - 1] == ' ' || line[n - 1] == '\t'))
        n--;
    for (i = 0; i < ARRAY_LEN(replaced); i++)
        if (strlen(replaced[i]) == n && strncasecmp(line, replaced[i], n) == 0)
            return true;
    return false;
}

/* Between: "100 Continue" and its like, after which the real head comes. */
static bool is_between(const char *head, size_t len)
{
    const char *code = memchr(head, ' ', len);

    return code && len - (size_t)(code - head) > 3 && code[1] == '1' && isdigit((unsigned char)code[2]) &&
           isdigit((unsigned char)code[3]) && memcmp(code + 1, "101", 3) != 0;
}

static void write_head(const char *head, size_t len, struct buf *out)
{
    const char *p = head, *end = head + len;
    bool dropping = false;

    while (p < end) {
        const char *feed = memchr(p, '\n', (size_t)(end - p));
        size_t n = (size_t)(feed + 1 - p);

        if (*p == '\n' || (*p == '\r' && p[1] == '\n')) { /* the empty line: the last one */
            buf_add_str(out, "Connection: close\r\n");
            buf_add(out, p, n);
            return;
        }
        if (*p != ' ' && *p != '\t') /* else it continues the line before and shares its fate */
            dropping = p != head && is_replaced(p, n);
        if (!dropping)
            buf_add(out, p, n);
        p += n;
    }
}

/* One head that is whole: out, and off the buffer. */
static void pass_head(struct egress_answer *a, size_t len, struct buf *out)
{
    if (is_between(a->head.data, len)) {
        buf_add(out, a->head.data, len);
    } else {
        write_head(a->head.data, len, out);
        a->done = true;
    }
    buf_consume(&a->head, len);
    a->scanned = 0;
}

void egress_answer_end(struct egress_answer *a, struct buf *out)
{
    if (a->head.len)
        buf_add(out, a->head.data, a->head.len);
    buf_clear(&a->head);
    a->done = true;
}

void egress_answer_take(struct egress_answer *a, const char *data, size_t len, struct buf *out)
{
    size_t room = a->done ? 0 : EGRESS_ANSWER_HEAD_MAX - a->head.len, n = len < room ? len : room, end;

    if (n && buf_add(&a->head, data, n) < 0) {
        out->failed = true;
        return;
    }
    while (!a->done && may_be_http(&a->head) && a->head.len && (end = head_end(a)))
        pass_head(a, end, out);
    if (!a->done && may_be_http(&a->head) && a->head.len < EGRESS_ANSWER_HEAD_MAX)
        return; /* the head's end is still to come */
    egress_answer_end(a, out);
    buf_add(out, data + n, len - n);
}
