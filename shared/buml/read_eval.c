/* Expressions: what each stands for (reader.h). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared/base/buf.h"
#include "shared/base/mem.h"
#include "shared/base/str.h"
#include "shared/buml/reader.h"

static struct thing *unknown(struct reader *r, const struct node *n)
{
    return thing_new(r, THING_UNKNOWN, n);
}

static struct thing *named(struct reader *r, enum thing_kind kind, const struct node *n, const char *name)
{
    struct thing *t = thing_new(r, kind, n);

    if (t)
        t->name = name;
    return t;
}

/* ---- constants ----------------------------------------------------------------------------------------------------
 */

static void set_int(struct thing *t, const char *digits)
{
    char *end;

    t->name = digits;
    errno = 0;
    t->integer = strtoll(digits, &end, 0);
    t->big = errno || *end;
    t->number = t->big ? strtod(digits, NULL) : (double)t->integer;
}

static struct thing *constant(struct reader *r, const struct node *n)
{
    static const enum thing_kind kinds[] = {
        [LITERAL_TEXT] = THING_TEXT,   [LITERAL_BYTES] = THING_UNKNOWN,    [LITERAL_INT] = THING_INT,
        [LITERAL_FLOAT] = THING_FLOAT, [LITERAL_COMPLEX] = THING_UNKNOWN,  [LITERAL_BOOL] = THING_BOOL,
        [LITERAL_NONE] = THING_NONE,   [LITERAL_ELLIPSIS] = THING_UNKNOWN,
    };
    struct thing *t = thing_new(r, kinds[n->literal], n);

    if (!t)
        return NULL;
    t->truth = n->truth;
    if (t->kind == THING_TEXT) {
        t->text = n->text ? n->text : "";
        t->text_len = strlen(t->text);
        t->replaced = n->replaced;
    } else if (t->kind == THING_INT) {
        set_int(t, n->text ? n->text : "0");
    } else if (t->kind == THING_FLOAT) {
        t->number = n->text ? strtod(n->text, NULL) : 0;
    }
    return t;
}

/* ---- collections --------------------------------------------------------------------------------------------------
 */

static struct thing *sequence(struct reader *r, const struct node *n)
{
    const struct node_list *elts = node_list(n, PART_ELTS);
    struct thing *t = thing_new(r, THING_SEQ, n), *item;
    size_t i, k;

    for (i = 0; t && i < elts->len; i++) {
        const struct node *e = elts->items[i];

        if (e->kind != NODE_STARRED) {
            item = buml_eval(r, e);
            if (!item || thing_add(r, t, NULL, item) < 0)
                return NULL;
            continue;
        }
        item = buml_eval(r, node_child(e, PART_VALUE));
        if (!item)
            return NULL;
        if (item->kind != THING_SEQ)
            buml_warn(r, e, "*items: %s is not known here", thing_title(item));
        for (k = 0; item->kind == THING_SEQ && k < item->len; k++)
            if (thing_add(r, t, NULL, item->items[k]) < 0)
                return NULL;
    }
    return t;
}

/* One member; a key again keeps its place and takes the new value. */
static int add_member(struct reader *r, struct thing *dict, struct map *keys, struct thing *key, struct thing *item)
{
    size_t at = dict->len;
    int rc = 1;

    if (key->kind == THING_TEXT)
        rc = map_put(keys, key->text, key->text_len, dict->len, &at);
    if (rc < 0)
        return buml_nomem(r);
    if (rc == 0) {
        dict->items[at] = item;
        return 0;
    }
    return thing_add(r, dict, key, item);
}

static int add_members(struct reader *r, struct thing *dict, struct map *known, const struct node *n)
{
    const struct node_list *keys = node_list(n, PART_KEYS), *values = node_list(n, PART_VALUES);
    size_t i, k;

    for (i = 0; i < values->len && i < keys->len; i++) {
        struct thing *key = keys->items[i] ? buml_eval(r, keys->items[i]) : NULL,
                     *item = buml_eval(r, values->items[i]);

        if (!item || (keys->items[i] && !key))
            return -1;
        if (key) {
            if (add_member(r, dict, known, key, item) < 0)
                return -1;
            continue;
        }
        if (item->kind != THING_DICT)
            buml_warn(r, values->items[i], "**members: %s is not known here", thing_title(item));
        for (k = 0; item->kind == THING_DICT && k < item->len; k++)
            if (item->keys[k] && add_member(r, dict, known, item->keys[k], item->items[k]) < 0)
                return -1;
    }
    return 0;
}

static struct thing *dict(struct reader *r, const struct node *n)
{
    struct thing *t = thing_new(r, THING_DICT, n);
    struct map known;
    int rc;

    if (!t)
        return NULL;
    map_init(&known);
    rc = add_members(r, t, &known, n);
    map_release(&known);
    return rc == 0 ? t : NULL;
}

/* ---- sums ---------------------------------------------------------------------------------------------------------
 */

static struct thing *add_numbers(struct reader *r, const struct node *n, const struct thing *a, const struct thing *b)
{
    struct thing *t = thing_new(r, a->kind == THING_INT && b->kind == THING_INT ? THING_INT : THING_FLOAT, n);

    if (!t)
        return NULL;
    t->number = a->number + b->number;
    t->big = t->kind == THING_INT && (a->big || b->big || __builtin_add_overflow(a->integer, b->integer, &t->integer));
    return t;
}

static struct thing *add_lists(struct reader *r, const struct node *n, const struct thing *a, const struct thing *b)
{
    struct thing *t = thing_new(r, THING_SEQ, n);
    size_t i;

    for (i = 0; t && i < a->len + b->len; i++)
        if (thing_add(r, t, NULL, i < a->len ? a->items[i] : b->items[i - a->len]) < 0)
            return NULL;
    return t;
}

static struct thing *add_two(struct reader *r, const struct node *n, struct thing *a, struct thing *b)
{
    bool numbers = (a->kind == THING_INT || a->kind == THING_FLOAT) && (b->kind == THING_INT || b->kind == THING_FLOAT);

    if (numbers)
        return add_numbers(r, n, a, b);
    if (a->kind == THING_SEQ && b->kind == THING_SEQ)
        return add_lists(r, n, a, b);
    return unknown(r, n);
}

/* a + b + c of texts is put together once, not once for each sign. */
static struct thing *join(struct reader *r, const struct node *n, struct thing *const *terms, size_t len)
{
    struct thing *t = NULL;
    struct buf text;
    size_t i;
    bool replaced = false;

    buf_init(&text, BUML_BYTES_MAX);
    for (i = 0; i < len; i++) {
        buf_add(&text, terms[i]->text, terms[i]->text_len);
        replaced |= terms[i]->replaced;
    }
    if (buf_failed(&text))
        buml_nomem(r);
    else
        t = thing_text(r, n, text.data ? text.data : "", text.len);
    if (t)
        t->replaced = replaced;
    buf_release(&text);
    return t;
}

static bool is_sum(const struct node *n)
{
    return n->kind == NODE_BIN_OP && n->name && strcmp(n->name, "Add") == 0;
}

static struct thing *sum(struct reader *r, const struct node *n)
{
    const struct node *at;
    struct thing **terms, *t;
    size_t len = 1, i, texts = 0;

    for (at = n; is_sum(at); at = node_child(at, PART_LEFT))
        len++;
    terms = arena_alloc(&r->arena, len * sizeof(struct thing *));
    if (!terms) {
        buml_nomem(r);
        return NULL;
    }
    for (at = n, i = len - 1; is_sum(at); at = node_child(at, PART_LEFT), i--)
        if (!(terms[i] = buml_eval(r, node_child(at, PART_RIGHT))))
            return NULL;
    if (!(terms[0] = buml_eval(r, at)))
        return NULL;
    for (i = 0; i < len; i++)
        texts += terms[i]->kind == THING_TEXT;
    if (texts == len)
        return join(r, n, terms, len);
    for (t = terms[0], i = 1; t && i < len; i++)
        t = add_two(r, n, t, terms[i]);
    return t;
}

static struct thing *negated(struct reader *r, struct thing *t)
{
    size_t len = t->name ? strlen(t->name) : 0;
    char *digits;

    t->number = -t->number;
    if (!t->big && !__builtin_sub_overflow((int64_t)0, t->integer, &t->integer))
        return t;
    t->big = true; /* 2^63 has no digits with it: a double says all of it */
    if (!len)
        return t;
    digits = arena_alloc(&r->arena, len + 2);
    if (!digits) {
        buml_nomem(r);
        return NULL;
    }
    digits[0] = '-';
    memcpy(digits + 1, t->name, len + 1);
    t->name = *t->name == '-' ? digits + 2 : digits;
    return t;
}

static struct thing *signed_number(struct reader *r, const struct node *n)
{
    struct thing *of = buml_eval(r, node_child(n, PART_OPERAND)), *t;

    if (!of || !n->name)
        return of ? unknown(r, n) : NULL;
    if (strcmp(n->name, "Not") == 0) {
        t = thing_new(r, thing_is_constant(of) ? THING_BOOL : THING_UNKNOWN, n);
        if (t)
            t->truth = !thing_truth(of);
        return t;
    }
    if ((of->kind != THING_INT && of->kind != THING_FLOAT) ||
        (strcmp(n->name, "USub") != 0 && strcmp(n->name, "UAdd") != 0))
        return unknown(r, n);
    t = thing_new(r, of->kind, n);
    if (!t)
        return NULL;
    t->number = of->number;
    t->integer = of->integer;
    t->big = of->big;
    t->name = of->big ? of->name : NULL;
    return strcmp(n->name, "USub") == 0 ? negated(r, t) : t;
}

/* f'..' whose every part is known. */
static struct thing *formatted(struct reader *r, const struct node *n)
{
    const struct node_list *parts = node_list(n, PART_VALUES);
    struct thing **terms = arena_alloc(&r->arena, (parts->len + 1) * sizeof(struct thing *));
    bool known = true;
    size_t i;

    if (!terms) {
        buml_nomem(r);
        return NULL;
    }
    for (i = 0; i < parts->len; i++) {
        const struct node *p = parts->items[i];
        bool plain = p->kind == NODE_CONSTANT || (p->kind == NODE_FORMATTED && !p->truth && p->lists_len == 1);

        terms[i] = buml_eval(r, p->kind == NODE_FORMATTED ? node_child(p, PART_VALUE) : p);
        if (!terms[i])
            return NULL;
        if (plain && terms[i]->kind == THING_INT && terms[i]->name && !terms[i]->big)
            terms[i] = thing_text(r, p, terms[i]->name, strlen(terms[i]->name));
        if (!terms[i])
            return NULL;
        known &= plain && terms[i]->kind == THING_TEXT;
    }
    return known ? join(r, n, terms, parts->len) : unknown(r, n);
}

/* ---- names --------------------------------------------------------------------------------------------------------
 */

static bool is_builtin(const char *name)
{
    static const char *const names[] = { "set", "list", "tuple", "dict" };
    size_t i;

    for (i = 0; i < ARRAY_LEN(names); i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static struct thing *variable(struct reader *r, const struct node *n)
{
    struct thing *t = buml_scope_find(r, n->name);

    if (t) {
        t->used = true;
        return t;
    }
    if (r->err && r->err->kind)
        return NULL;
    if (strcmp(n->name, "operator") == 0)
        return named(r, THING_MODULE, n, n->name);
    if (buml_constructor(n->name) || buml_gui_class(n->name) || is_builtin(n->name))
        return named(r, THING_CLASS, n, n->name);
    return unknown(r, n);
}

static struct thing *of_module(struct reader *r, const struct node *n, const struct thing *module)
{
    struct thing *t;

    if (strcmp(module->name, "operator") == 0) {
        t = named(r, THING_MEMBER, n, n->name);
        if (t)
            t->text = "operator";
        return t;
    }
    if (buml_constructor(n->name) || buml_gui_class(n->name))
        return named(r, THING_CLASS, n, n->name);
    return named(r, THING_MODULE, n, n->name);
}

static const char *model_name(const struct reader *r, const struct thing *t)
{
    switch (t->kind) {
    case THING_AGENT:
        return r->m->name;
    case THING_INTENT:
        return r->m->intents[t->index].name;
    case THING_STATE:
        return r->m->states[t->index].name;
    case THING_LLM:
        return r->m->llms[t->index].name;
    case THING_RAG:
        return r->m->rags[t->index].name;
    default:
        return NULL;
    }
}

/* self.x = ... of classes: known by the two words. */
static struct thing *dotted(struct reader *r, const struct node *n)
{
    const struct node *base = node_child(n, PART_VALUE);
    char key[256];

    if (base->kind != NODE_NAME || snprintf(key, sizeof(key), "%s.%s", base->name, n->name) >= (int)sizeof(key))
        return NULL;
    return buml_scope_find(r, key);
}

static struct thing *attribute(struct reader *r, const struct node *n)
{
    struct thing *of = buml_eval(r, node_child(n, PART_VALUE)), *t = NULL;
    const char *text;

    if (!of)
        return NULL;
    if (of->kind == THING_MODULE)
        return of_module(r, n, of);
    if (of->kind == THING_CLASS) {
        t = named(r, THING_MEMBER, n, n->name);
        if (t)
            t->text = of->name;
        return t;
    }
    if (of->kind == THING_OBJECT)
        t = thing_get(of, n->name);
    else if (of->kind == THING_UNKNOWN)
        t = dotted(r, n);
    if (t)
        return t;
    if (r->err->kind)
        return NULL;
    text = strcmp(n->name, "name") == 0 ? model_name(r, of) : NULL;
    if (text)
        return thing_text(r, n, text, strlen(text));
    t = named(r, THING_METHOD, n, n->name);
    if (t)
        t->self = of;
    return t;
}

static struct thing *subscript(struct reader *r, const struct node *n)
{
    struct thing *of = buml_eval(r, node_child(n, PART_VALUE)),
                 *key = of ? buml_eval(r, node_child(n, PART_SLICE)) : NULL, *t = NULL;

    if (!of || !key)
        return NULL;
    if (of->kind == THING_DICT && key->kind == THING_TEXT) {
        r->steps += of->len / 64;
        t = thing_get(of, key->text);
    } else if (of->kind == THING_SEQ && key->kind == THING_INT && !key->big) {
        int64_t at = key->integer < 0 ? key->integer + (int64_t)of->len : key->integer;

        t = at >= 0 && at < (int64_t)of->len ? of->items[at] : NULL;
    }
    return t ? t : unknown(r, n);
}

/* ---- all of them --------------------------------------------------------------------------------------------------
 */

static struct thing *lambda(struct reader *r, const struct node *n)
{
    return thing_new(r, THING_FUNCTION, n);
}

/* x := value */
static struct thing *assigned(struct reader *r, const struct node *n)
{
    const struct node *target = node_child(n, PART_TARGET);
    struct thing *t = buml_eval(r, node_child(n, PART_VALUE));

    return t && target->name && buml_scope_bind(r, target->name, t) < 0 ? NULL : t;
}

/* Not followed, but what is in it may make something: a state inside of a condition. */
static struct thing *other(struct reader *r, const struct node *n)
{
    size_t i, k;

    for (i = 0; i < n->lists_len; i++)
        for (k = 0; k < n->lists[i].len; k++)
            if (n->lists[i].items[k] && !buml_eval(r, n->lists[i].items[k]))
                return NULL;
    return unknown(r, n);
}

struct thing *buml_eval(struct reader *r, const struct node *n)
{
    static struct thing *(*const by_kind[NODE__KINDS])(struct reader *, const struct node *) = {
        [NODE_CONSTANT] = constant,   [NODE_NAME] = variable,       [NODE_ATTRIBUTE] = attribute,
        [NODE_CALL] = buml_eval_call, [NODE_LIST] = sequence,       [NODE_TUPLE] = sequence,
        [NODE_SET] = sequence,        [NODE_DICT] = dict,           [NODE_UNARY_OP] = signed_number,
        [NODE_LAMBDA] = lambda,       [NODE_SUBSCRIPT] = subscript, [NODE_JOINED] = formatted,
        [NODE_NAMED] = assigned,
    };

    if (!n)
        return unknown(r, n);
    if (++r->steps > READER_STEPS_MAX) {
        err_set(r->err, ERR_BAD_REQUEST, 0, "Line %d: the file takes more than %d steps to follow", n->line,
                READER_STEPS_MAX);
        return NULL;
    }
    if (is_sum(n))
        return sum(r, n);
    return by_kind[n->kind] ? by_kind[n->kind](r, n) : other(r, n);
}
