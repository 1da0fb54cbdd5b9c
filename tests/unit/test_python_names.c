#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "shared/base/buf.h"
#include "shared/base/mem.h"
#include "shared/base/str.h"
#include "shared/base/time.h"
#include "shared/python/names.h"
#include "tests/support/oom.h"
#include "tests/support/run_program.h"

static void safe_forms_follow_the_rule(void **state)
{
    static const struct {
        const char *in, *out;
    } rows[] = {
        { "Greeting", "greeting" },
        { "", "unnamed" },
        { "___", "unnamed" },
        { "\xf0\x9f\x98\x80", "unnamed" },
        { "a.b", "a_b" },
        { "Go--x!!y", "go_x_y" },
        { "_x_", "x" },
        { "class", "class_" },
        { "Class", "class_" },
        { "None", "none" },
        { "4o-mini", "n_4o_mini" },
        { "caf\xc3\xa9", "caf" },
        { "cafe\xcc\x81x", "caf_x" },
        { "caf\xc3\xa9x", "caf_x" },
        { "\xd9\xa3", "unnamed" },
        { "print", "print" },
        { "a'\n\"; import os", "a_import_os" },
        { "__name__", "name" },
        { "a\xff\xfe z", "a_z" },
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        auto_free char *out = name_safe(rows[i].in);

        assert_string_equal(out, rows[i].out);
        assert_true(name_is_identifier(out));
    }
}

static void equal_names_get_numbers_in_order(void **state)
{
    struct names n;

    (void)state;
    names_init(&n);
    assert_string_equal(names_make(&n, "Go.x", NULL), "go_x");
    assert_string_equal(names_make(&n, "go x", NULL), "go_x_2");
    assert_string_equal(names_make(&n, "go_x_3", NULL), "go_x_3");
    assert_string_equal(names_make(&n, "GO_X", NULL), "go_x_4");
    assert_string_equal(names_make(&n, "go_x_3", NULL), "go_x_3_2");
    names_release(&n);
}

static void words_in_use_are_avoided(void **state)
{
    struct names n;

    (void)state;
    names_init(&n);
    assert_int_equal(names_reserve(&n, "agent", NULL), 0);
    assert_int_equal(names_reserve(&n, "agent", NULL), 0);
    assert_true(names_taken(&n, "agent"));
    assert_false(names_taken(&n, "agent_2"));
    assert_string_equal(names_make(&n, "Agent", NULL), "agent_2");
    assert_string_equal(names_make(&n, "print", NULL), "print_2");
    assert_string_equal(names_make(&n, "print", NULL), "print_3");
    assert_string_equal(names_make(&n, "match", NULL), "match_2");
    assert_string_equal(names_make(&n, "class", NULL), "class_");
    assert_string_equal(names_make(&n, "class", NULL), "class__2");
    names_release(&n);
}

static void prefixed_names_stay_readable(void **state)
{
    struct names n;

    (void)state;
    names_init(&n);
    assert_string_equal(names_make_prefixed(&n, "state", "class", NULL), "state_class");
    assert_string_equal(names_make_prefixed(&n, "state", "4o", NULL), "state_4o");
    assert_string_equal(names_make_prefixed(&n, "state", "4 O", NULL), "state_4_o");
    assert_string_equal(names_make_prefixed(&n, "state", "4o!", NULL), "state_4o_2");
    assert_string_equal(names_make_prefixed(&n, "state", "", NULL), "state_unnamed");
    names_release(&n);
}

static void identifiers_are_ascii_words(void **state)
{
    (void)state;
    assert_true(name_is_identifier("_a1"));
    assert_false(name_is_identifier(""));
    assert_false(name_is_identifier(NULL));
    assert_false(name_is_identifier("1a"));
    assert_false(name_is_identifier("a b"));
    assert_false(name_is_identifier("\xc3\xa9"));
}

static void the_reserved_words_are_those_of_cpython(void **state)
{
    static char script[] = "import keyword, builtins\n"
                           "print('\\n'.join(keyword.kwlist + keyword.softkwlist + dir(builtins)))\n";
    static char python[] = "/usr/bin/python3", command[] = "-c";
    char *argv[] = { python, command, script, NULL };
    auto_buf struct buf out;
    char *line, *end;
    int seen = 0;

    (void)state;
    buf_init(&out, 1u << 20);
    assert_int_equal(run_program(argv, "", 0, &out), 0);
    for (line = out.data; (end = strchr(line, '\n')); line = end + 1, seen++) {
        *end = '\0';
        if (!name_is_reserved(line))
            fail_msg("%s is not reserved", line);
    }
    assert_true(seen > 180);
    assert_false(name_is_reserved("agent"));
    assert_false(name_is_reserved(""));
}

static bool is_own(const char *word)
{
    return strcmp(word, "idle") == 0 || strcmp(word, "idle_2") == 0;
}

static void words_told_by_a_function_are_taken_too(void **state)
{
    struct names n;

    (void)state;
    names_init(&n);
    n.is_taken = is_own;
    assert_true(names_taken(&n, "idle"));
    assert_false(names_taken(&n, "busy"));
    assert_string_equal(names_make(&n, "idle", NULL), "idle_3");
    assert_string_equal(names_make(&n, "idle", NULL), "idle_4");
    assert_string_equal(names_make(&n, "busy", NULL), "busy");
    names_release(&n);
    assert_true(names_taken(&n, "idle"));
    assert_false(names_taken(&n, "busy"));
    names_release(&n);
}

static void long_names_are_cut_and_stay_unique(void **state)
{
    auto_buf struct buf a;
    const char *one, *two;
    struct names n;

    (void)state;
    buf_init(&a, 2u << 20);
    buf_add_repeat(&a, 'a', 1u << 20);
    names_init(&n);
    one = names_make(&n, a.data, NULL);
    two = names_make(&n, a.data, NULL);
    assert_int_equal(strlen(one), NAME_MAX_LEN);
    assert_true(str_starts(two, one) && str_ends(two, "_2"));
    names_release(&n);
}

static void marks_in_bad_order_cost_no_square(void **state)
{
    auto_buf struct buf a;
    auto_free char *out = NULL;
    int64_t start = time_mono_ms();
    int i;

    (void)state;
    buf_init(&a, 4u << 20);
    buf_add_char(&a, 'a');
    for (i = 0; i < 400000; i++)
        buf_add_str(&a, i < 200000 ? "\xcc\x81" : "\xcc\xa3");
    out = name_safe(a.data);
    assert_non_null(out);
    assert_true(time_mono_ms() - start < 2000);
}

static void thousands_of_equal_names_take_no_square(void **state)
{
    int64_t start = time_mono_ms();
    char want[32];
    struct names n;
    int i;

    (void)state;
    names_init(&n);
    for (i = 1; i <= 200000; i++) {
        const char *name = names_make(&n, "Same Name", NULL);

        if (i > 1) {
            snprintf(want, sizeof(want), "same_name_%d", i);
            assert_string_equal(name, want);
        }
    }
    assert_true(time_mono_ms() - start < 5000);
    names_release(&n);
}

/* Each pair leaves FNV-1a in one state, so all 8192 names share a place under a hash that everybody can compute. */
static void chosen_names_take_no_square(void **state)
{
    static const char pairs[][2][8] = {
        { "yqlhwzb", "txuvgsx" }, { "dwuftpo", "oxlxfsq" }, { "bwwxlub", "wbhfjpx" }, { "bbyafyo", "wwhuhtq" },
        { "jygxqqx", "wpxbmvb" }, { "spkinum", "nyvelpw" }, { "gwlcfws", "lxsotxm" }, { "pxramvd", "kcomiuz" },
        { "gmysauo", "hvhguvq" }, { "eyxnuwp", "xpilevf" }, { "jpibqso", "wyxtirq" }, { "bwhgspd", "wbysksr" },
        { "gpibqtl", "zyxtiyr" },
    };
    clock_t start = clock();
    char name[8 * ARRAY_LEN(pairs)];
    struct names n;
    unsigned i;
    size_t k;

    (void)state;
    names_init(&n);
    for (i = 0; i < 1u << ARRAY_LEN(pairs); i++) {
        for (k = 0; k < ARRAY_LEN(pairs); k++)
            memcpy(name + 7 * k, pairs[k][i >> k & 1], 8);
        assert_string_equal(names_make(&n, name, NULL), name);
    }
    assert_true(clock() - start < CLOCKS_PER_SEC / 5); /* of computing, or a busy machine would fail it */
    names_release(&n);
}

static void short_memory_gives_null_and_a_usable_table(void **state)
{
    (void)state;
    OOM_SWEEP({
        struct err err = { 0 };
        struct names n;
        int i;

        names_init(&n);
        for (i = 0; i < 100; i++) {
            const char *a = names_make(&n, "caf\xc3\xa9", &err);
            const char *b = names_make_prefixed(&n, "state", "x", &err);

            if (!a || !b)
                assert_int_equal(err.kind, ERR_INTERNAL);
        }
        names_reserve(&n, "print", &err);
        names_release(&n);
    });
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(safe_forms_follow_the_rule),
        cmocka_unit_test(equal_names_get_numbers_in_order),
        cmocka_unit_test(words_in_use_are_avoided),
        cmocka_unit_test(prefixed_names_stay_readable),
        cmocka_unit_test(identifiers_are_ascii_words),
        cmocka_unit_test(the_reserved_words_are_those_of_cpython),
        cmocka_unit_test(words_told_by_a_function_are_taken_too),
        cmocka_unit_test(long_names_are_cut_and_stay_unique),
        cmocka_unit_test(marks_in_bad_order_cost_no_square),
        cmocka_unit_test(thousands_of_equal_names_take_no_square),
        cmocka_unit_test(chosen_names_take_no_square),
        cmocka_unit_test(short_memory_gives_null_and_a_usable_table),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
