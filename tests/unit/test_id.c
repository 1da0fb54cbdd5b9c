#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "shared/base/id.h"
#include "shared/base/mem.h"

static void ids_are_read_in_any_case_and_written_in_lower(void **state)
{
    static const char upper[] = "0F8FAD5B-D9CB-469F-A165-70867728950E";
    char text[ID_TEXT_LEN + 1];
    struct id id;

    (void)state;
    assert_int_equal(id_parse(upper, &id), 0);
    id_format(&id, text);
    assert_string_equal(text, "0f8fad5b-d9cb-469f-a165-70867728950e");
}

static void ids_are_read_as_python_reads_them(void **state)
{
    static const char *const same[] = {
        "0f8fad5bd9cb469fa16570867728950e",
        "0F8FAD5BD9CB469FA16570867728950E",
        "{0f8fad5b-d9cb-469f-a165-70867728950e}",
        "{0f8fad5bd9cb469fa16570867728950e",
        "urn:uuid:0f8fad5b-d9cb-469f-a165-70867728950e",
        "{urn:uuid:0f8fad5bd9cb469fa16570867728950e}",
        "uuid:0f8fad5bd9cb469fa16570867728950e",
        "0f-8fad5bd9cb469fa1657-0867728950e--",
    };
    char text[ID_TEXT_LEN + 1];
    struct id id;
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(same); i++) {
        if (id_parse(same[i], &id) < 0)
            fail_msg("%s", same[i]);
        id_format(&id, text);
        assert_string_equal(text, "0f8fad5b-d9cb-469f-a165-70867728950e");
    }
}

static void what_is_no_id_leaves_the_output_alone(void **state)
{
    static const char *const bad[] = {
        "",
        "x",
        "0f8fad5bd9cb469fa16570867728950",
        "0f8fad5bd9cb469fa16570867728950e0",
        "{0f8fad5bd9cb469fa16570867728950e}x",
        "{}",
        "urn:uuid:",
        "URN:UUID:0f8fad5bd9cb469fa16570867728950e",
        "0x8fad5bd9cb469fa16570867728950e",
        "0f8fad5bd9cb469fa16570867728950\xc3\xa9",
        "0f8fad5b-d9cb-469f-a165-70867728950",
        "0f8fad5b-d9cb-469f-a165-70867728950e0",
        "0f8fad5b-d9cb-469f-a165-70867728950g",
        "0f8fad5b-d9cb-469f-a165_70867728950e",
        " 0f8fad5b-d9cb-469f-a165-70867728950",
        "{f8fad5b-d9cb-469f-a165-70867728950}",
    };
    struct id id, before;
    size_t i;

    (void)state;
    memset(&before, 7, sizeof(before));
    id = before;
    for (i = 0; i < ARRAY_LEN(bad); i++)
        assert_int_equal(id_parse(bad[i], &id), -1);
    assert_int_equal(id_parse(NULL, &id), -1);
    assert_true(id_equal(&id, &before));
}

static void new_ids_differ_and_are_of_version_4(void **state)
{
    char text[ID_TEXT_LEN + 1];
    struct id a, b;

    (void)state;
    id_new(&a);
    id_new(&b);
    assert_false(id_equal(&a, &b));
    id_format(&a, text);
    assert_int_equal(text[14], '4');
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_are_read_in_any_case_and_written_in_lower),
        cmocka_unit_test(ids_are_read_as_python_reads_them),
        cmocka_unit_test(what_is_no_id_leaves_the_output_alone),
        cmocka_unit_test(new_ids_differ_and_are_of_version_4),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
