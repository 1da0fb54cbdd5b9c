#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "shared/base/mem.h"
#include "shared/json/value.h"

static void copies_are_deep(void **state)
{
    struct value inner = { .kind = VALUE_STRING, .string = mem_strdup("x") };
    struct value list = { .kind = VALUE_ARRAY, .items = mem_zalloc(1, sizeof(inner)), .len = 1 };
    struct value copy;

    (void)state;
    list.items[0] = inner;
    assert_int_equal(value_copy(&list, &copy), 0);
    value_release(&list);
    assert_int_equal(copy.len, 1);
    assert_string_equal(copy.items[0].string, "x");
    value_release(&copy);
    assert_int_equal(copy.len, 0);
    value_release(&copy);
    value_release(NULL);
}

static void scalars_copy_as_they_are(void **state)
{
    struct value rows[] = {
        { .kind = VALUE_NULL },
        { .kind = VALUE_BOOL, .boolean = true },
        { .kind = VALUE_INT, .integer = -3 },
        { .kind = VALUE_DOUBLE, .number = 0.5 },
        { .kind = VALUE_ARRAY },
        { .kind = VALUE_OBJECT },
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        struct value copy;

        assert_int_equal(value_copy(&rows[i], &copy), 0);
        assert_int_equal(copy.kind, rows[i].kind);
        assert_int_equal(copy.integer, rows[i].integer);
        assert_true(copy.number == rows[i].number && copy.boolean == rows[i].boolean);
        value_release(&copy);
    }
}

static void only_objects_have_members(void **state)
{
    struct value list = { .kind = VALUE_ARRAY };

    (void)state;
    assert_null(value_get(NULL, "a"));
    assert_null(value_get(&list, "a"));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_are_deep),
        cmocka_unit_test(scalars_copy_as_they_are),
        cmocka_unit_test(only_objects_have_members),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
