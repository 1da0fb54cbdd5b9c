/* Styling of the metamodel, and the words of its classes (section 7.1 of the B-UML contract). */
#include <stdio.h>
#include <string.h>

#include "shared/base/mem.h"
#include "shared/buml/reader_gui.h"
#include "shared/diagram/text.h"

/* ---- words --------------------------------------------------------------------------------------------------------
 */

#define ARGUMENT_NAMES_MAX 32

/* clang-format off */
static const struct positions {
    const char *class;
    const char *names[ARGUMENT_NAMES_MAX];
} positions[] = {
    { "GUIModel", { "name", "package", "versionCode", "versionName", "modules", "description", "timestamp",
                    "screenCompatibility", "style_entries", "stylesheet" } },
    { "Module", { "name", "screens" } },
    { "Screen", { "name", "description", "view_elements", "x_dpi", "y_dpi", "screen_size", "timestamp", "is_main_page",
                  "layout", "styling", "route_path" } },
    { "ViewContainer", { "name", "description", "view_elements", "timestamp", "layout", "styling" } },
    { "ViewComponent", { "name", "description", "visibility", "timestamp", "styling", "data_binding" } },
    { "Text", { "name", "content", "description", "visibility", "timestamp", "styling" } },
    { "Image", { "name", "description", "timestamp", "styling", "source" } },
    { "Link", { "name", "description", "label", "url", "target", "rel", "visibility", "timestamp", "styling" } },
    { "Button", { "name", "description", "label", "buttonType", "actionType", "targetScreen", "method_btn",
                  "entity_class", "instance_source", "is_instance_method", "confirmation_required",
                  "confirmation_message", "timestamp", "visibility", "styling" } },
    { "InputField", { "name", "description", "field_type", "label", "placeholder", "required", "default_value",
                      "options", "min_value", "max_value", "step", "help_text", "disabled", "readonly", "multiple",
                      "timestamp", "validationRules", "visibility", "styling" } },
    { "Form", { "name", "description", "inputFields", "title", "submit_label", "show_cancel", "cancel_label",
                "columns", "visibility", "timestamp", "styling" } },
    { "Alert", { "name", "description", "content", "severity", "title", "dismissible", "visibility", "timestamp",
                 "styling" } },
    { "Menu", { "name", "description", "menuItems", "visibility", "timestamp", "styling" } },
    { "DataList", { "name", "description", "list_sources", "visibility", "timestamp", "styling" } },
    { "EmbeddedContent", { "name", "description", "source", "content_type", "visibility", "timestamp", "styling" } },
    { "LineChart", { "name", "line_width", "show_grid", "show_legend", "show_tooltip", "curve_type", "animate",
                     "legend_position", "grid_color", "dot_size", "title", "primary_color" } },
    { "BarChart", { "name", "bar_width", "orientation", "show_grid", "show_legend", "show_tooltip", "stacked",
                    "animate", "legend_position", "grid_color", "bar_gap", "title", "primary_color" } },
    { "PieChart", { "name", "show_legend", "legend_position", "show_labels", "label_position", "padding_angle",
                    "inner_radius", "outer_radius", "start_angle", "end_angle", "title", "primary_color" } },
    { "RadarChart", { "name", "show_grid", "show_tooltip", "show_radius_axis", "show_legend", "legend_position",
                      "dot_size", "grid_type", "stroke_width", "title", "primary_color" } },
    { "RadialBarChart", { "name", "start_angle", "end_angle", "inner_radius", "outer_radius", "show_legend",
                          "legend_position", "show_tooltip", "title", "primary_color" } },
    { "Table", { "name", "show_header", "striped_rows", "show_pagination", "rows_per_page", "title", "primary_color",
                 "columns", "action_buttons" } },
    { "MetricCard", { "name", "metric_title", "format", "value_color", "value_size", "show_trend", "positive_color",
                      "negative_color", "title", "primary_color" } },
    { "Map", { "name", "title", "center_latitude", "center_longitude", "zoom", "layers" } },
    { "AgentComponent", { "name", "agent_name", "agent_title" } },
    { "SelectOption", { "label", "value" } },
    { "MenuItem", { "label", "url", "target", "rel" } },
    { "DataSourceElement", { "name", "dataSourceClass", "fields", "label_field", "value_field", "field_names",
                             "label_field_name", "value_field_name" } },
    { "Series", { "name", "label", "data_binding", "styling" } },
    { "ExpressionColumn", { "label", "expression" } },
    { "MapLayer", { "name", "layer_type" } },
    { "Event", { "name", "event_type", "description", "actions" } },
    { "Transition", { "name", "target_screen", "description", "parameters", "triggered_by" } },
    { "Create", { "name", "target_class", "description", "parameters", "triggered_by" } },
    { "Read", { "name", "target_class", "description", "filter_constraint", "parameters", "triggered_by" } },
    { "Update", { "name", "target_class", "description", "parameters", "triggered_by" } },
    { "Delete", { "name", "target_class", "description", "parameters", "triggered_by" } },
    { "Parameter", { "name", "param_type", "value", "required" } },
    { "Styling", { "size", "position", "color", "layout" } },
    { "Size", { "width", "height", "padding", "margin", "font_size", "line_height", "icon_size", "unit_size",
                "font_weight", "font_family", "font_style", "text_decoration", "text_transform", "letter_spacing",
                "word_spacing", "white_space", "word_break", "min_width", "max_width", "min_height", "max_height",
                "padding_top", "padding_right", "padding_bottom", "padding_left" } },
    { "Position", { "p_type", "top", "left", "right", "bottom", "alignment", "z_index", "display", "overflow",
                    "overflow_x", "overflow_y", "visibility", "cursor", "box_sizing", "transform", "transition",
                    "animation", "filter" } },
    { "Color", { "background_color", "text_color", "border_color", "line_color", "grid_color", "axis_color",
                 "bar_color", "label_color", "fill_color", "opacity", "color_palette", "primary_color",
                 "border_radius", "border_width", "border_style", "border", "border_top", "border_right",
                 "border_bottom", "border_left", "box_shadow", "text_shadow", "background_image", "background_size",
                 "background_position", "background_repeat" } },
    { "Layout", { "layout_type", "orientation", "padding", "margin", "gap", "alignment", "wrap", "flex_direction",
                  "justify_content", "align_items", "flex_wrap", "grid_template_columns", "grid_template_rows",
                  "grid_gap", "justify_items", "flex", "flex_grow", "flex_shrink", "flex_basis", "order",
                  "align_self" } },
};

static const struct enumeration {
    const char *name;
    const char *members[ARGUMENT_NAMES_MAX];
} enumerations[] = {
    { "InputFieldType", { "Text", "TextArea", "RichText", "Password", "Search", "Tags", "OTP", "Hidden", "Email",
                          "URL", "Tel", "Number", "Slider", "Spinner", "Rating", "Range", "Checkbox", "Toggle",
                          "Dropdown", "RadioGroup", "CheckboxGroup", "MultiSelect", "Date", "Time", "DateTime",
                          "DateRange", "File", "ImageUpload", "Color" } },
    { "AlertSeverity", { "Info", "Success", "Warning", "Error" } },
    { "ButtonType", { "RaisedButton", "TextButton", "OutlinedButton", "IconButton", "FloatingActionButton",
                      "DropdownButton", "ToggleButtons", "iOSStyleButton", "CustomizableButton" } },
    { "ButtonActionType", { "Navigate", "RunMethod", "Create", "Update", "Delete", "Add", "ShowList", "OpenForm",
                            "SubmitForm", "Cancel", "Save", "Confirm", "Search", "Filter", "Sort", "Send", "Share",
                            "Settings", "Back", "Next", "View", "Select", "Login", "Logout", "Help", "About", "Exit",
                            "Edit" } },
    { "EventType", { "OnClick", "OnSubmit", "OnHover", "OnScroll", "OnKeyPress" } },
    { "PositionType", { "STATIC", "RELATIVE", "ABSOLUTE", "FIXED", "STICKY", "INLINE" } },
    { "Alignment", { "START", "END", "CENTER", "STRETCH", "LEFT", "RIGHT", "TOP", "BOTTOM", "INSIDE", "OUTSIDE" } },
    { "LayoutType", { "GRID", "FLEX", "STACK", "ROW", "COLUMN", "ABSOLUTE" } },
    { "UnitSize", { "PIXELS", "PERCENTAGE", "EM", "REM", "VH", "VW", "AUTO" } },
    { "MapLayerType", { "points", "geojson", "choropleth", "heatmap" } },
};
/* clang-format on */

const char *const *buml_gui_positions(const char *class)
{
    size_t i;

    for (i = 0; i < ARRAY_LEN(positions); i++)
        if (strcmp(positions[i].class, class) == 0)
            return positions[i].names;
    return NULL;
}

const char *const *buml_gui_enumeration(const char *name)
{
    size_t i;

    for (i = 0; i < ARRAY_LEN(enumerations); i++)
        if (strcmp(enumerations[i].name, name) == 0)
            return enumerations[i].members;
    return NULL;
}

const char *buml_gui_member(const struct thing *t, const char *enumeration)
{
    const char *const *members = buml_gui_enumeration(enumeration);
    size_t i;

    if (!members || t->kind != THING_MEMBER || !t->text || strcmp(t->text, enumeration) != 0)
        return NULL;
    for (i = 0; members[i]; i++)
        if (strcmp(members[i], t->name) == 0)
            return members[i];
    return NULL;
}

const char *buml_gui_text(const struct thing *v, char number[static 40])
{
    switch (v->kind) {
    case THING_TEXT:
        return v->text;
    case THING_INT:
        if (v->big)
            return NULL;
        snprintf(number, 40, "%lld", (long long)v->integer);
        return number;
    case THING_FLOAT:
        snprintf(number, 40, "%.15g", v->number);
        return number;
    case THING_BOOL:
        return v->truth ? "True" : "False";
    default:
        return NULL;
    }
}

/* ---- styling ------------------------------------------------------------------------------------------------------
 */

struct styled {
    struct reader *r;
    const char *gui_id;
    struct gui_styling *to;
    enum style_part part;
};

/* Fields that are members of an enumeration, or a number. True: done. */
static bool set_special(const struct styled *s, const char *field, const struct thing *v)
{
    static const struct {
        enum style_part part;
        const char *field, *enumeration;
    } rows[] = {
        { STYLE_SIZE, "unit_size", "UnitSize" },
        { STYLE_POSITION, "p_type", "PositionType" },
        { STYLE_POSITION, "alignment", "Alignment" },
        { STYLE_LAYOUT, "layout_type", "LayoutType" },
    };
    const char **slots[] = { &s->to->unit_size, &s->to->p_type, &s->to->alignment, &s->to->layout_type };
    size_t i;

    if (s->part == STYLE_POSITION && strcmp(field, "z_index") == 0 && v->kind == THING_INT && !v->big) {
        s->to->has_z_index = true;
        s->to->z_index = v->integer;
        return true;
    }
    for (i = 0; i < ARRAY_LEN(rows); i++)
        if (rows[i].part == s->part && strcmp(rows[i].field, field) == 0) {
            const char *member = buml_gui_member(v, rows[i].enumeration);

            if (member)
                *slots[i] = member;
            return member;
        }
    return false;
}

static bool has_field(enum style_part part, const char *field)
{
    const struct style_field *f;
    size_t i;

    for (i = 0; (f = gui_style_field(i)); i++)
        if (f->part == part && strcmp(f->field, field) == 0)
            return true;
    return false;
}

static int set_field(const struct styled *s, const char *field, const struct thing *v)
{
    char number[40];
    const char *text = buml_gui_text(v, number);

    if (v->kind == THING_NONE || set_special(s, field, v))
        return 0;
    if (strcmp(field, "color_palette") == 0 && text && strcmp(text, "default") == 0)
        return 0; /* what nobody set */
    if (!text || !has_field(s->part, field))
        return buml_warn(s->r, v->node, "GUI \"%s\": %s of %s cannot be kept; it is left out", SHOWN(s->gui_id),
                         SHOWN(field), gui_style_part_class(s->part));
    if (buml_charge(s->r, strlen(text) + 1) < 0)
        return -1;
    return gui_styling_set(s->to, s->part, field, text) < 0 ? buml_nomem(s->r) : 0;
}

static int set_part(struct styled *s, const struct thing *t, enum style_part part)
{
    size_t i;

    if (t->kind != THING_OBJECT || t->callee || !t->name || strcmp(t->name, gui_style_part_class(part)) != 0)
        return buml_warn(s->r, t->node, "GUI \"%s\": %s is no %s; it is left out", SHOWN(s->gui_id), thing_title(t),
                         gui_style_part_class(part));
    s->part = part;
    for (i = 0; i < t->len; i++)
        if (set_field(s, t->keys[i]->text, t->items[i]) < 0)
            return -1;
    return 0;
}

static int begin(struct styled *s, struct gui_styling **styling)
{
    if (!*styling)
        *styling = gui_styling_new();
    s->to = *styling;
    return s->to ? 0 : buml_nomem(s->r);
}

int buml_gui_styling(struct reader *r, const char *gui_id, const struct thing *t, struct gui_styling **styling)
{
    static const char *const names[STYLE__PARTS] = { "size", "position", "color", "layout" };
    struct styled s = { .r = r, .gui_id = gui_id };
    int part;

    if (t->kind != THING_OBJECT || t->callee || !t->name || strcmp(t->name, "Styling") != 0)
        return buml_warn(r, t->node, "GUI \"%s\": styling is %s; it is left out", SHOWN(gui_id), thing_title(t));
    if (begin(&s, styling) < 0)
        return -1;
    for (part = 0; part < STYLE__PARTS; part++) {
        const struct thing *v = thing_get(t, names[part]);

        if (v && v->kind != THING_NONE && set_part(&s, v, (enum style_part)part) < 0)
            return -1;
    }
    return 0;
}

int buml_gui_layout(struct reader *r, const char *gui_id, const struct thing *t, struct gui_styling **styling)
{
    struct styled s = { .r = r, .gui_id = gui_id };

    return begin(&s, styling) < 0 ? -1 : set_part(&s, t, STYLE_LAYOUT);
}
