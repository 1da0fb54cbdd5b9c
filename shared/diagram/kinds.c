/* The words of the format: action types, events, operators (sections 3.1, 4.5, 4.7 of the agent
 * diagram contract). */
#include <string.h>
#include <strings.h>

#include "shared/base/mem.h"
#include "shared/diagram/model.h"

static const struct {
    const char *type, *title;
} actions[ACTION__MAX] = {
    [ACTION_TEXT] = { "TextReplyAction", "text reply" },
    [ACTION_LLM] = { "LLMReplyAction", "LLM reply" },
    [ACTION_LLM_CHAT] = { "LLMChatAction", "LLM chat" },
    [ACTION_RAG] = { "RAGReplyAction", "RAG reply" },
    [ACTION_DB] = { "DBAction", "database reply" },
    [ACTION_CODE] = { "CustomCodeAction", "custom code" },
    [ACTION_WEB_CRAWL] = { "WebCrawlLLMAction", "web crawl" },
    [ACTION_MARKDOWN] = { "WebSocketReplyMarkdownAction", "Markdown reply" },
    [ACTION_HTML] = { "WebSocketReplyHTMLAction", "HTML reply" },
    [ACTION_SPEECH] = { "WebSocketReplySpeechAction", "speech reply" },
    [ACTION_OPTIONS] = { "WebSocketReplyOptionsAction", "options reply" },
    [ACTION_LOCATION] = { "WebSocketReplyLocationAction", "location reply" },
    [ACTION_FILE] = { "WebSocketReplyFileAction", "file reply" },
    [ACTION_IMAGE] = { "WebSocketReplyImageAction", "image reply" },
    [ACTION_DATAFRAME] = { "WebSocketReplyDataframeAction", "table reply" },
    [ACTION_PLOTLY] = { "WebSocketReplyPlotlyAction", "plot reply" },
    [ACTION_GUI] = { "GUIReplyAction", "GUI reply" },
};

const char *action_kind_type(enum action_kind kind)
{
    return actions[kind].type;
}

const char *action_kind_title(enum action_kind kind)
{
    return actions[kind].title;
}

int action_kind_parse(const char *type, enum action_kind *ret)
{
    size_t i;

    for (i = 0; i < ARRAY_LEN(actions); i++)
        if (strcmp(actions[i].type, type) == 0) {
            *ret = (enum action_kind)i;
            return 0;
        }
    return -1;
}

const char *event_class(enum event_kind kind)
{
    static const char *const names[EVENT__MAX] = {
        [EVENT_RECEIVE_TEXT] = "ReceiveTextEvent",
        [EVENT_RECEIVE_JSON] = "ReceiveJSONEvent",
        [EVENT_RECEIVE_FILE] = "ReceiveFileEvent",
        [EVENT_DUMMY] = "DummyEvent",
        [EVENT_WILDCARD] = "WildcardEvent",
        [EVENT_RECEIVE_MESSAGE] = "ReceiveMessageEvent",
        [EVENT_GUI] = "GUIEvent",
    };

    return names[kind];
}

const char *transition_event_class(const struct transition *t)
{
    static const enum event_kind events[TRANSITION__MAX] = {
        [TRANSITION_INTENT] = EVENT_RECEIVE_TEXT,
        [TRANSITION_NO_INTENT] = EVENT_RECEIVE_TEXT,
        [TRANSITION_FILE] = EVENT_RECEIVE_FILE,
        [TRANSITION_FORM] = EVENT_GUI,
    };

    return event_class(t->kind == TRANSITION_CUSTOM ? t->event : events[t->kind]);
}

static const struct {
    const char *text, *name;
} operators[COMPARE__MAX] = {
    [COMPARE_LT] = { "<", "lt" },  [COMPARE_LE] = { "<=", "le" }, [COMPARE_EQ] = { "==", "eq" },
    [COMPARE_GE] = { ">=", "ge" }, [COMPARE_GT] = { ">", "gt" },  [COMPARE_NE] = { "!=", "ne" },
};

const char *compare_op_name(enum compare_op op)
{
    return operators[op].name;
}

int compare_op_parse(const char *text, enum compare_op *ret)
{
    size_t i;

    for (i = 0; i < ARRAY_LEN(operators); i++)
        if (strcmp(operators[i].text, text) == 0) {
            *ret = (enum compare_op)i;
            return 0;
        }
    return -1;
}

const char *file_media_type(const char *key)
{
    static const struct {
        const char *key, *type;
    } types[] = {
        { "pdf", "application/pdf" }, { "txt", "text/plain" }, { "json", "application/json" }, { "csv", "text/csv" },
        { "xml", "text/xml" },        { "png", "image/png" },  { "jpg", "image/jpeg" },        { "jpeg", "image/jpeg" },
        { "gif", "image/gif" },       { "mp3", "audio/mpeg" }, { "mp4", "video/mp4" },
    };
    size_t i;

    for (i = 0; i < ARRAY_LEN(types); i++)
        if (strcasecmp(types[i].key, key) == 0)
            return types[i].type;
    return key;
}
