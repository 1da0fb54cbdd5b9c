/* The names of one file: what it imports, user functions at the top level, then variables, in this order, so that no
 * two things share one (section 2). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared/base/mem.h"
#include "shared/base/str.h"
#include "shared/buml/writer.h"
#include "shared/diagram/provider.h"
#include "shared/diagram/text.h"

#define SECTIONS_MAX 200 /* agent_1 ... of a project file that no section may take */

/* ---- user code ----------------------------------------------------------------------------------------------------
 */

/* code is checked code when function is not NULL: nobody puts other text into the file as code. */
static int take_function(struct buml_writer *w, const char *source, const char *function, struct buml_code *ret)
{
    bool annotated = false;
    char *name = NULL;
    int plain = function ? buml_plain_function(source, &name, &annotated) : 0;

    if (plain < 0)
        return err_nomem(w->err);
    if (!plain)
        return 0;
    if (names_taken(&w->names, name) || name_is_reserved(name)) {
        mem_free(name);
        return 0;
    }
    ret->function = name;
    w->annotates |= annotated;
    return names_reserve(&w->names, name, w->err);
}

static int take_conditions(struct buml_writer *w)
{
    size_t i, k, n, at = 0;

    for (i = 0; i < w->m->states_len; i++)
        for (k = 0; k < w->m->states[i].transitions_len; k++)
            w->conditions_len += w->m->states[i].transitions[k].conditions_len;
    w->conditions = mem_zalloc(w->conditions_len + 1, sizeof(*w->conditions));
    if (!w->conditions)
        return err_nomem(w->err);
    for (i = 0; i < w->m->states_len; i++)
        for (k = 0; k < w->m->states[i].transitions_len; k++) {
            const struct transition *t = &w->m->states[i].transitions[k];

            for (n = 0; n < t->conditions_len; n++)
                if (take_function(w, t->conditions[n].source, t->conditions[n].function, &w->conditions[at++]) < 0)
                    return -1;
        }
    return 0;
}

static int take_bodies(struct buml_writer *w)
{
    size_t i, part;

    w->bodies = mem_zalloc(2 * w->m->states_len + 1, sizeof(*w->bodies));
    if (!w->bodies)
        return err_nomem(w->err);
    for (i = 0; i < w->m->states_len; i++)
        for (part = 0; part < 2; part++) {
            const struct action_list *l = part ? &w->m->states[i].fallback : &w->m->states[i].body;

            if (l->len == 1 && l->items[0].kind == ACTION_CODE &&
                take_function(w, l->items[0].text, l->items[0].code_function, &w->bodies[2 * i + part]) < 0)
                return -1;
        }
    return 0;
}

/* ---- variables ----------------------------------------------------------------------------------------------------
 */

/* After its function, so that the text does not depend on where its transition stood among all; a literal keeps the
 * name of that place, since it may hold a function of that name. */
static const char *name_condition(struct buml_writer *w, const struct condition *c, const struct buml_code *code)
{
    const char *raw = code->function ? code->function : c->label ? c->label : "condition";

    return str_starts(raw, "condition_") ? names_make(&w->names, raw, w->err)
                                         : names_make_prefixed(&w->names, "condition", raw, w->err);
}

static int name_conditions(struct buml_writer *w)
{
    size_t i, k, n, at = 0;

    for (i = 0; i < w->m->states_len; i++)
        for (k = 0; k < w->m->states[i].transitions_len; k++) {
            const struct transition *t = &w->m->states[i].transitions[k];

            for (n = 0; n < t->conditions_len; n++, at++) {
                w->conditions[at].variable = name_condition(w, &t->conditions[n], &w->conditions[at]);
                if (!w->conditions[at].variable)
                    return -1;
            }
        }
    return 0;
}

static const char *name_llm(struct buml_writer *w, const struct llm *l)
{
    auto_free char *safe = name_safe(l->name), *lower = NULL;

    if (!safe || !(lower = text_lower(l->provider->class_name))) {
        err_nomem(w->err);
        return NULL;
    }
    return strcmp(safe, "llm") == 0 ? names_make_prefixed(&w->names, "llm", lower, w->err)
                                    : names_make(&w->names, l->name, w->err);
}

static int name_objects(struct buml_writer *w)
{
    const struct model *m = w->m;
    size_t i;

    w->states = mem_zalloc(m->states_len + 1, sizeof(*w->states));
    w->intents = mem_zalloc(m->intents_len + 1, sizeof(*w->intents));
    w->llms = mem_zalloc(m->llms_len + 1, sizeof(*w->llms));
    if (!w->states || !w->intents || !w->llms)
        return err_nomem(w->err);
    for (i = 0; i < m->states_len; i++)
        if (!(w->states[i] = names_make(&w->names, m->states[i].name, w->err)))
            return -1;
    for (i = 0; i < m->intents_len; i++)
        if (!(w->intents[i] = names_make(&w->names, m->intents[i].name, w->err)))
            return -1;
    for (i = 0; i < m->llms_len; i++)
        if (!(w->llms[i] = name_llm(w, &m->llms[i])))
            return -1;
    return 0;
}

static int reserve_words(struct buml_writer *w)
{
    const char *const *word;
    char variable[32];
    size_t list;
    int i;

    for (list = 0; (word = buml_import_names(list)); list++)
        for (; *word; word++)
            if (names_reserve(&w->names, *word, w->err) < 0)
                return -1;
    if (names_reserve(&w->names, w->agent, w->err) < 0 || names_reserve(&w->names, "default_llm", w->err) < 0)
        return -1;
    for (i = 1; strcmp(w->agent, "agent") != 0 && i <= SECTIONS_MAX; i++) {
        snprintf(variable, sizeof(variable), "agent_%d", i);
        if (names_reserve(&w->names, variable, w->err) < 0)
            return -1;
    }
    return 0;
}

int buml_name_all(struct buml_writer *w)
{
    size_t i, k;

    for (i = 0; i < w->m->states_len; i++)
        for (k = 0; k < w->m->states[i].transitions_len; k++)
            if (w->m->states[i].transitions[k].kind == TRANSITION_INTENT &&
                w->m->states[i].transitions[k].intent == MODEL_NONE)
                w->foreign_intents = true;
    return reserve_words(w) < 0 || take_conditions(w) < 0 || take_bodies(w) < 0 || name_objects(w) < 0 ||
                   name_conditions(w) < 0
               ? -1
               : 0;
}

void buml_release_names(struct buml_writer *w)
{
    size_t i;

    for (i = 0; w->conditions && i < w->conditions_len; i++)
        mem_free(w->conditions[i].function);
    for (i = 0; w->bodies && i < 2 * w->m->states_len; i++)
        mem_free(w->bodies[i].function);
    mem_free(w->conditions);
    mem_free(w->bodies);
    mem_free(w->states);
    mem_free(w->intents);
    mem_free(w->llms);
    names_release(&w->names);
}
