/* Transitions in every spelling: shared/diagram/read_transitions.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "shared/base/mem.h"
#include "tests/support/diagram.h"

#define ENDS "'type':'AgentStateTransition','source':{'element':'s'},'target':{'element':'t'}"
#define MORE \
    ",'t':{'type':'AgentState','name':'next'},'n':{'type':'AgentIntent','name':'Order_Pizza'}," \
    "'m':{'type':'AgentIntent','name':'fallback_intent'},'k':{'type':'Comments','name':'c'}"

static void read_arc(const char *members, struct read_result *r)
{
    char arcs[1200];

    snprintf(arcs, sizeof(arcs), ",'x':{" ENDS "%s}", members);
    read_parts("", MORE, arcs, NULL, r);
}

static void every_spelling_gives_its_kind(void **state)
{
    static const struct {
        const char *members;
        enum transition_kind kind;
    } rows[] = {
        { "", TRANSITION_NO_INTENT },
        { ",'predefinedType':'something_new'", TRANSITION_NO_INTENT },
        { ",'predefinedType':'auto'", TRANSITION_AUTO },
        { ",'condition':'auto'", TRANSITION_AUTO },
        { ",'predefined':{'predefinedType':'auto'},'predefinedType':'when_no_intent_matched'", TRANSITION_AUTO },
        { ",'transitionType':'predefined','predefined':{'predefinedType':'auto'},"
          "'custom':{'event':'DummyEvent'}",
          TRANSITION_AUTO },
        { ",'transitionType':'nonsense','custom':{'event':'DummyEvent'}", TRANSITION_NO_INTENT },
        { ",'transitionType':'custom','custom':{'event':'DummyEvent'}", TRANSITION_CUSTOM },
        { ",'transitionType':'custom','event':'DummyEvent'", TRANSITION_CUSTOM },
        { ",'transitionType':'custom','customEvent':'DummyEvent'", TRANSITION_CUSTOM },
        { ",'transitionType':'custom','conditionValue':{'events':['DummyEvent'],'conditions':[]}", TRANSITION_CUSTOM },
        { ",'condition':'custom_transition','customEvent':'DummyEvent'", TRANSITION_CUSTOM },
        { ",'transitionType':'predefined','condition':'custom_transition','event':'DummyEvent'", TRANSITION_CUSTOM },
        { ",'predefinedType':'custom_transition','conditionValue':{'event':'DummyEvent'},"
          "'custom':{'event':'None','condition':[]}",
          TRANSITION_CUSTOM },
        { ",'predefined':{'predefinedType':'custom_transition','conditionValue':{'events':[' ',"
          "'DummyEvent','GUIEvent']}}",
          TRANSITION_CUSTOM },
        { ",'condition':'custom_transition','custom':{'event':'DummyEvent'}", TRANSITION_AUTO },
        { ",'transitionType':'custom'", TRANSITION_AUTO },
        { ",'transitionType':'custom','custom':{'event':'None','condition':[]}", TRANSITION_AUTO },
        { ",'transitionType':'custom','custom':{'event':'Strange'}", TRANSITION_AUTO },
        { ",'transitionType':'custom','custom':{'event':' DummyEvent'}", TRANSITION_AUTO },
        { ",'transitionType':'custom','custom':null,'predefined':7", TRANSITION_AUTO },
        { ",'predefinedType':'when_file_received'", TRANSITION_FILE },
        { ",'predefinedType':'when_form_submitted'", TRANSITION_FORM },
        { ",'predefinedType':'when_intent_matched','intentName':'Order_Pizza'", TRANSITION_INTENT },
        { ",'condition':'when_intent_matched','conditionValue':'Order_Pizza'", TRANSITION_INTENT },
        { ",'predefined':{'predefinedType':'when_intent_matched','conditionValue':'?'},'conditionValue':'Order_Pizza'",
          TRANSITION_INTENT },
        { ",'predefinedType':'when_intent_matched','intentName':'fallback_intent'", TRANSITION_NO_INTENT },
        { ",'predefinedType':'when_intent_matched','intentName':' FALLBACK_intent'", TRANSITION_NO_INTENT },
    };
    struct read_result r;
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        read_arc(rows[i].members, &r);
        assert_int_equal(r.rc, 0);
        assert_int_equal(r.model.states[0].transitions_len, 1);
        assert_int_equal(r.model.states[0].transitions[0].kind, rows[i].kind);
        assert_int_equal(r.model.states[0].transitions[0].target, 1);
        assert_string_equal(r.model.states[0].transitions[0].where, "model.relationships.x");
        if (rows[i].kind == TRANSITION_CUSTOM)
            assert_int_equal(r.model.states[0].transitions[0].event, EVENT_DUMMY);
        read_result_release(&r);
    }
}

static void intents_are_found_trimmed_and_folded(void **state)
{
    static const struct {
        const char *name;
        size_t intent;
    } rows[] = { { "'Order_Pizza'", 0 }, { "' order_PIZZA\\n'", 0 }, { "'nothing'", MODEL_NONE } };
    struct read_result r;
    char members[200];
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        snprintf(members, sizeof(members), ",'predefined':{'predefinedType':'when_intent_matched','intentName':%s}",
                 rows[i].name);
        read_arc(members, &r);
        assert_int_equal(r.model.states[0].transitions[0].intent, rows[i].intent);
        read_result_release(&r);
    }
}

static void transitions_that_say_nothing_are_dropped_with_a_warning(void **state)
{
    static const char *const rows[] = {
        ",'predefinedType':'when_intent_matched'",
        ",'predefinedType':'when_intent_matched','intentName':'  '",
        ",'predefinedType':'when_intent_matched','intentName':5",
        (",'predefinedType':'when_variable_operation_matched','conditionValue':{'variable':'a',"
         "'operator':'~'}"),
    };
    struct read_result r;
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        read_arc(rows[i], &r);
        assert_int_equal(r.rc, 0);
        assert_int_equal(r.model.states[0].transitions_len, 0);
        assert_int_equal(r.findings.len, 1);
        assert_int_equal(r.findings.items[0].severity, FINDING_WARNING);
        read_result_release(&r);
    }
}

static void comparisons_keep_the_type_of_their_value(void **state)
{
    static const struct {
        const char *members;
        enum compare_op op;
        enum value_kind kind;
    } rows[] = {
        { ",'predefined':{'conditionValue':{'variable':'a','operator':'<','targetValue':3}}", COMPARE_LT, VALUE_INT },
        { ",'predefined':{'conditionValue':{'variable':'a','operator':'!=','targetValue':2.5}}", COMPARE_NE,
          VALUE_DOUBLE },
        { ",'predefined':{'conditionValue':{'variable':'a','operator':'==','targetValue':'3'}}", COMPARE_EQ,
          VALUE_STRING },
        { ",'conditionValue':{'variable':'a','operator':'>=','targetValue':true}", COMPARE_GE, VALUE_BOOL },
        { ",'variable':'a','operator':'>','targetValue':null", COMPARE_GT, VALUE_NULL },
        { ",'variable':'a','operator':'<=','targetValue':1e999", COMPARE_LE, VALUE_NULL },
        { ",'variable':'a','operator':'<=','conditionValue':''", COMPARE_LE, VALUE_NULL },
    };
    char members[400];
    struct read_result r;
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        const struct transition *t;

        snprintf(members, sizeof(members), ",'predefinedType':'when_variable_operation_matched'%s", rows[i].members);
        read_arc(members, &r);
        assert_int_equal(r.rc, 0);
        t = &r.model.states[0].transitions[0];
        assert_int_equal(t->kind, TRANSITION_VARIABLE);
        assert_string_equal(t->variable, "a");
        assert_int_equal(t->op, rows[i].op);
        assert_int_equal(t->target_value.kind, rows[i].kind);
        read_result_release(&r);
    }
}

static void incomplete_comparisons_become_no_intent(void **state)
{
    static const char *const rows[] = { "'points > 3'", "{'variable':'','operator':'<'}", "{'variable':'a'}", "[]",
                                        "null" };
    char members[300];
    struct read_result r;
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        snprintf(members, sizeof(members), ",'predefinedType':'when_variable_operation_matched','conditionValue':%s",
                 rows[i]);
        read_arc(members, &r);
        assert_int_equal(r.model.states[0].transitions[0].kind, TRANSITION_NO_INTENT);
        read_result_release(&r);
    }
}

static void file_types_are_mapped_word_by_word(void **state)
{
    static const char *const types[] = { "application/pdf", "text/csv", "image/webp", "image/jpeg", "Odd" };
    struct read_result r;
    const struct str_list *l;
    size_t i;

    (void)state;
    read_arc(",'predefined':{'predefinedType':'when_file_received','fileType':'PDF, csv,,image/webp "
             ", jpeg,Odd'}",
             &r);
    l = &r.model.states[0].transitions[0].file_types;
    assert_int_equal(l->len, 5);
    for (i = 0; i < 5; i++)
        assert_string_equal(l->items[i], types[i]);
    read_result_release(&r);
    read_arc(",'condition':'when_file_received','conditionValue':['pdf']", &r);
    assert_int_equal(r.model.states[0].transitions[0].file_types.len, 0);
    read_result_release(&r);
}

static void conditions_are_numbered_over_the_whole_diagram(void **state)
{
    struct read_result r;
    const struct transition *t;

    (void)state;
    read_parts("", MORE,
               ",'a':{" ENDS ",'predefinedType':'when_intent_matched'}" /* dropped: does not count */
               ",'b':{'type':'AgentStateTransition','source':{'element':'s'},'target':{'element':'?'}}"
               ",'c':{" ENDS ",'predefinedType':'when_no_intent_matched'}"
               ",'d':{" ENDS ",'transitionType':'custom','custom':{'event':'ReceiveTextEvent',"
               "'condition':['  def f(s):\\n    pass\\n',' ',5,'def g(s): pass']}}",
               NULL, &r);
    assert_int_equal(r.rc, 0);
    assert_int_equal(r.model.states[0].transitions_len, 2);
    t = &r.model.states[0].transitions[1];
    assert_int_equal(t->conditions_len, 2);
    assert_string_equal(t->conditions[0].label, "condition_2_1");
    assert_string_equal(t->conditions[0].source, "def f(s):\n  pass\n");
    assert_string_equal(t->conditions[1].label, "condition_2_2");
    assert_int_equal(t->event, EVENT_RECEIVE_TEXT);
    read_result_release(&r);
}

static void the_first_list_of_conditions_counts_even_when_empty(void **state)
{
    struct read_result r;

    (void)state;
    read_arc(",'transitionType':'custom','custom':{'event':'DummyEvent','condition':[]},"
             "'conditions':['def f(s): pass']",
             &r);
    assert_int_equal(r.model.states[0].transitions[0].conditions_len, 0);
    read_result_release(&r);
    read_arc(",'transitionType':'custom','custom':{'condition':'x'},"
             "'customConditions':['def f(s): pass']",
             &r);
    assert_int_equal(r.model.states[0].transitions[0].conditions_len, 1);
    assert_int_equal(r.model.states[0].transitions[0].event, EVENT_NONE);
    read_result_release(&r);
    read_arc(",'transitionType':'custom','conditionValue':{'events':[],'conditions':['def f(s): "
             "pass']}",
             &r);
    assert_int_equal(r.model.states[0].transitions[0].conditions_len, 1);
    read_result_release(&r);
}

static void gui_events_and_forms_keep_their_id(void **state)
{
    static const struct {
        const char *said, *kept;
    } rows[] = {
        { "dial", "dial" }, { " dial\\t", "dial" }, { "di\\u0001al", "dial" },
        { "Dial", "Dial" }, { " x ", " x " },       { "  ", "  " },
    };
    struct read_result r;
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        char arcs[600];

        snprintf(arcs, sizeof(arcs),
                 ",'x':{" ENDS ",'transitionType':'custom','custom':{'event':'GUIEvent','guiEventGuiId':'%s'}},"
                 "'y':{" ENDS ",'predefinedType':'when_form_submitted','formGuiId':'%s'}",
                 rows[i].said, rows[i].said);
        read_parts("", MORE ",'g':{'type':'AgentGUI','gui_id':' dial'}", arcs, NULL, &r);
        assert_string_equal(r.model.states[0].transitions[0].gui_id, rows[i].kept);
        assert_string_equal(r.model.states[0].transitions[1].form_id, rows[i].kept);
        read_result_release(&r);
    }
    read_arc(",'transitionType':'custom','event':'GUIEvent','guiEventGuiId':'dial'", &r);
    assert_string_equal(r.model.states[0].transitions[0].gui_id, "dial");
    read_result_release(&r);
    read_arc(",'predefinedType':'when_form_submitted','formGuiId':'f'", &r);
    assert_string_equal(r.model.states[0].transitions[0].form_id, "f");
    read_result_release(&r);
    read_arc(",'predefined':{'predefinedType':'when_form_submitted','formGuiId':''}", &r);
    assert_null(r.model.states[0].transitions[0].form_id);
    read_result_release(&r);
}

static void an_intent_leaves_a_state_once(void **state)
{
    struct read_result r;

    (void)state;
    read_parts("", MORE,
               ",'a':{" ENDS ",'predefinedType':'when_intent_matched','intentName':'Order_Pizza'},"
               "'b':{" ENDS ",'predefinedType':'when_intent_matched','intentName':'ORDER_pizza'}",
               NULL, &r);
    assert_int_equal(r.rc, -1);
    assert_true(HAS_FINDING(&r.findings, 7, "hub", "Order_Pizza"));
    assert_string_equal(r.findings.items[0].where, "model.relationships.b");
    read_result_release(&r);
    read_parts("", MORE,
               ",'a':{" ENDS ",'predefinedType':'when_intent_matched','intentName':'Order_Pizza'},"
               "'b':{'type':'AgentStateTransition','source':{'element':'t'},'target':{'element':'s'},"
               "'predefinedType':'when_intent_matched','intentName':'Order_Pizza'}",
               NULL, &r);
    assert_int_equal(r.rc, 0);
    read_result_release(&r);
}

static void what_is_not_understood_is_told(void **state)
{
    static const struct {
        const char *members, *said;
    } rows[] = {
        { "", NULL },
        { ",'transitionType':'predefined','predefined':{'predefinedType':'auto'}", NULL },
        { ",'transitionType':'auto'", "State \"hub\": \"auto\" is no kind of transition" },
        { ",'predefinedType':'soon'", "State \"hub\": \"soon\" is no kind of transition" },
    };
    struct read_result r;
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        read_arc(rows[i].members, &r);
        assert_int_equal(r.findings.errors, 0);
        assert_int_equal(r.findings.len, rows[i].said ? 1 : 0);
        if (rows[i].said)
            assert_non_null(strstr(r.findings.items[0].message, rows[i].said));
        read_result_release(&r);
    }
    read_parts("", MORE, ",'x':{'type':'AgentStateTransition','source':{'element':'s'},'target':{'element':'k'}}", NULL,
               &r);
    assert_int_equal(r.findings.len, 1);
    assert_string_equal(r.findings.items[0].message, "Transition \"x\" is ignored: its target is no state");
    read_result_release(&r);
}

static void arcs_without_two_states_are_skipped(void **state)
{
    struct read_result r;

    (void)state;
    read_parts("", MORE,
               ",'a':{'type':'AgentStateTransition','source':{'element':'n'},'target':{'element':'s'}}"
               ",'b':{'type':'AgentStateTransition','source':{'element':'s'},'target':{'element':'k'}}"
               ",'c':{'type':'AgentStateTransition'},'d':{'type':'AgentStateTransition','source':"
               "{'element':5},'target':{'element':null}},'e':{'type':'Association','source':{'element':'s'},"
               "'target':{'element':'t'}}",
               NULL, &r);
    assert_int_equal(r.rc, 0);
    assert_int_equal(r.model.states[0].transitions_len, 0);
    read_result_release(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_spelling_gives_its_kind),
        cmocka_unit_test(intents_are_found_trimmed_and_folded),
        cmocka_unit_test(transitions_that_say_nothing_are_dropped_with_a_warning),
        cmocka_unit_test(comparisons_keep_the_type_of_their_value),
        cmocka_unit_test(incomplete_comparisons_become_no_intent),
        cmocka_unit_test(file_types_are_mapped_word_by_word),
        cmocka_unit_test(conditions_are_numbered_over_the_whole_diagram),
        cmocka_unit_test(the_first_list_of_conditions_counts_even_when_empty),
        cmocka_unit_test(gui_events_and_forms_keep_their_id),
        cmocka_unit_test(an_intent_leaves_a_state_once),
        cmocka_unit_test(what_is_not_understood_is_told),
        cmocka_unit_test(arcs_without_two_states_are_skipped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
