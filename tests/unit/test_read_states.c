/* States, bodies, comments: shared/diagram/read_states.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "shared/base/mem.h"
#include "tests/support/diagram.h"

static void the_initial_state_comes_first(void **state)
{
    struct read_result r;

    (void)state;
    read_quoted("{'model':{'elements':{'a':{'type':'AgentState','name':'a'},'b':{'type':'AgentState',"
                "'name':'b'},'c':{'type':'AgentState','name':'c'},'i':{'type':'StateInitialNode'}},"
                "'relationships':{'1':{'type':'AgentStateTransition','source':{'element':'i'},"
                "'target':{'element':'c'}},'2':{'type':'AgentStateTransitionInit','source':{'element':"
                "'i'},'target':{'element':'b'}}}}}",
                NULL, &r);
    assert_int_equal(r.rc, 0);
    assert_string_equal(r.model.states[0].name, "b"); /* by elements, not by arcs */
    assert_true(r.model.states[0].initial);
    assert_string_equal(r.model.states[1].name, "a");
    assert_false(r.model.states[1].initial);
    assert_string_equal(r.model.states[2].name, "c");
    read_result_release(&r);
}

static void states_need_an_initial_one(void **state)
{
    static const char *const arcs[] = {
        "{}",
        "{'1':{'type':'Link','source':{'element':'i'},'target':{'element':'a'}}}",
        "{'1':{'type':'AgentStateTransition','source':{'element':'a'},'target':{'element':'a'}}}",
        "{'1':{'type':'AgentStateTransition','source':{'element':'i'},'target':{'element':'i'}}}",
    };
    struct read_result r;
    char json[400];
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(arcs); i++) {
        snprintf(json, sizeof(json),
                 "{'model':{'elements':{'a':{'type':'AgentState','name':'a'},'i':{'type':"
                 "'StateInitialNode'}},'relationships':%s}}",
                 arcs[i]);
        read_quoted(json, NULL, &r);
        assert_int_equal(r.rc, -1);
        assert_int_equal(r.findings.items[0].rule, 6);
        read_result_release(&r);
    }
}

static void lists_of_actions_are_final_when_present(void **state)
{
    static const struct {
        const char *members;
        size_t body, fallback;
    } rows[] = {
        { "", 0, 0 },
        { ",'actions':['x','x'],'bodies':['y']", 2, 0 },
        { ",'actions':[],'bodies':['x']", 0, 0 },
        { ",'bodies':['x'],'fallbackBodies':['x','y']", 1, 2 },
        { ",'actions':['ghost','odd',5,null]", 0, 0 },
        { ",'actions':'x'", 0, 0 },
        { ",'actions':null,'bodies':['x']", 0, 0 },
        { ",'fallbackActions':['x'],'fallbackBodyEnabled':true", 0, 1 },
        { ",'fallbackActions':['x'],'fallbackBodyEnabled':false", 0, 0 },
        { ",'fallbackActions':['x'],'fallbackBodyEnabled':'false'", 0, 1 },
        { ",'fallbackActions':[],'fallbackBodies':['x']", 0, 0 },
    };
    struct read_result r;
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        read_parts(rows[i].members,
                   ",'x':{'actionType':'TextReplyAction','name':'x'},'y':{'replyType':'text'},"
                   "'odd':{'actionType':'TeleportAction','replyType':'text'}",
                   "", NULL, &r);
        assert_int_equal(r.rc, 0);
        assert_int_equal(r.model.states[0].body.len, rows[i].body);
        assert_int_equal(r.model.states[0].fallback.len, rows[i].fallback);
        assert_int_equal(r.model.states[0].has_body, rows[i].body > 0);
        assert_int_equal(r.model.states[0].has_fallback, rows[i].fallback > 0);
        read_result_release(&r);
    }
}

static void reasoning_states_have_settings_and_no_body(void **state)
{
    struct read_result r;
    const struct state *s = NULL;

    (void)state;
    read_parts(",'stateType':'reasoning','actions':['x'],'llm':' fast ','max_steps':'3',"
               "'enable_task_planning':0,'system_prompt':'p','fallback_message':''",
               ",'x':{'replyType':'text'},'y':{'type':'AgentReasoningState','name':'old','llm_name':5,"
               "'max_steps':null,'stream_steps':false}",
               "", NULL, &r);
    assert_int_equal(r.rc, 0);
    s = &r.model.states[0];
    assert_true(s->reasoning);
    assert_false(s->has_body);
    assert_string_equal(s->llm_name, "fast");
    assert_int_equal(s->max_steps, 3);
    assert_false(s->task_planning);
    assert_true(s->stream_steps);
    assert_string_equal(s->system_prompt, "p");
    assert_null(s->fallback_message);
    s = &r.model.states[1];
    assert_true(s->reasoning);
    assert_null(s->llm_name);
    assert_int_equal(s->max_steps, 8);
    assert_false(s->stream_steps);
    read_result_release(&r);
}

static void comments_describe_what_they_are_linked_to(void **state)
{
    struct read_result r;

    (void)state;
    read_parts("",
               ",'t':{'type':'AgentState','name':'next'},'k1':{'type':'Comments','name':'one'},"
               "'k2':{'type':'Comments','name':'two'},'k3':{'type':'Comments','name':'free'},"
               "'k4':{'type':'Comments','name':'far'},'k5':{'type':'Comments'},"
               "'n':{'type':'AgentIntent','name':'in'}",
               ",'2':{'type':'Link','source':{'element':'k2'},'target':{'element':'s'}},"
               "'1':{'type':'Link','source':{'element':'s'},'target':{'element':'k1'}},"
               "'3':{'type':'Link','source':{'element':'k1'},'target':{'element':'t'}},"
               "'5':{'type':'Link','source':{'element':'k1'},'target':{'element':'t'}},"
               "'4':{'type':'Link','source':{'element':'n'},'target':{'element':'k4'}}",
               NULL, &r);
    assert_int_equal(r.rc, 0);
    assert_string_equal(r.model.states[0].description, "one\ntwo");
    assert_string_equal(r.model.states[1].description, "one");
    assert_string_equal(r.model.description, "free\nfar");
    read_result_release(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_initial_state_comes_first),
        cmocka_unit_test(states_need_an_initial_one),
        cmocka_unit_test(lists_of_actions_are_final_when_present),
        cmocka_unit_test(reasoning_states_have_settings_and_no_body),
        cmocka_unit_test(comments_describe_what_they_are_linked_to),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
