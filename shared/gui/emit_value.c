/* Values of the metamodel as Python expressions. */
#include <string.h>

#include "shared/base/mem.h"
#include "shared/gui/emitter.h"
#include "shared/python/emit.h"

/* ---- styling ------------------------------------------------------------------------------------------------------
 */

static void separate(struct buf *b, bool *any)
{
    if (*any)
        buf_add_str(b, ", ");
    *any = true;
}

static void add_member(struct writer *w, const char *field, const char *enumeration, const char *member, bool *any)
{
    if (!member)
        return;
    separate(&w->line, any);
    buf_add_fmt(&w->line, "%s=", field);
    gui_writer_class(w, enumeration);
    buf_add_fmt(&w->line, ".%s", member);
}

static void add_part_fields(struct writer *w, const struct gui_styling *s, enum style_part part)
{
    const struct style_field *field;
    bool any = false;
    size_t i;

    if (part == STYLE_LAYOUT)
        add_member(w, "layout_type", "LayoutType", s->layout_type, &any);
    if (part == STYLE_POSITION) {
        add_member(w, "p_type", "PositionType", s->p_type, &any);
        add_member(w, "alignment", "Alignment", s->alignment, &any);
    }
    for (i = 0; (field = gui_style_field(i)); i++) {
        const char *text = s->texts[i];

        if (field->part != part)
            continue;
        if (!text && strcmp(field->field, "color_palette") == 0)
            text = "default"; /* as the metamodel has it where nobody sets it */
        if (!text)
            continue;
        separate(&w->line, &any);
        buf_add_fmt(&w->line, "%s=", field->field);
        py_str(&w->line, text);
    }
    if (part == STYLE_SIZE)
        add_member(w, "unit_size", "UnitSize", s->unit_size, &any);
    if (part == STYLE_POSITION && s->has_z_index) {
        separate(&w->line, &any);
        buf_add_str(&w->line, "z_index=");
        py_int(&w->line, s->z_index);
    }
}

void gui_add_style_part(struct writer *w, const struct gui_styling *s, enum style_part part)
{
    gui_writer_class(w, gui_style_part_class(part));
    buf_add_char(&w->line, '(');
    add_part_fields(w, s, part);
    buf_add_char(&w->line, ')');
}

void gui_add_styling(struct writer *w, const struct gui_styling *s)
{
    static const char *const names[STYLE__PARTS] = { "size", "position", "color", "layout" };
    bool any = false;
    int part;

    if (!s) {
        buf_add_str(&w->line, "None");
        return;
    }
    gui_writer_class(w, "Styling");
    buf_add_char(&w->line, '(');
    for (part = 0; part < STYLE__PARTS; part++) {
        if (part != STYLE_COLOR && !gui_styling_has(s, (enum style_part)part))
            continue;
        separate(&w->line, &any);
        buf_add_fmt(&w->line, "%s=", names[part]);
        gui_add_style_part(w, s, (enum style_part)part);
    }
    buf_add_char(&w->line, ')');
}

/* ---- values -------------------------------------------------------------------------------------------------------
 */

void gui_add_texts(struct buf *b, const struct str_list *l)
{
    size_t i;

    buf_add_char(b, '[');
    for (i = 0; i < l->len; i++) {
        if (i)
            buf_add_str(b, ", ");
        py_str(b, l->items[i]);
    }
    buf_add_char(b, ']');
}

/* One literal per line, side by side: Python joins them. */
static void add_lines(struct writer *w, const char *text)
{
    size_t len;

    if (!strchr(text, '\n') || !strchr(text, '\n')[1]) {
        py_str(&w->line, text);
        return;
    }
    buf_add_char(&w->line, '(');
    for (; *text; text += len) {
        auto_free char *line = NULL;

        len = strcspn(text, "\n");
        len += text[len] == '\n';
        line = mem_dup(text, len);
        if (!line) {
            w->nomem = true;
            return;
        }
        buf_add_char(&w->line, '\n');
        buf_add_repeat(&w->line, ' ', w->indent + 8);
        py_str(&w->line, line);
    }
    buf_add_char(&w->line, '\n');
    buf_add_repeat(&w->line, ' ', w->indent + 4);
    buf_add_char(&w->line, ')');
}

static void add_in_place(struct emitter *e, const struct gui_object *o);

void gui_add_parts(struct emitter *e, const struct gui_object *o, bool set, const char *const *variables)
{
    struct buf *b = &e->w.line;
    size_t i;

    if (set && !o->parts_len) {
        buf_add_str(b, "set()");
        return;
    }
    buf_add_char(b, set ? '{' : '[');
    for (i = 0; i < o->parts_len; i++) {
        if (i)
            buf_add_str(b, ", ");
        if (variables)
            buf_add_str(b, variables[i]);
        else
            add_in_place(e, o->parts[i]);
    }
    buf_add_char(b, set ? '}' : ']');
}

static const char *screen_variable(const struct emitter *e, const struct gui_slot *slot)
{
    return slot->set && slot->screen < e->screens_len && e->screens[slot->screen] ? e->screens[slot->screen] : "None";
}

void gui_add_slot(struct emitter *e, const struct gui_object *o, size_t i, const char *const *variables)
{
    const struct gui_argument *a = &gui_class(o->kind)->arguments[i];
    const struct gui_slot *slot = &o->slots[i];
    struct buf *b = &e->w.line;

    switch (a->type) {
    case GUI_TEXT:
        if (strcmp(a->name, "stylesheet") == 0)
            add_lines(&e->w, slot->text);
        else if (!slot->set && o->kind == GUI_SERIES)
            buf_add_str(b, "None"); /* a series without label has none; all other texts are at least empty */
        else
            py_str(b, slot->set ? slot->text : "");
        break;
    case GUI_TEXTS:
        gui_add_texts(b, &slot->texts);
        break;
    case GUI_INT:
        py_int(b, slot->integer);
        break;
    case GUI_FLOAT:
        py_float(b, slot->number);
        break;
    case GUI_BOOL:
        py_bool(b, slot->flag);
        break;
    case GUI_MEMBER:
        gui_writer_class(&e->w, a->enumeration);
        buf_add_fmt(b, ".%s", slot->member);
        break;
    case GUI_SET:
    case GUI_LIST:
        gui_add_parts(e, o, a->type == GUI_SET, variables);
        break;
    case GUI_TARGET:
        buf_add_str(b, screen_variable(e, slot));
        break;
    case GUI_STYLING:
        gui_add_styling(&e->w, o->styling);
        break;
    case GUI_NOTHING:
        buf_add_str(b, "None");
        break;
    }
}

bool gui_has_value(const struct gui_object *o, size_t i)
{
    enum gui_type type = gui_class(o->kind)->arguments[i].type;

    return type == GUI_SET || type == GUI_LIST ? o->parts_len > 0 : o->slots[i].set;
}

bool gui_is_argument(const struct gui_object *o, size_t i)
{
    enum gui_rule rule = gui_class(o->kind)->arguments[i].rule;

    return rule == GUI_NEEDED || (rule == GUI_OPTIONAL && gui_has_value(o, i));
}

static void add_in_place(struct emitter *e, const struct gui_object *o)
{
    const struct gui_class *c = gui_class(o->kind);
    bool any = false;
    size_t i;

    gui_writer_class(&e->w, c->name);
    buf_add_char(&e->w.line, '(');
    for (i = 0; i < c->arguments_len; i++) {
        if (!gui_is_argument(o, i))
            continue;
        separate(&e->w.line, &any);
        buf_add_fmt(&e->w.line, "%s=", c->arguments[i].name);
        gui_add_slot(e, o, i, NULL);
    }
    buf_add_char(&e->w.line, ')');
}
