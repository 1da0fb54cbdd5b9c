#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "shared/base/mem.h"
#include "shared/json/json.h"
#include "tests/support/oom.h"

static const struct field_rule rules[] = {
    { "title", FIELD_STRING, true, false },
    { "model", FIELD_OBJECT, true, false },
    { "config", FIELD_OBJECT, false, true },
    { "flag", FIELD_BOOL, false, false },
    { "list", FIELD_ARRAY, false, true },
    { "any", FIELD_ANY, false, false },
    { "credentials", FIELD_STRING_MAP, false, true },
    { "names", FIELD_STRING_LIST, false, false },
};

static void expect(const char *text, const char *detail, size_t faults)
{
    struct json_error e;
    cJSON *body = json_parse(text, strlen(text), &e);
    auto_buf struct buf b;
    size_t n;

    buf_init(&b, 100000);
    assert_non_null(body);
    n = json_check_fields(body, rules, ARRAY_LEN(rules), &b);
    if (n != faults || strcmp(b.data ? b.data : "", detail) != 0)
        fail_msg("%s -> %zu faults: %s", text, n, b.data ? b.data : "");
    cJSON_Delete(body);
}

static void a_fitting_body_has_no_faults(void **state)
{
    (void)state;
    expect("{\"title\":\"\",\"model\":{}}", "", 0);
    expect("{\"more\":1,\"title\":\"x\",\"model\":{\"a\":1},\"config\":null,\"flag\":true,\"list\":[],\"any\":3,"
           "\"credentials\":{\"openAiApiKey\":\"k\"}}",
           "", 0);
    expect("{\"title\":\"x\",\"model\":{},\"credentials\":null}", "", 0);
}

static void faults_come_in_the_order_of_the_rules(void **state)
{
    (void)state;
    expect("{}",
           "[{\"type\":\"missing\",\"loc\":[\"body\",\"title\"],\"msg\":\"Field required\",\"input\":{}},"
           "{\"type\":\"missing\",\"loc\":[\"body\",\"model\"],\"msg\":\"Field required\",\"input\":{}}]",
           2);
    expect(
        "{\"model\":[1],\"title\":1.5,\"flag\":1,\"list\":{},\"config\":\"\"}",
        "[{\"type\":\"string_type\",\"loc\":[\"body\",\"title\"],\"msg\":\"Input should be a valid "
        "string\",\"input\":1.5},"
        "{\"type\":\"dict_type\",\"loc\":[\"body\",\"model\"],\"msg\":\"Input should be a valid "
        "dictionary\",\"input\":[1]},"
        "{\"type\":\"dict_type\",\"loc\":[\"body\",\"config\"],\"msg\":\"Input should be a valid "
        "dictionary\",\"input\":\"\"},"
        "{\"type\":\"bool_type\",\"loc\":[\"body\",\"flag\"],\"msg\":\"Input should be a valid boolean\",\"input\":1},"
        "{\"type\":\"list_type\",\"loc\":[\"body\",\"list\"],\"msg\":\"Input should be a valid list\",\"input\":{}}]",
        5);
    expect("{\"title\":null,\"model\":{}}",
           "[{\"type\":\"string_type\",\"loc\":[\"body\",\"title\"],\"msg\":\"Input should be a valid "
           "string\",\"input\":null}]",
           1);
}

static void credentials_never_come_back(void **state)
{
    (void)state;
    expect("{\"title\":\"x\",\"credentials\":{\"openAiApiKey\":\"sk-1\"}}",
           "[{\"type\":\"missing\",\"loc\":[\"body\",\"model\"],\"msg\":\"Field required\","
           "\"input\":{\"title\":\"x\",\"credentials\":\"***\"}}]",
           1);
    expect("{\"title\":\"x\",\"model\":{},\"credentials\":\"sk-1\"}",
           "[{\"type\":\"dict_type\",\"loc\":[\"body\",\"credentials\"],\"msg\":\"Input should be a valid dictionary\","
           "\"input\":\"***\"}]",
           1);
    expect("{\"title\":\"x\",\"model\":{},\"credentials\":{\"openAiApiKey\":[\"sk-1\"]}}",
           "[{\"type\":\"string_type\",\"loc\":[\"body\",\"credentials\",\"openAiApiKey\"],"
           "\"msg\":\"Input should be a valid string\",\"input\":\"***\"}]",
           1);
}

static void members_of_maps_and_lists_are_named(void **state)
{
    (void)state;
    expect("{\"title\":\"x\",\"model\":{},\"names\":[\"a\",1,\"b\",null]}",
           "[{\"type\":\"string_type\",\"loc\":[\"body\",\"names\",1],\"msg\":\"Input should be a valid "
           "string\",\"input\":1},"
           "{\"type\":\"string_type\",\"loc\":[\"body\",\"names\",3],\"msg\":\"Input should be a valid string\","
           "\"input\":null}]",
           2);
}

static void long_inputs_are_not_repeated(void **state)
{
    char text[6000];

    (void)state;
    snprintf(text, sizeof(text), "{\"title\":[\"%05000d\"],\"model\":{}}", 0);
    expect(text,
           "[{\"type\":\"string_type\",\"loc\":[\"body\",\"title\"],\"msg\":\"Input should be a valid "
           "string\",\"input\":[]}]",
           1);
    snprintf(text, sizeof(text), "{\"title\":\"t\",\"x\":\"%05000d\"}", 0);
    expect(text, "[{\"type\":\"missing\",\"loc\":[\"body\",\"model\"],\"msg\":\"Field required\",\"input\":{}}]", 1);
}

static void a_body_that_is_no_object_is_one_fault(void **state)
{
    auto_buf struct buf b;
    struct json_error e;
    cJSON *body = json_parse("[1]", 3, &e);

    (void)state;
    buf_init(&b, 1000);
    assert_int_equal(json_check_fields(body, rules, ARRAY_LEN(rules), &b), 1);
    assert_string_equal(
        b.data, "[{\"type\":\"model_attributes_type\",\"loc\":[\"body\"],\"msg\":\"Input should be a valid dictionary "
                "or object to extract fields from\",\"input\":[1]}]");
    buf_clear(&b);
    json_body_not_object(NULL, &b);
    assert_non_null(strstr(b.data, "\"input\":null}]"));
    cJSON_Delete(body);
}

static void items_of_lists_are_checked_in_their_places(void **state)
{
    static const struct field_rule item[] = { { "title", FIELD_STRING, true, false } };
    static const struct {
        const char *body;
        size_t faults;
        const char *part;
    } rows[] = {
        { "{}", 0, "" },
        { "{\"d\":{}}", 0, "" },
        { "{\"d\":{\"A\":[{\"title\":\"x\"}],\"B\":{\"title\":\"y\"},\"C\":[]}}", 0, "" },
        { "{\"d\":{\"A\":[{\"title\":\"x\"},{}]}}", 1,
          "{\"type\":\"missing\",\"loc\":[\"body\",\"d\",\"A\",1,\"title\"],\"msg\":\"Field required\",\"input\":{}}" },
        { "{\"d\":{\"A\":{\"title\":1}}}", 1, "\"string_type\",\"loc\":[\"body\",\"d\",\"A\",0,\"title\"]" },
        { "{\"d\":{\"A\\\"\":[null,[]],\"B\":5}}", 3,
          "\"model_attributes_type\",\"loc\":[\"body\",\"d\",\"A\\\"\",1]" },
        { "{\"d\":{\"A\":null}}", 1, "\"list_type\",\"loc\":[\"body\",\"d\",\"A\"]" },
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        struct json_error e;
        cJSON *body = json_parse(rows[i].body, strlen(rows[i].body), &e);
        auto_buf struct buf b;

        buf_init(&b, 10000);
        assert_non_null(body);
        if (json_check_lists(body, "d", item, ARRAY_LEN(item), &b) != rows[i].faults)
            fail_msg("%s", rows[i].body);
        if (!strstr(b.data ? b.data : "", rows[i].part))
            fail_msg("%s -> %s", rows[i].body, b.data ? b.data : "");
        cJSON_Delete(body);
    }
}

static void hundreds_of_faults_fit_into_a_megabyte(void **state)
{
    static const struct field_rule map[] = { { "credentials", FIELD_STRING_MAP, false, false },
                                             { "m", FIELD_STRING_MAP, false, false } };
    auto_buf struct buf text, b;
    struct json_error e;
    cJSON *body;
    int i;

    (void)state;
    buf_init(&text, 64u << 20);
    buf_init(&b, 1u << 20);
    buf_add_str(&text, "{\"m\":{");
    for (i = 0; i < 1000; i++) {
        buf_add_fmt(&text, "%s\"%d", i ? "," : "", i);
        buf_add_repeat(&text, 'k', i ? 3000 : 3000000);
        buf_add_str(&text, "\":[\"");
        buf_add_repeat(&text, 'v', 2030);
        buf_add_str(&text, "\"]");
    }
    buf_add_str(&text, "}}");
    assert_false(buf_failed(&text));
    body = json_parse(text.data, text.len, &e);
    assert_non_null(body);
    assert_int_equal(json_check_fields(body, map, ARRAY_LEN(map), &b), 100);
    assert_false(buf_failed(&b));
    assert_null(strstr(b.data, "\"100k"));
    cJSON_Delete(body);
    body = json_parse(b.data, b.len, &e);
    assert_int_equal(cJSON_GetArraySize(body), 100);
    cJSON_Delete(body);
}

static void bodies_that_are_no_json_say_where_and_why(void **state)
{
    auto_buf struct buf b;
    struct json_error e;

    (void)state;
    buf_init(&b, 1000);
    assert_null(json_parse("{\"a\":\xc3\xa9", 7, &e));
    json_body_fault(&e, &b);
    assert_string_equal(b.data,
                        "[{\"type\":\"json_invalid\",\"loc\":[\"body\",5],\"msg\":\"JSON decode error\",\"input\":{},"
                        "\"ctx\":{\"error\":\"A value is expected here\"}}]");
    buf_clear(&b);
    assert_null(json_parse("", 0, &e));
    json_body_fault(&e, &b);
    assert_string_equal(b.data,
                        "[{\"type\":\"missing\",\"loc\":[\"body\"],\"msg\":\"Field required\",\"input\":null}]");
}

static void short_memory_leaves_a_failed_buffer(void **state)
{
    struct json_error e;
    cJSON *body = json_parse("{\"title\":1}", 11, &e);

    (void)state;
    OOM_SWEEP({
        auto_buf struct buf b;

        buf_init(&b, 1000);
        assert_int_equal(json_check_fields(body, rules, ARRAY_LEN(rules), &b), 2);
        assert_true(!buf_failed(&b) || oom_hit());
    });
    cJSON_Delete(body);
    body = json_parse("{\"d\":{\"A\":[{},5]}}", 18, &e);
    OOM_SWEEP({
        auto_buf struct buf b;

        buf_init(&b, 1000);
        assert_in_range(json_check_lists(body, "d", rules, 1, &b), 1, 2);
        assert_true(!buf_failed(&b) || oom_hit());
    });
    cJSON_Delete(body);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fitting_body_has_no_faults),
        cmocka_unit_test(faults_come_in_the_order_of_the_rules),
        cmocka_unit_test(credentials_never_come_back),
        cmocka_unit_test(members_of_maps_and_lists_are_named),
        cmocka_unit_test(long_inputs_are_not_repeated),
        cmocka_unit_test(a_body_that_is_no_object_is_one_fault),
        cmocka_unit_test(hundreds_of_faults_fit_into_a_megabyte),
        cmocka_unit_test(bodies_that_are_no_json_say_where_and_why),
        cmocka_unit_test(items_of_lists_are_checked_in_their_places),
        cmocka_unit_test(short_memory_leaves_a_failed_buffer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
