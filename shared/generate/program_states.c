#include <string.h>

#include "shared/generate/program.h"

static void write_reasoning_state(struct program *p, size_t i)
{
    const struct state *s = &p->model->states[i];
    const char *llm = program_llm(p, s->llm_name);
    struct code_writer *w = &p->code;

    if (!*llm)
        code_line(w, "@logger.warning('State %%s: there is no LLM to reason with', %s)", s->name);
    code_call(w, "%n = @new_reasoning_state", p->states[i]);
    code_arg(w, "agent=@agent");
    code_arg(w, "llm=%n", *llm ? llm : "None");
    code_arg(w, "name=%s", s->name);
    code_arg(w, "initial=%b", s->initial);
    code_arg(w, "max_steps=%d", s->max_steps);
    code_arg(w, "enable_task_planning=%b", s->task_planning);
    code_arg(w, "stream_steps=%b", s->stream_steps);
    if (s->system_prompt && *s->system_prompt)
        code_arg(w, "system_prompt=%s", s->system_prompt);
    if (s->fallback_message && *s->fallback_message)
        code_arg(w, "fallback_message=%s", s->fallback_message);
    code_call_end(w, "");
}

int program_write_states(struct program *p)
{
    const struct model *m = p->model;
    size_t i;

    if (m->states_len)
        code_heading(&p->code, "States");
    for (i = 0; i < m->states_len; i++) {
        const struct state *s = &m->states[i];

        if (s->reasoning)
            write_reasoning_state(p, i);
        else if (s->initial)
            code_line(&p->code, "%n = @agent.new_state(%s, initial=True)", p->states[i], s->name);
        else
            code_line(&p->code, "%n = @agent.new_state(%s)", p->states[i], s->name);
    }
    return 0;
}

static int write_bodies(struct program *p, size_t i)
{
    const struct state *s = &p->model->states[i];
    const char *body = NULL, *fallback = NULL;

    if (s->reasoning)
        return 0;
    if (s->has_body) {
        body = program_name(p, "body", s->name);
        if (!body || program_write_body(p, s, false, body) < 0)
            return -1;
    }
    if (s->has_fallback) {
        fallback = program_name(p, "fallback", s->name);
        if (!fallback || program_write_body(p, s, true, fallback) < 0)
            return -1;
    }
    if (body || fallback)
        code_gap(&p->code, 2);
    if (body)
        code_line(&p->code, "%n.set_body(%n)", p->states[i], body);
    if (fallback)
        code_line(&p->code, "%n.set_fallback_body(%n)", p->states[i], fallback);
    return 0;
}

int program_write_behaviour(struct program *p)
{
    size_t i;

    code_heading(&p->code, "What each state does, and where it leads");
    for (i = 0; i < p->model->states_len; i++) {
        code_gap(&p->code, 1);
        if (write_bodies(p, i) < 0)
            return -1;
        program_write_transitions(p, i);
    }
    return 0;
}
