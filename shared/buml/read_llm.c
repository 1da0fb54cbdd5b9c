/* Language models and RAG stores of a file. */
#include <string.h>

#include "shared/base/mem.h"
#include "shared/buml/reader.h"
#include "shared/diagram/provider.h"
#include "shared/diagram/text.h"

/* ---- LLMs ---------------------------------------------------------------------------------------------------------
 */

/* Of new_llm(provider=), or of the class. NULL: unknown, said so. */
static const struct llm_provider *provider_of(struct call *c, int *ret_rc)
{
    const struct llm_provider *p = NULL;
    const struct thing *t;
    char *lower;
    size_t i;

    *ret_rc = 0;
    for (i = 0; llm_provider_at(i); i++)
        if (strcmp(llm_provider_at(i)->class_name, c->callee->name) == 0)
            return llm_provider_at(i);
    t = call_arg(c, "provider");
    if (!t || t->kind == THING_NONE)
        return llm_provider_find("openai");
    lower = t->kind == THING_TEXT ? text_lower(t->text) : mem_strdup("");
    if (!lower) {
        *ret_rc = buml_nomem(c->r);
        return NULL;
    }
    p = llm_provider_find(lower);
    mem_free(lower);
    if (!p)
        buml_warn(c->r, c->node, "%s: the provider \"%s\" is unknown; the statement is left out", c->callee->name,
                  t->kind == THING_TEXT ? SHOWN(t->text) : thing_title(t));
    return p;
}

static int fill_llm(struct call *c, struct llm *llm)
{
    const struct thing *parameters = call_arg(c, "parameters");

    llm->parameters.kind = VALUE_OBJECT;
    if (call_fill(c, llm) < 0)
        return -1;
    if (!parameters || parameters->kind == THING_NONE)
        return 0;
    if (parameters->kind != THING_DICT)
        return buml_warn(c->r, c->node, "%s: the parameters are %s, not a dict; they are left out", c->callee->name,
                         thing_title(parameters));
    if (thing_value(c->r, parameters, c->callee->name, &llm->parameters) < 0)
        return -1;
    llm->parameters.kind = VALUE_OBJECT;
    return 0;
}

struct thing *make_llm(struct call *c)
{
    struct model *m = c->r->m;
    struct llm *llm;
    size_t index, at = m->llms_len;
    char *name = NULL;
    int rc;
    const struct llm_provider *provider = provider_of(c, &rc);

    if (!provider)
        return rc < 0 ? NULL : part_unknown(c);
    rc = part_name(c, "name", &c->r->llms, at, &name, &index);
    if (rc <= 0)
        return rc < 0 ? NULL : index != MODEL_NONE ? part_of_model(c, THING_LLM, index) : part_unknown(c);
    llm = model_add_llm(m);
    if (!llm) {
        mem_free(name);
        return part_failed(c);
    }
    llm->name = name;
    llm->provider = provider;
    return fill_llm(c, llm) < 0 ? NULL : part_of_model(c, THING_LLM, at);
}

struct thing *make_default_llm(struct call *c)
{
    const struct thing *t = call_arg(c, "name");
    const char *name = t && t->kind == THING_LLM ? c->r->m->llms[t->index].name : text_arg(c, "name");

    if (name && c->r->default_llm)
        buml_warn(c->r, c->node, "set_default_llm: the default LLM was set before; the first one counts");
    else if (name)
        c->r->default_llm = arena_text(&c->r->arena, name, strlen(name));
    if (name && !c->r->default_llm)
        return part_failed(c);
    return thing_new(c->r, THING_NONE, c->node);
}

/* ---- RAG stores ---------------------------------------------------------------------------------------------------
 */

static int set_member(struct call *c, const struct thing *parameters, const char *key, char **slot)
{
    const struct thing *t = parameters && parameters->kind == THING_DICT ? thing_get(parameters, key) : NULL;
    char *copy;

    if (!t || t->kind != THING_TEXT || !t->text_len)
        return 0;
    copy = mem_strdup(t->text);
    if (!copy || buml_charge(c->r, t->text_len) < 0) {
        mem_free(copy);
        return copy ? -1 : buml_nomem(c->r);
    }
    mem_free(*slot);
    *slot = copy;
    return 0;
}

static int read_store(struct call *c, struct rag *g)
{
    const struct thing *store = call_arg(c, "vector_store"), *parameters;
    const struct thing *provider = thing_is(store, "RAGVectorStore") ? object_arg(store, "embedding_provider") : NULL;
    char *lower;

    g->embedding_base_url = mem_strdup("http://localhost:11434");
    g->embedding_model = mem_strdup("nomic-embed-text");
    lower =
        provider && provider->kind == THING_TEXT && *provider->text ? text_lower(provider->text) : mem_strdup("openai");
    g->embedding_provider = lower;
    if (!lower || !g->embedding_base_url || !g->embedding_model)
        return buml_nomem(c->r);
    g->ollama = strcmp(lower, "ollama") == 0;
    if (!thing_is(store, "RAGVectorStore"))
        return buml_warn(c->r, c->node, "%s: the vector store is %s; OpenAI embeddings are taken", c->callee->name,
                         store ? thing_title(store) : "missing");
    parameters = object_arg(store, "embedding_parameters");
    if (!g->ollama)
        return 0;
    if (set_member(c, parameters, "base_url", &g->embedding_base_url) < 0)
        return -1;
    return set_member(c, parameters, "model", &g->embedding_model);
}

static bool differs(const struct thing *t, double usual)
{
    return t && !(t->kind == THING_INT && t->number == usual);
}

/* A diagram has no place for how texts are cut up; the constants are those of every diagram. */
static void judge_splitter(struct call *c)
{
    const struct thing *s = call_arg(c, "splitter");

    if (thing_is(s, "RAGTextSplitter") &&
        (differs(object_arg(s, "chunk_size"), 1000) || differs(object_arg(s, "chunk_overlap"), 100)))
        buml_warn(c->r, c->node, "%s: chunk size and overlap cannot be kept in a diagram; 1000 and 100 are taken",
                  c->callee->name);
}

struct thing *make_rag(struct call *c)
{
    struct model *m = c->r->m;
    struct rag *g;
    size_t index, at = m->rags_len;
    char *name = NULL;
    int rc = part_name(c, "name", &c->r->rags, at, &name, &index);

    if (rc <= 0)
        return rc < 0 ? NULL : index != MODEL_NONE ? part_of_model(c, THING_RAG, index) : part_unknown(c);
    g = model_add_rag(m);
    if (!g) {
        mem_free(name);
        return part_failed(c);
    }
    g->name = name;
    g->llm = MODEL_NONE;
    if (call_fill(c, g) < 0 || read_store(c, g) < 0)
        return NULL;
    judge_splitter(c);
    rag_settle(g);
    return part_of_model(c, THING_RAG, at);
}
