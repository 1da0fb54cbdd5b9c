#include <string.h>

#include "shared/base/mem.h"
#include "shared/diagram/provider.h"
#include "shared/generate/program.h"

#define EVENTS "baf.library.transition.events.base_events"
#define CLASSIFIER "baf.nlp.intent_classifier.intent_classifier_configuration"
#define LLMS "baf.nlp.llm."

/* Sorted as they are written: standard library, framework, RAG. A row without member imports the
 * module itself. */
static const struct import_row {
    const char *module, *member;
} rows[] = {
    { "builtins", NULL },
    { "json", NULL },
    { "logging", NULL },
    { "operator", NULL },
    { "os", NULL },
    { "re", NULL },
    { "sys", NULL },
    { "types", NULL },
    { "unicodedata", NULL },
    { "baf", "nlp" },
    { "baf.core.agent", "Agent" },
    { "baf.core.session", "Session" },
    { "baf.exceptions.logger", "logger" },
    { "baf.library.state", "new_reasoning_state" },
    { EVENTS, "DummyEvent" },
    { EVENTS, "GUIEvent" },
    { EVENTS, "ReceiveFileEvent" },
    { EVENTS, "ReceiveJSONEvent" },
    { EVENTS, "ReceiveMessageEvent" },
    { EVENTS, "ReceiveTextEvent" },
    { EVENTS, "WildcardEvent" },
    { CLASSIFIER, "LLMIntentClassifierConfiguration" },
    { CLASSIFIER, "SimpleIntentClassifierConfiguration" },
    { "baf.nlp.rag.rag", "HybridRAG" },
    { "baf.nlp.rag.rag", "RAG" },
    { "baf.nlp.speech2text.openai_speech2text", "OpenAISpeech2Text" },
    { "baf.nlp.text2speech.openai_text2speech", "OpenAIText2Speech" },
    { "baf.utils.web_crawl", "crawl_website" },
    { "langchain_community.embeddings", "OllamaEmbeddings" },
    { "langchain_community.embeddings", "OpenAIEmbeddings" },
    { "langchain_community.vectorstores", "Chroma" },
    { "langchain_text_splitters", "RecursiveCharacterTextSplitter" },
};
_Static_assert(ARRAY_LEN(rows) <= 64, "one bit each");

static const char *row_name(const struct import_row *r)
{
    return r->member ? r->member : r->module;
}

void program_use(void *context, const char *name, size_t len)
{
    struct program *p = context;
    const struct llm_provider *provider;
    size_t i;

    if (program_use_helper(p, name, len))
        return;
    for (i = 0; i < ARRAY_LEN(rows); i++)
        if (program_is_name(row_name(&rows[i]), name, len)) {
            p->imports |= UINT64_C(1) << i;
            return;
        }
    for (i = 0; (provider = llm_provider_at(i)); i++)
        if (program_is_name(provider->class_name, name, len))
            p->providers |= UINT32_C(1) << i;
}

int program_reserve_imports(struct program *p)
{
    const struct llm_provider *provider;
    size_t i;

    for (i = 0; i < ARRAY_LEN(rows); i++)
        if (program_reserve(p, row_name(&rows[i])) < 0)
            return -1;
    for (i = 0; (provider = llm_provider_at(i)); i++)
        if (program_reserve(p, provider->class_name) < 0)
            return -1;
    return 0;
}

/* "name", or "name as private name" when user code shares the file. */
static void add_name(struct buf *line, const char *name, const char *prefix)
{
    buf_add_str(line, name);
    if (*prefix)
        buf_add_fmt(line, " as %s%s", prefix, name);
}

/* Names of one module on one line, or one a line when that is too long. */
static void write_from(struct code_writer *w, const char *module, const struct buf *names, size_t count)
{
    const char *s = names->data;

    if (buf_failed(names)) {
        w->out.failed = true;
        return;
    }
    if (strlen("from  import ") + strlen(module) + names->len + count <= CODE_WIDTH) {
        buf_add_fmt(&w->out, "from %s import ", module);
        for (; *s; s++)
            buf_add_str(&w->out, *s == '\n' ? ", " : (char[2]){ *s, '\0' });
        buf_add_char(&w->out, '\n');
        return;
    }
    buf_add_fmt(&w->out, "from %s import (\n    ", module);
    for (; *s; s++)
        buf_add_str(&w->out, *s == '\n' ? ",\n    " : (char[2]){ *s, '\0' });
    buf_add_str(&w->out, ",\n)\n");
}

static bool in_use(const struct program *p, size_t row)
{
    return p->imports >> row & 1;
}

/* The members of rows[i]'s module that are in use; returns the first row of the next module. */
static size_t write_module(struct program *p, struct code_writer *w, size_t i)
{
    const char *module = rows[i].module;
    auto_buf struct buf names;
    size_t count = 0;

    buf_init(&names, 4000);
    for (; i < ARRAY_LEN(rows) && strcmp(rows[i].module, module) == 0; i++) {
        if (!in_use(p, i))
            continue;
        if (!rows[i].member) {
            buf_add_str(&w->out, "import ");
            add_name(&w->out, module, p->prefix);
            buf_add_char(&w->out, '\n');
            continue;
        }
        if (count++)
            buf_add_char(&names, '\n');
        add_name(&names, rows[i].member, p->prefix);
    }
    if (count)
        write_from(w, module, &names, count);
    return i;
}

static void write_providers(struct program *p, struct code_writer *w)
{
    const struct llm_provider *provider;
    size_t i;

    for (i = 0; (provider = llm_provider_at(i)); i++) {
        if (!(p->providers >> i & 1))
            continue;
        buf_add_fmt(&w->out, "from " LLMS "%s import ", provider->module);
        add_name(&w->out, provider->class_name, p->prefix);
        buf_add_char(&w->out, '\n');
    }
}

void program_write_imports(struct program *p, struct code_writer *w)
{
    bool framework = false, llms = false;
    size_t i = 0;

    while (i < ARRAY_LEN(rows)) {
        if (!framework && strncmp(rows[i].module, "baf", 3) == 0) {
            if (w->out.len) /* every program uses the framework */
                buf_add_char(&w->out, '\n');
            framework = true;
        }
        if (!llms && strcmp(rows[i].module, "baf.nlp.rag.rag") == 0) {
            write_providers(p, w);
            llms = true;
        }
        i = write_module(p, w, i);
    }
}
