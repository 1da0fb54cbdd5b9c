/* Buttons: label, what they do, where they lead. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "shared/base/mem.h"
#include "shared/gui/reader.h"

enum { TARGET, ACTION, ENTITY, SOURCE, INSTANCE, CONFIRM, MESSAGE, DATA__MAX };

/* Each is looked for on the component, then in its attributes, by any of its names, also with data- in front. */
static const char *const data_keys[DATA__MAX][5] = {
    [TARGET] = { "target-screen", "data-target-screen" },
    [ACTION] = { "action-type", "data-action-type" },
    [ENTITY] = { "entity-class", "data-entity-class", "crud-entity", "data-crud-entity" },
    [SOURCE] = { "instance-source", "data-instance-source", "method-entity-id", "data-method-entity-id" },
    [INSTANCE] = { "instance-method", "data-instance-method" },
    [CONFIRM] = { "confirmation-required", "data-confirmation-required" },
    [MESSAGE] = { "confirmation-message", "data-confirmation-message" },
};

struct button_data {
    const struct value *given[DATA__MAX];
    const char *target, *action, *entity;
};

static struct button_data data_of(const struct component *c)
{
    struct button_data d;
    size_t i;

    for (i = 0; i < DATA__MAX; i++) {
        d.given[i] = gui_first(c->json, data_keys[i]);
        if (!d.given[i])
            d.given[i] = gui_first(c->attributes, data_keys[i]);
    }
    d.target = gui_string(d.given[TARGET]);
    d.action = gui_string(d.given[ACTION]);
    d.entity = gui_string(d.given[ENTITY]);
    if (!d.action && d.target)
        d.action = "navigate";
    return d;
}

/* ---- label --------------------------------------------------------------------------------------------------------
 */

static int default_label(struct gui_reader *r, const struct button_data *d, struct buf *out)
{
    const char *s = d->action;

    if (d->target) {
        buf_add_fmt(out, "Go to %s", d->target);
    } else if (s) {
        buf_add_char(out, (char)toupper((unsigned char)*s));
        for (s++; s[-1] && *s; s++)
            buf_add_char(out, (char)tolower((unsigned char)*s));
    } else {
        buf_add_str(out, "Button");
    }
    return buf_failed(out) ? err_nomem(r->err) : 0;
}

static int set_label(struct gui_reader *r, const struct component *c, const struct button_data *d, struct gui_object *o)
{
    const char *given = TEXT(FIRST(c->attributes, "button-label", "label"));
    auto_buf struct buf text;

    buf_init(&text, SIZE_MAX / 2);
    if (given)
        return gui_reader_text(r, o, "label", given);
    if (gui_component_text(r, c->json, &text) < 0 || (!text.len && default_label(r, d, &text) < 0))
        return -1;
    return gui_reader_text(r, o, "label", text.data);
}

/* ---- actions ------------------------------------------------------------------------------------------------------
 */

static const struct action_row {
    const char *word, *member;
    enum gui_kind kind;
    const char *name, *description; /* what stands in front of the target or entity */
} action_rows[] = {
    { "navigate", "Navigate", GUI_TRANSITION, "navigate_to_", "Navigate to " },
    { "run-method", "RunMethod", GUI__KINDS, NULL, NULL },
    { "create", "Create", GUI_CREATE, "create_", "Create new " },
    { "read", "Navigate", GUI_READ, "read_", "Read/Load " },
    { "update", "Update", GUI_UPDATE, "update_", "Update " },
    { "delete", "Delete", GUI_DELETE, "delete_", "Delete " },
};

static const struct action_row *action_row(const char *word)
{
    size_t i;

    for (i = 0; word && i < ARRAY_LEN(action_rows); i++)
        if (strcmp(action_rows[i].word, word) == 0)
            return &action_rows[i];
    return NULL;
}

/* What a button without an action does, by its HTML type. */
static const char *member_of_type(const struct component *c)
{
    static const char *const rows[][2] = { { "submit", "SubmitForm" }, { "reset", "Cancel" }, { "button", "View" } };
    const char *type = gui_string(value_get(c->attributes, "type"));
    size_t i;

    for (i = 0; type && i < ARRAY_LEN(rows); i++)
        if (strcasecmp(rows[i][0], type) == 0)
            return rows[i][1];
    return "Navigate";
}

static int set_joined(struct gui_reader *r, struct gui_object *o, const char *argument, const char *head,
                      const char *tail)
{
    auto_buf struct buf text;

    buf_init(&text, SIZE_MAX / 2);
    buf_add_str(&text, head);
    return buf_add_str(&text, tail) < 0 ? err_nomem(r->err) : gui_reader_text(r, o, argument, text.data);
}

static const char *parameter_name(const char *key)
{
    static const char *const prefixes[] = { "data-param-", "param-" };
    size_t i;

    for (i = 0; i < ARRAY_LEN(prefixes); i++)
        if (strncmp(key, prefixes[i], strlen(prefixes[i])) == 0)
            return key + strlen(prefixes[i]);
    return NULL;
}

static int add_parameter(struct gui_reader *r, const char *name, const char *value, struct gui_object *action)
{
    struct gui_object *p = gui_reader_object(r, GUI_PARAMETER);

    if (!p)
        return -1;
    if (gui_reader_text(r, p, "name", name) < 0 || gui_reader_text(r, p, "param_type", "str") < 0 ||
        gui_reader_text(r, p, "value", value) < 0) {
        gui_object_free(p);
        return -1;
    }
    return gui_reader_part(r, action, p);
}

static int add_parameters(struct gui_reader *r, const struct component *c, struct gui_object *action)
{
    size_t i;

    for (i = 0; c->attributes && i < c->attributes->len; i++) {
        const char *name = parameter_name(c->attributes->keys[i]), *value = TEXT(&c->attributes->items[i]);

        if (name && value && add_parameter(r, name, value, action) < 0)
            return -1;
    }
    return 0;
}

static int fill_event(struct gui_reader *r, const struct component *c, const struct action_row *row,
                      const char *subject, struct gui_object *button)
{
    struct gui_object *action = gui_reader_object(r, row->kind);

    if (!action || gui_reader_part(r, button->event, action) < 0)
        return -1;
    if (set_joined(r, button->event, "name", "onClick_", gui_text(button, "name")) < 0 ||
        set_joined(r, action, "name", row->name, subject) < 0 ||
        set_joined(r, action, "description", row->description, subject) < 0)
        return -1;
    gui_set_member(button->event, "event_type", "OnClick");
    return add_parameters(r, c, action);
}

static int note_navigation(struct gui_reader *r, struct gui_object *button)
{
    const char *name = gui_text(button->event->parts[0], "name");
    void *array = r->navigations;

    if (mem_grow(&array, r->navigations_len, &r->navigations_cap, sizeof(*r->navigations)) < 0)
        return err_nomem(r->err);
    r->navigations = array;
    r->navigations[r->navigations_len++] = (struct gui_navigation){ button, name + strlen(action_rows[0].name) };
    return 0;
}

static int set_action(struct gui_reader *r, const struct component *c, const struct button_data *d,
                      struct gui_object *button)
{
    const struct action_row *row = action_row(d->action);
    const char *subject = row && row->kind == GUI_TRANSITION ? d->target : d->entity;

    gui_set_member(button, "actionType", row ? row->member : d->action ? "Navigate" : member_of_type(c));
    if (!row || row->kind == GUI__KINDS || !subject)
        return 0;
    button->event = gui_reader_object(r, GUI_EVENT);
    if (!button->event || fill_event(r, c, row, subject, button) < 0)
        return -1;
    return row->kind == GUI_TRANSITION ? note_navigation(r, button) : 0;
}

static int fill_button(struct gui_reader *r, const struct component *c, struct gui_object *o)
{
    struct button_data d = data_of(c);
    const char *source = TEXT(d.given[SOURCE]);

    if (gui_reader_text(r, o, "description", "Button component") < 0 || set_label(r, c, &d, o) < 0 ||
        gui_reader_text(r, o, "instance_source", source) < 0 ||
        gui_reader_text(r, o, "confirmation_message", TEXT(d.given[MESSAGE])) < 0 || set_action(r, c, &d, o) < 0)
        return -1;
    gui_set_member(o, "buttonType", "CustomizableButton");
    if (gui_says_yes(d.given[INSTANCE]) || (source && d.action && strcasecmp(d.action, "run-method") == 0))
        gui_set_bool(o, "is_instance_method", true);
    if (gui_says_yes(d.given[CONFIRM]))
        gui_set_bool(o, "confirmation_required", true);
    return 0;
}

int gui_read_button(struct gui_reader *r, const struct component *c, struct gui_object **ret)
{
    struct gui_object *o = gui_reader_element(r, c, GUI_BUTTON, "Button", "button");

    if (!o)
        return -1;
    if (fill_button(r, c, o) < 0) {
        gui_object_free(o);
        return -1;
    }
    *ret = o;
    return 0;
}
