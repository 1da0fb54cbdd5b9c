#include "shared/gui/emit.h"

#include <stdlib.h>
#include <string.h>

#include "shared/base/mem.h"
#include "shared/gui/emitter.h"
#include "shared/python/emit.h"

struct late { /* a button with a target or an event */
    const struct gui_object *button;
    const char *variable;
};

static const char *emit_object(struct emitter *e, const struct gui_object *o);

/* ---- order --------------------------------------------------------------------------------------------------------
 */

/* Elements and modules in the order they are written; other parts have their own. NULL out of memory. */
static struct gui_object **ordered_parts(const struct gui_object *o)
{
    struct gui_object **parts = mem_zalloc(o->parts_len + 1, sizeof(struct gui_object *));
    size_t i;

    if (!parts)
        return NULL;
    for (i = 0; i < o->parts_len; i++)
        parts[i] = o->parts[i];
    if (o->parts_len && (gui_class(o->parts[0]->kind)->element || o->kind == GUI_MODEL))
        qsort(parts, o->parts_len, sizeof(struct gui_object *), gui_by_order);
    return parts;
}

/* ---- statements ---------------------------------------------------------------------------------------------------
 */

static void add_metadata(struct writer *w, const struct gui_object *o)
{
    if (o->styling) {
        gui_writer_argument(w, "styling");
        gui_add_styling(w, o->styling);
    }
    if (o->component_id)
        py_str(gui_writer_argument(w, "component_id"), o->component_id);
    if (o->tag_name)
        py_str(gui_writer_argument(w, "tag_name"), o->tag_name);
    if (o->ordered && o->order == (double)(int64_t)o->order)
        py_int(gui_writer_argument(w, "display_order"), (int64_t)o->order);
    else if (o->ordered)
        py_float(gui_writer_argument(w, "display_order"), o->order);
    if (o->css_classes.len)
        gui_add_texts(gui_writer_argument(w, "css_classes"), &o->css_classes);
    if (o->attributes.len)
        py_value(gui_writer_argument(w, "custom_attributes"), &o->attributes);
}

static void emit_call(struct emitter *e, const struct gui_object *o, const char *variable, const char *const *variables)
{
    const struct gui_class *c = gui_class(o->kind);
    size_t i;

    gui_writer_open(&e->w, variable, c->name);
    for (i = 0; i < c->arguments_len; i++)
        if (gui_is_argument(o, i)) {
            gui_writer_argument(&e->w, c->arguments[i].name);
            gui_add_slot(e, o, i, variables);
        }
    if (c->element)
        add_metadata(&e->w, o);
    gui_writer_close(&e->w);
}

static void emit_attributes(struct emitter *e, const struct gui_object *o, const char *variable, enum gui_rule rule,
                            const char *const *variables)
{
    const struct gui_class *c = gui_class(o->kind);
    size_t i;

    for (i = 0; i < c->arguments_len; i++)
        if (c->arguments[i].rule == rule && gui_has_value(o, i)) {
            buf_add_fmt(gui_writer_line(&e->w), "%s.%s = ", variable, c->arguments[i].name);
            gui_add_slot(e, o, i, variables);
            gui_writer_end(&e->w);
        }
}

static void emit_layout(struct emitter *e, const struct gui_object *o, const char *variable)
{
    if (!o->styling || !gui_styling_has(o->styling, STYLE_LAYOUT))
        return;
    buf_add_fmt(gui_writer_line(&e->w), "%s.layout = ", variable);
    gui_add_style_part(&e->w, o->styling, STYLE_LAYOUT);
    gui_writer_end(&e->w);
}

static int note_late(struct emitter *e, const struct gui_object *o, const char *variable)
{
    void *array = e->late;

    if (mem_grow(&array, e->late_len, &e->late_cap, sizeof(*e->late)) < 0)
        return err_nomem(e->w.err);
    e->late = array;
    e->late[e->late_len++] = (struct late){ o, variable };
    return 0;
}

/* Statements of the parts that have variables. *ret is NULL when they have none. */
static int emit_parts(struct emitter *e, const struct gui_object *o, const char ***ret)
{
    auto_free struct gui_object **parts = NULL;
    const char **variables;
    size_t i;

    *ret = NULL;
    if (!o->parts_len || gui_class(o->parts[0]->kind)->in_place)
        return 0;
    parts = ordered_parts(o);
    variables = mem_zalloc(o->parts_len, sizeof(*variables));
    *ret = variables;
    if (!parts || !variables)
        return err_nomem(e->w.err);
    for (i = 0; i < o->parts_len; i++) {
        variables[i] = emit_object(e, parts[i]);
        if (!variables[i])
            return -1;
    }
    return 0;
}

static const char *variable_of(struct emitter *e, const struct gui_object *o)
{
    const char *name = gui_text(o, "name");

    return names_make(&e->w.names, name ? name : "", e->w.err);
}

/* Statements for the object and all it needs. Its variable, NULL: err. */
static const char *emit_object(struct emitter *e, const struct gui_object *o)
{
    const char *variable = variable_of(e, o);
    auto_free const char **variables = NULL;

    if (!variable || emit_parts(e, o, &variables) < 0)
        return NULL;
    emit_call(e, o, variable, variables);
    emit_attributes(e, o, variable, GUI_AFTER, variables);
    if (o->kind == GUI_CONTAINER)
        emit_layout(e, o, variable);
    if (o->kind == GUI_BUTTON && (o->event || gui_slot(o, "targetScreen")) && note_late(e, o, variable) < 0)
        return NULL;
    return variable;
}

/* ---- screens ------------------------------------------------------------------------------------------------------
 */

static void emit_text_attribute(struct emitter *e, const char *variable, const char *attribute, const char *text)
{
    if (!text)
        return;
    buf_add_fmt(gui_writer_line(&e->w), "%s.%s = ", variable, attribute);
    py_str(&e->w.line, text);
    gui_writer_end(&e->w);
}

/* A screen is there before what it shows. */
static int emit_screen(struct emitter *e, const struct gui_object *o, const char *variable)
{
    struct gui_object bare = *o; /* the same without parts; only read */
    auto_free const char **variables = NULL;

    bare.parts_len = 0;
    emit_call(e, &bare, variable, NULL);
    if (o->styling) {
        buf_add_fmt(gui_writer_line(&e->w), "%s.styling = ", variable);
        gui_add_styling(&e->w, o->styling);
        gui_writer_end(&e->w);
    }
    emit_text_attribute(e, variable, "page_id", o->page_id);
    emit_text_attribute(e, variable, "component_id", o->component_id);
    if (emit_parts(e, o, &variables) < 0)
        return -1;
    if (o->parts_len) {
        buf_add_fmt(gui_writer_line(&e->w), "%s.view_elements = ", variable);
        gui_add_parts(e, o, true, variables);
        gui_writer_end(&e->w);
    }
    emit_layout(e, o, variable);
    gui_writer_gap(&e->w);
    return 0;
}

struct numbered {
    struct gui_object *screen;
    size_t number; /* its place in the module */
};

static int by_name(const void *a, const void *b)
{
    const struct numbered *one = a, *two = b;

    return gui_by_order(&one->screen, &two->screen);
}

/* Screens by name. first: number of the module's first one over all modules. */
static int emit_screens(struct emitter *e, const struct gui_object *module, size_t first, const char **variables)
{
    auto_free struct numbered *sorted = mem_zalloc(module->parts_len + 1, sizeof(*sorted));
    size_t i;

    if (!sorted)
        return err_nomem(e->w.err);
    for (i = 0; i < module->parts_len; i++)
        sorted[i] = (struct numbered){ module->parts[i], i };
    qsort(sorted, module->parts_len, sizeof(*sorted), by_name);
    for (i = 0; i < module->parts_len; i++) {
        variables[i] = variable_of(e, sorted[i].screen);
        if (!variables[i] || emit_screen(e, sorted[i].screen, variables[i]) < 0)
            return -1;
        e->screens[first + sorted[i].number] = variables[i];
    }
    return 0;
}

/* ---- events -------------------------------------------------------------------------------------------------------
 */

static int emit_event(struct emitter *e, const struct gui_object *event, const char *button)
{
    const char *variable = variable_of(e, event);
    auto_free const char **actions = NULL;
    size_t i;

    if (!variable || emit_parts(e, event, &actions) < 0)
        return -1;
    for (i = 0; i < event->parts_len; i++) {
        buf_add_fmt(gui_writer_line(&e->w), "%s.triggered_by = %s", actions[i], button);
        gui_writer_end(&e->w);
    }
    emit_call(e, event, variable, actions);
    buf_add_fmt(gui_writer_line(&e->w), "%s.events = {%s}", button, variable);
    gui_writer_end(&e->w);
    return 0;
}

/* What needs screens that come later in the text. */
static int emit_late(struct emitter *e)
{
    size_t i;

    for (i = 0; i < e->late_len; i++) {
        const struct late *l = &e->late[i];

        emit_attributes(e, l->button, l->variable, GUI_LATE, NULL);
        if (l->button->event && emit_event(e, l->button->event, l->variable) < 0)
            return -1;
    }
    if (e->late_len)
        gui_writer_gap(&e->w);
    e->late_len = 0;
    return 0;
}

/* ---- the whole ----------------------------------------------------------------------------------------------------
 */

static const char *emit_module(struct emitter *e, const struct gui_object *module, size_t first)
{
    auto_free const char **variables = mem_zalloc(module->parts_len + 1, sizeof(*variables));
    const char *variable;

    if (!variables) {
        err_nomem(e->w.err);
        return NULL;
    }
    if (emit_screens(e, module, first, variables) < 0 || emit_late(e) < 0)
        return NULL;
    variable = variable_of(e, module);
    if (variable)
        emit_call(e, module, variable, variables);
    return variable;
}

static int emit_model(struct emitter *e, const struct gui_object *model)
{
    auto_free const char **variables = mem_zalloc(model->parts_len + 1, sizeof(*variables));
    auto_free struct gui_object **modules = ordered_parts(model);
    size_t i, first = 0;

    for (i = 0; i < model->parts_len; i++)
        e->screens_len += model->parts[i]->parts_len;
    e->screens = mem_zalloc(e->screens_len + 1, sizeof(*e->screens));
    if (!variables || !modules || !e->screens)
        return err_nomem(e->w.err);
    for (i = 0; i < model->parts_len; i++) {
        variables[i] = emit_module(e, modules[i], first);
        if (!variables[i])
            return -1;
        first += modules[i]->parts_len;
    }
    emit_call(e, model, "gui_model", variables);
    return 0;
}

int gui_emit(const struct gui_object *model, unsigned indent, struct buf *out, struct err *err)
{
    struct emitter e = { 0 };
    int rc = -1;

    gui_writer_init(&e.w, indent, err);
    if (emit_model(&e, model) == 0)
        rc = gui_writer_finish(&e.w, out);
    gui_writer_release(&e.w);
    mem_free(e.late);
    mem_free(e.screens);
    return rc;
}
