/* shared/buml/reader.h -- inside of buml_read(): a file is followed statement by statement with things in place of
 * values; nothing runs. A thing is a constant, a collection, or what a constructor or method of the metamodel stands
 * for; all that cannot be known is THING_UNKNOWN. Things live in the reader's arena.
 * Functions that return a thing return NULL only when the machine failed or a limit was reached (err is filled); what
 * cannot be imported is a warning. */
#ifndef BUML_READER_H
#define BUML_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shared/buml/read.h"
#include "shared/buml/file.h"
#include "shared/buml/tree.h"
#include "shared/diagram/map.h"

#define BUML_BYTES_MAX (96u << 20) /* what a model may hold; texts count wherever they are used */
#define READER_STEPS_MAX 1000000   /* statements and expressions followed, functions and loops counted each time */
#define READER_CALLS_MAX 40        /* functions inside of functions */
#define ARGS_MAX 24

enum thing_kind {
    THING_UNKNOWN,
    /* constants */
    THING_NONE,
    THING_BOOL,
    THING_INT,
    THING_FLOAT,
    THING_TEXT,
    THING_SEQ,  /* list, tuple or set */
    THING_DICT, /* keys are things */
    /* of the file */
    THING_MODULE,   /* name: dotted, or "" for one that is not followed further */
    THING_CLASS,    /* name of a class or function that was imported, or is known without */
    THING_MEMBER,   /* name of a member, text: of which class */
    THING_FUNCTION, /* def or lambda at node */
    THING_METHOD,   /* name, of self */
    /* of the model: index into its arrays */
    THING_AGENT,
    THING_INTENT,
    THING_STATE,
    THING_LLM,
    THING_RAG,
    THING_OBJECT /* what a constructor made: callee and args */
};

struct callee;

struct thing {
    enum thing_kind kind;
    const struct node *node; /* where it was made, for sentences; may be NULL */
    bool truth, replaced;    /* THING_BOOL; THING_TEXT see struct node */
    int64_t integer;         /* THING_INT, when fits */
    bool big;                /* THING_INT beyond 64 bits: number alone */
    double number;           /* THING_INT, THING_FLOAT */
    const char *text;
    size_t text_len;
    const char *name;
    size_t index;
    struct thing *self;
    /* THING_SEQ, THING_DICT (keys too); THING_OBJECT: what was added to it, keys[] are attributes by name */
    struct thing **items, **keys;
    size_t len, cap;
    const struct callee *callee;
    struct thing **args; /* by the callee's parameters; NULL: not given */
    struct thing *body;  /* transitions that are being built: see read_transitions.c */
    bool used;
};

/* ---- callees ------------------------------------------------------------------------------------------------------
 */

enum arg_as {
    ARG_THING, /* the callee's own business */
    ARG_PASS,  /* may be given, says nothing that a diagram has: warned of unless None */
    ARG_RAW,   /* char *: text as it is, "" and None: text (NULL allowed) */
    ARG_KEEP,  /* char *: text as it is, also empty; absent and None: text */
    ARG_CLEAN, /* char *: cleaned as JSON's texts are, else as ARG_RAW */
    ARG_CTEXT, /* char *: cleaned, also empty; absent and None: text */
    ARG_TRIM,  /* char *: trimmed, cleaned, else as ARG_RAW */
    ARG_TRUTH, /* bool; absent and None: number */
    ARG_INT,   /* int64_t; absent and None: number */
    ARG_FLOAT  /* double; absent and None: number */
};

struct parameter {
    const char *name;
    enum arg_as as;
    size_t at; /* offset in the structure that call_fill() fills */
    const char *text;
    double number;
};

struct call;

struct callee {
    const char *name;
    const struct parameter *parameters; /* in Python's order */
    size_t parameters_len;
    struct thing *(*run)(struct call *c); /* NULL: a THING_OBJECT of the arguments */
};

struct reader;

struct call {
    struct reader *r;
    const struct callee *callee;
    const struct node *node;
    struct thing *self; /* of methods */
    struct thing *args[ARGS_MAX];
};

const struct callee *buml_constructor(const char *name); /* NULL: unknown */
const struct callee *buml_method(const char *name);

/* Whose method is called, if it is of that kind, or else what its name was when it was. */
struct thing *call_self(const struct call *c, enum thing_kind kind, const char *class);

/* The thing an argument is, NULL when it was not given. Asking for a parameter the callee has not is a bug. */
struct thing *call_arg(const struct call *c, const char *name);
struct thing *object_arg(const struct thing *object, const char *name);
bool thing_is(const struct thing *t, const char *class); /* an object of that constructor */

/* Reads all arguments that have a place into the structure at base. 0, or -1 (err). */
int call_fill(const struct call *c, void *base);
int object_fill(struct reader *r, const struct thing *object, void *base);

/* ---- reader -------------------------------------------------------------------------------------------------------
 */

struct thing_list { /* owns the array */
    struct thing **items;
    size_t len, cap;
};

struct scope {        /* of the file, or of a function while it is followed */
    struct map names; /* -> index of things */
    struct thing_list things;
    struct scope *outer;
    struct thing *returned;
};

struct pending_state { /* beside model.states: what its statements said until the file ends */
    struct thing *body, *fallback;
};

struct reader {
    const char *text;
    size_t len;
    size_t *lines; /* where each line starts */
    size_t lines_len;
    struct tree tree;
    struct arena arena;
    struct python_parser *parser;
    struct model *m;
    struct findings *f;
    struct err *err;
    size_t used, steps;
    int calls; /* functions being followed */
    struct scope *scope;
    struct scope seen; /* things of the model by the last name that any scope gave them */
    struct map defs;   /* names of the functions at the top level -> statement */
    struct map early;  /* those that were used before their definition was met */
    struct map intents, states, llms, tools, skills, workspaces, rags, guis; /* name -> index */
    struct pending_state *pending;                                           /* one per state */
    size_t pending_len, pending_cap;
    struct thing_list builders;    /* transitions that were begun */
    struct thing_list transitions; /* those that lead somewhere, in order: self is the builder, body the state */
    struct thing_list functions;   /* met so far; those that nobody used are followed last */
    struct thing_list replies;     /* GUIReplyAction */
    struct thing_list unknown;     /* statements (node) that say nothing to the reader */
    const char *assigned;          /* the variable the expression is for */
    size_t searched;               /* bytes, by buml_source_contains() */
    const char *gui_id;            /* the GUI whose builder is called, for sentences */
    const char *default_llm;       /* name */
    bool agent_seen;
    struct buml_project *project; /* filled by Project(...); NULL: nobody asks */
};

int buml_nomem(struct reader *r);                /* -1 */
int buml_charge(struct reader *r, size_t bytes); /* -1 when the model grows beyond BUML_BYTES_MAX */

/* A warning that starts with the line of node. Returns 0. */
int buml_warn(struct reader *r, const struct node *n, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* things.c */
struct thing *thing_new(struct reader *r, enum thing_kind kind, const struct node *n);       /* NULL: err */
struct thing *thing_text(struct reader *r, const struct node *n, const char *s, size_t len); /* copies */
int thing_add(struct reader *r, struct thing *list, struct thing *key, struct thing *item);
struct thing *thing_get(const struct thing *t, const char *key); /* of a dict, or attribute; NULL: none */
int thing_put(struct reader *r, struct thing *t, const char *key, struct thing *item);
const char *thing_title(const struct thing *t); /* "a list", for sentences */
bool thing_is_constant(const struct thing *t);
bool thing_truth(const struct thing *t);
/* A constant as JSON. 1; 0 and a warning about what: no constant; -1. */
int thing_value(struct reader *r, const struct thing *t, const char *what, struct value *ret);

/* read_eval.c, read_walk.c, read_scope.c, read_function.c, read_call.c */
struct thing *buml_eval(struct reader *r, const struct node *n);
struct thing *buml_scope_find(struct reader *r, const char *name);
int buml_scope_bind(struct reader *r, const char *name, struct thing *t);

/* t when it is of the kind (and class) that is needed, else what had n's name and is: files of the reference give a
 * state and a function one name. */
struct thing *buml_meant(struct reader *r, struct thing *t, const struct node *n, enum thing_kind kind,
                         const char *class);
int buml_walk(struct reader *r, const struct node_list *statements);
struct thing *buml_follow(struct reader *r, struct thing *function, const struct node *at, struct thing *const *args,
                          size_t args_len, const struct thing *named);
struct thing *buml_eval_call(struct reader *r, const struct node *n);
int buml_walk_unused(struct reader *r);                   /* functions that nobody used */
int buml_walk_module(struct reader *r, int from, int to); /* top-level statements that begin in lines from..to */
int buml_list_add(struct reader *r, struct thing_list *l, struct thing *t);
void buml_scope_release(struct scope *s);

/* read_source.c: program text of a def or lambda; name: of the function a lambda becomes. The caller frees. */
char *buml_source_of(struct reader *r, const struct node *function, const char *name);
char *buml_source_slice(struct reader *r, const struct node *from, const struct node *to);
size_t buml_source_len(const struct reader *r, const struct node *n); /* characters */
bool buml_source_contains(struct reader *r, const struct node *n);    /* its text stands in some tool's code */

int buml_add_body(struct reader *r, const struct thing *body, struct action_list *ret); /* read_actions.c */
int buml_add_transitions(struct reader *r);

/* read_parts.c, read_llm.c: a constant text, NULL and a warning when it is none; what a table runs. */
const char *text_arg(const struct call *c, const char *name);
/* What makers give: nothing that can be used (said already); a part of the model; NULL, as memory is short. */
struct thing *part_unknown(struct call *c);
struct thing *part_of_model(struct call *c, enum thing_kind kind, size_t index);
struct thing *part_failed(struct call *c);
/* The name of a new part, trimmed and cleaned; intents keep theirs as it is (2.3): 1 and *ret; 0 when it is none or was
 * there before (*ret_index), -1. */
int part_name(struct call *c, const char *argument, struct map *known, size_t index, char **ret, size_t *ret_index);
struct thing *make_agent(struct call *c);
struct thing *make_project(struct call *c);
struct thing *make_intent(struct call *c);
struct thing *make_llm(struct call *c);
struct thing *make_tool(struct call *c);
struct thing *make_skill(struct call *c);
struct thing *make_workspace(struct call *c);
struct thing *make_rag(struct call *c);
struct thing *make_default_llm(struct call *c);
struct thing *make_gui(struct call *c);
struct thing *make_state(struct call *c);
struct thing *make_reasoning_state(struct call *c);
struct thing *make_body(struct call *c);
struct thing *make_gui_reply(struct call *c);
struct thing *do_set_body(struct call *c);
struct thing *do_set_fallback(struct call *c);
struct thing *do_add_action(struct call *c);
struct thing *do_add_code(struct call *c);
struct thing *do_begin(struct call *c);
struct thing *do_with_condition(struct call *c);
struct thing *do_go_to(struct call *c);
struct thing *do_add_intent(struct call *c);
struct thing *do_take(struct call *c);   /* add_intent(x) and so on: x is known already */
struct thing *do_ignore(struct call *c); /* has no place in a diagram */
struct thing *do_nothing(struct call *c);
struct thing *do_append(struct call *c); /* lists and dicts */
struct thing *do_items(struct call *c);
struct thing *call_object(struct call *c); /* read_call.c: a THING_OBJECT of the arguments */

/* read_gui.c */
bool buml_gui_class(const char *name);
struct thing *buml_gui_object(struct reader *r, const struct node *call, const char *name, struct thing *const *args,
                              size_t args_len, const struct thing *named);
int buml_gui_design(struct reader *r, const char *gui_id, const struct thing *model, struct value *ret);

#endif
