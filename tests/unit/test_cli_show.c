#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "shared/base/mem.h"
#include "shared/cli/show.h"
#include "tests/support/oom.h"

static void every_action_has_a_text_form(void **state)
{
    static const struct {
        const char *frame, *shown;
        enum show_kind kind;
    } rows[] = {
        { "{\"action\":\"agent_reply_str\",\"message\":\"hi\"}", "hi\n", SHOW_REPLY },
        { "{\"action\":\"agent_reply_str\",\"message\":12}", "12\n", SHOW_REPLY },
        { "{\"action\":\"agent_reply_str\",\"message\":null}", "null\n", SHOW_REPLY },
        { "{\"action\":\"agent_reply_str\"}", "\n", SHOW_REPLY },
        { "{\"action\":\"agent_reply_markdown\",\"message\":\"# a\\nb\"}", "# a\nb\n", SHOW_REPLY },
        { "{\"action\":\"agent_reply_html\",\"message\":\"<b>x</b>\"}", "x\n", SHOW_REPLY },
        { "{\"action\":\"agent_reply_file\",\"message\":{\"name\":\"a.txt\",\"base64\":\"aGVsbG8=\"}}",
          "[file a.txt, 5 bytes]\n", SHOW_REPLY },
        { "{\"action\":\"agent_reply_image\",\"message\":\"aGVsbG8=\"}", "[image, 5 bytes]\n", SHOW_REPLY },
        { "{\"action\":\"agent_reply_audio\",\"message\":{\"audio_data_base64\":\"AAAA\",\"metadata\":"
          "{\"sample_rate\":24000}}}",
          "[audio, 3 bytes, 24000 Hz]\n", SHOW_REPLY },
        { "{\"action\":\"agent_reply_location\",\"message\":{\"latitude\":-1.5,\"longitude\":2}}", "[place -1.5, 2]\n",
          SHOW_REPLY },
        { "{\"action\":\"agent_reply_options\",\"message\":\"{\\\"0\\\":\\\"A\\\",\\\"1\\\":\\\"B\\\"}\"}",
          "  1) A\n  2) B\n", SHOW_REPLY },
        { "{\"action\":\"agent_reply_dataframe\",\"message\":"
          "\"{\\\"name\\\":{\\\"0\\\":\\\"Ann\\\",\\\"1\\\":null},\\\"n\\\":{\\\"0\\\":1,\\\"1\\\":2.5}}\"}",
          "name  n\nAnn   1\n      2.5\n", SHOW_REPLY },
        { "{\"action\":\"agent_reply_plotly\",\"message\":\"{\\\"layout\\\":{\\\"title\\\":{\\\"text\\\":\\\"T\\\"}}}"
          "\"}",
          "[plot T]\n", SHOW_REPLY },
        { "{\"action\":\"agent_reply_rag\",\"message\":{\"answer\":\"42\",\"docs\":[{\"metadata\":{\"source\":\"f."
          "pdf\"}}]}}",
          "42\n  source: f.pdf\n", SHOW_REPLY },
        { "{\"action\":\"agent_reply_gui\",\"message\":\"{}\",\"message_id\":\"g\"}",
          "[form: open the console in a browser to see it]\n", SHOW_REPLY },
        { "{\"action\":\"agent_reply_reasoning_step\",\"message\":{\"kind\":\"x\",\"summary\":\"thinks\"}}",
          "* thinks\n", SHOW_NOISE },
        { "{\"action\":\"agent_reply_task_list_update\",\"message\":[{\"description\":\"a\",\"status\":\"completed\"},"
          "{\"description\":\"b\",\"status\":\"pending\"}]}",
          "  [x] a\n  [ ] b\n", SHOW_NOISE },
        { "{\"type\":\"auth_ok\"}", "", SHOW_AUTH_OK },
        { "{\"type\":\"stdout\",\"line\":\"x\"}", "| x\n", SHOW_NOISE },
        { "{\"type\":\"state_change\",\"state\":\"s\"}", "-> s\n", SHOW_NOISE },
        { "{\"type\":\"error\",\"message\":\"no\"}", "error: no\n", SHOW_ERROR },
        { "{\"type\":\"exit\",\"reason\":\"memory\",\"code\":9}", "(the session is over: memory, code 9)\n",
          SHOW_EXIT },
        { "{\"type\":\"replay_gap\",\"lost\":3}", "(3 frames were lost while the connection was down)\n",
          SHOW_UNKNOWN },
        { "{\"action\":\"something_new\",\"message\":\"x\"}", "", SHOW_UNKNOWN },
        { "[]", "", SHOW_UNKNOWN },
        { "{\"action\":\"agent_reply_str\",\"message\":NaN}", "[unreadable frame] \n", SHOW_UNKNOWN },
        { "", "[unreadable frame] \n", SHOW_UNKNOWN },
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        struct show s = { .trace = true, .output = true };
        auto_buf struct buf out;

        buf_init(&out, 1u << 20);
        assert_int_equal(show_frame(&s, rows[i].frame, strlen(rows[i].frame), &out), rows[i].kind);
        assert_string_equal(out.data ? out.data : "", rows[i].shown);
        show_release(&s);
    }
}

static void errors_in_the_output_are_shown_in_any_case(void **state)
{
    static const struct {
        const char *line, *shown;
    } rows[] = {
        { "2026-01-01 10:00:00,000 - BESSER Agentic Framework - INFO - ok", "" },
        { "2026-01-01 10:00:00,000 - BESSER Agentic Framework - ERROR - An error occurred in 'body'",
          "! An error occurred in 'body'   (all of it: --output, /output)\n" },
        { "NameError: not in a traceback", "" },
        { "Traceback (most recent call last):", "" },
        { "  File \\\"agent.py\\\", line 3, in f", "" },
        { "", "" },
        { "NameError: name 'x' is not defined", "! NameError: name 'x' is not defined\n" },
        { "an ordinary line", "" },
    };
    struct show s = { 0 };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        auto_buf struct buf out;
        char frame[300];

        buf_init(&out, 1000);
        snprintf(frame, sizeof(frame), "{\"type\":\"stdout\",\"line\":\"%s\"}", rows[i].line);
        assert_int_equal(show_frame(&s, frame, strlen(frame), &out), SHOW_NOISE);
        assert_string_equal(out.data ? out.data : "", rows[i].shown);
    }
    show_release(&s);
}

static void output_and_states_are_shown_on_demand(void **state)
{
    static const char output[] = "{\"type\":\"stdout\",\"line\":\"x\"}", change[] = "{\"type\":\"state_change\"}";
    struct show s = { 0 };
    auto_buf struct buf out;

    (void)state;
    buf_init(&out, 1u << 20);
    assert_int_equal(show_frame(&s, output, strlen(output), &out), SHOW_NOISE);
    assert_int_equal(show_frame(&s, change, strlen(change), &out), SHOW_NOISE);
    assert_int_equal(out.len, 0);
}

static void a_number_is_a_choice_only_after_options(void **state)
{
    static const char options[] = "{\"action\":\"agent_reply_options\",\"message\":\"{\\\"0\\\":\\\"A\\\"}\"}";
    static const char text[] = "{\"action\":\"agent_reply_str\",\"message\":\"x\"}";
    struct show s = { 0 };
    auto_buf struct buf out;

    (void)state;
    buf_init(&out, 1u << 20);
    assert_string_equal(show_choice(&s, "1"), "1");
    show_frame(&s, options, strlen(options), &out);
    assert_string_equal(show_choice(&s, "1"), "A");
    assert_string_equal(show_choice(&s, "2"), "2");
    assert_string_equal(show_choice(&s, "0"), "0");
    assert_string_equal(show_choice(&s, "A"), "A");
    show_frame(&s, text, strlen(text), &out);
    assert_string_equal(show_choice(&s, "1"), "1");
    show_release(&s);
    show_release(NULL);
}

static void colours_wrap_what_is_not_the_agents_word(void **state)
{
    static const char frame[] = "{\"type\":\"stdout\",\"line\":\"\\u001b[31m\"}";
    struct show s = { .output = true, .color = true };
    auto_buf struct buf out;

    (void)state;
    buf_init(&out, 1u << 20);
    show_frame(&s, frame, strlen(frame), &out);
    assert_string_equal(out.data, "\x1b[2m| \\x1b[31m\x1b[0m\n");
}

static void long_tables_are_cut_and_counted(void **state)
{
    auto_buf struct buf frame, out;
    struct show s = { 0 };
    int i;

    (void)state;
    buf_init(&frame, 1u << 20);
    buf_init(&out, 1u << 20);
    buf_add_str(&frame, "{\"action\":\"agent_reply_dataframe\",\"message\":{\"c\":{");
    for (i = 0; i < 200; i++)
        buf_add_fmt(&frame, "%s\"%d\":%d", i ? "," : "", i, i);
    buf_add_str(&frame, "}}}");
    show_frame(&s, frame.data, frame.len, &out);
    assert_non_null(strstr(out.data, "\n49\n(200 rows, 1 columns in all)\n"));
}

static void short_memory_shows_less_but_holds(void **state)
{
    static const char *const frames[] = {
        "{\"action\":\"agent_reply_options\",\"message\":\"{\\\"0\\\":\\\"A\\\",\\\"1\\\":\\\"B\\\"}\"}",
        "{\"action\":\"agent_reply_dataframe\",\"message\":\"{\\\"a\\\":{\\\"0\\\":[1]}}\"}",
        "{\"action\":\"agent_reply_str\",\"message\":{\"a\":[1,2,3]}}",
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(frames); i++) {
        OOM_SWEEP({
            struct show s = { 0 };
            auto_buf struct buf out;

            buf_init(&out, 1u << 20);
            show_frame(&s, frames[i], strlen(frames[i]), &out);
            show_release(&s);
        });
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_action_has_a_text_form),
        cmocka_unit_test(errors_in_the_output_are_shown_in_any_case),
        cmocka_unit_test(output_and_states_are_shown_on_demand),
        cmocka_unit_test(a_number_is_a_choice_only_after_options),
        cmocka_unit_test(colours_wrap_what_is_not_the_agents_word),
        cmocka_unit_test(long_tables_are_cut_and_counted),
        cmocka_unit_test(short_memory_shows_less_but_holds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
