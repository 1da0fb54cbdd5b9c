/* The file around the statements: comments, imports, the agent itself. */
#include "shared/buml/write.h"

#include <string.h>

#include "shared/base/mem.h"
#include "shared/buml/writer.h"

#define METAMODEL "besser.BUML.metamodel."

static const char *const machine_names[] = { "Body", "Condition", "ConfigProperty", "CustomCodeAction", NULL };
static const char *const agent_names[] = {
    "Agent",
    "AgentReply",
    "LLMReply",
    "LLMChatReply",
    "RAGReply",
    "DBReply",
    "WebCrawlLLMReply",
    "GUIReplyAction",
    "WebSocketReplyMarkdown",
    "WebSocketReplyHTML",
    "WebSocketReplySpeech",
    "WebSocketReplyOptions",
    "WebSocketReplyLocation",
    "WebSocketReplyFile",
    "WebSocketReplyImage",
    "WebSocketReplyDataframe",
    "WebSocketReplyPlotly",
    "LLMOpenAI",
    "LLMHuggingFace",
    "LLMHuggingFaceAPI",
    "LLMReplicate",
    "LLMMistral",
    "LLMDeepSeek",
    "LLMGoogle",
    "LLMMeta",
    "LLMAnthropic",
    "LLMQwen",
    "LLMxAI",
    "LLMGroq",
    "LLMTogether",
    "LLMOpenRouter",
    "RAGVectorStore",
    "RAGTextSplitter",
    "Tool",
    "Skill",
    "Workspace",
    "ReasoningState",
    "ReceiveTextEvent",
    "ReceiveFileEvent",
    "ReceiveJSONEvent",
    "ReceiveMessageEvent",
    "WildcardEvent",
    "DummyEvent",
    "GUIEvent",
    NULL,
};
/* Beside them: LLMOllama is not imported, but a name that readers of the file know. */
static const char *const other_names[] = { "datetime",  "operator", "Metadata", "AgentSession", "Session", "Intent",
                                           "LLMOllama", "Project",  NULL };
static const char *const annotation_names[] = { "AgentSession", "Session", NULL };

const char *const *buml_import_names(size_t list)
{
    static const char *const *const lists[] = { machine_names, agent_names, other_names };

    return list < ARRAY_LEN(lists) ? lists[list] : NULL;
}

const char *const *buml_annotation_names(void)
{
    return annotation_names;
}

/* ---- imports ------------------------------------------------------------------------------------------------------
 */

static void write_import(struct buml_writer *w, const char *module, const char *const *names, const char *const *more)
{
    code_line(&w->code, "from " METAMODEL "%n import (", module);
    code_open(&w->code);
    for (; *names; names++)
        code_line(&w->code, "%n,", *names);
    for (; *more; more++)
        code_line(&w->code, "%n,", *more);
    code_close(&w->code);
    code_line(&w->code, ")");
}

static void write_imports(struct buml_writer *w)
{
    const char *session[] = { w->annotates ? "Session" : NULL, NULL };
    const char *more[] = { NULL, NULL, NULL };
    size_t n = 0;

    if (w->annotates)
        more[n++] = "AgentSession";
    if (w->foreign_intents)
        more[n++] = "Intent";
    code_line(&w->code, "import datetime");
    write_import(w, "state_machine.state_machine", machine_names, session);
    write_import(w, "state_machine.agent", agent_names, more);
    code_line(&w->code, "from " METAMODEL "structural import Metadata");
    code_line(&w->code, "import operator");
    code_gap(&w->code, 1);
}

/* ---- the whole ----------------------------------------------------------------------------------------------------
 */

static const char *header_of(const struct buml_section *section)
{
    return section->header ? section->header
                           : BUML_VERSION_COMMENT "###############\n"
                                                  "# AGENT MODEL #\n"
                                                  "###############\n";
}

static int write_agent(struct buml_writer *w, const char *header)
{
    if (buml_name_all(w) < 0)
        return -1;
    buf_add_str(&w->code.out, header);
    write_imports(w);
    code_line(&w->code, "%n = Agent(%s)", w->agent, w->m->name);
    if (buml_write_parts(w) < 0 || buml_write_states(w) < 0)
        return -1;
    if (w->m->description && *w->m->description)
        code_line(&w->code, "%n.metadata = Metadata(description=%s)", w->agent, w->m->description);
    return buml_write_behaviour(w);
}

/* What was written, when it is not too much. */
static int finish(struct buml_writer *w, struct buf *out)
{
    if (code_failed(&w->code))
        return err_nomem(w->err);
    if (w->code.out.len > BUML_TEXT_MAX)
        return err_set(w->err, ERR_BAD_REQUEST, 0, "The B-UML text of the agent is longer than %u MiB",
                       BUML_TEXT_MAX >> 20);
    return buf_add(out, w->code.out.data, w->code.out.len) < 0 ? err_nomem(w->err) : 0;
}

int buml_write_section(const struct model *m, const struct buml_section *section, struct buf *out, struct err *err)
{
    struct buml_writer w = { .m = m, .agent = section->variable, .err = err };
    int rc;

    code_init(&w.code, "");
    names_init(&w.names);
    rc = write_agent(&w, header_of(section));
    if (rc == 0)
        rc = finish(&w, out);
    buml_release_names(&w);
    code_release(&w.code);
    return rc;
}

int buml_write(const struct model *m, struct buf *out, struct err *err)
{
    return buml_write_section(m, &(struct buml_section){ .variable = "agent" }, out, err);
}
