/* Input fields and forms. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "shared/base/mem.h"
#include "tests/support/gui.h"

static void the_type_is_the_palettes_else_htmls(void **state)
{
    static const struct gui_row rows[] = {
        { "{'type': 'input', 'attributes': {'data-gui-type': 'OTP', 'type': 'email'}}", "InputFieldType.OTP," },
        { "{'type': 'input', 'data-gui-type': 'Slider'}", "InputFieldType.Slider," },
        { "{'type': 'input', 'attributes': {'data-gui-type': 'email'}}", "InputFieldType.Email," },
        { "{'type': 'input', 'attributes': {'data-gui-type': 'What', 'type': 'URL'}}", "InputFieldType.URL," },
        { "{'type': 'input', 'attributes': {'type': 'datetime-local'}}", "InputFieldType.DateTime," },
        { "{'type': 'input', 'attributes': {'type': 'radio'}}", "InputFieldType.RadioGroup," },
        { "{'tagName': 'select'}", "InputFieldType.Dropdown," },
        { "{'tagName': 'TEXTAREA'}", "InputFieldType.TextArea," },
        { "{'tagName': 'select', 'attributes': {'type': 'zzz'}}", "InputFieldType.Text," },
        { "{'tagName': 'select', 'attributes': {'type': 5}}", "InputFieldType.Text," },
        { "{'tagName': 'input', 'attributes': {'data-gui-type': 5}}", "InputFieldType.Text," },
        { "{'type': 'input', 'attributes': {'data-gui-type': 'Rating'}}", "description='Rating input'" },
    };

    (void)state;
    expect_rows(rows, ARRAY_LEN(rows));
}

static void limits_become_numbers_and_rules(void **state)
{
    static const struct gui_row rows[] = {
        { "{'type': 'input', 'attributes': {'min': '1', 'data-min': ' 2.5 ', 'max': 9, 'step': '0.5'}}",
          "min_value=2.5,\n    max_value=9.0,\n    step=0.5,\n    validationRules='min: 2.5 ,max:9'," },
        { "{'type': 'input', 'input-min': -3}", "min_value=-3.0,\n    validationRules='min:-3'," },
        { "{'type': 'input', 'attributes': {'data-min': '0'}}", "min_value=0.0," },
        { "{'type': 'input', 'attributes': {'maxlength': '7.9', 'minlength': 2, 'pattern': 'a+'}}",
          "validationRules='pattern:a+,maxlength:7,minlength:2'," },
        { "{'type': 'input', 'attributes': {'data-gui-type': 'Rating', 'data-max-stars': '5'}}", "max_value=5.0," },
        { "{'type': 'input', 'attributes': {'data-gui-type': 'Rating', 'data-max-stars': '5', 'max': 3}}",
          "max_value=3.0," },
    };
    auto_free char *none =
        test_components_python("{'type': 'input', 'attributes': {'min': 'x', 'max': 'nan', 'step': 1e999, 'data-min': "
                               "0, 'maxlength': '1e300', 'minlength': {}}}");

    (void)state;
    expect_rows(rows, ARRAY_LEN(rows));
    assert_lacks(none, "_value");
    assert_lacks(none, "step=");
    assert_lacks(none, "validationRules");
}

static void required_is_said_or_simply_there(void **state)
{
    static const struct gui_row yes[] = {
        { "{'type': 'input', 'attributes': {'required': ''}, 'required': true}", "required=True" },
        { "{'type': 'input', 'attributes': {'required': 'required'}}", "required=True" },
        { "{'type': 'input', 'attributes': {'data-required': 'YES'}}", "validationRules='required'" },
    };
    static const char *const no[] = {
        "{'type': 'input', 'attributes': {'data-required': 'false', 'required': 'true'}}",
        "{'type': 'input', 'attributes': {'required': false}}",
    };
    size_t i;

    (void)state;
    expect_rows(yes, ARRAY_LEN(yes));
    for (i = 0; i < ARRAY_LEN(no); i++) {
        auto_free char *text = test_components_python(no[i]);

        assert_lacks(text, "required=True");
    }
}

static void the_rest_is_read_as_written(void **state)
{
    static const struct gui_row rows[] = {
        { "{'type': 'input', 'input-label': 'L', 'placeholder': 'P'}", "label='L',\n    placeholder='P'," },
        { "{'type': 'input', 'attributes': {'data-label': 'L2', 'data-placeholder': 'P2'}, 'placeholder': 'P'}",
          "label='L2',\n    placeholder='P2'," },
        { "{'type': 'input', 'default-checked': 'true'}", "default_value='True'" },
        { "{'type': 'input', 'attributes': {'data-default-checked': 'no'}}", "default_value='False'" },
        { "{'type': 'input', 'attributes': {'data-multiple': 'true'}}", "multiple=True" },
        { "{'type': 'input', 'attributes': {'data-options': ' a , ,b'}}",
          "options=[SelectOption(value='a', label='a'), SelectOption(value='b', label='b')]" },
        { "{'type': 'input', 'select-options': 'x'}", "options=[SelectOption(value='x', label='x')]" },
    };

    (void)state;
    expect_rows(rows, ARRAY_LEN(rows));
}

static void options_may_be_drawn_as_parts(void **state)
{
    static const struct gui_row rows[] = {
        { "{'type': 'enhanced-select', 'tagName': 'select', 'components': [{'tagName': 'option', 'attributes': "
          "{'value':"
          " ''}, 'content': 'Choose, please'}, {'tagName': 'option', 'attributes': {'value': 'o1'}, 'components':"
          " [{'type': 'textnode', 'content': ' Option 1 '}]}]}",
          "options=[SelectOption(value='', label='Choose, please'), SelectOption(value='o1', label='Option 1')]" },
        { "{'type': 'select', 'components': [{'tagName': 'optgroup', 'attributes': {'label': 'G'}, 'components': "
          "[{'type':"
          " 'option', 'content': 'a'}]}, {'type': 'option', 'attributes': {'value': 2}},"
          " {'type': 'option', 'attributes': {'label': 'L'}, 'content': 't'}, {'type': 'option'}]}",
          "options=[SelectOption(value='a', label='a'), SelectOption(value='2', label='2'), SelectOption(value='L', "
          "label='L')]" },
        { "{'type': 'select', 'select-options': 'x', 'components': [{'type': 'option', 'content': 'a'}]}",
          "options=[SelectOption(value='x', label='x')]" },
    };

    (void)state;
    expect_rows(rows, ARRAY_LEN(rows));
}

static void a_form_has_its_inputs_in_order(void **state)
{
    auto_free char *text = test_components_python(
        "{'tagName': 'form', 'attributes': {'data-title': 'T'}, 'components': ["
        "{'tagName': 'p', 'content': 'gone'}, {'tagName': 'div', 'components': [{'type': 'input', 'attributes': {'id':"
        " 'zed'}}, {'tagName': 'div', 'components': [{'type': 'input', 'attributes': {'id': 'b'}}]}]},"
        "{'type': 'input', 'attributes': {'id': 'a'}}, {'type': 'button', 'content': 'Reset', 'attributes': {'type':"
        " 'reset'}}, {'type': 'button', 'content': 'Go', 'target-screen': 'p1'}]}");

    (void)state;
    assert_has(text, "inputFields={zed, b, a},\n    title='T',\n    submit_label='Go',");
    assert_has(text, "component_id='a',\n    tag_name='input',\n    display_order=2,");
    assert_lacks(text, "gone");
    assert_lacks(text, "Button(");
    assert_lacks(text, "Transition");
}

static void labels_belong_to_the_input_they_name_or_the_next(void **state)
{
    auto_free char *text = test_components_python(
        "{'tagName': 'form', 'components': ["
        "{'tagName': 'label', 'content': 'For two', 'attributes': {'for': 'two'}},"
        "{'tagName': 'label', 'content': 'First'}, {'type': 'input', 'attributes': {'id': 'one'}},"
        "{'type': 'input', 'attributes': {'name': 'two'}},"
        "{'tagName': 'label', 'content': 'Unused'}, {'type': 'input', 'attributes': {'id': 'three', 'data-label': "
        "'Own'}},"
        "{'type': 'input', 'attributes': {'id': 'four'}}]}");
    const char *four = strstr(text, "name='four'");

    (void)state;
    assert_has(text,
               "name='one',\n    description='Text input',\n    field_type=InputFieldType.Text,\n    label='First',");
    assert_has(text,
               "name='two',\n    description='Text input',\n    field_type=InputFieldType.Text,\n    label='For two',");
    assert_has(text, "label='Own'");
    assert_lacks(text, "Unused");
    assert_non_null(four);
    assert_lacks(four, "label=");
}

static void the_submit_text_is_said_or_the_buttons(void **state)
{
    static const struct gui_row rows[] = {
        { "{'tagName': 'form', 'attributes': {'data-submit-label': 'S'}, 'components': [{'type': 'button'}]}",
          "submit_label='S'" },
        { "{'tagName': 'form', 'components': [{'type': 'button', 'content': 'B', 'attributes': {'type': 'button'}}]}",
          "submit_label='B'" },
    };
    auto_free char *none = test_components_python("{'tagName': 'form'}");

    (void)state;
    expect_rows(rows, ARRAY_LEN(rows));
    assert_lacks(none, "submit_label");
    assert_has(none, "inputFields=set()");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_type_is_the_palettes_else_htmls),
        cmocka_unit_test(limits_become_numbers_and_rules),
        cmocka_unit_test(required_is_said_or_simply_there),
        cmocka_unit_test(the_rest_is_read_as_written),
        cmocka_unit_test(options_may_be_drawn_as_parts),
        cmocka_unit_test(a_form_has_its_inputs_in_order),
        cmocka_unit_test(labels_belong_to_the_input_they_name_or_the_next),
        cmocka_unit_test(the_submit_text_is_said_or_the_buttons),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
