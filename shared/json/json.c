#include "shared/json/json.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared/base/keyed_hash.h"
#include "shared/base/mem.h"
#include "shared/base/str.h"
#include "shared/json/scan.h"

#define BOM "\xef\xbb\xbf"
#define FEW_MEMBERS 12   /* objects up to this size are compared pairwise */
#define EXACT_MAX 0x1p53 /* doubles hold every integer up to here */

/* A member and its place, so that equal names sort by place. */
struct member {
    cJSON *node;
    size_t place;
};

static int by_name_and_place(const void *a, const void *b)
{
    const struct member *x = a, *y = b;
    int order = strcmp(x->node->string, y->node->string);

    return order ? order : x->place < y->place ? -1 : 1;
}

/* The last of several equal members takes the place of the first; the ones between are dropped. */
static void merge_equal(cJSON *object, const struct member *equal, size_t n)
{
    size_t i;

    for (i = 1; i + 1 < n; i++)
        cJSON_Delete(cJSON_DetachItemViaPointer(object, equal[i].node));
    cJSON_DetachItemViaPointer(object, equal[n - 1].node);
    cJSON_ReplaceItemViaPointer(object, equal[0].node, equal[n - 1].node);
}

static bool few_and_different(const cJSON *object, size_t n)
{
    const cJSON *a, *b;

    if (n > FEW_MEMBERS)
        return false;
    for (a = object->child; a; a = a->next)
        for (b = a->next; b; b = b->next)
            if (a->string[0] == b->string[0] && strcmp(a->string, b->string) == 0)
                return false;
    return true;
}

/* Whether two of n members have one name: 1, 0, -1 out of memory. Sorting them would cost most of the reading of a wide
 * object. */
static int has_equal(const cJSON *object, size_t n)
{
    size_t mask = 1, i;
    auto_free const char **slots = NULL;
    struct hash_key key;
    const cJSON *c;

    while (mask < 2 * n)
        mask <<= 1;
    slots = mem_zalloc(mask--, sizeof(*slots));
    if (!slots)
        return -1;
    hash_key_new(&key);
    for (c = object->child; c; c = c->next) {
        for (i = (size_t)hash_text(&key, c->string) & mask; slots[i]; i = (i + 1) & mask)
            if (strcmp(slots[i], c->string) == 0)
                return 1;
        slots[i] = c->string;
    }
    return 0;
}

static int merge_members(cJSON *object)
{
    auto_free struct member *members = NULL;
    size_t n = 0, i, end;
    int equal;
    cJSON *c;

    for (c = object->child; c; c = c->next)
        n++;
    equal = few_and_different(object, n) ? 0 : has_equal(object, n);
    if (equal <= 0)
        return equal;
    members = mem_zalloc(n, sizeof(*members));
    if (!members)
        return -1;
    for (c = object->child, i = 0; c; c = c->next, i++)
        members[i] = (struct member){ c, i };
    qsort(members, n, sizeof(*members), by_name_and_place);
    for (i = 0; i < n; i = end) {
        for (end = i + 1; end < n && strcmp(members[i].node->string, members[end].node->string) == 0; end++)
            ;
        if (end - i > 1)
            merge_equal(object, members + i, end - i);
    }
    return 0;
}

/* Recursion is bounded by the nesting limit. */
static int merge_tree(cJSON *node)
{
    cJSON *c;

    if (cJSON_IsObject(node) && merge_members(node) < 0)
        return -1;
    for (c = node->child; c; c = c->next)
        if (c->child && merge_tree(c) < 0)
            return -1;
    return 0;
}

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

/* Numbers of which the tree's double does not tell all keep their text, as the node's string. They were counted in the
 * order of the document, which is that of the tree. Recursion is bounded by the nesting limit. */
struct exact_numbers {
    const char *text;
    struct json_exact *items;
    size_t left, seen;
};

static int keep_exact(cJSON *node, struct exact_numbers *e)
{
    for (; node && e->left; node = node->next) {
        if (cJSON_IsNumber(node) && e->seen++ == e->items->ordinal) {
            node->valuestring = mem_dup(e->text + e->items->offset, e->items->len);
            if (!node->valuestring)
                return -1;
            e->items++;
            e->left--;
        }
        if (node->child && keep_exact(node->child, e) < 0)
            return -1;
    }
    return 0;
}

/* text: what was scanned; sound: the same as cJSON takes it. */
static cJSON *build(const char *text, const char *sound, size_t len, struct json_exact *exact, size_t exact_len,
                    struct json_error *e)
{
    struct exact_numbers numbers = { text, exact, exact_len, 0 };
    cJSON *tree = cJSON_ParseWithLength(sound, len);

    if (tree && keep_exact(tree, &numbers) == 0 && merge_tree(tree) == 0)
        return tree;
    cJSON_Delete(tree);
    return fail(e, JSON_NOMEM, 0, "Out of memory");
}

static cJSON *build_carefully(const char *text, size_t len, struct json_scan *found, struct json_error *e)
{
    auto_free struct json_exact *exact = mem_zalloc(found->exact, sizeof(*exact));
    char *copy = mem_dup(text, len);
    cJSON *tree = NULL;

    if (!copy || !exact) {
        fail(e, JSON_NOMEM, 0, "Out of memory");
    } else {
        json_scan(text, len, copy, exact, found, e);
        tree = build(text, copy, len, exact, found->exact, e);
    }
    if (copy)
        mem_wipe(copy, len); /* may hold credentials, like the text it was made from */
    mem_free(copy);
    return tree;
}

cJSON *json_parse_request(const char *text, size_t len, bool *ret_nul, struct json_error *ret_error)
{
    struct json_scan found;

    *ret_error = (struct json_error){ 0 };
    if (!len)
        return fail(ret_error, JSON_EMPTY, 0, "The document is empty");
    if (len >= strlen(BOM) && memcmp(text, BOM, strlen(BOM)) == 0) {
        text += strlen(BOM);
        len -= strlen(BOM);
    }
    if (!utf8_valid(text, len))
        return fail(ret_error, JSON_UTF8, first_malformed(text, len), "The document is not valid UTF-8");
    if (json_scan(text, len, NULL, NULL, &found, ret_error) < 0) {
        ret_error->characters = count_characters(text, ret_error->offset);
        return NULL;
    }
    *ret_nul = found.nul;
    if (found.repair || found.exact)
        return build_carefully(text, len, &found, ret_error);
    return build(text, text, len, NULL, 0, ret_error);
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

    if (!cJSON_IsObject(object))
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
