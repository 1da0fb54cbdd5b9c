#include "shared/diagram/model.h"

#include <string.h>

#include "shared/base/mem.h"
#include "shared/diagram/map.h"

void str_list_release(struct str_list *l)
{
    size_t i;

    if (!l)
        return;
    for (i = 0; i < l->len; i++)
        mem_free(l->items[i]);
    mem_free(l->items);
    *l = (struct str_list){ 0 };
}

int str_list_add(struct str_list *l, const char *s)
{
    void *items = l->items;
    char *copy;

    if (mem_grow(&items, l->len, &l->cap, sizeof(*l->items)) < 0)
        return -1;
    l->items = items;
    copy = mem_strdup(s);
    if (!copy)
        return -1;
    l->items[l->len++] = copy;
    return 0;
}

/* ---- growing
 * --------------------------------------------------------------------------------------------------
 */

static void *list_add(void **array, size_t *len, size_t *cap, size_t size)
{
    char *items;

    if (mem_grow(array, *len, cap, size) < 0)
        return NULL;
    items = *array;
    memset(items + *len * size, 0, size);
    return items + (*len)++ * size;
}

#define LIST_ADD(owner, list) \
    __extension__({ \
        void *array_ = (owner)->list; \
        void *item_ = list_add(&array_, &(owner)->list##_len, &(owner)->list##_cap, sizeof(*(owner)->list)); \
        (owner)->list = array_; \
        item_; \
    })

struct llm *model_add_llm(struct model *m)
{
    return LIST_ADD(m, llms);
}

struct tool *model_add_tool(struct model *m)
{
    return LIST_ADD(m, tools);
}

struct skill *model_add_skill(struct model *m)
{
    return LIST_ADD(m, skills);
}

struct workspace *model_add_workspace(struct model *m)
{
    return LIST_ADD(m, workspaces);
}

struct intent *model_add_intent(struct model *m)
{
    return LIST_ADD(m, intents);
}

struct gui *model_add_gui(struct model *m)
{
    return LIST_ADD(m, guis);
}

struct rag *model_add_rag(struct model *m)
{
    struct rag *r = LIST_ADD(m, rags);

    if (r)
        r->llm = MODEL_NONE;
    return r;
}

struct state *model_add_state(struct model *m)
{
    struct state *s = LIST_ADD(m, states);

    if (s)
        s->llm = MODEL_NONE;
    return s;
}

struct profile *model_add_profile(struct model *m)
{
    return LIST_ADD(m, profiles);
}

struct action *model_add_action(struct action_list *l)
{
    void *array = l->items;
    struct action *a = list_add(&array, &l->len, &l->cap, sizeof(*l->items));

    l->items = array;
    if (a)
        a->llm = a->rag = a->gui = MODEL_NONE;
    return a;
}

struct transition *model_add_transition(struct state *s)
{
    struct transition *t = LIST_ADD(s, transitions);

    if (t)
        t->target = t->intent = MODEL_NONE;
    return t;
}

/* ---- releasing
 * ------------------------------------------------------------------------------------------------
 */

static void free_all(char *const *texts, size_t n)
{
    size_t i;

    for (i = 0; i < n; i++)
        mem_free(texts[i]);
}

#define FREE_TEXTS(...) \
    free_all((char *const[]){ __VA_ARGS__ }, sizeof((char *const[]){ __VA_ARGS__ }) / sizeof(char *))

void action_list_drop_last(struct action_list *l)
{
    struct action *a = &l->items[--l->len];

    FREE_TEXTS(a->id, a->where, a->text, a->prompt, a->input_prompt, a->store_in_session, a->llm_name,
               a->db_custom_name, a->sql, a->crawl_format, a->base_url_prefix, a->no_crawl_message, a->width,
               a->code_function, a->scoped);
    str_list_release(&a->options);
}

static void actions_release(struct action_list *l)
{
    while (l->len)
        action_list_drop_last(l);
    mem_free(l->items);
}

void state_drop_last_transition(struct state *s)
{
    struct transition *t = &s->transitions[--s->transitions_len];
    size_t i;

    FREE_TEXTS(t->id, t->where, t->intent_name, t->variable, t->foreign_op, t->form_id, t->gui_id);
    value_release(&t->target_value);
    str_list_release(&t->file_types);
    for (i = 0; i < t->conditions_len; i++)
        FREE_TEXTS(t->conditions[i].source, t->conditions[i].label, t->conditions[i].function, t->conditions[i].scoped);
    mem_free(t->conditions);
}

static void states_release(struct model *m)
{
    size_t i;

    for (i = 0; i < m->states_len; i++) {
        struct state *s = &m->states[i];

        FREE_TEXTS(s->id, s->where, s->name, s->description, s->llm_name, s->system_prompt, s->fallback_message);
        actions_release(&s->body);
        actions_release(&s->fallback);
        while (s->transitions_len)
            state_drop_last_transition(s);
        mem_free(s->transitions);
    }
    mem_free(m->states);
}

static void components_release(struct model *m)
{
    size_t i;

    for (i = 0; i < m->llms_len; i++) {
        FREE_TEXTS(m->llms[i].name, m->llms[i].global_context, m->llms[i].where);
        value_release(&m->llms[i].parameters);
    }
    for (i = 0; i < m->tools_len; i++)
        FREE_TEXTS(m->tools[i].name, m->tools[i].description, m->tools[i].code, m->tools[i].where);
    for (i = 0; i < m->skills_len; i++)
        FREE_TEXTS(m->skills[i].name, m->skills[i].content, m->skills[i].description, m->skills[i].where);
    for (i = 0; i < m->workspaces_len; i++)
        FREE_TEXTS(m->workspaces[i].name, m->workspaces[i].path, m->workspaces[i].description, m->workspaces[i].where);
    for (i = 0; i < m->intents_len; i++) {
        FREE_TEXTS(m->intents[i].name, m->intents[i].description, m->intents[i].where);
        str_list_release(&m->intents[i].sentences);
    }
    for (i = 0; i < m->guis_len; i++) {
        FREE_TEXTS(m->guis[i].gui_id, m->guis[i].width, m->guis[i].where);
        value_release(&m->guis[i].design);
    }
    for (i = 0; i < m->rags_len; i++) {
        const struct rag *r = &m->rags[i];

        FREE_TEXTS(r->name, r->embedding_provider, r->embedding_base_url, r->embedding_model, r->llm_name,
                   r->llm_prompt, r->where);
    }
    FREE_TEXTS((char *)m->llms, (char *)m->tools, (char *)m->skills, (char *)m->workspaces, (char *)m->intents,
               (char *)m->guis, (char *)m->rags);
}

static void profiles_release(struct model *m)
{
    size_t i;

    for (i = 0; i < m->profiles_len; i++) {
        FREE_TEXTS(m->profiles[i].name, m->profiles[i].slug);
        model_release(m->profiles[i].agent);
        mem_free(m->profiles[i].agent);
    }
    mem_free(m->profiles);
}

void model_init(struct model *m)
{
    *m = (struct model){ .default_llm = MODEL_NONE, .settings.platform = PLATFORM_DEFAULT };
}

void model_release(struct model *m)
{
    if (!m)
        return;
    components_release(m);
    states_release(m);
    profiles_release(m);
    FREE_TEXTS(m->name, m->description, m->config_yaml, m->settings.default_llm_name, m->settings.language,
               m->settings.source_language, m->settings.classifier_llm_name, m->settings.classifier_llm_model,
               m->settings.texts_stay);
    value_release(&m->settings.personalization);
    model_init(m);
}

/* ---- references
 * -----------------------------------------------------------------------------------------------
 */

struct references {
    struct map llms, rags, guis;
};

static int collect_names(const struct model *m, struct references *r)
{
    size_t i;

    for (i = 0; i < m->llms_len; i++)
        if (map_put_name(&r->llms, m->llms[i].name, i, NULL) < 0)
            return -1;
    for (i = 0; i < m->rags_len; i++)
        if (map_put_name(&r->rags, m->rags[i].name, i, NULL) < 0)
            return -1;
    for (i = 0; i < m->guis_len; i++)
        if (map_put_name(&r->guis, m->guis[i].gui_id, i, NULL) < 0)
            return -1;
    return 0;
}

/* Looks *name up; what is found is then spelled as the model itself spells it (known: its name by index), because
 * programs and B-UML find names byte for byte. */
static int resolve_name(const struct map *map, const char *(*known)(const struct model *m, size_t i),
                        const struct model *m, char **name, size_t *ret)
{
    char *copy;

    *ret = MODEL_NONE;
    if (!*name || !**name)
        return 0;
    if (map_find_name(map, *name, ret) < 0)
        return -1;
    if (*ret == MODEL_NONE || strcmp(known(m, *ret), *name) == 0)
        return 0;
    copy = mem_strdup(known(m, *ret));
    if (!copy)
        return -1;
    mem_free(*name);
    *name = copy;
    return 0;
}

static const char *llm_at(const struct model *m, size_t i)
{
    return m->llms[i].name;
}

static const char *rag_at(const struct model *m, size_t i)
{
    return m->rags[i].name;
}

static const char *gui_at(const struct model *m, size_t i)
{
    return m->guis[i].gui_id;
}

static int resolve_actions(const struct references *r, const struct model *m, struct action_list *l)
{
    size_t i;

    for (i = 0; i < l->len; i++) {
        struct action *a = &l->items[i];

        if (resolve_name(&r->llms, llm_at, m, &a->llm_name, &a->llm) < 0 ||
            (a->kind == ACTION_RAG && resolve_name(&r->rags, rag_at, m, &a->text, &a->rag) < 0) ||
            (a->kind == ACTION_GUI && resolve_name(&r->guis, gui_at, m, &a->text, &a->gui) < 0))
            return -1;
    }
    return 0;
}

static int resolve_all(struct model *m, struct references *r)
{
    size_t i, at;

    if (collect_names(m, r) < 0 || resolve_name(&r->llms, llm_at, m, &m->settings.classifier_llm_name, &at) < 0)
        return -1;
    for (i = 0; i < m->rags_len; i++)
        if (resolve_name(&r->llms, llm_at, m, &m->rags[i].llm_name, &m->rags[i].llm) < 0)
            return -1;
    for (i = 0; i < m->states_len; i++) {
        struct state *s = &m->states[i];

        if (resolve_name(&r->llms, llm_at, m, &s->llm_name, &s->llm) < 0 || resolve_actions(r, m, &s->body) < 0 ||
            resolve_actions(r, m, &s->fallback) < 0)
            return -1;
    }
    return 0;
}

int model_resolve(struct model *m, struct err *err)
{
    struct references r;
    int rc;

    map_init(&r.llms);
    map_init(&r.rags);
    map_init(&r.guis);
    rc = resolve_all(m, &r);
    map_release(&r.llms);
    map_release(&r.rags);
    map_release(&r.guis);
    return rc < 0 ? err_nomem(err) : 0;
}

void rag_settle(struct rag *g)
{
    if (g->k <= 0)
        g->k = 4;
    if (g->num_previous_messages < 0)
        g->num_previous_messages = 0;
    if (!(g->bm25_weight > 0 && g->bm25_weight < 1))
        g->bm25_weight = 0.6;
}
