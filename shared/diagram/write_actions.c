/* Members of one action's element (3.2, 3.3): all that its kind has, in today's spelling. */
#include <string.h>

#include "shared/base/buf.h"
#include "shared/base/mem.h"
#include "shared/diagram/writer.h"

static void add_input(struct diagram_writer *w, cJSON *e, const struct action *a)
{
    diagram_add_text(w, e, "inputPromptMode", a->input_custom ? "custom" : "last_user_message");
    diagram_add_word(w, e, "customInputPrompt", a->input_prompt);
    diagram_add_bool(w, e, "customInputPromptUseSessionVars", a->input_use_session_vars);
}

static void add_output(struct diagram_writer *w, cJSON *e, const struct action *a)
{
    diagram_add_word(w, e, "storeInSession", a->store_in_session);
    diagram_add_bool(w, e, "sendReply", a->send_reply);
}

static void add_llm(struct diagram_writer *w, cJSON *e, const struct action *a)
{
    diagram_add_word(w, e, "system_message", a->prompt);
    diagram_add_word(w, e, "llm_name", a->llm_name);
    if (a->kind == ACTION_LLM)
        add_input(w, e, a);
    diagram_add_bool(w, e, "systemPromptUseSessionVars", a->prompt_use_session_vars);
    add_output(w, e, a);
}

static void add_rag(struct diagram_writer *w, cJSON *e, const struct action *a)
{
    diagram_add_word(w, e, "ragDatabaseName", a->text);
    diagram_add_word(w, e, "prompt", a->prompt);
    add_input(w, e, a);
    diagram_add_bool(w, e, "promptUseSessionVars", a->prompt_use_session_vars);
    add_output(w, e, a);
}

static void add_db(struct diagram_writer *w, cJSON *e, const struct action *a)
{
    static const char *const operations[DB__MAX] = { "any", "select", "insert", "update", "delete" };

    diagram_add_text(w, e, "dbSelectionType", a->db_selection_custom ? "custom" : "default");
    diagram_add_word(w, e, "dbCustomName", a->db_custom_name);
    diagram_add_text(w, e, "dbQueryMode", a->db_sql ? "sql" : "llm_query");
    diagram_add_text(w, e, "dbOperation", operations[a->db_operation]);
    diagram_add_word(w, e, "dbSqlQuery", a->sql);
    diagram_add_word(w, e, "llm_name", a->llm_name);
    add_input(w, e, a);
    add_output(w, e, a);
}

static void add_crawl(struct diagram_writer *w, cJSON *e, const struct action *a)
{
    diagram_add_word(w, e, "initial_url", a->text);
    diagram_add_int(w, e, "max_depth", a->max_depth);
    diagram_add_int(w, e, "max_pages", a->max_pages);
    diagram_add_word(w, e, "crawl_format", a->crawl_format);
    diagram_add_word(w, e, "base_url_prefix", a->base_url_prefix);
    diagram_add_bool(w, e, "run_crawl", a->run_crawl);
    diagram_add_word(w, e, "no_crawl_error_message", a->no_crawl_message);
    diagram_add_word(w, e, "system_message_prefix", a->prompt);
    diagram_add_word(w, e, "llm_name", a->llm_name);
    diagram_add_bool(w, e, "systemMessagePrefixUseSessionVars", a->prompt_use_session_vars);
    add_output(w, e, a);
}

static void add_message(struct diagram_writer *w, cJSON *e, const struct action *a)
{
    diagram_add_word(w, e, "ws_message", a->text);
    if (a->kind == ACTION_SPEECH && a->has_audio_speed)
        diagram_add_number(w, e, "ws_audio_speed", a->audio_speed);
    else if (a->kind == ACTION_SPEECH)
        diagram_add_text(w, e, "ws_audio_speed", NULL);
    diagram_add_bool(w, e, "useSessionVars", a->use_session_vars);
}

static void add_options(struct diagram_writer *w, cJSON *e, const struct action *a)
{
    auto_buf struct buf lines;
    size_t i;

    buf_init(&lines, SIZE_MAX / 2);
    buf_add_str(&lines, "");
    for (i = 0; i < a->options.len; i++) {
        buf_add_str(&lines, i ? "\n" : "");
        buf_add_str(&lines, a->options.items[i]);
    }
    w->failed |= buf_failed(&lines);
    diagram_add_word(w, e, "ws_options", lines.data);
}

static void add_location(struct diagram_writer *w, cJSON *e, const struct action *a)
{
    diagram_add_number(w, e, "ws_latitude", a->latitude);
    diagram_add_number(w, e, "ws_longitude", a->longitude);
}

/* Settings are those of the GUI of that id; one that is not there has only what the reply says (3.3). */
static void add_gui(struct diagram_writer *w, cJSON *e, const struct action *a)
{
    diagram_add_word(w, e, "guiId", a->text);
    if (a->gui != MODEL_NONE)
        return;
    diagram_add_bool(w, e, "persist", a->persist);
    diagram_add_word(w, e, "width", a->width);
    diagram_add_bool(w, e, "is_form", a->is_form);
}

static void add_reply(struct diagram_writer *w, cJSON *e, const struct action *a)
{
    diagram_add_bool(w, e, "useSessionVars", a->use_session_vars);
}

static const struct {
    const char *reply_type;
    void (*add)(struct diagram_writer *w, cJSON *e, const struct action *a);
} kinds[ACTION__MAX] = {
    [ACTION_TEXT] = { NULL, add_reply },
    [ACTION_LLM] = { "llm", add_llm },
    [ACTION_LLM_CHAT] = { "llm_chat", add_llm },
    [ACTION_RAG] = { NULL, add_rag },
    [ACTION_DB] = { NULL, add_db },
    [ACTION_CODE] = { NULL, NULL },
    [ACTION_WEB_CRAWL] = { "web_crawl_llm", add_crawl },
    [ACTION_MARKDOWN] = { "ws_markdown", add_message },
    [ACTION_HTML] = { "ws_html", add_message },
    [ACTION_SPEECH] = { "ws_speech", add_message },
    [ACTION_OPTIONS] = { "ws_options", add_options },
    [ACTION_LOCATION] = { "ws_location", add_location },
    [ACTION_FILE] = { "ws_file", NULL },
    [ACTION_IMAGE] = { "ws_image", NULL },
    [ACTION_DATAFRAME] = { "ws_dataframe", NULL },
    [ACTION_PLOTLY] = { "ws_plotly", NULL },
    [ACTION_GUI] = { "gui_reply", add_gui },
};

void diagram_fill_action(struct diagram_writer *w, cJSON *e, const struct action *a)
{
    diagram_add_text(w, e, "actionType", action_kind_type(a->kind));
    if (kinds[a->kind].reply_type)
        diagram_add_text(w, e, "replyType", kinds[a->kind].reply_type);
    if (kinds[a->kind].add)
        kinds[a->kind].add(w, e, a);
}
