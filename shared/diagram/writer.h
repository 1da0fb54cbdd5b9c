/* shared/diagram/writer.h -- inside of diagram_write(): the tree while it grows. Failed allocations are sticky in
 * `failed`; every function can be called after one. Nodes are borrowed from the tree. */
#ifndef DIAGRAM_WRITER_H
#define DIAGRAM_WRITER_H

#include <cjson/cJSON.h>
#include <stdbool.h>

#include "shared/diagram/model.h"
#include "shared/diagram/order.h"

#define DIAGRAM_ID_SIZE 37

struct box {
    double x, y, width, height;
};

struct diagram_writer {
    const struct model *m;
    cJSON *elements, *components, *relationships;
    struct box *boxes; /* of the states by index, owned */
    struct box start;  /* of the initial node */
    size_t arcs;       /* drawn so far */
    bool failed;
};

/* An id that looks like UUID version 4 and depends on the agent's name, the kind and the path only. */
void diagram_id(struct diagram_writer *w, const char *kind, const char *path, size_t number, char ret[DIAGRAM_ID_SIZE]);

/* A new object below parent; members. NULL texts are written as null. */
cJSON *diagram_add_object(struct diagram_writer *w, cJSON *parent, const char *key);
cJSON *diagram_add_array(struct diagram_writer *w, cJSON *parent, const char *key);
void diagram_add_text(struct diagram_writer *w, cJSON *to, const char *key, const char *text);
void diagram_add_word(struct diagram_writer *w, cJSON *to, const char *key, const char *text); /* NULL: "" */
void diagram_add_bool(struct diagram_writer *w, cJSON *to, const char *key, bool v);
void diagram_add_int(struct diagram_writer *w, cJSON *to, const char *key, int64_t v);
void diagram_add_number(struct diagram_writer *w, cJSON *to, const char *key, double v);
void diagram_add_value(struct diagram_writer *w, cJSON *to, const char *key, const struct value *v);
void diagram_add_item(struct diagram_writer *w, cJSON *array, const char *text);
void diagram_add_bounds(struct diagram_writer *w, cJSON *to, const struct box *b);

/* An element with id, name, type, owner; in elements or components. */
cJSON *diagram_add_element(struct diagram_writer *w, cJSON *to, const char *id, const char *type, const char *name,
                           const char *owner);

void diagram_write_components(struct diagram_writer *w);                                 /* write_components.c */
void diagram_write_states(struct diagram_writer *w);                                     /* write_states.c */
void diagram_fill_action(struct diagram_writer *w, cJSON *e, const struct action *a);    /* write_actions.c */
void diagram_write_transitions(struct diagram_writer *w);                                /* write_transitions.c */
int diagram_place(const struct model *m, struct box *ret_states, struct box *ret_start); /* write_layout.c */

/* An arc between two boxes: source, target, path and bounds (write_arcs.c). start: from the initial node. nth: of the
 * arcs of its source, so that some lie beside each other. */
struct arc_end {
    const char *id;
    struct box box;
};
void diagram_add_arc(struct diagram_writer *w, cJSON *to, const struct arc_end *from, const struct arc_end *at,
                     size_t nth);
void diagram_add_start_arc(struct diagram_writer *w, cJSON *to, const struct arc_end *from, const struct arc_end *at);

#endif
