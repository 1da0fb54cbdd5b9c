/* The actions of a body (section 3). */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "shared/base/log.h"
#include "shared/base/mem.h"
#include "shared/base/str.h"
#include "shared/diagram/code.h"
#include "shared/diagram/reader.h"
#include "shared/diagram/text.h"
#include "shared/json/json.h"
#include "shared/python/dedent.h"
#include "shared/python/parser.h"

struct body { /* the body an action is read for, and how sentences call it */
    struct reader *r;
    struct element *e;
    char title[2 * SHOWN_MAX + 120];
};

enum { KEEP = 1, SKIP = 0 }; /* what a kind's own reader returns; or -1 */

#define AT(member) offsetof(struct action, member)

static const struct field_row text_rows[] = {
    { "name", NULL, FIELD_TEXT, AT(text), "", 0 },
    { "useSessionVars", NULL, FIELD_TRUTH, AT(use_session_vars), NULL, 0 },
};
static const struct field_row message_rows[] = {
    /* Markdown, HTML, speech */
    { "ws_message", NULL, FIELD_TEXT, AT(text), "", 0 },
    { "useSessionVars", NULL, FIELD_TRUTH, AT(use_session_vars), NULL, 0 },
};
static const struct field_row llm_rows[] = {
    { "system_message", "llmPrompt", FIELD_CLEAN, AT(prompt), NULL, 0 },
    { "systemPromptUseSessionVars", NULL, FIELD_TRUTH, AT(prompt_use_session_vars), NULL, 0 },
    { "llm_name", "llmName", FIELD_CLEAN, AT(llm_name), NULL, 0 },
};
static const struct field_row rag_rows[] = {
    { "ragDatabaseName", "name", FIELD_CLEAN, AT(text), NULL, 0 },
    { "prompt", NULL, FIELD_CLEAN, AT(prompt), NULL, 0 },
    { "promptUseSessionVars", NULL, FIELD_TRUTH, AT(prompt_use_session_vars), NULL, 0 },
};
static const struct field_row db_rows[] = {
    { "dbCustomName", NULL, FIELD_TRIM, AT(db_custom_name), NULL, 0 },
    { "dbSqlQuery", NULL, FIELD_RAW, AT(sql), NULL, 0 },
    { "llm_name", NULL, FIELD_CLEAN, AT(llm_name), NULL, 0 },
};
static const struct field_row crawl_rows[] = {
    { "initial_url", NULL, FIELD_CLEAN, AT(text), NULL, 0 },
    { "max_depth", NULL, FIELD_INT, AT(max_depth), NULL, 2 },
    { "max_pages", NULL, FIELD_INT, AT(max_pages), NULL, 20 },
    { "crawl_format", NULL, FIELD_CLEAN, AT(crawl_format), "markdown", 0 },
    { "base_url_prefix", NULL, FIELD_CLEAN, AT(base_url_prefix), NULL, 0 },
    { "run_crawl", NULL, FIELD_TRUTH_NULL, AT(run_crawl), NULL, 1 },
    { "no_crawl_error_message", NULL, FIELD_CLEAN, AT(no_crawl_message), "No web crawl data is available yet.", 0 },
    { "system_message_prefix", NULL, FIELD_CLEAN, AT(prompt), NULL, 0 },
    { "systemMessagePrefixUseSessionVars", NULL, FIELD_TRUTH, AT(prompt_use_session_vars), NULL, 0 },
    { "llm_name", NULL, FIELD_CLEAN, AT(llm_name), NULL, 0 },
};
static const struct field_row location_rows[] = {
    { "ws_latitude", NULL, FIELD_FLOAT, AT(latitude), NULL, 0 },
    { "ws_longitude", NULL, FIELD_FLOAT, AT(longitude), NULL, 0 },
};
static const struct field_row gui_rows[] = {
    { "guiId", "gui_id", FIELD_CLEAN, AT(text), NULL, 0 },
    { "persist", NULL, FIELD_TRUTH, AT(persist), NULL, 1 },
    { "width", NULL, FIELD_CLEAN, AT(width), NULL, 0 },
    { "is_form", NULL, FIELD_TRUTH, AT(is_form), NULL, 0 },
};
static const struct field_row input_rows[] = {
    { "customInputPrompt", NULL, FIELD_RAW, AT(input_prompt), NULL, 0 },
    { "customInputPromptUseSessionVars", NULL, FIELD_TRUTH, AT(input_use_session_vars), NULL, 0 },
};
static const struct field_row output_rows[] = {
    { "storeInSession", NULL, FIELD_CLEAN, AT(store_in_session), NULL, 0 },
    { "sendReply", NULL, FIELD_TRUTH, AT(send_reply), NULL, 1 },
};

/* ---- enumerations
 * --------------------------------------------------------------------------------------------- */

/* Trimmed and lower-cased; NULL out of memory. */
static char *folded(const char *text)
{
    auto_free char *trimmed = text_trim(text);

    return trimmed ? text_lower(trimmed) : NULL;
}

/* The word under key, cleaned and (fold) then trimmed and lower-cased: its index in words (ended by NULL),
 * or -1. The first word is the default; white space alone is none of them. */
static int read_word(const struct body *b, const char *key, int rule, bool fold, const char *const *words, size_t *ret)
{
    struct {
        char *text;
    } v = { NULL };
    const struct field_row row = { key, NULL, FIELD_CLEAN, 0, words[0], 0 };
    char *lower, set[160] = "";
    size_t i, n = 0;
    int rc = reader_fields(b->r, b->e, b->title, &v, &row, 1);

    if (rc == 0) {
        lower = fold ? folded(v.text) : mem_strdup(v.text);
        rc = lower ? 0 : reader_nomem(b->r);
        for (i = 0; lower && words[i] && strcmp(words[i], lower) != 0; i++)
            n += (size_t)snprintf(set + n, sizeof(set) - n, "%s%s", i ? ", " : "", words[i]);
        *ret = i;
        if (lower && !words[i])
            rc = finding_add(b->r->f, FINDING_ERROR, rule, ELEMENT_PATH(b->e, key),
                             "%s: %s \"%s\" is unknown; it must be one of %s", b->title, key, SHOWN(v.text), set);
        mem_free(lower);
    }
    mem_free(v.text);
    return rc;
}

static int read_input(const struct body *b, struct action *a)
{
    static const char *const modes[] = { "last_user_message", "custom", NULL };
    size_t mode = 0;

    if (read_word(b, "inputPromptMode", 8, false, modes, &mode) < 0 ||
        reader_fields(b->r, b->e, b->title, a, input_rows, ARRAY_LEN(input_rows)) < 0)
        return -1;
    a->input_custom = mode == 1;
    if (a->input_custom && !a->input_prompt)
        return finding_add(b->r->f, FINDING_ERROR, 8, ELEMENT_PATH(b->e, "customInputPrompt"),
                           "%s: customInputPrompt is empty, but inputPromptMode is \"custom\"", b->title);
    return 0;
}

/* ---- kinds that need more than rows
 * ---------------------------------------------------------------------------- */

static int finish_named(const struct body *b, struct action *a)
{
    if (a->text)
        return KEEP;
    log_debug("%s: names nothing to use, skipped", b->title);
    return SKIP;
}

static int finish_db(const struct body *b, struct action *a)
{
    static const char *const selections[] = { "default", "custom", NULL };
    static const char *const modes[] = { "llm_query", "sql", NULL };
    static const char *const operations[] = { "any", "select", "insert", "update", "delete", NULL };
    size_t selection = 0, mode = 0, operation = 0;

    if (read_word(b, "dbSelectionType", 9, true, selections, &selection) < 0 ||
        read_word(b, "dbQueryMode", 9, true, modes, &mode) < 0 ||
        read_word(b, "dbOperation", 9, true, operations, &operation) < 0)
        return -1;
    a->db_selection_custom = selection == 1;
    a->db_sql = mode == 1;
    a->db_operation = (enum db_operation)operation;
    if (!a->db_selection_custom) {
        mem_free(a->db_custom_name);
        a->db_custom_name = NULL;
    }
    return KEEP;
}

static int finish_speech(const struct body *b, struct action *a)
{
    a->has_audio_speed = value_float(json_get(b->e->node, "ws_audio_speed"), &a->audio_speed);
    return KEEP;
}

static int finish_options(const struct body *b, struct action *a)
{
    const cJSON *v = json_get(b->e->node, "ws_options");
    const char *line, *end;
    char *copy, *option;
    int rc = 0;

    if (!v)
        return KEEP;
    if (!cJSON_IsString(v))
        return finding_add(b->r->f, FINDING_ERROR, 0, ELEMENT_PATH(b->e, "ws_options"),
                           "%s: ws_options must be a text with one option per line (%s)", b->title,
                           ELEMENT_PATH(b->e, "ws_options"));
    for (line = v->valuestring; line && rc == 0; line = end ? end + 1 : NULL) {
        end = strchr(line, '\n');
        copy = mem_dup(line, end ? (size_t)(end - line) : strlen(line));
        option = copy ? text_trim(copy) : NULL;
        if (!option)
            rc = reader_nomem(b->r);
        else if (*option && (rc = reader_charge(b->r, strlen(option) + 4 * sizeof(char *))) == 0)
            rc = str_list_add(&a->options, option) < 0 ? reader_nomem(b->r) : 0;
        mem_free(copy);
        mem_free(option);
    }
    return rc < 0 ? -1 : KEEP;
}

static int finish_gui(const struct body *b, struct action *a)
{
    const struct gui *g;
    size_t at;

    if (!a->text)
        return finish_named(b, a);
    if (map_find_name(&b->r->guis, a->text, &at) < 0)
        return reader_nomem(b->r);
    if (at == MAP_NONE)
        return KEEP; /* rule 23 */
    g = &b->r->m->guis[at];
    a->persist = g->persist;
    a->is_form = g->is_form;
    if (g->width) {
        mem_free(a->width);
        a->width = mem_strdup(g->width);
        if (!a->width)
            return reader_nomem(b->r);
    }
    return KEEP;
}

/* Judged once per element, however many bodies share it. */
static int check_custom_code(const struct body *b, const char *source)
{
    struct code c = {
        .kind = CODE_CUSTOM, .source = source, .title = b->title, .where = ELEMENT_PATH(b->e, "name"), .rule = 10
    };
    struct python_facts facts = { 0 };
    int found;

    if (b->e->code_checked || !b->r->parser)
        return 0;
    found = code_check(&c, b->r->parser, b->r->f, &facts, b->r->err);
    if (found == 0) {
        b->e->code_checked = true;
        b->e->code_function = mem_strdup(facts.functions[0].name);
        if (!b->e->code_function)
            found = reader_nomem(b->r);
    }
    python_facts_release(&facts);
    return found ? -1 : 0;
}

static int finish_code(const struct body *b, struct action *a)
{
    static const struct field_row row = { "name", NULL, FIELD_RAW, AT(text), "", 0 };
    char *source;

    if (reader_fields(b->r, b->e, b->title, a, &row, 1) < 0 || check_custom_code(b, a->text) < 0)
        return -1;
    source = python_dedent(a->text);
    if (!source)
        return reader_nomem(b->r);
    mem_free(a->text);
    a->text = source;
    a->code_function = mem_strdup(b->e->code_function);
    return b->e->code_function && !a->code_function ? reader_nomem(b->r) : KEEP;
}

/* ---- the table of kinds
 * ---------------------------------------------------------------------------------------- */

enum { INPUT = 1, OUTPUT = 2 };

#define ROWS(rows) rows, ARRAY_LEN(rows)

static const struct action_rule {
    const char *old; /* replyType */
    unsigned groups;
    const struct field_row *rows;
    size_t rows_len;
    int (*finish)(const struct body *, struct action *);
} action_rules[ACTION__MAX] = {
    [ACTION_TEXT] = { "text", 0, ROWS(text_rows), NULL },
    [ACTION_LLM] = { "llm", INPUT | OUTPUT, ROWS(llm_rows), NULL },
    [ACTION_LLM_CHAT] = { "llm_chat", OUTPUT, ROWS(llm_rows), NULL },
    [ACTION_RAG] = { "rag", INPUT | OUTPUT, ROWS(rag_rows), finish_named },
    [ACTION_DB] = { "db_reply", INPUT | OUTPUT, ROWS(db_rows), finish_db },
    [ACTION_CODE] = { "code", 0, NULL, 0, finish_code },
    [ACTION_WEB_CRAWL] = { "web_crawl_llm", OUTPUT, ROWS(crawl_rows), finish_named },
    [ACTION_MARKDOWN] = { "ws_markdown", 0, ROWS(message_rows), NULL },
    [ACTION_HTML] = { "ws_html", 0, ROWS(message_rows), NULL },
    [ACTION_SPEECH] = { "ws_speech", 0, ROWS(message_rows), finish_speech },
    [ACTION_OPTIONS] = { "ws_options", 0, NULL, 0, finish_options },
    [ACTION_LOCATION] = { "ws_location", 0, ROWS(location_rows), NULL },
    [ACTION_FILE] = { "ws_file", 0, NULL, 0, NULL },
    [ACTION_IMAGE] = { "ws_image", 0, NULL, 0, NULL },
    [ACTION_DATAFRAME] = { "ws_dataframe", 0, NULL, 0, NULL },
    [ACTION_PLOTLY] = { "ws_plotly", 0, NULL, 0, NULL },
    [ACTION_GUI] = { "gui_reply", 0, ROWS(gui_rows), finish_gui },
};

static int kind_of(const cJSON *node, enum action_kind *ret)
{
    const cJSON *type = json_get(node, "actionType"), *old = json_get(node, "replyType");
    size_t i;

    if (!value_is_empty(type)) /* an unknown one is not rescued by replyType */
        return cJSON_IsString(type) ? action_kind_parse(type->valuestring, ret) : -1;
    for (i = 0; cJSON_IsString(old) && i < ACTION__MAX; i++)
        if (strcmp(action_rules[i].old, old->valuestring) == 0) {
            *ret = (enum action_kind)i;
            return 0;
        }
    return -1;
}

/* Fills a, which the list owns already: KEEP, SKIP or -1. */
static int read_action(const struct body *b, struct action *a)
{
    const struct action_rule *rule = &action_rules[a->kind];
    int rc = KEEP;

    a->id = mem_strdup(b->e->id);
    a->where = mem_strdup(ELEMENT_PATH(b->e, NULL));
    if (!a->id || !a->where)
        return reader_nomem(b->r);
    if (reader_fields(b->r, b->e, b->title, a, rule->rows, rule->rows_len) < 0)
        return -1;
    if (rule->finish)
        rc = rule->finish(b, a);
    if (rc == KEEP && (rule->groups & INPUT) && read_input(b, a) < 0)
        return -1;
    if (rc == KEEP && (rule->groups & OUTPUT) &&
        reader_fields(b->r, b->e, b->title, a, output_rows, ARRAY_LEN(output_rows)) < 0)
        return -1;
    return rc;
}

/* State "Greet", body, text reply */
static void write_title(struct body *b, const struct state *s, const char *part, enum action_kind kind)
{
    const char *const words[] = { "State \"", SHOWN(s->name), "\", ", part, ", ", action_kind_title(kind) };
    size_t len = 0, i;

    for (i = 0; i < ARRAY_LEN(words); i++)
        len = str_append(b->title, sizeof(b->title), len, words[i]);
}

static int add_action(struct reader *r, const struct state *s, const char *part, struct element *e,
                      struct action_list *list)
{
    struct body b = { .r = r, .e = e };
    enum action_kind kind;
    struct action *a;
    int rc;

    if (kind_of(e->node, &kind) < 0) {
        finding_add(r->f, FINDING_WARNING, 0, ELEMENT_PATH(e, "actionType"),
                    "State \"%s\", %s: action \"%s\" is of no known kind and ignored", SHOWN(s->name), part,
                    SHOWN(e->id));
        return 0;
    }
    if (reader_charge(r, sizeof(*a)) < 0)
        return -1;
    a = model_add_action(list);
    if (!a)
        return reader_nomem(r);
    a->kind = kind;
    write_title(&b, s, part, kind);
    rc = read_action(&b, a);
    if (rc == SKIP)
        action_list_drop_last(list);
    return rc < 0 ? -1 : 0;
}

int read_actions(struct reader *r, const struct state *s, const char *part, const cJSON *first, struct action_list *ret)
{
    struct element *e;
    const cJSON *c;

    for (c = first; c; c = c->next) {
        e = document_find(&r->doc, c);
        if (e && add_action(r, s, part, e, ret) < 0)
            return -1;
    }
    return 0;
}
