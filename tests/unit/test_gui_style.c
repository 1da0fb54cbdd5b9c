/* Styles: rules and declarations of elements, the stylesheet. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "shared/base/buf.h"
#include "shared/base/mem.h"
#include "shared/gui/style.h"
#include "tests/support/gui.h"

/* ---- declarations -------------------------------------------------------------------------------------------------
 */

static const char *text_of(const struct gui_styling *s, const char *field)
{
    const struct style_field *row;
    size_t i;

    for (i = 0; (row = gui_style_field(i)); i++)
        if (strcmp(row->field, field) == 0)
            return s->texts[i];
    fail_msg("no field %s", field);
    return NULL;
}

static void declare(struct gui_styling *s, const char *const *pairs)
{
    struct style_block b;

    gui_style_begin(&b, s);
    for (; *pairs; pairs += 2)
        assert_int_equal(gui_style_declare(&b, pairs[0], pairs[1]), 0);
    gui_style_end(&b);
}
#define DECLARE(s, ...) declare((s), (const char *const[]){ __VA_ARGS__, NULL })

static void properties_set_the_field_of_their_name(void **state)
{
    struct gui_styling *s = gui_styling_new();

    (void)state;
    DECLARE(s, "FONT-size", "1em", "background", "red", "color", "#fff", "border-top-color", "x", "--own", "y");
    assert_string_equal(text_of(s, "font_size"), "1em");
    assert_string_equal(text_of(s, "background_color"), "red");
    assert_string_equal(text_of(s, "text_color"), "#fff");
    assert_true(gui_styling_has(s, STYLE_SIZE));
    assert_true(gui_styling_has(s, STYLE_COLOR));
    assert_false(gui_styling_has(s, STYLE_POSITION));
    assert_false(gui_styling_has(s, STYLE_LAYOUT));
    DECLARE(s, "color", "");
    assert_null(text_of(s, "text_color"));
    gui_styling_free(s);
}

static void a_width_has_a_unit(void **state)
{
    static const char *const rows[][2] = { { "5px", "PIXELS" }, { "5", "PIXELS" },  { "5%", "PERCENTAGE" },
                                           { "2EM", "EM" },     { "2rem", "REM" },  { "1vh", "VH" },
                                           { "1vw", "VW" },     { "Auto", "AUTO" }, { "calc(1em + 2px)", "PIXELS" } };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        struct gui_styling *s = gui_styling_new();

        DECLARE(s, "width", rows[i][0]);
        assert_string_equal(s->unit_size, rows[i][1]);
        gui_styling_free(s);
    }
}

static void some_values_are_members_or_numbers(void **state)
{
    struct gui_styling *s = gui_styling_new();

    (void)state;
    DECLARE(s, "position", "Sticky", "text-align", "CENTER", "z-index", "-7");
    assert_string_equal(s->p_type, "STICKY");
    assert_string_equal(s->alignment, "CENTER");
    assert_true(s->has_z_index);
    assert_int_equal(s->z_index, -7);
    DECLARE(s, "position", "odd", "text-align", "justify", "z-index", "auto");
    assert_string_equal(s->p_type, "STATIC");
    assert_string_equal(s->alignment, "LEFT");
    assert_int_equal(s->z_index, -7);
    gui_styling_free(s);
}

static void a_layout_is_a_grid_only_when_displayed_as_one(void **state)
{
    static const struct {
        const char *display, *property, *type;
    } rows[] = {
        { "grid", "gap", "GRID" },  { "flex", "gap", "FLEX" },   { "block", "gap", "FLEX" },
        { "block", "order", NULL }, { "flex", "order", "FLEX" },
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        struct gui_styling *s = gui_styling_new();

        DECLARE(s, rows[i].property, "1", "display", rows[i].display);
        assert_true(gui_styling_has(s, STYLE_LAYOUT));
        assert_string_equal(text_of(s, "display"), rows[i].display);
        if (rows[i].type)
            assert_string_equal(s->layout_type, rows[i].type);
        else
            assert_null(s->layout_type);
        gui_styling_free(s);
    }
}

static void a_later_block_replaces_the_layout(void **state)
{
    struct gui_styling *s = gui_styling_new();

    (void)state;
    DECLARE(s, "display", "grid", "gap", "1px", "justify-items", "x");
    DECLARE(s, "color", "red");
    assert_string_equal(text_of(s, "gap"), "1px");
    DECLARE(s, "order", "3");
    assert_null(text_of(s, "gap"));
    assert_null(s->layout_type);
    assert_string_equal(text_of(s, "order"), "3");
    assert_string_equal(text_of(s, "display"), "grid");
    gui_styling_free(s);
}

/* ---- of elements --------------------------------------------------------------------------------------------------
 */

static char *styled(const char *styles, const char *component)
{
    auto_buf struct buf design;

    buf_init(&design, 1 << 20);
    buf_add_fmt(&design, "{'styles': %s, 'pages': [{'frames': [{'component': {'components': [%s]}}]}]}", styles,
                component);
    return test_gui_python(design.data);
}

static void an_element_has_the_last_rule_of_its_id(void **state)
{
    auto_free char *text = styled("[{'selectors': ['#a'], 'style': {'color': 'red', 'width': '1px'}},"
                                  " {'selectors': [{'name': 'a', 'type': 2}], 'style': {'color': 'blue', 'top': 0}},"
                                  " {'selectors': ['#a'], 'state': 'hover', 'style': {'color': 'green'}}]",
                                  "{'tagName': 'p', 'attributes': {'id': 'a'}}");

    (void)state;
    assert_has(text, "styling=Styling(position=Position(top='0'), color=Color(text_color='blue', "
                     "color_palette='default')),");
    assert_has(text, "stylesheet='#a:hover{color:green}\\n'");
}

static void what_an_element_says_itself_goes_over_the_rule(void **state)
{
    auto_free char *text =
        styled("[{'selectors': ['#a'], 'style': {'color': 'red', 'top': '1px', 'left': '1px', 'right': '1px'}}]",
               "{'tagName': 'p', 'attributes': {'id': 'a', 'style': 'LEFT: 3px; right : 3px', 'color': 'blue'},"
               " 'style': {' Top ': ' 2px ', 'left': '2px'}}");

    (void)state;
    assert_has(text, "Position(top='2px', left='3px', right='3px'), color=Color(text_color='blue'");
}

static void css_text_is_split_outside_of_quotes_and_brackets(void **state)
{
    auto_free char *text =
        styled("[]", "{'tagName': 'p', 'style': 'background-image: url(data:a;b:c); color: \\\"a;b\\\";"
                     " broken; top: 1px; left: (x; y'}");

    (void)state;
    assert_has(text, "background_image='url(data:a;b:c)'");
    assert_has(text, "text_color='\\x22a;b\\x22'");
    assert_has(text, "Position(top='1px', left='(x; y')");
}

static void nothing_said_is_no_styling(void **state)
{
    static const char *const plain[] = { "{'tagName': 'p'}",
                                         "{'tagName': 'p', 'style': '', 'attributes': {'style': {}}}",
                                         "{'tagName': 'p', 'attributes': {'id': 'b', 'width': ''}}" };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(plain); i++) {
        auto_free char *text = styled("[{'selectors': ['#a'], 'style': {'color': 'red'}}]", plain[i]);

        assert_lacks(text, "Styling");
    }
}

static void containers_and_screens_lay_out_their_parts(void **state)
{
    auto_free char *text =
        test_gui_python("{'pages': [{'frames': [{'component': {'attributes': {'id': 's'}, 'style': {'gap': '1px'},"
                        " 'components': [{'tagName': 'div', 'style': 'display: grid'}]}}]}]}");

    (void)state;
    assert_has(text, "s.styling = Styling(color=Color(color_palette='default'), layout=Layout("
                     "layout_type=LayoutType.FLEX, gap='1px'))\n");
    assert_has(text, "s.layout = Layout(layout_type=LayoutType.FLEX, gap='1px')\n");
    assert_has(text, "div.layout = Layout(layout_type=LayoutType.GRID)\n");
}

/* ---- stylesheet ---------------------------------------------------------------------------------------------------
 */

static void other_rules_are_the_stylesheet(void **state)
{
    static const struct {
        const char *rules, *sheet;
    } rows[] = {
        { "{'selectors': ['.a', 'b', {'name': 'c:d'}, '#e'], 'style': {'x': 'y', '__p': 'q', 'z': '', 'n': 1}}",
          "stylesheet='.a.b.c\\x5c:d#e{x:y;n:1}\\n'" },
        { "{'selectors': ['a'], 'state': 'hover', 'selectorsAdd': 'p, q', 'style': {'x': 'y'}}",
          "stylesheet='.a:hover, p, q{x:y}\\n'" },
        { "{'selectors': [], 'selectorsAdd': ':root', 'style': {'x': 'y'}}", "stylesheet=':root{x:y}\\n'" },
        { "{'selectors': ['a'], 'mediaText': '(w)', 'style': {'x': '1'}}, {'selectors': ['b'], 'style': {}},"
          "{'selectors': ['b'], 'atRuleType': 'media', 'mediaText': '(w)', 'style': {'x': '2'}},"
          "{'selectors': ['c'], 'mediaText': '(v)', 'style': {'x': '3'}}, {'selectors': ['d'], 'style': {'x': '4'}}",
          "        '@media (w){.a{x:1}.b{x:2}}\\n'\n        '@media (v){.c{x:3}}\\n'\n        '.d{x:4}\\n'\n" },
        { "{'selectors': [], 'atRuleType': 'font-face', 'singleAtRule': true, 'style': {'src': 'u'}}",
          "stylesheet='@font-face{src:u}\\n'" },
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        auto_buf struct buf design;
        auto_free char *text = NULL;

        buf_init(&design, 1 << 20);
        buf_add_fmt(&design, "{'styles': [%s]}", rows[i].rules);
        text = test_gui_python(design.data);
        assert_has(text, rows[i].sheet);
    }
}

static void broken_rules_are_passed_over(void **state)
{
    auto_free char *text = test_gui_python("{'styles': [5, null, {}, {'selectors': 'x'}, {'selectors': [[], {}, null]},"
                                           " {'selectors': ['#a'], 'style': 5}, {'selectors': ['a'], 'style': []}]}");

    (void)state;
    assert_lacks(text, "stylesheet");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(properties_set_the_field_of_their_name),
        cmocka_unit_test(a_width_has_a_unit),
        cmocka_unit_test(some_values_are_members_or_numbers),
        cmocka_unit_test(a_layout_is_a_grid_only_when_displayed_as_one),
        cmocka_unit_test(a_later_block_replaces_the_layout),
        cmocka_unit_test(an_element_has_the_last_rule_of_its_id),
        cmocka_unit_test(what_an_element_says_itself_goes_over_the_rule),
        cmocka_unit_test(css_text_is_split_outside_of_quotes_and_brackets),
        cmocka_unit_test(nothing_said_is_no_styling),
        cmocka_unit_test(containers_and_screens_lay_out_their_parts),
        cmocka_unit_test(other_rules_are_the_stylesheet),
        cmocka_unit_test(broken_rules_are_passed_over),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
