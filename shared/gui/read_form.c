/* Forms: of all that a form holds, the metamodel knows its inputs and the text of its submit button. What the other
 * components say of an input (its label) is moved to it. */
#include <string.h>
#include <strings.h>

#include "shared/base/mem.h"
#include "shared/diagram/text.h"
#include "shared/gui/reader.h"

struct form_parts {
    struct gui_reader *r;
    struct gui_object *form;                  /* takes the inputs */
    struct map inputs;                        /* id, name attribute and name -> place in form->parts */
    const struct gui_object *submit, *button; /* the first of each; borrowed from the holder */
    char *pending;                            /* text of the label that waits for its input, owned */
    size_t next;                              /* input that comes next */
};

static const char *attribute_of(const struct gui_object *o, const char *key, struct scalar *tmp)
{
    return gui_scalar(FIRST(&o->attributes, key), tmp);
}

/* ---- first walk: inputs and buttons -------------------------------------------------------------------------------
 */

static int index_input(struct form_parts *f, struct gui_object *input)
{
    struct scalar tmp;
    const char *const keys[] = { input->component_id, attribute_of(input, "name", &tmp), gui_text(input, "name") };
    size_t i;

    for (i = 0; i < ARRAY_LEN(keys); i++)
        if (keys[i] && *keys[i] && map_put(&f->inputs, keys[i], strlen(keys[i]), f->form->parts_len, NULL) < 0)
            return err_nomem(f->r->err);
    return 0;
}

static int take_input(struct form_parts *f, struct gui_object *input)
{
    if (index_input(f, input) < 0)
        return -1;
    if (gui_add_part(f->form, input) < 0)
        return err_nomem(f->r->err);
    input->order = (double)(f->form->parts_len - 1);
    return 0;
}

static void note_button(struct form_parts *f, const struct gui_object *button)
{
    struct scalar tmp;
    const char *type = gui_scalar(value_get(&button->attributes, "type"), &tmp);

    if (!f->button)
        f->button = button;
    if (!f->submit && (!type || strcasecmp(type, "submit") == 0))
        f->submit = button;
}

/* ---- second walk: labels ------------------------------------------------------------------------------------------
 */

static int set_pending(struct form_parts *f, const char *text)
{
    char *copy = mem_strdup(text);

    if (text && !copy)
        return err_nomem(f->r->err);
    mem_free(f->pending);
    f->pending = copy;
    return 0;
}

static int set_label(struct form_parts *f, struct gui_object *input, const char *text)
{
    return gui_slot(input, "label") ? 0 : gui_reader_text(f->r, input, "label", text);
}

/* A label belongs to the input it names, else to the next one. */
static int apply_label(struct form_parts *f, const struct gui_object *label)
{
    struct scalar tmp;
    const char *text = gui_text(label, "content"), *target = attribute_of(label, "for", &tmp);
    size_t place = target ? map_get(&f->inputs, target, strlen(target)) : MAP_NONE;

    if (text && !*text)
        text = NULL;
    if (place == MAP_NONE)
        return set_pending(f, text);
    return text && set_label(f, f->form->parts[place], text) < 0 ? -1 : set_pending(f, NULL);
}

static int reach_input(struct form_parts *f)
{
    struct gui_object *input = f->form->parts[f->next++];

    return f->pending && set_label(f, input, f->pending) < 0 ? -1 : set_pending(f, NULL);
}

/* ---- both ---------------------------------------------------------------------------------------------------------
 */

static bool is_label(const struct gui_object *o)
{
    return o->kind == GUI_WORDS && o->tag_name && strcasecmp(o->tag_name, "label") == 0;
}

/* In document order. The first walk moves the inputs out and leaves their places empty. */
static int walk(struct form_parts *f, struct gui_object *holder, bool first)
{
    size_t i;
    int rc = 0;

    for (i = 0; i < holder->parts_len && rc == 0; i++) {
        struct gui_object *o = holder->parts[i];

        if (!o) {
            rc = reach_input(f);
        } else if (o->kind == GUI_CONTAINER) {
            rc = walk(f, o, first);
        } else if (first && o->kind == GUI_INPUT) {
            rc = take_input(f, o);
            if (rc == 0)
                holder->parts[i] = NULL;
        } else if (first && o->kind == GUI_BUTTON) {
            note_button(f, o);
        } else if (!first && is_label(o)) {
            rc = apply_label(f, o);
        }
    }
    return rc;
}

static int fill_form(struct form_parts *f, const struct component *c, struct gui_object *holder)
{
    const char *submit = TEXT(FIRST(c->attributes, "data-submit-label"));

    if (gui_read_components(f->r, value_get(c->json, "components"), holder) < 0 || walk(f, holder, true) < 0 ||
        walk(f, holder, false) < 0)
        return -1;
    if (!f->submit)
        f->submit = f->button;
    if (!submit && f->submit)
        submit = gui_text(f->submit, "label");
    if (submit && strcmp(submit, "Submit") == 0) /* the metamodel's own default */
        submit = NULL;
    if (gui_reader_text(f->r, f->form, "description", "Form component") < 0 ||
        gui_reader_text(f->r, f->form, "title", TEXT(FIRST(c->attributes, "data-title"))) < 0)
        return -1;
    return gui_reader_text(f->r, f->form, "submit_label", submit);
}

int gui_read_form(struct gui_reader *r, const struct component *c, struct gui_object **ret)
{
    struct gui_object *holder;
    struct form_parts f = { .r = r, .form = gui_reader_element(r, c, GUI_FORM, "Form", "form") };
    size_t navigations = r->navigations_len;
    int rc = -1;

    if (!f.form)
        return -1;
    map_init(&f.inputs);
    holder = gui_reader_object(r, GUI_CONTAINER);
    if (holder)
        rc = fill_form(&f, c, holder);
    r->navigations_len = navigations; /* the form's buttons go with the holder */
    gui_object_free(holder);
    map_release(&f.inputs);
    mem_free(f.pending);
    if (rc < 0)
        gui_object_free(f.form);
    else
        *ret = f.form;
    return rc;
}
