/* Rules of a whole model: shared/diagram/check.c and check_program.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "shared/base/buf.h"
#include "shared/base/mem.h"
#include "tests/support/diagram.h"
#include "tests/support/oom.h"

#define ARC(id, from, to, more) \
    ",'" id "':{'type':'AgentStateTransition','source':{'element':'" from "'},'target':{'element':'" to "'}" more "}"
#define NEXT ",'t':{'type':'AgentState','name':'next'}"

struct rule_row {
    const char *hub, *elements, *arcs;
    int rule;
    const char *words[4];
};

static const struct rule_row model_rules[] = {
    { "", ",'n':{'type':'AgentIntent','name':'HUB'}", "", 12, { "\"hub\"" } },
    { "", ",'n':{'type':'AgentIntent','name':'HUB '},'t':{'type':'AgentState','name':'x'}", "", 1, { "HUB" } },
    { "",
      NEXT,
      ARC("x", "s", "t", ",'predefinedType':'when_intent_matched','intentName':' ghost '"),
      13,
      { "\"hub\"", "\"next\"", "\"ghost\"", "\"T\"" } },
    { "", ",'x':{'type':'AgentTool','name':'t','code':' '}", "", 14, { "\"t\"" } },
    { "", ",'x':{'type':'AgentTool','name':'t','code':'x = 1'}", "", 15, { "\"t\"" } },
    { "", ",'x':{'type':'AgentTool','name':'t','code':'async def f(): pass'}", "", 15, { "\"t\"" } },
    { "", ",'x':{'type':'AgentTool','name':'t','code':'define (x)'}", "", 15, { "\"t\"" } },
    { "", ",'x':{'type':'AgentTool','name':'a.b','code':'def f(): pass'}", "", 16, { "\"a.b\"" } },
    { "", ",'x':{'type':'AgentSkill','name':'k','content':' \\n'}", "", 17, { "\"k\"" } },
    { "", ",'x':{'type':'AgentWorkspace','name':'w','path':' '}", "", 18, { "\"w\"" } },
    { "", ",'x':{'type':'AgentWorkspace','name':'w','path':'p','max_read_bytes':-1}", "", 19, { "\"w\"", "-1" } },
    { ",'stateType':'reasoning','max_steps':0", "", "", 20, { "\"hub\"" } },
    { ",'stateType':'reasoning','llm_name':'ghost'", "", "", 22, { "\"hub\"", "\"ghost\"", "\"T\"" } },
    { ",'actions':['x']",
      ",'x':{'replyType':'llm','llm_name':'ghost'}",
      "",
      22,
      { "\"hub\", body", "LLM reply", "\"ghost\"", "\"T\"" } },
    { ",'fallbackActions':['x']",
      ",'x':{'replyType':'llm_chat','llmName':'ghost'}",
      "",
      22,
      { "fallback body", "LLM chat", "\"ghost\"" } },
    { ",'actions':['x']", ",'x':{'replyType':'db_reply','llm_name':'ghost'}", "", 22, { "database", "\"ghost\"" } },
    { "", ",'x':{'type':'AgentRagElement','name':'docs','llm_name':'ghost'}", "", 22, { "\"docs\"", "\"ghost\"" } },
    { ",'actions':['x']",
      ",'x':{'replyType':'gui_reply','guiId':'ghost'}",
      "",
      23,
      { "\"hub\", body", "\"ghost\"", "\"T\"" } },
    { ",'actions':['x']",
      ",'x':{'replyType':'web_crawl_llm','initial_url':'u','llm_name':'ghost'}",
      "",
      24,
      { "\"hub\"", "\"ghost\"" } },
    { ",'actions':['x']",
      ",'x':{'replyType':'web_crawl_llm','initial_url':'u','crawl_format':'HTML'}",
      "",
      24,
      { "\"hub\"", "\"HTML\"" } },
    { "", NEXT, ARC("x", "s", "t", ",'predefinedType':'auto'") ARC("y", "s", "s", ""), 25, { "\"hub\"", "\"next\"" } },
    /* what is fine */
    { "", ",'n':{'type':'AgentIntent','name':'HUBS'}", "", 0, { NULL } },
    { "", NEXT, ARC("x", "s", "s", "") ARC("y", "s", "t", ",'predefinedType':'auto'"), 0, { NULL } },
    { ",'actions':['x']", ",'x':{'replyType':'db_reply','dbQueryMode':'sql','llm_name':'ghost'}", "", 0, { NULL } },
    { ",'actions':['x']", ",'x':{'replyType':'llm','llm_name':' '}", "", 0, { NULL } },
    { ",'actions':['x']",
      ",'x':{'replyType':'llm','llm_name':'cafe\\u0301'},'l':{'type':'AgentLLM','name':'caf\\u00e9'}",
      "",
      0,
      { NULL } },
    { "",
      ",'x':{'type':'AgentTool','name':'t','description':'d','code':'import x\\n  def  \\u00e9t (a): pass'}",
      "",
      0,
      { NULL } },
};

static void judge(const struct rule_row *row, struct python_parser *parser, struct read_result *r)
{
    read_parts(row->hub, row->elements, row->arcs, parser, r);
    if (r->rc < 0)
        return;
    assert_int_equal(diagram_check(&r->model, &r->findings, &r->err), 0);
    if (parser)
        assert_int_equal(diagram_check_program(&r->model, true, parser, &r->findings, &r->err), 0);
}

static void expect(const struct rule_row *row, const struct read_result *r)
{
    const char *words[5] = { row->words[0], row->words[1], row->words[2], row->words[3], NULL };

    if (row->rule)
        assert_true(has_finding(&r->findings, row->rule, words));
    else
        assert_int_equal(r->findings.errors, 0);
}

static void each_rule_finds_its_fault_and_names_it(void **state)
{
    struct read_result r;
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(model_rules); i++) {
        judge(&model_rules[i], NULL, &r);
        if (!r.findings.errors && model_rules[i].rule)
            print_error("row %zu\n", i);
        expect(&model_rules[i], &r);
        read_result_release(&r);
    }
}

static void all_faults_are_reported_in_rule_order(void **state)
{
    static const int order[] = { 12, 12, 14, 17, 18, 19, 20, 22, 23 };
    const struct rule_row row = {
        ",'actions':['x','y']",
        ",'b':{'type':'AgentState','name':'Beta'},'a':{'type':'AgentState','name':'ALPHA'},"
        "'a2':{'type':'AgentState','name':'alpha'},'n1':{'type':'AgentIntent','name':'beta'},"
        "'n2':{'type':'AgentIntent','name':'Alpha'},'t':{'type':'AgentTool','name':'a.b','code':''},"
        "'k':{'type':'AgentSkill','name':'k'},'w':{'type':'AgentWorkspace','name':'w',"
        "'max_read_bytes':0},'z':{'type':'AgentReasoningState','name':'think','max_steps':'-3'},"
        "'x':{'replyType':'llm','llm_name':'g'},'y':{'replyType':'gui_reply','guiId':'g'}",
        "",
        0,
        { NULL }
    };
    struct read_result r;
    size_t i, n = 0;

    (void)state;
    judge(&row, NULL, &r);
    for (i = 0; i < r.findings.len; i++)
        if (r.findings.items[i].severity == FINDING_ERROR)
            assert_int_equal(r.findings.items[i].rule, order[n++]);
    assert_int_equal(n, ARRAY_LEN(order));
    assert_non_null(strstr(r.findings.items[0].message, "\"ALPHA\"")); /* sorted; first spelling */
    assert_non_null(strstr(r.findings.items[1].message, "\"Beta\""));
    read_result_release(&r);
}

static void missing_descriptions_are_only_warnings(void **state)
{
    struct read_result r;

    (void)state;
    read_parts("",
               ",'x':{'type':'AgentTool','name':'t','code':'def t(): pass'},"
               "'w':{'type':'AgentWorkspace','name':'w','path':'p','description':' '}",
               "", NULL, &r);
    assert_int_equal(diagram_check(&r.model, &r.findings, &r.err), 0);
    assert_int_equal(r.findings.errors, 0);
    assert_int_equal(r.findings.len, 2);
    assert_int_equal(r.findings.items[0].rule, 21);
    read_result_release(&r);
}

/* ---- phase C ---- */

#define CONDITION(code) ARC("x", "s", "t", ",'transitionType':'custom','custom':{'condition':['" code "']}")
#define CODE(code) ",'x':{'replyType':'code','name':'" code "'}"
#define TOOL(code) ",'x':{'type':'AgentTool','name':'tt','code':'" code "'}"

static const struct rule_row program_rules[] = {
    { "", ",'x':{'type':'AgentWorkspace','name':'w','path':'a/../../b'}", "", 27, { "\"w\"", "a/../../b" } },
    { "", ",'x':{'type':'AgentWorkspace','name':'w','path':'/'}", "", 27, { "\"w\"" } },
    { "", ",'x':{'type':'AgentWorkspace','name':'w','path':'/data/./x'}", "", 0, { NULL } },
    { ",'actions':['x']",
      CODE("def f(session):\\n  import os.path as p"),
      "",
      28,
      { "\"hub\", body", "os.path", "line 2" } },
    { ",'actions':['x']", CODE("def f(session):\\n  from .os import x"), "", 28, { "os" } },
    { ",'actions':['x']", CODE("def f(session):\\n  from . import os"), "", 0, { NULL } },
    { ",'actions':['x']", CODE("def f(session, x=open(1)): pass"), "", 28, { "open" } },
    { ",'actions':['x']", CODE("@eval(1)\\ndef f(session): pass"), "", 28, { "eval" } },
    { ",'actions':['x']", CODE("def f(session):\\n  session.open(1); osx = 1\\n  import osx"), "", 0, { NULL } },
    { ",'fallbackActions':['x']", CODE("def f(session): exec(1)"), "", 28, { "fallback body", "exec" } },
    { "", TOOL("def t(:"), "", 28, { "\"tt\"", "line 1" } },
    { "", TOOL("import os\\ndef t(): pass"), "", 28, { "\"tt\"", "\"os\"" } },
    { "", TOOL("\\ufeffdef t(): pass\\ndef u(): pass"), "", 28, { "\"tt\"", "FEFF" } },
    { "", TOOL("x = 1\\nclass A: pass\\ndef t(): pass"), "", 0, { NULL } },
    { "", NEXT, CONDITION("x = 1"), 29, { "\"hub\"", "\"next\"", "condition 1" } },
    { "", NEXT, CONDITION("async def f(s): pass"), 29, { "condition 1" } },
    { "", NEXT, CONDITION("def f(): pass"), 29, { "\"f\"" } },
    { "", NEXT, CONDITION("def f(a, b, c): pass"), 29, { "\"f\"" } },
    { "", NEXT, CONDITION("def f(a, *, b): pass"), 29, { "\"f\"" } },
    { "", NEXT, CONDITION("def f(a:"), 28, { "condition 1", "line 1" } },
    { "", NEXT, CONDITION("import socket\\ndef f(a): pass"), 28, { "\"hub\"", "socket" } },
};

static void each_rule_for_programs_finds_its_fault(void **state)
{
    struct python_parser *parser = test_parser();
    struct read_result r;
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(program_rules); i++) {
        judge(&program_rules[i], parser, &r);
        if ((r.findings.errors > 0) != (program_rules[i].rule > 0))
            print_error("row %zu: %s\n", i, r.findings.len ? r.findings.items[0].message : "");
        expect(&program_rules[i], &r);
        read_result_release(&r);
    }
    python_parser_free(parser);
}

static void conditions_learn_their_function(void **state)
{
    static const struct {
        const char *arc, *function;
        int parameters;
    } rows[] = {
        { CONDITION("def f(s): pass"), "f", 1 },
        { CONDITION("def f(s, p): pass"), "f", 2 },
        { CONDITION("def f(s, p=1): pass"), "f", 1 },
        { CONDITION("def f(s=1, p=1): pass"), "f", 1 },
        { CONDITION("def f(*a): pass"), "f", 1 },
        { CONDITION("def f(s, *, k=1): pass"), "f", 1 },
        { CONDITION("def f(s, /): pass"), "f", 1 },
        { CONDITION("def f(s): pass\\ndef g(): pass"), "f", 1 },
        { CONDITION("def g(): pass\\ndef condition_1_1(s, p): pass\\ndef h(): pass"), "condition_1_1", 2 },
        { CONDITION("def g(): pass\\ndef h(a, b, c): pass\\ndef is_late(s): pass\\ndef k(s): pass"), "is_late", 1 },
        { CONDITION("def g(s): pass\\ndef h(s, p): pass"), "g", 1 },
        { CONDITION("def g(): pass\\ndef h(): pass\\ndef g(s, p): pass"), "g", 2 },
        { CONDITION("def f(): pass\\ndef f(s, p): pass"), "f", 2 },
        { CONDITION("async def a(s): pass\\ndef f(s): pass"), "f", 1 },
        { CONDITION("    def f(s):\\n        pass\\n"), "f", 1 },
    };
    struct python_parser *parser = test_parser();
    struct read_result r;
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        const struct condition *c;

        judge(&(struct rule_row){ "", NEXT, rows[i].arc, 0, { NULL } }, parser, &r);
        assert_int_equal(r.findings.errors, 0);
        c = &r.model.states[0].transitions[0].conditions[0];
        assert_string_equal(c->function, rows[i].function);
        assert_int_equal(c->parameters, rows[i].parameters);
        read_result_release(&r);
    }
    python_parser_free(parser);
}

static void an_agent_needs_a_state(void **state)
{
    struct python_parser *parser = test_parser();
    struct read_result r;

    (void)state;
    read_quoted("{}", parser, &r);
    assert_int_equal(diagram_check(&r.model, &r.findings, &r.err), 0);
    assert_int_equal(r.findings.errors, 0);
    assert_int_equal(diagram_check_program(&r.model, true, parser, &r.findings, &r.err), 0);
    assert_true(HAS_FINDING(&r.findings, 29, "Generated_Agent", "state"));
    read_result_release(&r);
    python_parser_free(parser);
}

static void warnings_say_what_a_session_will_lack(void **state)
{
    static const struct {
        const char *more, *config;
        bool session;
        const char *word; /* NULL: no warning */
    } rows[] = {
        { "'n':{'type':'AgentLLM','name':'m','provider':'huggingface'}", "", true, "transformers" },
        { "'n':{'type':'AgentLLM','name':'m','provider':'huggingface'}", "", false, NULL },
        { "'n':{'type':'AgentLLM','name':'m','provider':'huggingface_api'}", "", true, NULL },
        { "'n':{'type':'AgentIntent','name':'n'}", "'intentRecognitionTechnology':'classical'", true, "PyTorch" },
        { "'n':{'type':'AgentIntent','name':'n'}", "'intentRecognitionTechnology':'classical'", false, NULL },
        { "'n':{'type':'AgentIntent','name':'n'}", "'llm':{'model':'m'}", true, NULL },
        { "'x':{'replyType':'ws_speech','ws_message':'hi'}", "", false, "\"hub\"" },
        { "'x':{'replyType':'ws_speech','ws_message':'hi'}", "'outputModalities':['Speech']", true, NULL },
    };
    struct python_parser *parser = test_parser();
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        struct read_result r;
        struct buf b;

        buf_init(&b, 1u << 20);
        buf_add_fmt(&b,
                    "{'title':'T','config':{%s},'model':{'elements':{'i':{'type':'StateInitialNode'},"
                    "'s':{'type':'AgentState','name':'hub','actions':['x']},%s},'relationships':{"
                    "'r':{'type':'AgentStateTransitionInit','source':{'element':'i'},'target':{'element':'s'}}" ARC(
                        "t", "s", "s", ",'predefinedType':'when_intent_matched','intentName':'n'") "}}}",
                    rows[i].config, rows[i].more);
        read_quoted(b.data, parser, &r);
        assert_int_equal(r.rc, 0);
        assert_int_equal(diagram_check_program(&r.model, rows[i].session, parser, &r.findings, &r.err), 0);
        assert_int_equal(r.findings.errors, 0);
        assert_int_equal(r.findings.len, rows[i].word ? 1 : 0);
        if (rows[i].word)
            assert_non_null(strstr(r.findings.items[0].message, rows[i].word));
        read_result_release(&r);
        buf_release(&b);
    }
    python_parser_free(parser);
}

static void a_parser_that_fails_is_no_verdict(void **state)
{
    struct python_parser *parser = NULL;
    struct read_result r;

    (void)state;
    assert_int_equal(python_parser_new("/nowhere/parser", &parser, NULL), 0);
    read_parts(",'actions':['x']", CODE("def f(session): pass"), "", parser, &r);
    assert_int_equal(r.rc, -1);
    assert_int_equal(r.findings.errors, 0);
    assert_int_not_equal(r.err.kind, ERR_NONE);
    read_result_release(&r);
    read_parts(",'actions':['x']", CODE("def f(session): pass"), "", NULL, &r);
    assert_int_equal(r.rc, 0);
    assert_int_equal(diagram_check_program(&r.model, true, parser, &r.findings, &r.err), -1);
    assert_int_not_equal(r.err.kind, ERR_NONE);
    read_result_release(&r);
    python_parser_free(parser);
}

static void events_are_listed_once_in_order(void **state)
{
    static const char *const names[] = { "ReceiveFileEvent", "ReceiveTextEvent", "GUIEvent" };
    struct str_list l = { 0 };
    struct read_result r;
    size_t i;

    (void)state;
    read_parts("", NEXT,
               ARC("a", "t", "s", "") ARC("b", "s", "t", ",'predefinedType':'when_file_received'")
                   ARC("c", "s", "t", ",'transitionType':'custom','event':'ReceiveTextEvent'")
                       ARC("e", "t", "t", ",'predefinedType':'when_form_submitted'")
                           ARC("d", "s", "t", ",'predefinedType':'auto'"),
               NULL, &r);
    assert_int_equal(r.rc, 0);
    assert_int_equal(diagram_event_list(&r.model, &l), 0);
    assert_int_equal(l.len, 3);
    for (i = 0; i < l.len; i++)
        assert_string_equal(l.items[i], names[i]);
    str_list_release(&l);
    OOM_SWEEP({
        struct str_list again = { 0 };

        assert_true(diagram_event_list(&r.model, &again) == 0 || oom_hit());
        str_list_release(&again);
    });
    read_result_release(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_rule_finds_its_fault_and_names_it),
        cmocka_unit_test(all_faults_are_reported_in_rule_order),
        cmocka_unit_test(missing_descriptions_are_only_warnings),
        cmocka_unit_test(each_rule_for_programs_finds_its_fault),
        cmocka_unit_test(conditions_learn_their_function),
        cmocka_unit_test(an_agent_needs_a_state),
        cmocka_unit_test(warnings_say_what_a_session_will_lack),
        cmocka_unit_test(a_parser_that_fails_is_no_verdict),
        cmocka_unit_test(events_are_listed_once_in_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
