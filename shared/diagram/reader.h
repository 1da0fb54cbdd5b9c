/* shared/diagram/reader.h -- inside of read.c: one read of a diagram, its parts in the order
 * section 5 gives (phase A). Every function returns 0, or -1 after a finding was added or err was
 * set; the caller stops then. */
#ifndef DIAGRAM_READER_H
#define DIAGRAM_READER_H

#include <cjson/cJSON.h>

#include "shared/base/err.h"
#include "shared/diagram/document.h"
#include "shared/diagram/findings.h"
#include "shared/diagram/map.h"
#include "shared/diagram/model.h"

struct python_parser;

/* Lists name elements, so a small document can mean a huge agent. What a model may hold, in bytes:
 */
#define READER_MODEL_MAX (96u << 20)

struct reader {
    struct document doc;
    struct model *m;
    struct python_parser *parser; /* NULL: custom code is taken unseen */
    struct findings *f;
    struct err *err;
    size_t used;        /* bytes of READER_MODEL_MAX */
    size_t transitions; /* created so far in the whole diagram; numbers the conditions */
    struct map llms, tools, skills, workspaces, rags, guis, states; /* name -> index */
    struct map intents, intents_folded;
    struct map intents_used; /* state and intent index, both raw: rule 7 */
};

/* diagram_read() with a budget: *used bytes of READER_MODEL_MAX are gone before, and afterwards. */
int reader_read(const cJSON *request, struct python_parser *parser, size_t *used, struct model *ret, struct findings *f,
                struct err *err);

int reader_nomem(struct reader *r);
int reader_charge(struct reader *r, size_t bytes);          /* a finding when the model grows beyond bounds */
int reader_charge_name(struct reader *r, const char *name); /* the same for what is compared as a name */

int read_components(struct reader *r); /* read_components.c */
int read_states(struct reader *r);     /* read_states.c */
int read_actions(struct reader *r, const struct state *s, const char *part, const cJSON *first,
                 struct action_list *ret); /* read_actions.c; first: of a list of ids (reader_ids()), or NULL */
int read_transitions(struct reader *r);    /* read_transitions.c */
int read_comments(struct reader *r);       /* read_states.c */
int read_settings(struct reader *r, const cJSON *request);                   /* read_settings.c */
void read_profile_settings(const cJSON *configuration, struct profile *ret); /* read_settings.c */

/* Rule 1 for a name that was read raw. kind: "State", "Intent" ...; name NULL: missing or no text.
 */
int reader_check_name(struct reader *r, const struct element *e, const char *kind, const char *name);

/* ---- members by rule (2.2), read.c's tables ---- */

enum field_as {
    FIELD_RAW,        /* char *: as typed; absent, null or empty: text (NULL allowed) */
    FIELD_TEXT,       /* char *: Text, cleaned */
    FIELD_CLEAN,      /* char *: cleaned; empty: text (NULL allowed, then this is Opt) */
    FIELD_TRIM,       /* char *: trimmed, cleaned; empty: text (NULL allowed) */
    FIELD_NAME,       /* char *: as FIELD_TRIM; a value of another type is a shape error */
    FIELD_TRUTH,      /* bool: Truth(number) */
    FIELD_TRUTH_NULL, /* bool: null: number, else Truth(number) */
    FIELD_INT,        /* int64_t: Int(number) */
    FIELD_INT_STRICT, /* int64_t: IntStrict(number), rule 11 */
    FIELD_FLOAT,      /* double: Float(number) */
};

struct field_row {
    const char *key, *old_key; /* old_key (or NULL) is read when key gives nothing */
    enum field_as as;
    size_t at;        /* offset in the structure */
    const char *text; /* default of texts */
    double number;    /* default of numbers and truths */
};

/* Reads rows of e into the structure at base. title names the element in sentences: State "Greet".
 */
int reader_fields(struct reader *r, const struct element *e, const char *title, void *base,
                  const struct field_row *rows, size_t len);

/* v, the member key of e, as a list of ids: *ret is its first entry, or NULL. A text or an object in its place is left
 * out with a warning; what no id can be (a number, lists in the list) is a shape error. */
int reader_ids(struct reader *r, const struct element *e, const char *title, const char *key, const cJSON *v,
               const cJSON **ret);

/* ---- single values (fields.c) ---- */

bool value_truth(const cJSON *v, bool absent);
bool value_int(const cJSON *v, int64_t *ret);             /* false: no number and no text of one */
bool value_float(const cJSON *v, double *ret);            /* false also for what is not finite */
bool value_is_empty(const cJSON *v);                      /* absent, null, false, 0, "", [], {} */
char *value_text(const cJSON *v);                         /* the text, or the JSON spelling; absent and null: "" */
const cJSON *first_given(const cJSON *a, const cJSON *b); /* the first that is not empty, else b */
bool value_is_finite(const cJSON *v,
                     const char **ret_key); /* no infinite number inside; *ret_key: the member that has one */

#define VALUE_DEPTH_MAX 100 /* of JSON that reaches a program */
bool value_fits_depth(const cJSON *v, unsigned depth);

#endif
