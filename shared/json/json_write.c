/* A parsed tree back to text. The library's own printer would write 1.0 as 1, and integers beyond a double's wrongly.
 */
#include <math.h>
#include <string.h>

#include "shared/base/str.h"
#include "shared/json/json.h"

#define DEPTH_MAX 1000 /* as of what is read */

static void write_node(const cJSON *node, unsigned indent, unsigned depth, struct buf *out);

static void write_string(const char *s, struct buf *out)
{
    buf_add_json_str(out, s ? s : "", s ? strlen(s) : 0);
}

static void write_number(const cJSON *node, struct buf *out)
{
    char text[DOUBLE_TEXT_MAX];

    if (node->valuestring)
        buf_add_str(out, node->valuestring);
    else if (!isfinite(node->valuedouble))
        buf_add_str(out, "null");
    else if (!json_is_float(node) && !(node->valuedouble == 0 && signbit(node->valuedouble)))
        buf_add_fmt(out, "%lld", (long long)json_integer(node));
    else {
        str_from_double(node->valuedouble, text);
        buf_add_str(out, text);
    }
}

static void break_line(unsigned indent, unsigned depth, struct buf *out)
{
    if (!indent)
        return;
    buf_add_char(out, '\n');
    buf_add_repeat(out, ' ', (size_t)indent * depth);
}

static void write_members(const cJSON *node, unsigned indent, unsigned depth, struct buf *out)
{
    bool object = cJSON_IsObject(node);
    const cJSON *c;

    if (depth >= DEPTH_MAX) {
        out->failed = true;
        return;
    }
    buf_add_char(out, object ? '{' : '[');
    for (c = node->child; c; c = c->next) {
        break_line(indent, depth + 1, out);
        if (object) {
            write_string(c->string, out);
            buf_add_str(out, indent ? ": " : ":");
        }
        write_node(c, indent, depth + 1, out);
        if (c->next)
            buf_add_char(out, ',');
    }
    if (node->child)
        break_line(indent, depth, out);
    buf_add_char(out, object ? '}' : ']');
}

static void write_node(const cJSON *node, unsigned indent, unsigned depth, struct buf *out)
{
    if (cJSON_IsObject(node) || cJSON_IsArray(node))
        write_members(node, indent, depth, out);
    else if (cJSON_IsString(node))
        write_string(node->valuestring, out);
    else if (cJSON_IsNumber(node))
        write_number(node, out);
    else if (cJSON_IsBool(node))
        buf_add_str(out, cJSON_IsTrue(node) ? "true" : "false");
    else
        buf_add_str(out, "null");
}

int json_write(const cJSON *node, unsigned indent, struct buf *out)
{
    write_node(node, indent, 0, out);
    return buf_failed(out) ? -1 : 0;
}
