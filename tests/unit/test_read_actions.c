/* The actions of a body: shared/diagram/read_actions.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "shared/base/mem.h"
#include "tests/support/diagram.h"

#define MORE \
    ",'g':{'type':'AgentGUI','gui_id':'card','persist':false,'width':'20em','is_form':true}," \
    "'h':{'type':'AgentGUI','gui_id':'bare'},'l':{'type':'AgentLLM','name':'fast'}," \
    "'d':{'type':'AgentRagElement','name':'docs'}"

/* One action "x" of state hub with these members; the first (only) action, or NULL when there is none. */
static const struct action *read_action(const char *members, struct read_result *r)
{
    char elements[2000];

    snprintf(elements, sizeof(elements), MORE ",'x':{%s}", members);
    read_parts(",'actions':['x']", elements, "", NULL, r);
    return r->model.states_len && r->model.states[0].body.len ? r->model.states[0].body.items : NULL;
}

static void kinds_come_from_either_key(void **state)
{
    static const struct {
        const char *members;
        enum action_kind kind;
    } rows[] = {
        { "'actionType':'TextReplyAction'", ACTION_TEXT },
        { "'actionType':'','replyType':'text'", ACTION_TEXT },
        { "'replyType':'llm'", ACTION_LLM },
        { "'replyType':'llm_chat'", ACTION_LLM_CHAT },
        { "'replyType':'rag','name':'docs'", ACTION_RAG },
        { "'replyType':'db_reply'", ACTION_DB },
        { "'replyType':'code','name':'x'", ACTION_CODE },
        { "'replyType':'web_crawl_llm','initial_url':'u'", ACTION_WEB_CRAWL },
        { "'replyType':'ws_markdown'", ACTION_MARKDOWN },
        { "'replyType':'ws_html'", ACTION_HTML },
        { "'replyType':'ws_speech'", ACTION_SPEECH },
        { "'replyType':'ws_options'", ACTION_OPTIONS },
        { "'replyType':'ws_location'", ACTION_LOCATION },
        { "'replyType':'ws_file'", ACTION_FILE },
        { "'replyType':'ws_image'", ACTION_IMAGE },
        { "'replyType':'ws_dataframe'", ACTION_DATAFRAME },
        { "'replyType':'ws_plotly'", ACTION_PLOTLY },
        { "'replyType':'gui_reply','gui_id':'card'", ACTION_GUI },
        { "'actionType':'Odd','replyType':'text'", ACTION__MAX },
        { "'actionType':5,'replyType':'text'", ACTION__MAX },
        { "'replyType':'Text'", ACTION__MAX },
        { "'name':'x'", ACTION__MAX },
        { "'actionType':'RAGReplyAction','name':'\\u0001'", ACTION__MAX },
        { "'actionType':'WebCrawlLLMAction'", ACTION__MAX },
        { "'actionType':'GUIReplyAction','guiId':''", ACTION__MAX },
    };
    struct read_result r;
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        const struct action *a = read_action(rows[i].members, &r);

        assert_int_equal(r.rc, 0);
        assert_int_equal(a ? a->kind : ACTION__MAX, rows[i].kind);
        if (a)
            assert_string_equal(a->where, "model.elements.x");
        read_result_release(&r);
    }
}

static void an_action_of_no_known_kind_is_told(void **state)
{
    struct read_result r;

    (void)state;
    assert_null(read_action("'actionType':'Odd'", &r));
    assert_int_equal(r.findings.errors, 0);
    assert_int_equal(r.findings.len, 1);
    assert_string_equal(r.findings.items[0].message,
                        "State \"hub\", body: action \"x\" is of no known kind and ignored");
    read_result_release(&r);
}

static void texts_are_cleaned_and_flagged(void **state)
{
    struct read_result r;
    const struct action *a;

    (void)state;
    a = read_action("'actionType':'TextReplyAction','name':'a\\u0001b\\n','useSessionVars':'false'", &r);
    assert_string_equal(a->text, "ab\n");
    assert_true(a->use_session_vars);
    read_result_release(&r);
    a = read_action("'actionType':'TextReplyAction','name':null", &r);
    assert_string_equal(a->text, "");
    read_result_release(&r);
    a = read_action("'actionType':'WebSocketReplySpeechAction','ws_message':true,'ws_audio_speed':'1.5'", &r);
    assert_string_equal(a->text, "true");
    assert_true(a->has_audio_speed && a->audio_speed == 1.5);
    read_result_release(&r);
    a = read_action("'actionType':'WebSocketReplySpeechAction','ws_audio_speed':''", &r);
    assert_false(a->has_audio_speed);
    read_result_release(&r);
    a = read_action("'actionType':'WebSocketReplySpeechAction','ws_audio_speed':true", &r);
    assert_true(a->has_audio_speed && a->audio_speed == 1);
    read_result_release(&r);
}

static void llm_actions_have_prompts_input_and_output(void **state)
{
    struct read_result r;
    const struct action *a;

    (void)state;
    a = read_action("'actionType':'LLMReplyAction','name':'label','llmPrompt':'p',"
                    "'systemPromptUseSessionVars':1,'llmName':'fast','inputPromptMode':'custom',"
                    "'customInputPrompt':'in','customInputPromptUseSessionVars':true,"
                    "'storeInSession':'k','sendReply':false",
                    &r);
    assert_string_equal(a->prompt, "p");
    assert_true(a->prompt_use_session_vars);
    assert_string_equal(a->llm_name, "fast");
    assert_int_equal(a->llm, 0);
    assert_true(a->input_custom && a->input_use_session_vars);
    assert_string_equal(a->input_prompt, "in");
    assert_string_equal(a->store_in_session, "k");
    assert_false(a->send_reply);
    read_result_release(&r);
    a = read_action("'actionType':'LLMChatAction','system_message':'s','llmPrompt':'p',"
                    "'inputPromptMode':'nonsense'",
                    &r);
    assert_string_equal(a->prompt, "s");
    assert_null(a->llm_name);
    assert_int_equal(a->llm, MODEL_NONE);
    assert_true(a->send_reply);
    assert_false(a->input_custom);
    read_result_release(&r);
    a = read_action("'actionType':'DBAction','llmName':'fast'", &r); /* not read there */
    assert_null(a->llm_name);
    read_result_release(&r);
}

static void databases_are_asked_as_their_words_say(void **state)
{
    struct read_result r;
    const struct action *a;

    (void)state;
    a = read_action("'actionType':'DBAction'", &r);
    assert_false(a->db_sql || a->db_selection_custom);
    assert_int_equal(a->db_operation, DB_ANY);
    assert_null(a->db_custom_name);
    read_result_release(&r);
    a = read_action("'actionType':'DBAction','dbSelectionType':' CUSTOM ','dbCustomName':' stock ',"
                    "'dbQueryMode':'sql\\u0001','dbOperation':'Delete','dbSqlQuery':'SELECT \\u0001'",
                    &r);
    assert_true(a->db_sql && a->db_selection_custom);
    assert_string_equal(a->db_custom_name, "stock");
    assert_int_equal(a->db_operation, DB_DELETE);
    assert_string_equal(a->sql, "SELECT \001");
    read_result_release(&r);
    a = read_action("'actionType':'DBAction','dbCustomName':'stock'", &r);
    assert_null(a->db_custom_name); /* not selected */
    read_result_release(&r);
}

static void stores_crawls_and_places_are_read_by_rule(void **state)
{
    struct read_result r;
    const struct action *a;

    (void)state;
    a = read_action("'actionType':'RAGReplyAction','ragDatabaseName':'','name':'docs','prompt':'p',"
                    "'promptUseSessionVars':true",
                    &r);
    assert_string_equal(a->text, "docs");
    assert_int_equal(a->rag, 0);
    assert_string_equal(a->prompt, "p");
    assert_true(a->prompt_use_session_vars);
    read_result_release(&r);
    a = read_action("'actionType':'RAGReplyAction','ragDatabaseName':'other'", &r);
    assert_int_equal(a->rag, MODEL_NONE);
    read_result_release(&r);
    a = read_action("'actionType':'WebCrawlLLMAction','initial_url':'u','max_depth':'3','max_pages':'x',"
                    "'run_crawl':null,'system_message_prefix':'p'",
                    &r);
    assert_int_equal(a->max_depth, 3);
    assert_int_equal(a->max_pages, 20);
    assert_string_equal(a->crawl_format, "markdown");
    assert_string_equal(a->no_crawl_message, "No web crawl data is available yet.");
    assert_true(a->run_crawl);
    assert_string_equal(a->prompt, "p");
    assert_null(a->base_url_prefix);
    read_result_release(&r);
    a = read_action("'actionType':'WebSocketReplyLocationAction','ws_latitude':'-1.5','ws_longitude':'x'", &r);
    assert_true(a->latitude == -1.5 && a->longitude == 0);
    read_result_release(&r);
}

static void options_are_lines(void **state)
{
    static const char *const lines[] = { "Yes", "No", "\\back" };
    struct read_result r;
    const struct action *a;
    size_t i;

    (void)state;
    a = read_action("'actionType':'WebSocketReplyOptionsAction','ws_options':'Yes\\n  No \\r\\n\\n \\n\\\\back'", &r);
    assert_int_equal(a->options.len, 3);
    for (i = 0; i < 3; i++)
        assert_string_equal(a->options.items[i], lines[i]);
    read_result_release(&r);
    a = read_action("'actionType':'WebSocketReplyOptionsAction'", &r);
    assert_int_equal(a->options.len, 0);
    read_result_release(&r);
}

static void gui_replies_take_settings_of_their_gui(void **state)
{
    struct read_result r;
    const struct action *a;

    (void)state;
    a = read_action("'actionType':'GUIReplyAction','guiId':'card','persist':true,'width':'1px'", &r);
    assert_int_equal(a->gui, 0);
    assert_false(a->persist);
    assert_true(a->is_form);
    assert_string_equal(a->width, "20em");
    read_result_release(&r);
    a = read_action("'actionType':'GUIReplyAction','gui_id':'bare','width':'1px','is_form':true", &r);
    assert_string_equal(a->width, "1px");
    assert_false(a->is_form);
    read_result_release(&r);
    a = read_action("'actionType':'GUIReplyAction','guiId':'ghost','is_form':true", &r);
    assert_int_equal(a->gui, MODEL_NONE);
    assert_true(a->is_form && a->persist);
    read_result_release(&r);
}

static void faults_name_state_field_and_value(void **state)
{
    static const struct {
        const char *members;
        int rule;
        const char *field, *word;
    } rows[] = {
        { "'actionType':'LLMReplyAction','inputPromptMode':'telepathy'", 8, "inputPromptMode", "telepathy" },
        { "'actionType':'RAGReplyAction','name':'d','inputPromptMode':'Custom'", 8, "inputPromptMode", "Custom" },
        { "'actionType':'DBAction','inputPromptMode':'custom'", 8, "customInputPrompt", "custom" },
        { "'actionType':'DBAction','dbSelectionType':'cloud'", 9, "dbSelectionType", "cloud" },
        { "'actionType':'DBAction','dbQueryMode':'graphql'", 9, "dbQueryMode", "graphql" },
        { "'actionType':'DBAction','dbOperation':'truncate'", 9, "dbOperation", "truncate" },
        { "'actionType':'DBAction','dbOperation':5", 9, "dbOperation", "\"5\"" },
        { "'actionType':'WebSocketReplyOptionsAction','ws_options':5", 0, "ws_options", "line" },
        { "'actionType':'WebSocketReplyOptionsAction','ws_options':['a']", 0, "ws_options", ".x.ws_options" },
        { "'actionType':'WebSocketReplyOptionsAction','ws_options':null", 0, "ws_options", ".x.ws_options" },
    };
    struct read_result r;
    char where[100];
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        read_action(rows[i].members, &r);
        assert_int_equal(r.rc, -1);
        assert_true(HAS_FINDING(&r.findings, rows[i].rule, "\"hub\"", rows[i].field, rows[i].word));
        snprintf(where, sizeof(where), "model.elements.x.%s", rows[i].field);
        assert_string_equal(r.findings.items[0].where, where);
        read_result_release(&r);
    }
}

static void custom_code_is_judged_once_and_kept_as_typed(void **state)
{
    static const char *const json =
        "{'title':'T','model':{'elements':{'i':{'type':'StateInitialNode'},'s':{'type':'AgentState',"
        "'name':'hub','actions':['x','x']},'t':{'type':'AgentState','name':'b','fallbackActions':['x']},"
        "'x':{'actionType':'CustomCodeAction','name':'def go(session, more=1):\\r\\n  pass\\n'}},"
        "'relationships':{'r':{'type':'AgentStateTransition','source':{'element':'i'},'target':"
        "{'element':'s'}}}}}";
    struct python_parser *parser = test_parser();
    struct read_result r;

    (void)state;
    read_quoted(json, parser, &r);
    assert_int_equal(r.rc, 0);
    assert_true(r.model.uses_custom_code);
    assert_string_equal(r.model.states[0].body.items[1].code_function, "go");
    assert_string_equal(r.model.states[1].fallback.items[0].text, "def go(session, more=1):\r\n  pass\n");
    read_result_release(&r);
    read_parts(",'actions':['x']", ",'x':{'replyType':'code','name':'def f(:'}", "", parser, &r);
    assert_int_equal(r.rc, -1);
    assert_true(HAS_FINDING(&r.findings, 10, "hub", "body", "line 1"));
    read_result_release(&r);
    python_parser_free(parser);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_come_from_either_key),
        cmocka_unit_test(an_action_of_no_known_kind_is_told),
        cmocka_unit_test(texts_are_cleaned_and_flagged),
        cmocka_unit_test(llm_actions_have_prompts_input_and_output),
        cmocka_unit_test(databases_are_asked_as_their_words_say),
        cmocka_unit_test(stores_crawls_and_places_are_read_by_rule),
        cmocka_unit_test(options_are_lines),
        cmocka_unit_test(gui_replies_take_settings_of_their_gui),
        cmocka_unit_test(faults_name_state_field_and_value),
        cmocka_unit_test(custom_code_is_judged_once_and_kept_as_typed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
