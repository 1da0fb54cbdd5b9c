/* Statements and functions (reader.h). */
#include <stdio.h>
#include <string.h>

#include "shared/base/mem.h"
#include "shared/buml/reader.h"
#include "shared/diagram/text.h"

/* ---- assignments --------------------------------------------------------------------------------------------------
 */

static int assign(struct reader *r, const struct node *target, struct thing *t);

static int assign_each(struct reader *r, const struct node *target, struct thing *t)
{
    const struct node_list *elts = node_list(target, PART_ELTS);
    bool fits = t->kind == THING_SEQ && t->len == elts->len;
    struct thing *none = fits ? NULL : thing_new(r, THING_UNKNOWN, target);
    size_t i;

    if (!fits && !none)
        return -1;
    for (i = 0; i < elts->len; i++)
        if (assign(r, elts->items[i], fits ? t->items[i] : none) < 0)
            return -1;
    return 0;
}

static int set_description(struct reader *r, const struct thing *of, const struct thing *t)
{
    struct thing *text = thing_is(t, "Metadata") ? object_arg(t, "description") : NULL;
    char **slot = of->kind == THING_STATE ? &r->m->states[of->index].description : &r->m->description;
    struct {
        char *text;
    } got = { NULL };

    if (!thing_is(t, "Metadata"))
        return buml_warn(r, t->node, "metadata: %s is no Metadata(...); it is left out", thing_title(t));
    if (!text)
        return 0;
    if (object_fill(r, t, &got) < 0) {
        mem_free(got.text);
        return -1;
    }
    mem_free(*slot);
    *slot = got.text;
    return 0;
}

static int assign_attribute(struct reader *r, const struct node *target, struct thing *t)
{
    const struct node *base = node_child(target, PART_VALUE);
    struct thing *of = buml_eval(r, base);
    char key[256];

    if (!of)
        return -1;
    if ((of->kind == THING_STATE || of->kind == THING_AGENT) && strcmp(target->name, "metadata") == 0)
        return set_description(r, of, t);
    if (of->kind == THING_OBJECT)
        return thing_put(r, of, target->name, t);
    if (of->kind == THING_UNKNOWN && base->kind == NODE_NAME) {
        if (snprintf(key, sizeof(key), "%s.%s", base->name, target->name) < (int)sizeof(key))
            return buml_scope_bind(r, key, t);
    }
    return buml_warn(r, target, "the attribute \"%s\" of %s has no place in a diagram and is left out",
                     SHOWN(target->name), thing_title(of));
}

static int assign_member(struct reader *r, const struct node *target, struct thing *t)
{
    struct thing *of = buml_eval(r, node_child(target, PART_VALUE)),
                 *key = of ? buml_eval(r, node_child(target, PART_SLICE)) : NULL;

    if (!of || !key)
        return -1;
    if (of->kind == THING_DICT && key->kind == THING_TEXT)
        return thing_put(r, of, key->text, t);
    if (of->kind == THING_UNKNOWN)
        return 0;
    return buml_warn(r, target, "an assignment to a part of %s is not followed", thing_title(of));
}

static int assign(struct reader *r, const struct node *target, struct thing *t)
{
    switch (target->kind) {
    case NODE_NAME:
        return buml_scope_bind(r, target->name, t);
    case NODE_TUPLE:
    case NODE_LIST:
        return assign_each(r, target, t);
    case NODE_ATTRIBUTE:
        return assign_attribute(r, target, t);
    case NODE_SUBSCRIPT:
        return assign_member(r, target, t);
    case NODE_STARRED:
        return assign(r, node_child(target, PART_VALUE), t);
    default:
        return buml_warn(r, target, "an assignment to this is not followed");
    }
}

static struct thing *value_for(struct reader *r, const struct node *target, const struct node *value)
{
    struct thing *t;

    r->assigned = target && target->kind == NODE_NAME ? target->name : NULL;
    t = buml_eval(r, value);
    r->assigned = NULL;
    return t;
}

static int walk_assign(struct reader *r, const struct node *n)
{
    const struct node_list *targets = node_list(n, PART_TARGETS);
    struct thing *t = value_for(r, targets->len ? targets->items[0] : NULL, node_child(n, PART_VALUE));
    size_t i;

    if (!t)
        return -1;
    if (t->kind == THING_UNKNOWN && t->node && t->node->kind == NODE_CALL && !r->scope->outer) {
        struct thing *statement = thing_new(r, THING_UNKNOWN, n);

        if (!statement || buml_list_add(r, &r->unknown, statement) < 0)
            return -1;
    }
    for (i = 0; i < targets->len; i++)
        if (assign(r, targets->items[i], t) < 0)
            return -1;
    return 0;
}

static int walk_annotated(struct reader *r, const struct node *n)
{
    const struct node *target = node_child(n, PART_TARGET), *value = node_child(n, PART_VALUE);
    struct thing *t = value ? value_for(r, target, value) : NULL;

    if (!value)
        return 0;
    return t ? assign(r, target, t) : -1;
}

/* x += value, of what x + value would be known for */
static int walk_augmented(struct reader *r, const struct node *n)
{
    const struct node *target = node_child(n, PART_TARGET);
    struct thing *value = buml_eval(r, node_child(n, PART_VALUE)), *old, *t;
    size_t i;

    if (!value)
        return -1;
    if (target->kind != NODE_NAME || !n->name || strcmp(n->name, "Add") != 0)
        return buml_warn(r, n, "this assignment is not followed");
    old = buml_scope_find(r, target->name);
    if (!old)
        return r->err->kind ? -1 : 0;
    if (old->kind == THING_SEQ && value->kind == THING_SEQ) {
        for (i = 0; i < value->len; i++)
            if (thing_add(r, old, NULL, value->items[i]) < 0)
                return -1;
        return 0;
    }
    t = thing_new(r, THING_UNKNOWN, n);
    if (old->kind == THING_TEXT && value->kind == THING_TEXT) {
        if (buml_charge(r, old->text_len) < 0)
            return -1;
        t = thing_text(r, n, value->text, value->text_len);
        if (t) {
            char *text = arena_alloc(&r->arena, old->text_len + value->text_len + 1);

            if (!text)
                return buml_nomem(r);
            memcpy(text, old->text, old->text_len);
            memcpy(text + old->text_len, value->text, value->text_len);
            t->text = text;
            t->text_len = old->text_len + value->text_len;
            t->replaced = old->replaced || value->replaced;
        }
    }
    return t ? buml_scope_bind(r, target->name, t) : -1;
}

/* ---- imports ------------------------------------------------------------------------------------------------------
 */

static struct thing *imported(struct reader *r, const struct node *n, const char *module, const char *name)
{
    bool known = buml_constructor(name) || buml_gui_class(name);
    bool of_operator = module && strcmp(module, "operator") == 0;
    struct thing *t = thing_new(r, of_operator ? THING_MEMBER : known ? THING_CLASS : THING_UNKNOWN, n);

    if (t) {
        t->name = name;
        t->text = of_operator ? "operator" : NULL;
    }
    return t;
}

static int walk_import_from(struct reader *r, const struct node *n)
{
    const struct node_list *names = node_list(n, PART_NAMES);
    size_t i;

    for (i = 0; i < names->len; i++) {
        const struct node *a = names->items[i];
        const char *as = !a ? NULL : a->alias ? a->alias : a->name;
        struct thing *t;

        if (!as || !a->name || strcmp(as, "*") == 0)
            continue;
        t = imported(r, n, n->name, a->name);
        /* what no table knows is a module as often as not: from besser.BUML.metamodel import state_machine */
        if (t && t->kind == THING_UNKNOWN) {
            t->kind = THING_MODULE;
            t->name = a->name;
        }
        if (!t || buml_scope_bind(r, as, t) < 0)
            return -1;
    }
    return 0;
}

/* import a.b binds a, import a.b as c binds c */
static int import_one(struct reader *r, const struct node *n, const struct node *a)
{
    struct thing *t = thing_new(r, THING_MODULE, n);
    const char *bound = a->alias ? a->alias : arena_text(&r->arena, a->name, strcspn(a->name, "."));

    if (!t || !bound)
        return t ? buml_nomem(r) : -1;
    t->name = a->alias ? a->name : bound;
    return buml_scope_bind(r, bound, t);
}

static int walk_import(struct reader *r, const struct node *n)
{
    const struct node_list *names = node_list(n, PART_NAMES);
    size_t i;

    for (i = 0; i < names->len; i++)
        if (names->items[i] && names->items[i]->name && import_one(r, n, names->items[i]) < 0)
            return -1;
    return 0;
}

static bool used_early(const struct reader *r, const struct node *function)
{
    size_t at = map_get(&r->early, function->name, strlen(function->name));

    return at != MAP_NONE && node_list(r->tree.module, PART_BODY)->items[at] == function;
}

static int walk_function(struct reader *r, const struct node *n)
{
    struct thing *t = thing_new(r, THING_FUNCTION, n);

    if (!t)
        return -1;
    t->name = n->name;
    t->used = used_early(r, n);
    return buml_scope_bind(r, n->name, t) < 0 ? -1 : buml_list_add(r, &r->functions, t);
}

static int walk_return(struct reader *r, const struct node *n)
{
    const struct node *value = node_child(n, PART_VALUE);
    struct thing *t = value ? buml_eval(r, value) : NULL;

    if (value && !t)
        return -1;
    if (t && (!r->scope->returned || r->scope->returned->kind == THING_NONE))
        r->scope->returned = t;
    return 0;
}

/* ---- statements ---------------------------------------------------------------------------------------------------
 */

static int walk_expression(struct reader *r, const struct node *n)
{
    const struct node *value = node_child(n, PART_VALUE);
    struct thing *t = buml_eval(r, value), *statement;

    if (!t)
        return -1;
    if (t->kind != THING_UNKNOWN || value->kind == NODE_CONSTANT || r->scope->outer)
        return 0;
    statement = thing_new(r, THING_UNKNOWN, n);
    return statement ? buml_list_add(r, &r->unknown, statement) : -1;
}

static int walk_for(struct reader *r, const struct node *n)
{
    const struct node *target = node_child(n, PART_TARGET);
    struct thing *over = buml_eval(r, node_child(n, PART_ITER)), *item;
    size_t i, times;

    if (!over)
        return -1;
    times = over->kind == THING_SEQ || over->kind == THING_DICT ? over->len : 1;
    for (i = 0; i < times; i++) {
        if (over->kind == THING_SEQ)
            item = over->items[i];
        else
            item = over->kind == THING_DICT ? over->keys[i] : thing_new(r, THING_UNKNOWN, n);
        if (!item || assign(r, target, item) < 0 || buml_walk(r, node_list(n, PART_BODY)) < 0)
            return -1;
    }
    return buml_walk(r, node_list(n, PART_ORELSE));
}

static bool is_block(enum node_part part)
{
    static const enum node_part blocks[] = { PART_BODY, PART_HANDLERS, PART_CASES, PART_ORELSE, PART_FINALBODY };
    size_t i;

    for (i = 0; i < ARRAY_LEN(blocks); i++)
        if (blocks[i] == part)
            return true;
    return false;
}

/* Whatever has statements inside: all of them count, since nothing is decided here. The expressions before them may
 * make something as well. */
static int walk_blocks(struct reader *r, const struct node *n)
{
    size_t i, k;

    for (i = 0; i < n->lists_len; i++)
        for (k = 0; !is_block(n->lists[i].part) && k < n->lists[i].len; k++)
            if (n->lists[i].items[k] && !buml_eval(r, n->lists[i].items[k]))
                return -1;
    for (i = 0; i < n->lists_len; i++)
        if (is_block(n->lists[i].part) && buml_walk(r, &n->lists[i]) < 0)
            return -1;
    return 0;
}

static int walk_pass(struct reader *r, const struct node *n)
{
    (void)r;
    (void)n;
    return 0;
}

static int walk_one(struct reader *r, const struct node *n)
{
    static int (*const by_kind[NODE__KINDS])(struct reader *, const struct node *) = {
        [NODE_EXPR] = walk_expression,
        [NODE_ASSIGN] = walk_assign,
        [NODE_ANN_ASSIGN] = walk_annotated,
        [NODE_AUG_ASSIGN] = walk_augmented,
        [NODE_FUNCTION] = walk_function,
        [NODE_ASYNC_FUNCTION] = walk_function,
        [NODE_FOR] = walk_for,
        [NODE_IMPORT] = walk_import,
        [NODE_IMPORT_FROM] = walk_import_from,
        [NODE_RETURN] = walk_return,
        [NODE_PASS] = walk_pass,
    };

    if (++r->steps > READER_STEPS_MAX)
        return err_set(r->err, ERR_BAD_REQUEST, 0, "Line %d: the file takes more than %d steps to follow", n->line,
                       READER_STEPS_MAX);
    return by_kind[n->kind] ? by_kind[n->kind](r, n) : walk_blocks(r, n);
}

int buml_walk(struct reader *r, const struct node_list *statements)
{
    size_t i;

    for (i = 0; i < statements->len; i++)
        if (statements->items[i] && walk_one(r, statements->items[i]) < 0)
            return -1;
    return 0;
}

static int note_functions(struct reader *r, const struct node_list *body)
{
    size_t i;

    for (i = 0; i < body->len; i++) {
        const struct node *n = body->items[i];

        if ((n->kind == NODE_FUNCTION || n->kind == NODE_ASYNC_FUNCTION) &&
            map_put(&r->defs, n->name, strlen(n->name), i, NULL) < 0)
            return buml_nomem(r);
    }
    return 0;
}

/* What was not understood, when all tools are known: their text may stand in the file as well. */
static int say_unknown(struct reader *r)
{
    size_t i;

    for (i = 0; i < r->unknown.len && !r->f->truncated; i++) {
        const struct node *n = r->unknown.items[i]->node;
        char *text;

        if (buml_source_contains(r, n))
            continue;
        text = buml_source_slice(r, n, n);
        if (!text)
            return buml_nomem(r);
        buml_warn(r, n, "this statement has no place in a diagram and is left out: %.80s", SHOWN(text));
        mem_free(text);
    }
    return 0;
}

int buml_walk_module(struct reader *r, int from, int to)
{
    const struct node_list *body = node_list(r->tree.module, PART_BODY);
    size_t i;

    if (note_functions(r, body) < 0)
        return -1;
    for (i = 0; i < body->len; i++)
        if (body->items[i]->line >= from && body->items[i]->line <= to && walk_one(r, body->items[i]) < 0)
            return -1;
    return buml_walk_unused(r) < 0 ? -1 : say_unknown(r);
}
