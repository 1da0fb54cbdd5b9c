/* Input fields. */
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "shared/base/mem.h"
#include "shared/diagram/text.h"
#include "shared/gui/reader.h"

/* ---- type ---------------------------------------------------------------------------------------------------------
 */

static const char *const html_types[][2] = {
    { "text", "Text" },        { "textarea", "TextArea" }, { "email", "Email" },
    { "number", "Number" },    { "password", "Password" }, { "date", "Date" },
    { "time", "Time" },        { "color", "Color" },       { "datetime-local", "DateTime" },
    { "range", "Range" },      { "url", "URL" },           { "tel", "Tel" },
    { "search", "Search" },    { "file", "File" },         { "checkbox", "Checkbox" },
    { "radio", "RadioGroup" }, { "select", "Dropdown" },
};
static const char *const palette_types[] = {
    "Text",     "TextArea",  "RichText", "Password",    "Search",        "Tags",        "OTP",    "Hidden",
    "Email",    "URL",       "Tel",      "Number",      "Slider",        "Spinner",     "Rating", "Range",
    "Checkbox", "Toggle",    "Dropdown", "RadioGroup",  "CheckboxGroup", "MultiSelect", "Date",   "Time",
    "DateTime", "DateRange", "File",     "ImageUpload", "Color",
};

static const char *html_type(const char *word, bool exact)
{
    size_t i;

    for (i = 0; word && i < ARRAY_LEN(html_types); i++)
        if ((exact ? strcmp : strcasecmp)(html_types[i][0], word) == 0)
            return html_types[i][1];
    return NULL;
}

/* The editor's palette names the type exactly; a plain input has an HTML type or only a tag. */
static const char *field_type(const struct component *c)
{
    const char *palette = gui_string(gui_attribute_or_member(c, "data-gui-type", "data-gui-type"));
    const struct value *html = value_get(c->attributes, "type");
    const char *found;
    size_t i;

    for (i = 0; palette && i < ARRAY_LEN(palette_types); i++)
        if (strcmp(palette, palette_types[i]) == 0)
            return palette_types[i];
    found = html_type(palette, true);
    if (!found)
        found = html_type(html ? gui_string(html) : c->tag, false);
    return found ? found : "Text";
}

/* ---- limits and rules ---------------------------------------------------------------------------------------------
 */

static void add_rule(struct buf *rules, const char *name, const char *value)
{
    if (rules->len)
        buf_add_char(rules, ',');
    buf_add_str(rules, name);
    if (value) {
        buf_add_char(rules, ':');
        buf_add_str(rules, value);
    }
}

/* The first that is there: attribute with data-, plain attribute, member with input-. NULL when it says nothing. */
static const struct value *limit_of(const struct component *c, const char *data, const char *plain, const char *member)
{
    const struct value *const places[] = { value_get(c->attributes, data), value_get(c->attributes, plain),
                                           value_get(c->json, member) };
    size_t i;

    for (i = 0; i < ARRAY_LEN(places); i++)
        if (places[i] && places[i]->kind != VALUE_NULL)
            return gui_says(places[i]) ? places[i] : NULL;
    return NULL;
}

static void set_limits(const struct component *c, struct gui_object *o, struct buf *rules)
{
    static const struct {
        const char *data, *plain, *member, *argument, *rule;
    } rows[] = {
        { "data-min", "min", "input-min", "min_value", "min" },
        { "data-max", "max", "input-max", "max_value", "max" },
        { "data-step", "step", "input-step", "step", NULL },
    };
    size_t i;

    for (i = 0; i < ARRAY_LEN(rows); i++) {
        const struct value *v = limit_of(c, rows[i].data, rows[i].plain, rows[i].member);
        double number;

        if (!gui_float(v, &number))
            continue;
        gui_set_float(o, rows[i].argument, number);
        if (rows[i].rule)
            add_rule(rules, rows[i].rule, TEXT(v));
    }
}

static void add_length_rule(const struct value *v, const char *name, struct buf *rules)
{
    double number;

    if (!gui_float(v, &number) || number < -9e15 || number > 9e15)
        return;
    if (rules->len)
        buf_add_char(rules, ',');
    buf_add_fmt(rules, "%s:%" PRId64, name, (int64_t)number);
}

static void set_stars(const struct component *c, struct gui_object *o)
{
    const struct gui_slot *type = gui_slot(o, "field_type");
    double stars;

    if (strcmp(type->member, "Rating") == 0 && !gui_slot(o, "max_value") &&
        gui_float(gui_attribute_or_member(c, "data-max-stars", "max-stars"), &stars))
        gui_set_float(o, "max_value", stars);
}

static bool is_required(const struct component *c)
{
    const struct value *v = gui_attribute_or_member(c, "data-required", "required");

    return v ? gui_says_yes(v) : FIRST(c->attributes, "required") != NULL; /* in HTML its presence counts */
}

static int set_rules(struct gui_reader *r, const struct component *c, struct gui_object *o)
{
    const char *pattern = TEXT(FIRST(c->attributes, "pattern"));
    const struct value *longest = FIRST(c->attributes, "data-max-length", "maxlength");
    auto_buf struct buf rules;

    buf_init(&rules, SIZE_MAX / 2);
    if (is_required(c)) {
        gui_set_bool(o, "required", true);
        add_rule(&rules, "required", NULL);
    }
    if (pattern)
        add_rule(&rules, "pattern", pattern);
    set_limits(c, o, &rules);
    add_length_rule(longest ? longest : value_get(c->json, "max-length"), "maxlength", &rules);
    add_length_rule(value_get(c->attributes, "minlength"), "minlength", &rules);
    set_stars(c, o);
    if (buf_failed(&rules))
        return err_nomem(r->err);
    return gui_reader_text(r, o, "validationRules", rules.data);
}

/* ---- options ------------------------------------------------------------------------------------------------------
 */

static int add_option(struct gui_reader *r, const char *value, const char *label, struct gui_object *input)
{
    struct gui_object *option = gui_reader_object(r, GUI_OPTION);

    if (!option)
        return -1;
    if (gui_reader_text(r, option, "value", value) < 0 || gui_reader_text(r, option, "label", label) < 0) {
        gui_object_free(option);
        return -1;
    }
    return gui_reader_part(r, input, option);
}

static int add_plain_option(struct gui_reader *r, const char *text, size_t len, struct gui_object *input)
{
    auto_free char *copy = mem_dup(text, len), *label = copy ? text_trim(copy) : NULL;

    if (!label)
        return err_nomem(r->err);
    return *label ? add_option(r, label, label, input) : 0;
}

/* What write.h adds when labels have commas, or options a value of their own. */
static int add_option_list(struct gui_reader *r, const struct value *list, struct gui_object *input)
{
    size_t i;

    for (i = 0; i < list->len; i++) {
        const char *value = gui_string(value_get(&list->items[i], "value"));
        const char *label = gui_string(value_get(&list->items[i], "label"));

        if (add_option(r, value ? value : "", label ? label : value ? value : "", input) < 0)
            return -1;
    }
    return 0;
}

static bool is_called(const struct component *c, const char *word)
{
    return strcasecmp(c->tag, word) == 0 || strcasecmp(c->type, word) == 0;
}

/* An option drawn as a part of its list: as in HTML, its text is its value when it has no other. */
static int add_drawn_option(struct gui_reader *r, const struct component *c, struct gui_object *input)
{
    const char *label = TEXT(FIRST(c->attributes, "label")), *value = TEXT(value_get(c->attributes, "value"));
    auto_buf struct buf text;

    buf_init(&text, SIZE_MAX / 2);
    if (!label && gui_component_text(r, c->json, &text) < 0)
        return -1;
    if (!label)
        label = text.len ? text.data : value ? value : "";
    return *label ? add_option(r, value ? value : label, label, input) : 0;
}

/* Editors that know no list of words draw options and groups of them, as HTML does. */
static int add_drawn_options(struct gui_reader *r, const struct value *parts, struct gui_object *input)
{
    size_t i;
    int rc = 0;

    for (i = 0; parts && parts->kind == VALUE_ARRAY && i < parts->len && rc == 0; i++) {
        struct component c = gui_component_of(&parts->items[i]);

        rc = is_called(&c, "option") ? add_drawn_option(r, &c, input)
                                     : add_drawn_options(r, value_get(c.json, "components"), input);
    }
    return rc;
}

static int add_options(struct gui_reader *r, const struct component *c, struct gui_object *input)
{
    const struct value *given = FIRST(c->attributes, "data-options"), *list = value_get(c->json, "option-list");
    const char *text;
    size_t len;

    if (!given && list && list->kind == VALUE_ARRAY)
        return add_option_list(r, list, input);
    text = gui_string(given ? given : FIRST(c->json, "select-options", "data-options"));
    if (!text)
        return add_drawn_options(r, value_get(c->json, "components"), input);
    for (; *text; text += len + (text[len] == ',')) {
        len = strcspn(text, ",");
        if (add_plain_option(r, text, len, input) < 0)
            return -1;
    }
    return 0;
}

static int describe_input(struct gui_reader *r, const char *type, struct gui_object *o)
{
    auto_buf struct buf text;

    buf_init(&text, SIZE_MAX / 2);
    gui_set_member(o, "field_type", type);
    if (buf_add_fmt(&text, "%s input", type) < 0)
        return err_nomem(r->err);
    return gui_reader_text(r, o, "description", text.data);
}

static int fill_input(struct gui_reader *r, const struct component *c, struct gui_object *o)
{
    const struct value *checked = FIRST(c->attributes, "data-default-checked");

    if (describe_input(r, field_type(c), o) < 0 ||
        gui_reader_text(r, o, "label", TEXT(gui_attribute_or_member(c, "data-label", "input-label"))) < 0 ||
        gui_reader_text(r, o, "placeholder", TEXT(gui_attribute_or_member(c, "data-placeholder", "placeholder"))) < 0 ||
        set_rules(r, c, o) < 0 || add_options(r, c, o) < 0)
        return -1;
    if (!checked)
        checked = value_get(c->json, "default-checked");
    if (checked && checked->kind != VALUE_NULL &&
        gui_reader_text(r, o, "default_value", gui_says_yes(checked) ? "True" : "False") < 0)
        return -1;
    if (!checked && gui_reader_text(r, o, "default_value", gui_string(value_get(c->json, "default-value"))) < 0)
        return -1;
    if (gui_says_yes(gui_attribute_or_member(c, "data-multiple", "multiple-files")))
        gui_set_bool(o, "multiple", true);
    return 0;
}

int gui_read_input(struct gui_reader *r, const struct component *c, struct gui_object **ret)
{
    struct gui_object *o = gui_reader_element(r, c, GUI_INPUT, "InputField", "input");

    if (!o)
        return -1;
    if (fill_input(r, c, o) < 0) {
        gui_object_free(o);
        return -1;
    }
    *ret = o;
    return 0;
}
