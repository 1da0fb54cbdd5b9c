#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "shared/base/mem.h"
#include "shared/diagram/text.h"
#include "tests/support/oom.h"

static void becomes(char *(*fn)(const char *), const char *in, const char *out)
{
    char *got = fn(in);

    assert_non_null(got);
    assert_string_equal(got, out);
    mem_free(got);
}

static void cleaning_deletes_controls_and_nothing_else(void **state)
{
    (void)state;
    becomes(text_clean, "a\001\b\v\f\016\037\177b", "ab");
    becomes(text_clean, "\ta\n\r ", "\ta\n\r ");
    becomes(text_clean, "\xc2\x80\xc2\x9f\xe2\x80\xa8\xe2\x80\xa9", "\xc2\x80\xc2\x9f\xe2\x80\xa8\xe2\x80\xa9");
    becomes(text_clean, "m\xc2\xb2 \xef\xac\x81 \xe2\x80\xa6", "m\xc2\xb2 \xef\xac\x81 \xe2\x80\xa6");
    becomes(text_clean, "", "");
}

static void trimming_knows_unicode_space(void **state)
{
    (void)state;
    becomes(text_trim, " \t\r\n\v\f\034\035\036\037 a b \xc2\x85\xc2\xa0\xe3\x80\x80\xe2\x80\x83", "a b");
    becomes(text_trim, "\xe2\x80\xa8x\xe2\x80\xa9", "x");
    becomes(text_trim, "\xe2\x80\x8bx", "\xe2\x80\x8bx"); /* zero width space is none */
    becomes(text_trim, "\xc3\xa9 ", "\xc3\xa9");
    becomes(text_trim, "   ", "");
    becomes(text_trim, "", "");
    becomes(text_trim, "\x80\xff", "\x80\xff"); /* no UTF-8: left alone */
    becomes(text_trim_clean, "\001 a", " a");   /* trimmed first: the control is no space */
    becomes(text_trim_clean, " \001a ", "a");
}

static void blank_is_missing_empty_or_space(void **state)
{
    (void)state;
    assert_true(text_is_blank(NULL));
    assert_true(text_is_blank(""));
    assert_true(text_is_blank(" \n\xc2\xa0"));
    assert_false(text_is_blank(" x"));
    assert_false(text_is_blank("\001"));
}

static void names_are_equal_by_composition(void **state)
{
    (void)state;
    assert_true(text_same("caf\xc3\xa9", "cafe\xcc\x81"));
    assert_true(text_same("a", "a"));
    assert_false(text_same("a", "A"));
    assert_false(text_same("a", " a"));
    assert_false(text_same("\xef\xac\x81", "fi")); /* no compatibility form */
    assert_false(text_same("\xff", "\xfe"));
    becomes(text_key, "cafe\xcc\x81", "caf\xc3\xa9");
}

static void folding_is_full_and_trims(void **state)
{
    (void)state;
    becomes(text_fold_key, " Order_PIZZA\n", "order_pizza");
    becomes(text_fold_key, "STRASSE", "strasse");
    becomes(text_fold_key,
            "stra\xc3\x9f"
            "e",
            "strasse");
    becomes(text_fold_key, "\xc3\x89", "\xc3\xa9");
    becomes(text_fold_key, "E\xcc\x81", "\xc3\xa9");
    becomes(text_fold_key, "\xce\xa3\xcf\x82", "\xcf\x83\xcf\x83"); /* both sigmas */
    becomes(text_lower,
            "\xc3\x89"
            "A",
            "\xc3\xa9"
            "a");
    becomes(text_lower, "OpenAI", "openai");
}

static void identifiers_are_pythons(void **state)
{
    static const struct {
        const char *text;
        bool is;
    } rows[] = {
        { "a", true },
        { "_", true },
        { "a1_", true },
        { "class", true },
        { "1a", false },
        { "", false },
        { "a b", false },
        { "a.b", false },
        { "\xc3\xa9t\xc3\xa9", true },
        { "\xe5\x90\x8d", true },
        { "\xe2\x82\xac", false },
        { "a\xcc\x81", true },
        { "\xcc\x81"
          "a",
          false },
        { "a\xff", false },
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(text_is_identifier(rows[i].text), rows[i].is);
}

static void shown_text_stays_one_short_line(void **state)
{
    char big[1000];
    const char *shown;

    (void)state;
    assert_string_equal(SHOWN("it's \"x\""), "it's \"x\"");
    assert_string_equal(SHOWN("a\nb\x1b[0m\x7f"), "a\\nb\\x1b[0m\\x7f");
    assert_string_equal(SHOWN(NULL), "");
    memset(big, 'x', sizeof(big) - 1);
    big[sizeof(big) - 1] = '\0';
    shown = SHOWN(big);
    assert_int_equal(strlen(shown), SHOWN_MAX + 3);
    memset(big, 1, sizeof(big) - 1);
    shown = SHOWN(big);
    assert_true(strlen(shown) < sizeof(struct shown));
    memcpy(big + SHOWN_MAX - 1, "\xc3\xa9", 2); /* a character across the edge is not cut in two */
    memset(big, 'x', SHOWN_MAX - 1);
    shown = SHOWN(big);
    assert_int_equal(strlen(shown), SHOWN_MAX - 1 + 3);
}

static void identifiers_read_as_python_reads_them(void **state)
{
    (void)state;
    becomes(text_as_identifier, "state_1", "state_1");
    becomes(text_as_identifier, "e\xcc\x81t\xc3\xa9", "\xc3\xa9t\xc3\xa9");
    becomes(text_as_identifier, "\xef\xbd\x81gent", "agent"); /* full-width a */
    becomes(text_as_identifier, "\xef\xac\x81n", "fin");      /* ligature */
    becomes(text_as_identifier, "", "");
    becomes(text_as_identifier, "a.b", "");
    becomes(text_as_identifier, "\xc2\xb2x", ""); /* superscript two */
}

static void short_memory_gives_null(void **state)
{
    static char *(*const functions[])(const char *) = { text_clean, text_trim, text_trim_clean,
                                                        text_lower, text_key,  text_fold_key };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(functions); i++)
        OOM_SWEEP({
            char *got = functions[i](" caf\xc3\xa9 ");

            assert_true(got || oom_hit());
            mem_free(got);
        });
    OOM_SWEEP(assert_true(text_same("caf\xc3\xa9", "cafe\xcc\x81") || oom_hit()));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cleaning_deletes_controls_and_nothing_else),
        cmocka_unit_test(trimming_knows_unicode_space),
        cmocka_unit_test(blank_is_missing_empty_or_space),
        cmocka_unit_test(names_are_equal_by_composition),
        cmocka_unit_test(folding_is_full_and_trims),
        cmocka_unit_test(identifiers_are_pythons),
        cmocka_unit_test(shown_text_stays_one_short_line),
        cmocka_unit_test(identifiers_read_as_python_reads_them),
        cmocka_unit_test(short_memory_gives_null),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
