/* shared/diagram/document.h -- the request as drawn: its parts checked for shape, its element maps
 * merged into one working set (sections 1.1 to 1.3). Everything here borrows from the request's
 * JSON tree, which must outlive it. */
#ifndef DIAGRAM_DOCUMENT_H
#define DIAGRAM_DOCUMENT_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

#include "shared/base/err.h"
#include "shared/diagram/findings.h"
#include "shared/diagram/map.h"

/* 2.4; everything else is reached only by id */
enum element_type {
    ELEMENT_OTHER,
    ELEMENT_LLM,
    ELEMENT_TOOL,
    ELEMENT_SKILL,
    ELEMENT_WORKSPACE,
    ELEMENT_INTENT,
    ELEMENT_GUI,
    ELEMENT_RAG,
    ELEMENT_STATE,
    ELEMENT_REASONING_STATE,
    ELEMENT_INITIAL,
    ELEMENT_COMMENT,
    ELEMENT__MAX
};

struct element {
    const char *id;
    const cJSON *node; /* an object */
    const char *map;   /* path of the map it came from, "model.elements" */
    enum element_type type;
    size_t state;        /* states: index in the model once read, else MAP_NONE */
    bool starts;         /* an initial arc points here */
    bool linked;         /* comments: a link to a state exists */
    bool code_checked;   /* custom code: judged already, code_function is what it found */
    char *code_function; /* owned by the document */
};

struct document {
    const cJSON *model, *config; /* objects or NULL */
    const cJSON *relationships;  /* object or NULL; every member an object with sound ends */
    struct element *elements;    /* merged, in order */
    size_t len;
    struct map ids; /* element id -> index */
};

#define DOCUMENT_PARTS_MAX 100000 /* elements, components or relationships of one map */

/* 0; or -1: a finding (rule 0) names the path that has the wrong shape, or err when memory is
 * short. */
int document_read(const cJSON *request, struct document *ret, struct findings *f, struct err *err);
void document_release(struct document *d); /* NULL is fine */

bool document_uses_custom_code(const struct document *d); /* section 9, [V22] */

/* The element an id names, the one at an end ("source", "target"); NULL: no string, unknown. */
struct element *document_find(const struct document *d, const cJSON *id);
struct element *document_end(const struct document *d, const cJSON *relationship, const char *end);

/* JSON path of an element or of its member, for findings; keys that are no plain words are quoted,
 * long ids cut. */
struct path_text {
    char text[420];
};
const char *document_path(struct path_text *out, const char *map, const char *id, const char *member);
const char *document_member(struct path_text *out, const char *where, const char *member); /* NULL where: NULL */
#define MEMBER_PATH(where, member) document_member(&(struct path_text){ .text = "" }, (where), (member))
#define ELEMENT_PATH(e, member) document_path(&(struct path_text){ .text = "" }, (e)->map, (e)->id, (member))
#define RELATION_PATH(node, member) \
    document_path(&(struct path_text){ .text = "" }, "model.relationships", (node)->string, (member))

#endif
