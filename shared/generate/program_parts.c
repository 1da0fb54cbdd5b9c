#include <math.h>
#include <string.h>
#include <strings.h>

#include "shared/base/mem.h"
#include "shared/base/str.h"
#include "shared/diagram/provider.h"
#include "shared/generate/program.h"

#define CONFIGURATION_DEPTH_MAX 90 /* the literal writer takes 100 */

/* ---- agent and platform
 * ----------------------------------------------------------------------------------------- */

static bool is_personal(const struct program *p)
{
    const struct value *mapping = &p->model->settings.personalization;

    return mapping->kind == VALUE_ARRAY && mapping->len > 0;
}

static void write_platform(struct program *p)
{
    struct code_writer *w = &p->code;
    enum platform platform = p->model->settings.platform;
    bool session = p->options->session;

    if (platform == PLATFORM_TELEGRAM && !session) {
        code_text(w, "@platform = @agent.use_telegram_platform()");
        return;
    }
    code_call(w, "@platform = @agent.use_websocket_platform");
    code_arg(w, "use_ui=%b", !session && platform != PLATFORM_WEBSOCKET);
    if (!session && platform == PLATFORM_STREAMLIT && is_personal(p))
        code_arg(w, "authenticate_users=True");
    code_call_end(w, "");
}

static bool lists_speech(const struct value *modalities)
{
    size_t i;

    for (i = 0; modalities && modalities->kind == VALUE_ARRAY && i < modalities->len; i++)
        if (modalities->items[i].kind == VALUE_STRING && strcasecmp(modalities->items[i].string, "speech") == 0)
            return true;
    return false;
}

/* Profiles of a personalization mapping switch speech on for the whole agent; the key may stand in its section. */
static bool mapping_speaks(const struct value *mapping, const char *key)
{
    size_t i;

    for (i = 0; mapping->kind == VALUE_ARRAY && i < mapping->len; i++) {
        const struct value *configuration = value_get(&mapping->items[i], "configuration"), *section;

        if (!configuration)
            continue;
        section = value_get(configuration, "modality");
        if (lists_speech(value_get(configuration, key)) || (section && lists_speech(value_get(section, key))))
            return true;
    }
    return false;
}

void program_decide_speech(struct program *p)
{
    const struct settings *s = &p->model->settings;

    p->speech_input = s->speech_input || mapping_speaks(&s->personalization, "inputModalities");
    p->speech_output = s->speech_output || mapping_speaks(&s->personalization, "outputModalities");
}

/* Name of an entry with spaces and hyphens as underscores; the caller frees, NULL out of memory. */
static char *profile_slug(const struct value *entry, size_t i)
{
    const struct value *name = value_get(entry, "name");
    auto_buf struct buf slug;
    size_t at;

    buf_init(&slug, SIZE_MAX / 2);
    if (name && name->kind == VALUE_STRING && *name->string)
        buf_add_str(&slug, name->string);
    else
        buf_add_fmt(&slug, "variant_%zu", i + 1);
    for (at = 0; at < slug.len; at++)
        if (slug.data[at] == ' ' || slug.data[at] == '-')
            slug.data[at] = '_';
    return buf_steal(&slug, NULL);
}

/* What the literal writer takes; the rules see to all other values before. */
static bool is_writable(const struct value *v, int depth)
{
    size_t i;

    if (v->kind == VALUE_DOUBLE)
        return isfinite(v->number);
    if (v->kind != VALUE_ARRAY && v->kind != VALUE_OBJECT)
        return true;
    if (depth >= CONFIGURATION_DEPTH_MAX)
        return false;
    for (i = 0; i < v->len; i++)
        if (!is_writable(&v->items[i], depth + 1))
            return false;
    return true;
}

static int write_configurations(struct program *p)
{
    const struct value *mapping = &p->model->settings.personalization;
    size_t i;

    if (!is_personal(p))
        return 0;
    code_text(&p->code, "@agent.set_agent_configurations({");
    code_open(&p->code);
    for (i = 0; i < mapping->len; i++) {
        const struct value *configuration = value_get(&mapping->items[i], "configuration");
        const struct value none = { .kind = VALUE_OBJECT };
        auto_free char *slug =
            i < p->model->profiles_len ? mem_strdup(p->model->profiles[i].slug) : profile_slug(&mapping->items[i], i);

        if (!slug)
            return err_nomem(p->err);
        if (!configuration || configuration->kind != VALUE_OBJECT)
            configuration = &none;
        if (!is_writable(configuration, 0))
            return err_set(p->err, ERR_BAD_REQUEST, 0,
                           "config.personalizationMapping[%zu].configuration is nested too deeply or has a number that "
                           "is not finite",
                           i);
        code_line(&p->code, "%s: %v,", slug, configuration);
    }
    code_close(&p->code);
    code_text(&p->code, "})");
    return 0;
}

static void write_speech(struct program *p)
{
    struct code_writer *w = &p->code;

    if (p->speech_input)
        code_text(w, "@stt = @OpenAISpeech2Text(agent=@agent, model_name='whisper-1')");
    if (p->speech_output)
        code_text(w, "@tts = @OpenAIText2Speech(agent=@agent, model_name='gpt-4o-mini-tts')");
}

/* ---- RAG, GUIs
 * --------------------------------------------------------------------------------------------------
 */

static const char *default_llm_name(const struct model *m)
{
    if (m->default_llm != MODEL_NONE)
        return m->llms[m->default_llm].name;
    return m->llms_len ? m->llms[0].name : "";
}

static void write_vector_store(struct program *p, const struct rag *r, const char *slug)
{
    struct code_writer *w = &p->code;

    code_text(w, "vector_store=@Chroma(");
    code_open(w);
    if (r->ollama)
        code_line(w, "embedding_function=@OllamaEmbeddings(base_url=%s, model=%s),",
                  r->embedding_base_url ? r->embedding_base_url : "", r->embedding_model ? r->embedding_model : "");
    else
        code_text(w, "embedding_function=@OpenAIEmbeddings("
                     "openai_api_key=@agent.get_property(@nlp.OPENAI_API_KEY)),");
    code_line(w, "persist_directory=%s,", slug);
    code_close(w);
    code_text(w, "),");
}

static int write_rag(struct program *p, size_t i)
{
    const struct rag *r = &p->model->rags[i];
    struct code_writer *w = &p->code;
    auto_buf struct buf folder;

    buf_init(&folder, SIZE_MAX / 2);
    if (buf_add_fmt(&folder, "vector_store/%s", p->rag_stores.items[i]) < 0)
        return err_nomem(p->err);
    if (i)
        code_gap(w, 1);
    if (r->hybrid)
        code_line(w, "%n = @HybridRAG(", p->rags[i]);
    else
        code_line(w, "%n = @RAG(", p->rags[i]);
    code_open(w);
    code_text(w, "agent=@agent,");
    write_vector_store(p, r, folder.data);
    code_text(w, "splitter=@RecursiveCharacterTextSplitter(chunk_size=1000, chunk_overlap=100),");
    code_line(w, "llm_name=%s,", r->llm_name && *r->llm_name ? r->llm_name : default_llm_name(p->model));
    code_line(w, "llm_prompt=%s,", r->llm_prompt);
    code_line(w, "k=%d,", r->k);
    code_line(w, "num_previous_messages=%d,", r->num_previous_messages);
    if (r->hybrid)
        code_line(w, "bm25_weight=%f,", r->bm25_weight);
    code_close(w);
    code_text(w, ")");
    code_line(w, "@load_documents(%n, %s)", p->rags[i], p->rag_folders.items[i]);
    return 0;
}

static void write_guis(struct program *p)
{
    bool keeps_inputs = false;
    size_t i;

    code_gap(&p->code, 1);
    for (i = 0; i < p->model->guis_len; i++)
        if (p->gui_modules[i]) {
            code_line(&p->code, "from guis.%n import gui as %n", p->gui_modules[i], p->guis[i]);
            keeps_inputs |= p->model->guis[i].persist;
        }
    code_gap(&p->code, 1);
    if (keeps_inputs)
        code_text(&p->code, "@agent.receive_event = @inputs_first(@agent.receive_event)");
}

/* ---- intent recognition, LLMs
 * ----------------------------------------------------------------------------------- */

static const char *classifier_llm(const struct model *m)
{
    const struct settings *s = &m->settings;

    if (s->classifier_llm_name && *s->classifier_llm_name)
        return s->classifier_llm_name;
    if (m->llms_len)
        return default_llm_name(m);
    return s->classifier_llm_model ? s->classifier_llm_model : "";
}

static void write_classical_classifier(struct code_writer *w)
{
    static const char *const args[] = {
        "framework='pytorch'",
        "num_epochs=50",
        "embedding_dim=128",
        "hidden_dim=128",
        "input_max_num_tokens=15",
        "discard_oov_sentences=True",
        "check_exact_prediction_match=True",
        "activation_last_layer='sigmoid'",
        "lr=0.001",
    };
    size_t i;

    code_call(w, "@ic_config = @SimpleIntentClassifierConfiguration");
    for (i = 0; i < ARRAY_LEN(args); i++)
        code_arg(w, "%n", args[i]);
    code_call_end(w, "");
}

static void write_classifier(struct program *p)
{
    struct code_writer *w = &p->code;
    const char *llm = classifier_llm(p->model);

    code_heading(w, "Recognition of intents");
    if (p->model->settings.classical_intents) {
        write_classical_classifier(w);
    } else {
        code_call(w, "@ic_config = @LLMIntentClassifierConfiguration");
        code_arg(w, "llm_name=%s", llm);
        code_arg(w, "parameters={}");
        code_arg(w, "use_intent_descriptions=True");
        code_arg(w, "use_training_sentences=True");
        code_arg(w, "use_entity_descriptions=False");
        code_arg(w, "use_entity_synonyms=False");
        code_call_end(w, "");
        if (!*llm && p->model->intents_len)
            code_text(w, "@logger.warning('There is no LLM to recognise intents with')");
    }
    code_text(w, "@agent.set_default_ic_config(@ic_config)");
}

static void write_llms(struct program *p)
{
    struct code_writer *w = &p->code;
    const struct model *m = p->model;
    size_t i;

    if (!m->llms_len)
        return;
    code_heading(w, "Language models");
    for (i = 0; i < m->llms_len; i++) {
        const struct llm *l = &m->llms[i];

        program_use(p, l->provider->class_name, strlen(l->provider->class_name));
        code_call(w, "%n = %n%n", p->llms[i], p->prefix, l->provider->class_name);
        code_arg(w, "agent=@agent");
        code_arg(w, "name=%s", l->name);
        code_arg(w, "parameters=%v", &l->parameters);
        if (l->num_previous_messages)
            code_arg(w, "num_previous_messages=%d", l->num_previous_messages);
        if (l->global_context && *l->global_context)
            code_arg(w, "global_context=%s", l->global_context);
        code_call_end(w, "");
    }
    code_line(w, "@default_llm = %n", p->llms[m->default_llm != MODEL_NONE ? m->default_llm : 0]);
}

static bool has_kind(const struct action_list *l, enum action_kind kind)
{
    size_t i;

    for (i = 0; i < l->len; i++)
        if (l->items[i].kind == kind)
            return true;
    return false;
}

static bool uses_database(const struct model *m)
{
    size_t i;

    for (i = 0; i < m->states_len; i++)
        if (has_kind(&m->states[i].body, ACTION_DB) || has_kind(&m->states[i].fallback, ACTION_DB))
            return true;
    return false;
}

int program_write_agent(struct program *p)
{
    struct code_writer *w = &p->code;
    size_t i;

    if (p->model->profiles_len)
        code_line(w, "@agent = @Agent(%s, user_profiles_path='user_profiles.json', persist_sessions=True)",
                  p->model->name);
    else
        code_line(w, "@agent = @Agent(%s)", p->model->name);
    code_text(w, "@agent.load_properties('config.yaml')");
    write_platform(p);
    if (write_configurations(p) < 0)
        return -1;
    write_speech(p);
    if (p->model->rags_len)
        code_heading(w, "Document stores");
    for (i = 0; i < p->model->rags_len; i++)
        if (write_rag(p, i) < 0)
            return -1;
    write_guis(p);
    write_classifier(p);
    write_llms(p);
    if (uses_database(p->model))
        code_text(w, "@agent.use_db_handler()");
    return 0;
}

/* ---- intents
 * ----------------------------------------------------------------------------------------------------
 */

int program_write_intents(struct program *p)
{
    struct code_writer *w = &p->code;
    size_t i, j;

    if (p->model->intents_len)
        code_heading(w, "Intents");
    for (i = 0; i < p->model->intents_len; i++) {
        const struct intent *t = &p->model->intents[i];
        bool described = t->description && *t->description;

        if (t->sentences.len) {
            code_line(w, "%n = @agent.new_intent(%s, [", p->intents[i], t->name);
            code_open(w);
            for (j = 0; j < t->sentences.len; j++)
                code_line(w, "%s,", t->sentences.items[j]);
            code_close(w);
        }
        if (t->sentences.len && described)
            code_line(w, "], description=%s)", t->description);
        else if (t->sentences.len)
            code_text(w, "])");
        else if (described)
            code_line(w, "%n = @agent.new_intent(%s, [], description=%s)", p->intents[i], t->name, t->description);
        else
            code_line(w, "%n = @agent.new_intent(%s, [])", p->intents[i], t->name);
    }
    return 0;
}
