/* The constructors and methods that the reader knows, with their arguments in Python's order (reader.h). Facts: the
 * metamodel's signatures, tables of sections 3 to 5 of the B-UML contract. */
#include <stddef.h>
#include <string.h>

#include "shared/base/mem.h"
#include "shared/buml/reader.h"

#define THING(name) \
    { \
        name, ARG_THING, 0, NULL, 0 \
    }
#define PASS(name) \
    { \
        name, ARG_PASS, 0, NULL, 0 \
    }
#define TEXT(name, as, type, member, text) \
    { \
        name, as, offsetof(struct type, member), text, 0 \
    }
#define NUMBER(name, as, type, member, number) \
    { \
        name, as, offsetof(struct type, member), NULL, number \
    }

/* ---- parts of an agent --------------------------------------------------------------------------------------------
 */

static const struct parameter agent[] = { THING("name"), THING("metadata"), PASS("persist_sessions"),
                                          PASS("user_profiles_path") };
static const struct parameter metadata[] = {
    { "description", ARG_RAW, 0, NULL, 0 }, PASS("uri"), PASS("synonyms"), PASS("icon")
};
static const struct parameter project[] = {
    { "name", ARG_RAW, offsetof(struct buml_project, name), NULL, 0 },
    THING("models"),
    { "owner", ARG_RAW, offsetof(struct buml_project, owner), NULL, 0 },
    THING("metadata"),
    PASS("timestamp"),
};
static const struct parameter intent[] = {
    THING("name"),
    THING("training_sentences"),
    PASS("parameters"),
    TEXT("description", ARG_RAW, intent, description, NULL),
};
#define LLM_REST \
    NUMBER("num_previous_messages", ARG_INT, llm, num_previous_messages, 1), \
        TEXT("global_context", ARG_RAW, llm, global_context, NULL)
static const struct parameter new_llm[] = { THING("name"), THING("provider"), THING("parameters"), LLM_REST };
static const struct parameter llm_class[] = { THING("agent"), THING("name"), THING("parameters"), LLM_REST };
static const struct parameter default_llm[] = { THING("name") };
static const struct parameter tool[] = {
    THING("name"),
    TEXT("description", ARG_RAW, tool, description, ""),
    TEXT("code", ARG_RAW, tool, code, ""),
};
static const struct parameter skill[] = {
    THING("name"),
    TEXT("content", ARG_RAW, skill, content, ""),
    TEXT("description", ARG_RAW, skill, description, NULL),
};
static const struct parameter workspace[] = {
    THING("name"),
    TEXT("path", ARG_RAW, workspace, path, ""),
    TEXT("description", ARG_RAW, workspace, description, NULL),
    NUMBER("writable", ARG_TRUTH, workspace, writable, 1),
    NUMBER("max_read_bytes", ARG_INT, workspace, max_read_bytes, 200000),
};
static const struct parameter vector_store[] = { THING("embedding_provider"), THING("embedding_parameters"),
                                                 THING("persist_directory") };
static const struct parameter splitter[] = { THING("splitter_type"), THING("chunk_size"), THING("chunk_overlap") };
#define RAG_REST \
    THING("vector_store"), THING("splitter"), TEXT("llm_name", ARG_TRIM, rag, llm_name, ""), \
        TEXT("llm_prompt", ARG_TRIM, rag, llm_prompt, NULL), NUMBER("k", ARG_INT, rag, k, 4), \
        NUMBER("num_previous_messages", ARG_INT, rag, num_previous_messages, 0), \
        NUMBER("use_hybrid_rag", ARG_TRUTH, rag, hybrid, 0), NUMBER("bm25_weight", ARG_FLOAT, rag, bm25_weight, 0.6)
static const struct parameter new_rag[] = { THING("name"), RAG_REST };
static const struct parameter rag_class[] = { THING("name"), THING("agent"), RAG_REST };
static const struct parameter gui[] = { THING("gui_id"), THING("gui_model") };

/* ---- states -------------------------------------------------------------------------------------------------------
 */

static const struct parameter state[] = { THING("name"), THING("initial"), PASS("ic_config"), PASS("final") };
static const struct parameter state_class[] = { THING("agent"), THING("name"), THING("initial"), PASS("ic_config") };
#define REASONING_REST \
    THING("llm"), THING("initial"), NUMBER("max_steps", ARG_INT, state, max_steps, 8), \
        NUMBER("enable_task_planning", ARG_TRUTH, state, task_planning, 1), \
        NUMBER("stream_steps", ARG_TRUTH, state, stream_steps, 1), \
        TEXT("system_prompt", ARG_RAW, state, system_prompt, NULL), \
        TEXT("fallback_message", ARG_RAW, state, fallback_message, NULL)
static const struct parameter reasoning[] = { THING("name"), REASONING_REST };
static const struct parameter reasoning_class[] = { THING("agent"), THING("name"), REASONING_REST };
static const struct parameter body[] = { THING("name"), THING("callable"), THING("actions") };
static const struct parameter one_body[] = { THING("body") };
static const struct parameter one_action[] = { THING("action") };
static const struct parameter one_source[] = { THING("source") };

/* ---- actions ------------------------------------------------------------------------------------------------------
 */

#define PROMPT TEXT("prompt", ARG_CLEAN, action, prompt, NULL)
#define LLM_NAME TEXT("llm_name", ARG_CLEAN, action, llm_name, NULL)
#define INPUT \
    THING("input_prompt_mode"), TEXT("custom_input_prompt", ARG_RAW, action, input_prompt, NULL), \
        NUMBER("custom_input_prompt_use_session_vars", ARG_TRUTH, action, input_use_session_vars, 0)
#define OUTPUT \
    TEXT("store_in_session", ARG_CLEAN, action, store_in_session, NULL), \
        NUMBER("send_reply", ARG_TRUTH, action, send_reply, 1)
#define SYSTEM_VARS NUMBER("system_prompt_use_session_vars", ARG_TRUTH, action, prompt_use_session_vars, 0)
#define MESSAGE TEXT("message", ARG_CTEXT, action, text, "")
#define TEXT_VARS NUMBER("use_session_vars", ARG_TRUTH, action, use_session_vars, 0)

static const struct parameter text_reply[] = { MESSAGE, TEXT_VARS };
static const struct parameter llm_reply[] = { PROMPT, LLM_NAME, INPUT, SYSTEM_VARS, OUTPUT };
static const struct parameter llm_chat[] = { PROMPT, LLM_NAME, SYSTEM_VARS, OUTPUT };
static const struct parameter rag_reply[] = {
    TEXT("rag_db_name", ARG_CLEAN, action, text, NULL),
    PROMPT,
    INPUT,
    NUMBER("prompt_use_session_vars", ARG_TRUTH, action, prompt_use_session_vars, 0),
    OUTPUT,
};
static const struct parameter db_reply[] = {
    THING("db_selection_type"),
    TEXT("db_custom_name", ARG_TRIM, action, db_custom_name, NULL),
    THING("db_query_mode"),
    THING("db_operation"),
    TEXT("db_sql_query", ARG_RAW, action, sql, NULL),
    LLM_NAME,
    INPUT,
    OUTPUT,
};
static const struct parameter crawl[] = {
    TEXT("initial_url", ARG_CLEAN, action, text, NULL),
    NUMBER("max_depth", ARG_INT, action, max_depth, 2),
    NUMBER("max_pages", ARG_INT, action, max_pages, 20),
    TEXT("crawl_format", ARG_CLEAN, action, crawl_format, "markdown"),
    TEXT("base_url_prefix", ARG_CLEAN, action, base_url_prefix, NULL),
    NUMBER("run_crawl", ARG_TRUTH, action, run_crawl, 1),
    TEXT("no_crawl_error_message", ARG_CLEAN, action, no_crawl_message, "No web crawl data is available yet."),
    TEXT("system_message_prefix", ARG_CLEAN, action, prompt, NULL),
    LLM_NAME,
    NUMBER("system_message_prefix_use_session_vars", ARG_TRUTH, action, prompt_use_session_vars, 0),
    OUTPUT,
};
static const struct parameter speech[] = { MESSAGE, THING("audio_speed"), TEXT_VARS };
static const struct parameter options[] = { THING("options") };
static const struct parameter location[] = {
    NUMBER("latitude", ARG_FLOAT, action, latitude, 0),
    NUMBER("longitude", ARG_FLOAT, action, longitude, 0),
};
static const struct parameter gui_reply[] = {
    TEXT("gui_id", ARG_CLEAN, action, text, NULL),
    NUMBER("persist", ARG_TRUTH, action, persist, 1),
    TEXT("width", ARG_CLEAN, action, width, NULL),
    NUMBER("is_form", ARG_TRUTH, action, is_form, 0),
};
static const struct parameter code[] = { THING("source"), THING("callable") };

/* ---- transitions --------------------------------------------------------------------------------------------------
 */

static const struct parameter condition[] = { THING("name"), THING("callable"), THING("source") };
static const struct parameter one_condition[] = { THING("condition") };
static const struct parameter one_intent[] = { THING("intent") };
static const struct parameter one_event[] = { THING("event") };
static const struct parameter comparison[] = { THING("var_name"), THING("operation"), THING("target") };
static const struct parameter file_types[] = { THING("allowed_types") };
static const struct parameter form[] = { THING("form_id") };
static const struct parameter destination[] = { THING("dest") };
static const struct parameter event_text[] = { PASS("text") };
static const struct parameter event_message[] = { PASS("message") };
static const struct parameter event_payload[] = { PASS("payload") };
static const struct parameter event_file[] = { PASS("file") };
static const struct parameter event_gui[] = { THING("message_id") };

/* ---- what is known and has no place -------------------------------------------------------------------------------
 */

static const struct parameter anything[] = {
    THING("a"), THING("b"), THING("c"), THING("d"), THING("e"), THING("f"), THING("g"), THING("h"),
};
static const struct parameter property[] = { THING("section"), THING("name"), THING("value") };
static const struct parameter new_entity[] = { THING("name"), THING("base_entity"), THING("entries"),
                                               THING("description") };
static const struct parameter entity_entry[] = { THING("value"), THING("synonyms") };
static const struct parameter intent_parameter[] = { THING("name"), THING("fragment"), THING("entity") };
static const struct parameter one[] = { THING("item") };

#define ROW(name, parameters, run) \
    { \
        name, parameters, ARRAY_LEN(parameters), run \
    }
#define BARE(name, run) \
    { \
        name, NULL, 0, run \
    }
#define LLM_CLASS(name) ROW(name, llm_class, make_llm)

static const struct callee constructors[] = {
    ROW("Agent", agent, make_agent),
    ROW("Metadata", metadata, NULL),
    ROW("Project", project, make_project),
    ROW("Intent", intent, NULL), /* one of the agent's only when it is added */
    ROW("Tool", tool, make_tool),
    ROW("Skill", skill, make_skill),
    ROW("Workspace", workspace, make_workspace),
    ROW("RAGVectorStore", vector_store, NULL),
    ROW("RAGTextSplitter", splitter, NULL),
    ROW("RAG", rag_class, make_rag),
    ROW("AgentState", state_class, make_state),
    ROW("ReasoningState", reasoning_class, make_reasoning_state),
    ROW("Body", body, make_body),
    LLM_CLASS("LLMOpenAI"),
    LLM_CLASS("LLMHuggingFace"),
    LLM_CLASS("LLMHuggingFaceAPI"),
    LLM_CLASS("LLMReplicate"),
    LLM_CLASS("LLMOllama"),
    LLM_CLASS("LLMMistral"),
    LLM_CLASS("LLMDeepSeek"),
    LLM_CLASS("LLMGoogle"),
    LLM_CLASS("LLMMeta"),
    LLM_CLASS("LLMAnthropic"),
    LLM_CLASS("LLMQwen"),
    LLM_CLASS("LLMxAI"),
    LLM_CLASS("LLMGroq"),
    LLM_CLASS("LLMTogether"),
    LLM_CLASS("LLMOpenRouter"),
    ROW("AgentReply", text_reply, NULL),
    ROW("LLMReply", llm_reply, NULL),
    ROW("LLMChatReply", llm_chat, NULL),
    ROW("RAGReply", rag_reply, NULL),
    ROW("DBReply", db_reply, NULL),
    ROW("WebCrawlLLMReply", crawl, NULL),
    ROW("WebSocketReplyMarkdown", text_reply, NULL),
    ROW("WebSocketReplyHTML", text_reply, NULL),
    ROW("WebSocketReplySpeech", speech, NULL),
    ROW("WebSocketReplyOptions", options, NULL),
    ROW("WebSocketReplyLocation", location, NULL),
    BARE("WebSocketReplyFile", NULL),
    BARE("WebSocketReplyImage", NULL),
    BARE("WebSocketReplyDataframe", NULL),
    BARE("WebSocketReplyPlotly", NULL),
    ROW("GUIReplyAction", gui_reply, make_gui_reply),
    ROW("CustomCodeAction", code, NULL),
    ROW("Condition", condition, NULL),
    ROW("IntentMatcher", one_intent, NULL),
    ROW("VariableOperationMatcher", comparison, NULL),
    ROW("FileTypeMatcher", file_types, NULL),
    ROW("FormSubmitMatcher", form, NULL),
    BARE("Auto", NULL),
    ROW("ReceiveTextEvent", event_text, NULL),
    ROW("ReceiveJSONEvent", event_payload, NULL),
    ROW("ReceiveFileEvent", event_file, NULL),
    ROW("ReceiveMessageEvent", event_message, NULL),
    BARE("DummyEvent", NULL),
    BARE("WildcardEvent", NULL),
    ROW("GUIEvent", event_gui, NULL),
    ROW("ConfigProperty", property, NULL),
    ROW("CustomEntity", new_entity, do_ignore),
    ROW("EntityEntry", entity_entry, NULL),
    ROW("IntentParameter", intent_parameter, do_ignore),
    ROW("SimpleIntentClassifierConfiguration", anything, do_ignore),
    ROW("LLMIntentClassifierConfiguration", anything, do_ignore),
};

static const struct callee methods[] = {
    ROW("new_intent", intent, make_intent),
    ROW("new_tool", tool, make_tool),
    ROW("new_skill", skill, make_skill),
    ROW("new_workspace", workspace, make_workspace),
    ROW("new_rag", new_rag, make_rag),
    ROW("new_llm", new_llm, make_llm),
    ROW("set_default_llm", default_llm, make_default_llm),
    ROW("add_gui_model", gui, make_gui),
    ROW("new_state", state, make_state),
    ROW("new_reasoning_state", reasoning, make_reasoning_state),
    ROW("add_intent", one, do_add_intent),
    ROW("add_tool", one, do_take),
    ROW("add_skill", one, do_take),
    ROW("add_workspace", one, do_take),
    ROW("add_reasoning_state", one, do_take),
    ROW("set_body", one_body, do_set_body),
    ROW("set_fallback_body", one_body, do_set_fallback),
    ROW("add_action", one_action, do_add_action),
    ROW("add_custom_code", one_source, do_add_code),
    ROW("when_intent_matched", one_intent, do_begin),
    BARE("when_no_intent_matched", do_begin),
    ROW("when_variable_matches_operation", comparison, do_begin),
    ROW("when_file_received", file_types, do_begin),
    ROW("when_form_submitted", form, do_begin),
    ROW("when_event", one_event, do_begin),
    ROW("when_condition", one_condition, do_begin),
    ROW("with_condition", one_condition, do_with_condition),
    ROW("go_to", destination, do_go_to),
    ROW("add_property", one, do_ignore),
    ROW("new_property", property, do_ignore),
    ROW("new_entity", new_entity, do_ignore),
    ROW("add_entity", one, do_ignore),
    ROW("set_global", one, do_ignore),
    ROW("set_global_fallback_body", one, do_ignore),
    ROW("use_websocket_platform", anything, do_ignore),
    ROW("use_telegram_platform", anything, do_ignore),
    ROW("set_default_ic_config", one, do_ignore),
    ROW("load_properties", one, do_ignore),
    ROW("validate", anything, do_nothing),
    ROW("run", anything, do_nothing),
    ROW("append", one, do_append),
    ROW("extend", one, do_append),
    ROW("add", one, do_append),
    ROW("update", one, do_append),
    BARE("items", do_items),
    BARE("keys", do_items),
    BARE("values", do_items),
};

static const struct callee *find(const struct callee *rows, size_t len, const char *name)
{
    size_t i;

    for (i = 0; i < len; i++)
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    return NULL;
}

const struct callee *buml_constructor(const char *name)
{
    return name ? find(constructors, ARRAY_LEN(constructors), name) : NULL;
}

const struct callee *buml_method(const char *name)
{
    return name ? find(methods, ARRAY_LEN(methods), name) : NULL;
}
