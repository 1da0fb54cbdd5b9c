/* shared/diagram/model.h -- an agent as its diagram means it; the one structure between reading and
 * writing. Filled by read.h (from JSON) or shared/buml (from B-UML text), checked by check.h,
 * emitted by shared/generate and shared/buml. struct model owns everything below it:
 * model_release() frees all. Strings are UTF-8 without NUL, NULL = not set. Cross references are
 * indexes into the model's arrays (stable, unlike pointers into growing arrays); MODEL_NONE = none.
 * `where` is the JSON path of the element something came from ("model.elements.s1"), for findings;
 * NULL outside of JSON. Section numbers refer to the agent diagram contract. */
#ifndef DIAGRAM_MODEL_H
#define DIAGRAM_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shared/base/err.h"
#include "shared/json/value.h"

#define MODEL_NONE ((size_t)-1)

struct str_list {
    char **items;
    size_t len, cap;
};

/* 2.4, 2.5 */
struct llm {
    char *name;
    const struct llm_provider *provider; /* provider.h; a const table row */
    struct value parameters;             /* VALUE_OBJECT */
    int64_t num_previous_messages;
    char *global_context;
    char *where;
};

struct tool {
    char *name, *description, *code;
    char *where;
};

struct skill {
    char *name, *content, *description;
    char *where;
};

struct workspace {
    char *name, *path, *description;
    bool writable;
    int64_t max_read_bytes;
    char *where;
};

struct intent {
    char *name, *description;
    struct str_list sentences;
    char *where;
};

struct gui {
    char *gui_id, *width;
    bool persist, is_form;
    struct value design; /* guiModel as it came, VALUE_NULL for none; shared/gui reads it */
    char *where;
};

struct rag {
    char *name;
    bool ollama; /* else OpenAI embeddings */
    char *embedding_provider, *embedding_base_url, *embedding_model;
    char *llm_name; /* "" = default LLM */
    size_t llm;     /* of llm_name; MODEL_NONE = default LLM, or not registered (rule 22) */
    char *llm_prompt;
    int64_t k, num_previous_messages;
    bool hybrid;
    double bm25_weight;
    char *where;
};

/* 3.1 */
enum action_kind {
    ACTION_TEXT,
    ACTION_LLM,
    ACTION_LLM_CHAT,
    ACTION_RAG,
    ACTION_DB,
    ACTION_CODE,
    ACTION_WEB_CRAWL,
    ACTION_MARKDOWN,
    ACTION_HTML,
    ACTION_SPEECH,
    ACTION_OPTIONS,
    ACTION_LOCATION,
    ACTION_FILE,
    ACTION_IMAGE,
    ACTION_DATAFRAME,
    ACTION_PLOTLY,
    ACTION_GUI,
    ACTION__MAX
};

enum db_operation { DB_ANY, DB_SELECT, DB_INSERT, DB_UPDATE, DB_DELETE, DB__MAX };

/* one struct for all kinds; fields a kind does not have stay zero (3.2, 3.3) */
struct action {
    enum action_kind kind;
    char *id, *where; /* element id and path, for messages */
    /* text, markdown, HTML, speech: what is sent; code: the source; RAG: store name; crawl: initial
     * URL; GUI: GUI id; database: see sql */
    char *text;
    bool use_session_vars; /* of text; of system prompt and RAG prompt below */
    char *prompt;          /* system prompt (LLM kinds), RAG prompt, crawl: system message prefix */
    bool prompt_use_session_vars;
    bool input_custom; /* inputPromptMode == custom */
    char *input_prompt;
    bool input_use_session_vars;
    char *store_in_session;
    bool send_reply;
    char *llm_name; /* NULL = default LLM */
    size_t llm;     /* of llm_name; MODEL_NONE = default LLM, or not registered (rules 22, 24) */
    size_t rag;     /* RAG: of text; MODEL_NONE = no such store, the one made last answers (7.4) */
    size_t gui;     /* GUI: of text; MODEL_NONE = not registered (rule 23) */
    /* DB */
    bool db_sql;          /* dbQueryMode == sql */
    char *db_custom_name; /* dbSelectionType custom and a name given, else NULL (db1) */
    bool db_selection_custom;
    enum db_operation db_operation;
    char *sql;
    /* web crawl */
    int64_t max_depth, max_pages;
    char *crawl_format, *base_url_prefix, *no_crawl_message;
    bool run_crawl;
    /* the rest */
    bool has_audio_speed;
    double audio_speed;
    struct str_list options;
    double latitude, longitude;
    bool persist, is_form; /* GUI */
    char *width;
    char *code_function; /* code: name of its one function */
    char *scoped;        /* code: as in struct condition */
};

struct action_list {
    struct action *items;
    size_t len, cap;
};

/* 4.4, 4.5 */
enum transition_kind {
    TRANSITION_INTENT,
    TRANSITION_NO_INTENT,
    TRANSITION_VARIABLE,
    TRANSITION_FILE,
    TRANSITION_FORM,
    TRANSITION_AUTO,
    TRANSITION_CUSTOM,
    TRANSITION__MAX
};

/* 4.5 */
enum event_kind {
    EVENT_NONE,
    EVENT_RECEIVE_TEXT,
    EVENT_RECEIVE_JSON,
    EVENT_RECEIVE_FILE,
    EVENT_DUMMY,
    EVENT_WILDCARD,
    EVENT_RECEIVE_MESSAGE,
    EVENT_GUI,
    EVENT__MAX
};

enum compare_op { COMPARE_LT, COMPARE_LE, COMPARE_EQ, COMPARE_GE, COMPARE_GT, COMPARE_NE, COMPARE__MAX };

struct condition {
    char *source;   /* Python as drawn, less the indentation all of it shares */
    char *label;    /* condition_<n>_<i>, 4.5 */
    char *function; /* the def that decides [V3]; filled by lint (check.h), NULL before */
    int parameters; /* 1 or 2, filled likewise */
    char *scoped;   /* parameters and block of a function around the source, without its end, when others use its names;
                     * NULL: it stands at the top level. Filled by generate/scopes.h */
    bool apart;     /* it needs a module of its own; filled likewise */
};

struct transition {
    enum transition_kind kind;
    char *id, *where;  /* relationship id and path, for messages */
    size_t target;     /* index of the state */
    size_t intent;     /* INTENT: index, or MODEL_NONE when not registered (rule 13) */
    char *intent_name; /* INTENT: as drawn, trimmed */
    char *variable;    /* VARIABLE */
    enum compare_op op;
    char *foreign_op; /* VARIABLE: name of one of Python's operators that no diagram has, of a file; NULL: op counts */
    struct value target_value;
    struct str_list file_types;   /* FILE: mapped (4.8); empty = any */
    char *form_id;                /* FORM: NULL = any form */
    enum event_kind event;        /* CUSTOM */
    char *gui_id;                 /* CUSTOM with EVENT_GUI: filter or NULL */
    struct condition *conditions; /* CUSTOM */
    size_t conditions_len;
};

struct state {
    char *id, *where, *name, *description;
    bool reasoning, initial;
    bool has_body, has_fallback; /* a body exists only if at least one action was added */
    struct action_list body, fallback;
    struct transition *transitions;
    size_t transitions_len, transitions_cap;
    /* reasoning */
    char *llm_name;
    size_t llm; /* of llm_name; MODEL_NONE = default LLM, or not registered (rule 22) */
    int64_t max_steps;
    bool task_planning, stream_steps;
    char *system_prompt, *fallback_message;
    /* downloads with profiles (personalize.h) */
    size_t profile;     /* 1 = of the first profile ...; 0 = of the agent itself */
    bool profile_start; /* the first state of its profile */
};

enum platform { PLATFORM_WEBSOCKET, PLATFORM_STREAMLIT, PLATFORM_TELEGRAM, PLATFORM_DEFAULT };

/* section 6, flattened; what changes a program */
struct settings {
    char *default_llm_name, *language, *source_language;
    enum platform platform;
    bool classical_intents;
    char *classifier_llm_name;  /* llm.name */
    char *classifier_llm_model; /* llm.model */
    bool speech_input, speech_output;
    char *texts_stay; /* keys that ask for other texts than those drawn, in vain: "language, agentStyle"; NULL = none */
    struct value personalization; /* personalizationMapping without agent models, VALUE_NULL = none */
};

/* 6.6: one entry of settings.personalization, at the same index. Downloads only [V21]. */
struct profile {
    char *name;          /* what session variable user_profile says */
    char *slug;          /* in names of states and intents; unique among the profiles */
    bool speaks;         /* its texts are spoken as well */
    bool adapts_content; /* its LLM is told about the user */
    struct model *agent; /* owned; its own conversation, NULL for none */
};

struct model {
    char *name, *description;
    struct llm *llms;
    size_t llms_len, llms_cap;
    struct tool *tools;
    size_t tools_len, tools_cap;
    struct skill *skills;
    size_t skills_len, skills_cap;
    struct workspace *workspaces;
    size_t workspaces_len, workspaces_cap;
    struct intent *intents;
    size_t intents_len, intents_cap;
    struct gui *guis;
    size_t guis_len, guis_cap;
    struct rag *rags;
    size_t rags_len, rags_cap;
    struct state *states;
    size_t states_len, states_cap; /* initial state first (4.2) */
    size_t default_llm;            /* index or MODEL_NONE */
    struct profile *profiles;
    size_t profiles_len, profiles_cap;
    bool uses_custom_code; /* restriction switch, section 9 [V22] */
    struct settings settings;
    char *config_yaml; /* configYaml, NULL = default file */
};

void model_init(struct model *m);

/* Frees all; NULL and half-built are fine, the model is empty afterwards. */
void model_release(struct model *m);

/* Fills in every llm, rag and gui index above from the names beside it, which then are spelled as what they name is; a
 * name twice: the first one counts. Readers call it once, last. 0, or -1 out of memory. */
int model_resolve(struct model *m, struct err *err);

/* One more zeroed element at the end of a list, already counted; NULL out of memory. Indexes stay,
 * pointers do not. */
struct llm *model_add_llm(struct model *m);
struct tool *model_add_tool(struct model *m);
struct skill *model_add_skill(struct model *m);
struct workspace *model_add_workspace(struct model *m);
struct intent *model_add_intent(struct model *m);
struct gui *model_add_gui(struct model *m);
struct rag *model_add_rag(struct model *m);
void rag_settle(struct rag *g); /* numbers that make no sense become the usual ones */
struct state *model_add_state(struct model *m);
struct profile *model_add_profile(struct model *m);
struct action *model_add_action(struct action_list *l);
void action_list_drop_last(struct action_list *l);
void state_drop_last_transition(struct state *s);
struct transition *model_add_transition(struct state *s);

/* Class names of events, "ReceiveTextEvent"; NULL for none. A transition's: section 8.1. */
const char *event_class(enum event_kind kind);
const char *transition_event_class(const struct transition *t);

/* Operators: "lt" of Python's operator module, and "<" as drawn (-1 unknown). */
const char *compare_op_name(enum compare_op op);
int compare_op_parse(const char *text, enum compare_op *ret);

/* "application/pdf" of "pdf" in any case (4.8); what is no key is its own type. */
const char *file_media_type(const char *key);

/* Actions: actionType "LLMReplyAction" (-1 unknown), and "LLM reply" for sentences. */
const char *action_kind_type(enum action_kind kind);
const char *action_kind_title(enum action_kind kind);
int action_kind_parse(const char *type, enum action_kind *ret);

void str_list_release(struct str_list *l);
int str_list_add(struct str_list *l, const char *s); /* copies; 0, or -1 out of memory */

#endif
