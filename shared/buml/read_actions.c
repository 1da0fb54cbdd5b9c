/* Bodies as lists of actions, when the file has been followed (section 4 of the B-UML contract). */
#include <stddef.h>
#include <string.h>

#include "shared/base/mem.h"
#include "shared/buml/reader.h"
#include "shared/diagram/code.h"
#include "shared/diagram/text.h"
#include "shared/python/dedent.h"
#include "shared/python/parser.h"

/* One action while it is made. */
struct making {
    struct reader *r;
    const struct thing *t; /* the object */
    struct action *a;
};

enum { KEEP = 1, SKIP = 0 }; /* what a kind's own function returns; or -1 */

static const struct node *node_of(const struct making *k)
{
    return k->t->node;
}

/* The word of an argument among words (ended by NULL); the first is the default. */
static size_t word_of(const struct making *k, const char *argument, bool fold, const char *const *words)
{
    const struct thing *t = object_arg(k->t, argument);
    char *lower;
    size_t i = 0;

    if (!t || t->kind == THING_NONE)
        return 0;
    lower = t->kind == THING_TEXT ? text_trim_clean(t->text) : NULL;
    if (lower && fold) {
        char *folded = text_lower(lower);

        mem_free(lower);
        lower = folded;
    }
    while (lower && words[i] && strcmp(words[i], lower) != 0)
        i++;
    if (!lower || !words[i]) {
        buml_warn(k->r, node_of(k), "%s: %s \"%s\" is unknown; \"%s\" is taken", k->t->callee->name, argument,
                  t->kind == THING_TEXT ? SHOWN(t->text) : thing_title(t), words[0]);
        i = 0;
    }
    mem_free(lower);
    return i;
}

static int finish_input(const struct making *k)
{
    static const char *const modes[] = { "last_user_message", "custom", NULL };

    k->a->input_custom = word_of(k, "input_prompt_mode", false, modes) == 1;
    if (k->a->input_custom && !k->a->input_prompt) {
        buml_warn(k->r, node_of(k), "%s: the custom input prompt is empty; the last user message is taken",
                  k->t->callee->name);
        k->a->input_custom = false;
    }
    return KEEP;
}

static int finish_named(const struct making *k)
{
    if (k->a->text)
        return KEEP;
    buml_warn(k->r, node_of(k), "%s: it does not say what to use; the action is left out", k->t->callee->name);
    return SKIP;
}

static int finish_rag(const struct making *k)
{
    return finish_named(k) == SKIP ? SKIP : finish_input(k);
}

static int finish_db(const struct making *k)
{
    static const char *const selections[] = { "default", "custom", NULL };
    static const char *const modes[] = { "llm_query", "sql", NULL };
    static const char *const operations[] = { "any", "select", "insert", "update", "delete", NULL };

    k->a->db_selection_custom = word_of(k, "db_selection_type", true, selections) == 1;
    k->a->db_sql = word_of(k, "db_query_mode", true, modes) == 1;
    k->a->db_operation = (enum db_operation)word_of(k, "db_operation", true, operations);
    if (!k->a->db_selection_custom) {
        mem_free(k->a->db_custom_name);
        k->a->db_custom_name = NULL;
    }
    return finish_input(k);
}

static int finish_speech(const struct making *k)
{
    const struct thing *t = object_arg(k->t, "audio_speed");

    if (!t || t->kind == THING_NONE)
        return KEEP;
    if (t->kind != THING_INT && t->kind != THING_FLOAT) {
        buml_warn(k->r, node_of(k), "WebSocketReplySpeech: audio_speed is %s, not a number; it is left out",
                  thing_title(t));
        return KEEP;
    }
    k->a->has_audio_speed = true;
    k->a->audio_speed = t->number;
    return KEEP;
}

/* A diagram keeps one option a line. */
static int add_option(const struct making *k, const char *text)
{
    const char *line, *end;
    int rc = 0;

    for (line = text; line && rc == 0; line = end ? end + 1 : NULL) {
        char *copy, *option;

        end = strchr(line, '\n');
        copy = mem_dup(line, end ? (size_t)(end - line) : strlen(line));
        option = copy ? text_trim(copy) : NULL;
        if (!option)
            rc = buml_nomem(k->r);
        else if (*option && (rc = buml_charge(k->r, strlen(option) + 4 * sizeof(char *))) == 0)
            rc = str_list_add(&k->a->options, option) < 0 ? buml_nomem(k->r) : 0;
        mem_free(copy);
        mem_free(option);
    }
    return rc;
}

static int finish_options(const struct making *k)
{
    const struct thing *t = object_arg(k->t, "options");
    size_t i;

    if (!t || t->kind == THING_NONE)
        return KEEP;
    if (t->kind == THING_TEXT)
        return add_option(k, t->text) < 0 ? -1 : KEEP;
    if (t->kind != THING_SEQ) {
        buml_warn(k->r, node_of(k), "WebSocketReplyOptions: options is %s; it is left out", thing_title(t));
        return KEEP;
    }
    for (i = 0; i < t->len; i++) {
        const struct thing *o = t->items[i];
        const char *text = o->kind == THING_TEXT ? o->text : o->kind == THING_INT ? o->name : NULL;

        if (!text)
            buml_warn(k->r, node_of(k), "WebSocketReplyOptions: an option is %s, not a text; it is left out",
                      thing_title(o));
        else if (add_option(k, text) < 0)
            return -1;
    }
    return KEEP;
}

/* Settings of a GUI are the GUI's; the reply has its own only when the GUI is not there. */
static int finish_gui(const struct making *k)
{
    const struct gui *g;
    size_t at;

    if (!k->a->text)
        return finish_named(k);
    if (map_find_name(&k->r->guis, k->a->text, &at) < 0)
        return buml_nomem(k->r);
    if (at == MAP_NONE)
        return KEEP;
    g = &k->r->m->guis[at];
    k->a->persist = g->persist;
    k->a->is_form = g->is_form;
    mem_free(k->a->width);
    k->a->width = mem_strdup(g->width);
    return g->width && !k->a->width ? buml_nomem(k->r) : KEEP;
}

/* ---- custom code --------------------------------------------------------------------------------------------------
 */

/* What the rules say about it; a program is refused for it later, the import is not. */
static int judge_code(const struct making *k)
{
    struct code c = { .kind = CODE_CUSTOM, .source = k->a->text, .title = "Custom code", .rule = 10 };
    struct python_facts facts = { 0 };
    struct findings found;
    int rc = 0, n;
    size_t i;

    if (!k->r->parser)
        return 0;
    findings_init(&found);
    n = code_check(&c, k->r->parser, &found, &facts, k->r->err);
    for (i = 0; n > 0 && i < found.len; i++)
        buml_warn(k->r, node_of(k), "%s", found.items[i].message);
    if (n == 0 && facts.functions_len) {
        k->a->code_function = mem_strdup(facts.functions[0].name);
        rc = k->a->code_function ? 0 : buml_nomem(k->r);
    }
    python_facts_release(&facts);
    findings_release(&found);
    return n < 0 ? -1 : rc;
}

static int set_code(const struct making *k, char *source)
{
    char *text = source ? python_dedent(source) : NULL;

    mem_free(source);
    if (!text)
        return buml_nomem(k->r);
    if (buml_charge(k->r, strlen(text)) < 0) {
        mem_free(text);
        return -1;
    }
    mem_free(k->a->text);
    k->a->text = text;
    k->r->m->uses_custom_code = true;
    return judge_code(k) < 0 ? -1 : KEEP;
}

static int finish_code(const struct making *k)
{
    const struct thing *source = object_arg(k->t, "source"), *callable = object_arg(k->t, "callable");
    char *text;

    if (source && source->kind == THING_FUNCTION && !callable)
        callable = source;
    if (callable && callable->kind == THING_FUNCTION) {
        text = buml_source_of(k->r, callable->node, "action");
        return text ? set_code(k, text) : -1;
    }
    if (source && source->kind == THING_TEXT)
        return set_code(k, mem_dup(source->text, source->text_len));
    buml_warn(k->r, node_of(k), "CustomCodeAction: its code is %s; the action is left out",
              callable ? thing_title(callable)
              : source ? thing_title(source)
                       : "missing");
    return SKIP;
}

/* ---- table --------------------------------------------------------------------------------------------------------
 */

static const struct action_row {
    const char *class;
    enum action_kind kind;
    int (*finish)(const struct making *);
} rows[] = {
    { "AgentReply", ACTION_TEXT, NULL },
    { "LLMReply", ACTION_LLM, finish_input },
    { "LLMChatReply", ACTION_LLM_CHAT, NULL },
    { "RAGReply", ACTION_RAG, finish_rag },
    { "DBReply", ACTION_DB, finish_db },
    { "CustomCodeAction", ACTION_CODE, finish_code },
    { "WebCrawlLLMReply", ACTION_WEB_CRAWL, finish_named },
    { "WebSocketReplyMarkdown", ACTION_MARKDOWN, NULL },
    { "WebSocketReplyHTML", ACTION_HTML, NULL },
    { "WebSocketReplySpeech", ACTION_SPEECH, finish_speech },
    { "WebSocketReplyOptions", ACTION_OPTIONS, finish_options },
    { "WebSocketReplyLocation", ACTION_LOCATION, NULL },
    { "WebSocketReplyFile", ACTION_FILE, NULL },
    { "WebSocketReplyImage", ACTION_IMAGE, NULL },
    { "WebSocketReplyDataframe", ACTION_DATAFRAME, NULL },
    { "WebSocketReplyPlotly", ACTION_PLOTLY, NULL },
    { "GUIReplyAction", ACTION_GUI, finish_gui },
};

static const struct action_row *row_of(const struct thing *t)
{
    size_t i;

    for (i = 0; i < ARRAY_LEN(rows); i++)
        if (thing_is(t, rows[i].class))
            return &rows[i];
    return NULL;
}

static struct action *add_action(struct reader *r, struct action_list *list, enum action_kind kind)
{
    struct action *a = buml_charge(r, sizeof(struct action)) < 0 ? NULL : model_add_action(list);

    if (!a) {
        if (!r->err->kind)
            buml_nomem(r);
        return NULL;
    }
    a->kind = kind;
    a->llm = a->rag = a->gui = MODEL_NONE;
    return a;
}

static int add_object(struct reader *r, const struct thing *t, struct action_list *list)
{
    const struct action_row *row = row_of(t);
    struct making k = { .r = r, .t = t };
    int rc;

    if (!row)
        return buml_warn(r, t->node, "add_action: %s is no action; it is left out", thing_title(t));
    k.a = add_action(r, list, row->kind);
    if (!k.a || object_fill(r, t, k.a) < 0)
        return -1;
    rc = row->finish ? row->finish(&k) : KEEP;
    if (rc == SKIP)
        action_list_drop_last(list);
    return rc < 0 ? -1 : 0;
}

static int add_function(struct reader *r, const struct thing *f, struct action_list *list)
{
    struct thing t = { .kind = THING_OBJECT, .node = f->node };
    struct making k = { .r = r, .t = &t, .a = add_action(r, list, ACTION_CODE) };
    char *text = k.a ? buml_source_of(r, f->node, "action") : NULL;

    return text && set_code(&k, text) == KEEP ? 0 : -1;
}

/* ---- functions as bodies ------------------------------------------------------------------------------------------
 */

static bool is_call_of(const struct node *n, const char *object, const char *method)
{
    const struct node *f = n && n->kind == NODE_CALL ? node_child(n, PART_FUNC) : NULL;
    const struct node *of = f && f->kind == NODE_ATTRIBUTE ? node_child(f, PART_VALUE) : NULL;

    return of && of->kind == NODE_NAME && strcmp(f->name, method) == 0 && (!object || strcmp(of->name, object) == 0) &&
           node_list(n, PART_ARGS)->len == 1 && !node_list(n, PART_KEYWORDS)->len;
}

/* session.event.message */
static bool is_message(const struct node *n)
{
    const struct node *event = n && n->kind == NODE_ATTRIBUTE ? node_child(n, PART_VALUE) : NULL;
    const struct node *session = event && event->kind == NODE_ATTRIBUTE ? node_child(event, PART_VALUE) : NULL;

    return session && session->kind == NODE_NAME && strcmp(session->name, "session") == 0 &&
           strcmp(event->name, "event") == 0 && strcmp(n->name, "message") == 0;
}

static bool is_text(const struct node *n)
{
    return n && n->kind == NODE_CONSTANT && n->literal == LITERAL_TEXT && !n->replaced;
}

/* Only session.reply('text') statements, or the one that asks an LLM for the user's message. */
static bool is_simple(const struct node *function, bool *ret_llm)
{
    const struct node_list *body = node_list(function, PART_BODY);
    size_t i;

    *ret_llm = false;
    if (function->kind != NODE_FUNCTION || !body->len || node_list(function, PART_DECORATORS)->len)
        return false;
    for (i = 0; i < body->len; i++) {
        const struct node *call = body->items[i]->kind == NODE_EXPR ? node_child(body->items[i], PART_VALUE) : NULL;
        const struct node *said = is_call_of(call, "session", "reply") ? node_child(call, PART_ARGS) : NULL;

        if (body->len == 1 && is_call_of(said, NULL, "predict") && is_message(node_child(said, PART_ARGS)))
            *ret_llm = true;
        else if (!is_text(said))
            return false;
    }
    return true;
}

static int add_replies(struct reader *r, const struct node *function, struct action_list *list)
{
    const struct node_list *body = node_list(function, PART_BODY);
    size_t i;

    for (i = 0; i < body->len; i++) {
        const char *text = node_child(node_child(body->items[i], PART_VALUE), PART_ARGS)->text;
        struct action *a = add_action(r, list, ACTION_TEXT);

        if (!a || buml_charge(r, strlen(text)) < 0)
            return -1;
        a->text = text_clean(text);
        if (!a->text)
            return buml_nomem(r);
    }
    return 0;
}

static int add_llm_reply(struct reader *r, const struct node *function, struct action_list *list)
{
    const struct node *call = node_child(node_child(function, PART_BODY), PART_VALUE);
    const struct node *llm = node_child(node_child(node_child(call, PART_ARGS), PART_FUNC), PART_VALUE);
    struct action *a = add_action(r, list, ACTION_LLM);
    struct thing *t = a ? buml_scope_find(r, llm->name) : NULL;

    if (!a || (!t && r->err->kind))
        return -1;
    a->send_reply = true;
    if (!t || t->kind != THING_LLM)
        return 0;
    a->llm_name = mem_strdup(r->m->llms[t->index].name);
    return a->llm_name ? 0 : buml_nomem(r);
}

static int read_function(struct reader *r, const struct thing *f, struct action_list *list)
{
    bool llm;

    if (!is_simple(f->node, &llm))
        return add_function(r, f, list);
    return llm ? add_llm_reply(r, f->node, list) : add_replies(r, f->node, list);
}

int buml_add_body(struct reader *r, const struct thing *body, struct action_list *ret)
{
    const struct thing *callable;
    size_t i;

    if (body->kind == THING_FUNCTION)
        return read_function(r, body, ret);
    callable = object_arg(body, "callable");
    if (callable && callable->kind == THING_FUNCTION) {
        if (read_function(r, callable, ret) < 0)
            return -1;
    } else if (callable && callable->kind != THING_NONE) {
        buml_warn(r, body->node, "Body: its function is %s; it is left out", thing_title(callable));
    }
    for (i = 0; i < body->len; i++) {
        const struct thing *t = body->items[i];
        int rc = t->kind == THING_FUNCTION ? add_function(r, t, ret) : add_object(r, t, ret);

        if (rc < 0)
            return -1;
    }
    return 0;
}
