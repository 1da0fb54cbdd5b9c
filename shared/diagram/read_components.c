/* What an agent has besides states: LLMs, tools, skills, workspaces, intents, GUIs, RAG stores
 * (section 2.4). */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "shared/base/buf.h"
#include "shared/base/mem.h"
#include "shared/diagram/provider.h"
#include "shared/diagram/reader.h"
#include "shared/diagram/text.h"
#include "shared/json/json.h"

struct title { /* the element in sentences: Tool "lookup" */
    char text[SHOWN_MAX + 60];
};

static const char *title_of(struct title *out, const char *kind, const struct element *e, const char *name)
{
    if (text_is_blank(name))
        snprintf(out->text, sizeof(out->text), "%s \"%s\" (id)", kind, SHOWN(e->id));
    else
        snprintf(out->text, sizeof(out->text), "%s \"%s\"", kind, SHOWN(name));
    return out->text;
}

static int keep_path(struct reader *r, const struct element *e, char **slot)
{
    *slot = mem_strdup(ELEMENT_PATH(e, NULL));
    return *slot ? 0 : reader_nomem(r);
}

/* The trimmed, cleaned name under key: 1 and *ret the first time it is seen, 0 when the element is
 * to be skipped (blank, or seen before and not unique), -1. */
static int first_of_name(struct reader *r, const struct element *e, const char *kind, const char *key, struct map *seen,
                         size_t index, char **ret)
{
    struct {
        char *name;
    } holder = { NULL };
    const struct field_row row = { key, NULL, FIELD_NAME, 0, NULL, 0 };
    struct title title;
    int rc = reader_fields(r, e, title_of(&title, kind, e, NULL), &holder, &row, 1);

    if (rc == 0 && text_is_blank(holder.name)) {
        mem_free(holder.name);
        return 0;
    }
    if (rc == 0)
        rc = reader_charge_name(r, holder.name);
    if (rc == 0) {
        rc = map_put_name(seen, holder.name, index, NULL);
        if (rc < 0)
            reader_nomem(r);
    }
    if (rc <= 0) {
        if (rc == 0)
            *ret = holder.name; /* a name seen before, for those who must name it */
        else
            mem_free(holder.name);
        return rc;
    }
    *ret = holder.name;
    return 1;
}

/* The same with the name rule: for tools, skills, workspaces, RAG stores. */
static int first_of_ruled_name(struct reader *r, const struct element *e, const char *kind, struct map *seen,
                               size_t index, char **ret)
{
    char *name = NULL;
    int rc = first_of_name(r, e, kind, "name", seen, index, &name);

    if (rc == 1 && reader_check_name(r, e, kind, name) < 0)
        rc = -1;
    if (rc == 1)
        *ret = name;
    else
        mem_free(name);
    return rc;
}

/* ---- LLM
 * ------------------------------------------------------------------------------------------------------
 */

static int unknown_provider(struct reader *r, const struct element *e, const char *name, const char *provider)
{
    struct buf set;
    size_t i;
    int rc;

    buf_init(&set, 1024);
    for (i = 0; llm_provider_at(i); i++)
        buf_add_fmt(&set, "%s%s", i ? ", " : "", llm_provider_at(i)->name);
    rc = buf_failed(&set) ? reader_nomem(r)
                          : finding_add(r->f, FINDING_ERROR, 2, ELEMENT_PATH(e, "provider"),
                                        "LLM \"%s\": provider \"%s\" is unknown; it must be one of %s", SHOWN(name),
                                        SHOWN(provider), set.data);
    buf_release(&set);
    return rc;
}

static int read_provider(struct reader *r, const struct element *e, struct llm *llm)
{
    const cJSON *v = json_get(e->node, "provider");
    auto_free char *trimmed = NULL;
    char *lower;
    int rc = 0;

    if (!value_is_empty(v) && !cJSON_IsString(v))
        return finding_add(r->f, FINDING_ERROR, 0, ELEMENT_PATH(e, "provider"),
                           "LLM \"%s\": provider must be a text (%s)", SHOWN(llm->name), ELEMENT_PATH(e, "provider"));
    trimmed = text_trim(value_is_empty(v) ? "openai" : v->valuestring);
    lower = trimmed ? text_lower(trimmed) : NULL;
    if (!lower)
        return reader_nomem(r);
    llm->provider = llm_provider_find(lower);
    if (!llm->provider)
        rc = unknown_provider(r, e, llm->name, v->valuestring);
    mem_free(lower);
    return rc;
}

static int read_parameters(struct reader *r, const struct element *e, struct llm *llm)
{
    const cJSON *v = json_get(e->node, "parameters");
    const char *key = "";

    llm->parameters.kind = VALUE_OBJECT;
    if (!cJSON_IsObject(v))
        return 0;
    if (!value_is_finite(v, &key))
        return finding_add(r->f, FINDING_ERROR, 0, ELEMENT_PATH(e, "parameters"),
                           "LLM \"%s\": parameter \"%s\" is not a finite number", SHOWN(llm->name), SHOWN(key));
    if (!value_fits_depth(v, VALUE_DEPTH_MAX))
        return finding_add(r->f, FINDING_ERROR, 0, ELEMENT_PATH(e, "parameters"),
                           "LLM \"%s\": the parameters are nested more than %d levels deep", SHOWN(llm->name),
                           VALUE_DEPTH_MAX);
    return json_to_value(v, &llm->parameters) < 0 ? reader_nomem(r) : 0;
}

static int read_llm(struct reader *r, const struct element *e)
{
    static const struct field_row rows[] = {
        { "num_previous_messages", NULL, FIELD_INT, offsetof(struct llm, num_previous_messages), NULL, 1 },
        { "global_context", NULL, FIELD_RAW, offsetof(struct llm, global_context), NULL, 0 },
    };
    struct title title;
    struct llm *llm;
    char *name = NULL;
    int rc = first_of_name(r, e, "LLM", "name", &r->llms, r->m->llms_len, &name);

    if (rc <= 0) {
        mem_free(name);
        return rc;
    }
    llm = model_add_llm(r->m);
    if (!llm) {
        mem_free(name);
        return reader_nomem(r);
    }
    llm->name = name;
    if (keep_path(r, e, &llm->where) < 0 || read_provider(r, e, llm) < 0 || read_parameters(r, e, llm) < 0)
        return -1;
    return reader_fields(r, e, title_of(&title, "LLM", e, name), llm, rows, ARRAY_LEN(rows));
}

/* ---- tool, skill, workspace, RAG store: one name, then rows
 * ---------------------------------------------------- */

struct target { /* where a new element of such a kind goes */
    void *base;
    char **name, **where;
};

static int read_named(struct reader *r, const struct element *e, const char *kind, const struct target *to, char *name,
                      const struct field_row *rows, size_t len)
{
    struct title title;

    if (!to->base) {
        mem_free(name);
        return reader_nomem(r);
    }
    *to->name = name;
    if (keep_path(r, e, to->where) < 0)
        return -1;
    return reader_fields(r, e, title_of(&title, kind, e, name), to->base, rows, len);
}

static int read_tool(struct reader *r, const struct element *e)
{
    static const struct field_row rows[] = {
        { "description", NULL, FIELD_RAW, offsetof(struct tool, description), "", 0 },
        { "code", NULL, FIELD_RAW, offsetof(struct tool, code), "", 0 },
    };
    struct tool *t;
    char *name = NULL;
    int rc = first_of_ruled_name(r, e, "Tool", &r->tools, r->m->tools_len, &name);

    if (rc <= 0)
        return rc;
    t = model_add_tool(r->m);
    return read_named(r, e, "Tool", &(struct target){ t, t ? &t->name : NULL, t ? &t->where : NULL }, name, rows,
                      ARRAY_LEN(rows));
}

static int read_skill(struct reader *r, const struct element *e)
{
    static const struct field_row rows[] = {
        { "content", NULL, FIELD_RAW, offsetof(struct skill, content), "", 0 },
        { "description", NULL, FIELD_RAW, offsetof(struct skill, description), NULL, 0 },
    };
    struct skill *s;
    char *name = NULL;
    int rc = first_of_ruled_name(r, e, "Skill", &r->skills, r->m->skills_len, &name);

    if (rc <= 0)
        return rc;
    s = model_add_skill(r->m);
    return read_named(r, e, "Skill", &(struct target){ s, s ? &s->name : NULL, s ? &s->where : NULL }, name, rows,
                      ARRAY_LEN(rows));
}

static int read_workspace(struct reader *r, const struct element *e)
{
    static const struct field_row rows[] = {
        { "path", NULL, FIELD_RAW, offsetof(struct workspace, path), "", 0 },
        { "description", NULL, FIELD_RAW, offsetof(struct workspace, description), NULL, 0 },
        { "writable", NULL, FIELD_TRUTH_NULL, offsetof(struct workspace, writable), NULL, 1 },
        { "max_read_bytes", NULL, FIELD_INT_STRICT, offsetof(struct workspace, max_read_bytes), NULL, 200000 },
    };
    struct workspace *w;
    char *name = NULL;
    int rc = first_of_ruled_name(r, e, "Workspace", &r->workspaces, r->m->workspaces_len, &name);

    if (rc <= 0)
        return rc;
    w = model_add_workspace(r->m);
    return read_named(r, e, "Workspace", &(struct target){ w, w ? &w->name : NULL, w ? &w->where : NULL }, name, rows,
                      ARRAY_LEN(rows));
}

static int finish_rag(struct reader *r, struct rag *g)
{
    char *lower = text_lower(g->embedding_provider);

    if (!lower)
        return reader_nomem(r);
    mem_free(g->embedding_provider);
    g->embedding_provider = lower;
    g->ollama = strcmp(lower, "ollama") == 0;
    rag_settle(g);
    return 0;
}

static int read_rag(struct reader *r, const struct element *e)
{
    static const struct field_row rows[] = {
        { "embedding_provider", NULL, FIELD_RAW, offsetof(struct rag, embedding_provider), "openai", 0 },
        { "embedding_base_url", NULL, FIELD_RAW, offsetof(struct rag, embedding_base_url), "http://localhost:11434",
          0 },
        { "embedding_model", NULL, FIELD_RAW, offsetof(struct rag, embedding_model), "nomic-embed-text", 0 },
        { "llm_name", "llm", FIELD_TRIM, offsetof(struct rag, llm_name), "", 0 },
        { "llm_prompt", "llmPrompt", FIELD_NAME, offsetof(struct rag, llm_prompt), NULL, 0 },
        { "k", NULL, FIELD_INT, offsetof(struct rag, k), NULL, 4 },
        { "num_previous_messages", "numPreviousMessages", FIELD_INT, offsetof(struct rag, num_previous_messages), NULL,
          0 },
        { "use_hybrid_rag", NULL, FIELD_TRUTH, offsetof(struct rag, hybrid), NULL, 0 },
        { "bm25_weight", NULL, FIELD_FLOAT, offsetof(struct rag, bm25_weight), NULL, 0.6 },
    };
    struct rag *g;
    char *name = NULL;
    int rc = first_of_ruled_name(r, e, "RAG store", &r->rags, r->m->rags_len, &name);

    if (rc <= 0)
        return rc; /* a store of that name again: an alias, its own fields do not matter */
    g = model_add_rag(r->m);
    rc = read_named(r, e, "RAG store", &(struct target){ g, g ? &g->name : NULL, g ? &g->where : NULL }, name, rows,
                    ARRAY_LEN(rows));
    return rc < 0 || !g ? -1 : finish_rag(r, g);
}

/* ---- GUI
 * ------------------------------------------------------------------------------------------------------
 */

static int read_gui(struct reader *r, const struct element *e)
{
    static const struct field_row rows[] = {
        { "persist", NULL, FIELD_TRUTH, offsetof(struct gui, persist), NULL, 1 },
        { "width", NULL, FIELD_CLEAN, offsetof(struct gui, width), NULL, 0 },
        { "is_form", NULL, FIELD_TRUTH, offsetof(struct gui, is_form), NULL, 0 },
    };
    const cJSON *design = json_get(e->node, "guiModel");
    struct gui *g;
    char *id = NULL;
    int rc;

    if (cJSON_IsNull(json_get(e->node, "gui_id"))) /* a missing one is blank, one that is no text is refused */
        return finding_add(r->f, FINDING_ERROR, 0, ELEMENT_PATH(e, "gui_id"), "GUI: gui_id must be a text (%s)",
                           ELEMENT_PATH(e, "gui_id"));
    rc = first_of_name(r, e, "GUI", "gui_id", &r->guis, r->m->guis_len, &id);
    if (rc == 0 && id)
        rc = finding_add(r->f, FINDING_ERROR, 5, ELEMENT_PATH(e, "gui_id"),
                         "Agent \"%s\" has two GUIs with the id \"%s\"", SHOWN(r->m->name), SHOWN(id));
    if (rc <= 0) {
        mem_free(id);
        return rc;
    }
    g = model_add_gui(r->m);
    rc = read_named(r, e, "GUI", &(struct target){ g, g ? &g->gui_id : NULL, g ? &g->where : NULL }, id, rows,
                    ARRAY_LEN(rows));
    if (rc < 0 || !cJSON_IsObject(design))
        return rc;
    return json_to_value(design, &g->design) < 0 ? reader_nomem(r) : 0;
}

/* ---- intent
 * ---------------------------------------------------------------------------------------------------
 */

static int add_sentence(struct reader *r, struct intent *n, const struct element *body)
{
    struct {
        char *text;
    } one = { NULL };
    static const struct field_row row = { "name", NULL, FIELD_CLEAN, 0, NULL, 0 };
    int rc = reader_fields(r, body, "Training sentence", &one, &row, 1);

    if (rc == 0 && one.text) {
        rc = reader_charge(r, sizeof(char *) * 4); /* so that repeating one short id is not free */
        if (rc == 0 && str_list_add(&n->sentences, one.text) < 0)
            rc = reader_nomem(r);
    }
    mem_free(one.text);
    return rc;
}

static int read_intent(struct reader *r, const struct element *e)
{
    static const struct field_row rows[] = {
        { "intent_description", NULL, FIELD_RAW, offsetof(struct intent, description), NULL, 0 },
    };
    const cJSON *v = json_get(e->node, "name"), *c;
    const char *name = cJSON_IsString(v) ? v->valuestring : NULL, *key;
    char title[SHOWN_MAX + 40];
    const struct element *body;
    struct intent *n;
    int rc;

    if (reader_check_name(r, e, "Intent", name) < 0 || reader_charge_name(r, name) < 0)
        return -1;
    rc = map_put_name(&r->intents, name, r->m->intents_len, NULL);
    if (rc == 0)
        return finding_add(r->f, FINDING_ERROR, 3, ELEMENT_PATH(e, "name"), "There are two intents named \"%s\"",
                           SHOWN(name));
    if (rc < 0 || map_put_folded(&r->intents_folded, name, r->m->intents_len, NULL) < 0)
        return reader_nomem(r);
    n = model_add_intent(r->m);
    if (!n || !(n->name = mem_strdup(name)))
        return reader_nomem(r);
    if (keep_path(r, e, &n->where) < 0 || reader_fields(r, e, "Intent", n, rows, ARRAY_LEN(rows)) < 0)
        return -1;
    key = value_is_empty(json_get(e->node, "bodies")) ? "ownedElements" : "bodies";
    (void)snprintf(title, sizeof(title), "Intent \"%s\"", SHOWN(name));
    if (reader_ids(r, e, title, key, json_get(e->node, key), &c) < 0)
        return -1;
    for (; c; c = c->next) {
        body = document_find(&r->doc, c);
        if (body && add_sentence(r, n, body) < 0)
            return -1;
    }
    return 0;
}

int read_components(struct reader *r)
{
    static int (*const readers[ELEMENT__MAX])(struct reader *, const struct element *) = {
        [ELEMENT_LLM] = read_llm,       [ELEMENT_TOOL] = read_tool,
        [ELEMENT_SKILL] = read_skill,   [ELEMENT_WORKSPACE] = read_workspace,
        [ELEMENT_INTENT] = read_intent, [ELEMENT_GUI] = read_gui,
        [ELEMENT_RAG] = read_rag,
    };
    size_t i;

    for (i = 0; i < r->doc.len; i++) {
        const struct element *e = &r->doc.elements[i];

        if (readers[e->type] && readers[e->type](r, e) < 0)
            return -1;
    }
    return 0;
}
