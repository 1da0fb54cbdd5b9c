/* shared/buml/writer.h -- inside of buml_write(): one agent's text while it is written. Parts write into `code`, where
 * failures are sticky; functions that return int give 0, or -1 with w->err set. */
#ifndef BUML_WRITER_H
#define BUML_WRITER_H

#include <stdbool.h>

#include "shared/buml/write.h"
#include "shared/generate/code_writer.h"
#include "shared/python/names.h"

struct buml_code {        /* a piece of user code */
    const char *variable; /* of a condition, borrowed from names */
    char *function;       /* owned: its one def stands at the top level under this name; NULL: source= */
};

struct buml_writer {
    const struct model *m;
    const char *agent; /* variable */
    struct code_writer code;
    struct names names; /* of the file: imports, user functions, variables */
    /* Variables by index, borrowed from names; the arrays are owned. */
    const char **intents, **llms, **states;
    struct buml_code *conditions, *bodies; /* in the order they are written; two bodies a state, the fallback second */
    size_t conditions_len;
    bool annotates, foreign_intents; /* imports that few files need */
    struct err *err;
};

/* write_names.c: everything of the arrays above. The lists of imports are written by write.c. */
int buml_name_all(struct buml_writer *w);
void buml_release_names(struct buml_writer *w);
const char *const *
buml_import_names(size_t list);                 /* all that a file may import, in lists ended by NULL; NULL: no more */
const char *const *buml_annotation_names(void); /* the classes that user functions may be annotated with */

/* write_code.c. The name of the function when source can stand at the top level and comes back the same from there:
 * one def of ASCII lines, nothing before and but line breaks behind it, no defaults, decorators or annotations of
 * foreign classes. 1 and *ret (the caller frees), 0: it has to be a literal, -1 out of memory. *ret_annotated: needs
 * buml_annotation_names(). */
int buml_plain_function(const char *source, char **ret, bool *ret_annotated);

/* write_parts.c, write_states.c, write_actions.c: statements in contract order */
int buml_write_parts(struct buml_writer *w); /* intents to GUIs */
int buml_write_states(struct buml_writer *w);
int buml_write_behaviour(struct buml_writer *w);
void buml_write_action(struct buml_writer *w, const char *body, const struct action *a);
void buml_write_gui_settings(struct buml_writer *w, const char *variable, const struct gui *g);

#endif
