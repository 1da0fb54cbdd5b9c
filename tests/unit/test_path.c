#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "shared/base/mem.h"
#include "shared/base/path.h"
#include "tests/support/oom.h"

static void paths_are_cleaned(void **state)
{
    static const struct {
        const char *raw, *clean;
    } rows[] = {
        { "a/b", "a/b" },
        { "  a/b\t", "a/b" },
        { "\xc2\xa0"
          "a\xe3\x80\x80",
          "a" },
        { "a\\b", "a/b" },
        { "/a//b/", "a/b" },
        { "./a/./b", "a/b" },
        { "C:\\data\\x", "data/x" },
        { "c:x", "x" },
        { "..a/b..", "..a/b.." },
        { "...", "..." },
        { "a b/\xc3\xa9", "a b/\xc3\xa9" },
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        auto_free char *clean = NULL;
        struct err err;

        assert_int_equal(path_normalise(rows[i].raw, &clean, &err), 0);
        assert_string_equal(clean, rows[i].clean);
        assert_int_equal(path_check(clean, strlen(clean)), 0);
    }
}

static void paths_that_escape_or_name_nothing_are_refused(void **state)
{
    static const char *const raw[] = { "..", "../x", "a/../b", "a\\..\\b", "/..", "C:..", " .. ",
                                       "",   " ",    "/",      ".",        "C:",  "././" };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(raw); i++) {
        struct err err = { 0 };
        char *clean = NULL;

        assert_int_equal(path_normalise(raw[i], &clean, &err), -1);
        assert_int_equal(err.kind, ERR_BAD_REQUEST);
        assert_null(clean);
    }
}

static void names_too_long_for_a_file_system_are_refused(void **state)
{
    char raw[4100];
    char *clean = NULL;
    struct err err;
    size_t i;

    (void)state;
    memset(raw, 'x', sizeof(raw));
    raw[256] = '\0';
    assert_int_equal(path_normalise(raw, &clean, &err), -1);
    raw[255] = '\0';
    assert_int_equal(path_normalise(raw, &clean, &err), 0);
    assert_int_equal(path_check(clean, strlen(clean)), 0);
    mem_free(clean);
    clean = NULL;
    memset(raw, 'x', sizeof(raw));
    for (i = 100; i < sizeof(raw); i += 100)
        raw[i] = '/';
    raw[sizeof(raw) - 1] = '\0';
    assert_int_equal(path_normalise(raw, &clean, &err), -1);
    assert_null(clean);
}

static void only_clean_paths_pass_the_check(void **state)
{
    static const char *const bad[] = { "", "/a", "a/", "a//b", ".", "..", "a/..", "../a", "a/./b", "a\\b" };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(bad); i++)
        assert_int_equal(path_check(bad[i], strlen(bad[i])), -1);
    assert_int_equal(path_check("a\0b", 3), -1);
    assert_int_equal(path_check("a/b.c", 5), 0);
}

static void files_that_are_there_may_have_backslashes(void **state)
{
    static const char *const bad[] = { "", "/a", "a/", "a//b\\", ".", "a\\/..", "../a\\b", "a/./b" };
    static const char *const good[] = { "a\\b", "\\", "..\\a", "a\\..\\b", "a/b\\/c", "C:\\x" };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(bad); i++)
        assert_int_equal(path_check_found(bad[i], strlen(bad[i])), -1);
    for (i = 0; i < ARRAY_LEN(good); i++)
        assert_int_equal(path_check_found(good[i], strlen(good[i])), 0);
    assert_int_equal(path_check_found("a\0b", 3), -1);
}

static void stems_are_safe_file_names(void **state)
{
    static const struct {
        const char *name, *stem;
    } rows[] = {
        { "agent", "agent" }, { "a b/c", "a_b_c" },  { "..hidden", "hidden" }, { "", "unnamed" },
        { "...", "unnamed" }, { "\xc3\xa9x", "_x" }, { "a.b_C9", "a.b_C9" },
    };
    char long_name[301];
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        auto_free char *stem = path_stem(rows[i].name);

        assert_string_equal(stem, rows[i].stem);
    }
    memset(long_name, 'x', 300);
    long_name[300] = '\0';
    {
        auto_free char *one = path_stem(long_name);
        auto_free char *two = NULL;

        long_name[299] = 'y';
        two = path_stem(long_name);
        assert_int_equal(strlen(one), PATH_STEM_MAX);
        assert_string_not_equal(one, two);
    }
}

static void short_memory_is_told(void **state)
{
    (void)state;
    OOM_SWEEP({
        auto_free char *clean = NULL;
        auto_free char *stem = NULL;
        struct err err;

        if (path_normalise("a/b", &clean, &err) < 0) {
            assert_true(oom_hit());
            assert_int_equal(err.kind, ERR_INTERNAL);
        }
        stem = path_stem("abc");
        assert_true(stem || oom_hit());
    });
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_are_cleaned),
        cmocka_unit_test(paths_that_escape_or_name_nothing_are_refused),
        cmocka_unit_test(names_too_long_for_a_file_system_are_refused),
        cmocka_unit_test(only_clean_paths_pass_the_check),
        cmocka_unit_test(files_that_are_there_may_have_backslashes),
        cmocka_unit_test(stems_are_safe_file_names),
        cmocka_unit_test(short_memory_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
