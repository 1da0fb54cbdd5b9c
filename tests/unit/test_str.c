#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "shared/base/mem.h"
#include "shared/base/str.h"

static void utf8_is_read_as_the_standard_says(void **state)
{
    static const struct {
        const char *s;
        size_t len;
        int32_t cp;
        size_t width;
    } rows[] = {
        { "A", 1, 'A', 1 },
        { "\0", 1, 0, 1 },
        { "\xc3\xa9", 2, 0xe9, 2 },
        { "\xe2\x82\xac", 3, 0x20ac, 3 },
        { "\xf0\x9f\x98\x80", 4, 0x1f600, 4 },
        { "\xf4\x8f\xbf\xbf", 4, 0x10ffff, 4 },
        { "", 0, -1, 0 },
        { "\x80", 1, -1, 1 },
        { "\xc0\x80", 2, -1, 1 },         /* overlong */
        { "\xc3", 1, -1, 1 },             /* cut */
        { "\xe0\x80\x80", 3, -1, 1 },     /* overlong */
        { "\xe2\x82", 2, -1, 2 },         /* cut */
        { "\xed\xa0\x80", 3, -1, 1 },     /* surrogate */
        { "\xf0\x9f\x98", 3, -1, 3 },     /* cut */
        { "\xf4\x90\x80\x80", 4, -1, 1 }, /* above U+10FFFF */
        { "\xf5\x80\x80\x80", 4, -1, 1 },
        { "\xff", 1, -1, 1 },
        { "\xe2\x28\xa1", 3, -1, 1 },
    };
    size_t i, width;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        assert_int_equal(utf8_decode(rows[i].s, rows[i].len, &width), rows[i].cp);
        assert_int_equal(width, rows[i].width);
        assert_int_equal(utf8_valid(rows[i].s, rows[i].len), rows[i].cp >= 0 || !rows[i].len);
    }
}

static void every_code_point_survives_the_round_trip(void **state)
{
    char out[4];
    uint32_t cp;
    size_t n, width;

    (void)state;
    for (cp = 0; cp <= 0x10ffff; cp++) {
        if (cp >= 0xd800 && cp <= 0xdfff)
            continue;
        n = utf8_encode(cp, out);
        if (utf8_decode(out, n, &width) != (int32_t)cp || width != n)
            fail_msg("U+%04X", cp);
    }
}

static void cuts_fall_between_characters(void **state)
{
    static const char text[] = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80";
    static const size_t floors[] = { 0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10 };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(floors); i++)
        assert_int_equal(utf8_floor(text, i), floors[i]);
    assert_int_equal(utf8_floor("\x80\x80\x80\x80", 4), 4); /* malformed text is not ours to mend */
}

static void numbers_are_whole_texts_in_range(void **state)
{
    static const struct {
        const char *s;
        int done;
        int64_t v;
    } rows[] = {
        { "0", 0, 0 },
        { "-5", 0, -5 },
        { "+7", 0, 7 },
        { "10", 0, 10 },
        { "11", -1, 0 },
        { "-6", -1, 0 },
        { "", -1, 0 },
        { " 1", -1, 0 },
        { "1 ", -1, 0 },
        { "1x", -1, 0 },
        { "0x1", -1, 0 },
        { "-", -1, 0 },
        { "99999999999999999999", -1, 0 },
        { NULL, -1, 0 },
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        int64_t v = 42;

        assert_int_equal(str_to_int(rows[i].s, -5, 10, &v), rows[i].done);
        assert_int_equal(v, rows[i].done == 0 ? rows[i].v : 42);
    }
}

static void reals_are_finite_and_decimal(void **state)
{
    static const char *const good[] = { "0", "1.5", "-.5", "1e3", "+2." };
    static const char *const bad[] = { "", "x", "inf", "nan", "1e999", "0x1p3", "1.5 ", " 1", ".", "-", "1,5" };
    double v = 0;
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(good); i++)
        assert_int_equal(str_to_double(good[i], &v), 0);
    assert_true(v == 2.0);
    for (i = 0; i < ARRAY_LEN(bad); i++)
        assert_int_equal(str_to_double(bad[i], &v), -1);
    assert_int_equal(str_to_double(NULL, &v), -1);
    assert_true(v == 2.0);
}

static void yes_and_no_have_four_spellings(void **state)
{
    static const char *const yes[] = { "1", "true", "YES", "On" }, *const no[] = { "0", "False", "no", "OFF" };
    size_t i;

    (void)state;
    for (i = 0; i < 4; i++) {
        bool v = false;

        assert_int_equal(str_to_bool(yes[i], &v), 0);
        assert_true(v);
        assert_int_equal(str_to_bool(no[i], &v), 0);
        assert_false(v);
        assert_int_equal(str_to_bool("maybe", &v), -1);
        assert_int_equal(str_to_bool("", &v), -1);
        assert_int_equal(str_to_bool(NULL, &v), -1);
    }
}

static void what_is_appended_is_cut_where_room_ends(void **state)
{
    char out[6] = "??";
    size_t len = str_append(out, sizeof(out), 0, "ab");

    (void)state;
    assert_int_equal(len, 2);
    assert_string_equal(out, "ab");
    len = str_append(out, sizeof(out), len, "");
    assert_int_equal(len, 2);
    len = str_append(out, sizeof(out), len, "cdefg");
    assert_int_equal(len, 5);
    assert_string_equal(out, "abcde");
    assert_int_equal(str_append(out, sizeof(out), len, "x"), 5);
    assert_string_equal(out, "abcde");
}

static void comparing(void **state)
{
    char hex[9];

    (void)state;
    assert_true(str_eq(NULL, NULL));
    assert_false(str_eq("a", NULL));
    assert_true(str_eq("a", "a"));
    assert_true(str_starts("abc", "ab"));
    assert_false(str_starts("a", "ab"));
    assert_true(str_ends("abc", "bc"));
    assert_false(str_ends("c", "bc"));
    assert_true(str_ends("c", ""));
    assert_true(str_eq_consttime("", ""));
    assert_true(str_eq_consttime("secret", "secret"));
    assert_false(str_eq_consttime("secret", "secre"));
    assert_false(str_eq_consttime("secre", "secret"));
    assert_false(str_eq_consttime("", "x"));
    assert_false(str_eq_consttime("x", ""));
    assert_false(str_eq_consttime("abab", "ab"));
    str_hex((const uint8_t *)"\x00\xff\x10\xa5", 4, hex);
    assert_string_equal(hex, "00ff10a5");
}

static void reals_are_written_with_the_fewest_digits(void **state)
{
    static const struct {
        double v;
        const char *text;
    } rows[] = {
        { 0, "0.0" },
        { -0.0, "-0.0" },
        { 1, "1.0" },
        { 100, "100.0" },
        { 0.1, "0.1" },
        { 1e15, "1000000000000000.0" },
        { 1e16, "1e+16" },
        { 0.0001, "0.0001" },
        { 0.00001, "1e-05" },
        { -2.5, "-2.5" },
        { 123456.789, "123456.789" },
        { 5e-324, "5e-324" },
        { 1.7976931348623157e308, "1.7976931348623157e+308" },
        { 0.30000000000000004, "0.30000000000000004" },
    };
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char text[DOUBLE_TEXT_MAX];

        str_from_double(rows[i].v, text);
        assert_string_equal(text, rows[i].text);
    }
}

static bool valid_by_characters(const char *s, size_t len)
{
    size_t i, width;

    for (i = 0; i < len; i += width)
        if (utf8_decode(s + i, len - i, &width) < 0)
            return false;
    return true;
}

/* Every two bytes in front of each kind of third and fourth, alone and in the middle of plain text. */
static void a_text_is_valid_when_all_its_characters_are(void **state)
{
    static const unsigned char ends[] = { 'a', 0x00, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc2, 0xe1, 0xff };
    unsigned first, second;
    size_t third, fourth, len;
    char text[200];

    (void)state;
    for (first = 0; first < 256; first++)
        for (second = 0; second < 256; second++)
            for (third = 0; third < ARRAY_LEN(ends); third++)
                for (fourth = 0; fourth < ARRAY_LEN(ends); fourth++) {
                    const char bytes[] = { (char)first, (char)second, (char)ends[third], (char)ends[fourth] };

                    for (len = 1; len <= 4; len++)
                        if (utf8_valid(bytes, len) != valid_by_characters(bytes, len))
                            fail_msg("%02x %02x %02x %02x: %zu", first, second, ends[third], ends[fourth], len);
                }
    for (len = 0; len <= sizeof(text) - 4; len++) {
        memset(text, 'x', sizeof(text));
        memcpy(text + len, "\xf0\x9f\x98\x80", 4);
        assert_true(utf8_valid(text, sizeof(text)));
        assert_false(utf8_valid(text, len + 3));
        text[len + 2] = 'x';
        assert_false(utf8_valid(text, sizeof(text)));
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(utf8_is_read_as_the_standard_says),
        cmocka_unit_test(a_text_is_valid_when_all_its_characters_are),
        cmocka_unit_test(every_code_point_survives_the_round_trip),
        cmocka_unit_test(cuts_fall_between_characters),
        cmocka_unit_test(numbers_are_whole_texts_in_range),
        cmocka_unit_test(reals_are_finite_and_decimal),
        cmocka_unit_test(reals_are_written_with_the_fewest_digits),
        cmocka_unit_test(yes_and_no_have_four_spellings),
        cmocka_unit_test(comparing),
        cmocka_unit_test(what_is_appended_is_cut_where_room_ends),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
