/* What has no place on the canvas: intents, RAG stores, tools, skills, workspaces, LLMs, GUIs. */
#include "shared/base/mem.h"
#include "shared/diagram/provider.h"
#include "shared/diagram/writer.h"

static cJSON *add(struct diagram_writer *w, const char *type, const char *name, size_t number)
{
    char id[DIAGRAM_ID_SIZE];

    diagram_id(w, type, name, number, id);
    return diagram_add_element(w, w->components, id, type, name, NULL);
}

static void write_intent(struct diagram_writer *w, const struct intent *n)
{
    char id[DIAGRAM_ID_SIZE], owner[DIAGRAM_ID_SIZE];
    cJSON *e = add(w, "AgentIntent", n->name, 0), *bodies = diagram_add_array(w, e, "bodies");
    size_t i;

    diagram_add_word(w, e, "intent_description", n->description);
    diagram_id(w, "AgentIntent", n->name, 0, owner);
    for (i = 0; i < n->sentences.len; i++) {
        diagram_id(w, "AgentIntentBody", n->name, i, id);
        diagram_add_item(w, bodies, id);
        diagram_add_element(w, w->components, id, "AgentIntentBody", n->sentences.items[i], owner);
    }
}

static void write_rag(struct diagram_writer *w, const struct rag *g)
{
    cJSON *e = add(w, "AgentRagElement", g->name, 0);

    diagram_add_word(w, e, "llm_name", g->llm_name);
    diagram_add_word(w, e, "llm", g->llm_name);
    diagram_add_word(w, e, "llm_prompt", g->llm_prompt);
    diagram_add_int(w, e, "k", g->k);
    diagram_add_int(w, e, "num_previous_messages", g->num_previous_messages);
    diagram_add_int(w, e, "numPreviousMessages", g->num_previous_messages);
    diagram_add_bool(w, e, "use_hybrid_rag", g->hybrid);
    diagram_add_number(w, e, "bm25_weight", g->bm25_weight);
    diagram_add_word(w, e, "embedding_provider", g->embedding_provider);
    diagram_add_word(w, e, "embedding_base_url", g->ollama ? g->embedding_base_url : "");
    diagram_add_word(w, e, "embedding_model", g->ollama ? g->embedding_model : "");
}

static void write_llm(struct diagram_writer *w, const struct llm *l)
{
    cJSON *e = add(w, "AgentLLM", l->name, 0);

    diagram_add_text(w, e, "provider", l->provider->name);
    diagram_add_value(w, e, "parameters", &l->parameters);
    diagram_add_int(w, e, "num_previous_messages", l->num_previous_messages);
    diagram_add_text(w, e, "global_context", l->global_context);
}

static void write_workspace(struct diagram_writer *w, const struct workspace *s)
{
    cJSON *e = add(w, "AgentWorkspace", s->name, 0);

    diagram_add_word(w, e, "path", s->path);
    diagram_add_text(w, e, "description", s->description);
    diagram_add_bool(w, e, "writable", s->writable);
    diagram_add_int(w, e, "max_read_bytes", s->max_read_bytes);
}

static void write_gui(struct diagram_writer *w, const struct gui *g)
{
    cJSON *e = add(w, "AgentGUI", g->gui_id, 0);

    diagram_add_text(w, e, "gui_id", g->gui_id);
    diagram_add_bool(w, e, "persist", g->persist);
    diagram_add_word(w, e, "width", g->width);
    diagram_add_bool(w, e, "is_form", g->is_form);
    diagram_add_value(w, e, "guiModel", &g->design);
}

void diagram_write_components(struct diagram_writer *w)
{
    const struct model *m = w->m;
    size_t i;
    cJSON *e;

    for (i = 0; i < m->intents_len; i++)
        write_intent(w, &m->intents[i]);
    for (i = 0; i < m->rags_len; i++)
        write_rag(w, &m->rags[i]);
    for (i = 0; i < m->tools_len; i++) {
        e = add(w, "AgentTool", m->tools[i].name, 0);
        diagram_add_word(w, e, "description", m->tools[i].description);
        diagram_add_word(w, e, "code", m->tools[i].code);
    }
    for (i = 0; i < m->skills_len; i++) {
        e = add(w, "AgentSkill", m->skills[i].name, 0);
        diagram_add_word(w, e, "content", m->skills[i].content);
        diagram_add_text(w, e, "description", m->skills[i].description);
    }
    for (i = 0; i < m->workspaces_len; i++)
        write_workspace(w, &m->workspaces[i]);
    for (i = 0; i < m->llms_len; i++)
        write_llm(w, &m->llms[i]);
    for (i = 0; i < m->guis_len; i++)
        write_gui(w, &m->guis[i]);
}
