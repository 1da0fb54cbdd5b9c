/* What the kinds have of their own. Attributes that the design has stay as they are; what only the model says is added
 * where the editor keeps it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared/base/buf.h"
#include "shared/base/mem.h"
#include "shared/diagram/text.h"
#include "shared/gui/read.h"
#include "shared/gui/reader.h"
#include "shared/gui/write_json.h"

bool gui_json_has(const struct value *attributes, const char *const *keys)
{
    return gui_first(attributes, keys) != NULL;
}

struct value gui_json_textnode(struct gui_json_writer *w, const char *text)
{
    struct value node = gui_json_object();

    gui_json_put_text(w, &node, "type", "textnode");
    gui_json_put_text(w, &node, "content", text);
    return node;
}

static void put_words(struct gui_json_writer *w, struct value *c, const char *text)
{
    struct value list = gui_json_array();

    if (!text || !*text)
        return;
    gui_json_add(w, &list, gui_json_textnode(w, text));
    gui_json_put(w, c, "components", list);
}

/* The text under key, unless it is empty. */
static void put_said(struct gui_json_writer *w, struct value *to, const char *key, const char *text)
{
    if (text && *text)
        gui_json_put_text(w, to, key, text);
}

static bool flag_of(const struct gui_object *o, const char *argument)
{
    const struct gui_slot *s = gui_slot(o, argument);

    return s && s->set && s->flag;
}

static const char *member_of(const struct gui_object *o, const char *argument)
{
    const struct gui_slot *s = gui_slot(o, argument);

    return s && s->set ? s->member : NULL;
}

/* ---- images, links, embedded content ------------------------------------------------------------------------------
 */

static void fill_image(struct gui_json_writer *w, const struct gui_object *o, struct value *c, struct value *attributes)
{
    const char *description = gui_text(o, "description");

    if (!HAS(attributes, "src", "data-src"))
        put_said(w, c, "src", gui_text(o, "source"));
    if (!HAS(attributes, "alt") && description && strcmp(description, "Image component") != 0)
        put_said(w, attributes, "alt", description);
}

static void put_target(struct gui_json_writer *w, const struct gui_object *o, struct value *attributes)
{
    if (!HAS(attributes, "href", "data-href"))
        put_said(w, attributes, "href", gui_text(o, "url"));
    if (!HAS(attributes, "target", "data-target"))
        put_said(w, attributes, "target", gui_text(o, "target"));
    if (!HAS(attributes, "rel"))
        put_said(w, attributes, "rel", gui_text(o, "rel"));
}

static void fill_link(struct gui_json_writer *w, const struct gui_object *o, struct value *c, struct value *attributes)
{
    put_words(w, c, gui_text(o, "label"));
    put_target(w, o, attributes);
}

static void fill_embedded(struct gui_json_writer *w, const struct gui_object *o, struct value *c,
                          struct value *attributes)
{
    (void)c;
    if (!HAS(attributes, "src", "data-src"))
        put_said(w, attributes, "src", gui_text(o, "source"));
}

static void fill_menu(struct gui_json_writer *w, const struct gui_object *o, struct value *c, struct value *attributes)
{
    struct value list = gui_json_array();
    size_t i;

    (void)attributes;
    for (i = 0; i < o->parts_len; i++) {
        struct value link = gui_json_object(), own = gui_json_object();

        gui_json_put_text(w, &link, "type", "link");
        gui_json_put_text(w, &link, "tagName", "a");
        put_words(w, &link, gui_text(o->parts[i], "label"));
        put_target(w, o->parts[i], &own);
        gui_json_put(w, &link, "attributes", own);
        gui_json_add(w, &list, link);
    }
    gui_json_put(w, c, "components", list);
}

static void fill_words(struct gui_json_writer *w, const struct gui_object *o, struct value *c, struct value *attributes)
{
    (void)attributes;
    put_words(w, c, gui_text(o, "content"));
}

static void fill_alert(struct gui_json_writer *w, const struct gui_object *o, struct value *c, struct value *attributes)
{
    const char *severity = member_of(o, "severity");
    auto_free char *lower = severity ? text_lower(severity) : NULL;

    if (!HAS(attributes, "data-severity", "alert-severity"))
        put_said(w, c, "alert-severity", lower);
    if (!HAS(attributes, "data-title", "alert-title"))
        put_said(w, c, "alert-title", gui_text(o, "title"));
    if (!HAS(attributes, "data-content", "alert-content"))
        put_said(w, c, "alert-content", gui_text(o, "content"));
    if (!HAS(attributes, "data-dismissible", "alert-dismissible") && flag_of(o, "dismissible"))
        gui_json_put_bool(w, c, "alert-dismissible", true);
}

static void fill_data_list(struct gui_json_writer *w, const struct gui_object *o, struct value *c,
                           struct value *attributes)
{
    const struct gui_object *source = o->parts_len ? o->parts[0] : NULL;
    const struct gui_slot *names = source ? gui_slot(source, "field_names") : NULL;
    struct value list = gui_json_array();
    size_t i;

    (void)c;
    for (i = 0; names && names->set && i < names->texts.len; i++)
        gui_json_add(w, &list, gui_json_text(w, names->texts.items[i]));
    if (list.len && !HAS(attributes, "fields", "data-fields"))
        gui_json_put(w, attributes, "fields", list);
    else
        value_release(&list);
    if (!source)
        return;
    if (!HAS(attributes, "data-source", "data-bind"))
        put_said(w, attributes, "data-source", gui_text(source, "name"));
    if (!HAS(attributes, "label-field", "data-label-field"))
        put_said(w, attributes, "label-field", gui_text(source, "label_field_name"));
    if (!HAS(attributes, "data-field", "value-field"))
        put_said(w, attributes, "value-field", gui_text(source, "value_field_name"));
}

/* ---- buttons ------------------------------------------------------------------------------------------------------
 */

static const struct {
    enum gui_kind kind;
    const char *word, *prefix, *key;
} actions[] = {
    { GUI_TRANSITION, "navigate", "navigate_to_", "target-screen" },
    { GUI_CREATE, "create", "create_", "entity-class" },
    { GUI_READ, "read", "read_", "entity-class" },
    { GUI_UPDATE, "update", "update_", "entity-class" },
    { GUI_DELETE, "delete", "delete_", "entity-class" },
};

/* The screen of that number over all modules. */
static const char *screen_name(const struct gui_json_writer *w, size_t number)
{
    size_t i;

    for (i = 0; i < w->model->parts_len; i++) {
        const struct gui_object *module = w->model->parts[i];

        if (number < module->parts_len)
            return gui_text(module->parts[number], "name");
        number -= module->parts_len;
    }
    return NULL;
}

static void put_event(struct gui_json_writer *w, const struct gui_object *action, struct value *c,
                      struct value *attributes)
{
    const struct gui_slot *target = action->kind == GUI_TRANSITION ? gui_slot(action, "target_screen") : NULL;
    const char *name = gui_text(action, "name");
    size_t i;

    for (i = 0; i < ARRAY_LEN(actions); i++) {
        bool ours = name && strncmp(name, actions[i].prefix, strlen(actions[i].prefix)) == 0;

        if (actions[i].kind != action->kind)
            continue;
        gui_json_put_text(w, c, "action-type", actions[i].word);
        if (ours)
            put_said(w, c, actions[i].key, name + strlen(actions[i].prefix));
        else
            put_said(w, c, actions[i].key,
                     target && target->set && target->screen != GUI_NO_SCREEN ? screen_name(w, target->screen) : name);
    }
    for (i = 0; i < action->parts_len; i++) {
        auto_buf struct buf key, plain;

        buf_init(&key, SIZE_MAX / 2);
        buf_init(&plain, SIZE_MAX / 2);
        name = gui_text(action->parts[i], "name");
        buf_add_fmt(&key, "data-param-%s", name ? name : "");
        if (buf_add_fmt(&plain, "param-%s", name ? name : "") < 0 || buf_failed(&key))
            w->failed = true;
        else if (!value_get(attributes, key.data) && !value_get(attributes, plain.data))
            gui_json_put_text(w, attributes, key.data, gui_text(action->parts[i], "value"));
    }
}

/* A button without event: what it does is a word of its own, or its HTML type. */
static void put_action(struct gui_json_writer *w, const char *member, struct value *c, struct value *attributes)
{
    static const char *const rows[][3] = {
        { "RunMethod", "action-type", "run-method" },
        { "Create", "action-type", "create" },
        { "Update", "action-type", "update" },
        { "Delete", "action-type", "delete" },
        { "SubmitForm", "type", "submit" },
        { "Cancel", "type", "reset" },
        { "View", "type", "button" },
    };
    size_t i;

    for (i = 0; member && i < ARRAY_LEN(rows); i++)
        if (strcmp(rows[i][0], member) == 0) {
            bool html = strcmp(rows[i][1], "type") == 0;

            if (!html || !HAS(attributes, "type"))
                gui_json_put_text(w, html ? attributes : c, rows[i][1], rows[i][2]);
        }
}

static void fill_button(struct gui_json_writer *w, const struct gui_object *o, struct value *c,
                        struct value *attributes)
{
    const struct gui_slot *target = gui_slot(o, "targetScreen");

    if (!HAS(attributes, "button-label", "label"))
        put_words(w, c, gui_text(o, "label"));
    if (!HAS(attributes, "action-type", "data-action-type", "target-screen", "data-target-screen", "entity-class",
             "data-entity-class", "crud-entity", "data-crud-entity")) {
        if (o->event && o->event->parts_len) {
            put_event(w, o->event->parts[0], c, attributes);
        } else if (target && target->set && target->screen != GUI_NO_SCREEN) {
            gui_json_put_text(w, c, "action-type", "navigate");
            put_said(w, c, "target-screen", screen_name(w, target->screen));
        } else {
            put_action(w, member_of(o, "actionType"), c, attributes);
        }
    }
    if (!HAS(attributes, "instance-source", "data-instance-source", "method-entity-id", "data-method-entity-id"))
        put_said(w, c, "instance-source", gui_text(o, "instance_source"));
    if (!HAS(attributes, "confirmation-message", "data-confirmation-message"))
        put_said(w, c, "confirmation-message", gui_text(o, "confirmation_message"));
    if (!HAS(attributes, "instance-method", "data-instance-method") && flag_of(o, "is_instance_method"))
        gui_json_put_bool(w, c, "instance-method", true);
    if (!HAS(attributes, "confirmation-required", "data-confirmation-required") && flag_of(o, "confirmation_required"))
        gui_json_put_bool(w, c, "confirmation-required", true);
}

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
    const char *type = member_of(o, "field_type"), *rules = gui_text(o, "validationRules"), *longest;
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
    put_said(w, c, "select-options", text.data);
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
        put_said(w, c, "data-gui-type", member_of(o, "field_type"));
    if (!HAS(attributes, "data-placeholder"))
        put_said(w, c, "placeholder", gui_text(o, "placeholder"));
    if (!HAS(attributes, "data-required") && !HAS(attributes, "required") && flag_of(o, "required"))
        gui_json_put_bool(w, c, "required", true);
    if (!HAS(attributes, "data-default-checked") && checked) {
        bool yes = strcmp(checked, "True") == 0;

        gui_json_put_text(w, c, yes || strcmp(checked, "False") == 0 ? "default-checked" : "default-value",
                          yes                             ? "true"
                          : strcmp(checked, "False") == 0 ? "false"
                                                          : checked);
    }
    if (!HAS(attributes, "data-multiple") && flag_of(o, "multiple"))
        gui_json_put_bool(w, c, "multiple-files", true);
    put_limits(w, o, c, attributes);
    if (!HAS(attributes, "data-options"))
        put_options(w, o, c);
}

static void fill_input(struct gui_json_writer *w, const struct gui_object *o, struct value *c, struct value *attributes)
{
    put_input(w, o, c, attributes);
    if (!HAS(attributes, "data-label"))
        put_said(w, c, "input-label", gui_text(o, "label"));
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
    put_words(w, &button, label ? label : "Submit");
    return button;
}

static struct value label_of(struct gui_json_writer *w, const struct gui_object *input)
{
    struct value label = gui_json_object();

    put_named(w, &label, gui_text(input, "name"), "label");
    gui_json_put_text(w, &label, "type", "text");
    gui_json_put_text(w, &label, "tagName", "label");
    put_words(w, &label, gui_text(input, "label"));
    return label;
}

static void fill_form(struct gui_json_writer *w, const struct gui_object *o, struct value *c, struct value *attributes)
{
    struct value inputs = gui_json_components(w, o), list = gui_json_array();
    size_t i, k = 0;

    if (!HAS(attributes, "data-title"))
        put_said(w, attributes, "data-title", gui_text(o, "title"));
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

/* ---- charts and widgets -------------------------------------------------------------------------------------------
 */

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
                put_said(w, &one, "color", o->parts[i]->styling->texts[k]);
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
        gui_json_put_text(w, &one, "type", member_of(o->parts[i], "layer_type"));
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

static void fill_widget(struct gui_json_writer *w, const struct gui_object *o, struct value *c,
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

void gui_json_fill(struct gui_json_writer *w, const struct gui_object *o, struct value *c, struct value *attributes)
{
    static void (*const rows[GUI__KINDS])(struct gui_json_writer *, const struct gui_object *, struct value *,
                                          struct value *) = {
        [GUI_WORDS] = fill_words,       [GUI_IMAGE] = fill_image,        [GUI_LINK] = fill_link,
        [GUI_BUTTON] = fill_button,     [GUI_INPUT] = fill_input,        [GUI_FORM] = fill_form,
        [GUI_ALERT] = fill_alert,       [GUI_MENU] = fill_menu,          [GUI_DATA_LIST] = fill_data_list,
        [GUI_EMBEDDED] = fill_embedded, [GUI_LINE_CHART] = fill_widget,  [GUI_BAR_CHART] = fill_widget,
        [GUI_PIE_CHART] = fill_widget,  [GUI_RADAR_CHART] = fill_widget, [GUI_RADIAL_CHART] = fill_widget,
        [GUI_TABLE] = fill_widget,      [GUI_METRIC_CARD] = fill_widget, [GUI_MAP] = fill_widget,
        [GUI_AGENT] = fill_widget,
    };

    if (rows[o->kind])
        rows[o->kind](w, o, c, attributes);
}
