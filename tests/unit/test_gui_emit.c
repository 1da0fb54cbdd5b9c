/* The Python text of a GUI: its order, its variables, and that no text of a design gets out of its literal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "shared/base/buf.h"
#include "shared/base/err.h"
#include "shared/base/mem.h"
#include "shared/gui/emit.h"
#include "shared/gui/read.h"
#include "shared/python/parser.h"
#include "tests/support/diagram.h"
#include "tests/support/gui.h"
#include "tests/support/oom.h"

static const char golden_design[] =
    "{'styles': [{'selectors': ['.a'], 'style': {'b': 'c'}}], 'pages': ["
    "{'id': 'p2', 'name': 'Yard', 'frames': [{'component': {'components': [{'tagName': 'div', 'attributes': {'id':"
    " 'box'}, 'components': [{'tagName': 'p', 'attributes': {'id': 'z'}, 'content': 'Hi'}, {'tagName': 'p',"
    " 'attributes': {'id': 'a'}}]}]}}]},"
    "{'name': 'Hall', 'frames': [{}]}]}";

static const char golden_text[] = "    from besser.BUML.metamodel.gui import (\n"
                                  "        GUIModel,\n"
                                  "        Module,\n"
                                  "        Screen,\n"
                                  "        ViewContainer,\n"
                                  "        Text,\n"
                                  "    )\n"
                                  "\n"
                                  "    hall = Screen(\n"
                                  "        name='Hall',\n"
                                  "        description='Hall',\n"
                                  "        view_elements=set(),\n"
                                  "        route_path='/hall',\n"
                                  "        screen_size='Medium',\n"
                                  "    )\n"
                                  "\n"
                                  "    yard = Screen(\n"
                                  "        name='Yard',\n"
                                  "        description='Yard',\n"
                                  "        view_elements=set(),\n"
                                  "        is_main_page=True,\n"
                                  "        route_path='/yard',\n"
                                  "        screen_size='Medium',\n"
                                  "    )\n"
                                  "    yard.component_id = 'p2'\n"
                                  "    z = Text(\n"
                                  "        name='z',\n"
                                  "        content='Hi',\n"
                                  "        description='Text element',\n"
                                  "        component_id='z',\n"
                                  "        tag_name='p',\n"
                                  "        display_order=0,\n"
                                  "        custom_attributes={'id': 'z'},\n"
                                  "    )\n"
                                  "    a = Text(\n"
                                  "        name='a',\n"
                                  "        content='',\n"
                                  "        description='Text element',\n"
                                  "        component_id='a',\n"
                                  "        tag_name='p',\n"
                                  "        display_order=1,\n"
                                  "        custom_attributes={'id': 'a'},\n"
                                  "    )\n"
                                  "    box = ViewContainer(\n"
                                  "        name='box',\n"
                                  "        description='div container',\n"
                                  "        view_elements={z, a},\n"
                                  "        component_id='box',\n"
                                  "        tag_name='div',\n"
                                  "        display_order=0,\n"
                                  "        custom_attributes={'id': 'box'},\n"
                                  "    )\n"
                                  "    yard.view_elements = {box}\n"
                                  "\n"
                                  "    gui_module = Module(name='GUI_Module', screens={hall, yard})\n"
                                  "    gui_model = GUIModel(\n"
                                  "        name='GUI',\n"
                                  "        package='',\n"
                                  "        versionCode='1.0',\n"
                                  "        versionName='1.0',\n"
                                  "        modules={gui_module},\n"
                                  "        description='GUI',\n"
                                  "        stylesheet='.a{b:c}\\n',\n"
                                  "    )\n";

static void the_text_is_this(void **state)
{
    struct gui_object *model = test_gui(golden_design);
    auto_buf struct buf text;
    struct err err = { 0 };

    (void)state;
    buf_init(&text, 1 << 20);
    assert_int_equal(gui_emit(model, 4, &text, &err), 0);
    assert_string_equal(text.data, golden_text);
    gui_object_free(model);
}

static void variables_avoid_what_the_file_needs(void **state)
{
    static const struct {
        const char *id, *variable;
    } rows[] = {
        { "set", "set_2 = Text(" },     { "class", "class_ = Text(" }, { "gui_model", "gui_model_2 = Text(" },
        { "gui", "gui_2 = Text(" },     { "7up", "n_7up = Text(" },    { "GUI_Module", "gui_module = Text(" },
        { "print", "print_2 = Text(" }, { "Text", "text = Text(" },    { "__init__", "init = Text(" },
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        auto_buf struct buf component;
        auto_free char *text = NULL;

        buf_init(&component, 1000);
        buf_add_fmt(&component, "{'tagName': 'p', 'attributes': {'id': '%s'}}", rows[i].id);
        text = test_components_python(component.data);
        assert_has(text, rows[i].variable);
    }
}

static void names_that_differ_in_case_have_two_variables(void **state)
{
    auto_free char *text = test_components_python("{'tagName': 'p', 'attributes': {'id': 'a'}},"
                                                  " {'tagName': 'p', 'attributes': {'id': 'A'}}");

    (void)state;
    assert_has(text, "home.view_elements = {a, a_2}\n");
}

static void elements_go_by_order_then_name(void **state)
{
    struct gui_object *model = gui_object_new(GUI_MODEL), *module = gui_object_new(GUI_MODULE);
    struct gui_object *screen = gui_object_new(GUI_SCREEN), *part;
    static const struct {
        const char *name;
        bool ordered;
        double order;
    } rows[] = { { "d", false, 0 }, { "c", true, 2 }, { "b", true, 1.5 }, { "a", true, 2 } };
    struct buf text;
    struct err err = { 0 };
    size_t i;

    (void)state;
    buf_init(&text, 1 << 20);
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        part = gui_object_new(GUI_COMPONENT);
        assert_int_equal(gui_set_text(part, "name", rows[i].name), 0);
        part->ordered = rows[i].ordered;
        part->order = rows[i].order;
        assert_int_equal(gui_add_part(screen, part), 0);
    }
    assert_int_equal(gui_set_text(screen, "name", "s"), 0);
    assert_int_equal(gui_add_part(module, screen), 0);
    assert_int_equal(gui_add_part(model, module), 0);
    assert_int_equal(gui_emit(model, 0, &text, &err), 0);
    assert_has(text.data, "s.view_elements = {b, a, c, d}\n");
    assert_has(text.data, "unnamed = Module(name='', screens={s})\n");
    buf_release(&text);
    gui_object_free(model);
}

/* ---- hostile text -------------------------------------------------------------------------------------------------
 */

/* Everywhere where a design has text. */
static const char text_places[] =
    "{'title': 'T', 'styles': [{'selectors': ['T'], 'mediaText': 'T', 'style': {'T': 'T'}}],"
    " 'pages': [{'id': 'T', 'name': 'T', 'attributes': {'dpi': 'T'}, 'frames': [{'component': {'components': ["
    "{'tagName': 'p', 'content': 'T', 'classes': ['T'], 'attributes': {'id': 'T', 'T': 'T', 'color': 'T'}},"
    "{'tagName': 'T', 'type': 'T', 'style': {'width': 'T', 'gap': 'T', 'position': 'T'}},"
    "{'type': 'button', 'attributes': {'label': 'T', 'target-screen': 'T', 'param-T': 'T', 'instance-source': 'T'}},"
    "{'type': 'input', 'attributes': {'data-label': 'T', 'data-options': 'T', 'pattern': 'T', 'min': 'T'}},"
    "{'tagName': 'form', 'attributes': {'data-title': 'T', 'data-submit-label': 'T'}},"
    "{'type': 'gui-alert', 'attributes': {'data-title': 'T', 'data-content': 'T', 'data-severity': 'T'}},"
    "{'tagName': 'a', 'attributes': {'href': 'T', 'rel': 'T', 'target': 'T', 'title': 'T'}},"
    "{'type': 'menu', 'components': [{'tagName': 'a', 'content': 'T', 'attributes': {'href': 'T'}}]},"
    "{'type': 'data-list', 'attributes': {'data-source': 'T', 'fields': 'T', 'label-field': 'T'}},"
    "{'type': 'line-chart', 'attributes': {'chart-title': 'T', 'chart-color': 'T', 'curve-type': 'T', 'series':"
    " [{'name': 'T', 'color': 'T'}]}},"
    "{'type': 'table', 'attributes': {'columns': [{'columnType': 'expression', 'label': 'T', 'expression': 'T'}]}},"
    "{'type': 'map', 'attributes': {'map-title': 'T', 'map-layers': [{'name': 'T', 'type': 'T'}]}},"
    "{'type': 'agent-component', 'attributes': {'agent-name': 'T', 'agent-title': 'T'}},"
    "{'tagName': 'iframe', 'attributes': {'src': 'T', 'title': 'T'}}]}}]}]}";

static char *with_text(const char *json_text)
{
    auto_buf struct buf design;
    const char *s, *end;

    buf_init(&design, SIZE_MAX / 2);
    for (s = text_places; (end = strchr(s, 'T')); s = end + 1) {
        buf_add(&design, s, (size_t)(end - s));
        buf_add_str(&design, json_text);
    }
    buf_add_str(&design, s);
    return test_gui_python(design.data);
}

static void no_text_changes_the_structure(void **state)
{
    static const char *const texts[] = {
        "\\u0027",
        "\\\"",
        "\\\\",
        "\\u0027\\u0027\\u0027",
        "\\\"\\\"\\\"",
        "a\\nb",
        "a\\rb",
        "a\\r\\nb",
        "\\u000b\\u000c",
        "\\u0085\\u2028\\u2029",
        "\\ud83d\\ude00",
        "\\ud800",
        "{",
        "}",
        "{{7*7}}",
        "{% x %}",
        "#",
        ";",
        "$(x)",
        "../",
        "\\u0027); exit() #",
        "class",
        "__name__",
        "print",
        "Text",
        "gui_model",
        "set()",
        "None",
        "7",
        " ",
    };
    struct python_parser *parser = test_parser();
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(texts); i++) {
        auto_free char *text = with_text(texts[i]);
        struct python_facts facts;
        struct err err = { 0 };
        const char *c;

        for (c = text; *c; c++)
            assert_true(*c == '\n' || (*c >= ' ' && *c <= '~'));
        if (python_parse(parser, text, strlen(text), &facts, &err) < 0)
            fail_msg("%s", err.msg);
        if (!facts.valid)
            fail_msg("%s, line %d of:\n%s", facts.error, facts.error_line, text);
        assert_int_equal(facts.functions_len, 0);
        python_facts_release(&facts);
    }
    python_parser_free(parser);
}

static void a_long_text_stays_one_literal(void **state)
{
    auto_buf struct buf component;
    auto_free char *text = NULL;

    (void)state;
    buf_init(&component, 4 << 20);
    buf_add_str(&component, "{'tagName': 'p', 'content': '");
    buf_add_repeat(&component, 'x', 1 << 20);
    buf_add_str(&component, "'}");
    text = test_components_python(component.data);
    assert_has(text, "    content='xxx");
    assert_has(text, "xxx',\n");
}

static void a_text_beyond_the_limit_is_refused(void **state)
{
    auto_buf struct buf design, text;
    struct gui_object *model = NULL;
    struct err err = { 0 };
    struct value v;

    (void)state;
    buf_init(&design, 32 << 20);
    buf_init(&text, SIZE_MAX / 2);
    buf_add_str(&design, "{'pages': [{'name': '");
    buf_add_repeat(&design, 'x', GUI_TEXT_MAX);
    buf_add_str(&design, "', 'frames': [{}]}]}");
    v = test_design(design.data);
    assert_int_equal(gui_read(&v, &model, &err), 0);
    assert_int_equal(gui_emit(model, 0, &text, &err), -1);
    assert_int_equal(err.kind, ERR_BAD_REQUEST);
    gui_object_free(model);
    value_release(&v);
}

static void memory_may_run_out_anywhere(void **state)
{
    struct gui_object *model =
        test_gui("{'styles': [{'selectors': ['.a'], 'style': {'b': 'c'}}, {'selectors': ['.d'], 'style': {'b': 'c'}}],"
                 " 'pages': [{'id': 'p', 'frames': [{'component': {'style': {'gap': '1px'}, 'components': ["
                 "{'tagName': 'div', 'style': {'display': 'grid'}, 'components': [{'tagName': 'p'}]},"
                 "{'type': 'button', 'target-screen': 'p', 'attributes': {'param-a': 'b'}},"
                 "{'type': 'select', 'select-options': 'a,b'}, {'type': 'data-list', 'attributes': {'data-source': 'B',"
                 " 'fields': 'a'}}, {'type': 'map', 'attributes': {'map-layers': [{}]}},"
                 "{'type': 'bar-chart', 'series': [{'color': 'red'}]}]}}]}]}");
    auto_buf struct buf whole;
    struct err err = { 0 };

    (void)state;
    buf_init(&whole, 1 << 20);
    assert_int_equal(gui_emit(model, 0, &whole, &err), 0);
    OOM_SWEEP({
        struct buf text;

        buf_init(&text, 1 << 20);
        if (gui_emit(model, 0, &text, &err) == 0)
            assert_string_equal(text.data, whole.data);
        else
            assert_int_equal(err.kind, ERR_INTERNAL);
        buf_release(&text);
    });
    gui_object_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_text_is_this),
        cmocka_unit_test(variables_avoid_what_the_file_needs),
        cmocka_unit_test(names_that_differ_in_case_have_two_variables),
        cmocka_unit_test(elements_go_by_order_then_name),
        cmocka_unit_test(no_text_changes_the_structure),
        cmocka_unit_test(a_long_text_stays_one_literal),
        cmocka_unit_test(a_text_beyond_the_limit_is_refused),
        cmocka_unit_test(memory_may_run_out_anywhere),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
