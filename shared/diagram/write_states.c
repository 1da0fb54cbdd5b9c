/* States with their actions, the initial node, comments. */
#include <stdio.h>

#include "shared/base/buf.h"
#include "shared/base/mem.h"
#include "shared/diagram/writer.h"

#define BODY_WIDTH 159
#define BODY_HEIGHT 30
#define COMMENTS_X (-970)
#define COMMENTS_Y (-300)
#define COMMENTS_STEP 130

static const char *const fallback_word[] = { "body", "fallback" };

/* What the editor shows of an action; the text and the code are themselves. */
static void add_label(const struct action *a, struct buf *out)
{
    static const char *const operations[DB__MAX] = { "any", "select", "insert", "update", "delete" };

    buf_add_str(out, "");
    if (a->kind == ACTION_TEXT || a->kind == ACTION_CODE) {
        buf_add_str(out, a->text ? a->text : "");
        return;
    }
    buf_add_str(out, action_kind_title(a->kind));
    if (a->kind == ACTION_RAG || a->kind == ACTION_GUI || a->kind == ACTION_WEB_CRAWL)
        buf_add_fmt(out, ": %s", a->text ? a->text : "");
    else if (a->kind == ACTION_DB)
        buf_add_fmt(out, ": %s, %s, %s", a->db_custom_name ? a->db_custom_name : "default",
                    a->db_sql ? "sql" : "llm_query", operations[a->db_operation]);
}

static void write_actions(struct diagram_writer *w, size_t state, bool fallback, const char *owner, cJSON *ids)
{
    const struct state *s = &w->m->states[state];
    const struct action_list *l = fallback ? &s->fallback : &s->body;
    const struct box box = { w->boxes[state].x, w->boxes[state].y, BODY_WIDTH, BODY_HEIGHT };
    char id[DIAGRAM_ID_SIZE];
    size_t i;

    for (i = 0; i < l->len; i++) {
        auto_buf struct buf label;
        cJSON *e;

        buf_init(&label, SIZE_MAX / 2);
        add_label(&l->items[i], &label);
        w->failed |= buf_failed(&label);
        diagram_id(w, fallback_word[fallback], s->name, i, id);
        diagram_add_item(w, ids, id);
        e = diagram_add_element(w, w->elements, id, fallback ? "AgentStateFallbackBody" : "AgentStateBody", label.data,
                                owner);
        diagram_add_bounds(w, e, &box);
        diagram_fill_action(w, e, &l->items[i]);
    }
}

static void add_reasoning(struct diagram_writer *w, cJSON *e, const struct state *s)
{
    diagram_add_text(w, e, "stateType", "reasoning");
    diagram_add_text(w, e, "llm_name", s->llm_name);
    diagram_add_int(w, e, "max_steps", s->max_steps);
    diagram_add_bool(w, e, "enable_task_planning", s->task_planning);
    diagram_add_bool(w, e, "stream_steps", s->stream_steps);
    diagram_add_text(w, e, "system_prompt", s->system_prompt);
    diagram_add_text(w, e, "fallback_message", s->fallback_message);
}

static void write_state(struct diagram_writer *w, size_t i)
{
    const struct state *s = &w->m->states[i];
    char id[DIAGRAM_ID_SIZE];
    cJSON *e, *actions, *fallback;

    diagram_id(w, "AgentState", s->name, 0, id);
    e = diagram_add_element(w, w->elements, id, "AgentState", s->name, NULL);
    diagram_add_bounds(w, e, &w->boxes[i]);
    if (s->reasoning) {
        add_reasoning(w, e, s);
        return;
    }
    diagram_add_text(w, e, "stateType", "standard");
    actions = diagram_add_array(w, e, "actions");
    fallback = diagram_add_array(w, e, "fallbackActions");
    write_actions(w, i, false, id, actions);
    write_actions(w, i, true, id, fallback);
}

/* A comment of the state, or of the agent (MODEL_NONE). */
static void write_comment(struct diagram_writer *w, const char *text, size_t state, size_t number)
{
    const struct box box = { COMMENTS_X, COMMENTS_Y + COMMENTS_STEP * (double)number, 200, 100 };
    char id[DIAGRAM_ID_SIZE], link[DIAGRAM_ID_SIZE], at[DIAGRAM_ID_SIZE];
    const char *name = state == MODEL_NONE ? "" : w->m->states[state].name;
    cJSON *e;

    diagram_id(w, "Comments", name, state == MODEL_NONE, id);
    e = diagram_add_element(w, w->elements, id, "Comments", text, NULL);
    diagram_add_bounds(w, e, &box);
    if (state == MODEL_NONE)
        return;
    diagram_id(w, "Link", name, 0, link);
    diagram_id(w, "AgentState", name, 0, at);
    e = diagram_add_element(w, w->relationships, link, "Link", "", NULL);
    diagram_add_arc(w, e, &(struct arc_end){ id, box }, &(struct arc_end){ at, w->boxes[state] }, 0);
}

static void write_comments(struct diagram_writer *w)
{
    const struct model *m = w->m;
    size_t i, n = 0;

    if (m->description && *m->description)
        write_comment(w, m->description, MODEL_NONE, n++);
    for (i = 0; i < m->states_len; i++)
        if (m->states[i].description && *m->states[i].description)
            write_comment(w, m->states[i].description, i, n++);
}

void diagram_write_states(struct diagram_writer *w)
{
    char id[DIAGRAM_ID_SIZE];
    size_t i;

    if (w->m->states_len) {
        diagram_id(w, "StateInitialNode", "", 0, id);
        diagram_add_bounds(w, diagram_add_element(w, w->elements, id, "StateInitialNode", "", NULL), &w->start);
    }
    for (i = 0; i < w->m->states_len; i++)
        write_state(w, i);
    write_comments(w);
}
