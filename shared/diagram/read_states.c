/* States in model order with their bodies (2.4, 4.2), and comments (4.6). */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared/base/buf.h"
#include "shared/base/mem.h"
#include "shared/diagram/reader.h"
#include "shared/diagram/text.h"
#include "shared/json/json.h"

static bool is_state(const struct element *e)
{
    return e->type == ELEMENT_STATE || e->type == ELEMENT_REASONING_STATE;
}

static bool is_reasoning(const struct element *e)
{
    const cJSON *type = json_get(e->node, "stateType");

    return e->type == ELEMENT_REASONING_STATE || (cJSON_IsString(type) && strcmp(type->valuestring, "reasoning") == 0);
}

/* ---- one state
 * ------------------------------------------------------------------------------------------------
 */

static int read_reasoning(struct reader *r, const struct element *e, struct state *s)
{
    static const struct field_row rows[] = {
        { "max_steps", NULL, FIELD_INT_STRICT, offsetof(struct state, max_steps), NULL, 8 },
        { "enable_task_planning", NULL, FIELD_TRUTH_NULL, offsetof(struct state, task_planning), NULL, 1 },
        { "stream_steps", NULL, FIELD_TRUTH_NULL, offsetof(struct state, stream_steps), NULL, 1 },
        { "system_prompt", NULL, FIELD_RAW, offsetof(struct state, system_prompt), NULL, 0 },
        { "fallback_message", NULL, FIELD_RAW, offsetof(struct state, fallback_message), NULL, 0 },
    };
    const cJSON *llm = first_given(json_get(e->node, "llm_name"), json_get(e->node, "llm"));
    char title[SHOWN_MAX + 40];

    if (cJSON_IsString(llm)) { /* another type means the default LLM */
        s->llm_name = text_trim_clean(llm->valuestring);
        if (!s->llm_name)
            return reader_nomem(r);
        if (!*s->llm_name) {
            mem_free(s->llm_name);
            s->llm_name = NULL;
        }
    }
    snprintf(title, sizeof(title), "State \"%s\"", SHOWN(s->name));
    return reader_fields(r, e, title, s, rows, ARRAY_LEN(rows));
}

/* The actions under key, or under old_key when key is absent; an empty list, or null, is final. */
static int read_list(struct reader *r, const struct element *e, const struct state *s, const char *part,
                     const char *const keys[2], struct action_list *ret)
{
    const char *key = json_get(e->node, keys[0]) ? keys[0] : keys[1];
    char title[SHOWN_MAX + 40];
    const cJSON *first;

    (void)snprintf(title, sizeof(title), "State \"%s\"", SHOWN(s->name));
    if (reader_ids(r, e, title, key, json_get(e->node, key), &first) < 0)
        return -1;
    return read_actions(r, s, part, first, ret);
}

static int read_bodies(struct reader *r, const struct element *e, struct state *s)
{
    static const char *const body[] = { "actions", "bodies" }, *const fallback[] = { "fallbackActions",
                                                                                     "fallbackBodies" };

    if (read_list(r, e, s, "body", body, &s->body) < 0)
        return -1;
    if (value_truth(json_get(e->node, "fallbackBodyEnabled"), true) &&
        read_list(r, e, s, "fallback body", fallback, &s->fallback) < 0)
        return -1;
    s->has_body = s->body.len > 0;
    s->has_fallback = s->fallback.len > 0;
    return 0;
}

static int read_state(struct reader *r, struct element *e, bool initial)
{
    const cJSON *v = json_get(e->node, "name");
    const char *name = cJSON_IsString(v) ? v->valuestring : NULL;
    struct state *s;
    int rc;

    if (reader_check_name(r, e, "State", name) < 0 || !name || reader_charge(r, sizeof(*s)) < 0 ||
        reader_charge_name(r, name) < 0)
        return -1;
    e->state = r->m->states_len;
    rc = map_put_name(&r->states, name, e->state, NULL);
    if (rc == 0)
        return finding_add(r->f, FINDING_ERROR, 4, ELEMENT_PATH(e, "name"), "There are two states named \"%s\"",
                           SHOWN(name));
    s = rc < 0 ? NULL : model_add_state(r->m);
    if (!s)
        return reader_nomem(r);
    s->initial = initial;
    s->reasoning = is_reasoning(e);
    s->id = mem_strdup(e->id);
    s->where = mem_strdup(ELEMENT_PATH(e, NULL));
    s->name = mem_strdup(name);
    if (!s->id || !s->where || !s->name)
        return reader_nomem(r);
    return s->reasoning ? read_reasoning(r, e, s) : read_bodies(r, e, s);
}

/* ---- all of them
 * ---------------------------------------------------------------------------------------------- */

static void mark_initial_targets(struct reader *r)
{
    const cJSON *c;

    for (c = r->doc.relationships ? r->doc.relationships->child : NULL; c; c = c->next) {
        const cJSON *type = json_get(c, "type");
        const struct element *from;
        struct element *to;

        if (!cJSON_IsString(type) || (strcmp(type->valuestring, "AgentStateTransition") != 0 &&
                                      strcmp(type->valuestring, "AgentStateTransitionInit") != 0))
            continue;
        from = document_end(&r->doc, c, "source");
        to = document_end(&r->doc, c, "target");
        if (from && to && from->type == ELEMENT_INITIAL)
            to->starts = true;
    }
}

int read_states(struct reader *r)
{
    struct element *first = NULL, *e;
    bool any = false;
    size_t i;

    mark_initial_targets(r);
    for (i = 0; i < r->doc.len && !first; i++) {
        e = &r->doc.elements[i];
        any = any || is_state(e);
        if (is_state(e) && e->starts)
            first = e;
    }
    if (!first && any)
        return finding_add(r->f, FINDING_ERROR, 6, "model.elements",
                           "No state is initial: draw a transition from an initial node to the "
                           "state the agent starts in");
    if (first && read_state(r, first, true) < 0)
        return -1;
    for (i = 0; i < r->doc.len; i++) {
        e = &r->doc.elements[i];
        if (is_state(e) && e != first && read_state(r, e, false) < 0)
            return -1;
    }
    return 0;
}

/* ---- comments
 * -------------------------------------------------------------------------------------------------
 */

/* What comments say about each state, and at the end of the array about the agent. */
static int append_line(struct reader *r, struct buf *text, const char *more)
{
    if (reader_charge(r, strlen(more) + 1) < 0)
        return -1;
    if (text->len)
        buf_add_char(text, '\n');
    return buf_add_str(text, more) < 0 ? reader_nomem(r) : 0;
}

/* Links of one comment to states, in document order. The caller frees items. */
struct link {
    size_t comment, state;
};

struct links {
    struct link *items;
    size_t len, cap;
};

static int add_link(struct reader *r, struct links *l, struct element *comment, const struct element *other)
{
    void *items = l->items;

    if (!comment || comment->type != ELEMENT_COMMENT)
        return 0;
    if (!other || other->state == MAP_NONE)
        return 0; /* a link to something else: its text describes the agent */
    comment->linked = true;
    if (mem_grow(&items, l->len, &l->cap, sizeof(*l->items)) < 0)
        return reader_nomem(r);
    l->items = items;
    l->items[l->len++] = (struct link){ (size_t)(comment - r->doc.elements), other->state };
    return 0;
}

static int collect_links(struct reader *r, struct links *l)
{
    const cJSON *c;

    for (c = r->doc.relationships ? r->doc.relationships->child : NULL; c; c = c->next) {
        const cJSON *type = json_get(c, "type");
        struct element *a, *b;

        if (!cJSON_IsString(type) || strcmp(type->valuestring, "Link") != 0)
            continue;
        a = document_end(&r->doc, c, "source");
        b = document_end(&r->doc, c, "target");
        if (add_link(r, l, a, b) < 0 || add_link(r, l, b, a) < 0)
            return -1;
    }
    return 0;
}

static int by_comment(const void *a, const void *b)
{
    const struct link *x = a, *y = b;

    if (x->comment != y->comment)
        return x->comment < y->comment ? -1 : 1;
    return x->state < y->state ? -1 : x->state > y->state;
}

static int append_comment(struct reader *r, const struct element *e, const struct links *l, size_t *at,
                          struct buf *texts)
{
    size_t index = (size_t)(e - r->doc.elements), last = MAP_NONE;
    char *text = value_text(json_get(e->node, "name"));
    int rc = text ? 0 : reader_nomem(r);
    bool blank = !text || text_is_blank(text);

    if (rc == 0 && !blank && !e->linked)
        rc = append_line(r, &texts[r->m->states_len], text);
    for (; *at < l->len && l->items[*at].comment == index; (*at)++) {
        if (rc == 0 && !blank && l->items[*at].state != last)
            rc = append_line(r, &texts[l->items[*at].state], text);
        last = l->items[*at].state;
    }
    mem_free(text);
    return rc;
}

static int keep_descriptions(struct reader *r, struct buf *texts)
{
    size_t i;

    for (i = 0; i <= r->m->states_len; i++) {
        char **slot = i < r->m->states_len ? &r->m->states[i].description : &r->m->description;

        if (texts[i].len && !(*slot = buf_steal(&texts[i], NULL)))
            return reader_nomem(r);
    }
    return 0;
}

static int append_all(struct reader *r, const struct links *l, struct buf *texts)
{
    size_t i, at = 0;

    for (i = 0; i < r->doc.len; i++)
        if (r->doc.elements[i].type == ELEMENT_COMMENT && append_comment(r, &r->doc.elements[i], l, &at, texts) < 0)
            return -1;
    return keep_descriptions(r, texts);
}

static int append_comments(struct reader *r, struct links *l)
{
    struct buf *texts = mem_zalloc(r->m->states_len + 1, sizeof(*texts));
    size_t i;
    int rc;

    if (!texts)
        return reader_nomem(r);
    if (l->len)
        qsort(l->items, l->len, sizeof(*l->items), by_comment);
    for (i = 0; i <= r->m->states_len; i++)
        buf_init(&texts[i], READER_MODEL_MAX);
    rc = append_all(r, l, texts);
    for (i = 0; i <= r->m->states_len; i++)
        buf_release(&texts[i]);
    mem_free(texts);
    return rc;
}

int read_comments(struct reader *r)
{
    struct links l = { 0 };
    size_t i = 0;
    int rc;

    while (i < r->doc.len && r->doc.elements[i].type != ELEMENT_COMMENT)
        i++;
    if (i == r->doc.len)
        return 0;
    rc = collect_links(r, &l);
    if (rc == 0)
        rc = append_comments(r, &l);
    mem_free(l.items);
    return rc;
}
