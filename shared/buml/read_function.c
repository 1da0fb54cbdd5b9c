/* Functions: followed where they are called, with the things they are called with; the others at the end (reader.h). */
#include <string.h>

#include "shared/base/mem.h"
#include "shared/base/str.h"
#include "shared/buml/reader.h"
#include "shared/diagram/text.h"

#define GUI_BUILDER "_agent_gui_"
#define GUI_CHARACTERS_MAX 1000000 /* section 12 of the B-UML contract */
#define GUI_NODES_MAX 20000
#define GUI_NESTING_MAX 80

static int gui_limit(struct reader *r, const struct node *n, const char *what, size_t limit)
{
    if (r->gui_id)
        return err_set(r->err, ERR_BAD_REQUEST, 0, "Line %d: GUI \"%s\": its text has more than %zu %s", n->line,
                       SHOWN(r->gui_id), limit, what);
    return err_set(r->err, ERR_BAD_REQUEST, 0, "Line %d: the GUI of %s(): its text has more than %zu %s", n->line,
                   SHOWN(n->name), limit, what);
}

/* id= of a call is not counted */
static size_t count_ids(const struct node *n)
{
    size_t i, k, count = 0;

    for (i = 0; n && i < n->lists_len; i++)
        for (k = 0; k < n->lists[i].len; k++) {
            const struct node *child = n->lists[i].items[k];

            if (child && n->lists[i].part == PART_KEYWORDS && child->name && strcmp(child->name, "id") == 0)
                count += node_count(child);
            count += count_ids(child);
        }
    return count;
}

static int check_gui_builder(struct reader *r, const struct node *n)
{
    size_t characters;

    if (!n->name || !str_starts(n->name, GUI_BUILDER))
        return 0;
    characters = buml_source_len(r, n);
    if (characters > GUI_CHARACTERS_MAX)
        return gui_limit(r, n, "characters", GUI_CHARACTERS_MAX);
    if (node_count(n) - count_ids(n) > GUI_NODES_MAX)
        return gui_limit(r, n, "parts", GUI_NODES_MAX);
    return node_depth(n) > GUI_NESTING_MAX ? gui_limit(r, n, "levels", GUI_NESTING_MAX) : 0;
}

static int bind_parameters(struct reader *r, const struct node *function, struct thing *const *args, size_t args_len,
                           const struct thing *named)
{
    const struct node *parameters = node_child(function, PART_ARGS);
    const struct node_list *names = node_list(parameters, PART_ARGS), *defaults = node_list(parameters, PART_DEFAULTS);
    size_t i;

    for (i = 0; i < names->len; i++) {
        const char *name = names->items[i]->name;
        struct thing *t = i < args_len ? args[i] : NULL;

        if (!t && named && name)
            t = thing_get(named, name);
        if (!t && i + defaults->len >= names->len)
            t = buml_eval(r, defaults->items[i + defaults->len - names->len]);
        else if (!t)
            t = thing_new(r, THING_UNKNOWN, names->items[i]);
        if (!t || (name && buml_scope_bind(r, name, t) < 0))
            return -1;
    }
    return 0;
}

static int follow(struct reader *r, const struct node *n, struct thing *const *args, size_t args_len,
                  const struct thing *named, struct thing **ret)
{
    struct scope s = { .outer = r->scope };
    int rc;

    map_init(&s.names);
    r->scope = &s;
    r->calls++;
    rc = bind_parameters(r, n, args, args_len, named);
    if (rc == 0 && n->kind == NODE_LAMBDA)
        s.returned = buml_eval(r, node_child(n, PART_BODY));
    else if (rc == 0)
        rc = buml_walk(r, node_list(n, PART_BODY));
    r->calls--;
    r->scope = s.outer;
    *ret = s.returned;
    buml_scope_release(&s);
    return rc == 0 && n->kind == NODE_LAMBDA && !*ret ? -1 : rc;
}

struct thing *buml_follow(struct reader *r, struct thing *function, const struct node *at, struct thing *const *args,
                          size_t args_len, const struct thing *named)
{
    struct thing *returned = NULL;

    if (function->truth || r->calls >= READER_CALLS_MAX) {
        buml_warn(r, at, "a function that calls itself, or too many inside of each other, is not followed");
        return thing_new(r, THING_UNKNOWN, at);
    }
    if (check_gui_builder(r, function->node) < 0)
        return NULL;
    function->truth = true; /* is being followed */
    if (follow(r, function->node, args, args_len, named, &returned) < 0)
        return NULL;
    function->truth = false;
    if (returned)
        return returned;
    return thing_new(r, THING_NONE, at);
}

/* How much has been said so far: anything that a function adds to the agent, or has a warning about, counts. */
static size_t said(const struct reader *r)
{
    const struct model *m = r->m;

    return m->llms_len + m->tools_len + m->skills_len + m->workspaces_len + m->intents_len + m->guis_len + m->rags_len +
           m->states_len + r->builders.len + r->transitions.len + r->replies.len + r->unknown.len + r->f->len;
}

/* A function that nobody used may be where everything is said; only a tool's own text is not. One that says nothing may
 * be what other code calls, and that code will miss it. */
int buml_walk_unused(struct reader *r)
{
    struct thing *ignored;
    size_t i, before;

    for (i = 0; i < r->functions.len; i++) {
        struct thing *t = r->functions.items[i];

        if (t->used || buml_source_contains(r, t->node))
            continue;
        t->used = true;
        if (str_starts(t->name, GUI_BUILDER)) {
            buml_warn(r, t->node, "%s() builds a GUI that no add_gui_model() takes; it is left out", SHOWN(t->name));
            continue;
        }
        before = said(r);
        if (follow(r, t->node, NULL, 0, NULL, &ignored) < 0)
            return -1;
        if (said(r) == before)
            buml_warn(r, t->node,
                      "the function %s() is no part of the agent and is left out; code that calls it misses it",
                      SHOWN(t->name));
    }
    return 0;
}
