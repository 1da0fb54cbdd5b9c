#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "shared/base/buf.h"
#include "shared/base/io.h"
#include "shared/base/mem.h"
#include "shared/base/str.h"
#include "shared/base/time.h"
#include "shared/python/parser.h"
#include "tests/support/oom.h"
#include "tests/support/run_program.h"
#include "tests/unit/python_snippets.h"

static char program[PROGRAM_PATH];

static int find_program(void **state)
{
    (void)state;
    return program_beside("agentsim-pyparse", program);
}

static int start(void **state)
{
    struct python_parser *p = NULL;
    int r = python_parser_new(program, &p, NULL);

    *state = p;
    return r;
}

static int end(void **state)
{
    python_parser_free(*state);
    return 0;
}

static void parse(struct python_parser *p, const char *source, struct python_facts *ret)
{
    struct err err = { 0 };

    if (python_parse(p, source, strlen(source), ret, &err) < 0)
        fail_msg("%s: %s", source, err.msg);
}

/* One line per source: "1", or "0 line column message-in-hex". */
static void ask_cpython(const struct buf *hex_lines, struct buf *out)
{
    static char script[] = "import sys, warnings\n"
                           "warnings.simplefilter('ignore')\n"
                           "for line in sys.stdin:\n"
                           "    try:\n"
                           "        compile(bytes.fromhex(line).decode(), '<code>', 'exec', dont_inherit=True)\n"
                           "        print(1)\n"
                           "    except SyntaxError as e:\n"
                           "        print(0, e.lineno or 1, e.offset or 0, e.msg.encode().hex())\n"
                           "    except (ValueError, RecursionError, MemoryError, OverflowError) as e:\n"
                           "        print(0, 1, 0, str(e).encode().hex())\n";
    static char python[] = "/usr/bin/python3", isolated[] = "-I", command[] = "-c";
    char *argv[] = { python, isolated, command, script, NULL };

    assert_int_equal(run_program(argv, hex_lines->data, hex_lines->len, out), 0);
}

static void add_hex(struct buf *b, const char *s, size_t len)
{
    size_t i;

    for (i = 0; i < len; i++)
        buf_add_fmt(b, "%02x", (unsigned char)s[i]);
}

static void every_verdict_is_cpythons(void **state)
{
    auto_buf struct buf lines, verdicts, mine;
    int valid = 0, invalid = 0;
    char *line;
    size_t i;

    buf_init(&lines, 1u << 20);
    buf_init(&verdicts, 1u << 20);
    buf_init(&mine, 4096);
    for (i = 0; i < ARRAY_LEN(snippets); i++) {
        add_hex(&lines, snippets[i], strlen(snippets[i]));
        buf_add_char(&lines, '\n');
    }
    ask_cpython(&lines, &verdicts);
    line = verdicts.data;
    for (i = 0; i < ARRAY_LEN(snippets); i++) {
        struct python_facts f;
        char *stop = strchr(line, '\n');

        assert_non_null(stop);
        *stop = '\0';
        parse(*state, snippets[i], &f);
        buf_clear(&mine);
        if (f.valid) {
            buf_add_char(&mine, '1');
            valid++;
        } else {
            buf_add_fmt(&mine, "0 %d %d ", f.error_line, f.error_column);
            add_hex(&mine, f.error, strlen(f.error));
            invalid++;
        }
        if (!str_eq(mine.data, line))
            fail_msg("for <%s> CPython says %s, the jail %s %s", snippets[i], line, mine.data, f.error ? f.error : "");
        python_facts_release(&f);
        line = stop + 1;
    }
    assert_true(valid > 120 && invalid > 180);
}

static void nul_mark_and_broken_utf8_are_syntax_errors(void **state)
{
    static const struct {
        const char *source;
        size_t len;
        int line;
    } rows[] = {
        { "x = 1\0", 6, 1 },           { "x = 1\n#\0\n", 9, 2 }, { "\0", 1, 1 },
        { "\xef\xbb\xbfx = 1", 8, 1 }, { "x = '\xff'", 7, 1 },   { "x = '\xed\xa0\x80'", 9, 1 },
    };
    size_t i;

    for (i = 0; i < ARRAY_LEN(rows); i++) {
        struct python_facts f;

        assert_int_equal(python_parse(*state, rows[i].source, rows[i].len, &f, NULL), 0);
        assert_false(f.valid);
        assert_int_equal(f.error_line, rows[i].line);
        python_facts_release(&f);
    }
}

static void facts_describe_functions(void **state)
{
    static const struct {
        const char *source;
        size_t statements;
        bool first_is_def;
        const char *name, *first;
        bool async;
        int line;
        size_t required, optional;
        bool varargs, keywords_required;
    } rows[] = {
        { "def f(session): pass", 1, true, "f", "session", false, 1, 1, 0, false, false },
        { "# c\n\ndef f(session: Session, x=1): pass", 1, true, "f", "session", false, 3, 1, 1, false, false },
        { "'doc'\ndef f(): pass", 2, false, "f", NULL, false, 2, 0, 0, false, false },
        { "async def f(a, b): pass", 1, false, "f", "a", true, 1, 2, 0, false, false },
        { "def f(a, /, b=1, *args, c, d=1, **k): pass", 1, true, "f", "b", false, 1, 1, 1, true, true },
        { "def f(a, b=1, /, *, c=1): pass", 1, true, "f", NULL, false, 1, 1, 1, false, false },
        { "@d\ndef f(*, session): pass", 1, true, "f", NULL, false, 2, 0, 0, false, true },
        { "@d\n@e\ndef \xef\xbd\x86(\xef\xbd\x93): pass", 1, true, "f", "s", false, 3, 1, 0, false, false },
        { "x = 1\nif x:\n  def g(): pass\ndef f(a, b, c): pass", 3, false, "f", "a", false, 4, 3, 0, false, false },
    };
    size_t i;

    for (i = 0; i < ARRAY_LEN(rows); i++) {
        struct python_facts f;

        parse(*state, rows[i].source, &f);
        assert_true(f.valid);
        assert_int_equal(f.statements, rows[i].statements);
        assert_int_equal(f.first_is_def, rows[i].first_is_def);
        assert_int_equal(f.functions_len, 1);
        assert_string_equal(f.functions[0].name, rows[i].name);
        assert_true(str_eq(f.functions[0].first_ordinary, rows[i].first));
        assert_int_equal(f.functions[0].async, rows[i].async);
        assert_int_equal(f.functions[0].line, rows[i].line);
        assert_int_equal(f.functions[0].required, rows[i].required);
        assert_int_equal(f.functions[0].optional, rows[i].optional);
        assert_int_equal(f.functions[0].varargs, rows[i].varargs);
        assert_int_equal(f.functions[0].keywords_required, rows[i].keywords_required);
        python_facts_release(&f);
    }
}

static void show_uses(struct buf *b, const struct python_name_use *uses, size_t len)
{
    size_t i;

    for (i = 0; i < len; i++)
        buf_add_fmt(b, "%s:%d ", uses[i].name, uses[i].line);
}

static void facts_list_imports_and_calls_at_any_depth(void **state)
{
    static const char source[] = "import os.path, sys as s\n"
                                 "def f(a=eval('1')):\n"
                                 "    from http.client import x\n"
                                 "    from . import y\n"
                                 "    from .os import z\n"
                                 "    class A:\n"
                                 "        import json\n"
                                 "    return [open(b) for b in exec(c)(d)]\n"
                                 "a.open(b); (compile)(c); print(f'{breakpoint()}')\n";
    auto_buf struct buf got;
    struct python_facts f;

    buf_init(&got, 4096);
    parse(*state, source, &f);
    assert_true(f.valid);
    show_uses(&got, f.imports, f.imports_len);
    assert_string_equal(got.data, "os.path:1 sys:1 http.client:3 os:5 json:7 ");
    buf_clear(&got);
    show_uses(&got, f.calls, f.calls_len);
    assert_string_equal(got.data, "eval:2 open:8 exec:8 compile:9 print:9 breakpoint:9 ");
    python_facts_release(&f);
}

static void decorators_and_defaults_count_as_calls(void **state)
{
    auto_buf struct buf got;
    struct python_facts f;

    buf_init(&got, 4096);
    parse(*state, "@exec(1)\ndef f(*, a=eval(2)) -> open(3): pass", &f);
    show_uses(&got, f.calls, f.calls_len);
    assert_string_equal(got.data, "eval:2 exec:1 open:2 ");
    python_facts_release(&f);
}

static void nothing_is_executed(void **state)
{
    static const char template[] = "open('%s', 'w').write('x')\n"
                                   "def f(a=open('%s', 'w')): pass\n"
                                   "import os; os.system('touch %s')\n"
                                   "class A: x = open('%s', 'w')\n";
    char path[] = "/tmp/agentsim-parser-XXXXXX";
    auto_buf struct buf source;
    struct python_facts f;
    struct stat st;

    assert_non_null(mkdtemp(path));
    buf_init(&source, 4096);
    buf_add_fmt(&source, template, path, path, path, path);
    rmdir(path);
    parse(*state, source.data, &f);
    assert_true(f.valid);
    python_facts_release(&f);
    assert_int_equal(stat(path, &st), -1);
}

/* The jail among our children: its pid, 0 when there is none. */
static pid_t jail_pid(void)
{
    DIR *proc = opendir("/proc");
    struct dirent *e;
    pid_t found = 0;

    while (proc && (e = readdir(proc))) {
        auto_buf struct buf stat;
        char path[300];
        int parent = 0;

        buf_init(&stat, 4096);
        snprintf(path, sizeof(path), "/proc/%s/stat", e->d_name);
        if (e->d_name[0] < '0' || e->d_name[0] > '9' || io_read_file(path, &stat, NULL) < 0)
            continue;
        if (strstr(stat.data, "(agentsim-pypars") && sscanf(strrchr(stat.data, ')') + 1, " %*c %d", &parent) == 1 &&
            parent == getpid())
            found = (pid_t)strtol(e->d_name, NULL, 10);
    }
    closedir(proc);
    return found;
}

/* Asks something that no cache can know. */
static void assert_works(struct python_parser *p)
{
    static int asked;
    struct python_facts f;
    char source[64];

    snprintf(source, sizeof(source), "def f%d(session): pass", asked++);
    parse(p, source, &f);
    assert_true(f.valid);
    python_facts_release(&f);
}

static void a_killed_jail_is_replaced(void **state)
{
    pid_t first;
    int i;

    for (i = 0; i < 3; i++) {
        assert_works(*state);
        first = jail_pid();
        assert_true(first > 0);
        kill(first, SIGKILL);
        assert_works(*state);
        assert_true(jail_pid() != first);
    }
}

static void a_jail_killed_and_gone_is_replaced(void **state)
{
    siginfo_t info;
    pid_t first;

    assert_works(*state);
    first = jail_pid();
    kill(first, SIGKILL);
    assert_int_equal(waitid(P_PID, (id_t)first, &info, WEXITED | WNOWAIT), 0);
    assert_works(*state);
}

static void an_answer_is_remembered(void **state)
{
    int i;

    for (i = 0; i < 3; i++) {
        struct python_facts f;

        parse(*state, i ? "def f(a): g(a)" : "def (", &f);
        python_facts_release(&f);
    }
    kill(jail_pid(), SIGKILL);
    for (i = 0; i < 2; i++) {
        struct python_facts f;

        parse(*state, i ? "def f(a): g(a)" : "def (", &f);
        assert_int_equal(f.valid, i);
        assert_int_equal(f.calls_len, i);
        assert_true(i || f.error);
        python_facts_release(&f);
    }
    assert_works(*state);
}

static void a_check_gives_the_verdict_alone(void **state)
{
    static const char good[] = "def f(a): g(a)", bad[] = "def (";
    int i;

    for (i = 0; i < 3; i++) { /* fresh, remembered, and remembered from a parse */
        struct python_facts f = { 0 };

        assert_int_equal(python_check(*state, good, strlen(good), &f, NULL), 0);
        assert_true(f.valid && !f.functions && !f.calls);
        python_facts_release(&f);
        assert_int_equal(python_check(*state, bad, strlen(bad), &f, NULL), 0);
        assert_false(f.valid);
        assert_string_equal(f.error, "invalid syntax");
        assert_int_equal(f.error_line, 1);
        python_facts_release(&f);
        if (i != 1)
            continue;
        parse(*state, good, &f);
        assert_int_equal(f.calls_len, 1);
        python_facts_release(&f);
    }
}

static void freeing_ends_the_jail(void **state)
{
    struct python_parser *p;

    (void)state;
    assert_int_equal(python_parser_new(program, &p, NULL), 0);
    assert_works(p);
    assert_true(jail_pid() > 0);
    python_parser_free(p);
    assert_int_equal(jail_pid(), 0);
    python_parser_free(NULL);
}

static void read_proc(pid_t pid, const char *what, struct buf *out)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, what);
    buf_clear(out);
    assert_int_equal(io_read_file(path, out, NULL), 0);
}

static void the_walls_stand_before_the_first_question(void **state)
{
    auto_buf struct buf status;
    const char *uid;
    pid_t jail;

    assert_works(*state);
    jail = jail_pid();
    buf_init(&status, 65536);
    read_proc(jail, "status", &status);
    assert_non_null(strstr(status.data, "NoNewPrivs:\t1\n"));
    assert_non_null(strstr(status.data, "Seccomp:\t2\n"));
    assert_non_null(strstr(status.data, "CapEff:\t0000000000000000\n"));
    uid = strstr(status.data, "Uid:\t");
    assert_non_null(uid);
    assert_true(strtoul(uid + 5, NULL, 10) != 0);
    read_proc(jail, "limits", &status);
    assert_non_null(strstr(status.data, "Max core file size        0 "));
    assert_non_null(strstr(status.data, "Max file size             0 "));
    assert_non_null(strstr(status.data, "Max open files            3 "));
    if (geteuid() == 0) { /* the environment of another user's undumpable process is root's to read */
        read_proc(jail, "environ", &status);
        assert_int_equal(status.len, 0);
    }
}

static void bombs_are_refused_in_time(void **state)
{
    static const struct {
        const char *head, *unit, *tail;
        size_t times;
    } rows[] = {
        { "x = ", "(", "", 100000 },
        { "x = ", "[", "", 150 },
        { "x = ", "-", "1", 200000 },
        { "x = ", "not ", "1", 100000 },
        { "x = 1", "+1", "", 200000 },
        { "x = a", ".b", "", 200000 },
        { "x = f", "()", "", 100000 },
        { "x = ", "lambda: ", "1", 50000 },
        { "x = ", "{1: ", "", 100000 },
        { "", "if 1:\n ", "", 1000 },
        { "", "f(**", "", 50000 },
        { "x = ", "1 if 1 else ", "1", 50000 },
        { "", "@a\n", "def f(): pass", 100000 },
        { "x = '", "\\N{BULLET}", "'", 200000 },
        { "x = ", "9", "", 100000 },
        { "x = ", "'a' ", "", 500000 },
        { "", "a\n", "", 2000000 },
        { "", "f(a.b[c] + 1 * 2)\n", "", 200000 },
    };
    size_t i, k;

    for (i = 0; i < ARRAY_LEN(rows); i++) {
        auto_buf struct buf source;
        struct python_facts f = { 0 };
        struct err err = { 0 };
        int64_t start_ms;

        buf_init(&source, PYTHON_SOURCE_MAX);
        buf_add_str(&source, rows[i].head);
        for (k = 0; k < rows[i].times; k++)
            buf_add_str(&source, rows[i].unit);
        buf_add_str(&source, rows[i].tail);
        assert_false(buf_failed(&source));
        start_ms = time_mono_ms();
        if (python_parse(*state, source.data, source.len, &f, &err) == 0) {
            assert_true(f.valid || f.error);
            python_facts_release(&f);
        } else {
            assert_int_equal(err.kind, ERR_BAD_REQUEST);
        }
        assert_true(time_mono_ms() - start_ms < 12000);
        assert_works(*state);
    }
}

/* CPython compares every keyword argument with every other. */
static void a_question_over_two_seconds_is_refused(void **state)
{
    auto_buf struct buf source;
    struct python_facts f;
    struct err err = { 0 };
    int64_t start_ms;
    int i;

    assert_works(*state);
    buf_init(&source, PYTHON_SOURCE_MAX);
    buf_add_str(&source, "f(");
    for (i = 0; i < 300000; i++)
        buf_add_fmt(&source, "a%d=1,", i);
    buf_add_str(&source, ")");
    assert_false(buf_failed(&source));
    start_ms = time_mono_ms();
    assert_int_equal(python_parse(*state, source.data, source.len, &f, &err), -1);
    assert_int_equal(err.kind, ERR_BAD_REQUEST);
    assert_non_null(strstr(err.msg, "2 seconds"));
    assert_in_range(time_mono_ms() - start_ms, 1900, PYTHON_PATIENCE_MS + 2000);
    assert_works(*state);
}

/* Each of these takes some 100 ms and is unlike all others. */
static int ask_something_slow(struct python_parser *p, int number, struct err *err)
{
    auto_buf struct buf source;
    struct python_facts f;
    int i;

    buf_init(&source, PYTHON_SOURCE_MAX);
    buf_add_fmt(&source, "# %d\n", number);
    for (i = 0; i < 20000; i++)
        buf_add_str(&source, "f(a.b)\n");
    assert_false(buf_failed(&source));
    if (python_check(p, source.data, source.len, &f, err) < 0)
        return -1;
    assert_true(f.valid);
    python_facts_release(&f);
    return 0;
}

static void the_questions_of_a_request_share_their_time(void **state)
{
    struct err err = { 0 };
    int asked = 0;

    assert_works(*state);
    python_parser_begin(*state, 1500, PYTHON_REQUEST_PATIENCE_MS);
    while (asked < 100 && ask_something_slow(*state, asked, &err) == 0)
        asked++;
    assert_in_range(asked, 1, 99);
    assert_int_equal(err.kind, ERR_BAD_REQUEST);
    assert_non_null(strstr(err.msg, "too much Python code"));
    assert_int_equal(ask_something_slow(*state, 200, &err), -1);
    python_parser_begin(*state, PYTHON_REQUEST_MS, PYTHON_REQUEST_PATIENCE_MS);
    assert_int_equal(ask_something_slow(*state, 300, &err), 0);
}

/* However fast it is read: a slow machine would not come to an end of it. */
static void the_questions_of_a_request_have_a_size_together(void **state)
{
    auto_buf struct buf source;
    struct python_facts f;
    struct err err = { 0 };
    unsigned asked;

    buf_init(&source, PYTHON_SOURCE_MAX);
    buf_add_repeat(&source, '#', PYTHON_SOURCE_MAX);
    python_parser_begin(*state, INT64_MAX, PYTHON_REQUEST_PATIENCE_MS);
    for (asked = 0; asked < PYTHON_REQUEST_MAX / PYTHON_SOURCE_MAX; asked++) {
        source.data[1] = (char)('a' + asked); /* not one that is known */
        assert_int_equal(python_check(*state, source.data, source.len, &f, &err), 0);
        python_facts_release(&f);
    }
    assert_int_equal(python_check(*state, "x = 1", 5, &f, &err), -1);
    assert_int_equal(err.kind, ERR_BAD_REQUEST);
    assert_non_null(strstr(err.msg, "more than 32 MiB"));
    python_parser_begin(*state, PYTHON_REQUEST_MS, PYTHON_REQUEST_PATIENCE_MS);
    assert_works(*state);
}

static void a_checker_that_does_not_get_to_work_is_the_services_fault(void **state)
{
    struct python_facts f;
    struct err err = { 0 };
    int64_t start_ms;

    assert_works(*state);
    kill(jail_pid(), SIGSTOP);
    start_ms = time_mono_ms();
    python_parser_begin(*state, PYTHON_REQUEST_MS, 300);
    assert_int_equal(python_check(*state, "stopped = 1", 11, &f, &err), -1);
    assert_int_equal(err.kind, ERR_UNAVAILABLE);
    assert_true(time_mono_ms() - start_ms < PYTHON_PATIENCE_MS / 2);
    python_parser_begin(*state, PYTHON_REQUEST_MS, PYTHON_REQUEST_PATIENCE_MS);
    assert_works(*state);
}

static void too_long_a_source_is_refused_unread(void **state)
{
    auto_buf struct buf source;
    struct python_facts f;
    struct err err = { 0 };

    buf_init(&source, PYTHON_SOURCE_MAX + 1);
    buf_add_repeat(&source, '#', PYTHON_SOURCE_MAX + 1);
    assert_int_equal(python_parse(*state, source.data, source.len, &f, &err), -1);
    assert_int_equal(err.kind, ERR_BAD_REQUEST);
    assert_int_equal(python_parse(*state, source.data, PYTHON_SOURCE_MAX, &f, &err), 0);
    assert_true(f.valid);
    python_facts_release(&f);
}

static void a_missing_program_is_said(void **state)
{
    static const char *const paths[] = { "/nowhere/agentsim-pyparse", "/bin/true", "/etc/passwd" };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(paths); i++) {
        struct python_parser *p;
        struct python_facts f;
        struct err err = { 0 };

        assert_int_equal(python_parser_new(paths[i], &p, &err), 0);
        assert_int_equal(python_parse(p, "x", 1, &f, &err), -1);
        assert_int_equal(err.kind, ERR_UNAVAILABLE);
        assert_non_null(strstr(err.msg, paths[i]));
        python_parser_free(p);
    }
}

static void short_memory_in_asking_leaves_a_usable_parser(void **state)
{
    (void)state;
    OOM_SWEEP({
        struct python_parser *p = NULL;
        struct python_facts f = { 0 };
        char *json = NULL;

        if (python_parser_new(program, &p, NULL) == 0) {
            if (python_parse(p, "def f(a): g(a)", 14, &f, NULL) == 0)
                assert_true(f.valid);
            python_facts_release(&f);
            if (python_tree(p, "x", 1, &json, NULL) == 0)
                mem_free(json);
            python_parser_free(p);
        }
    });
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_verdict_is_cpythons, start, end),
        cmocka_unit_test_setup_teardown(nul_mark_and_broken_utf8_are_syntax_errors, start, end),
        cmocka_unit_test_setup_teardown(facts_describe_functions, start, end),
        cmocka_unit_test_setup_teardown(facts_list_imports_and_calls_at_any_depth, start, end),
        cmocka_unit_test_setup_teardown(decorators_and_defaults_count_as_calls, start, end),
        cmocka_unit_test_setup_teardown(nothing_is_executed, start, end),
        cmocka_unit_test_setup_teardown(a_killed_jail_is_replaced, start, end),
        cmocka_unit_test_setup_teardown(a_jail_killed_and_gone_is_replaced, start, end),
        cmocka_unit_test_setup_teardown(an_answer_is_remembered, start, end),
        cmocka_unit_test_setup_teardown(a_check_gives_the_verdict_alone, start, end),
        cmocka_unit_test(freeing_ends_the_jail),
        cmocka_unit_test_setup_teardown(the_walls_stand_before_the_first_question, start, end),
        cmocka_unit_test_setup_teardown(bombs_are_refused_in_time, start, end),
        cmocka_unit_test_setup_teardown(a_question_over_two_seconds_is_refused, start, end),
        cmocka_unit_test_setup_teardown(the_questions_of_a_request_share_their_time, start, end),
        cmocka_unit_test_setup_teardown(the_questions_of_a_request_have_a_size_together, start, end),
        cmocka_unit_test_setup_teardown(a_checker_that_does_not_get_to_work_is_the_services_fault, start, end),
        cmocka_unit_test_setup_teardown(too_long_a_source_is_refused_unread, start, end),
        cmocka_unit_test(a_missing_program_is_said),
        cmocka_unit_test(short_memory_in_asking_leaves_a_usable_parser),
    };

    return cmocka_run_group_tests(tests, find_program, NULL);
}
