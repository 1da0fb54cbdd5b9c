#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "shared/base/buf.h"
#include "shared/base/io.h"
#include "shared/base/log.h"
#include "shared/base/mem.h"
#include "tests/support/oom.h"

/* What is written to standard error between the two calls. */
static int saved_stderr, pipe_read;

static void catch_lines(void)
{
    int p[2];

    assert_int_equal(pipe(p), 0);
    saved_stderr = dup(STDERR_FILENO);
    dup2(p[1], STDERR_FILENO);
    close(p[1]);
    pipe_read = p[0];
}

static void caught(struct buf *out)
{
    struct err err;

    dup2(saved_stderr, STDERR_FILENO);
    close(saved_stderr);
    buf_init(out, 1 << 20);
    assert_int_equal(io_read_rest(pipe_read, out, &err), 0);
    close(pipe_read);
}

static void a_line_stays_a_line(void **state)
{
    auto_buf struct buf out;

    (void)state;
    catch_lines();
    log_setup("test", false, LOG_INFO);
    log_context("req", "ses");
    log_warn("a\nb\x1b[31m\x7f \xc3\xa9 \xff\xe2\x80\xa8 end");
    log_context(NULL, NULL);
    caught(&out);
    assert_non_null(
        strstr(out.data, "] warn: request=req session=ses a\\u000ab\\u001b[31m\\u007f \xc3\xa9 \\xff\\u2028 end\n"));
    assert_ptr_equal(strchr(out.data, '\n'), out.data + out.len - 1);
}

static void json_lines_have_fields(void **state)
{
    auto_buf struct buf out;

    (void)state;
    catch_lines();
    log_setup("test", true, LOG_INFO);
    log_context("r\"1", NULL);
    log_error("x\n\"y\"");
    log_setup("test", false, LOG_INFO);
    log_context(NULL, NULL);
    caught(&out);
    assert_non_null(strstr(out.data, "\"level\":\"error\",\"program\":\"test\",\"pid\":"));
    assert_non_null(strstr(out.data, "\"request\":\"r\\\"1\",\"message\":\"x\\n\\\"y\\\"\"}\n"));
    assert_null(strstr(out.data, "session"));
}

static void levels_below_the_least_are_silent(void **state)
{
    auto_buf struct buf out;
    enum log_level level;

    (void)state;
    assert_int_equal(log_level_parse("warn", &level), 0);
    assert_int_equal(level, LOG_WARN);
    assert_int_equal(log_level_parse("loud", &level), -1);
    assert_int_equal(log_level_parse(NULL, &level), -1);
    catch_lines();
    log_setup("test", false, level);
    log_info("no");
    log_debug("no");
    log_warn("yes");
    log_setup("test", false, LOG_INFO);
    caught(&out);
    assert_null(strstr(out.data, "no\n"));
    assert_non_null(strstr(out.data, "yes\n"));
}

static void long_messages_are_cut_not_lost(void **state)
{
    auto_buf struct buf out;
    char text[10000];

    (void)state;
    memset(text, 1, sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    catch_lines();
    log_setup("test", true, LOG_INFO);
    log_info("%s", text);
    log_setup("test", false, LOG_INFO);
    log_info("%s", text);
    caught(&out);
    assert_true(out.len > 2 * 4095 * 6);
    assert_int_equal(out.data[out.len - 1], '\n');
}

static void audit_lines_are_written_at_every_level(void **state)
{
    auto_buf struct buf out;

    (void)state;
    catch_lines();
    log_setup("test", false, LOG_ERROR);
    log_audit("5e55", "ip:192.0.2.1\nforged", "session %s", "starts");
    log_setup("test", true, LOG_ERROR);
    log_audit("5e55", "ip:\"", "session ends");
    log_setup("test", false, LOG_INFO);
    caught(&out);
    assert_non_null(strstr(out.data, " audit: session=5e55 actor=ip:192.0.2.1\\u000aforged session starts\n"));
    assert_non_null(strstr(out.data, "\"session\":\"5e55\",\"actor\":\"ip:\\\"\",\"message\":\"session ends\"}\n"));
}

static void nobody_can_ask_for_audit_lines_alone(void **state)
{
    enum log_level level;

    (void)state;
    assert_int_equal(log_level_parse("audit", &level), -1);
}

static void short_memory_loses_a_line_at_most(void **state)
{
    auto_buf struct buf out;

    (void)state;
    catch_lines();
    OOM_SWEEP(log_info("line"));
    caught(&out);
    assert_non_null(strstr(out.data, "line\n"));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_stays_a_line),
        cmocka_unit_test(json_lines_have_fields),
        cmocka_unit_test(levels_below_the_least_are_silent),
        cmocka_unit_test(long_messages_are_cut_not_lost),
        cmocka_unit_test(audit_lines_are_written_at_every_level),
        cmocka_unit_test(nobody_can_ask_for_audit_lines_alone),
        cmocka_unit_test(short_memory_loses_a_line_at_most),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
