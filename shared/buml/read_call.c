/* Calls: which constructor or method is meant, its arguments by position and name (reader.h). */
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "shared/base/mem.h"
#include "shared/base/str.h"
#include "shared/buml/reader.h"
#include "shared/diagram/text.h"

/* ---- arguments by name --------------------------------------------------------------------------------------------
 */

static size_t parameter_index(const struct callee *c, const char *name)
{
    size_t i = 0;

    while (i < c->parameters_len && strcmp(c->parameters[i].name, name) != 0)
        i++;
    return i;
}

struct thing *call_arg(const struct call *c, const char *name)
{
    size_t i = parameter_index(c->callee, name);

    assert(i < c->callee->parameters_len);
    return c->args[i];
}

struct thing *call_self(const struct call *c, enum thing_kind kind, const char *class)
{
    return buml_meant(c->r, c->self, node_child(node_child(c->node, PART_FUNC), PART_VALUE), kind, class);
}

struct thing *object_arg(const struct thing *object, const char *name)
{
    size_t i = parameter_index(object->callee, name);

    assert(i < object->callee->parameters_len);
    return object->args[i];
}

bool thing_is(const struct thing *t, const char *class)
{
    return t && t->kind == THING_OBJECT && t->callee && strcmp(t->callee->name, class) == 0;
}

/* ---- conversions --------------------------------------------------------------------------------------------------
 */

struct slot {
    struct reader *r;
    const struct callee *callee;
    const struct parameter *p;
    const struct thing *t; /* NULL: not given */
    void *to;
};

static int wrong(const struct slot *s, const char *wanted)
{
    return buml_warn(s->r, s->t->node, "%s: %s is %s, not %s; it is left out", s->callee->name, s->p->name,
                     thing_title(s->t), wanted);
}

static int set_text(const struct slot *s, const char *text)
{
    char **to = s->to, *copy = text ? mem_strdup(text) : NULL;

    if (text && (!copy || buml_charge(s->r, strlen(text) + 1) < 0)) {
        mem_free(copy);
        return copy ? -1 : buml_nomem(s->r);
    }
    mem_free(*to);
    *to = copy;
    return 0;
}

static char *cleaned(const struct slot *s, const char *text)
{
    switch (s->p->as) {
    case ARG_CLEAN:
    case ARG_CTEXT:
        return text_clean(text);
    case ARG_TRIM:
        return text_trim_clean(text);
    default:
        return mem_strdup(text);
    }
}

/* A text, or what stands for one: an LLM or RAG store for its name, a number for its digits. NULL: none. */
static const char *text_of(const struct slot *s)
{
    const struct thing *t = s->t;
    const struct model *m = s->r->m;

    if (t->kind == THING_TEXT)
        return t->text;
    if (t->kind == THING_LLM)
        return m->llms[t->index].name;
    if (t->kind == THING_RAG)
        return m->rags[t->index].name;
    if (t->kind == THING_INT && t->name)
        return t->name;
    return NULL;
}

static int fill_text(const struct slot *s)
{
    const char *text = s->t && s->t->kind != THING_NONE ? text_of(s) : NULL;
    bool keeps = s->p->as == ARG_KEEP || s->p->as == ARG_CTEXT;
    char *clean;
    int rc;

    if (s->t && s->t->kind != THING_NONE && !text)
        wrong(s, "a text");
    if (!text)
        return set_text(s, s->p->text);
    if (s->t->replaced)
        buml_warn(s->r, s->t->node, "%s: %s holds U+0000 or half a character; U+FFFD stands in its place",
                  s->callee->name, s->p->name);
    clean = cleaned(s, text);
    if (!clean)
        return buml_nomem(s->r);
    rc = set_text(s, *clean || keeps ? clean : s->p->text);
    mem_free(clean);
    return rc;
}

static bool number_of(const struct thing *t, double *ret)
{
    if (t->kind == THING_BOOL)
        *ret = t->truth;
    else if (t->kind == THING_INT || t->kind == THING_FLOAT)
        *ret = t->number;
    else
        return t->kind == THING_TEXT && str_to_double(t->text, ret) == 0;
    return isfinite(*ret);
}

static int fill_number(const struct slot *s)
{
    double v = s->p->number;
    int64_t whole;

    if (s->t && s->t->kind != THING_NONE && !number_of(s->t, &v)) {
        wrong(s, "a number");
        v = s->p->number;
    }
    if (s->p->as == ARG_FLOAT) {
        *(double *)s->to = v;
        return 0;
    }
    if (s->t && s->t->kind == THING_INT && !s->t->big)
        whole = s->t->integer;
    else
        whole = v >= 0x1p63 ? INT64_MAX : v < -0x1p63 ? INT64_MIN : (int64_t)v;
    if (s->t && !(s->t->kind == THING_INT && !s->t->big) && (whole == INT64_MAX || whole == INT64_MIN))
        buml_warn(s->r, s->t->node, "%s: %s is beyond 64 bits; %" PRId64 " is taken, which counts as far",
                  s->callee->name, s->p->name, whole);
    *(int64_t *)s->to = whole;
    return 0;
}

static int fill_truth(const struct slot *s)
{
    if (s->t && !thing_is_constant(s->t))
        wrong(s, "True or False");
    *(bool *)s->to =
        s->t && s->t->kind != THING_NONE && thing_is_constant(s->t) ? thing_truth(s->t) : s->p->number != 0;
    return 0;
}

static int fill(struct reader *r, const struct callee *callee, struct thing *const *args, void *base)
{
    size_t i;
    int rc = 0;

    for (i = 0; rc == 0 && i < callee->parameters_len; i++) {
        const struct parameter *p = &callee->parameters[i];
        struct slot s = { r, callee, p, args[i], (char *)base + p->at };

        switch (p->as) {
        case ARG_THING:
            break;
        case ARG_PASS:
            if (s.t && s.t->kind != THING_NONE && thing_truth(s.t))
                buml_warn(r, s.t->node, "%s: %s has no place in a diagram and is left out", callee->name, p->name);
            break;
        case ARG_TRUTH:
            rc = fill_truth(&s);
            break;
        case ARG_INT:
        case ARG_FLOAT:
            rc = fill_number(&s);
            break;
        default:
            rc = fill_text(&s);
            break;
        }
    }
    return rc;
}

int call_fill(const struct call *c, void *base)
{
    return fill(c->r, c->callee, c->args, base);
}

int object_fill(struct reader *r, const struct thing *object, void *base)
{
    return fill(r, object->callee, object->args, base);
}

/* ---- arguments of a call ------------------------------------------------------------------------------------------
 */

struct given { /* what stands between the brackets */
    struct thing *by_place[ARGS_MAX];
    size_t len;
    struct thing *by_name; /* THING_DICT */
};

static int add_place(struct reader *r, struct given *g, const struct node *n, struct thing *t)
{
    if (g->len == ARGS_MAX)
        return buml_warn(r, n, "a call with more than %d arguments: the others are left out", ARGS_MAX);
    g->by_place[g->len++] = t;
    return 0;
}

/* *items */
static int spread(struct reader *r, struct given *g, const struct node *n)
{
    struct thing *t = buml_eval(r, node_child(n, PART_VALUE));
    size_t i;

    if (!t)
        return -1;
    if (t->kind != THING_SEQ)
        return buml_warn(r, n, "*arguments: %s is not known here", thing_title(t));
    for (i = 0; i < t->len && g->len < ARGS_MAX; i++)
        g->by_place[g->len++] = t->items[i];
    return 0;
}

static int add_named(struct reader *r, struct given *g, const struct node *keyword)
{
    struct thing *t = buml_eval(r, node_child(keyword, PART_VALUE));
    size_t i;

    if (!t)
        return -1;
    if (keyword->name)
        return thing_put(r, g->by_name, keyword->name, t);
    if (t->kind != THING_DICT)
        return buml_warn(r, keyword, "**arguments: %s is not known here", thing_title(t));
    for (i = 0; i < t->len; i++)
        if (t->keys[i] && t->keys[i]->kind == THING_TEXT && thing_put(r, g->by_name, t->keys[i]->text, t->items[i]) < 0)
            return -1;
    return 0;
}

static int read_given(struct reader *r, const struct node *call, struct given *ret)
{
    const struct node_list *args = node_list(call, PART_ARGS), *keywords = node_list(call, PART_KEYWORDS);
    size_t i;

    *ret = (struct given){ .by_name = thing_new(r, THING_DICT, call) };
    if (!ret->by_name)
        return -1;
    for (i = 0; i < args->len; i++) {
        struct thing *t;

        if (args->items[i]->kind == NODE_STARRED) {
            if (spread(r, ret, args->items[i]) < 0)
                return -1;
            continue;
        }
        t = buml_eval(r, args->items[i]);
        if (!t || add_place(r, ret, args->items[i], t) < 0)
            return -1;
    }
    for (i = 0; i < keywords->len; i++)
        if (add_named(r, ret, keywords->items[i]) < 0)
            return -1;
    return 0;
}

static void bind(struct call *c, const struct given *g)
{
    bool cares = c->callee->run != do_ignore && c->callee->run != do_nothing;
    size_t i, at;

    for (i = 0; i < g->len; i++)
        if (i < c->callee->parameters_len)
            c->args[i] = g->by_place[i];
        else if (cares)
            buml_warn(c->r, c->node, "%s takes at most %zu arguments; the others are left out", c->callee->name,
                      c->callee->parameters_len);
    for (i = 0; i < g->by_name->len; i++) {
        const char *name = g->by_name->keys[i]->text;

        at = parameter_index(c->callee, name);
        if (at == c->callee->parameters_len && !cares)
            continue;
        if (at == c->callee->parameters_len)
            buml_warn(c->r, c->node, "%s has no argument \"%s\"; it is left out", c->callee->name, SHOWN(name));
        else
            c->args[at] = g->by_name->items[i];
    }
}

struct thing *call_object(struct call *c)
{
    struct thing *t = thing_new(c->r, THING_OBJECT, c->node);

    if (!t)
        return NULL;
    t->callee = c->callee;
    t->args = arena_alloc(&c->r->arena, sizeof(c->args));
    if (!t->args) {
        buml_nomem(c->r);
        return NULL;
    }
    memcpy(t->args, c->args, sizeof(c->args));
    return t;
}

static struct thing *run(struct reader *r, const struct callee *callee, const struct node *n, struct thing *self,
                         const struct given *g)
{
    struct call c = { .r = r, .callee = callee, .node = n, .self = self };

    bind(&c, g);
    return callee->run ? callee->run(&c) : call_object(&c);
}

/* ---- what is called -----------------------------------------------------------------------------------------------
 */

static struct thing *builtin(struct reader *r, const struct node *n, const char *name, const struct given *g)
{
    static const struct {
        const char *name;
        enum thing_kind kind;
    } rows[] = { { "set", THING_SEQ }, { "list", THING_SEQ }, { "tuple", THING_SEQ }, { "dict", THING_DICT } };
    struct thing *t;
    size_t i, k;

    for (i = 0; i < ARRAY_LEN(rows) && strcmp(rows[i].name, name) != 0; i++)
        ;
    if (i == ARRAY_LEN(rows))
        return thing_new(r, THING_UNKNOWN, n);
    if (g->len && g->by_place[0]->kind != rows[i].kind)
        return thing_new(r, THING_UNKNOWN, n);
    t = thing_new(r, rows[i].kind, n);
    for (k = 0; t && g->len && k < g->by_place[0]->len; k++)
        if (thing_add(r, t, g->by_place[0]->keys[k], g->by_place[0]->items[k]) < 0)
            return NULL;
    for (k = 0; t && rows[i].kind == THING_DICT && k < g->by_name->len; k++)
        if (thing_put(r, t, g->by_name->keys[k]->text, g->by_name->items[k]) < 0)
            return NULL;
    return t;
}

static struct thing *call_class(struct reader *r, const struct node *n, const char *name, struct given *g)
{
    const struct callee *callee = buml_constructor(name);

    if (callee)
        return run(r, callee, n, NULL, g);
    if (buml_gui_class(name))
        return buml_gui_object(r, n, name, g->by_place, g->len, g->by_name);
    return builtin(r, n, name, g);
}

static struct thing *call_method(struct reader *r, const struct node *n, struct thing *method, struct given *g)
{
    const struct callee *callee = buml_method(method->name);

    if (callee)
        return run(r, callee, n, method->self, g);
    return thing_new(r, THING_UNKNOWN, n);
}

/* Texts that are made of others with a method; only what people do to constants. */
static struct thing *call_text_method(struct reader *r, const struct node *n, const struct thing *method)
{
    const struct thing *text = method->self;
    const char *from;
    size_t len;

    if (strcmp(method->name, "strip") != 0 || node_list(n, PART_ARGS)->len)
        return thing_new(r, THING_UNKNOWN, n);
    from = text_trim_span(text->text, &len);
    return thing_text(r, n, from, len);
}

/* The builder of a GUI is called before the method that names the GUI is. */
static void note_gui(struct reader *r, const struct node *n, const struct thing *callee)
{
    const struct node *id = node_child(n, PART_ARGS);

    if (!callee || callee->kind != THING_METHOD || strcmp(callee->name, "add_gui_model") != 0)
        return;
    if (!id && node_list(n, PART_KEYWORDS)->len)
        id = node_child(node_child(n, PART_KEYWORDS), PART_VALUE);
    r->gui_id = id && id->kind == NODE_CONSTANT && id->literal == LITERAL_TEXT ? id->text : NULL;
}

struct thing *buml_eval_call(struct reader *r, const struct node *n)
{
    const char *assigned = r->assigned;
    struct thing *callee;
    struct given g;

    r->assigned = NULL;
    callee = buml_eval(r, node_child(n, PART_FUNC));
    note_gui(r, n, callee);
    if (!callee || read_given(r, n, &g) < 0)
        return NULL;
    r->assigned = assigned;
    switch (callee->kind) {
    case THING_CLASS:
        return call_class(r, n, callee->name, &g);
    case THING_METHOD:
        if (callee->self->kind == THING_TEXT)
            return call_text_method(r, n, callee);
        return call_method(r, n, callee, &g);
    case THING_FUNCTION:
        return buml_follow(r, callee, n, g.by_place, g.len, g.by_name);
    default:
        return thing_new(r, THING_UNKNOWN, n);
    }
}
