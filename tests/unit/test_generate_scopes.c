#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "shared/base/mem.h"
#include "shared/generate/scopes.h"
#include "tests/support/diagram.h"
#include "tests/support/oom.h"

static int setup(void **state)
{
    *state = test_parser();
    return *state ? 0 : -1;
}

static int teardown(void **state)
{
    python_parser_free(*state);
    return 0;
}

#define ARC(source) \
    "{'type': 'AgentStateTransition', 'source': {'element': 's'}, 'target': {'element': 's'}, 'transitionType': " \
    "'custom', 'custom': {'event': 'None', 'condition': ['" source "']}}"

/* A hub with two conditions. */
#define READ(r, one, two) read_parts("", "", ", 'x': " ARC(one) ", 'y': " ARC(two), *state, (r))

static const char *scoped(const struct read_result *r, size_t transition)
{
    return r->model.states[0].transitions[transition].conditions[0].scoped;
}

static bool decide(struct read_result *r, struct python_parser *parser)
{
    bool sound = false;

    assert_int_equal(r->rc, 0);
    assert_int_equal(diagram_check_program(&r->model, true, parser, &r->findings, &r->err), 0);
    assert_int_equal(r->findings.errors, 0);
    assert_int_equal(scopes_decide(&r->model, parser, &sound, &r->err), 0);
    return sound;
}

static void code_whose_names_clash_stands_in_a_function(void **state)
{
    struct read_result r;

    READ(&r, "def f(session):\\n    return h()\\ndef h():\\n    return 1",
         "h = len = 2\\ndef g(session):\\n    return h");
    decide(&r, *state);
    assert_string_equal(scoped(&r, 0),
                        "():\n    def f(session):\n        return h()\n    def h():\n        return 1\n");
    assert_string_equal(scoped(&r, 1), "():\n    h = len = 2\n    def g(session):\n        return h\n");
    read_result_release(&r);
}

static void other_code_stands_as_it_was_drawn(void **state)
{
    struct read_result r;

    READ(&r, "LIMIT = 1\\ndef f(session):\\n    return LIMIT", "def f(session):\\n    return True");
    decide(&r, *state);
    assert_null(scoped(&r, 0));
    assert_null(scoped(&r, 1));
    read_result_release(&r);
}

static void what_functions_declare_global_stays_global(void **state)
{
    struct read_result r;

    READ(&r, "n = 0\\njson = json\\ndef f(session):\\n    global n\\n    n += 1\\n    return json",
         "def g(session):\\n    return json.loads(session.get(0))");
    decide(&r, *state);
    assert_string_equal(scoped(&r, 0), "(json=json):\n    global n\n    n = 0\n    json = json\n    def f(session):\n"
                                       "        global n\n        n += 1\n        return json\n");
    assert_null(scoped(&r, 1));
    read_result_release(&r);
}

static bool apart(const struct read_result *r, size_t transition)
{
    return r->model.states[0].transitions[transition].conditions[0].apart;
}

static void clashing_code_that_is_nothing_in_a_function_is_a_module(void **state)
{
    struct read_result r;

    READ(&r, "from math import *\\ndef f(session):\\n    return h()\\ndef h():\\n    return 1",
         "def g(session):\\n    return h()\\n\\fdef h():\\n    return 1");
    assert_true(decide(&r, *state));
    assert_null(scoped(&r, 0));
    assert_null(scoped(&r, 1));
    assert_true(apart(&r, 0) && apart(&r, 1));
    read_result_release(&r);
}

static void code_that_is_only_right_alone_is_a_module(void **state)
{
    static const struct {
        const char *source;
        bool apart;
    } rows[] = {
        { "def f(session):\\n    global agent\\n    return agent", false },
        { "global agent\\ndef f(session):\\n    return agent", true },
        { "from __future__ import annotations\\ndef f(session):\\n    return 1", true },
        { "import __future__\\ndef f(session):\\n    return 1", true },
    };
    size_t i;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct read_result r;
        char arc[1000];

        snprintf(arc, sizeof(arc),
                 ", 'x': {'type': 'AgentStateTransition', 'source': {'element': 's'}, 'target': {'element': 's'}, "
                 "'transitionType': 'custom', 'custom': {'event': 'None', 'condition': ['%s']}}",
                 rows[i].source);
        read_parts("", "", arc, *state, &r);
        assert_true(decide(&r, *state));
        assert_int_equal(apart(&r, 0), rows[i].apart);
        read_result_release(&r);
    }
}

static void a_class_that_starts_from_a_name_of_its_module_keeps_the_module(void **state)
{
    struct read_result r;

    READ(&r, "x = 1\\nclass A:\\n    x = x + 1\\ndef f(session):\\n    return x, A",
         "x = 2\\ndef g(session):\\n    return x");
    assert_true(decide(&r, *state));
    assert_true(apart(&r, 0) && !scoped(&r, 0));
    assert_true(!apart(&r, 1) && scoped(&r, 1));
    read_result_release(&r);
}

static void short_memory_is_said(void **state)
{
    struct read_result r;

    READ(&r, "def f(session):\\n    return h()\\ndef h():\\n    return 1", "h = 2\\ndef g(session):\\n    return h");
    decide(&r, *state);
    OOM_SWEEP({
        struct err err = { 0 };
        bool sound;
        size_t i;

        for (i = 0; i < 2; i++) {
            mem_free(r.model.states[0].transitions[i].conditions[0].scoped);
            r.model.states[0].transitions[i].conditions[0].scoped = NULL;
        }
        if (scopes_decide(&r.model, *state, &sound, &err) < 0)
            assert_true(err.kind == ERR_INTERNAL || err.kind == ERR_UNAVAILABLE);
    });
    read_result_release(&r);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(code_whose_names_clash_stands_in_a_function),
        cmocka_unit_test(other_code_stands_as_it_was_drawn),
        cmocka_unit_test(what_functions_declare_global_stays_global),
        cmocka_unit_test(clashing_code_that_is_nothing_in_a_function_is_a_module),
        cmocka_unit_test(code_that_is_only_right_alone_is_a_module),
        cmocka_unit_test(a_class_that_starts_from_a_name_of_its_module_keeps_the_module),
        cmocka_unit_test(short_memory_is_said),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
