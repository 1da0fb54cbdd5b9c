/* One statement per action: section 4. Arguments in the contract's order, defaults left out. */
#include <string.h>

#include "shared/base/mem.h"
#include "shared/buml/writer.h"

#define NO_CRAWL "No web crawl data is available yet."

static bool is_set(const char *text)
{
    return text && *text;
}

/* name is "keyword=". */
static void add_text(struct code_writer *c, const char *name, const char *text)
{
    if (is_set(text))
        code_arg(c, "%n%s", name, text);
}

static void add_flag(struct code_writer *c, const char *name, bool flag)
{
    if (flag)
        code_arg(c, "%nTrue", name);
}

static void add_input(struct code_writer *c, const struct action *a)
{
    if (a->input_custom)
        code_arg(c, "input_prompt_mode='custom'");
    add_text(c, "custom_input_prompt=", a->input_prompt);
    add_flag(c, "custom_input_prompt_use_session_vars=", a->input_use_session_vars);
}

static void add_output(struct code_writer *c, const struct action *a)
{
    add_text(c, "store_in_session=", a->store_in_session);
    if (!a->send_reply)
        code_arg(c, "send_reply=False");
}

static void add_reply(struct code_writer *c, const struct action *a)
{
    code_arg(c, "%s", a->text ? a->text : "");
    add_flag(c, "use_session_vars=", a->use_session_vars);
}

static void add_llm(struct code_writer *c, const struct action *a)
{
    add_text(c, "prompt=", a->prompt);
    add_text(c, "llm_name=", a->llm_name);
    add_input(c, a);
    add_flag(c, "system_prompt_use_session_vars=", a->prompt_use_session_vars);
    add_output(c, a);
}

static void add_chat(struct code_writer *c, const struct action *a)
{
    add_text(c, "prompt=", a->prompt);
    add_text(c, "llm_name=", a->llm_name);
    add_flag(c, "system_prompt_use_session_vars=", a->prompt_use_session_vars);
    add_output(c, a);
}

static void add_rag(struct code_writer *c, const struct action *a)
{
    code_arg(c, "%s", a->text ? a->text : "");
    add_text(c, "prompt=", a->prompt);
    add_input(c, a);
    add_flag(c, "prompt_use_session_vars=", a->prompt_use_session_vars);
    add_output(c, a);
}

static void add_db(struct code_writer *c, const struct action *a)
{
    static const char *const operations[DB__MAX] = { "any", "select", "insert", "update", "delete" };

    if (a->db_selection_custom)
        code_arg(c, "db_selection_type='custom'");
    add_text(c, "db_custom_name=", a->db_custom_name);
    if (a->db_sql)
        code_arg(c, "db_query_mode='sql'");
    if (a->db_operation != DB_ANY)
        code_arg(c, "db_operation=%s", operations[a->db_operation]);
    add_text(c, "db_sql_query=", a->sql);
    add_text(c, "llm_name=", a->llm_name);
    add_input(c, a);
    add_output(c, a);
}

static void add_crawl(struct code_writer *c, const struct action *a)
{
    code_arg(c, "initial_url=%s", a->text ? a->text : "");
    if (a->max_depth != 2)
        code_arg(c, "max_depth=%d", a->max_depth);
    if (a->max_pages != 20)
        code_arg(c, "max_pages=%d", a->max_pages);
    if (is_set(a->crawl_format) && strcmp(a->crawl_format, "markdown") != 0)
        code_arg(c, "crawl_format=%s", a->crawl_format);
    add_text(c, "base_url_prefix=", a->base_url_prefix);
    if (!a->run_crawl)
        code_arg(c, "run_crawl=False");
    if (is_set(a->no_crawl_message) && strcmp(a->no_crawl_message, NO_CRAWL) != 0)
        code_arg(c, "no_crawl_error_message=%s", a->no_crawl_message);
    add_text(c, "system_message_prefix=", a->prompt);
    add_text(c, "llm_name=", a->llm_name);
    add_flag(c, "system_message_prefix_use_session_vars=", a->prompt_use_session_vars);
    add_output(c, a);
}

static void add_message(struct code_writer *c, const struct action *a)
{
    code_arg(c, "message=%s", a->text ? a->text : "");
    if (a->kind == ACTION_SPEECH && a->has_audio_speed)
        code_arg(c, "audio_speed=%f", a->audio_speed);
    add_flag(c, "use_session_vars=", a->use_session_vars);
}

static void add_options(struct code_writer *c, const struct action *a)
{
    struct value list = { .kind = VALUE_ARRAY, .len = a->options.len };
    auto_free struct value *items = mem_zalloc(a->options.len + 1, sizeof(*items));
    size_t i;

    if (!items) {
        c->call.failed = true;
        return;
    }
    for (i = 0; i < a->options.len; i++)
        items[i] = (struct value){ .kind = VALUE_STRING, .string = a->options.items[i] };
    list.items = items;
    code_arg(c, "options=%v", &list);
}

static void add_location(struct code_writer *c, const struct action *a)
{
    code_arg(c, "latitude=%f", a->latitude);
    code_arg(c, "longitude=%f", a->longitude);
}

static void add_nothing(struct code_writer *c, const struct action *a)
{
    (void)c;
    (void)a;
}

static void add_settings(struct code_writer *c, const char *id, bool persist, const char *width, bool is_form)
{
    code_arg(c, "%s", id ? id : "");
    if (!persist)
        code_arg(c, "persist=False");
    add_text(c, "width=", width);
    add_flag(c, "is_form=", is_form);
}

static void add_gui(struct code_writer *c, const struct action *a)
{
    add_settings(c, a->text, a->persist, a->width, a->is_form);
}

static void add_code(struct code_writer *c, const struct action *a)
{
    code_arg(c, "source=%s", a->text ? a->text : "");
}

static const struct {
    const char *class_name;
    void (*add)(struct code_writer *c, const struct action *a);
} kinds[ACTION__MAX] = {
    [ACTION_TEXT] = { "AgentReply", add_reply },
    [ACTION_LLM] = { "LLMReply", add_llm },
    [ACTION_LLM_CHAT] = { "LLMChatReply", add_chat },
    [ACTION_RAG] = { "RAGReply", add_rag },
    [ACTION_DB] = { "DBReply", add_db },
    [ACTION_CODE] = { "CustomCodeAction", add_code },
    [ACTION_WEB_CRAWL] = { "WebCrawlLLMReply", add_crawl },
    [ACTION_MARKDOWN] = { "WebSocketReplyMarkdown", add_message },
    [ACTION_HTML] = { "WebSocketReplyHTML", add_message },
    [ACTION_SPEECH] = { "WebSocketReplySpeech", add_message },
    [ACTION_OPTIONS] = { "WebSocketReplyOptions", add_options },
    [ACTION_LOCATION] = { "WebSocketReplyLocation", add_location },
    [ACTION_FILE] = { "WebSocketReplyFile", add_nothing },
    [ACTION_IMAGE] = { "WebSocketReplyImage", add_nothing },
    [ACTION_DATAFRAME] = { "WebSocketReplyDataframe", add_nothing },
    [ACTION_PLOTLY] = { "WebSocketReplyPlotly", add_nothing },
    [ACTION_GUI] = { "GUIReplyAction", add_gui },
};

void buml_write_action(struct buml_writer *w, const char *body, const struct action *a)
{
    code_call(&w->code, "%n.add_action(%n", body, kinds[a->kind].class_name);
    kinds[a->kind].add(&w->code, a);
    code_call_end(&w->code, ")");
}

void buml_write_gui_settings(struct buml_writer *w, const char *variable, const struct gui *g)
{
    code_call(&w->code, "%n = GUIReplyAction", variable);
    add_settings(&w->code, g->gui_id, g->persist, g->width, g->is_form);
    code_call_end(&w->code, "");
}
