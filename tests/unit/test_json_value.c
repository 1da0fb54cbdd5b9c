#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "shared/base/buf.h"
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

static void values_are_written_a_member_a_line(void **state)
{
    char *keys[] = { (char[]){ "a\"" }, (char[]){ "b" } };
    struct value numbers[] = {
        { .kind = VALUE_INT, .integer = -9007199254740992 },
        { .kind = VALUE_DOUBLE, .number = 0.1 },
        { .kind = VALUE_DOUBLE, .number = 1e300 },
        { .kind = VALUE_BOOL, .boolean = true },
        { .kind = VALUE_NULL },
        { .kind = VALUE_STRING, .string = (char[]){ "x\n\xc3\xa9" } },
        { .kind = VALUE_STRING },
        { .kind = VALUE_ARRAY },
    };
    struct value members[] = { { .kind = VALUE_ARRAY, .items = numbers, .len = ARRAY_LEN(numbers) },
                               { .kind = VALUE_OBJECT } };
    struct value v = { .kind = VALUE_OBJECT, .keys = keys, .items = members, .len = 2 };
    struct buf out;

    (void)state;
    buf_init(&out, 1000);
    assert_int_equal(value_write(&v, 1, &out), 0);
    assert_string_equal(out.data,
                        "{\n   \"a\\\"\": [\n     -9007199254740992,\n     0.1,\n     1e+300,\n     true,\n     null,\n"
                        "     \"x\\n\xc3\xa9\",\n     \"\",\n     []\n   ],\n   \"b\": {}\n }");
    numbers[1].number = __builtin_inf();
    assert_int_equal(value_write(&v, 0, &out), -1);
    buf_release(&out);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_are_deep),
        cmocka_unit_test(scalars_copy_as_they_are),
        cmocka_unit_test(only_objects_have_members),
        cmocka_unit_test(values_are_written_a_member_a_line),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
