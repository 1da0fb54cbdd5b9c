#include "tests/support/model_dump.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "shared/base/buf.h"
#include "shared/diagram/provider.h"
#include "shared/gui/module.h"

static void text(struct buf *b, const char *key, const char *s)
{
    buf_add_fmt(b, " %s=", key);
    if (s)
        buf_add_json_str(b, s, strlen(s));
    else
        buf_add_char(b, '-');
}

static void texts(struct buf *b, const char *key, const struct str_list *l)
{
    size_t i;

    buf_add_fmt(b, " %s=[", key);
    for (i = 0; i < l->len; i++)
        text(b, "", l->items[i]);
    buf_add_char(b, ']');
}

/* Members in the order of their names: files name them so. */
static void sorted_value(struct buf *b, const struct value *v)
{
    size_t i, k;

    if (v->kind != VALUE_OBJECT && v->kind != VALUE_ARRAY) {
        value_write(v, 0, b);
        return;
    }
    buf_add_char(b, v->kind == VALUE_OBJECT ? '{' : '[');
    for (i = 0; i < v->len; i++) {
        size_t next = i;

        if (v->kind == VALUE_OBJECT) {
            for (next = 0; next < v->len; next++) { /* the i-th name */
                size_t before = 0;

                for (k = 0; k < v->len; k++)
                    before += strcmp(v->keys[k], v->keys[next]) < 0;
                if (before == i)
                    break;
            }
            if (next == v->len)
                continue;
            buf_add_json_str(b, v->keys[next], strlen(v->keys[next]));
            buf_add_char(b, ':');
        }
        sorted_value(b, &v->items[next]);
        buf_add_char(b, ',');
    }
    buf_add_char(b, v->kind == VALUE_OBJECT ? '}' : ']');
}

static void value(struct buf *b, const char *key, const struct value *v)
{
    buf_add_fmt(b, " %s=", key);
    sorted_value(b, v);
}

#define INT(member) buf_add_fmt(b, " " #member "=%lld", (long long)p->member)
#define BOOL(member) buf_add_fmt(b, " " #member "=%d", p->member)
#define REAL(member) buf_add_fmt(b, " " #member "=%.17g", p->member)
#define TEXT(member) text(b, #member, p->member)

static void dump_parts(const struct model *m, struct buf *b)
{
    size_t i;

    for (i = 0; i < m->llms_len; i++) {
        const struct llm *p = &m->llms[i];

        buf_add_fmt(b, "llm provider=%s", p->provider->name);
        TEXT(name), INT(num_previous_messages), TEXT(global_context), value(b, "parameters", &p->parameters);
        buf_add_char(b, '\n');
    }
    for (i = 0; i < m->tools_len; i++) {
        const struct tool *p = &m->tools[i];

        buf_add_str(b, "tool");
        TEXT(name), TEXT(description), TEXT(code), buf_add_char(b, '\n');
    }
    for (i = 0; i < m->skills_len; i++) {
        const struct skill *p = &m->skills[i];

        buf_add_str(b, "skill");
        TEXT(name), TEXT(content), TEXT(description), buf_add_char(b, '\n');
    }
    for (i = 0; i < m->workspaces_len; i++) {
        const struct workspace *p = &m->workspaces[i];

        buf_add_str(b, "workspace");
        TEXT(name), TEXT(path), TEXT(description), BOOL(writable), INT(max_read_bytes), buf_add_char(b, '\n');
    }
    for (i = 0; i < m->intents_len; i++) {
        const struct intent *p = &m->intents[i];

        buf_add_str(b, "intent");
        TEXT(name), TEXT(description), texts(b, "sentences", &p->sentences), buf_add_char(b, '\n');
    }
    for (i = 0; i < m->rags_len; i++) {
        const struct rag *p = &m->rags[i];

        buf_add_str(b, "rag");
        TEXT(name), BOOL(ollama), TEXT(embedding_provider), TEXT(embedding_base_url), TEXT(embedding_model);
        TEXT(llm_name), INT(llm), TEXT(llm_prompt), INT(k), INT(num_previous_messages), BOOL(hybrid), REAL(bm25_weight);
        buf_add_char(b, '\n');
    }
}

static void dump_guis(const struct model *m, struct buf *b)
{
    size_t i;

    for (i = 0; i < m->guis_len; i++) {
        const struct gui *p = &m->guis[i];

        buf_add_str(b, "gui");
        TEXT(gui_id), TEXT(width), BOOL(persist), BOOL(is_form), buf_add_str(b, " design=");
        assert_int_equal(gui_builder_text(p, "design", b, NULL), 0);
        buf_add_char(b, '\n');
    }
}

static void dump_actions(const char *of, const struct action_list *l, struct buf *b)
{
    size_t i;

    for (i = 0; i < l->len; i++) {
        const struct action *p = &l->items[i];

        buf_add_fmt(b, "  %s %s", of, action_kind_type(p->kind));
        TEXT(text), BOOL(use_session_vars), TEXT(prompt), BOOL(prompt_use_session_vars), BOOL(input_custom);
        TEXT(input_prompt), BOOL(input_use_session_vars), TEXT(store_in_session), BOOL(send_reply), TEXT(llm_name);
        INT(llm), INT(rag), INT(gui), BOOL(db_sql), TEXT(db_custom_name), BOOL(db_selection_custom), INT(db_operation);
        TEXT(sql), INT(max_depth), INT(max_pages), TEXT(crawl_format), TEXT(base_url_prefix), TEXT(no_crawl_message);
        BOOL(run_crawl), BOOL(has_audio_speed), REAL(audio_speed), texts(b, "options", &p->options), REAL(latitude);
        REAL(longitude), BOOL(persist), BOOL(is_form), TEXT(width), TEXT(code_function), buf_add_char(b, '\n');
    }
}

static void dump_transition(const struct transition *p, struct buf *b)
{
    size_t i;

    buf_add_str(b, "  transition");
    INT(kind), INT(target), INT(intent), TEXT(variable), INT(op);
    if (p->kind == TRANSITION_INTENT && p->intent == MODEL_NONE)
        TEXT(intent_name);
    value(b, "target_value", &p->target_value), texts(b, "types", &p->file_types), TEXT(form_id);
    INT(event), TEXT(gui_id);
    for (i = 0; i < p->conditions_len; i++)
        text(b, "condition", p->conditions[i].source);
    buf_add_char(b, '\n');
}

static void dump_states(const struct model *m, struct buf *b)
{
    size_t i, k;

    for (i = 0; i < m->states_len; i++) {
        const struct state *p = &m->states[i];

        buf_add_str(b, "state");
        TEXT(name), TEXT(description), BOOL(reasoning), BOOL(initial), BOOL(has_body), BOOL(has_fallback);
        TEXT(llm_name), INT(llm), INT(max_steps), BOOL(task_planning), BOOL(stream_steps), TEXT(system_prompt);
        TEXT(fallback_message), buf_add_char(b, '\n');
        dump_actions("body", &p->body, b);
        dump_actions("fallback", &p->fallback, b);
        for (k = 0; k < p->transitions_len; k++)
            dump_transition(&p->transitions[k], b);
    }
}

char *model_dump(const struct model *m)
{
    struct buf b;
    char *all;

    buf_init(&b, 256u << 20);
    text(&b, "agent", m->name);
    text(&b, "description", m->description);
    buf_add_fmt(&b, " default_llm=%lld\n", (long long)m->default_llm);
    dump_parts(m, &b);
    dump_guis(m, &b);
    dump_states(m, &b);
    all = buf_steal(&b, NULL);
    assert_non_null(all);
    return all;
}
