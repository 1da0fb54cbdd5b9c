/* States and their bodies (section 3 and 4 of the B-UML contract). */
#include <string.h>

#include "shared/base/mem.h"
#include "shared/buml/reader.h"
#include "shared/diagram/text.h"

static struct thing *unknown(struct call *c)
{
    return thing_new(c->r, THING_UNKNOWN, NULL);
}

static struct thing *state_thing(struct call *c, size_t index)
{
    struct thing *t = thing_new(c->r, THING_STATE, c->node);

    if (t)
        t->index = index;
    return t;
}

/* The name given, else that of the variable. NULL: none, or it is none (said). */
static const char *state_name(struct call *c)
{
    const struct thing *t = call_arg(c, "name");

    if (!t && c->r->assigned)
        return c->r->assigned;
    return text_arg(c, "name");
}

static int add_pending(struct reader *r)
{
    void *array = r->pending;

    if (mem_grow(&array, r->pending_len, &r->pending_cap, sizeof(*r->pending)) < 0)
        return buml_nomem(r);
    r->pending = array;
    r->pending[r->pending_len++] = (struct pending_state){ NULL, NULL };
    return 0;
}

static struct state *add_state(struct call *c, const char *name)
{
    struct state *s;

    if (add_pending(c->r) < 0)
        return NULL;
    s = model_add_state(c->r->m);
    if (!s || !(s->name = mem_strdup(name))) {
        buml_nomem(c->r);
        return NULL;
    }
    s->llm = MODEL_NONE;
    return s;
}

/* The new state; NULL and *ret_thing (NULL: failed) when there is none. */
static struct state *new_state(struct call *c, struct thing **ret_thing)
{
    const char *name = state_name(c);
    const struct thing *initial = call_arg(c, "initial");
    size_t index = MODEL_NONE;
    struct state *s;
    int rc;

    *ret_thing = NULL;
    if (!name || text_is_blank(name)) {
        if (name)
            buml_warn(c->r, c->node, "%s: the name is blank; the statement is left out", c->callee->name);
        *ret_thing = unknown(c);
        return NULL;
    }
    if (buml_charge(c->r, sizeof(*s) + strlen(name)) < 0)
        return NULL;
    rc = map_put_name(&c->r->states, name, c->r->m->states_len, &index);
    if (rc < 0) {
        buml_nomem(c->r);
        return NULL;
    }
    if (rc == 0) {
        buml_warn(c->r, c->node, "%s: there is a state \"%s\" already; only the first one counts", c->callee->name,
                  SHOWN(name));
        *ret_thing = state_thing(c, index);
        return NULL;
    }
    s = add_state(c, name);
    if (s)
        s->initial = initial && thing_is_constant(initial) && thing_truth(initial);
    return s;
}

struct thing *make_state(struct call *c)
{
    struct thing *other;
    struct state *s = new_state(c, &other);

    if (!s)
        return other;
    return call_fill(c, s) < 0 ? NULL : state_thing(c, c->r->m->states_len - 1);
}

static int set_llm(struct call *c, struct state *s)
{
    const struct thing *t = call_arg(c, "llm");
    const char *name = !t                      ? NULL
                       : t->kind == THING_TEXT ? t->text
                       : t->kind == THING_LLM  ? c->r->m->llms[t->index].name
                                               : NULL;

    if (t && t->kind != THING_NONE && !name)
        buml_warn(c->r, c->node, "%s: llm is %s, neither an LLM nor its name; the default LLM is taken",
                  c->callee->name, thing_title(t));
    if (!name || text_is_blank(name))
        return 0;
    s->llm_name = text_trim_clean(name);
    return s->llm_name ? 0 : buml_nomem(c->r);
}

struct thing *make_reasoning_state(struct call *c)
{
    struct thing *other;
    struct state *s = new_state(c, &other);

    if (!s)
        return other;
    s->reasoning = true;
    if (call_fill(c, s) < 0 || set_llm(c, s) < 0)
        return NULL;
    return state_thing(c, c->r->m->states_len - 1);
}

/* ---- bodies -------------------------------------------------------------------------------------------------------
 */

struct thing *make_body(struct call *c)
{
    struct thing *t = call_object(c), *actions = call_arg(c, "actions");
    size_t i;

    if (!t || !actions || actions->kind == THING_NONE)
        return t;
    if (actions->kind != THING_SEQ) {
        buml_warn(c->r, c->node, "Body: actions is %s, not a list; it is left out", thing_title(actions));
        return t;
    }
    for (i = 0; i < actions->len; i++)
        if (thing_add(c->r, t, NULL, actions->items[i]) < 0)
            return NULL;
    return t;
}

struct thing *make_gui_reply(struct call *c)
{
    struct thing *t = call_object(c);

    return t && buml_list_add(c->r, &c->r->replies, t) < 0 ? NULL : t;
}

struct thing *do_add_action(struct call *c)
{
    struct thing *action = call_arg(c, "action");

    c->self = call_self(c, THING_OBJECT, "Body");
    if (!thing_is(c->self, "Body") || !action) {
        buml_warn(c->r, c->node, "add_action: %s; the statement is left out",
                  action ? "it is not known which body this is" : "the action is missing");
        return unknown(c);
    }
    return thing_add(c->r, c->self, NULL, action) < 0 ? NULL : c->self;
}

struct thing *do_add_code(struct call *c)
{
    struct call code = { .r = c->r, .callee = buml_constructor("CustomCodeAction"), .node = c->node };
    struct thing *action;

    c->self = call_self(c, THING_OBJECT, "Body");
    if (!thing_is(c->self, "Body")) {
        buml_warn(c->r, c->node, "add_custom_code: it is not known which body this is; the statement is left out");
        return unknown(c);
    }
    code.args[0] = call_arg(c, "source");
    action = call_object(&code);
    return !action || thing_add(c->r, c->self, NULL, action) < 0 ? NULL : c->self;
}

static struct thing *set_body(struct call *c, bool fallback)
{
    struct thing *body = call_arg(c, "body");
    struct pending_state *p;

    c->self = call_self(c, THING_STATE, NULL);
    if (!body || body->kind != THING_FUNCTION)
        body = buml_meant(c->r, body, node_child(c->node, PART_ARGS), THING_OBJECT, "Body");
    if (c->self->kind != THING_STATE) {
        buml_warn(c->r, c->node, "%s: it is not known which state this is; the statement is left out", c->callee->name);
        return unknown(c);
    }
    if (c->r->m->states[c->self->index].reasoning) {
        buml_warn(c->r, c->node, "%s: a reasoning state has no body; the statement is left out", c->callee->name);
        return unknown(c);
    }
    if (!thing_is(body, "Body") && (!body || body->kind != THING_FUNCTION)) {
        buml_warn(c->r, c->node, "%s: the body is %s; the statement is left out", c->callee->name,
                  body ? thing_title(body) : "missing");
        return unknown(c);
    }
    p = &c->r->pending[c->self->index];
    if (fallback)
        p->fallback = body;
    else
        p->body = body;
    return thing_new(c->r, THING_NONE, c->node);
}

struct thing *do_set_body(struct call *c)
{
    return set_body(c, false);
}

struct thing *do_set_fallback(struct call *c)
{
    return set_body(c, true);
}
