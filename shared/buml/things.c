/* Things: constants and collections (reader.h). */
#include <math.h>
#include <string.h>

#include "shared/base/mem.h"
#include "shared/buml/reader.h"

#define VALUE_DEPTH_MAX 100

struct thing *thing_new(struct reader *r, enum thing_kind kind, const struct node *n)
{
    struct thing *t = arena_alloc(&r->arena, sizeof(*t));

    if (!t) {
        buml_nomem(r);
        return NULL;
    }
    t->kind = kind;
    t->node = n;
    return t;
}

struct thing *thing_text(struct reader *r, const struct node *n, const char *s, size_t len)
{
    struct thing *t;

    if (buml_charge(r, len) < 0)
        return NULL;
    t = thing_new(r, THING_TEXT, n);
    if (!t)
        return NULL;
    t->text = arena_text(&r->arena, s, len);
    t->text_len = len;
    if (!t->text) {
        buml_nomem(r);
        return NULL;
    }
    return t;
}

static int grow(struct reader *r, struct thing *list)
{
    size_t cap = list->cap ? list->cap * 2 : 4;
    struct thing **items, **keys;

    if (list->len < list->cap)
        return 0;
    if (buml_charge(r, cap * sizeof(*items)) < 0)
        return -1;
    items = arena_alloc(&r->arena, cap * sizeof(struct thing *));
    keys = arena_alloc(&r->arena, cap * sizeof(struct thing *));
    if (!items || !keys)
        return buml_nomem(r);
    if (list->len) {
        memcpy(items, list->items, list->len * sizeof(struct thing *));
        memcpy(keys, list->keys, list->len * sizeof(struct thing *));
    }
    list->items = items;
    list->keys = keys;
    list->cap = cap;
    return 0;
}

int thing_add(struct reader *r, struct thing *list, struct thing *key, struct thing *item)
{
    if (grow(r, list) < 0)
        return -1;
    list->keys[list->len] = key;
    list->items[list->len++] = item;
    return 0;
}

static size_t find_key(const struct thing *t, const char *key)
{
    size_t i = t->len;

    while (i-- > 0)
        if (t->keys[i] && t->keys[i]->kind == THING_TEXT && strcmp(t->keys[i]->text, key) == 0)
            return i;
    return t->len;
}

struct thing *thing_get(const struct thing *t, const char *key)
{
    size_t i = find_key(t, key);

    return i < t->len ? t->items[i] : NULL;
}

int thing_put(struct reader *r, struct thing *t, const char *key, struct thing *item)
{
    size_t i = find_key(t, key);
    struct thing *name;

    r->steps += t->len / 64; /* looking costs */
    if (i < t->len) {
        t->items[i] = item;
        return 0;
    }
    name = thing_text(r, item->node, key, strlen(key));
    return name ? thing_add(r, t, name, item) : -1;
}

const char *thing_title(const struct thing *t)
{
    static const char *const titles[] = {
        [THING_UNKNOWN] = "something that only running the file would tell",
        [THING_NONE] = "None",
        [THING_BOOL] = "a truth value",
        [THING_INT] = "a whole number",
        [THING_FLOAT] = "a number",
        [THING_TEXT] = "a text",
        [THING_SEQ] = "a list",
        [THING_DICT] = "a dict",
        [THING_MODULE] = "a module",
        [THING_CLASS] = "a class",
        [THING_MEMBER] = "a member of an enumeration",
        [THING_FUNCTION] = "a function",
        [THING_METHOD] = "a method",
        [THING_AGENT] = "an agent",
        [THING_INTENT] = "an intent",
        [THING_STATE] = "a state",
        [THING_LLM] = "an LLM",
        [THING_RAG] = "a RAG store",
        [THING_OBJECT] = "an object",
    };

    if (t->kind == THING_OBJECT)
        return t->callee ? t->callee->name : t->name ? t->name : titles[t->kind];
    return titles[t->kind];
}

bool thing_is_constant(const struct thing *t)
{
    return t->kind >= THING_NONE && t->kind <= THING_DICT;
}

bool thing_truth(const struct thing *t)
{
    switch (t->kind) {
    case THING_NONE:
        return false;
    case THING_BOOL:
        return t->truth;
    case THING_INT:
    case THING_FLOAT:
        return t->number != 0;
    case THING_TEXT:
        return t->text_len > 0;
    case THING_SEQ:
    case THING_DICT:
        return t->len > 0;
    default:
        return true;
    }
}

/* ---- as JSON ------------------------------------------------------------------------------------------------------
 */

static int to_value(struct reader *r, const struct thing *t, const char *what, unsigned depth, struct value *ret);

static int no_value(struct reader *r, const struct thing *t, const char *what)
{
    buml_warn(r, t->node, "%s: %s cannot be kept in a diagram and is left out", what, thing_title(t));
    return 0;
}

static int number_value(struct reader *r, const struct thing *t, const char *what, struct value *ret)
{
    if (!isfinite(t->number)) {
        buml_warn(r, t->node, "%s: a number that is not finite is left out", what);
        return 0;
    }
    if (t->big && t->name && buml_charge(r, strlen(t->name) + 1) < 0)
        return -1;
    *ret = (struct value){ .kind = VALUE_DOUBLE, .number = t->number };
    if (t->kind == THING_INT && !t->big)
        *ret = (struct value){ .kind = VALUE_INT, .integer = t->integer };
    else if (t->kind == THING_INT && t->name)
        *ret = (struct value){ .kind = VALUE_INT,
                               .integer = t->number < 0 ? INT64_MIN : INT64_MAX,
                               .string = mem_strdup(t->name) };
    return ret->kind == VALUE_INT && t->big && !ret->string ? buml_nomem(r) : 1;
}

static int add_member(struct reader *r, const struct thing *t, size_t i, const char *what, unsigned depth,
                      struct value *ret)
{
    size_t at = ret->len;
    int rc;

    if (t->kind == THING_DICT) {
        if (!t->keys[i] || t->keys[i]->kind != THING_TEXT)
            return no_value(r, t->keys[i] ? t->keys[i] : t, what);
        ret->keys[at] = mem_dup(t->keys[i]->text, t->keys[i]->text_len);
        if (!ret->keys[at])
            return buml_nomem(r);
        if (buml_charge(r, t->keys[i]->text_len) < 0)
            return -1;
    }
    ret->len++;
    rc = to_value(r, t->items[i], what, depth - 1, &ret->items[at]);
    if (rc == 0) {
        ret->len--;
        if (ret->keys) {
            mem_free(ret->keys[at]);
            ret->keys[at] = NULL;
        }
    }
    return rc;
}

static int list_value(struct reader *r, const struct thing *t, const char *what, unsigned depth, struct value *ret)
{
    struct value v = { .kind = t->kind == THING_DICT ? VALUE_OBJECT : VALUE_ARRAY };
    size_t i;
    int rc = 1;

    if (!depth) {
        buml_warn(r, t->node, "%s: a value nested more than %d levels deep is left out", what, VALUE_DEPTH_MAX);
        return 0;
    }
    if (buml_charge(r, t->len * sizeof(struct value)) < 0)
        return -1;
    if (t->len) {
        v.items = mem_zalloc(t->len, sizeof(*v.items));
        v.keys = t->kind == THING_DICT ? mem_zalloc(t->len, sizeof(*v.keys)) : NULL;
        if (!v.items || (t->kind == THING_DICT && !v.keys))
            rc = buml_nomem(r);
    }
    for (i = 0; rc >= 0 && i < t->len; i++)
        rc = add_member(r, t, i, what, depth, &v);
    if (rc < 0) {
        value_release(&v);
        return -1;
    }
    *ret = v;
    return 1;
}

static int to_value(struct reader *r, const struct thing *t, const char *what, unsigned depth, struct value *ret)
{
    *ret = (struct value){ .kind = VALUE_NULL };
    switch (t->kind) {
    case THING_NONE:
        return 1;
    case THING_BOOL:
        *ret = (struct value){ .kind = VALUE_BOOL, .boolean = t->truth };
        return 1;
    case THING_INT:
    case THING_FLOAT:
        return number_value(r, t, what, ret);
    case THING_TEXT:
        if (buml_charge(r, t->text_len + 1) < 0)
            return -1;
        *ret = (struct value){ .kind = VALUE_STRING, .string = mem_dup(t->text, t->text_len) };
        return ret->string ? 1 : buml_nomem(r);
    case THING_SEQ:
    case THING_DICT:
        return list_value(r, t, what, depth, ret);
    default:
        return no_value(r, t, what);
    }
}

int thing_value(struct reader *r, const struct thing *t, const char *what, struct value *ret)
{
    int rc = to_value(r, t, what, VALUE_DEPTH_MAX, ret);

    if (rc < 0)
        *ret = (struct value){ .kind = VALUE_NULL };
    return rc;
}
