#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include <cmocka.h>

#include "shared/base/buf.h"
#include "shared/base/mem.h"
#include "shared/base/str.h"
#include "shared/python/emit.h"
#include "tests/support/oom.h"
#include "tests/support/run_program.h"

static void texts_become_one_ascii_literal(void **state)
{
    static const struct {
        const char *in, *out;
    } rows[] = {
        { NULL, "None" },
        { "", "''" },
        { "plain {x} # ; $(x) %s", "'plain {x} # ; $(x) %s'" },
        { "'", "'\\x27'" },
        { "\"", "'\\x22'" },
        { "\\", "'\\x5c'" },
        { "'''", "'\\x27\\x27\\x27'" },
        { "a\nb\rc\td", "'a\\nb\\rc\\td'" },
        { "\x01\x0b\x0c\x7f", "'\\x01\\x0b\\x0c\\x7f'" },
        { "\xc2\x85\xc3\xa9\xc3\xbf", "'\\x85\\xe9\\xff'" },
        { "\xc4\x80\xe2\x80\xa8\xe2\x80\xa9\xef\xbf\xbf", "'\\u0100\\u2028\\u2029\\uffff'" },
        { "\xf0\x9f\x98\x80", "'\\U0001f600'" },
        { "a\xffz", "'a\\ufffdz'" },
        { "\xed\xa0\xbd", "'\\ufffd\\ufffd\\ufffd'" },
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        auto_buf struct buf b;

        buf_init(&b, 1000);
        py_str(&b, rows[i].in);
        assert_string_equal(b.data, rows[i].out);
    }
}

static void numbers_are_short_and_typed(void **state)
{
    static const struct {
        double in;
        const char *out;
    } rows[] = {
        { 0, "0.0" },
        { -0.0, "-0.0" },
        { 3, "3.0" },
        { 0.1, "0.1" },
        { 1.0 / 3, "0.3333333333333333" },
        { 1e21, "1e+21" },
        { 1e16, "1e+16" },
        { 123456789.125, "123456789.125" },
        { DBL_MAX, "1.7976931348623157e+308" },
        { 5e-324, "5e-324" },
        { -2.5e-7, "-2.5e-07" },
        { 9007199254740993.0, "9007199254740992.0" },
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        auto_buf struct buf b;

        buf_init(&b, 1000);
        py_float(&b, rows[i].in);
        assert_string_equal(b.data, rows[i].out);
    }
}

static void integers_and_booleans_are_pythons(void **state)
{
    auto_buf struct buf b;

    (void)state;
    buf_init(&b, 1000);
    py_int(&b, INT64_MIN);
    buf_add_char(&b, ' ');
    py_int(&b, 42);
    buf_add_char(&b, ' ');
    py_bool(&b, true);
    buf_add_char(&b, ' ');
    py_bool(&b, false);
    assert_string_equal(b.data, "-9223372036854775808 42 True False");
}

static void numbers_that_are_not_finite_fail(void **state)
{
    static const double rows[] = { NAN, INFINITY, -INFINITY };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        struct value v = { .kind = VALUE_DOUBLE, .number = rows[i] };
        auto_buf struct buf b;

        buf_init(&b, 1000);
        py_float(&b, rows[i]);
        assert_true(buf_failed(&b));
        buf_clear(&b);
        py_value(&b, &v);
        assert_true(buf_failed(&b));
    }
}

static char text_a[] = "a'";
static char key_b[] = "b\n";
static char key_c[] = "c";

static void values_are_written_in_order(void **state)
{
    struct value leaves[] = {
        { .kind = VALUE_NULL },
        { .kind = VALUE_BOOL, .boolean = true },
        { .kind = VALUE_INT, .integer = -7 },
        { .kind = VALUE_DOUBLE, .number = 2 },
        { .kind = VALUE_STRING, .string = text_a },
        { .kind = VALUE_ARRAY },
        { .kind = VALUE_OBJECT },
    };
    struct value list = { .kind = VALUE_ARRAY, .items = leaves, .len = ARRAY_LEN(leaves) };
    struct value members[] = { list, { .kind = VALUE_INT, .integer = 1 } };
    char *keys[] = { key_b, key_c };
    struct value top = { .kind = VALUE_OBJECT, .keys = keys, .items = members, .len = 2 };
    auto_buf struct buf b;

    (void)state;
    buf_init(&b, 1000);
    py_value(&b, &top);
    assert_false(buf_failed(&b));
    assert_string_equal(b.data, "{'b\\n': [None, True, -7, 2.0, 'a\\x27', [], {}], 'c': 1}");
}

static void deep_values_fail(void **state)
{
    struct value nest[101] = { 0 }, leaf = { .kind = VALUE_BOOL };
    auto_buf struct buf b;
    size_t i;

    (void)state;
    buf_init(&b, 10000);
    for (i = 0; i < ARRAY_LEN(nest); i++)
        nest[i] = (struct value){ .kind = VALUE_ARRAY, .items = nest + i + 1, .len = 1 };
    nest[100] = (struct value){ .kind = VALUE_ARRAY, .items = &leaf, .len = 1 };
    py_value(&b, &nest[1]);
    assert_false(buf_failed(&b));
    py_value(&b, &nest[0]);
    assert_true(buf_failed(&b));
}

/* Reads every literal back with CPython: one line of source, one line of hex out. */
static void cpython_reads_back_what_was_written(void **state)
{
    static char script[] = "import sys\n"
                           "for line in sys.stdin.buffer.read().splitlines():\n"
                           "    print(eval(line.decode('ascii')).encode('utf-8').hex())\n";
    static char python[] = "/usr/bin/python3", isolated[] = "-I", command[] = "-c";
    char *argv[] = { python, isolated, command, script, NULL };
    auto_buf struct buf source, want, got;
    uint32_t cp;
    size_t i;

    (void)state;
    buf_init(&source, 64u << 20);
    buf_init(&want, 64u << 20);
    buf_init(&got, 64u << 20);
    for (cp = 1; cp <= 0x10ffff; cp = cp < 0x3000 ? cp + 1 : cp + 211) {
        char text[8];
        size_t width;

        if (cp >= 0xd800 && cp < 0xe000)
            continue;
        text[0] = 'x';
        width = 1 + utf8_encode(cp, text + 1);
        text[width] = '\0';
        py_str(&source, text);
        buf_add_char(&source, '\n');
        for (i = 0; i < width; i++)
            buf_add_fmt(&want, "%02x", (unsigned char)text[i]);
        buf_add_char(&want, '\n');
    }
    assert_int_equal(run_program(argv, source.data, source.len, &got), 0);
    assert_string_equal(got.data, want.data);
}

static void a_megabyte_of_text_is_fine(void **state)
{
    auto_buf struct buf text, out;

    (void)state;
    buf_init(&text, 2u << 20);
    buf_init(&out, 8u << 20);
    buf_add_repeat(&text, '\'', 1u << 20);
    py_str(&out, text.data);
    assert_false(buf_failed(&out));
    assert_int_equal(out.len, 4 * text.len + 2);
}

static void short_memory_fails_the_buffer(void **state)
{
    char long_text[300];

    (void)state;
    memset(long_text, '\n', sizeof(long_text) - 1);
    long_text[sizeof(long_text) - 1] = '\0';
    OOM_SWEEP({
        auto_buf struct buf b;

        buf_init(&b, 10000);
        py_str(&b, long_text);
        py_float(&b, 0.5);
        assert_int_equal(buf_failed(&b), oom_hit());
    });
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_become_one_ascii_literal),      cmocka_unit_test(numbers_are_short_and_typed),
        cmocka_unit_test(integers_and_booleans_are_pythons),   cmocka_unit_test(numbers_that_are_not_finite_fail),
        cmocka_unit_test(values_are_written_in_order),         cmocka_unit_test(deep_values_fail),
        cmocka_unit_test(cpython_reads_back_what_was_written), cmocka_unit_test(a_megabyte_of_text_is_fine),
        cmocka_unit_test(short_memory_fails_the_buffer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
