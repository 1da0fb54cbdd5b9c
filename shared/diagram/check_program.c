/* Phase C: what a generated program and a session need besides (rules 27 to 29, lint of section 9),
 * and the event list. Rule 26 never breaks: names that need one module name are told apart by the
 * generator [V2]. */
#include <stdio.h>
#include <string.h>

#include "shared/base/mem.h"
#include "shared/base/path.h"
#include "shared/diagram/check.h"
#include "shared/diagram/code.h"
#include "shared/diagram/document.h"
#include "shared/diagram/map.h"
#include "shared/diagram/provider.h"
#include "shared/diagram/text.h"
#include "shared/python/parser.h"

struct program_check {
    struct model *m;
    bool session;
    struct python_parser *parser;
    struct findings *f;
    struct err *err;
    struct map clean; /* custom code that passed: many bodies may share one piece */
};

#define TITLE_MAX (3 * SHOWN_MAX + 120)

static int check_workspaces(struct program_check *c)
{
    size_t i;

    for (i = 0; i < c->m->workspaces_len; i++) {
        const struct workspace *w = &c->m->workspaces[i];
        struct err why = { 0 };
        char *path = NULL;

        if (text_is_blank(w->path))
            continue; /* rule 18 */
        if (path_normalise(w->path, &path, &why) == 0)
            mem_free(path);
        else if (why.kind != ERR_BAD_REQUEST)
            return err_nomem(c->err);
        else
            finding_add(c->f, FINDING_ERROR, 27, MEMBER_PATH(w->where, "path"),
                        "Workspace \"%s\": the path \"%s\" must name a folder inside the agent's folder",
                        SHOWN(w->name), SHOWN(w->path));
    }
    return 0;
}

static int check_custom_code(struct program_check *c, const struct state *s, const char *part, const struct action *a)
{
    char title[TITLE_MAX];
    struct code code = { .kind = CODE_CUSTOM, .source = a->text, .title = title, .rule = 28, .session = true };
    struct path_text where;
    int found;

    if (a->kind != ACTION_CODE || map_get(&c->clean, a->text, strlen(a->text)) != MAP_NONE)
        return 0;
    code.where = document_member(&where, a->where, "name");
    snprintf(title, sizeof(title), "State \"%s\", %s, %s", SHOWN(s->name), part, action_kind_title(a->kind));
    found = code_check(&code, c->parser, c->f, NULL, c->err);
    if (found == 0 && map_put(&c->clean, a->text, strlen(a->text), 1, NULL) < 0)
        return err_nomem(c->err);
    return found < 0 ? -1 : 0;
}

/* A list of findings that is full says enough; every further question to the parser would cost
 * time. */
static bool enough(const struct program_check *c)
{
    return c->f->errors >= FINDINGS_MAX;
}

static int check_bodies(struct program_check *c)
{
    size_t i, k;

    for (i = 0; i < c->m->states_len; i++) {
        const struct state *s = &c->m->states[i];

        for (k = 0; k < s->body.len && !enough(c); k++)
            if (check_custom_code(c, s, "body", &s->body.items[k]) < 0)
                return -1;
        for (k = 0; k < s->fallback.len && !enough(c); k++)
            if (check_custom_code(c, s, "fallback body", &s->fallback.items[k]) < 0)
                return -1;
    }
    return 0;
}

static int check_tools(struct program_check *c)
{
    size_t i;

    for (i = 0; i < c->m->tools_len && !enough(c); i++) {
        char title[TITLE_MAX];
        const struct tool *t = &c->m->tools[i];
        struct code code = { .kind = CODE_TOOL,
                             .source = t->code,
                             .title = title,
                             .where = MEMBER_PATH(t->where, "code"),
                             .rule = 28,
                             .session = true };

        if (text_is_blank(t->code))
            continue; /* rule 14 */
        snprintf(title, sizeof(title), "Tool \"%s\"", SHOWN(t->name));
        if (code_check(&code, c->parser, c->f, NULL, c->err) < 0)
            return -1;
    }
    return 0;
}

/* ---- conditions
 * ------------------------------------------------------------------------------------------------
 */

/* How many of (session, {}) a function takes: 1, 2, or 0 when it cannot be called so. */
static int arguments_of(const struct python_function *fn)
{
    if (fn->keywords_required || fn->required > 2)
        return 0;
    if (fn->required == 2)
        return 2;
    return fn->required == 1 || fn->optional || fn->varargs ? 1 : 0;
}

/* The function that decides: the one named by the label if there is one, else the first that can be called; of equal
 * names the last. When none can be called, the first. */
static const struct python_function *deciding(const struct condition *c, const struct python_facts *facts)
{
    const struct python_function *found = NULL, *fn;
    bool named = false;
    size_t i;

    for (i = 0; i < facts->functions_len; i++) {
        fn = &facts->functions[i];
        if (fn->async)
            continue;
        if (c->label && strcmp(fn->name, c->label) == 0)
            named = true;
        else if (named || (found && strcmp(fn->name, found->name) != 0 && (arguments_of(found) || !arguments_of(fn))))
            continue;
        found = fn;
    }
    return found;
}

static int choose_function(struct program_check *c, const char *title, const char *where, struct condition *cond,
                           const struct python_facts *facts)
{
    const struct python_function *fn = deciding(cond, facts);
    char *name;

    if (!fn) {
        finding_add(c->f, FINDING_ERROR, 29, where,
                    "%s: the code must define a function of one or two parameters: def name(session): ...", title);
        return 0;
    }
    if (!arguments_of(fn)) {
        finding_add(c->f, FINDING_ERROR, 29, where,
                    "%s: line %d: function \"%s\" must be callable with (session) or (session, params)", title,
                    fn->line, SHOWN(fn->name));
        return 0;
    }
    name = mem_strdup(fn->name);
    if (!name)
        return err_nomem(c->err);
    mem_free(cond->function);
    cond->function = name;
    cond->parameters = arguments_of(fn);
    return 0;
}

static int check_condition(struct program_check *c, const struct state *s, const struct transition *t, size_t i)
{
    struct condition *cond = &t->conditions[i];
    struct python_facts facts = { 0 };
    char title[TITLE_MAX];
    struct code code = { .kind = CODE_CONDITION,
                         .source = cond->source,
                         .title = title,
                         .where = t->where,
                         .rule = 28,
                         .session = c->session };
    int found, rc = 0;

    snprintf(title, sizeof(title), "State \"%s\", transition to \"%s\", condition %zu", SHOWN(s->name),
             SHOWN(c->m->states[t->target].name), i + 1);
    found = code_check(&code, c->parser, c->f, &facts, c->err);
    if (found >= 0 && facts.valid)
        rc = choose_function(c, title, t->where, cond, &facts);
    python_facts_release(&facts);
    return found < 0 ? -1 : rc;
}

static int check_conditions(struct program_check *c)
{
    size_t i, k, n;

    for (i = 0; i < c->m->states_len; i++) {
        const struct state *s = &c->m->states[i];

        for (k = 0; k < s->transitions_len; k++)
            for (n = 0; n < s->transitions[k].conditions_len && !enough(c); n++)
                if (check_condition(c, s, &s->transitions[k], n) < 0)
                    return -1;
    }
    return 0;
}

static int check_states(struct program_check *c)
{
    if (!c->m->states_len)
        finding_add(c->f, FINDING_ERROR, 29, "model.elements", "Agent \"%s\" has no state, so it cannot start",
                    SHOWN(c->m->name));
    return 0;
}

/* ---- the whole
 * -------------------------------------------------------------------------------------------------
 */

static void warn_about_llms(const struct model *m, struct findings *f)
{
    const char *name = m->settings.classifier_llm_name;
    bool known = false;
    size_t i;

    for (i = 0; name && i < m->llms_len && !known; i++)
        known = text_same(m->llms[i].name, name);
    if (name && !known)
        finding_add(f, FINDING_WARNING, 0, "config.llm.name",
                    "The LLM \"%s\" that is to recognise intents is none of the agent's LLMs", SHOWN(name));
    if (m->intents_len && !m->llms_len && !name && !m->settings.classifier_llm_model && !m->settings.classical_intents)
        finding_add(f, FINDING_WARNING, 0, "", "The agent has intents but no LLM to recognise them: none will match");
}

static bool has_speech_reply(const struct action_list *l)
{
    size_t i;

    for (i = 0; i < l->len; i++)
        if (l->items[i].kind == ACTION_SPEECH)
            return true;
    return false;
}

/* Such a body ends there: the agent has nothing to speak with. */
static void warn_about_speech(const struct model *m, struct findings *f)
{
    size_t i;

    for (i = 0; !m->settings.speech_output && i < m->states_len; i++)
        if (has_speech_reply(&m->states[i].body) || has_speech_reply(&m->states[i].fallback))
            finding_add(f, FINDING_WARNING, 0, "config.outputModalities",
                        "State \"%s\" replies with speech, but speech is no output modality of the agent: it fails",
                        SHOWN(m->states[i].name));
}

static bool matches_intents(const struct model *m)
{
    size_t i, k;

    for (i = 0; i < m->states_len; i++)
        for (k = 0; k < m->states[i].transitions_len; k++)
            if (m->states[i].transitions[k].kind == TRANSITION_INTENT)
                return true;
    return false;
}

/* What the interpreter of sessions does not have (docker/runtime): the agent ends at its start. */
static void warn_about_packages(const struct model *m, struct findings *f)
{
    size_t i;

    for (i = 0; i < m->llms_len; i++)
        if (strcmp(m->llms[i].provider->name, "huggingface") == 0)
            finding_add(f, FINDING_WARNING, 0, MEMBER_PATH(m->llms[i].where, "provider"),
                        "LLM \"%s\" runs inside the agent and needs the package transformers, which test sessions "
                        "do not have: the agent does not start",
                        SHOWN(m->llms[i].name));
    if (m->settings.classical_intents && matches_intents(m))
        finding_add(f, FINDING_WARNING, 0, "config.intentRecognitionTechnology",
                    "Classical intent recognition needs PyTorch, which test sessions do not have: the agent does "
                    "not start");
}

void diagram_warn(const struct model *m, bool session, struct findings *f)
{
    warn_about_llms(m, f);
    warn_about_speech(m, f);
    if (session)
        warn_about_packages(m, f);
}

int diagram_check_program(struct model *m, bool session, struct python_parser *parser, struct findings *f,
                          struct err *err)
{
    static const struct {
        int (*check)(struct program_check *);
        bool session; /* only there */
    } parts[] = { { check_workspaces, true },
                  { check_bodies, true }, /* the reader judged the rest of their rules */
                  { check_tools, true },
                  { check_states, false },
                  { check_conditions, false } };
    struct program_check c = { .m = m, .session = session, .parser = parser, .f = f, .err = err };
    size_t i;
    int rc = 0;

    map_init(&c.clean);
    for (i = 0; i < ARRAY_LEN(parts) && rc == 0; i++)
        rc = parts[i].session && !session ? 0 : parts[i].check(&c);
    map_release(&c.clean);
    if (rc == 0)
        diagram_warn(m, session, f);
    return rc;
}

int diagram_event_list(const struct model *m, struct str_list *ret)
{
    struct str_list list = { 0 };
    size_t i, k, n;

    for (i = 0; i < m->states_len; i++)
        for (k = 0; k < m->states[i].transitions_len; k++) {
            const char *name = transition_event_class(&m->states[i].transitions[k]);

            for (n = 0; name && n < list.len && strcmp(list.items[n], name) != 0; n++)
                ;
            if (name && n == list.len && str_list_add(&list, name) < 0) {
                str_list_release(&list);
                return -1;
            }
        }
    *ret = list;
    return 0;
}
