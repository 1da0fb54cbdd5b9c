#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "shared/base/buf.h"
#include "shared/base/mem.h"
#include "tests/support/oom.h"

static void grows_and_stays_terminated(void **state)
{
    auto_buf struct buf b;
    int i;

    (void)state;
    buf_init(&b, 1 << 20);
    for (i = 0; i < 1000; i++)
        assert_int_equal(buf_add_fmt(&b, "%d,", i), 0);
    assert_int_equal(b.len, strlen(b.data));
    assert_int_equal(memcmp(b.data, "0,1,2,3,", 8), 0);
}

static void ceiling_makes_the_failure_sticky(void **state)
{
    auto_buf struct buf b;

    (void)state;
    buf_init(&b, 4);
    assert_int_equal(buf_add_str(&b, "1234"), 0);
    assert_int_equal(buf_add_char(&b, '5'), -1);
    assert_true(buf_failed(&b));
    assert_null(buf_steal(&b, NULL));
    buf_clear(&b);
    assert_int_equal(buf_add_str(&b, "ab"), 0);
    assert_string_equal(b.data, "ab");
}

/* Memory is taken in larger steps than the ceiling has. */
static void ceiling_counts_where_there_is_room(void **state)
{
    auto_buf struct buf b;

    (void)state;
    buf_init(&b, 10);
    assert_int_equal(buf_add_str(&b, "12345"), 0);
    assert_int_equal(buf_add_str(&b, "67890"), 0);
    assert_int_equal(buf_add_str(&b, "x"), -1);
    assert_string_equal(b.data, "1234567890");
    buf_clear(&b);
    b.max = 3;
    assert_int_equal(buf_add_str(&b, "1234"), -1);
    assert_true(buf_failed(&b));
    assert_int_equal(buf_add_str(&b, ""), -1);
}

static void hex_has_as_many_digits_as_asked_for(void **state)
{
    auto_buf struct buf b;

    (void)state;
    buf_init(&b, 100);
    buf_add_hex(&b, 0x7f, 2);
    buf_add_hex(&b, 0xabc, 4);
    buf_add_hex(&b, 0x1f600, 8);
    buf_add_hex(&b, 0x123, 2);
    assert_string_equal(b.data, "7f0abc0001f60023");
}

static void json_strings_escape_and_repair(void **state)
{
    static const struct {
        const char *in;
        size_t len;
        const char *out;
    } rows[] = {
        { "", 0, "\"\"" },
        { "a\"b\\c", 5, "\"a\\\"b\\\\c\"" },
        { "\n\r\t\b\f\x01\x7f", 7, "\"\\n\\r\\t\\b\\f\\u0001\\u007f\"" },
        { "a\0b", 3, "\"a\\u0000b\"" },
        { "\xc3\xa9\xf0\x9f\x98\x80", 6, "\"\xc3\xa9\xf0\x9f\x98\x80\"" },
        { "x\xff\xc3y", 4, "\"x\xef\xbf\xbd\xef\xbf\xbdy\"" },
        { "\xed\xa0\x80", 3, "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"" },
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        auto_buf struct buf b;

        buf_init(&b, 1000);
        assert_int_equal(buf_add_json_str(&b, rows[i].in, rows[i].len), 0);
        assert_string_equal(b.data, rows[i].out);
    }
}

static void short_memory_leaves_a_failed_buffer(void **state)
{
    (void)state;
    OOM_SWEEP({
        auto_buf struct buf b;
        char *text;

        buf_init(&b, 100000);
        buf_add_repeat(&b, 'x', 100);
        buf_add_repeat(&b, 'y', 5000);
        text = buf_steal(&b, NULL);
        assert_true(!oom_hit() || !text);
        mem_free(text);
    });
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(grows_and_stays_terminated),          cmocka_unit_test(ceiling_makes_the_failure_sticky),
        cmocka_unit_test(hex_has_as_many_digits_as_asked_for), cmocka_unit_test(ceiling_counts_where_there_is_room),
        cmocka_unit_test(json_strings_escape_and_repair),      cmocka_unit_test(short_memory_leaves_a_failed_buffer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
