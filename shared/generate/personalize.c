#include "shared/generate/personalize.h"

#include <string.h>

#include "shared/base/buf.h"
#include "shared/base/mem.h"
#include "shared/diagram/map.h"

#define ROUTER "router_initial_state"

/* ---- names
 * ------------------------------------------------------------------------------------------------- */

/* Gives *name the suffix, and a number when that name is taken. Now it is. */
static int rename_unique(struct map *taken, char **name, const char *suffix)
{
    auto_buf struct buf made;
    size_t n = 2, len;
    int added;

    buf_init(&made, SIZE_MAX / 2);
    buf_add_str(&made, *name);
    if (*suffix)
        buf_add_char(&made, '_');
    if (buf_add_str(&made, suffix) < 0)
        return -1;
    len = made.len;
    while ((added = map_put(taken, made.data, made.len, 0, NULL)) == 0) {
        made.len = len;
        if (buf_add_fmt(&made, "_%zu", n++) < 0)
            return -1;
    }
    if (added < 0)
        return -1;
    mem_free(*name);
    *name = buf_steal(&made, NULL);
    return *name ? 0 : -1;
}

/* Conditions are numbered anew in every diagram. */
static int rename_condition(struct condition *c, size_t profile)
{
    auto_buf struct buf made;

    buf_init(&made, SIZE_MAX / 2);
    if (buf_add_fmt(&made, "%s_profile_%zu", c->label, profile) < 0)
        return -1;
    mem_free(c->label);
    c->label = buf_steal(&made, NULL);
    return c->label ? 0 : -1;
}

/* ---- the router
 * ------------------------------------------------------------------------------------------------- */

static void shift_targets(struct state *s, size_t by)
{
    size_t i;

    for (i = 0; i < s->transitions_len; i++)
        s->transitions[i].target += by;
}

static int add_router(struct model *m, struct map *taken)
{
    struct state *s = model_add_state(m), router;
    size_t i;

    if (!s)
        return -1;
    s->initial = true;
    s->name = mem_strdup(ROUTER);
    s->id = mem_strdup("");
    if (!s->name || !s->id || rename_unique(taken, &s->name, "") < 0)
        return -1;
    router = *s;
    memmove(m->states + 1, m->states, (m->states_len - 1) * sizeof(*m->states));
    m->states[0] = router;
    for (i = 1; i < m->states_len; i++) {
        m->states[i].initial = false;
        shift_targets(&m->states[i], 1);
    }
    return 0;
}

/* ---- what a profile brings
 * ------------------------------------------------------------------------------------------------- */

/* Moves the parts of one kind that m has none of under that name; an emptied one stays in its place. */
#define MOVER(kind, one, member) \
    static int move_##kind(struct model *m, struct model *from) \
    { \
        struct one *to; \
        struct map known; \
        size_t i; \
        int rc = 0; \
\
        map_init(&known); \
        for (i = 0; i < m->kind##_len && rc >= 0; i++) \
            rc = map_put_name(&known, m->kind[i].member, i, NULL); \
        for (i = 0; i < from->kind##_len && rc >= 0; i++) { \
            rc = map_put_name(&known, from->kind[i].member, i, NULL); \
            if (rc <= 0) \
                continue; \
            to = model_add_##one(m); \
            if (to) { \
                *to = from->kind[i]; \
                memset(&from->kind[i], 0, sizeof(*to)); \
            } \
            rc = to ? 1 : -1; \
        } \
        map_release(&known); \
        return rc < 0 ? -1 : 0; \
    }
MOVER(llms, llm, name)
MOVER(rags, rag, name)
MOVER(guis, gui, gui_id)
MOVER(tools, tool, name)
MOVER(skills, skill, name)
MOVER(workspaces, workspace, name)

static int move_parts(struct model *m, struct model *from)
{
    if (m->default_llm == MODEL_NONE && from->default_llm != MODEL_NONE)
        m->default_llm = m->llms_len + from->default_llm; /* no LLM was there before, so all of them move */
    return move_llms(m, from) < 0 || move_rags(m, from) < 0 || move_guis(m, from) < 0 || move_tools(m, from) < 0 ||
                   move_skills(m, from) < 0 || move_workspaces(m, from) < 0
               ? -1
               : 0;
}

struct taken { /* names of states and intents */
    struct map states, intents;
};

static int move_intents(struct model *m, const struct profile *p, struct taken *taken)
{
    size_t i;

    for (i = 0; i < p->agent->intents_len; i++) {
        struct intent *to = model_add_intent(m);

        if (!to)
            return -1;
        *to = p->agent->intents[i];
        p->agent->intents[i] = (struct intent){ 0 };
        if (rename_unique(&taken->intents, &to->name, p->slug) < 0)
            return -1;
    }
    return 0;
}

/* profile: its number, from 1; intents: index of its first one in m. */
static int adopt_state(struct state *s, size_t profile, size_t first_state, size_t first_intent)
{
    size_t i, k;

    s->profile = profile;
    s->profile_start = s->initial;
    s->initial = false;
    shift_targets(s, first_state);
    for (i = 0; i < s->transitions_len; i++) {
        struct transition *t = &s->transitions[i];

        if (t->intent != MODEL_NONE)
            t->intent += first_intent;
        for (k = 0; k < t->conditions_len; k++)
            if (rename_condition(&t->conditions[k], profile) < 0)
                return -1;
    }
    return 0;
}

static int move_profile(struct model *m, size_t i, struct taken *taken)
{
    const struct profile *p = &m->profiles[i];
    size_t first_state = m->states_len, first_intent = m->intents_len, k;

    if (!p->agent)
        return 0;
    if (move_parts(m, p->agent) < 0 || move_intents(m, p, taken) < 0)
        return -1;
    for (k = 0; k < p->agent->states_len; k++) {
        struct state *to = model_add_state(m);

        if (!to)
            return -1;
        *to = p->agent->states[k];
        p->agent->states[k] = (struct state){ 0 };
        if (rename_unique(&taken->states, &to->name, p->slug) < 0 ||
            adopt_state(to, i + 1, first_state, first_intent) < 0)
            return -1;
    }
    return 0;
}

/* A profile's first body tells the LLM about the profile, so there has to be one. */
static void add_first_bodies(struct model *m)
{
    size_t i;

    for (i = 0; m->llms_len && i < m->states_len; i++)
        if (m->states[i].profile_start && !m->states[i].reasoning)
            m->states[i].has_body = true;
}

static int take_names(const struct model *m, struct taken *taken)
{
    size_t i;

    for (i = 0; i < m->states_len; i++)
        if (map_put(&taken->states, m->states[i].name, strlen(m->states[i].name), 0, NULL) < 0)
            return -1;
    for (i = 0; i < m->intents_len; i++)
        if (map_put(&taken->intents, m->intents[i].name, strlen(m->intents[i].name), 0, NULL) < 0)
            return -1;
    return 0;
}

int personalize(struct model *m, struct err *err)
{
    struct taken taken;
    size_t i;
    int rc;

    if (!m->profiles_len)
        return 0;
    map_init(&taken.states);
    map_init(&taken.intents);
    rc = take_names(m, &taken);
    if (rc == 0)
        rc = add_router(m, &taken.states);
    for (i = 0; i < m->profiles_len && rc == 0; i++)
        rc = move_profile(m, i, &taken);
    map_release(&taken.states);
    map_release(&taken.intents);
    add_first_bodies(m);
    return rc < 0 ? err_nomem(err) : model_resolve(m, err);
}
