#include "fcgi/query.h"

#include <ctype.h>
#include <string.h>

#include "shared/base/mem.h"
#include "shared/base/str.h"

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static void decode_into(struct buf *out, const char *s, size_t len)
{
    size_t i;

    for (i = 0; i < len; i++) {
        int high = s[i] == '%' && i + 2 < len ? hex_digit(s[i + 1]) : -1;
        int low = high >= 0 ? hex_digit(s[i + 2]) : -1;

        if (low < 0) {
            buf_add_char(out, s[i] == '+' ? ' ' : s[i]);
            continue;
        }
        if (high || low)
            buf_add_char(out, (char)(high << 4 | low));
        else
            buf_add_str(out, UTF8_REPLACEMENT);
        i += 2;
    }
}

static char *decode(const char *s, size_t len)
{
    auto_buf struct buf out;

    buf_init(&out, len + 1);
    if (!len)
        return mem_strdup("");
    decode_into(&out, s, len);
    return buf_steal(&out, NULL);
}

static bool names(const char *pair, size_t len, const char *name)
{
    auto_free char *decoded = decode(pair, len);

    return str_eq(decoded, name);
}

char *query_value(const char *query, const char *name)
{
    while (*query) {
        size_t pair = strcspn(query, "&"), key = strcspn(query, "=&");

        if (names(query, key, name)) {
            size_t skip = key < pair ? key + 1 : pair;

            return decode(query + skip, pair - skip);
        }
        query += pair + (query[pair] == '&');
    }
    return NULL;
}

static bool is_plain(unsigned char c)
{
    return isalnum(c) || (c && strchr("-._~", c));
}

static void escape(struct buf *out, const char *s)
{
    for (; *s; s++) {
        if (is_plain((unsigned char)*s))
            buf_add_char(out, *s);
        else
            buf_add_fmt(out, "%%%02X", (unsigned char)*s);
    }
}

void query_add(struct buf *out, const char *name, const char *value)
{
    if (out->len && out->data[out->len - 1] != '?')
        buf_add_char(out, '&');
    escape(out, name);
    buf_add_char(out, '=');
    escape(out, value);
}
