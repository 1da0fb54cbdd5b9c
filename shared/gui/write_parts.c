/* What the kinds have of their own. Attributes that the design has stay as they are; what only the model says is added
 * where the editor keeps it. */
#include <string.h>

#include "shared/base/buf.h"
#include "shared/base/mem.h"
#include "shared/diagram/text.h"
#include "shared/gui/reader.h"
#include "shared/gui/write_json.h"

/* ---- images, links, embedded content ------------------------------------------------------------------------------
 */

static void fill_image(struct gui_json_writer *w, const struct gui_object *o, struct value *c, struct value *attributes)
{
    const char *description = gui_text(o, "description");

    if (!HAS(attributes, "src", "data-src"))
        gui_json_put_said(w, c, "src", gui_text(o, "source"));
    if (!HAS(attributes, "alt") && description && strcmp(description, "Image component") != 0)
        gui_json_put_said(w, attributes, "alt", description);
}

static void put_target(struct gui_json_writer *w, const struct gui_object *o, struct value *attributes)
{
    if (!HAS(attributes, "href", "data-href"))
        gui_json_put_said(w, attributes, "href", gui_text(o, "url"));
    if (!HAS(attributes, "target", "data-target"))
        gui_json_put_said(w, attributes, "target", gui_text(o, "target"));
    if (!HAS(attributes, "rel"))
        gui_json_put_said(w, attributes, "rel", gui_text(o, "rel"));
}

static void fill_link(struct gui_json_writer *w, const struct gui_object *o, struct value *c, struct value *attributes)
{
    gui_json_put_words(w, c, gui_text(o, "label"));
    put_target(w, o, attributes);
}

static void fill_embedded(struct gui_json_writer *w, const struct gui_object *o, struct value *c,
                          struct value *attributes)
{
    (void)c;
    if (!HAS(attributes, "src", "data-src"))
        gui_json_put_said(w, attributes, "src", gui_text(o, "source"));
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
        gui_json_put_words(w, &link, gui_text(o->parts[i], "label"));
        put_target(w, o->parts[i], &own);
        gui_json_put(w, &link, "attributes", own);
        gui_json_add(w, &list, link);
    }
    gui_json_put(w, c, "components", list);
}

static void fill_words(struct gui_json_writer *w, const struct gui_object *o, struct value *c, struct value *attributes)
{
    (void)attributes;
    gui_json_put_words(w, c, gui_text(o, "content"));
}

static void fill_alert(struct gui_json_writer *w, const struct gui_object *o, struct value *c, struct value *attributes)
{
    const char *severity = gui_member(o, "severity");
    auto_free char *lower = severity ? text_lower(severity) : NULL;

    if (!HAS(attributes, "data-severity", "alert-severity"))
        gui_json_put_said(w, c, "alert-severity", lower);
    if (!HAS(attributes, "data-title", "alert-title"))
        gui_json_put_said(w, c, "alert-title", gui_text(o, "title"));
    if (!HAS(attributes, "data-content", "alert-content"))
        gui_json_put_said(w, c, "alert-content", gui_text(o, "content"));
    if (!HAS(attributes, "data-dismissible", "alert-dismissible") && gui_flag(o, "dismissible"))
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
        gui_json_put_said(w, attributes, "data-source", gui_text(source, "name"));
    if (!HAS(attributes, "label-field", "data-label-field"))
        gui_json_put_said(w, attributes, "label-field", gui_text(source, "label_field_name"));
    if (!HAS(attributes, "data-field", "value-field"))
        gui_json_put_said(w, attributes, "value-field", gui_text(source, "value_field_name"));
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
            gui_json_put_said(w, c, actions[i].key, name + strlen(actions[i].prefix));
        else
            gui_json_put_said(w, c, actions[i].key,
                              target && target->set && target->screen != GUI_NO_SCREEN ? screen_name(w, target->screen)
                                                                                       : name);
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
        gui_json_put_words(w, c, gui_text(o, "label"));
    if (!HAS(attributes, "action-type", "data-action-type", "target-screen", "data-target-screen", "entity-class",
             "data-entity-class", "crud-entity", "data-crud-entity")) {
        if (o->event && o->event->parts_len) {
            put_event(w, o->event->parts[0], c, attributes);
        } else if (target && target->set && target->screen != GUI_NO_SCREEN) {
            gui_json_put_text(w, c, "action-type", "navigate");
            gui_json_put_said(w, c, "target-screen", screen_name(w, target->screen));
        } else {
            put_action(w, gui_member(o, "actionType"), c, attributes);
        }
    }
    if (!HAS(attributes, "instance-source", "data-instance-source", "method-entity-id", "data-method-entity-id"))
        gui_json_put_said(w, c, "instance-source", gui_text(o, "instance_source"));
    if (!HAS(attributes, "confirmation-message", "data-confirmation-message"))
        gui_json_put_said(w, c, "confirmation-message", gui_text(o, "confirmation_message"));
    if (!HAS(attributes, "instance-method", "data-instance-method") && gui_flag(o, "is_instance_method"))
        gui_json_put_bool(w, c, "instance-method", true);
    if (!HAS(attributes, "confirmation-required", "data-confirmation-required") && gui_flag(o, "confirmation_required"))
        gui_json_put_bool(w, c, "confirmation-required", true);
}

void gui_json_fill(struct gui_json_writer *w, const struct gui_object *o, struct value *c, struct value *attributes)
{
    static void (*const rows[GUI__KINDS])(struct gui_json_writer *, const struct gui_object *, struct value *,
                                          struct value *) = {
        [GUI_WORDS] = fill_words,
        [GUI_IMAGE] = fill_image,
        [GUI_LINK] = fill_link,
        [GUI_BUTTON] = fill_button,
        [GUI_INPUT] = gui_json_fill_input,
        [GUI_FORM] = gui_json_fill_form,
        [GUI_ALERT] = fill_alert,
        [GUI_MENU] = fill_menu,
        [GUI_DATA_LIST] = fill_data_list,
        [GUI_EMBEDDED] = fill_embedded,
        [GUI_LINE_CHART] = gui_json_fill_widget,
        [GUI_BAR_CHART] = gui_json_fill_widget,
        [GUI_PIE_CHART] = gui_json_fill_widget,
        [GUI_RADAR_CHART] = gui_json_fill_widget,
        [GUI_RADIAL_CHART] = gui_json_fill_widget,
        [GUI_TABLE] = gui_json_fill_widget,
        [GUI_METRIC_CARD] = gui_json_fill_widget,
        [GUI_MAP] = gui_json_fill_widget,
        [GUI_AGENT] = gui_json_fill_widget,
    };

    if (rows[o->kind])
        rows[o->kind](w, o, c, attributes);
}
