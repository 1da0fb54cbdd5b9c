/* shared/gui/emitter.h -- inside of gui_emit(): the state, and values as arguments and attributes take them. */
#ifndef GUI_EMITTER_H
#define GUI_EMITTER_H

#include "shared/gui/gui.h"
#include "shared/gui/writer.h"

struct late; /* a button that waits for all screens */

struct emitter {
    struct writer w;
    struct late *late;
    size_t late_len, late_cap;
    const char **screens; /* variables, by the screen's number over all modules; borrowed from w.names */
    size_t screens_len;
};

/* emit_value.c: each appends to e->w.line. */
void gui_add_styling(struct writer *w, const struct gui_styling *s);                          /* NULL is None */
void gui_add_style_part(struct writer *w, const struct gui_styling *s, enum style_part part); /* Size(...) and so on */
void gui_add_texts(struct buf *b, const struct str_list *l);

/* The object's parts: variables[] of those that have one, the others in place (variables is NULL). */
void gui_add_parts(struct emitter *e, const struct gui_object *o, bool set, const char *const *variables);
void gui_add_slot(struct emitter *e, const struct gui_object *o, size_t slot, const char *const *variables);

bool gui_has_value(const struct gui_object *o, size_t slot);
bool gui_is_argument(const struct gui_object *o, size_t slot); /* of the constructor call? */

#endif
