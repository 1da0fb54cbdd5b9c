#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "shared/base/mem.h"
#include "shared/json/json.h"
#include "tests/support/oom.h"

static cJSON *parse(const char *text, struct json_error *e)
{
    return json_parse(text, strlen(text), e);
}

/* Text of what was parsed, the fault's number when it was not. */
static void expect(const char *text, size_t len, const char *printed, enum json_fault fault)
{
    struct json_error e = { 0 };
    cJSON *tree = json_parse(text, len, &e);
    char *out = tree ? cJSON_PrintUnformatted(tree) : NULL;

    if (printed && (!out || strcmp(out, printed) != 0))
        fail_msg("%s -> %s (%s), not %s", text, out ? out : "nothing", e.message, printed);
    if (!printed && (tree || e.fault != fault || !*e.message))
        fail_msg("%s -> fault %d \"%s\", not %d", text, (int)e.fault, e.message, (int)fault);
    cJSON_free(out);
    cJSON_Delete(tree);
}

static void what_rfc_8259_allows_is_read(void **state)
{
    static const struct {
        const char *text, *printed;
    } rows[] = {
        { " null\n", "null" },
        { "true", "true" },
        { "\"\"", "\"\"" },
        { "[]", "[]" },
        { "\t{ } ", "{}" },
        { "[1,-2,0.5,1e2,1E+2,-0.0e-1,0]", "[1,-2,0.5,100,100,-0,0]" },
        { "{\"a\":[{}],\"\":{\"b\":null}}", "{\"a\":[{}],\"\":{\"b\":null}}" },
        { "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\"", "\"\\\"\\\\/\\b\\f\\n\\r\\t\xc3\xa9\"" },
        { "\"\\ud83d\\uDE00\"", "\"\xf0\x9f\x98\x80\"" },
        { "\xef\xbb\xbf{}", "{}" },
        { "\"\x7f\xc2\x80\"", "\"\x7f\xc2\x80\"" },
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++)
        expect(rows[i].text, strlen(rows[i].text), rows[i].printed, JSON_OK);
}

static void what_it_forbids_is_refused(void **state)
{
    static const char *const rows[] = {
        " ",
        "nul",
        "True",
        "NaN",
        "Infinity",
        "-Infinity",
        "[NaN]",
        "-",
        "+1",
        "01",
        "-01",
        "1.",
        ".5",
        "1e",
        "1e+",
        "0x1",
        "'a'",
        "\"a",
        "\"\\x\"",
        "\"\\u12g4\"",
        "\"\\u12\"",
        "\"a\nb\"",
        "\"a\tb\"",
        "[",
        "[1",
        "[1,",
        "[1,]",
        "[,1]",
        "[1 2]",
        "{",
        "{\"a\"",
        "{\"a\":",
        "{\"a\":1",
        "{\"a\":1,",
        "{\"a\":1,}",
        "{a:1}",
        "{1:2}",
        "{\"a\" 1}",
        "{\"a\":1 \"b\":2}",
        "[}",
        "{]",
        "1 2",
        "{}{}",
        "[]]",
        "null,",
        "/* */ 1",
        "\x01{}",
        "[1]\x0b",
        "\xef\xbb\xbf",
        "\xef\xbb\xbf\xef\xbb\xbf{}",
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++)
        expect(rows[i], strlen(rows[i]), NULL, JSON_INVALID);
    expect("", 0, NULL, JSON_EMPTY);
    expect("{}\0", 3, NULL, JSON_INVALID);
    expect("\"a\0b\"", 5, NULL, JSON_INVALID);
}

static void no_prefix_of_a_document_is_one(void **state)
{
    static const char text[] = "{\"a\":[1.5e3,true,\"x\\u00e9\\n\"],\"b\":{\"c\":null}}";
    size_t n;

    (void)state;
    for (n = 0; n < strlen(text); n++) {
        auto_free char *exact = mem_dup(text, n);
        struct json_error e;

        assert_null(json_parse(exact, n, &e));
    }
}

static void texts_are_utf8_without_nul(void **state)
{
    (void)state;
    expect("\"\xff\"", 3, NULL, JSON_UTF8);
    expect("\"\xed\xa0\x80\"", 5, NULL, JSON_UTF8);
    expect("{\"a\":1}\xc3", 8, NULL, JSON_UTF8);
    expect("\"a\\u0000b\"", 10, NULL, JSON_NUL);
    expect("{\"\\u0000\":1}", 12, NULL, JSON_NUL);
    expect("[\"\\u0000\"", 9, NULL, JSON_INVALID); /* no JSON at all weighs more */
}

static void a_request_with_nul_still_has_a_shape(void **state)
{
    static const char text[] = "{\"title\":\"a\\u0000\",\"x\":\"b\"}";
    struct json_error e;
    bool nul = false;
    cJSON *tree = json_parse_request(text, strlen(text), &nul, &e);

    (void)state;
    assert_non_null(tree);
    assert_true(nul);
    assert_string_equal(json_get(tree, "title")->valuestring, "a\xef\xbf\xbd");
    cJSON_Delete(tree);
    tree = json_parse_request("{}", 2, &nul, &e);
    assert_non_null(tree);
    assert_false(nul);
    cJSON_Delete(tree);
}

static void unpaired_surrogates_read_as_the_replacement_character(void **state)
{
    static const struct {
        const char *text, *printed;
    } rows[] = {
        { "\"\\ud800\"", "\"\xef\xbf\xbd\"" },
        { "\"\\udc00x\"", "\"\xef\xbf\xbdx\"" },
        { "\"\\ud800\\ud800\\udc00\"", "\"\xef\xbf\xbd\xf0\x90\x80\x80\"" },
        { "\"\\ud800\\u0041\"", "\"\xef\xbf\xbd"
                                "A\"" },
        { "\"\\ud800\\n\"", "\"\xef\xbf\xbd\\n\"" },
        { "{\"\\udfff\":\"\\ud83d\\ude00\"}", "{\"\xef\xbf\xbd\":\"\xf0\x9f\x98\x80\"}" },
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++)
        expect(rows[i].text, strlen(rows[i].text), rows[i].printed, JSON_OK);
    expect("\"\\ud800\\u00\"", 12, NULL, JSON_INVALID);
}

static void long_numbers_keep_their_value(void **state)
{
    char text[400];

    (void)state;
    expect("[0.10000000000000000000000000000000000000000000000000000000000000000000000,1]", 77, "[0.1,1]", JSON_OK);
    expect("-1000000000000000000000000000000000000000000000000000000000000000000", 68, "-1e+66", JSON_OK);
    memset(text, '9', sizeof(text));
    expect(text, sizeof(text), NULL, JSON_NUMBER);
    text[0] = '0';
    text[1] = '.';
    expect(text, sizeof(text), "1", JSON_OK);
}

static void a_number_no_machine_holds_is_refused_unless_it_has_an_exponent(void **state)
{
    char *text = mem_zalloc(1, 10000);
    struct json_error e;
    cJSON *tree;

    (void)state;
    memset(text, '1', 9999);
    expect(text, 9999, NULL, JSON_NUMBER);
    tree = parse("1e999", &e);
    assert_true(isinf(tree->valuedouble));
    cJSON_Delete(tree);
    memset(text, '1', 399);
    memcpy(text + 399, ".5", 3);
    tree = parse(text, &e);
    assert_true(isinf(tree->valuedouble));
    cJSON_Delete(tree);
    mem_free(text);
}

static void numbers_keep_what_a_double_forgets(void **state)
{
    static const struct {
        const char *text, *written; /* by value_write() */
        enum value_kind kind;
    } rows[] = {
        { "1", "1", VALUE_INT },
        { "1.0", "1.0", VALUE_DOUBLE },
        { "-0", "0", VALUE_INT },
        { "-99999999999999", "-99999999999999", VALUE_INT },
        { "999999999999999", "999999999999999", VALUE_INT },
        { "-0.0", "-0.0", VALUE_DOUBLE },
        { "1e2", "100.0", VALUE_DOUBLE },
        { "9007199254740993", "9007199254740993", VALUE_INT },
        { "9223372036854775807", "9223372036854775807", VALUE_INT },
        { "-123456789012345678901234567890", "-123456789012345678901234567890", VALUE_INT },
        { "123456789012345678901234567890.0", "1.2345678901234568e+29", VALUE_DOUBLE },
        { "2.50", "2.5", VALUE_DOUBLE },
    };
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char text[200];
        struct json_error e;
        struct value v;
        struct buf out;
        cJSON *tree;

        snprintf(text, sizeof(text), "{\"a\": [1.0, 12345678901234567], \"n\": 3.5, \"a\": 1, \"n\": %s}",
                 rows[i].text);
        tree = parse(text, &e);
        assert_non_null(tree);
        assert_int_equal(json_to_value(json_get(tree, "n"), &v), 0);
        assert_int_equal(v.kind, rows[i].kind);
        buf_init(&out, 1000);
        value_write(&v, 0, &out);
        assert_string_equal(out.data, rows[i].written);
        buf_release(&out);
        value_release(&v);
        cJSON_Delete(tree);
    }
}

static void nesting_ends_at_a_thousand(void **state)
{
    char *text = mem_zalloc(1, 4100);
    size_t depth;

    (void)state;
    for (depth = 999; depth <= 1001; depth++) {
        struct json_error e = { 0 };
        cJSON *tree;

        memset(text, '[', depth);
        memset(text + depth, ']', depth);
        tree = json_parse(text, 2 * depth, &e);
        assert_int_equal(tree != NULL, depth <= 1000);
        assert_int_equal(e.fault, depth <= 1000 ? JSON_OK : JSON_DEPTH);
        cJSON_Delete(tree);
    }
    memset(text, '[', 4000); /* too deep comes before unfinished */
    expect(text, 4000, NULL, JSON_DEPTH);
    mem_free(text);
}

static void more_values_than_memory_should_hold_are_refused(void **state)
{
    size_t len = 2 * 4000001 + 1;
    char *text = mem_zalloc(1, len + 1);
    struct json_error e;
    size_t i;

    (void)state;
    for (i = 0; i < len; i++)
        text[i] = i % 2 ? '1' : ',';
    text[0] = '[';
    text[len - 1] = ']';
    assert_null(json_parse(text, len, &e));
    assert_int_equal(e.fault, JSON_TOO_MANY);
    mem_free(text);
}

static void expect_text(const char *text, const char *printed)
{
    expect(text, strlen(text), printed, JSON_OK);
}

static void a_repeated_key_keeps_first_place_and_last_value(void **state)
{
    (void)state;
    expect_text("{\"a\":1,\"b\":2,\"a\":3}", "{\"a\":3,\"b\":2}");
    expect_text("{\"a\":1,\"a\":2}", "{\"a\":2}");
    expect_text("{\"b\":0,\"a\":1,\"a\":2,\"a\":{\"x\":1,\"x\":2}}", "{\"b\":0,\"a\":{\"x\":2}}");
    expect_text("{\"a\":1,\"A\":2}", "{\"a\":1,\"A\":2}");
    expect_text("{\"a\":1,\"\\u0061\":2}", "{\"a\":2}");
    expect_text("[{\"a\":1,\"a\":2},{\"b\":1,\"b\":2}]", "[{\"a\":2},{\"b\":2}]");
    expect_text("{\"c0\":0,\"c1\":1,\"c2\":2,\"c3\":3,\"c4\":4,\"c5\":5,\"c6\":6,\"c7\":7,\"c8\":8,\"c9\":9,\"d0\":0,"
                "\"d1\":1,\"d2\":2,"
                "\"c3\":33,\"d2\":22,\"c3\":333,\"c0\":9}",
                "{\"c0\":9,\"c1\":1,\"c2\":2,\"c3\":333,\"c4\":4,\"c5\":5,\"c6\":6,\"c7\":7,\"c8\":8,\"c9\":9,\"d0\":0,"
                "\"d1\":1,\"d2\":22}");
}

/* 400 000 members, each name twice: quadratic work would take minutes. */
static void wide_objects_take_linear_time(void **state)
{
    size_t cap = 8000000, len = 0, i, n = 0;
    char *text = mem_zalloc(1, cap);
    struct json_error e;
    clock_t before = clock();
    const cJSON *c;
    cJSON *tree;

    (void)state;
    text[len++] = '{';
    for (i = 0; i < 400000; i++)
        len += (size_t)snprintf(text + len, cap - len, "%s\"k%zu\":%zu", i ? "," : "", i % 200000, i);
    text[len++] = '}';
    tree = json_parse(text, len, &e);
    assert_non_null(tree);
    cJSON_ArrayForEach(c, tree)
    {
        assert_int_equal(c->valuedouble, n + 200000);
        n++;
    }
    assert_int_equal(n, 200000);
    assert_true((clock() - before) / CLOCKS_PER_SEC < 20);
    cJSON_Delete(tree);
    mem_free(text);
}

static void members_are_found_by_exact_name(void **state)
{
    struct json_error e;
    cJSON *tree = parse("{\"a\":1,\"A\":2,\"b\":[3]}", &e);

    (void)state;
    assert_true(json_get(tree, "A")->valuedouble == 2);
    assert_null(json_get(tree, "B"));
    assert_null(json_get(json_get(tree, "b"), "a"));
    assert_null(json_get(NULL, "a"));
    cJSON_Delete(tree);
}

static void values_own_a_copy_in_document_order(void **state)
{
    struct json_error e;
    cJSON *tree = parse("{\"b\":[1,2.5,-9007199254740992,1e300],\"a\":{\"t\":true,\"f\":false,\"n\":null,\"s\":\"x\"},"
                        "\"e\":[],\"o\":{}}",
                        &e);
    const struct value *list, *object;
    struct value v;

    (void)state;
    assert_int_equal(json_to_value(tree, &v), 0);
    cJSON_Delete(tree);
    assert_int_equal(v.kind, VALUE_OBJECT);
    assert_int_equal(v.len, 4);
    assert_string_equal(v.keys[0], "b");
    list = value_get(&v, "b");
    assert_int_equal(list->kind, VALUE_ARRAY);
    assert_null(list->keys);
    assert_int_equal(list->items[0].kind, VALUE_INT);
    assert_int_equal(list->items[0].integer, 1);
    assert_int_equal(list->items[1].kind, VALUE_DOUBLE);
    assert_int_equal(list->items[2].kind, VALUE_INT);
    assert_true(list->items[2].integer == -9007199254740992);
    assert_int_equal(list->items[3].kind, VALUE_DOUBLE);
    object = value_get(&v, "a");
    assert_true(value_get(object, "t")->boolean);
    assert_int_equal(value_get(object, "f")->kind, VALUE_BOOL);
    assert_int_equal(value_get(object, "n")->kind, VALUE_NULL);
    assert_string_equal(value_get(object, "s")->string, "x");
    assert_int_equal(value_get(&v, "e")->len, 0);
    assert_int_equal(value_get(&v, "o")->kind, VALUE_OBJECT);
    value_release(&v);
}

static void faults_say_where(void **state)
{
    static const struct {
        const char *text;
        size_t offset, characters;
        const char *message;
    } rows[] = {
        { "{\"\xc3\xa9\":\xc3\xa9}", 6, 5, "A value is expected here" },
        { "\xef\xbb\xbf[1,", 3, 3, "A value is expected here" },
        { " -x", 1, 1, "A value is expected here" },
        { "[1.]", 3, 3, "Digits must follow the decimal point" },
        { "[1e+]", 4, 4, "Digits must follow the exponent sign" },
        { "[\"a", 1, 1, "A string that starts here has no end" },
        { "[\"a\n\"]", 3, 3, "A control character stands unescaped in a string" },
        { "[\"a\\x\"]", 3, 3, "A backslash is followed by no known escape" },
        { "[\"a\\", 3, 3, "A backslash is followed by no known escape" },
        { "[\"\\ud800\\u00g0\"]", 8, 8, "Four hex digits must follow \\u" },
        { "{1:2}", 1, 1, "A member name in double quotes is expected here" },
        { "{\"a\":1, }", 8, 8, "A member name in double quotes is expected here" },
        { "{\"a\" 1}", 5, 5, "A colon is expected here" },
        { "[1 2]", 3, 3, "A comma or the closing ']' is expected here" },
        { "{\"a\":[1}", 7, 7, "A comma or the closing ']' is expected here" },
        { "{\"a\":1]", 6, 6, "A comma or the closing '}' is expected here" },
        { "1 2", 2, 2, "There is more text behind the end of the document" },
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        struct json_error e;

        assert_null(parse(rows[i].text, &e));
        if (e.offset != rows[i].offset || e.characters != rows[i].characters || strcmp(e.message, rows[i].message) != 0)
            fail_msg("%s -> \"%s\" at %zu, %zu", rows[i].text, e.message, e.offset, e.characters);
    }
}

/* Others change trees with cJSON's functions; memory is looked after by the sanitizer. */
static void trees_are_linked_and_freed_as_cjson_does_it(void **state)
{
    struct json_error e;
    cJSON *tree = parse("{\"a\":\"x\",\"b\":[1,2.0,\"y\"],\"a\":{\"c\":\"z\"},\"d\":\"\"}", &e), *copy;

    (void)state;
    assert_non_null(tree);
    assert_ptr_equal(tree->child->prev, cJSON_GetObjectItemCaseSensitive(tree, "d"));
    assert_null(tree->child->prev->next);
    assert_non_null(cJSON_AddStringToObject(tree, "e", "new"));
    cJSON_DeleteItemFromObjectCaseSensitive(tree, "b");
    assert_true(cJSON_AddItemToObject(tree, "f", cJSON_DetachItemFromObjectCaseSensitive(tree, "d")));
    copy = cJSON_Duplicate(tree, true);
    assert_true(cJSON_Compare(tree, copy, true));
    cJSON_Delete(copy);
    assert_string_equal(json_get(tree, "f")->valuestring, "");
    assert_string_equal(json_get(json_get(tree, "a"), "c")->valuestring, "z");
    assert_null(json_get(tree, "b"));
    cJSON_Delete(tree);
}

/* cJSON allocates in its library, out of reach of the wrapped malloc; its hooks lead back here. */
static void *hooked(size_t size)
{
    return malloc(size);
}

static void short_memory_leaves_nothing_behind(void **state)
{
    static const char text[] = "{\"a\":[1,2,{\"b\":\"\\ud800\"}],\"a\":\"x\",\"c\":3.0,\"d\":12345678901234567890,"
                               "\"e\":1,\"f\":1,\"g\":1,\"h\":1,\"i\":1,\"j\":1,"
                               "\"k\":1,\"l\":{\"m\":[true]}}";
    cJSON_Hooks hooks = { hooked, free };

    (void)state;
    cJSON_InitHooks(&hooks);
    OOM_SWEEP({
        struct json_error e = { 0 };
        struct value v = { 0 };
        struct value copy = { 0 };
        cJSON *tree = parse(text, &e);

        if (!tree) {
            assert_true(oom_hit());
            assert_int_equal(e.fault, JSON_NOMEM);
        } else if (json_to_value(tree, &v) == 0) {
            if (value_copy(&v, &copy) < 0)
                assert_int_equal(copy.len, 0);
        } else {
            assert_int_equal(v.len, 0);
        }
        cJSON_Delete(tree);
        value_release(&v);
        value_release(&copy);
    });
    cJSON_InitHooks(NULL);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_rfc_8259_allows_is_read),
        cmocka_unit_test(what_it_forbids_is_refused),
        cmocka_unit_test(no_prefix_of_a_document_is_one),
        cmocka_unit_test(texts_are_utf8_without_nul),
        cmocka_unit_test(a_request_with_nul_still_has_a_shape),
        cmocka_unit_test(unpaired_surrogates_read_as_the_replacement_character),
        cmocka_unit_test(long_numbers_keep_their_value),
        cmocka_unit_test(a_number_no_machine_holds_is_refused_unless_it_has_an_exponent),
        cmocka_unit_test(numbers_keep_what_a_double_forgets),
        cmocka_unit_test(nesting_ends_at_a_thousand),
        cmocka_unit_test(more_values_than_memory_should_hold_are_refused),
        cmocka_unit_test(a_repeated_key_keeps_first_place_and_last_value),
        cmocka_unit_test(wide_objects_take_linear_time),
        cmocka_unit_test(members_are_found_by_exact_name),
        cmocka_unit_test(values_own_a_copy_in_document_order),
        cmocka_unit_test(faults_say_where),
        cmocka_unit_test(trees_are_linked_and_freed_as_cjson_does_it),
        cmocka_unit_test(short_memory_leaves_nothing_behind),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
