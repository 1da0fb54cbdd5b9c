#include "shared/json/json.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared/base/mem.h"
#include "shared/base/str.h"
#include "shared/json/read.h"

#define BOM "\xef\xbb\xbf"
#define EXACT_MAX 0x1p53 /* doubles hold every integer up to here */

static void *fail(struct json_error *e, enum json_fault fault, size_t offset, const char *message)
{
    e->fault = fault;
    e->offset = offset;
    snprintf(e->message, sizeof(e->message), "%s", message);
    return NULL;
}

static size_t count_characters(const char *s, size_t len)
{
    size_t n = 0, i;

    for (i = 0; i < len; i++)
        n += ((unsigned char)s[i] & 0xc0) != 0x80;
    return n;
}

static size_t first_malformed(const char *s, size_t len)
{
    size_t i = 0, width;

    while (i < len && utf8_decode(s + i, len - i, &width) >= 0)
        i += width;
    return i;
}

cJSON *json_parse_request(const char *text, size_t len, bool *ret_nul, struct json_error *ret_error)
{
    cJSON *tree;

    *ret_error = (struct json_error){ 0 };
    if (!len)
        return fail(ret_error, JSON_EMPTY, 0, "The document is empty");
    if (len >= strlen(BOM) && memcmp(text, BOM, strlen(BOM)) == 0) {
        text += strlen(BOM);
        len -= strlen(BOM);
    }
    if (!utf8_valid(text, len))
        return fail(ret_error, JSON_UTF8, first_malformed(text, len), "The document is not valid UTF-8");
    tree = json_read(text, len, ret_nul, ret_error);
    if (!tree)
        ret_error->characters = count_characters(text, ret_error->offset);
    return tree;
}

cJSON *json_parse(const char *text, size_t len, struct json_error *ret_error)
{
    bool nul = false;
    cJSON *tree = json_parse_request(text, len, &nul, ret_error);

    if (!tree || !nul)
        return tree;
    cJSON_Delete(tree);
    return fail(ret_error, JSON_NUL, 0, "A text of the document contains the character U+0000");
}

const cJSON *json_get(const cJSON *object, const char *key)
{
    const cJSON *c;

    if (!object || (object->type & 0xff) != cJSON_Object) /* asked too often for a call */
        return NULL;
    for (c = object->child; c; c = c->next)
        if (c->string && c->string[0] == key[0] && strcmp(c->string, key) == 0)
            return c;
    return NULL;
}

static int members_to_value(const cJSON *node, struct value *to)
{
    bool object = cJSON_IsObject(node);
    size_t n = 0;
    const cJSON *c;

    for (c = node->child; c; c = c->next)
        n++;
    if (!n)
        return 0;
    to->items = mem_zalloc(n, sizeof(*to->items));
    if (!to->items)
        return -1;
    if (object) {
        to->keys = mem_zalloc(n, sizeof(*to->keys));
        if (!to->keys)
            return -1;
    }
    for (c = node->child; c; c = c->next) {
        to->len++;
        if (object) {
            to->keys[to->len - 1] = mem_strdup(c->string);
            if (!to->keys[to->len - 1])
                return -1;
        }
        if (json_to_value(c, &to->items[to->len - 1]) < 0)
            return -1;
    }
    return 0;
}

bool json_is_float(const cJSON *node)
{
    double d = node->valuedouble;

    if (node->valuestring)
        return strpbrk(node->valuestring, ".eE");
    return d < -EXACT_MAX || d > EXACT_MAX || (double)(int64_t)d != d;
}

int64_t json_integer(const cJSON *node)
{
    double d = node->valuedouble;

    errno = 0; /* both clamp what is beyond 64 bits */
    if (node->valuestring && !json_is_float(node))
        return strtoll(node->valuestring, NULL, 10);
    if (d >= 0x1p63)
        return INT64_MAX;
    return d <= -0x1p63 ? INT64_MIN : d == d ? (int64_t)d : 0;
}

static int number_to_value(const cJSON *node, struct value *to)
{
    if (json_is_float(node)) {
        to->kind = VALUE_DOUBLE;
        to->number = node->valuedouble;
        return 0;
    }
    to->kind = VALUE_INT;
    to->integer = json_integer(node);
    if (!node->valuestring || errno != ERANGE)
        return 0;
    to->string = mem_strdup(node->valuestring);
    return to->string ? 0 : -1;
}

int json_to_value(const cJSON *node, struct value *ret)
{
    struct value v = { .kind = VALUE_NULL };

    if (cJSON_IsBool(node)) {
        v.kind = VALUE_BOOL;
        v.boolean = cJSON_IsTrue(node);
    } else if (cJSON_IsNumber(node)) {
        if (number_to_value(node, &v) < 0)
            return -1;
    } else if (cJSON_IsString(node)) {
        v.kind = VALUE_STRING;
        v.string = mem_strdup(node->valuestring);
        if (!v.string)
            return -1;
    } else if (cJSON_IsArray(node) || cJSON_IsObject(node)) {
        v.kind = cJSON_IsObject(node) ? VALUE_OBJECT : VALUE_ARRAY;
        if (members_to_value(node, &v) < 0) {
            value_release(&v);
            return -1;
        }
    }
    *ret = v;
    return 0;
}
