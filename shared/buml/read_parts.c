/* What an agent has besides states (section 3 of the B-UML contract). Every maker returns a thing, THING_UNKNOWN after
 * a warning when the statement cannot be imported. */
#include <stddef.h>
#include <string.h>

#include "shared/base/mem.h"
#include "shared/buml/reader.h"
#include "shared/diagram/text.h"

struct thing *part_unknown(struct call *c)
{
    return thing_new(c->r, THING_UNKNOWN, NULL); /* said already, so no node */
}

struct thing *part_of_model(struct call *c, enum thing_kind kind, size_t index)
{
    struct thing *t = thing_new(c->r, kind, c->node);

    if (t)
        t->index = index;
    return t;
}

struct thing *part_failed(struct call *c)
{
    buml_nomem(c->r);
    return NULL;
}

const char *text_arg(const struct call *c, const char *name)
{
    const struct thing *t = call_arg(c, name);

    if (t && t->kind == THING_TEXT)
        return t->text;
    buml_warn(c->r, c->node, "%s: %s is %s, not a text; the statement is left out", c->callee->name, name,
              t ? thing_title(t) : "missing");
    return NULL;
}

int part_name(struct call *c, const char *argument, struct map *known, size_t index, char **ret, size_t *ret_index)
{
    const char *text = text_arg(c, argument);
    char *name;
    int rc;

    *ret_index = MODEL_NONE;
    if (!text)
        return 0;
    name = known == &c->r->intents ? mem_strdup(text) : text_trim_clean(text);
    if (!name)
        return buml_nomem(c->r);
    if (text_is_blank(name)) {
        mem_free(name);
        return buml_warn(c->r, c->node, "%s: the %s is blank; the statement is left out", c->callee->name, argument);
    }
    rc = map_put_name(known, name, index, ret_index);
    if (rc == 0)
        buml_warn(c->r, c->node, "%s: there is a \"%s\" already; only the first one counts", c->callee->name,
                  SHOWN(name));
    if (rc <= 0) {
        mem_free(name);
        return rc < 0 ? buml_nomem(c->r) : 0;
    }
    if (buml_charge(c->r, strlen(name) + sizeof(struct state)) < 0) {
        mem_free(name);
        return -1;
    }
    *ret = name;
    return 1;
}

/* ---- agent --------------------------------------------------------------------------------------------------------
 */

static int describe(struct call *c)
{
    struct thing *metadata = call_arg(c, "metadata");
    struct {
        char *text;
    } got = { NULL };
    int rc;

    if (!metadata || metadata->kind == THING_NONE)
        return 0;
    if (!thing_is(metadata, "Metadata"))
        return buml_warn(c->r, c->node, "Agent: metadata is %s; it is left out", thing_title(metadata));
    rc = object_fill(c->r, metadata, &got);
    mem_free(c->r->m->description);
    c->r->m->description = got.text;
    return rc;
}

struct thing *make_agent(struct call *c)
{
    struct model *m = c->r->m;
    const char *name;
    char *at;

    if (c->r->agent_seen) {
        buml_warn(c->r, c->node, "Agent: the file has an agent already; what is added to this one is added to that");
        return part_of_model(c, THING_AGENT, 0);
    }
    c->r->agent_seen = true;
    name = text_arg(c, "name");
    if (name && !text_is_blank(name)) {
        m->name = mem_strdup(name);
        if (!m->name)
            return part_failed(c);
        for (at = m->name; *at; at++)
            if (*at == ' ')
                *at = '_';
    }
    return describe(c) < 0 ? NULL : part_of_model(c, THING_AGENT, 0);
}

/* The names between the brackets: what they are does not matter here. */
static int add_models(struct call *c, struct buml_project *p)
{
    const struct node_list *keywords = node_list(c->node, PART_KEYWORDS), *names;
    const struct thing *models = call_arg(c, "models");
    const struct node *list = models ? models->node : NULL;
    size_t i;

    for (i = 0; i < keywords->len; i++)
        if (keywords->items[i]->name && strcmp(keywords->items[i]->name, "models") == 0 &&
            node_list(node_child(keywords->items[i], PART_VALUE), PART_ELTS)->len)
            list = node_child(keywords->items[i], PART_VALUE);
    names = node_list(list, PART_ELTS);
    for (i = 0; i < names->len; i++)
        if (names->items[i]->kind == NODE_NAME && str_list_add(&p->models, names->items[i]->name) < 0)
            return buml_nomem(c->r);
    return 0;
}

struct thing *make_project(struct call *c)
{
    struct buml_project *p = c->r->project;
    struct thing *metadata = call_arg(c, "metadata");
    struct {
        char *text;
    } got = { NULL };

    if (p && !p->found) {
        p->found = true;
        if (call_fill(c, p) < 0 || add_models(c, p) < 0)
            return NULL;
        if (thing_is(metadata, "Metadata") && object_fill(c->r, metadata, &got) < 0) {
            mem_free(got.text);
            return NULL;
        }
        p->description = got.text;
    }
    return thing_new(c->r, THING_NONE, c->node);
}

/* ---- intents ------------------------------------------------------------------------------------------------------
 */

static int add_sentence(struct call *c, struct intent *n, const struct thing *t)
{
    char *text;
    int rc = 0;

    if (t->kind != THING_TEXT)
        return buml_warn(c->r, t->node ? t->node : c->node, "%s: a training sentence is %s, not a text; it is left out",
                         c->callee->name, thing_title(t));
    if (buml_charge(c->r, t->text_len + 4 * sizeof(char *)) < 0)
        return -1;
    text = text_clean(t->text);
    if (!text || (*text && str_list_add(&n->sentences, text) < 0))
        rc = buml_nomem(c->r);
    mem_free(text);
    return rc;
}

static int add_sentences(struct call *c, struct intent *n)
{
    const struct thing *t = call_arg(c, "training_sentences");
    size_t i;

    if (!t || t->kind == THING_NONE)
        return 0;
    if (t->kind == THING_TEXT)
        return add_sentence(c, n, t);
    if (t->kind != THING_SEQ)
        return buml_warn(c->r, c->node, "%s: the training sentences are %s; they are left out", c->callee->name,
                         thing_title(t));
    for (i = 0; i < t->len; i++)
        if (add_sentence(c, n, t->items[i]) < 0)
            return -1;
    return 0;
}

struct thing *make_intent(struct call *c)
{
    struct model *m = c->r->m;
    struct intent *n;
    size_t index, at = m->intents_len;
    char *name = NULL;
    int rc = part_name(c, "name", &c->r->intents, at, &name, &index);

    if (rc <= 0)
        return rc < 0 ? NULL : index != MODEL_NONE ? part_of_model(c, THING_INTENT, index) : part_unknown(c);
    n = model_add_intent(m);
    if (!n) {
        mem_free(name);
        return part_failed(c);
    }
    n->name = name;
    if (call_fill(c, n) < 0 || add_sentences(c, n) < 0)
        return NULL;
    return part_of_model(c, THING_INTENT, at);
}

/* agent.add_intent(Intent(...)): from now on the object is the agent's intent, whatever variables it has. */
struct thing *do_add_intent(struct call *c)
{
    struct thing *object = c->args[0], *made;
    struct call call = { .r = c->r, .node = c->node };

    if (!thing_is(object, "Intent"))
        return do_take(c);
    call.callee = object->callee;
    memcpy(call.args, object->args, sizeof(call.args));
    made = make_intent(&call);
    if (made && made->kind == THING_INTENT) {
        object->kind = THING_INTENT;
        object->index = made->index;
    }
    return made;
}

/* ---- tools, skills, workspaces ------------------------------------------------------------------------------------
 */

/* new_tool(f): the function says all of it. */
static int tool_of_function(struct call *c, const struct thing *f)
{
    struct thing *name = thing_text(c->r, c->node, f->name ? f->name : "", f->name ? strlen(f->name) : 0);
    char *code = buml_source_of(c->r, f->node, NULL);
    struct thing *text = code ? thing_text(c->r, c->node, code, strlen(code)) : NULL;

    mem_free(code);
    if (!name || !text)
        return -1;
    c->args[0] = name;
    if (!c->args[2])
        c->args[2] = text;
    return 0;
}

struct thing *make_tool(struct call *c)
{
    struct model *m = c->r->m;
    struct tool *t;
    size_t index;
    char *name = NULL;
    int rc = 0;

    if (c->args[0] && c->args[0]->kind == THING_FUNCTION)
        rc = tool_of_function(c, c->args[0]);
    if (rc == 0)
        rc = part_name(c, "name", &c->r->tools, m->tools_len, &name, &index);
    if (rc <= 0)
        return rc < 0 ? NULL : part_unknown(c);
    t = model_add_tool(m);
    if (!t) {
        mem_free(name);
        return part_failed(c);
    }
    t->name = name;
    return call_fill(c, t) < 0 ? NULL : thing_new(c->r, THING_NONE, c->node);
}

struct thing *make_skill(struct call *c)
{
    struct model *m = c->r->m;
    struct skill *s;
    size_t index;
    char *name = NULL;
    int rc = part_name(c, "name", &c->r->skills, m->skills_len, &name, &index);

    if (rc <= 0)
        return rc < 0 ? NULL : part_unknown(c);
    s = model_add_skill(m);
    if (!s) {
        mem_free(name);
        return part_failed(c);
    }
    s->name = name;
    return call_fill(c, s) < 0 ? NULL : thing_new(c->r, THING_NONE, c->node);
}

struct thing *make_workspace(struct call *c)
{
    struct model *m = c->r->m;
    struct workspace *w;
    size_t index;
    char *name = NULL;
    int rc = part_name(c, "name", &c->r->workspaces, m->workspaces_len, &name, &index);

    if (rc <= 0)
        return rc < 0 ? NULL : part_unknown(c);
    w = model_add_workspace(m);
    if (!w) {
        mem_free(name);
        return part_failed(c);
    }
    w->name = name;
    return call_fill(c, w) < 0 ? NULL : thing_new(c->r, THING_NONE, c->node);
}

/* ---- GUIs ---------------------------------------------------------------------------------------------------------
 */

struct thing *make_gui(struct call *c)
{
    struct model *m = c->r->m;
    struct gui *g;
    size_t index;
    char *id = NULL;
    int rc = part_name(c, "gui_id", &c->r->guis, m->guis_len, &id, &index);
    struct thing *design = call_arg(c, "gui_model");

    if (rc <= 0)
        return rc < 0 ? NULL : part_unknown(c);
    g = model_add_gui(m);
    if (!g) {
        mem_free(id);
        return part_failed(c);
    }
    g->gui_id = id;
    g->persist = true;
    if (design && design->kind != THING_NONE && buml_gui_design(c->r, id, design, &g->design) < 0)
        return NULL;
    return thing_new(c->r, THING_NONE, c->node);
}

/* ---- the rest -----------------------------------------------------------------------------------------------------
 */

struct thing *do_take(struct call *c)
{
    return c->args[0] ? c->args[0] : part_unknown(c);
}

struct thing *do_ignore(struct call *c)
{
    buml_warn(c->r, c->node, "%s has no place in a diagram and is left out", c->callee->name);
    return thing_new(c->r, THING_NONE, c->node);
}

struct thing *do_nothing(struct call *c)
{
    return thing_new(c->r, THING_NONE, c->node);
}

/* list.append(x), list.extend([..]), set.add(x), dict.update({..}) */
struct thing *do_append(struct call *c)
{
    struct thing *list = c->self, *t = c->args[0];
    bool many = strcmp(c->callee->name, "extend") == 0 || strcmp(c->callee->name, "update") == 0;
    size_t i;

    if (!t || (list->kind != THING_SEQ && list->kind != THING_DICT) || (many && t->kind != list->kind) ||
        (!many && list->kind != THING_SEQ))
        return thing_new(c->r, THING_UNKNOWN, c->node);
    if (!many)
        return thing_add(c->r, list, NULL, t) < 0 ? NULL : thing_new(c->r, THING_NONE, c->node);
    for (i = 0; i < t->len; i++) {
        const struct thing *key = t->keys[i];
        int rc = list->kind == THING_SEQ          ? thing_add(c->r, list, NULL, t->items[i])
                 : key && key->kind == THING_TEXT ? thing_put(c->r, list, key->text, t->items[i])
                                                  : 0;

        if (rc < 0)
            return NULL;
        if (t == list && i + 1 >= list->len / 2)
            break; /* of itself: once */
    }
    return thing_new(c->r, THING_NONE, c->node);
}

/* dict.items(), keys(), values() */
struct thing *do_items(struct call *c)
{
    struct thing *of = c->self, *t = thing_new(c->r, of->kind == THING_DICT ? THING_SEQ : THING_UNKNOWN, c->node),
                 *pair;
    char which = c->callee->name[0];
    size_t i;

    for (i = 0; t && t->kind == THING_SEQ && i < of->len; i++) {
        pair = which == 'k' ? of->keys[i] : of->items[i];
        if (which == 'i') {
            pair = thing_new(c->r, THING_SEQ, c->node);
            if (!pair || thing_add(c->r, pair, NULL, of->keys[i]) < 0 || thing_add(c->r, pair, NULL, of->items[i]) < 0)
                return NULL;
        }
        if (thing_add(c->r, t, NULL, pair) < 0)
            return NULL;
    }
    return t;
}
