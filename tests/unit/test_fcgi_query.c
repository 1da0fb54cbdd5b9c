#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fcgi/query.h"
#include "shared/base/mem.h"
#include "tests/support/oom.h"

static void values_are_found_by_name_and_decoded(void **state)
{
    static const struct {
        const char *query, *name, *value;
    } rows[] = {
        { "a=1&b=2", "a", "1" },
        { "a=1&b=2", "b", "2" },
        { "a=1&b=2", "c", NULL },
        { "a=1&a=2", "a", "1" },
        { "ab=1", "a", NULL },
        { "a", "a", "" },
        { "a=", "a", "" },
        { "&&a=1&&", "a", "1" },
        { "a=x=y", "a", "x=y" },
        { "%61=1", "a", "1" },
        { "a=%2F%2f+%26", "a", "// &" },
        { "a=%", "a", "%" },
        { "a=%2", "a", "%2" },
        { "a=%zz", "a", "%zz" },
        { "a=1%002", "a",
          "1\xef\xbf\xbd"
          "2" },
        { "", "a", NULL },
        { "=1", "", "1" },
        { "a=%&b=1", "a", "%" },
        { "a=%2&6b=1", "b", NULL },
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        auto_free char *value = query_value(rows[i].query, rows[i].name);

        if (rows[i].value)
            assert_string_equal(value, rows[i].value);
        else
            assert_null(value);
    }
}

static void what_is_added_comes_back(void **state)
{
    static const char odd[] = "a b&c=d/\xc3\xa9?#%+\r\n~._-";
    auto_free char *value = NULL;
    auto_buf struct buf b;

    (void)state;
    buf_init(&b, 4096);
    buf_add_str(&b, "http://x/?");
    query_add(&b, "one", "1");
    query_add(&b, "tw&o", odd);
    assert_string_equal(b.data, "http://x/?one=1&tw%26o=a%20b%26c%3Dd%2F%C3%A9%3F%23%25%2B%0D%0A~._-");
    value = query_value(strchr(b.data, '?') + 1, "tw&o");
    assert_string_equal(value, odd);
}

static void short_memory_finds_nothing(void **state)
{
    (void)state;
    OOM_SWEEP({
        auto_free char *value = query_value("a=1&b=2", "b");

        if (value)
            assert_string_equal(value, "2");
    });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_found_by_name_and_decoded),
        cmocka_unit_test(what_is_added_comes_back),
        cmocka_unit_test(short_memory_finds_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
