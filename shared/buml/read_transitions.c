/* Transitions: begun by when_...(), ended by go_to() (section 5 of the B-UML contract). A predefined form stands for
 * one condition of its own kind, which the metamodel calls a matcher; items of a builder are its conditions. */
#include <stdio.h>
#include <string.h>

#include "shared/base/mem.h"
#include "shared/buml/reader.h"
#include "shared/diagram/text.h"
#include "shared/python/dedent.h"

/* ---- while the file is followed -----------------------------------------------------------------------------------
 */

struct thing *do_begin(struct call *c)
{
    struct thing *t = call_object(c);

    if (!t)
        return NULL;
    c->self = call_self(c, THING_STATE, NULL);
    t->self = c->self;
    if (c->self->kind != THING_STATE) {
        buml_warn(c->r, c->node, "%s: it is not known which state this is; the transition is left out",
                  c->callee->name);
        t->used = true;
        return t;
    }
    if (strcmp(c->callee->name, "when_condition") == 0) {
        struct thing *condition = call_arg(c, "condition");

        if (condition && thing_add(c->r, t, NULL, condition) < 0)
            return NULL;
    }
    return buml_list_add(c->r, &c->r->builders, t) < 0 ? NULL : t;
}

static bool is_builder(const struct thing *t)
{
    return t->kind == THING_OBJECT && t->callee && t->callee->run == do_begin;
}

struct thing *do_with_condition(struct call *c)
{
    struct thing *condition = call_arg(c, "condition");

    if (!is_builder(c->self) || !condition) {
        buml_warn(c->r, c->node, "with_condition: it is not known %s; the condition is left out",
                  condition ? "which transition this is" : "which condition");
        return part_unknown(c);
    }
    return thing_add(c->r, c->self, NULL, condition) < 0 ? NULL : c->self;
}

/* The state a destination is; MODEL_NONE: unknown. */
static size_t destination(struct call *c, const struct thing *t)
{
    size_t at = MODEL_NONE;

    if (t && t->kind == THING_STATE)
        return t->index;
    if (t && t->kind == THING_TEXT && map_find_name(&c->r->states, t->text, &at) < 0)
        buml_nomem(c->r);
    return at;
}

struct thing *do_go_to(struct call *c)
{
    const struct thing *t = buml_meant(c->r, call_arg(c, "dest"), node_child(c->node, PART_ARGS), THING_STATE, NULL);
    size_t to = destination(c, t);
    struct thing *made;

    if (c->r->err->kind)
        return NULL;
    if (!is_builder(c->self))
        c->self = call_self(c, THING_STATE, NULL);
    if (!is_builder(c->self) && c->self->kind != THING_STATE) {
        buml_warn(c->r, c->node, "go_to: it is not known which state this leaves; the transition is left out");
        return part_unknown(c);
    }
    c->self->used |= is_builder(c->self);
    if (is_builder(c->self) && c->self->self->kind != THING_STATE)
        return part_unknown(c); /* said when it was begun */
    if (to == MODEL_NONE) {
        buml_warn(c->r, c->node, "go_to: the destination is %s, not a state; the transition is left out",
                  t ? thing_title(t) : "missing");
        return part_unknown(c);
    }
    made = thing_new(c->r, THING_NONE, c->node);
    if (!made)
        return NULL;
    made->self = c->self;
    made->index = to;
    return buml_list_add(c->r, &c->r->transitions, made) < 0 ? NULL : made;
}

/* ---- afterwards ---------------------------------------------------------------------------------------------------
 */

struct making {
    struct reader *r;
    const struct thing *made, *builder; /* builder NULL: state.go_to() */
    struct state *from;
    struct transition *t;
};

enum { KEEP = 1, DROP = 0 }; /* or -1 */

static int drop(const struct making *k, const char *why)
{
    buml_warn(k->r, k->made->node, "state \"%s\": a transition is left out: %s", SHOWN(k->from->name), why);
    return DROP;
}

static int keep_text(const struct making *k, const char *text, char **slot)
{
    mem_free(*slot);
    *slot = text_trim_clean(text);
    if (!*slot)
        return buml_nomem(k->r);
    return buml_charge(k->r, strlen(*slot) + 1);
}

static bool leaves_on(const struct state *s, size_t intent)
{
    size_t i;

    for (i = 0; i + 1 < s->transitions_len; i++)
        if (s->transitions[i].kind == TRANSITION_INTENT && s->transitions[i].intent == intent)
            return true;
    return false;
}

/* What names the intent: itself, its name, or one that the agent has not. NULL: unknown. */
static const char *intent_name(const struct making *k, const struct thing *t)
{
    if (thing_is(t, "Intent"))
        t = object_arg(t, "name");
    if (t && t->kind == THING_INTENT)
        return k->r->m->intents[t->index].name;
    return t && t->kind == THING_TEXT && !text_is_blank(t->text) ? t->text : NULL;
}

static int read_intent(const struct making *k, const struct thing *matcher)
{
    const struct thing *t =
        buml_meant(k->r, object_arg(matcher, "intent"), node_child(matcher->node, PART_ARGS), THING_INTENT, NULL);
    const char *name = intent_name(k, t);
    size_t at = MODEL_NONE;

    if (!name)
        return drop(k, "its intent is not known");
    if (map_find_name(&k->r->intents, name, &at) < 0)
        return buml_nomem(k->r);
    if (at != MODEL_NONE && leaves_on(k->from, at))
        return drop(k, "the intent leads elsewhere already");
    k->t->kind = TRANSITION_INTENT;
    k->t->intent = at;
    return keep_text(k, name, &k->t->intent_name) < 0 ? -1 : KEEP;
}

static int read_no_intent(const struct making *k, const struct thing *matcher)
{
    (void)matcher;
    k->t->kind = TRANSITION_NO_INTENT;
    return KEEP;
}

static int read_auto(const struct making *k, const struct thing *matcher)
{
    (void)matcher;
    k->t->kind = TRANSITION_AUTO;
    return KEEP;
}

static int operator_of(const struct thing *t, enum compare_op *ret)
{
    int op;

    for (op = 0; t && t->kind == THING_MEMBER && op < COMPARE__MAX; op++)
        if (strcmp(compare_op_name((enum compare_op)op), t->name) == 0) {
            *ret = (enum compare_op)op;
            return 0;
        }
    return t && t->kind == THING_TEXT ? compare_op_parse(t->text, ret) : -1;
}

/* operator.contains and the like: kept by name, though nothing is made of it. */
static int keep_operator(const struct making *k, const struct thing *t)
{
    if (!t || t->kind != THING_MEMBER || !t->text || strcmp(t->text, "operator") != 0 || !t->name)
        return -1;
    mem_free(k->t->foreign_op);
    k->t->foreign_op = mem_strdup(t->name);
    if (!k->t->foreign_op)
        return buml_nomem(k->r);
    return buml_warn(k->r, k->made->node, "state \"%s\": diagrams have no comparison by operator.%s",
                     SHOWN(k->from->name), SHOWN(t->name));
}

static int read_comparison(const struct making *k, const struct thing *matcher)
{
    const struct thing *name = object_arg(matcher, "var_name"), *target = object_arg(matcher, "target");

    if (!name || name->kind != THING_TEXT || !name->text_len)
        return drop(k, "the variable it compares has no name");
    if (operator_of(object_arg(matcher, "operation"), &k->t->op) < 0 &&
        keep_operator(k, object_arg(matcher, "operation")) < 0)
        return k->r->err->kind ? -1 : drop(k, "its comparison has an unknown operator");
    k->t->kind = TRANSITION_VARIABLE;
    mem_free(k->t->variable);
    k->t->variable = mem_strdup(name->text);
    if (!k->t->variable)
        return buml_nomem(k->r);
    if (buml_charge(k->r, name->text_len) < 0)
        return -1;
    if (target && !thing_is_constant(target))
        return drop(k, "what it compares with is not known");
    return target && thing_value(k->r, target, "target", &k->t->target_value) < 0 ? -1 : KEEP;
}

static int add_types(const struct making *k, const char *text)
{
    const char *part, *end;
    int rc = 0;

    for (part = text; part && rc == 0; part = end ? end + 1 : NULL) {
        char *copy, *word;

        end = strchr(part, ',');
        copy = mem_dup(part, end ? (size_t)(end - part) : strlen(part));
        word = copy ? text_trim(copy) : NULL;
        if (!word || (*word && str_list_add(&k->t->file_types, file_media_type(word)) < 0))
            rc = buml_nomem(k->r);
        else
            rc = buml_charge(k->r, strlen(word) + 4 * sizeof(char *));
        mem_free(copy);
        mem_free(word);
    }
    return rc;
}

static int read_file(const struct making *k, const struct thing *matcher)
{
    const struct thing *t = object_arg(matcher, "allowed_types");
    size_t i;
    int rc = 0;

    k->t->kind = TRANSITION_FILE;
    if (!t || t->kind == THING_NONE)
        return KEEP;
    if (t->kind == THING_TEXT)
        return add_types(k, t->text) < 0 ? -1 : KEEP;
    if (t->kind != THING_SEQ)
        return drop(k, "its file types are not known");
    for (i = 0; rc == 0 && i < t->len; i++)
        if (t->items[i]->kind == THING_TEXT)
            rc = add_types(k, t->items[i]->text);
        else
            buml_warn(k->r, k->made->node, "when_file_received: a file type is %s; it is left out",
                      thing_title(t->items[i]));
    return rc < 0 ? -1 : KEEP;
}

static int read_id(const struct making *k, const struct thing *t, char **slot)
{
    if (!t || t->kind == THING_NONE || (t->kind == THING_TEXT && text_is_blank(t->text)))
        return 0;
    if (t->kind != THING_TEXT)
        return buml_warn(k->r, k->made->node, "the id of a GUI is %s, not a text; any GUI is taken", thing_title(t));
    return keep_text(k, t->text, slot);
}

static int read_form(const struct making *k, const struct thing *matcher)
{
    k->t->kind = TRANSITION_FORM;
    return read_id(k, object_arg(matcher, "form_id"), &k->t->form_id) < 0 ? -1 : KEEP;
}

static const struct matcher {
    const char *method, *class;
    enum event_kind event; /* what it waits for, when it stands beside other conditions */
    int (*read)(const struct making *, const struct thing *);
} matchers[] = {
    { "when_intent_matched", "IntentMatcher", EVENT_RECEIVE_TEXT, read_intent },
    { "when_no_intent_matched", NULL, EVENT_RECEIVE_TEXT, read_no_intent },
    { "when_variable_matches_operation", "VariableOperationMatcher", EVENT_NONE, read_comparison },
    { "when_file_received", "FileTypeMatcher", EVENT_RECEIVE_FILE, read_file },
    { "when_form_submitted", "FormSubmitMatcher", EVENT_GUI, read_form },
    { NULL, "Auto", EVENT_NONE, read_auto },
};

/* Of a builder's method or of a condition; NULL: none. */
static const struct matcher *matcher_of(const struct thing *t)
{
    size_t i;

    for (i = 0; i < ARRAY_LEN(matchers); i++)
        if ((matchers[i].method && thing_is(t, matchers[i].method)) ||
            (matchers[i].class && thing_is(t, matchers[i].class)))
            return &matchers[i];
    return NULL;
}

/* ---- conditions of one's own --------------------------------------------------------------------------------------
 */

/* Its program text; NULL without an error: it has none, said so. */
static char *condition_source(const struct making *k, const struct thing *t)
{
    const struct thing *name = NULL, *callable = t, *source = NULL;

    if (thing_is(t, "Condition")) {
        name = object_arg(t, "name");
        callable = object_arg(t, "callable");
        source = object_arg(t, "source");
    }
    if (callable && callable->kind == THING_FUNCTION)
        return buml_source_of(k->r, callable->node, name && name->kind == THING_TEXT ? name->text : NULL);
    if (callable && callable->kind == THING_TEXT && !source)
        source = callable;
    if (source && source->kind == THING_TEXT && !text_is_blank(source->text)) {
        char *text = python_dedent(source->text);

        if (!text)
            buml_nomem(k->r);
        return text;
    }
    buml_warn(k->r, t->node ? t->node : k->made->node,
              "a condition of state \"%s\" is %s without a function; it is left out", SHOWN(k->from->name),
              thing_title(t));
    return NULL;
}

/* The name of a condition with source= may be that of its place among all, see label_conditions(). */
static int add_condition(const struct making *k, const struct thing *t)
{
    const struct thing *name = thing_is(t, "Condition") ? object_arg(t, "name") : NULL;
    char *source = condition_source(k, t);
    struct condition *made;

    if (!source)
        return k->r->err->kind ? -1 : 0;
    made = &k->t->conditions[k->t->conditions_len++];
    made->source = source;
    if (name && name->kind == THING_TEXT && object_arg(t, "source") && !(made->label = mem_strdup(name->text)))
        return buml_nomem(k->r);
    return buml_charge(k->r, strlen(source) + sizeof(struct condition));
}

static int add_conditions(const struct making *k)
{
    const struct thing *b = k->builder;
    size_t i;

    if (!b || !b->len)
        return 0;
    if (buml_charge(k->r, b->len * sizeof(*k->t->conditions)) < 0)
        return -1;
    k->t->conditions = mem_zalloc(b->len, sizeof(*k->t->conditions));
    if (!k->t->conditions)
        return buml_nomem(k->r);
    for (i = 0; i < b->len; i++)
        if (!matcher_of(b->items[i]) && add_condition(k, b->items[i]) < 0)
            return -1;
    return 0;
}

/* ---- events -------------------------------------------------------------------------------------------------------
 */

static int read_event(const struct making *k, const struct thing *t)
{
    const char *name = t && t->kind == THING_CLASS ? t->name : t && t->callee ? t->callee->name : NULL;
    char nothing[sizeof(void *)];
    int event;

    if (!t)
        return drop(k, "its event is missing");
    if (t->kind == THING_NONE)
        return KEEP;
    for (event = EVENT_NONE + 1; name && event < EVENT__MAX; event++)
        if (strcmp(event_class((enum event_kind)event), name) == 0)
            break;
    if (!name || event == EVENT__MAX)
        return drop(k, "its event is not known");
    k->t->event = (enum event_kind)event;
    if (t->kind != THING_OBJECT)
        return KEEP;
    if (event == EVENT_GUI)
        return read_id(k, object_arg(t, "message_id"), &k->t->gui_id) < 0 ? -1 : KEEP;
    return object_fill(k->r, t, nothing) < 0 ? -1 : KEEP; /* says which arguments are left out */
}

/* A matcher beside conditions: what waits for the event stays, what it asks of it does not. */
static int give_up_matcher(const struct making *k, const struct matcher *m, const struct thing *t)
{
    const struct thing *types = m->read == read_file ? object_arg(t, "allowed_types") : NULL;

    if (k->t->event == EVENT_NONE)
        k->t->event = m->event;
    if (m->read == read_form && read_id(k, object_arg(t, "form_id"), &k->t->gui_id) < 0)
        return -1;
    if (m->read == read_auto || (m->read == read_file && (!types || types->kind == THING_NONE)))
        return KEEP;
    buml_warn(
        k->r, k->made->node,
        "state \"%s\": %s beside other conditions cannot be kept; the transition has its event and those conditions",
        SHOWN(k->from->name), t->callee->name);
    return KEEP;
}

static int read_custom(const struct making *k)
{
    const struct thing *b = k->builder;
    const struct matcher *m = matcher_of(b);
    size_t i;
    int rc = KEEP;

    k->t->kind = TRANSITION_CUSTOM;
    if (thing_is(b, "when_event"))
        rc = read_event(k, object_arg(b, "event"));
    if (rc == KEEP && m)
        rc = give_up_matcher(k, m, b);
    for (i = 0; rc == KEEP && i < b->len; i++) {
        m = matcher_of(b->items[i]);
        if (m)
            rc = give_up_matcher(k, m, b->items[i]);
    }
    if (rc != KEEP)
        return rc;
    if (add_conditions(k) < 0)
        return -1;
    if (k->t->event == EVENT_NONE && !k->t->conditions_len) {
        if (b->len)
            return drop(k, "none of its conditions could be imported");
        if (thing_is(b, "when_condition"))
            return drop(k, "its condition is missing");
        k->t->kind = TRANSITION_AUTO;
    }
    return KEEP;
}

static int read_one(const struct making *k)
{
    const struct thing *b = k->builder;
    const struct matcher *m = matcher_of(b);

    if (!b)
        return read_auto(k, NULL);
    if (m && !b->len)
        return m->read(k, b);
    if (!m && b->len == 1 && (m = matcher_of(b->items[0]))) {
        const struct thing *event = thing_is(b, "when_event") ? object_arg(b, "event") : NULL;
        const char *name = event && event->callee ? event->callee->name : NULL;
        const char *own = event_class(m->event);

        if (!event || (name && own && strcmp(name, own) == 0))
            return m->read(k, b->items[0]);
    }
    return read_custom(k);
}

static int read_transition(struct reader *r, const struct thing *made)
{
    bool built = is_builder(made->self);
    const struct thing *source = built ? made->self->self : made->self;
    struct making k = { .r = r, .made = made, .builder = built ? made->self : NULL };
    int rc;

    k.from = &r->m->states[source->index];
    if (buml_charge(r, sizeof(*k.t)) < 0)
        return -1;
    k.t = model_add_transition(k.from);
    if (!k.t)
        return buml_nomem(r);
    k.t->target = made->index;
    k.t->intent = MODEL_NONE;
    rc = read_one(&k);
    if (rc == DROP)
        state_drop_last_transition(k.from);
    return rc < 0 ? -1 : 0;
}

int buml_add_transitions(struct reader *r)
{
    size_t i;

    for (i = 0; i < r->transitions.len; i++)
        if (read_transition(r, r->transitions.items[i]) < 0)
            return -1;
    for (i = 0; i < r->builders.len; i++)
        if (!r->builders.items[i]->used)
            buml_warn(r, r->builders.items[i]->node,
                      "%s: the transition leads nowhere (go_to is missing); it is left out",
                      r->builders.items[i]->callee->name);
    return 0;
}
