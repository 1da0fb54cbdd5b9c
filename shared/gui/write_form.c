/* Inputs and forms: what only the model says is added where the editor keeps it. */
#include <stdlib.h>
#include <string.h>

#include "shared/base/buf.h"
#include "shared/base/mem.h"
#include "shared/diagram/text.h"
#include "shared/gui/reader.h"
#include "shared/gui/write_json.h"

/* ---- inputs -------------------------------------------------------------------------------------------------------
 */

static void put_limit(struct gui_json_writer *w, const struct gui_object *o, const char *argument, const char *key,
                      struct value *c)
{
    const struct gui_slot *s = gui_slot(o, argument);

    if (s && s->set)
        gui_json_put_number(w, c, key, s->number);
}

static bool is_there(const struct value *attributes, const char *key)
{
    const struct value *v = value_get(attributes, key);

    return v && v->kind != VALUE_NULL;
}

static void put_limits(struct gui_json_writer *w, const struct gui_object *o, struct value *c,
                       const struct value *attributes)
{
    static const struct {
        const char *data, *plain, *member, *argument;
    } rows[] = {
        { "data-min", "min", "input-min", "min_value" },
        { "data-max", "max", "input-max", "max_value" },
        { "data-step", "step", "input-step", "step" },
    };
    const char *type = gui_member(o, "field_type"), *rules = gui_text(o, "validationRules"), *longest;
    bool stars = type && strcmp(type, "Rating") == 0 && !(rules && strstr(rules, "max:"));
    size_t i;

    for (i = 0; i < ARRAY_LEN(rows); i++) {
        if (is_there(attributes, rows[i].data) || is_there(attributes, rows[i].plain))
            continue;
        if (i != 1 || !stars)
            put_limit(w, o, rows[i].argument, rows[i].member, c);
        else if (!HAS(attributes, "data-max-stars"))
            put_limit(w, o, "max_value", "max-stars", c);
    }
    longest = rules ? strstr(rules, "maxlength:") : NULL;
    if (longest && !HAS(attributes, "data-max-length", "maxlength"))
        gui_json_put_number(w, c, "max-length", strtod(longest + strlen("maxlength:"), NULL));
}

/* Can a list of labels with commas between say this option? */
static bool is_plain_option(const struct gui_object *option)
{
    const char *label = gui_text(option, "label"), *value = gui_text(option, "value");
    size_t len;

    if (!label || !value || strcmp(label, value) != 0 || strchr(label, ','))
        return false;
    return text_trim_span(label, &len) == label && len && !label[len];
}

static void put_option_list(struct gui_json_writer *w, const struct gui_object *o, struct value *c)
{
    struct value list = gui_json_array();
    size_t i;

    for (i = 0; i < o->parts_len; i++) {
        struct value one = gui_json_object();

        gui_json_put_text(w, &one, "value", gui_text(o->parts[i], "value"));
        gui_json_put_text(w, &one, "label", gui_text(o->parts[i], "label"));
        gui_json_add(w, &list, one);
    }
    gui_json_put(w, c, "option-list", list);
}

static void put_options(struct gui_json_writer *w, const struct gui_object *o, struct value *c)
{
    auto_buf struct buf text;
    size_t i;

    buf_init(&text, SIZE_MAX / 2);
    for (i = 0; i < o->parts_len; i++) {
        const char *label = gui_text(o->parts[i], "label");

        buf_add_str(&text, i ? "," : "");
        buf_add_str(&text, label ? label : "");
    }
    w->failed |= buf_failed(&text);
    gui_json_put_said(w, c, "select-options", text.data);
    for (i = 0; i < o->parts_len; i++)
        if (!is_plain_option(o->parts[i])) {
            put_option_list(w, o, c);
            return;
        }
}

/* label: in a form the label is a component of its own. */
static void put_input(struct gui_json_writer *w, const struct gui_object *o, struct value *c, struct value *attributes)
{
    const char *checked = gui_text(o, "default_value");

    if (!HAS(attributes, "data-gui-type"))
        gui_json_put_said(w, c, "data-gui-type", gui_member(o, "field_type"));
    if (!HAS(attributes, "data-placeholder"))
        gui_json_put_said(w, c, "placeholder", gui_text(o, "placeholder"));
    if (!HAS(attributes, "data-required") && !HAS(attributes, "required") && gui_flag(o, "required"))
        gui_json_put_bool(w, c, "required", true);
    if (!HAS(attributes, "data-default-checked") && checked) {
        bool yes = strcmp(checked, "True") == 0;

        gui_json_put_text(w, c, yes || strcmp(checked, "False") == 0 ? "default-checked" : "default-value",
                          yes                             ? "true"
                          : strcmp(checked, "False") == 0 ? "false"
                                                          : checked);
    }
    if (!HAS(attributes, "data-multiple") && gui_flag(o, "multiple"))
        gui_json_put_bool(w, c, "multiple-files", true);
    put_limits(w, o, c, attributes);
    if (!HAS(attributes, "data-options"))
        put_options(w, o, c);
}

void gui_json_fill_input(struct gui_json_writer *w, const struct gui_object *o, struct value *c,
                         struct value *attributes)
{
    put_input(w, o, c, attributes);
    if (!HAS(attributes, "data-label"))
        gui_json_put_said(w, c, "input-label", gui_text(o, "label"));
}

/* ---- forms --------------------------------------------------------------------------------------------------------
 */

static void put_named(struct gui_json_writer *w, struct value *c, const char *name, const char *suffix)
{
    auto_buf struct buf text;

    buf_init(&text, SIZE_MAX / 2);
    if (buf_add_fmt(&text, "%s_%s", name ? name : "", suffix) < 0)
        w->failed = true;
    else
        gui_json_put_text(w, c, "name", text.data);
}

static struct value submit_of(struct gui_json_writer *w, const struct gui_object *o)
{
    struct value button = gui_json_object(), own = gui_json_object();
    const char *label = gui_text(o, "submit_label");

    put_named(w, &button, gui_text(o, "name"), "submit");
    gui_json_put_text(w, &button, "type", "action-button");
    gui_json_put_text(w, &button, "tagName", "button");
    gui_json_put_text(w, &own, "type", "submit");
    gui_json_put(w, &button, "attributes", own);
    gui_json_put_words(w, &button, label ? label : "Submit");
    return button;
}

static struct value label_of(struct gui_json_writer *w, const struct gui_object *input)
{
    struct value label = gui_json_object();

    put_named(w, &label, gui_text(input, "name"), "label");
    gui_json_put_text(w, &label, "type", "text");
    gui_json_put_text(w, &label, "tagName", "label");
    gui_json_put_words(w, &label, gui_text(input, "label"));
    return label;
}

void gui_json_fill_form(struct gui_json_writer *w, const struct gui_object *o, struct value *c,
                        struct value *attributes)
{
    struct value inputs = gui_json_components(w, o), list = gui_json_array();
    size_t i, k = 0;

    if (!HAS(attributes, "data-title"))
        gui_json_put_said(w, attributes, "data-title", gui_text(o, "title"));
    for (i = 0; i < inputs.len; i++) {
        struct value *input = &inputs.items[i];
        const char *name = gui_string(value_get(input, "name"));

        for (k = 0; name && k < o->parts_len; k++) {
            const char *label = gui_text(o->parts[k], "label"), *own = gui_text(o->parts[k], "name");

            if (own && strcmp(own, name) == 0 && label && *label && !HAS(&o->parts[k]->attributes, "data-label"))
                gui_json_add(w, &list, label_of(w, o->parts[k]));
        }
        gui_json_add(w, &list, *input);
        *input = (struct value){ .kind = VALUE_NULL };
    }
    value_release(&inputs);
    gui_json_add(w, &list, submit_of(w, o));
    gui_json_put(w, c, "components", list);
}
