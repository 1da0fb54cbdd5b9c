/* Charts and widgets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "shared/base/mem.h"
#include "tests/support/gui.h"

static void options_have_the_editors_defaults(void **state)
{
    static const struct gui_row rows[] = {
        { "{'type': 'line-chart'}",
          "    title='Linechart',\n    line_width=2,\n    show_grid=True,\n    show_legend=True,\n    "
          "show_tooltip=True,\n"
          "    curve_type='monotone',\n    animate=True,\n    legend_position='top',\n    grid_color='#e0e0e0',\n"
          "    dot_size=5,\n" },
        { "{'type': 'bar-chart'}",
          "    title='Barchart',\n    bar_width=30,\n    orientation='vertical',\n    show_grid=True,\n"
          "    show_legend=True,\n    show_tooltip=True,\n    stacked=False,\n    animate=True,\n"
          "    legend_position='top',\n    grid_color='#e0e0e0',\n    bar_gap=4,\n" },
        { "{'type': 'pie-chart'}",
          "    title='Piechart',\n    show_legend=True,\n    legend_position=Alignment.LEFT,\n    show_labels=True,\n"
          "    label_position=Alignment.INSIDE,\n    padding_angle=0,\n    inner_radius=0,\n    outer_radius=80,\n"
          "    start_angle=0,\n    end_angle=360,\n" },
        { "{'type': 'radar-chart'}",
          "    title='Radarchart',\n    show_grid=True,\n    show_tooltip=True,\n    show_radius_axis=True,\n"
          "    show_legend=True,\n    legend_position='top',\n    dot_size=3,\n    grid_type='polygon',\n"
          "    stroke_width=2,\n" },
        { "{'type': 'radial-bar-chart'}",
          "    title='Radialbarchart',\n    start_angle=0,\n    end_angle=360,\n    inner_radius=30,\n"
          "    outer_radius=80,\n    show_legend=True,\n    legend_position='top',\n    show_tooltip=True,\n" },
        { "{'type': 'table'}",
          "    title='Table',\n    show_header=True,\n    striped_rows=False,\n    show_pagination=True,\n"
          "    rows_per_page=5,\n    action_buttons=False,\n" },
        { "{'type': 'metric-card'}",
          "    metric_title='Metric Title',\n    format='number',\n    value_color='#2c3e50',\n    value_size=32,\n"
          "    show_trend=True,\n    positive_color='#27ae60',\n    negative_color='#e74c3c',\n"
          "    primary_color='#2c3e50',\n" },
        { "{'type': 'map'}",
          "title='Location Map',\n    center_latitude=0.0,\n    center_longitude=0.0,\n    zoom=10,\n" },
        { "{'type': 'agent-component'}",
          "description='Agent component for agent',\n    agent_name='',\n    agent_title='BESSER Agent',\n" },
    };

    (void)state;
    expect_rows(rows, ARRAY_LEN(rows));
}

static void options_are_read_and_repaired(void **state)
{
    static const struct gui_row rows[] = {
        { "{'type': 'line-chart', 'attributes': {'line-width': ' +3 ', 'dot-size': 4.9, 'show-grid': 'FALSE',"
          " 'show-legend': 'yes', 'animate': 0, 'curve-type': ''}}",
          "line_width=3,\n    show_grid=False,\n    show_legend=False,\n    show_tooltip=True,\n    curve_type='',\n"
          "    animate=False,\n    legend_position='top',\n    grid_color='#e0e0e0',\n    dot_size=4,\n" },
        { "{'type': 'line-chart', 'attributes': {'line-width': '3.5', 'dot-size': 1e999, 'show-grid': ' True ',"
          " 'show-legend': null, 'curve-type': [], 'grid-color': null}}",
          "line_width=2,\n    show_grid=True,\n    show_legend=True,\n    show_tooltip=True,\n"
          "    curve_type='monotone',\n    animate=True,\n    legend_position='top',\n    grid_color='#e0e0e0',\n"
          "    dot_size=5,\n" },
        { "{'type': 'pie-chart', 'attributes': {'legend-position': 'bottom', 'label-position': 'outside'}}",
          "legend_position=Alignment.BOTTOM,\n    show_labels=True,\n    label_position=Alignment.OUTSIDE," },
        { "{'type': 'pie-chart', 'attributes': {'legend-position': 'up', 'outer-radius': '99999999999999999999'}}",
          "legend_position=Alignment.LEFT,\n    show_labels=True,\n    label_position=Alignment.INSIDE,\n"
          "    padding_angle=0,\n    inner_radius=0,\n    outer_radius=80,\n" },
        { "{'type': 'bar-chart', 'attributes': {'chart-title': ' Sales  2024 '}}", "title='Sales  2024'," },
        { "{'type': 'bar-chart', 'attributes': {'chart-title': ' '}}", "title='Barchart'," },
        { "{'type': 'map', 'attributes': {'map-latitude': '-49.6', 'map-longitude': 'x', 'map-zoom': 3, 'map-title':"
          " ''}}",
          "center_latitude=-49.6,\n    center_longitude=0.0,\n    zoom=3,\n" },
        { "{'type': 'agent-component', 'attributes': {'agent-name': 'helper'}}", "'Agent component for helper'" },
    };

    (void)state;
    expect_rows(rows, ARRAY_LEN(rows));
}

static void a_colour_is_also_the_styling_of_its_kind(void **state)
{
    static const struct gui_row rows[] = {
        { "{'type': 'line-chart', 'attributes': {'chart-color': '#1'}}", "primary_color='#1'," },
        { "{'type': 'line-chart', 'attributes': {'chart-color': '#1'}}", "Color(line_color='#1'" },
        { "{'type': 'bar-chart', 'attributes': {'color': 'red'}}", "bar_color='red'" },
        { "{'type': 'pie-chart', 'attributes': {'chart-color': '#1'}}", "Color(color_palette='#1')" },
        { "{'type': 'table', 'attributes': {'chart-color': '#1'}}", "primary_color='#1'))" },
    };

    (void)state;
    expect_rows(rows, ARRAY_LEN(rows));
}

static void series_come_as_list_or_as_json(void **state)
{
    static const struct gui_row rows[] = {
        { "{'type': 'line-chart', 'attributes': {'series': [{'name': 'A b-c', 'color': 'red'}]}}",
          "series=[Series(name='A_b_c', label='A b-c', data_binding=None, styling=Styling(color=Color(background_color="
          "'red', line_color='red', color_palette='default', primary_color='red')))]," },
        { "{'type': 'pie-chart', 'series': '[{\\\"name\\\": \\\"x\\\", \\\"color\\\": \\\"red\\\"}, {}]'}",
          "Series(name='Series', label='Series', data_binding=None, styling=None)]," },
        { "{'type': 'bar-chart', 'series': [{'name': '', 'styling': {'width': '5px'}}, 5]}",
          "series=[Series(name='Series', label=None, data_binding=None, styling=Styling(size=Size(width='5px', "
          "unit_size=UnitSize.PIXELS), color=Color(color_palette='default'))), Series(name='Series'" },
    };
    static const char *const none[] = { "{'type': 'bar-chart', 'series': '{'}", "{'type': 'bar-chart', 'series': '{}'}",
                                        "{'type': 'bar-chart', 'series': {'a': 1}}" };
    size_t i;

    (void)state;
    expect_rows(rows, ARRAY_LEN(rows));
    for (i = 0; i < ARRAY_LEN(none); i++) {
        auto_free char *text = test_components_python(none[i]);

        assert_lacks(text, "series=");
    }
}

static void only_computed_columns_and_plain_layers_are_kept(void **state)
{
    static const struct gui_row rows[] = {
        { "{'type': 'table', 'attributes': {'columns': [{'columnType': 'field', 'field': 'x'}, {'columnType':"
          " 'Expression', 'label': 'L', 'expression': 'a+b'}, {'columnType': 'expression'}, 5]}}",
          "columns=[ExpressionColumn(label='L', expression='a+b')]," },
        { "{'type': 'map', 'attributes': {'map-layers': [{'name': 'My layer', 'type': 'heatmap'}, {'type': 'odd'}, "
          "1]}}",
          "map_2.layers = [MapLayer(name='My_layer', layer_type=MapLayerType.heatmap), MapLayer(name='layer')]\n" },
    };

    (void)state;
    expect_rows(rows, ARRAY_LEN(rows));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_have_the_editors_defaults),
        cmocka_unit_test(options_are_read_and_repaired),
        cmocka_unit_test(a_colour_is_also_the_styling_of_its_kind),
        cmocka_unit_test(series_come_as_list_or_as_json),
        cmocka_unit_test(only_computed_columns_and_plain_layers_are_kept),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
