#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "shared/base/buf.h"
#include "shared/base/mem.h"
#include "shared/buml/export.h"
#include "shared/buml/write.h"
#include "shared/buml/writer.h"
#include "shared/diagram/read.h"
#include "shared/json/json.h"
#include "tests/support/diagram.h"
#include "tests/support/gui.h"
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

/* The text of a request made by read_parts(), with its code judged; mem_free(). */
static char *text_of(struct python_parser *parser, const char *hub, const char *elements, const char *arcs)
{
    struct read_result r;
    struct err err = { 0 };
    auto_buf struct buf out;

    buf_init(&out, SIZE_MAX / 2);
    read_parts(hub, elements, arcs, parser, &r);
    if (r.rc < 0)
        fail_msg("%s", r.findings.len ? r.findings.items[r.findings.len - 1].message : r.err.msg);
    if (buml_judge_conditions(&r.model, parser, &err) < 0 || buml_write(&r.model, &out, &err) < 0)
        fail_msg("%s", err.msg);
    read_result_release(&r);
    return buf_steal(&out, NULL);
}

static void the_smallest_file(void **state)
{
    auto_free char *text = text_of(*state, "", "", "");
    static const char end[] = "import operator\n\nagent = Agent('T')\n\ndefault_llm = None\n\n"
                              "hub = agent.new_state('hub', initial=True)\n";
    static const char head[] =
        BUML_VERSION_COMMENT "###############\n# AGENT MODEL #\n###############\nimport datetime\n"
                             "from besser.BUML.metamodel.state_machine.state_machine import (\n"
                             "    Body,\n    Condition,\n    ConfigProperty,\n"
                             "    CustomCodeAction,\n)\n";

    assert_memory_equal(text, head, sizeof(head) - 1);
    assert_string_equal(text + strlen(text) - strlen(end), end);
}

static void names_that_are_equal_when_safe_stay_apart(void **state)
{
    auto_free char *text = text_of(*state, "",
                                   ",'b':{'type':'AgentState','name':'Go.x'},'c':{'type':'AgentState','name':'Go_x'},"
                                   "'d':{'type':'AgentState','name':'agent'},'e':{'type':'AgentState','name':'2nd'},"
                                   "'f':{'type':'AgentState','name':'class'},'g':{'type':'AgentState','name':'gpt'},"
                                   "'h':{'type':'AgentIntent','name':'hub_body'},'l':{'type':'AgentLLM','name':'gpt'},"
                                   "'m':{'type':'AgentLLM','name':'LLM'}",
                                   "");

    assert_has(text, "go_x = agent.new_state('Go.x')\n");
    assert_has(text, "go_x_2 = agent.new_state('Go_x')\n");
    assert_has(text, "agent_2 = agent.new_state('agent')\n");
    assert_has(text, "n_2nd = agent.new_state('2nd')\n");
    assert_has(text, "class_ = agent.new_state('class')\n");
    assert_has(text, "gpt = agent.new_state('gpt')\n");
    assert_has(text, "gpt_2 = agent.new_llm(name='gpt', provider='openai', parameters={})\n");
    assert_has(text, "llm_llmopenai = agent.new_llm(name='LLM', provider='openai', parameters={})\n");
    assert_has(text, "agent.set_default_llm('gpt')\n");
}

#define CODE(id, source) ",'" id "':{'actionType':'CustomCodeAction','name':'" source "'}"

static void a_function_alone_stands_as_code(void **state)
{
    auto_free char *text = text_of(
        *state, ",'actions':['a'],'fallbackActions':['b']",
        CODE("a", "def act(session: AgentSession) -> None:\\n    x(1)") CODE("b", "def act(session):\\n    pass"), "");

    assert_has(text, "\n\n\ndef act(session: AgentSession) -> None:\n    x(1)\n\n\n"
                     "CustomCodeAction_hub = CustomCodeAction(callable=act)\nhub_body = Body('hub_body')\n"
                     "hub_body.add_action(CustomCodeAction_hub)\nhub.set_body(hub_body)\n");
    assert_has(text, "    AgentSession,\n");
    assert_has(text, "hub_fallback_body.add_action(CustomCodeAction(source='def act(session):\\n    pass'))\n"
                     "hub.set_fallback_body(hub_fallback_body)\n");
}

static void code_among_other_actions_keeps_its_place(void **state)
{
    auto_free char *text =
        text_of(*state, ",'actions':['t','a','u']",
                CODE("a", "def act(session):\\n    pass") ",'t':{'actionType':'TextReplyAction','name':'one'},"
                                                          "'u':{'actionType':'TextReplyAction','name':'two'}",
                "");

    assert_has(text, "hub_body.add_action(AgentReply('one'))\n"
                     "hub_body.add_action(CustomCodeAction(source='def act(session):\\n    pass'))\n"
                     "hub_body.add_action(AgentReply('two'))\n");
}

#define ARC(more) ",'r9':{'type':'AgentStateTransition','source':{'element':'s'},'target':{'element':'s'}," more "}"
#define CUSTOM(conditions) ARC("'transitionType':'custom','custom':{'event':'None','condition':[" conditions "]}")

static void conditions_are_written_once_before_the_bodies(void **state)
{
    auto_free char *text = text_of(*state, "", "",
                                   CUSTOM("'def is_late(session):\\n    return True','lambda session: False',"
                                          "'def (','def is_late(session):\\n    return 1'"));

    assert_has(text, "\n\n\ndef is_late(session):\n    return True\n\n\n"
                     "condition_is_late = Condition('is_late', callable=is_late)\n"
                     "condition_1_2 = Condition('condition_1_2', source='lambda session: False')\n"
                     "condition_1_3 = Condition('condition_1_3', source='def (')\n"
                     "condition_1_4 = Condition('condition_1_4', source='def is_late(session):\\n    return 1')\n");
    assert_has(text,
               "\nhub.when_condition(condition_is_late).with_condition(condition_1_2).with_condition(condition_1_3)"
               ".with_condition(condition_1_4).go_to(hub)\n");
}

static void transitions_of_every_kind(void **state)
{
    static const struct {
        const char *arc, *text;
    } rows[] = {
        { ARC("'predefinedType':'when_intent_matched','intentName':'buy'"), "when_intent_matched(buy).go_to(hub)" },
        { ARC("'predefinedType':'when_no_intent_matched'"), "hub.when_no_intent_matched().go_to(hub)" },
        { ARC("'predefinedType':'when_variable_operation_matched','conditionValue':{'variable':'n','operator':'<',"
              "'targetValue':-5}"),
          "when_variable_matches_operation(var_name='n', operation=operator.lt, target=-5).go_to(hub)" },
        { ARC("'predefinedType':'when_file_received','fileType':'pdf'"), "when_file_received('application/pdf')." },
        { ARC("'predefinedType':'when_file_received','fileType':'pdf, x'"),
          "when_file_received(['application/pdf', 'x'])." },
        { ARC("'predefinedType':'when_file_received'"), "hub.when_file_received().go_to(hub)" },
        { ARC("'predefinedType':'when_form_submitted','formGuiId':'f'"), "when_form_submitted(form_id='f').go_to" },
        { ARC("'predefinedType':'when_form_submitted'"), "hub.when_form_submitted().go_to(hub)" },
        { ARC("'predefinedType':'auto'"), "\nhub.go_to(hub)\n" },
        { ARC("'transitionType':'custom','custom':{'event':'ReceiveMessageEvent'}"),
          "hub.when_event(ReceiveMessageEvent('')).go_to(hub)" },
        { ARC("'transitionType':'custom','custom':{'event':'GUIEvent','guiEventGuiId':'f'}"),
          "hub.when_event(GUIEvent(message_id='f')).go_to(hub)" },
        { ARC("'transitionType':'custom','custom':{'event':'DummyEvent','condition':['lambda s: 1']}"),
          "hub.when_event(DummyEvent()).with_condition(condition_1_1).go_to(hub)" },
        { ARC("'predefinedType':'when_intent_matched','intentName':'sell'"),
          "when_intent_matched(Intent('sell')).go_to(hub)" },
    };
    size_t i;

    for (i = 0; i < ARRAY_LEN(rows); i++) {
        auto_free char *text = text_of(*state, "", ",'n':{'type':'AgentIntent','name':'buy'}", rows[i].arc);

        assert_has(text, rows[i].text);
    }
}

static void settings_of_a_gui_without_reply_are_kept(void **state)
{
    auto_free char *text = text_of(*state, ",'actions':['a']",
                                   ",'a':{'actionType':'GUIReplyAction','guiId':'shown'},"
                                   "'g':{'type':'AgentGUI','gui_id':'shown','persist':false},"
                                   "'h':{'type':'AgentGUI','gui_id':'a b','is_form':true,'width':'9px'},"
                                   "'k':{'type':'AgentGUI','gui_id':'plain'}",
                                   "");

    assert_has(text, "\n\n\ndef _agent_gui_0_shown():\n");
    assert_has(text, "    return gui_model\n\n\nagent.add_gui_model('shown', _agent_gui_0_shown())\n");
    assert_has(text, "agent.add_gui_model('a b', _agent_gui_1_a_b())\n"
                     "gui_a_b = GUIReplyAction('a b', width='9px', is_form=True)\n");
    assert_has(text, "hub_body.add_action(GUIReplyAction('shown', persist=False))\n");
    assert_lacks(text, "gui_plain");
}

static void descriptions_follow_the_states(void **state)
{
    auto_free char *text = text_of(*state, "",
                                   ",'c':{'type':'Comments','name':'of \\\\ all'},"
                                   "'d':{'type':'Comments','name':'of hub'}",
                                   ",'k':{'type':'Link','source':{'element':'d'},'target':{'element':'s'}}");

    assert_has(text, "hub = agent.new_state('hub', initial=True)\n"
                     "hub.metadata = Metadata(description='of hub')\n"
                     "agent.metadata = Metadata(description='of \\x5c all')\n");
}

static void sections_have_their_own_header_and_variable(void **state)
{
    struct read_result r;
    struct err err = { 0 };
    auto_buf struct buf out;

    buf_init(&out, SIZE_MAX / 2);
    read_parts("", ",'b':{'type':'AgentState','name':'agent_7'},'c':{'type':'AgentState','name':'agent'}", "", *state,
               &r);
    assert_int_equal(buml_write_section(&r.model, &(struct buml_section){ "agent_2", "# mine #\n" }, &out, &err), 0);
    assert_memory_equal(out.data, "# mine #\nimport datetime\n", 25);
    assert_has(out.data, "agent_2 = Agent('T')\n");
    assert_has(out.data, "agent_7_2 = agent_2.new_state('agent_7')\n");
    assert_has(out.data, "\nagent = agent_2.new_state('agent')\n");
    read_result_release(&r);
}

static void what_can_stand_as_code(void **state)
{
    static const struct {
        const char *source, *function;
        bool annotated;
    } rows[] = {
        { "def f(session):\n    pass", "f", false },
        { "def f (session , x: int) -> bool : return x", "f", false },
        { "def f(session: Session):\n\treturn 1\n\n\treturn 2", "f", true },
        { "def f(session):\n    pass\n", "f", false },
        { "def f(session):\n    pass\n\n\n", "f", false },
        { "def f(session):\n    pass # why\n", NULL, false },
        { "def f(session):\n    pass # why", NULL, false },
        { "def f(session):\n    pass;", NULL, false },
        { "def f(session):\n    '''\nx'''", NULL, false },
        { "def f(session):\n    '\xc3\xa9'", NULL, false },
        { "def f(session=g()):\n    pass", NULL, false },
        { "def f(session: open('x')):\n    pass", NULL, false },
        { "def f(session) -> X:\n    pass", NULL, false },
        { "def f(session, *more):\n    pass", NULL, false },
        { "@d\ndef f(session):\n    pass", NULL, false },
        { "# first\ndef f(session):\n    pass", NULL, false },
        { "def _agent_gui_0(session):\n    pass", NULL, false },
        { "lambda s: 1", NULL, false },
        { "def f(session):\r\n    pass", NULL, false },
        { "", NULL, false },
        { "def f(", NULL, false },
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        auto_free char *function = NULL;
        bool annotated = false;

        assert_int_equal(buml_plain_function(rows[i].source, &function, &annotated), rows[i].function != NULL);
        assert_int_equal(annotated, rows[i].annotated);
        if (rows[i].function)
            assert_string_equal(function, rows[i].function);
    }
}

static void other_diagrams_are_refused_by_name(void **state)
{
    auto_free char *json = quoted("{'title':'T','model':{'type':'ClassDiagram'}}");
    cJSON *request = cJSON_Parse(json);
    struct findings f;
    struct err err = { 0 };
    auto_buf struct buf out;

    buf_init(&out, 1000);
    findings_init(&f);
    assert_int_equal(buml_export(request, *state, &out, &f, &err), -1);
    assert_int_equal(err.kind, ERR_BAD_REQUEST);
    assert_has(err.msg, "\"ClassDiagram\"");
    findings_release(&f);
    cJSON_Delete(request);
}

static void a_text_that_grows_too_large_is_refused(void **state)
{
    struct read_result r;
    struct err err = { 0 };
    auto_buf struct buf out;
    char *name;

    buf_init(&out, SIZE_MAX / 2);
    read_parts(",'actions':['a']", ",'a':{'actionType':'TextReplyAction','name':'x'}", "", *state, &r);
    name = mem_zalloc(BUML_TEXT_MAX + 1, 1);
    assert_non_null(name);
    memset(name, 'x', BUML_TEXT_MAX);
    mem_free(r.model.states[0].body.items[0].text);
    r.model.states[0].body.items[0].text = name;
    assert_int_equal(buml_write(&r.model, &out, &err), -1);
    assert_int_equal(err.kind, ERR_BAD_REQUEST);
    assert_int_equal(out.len, 0);
    read_result_release(&r);
}

static void short_memory_is_survived(void **state)
{
    struct read_result r;

    (void)state;
    read_parts(",'actions':['a','o'],'fallbackActions':['c']",
               ",'a':{'actionType':'GUIReplyAction','guiId':'g'},'g':{'type':'AgentGUI','gui_id':'g'},"
               "'o':{'actionType':'WebSocketReplyOptionsAction','ws_options':'a\\nb'},"
               "'l':{'type':'AgentLLM','name':'llm','parameters':{'b':1,'a':[2]}},"
               "'k':{'type':'AgentRagElement','name':'docs','embedding_provider':'ollama'},"
               "'n':{'type':'AgentIntent','name':'buy','bodies':['t']},'t':{'name':'buy it'}" CODE(
                   "c", "def act(session):\\n    pass"),
               CUSTOM("'def late(session):\\n    return True'"), *state, &r);
    assert_int_equal(r.rc, 0);
    r.model.states[0].transitions[0].conditions[0].function = mem_strdup("late");
    OOM_SWEEP({
        struct err err = { 0 };
        auto_buf struct buf out;

        buf_init(&out, SIZE_MAX / 2);
        if (buml_write(&r.model, &out, &err) < 0)
            assert_int_equal(out.len, 0);
        else
            assert_false(oom_hit());
    });
    read_result_release(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_smallest_file),
        cmocka_unit_test(names_that_are_equal_when_safe_stay_apart),
        cmocka_unit_test(a_function_alone_stands_as_code),
        cmocka_unit_test(code_among_other_actions_keeps_its_place),
        cmocka_unit_test(conditions_are_written_once_before_the_bodies),
        cmocka_unit_test(transitions_of_every_kind),
        cmocka_unit_test(settings_of_a_gui_without_reply_are_kept),
        cmocka_unit_test(descriptions_follow_the_states),
        cmocka_unit_test(sections_have_their_own_header_and_variable),
        cmocka_unit_test(what_can_stand_as_code),
        cmocka_unit_test(other_diagrams_are_refused_by_name),
        cmocka_unit_test(a_text_that_grows_too_large_is_refused),
        cmocka_unit_test(short_memory_is_survived),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
