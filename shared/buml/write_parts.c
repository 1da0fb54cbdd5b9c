/* Statements for what an agent has besides its states: rows 3 to 10 of section 3. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared/base/mem.h"
#include "shared/buml/writer.h"
#include "shared/diagram/provider.h"
#include "shared/diagram/text.h"
#include "shared/gui/module.h"

static void write_intents(struct buml_writer *w)
{
    struct code_writer *c = &w->code;
    size_t i, k;

    for (i = 0; i < w->m->intents_len; i++) {
        const struct intent *n = &w->m->intents[i];
        bool described = n->description && *n->description;

        if (!n->sentences.len) {
            code_call(c, "%n = %n.new_intent", w->intents[i], w->agent);
            code_arg(c, "%s", n->name);
            code_arg(c, "[]");
            if (described)
                code_arg(c, "description=%s", n->description);
            code_call_end(c, "");
            continue;
        }
        code_line(c, "%n = %n.new_intent(%s, [", w->intents[i], w->agent, n->name);
        code_open(c);
        for (k = 0; k < n->sentences.len; k++)
            code_line(c, "%s,", n->sentences.items[k]);
        code_close(c);
        if (described)
            code_line(c, "], description=%s)", n->description);
        else
            code_line(c, "])");
    }
    code_gap(c, 1);
}

static void write_primitives(struct buml_writer *w)
{
    struct code_writer *c = &w->code;
    size_t i;

    for (i = 0; i < w->m->tools_len; i++) {
        code_call(c, "%n.new_tool", w->agent);
        code_arg(c, "name=%s", w->m->tools[i].name);
        code_arg(c, "description=%s", w->m->tools[i].description);
        code_arg(c, "code=%s", w->m->tools[i].code);
        code_call_end(c, "");
    }
    for (i = 0; i < w->m->skills_len; i++) {
        code_call(c, "%n.new_skill", w->agent);
        code_arg(c, "name=%s", w->m->skills[i].name);
        code_arg(c, "content=%s", w->m->skills[i].content);
        code_arg(c, "description=%s", w->m->skills[i].description);
        code_call_end(c, "");
    }
    for (i = 0; i < w->m->workspaces_len; i++) {
        const struct workspace *s = &w->m->workspaces[i];

        code_call(c, "%n.new_workspace", w->agent);
        code_arg(c, "name=%s", s->name);
        code_arg(c, "path=%s", s->path);
        code_arg(c, "description=%s", s->description);
        code_arg(c, "writable=%b", s->writable);
        code_arg(c, "max_read_bytes=%d", s->max_read_bytes);
        code_call_end(c, "");
    }
    code_gap(c, 1);
}

/* ---- RAG stores ---------------------------------------------------------------------------------------------------
 */

struct rag_variables {
    const char *store, *splitter, *rag;
};

static int name_rag(struct buml_writer *w, size_t i, struct rag_variables *ret)
{
    const struct {
        const char *suffix, **variable;
    } rows[] = { { "vector_store", &ret->store }, { "splitter", &ret->splitter }, { "rag", &ret->rag } };
    char name[64];
    size_t k;

    for (k = 0; k < ARRAY_LEN(rows); k++) {
        snprintf(name, sizeof(name), "rag_%zu_%s", i, rows[k].suffix);
        *rows[k].variable = names_make(&w->names, name, w->err);
        if (!*rows[k].variable)
            return -1;
    }
    return 0;
}

static int write_store(struct buml_writer *w, const struct rag *g, const char *variable)
{
    struct code_writer *c = &w->code;
    auto_free char *slug = text_lower(g->name);
    auto_buf struct buf folder;

    buf_init(&folder, SIZE_MAX / 2);
    buf_add_str(&folder, "vector_store/");
    if (!slug || buf_add_str(&folder, slug) < 0)
        return err_nomem(w->err);
    code_call(c, "%n = RAGVectorStore", variable);
    code_arg(c, "embedding_provider=%s", g->embedding_provider ? g->embedding_provider : "openai");
    if (g->ollama)
        code_arg(c, "embedding_parameters={'base_url': %s, 'model': %s}", g->embedding_base_url, g->embedding_model);
    else
        code_arg(c, "embedding_parameters={'api_key_property': 'nlp.OPENAI_API_KEY'}");
    code_arg(c, "persist_directory=%s", folder.data);
    code_call_end(c, "");
    return 0;
}

static int write_rags(struct buml_writer *w)
{
    struct code_writer *c = &w->code;
    size_t i;

    for (i = 0; i < w->m->rags_len; i++) {
        const struct rag *g = &w->m->rags[i];
        struct rag_variables v = { 0 };

        if (name_rag(w, i, &v) < 0 || write_store(w, g, v.store) < 0)
            return -1;
        code_line(c, "%n = RAGTextSplitter(splitter_type='recursive_character', chunk_size=1000, chunk_overlap=100)",
                  v.splitter);
        code_call(c, "%n = %n.new_rag", v.rag, w->agent);
        code_arg(c, "name=%s", g->name);
        code_arg(c, "vector_store=%n", v.store);
        code_arg(c, "splitter=%n", v.splitter);
        code_arg(c, "llm_name=%s", g->llm_name ? g->llm_name : "");
        code_arg(c, "llm_prompt=%s", g->llm_prompt);
        code_arg(c, "k=%d", g->k);
        code_arg(c, "num_previous_messages=%d", g->num_previous_messages);
        code_arg(c, "use_hybrid_rag=%b", g->hybrid);
        code_arg(c, "bm25_weight=%f", g->bm25_weight);
        code_call_end(c, "");
        code_gap(c, 1);
    }
    return 0;
}

/* ---- LLMs ---------------------------------------------------------------------------------------------------------
 */

struct member {
    const char *key;
    const struct value *item;
};

static int by_key(const void *a, const void *b)
{
    return strcmp(((const struct member *)a)->key, ((const struct member *)b)->key);
}

/* Members in the order of their keys, which is what everybody writes there. */
static int add_parameters(struct buml_writer *w, const struct value *parameters)
{
    auto_free struct member *members = mem_zalloc(parameters->len + 1, sizeof(*members));
    struct value sorted = { .kind = VALUE_OBJECT, .len = parameters->len };
    auto_free char **keys = mem_zalloc(parameters->len + 1, sizeof(*keys));
    auto_free struct value *items = mem_zalloc(parameters->len + 1, sizeof(*items));
    size_t i;

    if (!members || !keys || !items)
        return err_nomem(w->err);
    for (i = 0; i < parameters->len; i++)
        members[i] = (struct member){ parameters->keys[i], &parameters->items[i] };
    qsort(members, parameters->len, sizeof(*members), by_key);
    for (i = 0; i < parameters->len; i++) {
        memcpy(&keys[i], &members[i].key, sizeof(keys[i])); /* only read */
        items[i] = *members[i].item;
    }
    sorted.keys = keys;
    sorted.items = items;
    code_arg(&w->code, "parameters=%v", &sorted);
    return 0;
}

static int write_llms(struct buml_writer *w)
{
    const struct model *m = w->m;
    struct code_writer *c = &w->code;
    size_t i;

    for (i = 0; i < m->llms_len; i++) {
        const struct llm *l = &m->llms[i];

        code_call(c, "%n = %n.new_llm", w->llms[i], w->agent);
        code_arg(c, "name=%s", l->name);
        code_arg(c, "provider=%s", l->provider->name);
        if (add_parameters(w, &l->parameters) < 0)
            return -1;
        if (l->num_previous_messages != 1)
            code_arg(c, "num_previous_messages=%d", l->num_previous_messages);
        if (l->global_context && *l->global_context)
            code_arg(c, "global_context=%s", l->global_context);
        code_call_end(c, "");
    }
    if (!m->llms_len)
        code_line(c, "default_llm = None");
    else if (m->default_llm < m->llms_len)
        code_line(c, "%n.set_default_llm(%s)", w->agent, m->llms[m->default_llm].name);
    code_gap(c, 1);
    return 0;
}

/* ---- GUIs ---------------------------------------------------------------------------------------------------------
 */

static bool list_shows(const struct action_list *l, size_t gui)
{
    size_t i;

    for (i = 0; i < l->len; i++)
        if (l->items[i].kind == ACTION_GUI && l->items[i].gui == gui)
            return true;
    return false;
}

/* Does a reply say the settings of this GUI? */
static bool is_shown(const struct model *m, size_t gui)
{
    size_t i;

    for (i = 0; i < m->states_len; i++)
        if (list_shows(&m->states[i].body, gui) || list_shows(&m->states[i].fallback, gui))
            return true;
    return false;
}

static int write_gui(struct buml_writer *w, size_t i)
{
    const struct gui *g = &w->m->guis[i];
    char prefix[40];
    const char *name;

    snprintf(prefix, sizeof(prefix), "_agent_gui_%zu", i);
    name = names_make_prefixed(&w->names, prefix, g->gui_id, w->err);
    if (!name)
        return -1;
    code_begin(&w->code);
    if (gui_builder_text(g, name, &w->code.out, w->err) < 0)
        return -1;
    code_gap(&w->code, 2);
    code_line(&w->code, "%n.add_gui_model(%s, %n())", w->agent, g->gui_id, name);
    if (!is_shown(w->m, i) && (!g->persist || g->is_form || (g->width && *g->width))) {
        name = names_make_prefixed(&w->names, "gui", g->gui_id, w->err);
        if (!name)
            return -1;
        buml_write_gui_settings(w, name, g);
    }
    code_gap(&w->code, 2);
    return 0;
}

int buml_write_parts(struct buml_writer *w)
{
    size_t i;

    code_gap(&w->code, 1);
    write_intents(w);
    write_primitives(w);
    if (write_rags(w) < 0 || write_llms(w) < 0)
        return -1;
    if (w->m->guis_len)
        code_gap(&w->code, 2);
    for (i = 0; i < w->m->guis_len; i++)
        if (write_gui(w, i) < 0)
            return -1;
    return 0;
}
