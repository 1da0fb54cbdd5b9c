/* GUIs: objects of the metamodel's classes while the file is followed, a tree of shared/gui afterwards (section 7 of
 * the B-UML contract). An object here is a THING_OBJECT without callee: its class is name, its arguments and attributes
 * are keys and items. */
#include <stdlib.h>
#include <string.h>

#include "shared/base/mem.h"
#include "shared/buml/reader.h"
#include "shared/buml/reader_gui.h"
#include "shared/diagram/text.h"
#include "shared/gui/gui.h"
#include "shared/gui/read.h"
#include "shared/gui/write.h"

/* ---- while the file is followed -----------------------------------------------------------------------------------
 */

bool buml_gui_class(const char *name)
{
    enum gui_kind kind;

    return gui_class_find(name, &kind) == 0 || buml_gui_positions(name) || buml_gui_enumeration(name);
}

struct thing *buml_gui_object(struct reader *r, const struct node *call, const char *name, struct thing *const *args,
                              size_t args_len, const struct thing *named)
{
    const char *const *positions = buml_gui_positions(name);
    struct thing *t = thing_new(r, THING_OBJECT, call);
    size_t i;

    if (!t)
        return NULL;
    t->name = name;
    for (i = 0; i < args_len; i++) {
        if (!positions || !positions[i]) {
            buml_warn(r, call, "%s takes fewer arguments than %zu; the others are left out", name, args_len);
            break;
        }
        if (thing_put(r, t, positions[i], args[i]) < 0)
            return NULL;
    }
    for (i = 0; i < named->len; i++)
        if (thing_put(r, t, named->keys[i]->text, named->items[i]) < 0)
            return NULL;
    return t;
}

/* ---- afterwards ---------------------------------------------------------------------------------------------------
 */

struct making {
    struct reader *r;
    const char *gui_id;
    size_t objects;
};

static struct gui_object *make(struct making *k, const struct thing *t, int depth);

static int left_out(const struct making *k, const struct thing *t, const char *argument, const struct thing *v)
{
    return buml_warn(k->r, v->node ? v->node : t->node, "GUI \"%s\": %s of %s is %s; it is left out", SHOWN(k->gui_id),
                     argument, t->name, thing_title(v));
}

static bool is_gui_object(const struct thing *t)
{
    return t->kind == THING_OBJECT && !t->callee && t->name;
}

/* ---- slots --------------------------------------------------------------------------------------------------------
 */

struct slot {
    struct making *k;
    const struct thing *t; /* whose */
    struct gui_object *o;
    const struct gui_argument *a;
    const struct thing *v;
    int depth;
};

static int set_text(const struct slot *s)
{
    char number[40];
    const char *text = buml_gui_text(s->v, number);

    if (!text)
        return left_out(s->k, s->t, s->a->name, s->v);
    if (buml_charge(s->k->r, strlen(text) + 1) < 0)
        return -1;
    return gui_set_text(s->o, s->a->name, text) < 0 ? buml_nomem(s->k->r) : 0;
}

static int set_texts(const struct slot *s)
{
    size_t i;

    if (s->v->kind != THING_SEQ)
        return left_out(s->k, s->t, s->a->name, s->v);
    for (i = 0; i < s->v->len; i++)
        if (s->v->items[i]->kind != THING_TEXT)
            left_out(s->k, s->t, s->a->name, s->v->items[i]);
        else if (gui_add_text(s->o, s->a->name, s->v->items[i]->text) < 0)
            return buml_nomem(s->k->r);
    return 0;
}

static int set_number(const struct slot *s)
{
    if (s->v->kind != THING_INT && s->v->kind != THING_FLOAT)
        return left_out(s->k, s->t, s->a->name, s->v);
    if (!(s->v->number > -1e300 && s->v->number < 1e300))
        return left_out(s->k, s->t, s->a->name, s->v);
    if (s->a->type == GUI_FLOAT)
        gui_set_float(s->o, s->a->name, s->v->number);
    else if (s->v->kind == THING_INT && !s->v->big)
        gui_set_int(s->o, s->a->name, s->v->integer);
    else if (s->v->number > -9e15 && s->v->number < 9e15)
        gui_set_int(s->o, s->a->name, (int64_t)s->v->number);
    else
        return left_out(s->k, s->t, s->a->name, s->v);
    return 0;
}

static int set_member(const struct slot *s)
{
    const char *member = buml_gui_member(s->v, s->a->enumeration);

    if (!member)
        return left_out(s->k, s->t, s->a->name, s->v);
    gui_set_member(s->o, s->a->name, member);
    return 0;
}

static int set_screen(const struct slot *s)
{
    if (!is_gui_object(s->v) || strcmp(s->v->name, "Screen") != 0 || !s->v->truth)
        return left_out(s->k, s->t, s->a->name, s->v);
    gui_set_screen(s->o, s->a->name, s->v->index);
    return 0;
}

static int by_order(const void *a, const void *b)
{
    const struct gui_object *one = *(struct gui_object *const *)a, *two = *(struct gui_object *const *)b;

    if (one->ordered != two->ordered)
        return one->ordered ? -1 : 1;
    return one->order < two->order ? -1 : one->order > two->order;
}

/* Elements say their place; a set of Python has no order. Insertion keeps those in order that say the same. */
static void sort_parts(struct gui_object *o)
{
    size_t i;

    for (i = 1; i < o->parts_len; i++)
        if (by_order(&o->parts[i - 1], &o->parts[i]) > 0)
            break;
    if (i < o->parts_len)
        qsort(o->parts, o->parts_len, sizeof(struct gui_object *), by_order);
}

static int add_part(const struct slot *s, const struct thing *part)
{
    struct gui_object *made;

    if (!is_gui_object(part))
        return left_out(s->k, s->t, s->a->name, part);
    made = make(s->k, part, s->depth + 1);
    if (!made)
        return s->k->r->err->kind ? -1 : 0;
    if (gui_add_part(s->o, made) < 0) {
        gui_object_free(made);
        return buml_nomem(s->k->r);
    }
    return 0;
}

static int set_parts(const struct slot *s)
{
    size_t i;

    if (s->v->kind == THING_DICT && !s->v->len)
        return 0; /* {} where set() was meant */
    if (s->v->kind != THING_SEQ)
        return left_out(s->k, s->t, s->a->name, s->v);
    for (i = 0; i < s->v->len; i++)
        if (add_part(s, s->v->items[i]) < 0)
            return -1;
    sort_parts(s->o);
    return 0;
}

static int set_styling(const struct slot *s)
{
    return buml_gui_styling(s->k->r, s->k->gui_id, s->v, &s->o->styling);
}

static int set_slot(const struct slot *s)
{
    if (s->v->kind == THING_NONE)
        return 0;
    switch (s->a->type) {
    case GUI_TEXT:
        return set_text(s);
    case GUI_TEXTS:
        return set_texts(s);
    case GUI_INT:
    case GUI_FLOAT:
        return set_number(s);
    case GUI_BOOL:
        if (!thing_is_constant(s->v))
            return left_out(s->k, s->t, s->a->name, s->v);
        gui_set_bool(s->o, s->a->name, thing_truth(s->v));
        return 0;
    case GUI_MEMBER:
        return set_member(s);
    case GUI_SET:
    case GUI_LIST:
        return set_parts(s);
    case GUI_TARGET:
        return set_screen(s);
    case GUI_STYLING:
        return set_styling(s);
    case GUI_NOTHING:
        return 0; /* bound to a class: an agent has none */
    }
    return 0;
}

/* ---- what every element has ---------------------------------------------------------------------------------------
 */

static int keep_text(const struct making *k, const struct thing *t, const char *attribute, char **slot)
{
    const struct thing *v = thing_get(t, attribute);

    if (!v || v->kind == THING_NONE)
        return 0;
    if (v->kind != THING_TEXT)
        return left_out(k, t, attribute, v);
    mem_free(*slot);
    *slot = mem_strdup(v->text);
    return *slot ? buml_charge(k->r, v->text_len + 1) : buml_nomem(k->r);
}

static int keep_classes(const struct making *k, const struct thing *t, struct gui_object *o)
{
    const struct thing *v = thing_get(t, "css_classes");
    size_t i;

    if (!v || v->kind == THING_NONE)
        return 0;
    if (v->kind != THING_SEQ)
        return left_out(k, t, "css_classes", v);
    for (i = 0; i < v->len; i++)
        if (v->items[i]->kind != THING_TEXT)
            left_out(k, t, "css_classes", v->items[i]);
        else if (str_list_add(&o->css_classes, v->items[i]->text) < 0)
            return buml_nomem(k->r);
    return 0;
}

static int keep_attributes(const struct making *k, const struct thing *t, struct gui_object *o)
{
    const struct thing *v = thing_get(t, "custom_attributes");

    if (!v || v->kind == THING_NONE)
        return 0;
    if (v->kind != THING_DICT)
        return left_out(k, t, "custom_attributes", v);
    return thing_value(k->r, v, "custom_attributes", &o->attributes) < 0 ? -1 : 0;
}

static int keep_metadata(const struct making *k, const struct thing *t, struct gui_object *o)
{
    const struct thing *order = thing_get(t, "display_order"), *styling = thing_get(t, "styling");
    const struct thing *layout = thing_get(t, "layout");

    if (order && (order->kind == THING_INT || order->kind == THING_FLOAT)) {
        o->ordered = true;
        o->order = order->number;
    }
    if (keep_text(k, t, "component_id", &o->component_id) < 0 || keep_text(k, t, "tag_name", &o->tag_name) < 0 ||
        keep_text(k, t, "page_id", &o->page_id) < 0 || keep_classes(k, t, o) < 0 || keep_attributes(k, t, o) < 0)
        return -1;
    if (styling && styling->kind != THING_NONE && buml_gui_styling(k->r, k->gui_id, styling, &o->styling) < 0)
        return -1;
    if (layout && layout->kind != THING_NONE && buml_gui_layout(k->r, k->gui_id, layout, &o->styling) < 0)
        return -1;
    return 0;
}

static int keep_event(struct making *k, const struct thing *t, struct gui_object *o, int depth)
{
    const struct thing *events = thing_get(t, "events");

    if (o->kind != GUI_BUTTON || !events || events->kind != THING_SEQ || !events->len)
        return 0;
    if (events->len > 1)
        buml_warn(k->r, t->node, "GUI \"%s\": a button has %zu events; only the first one is kept", SHOWN(k->gui_id),
                  events->len);
    if (!is_gui_object(events->items[0]) || strcmp(events->items[0]->name, "Event") != 0)
        return left_out(k, t, "events", events->items[0]);
    o->event = make(k, events->items[0], depth + 1);
    return !o->event && k->r->err->kind ? -1 : 0;
}

/* ---- objects ------------------------------------------------------------------------------------------------------
 */

static bool is_known(const struct gui_class *c, const char *name)
{
    static const char *const others[] = {
        "styling",       "layout",
        "component_id",  "tag_name",
        "page_id",       "display_order",
        "css_classes",   "custom_attributes",
        "events",        "visibility",
        "timestamp",     "triggered_by",
        "data_binding",  "screenCompatibility",
        "style_entries", "metadata",
        "children",      "owner",
    };
    size_t i;

    for (i = 0; i < c->arguments_len; i++)
        if (strcmp(c->arguments[i].name, name) == 0)
            return true;
    for (i = 0; i < ARRAY_LEN(others); i++)
        if (strcmp(others[i], name) == 0)
            return true;
    return false;
}

static void warn_of_others(const struct making *k, const struct thing *t, const struct gui_class *c)
{
    size_t i;

    for (i = 0; i < t->len; i++)
        if (t->items[i]->kind != THING_NONE && !is_known(c, t->keys[i]->text))
            buml_warn(k->r, t->items[i]->node ? t->items[i]->node : t->node,
                      "GUI \"%s\": %s has no \"%s\" that can be kept; it is left out", SHOWN(k->gui_id), t->name,
                      SHOWN(t->keys[i]->text));
}

static int fill(struct making *k, const struct thing *t, struct gui_object *o, int depth)
{
    const struct gui_class *c = gui_class(o->kind);
    size_t i;

    for (i = 0; i < c->arguments_len; i++) {
        struct slot s = { k, t, o, &c->arguments[i], thing_get(t, c->arguments[i].name), depth };

        if (s.v && set_slot(&s) < 0)
            return -1;
    }
    if ((c->element || o->kind == GUI_SCREEN) && keep_metadata(k, t, o) < 0)
        return -1;
    warn_of_others(k, t, c);
    return keep_event(k, t, o, depth);
}

/* NULL without an error: left out, said so. */
static struct gui_object *make(struct making *k, const struct thing *t, int depth)
{
    struct gui_object *o;
    enum gui_kind kind;

    if (gui_class_find(t->name, &kind) < 0) {
        buml_warn(k->r, t->node, "GUI \"%s\": %s cannot stand here; it is left out", SHOWN(k->gui_id), t->name);
        return NULL;
    }
    if (depth > GUI_DEPTH_MAX || ++k->objects > GUI_OBJECTS_MAX) {
        err_set(k->r->err, ERR_BAD_REQUEST, 0, "GUI \"%s\" has more than %d parts, or is more than %d deep",
                SHOWN(k->gui_id), GUI_OBJECTS_MAX, GUI_DEPTH_MAX);
        return NULL;
    }
    o = gui_object_new(kind);
    if (!o) {
        buml_nomem(k->r);
        return NULL;
    }
    if (fill(k, t, o, depth) < 0) {
        gui_object_free(o);
        return NULL;
    }
    return o;
}

/* Screens are told apart by their number over all modules; the objects keep it. */
static void number_screens(const struct thing *model)
{
    const struct thing *modules = thing_get(model, "modules"), *screens;
    size_t i, k, number = 0;

    for (i = 0; modules && modules->kind == THING_SEQ && i < modules->len; i++) {
        screens = is_gui_object(modules->items[i]) ? thing_get(modules->items[i], "screens") : NULL;
        for (k = 0; screens && screens->kind == THING_SEQ && k < screens->len; k++) {
            struct thing *screen = screens->items[k];

            if (!is_gui_object(screen) || strcmp(screen->name, "Screen") != 0)
                continue;
            screen->index = number++;
            screen->truth = true;
        }
    }
}

int buml_gui_design(struct reader *r, const char *gui_id, const struct thing *model, struct value *ret)
{
    struct making k = { .r = r, .gui_id = gui_id };
    struct gui_object *tree;
    int rc;

    if (!is_gui_object(model) || strcmp(model->name, "GUIModel") != 0)
        return buml_warn(r, model->node, "GUI \"%s\": its model is %s, not a GUIModel; the GUI has no design",
                         SHOWN(gui_id), thing_title(model));
    number_screens(model);
    tree = make(&k, model, 0);
    if (!tree)
        return r->err->kind ? -1 : 0;
    rc = gui_write(tree, ret, r->err);
    gui_object_free(tree);
    return rc;
}
