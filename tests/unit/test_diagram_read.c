/* Envelope, names, components, settings, size and memory: shared/diagram/read.c and its parts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "shared/base/buf.h"
#include "shared/base/io.h"
#include "shared/base/mem.h"
#include "shared/base/time.h"
#include "shared/diagram/provider.h"
#include "shared/json/json.h"
#include "tests/support/diagram.h"
#include "tests/support/oom.h"

static void titles_become_names(void **state)
{
    static const struct {
        const char *json, *name; /* NULL: refused by rule 1 or shape */
    } rows[] = {
        { "{}", "Generated_Agent" },
        { "{'title':'My Agent'}", "My_Agent" },
        { "{'title':'   '}", "___" },
        { "{'title':'a/../b'}", "a/../b" },
        { "{'title':'a\\nb'}", "a\nb" },
        { "{'title':''}", NULL },
        { "{'title':'\\t\\n'}", NULL },
        { "{'title':'My-Agent'}", NULL },
        { "{'title':7}", NULL },
        { "{'title':null}", NULL },
        { "[]", NULL },
    };
    struct read_result r;
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        read_quoted(rows[i].json, NULL, &r);
        if (rows[i].name)
            assert_string_equal(r.model.name, rows[i].name);
        else
            assert_int_equal(r.findings.errors, 1);
        assert_int_equal(r.rc, rows[i].name ? 0 : -1);
        read_result_release(&r);
    }
}

static void misshapen_documents_are_refused_with_their_path(void **state)
{
    static const struct {
        const char *json, *where;
    } rows[] = {
        { "{'model':5}", "model" },
        { "{'model':[1]}", "model" },
        { "{'config':'x'}", "config" },
        { "{'model':{'elements':[1]}}", "model.elements" },
        { "{'model':{'elements':'none'}}", "model.elements" },
        { "{'model':{'components':7}}", "model.components" },
        { "{'model':{'relationships':true}}", "model.relationships" },
        { "{'agentComponents':'x'}", "agentComponents" },
        { "{'model':{'elements':{'a':null}}}", "model.elements.a" },
        { "{'agentComponents':{'a.b':[]}}", "agentComponents[\"a.b\"]" },
        { "{'model':{'relationships':{'r':5}}}", "model.relationships.r" },
        { "{'model':{'relationships':{'r':{'source':'x'}}}}", "model.relationships.r.source" },
        { "{'model':{'relationships':{'r':{'target':[]}}}}", "model.relationships.r.target" },
        { "{'model':{'relationships':{'r':{'source':null}}}}", "model.relationships.r.source" },
        { "{'model':{'elements':{'g':{'type':'AgentGUI','gui_id':null}}}}", "model.elements.g.gui_id" },
        { "{'model':{'elements':{'a':{'type':'AgentLLM','name':5}}}}", "model.elements.a.name" },
        { "{'model':{'elements':{'a':{'type':'AgentLLM','name':'x','provider':5}}}}", "model.elements.a.provider" },
        { "{'model':{'elements':{'a':{'type':'AgentGUI','gui_id':[1]}}}}", "model.elements.a.gui_id" },
        { "{'model':{'elements':{'a':{'type':'AgentRagElement','name':'x','llm_prompt':4}}}}",
          "model.elements.a.llm_prompt" },
    };
    struct read_result r;
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        read_quoted(rows[i].json, NULL, &r);
        assert_int_equal(r.rc, -1);
        assert_int_equal(r.findings.len, 1);
        assert_int_equal(r.findings.items[0].rule, 0);
        assert_string_equal(r.findings.items[0].where, rows[i].where);
        assert_non_null(strstr(r.findings.items[0].message, rows[i].where)); /* answers over HTTP have no more */
        read_result_release(&r);
    }
}

static void empty_maps_of_any_kind_count_as_absent(void **state)
{
    struct read_result r;

    (void)state;
    read_quoted("{'model':{'elements':[],'components':null,'relationships':null},'config':null,"
                "'agentComponents':[]}",
                NULL, &r);
    assert_int_equal(r.rc, 0);
    assert_int_equal(r.model.states_len, 0);
    assert_int_equal(r.model.default_llm, MODEL_NONE);
    read_result_release(&r);
    read_quoted("{'model':{'elements':false,'components':'','relationships':0},'config':false,'agentComponents':{}}",
                NULL, &r);
    assert_int_equal(r.rc, 0);
    read_result_release(&r);
}

static void later_maps_win_at_the_place_the_id_had(void **state)
{
    static const char *const json =
        "{'model':{'elements':{'b':{'type':'AgentLLM','name':'canvas'},'a':{'type':'AgentLLM',"
        "'name':'first'}},'components':{'d':{'type':'AgentLLM','name':'parts'},"
        "'b':{'type':'AgentLLM','name':'wins'}}},"
        "'agentComponents':{'c':{'type':'AgentLLM','name':'old'},"
        "'d':{'type':'AgentLLM','name':'hidden'}}}";
    static const char *const names[] = { "wins", "first", "old", "parts" };
    struct read_result r;
    size_t i;

    (void)state;
    read_quoted(json, NULL, &r);
    assert_int_equal(r.rc, 0);
    assert_int_equal(r.model.llms_len, 4);
    for (i = 0; i < 4; i++)
        assert_string_equal(r.model.llms[i].name, names[i]);
    assert_string_equal(r.model.llms[0].where, "model.components.b");
    assert_int_equal(r.model.default_llm, 0);
    read_result_release(&r);
}

static void names_keep_the_name_rule(void **state)
{
    static const struct {
        const char *element;
        const char *words[3];
    } rows[] = {
        { "'type':'AgentState'", { "State", "\"x\"", "missing" } },
        { "'type':'AgentState','name':5", { "State", "\"x\"", "missing" } },
        { "'type':'AgentState','name':' \\u00a0'", { "State", "\"x\"", "blank" } },
        { "'type':'AgentState','name':'a b'", { "State", "\"a b\"", "spaces" } },
        { "'type':'AgentState','name':'a-b'", { "\"a-b\"", "hyphens", "_" } },
        { "'type':'AgentReasoningState','name':''", { "State", "\"x\"", "blank" } },
        { "'type':'AgentIntent','name':'a b'", { "Intent", "\"a b\"", "spaces" } },
        { "'type':'AgentIntent'", { "Intent", "\"x\"", "missing" } },
        { "'type':'AgentTool','name':'a b'", { "Tool", "\"a b\"", "spaces" } },
        { "'type':'AgentSkill','name':'a-b'", { "Skill", "\"a-b\"", "hyphens" } },
        { "'type':'AgentWorkspace','name':'a b'", { "Workspace", "\"a b\"", "spaces" } },
        { "'type':'AgentRagElement','name':'a b'", { "RAG store", "\"a b\"", "spaces" } },
    };
    char element[200];
    struct read_result r;
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        snprintf(element, sizeof(element), ",'x':{%s}", rows[i].element);
        read_parts("", element, "", NULL, &r);
        assert_int_equal(r.rc, -1);
        assert_true(HAS_FINDING(&r.findings, 1, rows[i].words[0], rows[i].words[1], rows[i].words[2]));
        assert_string_equal(r.findings.items[0].where, "model.elements.x.name");
        read_result_release(&r);
    }
}

static void odd_names_are_names(void **state)
{
    struct read_result r;

    (void)state;
    read_parts("",
               ",'a':{'type':'AgentState','name':'class'},'b':{'type':'AgentState','name':'a.\\nb'}"
               ",'c':{'type':'AgentState','name':'Hub'},'d':{'type':'AgentLLM','name':'a b-c'}",
               "", NULL, &r);
    assert_int_equal(r.rc, 0);
    assert_int_equal(r.model.states_len, 4);
    assert_string_equal(r.model.states[2].name, "a.\nb");
    read_result_release(&r);
}

static void repeated_names_are_refused_or_skipped_by_kind(void **state)
{
    static const struct {
        const char *elements;
        int rule; /* 0: accepted */
        const char *word;
    } rows[] = {
        { ",'a':{'type':'AgentState','name':'hub'}", 4, "hub" },
        { ",'a':{'type':'AgentReasoningState','name':'hub'}", 4, "hub" },
        { ",'a':{'type':'AgentState','name':'caf\\u00e9'},'b':{'type':'AgentState',"
          "'name':'cafe\\u0301'}",
          4, "caf" },
        { ",'a':{'type':'AgentIntent','name':'x'},'b':{'type':'AgentIntent','name':'x'}", 3, "x" },
        { ",'a':{'type':'AgentIntent','name':'x'},'b':{'type':'AgentIntent','name':'X'}", 0, NULL },
        { ",'a':{'type':'AgentGUI','gui_id':' x '},'b':{'type':'AgentGUI','gui_id':'x'}", 5, "x" },
        { ",'a':{'type':'AgentLLM','name':'x'},'b':{'type':'AgentLLM','name':' x','provider':'?'}", 0, NULL },
        { ",'a':{'type':'AgentTool','name':'x'},'b':{'type':'AgentTool','name':'x'}", 0, NULL },
    };
    struct read_result r;
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        read_parts("", rows[i].elements, "", NULL, &r);
        assert_int_equal(r.rc, rows[i].rule ? -1 : 0);
        if (rows[i].rule)
            assert_true(HAS_FINDING(&r.findings, rows[i].rule, rows[i].word));
        read_result_release(&r);
    }
}

static void llms_are_read_by_rule(void **state)
{
    struct read_result r;
    const struct llm *l;

    (void)state;
    read_parts("",
               ",'a':{'type':'AgentLLM','name':'  '},'b':{'type':'AgentLLM','name':' \\u0001big ',"
               "'provider':' OpenAI\\n','parameters':{'t':0.5,'n':[1]},'num_previous_messages':'7',"
               "'global_context':'c'},'c':{'type':'AgentLLM','name':'plain','parameters':5,"
               "'global_context':''}",
               "", NULL, &r);
    assert_int_equal(r.rc, 0);
    assert_int_equal(r.model.llms_len, 2);
    l = &r.model.llms[0];
    assert_string_equal(l->name, "big");
    assert_string_equal(l->provider->class_name, "LLMOpenAI");
    assert_int_equal(l->num_previous_messages, 7);
    assert_string_equal(l->global_context, "c");
    assert_int_equal(l->parameters.len, 2);
    l = &r.model.llms[1];
    assert_int_equal(l->parameters.kind, VALUE_OBJECT);
    assert_int_equal(l->parameters.len, 0);
    assert_int_equal(l->num_previous_messages, 1);
    assert_null(l->global_context);
    read_result_release(&r);
}

static void llm_faults_name_llm_and_value(void **state)
{
    char deep[1200] = ",'a':{'type':'AgentLLM','name':'big','parameters':{'p':", tail[400] = "";
    struct read_result r;
    size_t i;

    (void)state;
    read_parts("", ",'a':{'type':'AgentLLM','name':'big','provider':'skynet'}", "", NULL, &r);
    assert_true(HAS_FINDING(&r.findings, 2, "big", "skynet", "openai", "openrouter"));
    read_result_release(&r);
    read_parts("", ",'a':{'type':'AgentLLM','name':'big','parameters':{'x':{'hot':[1e999]}}}", "", NULL, &r);
    assert_true(HAS_FINDING(&r.findings, 0, "big", "\"x\"", "finite"));
    read_result_release(&r);
    for (i = 0; i < 120; i++) {
        strncat(deep, "[", 2);
        strncat(tail, "]", 2);
    }
    strncat(deep, tail, sizeof(deep) - strlen(deep) - 1);
    strncat(deep, "}}", 3);
    read_parts("", deep, "", NULL, &r);
    assert_true(HAS_FINDING(&r.findings, 0, "big", "100 levels"));
    read_result_release(&r);
}

static void rag_stores_are_read_by_rule(void **state)
{
    struct read_result r;
    const struct rag *g;

    (void)state;
    read_parts("",
               ",'a':{'type':'AgentRagElement','name':' docs ','embedding_provider':'OLLAMA',"
               "'llm':' fast ','llmPrompt':' p ','k':-1,'numPreviousMessages':3,"
               "'use_hybrid_rag':'false','bm25_weight':1},"
               "'b':{'type':'AgentRagElement','name':'docs','k':9},"
               "'c':{'type':'AgentRagElement','name':'more','num_previous_messages':-2,"
               "'numPreviousMessages':3,'bm25_weight':'0.25'},'l':{'type':'AgentLLM','name':'fast'}",
               "", NULL, &r);
    assert_int_equal(r.rc, 0);
    assert_int_equal(r.model.rags_len, 2);
    g = &r.model.rags[0];
    assert_string_equal(g->name, "docs");
    assert_true(g->ollama);
    assert_string_equal(g->embedding_base_url, "http://localhost:11434");
    assert_string_equal(g->llm_name, "fast");
    assert_int_equal(g->llm, 0);
    assert_string_equal(g->llm_prompt, "p");
    assert_int_equal(g->k, 4);
    assert_int_equal(g->num_previous_messages, 3);
    assert_true(g->hybrid);
    assert_true(g->bm25_weight == 0.6);
    g = &r.model.rags[1];
    assert_false(g->ollama);
    assert_string_equal(g->llm_name, "");
    assert_int_equal(g->llm, MODEL_NONE);
    assert_null(g->llm_prompt);
    assert_int_equal(g->num_previous_messages, 0);
    assert_true(g->bm25_weight == 0.25);
    read_result_release(&r);
}

static void workspaces_tools_skills_are_read_by_rule(void **state)
{
    struct read_result r;

    (void)state;
    read_parts("",
               ",'a':{'type':'AgentWorkspace','name':'w','path':' /p ','writable':null,"
               "'max_read_bytes':'12'},'b':{'type':'AgentWorkspace','name':'v','writable':0,"
               "'max_read_bytes':null},'c':{'type':'AgentTool','name':'t','code':'\\u0001x'},"
               "'d':{'type':'AgentSkill','name':'k','content':'# x','description':''}",
               "", NULL, &r);
    assert_int_equal(r.rc, 0);
    assert_string_equal(r.model.workspaces[0].path, " /p ");
    assert_true(r.model.workspaces[0].writable);
    assert_int_equal(r.model.workspaces[0].max_read_bytes, 12);
    assert_false(r.model.workspaces[1].writable);
    assert_int_equal(r.model.workspaces[1].max_read_bytes, 200000);
    assert_string_equal(r.model.tools[0].code, "\001x");
    assert_string_equal(r.model.tools[0].description, "");
    assert_string_equal(r.model.skills[0].content, "# x");
    assert_null(r.model.skills[0].description);
    read_result_release(&r);
    read_parts("", ",'a':{'type':'AgentWorkspace','name':'w','max_read_bytes':'many'}", "", NULL, &r);
    assert_true(HAS_FINDING(&r.findings, 11, "w", "max_read_bytes", "many"));
    read_result_release(&r);
}

static void intents_take_sentences_from_either_list(void **state)
{
    struct read_result r;

    (void)state;
    read_parts("",
               ",'n':{'type':'AgentIntent','name':'a','bodies':['x','ghost',5,'y','e','z']},"
               "'m':{'type':'AgentIntent','name':'b','bodies':[],'ownedElements':['x'],"
               "'intent_description':'d'},'x':{'name':'h\\u0001i'},'y':{'name':''},'z':{'name':' '},"
               "'e':{'name':[]}",
               "", NULL, &r);
    assert_int_equal(r.rc, 0);
    assert_int_equal(r.model.intents[0].sentences.len, 2);
    assert_string_equal(r.model.intents[0].sentences.items[0], "hi");
    assert_string_equal(r.model.intents[0].sentences.items[1], " ");
    assert_null(r.model.intents[0].description);
    assert_int_equal(r.model.intents[1].sentences.len, 1);
    assert_string_equal(r.model.intents[1].description, "d");
    read_result_release(&r);
}

static void what_asks_for_other_texts_than_those_drawn_is_named(void **state)
{
    static const char *const where[] = { "config.language", "config.presentation.agentStyle", "config.sentenceLength",
                                         "config.userProfileModel" };
    struct read_result r;
    size_t i;

    (void)state;
    read_quoted("{'config':{'language':'french','presentation':{'agentStyle':'formal','languageComplexity':'original'},"
                "'agentLanguage':'none','agentStyle':'original','sentenceLength':'concise',"
                "'userProfileModel':{'age':8}}}",
                NULL, &r);
    assert_int_equal(r.rc, 0);
    assert_int_equal(r.findings.errors, 0);
    assert_int_equal(r.findings.len, ARRAY_LEN(where));
    for (i = 0; i < ARRAY_LEN(where); i++)
        assert_string_equal(r.findings.items[i].where, where[i]);
    assert_non_null(strstr(r.findings.items[1].message, "\"formal\""));
    assert_string_equal(r.model.settings.texts_stay, "language, agentStyle, sentenceLength, userProfileModel");
    read_result_release(&r);
    read_quoted("{'config':{'agentLanguage':'','agentStyle':null,'languageComplexity':'original','sentenceLength':7,"
                "'userProfileModel':'kids','userProfileName':'kids'}}",
                NULL, &r);
    assert_int_equal(r.findings.len, 0);
    assert_null(r.model.settings.texts_stay);
    read_result_release(&r);
}

static void settings_are_flattened(void **state)
{
    struct read_result r;
    const struct settings *s = &r.model.settings;

    (void)state;
    read_quoted("{'config':{'agentPlatform':'telegram','system':{'agentPlatform':'websocket',"
                "'agentPlatformUseStreamlit':true,'llm':{'name':'judge','model':'m'}},"
                "'modality':{'inputModalities':['Text','SPEECH'],'outputModalities':'speech'},"
                "'language':'None','source_language':'English','personalizationMapping':[1],"
                "'intentRecognitionTechnology':'classical'},'configYaml':'a: 1\\n'}",
                NULL, &r);
    assert_int_equal(r.rc, 0);
    assert_int_equal(s->platform, PLATFORM_STREAMLIT);
    assert_string_equal(s->classifier_llm_name, "judge");
    assert_string_equal(s->classifier_llm_model, "m");
    assert_true(s->speech_input);
    assert_false(s->speech_output);
    assert_string_equal(s->language, "none");
    assert_string_equal(s->source_language, "english");
    assert_int_equal(s->personalization.len, 1);
    assert_true(s->classical_intents);
    assert_string_equal(r.model.config_yaml, "a: 1\n");
    assert_int_equal(r.findings.len, 1);
    assert_string_equal(r.findings.items[0].where, "config.outputModalities");
    read_result_release(&r);
    read_quoted("{'config':{'llm':'judge','agentPlatform':'websocket',"
                "'agentPlatformUseStreamlit':'true','language':'French'},'configYaml':null}",
                NULL, &r);
    assert_int_equal(s->platform, PLATFORM_WEBSOCKET);
    assert_null(s->classifier_llm_name);
    assert_null(r.model.config_yaml);
    assert_int_equal(r.findings.len, 1);
    assert_int_equal(r.findings.items[0].severity, FINDING_WARNING);
    read_result_release(&r);
    read_quoted("{'config':{'llm':{'name':7,'model':2.5},'system':{'default_llm_name':'x'}}}", NULL, &r);
    assert_string_equal(s->classifier_llm_name, "7");
    assert_string_equal(s->classifier_llm_model, "2.5");
    assert_null(s->default_llm_name);
    assert_int_equal(r.findings.len, 1);
    assert_int_equal(r.findings.errors, 0);
    assert_string_equal(r.findings.items[0].where, "config.system.default_llm_name");
    read_result_release(&r);
}

static void default_llm_is_the_named_one_or_the_first(void **state)
{
    static const struct {
        const char *name;
        size_t index;
    } rows[] = { { "b", 1 }, { " b", 0 }, { "ghost", 0 }, { "", 0 }, { "caf\\u00e9", 2 } };
    char json[400];
    struct read_result r;
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        snprintf(json, sizeof(json),
                 "{'config':{'default_llm_name':'%s'},'agentComponents':{"
                 "'1':{'type':'AgentLLM','name':'a'},'2':{'type':'AgentLLM','name':'b'},"
                 "'3':{'type':'AgentLLM','name':'cafe\\u0301'}}}",
                 rows[i].name);
        read_quoted(json, NULL, &r);
        assert_int_equal(r.model.default_llm, rows[i].index);
        read_result_release(&r);
    }
}

static void custom_code_counts_wherever_it_is_drawn(void **state)
{
    static const struct {
        const char *json;
        bool uses;
    } rows[] = {
        { "{}", false },
        { "{'model':{'elements':{'a':{'actionType':'CustomCodeAction'}}}}", true },
        { "{'model':{'components':{'a':{'actionType':'x','replyType':'code'}}}}", true },
        { "{'agentComponents':{'a':{'replyType':'code'}}}", true },
        { "{'model':{'elements':{'a':{'replyType':'code'}},'components':{'a':{}}}}", false },
        { "{'model':{'elements':{'a':{'replyType':'code'},'b':5}}}", true },
        { "{'model':{'elements':{'a':{'replyType':'text'},'b':5}}}", false },
        { "{'model':{'elements':{'a':{'actionType':'TextReplyAction'}}}}", false },
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        char *text = quoted(rows[i].json);
        cJSON *tree = cJSON_Parse(text);

        assert_int_equal(diagram_uses_custom_code(tree), rows[i].uses);
        /* short of memory it may say yes to what a later map hides, never no to what counts */
        OOM_SWEEP({
            bool said = diagram_uses_custom_code(tree);

            assert_true(said || !rows[i].uses);
        });
        cJSON_Delete(tree);
        mem_free(text);
    }
}

/* ---- size ---- */

static char *big_document(size_t states)
{
    struct buf b;
    size_t i;

    buf_init(&b, 64u << 20);
    buf_add_str(&b, "{\"model\":{\"elements\":{\"i\":{\"type\":\"StateInitialNode\"}");
    for (i = 0; i < states; i++)
        buf_add_fmt(&b,
                    ",\"s%zu\":{\"type\":\"AgentState\",\"name\":\"state%zu\",\"actions\":[\"a%zu\"]},"
                    "\"a%zu\":{\"actionType\":\"TextReplyAction\",\"name\":\"hello\"},"
                    "\"n%zu\":{\"type\":\"AgentIntent\",\"name\":\"intent%zu\",\"bodies\":[\"a%zu\"]}",
                    i, i, i, i, i, i, i);
    buf_add_str(&b, "},\"relationships\":{\"r\":{\"type\":\"AgentStateTransition\",\"source\":"
                    "{\"element\":\"i\"},\"target\":{\"element\":\"s0\"}}");
    for (i = 0; i < states; i++)
        buf_add_fmt(&b,
                    ",\"r%zu\":{\"type\":\"AgentStateTransition\",\"source\":{\"element\":\"s%zu\"},"
                    "\"target\":{\"element\":\"s%zu\"},\"predefinedType\":\"when_intent_matched\","
                    "\"intentName\":\"Intent%zu\"}",
                    i, i, (i + 1) % states, i);
    buf_add_str(&b, "}}}");
    assert_false(buf_failed(&b));
    return buf_steal(&b, NULL);
}

static void time_grows_with_the_document_and_not_with_its_square(void **state)
{
    char *text = big_document(5000);
    struct read_result r;
    struct json_error e;
    cJSON *tree = json_parse(text, strlen(text), &e);
    int64_t start, took;

    (void)state;
    model_init(&r.model);
    findings_init(&r.findings);
    start = time_mono_ms();
    assert_int_equal(diagram_read(tree, NULL, &r.model, &r.findings, &r.err), 0);
    assert_int_equal(diagram_check(&r.model, &r.findings, &r.err), 0);
    took = time_mono_ms() - start;
    assert_int_equal(r.model.states_len, 5000);
    assert_int_equal(r.model.states[4999].transitions[0].intent, 4999);
    assert_int_equal(r.findings.errors, 0);
    print_message("5000 states: %d ms\n", (int)took);
    assert_true(took < 2000); /* a few dozen are usual; a square would be minutes */
    read_result_release(&r);
    cJSON_Delete(tree);
    mem_free(text);
}

static void a_short_list_cannot_make_a_huge_agent(void **state)
{
    struct read_result r;
    struct buf b;
    size_t i;

    (void)state;
    buf_init(&b, 64u << 20);
    buf_add_str(&b, "{'model':{'elements':{'i':{'type':'StateInitialNode'},'s':{'type':'AgentState'"
                    ",'name':'hub','actions':['a'");
    for (i = 0; i < 2000; i++)
        buf_add_str(&b, ",'a'");
    buf_add_str(&b, "]},'a':{'actionType':'TextReplyAction','name':'");
    buf_add_repeat(&b, 'x', 100000);
    buf_add_str(&b, "'}},'relationships':{'r':{'type':'AgentStateTransition','source':{'element':"
                    "'i'},'target':{'element':'s'}}}}}");
    assert_false(buf_failed(&b));
    read_quoted(b.data, NULL, &r);
    assert_int_equal(r.rc, -1);
    assert_true(HAS_FINDING(&r.findings, 0, "too large"));
    read_result_release(&r);
    buf_release(&b);
}

/* ---- memory ---- */

static void sweep(const cJSON *tree, struct python_parser *parser)
{
    OOM_SWEEP({
        struct read_result r = { .rc = -1 };
        size_t mark = 77;

        model_init(&r.model);
        r.model.states_cap = mark; /* outputs stay as they were when reading fails */
        findings_init(&r.findings);
        r.rc = diagram_read(tree, parser, &r.model, &r.findings, &r.err);
        if (r.rc < 0) {
            assert_true(oom_hit());
            assert_int_equal(r.model.states_cap, mark);
            assert_int_equal(r.err.kind, ERR_INTERNAL);
            r.model.states_cap = 0;
        } else {
            r.rc = diagram_check(&r.model, &r.findings, &r.err);
            if (r.rc == 0 && parser)
                r.rc = diagram_check_program(&r.model, true, parser, &r.findings, &r.err);
            assert_true(r.rc == 0 || oom_hit());
            assert_int_equal(r.findings.errors, 0);
        }
        read_result_release(&r);
    });
}

static void short_memory_leaves_nothing_behind(void **state)
{
    static const char *const files[] = { "library_desk",       "layout_mixed",        "transitions_predefined",
                                         "conditions_custom",  "comments_and_links",  "gui_form",
                                         "llm_reply_variants", "custom_code_mixed",   "rag_openai",
                                         "config_structured",  "names_other_scripts", "transitions_oldest_spellings" };
    struct python_parser *parser = test_parser();
    struct json_error e;
    char path[200];
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(files); i++) {
        struct buf b;
        cJSON *tree;

        snprintf(path, sizeof(path), "tests/fixtures/diagrams/%s.json", files[i]);
        buf_init(&b, 16u << 20);
        assert_int_equal(io_read_file(path, &b, NULL), 0);
        tree = json_parse(b.data, b.len, &e);
        assert_non_null(tree);
        sweep(tree, parser);
        cJSON_Delete(tree);
        buf_release(&b);
    }
    python_parser_free(parser);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(titles_become_names),
        cmocka_unit_test(misshapen_documents_are_refused_with_their_path),
        cmocka_unit_test(empty_maps_of_any_kind_count_as_absent),
        cmocka_unit_test(later_maps_win_at_the_place_the_id_had),
        cmocka_unit_test(names_keep_the_name_rule),
        cmocka_unit_test(odd_names_are_names),
        cmocka_unit_test(repeated_names_are_refused_or_skipped_by_kind),
        cmocka_unit_test(llms_are_read_by_rule),
        cmocka_unit_test(llm_faults_name_llm_and_value),
        cmocka_unit_test(rag_stores_are_read_by_rule),
        cmocka_unit_test(workspaces_tools_skills_are_read_by_rule),
        cmocka_unit_test(intents_take_sentences_from_either_list),
        cmocka_unit_test(what_asks_for_other_texts_than_those_drawn_is_named),
        cmocka_unit_test(settings_are_flattened),
        cmocka_unit_test(default_llm_is_the_named_one_or_the_first),
        cmocka_unit_test(custom_code_counts_wherever_it_is_drawn),
        cmocka_unit_test(time_grows_with_the_document_and_not_with_its_square),
        cmocka_unit_test(a_short_list_cannot_make_a_huge_agent),
        cmocka_unit_test(short_memory_leaves_nothing_behind),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
