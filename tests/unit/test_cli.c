#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "shared/base/buf.h"
#include "shared/base/mem.h"
#include "tests/support/run_program.h"

/* The program itself, as built beside the tests. */

#define SCENARIO "tests/fixtures/conversations/talk_auto_chain.json"

static char agentsim[PROGRAM_PATH];

static int find_program(void **state)
{
    (void)state;
    return program_beside("agentsim", agentsim);
}

/* Runs "agentsim WORD..."; its exit status, standard output and error in out. */
static int run(const char *const *words, const char *input, struct buf *out)
{
    char shell[] = "/bin/sh", flag[] = "-c", redirect[] = "exec \"$0\" \"$@\" 2>&1",
         *argv[16] = { shell, flag, redirect, agentsim };
    int status, n = 4;

    for (; *words; words++)
        argv[n++] = (char *)(uintptr_t)*words;
    buf_clear(out);
    status = run_program(argv, input, strlen(input), out);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void answers_follow_what_was_asked(void **state)
{
    static const char hello[] = "{\"title\":\"t\",\"model\":{\"elements\":{},\"relationships\":{}}}";
    static const struct {
        const char *words[8], *input;
        int status;
        const char *said;
    } rows[] = {
        { { NULL }, "", 2, "usage: agentsim COMMAND" },
        { { "--help" }, "", 0, "generate" },
        { { "help", "chat" }, "", 0, "usage: agentsim chat [OPTION...] DIAGRAM.json" },
        { { "help", "nonsense" }, "", 2, "nonsense" },
        { { "--version" }, "", 0, "agentsim " },
        { { "nonsense" }, "", 2, "no command is called nonsense" },
        { { "validate", "--help" }, "", 0, "--quiet" },
        { { "validate" }, "", 2, "DIAGRAM.json is missing" },
        { { "validate", "/nowhere" }, "", 2, "/nowhere" },
        { { "validate", "-" }, "{\n \"\xc3\xa9\": 1,}", 1, "-: line 2, column 9: " },
        { { "validate", "-" }, "[]", 1, "no JSON object" },
        { { "validate", "-" }, "", 1, "line 1, column 1" },
        { { "validate", "docker/install/check_runtime.py" }, "", 1, "agentsim import makes a diagram" },
        { { "validate", "-" }, hello, 1, "error" },
        { { "validate", "-q", "-" }, hello, 1, NULL },
        { { "inspect", "-" }, hello, 1, "error" },
        { { "generate", "-" }, hello, 2, "-o DIR is missing" },
        { { "generate", "-s", "-o", "/nowhere/out", "--port", "x", "-" }, hello, 2, "no port" },
        { { "generate", "-o", "/nowhere/out", "--port", "80", "-" }, hello, 2, "goes with --session" },
        { { "generate", "-o", "/nowhere/out", "-" }, hello, 1, "error" },
        { { "config", "--markdown" }, "", 0, "AGENT_SIMULATOR_MAX_SESSIONS" },
        { { "config", "extra" }, "", 2, "unknown setting \"extra\"" },
        { { "config", "rlimit_nofile" }, "", 0, "1024\n" },
        { { "config", "max_sessions", "workers" }, "", 2, "agentsim config --help" },
        { { "test", "-d", "/nowhere.json", SCENARIO }, "", 2, "/nowhere.json" },
        { { "test", "-d", "-", SCENARIO }, "{", 1, "line 1, column 2" },
        { { "test", "/nowhere.json" }, "", 2, "/nowhere.json" },
        { { "chat", "/nowhere.json" }, "", 2, "/nowhere.json" },
        { { "import", "-o", "/nowhere/out", "/nowhere.py" }, "", 2, "/nowhere.py" },
        { { "export", "-o", "/nowhere/out", "/nowhere.json" }, "", 2, "/nowhere.json" },
        { { "export", "/nowhere.json" }, "", 2, "/nowhere.json" },
        { { "kill", "x" }, "", 2, "no session id" },
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        auto_buf struct buf out;

        buf_init(&out, 1u << 20);
        assert_int_equal(run(rows[i].words, rows[i].input, &out), rows[i].status);
        if (!rows[i].said)
            assert_int_equal(out.len, 0);
        else if (!strstr(out.data, rows[i].said))
            fail_msg("row %zu says %s", i, out.data);
    }
}

/* The table that `agentsim --help` prints holds for every command that reads settings. */
static void settings_that_cannot_be_had_mean_the_same_everywhere(void **state)
{
    static const char *const commands[][2] = { { "config" },      { "doctor" }, { "status" }, { "sessions" },
                                               { "kill", "all" }, { "drain" },  { "reload" } };
    static const struct {
        const char *file, *bad_value;
        int status;
        const char *said;
    } rows[] = {
        { "/nowhere.yaml", NULL, 2, "/nowhere.yaml" },
        { "/etc", NULL, 2, "not a regular file" },
        { "Makefile", NULL, 1, "Makefile, line " },
        { "/dev/null", NULL, 2, "not a regular file" },
        { NULL, "many", 1, "AGENT_SIMULATOR_WORKERS is \"many\"" },
    };
    size_t i, k;

    (void)state;
    for (k = 0; k < ARRAY_LEN(rows); k++) {
        if (rows[k].bad_value)
            assert_int_equal(setenv("AGENT_SIMULATOR_WORKERS", rows[k].bad_value, 1), 0);
        for (i = 0; i < ARRAY_LEN(commands); i++) {
            const char *option = rows[k].file ? "-c" : NULL;
            const char *words[] = { commands[i][0], commands[i][1] ? commands[i][1] : option,
                                    commands[i][1] ? option : rows[k].file, commands[i][1] ? rows[k].file : NULL,
                                    NULL };
            auto_buf struct buf out;

            buf_init(&out, 1u << 20);
            assert_int_equal(run(words, "", &out), rows[k].status);
            if (!strstr(out.data, rows[k].said))
                fail_msg("%s, row %zu, says %s", commands[i][0], k, out.data);
        }
        unsetenv("AGENT_SIMULATOR_WORKERS");
    }
}

static void every_command_explains_itself(void **state)
{
    static const char *const names[] = { "generate", "validate", "inspect", "export",   "import", "chat",  "test",
                                         "doctor",   "config",   "status",  "sessions", "kill",   "drain", "reload" };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(names); i++) {
        const char *words[] = { names[i], "--help", NULL };
        auto_buf struct buf out;

        buf_init(&out, 1u << 20);
        assert_int_equal(run(words, "", &out), 0);
        assert_non_null(strstr(out.data, "usage: agentsim "));
        assert_non_null(strstr(out.data, "--help"));
    }
}

static void a_full_disk_is_no_success(void **state)
{
    char shell[] = "/bin/sh", flag[] = "-c", script[] = "exec \"$0\" config --markdown >/dev/full 2>/dev/null";
    char *argv[] = { shell, flag, script, agentsim, NULL };
    auto_buf struct buf out;
    int status;

    (void)state;
    buf_init(&out, 1u << 20);
    status = run_program(argv, "", 0, &out);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 3);
}

static void a_bare_model_is_a_diagram_too(void **state)
{
    static const char *const words[] = { "validate", "-", NULL };
    auto_buf struct buf bare, wrapped;

    (void)state;
    buf_init(&bare, 1u << 20);
    buf_init(&wrapped, 1u << 20);
    assert_int_equal(run(words, "{\"elements\":{},\"relationships\":{}}", &bare), 1);
    assert_int_equal(run(words, "{\"model\":{\"elements\":{},\"relationships\":{}}}", &wrapped), 1);
    assert_string_equal(bare.data, wrapped.data);
}

static void a_service_that_does_not_run_is_said(void **state)
{
    static const char *const names[] = { "status", "sessions" };
    size_t i;

    (void)state;
    assert_int_equal(setenv("AGENT_SIMULATOR_RUNTIME_DIR", "/nowhere/run", 1), 0);
    for (i = 0; i < ARRAY_LEN(names); i++) {
        const char *words[] = { names[i], NULL };
        auto_buf struct buf out;

        buf_init(&out, 1u << 20);
        assert_int_equal(run(words, "", &out), 1);
        assert_non_null(strstr(out.data, "not running"));
    }
    unsetenv("AGENT_SIMULATOR_RUNTIME_DIR");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_follow_what_was_asked),
        cmocka_unit_test(every_command_explains_itself),
        cmocka_unit_test(a_full_disk_is_no_success),
        cmocka_unit_test(a_bare_model_is_a_diagram_too),
        cmocka_unit_test(a_service_that_does_not_run_is_said),
        cmocka_unit_test(settings_that_cannot_be_had_mean_the_same_everywhere),
    };

    return cmocka_run_group_tests(tests, find_program, NULL);
}
