#include "shared/base/buf.h"

#include <stdio.h>
#include <string.h>

#include "shared/base/mem.h"
#include "shared/base/str.h"

void buf_init(struct buf *b, size_t max)
{
    *b = (struct buf){ .max = max };
}

void buf_release(struct buf *b)
{
    if (!b)
        return;
    mem_free(b->data);
    *b = (struct buf){ .max = b->max };
}

void cleanup_buf_release(struct buf *b)
{
    buf_release(b);
}

void buf_clear(struct buf *b)
{
    b->len = 0;
    b->failed = false;
    if (b->data)
        b->data[0] = '\0';
}

bool buf_failed(const struct buf *b)
{
    return b->failed;
}

int buf_reserve(struct buf *b, size_t more)
{
    size_t need, cap;
    char *bigger;

    if (!b->failed && more < b->cap - b->len && b->len + more <= b->max) /* the most frequent by far */
        return 0;
    if (b->failed)
        return -1;
    if (__builtin_add_overflow(b->len, more, &need) || need > b->max || need > SIZE_MAX / 4)
        goto fail;
    if (need + 1 <= b->cap)
        return 0;
    cap = b->cap ? b->cap : 64;
    while (cap < need + 1)
        cap = cap > b->max / 2 ? b->max + 1 : cap * 2;
    bigger = mem_resize(b->data, cap, 1);
    if (!bigger)
        goto fail;
    b->data = bigger;
    b->cap = cap;
    b->data[b->len] = '\0';
    return 0;
fail:
    b->failed = true;
    return -1;
}

int buf_add(struct buf *b, const void *data, size_t len)
{
    if (buf_reserve(b, len) < 0)
        return -1;
    if (len)
        memcpy(b->data + b->len, data, len);
    b->len += len;
    b->data[b->len] = '\0';
    return 0;
}

int buf_add_str(struct buf *b, const char *s)
{
    return buf_add(b, s, strlen(s));
}

int buf_add_char(struct buf *b, char c)
{
    return buf_add(b, &c, 1);
}

int buf_add_vfmt(struct buf *b, const char *fmt, va_list ap)
{
    va_list again;
    int n;

    va_copy(again, ap);
    n = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    if (n < 0 || buf_reserve(b, (size_t)n) < 0) {
        b->failed = true;
        return -1;
    }
    vsnprintf(b->data + b->len, (size_t)n + 1, fmt, ap);
    b->len += (size_t)n;
    return 0;
}

int buf_add_fmt(struct buf *b, const char *fmt, ...)
{
    va_list ap;
    int r;

    va_start(ap, fmt);
    r = buf_add_vfmt(b, fmt, ap);
    va_end(ap);
    return r;
}

int buf_add_repeat(struct buf *b, char c, size_t n)
{
    if (buf_reserve(b, n) < 0)
        return -1;
    memset(b->data + b->len, c, n);
    b->len += n;
    b->data[b->len] = '\0';
    return 0;
}

int buf_add_hex(struct buf *b, uint32_t v, unsigned digits)
{
    char text[8];
    unsigned i;

    for (i = digits; i--; v >>= 4)
        text[i] = "0123456789abcdef"[v & 15];
    return buf_add(b, text, digits);
}

void buf_consume(struct buf *b, size_t n)
{
    if (n >= b->len) {
        b->len = 0;
    } else {
        memmove(b->data, b->data + n, b->len - n);
        b->len -= n;
    }
    if (b->data)
        b->data[b->len] = '\0';
}

char *buf_steal(struct buf *b, size_t *ret_len)
{
    char *data;

    if (b->failed)
        return NULL;
    if (!b->data && buf_reserve(b, 0) < 0)
        return NULL;
    data = b->data;
    if (ret_len)
        *ret_len = b->len;
    *b = (struct buf){ .max = b->max };
    return data;
}

/* Bytes that stand for themselves in JSON. */
static const bool json_plain[256] = {
    [0x20 ... '"' - 1] = true,
    ['"' + 1 ... '\\' - 1] = true,
    ['\\' + 1 ... 0x7e] = true,
};

/* Letters of the two-letter escapes of JSON (RFC 8259, section 7). */
static const char json_short_escapes[256] = {
    ['"'] = '"', ['\\'] = '\\', ['\b'] = 'b', ['\f'] = 'f', ['\n'] = 'n', ['\r'] = 'r', ['\t'] = 't',
};

static size_t json_plain_run(const char *s, size_t len)
{
    size_t i = 0;

    while (i < len && json_plain[(unsigned char)s[i]])
        i++;
    return i;
}

/* The byte or character at s that is not plain; returns its bytes. */
static size_t add_json_escape(struct buf *b, const char *s, size_t len)
{
    unsigned char c = (unsigned char)*s;
    char brief[] = { '\\', json_short_escapes[c] };
    size_t width = 1;

    if (brief[1]) {
        buf_add(b, brief, sizeof(brief));
    } else if (c < 0x20 || c == 0x7f) {
        buf_add_str(b, "\\u");
        buf_add_hex(b, c, 4);
    } else if (utf8_decode(s, len, &width) >= 0) {
        buf_add(b, s, width);
    } else {
        buf_add_str(b, UTF8_REPLACEMENT);
    }
    return width;
}

int buf_add_json_str(struct buf *b, const char *s, size_t len)
{
    size_t i = 0, run;

    buf_add_char(b, '"');
    while (i < len) {
        run = json_plain_run(s + i, len - i);
        if (run)
            buf_add(b, s + i, run);
        i += run;
        if (i < len)
            i += add_json_escape(b, s + i, len - i);
    }
    return buf_add_char(b, '"');
}
