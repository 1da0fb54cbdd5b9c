#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "shared/base/io.h"
#include "shared/base/mem.h"
#include "shared/cli/scenario.h"
#include "tests/support/oom.h"

static const char *verdict(const char *expected, const char *frame)
{
    cJSON *e = cJSON_Parse(expected);
    const char *r = scenario_mismatch(e, frame, strlen(frame));

    assert_non_null(e);
    cJSON_Delete(e);
    return r;
}

static void frames_are_compared_as_the_scenario_asks(void **state)
{
    static const struct {
        const char *expected, *frame;
        bool fits;
    } rows[] = {
        { "{\"action\":\"a\"}", "{\"action\":\"a\",\"message\":5}", true },
        { "{\"action\":\"a\"}", "{\"action\":\"b\",\"message\":5}", false },
        { "{\"action\":\"a\",\"message\":\"x\"}", "{\"action\":\"a\",\"message\":\"x\",\"history\":false}", true },
        { "{\"action\":\"a\",\"message\":\"x\"}", "{\"action\":\"a\",\"message\":\"X\"}", false },
        { "{\"action\":\"a\",\"message\":\"\\u00e9\"}", "{\"action\":\"a\",\"message\":\"e\\u0301\"}", true },
        { "{\"action\":\"a\",\"message\":1}", "{\"action\":\"a\",\"message\":1.0}", true },
        { "{\"action\":\"a\",\"message\":1}", "{\"action\":\"a\",\"message\":true}", false },
        { "{\"action\":\"a\",\"message\":1}", "{\"action\":\"a\",\"message\":\"1\"}", false },
        { "{\"action\":\"a\",\"message\":null}", "{\"action\":\"a\",\"message\":null}", true },
        { "{\"action\":\"a\",\"message\":null}", "{\"action\":\"a\"}", false },
        { "{\"action\":\"a\",\"message\":{\"k\":[1,2]}}", "{\"action\":\"a\",\"message\":{\"k\":[1,2]}}", true },
        { "{\"action\":\"a\",\"message\":{\"k\":[1,2]}}", "{\"action\":\"a\",\"message\":{\"k\":[1,2,3]}}", false },
        { "{\"action\":\"a\",\"message\":{\"k\":1}}", "{\"action\":\"a\",\"message\":{\"k\":1,\"l\":2}}", false },
        { "{\"action\":\"a\",\"message_json\":{\"k\":1}}", "{\"action\":\"a\",\"message\":\"{\\\"k\\\": 1}\"}", true },
        { "{\"action\":\"a\",\"message_json\":{\"k\":1}}", "{\"action\":\"a\",\"message\":{\"k\":1}}", true },
        { "{\"action\":\"a\",\"message_json\":{\"k\":1}}", "{\"action\":\"a\",\"message\":\"{\\\"k\\\": 2}\"}", false },
        { "{\"action\":\"a\",\"message_has\":{\"k\":{\"l\":1}}}",
          "{\"action\":\"a\",\"message\":\"{\\\"k\\\": {\\\"l\\\":1,\\\"m\\\":2}, \\\"n\\\":3}\"}", true },
        { "{\"action\":\"a\",\"message_has\":{\"k\":1}}", "{\"action\":\"a\",\"message\":{\"l\":1}}", false },
        { "{\"action\":\"a\",\"message_re\":\"[0-9]+ apples\"}", "{\"action\":\"a\",\"message\":\"12 apples\"}", true },
        { "{\"action\":\"a\",\"message_re\":\"[0-9]+\"}", "{\"action\":\"a\",\"message\":\"12 apples\"}", false },
        { "{\"action\":\"a\",\"message_re\":\"[\"}", "{\"action\":\"a\",\"message\":\"[\"}", false },
        { "{\"action\":\"a\",\"message_id\":\"left\"}", "{\"action\":\"a\",\"message_id\":\"left\"}", true },
        { "{\"action\":\"a\",\"message_id\":\"left\"}", "{\"action\":\"a\",\"message_id\":null}", false },
        { "{\"raw\":\"{NaN}\"}", "{NaN}", true },
        { "{\"raw\":\"{NaN}\"}", "{NaN} ", false },
        { "{\"action\":\"a\"}", "[1]", false },
        { "{\"action\":\"a\"}", "", false },
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++)
        if ((verdict(rows[i].expected, rows[i].frame) == NULL) != rows[i].fits)
            fail_msg("%s against %s", rows[i].frame, rows[i].expected);
}

static char folder[] = "/tmp/agentsim-scenario-XXXXXX";

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

static int read_text(const char *text, struct scenario *ret, struct err *err)
{
    static char path[128]; /* a scenario without a name has its file's */
    int r;

    (void)snprintf(path, sizeof(path), "%s/talk.json", folder);
    assert_int_equal(io_write_file(path, text, strlen(text), 0600, err), 0);
    r = scenario_read(path, ret, err);
    unlink(path);
    return r;
}

static void a_scenario_has_defaults_and_a_diagram_beside_it(void **state)
{
    struct err err = { 0 };
    struct scenario s;
    char path[128];
    char *text;

    (void)state;
    (void)snprintf(path, sizeof(path), "%s/talker.json", folder);
    assert_int_equal(io_write_file(path, "{}", 2, 0600, &err), 0);
    assert_int_equal(
        read_text("{\"diagram\":\"talker\",\"steps\":[{\"send\":{\"a\":1},\"timeout_s\":3},{\"send_raw\":\"x\"},"
                  "{\"sleep_s\":1}]}",
                  &s, &err),
        0);
    assert_string_equal(s.name, "talk.json");
    assert_string_equal(s.diagram, path);
    assert_true(s.timeout_s > 7.9 && s.timeout_s < 8.1);
    assert_true(scenario_seconds(cJSON_GetArrayItem(s.steps, 0), "timeout_s", s.timeout_s) < 3.1);
    assert_int_equal(scenario_frame(cJSON_GetArrayItem(s.steps, 0), &text), 0);
    assert_string_equal(text, "{\"a\":1}");
    mem_free(text);
    assert_int_equal(scenario_frame(cJSON_GetArrayItem(s.steps, 1), &text), 0);
    assert_string_equal(text, "x");
    mem_free(text);
    assert_int_equal(scenario_frame(cJSON_GetArrayItem(s.steps, 2), &text), 0);
    assert_null(text);
    scenario_release(&s);
    unlink(path);
}

static void what_is_no_scenario_is_refused_with_its_place(void **state)
{
    static const struct {
        const char *text, *says;
    } rows[] = {
        { "", "line 1, column 1" },
        { "[]", "list of steps" },
        { "{\"steps\":{}}", "list of steps" },
        { "{\"steps\":[],\"timeout_s\":\"8\"}", "seconds" },
        { "{\"steps\":[1]}", "step 1: a step is an object" },
        { "{\"steps\":[{},{\"expect\":{}}]}", "step 2: expect is a list" },
        { "{\"steps\":[{\"expect\":[{}]}]}", "step 1: an expected frame" },
        { "{\"steps\":[{\"expect\":[{\"action\":\"a\",\"message_re\":5}]}]}", "message_re" },
        { "{\"steps\":[{\"send_raw\":5}]}", "send_raw" },
        { "{\"steps\":[{\"sleep_s\":-1}]}", "seconds" },
        { "{\"steps\":[{\"quiet_s\":1e9}]}", "seconds" },
    };
    struct scenario s;
    struct err err;
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        assert_int_equal(read_text(rows[i].text, &s, &err), -1);
        if (!strstr(err.msg, rows[i].says))
            fail_msg("%s: %s", rows[i].text, err.msg);
    }
    assert_int_equal(scenario_read("/nonexistent/talk.json", &s, &err), -1);
}

static void frames_are_shown_short_and_without_control_characters(void **state)
{
    char text[2000];
    auto_buf struct buf out;

    (void)state;
    buf_init(&out, 4096);
    scenario_show_text("{\"action\":\"a\",\"message\":\"x\",\"history\":false,\"message_id\":null}", 62, &out);
    assert_string_equal(out.data, "action \"a\", message \"x\"");
    buf_clear(&out);
    memset(text, 'x', sizeof(text));
    text[3] = '\x1b';
    scenario_show_text(text, sizeof(text), &out);
    assert_true(out.len < 320 && strstr(out.data, "..."));
    assert_null(strchr(out.data, '\x1b'));
}

static void without_memory_it_is_not_read(void **state)
{
    struct scenario s;
    struct err err = { 0 };
    char path[128];

    (void)state;
    (void)snprintf(path, sizeof(path), "%s/talk.json", folder);
    assert_int_equal(io_write_file(path, "{\"name\":\"n\",\"diagram\":\"talk.json\",\"steps\":[{}]}", 48, 0600, &err),
                     0);
    OOM_SWEEP({
        if (scenario_read(path, &s, &err) == 0)
            scenario_release(&s);
    });
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_are_compared_as_the_scenario_asks),
        cmocka_unit_test(a_scenario_has_defaults_and_a_diagram_beside_it),
        cmocka_unit_test(what_is_no_scenario_is_refused_with_its_place),
        cmocka_unit_test(frames_are_shown_short_and_without_control_characters),
        cmocka_unit_test(without_memory_it_is_not_read),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
