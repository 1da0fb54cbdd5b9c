#include <string.h>

#include "shared/base/mem.h"
#include "shared/base/str.h"
#include "shared/diagram/text.h"
#include "shared/generate/program.h"

/* One body while it is written. */
struct body {
    struct program *p;
    const struct state *state;
    bool speaks; /* answers are spoken as well */
};

#define DB_INSTRUCTION \
    "Answer the question from the database result in plain text, briefly. Do not mention the " \
    "database, " \
    "its tables, or how the result was found."
#define CRAWL_INSTRUCTION "Answer the user from the following web pages: "
#define NO_SQL "No SQL query is configured for this action."

/* ---- pieces that several actions share
 * -------------------------------------------------------------------------- */

/* key is "name=" or "". */
static void add_text_arg(struct body *b, const char *key, const char *text, bool use_session_vars)
{
    if (use_session_vars)
        code_arg(&b->p->code, "%n@fill(session, %s)", key, text);
    else
        code_arg(&b->p->code, "%n%s", key, text);
}

static void add_input_arg(struct body *b, const char *key, const struct action *a)
{
    if (a->input_custom)
        add_text_arg(b, key, a->input_prompt ? a->input_prompt : "", a->input_use_session_vars);
    else
        code_arg(&b->p->code, "%n@message_of(session)", key);
}

static void add_prompt_arg(struct body *b, const char *key, const struct action *a)
{
    if (a->prompt && *a->prompt)
        add_text_arg(b, key, a->prompt, a->prompt_use_session_vars);
}

static bool stores(const struct action *a)
{
    return a->store_in_session && *a->store_in_session;
}

static bool keeps_answer(const struct action *a)
{
    return stores(a) || a->send_reply;
}

/* Stores and sends what an action produced; it stands in `answer`. */
static void write_answer(struct body *b, const struct action *a)
{
    struct code_writer *w = &b->p->code;

    if (stores(a))
        code_line(w, "session.set(%s, answer)", a->store_in_session);
    if (!a->send_reply)
        return;
    code_text(w, "session.reply(answer)");
    if (b->speaks)
        code_text(w, "@platform.reply_speech(session, answer)");
}

/* The variable of the action's LLM; NULL after a line that says at run time that there is none. */
static const char *llm_or_log(struct body *b, const struct action *a, const char *what)
{
    const char *llm = program_llm(b->p, a->llm_name);

    if (*llm)
        return llm;
    code_line(&b->p->code, "@logger.warning('State %%s: there is no LLM for this %n', %s)", what, b->state->name);
    return NULL;
}

/* ---- actions
 * ----------------------------------------------------------------------------------------------------
 */

static int write_text(struct body *b, const struct action *a)
{
    struct code_writer *w = &b->p->code;

    code_call(w, b->speaks ? "spoken.append" : "session.reply");
    add_text_arg(b, "", a->text ? a->text : "", a->use_session_vars);
    code_call_end(w, "");
    if (b->speaks)
        code_text(w, "session.reply(spoken[-1])");
    return 0;
}

static int write_llm(struct body *b, const struct action *a)
{
    struct code_writer *w = &b->p->code;
    const char *llm = llm_or_log(b, a, "reply");

    if (!llm)
        return 0;
    code_call(w, "%n%n.predict", keeps_answer(a) ? "answer = " : "", llm);
    add_input_arg(b, "message=", a);
    code_arg(w, "session=session");
    add_prompt_arg(b, "system_message=", a);
    code_call_end(w, "");
    write_answer(b, a);
    return 0;
}

static int write_chat(struct body *b, const struct action *a)
{
    struct code_writer *w = &b->p->code;
    const char *llm = llm_or_log(b, a, "chat");

    if (!llm)
        return 0;
    code_call(w, "%n%n.chat", keeps_answer(a) ? "answer = " : "", llm);
    code_arg(w, "session=session");
    add_prompt_arg(b, "system_message=", a);
    code_call_end(w, "");
    write_answer(b, a);
    return 0;
}

static int write_rag(struct body *b, const struct action *a)
{
    struct code_writer *w = &b->p->code;
    const char *name = a->text ? a->text : "", *keep = keeps_answer(a) ? "answer = " : "";
    size_t i = map_get(&b->p->rag_index, name, strlen(name));

    if (i != MAP_NONE && !llm_or_log(b, a, "answer from documents"))
        return 0;
    if (i == MAP_NONE)
        code_call(w, "%nsession.run_rag", keep);
    else
        code_call(w, "%n%n.run", keep, b->p->rags[i]);
    add_input_arg(b, "", a);
    if (i != MAP_NONE)
        code_arg(w, "session=session");
    add_prompt_arg(b, "llm_prompt=", a);
    code_call_end(w, "");
    if (stores(a))
        code_line(w, "session.set(%s, answer.answer)", a->store_in_session);
    if (a->send_reply)
        code_text(w, "@platform.reply_rag(session, answer)");
    return 0;
}

static const char *const db_methods[DB__MAX] = {
    [DB_ANY] = "query", [DB_SELECT] = "select", [DB_INSERT] = "insert", [DB_UPDATE] = "update", [DB_DELETE] = "delete",
};

static const char *db_name(const struct action *a)
{
    return a->db_selection_custom && a->db_custom_name && *a->db_custom_name ? a->db_custom_name : "db1";
}

static int write_sql(struct body *b, const struct action *a)
{
    struct code_writer *w = &b->p->code;
    auto_free char *trimmed = text_trim(a->sql ? a->sql : "");

    if (!trimmed)
        return err_nomem(b->p->err);
    if (!*trimmed) {
        if (keeps_answer(a))
            code_line(w, "answer = %s", NO_SQL);
        write_answer(b, a);
        return 0;
    }
    code_call(w, keeps_answer(a) ? "answer = @result_text(session.db_handler.%n" : "session.db_handler.%n",
              db_methods[a->db_operation]);
    code_arg(w, "db_name=%s", db_name(a));
    code_arg(w, "query=%s", a->sql);
    code_call_end(w, keeps_answer(a) ? ")" : "");
    write_answer(b, a);
    return 0;
}

static int write_db_question(struct body *b, const struct action *a)
{
    struct code_writer *w = &b->p->code;
    const char *llm = llm_or_log(b, a, "database question");

    if (!llm)
        return 0;
    code_begin(w);
    code_part(w, "question = ");
    if (!a->input_custom)
        code_part(w, "@message_of(session)\n");
    else if (a->input_use_session_vars)
        code_part(w, "@fill(session, %s)\n", a->input_prompt);
    else
        code_part(w, "%s\n", a->input_prompt ? a->input_prompt : "");
    code_call(w, "result = @result_text(session.db_handler.%n", db_methods[a->db_operation]);
    code_arg(w, "db_name=%s", db_name(a));
    code_arg(w, "query=question");
    code_arg(w, "llm=%n", llm);
    code_call_end(w, ")");
    code_call(w, "%n%n.predict", keeps_answer(a) ? "answer = " : "", llm);
    code_arg(w, "message='Question: {}\\nDatabase result: {}'.format(question, result)");
    code_arg(w, "session=session");
    code_arg(w, "system_message=%s", DB_INSTRUCTION);
    code_call_end(w, "");
    if (!keeps_answer(a))
        return 0;
    code_text(w, "if answer is None:");
    code_open(w);
    code_text(w, "answer = result");
    code_close(w);
    write_answer(b, a);
    return 0;
}

static int write_db(struct body *b, const struct action *a)
{
    return a->db_sql ? write_sql(b, a) : write_db_question(b, a);
}

static void write_crawl(struct body *b, const struct action *a, const char *key)
{
    struct code_writer *w = &b->p->code;

    code_call(w, "pages = @crawl_website");
    code_arg(w, "initial_url=%s", a->text);
    code_arg(w, "max_depth=%d", a->max_depth);
    code_arg(w, "max_pages=%d", a->max_pages);
    code_arg(w, "format=%s", a->crawl_format);
    if (a->base_url_prefix && *a->base_url_prefix)
        code_arg(w, "base_url_prefix=%s", a->base_url_prefix);
    code_call_end(w, "");
    code_line(w, "session.set(%s, pages)", key);
}

static int write_web_crawl(struct body *b, const struct action *a)
{
    struct code_writer *w = &b->p->code;
    auto_buf struct buf key;
    const char *llm;

    buf_init(&key, SIZE_MAX / 2);
    buf_add_str(&key, "web_crawl_");
    if (buf_add_str(&key, a->text ? a->text : "") < 0)
        return err_nomem(b->p->err);
    if (a->run_crawl) {
        write_crawl(b, a, key.data);
    } else {
        code_line(w, "pages = session.get(%s)", key.data);
        code_text(w, "if pages is None:");
        code_open(w);
        code_line(w, "session.reply(%s)", a->no_crawl_message ? a->no_crawl_message : "");
        code_text(w, "return");
        code_close(w);
    }
    llm = llm_or_log(b, a, "answer from web pages");
    if (!llm)
        return 0;
    code_call(w, "%n%n.predict", keeps_answer(a) ? "answer = " : "", llm);
    code_arg(w, "message=@message_of(session)");
    code_arg(w, "session=session");
    if (a->prompt && *a->prompt && a->prompt_use_session_vars)
        code_arg(w, "system_message=@fill(session, %s) + ~str(pages)", a->prompt);
    else
        code_arg(w, "system_message=%s + ~str(pages)", a->prompt && *a->prompt ? a->prompt : CRAWL_INSTRUCTION);
    code_call_end(w, "");
    write_answer(b, a);
    return 0;
}

static int write_markdown(struct body *b, const struct action *a)
{
    struct code_writer *w = &b->p->code;

    code_call(w, a->kind == ACTION_HTML ? "@platform.reply_html" : "@platform.reply_markdown");
    code_arg(w, "session");
    add_text_arg(b, "", a->text ? a->text : "", a->use_session_vars);
    code_call_end(w, "");
    return 0;
}

static int write_speech(struct body *b, const struct action *a)
{
    struct code_writer *w = &b->p->code;

    code_call(w, "@platform.reply_speech");
    code_arg(w, "session");
    add_text_arg(b, "", a->text ? a->text : "", a->use_session_vars);
    if (a->has_audio_speed)
        code_arg(w, "audio_speed=%f", a->audio_speed);
    code_call_end(w, "");
    return 0;
}

static int write_options(struct body *b, const struct action *a)
{
    struct code_writer *w = &b->p->code;
    size_t i;

    if (!a->options.len) {
        code_text(w, "@platform.reply_options(session, [])");
        return 0;
    }
    code_text(w, "@platform.reply_options(session, [");
    code_open(w);
    for (i = 0; i < a->options.len; i++)
        code_line(w, "%s,", a->options.items[i]);
    code_close(w);
    code_text(w, "])");
    return 0;
}

static int write_location(struct body *b, const struct action *a)
{
    code_line(&b->p->code, "@platform.reply_location(session, %f, %f)", a->latitude, a->longitude);
    return 0;
}

static int write_object(struct body *b, const struct action *a)
{
    static const struct {
        const char *name, *method;
    } rows[ACTION__MAX] = {
        [ACTION_FILE] = { "reply_file_obj", "reply_file" },
        [ACTION_IMAGE] = { "reply_image_arr", "reply_image" },
        [ACTION_DATAFRAME] = { "reply_df", "reply_dataframe" },
        [ACTION_PLOTLY] = { "reply_plot", "reply_plotly" },
    };
    struct code_writer *w = &b->p->code;

    code_line(w, "found = @reply_object(session, %s)", rows[a->kind].name);
    code_text(w, "if found is not None:");
    code_open(w);
    code_line(w, "@platform.%n(session, found)", rows[a->kind].method);
    code_close(w);
    return 0;
}

static int write_gui(struct body *b, const struct action *a)
{
    size_t i = program_gui_index(b->p, a->text ? a->text : "");

    if (i == MODEL_NONE)
        return err_set(b->p->err, ERR_INTERNAL, 0, "a reply names a GUI that the model does not have");
    code_line(&b->p->code, "@platform.reply_gui(session, %n)", b->p->guis[i]);
    return 0;
}

/* ---- the function
 * -----------------------------------------------------------------------------------------------
 */

static int (*const writers[ACTION__MAX])(struct body *b, const struct action *a) = {
    [ACTION_TEXT] = write_text,
    [ACTION_LLM] = write_llm,
    [ACTION_LLM_CHAT] = write_chat,
    [ACTION_RAG] = write_rag,
    [ACTION_DB] = write_db,
    [ACTION_WEB_CRAWL] = write_web_crawl,
    [ACTION_MARKDOWN] = write_markdown,
    [ACTION_HTML] = write_markdown,
    [ACTION_SPEECH] = write_speech,
    [ACTION_OPTIONS] = write_options,
    [ACTION_LOCATION] = write_location,
    [ACTION_FILE] = write_object,
    [ACTION_IMAGE] = write_object,
    [ACTION_DATAFRAME] = write_object,
    [ACTION_PLOTLY] = write_object,
    [ACTION_GUI] = write_gui,
};

static bool sends_text(const struct action_list *l)
{
    size_t i;

    for (i = 0; i < l->len; i++)
        if (l->items[i].kind == ACTION_TEXT)
            return true;
    return false;
}

/* User code stands above the body as it was drawn; at once its function gets a private name, so
 * that others of the same name do no harm. names: one per action, NULL for other kinds. */
static int write_user_code(struct body *b, const struct action_list *l, const char **names)
{
    struct code_writer *w = &b->p->code;
    size_t i;

    for (i = 0; i < l->len; i++) {
        const struct action *a = &l->items[i];

        if (a->kind != ACTION_CODE)
            continue;
        names[i] = program_name(b->p, "code", b->state->name);
        if (!names[i] || program_check_function(b->p, a->code_function) < 0)
            return -1;
        if (a->scoped && program_write_scope(b->p, names[i], a->scoped, a->code_function) < 0)
            return -1;
        if (a->scoped)
            continue;
        code_gap(w, 2);
        code_raw(w, a->text);
        code_gap(w, 2);
        code_line(w, "%n = %n", names[i], a->code_function);
    }
    return 0;
}

static int write_actions(struct body *b, const struct action_list *l, const char *const *names)
{
    struct code_writer *w = &b->p->code;
    size_t i;

    for (i = 0; i < l->len; i++) {
        if (l->items[i].kind == ACTION_CODE)
            code_line(w, "%n(session)", names[i]);
        else if (writers[l->items[i].kind](b, &l->items[i]) < 0)
            return -1;
    }
    return 0;
}

int program_write_body(struct program *p, const struct state *s, bool fallback, const char *function)
{
    const struct action_list *l = fallback ? &s->fallback : &s->body;
    /* A mapping gives the agent its engines; only the settings make it speak (7.6), a profile's states its own. */
    struct body b = { .p = p,
                      .state = s,
                      .speaks =
                          s->profile ? p->model->profiles[s->profile - 1].speaks : p->model->settings.speech_output };
    auto_free const char **names = mem_zalloc(l->len, sizeof(*names));
    struct code_writer *w = &p->code;
    bool spoken = b.speaks && sends_text(l);
    size_t start;

    if (!names)
        return err_nomem(p->err);
    if (write_user_code(&b, l, names) < 0)
        return -1;
    code_gap(w, 2);
    code_line(w, "def %n(session: @Session):", function);
    code_open(w);
    start = w->out.len;
    if (s->profile_start && !fallback)
        program_write_contexts(p, s);
    if (spoken)
        code_text(w, "spoken = []");
    if (write_actions(&b, l, names) < 0)
        return -1;
    if (spoken)
        code_text(w, "@platform.reply_speech(session, ' '.join(spoken))");
    if (w->out.len == start)
        code_text(w, "pass");
    code_close(w);
    return 0;
}
