/* shared/gui/reader.h -- inside of gui_read(): what its files share. Functions return 0, or -1 with r->err set. */
#ifndef GUI_READER_H
#define GUI_READER_H

#include "shared/base/buf.h"
#include "shared/diagram/map.h"
#include "shared/gui/read.h"

struct gui_reader {
    struct map names;                 /* taken name -> place in next */
    size_t *next, next_len, next_cap; /* number to try when that name is wanted again */
    struct map rules;                 /* element id -> place in rule_styles */
    const struct value **rule_styles; /* borrowed; of the last rule of that id */
    size_t rules_len, rules_cap;
    struct map pages;                   /* page id -> screen */
    struct gui_navigation *navigations; /* buttons whose target is known when all screens are */
    size_t navigations_len, navigations_cap;
    size_t objects, style_bytes; /* spent */
    struct err *err;
};

struct gui_navigation {
    struct gui_object *button; /* borrowed */
    const char *target;        /* borrowed from the transition's name */
};

/* One component of the design; all borrowed. Words are compared without case. */
struct component {
    const struct value *json, *attributes; /* attributes: an object, or NULL */
    const char *type, *tag;                /* "" when there is none */
};

struct component gui_component_of(const struct value *json);
bool gui_word_in(const char *word, const char *const *words); /* words end with NULL */

/* ---- values (read_values.c): truth and spelling as the reference has them */
struct scalar {
    char text[40];
};
bool gui_says(const struct value *v); /* not absent, null, false, 0, "", [] or {} */
/* Text of a string, number or boolean; NULL: neither. Borrowed from v or tmp. */
const char *gui_scalar(const struct value *v, struct scalar *tmp);
#define TEXT(v) gui_scalar((v), &(struct scalar){ .text = "" })
const char *gui_string(const struct value *v); /* NULL: no string */
/* The first of the members that says something, NULL: none does. keys end with NULL. */
const struct value *gui_first(const struct value *object, const char *const *keys);
#define FIRST(object, ...) gui_first((object), (const char *const[]){ __VA_ARGS__, NULL })
/* The first of the attributes that says something, else of the component's own members. */
const struct value *gui_attribute_or_member(const struct component *c, const char *attribute, const char *member);
bool gui_says_yes(const struct value *v);               /* true, 1, yes */
bool gui_bool(const struct value *v, bool absent);      /* true in any case */
int64_t gui_int(const struct value *v, int64_t absent); /* invalid counts as absent */
bool gui_float(const struct value *v, double *ret);     /* finite; false: no number */
/* An attribute that holds a list: an array, or JSON text of one; else empty. To be released. */
struct list {
    const struct value *array; /* never NULL */
    struct value own;
};
int gui_list(struct gui_reader *r, const struct value *v, struct list *ret);
void gui_list_release(struct list *l);

/* ---- objects and names (read_object.c) */
struct gui_object *gui_reader_object(struct gui_reader *r, enum gui_kind kind); /* counted; NULL: r->err */
int gui_reader_name(struct gui_reader *r, const char *raw, const char *fallback, struct gui_object *o);
/* For names that need not be unique: blanks and hyphens become _, as the metamodel wants it. */
int gui_reader_plain_name(struct gui_reader *r, const char *raw, const char *fallback, struct gui_object *o);
int gui_reader_clean_name(struct gui_reader *r, const char *raw, const char *fallback,
                          struct gui_object *o); /* sanitised */
int gui_reader_component_name(struct gui_reader *r, const struct component *c, const char *fallback,
                              struct gui_object *o);
/* A named object with the component's styling and metadata. tag: of a component that has none, NULL for none. */
struct gui_object *gui_reader_element(struct gui_reader *r, const struct component *c, enum gui_kind kind,
                                      const char *fallback, const char *tag);
int gui_reader_text(struct gui_reader *r, struct gui_object *o, const char *argument, const char *text);
int gui_reader_part(struct gui_reader *r, struct gui_object *o, struct gui_object *steal_part);

/* ---- text and links inside of components (read_text.c) */
int gui_component_text(struct gui_reader *r, const struct value *json, struct buf *out); /* out is begun anew */
bool gui_is_menu(const struct component *c);
int gui_read_menu_items(struct gui_reader *r, const struct component *c, struct gui_object *menu);
int gui_link_label(struct gui_reader *r, const struct component *c, struct buf *out);
void gui_link_target(const struct component *c, const char **ret_url, const char **ret_target, const char **ret_rel);

/* ---- styles (read_style.c) */
int gui_reader_collect_rules(struct gui_reader *r, const struct value *styles);
int gui_reader_style(struct gui_reader *r, const struct component *c,
                     struct gui_styling **ret); /* *ret NULL: has none */
int gui_reader_style_object(struct gui_reader *r, const struct value *style, struct gui_styling **ret);
int gui_stylesheet(struct gui_reader *r, const struct value *styles, struct buf *out); /* read_stylesheet.c */
bool gui_is_element_rule(const struct value *rule, struct buf *ret_id); /* of exactly one element, by its id */
void gui_add_selector(struct buf *out, const struct value *selector);

/* ---- components (read_component.c): appends what the components become to parent's parts */
int gui_read_components(struct gui_reader *r, const struct value *list, struct gui_object *parent);
bool gui_is_text(const struct component *c);

/* Readers of one component each; *ret is the caller's. */
typedef int component_reader(struct gui_reader *r, const struct component *c, struct gui_object **ret);
component_reader gui_read_button, gui_read_input, gui_read_form, gui_read_data_list;
component_reader gui_read_chart, gui_read_table, gui_read_metric_card, gui_read_map, gui_read_agent;

#endif
