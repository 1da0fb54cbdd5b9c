#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fcgi/target.h"
#include "shared/base/mem.h"
#include "tests/support/oom.h"

/* "seg|seg|seg" of an address. */
static void expect(const char *uri, const char *segments, const char *query, bool slash)
{
    char text[4096] = "";
    struct target t;
    struct err err;
    size_t i;

    assert_int_equal(target_parse(uri, &t, &err), 0);
    for (i = 0; i < t.len; i++) {
        if (i)
            strncat(text, "|", sizeof(text) - strlen(text) - 1);
        strncat(text, t.segments[i], sizeof(text) - strlen(text) - 1);
    }
    assert_string_equal(text, segments);
    assert_string_equal(t.query, query);
    assert_int_equal(t.slash, slash);
    target_release(&t);
}

static void addresses_are_split_before_they_are_decoded(void **state)
{
    (void)state;
    expect("/", "", "", false);
    expect("/a", "a", "", false);
    expect("/a/b/c", "a|b|c", "", false);
    expect("/a/", "a|", "", true);
    expect("//a", "|a", "", false);
    expect("/a//b", "a||b", "", false);
    expect("/a%2Fb/c", "a/b|c", "", false);
    expect("/%61%2e%2E", "a..", "", false);
    expect("/../x", "..|x", "", false);
    expect("/a?b=c/d", "a", "b=c/d", false);
    expect("/a/?b", "a|", "b", true);
    expect("/a?", "a", "", false);
    expect("/a#b?c", "a", "", false);
    expect("/a?b#c", "a", "b", false);
    expect("/a%3fb", "a?b", "", false);
}

static void odd_escapes_stay_and_nul_is_replaced(void **state)
{
    (void)state;
    expect("/%", "%", "", false);
    expect("/%4", "%4", "", false);
    expect("/%zz%41", "%zzA", "", false);
    expect("/%%41", "%A", "", false);
    expect("/a%00b",
           "a\xef\xbf\xbd"
           "b",
           "", false);
    expect("/%ff", "\xff", "", false);
    expect("/a+b", "a+b", "", false);
}

static void what_has_no_path_is_not_found(void **state)
{
    static char big[TARGET_MAX + 2];
    static const char *const bad[] = { "", "a", "*", "http://x/a", "?a" };
    struct target t;
    struct err err;
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(bad); i++) {
        assert_int_equal(target_parse(bad[i], &t, &err), -1);
        assert_int_equal(err.kind, ERR_NOT_FOUND);
    }
    memset(big, '/', sizeof(big) - 1);
    assert_int_equal(target_parse(big, &t, &err), -1);
    big[TARGET_MAX] = '\0';
    assert_int_equal(target_parse(big, &t, &err), 0);
    assert_int_equal(t.len, TARGET_SEGMENTS_MAX);
    assert_true(t.more);
    target_release(&t);
    target_release(NULL);
}

static void the_rest_is_decoded_as_one(void **state)
{
    struct target t;
    struct err err;
    char *rest;

    (void)state;
    assert_int_equal(target_parse("/f/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/1%377?q", &t, &err), 0);
    rest = target_rest(&t, 14);
    assert_string_equal(rest, "14/15/16/177");
    mem_free(rest);
    rest = target_rest(&t, 99);
    assert_string_equal(rest, "");
    mem_free(rest);
    target_release(&t);
}

static void the_slash_is_toggled_before_the_query(void **state)
{
    static const struct {
        const char *uri, *other;
    } rows[] = {
        { "/a/b/", "/a/b" }, { "/a/b/?c=d", "/a/b?c=d" }, { "/a", "/a/" }, { "/a?x", "/a/?x" }, { "/a//", "/a/" },
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        struct target t;
        struct err err;
        char *other;

        assert_int_equal(target_parse(rows[i].uri, &t, &err), 0);
        other = target_toggle_slash(&t);
        assert_string_equal(other, rows[i].other);
        mem_free(other);
        target_release(&t);
    }
}

static void short_memory_is_told(void **state)
{
    (void)state;
    OOM_SWEEP({
        struct target t;
        struct err err;

        if (target_parse("/a/b?c", &t, &err) == 0) {
            char *rest = target_rest(&t, 1);
            char *other = target_toggle_slash(&t);

            assert_true((rest && other) || oom_hit());
            mem_free(rest);
            mem_free(other);
            target_release(&t);
        } else {
            assert_true(oom_hit());
            assert_int_equal(err.kind, ERR_INTERNAL);
        }
    });
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_are_split_before_they_are_decoded),
        cmocka_unit_test(odd_escapes_stay_and_nul_is_replaced),
        cmocka_unit_test(what_has_no_path_is_not_found),
        cmocka_unit_test(the_rest_is_decoded_as_one),
        cmocka_unit_test(the_slash_is_toggled_before_the_query),
        cmocka_unit_test(short_memory_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
