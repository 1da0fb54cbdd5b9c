#include <string.h>

#include "shared/base/mem.h"
#include "shared/base/str.h"
#include "shared/generate/program.h"

static const char *const operators[COMPARE__MAX] = {
    [COMPARE_LT] = "lt", [COMPARE_LE] = "le", [COMPARE_EQ] = "eq",
    [COMPARE_GE] = "ge", [COMPARE_GT] = "gt", [COMPARE_NE] = "ne",
};

static const char *const events[EVENT__MAX] = {
    [EVENT_RECEIVE_TEXT] = "@ReceiveTextEvent()",
    [EVENT_RECEIVE_JSON] = "@ReceiveJSONEvent()",
    [EVENT_RECEIVE_FILE] = "@ReceiveFileEvent()",
    [EVENT_DUMMY] = "@DummyEvent()",
    [EVENT_WILDCARD] = "@WildcardEvent()",
    [EVENT_RECEIVE_MESSAGE] = "@ReceiveMessageEvent()",
    [EVENT_GUI] = "@GUIEvent()",
};

/* ---- conditions
 * -------------------------------------------------------------------------------------------------
 */

/* CPython took the source with this def in it, so the name is one; what is checked here is that
 * nothing else came. */
int program_check_function(struct program *p, const char *name)
{
    const char *s;

    if (name && *name && !(*name >= '0' && *name <= '9')) {
        for (s = name; (unsigned char)*s >= 0x80 || *s == '_' || (*s >= '0' && *s <= '9') || (*s >= 'a' && *s <= 'z') ||
                       (*s >= 'A' && *s <= 'Z');
             s++)
            ;
        if (!*s)
            return 0;
    }
    return err_set(p->err, ERR_INTERNAL, 0, "a function of the diagram's code has no usable name");
}

int program_write_scope(struct program *p, const char *name, const char *scoped, const char *function)
{
    struct code_writer *w = &p->code;
    const char *scope = program_name(p, "scope", name + strlen(p->prefix));

    if (!scope)
        return -1;
    code_gap(w, 2);
    code_begin(w);
    code_part(w, "def %n%n    return %n\n", scope, scoped, function);
    code_gap(w, 2);
    code_line(w, "%n = %n()", name, scope);
    return 0;
}

/* The condition's source, and its function under the private name label_code. */
static int write_condition_code(struct program *p, const struct condition *c)
{
    struct code_writer *w = &p->code;
    auto_buf struct buf name;

    buf_init(&name, SIZE_MAX / 2);
    if (buf_add_fmt(&name, "%s%s_code", p->prefix, c->label) < 0)
        return err_nomem(p->err);
    if (c->apart) {
        code_line(w, "%n = @own_module(%s, %s)", name.data, c->source, c->function);
        return 0;
    }
    if (c->scoped)
        return program_write_scope(p, name.data, c->scoped, c->function);
    code_gap(w, 2);
    code_raw(w, c->source);
    code_gap(w, 2);
    code_line(w, "%n = %n", name.data, c->function);
    return 0;
}

static int write_condition(struct program *p, const struct condition *c)
{
    struct code_writer *w = &p->code;

    if (program_check_function(p, c->function) < 0 || write_condition_code(p, c) < 0)
        return -1;
    code_gap(w, 2);
    code_line(w, "def %n%n(session):", p->prefix, c->label);
    code_open(w);
    code_line(w, "return %n%n_code(%n)", p->prefix, c->label, c->parameters == 2 ? "session, {}" : "session");
    code_close(w);
    code_gap(w, 2);
    return 0;
}

int program_write_conditions(struct program *p)
{
    const struct model *m = p->model;
    size_t i, j, k;

    for (i = 0; i < m->states_len; i++)
        for (j = 0; j < m->states[i].transitions_len; j++)
            for (k = 0; k < m->states[i].transitions[j].conditions_len; k++)
                if (write_condition(p, &m->states[i].transitions[j].conditions[k]) < 0)
                    return -1;
    return 0;
}

/* ---- transitions
 * ------------------------------------------------------------------------------------------------
 */

static void write_file(struct program *p, const struct transition *t, const char *from, const char *to)
{
    struct code_writer *w = &p->code;
    struct value types = { .kind = VALUE_ARRAY };
    auto_free struct value *items = NULL;
    size_t i;

    if (!t->file_types.len) {
        code_line(w, "%n.when_file_received().go_to(%n)", from, to);
        return;
    }
    /* A list also for one type: the framework looks for the sent type inside a text. */
    items = mem_zalloc(t->file_types.len, sizeof(*items));
    if (!items) {
        w->out.failed = true;
        return;
    }
    for (i = 0; i < t->file_types.len; i++)
        items[i] = (struct value){ .kind = VALUE_STRING, .string = t->file_types.items[i] };
    types.items = items;
    types.len = t->file_types.len;
    code_line(w, "%n.when_file_received(%v).go_to(%n)", from, &types, to);
}

static void write_variable(struct program *p, const struct transition *t, const char *from, const char *to)
{
    code_line(&p->code, "%n.when_variable_matches_operation(%s, @comparison(@operator.%n), %v).go_to(%n)", from,
              t->variable, operators[t->op], &t->target_value, to);
}

static void write_form(struct program *p, const struct transition *t, const char *from, const char *to)
{
    if (t->form_id && *t->form_id)
        code_line(&p->code, "%n.when_form_submitted(form_id=%s).go_to(%n)", from, t->form_id, to);
    else
        code_line(&p->code, "%n.when_form_submitted().go_to(%n)", from, to);
}

static void write_intent(struct program *p, const struct transition *t, const char *from, const char *to)
{
    if (t->intent == MODEL_NONE || t->intent >= p->model->intents_len)
        code_line(&p->code, "%n.when_no_intent_matched().go_to(%n)", from, to);
    else
        code_line(&p->code, "%n.when_intent_matched(%n).go_to(%n)", from, p->intents[t->intent], to);
}

/* All conditions of a custom transition as one: the framework fails when it is given a second one. */
static void add_condition(struct program *p, const struct transition *t, const char *filter)
{
    struct code_writer *w = &p->code;
    bool several = t->conditions_len + (filter ? 1 : 0) > 1;
    size_t i;

    code_part(w, several ? "@all_of(" : "");
    if (filter)
        code_part(w, "@from_gui(%s)", filter);
    for (i = 0; i < t->conditions_len; i++)
        code_part(w, "%n%n%n", i || filter ? ", " : "", p->prefix, t->conditions[i].label);
    code_part(w, several ? ")" : "");
}

static void write_custom(struct program *p, const struct transition *t, const char *from, const char *to)
{
    const char *filter = t->event == EVENT_GUI && t->gui_id && *t->gui_id ? t->gui_id : NULL;
    struct code_writer *w = &p->code;

    if (t->event == EVENT_NONE && !t->conditions_len) {
        code_line(w, "%n.go_to(%n)", from, to);
        return;
    }
    code_begin(w);
    if (t->event == EVENT_NONE) {
        code_part(w, "%n.when_condition(", from);
    } else {
        code_part(w, "%n.when_event(", from);
        if (filter)
            code_part(w, "@GUIEvent(message_id=%s)", filter);
        else
            code_part(w, events[t->event]);
        code_part(w, filter || t->conditions_len ? ").with_condition(" : "");
    }
    add_condition(p, t, filter);
    code_part(w, ").go_to(%n)\n", to);
}

void program_write_transitions(struct program *p, size_t state)
{
    const struct state *s = &p->model->states[state];
    const char *from = p->states[state];
    size_t i;

    for (i = 0; i < s->transitions_len; i++) {
        const struct transition *t = &s->transitions[i];
        const char *to = p->states[t->target];

        switch (t->kind) {
        case TRANSITION_INTENT:
            write_intent(p, t, from, to);
            break;
        case TRANSITION_NO_INTENT:
            code_line(&p->code, "%n.when_no_intent_matched().go_to(%n)", from, to);
            break;
        case TRANSITION_VARIABLE:
            write_variable(p, t, from, to);
            break;
        case TRANSITION_FILE:
            write_file(p, t, from, to);
            break;
        case TRANSITION_FORM:
            write_form(p, t, from, to);
            break;
        case TRANSITION_CUSTOM:
            write_custom(p, t, from, to);
            break;
        case TRANSITION_AUTO:
        case TRANSITION__MAX:
            code_line(&p->code, "%n.go_to(%n)", from, to);
            break;
        }
    }
}
