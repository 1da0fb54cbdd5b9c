/* Coercions of the format: shared/diagram/fields.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "shared/base/mem.h"
#include "shared/diagram/reader.h"
#include "shared/json/json.h"
#include "tests/support/oom.h"

static cJSON *parse(const char *json)
{
    struct json_error e;

    return json_parse(json, strlen(json), &e);
}

static void truth_is_pythons(void **state)
{
    static const char *const empty[] = { "null", "false", "0", "0.0", "-0", "\"\"", "[]", "{}" };
    static const char *const full[] = { "true", "1", "0.1", "\"false\"", "\" \"", "[0]", "{\"a\":0}" };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(empty) + ARRAY_LEN(full); i++) {
        bool is_full = i >= ARRAY_LEN(empty);
        cJSON *v = parse(is_full ? full[i - ARRAY_LEN(empty)] : empty[i]);

        assert_int_equal(value_truth(v, !is_full), is_full);
        assert_int_equal(value_is_empty(v), !is_full);
        cJSON_Delete(v);
    }
    assert_true(value_truth(NULL, true));
    assert_false(value_truth(NULL, false));
}

static void whole_numbers_come_from_numbers_and_digits(void **state)
{
    static const struct {
        const char *json;
        bool is;
        int64_t value;
    } rows[] = {
        { "7", true, 7 },
        { "-7.9", true, -7 },
        { "true", true, 1 },
        { "false", true, 0 },
        { "\" +12\\n\"", true, 12 },
        { "\"-3\"", true, -3 },
        { "\"007\"", true, 7 },
        { "\"\\u00a05\"", true, 5 },
        { "1e300", true, INT64_MAX },
        { "-1e300", true, INT64_MIN },
        { "\"99999999999999999999\"", true, INT64_MAX },
        { "\"-99999999999999999999\"", true, INT64_MIN },
        { "\"9223372036854775807\"", true, INT64_MAX },
        { "1e999", false, 0 },
        { "null", false, 0 },
        { "\"\"", false, 0 },
        { "\"+\"", false, 0 },
        { "\"1.5\"", false, 0 },
        { "\"1 2\"", false, 0 },
        { "\"0x10\"", false, 0 },
        { "\"1_000\"", true, 1000 },
        { "\"\\u0663\\uff14\"", true, 34 },
        { "\"_1\"", false, 0 },
        { "\"1_\"", false, 0 },
        { "\"1__0\"", false, 0 },
        { "\"\\u00b2\"", false, 0 },
        { "[1]", false, 0 },
        { "{}", false, 0 },
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        cJSON *v = parse(rows[i].json);
        int64_t got = 0;

        assert_int_equal(value_int(v, &got), rows[i].is);
        if (rows[i].is)
            assert_true(got == rows[i].value);
        cJSON_Delete(v);
    }
}

static void fractions_are_finite_or_nothing(void **state)
{
    static const struct {
        const char *json;
        bool is;
        double value;
    } rows[] = {
        { "0.5", true, 0.5 },
        { "3", true, 3 },
        { "\" 1e2 \"", true, 100 },
        { "\"-0.25\"", true, -.25 },
        { "true", true, 1 },
        { "\"nan\"", false, 0 },
        { "\"inf\"", false, 0 },
        { "\"-Infinity\"", false, 0 },
        { "1e999", false, 0 },
        { "\"\"", false, 0 },
        { "\"1,5\"", false, 0 },
        { "null", false, 0 },
        { "[]", false, 0 },
        { "\"1e400\"", false, 0 },
        { "\"1_0.2_5\"", true, 10.25 },
        { "\"\\u0661.5\"", true, 1.5 },
        { "\"1_.5\"", false, 0 },
        { "\"1._5\"", false, 0 },
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        cJSON *v = parse(rows[i].json);
        double got = 0;

        assert_int_equal(value_float(v, &got), rows[i].is);
        if (rows[i].is)
            assert_true(got == rows[i].value);
        cJSON_Delete(v);
    }
}

static void other_values_are_spelled_as_in_json(void **state)
{
    static const struct {
        const char *json, *text;
    } rows[] = {
        { "\"a\"", "a" },
        { "null", "" },
        { "true", "true" },
        { "false", "false" },
        { "5", "5" },
        { "-0.5", "-0.5" },
        { "0.1", "0.1" },
        { "1e20", "1e+20" },
        { "[1,\"a\"]", "[1,\"a\"]" },
        { "9007199254740992", "9007199254740992" },
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        cJSON *v = parse(rows[i].json);
        char *text = value_text(v);

        assert_string_equal(text, rows[i].text);
        mem_free(text);
        cJSON_Delete(v);
    }
}

static void depth_and_infinite_numbers_are_seen_inside(void **state)
{
    cJSON *v = parse("{\"a\":[{\"b\":1e999}]}");
    const char *key = NULL;

    (void)state;
    assert_false(value_is_finite(v, &key));
    assert_string_equal(key, "a");
    assert_true(value_fits_depth(v, 3));
    assert_false(value_fits_depth(v, 2));
    cJSON_Delete(v);
}

/* ---- rows ---- */

struct target {
    char *raw, *text, *clean, *trim, *name;
    bool truth, truth_null;
    int64_t number, strict;
    double fraction;
};

static const struct field_row rows[] = {
    { "raw", "old_raw", FIELD_RAW, offsetof(struct target, raw), NULL, 0 },
    { "text", NULL, FIELD_TEXT, offsetof(struct target, text), "d", 0 },
    { "clean", NULL, FIELD_CLEAN, offsetof(struct target, clean), NULL, 0 },
    { "trim", NULL, FIELD_TRIM, offsetof(struct target, trim), "d", 0 },
    { "name", NULL, FIELD_NAME, offsetof(struct target, name), NULL, 0 },
    { "truth", NULL, FIELD_TRUTH, offsetof(struct target, truth), NULL, 1 },
    { "truth_null", NULL, FIELD_TRUTH_NULL, offsetof(struct target, truth_null), NULL, 1 },
    { "number", "old_number", FIELD_INT, offsetof(struct target, number), NULL, 4 },
    { "strict", NULL, FIELD_INT_STRICT, offsetof(struct target, strict), NULL, 8 },
    { "fraction", NULL, FIELD_FLOAT, offsetof(struct target, fraction), NULL, 0.6 },
};

static int read_rows(const char *json, struct target *t, struct findings *f, struct err *err)
{
    struct reader r = { .f = f, .err = err };
    cJSON *node = cJSON_Parse(json);
    struct element e = { .id = "x", .map = "model.elements", .node = node };
    int rc;

    findings_init(f);
    rc = reader_fields(&r, &e, "Thing \"x\"", t, rows, ARRAY_LEN(rows));
    cJSON_Delete(node);
    return rc;
}

static void target_release(struct target *t, struct findings *f)
{
    mem_free(t->raw);
    mem_free(t->text);
    mem_free(t->clean);
    mem_free(t->trim);
    mem_free(t->name);
    findings_release(f);
}

static void rows_fill_a_structure_by_rule(void **state)
{
    struct target t = { 0 };
    struct findings f;
    struct err err;

    (void)state;
    assert_int_equal(read_rows("{\"raw\":\"\",\"old_raw\":\" \\u0001\",\"text\":5,\"clean\":\"\\u0001\","
                               "\"trim\":\" a \",\"name\":null,\"truth\":null,\"truth_null\":null,"
                               "\"number\":null,\"old_number\":\"9\",\"strict\":\"12\",\"fraction\":\"x\"}",
                               &t, &f, &err),
                     0);
    assert_string_equal(t.raw, " \001");
    assert_string_equal(t.text, "5");
    assert_null(t.clean);
    assert_string_equal(t.trim, "a");
    assert_null(t.name);
    assert_false(t.truth);
    assert_true(t.truth_null);
    assert_int_equal(t.number, 9);
    assert_int_equal(t.strict, 12);
    assert_true(t.fraction == 0.6);
    target_release(&t, &f);
}

static void absent_members_give_the_defaults(void **state)
{
    struct target t = { 0 };
    struct findings f;
    struct err err;

    (void)state;
    assert_int_equal(read_rows("{}", &t, &f, &err), 0);
    assert_null(t.raw);
    assert_string_equal(t.text, "d");
    assert_string_equal(t.trim, "d");
    assert_true(t.truth && t.truth_null);
    assert_int_equal(t.number, 4);
    assert_int_equal(t.strict, 8);
    target_release(&t, &f);
}

static void empty_values_of_other_types_are_no_text(void **state)
{
    static const char *const documents[] = { "{\"raw\":[]}", "{\"raw\":{},\"old_raw\":0}", "{\"raw\":false}" };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(documents); i++) {
        struct target t = { 0 };
        struct findings f;
        struct err err;

        assert_int_equal(read_rows(documents[i], &t, &f, &err), 0);
        assert_null(t.raw);
        target_release(&t, &f);
    }
}

static void wrong_types_are_named(void **state)
{
    static const struct {
        const char *json, *where;
        int rule;
    } faults[] = {
        { "{\"name\":5}", "model.elements.x.name", 0 },
        { "{\"strict\":\"some\"}", "model.elements.x.strict", 11 },
        { "{\"strict\":[]}", "model.elements.x.strict", 11 },
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(faults); i++) {
        struct target t = { 0 };
        struct findings f;
        struct err err;

        assert_int_equal(read_rows(faults[i].json, &t, &f, &err), -1);
        assert_string_equal(f.items[0].where, faults[i].where);
        assert_int_equal(f.items[0].rule, faults[i].rule);
        assert_non_null(strstr(f.items[0].message, "Thing \"x\""));
        target_release(&t, &f);
    }
}

static void short_memory_is_an_error_and_no_default(void **state)
{
    (void)state;
    OOM_SWEEP({
        struct target t = { 0 };
        struct findings f;
        struct err err = { 0 };
        int rc = read_rows("{\"raw\":\"a\",\"text\":1,\"trim\":\" b \",\"clean\":\"c\",\"name\":\"n\"}", &t, &f, &err);

        if (rc == 0)
            assert_string_equal(t.trim, "b");
        else
            assert_int_equal(err.kind, ERR_INTERNAL);
        target_release(&t, &f);
    });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(truth_is_pythons),
        cmocka_unit_test(whole_numbers_come_from_numbers_and_digits),
        cmocka_unit_test(fractions_are_finite_or_nothing),
        cmocka_unit_test(other_values_are_spelled_as_in_json),
        cmocka_unit_test(depth_and_infinite_numbers_are_seen_inside),
        cmocka_unit_test(rows_fill_a_structure_by_rule),
        cmocka_unit_test(absent_members_give_the_defaults),
        cmocka_unit_test(empty_values_of_other_types_are_no_text),
        cmocka_unit_test(wrong_types_are_named),
        cmocka_unit_test(short_memory_is_an_error_and_no_default),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
