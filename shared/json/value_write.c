#include <math.h>
#include <string.h>

#include "shared/base/buf.h"
#include "shared/base/str.h"
#include "shared/json/value.h"

#define STEP 2 /* blanks a level */

/* JSON has no word for a number that is not finite. */
static void write_double(double v, struct buf *out)
{
    char text[DOUBLE_TEXT_MAX];

    if (!isfinite(v)) {
        out->failed = true;
        return;
    }
    str_from_double(v, text);
    buf_add_str(out, text);
}

static void write_members(const struct value *v, unsigned indent, struct buf *out)
{
    bool object = v->kind == VALUE_OBJECT;
    size_t i;

    buf_add_char(out, object ? '{' : '[');
    for (i = 0; i < v->len; i++) {
        buf_add_str(out, i ? ",\n" : "\n");
        buf_add_repeat(out, ' ', indent + STEP);
        if (object) {
            buf_add_json_str(out, v->keys[i], strlen(v->keys[i]));
            buf_add_str(out, ": ");
        }
        value_write(&v->items[i], indent + STEP, out);
    }
    if (v->len) {
        buf_add_char(out, '\n');
        buf_add_repeat(out, ' ', indent);
    }
    buf_add_char(out, object ? '}' : ']');
}

int value_write(const struct value *v, unsigned indent, struct buf *out)
{
    const char *text;

    switch (v->kind) {
    case VALUE_NULL:
        buf_add_str(out, "null");
        break;
    case VALUE_BOOL:
        buf_add_str(out, v->boolean ? "true" : "false");
        break;
    case VALUE_INT:
        if (v->string)
            buf_add_str(out, v->string);
        else
            buf_add_fmt(out, "%lld", (long long)v->integer);
        break;
    case VALUE_DOUBLE:
        write_double(v->number, out);
        break;
    case VALUE_STRING:
        text = v->string ? v->string : "";
        buf_add_json_str(out, text, strlen(text));
        break;
    case VALUE_ARRAY:
    case VALUE_OBJECT:
        write_members(v, indent, out);
        break;
    }
    return buf_failed(out) ? -1 : 0;
}
