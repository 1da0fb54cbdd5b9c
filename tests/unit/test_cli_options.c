#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "shared/base/buf.h"
#include "shared/base/mem.h"
#include "shared/base/str.h"
#include "shared/cli/cli.h"

static const struct cli_option options[] = {
    { "output", 'o', "DIR", "where" },
    { "quiet", 'q', NULL, "silence" },
    { "out", 0, "X", "a name that another begins with" },
    { 0 },
};

static const struct cli_command command = {
    .name = "test",
    .arguments = "FILE",
    .summary = "Test",
    .options = options,
    .args_min = 1,
    .args_max = 2,
};

static void words_become_values_and_arguments(void **state)
{
    static const struct {
        const char *words[6];
        const char *output, *quiet, *out, *first;
        int args;
    } rows[] = {
        { { "f" }, NULL, NULL, NULL, "f", 1 },
        { { "-o", "d", "f" }, "d", NULL, NULL, "f", 1 },
        { { "f", "-od" }, "d", NULL, NULL, "f", 1 },
        { { "--output", "d", "f", "g" }, "d", NULL, NULL, "f", 2 },
        { { "--output=", "-q", "f" }, "", "", NULL, "f", 1 },
        { { "--out=x", "--quiet", "f" }, NULL, "", "x", "f", 1 },
        { { "--", "-o", "f" }, NULL, NULL, NULL, "-o", 2 },
        { { "-o", "-q", "-" }, "-q", NULL, NULL, "-", 1 },
        { { "-o", "1", "-o", "2", "f" }, "2", NULL, NULL, "f", 1 },
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        const char *words[7] = { NULL };
        struct cli_input in;
        struct err err = { 0 };
        int argc = 0;

        for (; rows[i].words[argc]; argc++)
            words[argc] = rows[i].words[argc];
        assert_int_equal(cli_parse(&command, argc, (char **)(uintptr_t)words, &in, &err), 0);
        assert_true(str_eq(in.values[0], rows[i].output));
        assert_true(str_eq(in.values[1], rows[i].quiet));
        assert_true(str_eq(in.values[2], rows[i].out));
        assert_int_equal(in.args_len, rows[i].args);
        assert_string_equal(in.args[0], rows[i].first);
    }
}

static void wrong_use_is_named(void **state)
{
    static const struct {
        const char *words[5];
        const char *said;
    } rows[] = {
        { { NULL }, "FILE is missing" },         { { "a", "b", "c" }, "more arguments than FILE" },
        { { "-x", "f" }, "unknown option -x" },  { { "--outpu", "f" }, "unknown option --outpu" },
        { { "f", "-o" }, "--output needs DIR" }, { { "--quiet=1", "f" }, "--quiet takes no value" },
        { { "-q1", "f" }, "takes no value" },
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        const char *words[6] = { NULL };
        struct cli_input in;
        struct err err = { 0 };
        int argc = 0;

        for (; rows[i].words[argc]; argc++)
            words[argc] = rows[i].words[argc];
        assert_int_equal(cli_parse(&command, argc, (char **)(uintptr_t)words, &in, &err), -1);
        assert_non_null(strstr(err.msg, rows[i].said));
    }
}

static void text_of_strangers_stays_on_its_line(void **state)
{
    static const struct {
        const char *in;
        bool lines;
        const char *out;
    } rows[] = {
        { "plain \xc3\xa9 \xf0\x9f\x98\x80\t.", false, "plain \xc3\xa9 \xf0\x9f\x98\x80\t." },
        { "a\nb", true, "a\nb" },
        { "a\nb", false, "a\\x0ab" },
        { "a\r\nb\rc", true, "a\nb\\x0dc" },
        { "\x1b[2J\x07\x7f\xc2\x9b", true, "\\x1b[2J\\x07\\x7f\\x9b" },
        { "\xe2\x80\xae\xe2\x81\xa6", true, "\\u202e\\u2066" },
        { "\xff\xfe", true, "\xef\xbf\xbd\xef\xbf\xbd" },
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        auto_buf struct buf out;

        buf_init(&out, 1000);
        cli_add_plain(&out, rows[i].in, strlen(rows[i].in), rows[i].lines);
        assert_string_equal(out.data, rows[i].out);
    }
}

static void programs_are_sought_beside_this_one_first(void **state)
{
    auto_free char *near = cli_program_path("test_cli_options"), *far = cli_program_path("nothing-called-so");

    (void)state;
    assert_true(str_ends(near, "/test_cli_options"));
    assert_string_equal(far, AGENTSIM_PREFIX "/bin/nothing-called-so");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_become_values_and_arguments),
        cmocka_unit_test(wrong_use_is_named),
        cmocka_unit_test(text_of_strangers_stays_on_its_line),
        cmocka_unit_test(programs_are_sought_beside_this_one_first),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
