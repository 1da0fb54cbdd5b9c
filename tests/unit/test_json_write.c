#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "shared/base/buf.h"
#include "shared/json/json.h"

static void what_was_read_is_written(void **state)
{
    static const char *const texts[] = {
        "{\"a\":[1,1.0,-2.5,true,false,null,\"x\\u0001\\n\xc3\xa9\"],\"b\":{}}",
        "[9007199254740993,-9223372036854775807,123456789012345678901234567890,1e400,-0.0]",
        "\"\"",
    };
    struct json_error e;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        cJSON *tree = json_parse(texts[i], strlen(texts[i]), &e);
        auto_buf struct buf out;

        buf_init(&out, 1000);
        assert_non_null(tree);
        assert_int_equal(json_write(tree, 0, &out), 0);
        assert_string_equal(out.data, texts[i]);
        cJSON_Delete(tree);
    }
}

static void a_zero_with_a_minus_is_the_integer_it_is(void **state)
{
    struct json_error e;
    cJSON *tree = json_parse("[-0,-1]", 7, &e);
    auto_buf struct buf out;

    (void)state;
    buf_init(&out, 100);
    assert_non_null(tree);
    assert_int_equal(json_write(tree, 0, &out), 0);
    assert_string_equal(out.data, "[0,-1]");
    cJSON_Delete(tree);
}

static void a_member_a_line_when_asked(void **state)
{
    struct json_error e;
    cJSON *tree = json_parse("{\"a\":[1,{}]}", 12, &e);
    auto_buf struct buf out;

    (void)state;
    buf_init(&out, 1000);
    assert_int_equal(json_write(tree, 2, &out), 0);
    assert_string_equal(out.data, "{\n  \"a\": [\n    1,\n    {}\n  ]\n}");
    cJSON_Delete(tree);
}

static void a_full_buffer_is_a_failure(void **state)
{
    cJSON *tree = cJSON_CreateString("longer than that");
    auto_buf struct buf out;

    (void)state;
    buf_init(&out, 4);
    assert_int_equal(json_write(tree, 0, &out), -1);
    cJSON_Delete(tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_read_is_written),
        cmocka_unit_test(a_zero_with_a_minus_is_the_integer_it_is),
        cmocka_unit_test(a_member_a_line_when_asked),
        cmocka_unit_test(a_full_buffer_is_a_failure),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
