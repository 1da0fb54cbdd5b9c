/* Charts and widgets: options are rows of a table (section 7.3), the rest is what the kinds have of their own. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "shared/base/mem.h"
#include "shared/diagram/text.h"
#include "shared/gui/reader.h"

/* The argument is the attribute with _ for -. */
struct option_row {
    const char *attribute;
    enum gui_type type;
    int64_t number;   /* default of GUI_INT and GUI_BOOL */
    const char *text; /* default of GUI_TEXT */
};
#define INT(attribute, absent) \
    { \
        attribute, GUI_INT, absent, NULL \
    }
#define BOOL(attribute, absent) \
    { \
        attribute, GUI_BOOL, absent, NULL \
    }
#define WORD(attribute, absent) \
    { \
        attribute, GUI_TEXT, 0, absent \
    }
#define END \
    { \
        NULL, GUI_TEXT, 0, NULL \
    }

static const struct option_row line_options[] = {
    INT("line-width", 2),
    BOOL("show-grid", true),
    BOOL("show-legend", true),
    BOOL("show-tooltip", true),
    WORD("curve-type", "monotone"),
    BOOL("animate", true),
    WORD("legend-position", "top"),
    WORD("grid-color", "#e0e0e0"),
    INT("dot-size", 5),
    END,
};
static const struct option_row bar_options[] = {
    INT("bar-width", 30),
    WORD("orientation", "vertical"),
    BOOL("show-grid", true),
    BOOL("show-legend", true),
    BOOL("show-tooltip", true),
    BOOL("stacked", false),
    BOOL("animate", true),
    WORD("legend-position", "top"),
    WORD("grid-color", "#e0e0e0"),
    INT("bar-gap", 4),
    END,
};
static const struct option_row pie_options[] = {
    BOOL("show-legend", true), BOOL("show-labels", true), INT("padding-angle", 0), INT("inner-radius", 0),
    INT("outer-radius", 80),   INT("start-angle", 0),     INT("end-angle", 360),   END,
};
static const struct option_row radar_options[] = {
    BOOL("show-grid", true),      BOOL("show-tooltip", true),     BOOL("show-radius-axis", true),
    BOOL("show-legend", true),    WORD("legend-position", "top"), INT("dot-size", 3),
    WORD("grid-type", "polygon"), INT("stroke-width", 2),         END,
};
static const struct option_row radial_options[] = {
    INT("start-angle", 0),     INT("end-angle", 360),          INT("inner-radius", 30),    INT("outer-radius", 80),
    BOOL("show-legend", true), WORD("legend-position", "top"), BOOL("show-tooltip", true), END,
};
static const struct option_row table_options[] = {
    BOOL("show-header", true), BOOL("striped-rows", false),   BOOL("show-pagination", true),
    INT("rows-per-page", 5),   BOOL("action-buttons", false), END,
};
static const struct option_row metric_options[] = {
    WORD("metric-title", "Metric Title"),
    WORD("format", "number"),
    WORD("value-color", "#2c3e50"),
    INT("value-size", 32),
    BOOL("show-trend", true),
    WORD("positive-color", "#27ae60"),
    WORD("negative-color", "#e74c3c"),
    END,
};
static const struct option_row agent_options[] = {
    WORD("agent-name", ""),
    WORD("agent-title", "BESSER Agent"),
    END,
};

static int set_option(struct gui_reader *r, const struct component *c, const struct option_row *row,
                      struct gui_object *o)
{
    const struct value *v = value_get(c->attributes, row->attribute);
    char argument[32], *p;
    const char *text;

    snprintf(argument, sizeof(argument), "%s", row->attribute);
    for (p = argument; *p; p++)
        if (*p == '-')
            *p = '_';
    if (row->type == GUI_INT) {
        gui_set_int(o, argument, gui_int(v, row->number));
    } else if (row->type == GUI_BOOL) {
        gui_set_bool(o, argument, gui_bool(v, row->number));
    } else {
        text = TEXT(v);
        return gui_reader_text(r, o, argument, text ? text : row->text);
    }
    return 0;
}

static int set_options(struct gui_reader *r, const struct component *c, const struct option_row *rows,
                       struct gui_object *o)
{
    for (; rows->attribute; rows++)
        if (set_option(r, c, rows, o) < 0)
            return -1;
    return 0;
}

/* ---- title and colour ---------------------------------------------------------------------------------------------
 */

static int set_title(struct gui_reader *r, const struct component *c, const char *absent, struct gui_object *o)
{
    const char *given = gui_string(value_get(c->attributes, "chart-title"));
    auto_free char *title = given ? text_trim(given) : NULL;

    if (given && !title)
        return err_nomem(r->err);
    return gui_reader_text(r, o, "title", title && *title ? title : absent);
}

/* role: the colour field of this kind's styling. */
static int set_color(struct gui_reader *r, const struct component *c, const char *role, struct gui_object *o)
{
    const char *color = gui_string(value_get(c->attributes, "chart-color"));
    const char *styled = gui_string(FIRST(c->attributes, "chart-color", "color"));

    if (color && !text_is_blank(color) && gui_reader_text(r, o, "primary_color", color) < 0)
        return -1;
    if (!styled)
        return 0;
    if (!o->styling)
        o->styling = gui_styling_new();
    if (!o->styling || gui_styling_set(o->styling, STYLE_COLOR, role, styled) < 0)
        return err_nomem(r->err);
    return 0;
}

/* ---- series -------------------------------------------------------------------------------------------------------
 */

static int style_series(struct gui_reader *r, const struct value *json, const char *role, struct gui_object *o)
{
    const char *color = gui_string(value_get(json, "color"));
    const struct value *css = value_get(json, "styling");

    if (!color || text_is_blank(color))
        return css && css->kind == VALUE_OBJECT ? gui_reader_style_object(r, css, &o->styling) : 0;
    o->styling = gui_styling_new();
    if (!o->styling || gui_styling_set(o->styling, STYLE_COLOR, "primary_color", color) < 0 ||
        gui_styling_set(o->styling, STYLE_COLOR, "background_color", color) < 0 ||
        (role && gui_styling_set(o->styling, STYLE_COLOR, role, color) < 0))
        return err_nomem(r->err);
    return 0;
}

static int add_series(struct gui_reader *r, const struct value *json, const char *role, struct gui_object *chart)
{
    const struct value *given = value_get(json, "name");
    const char *name = given ? TEXT(given) : "Series";
    struct gui_object *o = gui_reader_object(r, GUI_SERIES);

    if (!o)
        return -1;
    if (gui_reader_plain_name(r, name, "Series", o) < 0 ||
        gui_reader_text(r, o, "label", name && *name ? name : NULL) < 0 || style_series(r, json, role, o) < 0) {
        gui_object_free(o);
        return -1;
    }
    return gui_reader_part(r, chart, o);
}

static int read_series(struct gui_reader *r, const struct component *c, const char *role, struct gui_object *chart)
{
    struct list l;
    size_t i;
    int rc = gui_list(r, gui_attribute_or_member(c, "series", "series"), &l);

    for (i = 0; rc == 0 && i < l.array->len; i++)
        rc = add_series(r, &l.array->items[i], role, chart);
    gui_list_release(&l);
    return rc;
}

/* ---- charts -------------------------------------------------------------------------------------------------------
 */

struct place {
    const char *word, *member;
};

static const char *place_of(const struct component *c, const char *attribute, const struct place *places, size_t len)
{
    const char *word = gui_string(value_get(c->attributes, attribute));
    size_t i;

    for (i = 0; word && i < len; i++)
        if (strcmp(places[i].word, word) == 0)
            return places[i].member;
    return places[0].member;
}

static void set_places(const struct component *c, struct gui_object *pie)
{
    static const struct place legend[] = {
        { "left", "LEFT" }, { "top", "TOP" }, { "right", "RIGHT" }, { "bottom", "BOTTOM" }
    };
    static const struct place label[] = { { "inside", "INSIDE" }, { "outside", "OUTSIDE" } };

    gui_set_member(pie, "legend_position", place_of(c, "legend-position", legend, ARRAY_LEN(legend)));
    gui_set_member(pie, "label_position", place_of(c, "label-position", label, ARRAY_LEN(label)));
}

static const struct chart_row {
    const char *type;
    enum gui_kind kind;
    const char *title, *role, *series_role;
    const struct option_row *options;
} chart_rows[] = {
    { "line-chart", GUI_LINE_CHART, "Linechart", "line_color", "line_color", line_options },
    { "bar-chart", GUI_BAR_CHART, "Barchart", "bar_color", "bar_color", bar_options },
    { "pie-chart", GUI_PIE_CHART, "Piechart", "color_palette", NULL, pie_options },
    { "radar-chart", GUI_RADAR_CHART, "Radarchart", "line_color", "line_color", radar_options },
    { "radial-bar-chart", GUI_RADIAL_CHART, "Radialbarchart", "bar_color", "bar_color", radial_options },
};

static int finish(struct gui_object *o, int rc, struct gui_object **ret)
{
    if (rc < 0)
        gui_object_free(o);
    else
        *ret = o;
    return rc;
}

int gui_read_chart(struct gui_reader *r, const struct component *c, struct gui_object **ret)
{
    const struct chart_row *row = chart_rows;
    struct gui_object *o;
    int rc = -1;

    while (strcasecmp(row->type, c->type) != 0)
        row++;
    o = gui_reader_element(r, c, row->kind, gui_class(row->kind)->name, NULL);
    if (!o)
        return -1;
    if (set_title(r, c, row->title, o) == 0 && set_color(r, c, row->role, o) == 0 &&
        set_options(r, c, row->options, o) == 0)
        rc = read_series(r, c, row->series_role, o);
    if (row->kind == GUI_PIE_CHART)
        set_places(c, o);
    return finish(o, rc, ret);
}

/* ---- widgets ------------------------------------------------------------------------------------------------------
 */

/* Columns that show a field need a class; those that compute are kept. */
static int add_column(struct gui_reader *r, const struct value *json, struct gui_object *table)
{
    const char *type = gui_string(value_get(json, "columnType")), *label = TEXT(value_get(json, "label"));
    const char *expression = gui_string(FIRST(json, "expression"));
    struct gui_object *o;

    if (!type || strcasecmp(type, "expression") != 0 || !expression)
        return 0;
    o = gui_reader_object(r, GUI_COLUMN);
    if (!o)
        return -1;
    if (gui_reader_text(r, o, "label", label) < 0 || gui_reader_text(r, o, "expression", expression) < 0) {
        gui_object_free(o);
        return -1;
    }
    return gui_reader_part(r, table, o);
}

static int read_columns(struct gui_reader *r, const struct component *c, struct gui_object *table)
{
    struct list l;
    size_t i;
    int rc = gui_list(r, value_get(c->attributes, "columns"), &l);

    for (i = 0; rc == 0 && i < l.array->len; i++)
        rc = add_column(r, &l.array->items[i], table);
    gui_list_release(&l);
    return rc;
}

int gui_read_table(struct gui_reader *r, const struct component *c, struct gui_object **ret)
{
    struct gui_object *o = gui_reader_element(r, c, GUI_TABLE, "Table", NULL);
    int rc = -1;

    if (o && set_title(r, c, "Table", o) == 0 && set_color(r, c, "primary_color", o) == 0 &&
        set_options(r, c, table_options, o) == 0)
        rc = read_columns(r, c, o);
    return finish(o, rc, ret);
}

int gui_read_metric_card(struct gui_reader *r, const struct component *c, struct gui_object **ret)
{
    struct gui_object *o = gui_reader_element(r, c, GUI_METRIC_CARD, "MetricCard", NULL);
    int rc = -1;

    if (o && set_options(r, c, metric_options, o) == 0)
        rc = gui_reader_text(r, o, "primary_color", gui_text(o, "value_color"));
    return finish(o, rc, ret);
}

int gui_read_agent(struct gui_reader *r, const struct component *c, struct gui_object **ret)
{
    struct gui_object *o = gui_reader_element(r, c, GUI_AGENT, "AgentComponent", NULL);
    auto_buf struct buf text;
    const char *name;
    int rc = -1;

    buf_init(&text, SIZE_MAX / 2);
    if (!o || set_options(r, c, agent_options, o) < 0)
        return finish(o, -1, ret);
    name = gui_text(o, "agent_name");
    buf_add_str(&text, "Agent component for ");
    buf_add_str(&text, *name ? name : "agent");
    rc = buf_failed(&text) ? err_nomem(r->err) : gui_reader_text(r, o, "description", text.data);
    return finish(o, rc, ret);
}

static int add_layer(struct gui_reader *r, const struct value *json, struct gui_object *map)
{
    static const char *const types[] = { "points", "geojson", "choropleth", "heatmap" };
    const char *type = gui_string(value_get(json, "type"));
    struct gui_object *o;
    size_t i;

    if (json->kind != VALUE_OBJECT)
        return 0;
    o = gui_reader_object(r, GUI_LAYER);
    if (!o)
        return -1;
    for (i = 0; type && i < ARRAY_LEN(types); i++)
        if (strcmp(types[i], type) == 0)
            gui_set_member(o, "layer_type", types[i]);
    if (gui_reader_clean_name(r, TEXT(value_get(json, "name")), "layer", o) < 0) {
        gui_object_free(o);
        return -1;
    }
    return gui_reader_part(r, map, o);
}

static int read_layers(struct gui_reader *r, const struct component *c, struct gui_object *map)
{
    struct list l;
    size_t i;
    int rc = gui_list(r, value_get(c->attributes, "map-layers"), &l);

    for (i = 0; rc == 0 && i < l.array->len; i++)
        rc = add_layer(r, &l.array->items[i], map);
    gui_list_release(&l);
    return rc;
}

int gui_read_map(struct gui_reader *r, const struct component *c, struct gui_object **ret)
{
    struct gui_object *o = gui_reader_element(r, c, GUI_MAP, "Map", "iframe");
    const struct value *given = value_get(c->attributes, "map-title");
    const char *title = given ? TEXT(given) : "Location Map";
    double latitude = 0, longitude = 0;
    int rc = -1;

    if (o && gui_reader_text(r, o, "title", title && *title ? title : NULL) == 0) {
        gui_float(value_get(c->attributes, "map-latitude"), &latitude);
        gui_float(value_get(c->attributes, "map-longitude"), &longitude);
        gui_set_float(o, "center_latitude", latitude);
        gui_set_float(o, "center_longitude", longitude);
        gui_set_int(o, "zoom", gui_int(value_get(c->attributes, "map-zoom"), 10));
        rc = read_layers(r, c, o);
    }
    return finish(o, rc, ret);
}
