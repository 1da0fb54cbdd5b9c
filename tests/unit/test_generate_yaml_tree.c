#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "shared/base/buf.h"
#include "shared/base/mem.h"
#include "shared/generate/yaml_tree.h"
#include "tests/support/oom.h"

/* What is written after reading the text, or the error's message. The caller frees. */
static char *again(const char *text)
{
    struct ytree t = { 0 };
    struct err err = { 0 };
    char *out = NULL;

    if (ytree_parse(text, strlen(text), &t, &err) < 0) {
        assert_int_equal(err.kind, ERR_BAD_REQUEST);
        return mem_strdup(err.msg);
    }
    assert_int_equal(ytree_write(&t, &out, &err), 0);
    ytree_release(&t);
    return out;
}

static void documents_keep_their_values_and_order(void **state)
{
    static const struct {
        const char *in, *out;
    } rows[] = {
        { "b: 1\na: [x, 2.5, ~]\n", "b: 1\na:\n- x\n- 2.5\n- ~\n" },
        { "a: 'x'\nb: \"y\\tz\"\nc: yes\n", "a: \"x\"\nb: \"y\\tz\"\nc: yes\n" },
        { "a: |\n  one\n  two\n", "a: \"one\\ntwo\\n\"\n" },
        { "a:\nb: ''\n", "a: null\nb: \"\"\n" },
        { "a: {b: c}\n~: 1\n", "a:\n  b: c\n~: 1\n" },
        { "a: {}\nb: []\n", "a: {}\nb: []\n" },
        { "# only a comment\n", "null\n" },
        { "a: 1 # why\n", "a: 1\n" },
        { "a: !!str 5\n", "a: \"5\"\n" },
        { "a: \"\\u0085\\u2028\\U0001F600\xc3\xa9\"\n", "a: \"\\N\\L\\U0001F600\xc3\xa9\"\n" },
        { "a: 2026-01-31\nb: 1:30\nc: 0x1f\n", "a: 2026-01-31\nb: 1:30\nc: 0x1f\n" },
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        auto_free char *out = again(rows[i].in);

        assert_string_equal(out, rows[i].out);
    }
}

static void repeated_keys_aliases_and_merges_resolve(void **state)
{
    static const struct {
        const char *in, *out;
    } rows[] = {
        { "a: 1\nb: 2\na: 3\n", "a: 3\nb: 2\n" },
        { "a: 1\n'a': 2\na: 4\nb: 0\n", "a: 4\nb: 0\n" },
        { "a: &x [1, 2]\nb: *x\n", "a:\n- 1\n- 2\nb:\n- 1\n- 2\n" },
        { "a: &x {k: 1, l: 2}\nb:\n  <<: *x\n  k: 5\n", "a:\n  k: 1\n  l: 2\nb:\n  k: 5\n  l: 2\n" },
        { "<<: [{a: 1}, {a: 2, b: 3}]\nc: 4\n", "a: 1\nb: 3\nc: 4\n" },
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        auto_free char *out = again(rows[i].in);

        assert_string_equal(out, rows[i].out);
    }
}

static void what_is_not_a_plain_document_is_refused_with_its_line(void **state)
{
    static const struct {
        const char *in, *says;
    } rows[] = {
        { "a: 1\nb: [1\n", "line 3" },
        { "a: 1\n b: 2\n", "line 2" },
        { "a: b: c\n", "line 1" },
        { "a: 1\n---\nb: 2\n", "line 2: a second document" },
        { "x: 1\na: !!python/object/apply:os.system ['id']\n", "line 2: tags" },
        { "a: !own 1\n", "tags" },
        { "a: !!binary aGk=\n", "tags" },
        { "a: !!int '5'\n", "tags" },
        { "a: *x\n", "alias" },
        { "a: &x [*x]\n", "alias" },
        { "? [1]\n: 2\n", "a key has to be" },
        { "<<: 5\na: 1\n", "merged" },
        { "a: \"\\0\"\n", "U+0000" },
        { "a: \x01\n", "line 1" },
        { "a: \xff\n", "line 1" },
        { "\ta: 1\n", "line 1" },
        { "a: 1\nb: 2020-02-30\n", "line 2: what looks like a date" },
        { "a: [0, =]\n", "quote it" },
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        auto_free char *out = again(rows[i].in);

        if (!strstr(out, rows[i].says) || strncmp(out, "config.yaml, line ", 18) != 0)
            fail_msg("row %zu: %s", i, out);
    }
}

static void what_looks_like_a_date_or_a_number_has_to_be_one(void **state)
{
    static const char *const sound[] = { "2020-02-29",
                                         "2000-02-29",
                                         "2020-2-30",
                                         "2020-02-30x",
                                         "2020-01-01 24:00",
                                         "2020-1-1 1:00:00",
                                         "2020-01-01T23:59:59.5 +23:59",
                                         "2020-01-01\t1:00:00Z",
                                         "0b1_",
                                         "0x",
                                         "0b",
                                         "0_",
                                         "1_000",
                                         "1:59",
                                         "1:99",
                                         "1:2:3.5",
                                         "x",
                                         "",
                                         "2020-13" };
    static const char *const broken[] = { "2020-02-30",
                                          "2021-02-29",
                                          "1900-02-29",
                                          "0000-01-01",
                                          "2020-13-01",
                                          "2020-00-01",
                                          "2020-1-0 1:00:00",
                                          "2020-01-01 24:00:00",
                                          "2020-01-01t1:60:00",
                                          "2020-01-01 1:00:60",
                                          "2020-01-01 1:00:00 +24:00",
                                          "2020-01-01 1:00:00.-99",
                                          "0b_",
                                          "-0x__" };
    char digits[4302];
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(sound); i++)
        if (!ytree_plain_is_sound(sound[i], false))
            fail_msg("%s is refused", sound[i]);
    for (i = 0; i < ARRAY_LEN(broken); i++)
        if (ytree_plain_is_sound(broken[i], true))
            fail_msg("%s is taken", broken[i]);
    assert_false(ytree_plain_is_sound("=", false) || ytree_plain_is_sound("<<", false));
    assert_true(ytree_plain_is_sound("=", true) && ytree_plain_is_sound("<<", true));
    memset(digits, '1', sizeof(digits));
    digits[4300] = '\0';
    assert_true(ytree_plain_is_sound(digits, false));
    digits[4300] = '1';
    digits[4301] = '\0';
    assert_false(ytree_plain_is_sound(digits, false));
}

static char *repeat(const char *part, size_t times)
{
    struct buf b;

    buf_init(&b, 64u << 20);
    while (times--)
        buf_add_str(&b, part);
    return buf_steal(&b, NULL);
}

static void hostile_documents_are_refused_in_little_time(void **state)
{
    auto_buf struct buf bomb;
    auto_buf struct buf chain;
    auto_free char *nested = repeat("[", 100000), *keys = repeat("a: 1\n", 20000), *deep = repeat("- ", 5000);
    auto_free char *flow = repeat("- a\n", 200000);
    clock_t begin = clock();
    int i;

    (void)state;
    buf_init(&bomb, 100000);
    buf_add_str(&bomb, "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for (i = 1; i < 12; i++)
        buf_add_fmt(&bomb, "a%d: &a%d [*a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d]\n", i, i, i - 1, i - 1, i - 1,
                    i - 1, i - 1, i - 1, i - 1, i - 1);
    buf_init(&chain, 1000000);
    buf_add_str(&chain, "a0: &a0 [x]\n");
    for (i = 1; i < 200; i++)
        buf_add_fmt(&chain, "a%d: &a%d [*a%d]\n", i, i, i - 1);
    {
        auto_free char *a = again(bomb.data), *b = again(nested), *c = again(keys), *d = again(deep);
        auto_free char *e = again(chain.data), *f = again(flow);

        assert_non_null(strstr(a, "too large"));
        assert_non_null(strstr(b, "too deeply"));
        assert_string_equal(c, "a: 1\n");
        assert_non_null(strstr(d, "too deeply"));
        assert_non_null(strstr(e, "too deeply"));
        assert_non_null(strstr(f, "too large"));
    }
    assert_true(clock() - begin < 20 * CLOCKS_PER_SEC);
}

static void too_long_a_text_is_refused_unread(void **state)
{
    auto_free char *text = repeat("# comment, nothing else\n", 100000);
    struct ytree t = { 0 };
    struct err err = { 0 };

    (void)state;
    assert_int_equal(ytree_parse(text, strlen(text), &t, &err), -1);
    assert_int_equal(err.kind, ERR_BAD_REQUEST);
    assert_null(t.items);
}

static void nodes_are_found_added_and_replaced(void **state)
{
    struct ytree t = { .kind = YTREE_MAPPING }, *node;
    struct err err = { 0 };
    char *out = NULL;

    (void)state;
    node = ytree_add(&t, "a", &err);
    assert_non_null(node);
    assert_int_equal(ytree_make_scalar(node, "x: y # no", false, &err), 0);
    assert_ptr_equal(ytree_add(&t, "a", &err), ytree_get(&t, "a"));
    assert_null(ytree_get(&t, "b"));
    assert_null(ytree_get(ytree_get(&t, "a"), "b"));
    node = ytree_add(&t, "list", &err);
    node = ytree_append(node, &err);
    assert_int_equal(ytree_make_scalar(ytree_add(node, "k", &err), "5", true, &err), 0);
    assert_int_equal(ytree_write(&t, &out, &err), 0);
    assert_string_equal(out, "a: \"x: y # no\"\nlist:\n- k: 5\n");
    mem_free(out);
    ytree_release(&t);
}

static void short_memory_is_an_error_and_leaks_nothing(void **state)
{
    static const char text[] = "a: &x {k: 1, l: [2, 'three']}\nb: {<<: *x, k: 4}\na: again\n";

    (void)state;
    OOM_SWEEP({
        struct ytree t = { 0 };
        struct err err = { 0 };
        char *out = NULL;
        int result = ytree_parse(text, sizeof(text) - 1, &t, &err);

        if (result == 0)
            result = ytree_write(&t, &out, &err);
        assert_true(oom_hit() || result == 0);
        assert_int_equal(result == 0, out != NULL);
        ytree_release(&t);
        mem_free(out);
    });
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(documents_keep_their_values_and_order),
        cmocka_unit_test(repeated_keys_aliases_and_merges_resolve),
        cmocka_unit_test(what_is_not_a_plain_document_is_refused_with_its_line),
        cmocka_unit_test(what_looks_like_a_date_or_a_number_has_to_be_one),
        cmocka_unit_test(hostile_documents_are_refused_in_little_time),
        cmocka_unit_test(too_long_a_text_is_refused_unread),
        cmocka_unit_test(nodes_are_found_added_and_replaced),
        cmocka_unit_test(short_memory_is_an_error_and_leaks_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
