/* The metamodel's classes as far as a GUI of an agent can have them: section 7.1 of the B-UML contract. */
#include <string.h>

#include "shared/base/mem.h"
#include "shared/gui/gui.h"

#define ARG(name, type, rule) \
    { \
        name, type, rule, NULL \
    }
#define OPT(name, type) \
    { \
        name, type, GUI_OPTIONAL, NULL \
    }
#define MEMBER(name, enumeration) \
    { \
        name, GUI_MEMBER, GUI_OPTIONAL, enumeration \
    }
#define NAME ARG("name", GUI_TEXT, GUI_NEEDED)
#define DESCRIPTION ARG("description", GUI_TEXT, GUI_NEEDED)

static const struct gui_argument model[] = {
    NAME,
    ARG("package", GUI_TEXT, GUI_NEEDED),
    ARG("versionCode", GUI_TEXT, GUI_NEEDED),
    ARG("versionName", GUI_TEXT, GUI_NEEDED),
    ARG("modules", GUI_SET, GUI_NEEDED),
    DESCRIPTION,
    OPT("stylesheet", GUI_TEXT),
};
static const struct gui_argument module[] = { NAME, ARG("screens", GUI_SET, GUI_NEEDED) };
static const struct gui_argument screen[] = {
    NAME,
    DESCRIPTION,
    ARG("view_elements", GUI_SET, GUI_NEEDED),
    OPT("is_main_page", GUI_BOOL),
    OPT("route_path", GUI_TEXT),
    OPT("x_dpi", GUI_TEXT),
    OPT("y_dpi", GUI_TEXT),
    OPT("screen_size", GUI_TEXT),
};

static const struct gui_argument container[] = { NAME, DESCRIPTION, ARG("view_elements", GUI_SET, GUI_NEEDED) };
static const struct gui_argument component[] = { NAME, DESCRIPTION };
static const struct gui_argument words[] = { NAME, ARG("content", GUI_TEXT, GUI_NEEDED), DESCRIPTION };
static const struct gui_argument image[] = { NAME, DESCRIPTION, OPT("source", GUI_TEXT) };
static const struct gui_argument link[] = {
    NAME,
    DESCRIPTION,
    ARG("label", GUI_TEXT, GUI_NEEDED),
    OPT("url", GUI_TEXT),
    OPT("target", GUI_TEXT),
    OPT("rel", GUI_TEXT),
};
static const struct gui_argument button[] = {
    NAME,
    DESCRIPTION,
    ARG("label", GUI_TEXT, GUI_NEEDED),
    MEMBER("buttonType", "ButtonType"),
    MEMBER("actionType", "ButtonActionType"),
    OPT("instance_source", GUI_TEXT),
    OPT("is_instance_method", GUI_BOOL),
    OPT("confirmation_required", GUI_BOOL),
    OPT("confirmation_message", GUI_TEXT),
    ARG("targetScreen", GUI_TARGET, GUI_LATE),
};
static const struct gui_argument input[] = {
    NAME,
    DESCRIPTION,
    MEMBER("field_type", "InputFieldType"),
    OPT("label", GUI_TEXT),
    OPT("placeholder", GUI_TEXT),
    OPT("required", GUI_BOOL),
    OPT("default_value", GUI_TEXT),
    OPT("options", GUI_LIST),
    OPT("min_value", GUI_FLOAT),
    OPT("max_value", GUI_FLOAT),
    OPT("step", GUI_FLOAT),
    OPT("multiple", GUI_BOOL),
    OPT("validationRules", GUI_TEXT),
};
static const struct gui_argument form[] = {
    NAME, DESCRIPTION, ARG("inputFields", GUI_SET, GUI_NEEDED), OPT("title", GUI_TEXT), OPT("submit_label", GUI_TEXT),
};
static const struct gui_argument alert[] = {
    NAME,
    DESCRIPTION,
    ARG("content", GUI_TEXT, GUI_NEEDED),
    MEMBER("severity", "AlertSeverity"),
    OPT("title", GUI_TEXT),
    OPT("dismissible", GUI_BOOL),
};
/* A list where the contract has a set: users see the items in this order, and a set has none. Whoever reads a set of
 * items reads a list of them as well. */
static const struct gui_argument menu[] = { NAME, DESCRIPTION, ARG("menuItems", GUI_LIST, GUI_NEEDED) };
static const struct gui_argument data_list[] = { NAME, DESCRIPTION, ARG("list_sources", GUI_SET, GUI_NEEDED) };
static const struct gui_argument embedded[] = {
    NAME,
    DESCRIPTION,
    OPT("source", GUI_TEXT),
    OPT("content_type", GUI_TEXT),
};

#define CHART NAME, OPT("series", GUI_LIST), OPT("title", GUI_TEXT), OPT("primary_color", GUI_TEXT)
static const struct gui_argument line_chart[] = {
    CHART,
    OPT("line_width", GUI_INT),
    OPT("show_grid", GUI_BOOL),
    OPT("show_legend", GUI_BOOL),
    OPT("show_tooltip", GUI_BOOL),
    OPT("curve_type", GUI_TEXT),
    OPT("animate", GUI_BOOL),
    OPT("legend_position", GUI_TEXT),
    OPT("grid_color", GUI_TEXT),
    OPT("dot_size", GUI_INT),
};
static const struct gui_argument bar_chart[] = {
    CHART,
    OPT("bar_width", GUI_INT),
    OPT("orientation", GUI_TEXT),
    OPT("show_grid", GUI_BOOL),
    OPT("show_legend", GUI_BOOL),
    OPT("show_tooltip", GUI_BOOL),
    OPT("stacked", GUI_BOOL),
    OPT("animate", GUI_BOOL),
    OPT("legend_position", GUI_TEXT),
    OPT("grid_color", GUI_TEXT),
    OPT("bar_gap", GUI_INT),
};
static const struct gui_argument pie_chart[] = {
    CHART,
    OPT("show_legend", GUI_BOOL),
    MEMBER("legend_position", "Alignment"),
    OPT("show_labels", GUI_BOOL),
    MEMBER("label_position", "Alignment"),
    OPT("padding_angle", GUI_INT),
    OPT("inner_radius", GUI_INT),
    OPT("outer_radius", GUI_INT),
    OPT("start_angle", GUI_INT),
    OPT("end_angle", GUI_INT),
};
static const struct gui_argument radar_chart[] = {
    CHART,
    OPT("show_grid", GUI_BOOL),
    OPT("show_tooltip", GUI_BOOL),
    OPT("show_radius_axis", GUI_BOOL),
    OPT("show_legend", GUI_BOOL),
    OPT("legend_position", GUI_TEXT),
    OPT("dot_size", GUI_INT),
    OPT("grid_type", GUI_TEXT),
    OPT("stroke_width", GUI_INT),
};
static const struct gui_argument radial_chart[] = {
    CHART,
    OPT("start_angle", GUI_INT),
    OPT("end_angle", GUI_INT),
    OPT("inner_radius", GUI_INT),
    OPT("outer_radius", GUI_INT),
    OPT("show_legend", GUI_BOOL),
    OPT("legend_position", GUI_TEXT),
    OPT("show_tooltip", GUI_BOOL),
};
static const struct gui_argument table[] = {
    NAME,
    OPT("title", GUI_TEXT),
    OPT("primary_color", GUI_TEXT),
    OPT("show_header", GUI_BOOL),
    OPT("striped_rows", GUI_BOOL),
    OPT("show_pagination", GUI_BOOL),
    OPT("rows_per_page", GUI_INT),
    OPT("action_buttons", GUI_BOOL),
    OPT("columns", GUI_LIST),
};
static const struct gui_argument metric_card[] = {
    NAME,
    OPT("metric_title", GUI_TEXT),
    OPT("format", GUI_TEXT),
    OPT("value_color", GUI_TEXT),
    OPT("value_size", GUI_INT),
    OPT("show_trend", GUI_BOOL),
    OPT("positive_color", GUI_TEXT),
    OPT("negative_color", GUI_TEXT),
    OPT("title", GUI_TEXT),
    OPT("primary_color", GUI_TEXT),
};
static const struct gui_argument map[] = {
    NAME,
    OPT("title", GUI_TEXT),
    OPT("center_latitude", GUI_FLOAT),
    OPT("center_longitude", GUI_FLOAT),
    OPT("zoom", GUI_INT),
    ARG("layers", GUI_LIST, GUI_AFTER),
};
static const struct gui_argument agent[] = {
    NAME,
    DESCRIPTION,
    OPT("agent_name", GUI_TEXT),
    OPT("agent_title", GUI_TEXT),
};

static const struct gui_argument option[] = { ARG("value", GUI_TEXT, GUI_NEEDED), ARG("label", GUI_TEXT, GUI_NEEDED) };
static const struct gui_argument menu_item[] = {
    ARG("label", GUI_TEXT, GUI_NEEDED),
    OPT("url", GUI_TEXT),
    OPT("target", GUI_TEXT),
    OPT("rel", GUI_TEXT),
};
static const struct gui_argument source[] = {
    NAME,
    ARG("field_names", GUI_TEXTS, GUI_AFTER),
    ARG("label_field_name", GUI_TEXT, GUI_AFTER),
    ARG("value_field_name", GUI_TEXT, GUI_AFTER),
};
static const struct gui_argument series[] = {
    NAME,
    ARG("label", GUI_TEXT, GUI_NEEDED),
    ARG("data_binding", GUI_NOTHING, GUI_NEEDED),
    ARG("styling", GUI_STYLING, GUI_NEEDED),
};
static const struct gui_argument column[] = {
    ARG("label", GUI_TEXT, GUI_NEEDED),
    ARG("expression", GUI_TEXT, GUI_NEEDED),
};
static const struct gui_argument layer[] = { NAME, MEMBER("layer_type", "MapLayerType") };

static const struct gui_argument event[] = {
    NAME,
    MEMBER("event_type", "EventType"),
    ARG("actions", GUI_SET, GUI_NEEDED),
};
static const struct gui_argument transition[] = {
    NAME,
    DESCRIPTION,
    ARG("target_screen", GUI_TARGET, GUI_NEEDED),
    OPT("parameters", GUI_SET),
};
static const struct gui_argument change[] = {
    NAME,
    DESCRIPTION,
    ARG("target_class", GUI_NOTHING, GUI_NEEDED),
    OPT("parameters", GUI_SET),
};
static const struct gui_argument parameter[] = {
    NAME,
    ARG("param_type", GUI_TEXT, GUI_NEEDED),
    ARG("value", GUI_TEXT, GUI_NEEDED),
};

#define CLASS(name, arguments) \
    { \
        name, arguments, ARRAY_LEN(arguments), false, false \
    }
#define ELEMENT(name, arguments) \
    { \
        name, arguments, ARRAY_LEN(arguments), true, false \
    }
#define IN_PLACE(name, arguments) \
    { \
        name, arguments, ARRAY_LEN(arguments), false, true \
    }
static const struct gui_class classes[GUI__KINDS] = {
    [GUI_MODEL] = CLASS("GUIModel", model),
    [GUI_MODULE] = CLASS("Module", module),
    [GUI_SCREEN] = CLASS("Screen", screen),
    [GUI_CONTAINER] = ELEMENT("ViewContainer", container),
    [GUI_COMPONENT] = ELEMENT("ViewComponent", component),
    [GUI_WORDS] = ELEMENT("Text", words),
    [GUI_IMAGE] = ELEMENT("Image", image),
    [GUI_LINK] = ELEMENT("Link", link),
    [GUI_BUTTON] = ELEMENT("Button", button),
    [GUI_INPUT] = ELEMENT("InputField", input),
    [GUI_FORM] = ELEMENT("Form", form),
    [GUI_ALERT] = ELEMENT("Alert", alert),
    [GUI_MENU] = ELEMENT("Menu", menu),
    [GUI_DATA_LIST] = ELEMENT("DataList", data_list),
    [GUI_EMBEDDED] = ELEMENT("EmbeddedContent", embedded),
    [GUI_LINE_CHART] = ELEMENT("LineChart", line_chart),
    [GUI_BAR_CHART] = ELEMENT("BarChart", bar_chart),
    [GUI_PIE_CHART] = ELEMENT("PieChart", pie_chart),
    [GUI_RADAR_CHART] = ELEMENT("RadarChart", radar_chart),
    [GUI_RADIAL_CHART] = ELEMENT("RadialBarChart", radial_chart),
    [GUI_TABLE] = ELEMENT("Table", table),
    [GUI_METRIC_CARD] = ELEMENT("MetricCard", metric_card),
    [GUI_MAP] = ELEMENT("Map", map),
    [GUI_AGENT] = ELEMENT("AgentComponent", agent),
    [GUI_OPTION] = IN_PLACE("SelectOption", option),
    [GUI_MENU_ITEM] = IN_PLACE("MenuItem", menu_item),
    [GUI_SOURCE] = CLASS("DataSourceElement", source),
    [GUI_SERIES] = IN_PLACE("Series", series),
    [GUI_COLUMN] = IN_PLACE("ExpressionColumn", column),
    [GUI_LAYER] = IN_PLACE("MapLayer", layer),
    [GUI_EVENT] = CLASS("Event", event),
    [GUI_TRANSITION] = CLASS("Transition", transition),
    [GUI_CREATE] = CLASS("Create", change),
    [GUI_READ] = CLASS("Read", change),
    [GUI_UPDATE] = CLASS("Update", change),
    [GUI_DELETE] = CLASS("Delete", change),
    [GUI_PARAMETER] = IN_PLACE("Parameter", parameter),
};

const struct gui_class *gui_class(enum gui_kind kind)
{
    return &classes[kind];
}

int gui_class_find(const char *name, enum gui_kind *ret)
{
    int kind;

    for (kind = 0; kind < GUI__KINDS; kind++)
        if (strcmp(classes[kind].name, name) == 0) {
            *ret = (enum gui_kind)kind;
            return 0;
        }
    return -1;
}
