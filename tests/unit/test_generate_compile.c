#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "shared/base/buf.h"
#include "shared/base/mem.h"
#include "shared/generate/compile.h"
#include "shared/json/json.h"
#include "tests/support/diagram.h"

static const struct generate_options session = { .session = true, .host = "127.0.0.1", .port = 8765 };

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

/* members: further members of the request; actions: of its one state; elements, arcs: further ones. Quoted with '. */
static int compile_with(struct python_parser *parser, const char *members, const char *actions, const char *elements,
                        const char *arcs, struct compiled *ret, struct err *err)
{
    auto_free char *json = NULL;
    struct json_error e;
    auto_buf struct buf b;
    cJSON *tree;
    int result;

    buf_init(&b, 64u << 20);
    buf_add_fmt(&b,
                "{'title':'T'%s,'model':{'elements':{'i':{'type':'StateInitialNode'},'s':{'type':'AgentState',"
                "'name':'hub','actions':[%s]}%s},'relationships':{'r':{'type':'AgentStateTransitionInit',"
                "'source':{'element':'i'},'target':{'element':'s'}}%s}}}",
                members, actions, elements, arcs);
    json = quoted(b.data);
    tree = json_parse(json, strlen(json), &e);
    assert_non_null(tree);
    result = compile_diagram(tree, parser, &session, ret, err);
    cJSON_Delete(tree);
    return result;
}

static int compile(struct python_parser *parser, const char *members, const char *actions, const char *elements,
                   struct compiled *ret, struct err *err)
{
    return compile_with(parser, members, actions, elements, "", ret, err);
}

static void a_right_diagram_becomes_a_bundle(void **state)
{
    struct compiled c = { 0 };
    struct err err = { 0 };

    assert_int_equal(compile(*state, "", "'a'", ",'a':{'actionType':'TextReplyAction','name':'hi'}", &c, &err), 0);
    assert_int_equal(c.findings.errors, 0);
    assert_int_equal(c.bundle.files_len, 2);
    assert_string_equal(c.model.name, "T");
    assert_int_equal(c.events.len, 0);
    compiled_release(&c);
    compiled_release(&c);
    compiled_release(NULL);
}

static void a_wrong_one_has_findings_and_no_bundle(void **state)
{
    static const struct {
        const char *members, *actions, *elements, *says;
    } rows[] = {
        { "", "'a'", ",'a':{'actionType':'LLMReplyAction','inputPromptMode':'guess'}", "guess" },
        { "", "'a'", ",'a':{'actionType':'LLMReplyAction','llm_name':'nobody'}", "nobody" },
        { "", "'a'", ",'a':{'actionType':'CustomCodeAction','name':'def f(session):\\n  import os'}", "os" },
        { ",'configYaml':'a: [1\\nb: 2'", "", "", "line 2" },
        { ",'configYaml':'platforms: 5'", "", "", "\"platforms\"" },
    };
    size_t i;

    for (i = 0; i < ARRAY_LEN(rows); i++) {
        struct compiled c = { 0 };
        struct err err = { 0 };

        assert_int_equal(compile(*state, rows[i].members, rows[i].actions, rows[i].elements, &c, &err), 0);
        assert_true(c.findings.errors > 0);
        assert_non_null(strstr(c.findings.items[c.findings.len - 1].message, rows[i].says));
        assert_int_equal(c.bundle.files_len, 0);
        compiled_release(&c);
    }
}

static void a_program_beyond_what_can_be_parsed_is_refused(void **state)
{
    struct compiled c = { 0 };
    struct err err = { 0 };
    struct buf b;

    buf_init(&b, 64u << 20);
    buf_add_str(&b, ",'a':{'actionType':'TextReplyAction','name':'");
    buf_add_repeat(&b, 'x', 5u << 20);
    buf_add_str(&b, "'}");
    assert_int_equal(compile(*state, "", "'a'", b.data, &c, &err), 0);
    assert_int_equal(c.findings.errors, 1);
    assert_non_null(strstr(c.findings.items[0].message, "too large"));
    assert_int_equal(c.bundle.files_len, 0);
    compiled_release(&c);
    buf_release(&b);
}

static void a_parser_that_cannot_run_is_no_fault_of_the_diagram(void **state)
{
    struct python_parser *none = NULL;
    struct compiled c = { 0 };
    struct err err = { 0 };

    (void)state;
    assert_int_equal(python_parser_new("/nowhere/agentsim-pyparse", &none, &err), 0);
    assert_int_equal(compile(none, "", "", "", &c, &err), -1);
    assert_true(err.kind == ERR_INTERNAL || err.kind == ERR_UNAVAILABLE);
    assert_null(c.bundle.files);
    assert_null(c.model.name);
    python_parser_free(none);
}

static void code_that_is_only_right_alone_is_a_module(void **state)
{
    struct compiled c = { 0 };
    struct err err = { 0 };

    assert_int_equal(
        compile_with(*state, "", "", "",
                     ",'r2':{'type':'AgentStateTransition','source':{'element':'s'},'target':{'element':'s'},"
                     "'transitionType':'custom','custom':{'event':'ReceiveTextEvent','condition':"
                     "['from __future__ import annotations\\ndef c(session): return 1']}}",
                     &c, &err),
        0);
    assert_int_equal(c.findings.errors, 0);
    assert_non_null(strstr(bundle_find(&c.bundle, "agent.py")->content, "own_module('from __future__ import"));
    compiled_release(&c);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_right_diagram_becomes_a_bundle),
        cmocka_unit_test(a_wrong_one_has_findings_and_no_bundle),
        cmocka_unit_test(a_program_beyond_what_can_be_parsed_is_refused),
        cmocka_unit_test(code_that_is_only_right_alone_is_a_module),
        cmocka_unit_test(a_parser_that_cannot_run_is_no_fault_of_the_diagram),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
