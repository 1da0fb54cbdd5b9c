/* Statements for states, conditions, bodies and transitions: rows 11 to 15 of section 3. */
#include <string.h>

#include "shared/base/mem.h"
#include "shared/buml/writer.h"
#include "shared/json/value.h"

static void write_reasoning(struct buml_writer *w, size_t i)
{
    const struct state *s = &w->m->states[i];
    struct code_writer *c = &w->code;

    code_call(c, "%n = %n.new_reasoning_state", w->states[i], w->agent);
    code_arg(c, "name=%s", s->name);
    code_arg(c, "llm=%s", s->llm_name && *s->llm_name ? s->llm_name : NULL);
    if (s->initial)
        code_arg(c, "initial=True");
    code_arg(c, "max_steps=%d", s->max_steps);
    code_arg(c, "enable_task_planning=%b", s->task_planning);
    code_arg(c, "stream_steps=%b", s->stream_steps);
    if (s->system_prompt)
        code_arg(c, "system_prompt=%s", s->system_prompt);
    if (s->fallback_message)
        code_arg(c, "fallback_message=%s", s->fallback_message);
    code_call_end(c, "");
}

int buml_write_states(struct buml_writer *w)
{
    size_t i;

    for (i = 0; i < w->m->states_len; i++) {
        const struct state *s = &w->m->states[i];

        if (s->reasoning)
            write_reasoning(w, i);
        else if (s->initial)
            code_line(&w->code, "%n = %n.new_state(%s, initial=True)", w->states[i], w->agent, s->name);
        else
            code_line(&w->code, "%n = %n.new_state(%s)", w->states[i], w->agent, s->name);
    }
    for (i = 0; i < w->m->states_len; i++)
        if (w->m->states[i].description && *w->m->states[i].description)
            code_line(&w->code, "%n.metadata = Metadata(description=%s)", w->states[i], w->m->states[i].description);
    return 0;
}

/* ---- user code ----------------------------------------------------------------------------------------------------
 */

/* Line breaks at its end are as many lines more in front of the statement that names it. */
static void write_source(struct buml_writer *w, const char *source)
{
    code_gap(&w->code, 2);
    code_raw(&w->code, source);
    if (*source && source[strlen(source) - 1] == '\n')
        buf_add_char(&w->code.out, '\n');
    code_gap(&w->code, 2);
}

static void write_condition(struct buml_writer *w, const struct condition *cond, const struct buml_code *code)
{
    if (code->function) {
        write_source(w, cond->source);
        code_line(&w->code, "%n = Condition(%s, callable=%n)", code->variable, code->function, code->function);
        return;
    }
    code_call(&w->code, "%n = Condition", code->variable);
    code_arg(&w->code, "%s", cond->label ? cond->label : "condition");
    if (cond->source)
        code_arg(&w->code, "source=%s", cond->source);
    code_call_end(&w->code, "");
}

static void write_conditions(struct buml_writer *w)
{
    size_t i, k, n, at = 0;

    code_gap(&w->code, 1);
    for (i = 0; i < w->m->states_len; i++)
        for (k = 0; k < w->m->states[i].transitions_len; k++) {
            const struct transition *t = &w->m->states[i].transitions[k];

            for (n = 0; n < t->conditions_len; n++)
                write_condition(w, &t->conditions[n], &w->conditions[at++]);
        }
    code_gap(&w->code, 1);
}

/* ---- bodies -------------------------------------------------------------------------------------------------------
 */

static const char *name_body(struct buml_writer *w, const char *state, const char *suffix)
{
    auto_buf struct buf raw;

    buf_init(&raw, SIZE_MAX / 2);
    if (buf_add_fmt(&raw, "%s%s", state, suffix) < 0) {
        err_nomem(w->err);
        return NULL;
    }
    return names_make(&w->names, raw.data, w->err);
}

/* The function and its action; the action's variable, NULL out of memory. */
static const char *write_function(struct buml_writer *w, size_t i, bool fallback, const char *source)
{
    const char *function = w->bodies[2 * i + fallback].function, *variable;
    auto_buf struct buf raw;

    buf_init(&raw, SIZE_MAX / 2);
    if (buf_add_fmt(&raw, "%s%s", w->states[i], fallback ? "_fallback" : "") < 0) {
        err_nomem(w->err);
        return NULL;
    }
    variable = names_make_prefixed(&w->names, "CustomCodeAction", raw.data, w->err);
    if (!variable)
        return NULL;
    write_source(w, source);
    code_line(&w->code, "%n = CustomCodeAction(callable=%n)", variable, function);
    return variable;
}

static void open_body(struct buml_writer *w, const char *variable, const struct state *s, const char *suffix)
{
    auto_buf struct buf name;

    buf_init(&name, SIZE_MAX / 2);
    if (buf_add_fmt(&name, "%s%s", s->name, suffix) < 0)
        w->code.out.failed = true;
    else
        code_line(&w->code, "%n = Body(%s)", variable, name.data);
}

static int write_body(struct buml_writer *w, size_t i, bool fallback)
{
    const struct state *s = &w->m->states[i];
    const struct action_list *l = fallback ? &s->fallback : &s->body;
    const char *suffix = fallback ? "_fallback_body" : "_body", *variable, *action = NULL;
    size_t k;

    if (!l->len || s->reasoning)
        return 0;
    variable = name_body(w, w->states[i], suffix);
    if (!variable)
        return -1;
    if (w->bodies[2 * i + fallback].function && !(action = write_function(w, i, fallback, l->items[0].text)))
        return -1;
    open_body(w, variable, s, suffix);
    if (action)
        code_line(&w->code, "%n.add_action(%n)", variable, action);
    for (k = 0; !action && k < l->len; k++)
        buml_write_action(w, variable, &l->items[k]);
    code_line(&w->code, fallback ? "%n.set_fallback_body(%n)" : "%n.set_body(%n)", w->states[i], variable);
    return 0;
}

/* ---- transitions --------------------------------------------------------------------------------------------------
 */

static void write_intent(struct code_writer *c, const struct buml_writer *w, const struct transition *t)
{
    if (t->intent < w->m->intents_len)
        code_part(c, ".when_intent_matched(%n)", w->intents[t->intent]);
    else
        code_part(c, ".when_intent_matched(Intent(%s))", t->intent_name ? t->intent_name : "");
}

static void write_file(struct code_writer *c, const struct str_list *types)
{
    size_t i;

    code_part(c, ".when_file_received(");
    if (types->len > 1)
        code_part(c, "[");
    for (i = 0; i < types->len; i++)
        code_part(c, i ? ", %s" : "%s", types->items[i]);
    code_part(c, types->len > 1 ? "])" : ")");
}

static void write_event(struct code_writer *c, const struct transition *t)
{
    code_part(c, ".when_event(%n(", event_class(t->event));
    if (t->event == EVENT_RECEIVE_MESSAGE)
        code_part(c, "''");
    else if (t->event == EVENT_GUI && t->gui_id && *t->gui_id)
        code_part(c, "message_id=%s", t->gui_id);
    code_part(c, "))");
}

/* conditions: of this transition. */
static void write_custom(struct code_writer *c, const struct transition *t, const struct buml_code *conditions)
{
    size_t i;

    if (t->event != EVENT_NONE)
        write_event(c, t);
    for (i = 0; i < t->conditions_len; i++)
        code_part(c, i || t->event != EVENT_NONE ? ".with_condition(%n)" : ".when_condition(%n)",
                  conditions[i].variable);
}

static void write_transition(struct buml_writer *w, size_t state, const struct transition *t,
                             const struct buml_code *conditions)
{
    struct code_writer *c = &w->code;

    code_begin(c);
    code_part(c, "%n", w->states[state]);
    switch (t->kind) {
    case TRANSITION_INTENT:
        write_intent(c, w, t);
        break;
    case TRANSITION_NO_INTENT:
        code_part(c, ".when_no_intent_matched()");
        break;
    case TRANSITION_VARIABLE:
        code_part(c, ".when_variable_matches_operation(var_name=%s, operation=operator.%n, target=%v)",
                  t->variable ? t->variable : "", compare_op_name(t->op), &t->target_value);
        break;
    case TRANSITION_FILE:
        write_file(c, &t->file_types);
        break;
    case TRANSITION_FORM:
        code_part(c, t->form_id && *t->form_id ? ".when_form_submitted(form_id=%s)" : ".when_form_submitted()",
                  t->form_id);
        break;
    case TRANSITION_CUSTOM:
        write_custom(c, t, conditions);
        break;
    case TRANSITION_AUTO:
    case TRANSITION__MAX:
        break;
    }
    code_part(c, ".go_to(%n)\n", w->states[t->target]);
}

int buml_write_behaviour(struct buml_writer *w)
{
    const struct buml_code *conditions = w->conditions;
    size_t i, k;

    write_conditions(w);
    for (i = 0; i < w->m->states_len; i++) {
        const struct state *s = &w->m->states[i];

        if (write_body(w, i, false) < 0 || write_body(w, i, true) < 0)
            return -1;
        for (k = 0; k < s->transitions_len; k++) {
            write_transition(w, i, &s->transitions[k], conditions);
            conditions += s->transitions[k].conditions_len;
        }
        code_gap(&w->code, 1);
    }
    return 0;
}
