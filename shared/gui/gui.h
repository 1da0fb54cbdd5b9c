/* shared/gui/gui.h -- a GUI as the B-UML metamodel has it: a tree of objects, each of a class with arguments.
 * Classes and arguments are rows of a table (classes.c): readers fill slots by argument name, the emitter (emit.h)
 * walks the rows. Source of the rows: section 7.1 of the B-UML contract. An object owns its parts, texts, styling and
 * event; gui_object_free() frees the tree and accepts half-built ones. */
#ifndef GUI_GUI_H
#define GUI_GUI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shared/diagram/model.h"
#include "shared/gui/style.h"
#include "shared/json/value.h"

enum gui_kind {
    GUI_MODEL,
    GUI_MODULE,
    GUI_SCREEN,
    /* elements of a screen */
    GUI_CONTAINER,
    GUI_COMPONENT,
    GUI_WORDS, /* class Text */
    GUI_IMAGE,
    GUI_LINK,
    GUI_BUTTON,
    GUI_INPUT,
    GUI_FORM,
    GUI_ALERT,
    GUI_MENU,
    GUI_DATA_LIST,
    GUI_EMBEDDED,
    GUI_LINE_CHART,
    GUI_BAR_CHART,
    GUI_PIE_CHART,
    GUI_RADAR_CHART,
    GUI_RADIAL_CHART,
    GUI_TABLE,
    GUI_METRIC_CARD,
    GUI_MAP,
    GUI_AGENT,
    /* parts of elements */
    GUI_OPTION,
    GUI_MENU_ITEM,
    GUI_SOURCE,
    GUI_SERIES,
    GUI_COLUMN, /* ExpressionColumn: the only kind that needs no class diagram */
    GUI_LAYER,
    /* what a button does */
    GUI_EVENT,
    GUI_TRANSITION,
    GUI_CREATE,
    GUI_READ,
    GUI_UPDATE,
    GUI_DELETE,
    GUI_PARAMETER,
    GUI__KINDS
};

enum gui_type {
    GUI_TEXT,
    GUI_TEXTS, /* list of texts */
    GUI_INT,
    GUI_FLOAT,
    GUI_BOOL,
    GUI_MEMBER,  /* member of an enumeration */
    GUI_SET,     /* the object's parts, as a set; at most one argument of a class is GUI_SET or GUI_LIST */
    GUI_LIST,    /* the same as a list */
    GUI_TARGET,  /* a screen, by its index (GUI_NO_SCREEN: none) */
    GUI_STYLING, /* the object's styling, of classes that need it as an argument */
    GUI_NOTHING  /* bound to a class diagram, which an agent has not: always None */
};

#define GUI_NO_SCREEN ((size_t)-1)

enum gui_rule {
    GUI_OPTIONAL, /* written when set */
    GUI_NEEDED,   /* written always; unset: '', set(), None */
    GUI_AFTER,    /* an attribute written behind the constructor call, when set */
    GUI_LATE      /* the same, but when all screens exist */
};

struct gui_argument {
    const char *name;
    enum gui_type type;
    enum gui_rule rule;
    const char *enumeration; /* class of a GUI_MEMBER */
};

struct gui_class {
    const char *name; /* in Python */
    const struct gui_argument *arguments;
    size_t arguments_len;
    bool element;  /* has styling and what the editor knows: id, tag, order, classes, attributes */
    bool in_place; /* written where it is used, without a variable */
};

struct gui_slot {
    bool set;
    union {
        char *text;
        struct str_list texts;
        int64_t integer;
        double number;
        bool flag;
        const char *member; /* never freed: a constant of ours */
        size_t screen;      /* counted over the screens of all modules, in order */
    };
};

struct gui_object {
    enum gui_kind kind;
    struct gui_slot *slots; /* one per argument of the class */
    struct gui_object **parts;
    size_t parts_len, parts_cap;
    struct gui_styling *styling; /* NULL: none */
    struct gui_object *event;    /* of a button, NULL: none */
    /* elements and screens */
    char *component_id, *tag_name, *page_id;
    bool ordered;
    double order; /* among its siblings */
    struct str_list css_classes;
    struct value attributes; /* an object, or VALUE_NULL */
};

const struct gui_class *gui_class(enum gui_kind kind);
int gui_class_find(const char *name, enum gui_kind *ret); /* by its Python name; -1: no such class */

struct gui_object *gui_object_new(enum gui_kind kind); /* NULL out of memory */
void gui_object_free(struct gui_object *o);

/* o takes part; on -1 (out of memory) part is still the caller's. */
int gui_add_part(struct gui_object *o, struct gui_object *part);

/* Slots by argument name; asking for a name or type the class has not is a bug of the caller (assert).
 * Text is copied, NULL unsets: 0, or -1 out of memory. */
int gui_set_text(struct gui_object *o, const char *argument, const char *text);
int gui_add_text(struct gui_object *o, const char *argument, const char *text); /* one more of a GUI_TEXTS */
void gui_set_int(struct gui_object *o, const char *argument, int64_t v);
void gui_set_float(struct gui_object *o, const char *argument, double v); /* finite */
void gui_set_bool(struct gui_object *o, const char *argument, bool v);
void gui_set_member(struct gui_object *o, const char *argument, const char *member);
void gui_set_screen(struct gui_object *o, const char *argument, size_t screen);

/* Borrowed; NULL (false) when it is not set. */
const char *gui_text(const struct gui_object *o, const char *argument);
bool gui_flag(const struct gui_object *o, const char *argument);
const char *gui_member(const struct gui_object *o, const char *argument);
const struct gui_slot *gui_slot(const struct gui_object *o, const char *argument);

/* For qsort() of struct gui_object *: the order in which elements and modules are written, those without one by name.
 */
int gui_by_order(const void *a, const void *b);

#endif
