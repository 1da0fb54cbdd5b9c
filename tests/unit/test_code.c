/* Structure and lint of code: shared/diagram/code.c, asking the real parser. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "shared/base/mem.h"
#include "shared/diagram/code.h"
#include "tests/support/diagram.h"

static const struct {
    enum code_kind kind;
    bool session;
    const char *source;
    int found; /* findings */
    const char *word;
} rows[] = {
    { CODE_CUSTOM, false, "def f(session): pass", 0, NULL },
    { CODE_CUSTOM, false, "# c\n@deco\ndef f(session, *more): pass\n# d\n", 0, NULL },
    { CODE_CUSTOM, false, "", 1, "blank" },
    { CODE_CUSTOM, false, " \n\t", 1, "blank" },
    { CODE_CUSTOM, false, "def f(session) pass", 1, "line 1" },
    { CODE_CUSTOM, false, "def f(session):\n  x = 1\n y", 1, "line 3" },
    { CODE_CUSTOM, false,
      "\xef\xbb\xbf"
      "def f(session): pass",
      1, "FEFF" },
    { CODE_CUSTOM, false, "# nothing", 1, "0 statements" },
    { CODE_CUSTOM, false, "'doc'\ndef f(session): pass", 1, "2 statements" },
    { CODE_CUSTOM, false, "async def f(session): pass", 1, "plain function" },
    { CODE_CUSTOM, false, "lambda session: 1", 1, "plain function" },
    { CODE_CUSTOM, false, "class A: pass", 1, "plain function" },
    { CODE_CUSTOM, false, "def f(): pass", 1, "session" },
    { CODE_CUSTOM, false, "def f(s, session): pass", 1, "\"s\"" },
    { CODE_CUSTOM, false, "def f(*, session): pass", 1, "session" },
    { CODE_CUSTOM, false, "def f(session, /): pass", 1, "session" },
    { CODE_CUSTOM, false, "def f(a, /, session): pass", 0, NULL },
    { CODE_CUSTOM, false, "def f(session): import os; eval(1)", 0, NULL },
    { CODE_CUSTOM, true, "def f(session): import os, sys; eval(1)", 3, "\"sys\"" },
    { CODE_CUSTOM, true, "def f(): import os", 1, "session" }, /* structure first */
    { CODE_TOOL, true, "import json\ndef a(): pass\ndef b(): pass", 0, NULL },
    { CODE_TOOL, true, "import pickle as p", 1, "pickle" },
    { CODE_TOOL, true, "getattr(x, 'eval')('1')", 0, NULL },
    { CODE_CONDITION, true, " ", 1, "blank" },
    { CODE_CONDITION, true, "def f(x): return compile(x)", 1, "compile" },
};

static void code_is_judged_by_the_rules_of_its_kind(void **state)
{
    struct python_parser *parser = test_parser();
    size_t i, k;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        struct code c = { .kind = rows[i].kind,
                          .session = rows[i].session,
                          .source = rows[i].source,
                          .title = "State \"x\", body",
                          .where = "here",
                          .rule = 28 };
        struct findings f;
        struct err err = { 0 };
        bool said = !rows[i].word;

        findings_init(&f);
        assert_int_equal(code_check(&c, parser, &f, NULL, &err), rows[i].found);
        assert_int_equal(f.errors, rows[i].found);
        for (k = 0; k < f.len; k++) {
            said = said || strstr(f.items[k].message, rows[i].word);
            assert_non_null(strstr(f.items[k].message, "State \"x\", body: "));
            assert_string_equal(f.items[k].where, "here");
            assert_int_equal(f.items[k].rule, 28);
        }
        assert_true(said);
        findings_release(&f);
    }
    python_parser_free(parser);
}

static void every_listed_module_and_function_is_refused(void **state)
{
    static const char *const modules[] = { "os",      "subprocess", "socket", "sys",    "ctypes",  "importlib",
                                           "shutil",  "urllib",     "http",   "ftplib", "smtplib", "pickle",
                                           "marshal", "builtins",   "pty",    "signal" };
    static const char *const functions[] = { "exec", "eval", "__import__", "compile", "open", "breakpoint" };
    struct python_parser *parser = test_parser();
    char source[100];
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(modules) + ARRAY_LEN(functions); i++) {
        struct code c = { .kind = CODE_TOOL, .session = true, .source = source, .title = "Tool", .rule = 28 };
        struct findings f;

        findings_init(&f);
        if (i < ARRAY_LEN(modules))
            snprintf(source, sizeof(source), "from %s import x", modules[i]);
        else
            snprintf(source, sizeof(source), "def f(): return [%s('1')]", functions[i - ARRAY_LEN(modules)]);
        assert_int_equal(code_check(&c, parser, &f, NULL, NULL), 1);
        findings_release(&f);
    }
    python_parser_free(parser);
}

static void what_the_parser_gives_up_on_is_named(void **state)
{
    struct code c = { .kind = CODE_CONDITION, .source = "def f(s): pass", .title = "State \"hub\"", .rule = 28 };
    struct python_parser *parser = test_parser();
    struct python_facts facts;
    struct findings f;
    struct err err = { 0 };

    (void)state;
    findings_init(&f);
    python_parser_begin(parser, 0, 60000);
    assert_int_equal(code_check(&c, parser, &f, &facts, &err), -1);
    assert_int_equal(err.kind, ERR_BAD_REQUEST);
    assert_int_equal(f.errors, 1);
    assert_non_null(strstr(f.items[0].message, "State \"hub\": there is too much Python code"));
    findings_release(&f);
    python_parser_free(parser);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(code_is_judged_by_the_rules_of_its_kind),
        cmocka_unit_test(every_listed_module_and_function_is_refused),
        cmocka_unit_test(what_the_parser_gives_up_on_is_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
