/* Pages, components, names: what a design becomes. Inputs, styles and charts have tests of their own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "shared/base/buf.h"
#include "shared/base/err.h"
#include "shared/base/mem.h"
#include "shared/gui/read.h"
#include "tests/support/gui.h"
#include "tests/support/oom.h"

/* ---- pages --------------------------------------------------------------------------------------------------------
 */

static void no_design_is_a_gui_without_screens(void **state)
{
    static const char *const designs[] = {
        "null", "{}", "[]", "'x'", "{'pages': 5}", "{'pages': [1, null, {}]}", "{'pages': [{'frames': {}}]}"
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(designs); i++) {
        struct gui_object *model = test_gui(designs[i]);

        assert_int_equal(model->parts_len, 1);
        assert_int_equal(model->parts[0]->kind, GUI_MODULE);
        assert_int_equal(model->parts[0]->parts_len, 0);
        assert_string_equal(gui_text(model, "name"), "GUI");
        assert_string_equal(gui_text(model->parts[0], "name"), "GUI_Module");
        gui_object_free(model);
    }
}

static void each_frame_is_a_screen(void **state)
{
    struct gui_object *model = test_gui("{'title': 'My desk', 'pages': ["
                                        "{'id': 'a', 'name': 'Big Hall', 'frames': [{'component': {}}]},"
                                        "{'name': 'Yard', 'frames': [{}, {'component': {'type': 'wrapper'}}],"
                                        " 'attributes': {'screen-size': 'Large', 'dpi': 96, 'x-dpi': '72'}},"
                                        "{'frames': [{'component': null}]}]}");
    struct gui_object **screens = model->parts[0]->parts;

    (void)state;
    assert_string_equal(gui_text(model, "name"), "My_desk");
    assert_string_equal(gui_text(model, "description"), "My desk");
    assert_int_equal(model->parts[0]->parts_len, 4);
    assert_string_equal(gui_text(screens[0], "name"), "Big_Hall");
    assert_string_equal(gui_text(screens[0], "description"), "Big Hall");
    assert_string_equal(gui_text(screens[0], "route_path"), "/big-hall");
    assert_string_equal(gui_text(screens[0], "screen_size"), "Medium");
    assert_true(gui_slot(screens[0], "is_main_page")->flag);
    assert_string_equal(screens[0]->component_id, "a");
    assert_string_equal(gui_text(screens[1], "name"), "Yard_1");
    assert_string_equal(gui_text(screens[1], "x_dpi"), "72");
    assert_string_equal(gui_text(screens[1], "y_dpi"), "96");
    assert_string_equal(gui_text(screens[1], "screen_size"), "Large");
    assert_null(gui_slot(screens[1], "is_main_page"));
    assert_string_equal(gui_text(screens[2], "name"), "wrapper");
    assert_string_equal(gui_text(screens[3], "name"), "Page_3");
    assert_string_equal(gui_text(screens[3], "description"), "Page_3");
    gui_object_free(model);
}

static void a_size_the_metamodel_lacks_is_medium(void **state)
{
    struct gui_object *model = test_gui("{'pages': [{'attributes': {'screen-size': 'Huge'}, 'frames': [{}]}]}");

    (void)state;
    assert_string_equal(gui_text(model->parts[0]->parts[0], "screen_size"), "Medium");
    gui_object_free(model);
}

/* ---- names --------------------------------------------------------------------------------------------------------
 */

static void names_come_from_the_first_that_says_one(void **state)
{
    static const struct {
        const char *component, *name;
    } rows[] = {
        { "{'tagName': 'p', 'attributes': {'id': 'i', 'data-field-name': ' my field '}}", "name='my_field'" },
        { "{'tagName': 'p', 'attributes': {'id': '', 'name': 'n', 'title': 't'}}", "name='n'" },
        { "{'tagName': 'p', 'attributes': {'data-field-name': '  ', 'id': 'i'}}", "name='i'" },
        { "{'tagName': 'p', 'attributes': {'chart-title': 'c t'}}", "name='c_t'" },
        { "{'tagName': 'p', 'name': 'Own', 'type': 'text'}", "name='Own'" },
        { "{'type': 'text'}", "name='text'" },
        { "{'custom': {'displayName': 'Shown'}}", "name='Shown'" },
        { "{'custom': 5}", "name='Component'" },
        { "{'tagName': 'p', 'attributes': {'id': 12}}", "name='n_12'" },
        { "{'tagName': 'p', 'attributes': {'id': '--a--b..c--'}}", "name='a_b_c'" },
        { "{'tagName': 'p', 'attributes': {'id': '7up'}}", "name='n_7up'" },
        { "{'tagName': 'p', 'attributes': {'id': '\\u00e9\\u65e5'}}", "name='Text'" },
        { "{'tagName': '\\u65e5'}", "name='Element'" },
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        auto_free char *text = test_components_python(rows[i].component);

        assert_has(text, rows[i].name);
    }
}

static void equal_names_are_numbered(void **state)
{
    auto_free char *text = test_components_python("{'tagName': 'p'}, {'tagName': 'p'}, {'type': 'text',"
                                                  " 'attributes': {'id': 'p_2'}}, {'tagName': 'p'}");

    (void)state;
    assert_has(text, "{p, p_2, p_2_2, p_3}");
}

static void many_equal_names_take_no_time(void **state)
{
    struct buf components;
    int i;

    (void)state;
    buf_init(&components, 1 << 22);
    for (i = 0; i < 15000; i++)
        buf_add_str(&components, i ? ", {'type': 'text'}" : "{'type': 'text'}");
    mem_free(test_components_python(components.data)); /* quadratic work would take minutes */
    buf_release(&components);
}

/* ---- components ---------------------------------------------------------------------------------------------------
 */

static void components_become_their_class(void **state)
{
    static const struct {
        const char *component, *class;
    } rows[] = {
        { "{'type': 'Line-Chart'}", " = LineChart(" },
        { "{'type': 'bar-chart'}", " = BarChart(" },
        { "{'type': 'pie-chart'}", " = PieChart(" },
        { "{'type': 'radar-chart'}", " = RadarChart(" },
        { "{'type': 'radial-bar-chart'}", " = RadialBarChart(" },
        { "{'type': 'table'}", " = Table(" },
        { "{'type': 'metric-card'}", " = MetricCard(" },
        { "{'type': 'agent-component'}", " = AgentComponent(" },
        { "{'type': 'action-button'}", " = Button(" },
        { "{'tagName': 'BUTTON', 'type': 'text'}", " = Button(" },
        { "{'type': 'gui-alert'}", " = Alert(" },
        { "{'attributes': {'data-gui-type': 'Alert'}}", " = Alert(" },
        { "{'type': 'gui-input-anything'}", " = InputField(" },
        { "{'tagName': 'div', 'attributes': {'data-gui-type': 'Slider'}}", " = InputField(" },
        { "{'tagName': 'div', 'attributes': {'data-gui-type': 'Form'}}", " = Form(" },
        { "{'tagName': 'form'}", " = Form(" },
        { "{'tagName': 'select'}", " = InputField(" },
        { "{'type': 'checkbox'}", " = InputField(" },
        { "{'tagName': 'H3'}", " = Text(" },
        { "{'tagName': 'tspan'}", " = Text(" },
        { "{'tagName': 'img'}", " = Image(" },
        { "{'type': 'link-button'}", " = Link(" },
        { "{'tagName': 'a'}", " = Link(" },
        { "{'type': 'map'}", " = Map(" },
        { "{'tagName': 'iframe'}", " = EmbeddedContent(" },
        { "{'type': 'menu'}", " = Menu(" },
        { "{'tagName': 'ul', 'components': [{'tagName': 'li', 'components': [{'tagName': 'a'}]}]}", " = Menu(" },
        { "{'tagName': 'ul', 'components': [{'tagName': 'li', 'components': [{'tagName': 'p'}]}]}",
          " = ViewContainer(" },
        { "{'tagName': 'ul'}", " = ViewContainer(" },
        { "{'type': 'data-list'}", " = DataList(" },
        { "{'tagName': 'table', 'attributes': {'data-source': 'Book'}}", " = DataList(" },
        { "{'type': 'cell'}", " = ViewContainer(" },
        { "{'tagName': 'aside'}", " = ViewContainer(" },
        { "{'name': 'Row'}", " = ViewContainer(" },
        { "{'tagName': 'canvas'}", " = ViewComponent(" },
        { "{'tagName': 'canvas', 'components': [{'tagName': 'p'}]}", " = ViewContainer(" },
        { "{}", " = ViewComponent(" },
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        auto_free char *text = test_components_python(rows[i].component);

        assert_has(text, rows[i].class);
    }
}

static void what_shows_nothing_is_skipped_but_counts(void **state)
{
    auto_free char *text =
        test_components_python("{'type': 'textnode', 'content': 'x'}, {'tagName': 'script'}, 5, null, 'x',"
                               " {'type': 'comment'}, {'tagName': 'p'},"
                               " {'type': 'wrapper', 'components': [{'tagName': 'h1'}, {'tagName': 'h2'}]}");

    (void)state;
    assert_has(text, "{p, h1, h2}");
    assert_has(text, "tag_name='p', display_order=6)");
    assert_has(text, "tag_name='h1', display_order=7)");
    assert_has(text, "tag_name='h2', display_order=7.01)");
}

static void text_is_collected_and_tidied(void **state)
{
    static const struct {
        const char *component, *content;
    } rows[] = {
        { "{'tagName': 'p', 'content': ' a \\t b '}", "content='a b'" },
        { "{'tagName': 'p', 'components': [{'type': 'textnode', 'content': 'a '}, {'tagName': 'b', 'components':"
          " [{'type': 'textnode', 'content': 'b'}]}, {'type': 'textnode', 'content': ' c'}]}",
          "content='a b c'" },
        { "{'tagName': 'p', 'components': [{'type': 'textnode', 'content': 'a'}, {'tagName': 'br'},"
          " {'type': 'textnode', 'content': 'b'}]}",
          "content='a\\nb'" },
        { "{'tagName': 'p', 'content': 'a\\n \\u00a0\\n\\n  b'}", "content='a\\n b'" },
        { "{'tagName': 'p', 'content': 5, 'components': 'x'}", "content='5'" },
        { "{'tagName': 'p', 'content': {}}", "content=''" },
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        auto_free char *text = test_components_python(rows[i].component);

        assert_has(text, rows[i].content);
    }
}

static void components_keep_what_the_editor_knows(void **state)
{
    auto_free char *text = test_components_python(
        "{'tagName': 'DIV', 'id': 'outer', 'classes': ['a', {'name': 'b'}, {'name': ''}, 5], 'attributes':"
        " {'class': 'gone', 'x': null, 'deep': {'k': [1, true, 2.5]}, 'far': 1e999}},"
        "{'tagName': 'section', 'attributes': {'class': ' c  d '}},"
        "{'tagName': 'img', 'src': 'a.png'}, {'type': 'image', 'attributes': {'alt': 'A hall', 'data-src': 'b.png'}}");

    (void)state;
    assert_has(text, "component_id='outer'");
    assert_has(text, "tag_name='DIV'");
    assert_has(text, "css_classes=['a', 'b']");
    assert_has(text, "custom_attributes={'x': None, 'deep': {'k': [1, True, 2.5]}}");
    assert_has(text, "css_classes=['c', 'd']");
    assert_has(text, "component_id='container_section'");
    assert_has(text, "source='a.png'");
    assert_has(text, "custom_attributes={'src': 'a.png'}");
    assert_has(text, "description='A hall'");
    assert_has(text, "source='b.png'");
}

static void links_take_label_and_target(void **state)
{
    auto_free char *text = test_components_python(
        "{'tagName': 'a', 'attributes': {'id': 'l1', 'title': 'T', 'data-href': '/x', 'data-target': '_top', 'rel': "
        "'r'}},"
        "{'tagName': 'nav', 'components': [{'tagName': 'ul', 'components': ["
        "{'tagName': 'li', 'components': [{'type': 'link', 'content': 'B', 'attributes': {'href': '/b'}}]},"
        "{'tagName': 'li', 'components': [{'tagName': 'a', 'attributes': {'aria-label': 'A'}}, {'tagName': 'a'}]}]}]},"
        "{'type': 'menu'}");

    (void)state;
    assert_has(text, "    label='T',\n    url='/x',\n    target='_top',\n    rel='r',\n");
    assert_has(text, "menuItems=[MenuItem(label='B', url='/b'), MenuItem(label='A'), MenuItem(label='Menu Item')]");
    assert_has(text, "menuItems=[MenuItem(label='Menu')]");
}

static void alerts_read_their_parts(void **state)
{
    auto_free char *text = test_components_python(
        "{'type': 'gui-alert', 'attributes': {'data-severity': 'Warning', 'alert-title': 'T', 'data-dismissible':"
        " 'yes', 'data-content': 'C'}}, {'type': 'gui-alert', 'content': 'own', 'alert-severity': 'loud'}");

    (void)state;
    assert_has(text, "content='C',\n    severity=AlertSeverity.Warning,\n    title='T',\n    dismissible=True,");
    assert_has(text, "content='own',\n    severity=AlertSeverity.Info,");
}

static void lists_keep_the_names_of_their_fields(void **state)
{
    auto_free char *text = test_components_python(
        "{'tagName': 'ul', 'attributes': {'data-source': 'a-b c', 'fields': '+ title : str, , year',"
        " 'label-field': '- title', 'value-field': ' isbn '}}, {'type': 'list', 'attributes': {'data-bind': 'B',"
        " 'data-fields': ['x', 5, null]}}, {'type': 'data-list'}");

    (void)state;
    assert_has(text, "a_b_c = DataSourceElement(name='a_b_c')\na_b_c.field_names = ['title', 'year']\n"
                     "a_b_c.label_field_name = 'title'\na_b_c.value_field_name = 'isbn'\n");
    assert_has(text, "b.field_names = ['x', '5']");
    assert_has(text, "list_sources=set()");
}

/* ---- buttons ------------------------------------------------------------------------------------------------------
 */

static void buttons_get_a_label(void **state)
{
    static const struct {
        const char *component, *label;
    } rows[] = {
        { "{'type': 'button', 'content': 'c', 'attributes': {'button-label': 'l'}}", "label='l'" },
        { "{'type': 'button', 'content': 'c'}", "label='c'" },
        { "{'type': 'button', 'target-screen': 'x'}", "label='Go to x'" },
        { "{'type': 'button', 'attributes': {'data-action-type': 'run-METHOD'}}", "label='Run-method'" },
        { "{'type': 'button'}", "label='Button'" },
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        auto_free char *text = test_components_python(rows[i].component);

        assert_has(text, rows[i].label);
    }
}

static void buttons_act_as_said_or_by_their_type(void **state)
{
    static const struct {
        const char *component, *action;
    } rows[] = {
        { "{'type': 'button', 'attributes': {'type': 'Submit'}}", "ButtonActionType.SubmitForm" },
        { "{'type': 'button', 'attributes': {'type': 'reset'}}", "ButtonActionType.Cancel" },
        { "{'type': 'button', 'attributes': {'type': 'button'}}", "ButtonActionType.View" },
        { "{'type': 'button', 'attributes': {'type': 'other'}}", "ButtonActionType.Navigate" },
        { "{'type': 'button', 'attributes': {'type': 'submit', 'action-type': 'delete'}}", "ButtonActionType.Delete" },
        { "{'type': 'button', 'action-type': 'zap'}", "ButtonActionType.Navigate" },
        { "{'type': 'button', 'action-type': 'run-method', 'instance-source': 't'}", "is_instance_method=True" },
        { "{'type': 'button', 'data-confirmation-required': true, 'confirmation-message': 'Sure?'}",
          "confirmation_required=True,\n    confirmation_message='Sure?'," },
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        auto_free char *text = test_components_python(rows[i].component);

        assert_has(text, rows[i].action);
    }
}

static void buttons_lead_to_pages_by_id_or_name(void **state)
{
    static const char *const targets[] = { "p2", "page:p2", "Yard" };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(targets); i++) {
        auto_buf struct buf design;
        auto_free char *text = NULL;

        buf_init(&design, 10000);
        buf_add_fmt(&design,
                    "{'pages': [{'id': 'p1', 'name': 'Hall', 'frames': [{'component': {'components':"
                    " [{'type': 'button', 'attributes': {'id': 'go', 'target-screen': '%s', 'data-param-x': 1}}]}}]},"
                    " {'id': 'p2', 'name': 'Yard', 'frames': [{}]}]}",
                    targets[i]);
        text = test_gui_python(design.data);
        assert_has(text, "go.targetScreen = yard\n");
        assert_has(text, "target_screen=yard,\n    parameters={Parameter(name='x', param_type='str', value='1')},\n");
        assert_has(text, ".triggered_by = go\n");
        assert_has(text, "Event(name='onClick_go', event_type=EventType.OnClick, actions={navigate_to_");
        assert_has(text, "go.events = {onclick_go}\n");
    }
}

static void a_target_that_is_nowhere_is_none(void **state)
{
    auto_free char *text = test_components_python("{'type': 'button', 'target-screen': 'nowhere'}");

    (void)state;
    assert_lacks(text, "targetScreen");
    assert_has(text, "target_screen=None");
}

static void changes_of_data_keep_their_name(void **state)
{
    auto_free char *text = test_components_python("{'type': 'button', 'action-type': 'read', 'crud-entity': 'Book'}");

    (void)state;
    assert_has(text, "Read(name='read_Book', description='Read/Load Book', target_class=None)");
    assert_has(text, "actionType=ButtonActionType.Navigate");
}

/* ---- limits -------------------------------------------------------------------------------------------------------
 */

static void refuse(const char *design, const char *word)
{
    struct value v = test_design(design);
    struct gui_object *model = NULL;
    struct err err = { 0 };

    assert_int_equal(gui_read(&v, &model, &err), -1);
    assert_null(model);
    assert_int_equal(err.kind, ERR_BAD_REQUEST);
    assert_has(err.msg, word);
    value_release(&v);
}

static void deep_designs_are_refused(void **state)
{
    auto_buf struct buf design;
    int i;

    (void)state;
    buf_init(&design, 1 << 20);
    buf_add_str(&design, "{'pages': [{'frames': [{'component': ");
    for (i = 0; i <= GUI_DEPTH_MAX; i++)
        buf_add_str(&design, "{'components': [");
    buf_add_str(&design, "{}");
    for (i = 0; i <= GUI_DEPTH_MAX; i++)
        buf_add_str(&design, "]}");
    buf_add_str(&design, "}]}]}");
    refuse(design.data, "100");
}

static void large_designs_are_refused(void **state)
{
    auto_buf struct buf design;
    int i;

    (void)state;
    buf_init(&design, 1 << 20);
    buf_add_str(&design, "{'pages': [{'frames': [{'component': {'components': [{}");
    for (i = 0; i < GUI_OBJECTS_MAX; i++)
        buf_add_str(&design, ",{}");
    buf_add_str(&design, "]}}]}]}");
    refuse(design.data, "20000");
}

static void many_options_count_as_parts(void **state)
{
    auto_buf struct buf design;
    int i;

    (void)state;
    buf_init(&design, 1 << 20);
    buf_add_str(&design,
                "{'pages': [{'frames': [{'component': {'components': [{'type': 'select', 'select-options': 'a");
    for (i = 0; i < GUI_OBJECTS_MAX; i++)
        buf_add_str(&design, ",a");
    buf_add_str(&design, "'}]}}]}]}");
    refuse(design.data, "20000");
}

static void a_rule_for_too_many_elements_is_refused(void **state)
{
    auto_buf struct buf design;
    int i;

    (void)state;
    buf_init(&design, 1 << 20);
    buf_add_str(&design, "{'styles': [{'selectors': ['#a'], 'style': {'x': '");
    buf_add_repeat(&design, 'y', 20000);
    buf_add_str(&design, "'}}], 'pages': [{'frames': [{'component': {'components': [{}");
    for (i = 0; i < 1000; i++)
        buf_add_str(&design, ",{'attributes': {'id': 'a'}}");
    buf_add_str(&design, "]}}]}]}");
    refuse(design.data, "styles");
}

/* ---- memory -------------------------------------------------------------------------------------------------------
 */

static const char everything[] =
    "{'title': 'All', 'styles': [{'selectors': ['#a'], 'style': {'color': 'red', 'display': 'flex'}},"
    " {'selectors': ['.b', {'name': 'c:d'}], 'state': 'hover', 'mediaText': '(x)', 'style': {'a': 'b', 'c': 1}},"
    " {'selectors': [], 'selectorsAdd': ':root', 'atRuleType': 'font-face', 'singleAtRule': true, 'style': {}}],"
    " 'pages': [{'id': 'p', 'name': 'Home', 'attributes': {'dpi': 1}, 'frames': [{'component': {'style':"
    " 'width: 5px', 'components': ["
    "{'tagName': 'p', 'attributes': {'id': 'a', 'class': 'x y', 'k': [1]}, 'content': 'hi  there'},"
    "{'type': 'button', 'target-screen': 'p', 'attributes': {'param-a': 'b'}}, {'type': 'gui-alert'},"
    "{'tagName': 'form', 'components': [{'tagName': 'label', 'content': 'L'}, {'tagName': 'div', 'components':"
    " [{'type': 'select', 'select-options': 'a,b', 'attributes': {'min': '1', 'maxlength': 3, 'name': 'n'}}]},"
    " {'type': 'button', 'content': 'Send'}]},"
    "{'type': 'line-chart', 'attributes': {'chart-color': '#111', 'series': '[{\\\"name\\\": \\\"s\\\"}]'}},"
    "{'type': 'bar-chart', 'series': [{'color': 'red'}, {'styling': {'gap': '1px'}}]}, {'type': 'pie-chart'},"
    "{'type': 'table', 'attributes': {'columns': [{'columnType': 'expression', 'expression': 'a'}]}},"
    "{'type': 'metric-card'}, {'type': 'agent-component'}, {'tagName': 'a'}, {'tagName': 'img', 'src': 'x'},"
    "{'type': 'map', 'attributes': {'map-layers': [{'name': 'l'}]}}, {'tagName': 'iframe'}, {'tagName': 'x'},"
    "{'type': 'menu', 'components': [{'tagName': 'a', 'content': 'm'}]},"
    "{'type': 'data-list', 'attributes': {'data-source': 'B', 'fields': 'a,b', 'label-field': 'c'}}]}}]}]}";

static void memory_may_run_out_anywhere(void **state)
{
    struct value v = test_design(everything);
    struct err err = { 0 };

    (void)state;
    OOM_SWEEP({
        struct gui_object *model = NULL;

        if (gui_read(&v, &model, &err) < 0) {
            assert_null(model);
            assert_int_equal(err.kind, ERR_INTERNAL);
        } else {
            assert_false(oom_hit());
        }
        gui_object_free(model);
    });
    value_release(&v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_design_is_a_gui_without_screens),
        cmocka_unit_test(each_frame_is_a_screen),
        cmocka_unit_test(a_size_the_metamodel_lacks_is_medium),
        cmocka_unit_test(names_come_from_the_first_that_says_one),
        cmocka_unit_test(equal_names_are_numbered),
        cmocka_unit_test(many_equal_names_take_no_time),
        cmocka_unit_test(components_become_their_class),
        cmocka_unit_test(what_shows_nothing_is_skipped_but_counts),
        cmocka_unit_test(text_is_collected_and_tidied),
        cmocka_unit_test(components_keep_what_the_editor_knows),
        cmocka_unit_test(links_take_label_and_target),
        cmocka_unit_test(alerts_read_their_parts),
        cmocka_unit_test(lists_keep_the_names_of_their_fields),
        cmocka_unit_test(buttons_get_a_label),
        cmocka_unit_test(buttons_act_as_said_or_by_their_type),
        cmocka_unit_test(buttons_lead_to_pages_by_id_or_name),
        cmocka_unit_test(a_target_that_is_nowhere_is_none),
        cmocka_unit_test(changes_of_data_keep_their_name),
        cmocka_unit_test(deep_designs_are_refused),
        cmocka_unit_test(large_designs_are_refused),
        cmocka_unit_test(many_options_count_as_parts),
        cmocka_unit_test(a_rule_for_too_many_elements_is_refused),
        cmocka_unit_test(memory_may_run_out_anywhere),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
