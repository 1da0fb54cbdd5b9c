/* shared/gui/write_json.h -- inside of gui_write(): JSON while it grows, from the leaves up. Failed allocations are
 * sticky in the writer; what was to be added is freed then. */
#ifndef GUI_WRITE_JSON_H
#define GUI_WRITE_JSON_H

#include "shared/gui/gui.h"
#include "shared/json/value.h"

struct gui_json_writer {
    const struct gui_object *model;
    struct gui_object *defaults[GUI__KINDS]; /* what a bare component of that kind reads as, owned */
    bool failed;
};

struct value gui_json_object(void);
struct value gui_json_array(void);
struct value gui_json_text(struct gui_json_writer *w, const char *text);

/* Move v into the object or array; keys that are there already are set anew. */
void gui_json_put(struct gui_json_writer *w, struct value *object, const char *key, struct value v);
void gui_json_add(struct gui_json_writer *w, struct value *array, struct value v);

void gui_json_put_text(struct gui_json_writer *w, struct value *object, const char *key, const char *text); /* if set */
void gui_json_put_number(struct gui_json_writer *w, struct value *object, const char *key, double v);
void gui_json_put_bool(struct gui_json_writer *w, struct value *object, const char *key, bool v);

/* write_component.c: the children of a screen or container. */
struct value gui_json_components(struct gui_json_writer *w, const struct gui_object *holder);
/* write_style.c: an object of CSS properties; the stylesheet's rules are appended to styles. */
struct value gui_json_style(struct gui_json_writer *w, const struct gui_styling *s);
void gui_json_rules(struct gui_json_writer *w, const char *sheet, struct value *styles);
/* write_parts.c: what the kinds have of their own, put into the component and its attributes. */
void gui_json_fill(struct gui_json_writer *w, const struct gui_object *o, struct value *c, struct value *attributes);
/* write_form.c and write_widget.c: the kinds that take more. */
void gui_json_fill_input(struct gui_json_writer *w, const struct gui_object *o, struct value *c,
                         struct value *attributes);
void gui_json_fill_form(struct gui_json_writer *w, const struct gui_object *o, struct value *c,
                        struct value *attributes);
void gui_json_fill_widget(struct gui_json_writer *w, const struct gui_object *o, struct value *c,
                          struct value *attributes);

/* write_json.c. Text of a component, as the one child that holds it; and where it is a member. Both if not empty. */
void gui_json_put_words(struct gui_json_writer *w, struct value *c, const char *text);
void gui_json_put_said(struct gui_json_writer *w, struct value *to, const char *key, const char *text);

bool gui_json_has(const struct value *attributes, const char *const *keys); /* one says something */
#define HAS(attributes, ...) gui_json_has((attributes), (const char *const[]){ __VA_ARGS__, NULL })

#endif
