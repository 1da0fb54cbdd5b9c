/* Transitions in the spelling of today's editors (4.3 to 4.8). */
#include <string.h>

#include "shared/base/buf.h"
#include "shared/base/mem.h"
#include "shared/diagram/writer.h"

static const char *short_type(const char *type)
{
    static const char *const rows[][2] = {
        { "application/pdf", "pdf" }, { "text/plain", "txt" }, { "application/json", "json" }, { "text/csv", "csv" },
        { "text/xml", "xml" },        { "image/png", "png" },  { "image/jpeg", "jpg" },        { "image/gif", "gif" },
        { "audio/mpeg", "mp3" },      { "video/mp4", "mp4" },
    };
    size_t i;

    for (i = 0; i < ARRAY_LEN(rows); i++)
        if (strcmp(rows[i][0], type) == 0)
            return rows[i][1];
    return type;
}

static void add_file_types(struct diagram_writer *w, cJSON *to, const struct str_list *types)
{
    auto_buf struct buf text;
    size_t i;

    buf_init(&text, SIZE_MAX / 2);
    buf_add_str(&text, "");
    for (i = 0; i < types->len; i++) {
        buf_add_str(&text, i ? ", " : "");
        buf_add_str(&text, short_type(types->items[i]));
    }
    w->failed |= buf_failed(&text);
    diagram_add_word(w, to, "fileType", text.data);
}

static void add_comparison(struct diagram_writer *w, cJSON *to, const struct transition *t)
{
    static const char *const signs[COMPARE__MAX] = {
        [COMPARE_LT] = "<",  [COMPARE_LE] = "<=", [COMPARE_EQ] = "==",
        [COMPARE_GE] = ">=", [COMPARE_GT] = ">",  [COMPARE_NE] = "!=",
    };
    cJSON *value = diagram_add_object(w, to, "conditionValue");

    diagram_add_word(w, value, "variable", t->variable);
    diagram_add_text(w, value, "operator", t->foreign_op ? t->foreign_op : signs[t->op]);
    diagram_add_value(w, value, "targetValue", &t->target_value);
}

static void add_predefined(struct diagram_writer *w, cJSON *to, const struct transition *t)
{
    static const char *const kinds[TRANSITION__MAX] = {
        [TRANSITION_INTENT] = "when_intent_matched",
        [TRANSITION_NO_INTENT] = "when_no_intent_matched",
        [TRANSITION_VARIABLE] = "when_variable_operation_matched",
        [TRANSITION_FILE] = "when_file_received",
        [TRANSITION_FORM] = "when_form_submitted",
        [TRANSITION_AUTO] = "auto",
        [TRANSITION_CUSTOM] = "",
    };

    diagram_add_text(w, to, "predefinedType", kinds[t->kind]);
    switch (t->kind) {
    case TRANSITION_INTENT:
        diagram_add_word(w, to, "intentName",
                         t->intent < w->m->intents_len ? w->m->intents[t->intent].name : t->intent_name);
        break;
    case TRANSITION_VARIABLE:
        add_comparison(w, to, t);
        break;
    case TRANSITION_FILE:
        add_file_types(w, to, &t->file_types);
        break;
    case TRANSITION_FORM:
        diagram_add_word(w, to, "formGuiId", t->form_id);
        break;
    default:
        diagram_add_text(w, to, "conditionValue", "");
        break;
    }
}

static void add_custom(struct diagram_writer *w, cJSON *to, const struct transition *t)
{
    const char *event = t->kind == TRANSITION_CUSTOM ? event_class(t->event) : NULL;
    cJSON *list;
    size_t i;

    diagram_add_text(w, to, "event", event ? event : "None");
    list = diagram_add_array(w, to, "condition");
    for (i = 0; t->kind == TRANSITION_CUSTOM && i < t->conditions_len; i++)
        diagram_add_item(w, list, t->conditions[i].source ? t->conditions[i].source : "");
    if (t->kind == TRANSITION_CUSTOM && t->gui_id)
        diagram_add_text(w, to, "guiEventGuiId", t->gui_id);
}

static void write_transition(struct diagram_writer *w, size_t state, size_t nth)
{
    const struct state *s = &w->m->states[state];
    const struct transition *t = &s->transitions[nth];
    const char *event = t->kind == TRANSITION_CUSTOM ? event_class(t->event) : NULL;
    char id[DIAGRAM_ID_SIZE], from[DIAGRAM_ID_SIZE], at[DIAGRAM_ID_SIZE];
    cJSON *e;

    diagram_id(w, "AgentStateTransition", s->name, nth, id);
    diagram_id(w, "AgentState", s->name, 0, from);
    diagram_id(w, "AgentState", w->m->states[t->target].name, 0, at);
    e = diagram_add_element(w, w->relationships, id, "AgentStateTransition", event, NULL);
    diagram_add_arc(w, e, &(struct arc_end){ from, w->boxes[state] }, &(struct arc_end){ at, w->boxes[t->target] },
                    nth);
    diagram_add_text(w, e, "transitionType", t->kind == TRANSITION_CUSTOM ? "custom" : "predefined");
    add_predefined(w, diagram_add_object(w, e, "predefined"), t);
    add_custom(w, diagram_add_object(w, e, "custom"), t);
}

static void write_start(struct diagram_writer *w)
{
    char id[DIAGRAM_ID_SIZE], from[DIAGRAM_ID_SIZE], at[DIAGRAM_ID_SIZE];
    cJSON *e;

    diagram_id(w, "AgentStateTransitionInit", "", 0, id);
    diagram_id(w, "StateInitialNode", "", 0, from);
    diagram_id(w, "AgentState", w->m->states[0].name, 0, at);
    e = diagram_add_element(w, w->relationships, id, "AgentStateTransitionInit", "", NULL);
    diagram_add_start_arc(w, e, &(struct arc_end){ from, w->start }, &(struct arc_end){ at, w->boxes[0] });
}

void diagram_write_transitions(struct diagram_writer *w)
{
    auto_free struct arc_place *order = NULL;
    size_t i, len = 0;

    for (i = 0; i < w->m->states_len; i++)
        len += w->m->states[i].transitions_len;
    order = mem_zalloc(len + 1, sizeof(*order));
    if (!order || diagram_order(w->m, order) < 0) {
        w->failed = true;
        return;
    }
    if (w->m->states_len)
        write_start(w);
    for (i = 0; i < len; i++)
        write_transition(w, order[i].state, order[i].nth);
}
