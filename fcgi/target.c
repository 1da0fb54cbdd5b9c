#include "fcgi/target.h"

#include <string.h>

#include "shared/base/buf.h"
#include "shared/base/mem.h"
#include "shared/base/str.h"

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if ((c | 32) >= 'a' && (c | 32) <= 'f')
        return (c | 32) - 'a' + 10;
    return -1;
}

static void decode(const char *s, size_t len, struct buf *out)
{
    size_t i;

    for (i = 0; i < len; i++) {
        int high = s[i] == '%' && i + 2 < len ? hex_digit(s[i + 1]) : -1;
        int low = high >= 0 ? hex_digit(s[i + 2]) : -1;

        if (low < 0) {
            buf_add_char(out, s[i]);
            continue;
        }
        i += 2;
        if (high || low)
            buf_add_char(out, (char)(high * 16 + low));
        else
            buf_add_str(out, UTF8_REPLACEMENT);
    }
}

/* Bytes that decoding may need: a NUL becomes three, like the escape it was. */
static size_t room_for(size_t len)
{
    return len + 1;
}

static int split(struct target *t)
{
    auto_buf struct buf block;
    size_t offsets[TARGET_SEGMENTS_MAX], pos = 1, i;

    buf_init(&block, room_for(strlen(t->raw)) + TARGET_SEGMENTS_MAX);
    for (;;) {
        size_t len = strcspn(t->raw + pos, "/");

        if (t->len == TARGET_SEGMENTS_MAX) {
            t->more = true;
            break;
        }
        offsets[t->len] = block.len;
        t->starts[t->len++] = pos;
        decode(t->raw + pos, len, &block);
        buf_add_char(&block, '\0');
        pos += len;
        if (!t->raw[pos])
            break;
        pos++;
    }
    t->block = buf_steal(&block, NULL);
    if (!t->block)
        return -1;
    for (i = 0; i < t->len; i++)
        t->segments[i] = t->block + offsets[i];
    t->slash = t->raw[1] && t->raw[strlen(t->raw) - 1] == '/';
    return 0;
}

int target_parse(const char *uri, struct target *ret, struct err *err)
{
    struct target t = { 0 };
    size_t path = strcspn(uri, "?#"), query = uri[path] == '?' ? strcspn(uri + path + 1, "#") : 0;

    if (*uri != '/' || strlen(uri) > TARGET_MAX)
        return err_set(err, ERR_NOT_FOUND, 0, "Not Found");
    t.raw = mem_dup(uri, path);
    t.query = mem_dup(uri + path + (query ? 1 : 0), query);
    if (!t.raw || !t.query || split(&t) < 0) {
        target_release(&t);
        return err_nomem(err);
    }
    *ret = t;
    return 0;
}

void target_release(struct target *t)
{
    if (!t)
        return;
    mem_free(t->raw);
    mem_free(t->query);
    mem_free(t->block);
    *t = (struct target){ 0 };
}

char *target_rest(const struct target *t, size_t i)
{
    auto_buf struct buf out;
    const char *from = i < t->len ? t->raw + t->starts[i] : "";

    buf_init(&out, room_for(strlen(from)));
    decode(from, strlen(from), &out);
    return buf_steal(&out, NULL);
}

char *target_toggle_slash(const struct target *t)
{
    auto_buf struct buf out;

    buf_init(&out, TARGET_MAX + 8);
    buf_add(&out, t->raw, strlen(t->raw) - t->slash);
    if (!t->slash)
        buf_add_char(&out, '/');
    if (*t->query)
        buf_add_fmt(&out, "?%s", t->query);
    return buf_steal(&out, NULL);
}
