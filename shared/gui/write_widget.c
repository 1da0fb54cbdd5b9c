/* Charts, tables, metric cards, maps and agents: the attributes that say more than a bare component of the kind would.
 */
#include <stdio.h>
#include <string.h>

#include "shared/base/mem.h"
#include "shared/diagram/text.h"
#include "shared/gui/read.h"
#include "shared/gui/reader.h"
#include "shared/gui/write_json.h"

static void put_series(struct gui_json_writer *w, const struct gui_object *o, struct value *attributes)
{
    struct value list = gui_json_array();
    size_t i, k;

    for (i = 0; i < o->parts_len; i++) {
        struct value one = gui_json_object();
        const char *label = gui_text(o->parts[i], "label");
        const struct style_field *field;

        gui_json_put_text(w, &one, "name", label ? label : gui_text(o->parts[i], "name"));
        for (k = 0; o->parts[i]->styling && (field = gui_style_field(k)); k++)
            if (strcmp(field->field, "primary_color") == 0)
                gui_json_put_said(w, &one, "color", o->parts[i]->styling->texts[k]);
        gui_json_add(w, &list, one);
    }
    gui_json_put(w, attributes, "series", list);
}

static void put_columns(struct gui_json_writer *w, const struct gui_object *o, struct value *attributes)
{
    struct value list = gui_json_array();
    size_t i;

    for (i = 0; i < o->parts_len; i++) {
        struct value one = gui_json_object();

        gui_json_put_text(w, &one, "columnType", "expression");
        gui_json_put_text(w, &one, "label", gui_text(o->parts[i], "label"));
        gui_json_put_text(w, &one, "expression", gui_text(o->parts[i], "expression"));
        gui_json_add(w, &list, one);
    }
    gui_json_put(w, attributes, "columns", list);
}

static void put_layers(struct gui_json_writer *w, const struct gui_object *o, struct value *attributes)
{
    struct value list = gui_json_array();
    size_t i;

    for (i = 0; i < o->parts_len; i++) {
        struct value one = gui_json_object();

        gui_json_put_text(w, &one, "name", gui_text(o->parts[i], "name"));
        gui_json_put_text(w, &one, "type", gui_member(o->parts[i], "layer_type"));
        gui_json_add(w, &list, one);
    }
    gui_json_put(w, attributes, "map-layers", list);
}

/* What a component that says nothing but its type reads as: its slots are the defaults. NULL out of memory. */
static const struct gui_object *defaults_of(struct gui_json_writer *w, enum gui_kind kind, const struct value *c)
{
    struct value bare = gui_json_object(), list = gui_json_array(), wrapper = gui_json_object();
    struct value frame = gui_json_object(), frames = gui_json_array(), page = gui_json_object();
    struct value pages = gui_json_array(), design = gui_json_object();

    if (w->defaults[kind])
        return w->defaults[kind]->parts[0]->parts[0]->parts[0];
    gui_json_put_text(w, &bare, "type", gui_string(value_get(c, "type")));
    gui_json_add(w, &list, bare);
    gui_json_put(w, &wrapper, "components", list);
    gui_json_put(w, &frame, "component", wrapper);
    gui_json_add(w, &frames, frame);
    gui_json_put(w, &page, "frames", frames);
    gui_json_add(w, &pages, page);
    gui_json_put(w, &design, "pages", pages);
    if (w->failed || gui_read(&design, &w->defaults[kind], NULL) < 0)
        w->failed = true;
    value_release(&design);
    return w->failed ? NULL : w->defaults[kind]->parts[0]->parts[0]->parts[0];
}

static bool same_slot(enum gui_type type, const struct gui_slot *a, const struct gui_slot *b)
{
    if (a->set != b->set)
        return false;
    switch (type) {
    case GUI_TEXT:
        return !a->set || strcmp(a->text ? a->text : "", b->text ? b->text : "") == 0;
    case GUI_INT:
        return a->integer == b->integer;
    case GUI_FLOAT:
        return a->number == b->number;
    case GUI_BOOL:
        return a->flag == b->flag;
    case GUI_MEMBER:
        return a->member == b->member || (a->member && b->member && strcmp(a->member, b->member) == 0);
    default:
        return true;
    }
}

static void put_slot(struct gui_json_writer *w, enum gui_type type, const struct gui_slot *s, const char *key,
                     struct value *attributes)
{
    auto_free char *lower = type == GUI_MEMBER && s->member ? text_lower(s->member) : NULL;

    if (type == GUI_TEXT)
        gui_json_put_text(w, attributes, key, s->text);
    else if (type == GUI_INT)
        gui_json_put_number(w, attributes, key, (double)s->integer);
    else if (type == GUI_FLOAT)
        gui_json_put_number(w, attributes, key, s->number);
    else if (type == GUI_BOOL)
        gui_json_put_bool(w, attributes, key, s->flag);
    else if (type == GUI_MEMBER)
        gui_json_put_text(w, attributes, key, lower);
}

/* Attribute of an argument: the same with - for _, but for a few. */
static void key_of(enum gui_kind kind, const char *argument, char key[40])
{
    static const struct {
        enum gui_kind kind;
        const char *argument, *key;
    } rows[] = {
        { GUI_MAP, "title", "map-title" },
        { GUI_MAP, "center_latitude", "map-latitude" },
        { GUI_MAP, "center_longitude", "map-longitude" },
        { GUI_MAP, "zoom", "map-zoom" },
        { GUI__KINDS, "title", "chart-title" },
        { GUI__KINDS, "primary_color", "chart-color" },
    };
    char *p;
    size_t i;

    snprintf(key, 40, "%s", argument);
    for (p = key; *p; p++)
        if (*p == '_')
            *p = '-';
    for (i = ARRAY_LEN(rows); i-- > 0;)
        if ((rows[i].kind == kind || rows[i].kind == GUI__KINDS) && strcmp(rows[i].argument, argument) == 0)
            snprintf(key, 40, "%s", rows[i].key);
}

void gui_json_fill_widget(struct gui_json_writer *w, const struct gui_object *o, struct value *c,
                          struct value *attributes)
{
    const struct gui_class *class = gui_class(o->kind);
    const struct gui_object *bare = defaults_of(w, o->kind, c);
    char key[40];
    size_t i;

    for (i = 0; bare && i < class->arguments_len; i++) {
        const struct gui_argument *a = &class->arguments[i];

        key_of(o->kind, a->name, key);
        if (strcmp(a->name, "name") == 0 || strcmp(a->name, "description") == 0 || value_get(attributes, key))
            continue;
        if (o->kind == GUI_METRIC_CARD && (strcmp(a->name, "title") == 0 || strcmp(a->name, "primary_color") == 0))
            continue; /* follow from others */
        if (!same_slot(a->type, &o->slots[i], &bare->slots[i]) && o->slots[i].set)
            put_slot(w, a->type, &o->slots[i], key, attributes);
    }
    if (!o->parts_len)
        return;
    if (o->kind == GUI_TABLE && !value_get(attributes, "columns"))
        put_columns(w, o, attributes);
    else if (o->kind == GUI_MAP && !value_get(attributes, "map-layers"))
        put_layers(w, o, attributes);
    else if (o->kind != GUI_TABLE && o->kind != GUI_MAP && !HAS(attributes, "series"))
        put_series(w, o, attributes);
}
