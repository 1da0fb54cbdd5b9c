/* Phase B: rules 12 to 25 of the agent diagram contract, all findings, in rule order. */
#include "shared/diagram/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared/base/mem.h"
#include "shared/diagram/document.h"
#include "shared/diagram/map.h"
#include "shared/diagram/text.h"

struct check {
    const struct model *m;
    struct findings *f;
};

#define ERROR(c, rule, where, ...) finding_add((c)->f, FINDING_ERROR, (rule), (where), __VA_ARGS__)
#define WARNING(c, rule, where, ...) finding_add((c)->f, FINDING_WARNING, (rule), (where), __VA_ARGS__)

/* Every rule returns 0, or -1 when memory is short; verdicts are in the findings. */

/* ---- 12: states and intents share no name
 * ---------------------------------------------------------------------- */

struct shared_name {
    char *key;
    const struct state *state;
};

static int by_key(const void *a, const void *b)
{
    return strcmp(((const struct shared_name *)a)->key, ((const struct shared_name *)b)->key);
}

static int collect_shared(const struct model *m, const struct map *intents, struct map *seen, struct shared_name *ret,
                          size_t *ret_len)
{
    size_t i;

    for (i = 0; i < m->states_len; i++) {
        char *key = text_fold_key(m->states[i].name);
        int added = 0;

        if (!key)
            return -1;
        if (map_get(intents, key, strlen(key)) != MAP_NONE)
            added = map_put(seen, key, strlen(key), i, NULL);
        if (added == 1)
            ret[(*ret_len)++] = (struct shared_name){ key, &m->states[i] };
        else
            mem_free(key);
        if (added < 0)
            return -1;
    }
    return 0;
}

static int rule_disjoint_names(struct check *c)
{
    struct shared_name *shared = mem_zalloc(c->m->states_len, sizeof(*shared));
    struct map intents, seen;
    size_t i, len = 0;
    int rc = shared ? 0 : -1;

    map_init(&intents);
    map_init(&seen);
    for (i = 0; i < c->m->intents_len && rc >= 0; i++)
        rc = map_put_folded(&intents, c->m->intents[i].name, i, NULL);
    if (rc >= 0)
        rc = collect_shared(c->m, &intents, &seen, shared, &len);
    if (rc == 0 && len)
        qsort(shared, len, sizeof(*shared), by_key);
    for (i = 0; i < len; i++) {
        if (rc == 0)
            ERROR(c, 12, MEMBER_PATH(shared[i].state->where, "name"),
                  "State \"%s\": an intent has the same name; states and intents must differ",
                  SHOWN(shared[i].state->name));
        mem_free(shared[i].key);
    }
    mem_free(shared);
    map_release(&intents);
    map_release(&seen);
    return rc < 0 ? -1 : 0;
}

/* ---- 13, 25: transitions
 * --------------------------------------------------------------------------------------- */

static int rule_known_intents(struct check *c)
{
    const struct model *m = c->m;
    size_t i, k;

    for (i = 0; i < m->states_len; i++)
        for (k = 0; k < m->states[i].transitions_len; k++) {
            const struct transition *t = &m->states[i].transitions[k];

            if (t->kind == TRANSITION_INTENT && t->intent == MODEL_NONE)
                ERROR(c, 13, t->where,
                      "State \"%s\": the transition to \"%s\" waits for the intent \"%s\", which "
                      "agent \"%s\" does not have",
                      SHOWN(m->states[i].name), SHOWN(m->states[t->target].name), SHOWN(t->intent_name),
                      SHOWN(m->name));
        }
    return 0;
}

static int rule_unconditional_last(struct check *c)
{
    const struct model *m = c->m;
    size_t i, k;

    for (i = 0; i < m->states_len; i++)
        for (k = 0; k + 1 < m->states[i].transitions_len; k++) {
            const struct transition *t = &m->states[i].transitions[k];

            if (t->kind == TRANSITION_AUTO)
                ERROR(c, 25, t->where,
                      "State \"%s\": the unconditional transition to \"%s\" must be the only or "
                      "the last one of its state",
                      SHOWN(m->states[i].name), SHOWN(m->states[t->target].name));
        }
    return 0;
}

/* ---- 14 to 16: tools
 * ------------------------------------------------------------------------------------------- */

/* A line of white space, `def`, white space, identifier, white space, bracket. */
static bool line_defines(const char *line)
{
    size_t n;

    line += strspn(line, " \t\f\v\r");
    if (strncmp(line, "def", 3) != 0)
        return false;
    n = strspn(line + 3, " \t\f\v");
    line += 3 + n;
    if (!n || *line == '(')
        return false;
    line += strcspn(line, "( \t\f\v\r\n,;:.#'\"\\)[]{}=+-*/%&|^~<>@!?$`");
    line += strspn(line, " \t\f\v");
    return *line == '(';
}

static bool code_defines(const char *code)
{
    const char *line, *end;

    for (line = code; line; line = end ? end + 1 : NULL) {
        end = strpbrk(line, "\r\n");
        if (line_defines(line))
            return true;
    }
    return false;
}

static int rule_tool_code(struct check *c)
{
    size_t i;

    for (i = 0; i < c->m->tools_len; i++)
        if (text_is_blank(c->m->tools[i].code))
            ERROR(c, 14, MEMBER_PATH(c->m->tools[i].where, "code"), "Tool \"%s\": the code is blank",
                  SHOWN(c->m->tools[i].name));
    return 0;
}

static int rule_tool_function(struct check *c)
{
    size_t i;

    for (i = 0; i < c->m->tools_len; i++)
        if (!text_is_blank(c->m->tools[i].code) && !code_defines(c->m->tools[i].code))
            ERROR(c, 15, MEMBER_PATH(c->m->tools[i].where, "code"),
                  "Tool \"%s\": the code defines no function (def name(...):)", SHOWN(c->m->tools[i].name));
    return 0;
}

static int rule_tool_name(struct check *c)
{
    size_t i;

    for (i = 0; i < c->m->tools_len; i++)
        if (!text_is_blank(c->m->tools[i].code) && !text_is_identifier(c->m->tools[i].name))
            ERROR(c, 16, MEMBER_PATH(c->m->tools[i].where, "name"), "Tool \"%s\": the name must be a Python identifier",
                  SHOWN(c->m->tools[i].name));
    return 0;
}

/* ---- 17 to 21: single fields
 * ----------------------------------------------------------------------------------- */

static int rule_skill_content(struct check *c)
{
    size_t i;

    for (i = 0; i < c->m->skills_len; i++)
        if (text_is_blank(c->m->skills[i].content))
            ERROR(c, 17, MEMBER_PATH(c->m->skills[i].where, "content"), "Skill \"%s\": the content is blank",
                  SHOWN(c->m->skills[i].name));
    return 0;
}

static int rule_workspace_path(struct check *c)
{
    size_t i;

    for (i = 0; i < c->m->workspaces_len; i++)
        if (text_is_blank(c->m->workspaces[i].path))
            ERROR(c, 18, MEMBER_PATH(c->m->workspaces[i].where, "path"), "Workspace \"%s\": the path is blank",
                  SHOWN(c->m->workspaces[i].name));
    return 0;
}

static int rule_read_limit(struct check *c)
{
    size_t i;

    for (i = 0; i < c->m->workspaces_len; i++)
        if (c->m->workspaces[i].max_read_bytes <= 0)
            ERROR(c, 19, MEMBER_PATH(c->m->workspaces[i].where, "max_read_bytes"),
                  "Workspace \"%s\": max_read_bytes must be above 0, not %lld", SHOWN(c->m->workspaces[i].name),
                  (long long)c->m->workspaces[i].max_read_bytes);
    return 0;
}

static int rule_steps(struct check *c)
{
    size_t i;

    for (i = 0; i < c->m->states_len; i++)
        if (c->m->states[i].reasoning && c->m->states[i].max_steps <= 0)
            ERROR(c, 20, MEMBER_PATH(c->m->states[i].where, "max_steps"),
                  "State \"%s\": max_steps must be above 0, not %lld", SHOWN(c->m->states[i].name),
                  (long long)c->m->states[i].max_steps);
    return 0;
}

static int rule_descriptions(struct check *c)
{
    size_t i;

    for (i = 0; i < c->m->tools_len; i++)
        if (!text_is_blank(c->m->tools[i].code) && text_is_blank(c->m->tools[i].description))
            WARNING(c, 21, c->m->tools[i].where, "Tool \"%s\" has no description; an LLM chooses tools by it",
                    SHOWN(c->m->tools[i].name));
    for (i = 0; i < c->m->workspaces_len; i++)
        if (text_is_blank(c->m->workspaces[i].description))
            WARNING(c, 21, c->m->workspaces[i].where, "Workspace \"%s\" has no description; an LLM chooses by it",
                    SHOWN(c->m->workspaces[i].name));
    return 0;
}

/* ---- 22 to 24: references of actions
 * --------------------------------------------------------------------------- */

/* Calls check for every action of every body. */
static void each_action(struct check *c,
                        void (*check)(struct check *, const struct state *, const char *part, const struct action *))
{
    size_t i, k;

    for (i = 0; i < c->m->states_len; i++) {
        const struct state *s = &c->m->states[i];

        for (k = 0; k < s->body.len; k++)
            check(c, s, "body", &s->body.items[k]);
        for (k = 0; k < s->fallback.len; k++)
            check(c, s, "fallback body", &s->fallback.items[k]);
    }
}

static bool lacks_llm(const char *name, size_t llm)
{
    return llm == MODEL_NONE && !text_is_blank(name);
}

static void check_llm(struct check *c, const struct state *s, const char *part, const struct action *a)
{
    bool asks = a->kind == ACTION_LLM || a->kind == ACTION_LLM_CHAT || (a->kind == ACTION_DB && !a->db_sql);

    if (asks && lacks_llm(a->llm_name, a->llm))
        ERROR(c, 22, MEMBER_PATH(a->where, "llm_name"), "State \"%s\", %s, %s: agent \"%s\" has no LLM named \"%s\"",
              SHOWN(s->name), part, action_kind_title(a->kind), SHOWN(c->m->name), SHOWN(a->llm_name));
}

static int rule_known_llms(struct check *c)
{
    const struct model *m = c->m;
    size_t i;

    for (i = 0; i < m->states_len; i++)
        if (m->states[i].reasoning && lacks_llm(m->states[i].llm_name, m->states[i].llm))
            ERROR(c, 22, MEMBER_PATH(m->states[i].where, "llm_name"),
                  "State \"%s\" (reasoning): agent \"%s\" has no LLM named \"%s\"", SHOWN(m->states[i].name),
                  SHOWN(m->name), SHOWN(m->states[i].llm_name));
    each_action(c, check_llm);
    for (i = 0; i < m->rags_len; i++)
        if (lacks_llm(m->rags[i].llm_name, m->rags[i].llm))
            ERROR(c, 22, MEMBER_PATH(m->rags[i].where, "llm_name"),
                  "RAG store \"%s\": agent \"%s\" has no LLM named \"%s\"", SHOWN(m->rags[i].name), SHOWN(m->name),
                  SHOWN(m->rags[i].llm_name));
    return 0;
}

static void check_gui(struct check *c, const struct state *s, const char *part, const struct action *a)
{
    if (a->kind == ACTION_GUI && a->gui == MODEL_NONE)
        ERROR(c, 23, MEMBER_PATH(a->where, "guiId"), "State \"%s\", %s: agent \"%s\" has no GUI with the id \"%s\"",
              SHOWN(s->name), part, SHOWN(c->m->name), SHOWN(a->text));
}

static int rule_known_guis(struct check *c)
{
    each_action(c, check_gui);
    return 0;
}

static void check_crawl(struct check *c, const struct state *s, const char *part, const struct action *a)
{
    if (a->kind != ACTION_WEB_CRAWL)
        return;
    if (lacks_llm(a->llm_name, a->llm))
        ERROR(c, 24, MEMBER_PATH(a->where, "llm_name"), "State \"%s\", %s, %s: agent \"%s\" has no LLM named \"%s\"",
              SHOWN(s->name), part, action_kind_title(a->kind), SHOWN(c->m->name), SHOWN(a->llm_name));
    if (strcmp(a->crawl_format, "markdown") != 0 && strcmp(a->crawl_format, "html") != 0)
        ERROR(c, 24, MEMBER_PATH(a->where, "crawl_format"),
              "State \"%s\", %s, %s: crawl_format must be markdown or html, not \"%s\"", SHOWN(s->name), part,
              action_kind_title(a->kind), SHOWN(a->crawl_format));
}

static int rule_crawls(struct check *c)
{
    each_action(c, check_crawl);
    return 0;
}

int diagram_check(const struct model *m, struct findings *f, struct err *err)
{
    static int (*const rules[])(struct check *) = {
        rule_disjoint_names, rule_known_intents,      rule_tool_code,      rule_tool_function,
        rule_tool_name,      rule_skill_content,      rule_workspace_path, rule_read_limit,
        rule_steps,          rule_descriptions,       rule_known_llms,     rule_known_guis,
        rule_crawls,         rule_unconditional_last,
    };
    struct check c = { .m = m, .f = f };
    size_t i;

    for (i = 0; i < ARRAY_LEN(rules); i++)
        if (rules[i](&c) < 0)
            return err_nomem(err);
    return 0;
}
