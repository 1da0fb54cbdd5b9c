#include "shared/python/emit.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared/base/str.h"

#define VALUE_DEPTH_MAX 100
#define DOUBLE_DIGITS 17 /* enough for every double (DBL_DECIMAL_DIG) */

/* Both quotes and the backslash go through \xNN: a reader never has to think about which quote is
 * open. */
static bool plain(unsigned char c)
{
    return c >= 0x20 && c < 0x7f && c != '\\' && c != '\'' && c != '"';
}

static void add_code(struct buf *b, const char *mark, int32_t cp, unsigned digits)
{
    buf_add_str(b, mark);
    buf_add_hex(b, (uint32_t)cp, digits);
}

static void add_escape(struct buf *b, int32_t cp)
{
    if (cp == '\n')
        buf_add_str(b, "\\n");
    else if (cp == '\r')
        buf_add_str(b, "\\r");
    else if (cp == '\t')
        buf_add_str(b, "\\t");
    else if (cp < 0x100)
        add_code(b, "\\x", cp, 2);
    else if (cp < 0x10000)
        add_code(b, "\\u", cp, 4);
    else
        add_code(b, "\\U", cp, 8);
}

void py_str(struct buf *b, const char *s)
{
    size_t len, i = 0, start, width;

    if (!s) {
        buf_add_str(b, "None");
        return;
    }
    len = strlen(s);
    buf_add_char(b, '\'');
    while (i < len && !b->failed) {
        int32_t cp;

        for (start = i; i < len && plain((unsigned char)s[i]); i++)
            ;
        buf_add(b, s + start, i - start);
        if (i == len)
            break;
        cp = utf8_decode(s + i, len - i, &width);
        add_escape(b, cp < 0 ? 0xfffd : cp);
        i += width;
    }
    buf_add_char(b, '\'');
}

void py_int(struct buf *b, int64_t v)
{
    buf_add_fmt(b, "%" PRId64, v);
}

void py_float(struct buf *b, double v)
{
    char text[DOUBLE_TEXT_MAX];

    if (!isfinite(v)) {
        b->failed = true;
        return;
    }
    str_from_double(v, text);
    buf_add_str(b, text);
}

void py_bool(struct buf *b, bool v)
{
    buf_add_str(b, v ? "True" : "False");
}

static void add_value(struct buf *b, const struct value *v, int depth);

static void add_items(struct buf *b, const struct value *v, int depth)
{
    bool object = v->kind == VALUE_OBJECT;
    size_t i;

    if (depth > VALUE_DEPTH_MAX) {
        b->failed = true;
        return;
    }
    buf_add_char(b, object ? '{' : '[');
    for (i = 0; i < v->len && !b->failed; i++) {
        if (i)
            buf_add_str(b, ", ");
        if (object) {
            py_str(b, v->keys[i]);
            buf_add_str(b, ": ");
        }
        add_value(b, &v->items[i], depth + 1);
    }
    buf_add_char(b, object ? '}' : ']');
}

static void add_value(struct buf *b, const struct value *v, int depth)
{
    switch (v->kind) {
    case VALUE_NULL:
        buf_add_str(b, "None");
        break;
    case VALUE_BOOL:
        py_bool(b, v->boolean);
        break;
    case VALUE_INT:
        if (v->string)
            buf_add_str(b, v->string);
        else
            py_int(b, v->integer);
        break;
    case VALUE_DOUBLE:
        py_float(b, v->number);
        break;
    case VALUE_STRING:
        py_str(b, v->string ? v->string : "");
        break;
    case VALUE_ARRAY:
    case VALUE_OBJECT:
        add_items(b, v, depth);
        break;
    }
}

void py_value(struct buf *b, const struct value *v)
{
    add_value(b, v, 1);
}
