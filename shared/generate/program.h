/* shared/generate/program.h -- inside of generate_program(): one program while it is written.
 * Parts write into `code`; what they use of the import and helper tables is noted on the way and written above at the
 * end, so a program has nothing it does not use. Functions return 0, or -1 with p->err set; failed writes are sticky in
 * `code`. */
#ifndef GENERATE_PROGRAM_H
#define GENERATE_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "shared/base/err.h"
#include "shared/diagram/map.h"
#include "shared/diagram/model.h"
#include "shared/generate/code_writer.h"
#include "shared/generate/generate.h"
#include "shared/python/names.h"

struct program {
    const struct model *model;
    const struct generate_options *options;
    struct code_writer code;
    struct names names; /* of agent.py */
    char *prefix;       /* of private names, owned; "" without user code */
    bool user_code;     /* custom code or conditions share the file */
    bool guards_name;   /* user code knows __name__: the main guard is decided before it */
    bool speech_input, speech_output;
    uint64_t imports, helpers; /* bits of the rows in use */
    uint32_t providers;        /* bits of provider.h's rows in use */
    /* Names of the model's objects by their index, borrowed from names; the arrays are owned. */
    const char **llms, **rags, **intents, **states, **guis;
    struct str_list rag_folders, rag_stores;    /* one per RAG, owned */
    char **gui_modules;                         /* by index, NULL for GUIs that no reply uses; gui_modules_free() */
    struct map llm_index, rag_index, gui_index; /* by exact name */
    char *default_llm;                          /* name of the default LLM's alias, owned; NULL: the agent has no LLM */
    struct err *err;
};

/* program_names.c */
bool program_has_user_code(const struct model *m); /* custom code or conditions */
int program_choose_prefix(struct program *p);      /* sets user_code, guards_name and prefix */
int program_name_objects(struct program *p);
int program_publish_names(struct program *p); /* what user code may call things [7.7] */
bool program_is_published(const char *name);  /* always, whatever the diagram's objects are called */
const char *program_name(struct program *p, const char *kind,
                         const char *raw);                     /* kind_raw, private and unique; NULL: p->err */
char *program_fixed_name(struct program *p, const char *name); /* private form of a name of ours; the caller frees */
int program_reserve(struct program *p, const char *name);      /* takes that form */
const char *program_llm(struct program *p, const char *name);  /* variable, "" when there is none */
size_t program_gui_index(const struct program *p, const char *id); /* MODEL_NONE: no such GUI */

/* Are the len bytes at name this word? Asked for every word of the tables, whenever a program uses a name. */
static inline bool program_is_name(const char *word, const char *name, size_t len)
{
    return *word == *name && strncmp(word, name, len) == 0 && !word[len];
}

/* program_imports.c, program_helpers.c: tables of what a program may need, by its plain name */
void program_use(void *p, const char *name, size_t len); /* code_writer's use */
bool program_use_helper(struct program *p, const char *name, size_t len);
int program_reserve_imports(struct program *p);
int program_reserve_helpers(struct program *p);
void program_write_imports(struct program *p, struct code_writer *w);
void program_write_helpers(struct program *p, struct code_writer *w); /* before imports: helpers need some */

/* program_parts.c, program_reasoning.c */
void program_decide_speech(struct program *p);
int program_write_agent(struct program *p);     /* agent, platform, speech, RAGs, GUIs, classifier, LLMs, database */
int program_write_reasoning(struct program *p); /* tools, skills, workspaces */
int program_write_intents(struct program *p);

/* program_states.c, program_body.c, program_transitions.c */
int program_write_states(struct program *p);    /* all new_state calls */
int program_write_behaviour(struct program *p); /* bodies, fallbacks, transitions, state by state */
int program_write_body(struct program *p, const struct state *s, bool fallback, const char *function);
int program_write_conditions(struct program *p);
/* name = what function of the code is, which stands in a function of its own (condition.scoped). */
int program_write_scope(struct program *p, const char *name, const char *scoped, const char *function);
int program_check_function(struct program *p, const char *name); /* 0: can stand in the program */
void program_write_transitions(struct program *p, size_t state);

/* program_profiles.c: downloads with profiles (6.6) */
void program_write_contexts(struct program *p, const struct state *s); /* in a body: what the LLM is told */
int program_write_routes(struct program *p);                           /* from the router, and back to it */

#endif
