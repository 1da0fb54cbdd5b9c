/* Downloads with profiles: the ways between the router, the agent's own states and those of the profiles. */
#include <string.h>

#include "shared/generate/program.h"

void program_write_contexts(struct program *p, const struct state *s)
{
    const struct profile *profile = &p->model->profiles[s->profile - 1];
    struct code_writer *w = &p->code;

    if (!p->default_llm)
        return;
    code_call(w, "@default_llm.add_user_context");
    code_arg(w, "session=session");
    code_arg(w, "context=@configuration_text(%s)", profile->slug);
    code_arg(w, "context_name='agent_configuration'");
    code_call_end(w, "");
    if (!profile->adapts_content)
        return;
    code_call(w, "@default_llm.add_user_context");
    code_arg(w, "session=session");
    code_arg(w, "context=@profile_text(%s)", profile->name);
    code_arg(w, "context_name='user_profile'");
    code_call_end(w, "");
}

/* Index of the first state of profile number n (0: of the agent itself, behind the router). */
static size_t first_state(const struct model *m, size_t n)
{
    size_t i;

    for (i = 1; n && i < m->states_len && !(m->states[i].profile == n && m->states[i].profile_start); i++)
        ;
    return i;
}

static void write_router(struct program *p)
{
    const struct model *m = p->model;
    struct code_writer *w = &p->code;
    size_t i;

    code_gap(w, 1);
    code_text(w, "# Who has a profile with states of its own is sent there, everybody else to the agent's own states");
    for (i = 0; i < m->profiles_len; i++)
        if (m->profiles[i].agent)
            code_line(w, "%n.when_variable_matches_operation('user_profile', @operator.eq, %s).go_to(%n)", p->states[0],
                      m->profiles[i].name, p->states[first_state(m, i + 1)]);
    code_line(w, "%n.go_to(%n)", p->states[0], p->states[first_state(m, 0)]);
}

static bool is_unconditional(const struct transition *t)
{
    return t->kind == TRANSITION_AUTO || (t->kind == TRANSITION_CUSTOM && t->event == EVENT_NONE && !t->conditions_len);
}

/* A state that is left at once never looks at the profile. */
static bool waits(const struct state *s)
{
    size_t i;

    for (i = 0; i < s->transitions_len; i++)
        if (is_unconditional(&s->transitions[i]))
            return false;
    return true;
}

static bool names_another(const struct model *m, size_t n)
{
    size_t i;

    for (i = 0; i < m->profiles_len; i++)
        if (n ? strcmp(m->profiles[i].name, m->profiles[n - 1].name) != 0 : m->profiles[i].agent != NULL)
            return true;
    return false;
}

/* Back to the router from the states of profile number n (0: the agent's own). A profile without states of its own
 * lives in the agent's, so these are not left for it: the router would only send it back. */
static void write_ways_back(struct program *p, size_t n)
{
    const struct model *m = p->model;
    struct code_writer *w = &p->code;
    bool any = false;
    size_t i;

    for (i = 1; i < m->states_len && !any; i++)
        any = m->states[i].profile == n && waits(&m->states[i]);
    if (!any || !names_another(m, n))
        return;
    code_line(w, "@return_to(%n, [", p->states[0]);
    code_open(w);
    for (i = 1; i < m->states_len; i++)
        if (m->states[i].profile == n && waits(&m->states[i]))
            code_line(w, "%n,", p->states[i]);
    code_close(w);
    if (n) {
        code_line(w, "], [name for name in @profile_names if name != %s])", m->profiles[n - 1].name);
        return;
    }
    code_text(w, "], [");
    code_open(w);
    for (i = 0; i < m->profiles_len; i++)
        if (m->profiles[i].agent)
            code_line(w, "%s,", m->profiles[i].name);
    code_close(w);
    code_text(w, "])");
}

int program_write_routes(struct program *p)
{
    const struct model *m = p->model;
    struct code_writer *w = &p->code;
    size_t i;

    if (!m->profiles_len)
        return 0;
    write_router(p);
    for (i = 0; i < m->profiles_len && !m->profiles[i].agent; i++)
        ;
    if (i == m->profiles_len)
        return 0;
    code_gap(w, 1);
    code_text(w, "@profile_names = [");
    code_open(w);
    for (i = 0; i < m->profiles_len; i++)
        code_line(w, "%s,", m->profiles[i].name);
    code_close(w);
    code_text(w, "]");
    for (i = 0; i <= m->profiles_len; i++)
        write_ways_back(p, i);
    return 0;
}
