/* Downloads of several conversations or programs (6.6): what is refused, what the files are, and short memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "shared/base/buf.h"
#include "shared/base/mem.h"
#include "shared/base/path.h"
#include "shared/diagram/check.h"
#include "shared/generate/builds.h"
#include "shared/generate/personalize.h"
#include "shared/json/json.h"
#include "tests/support/diagram.h"
#include "tests/support/oom.h"

static const struct generate_options session = { .session = true, .host = "127.0.0.1", .port = 8765 };
static const struct generate_options download = { .session = false };

/* hub -> next by an intent, with one LLM. */
#define MODEL(hub, greeting) \
    "{'elements':{'i':{'type':'StateInitialNode'},'s':{'type':'AgentState','name':'" hub "','actions':['a']}," \
    "'n':{'type':'AgentState','name':'next'},'a':{'actionType':'TextReplyAction','name':'" greeting "'}," \
    "'t':{'type':'AgentIntent','name':'go','bodies':['t1']},'t1':{'name':'go'},'l':{'type':'AgentLLM','name':'gpt4'}}" \
    "," \
    "'relationships':{'r':{'type':'AgentStateTransitionInit','source':{'element':'i'},'target':{'element':'s'}}," \
    "'r1':{'type':'AgentStateTransition','source':{'element':'s'},'target':{'element':'n'},'intentName':'go'," \
    "'predefinedType':'when_intent_matched'}}}"
#define REQUEST(config) "{'title':'T','model':" MODEL("hub", "hello") ",'config':" config "}"
#define MAPPING(entries) REQUEST("{'personalizationMapping':[" entries "]}")
#define KIDS "{'name':'the kids','user_profile':{'age':9},'agent_model':" MODEL("hub", "hi") "}"

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

/* The request, quoted with '. */
static cJSON *tree_of(const char *request)
{
    auto_free char *json = quoted(request);
    struct json_error e;
    cJSON *tree = json_parse(json, strlen(json), &e);

    if (!tree)
        fail_msg("%s", e.message);
    return tree;
}

static void compile(struct python_parser *parser, const char *request, const struct generate_options *o,
                    struct compiled *ret)
{
    cJSON *tree = tree_of(request);
    struct err err = { 0 };

    if (compile_diagram(tree, parser, o, ret, &err) < 0)
        fail_msg("%s", err.msg);
    cJSON_Delete(tree);
}

static const struct finding *first_error(const struct findings *f)
{
    size_t i;

    for (i = 0; i < f->len && f->items[i].severity != FINDING_ERROR; i++)
        ;
    return i < f->len ? &f->items[i] : NULL;
}

static bool holds(const struct compiled *c, const char *path, const char *text)
{
    const struct bundle_file *file = bundle_find(&c->bundle, path);

    return file && strstr(file->content, text);
}

static void profiles_get_states_of_their_own_behind_a_router(void **state)
{
    struct compiled c = { 0 };
    struct model *m = &c.model;

    compile(*state, MAPPING(KIDS ",{'user_profile':{}}"), &download, &c);
    assert_int_equal(c.findings.errors, 0);
    assert_int_equal(m->states_len, 5);
    assert_string_equal(m->states[0].name, "router_initial_state");
    assert_true(m->states[0].initial && !m->states[1].initial && !m->states[3].initial);
    assert_string_equal(m->states[3].name, "hub_the_kids");
    assert_true(m->states[3].profile == 1 && m->states[3].profile_start && !m->states[4].profile_start);
    assert_int_equal(m->states[3].transitions[0].target, 4);
    assert_string_equal(m->intents[m->states[3].transitions[0].intent].name, "go_the_kids");
    assert_int_equal(m->states[1].transitions[0].target, 2);
    assert_int_equal(m->llms_len, 1);
    assert_string_equal(m->profiles[1].slug, "variant_2");
    assert_true(holds(&c, "T.py", "Agent('T', user_profiles_path='user_profiles.json', persist_sessions=True)"));
    assert_true(holds(&c, "T.py", "state_router_initial_state.go_to(state_hub)\n"));
    assert_true(holds(&c, "T.py", "context=configuration_text('the_kids')"));
    assert_false(holds(&c, "T.py", "profile_text"));
    assert_string_equal(bundle_find(&c.bundle, "user_profiles.json")->content,
                        "[\n  {\n    \"name\": \"the kids\",\n    \"user_profile\": {\n      \"age\": 9\n    }\n  },\n"
                        "  {\n    \"name\": \"variant_2\",\n    \"user_profile\": {}\n  }\n]\n");
    compiled_release(&c);
}

static void sessions_keep_the_agent_as_drawn(void **state)
{
    struct compiled c = { 0 };

    compile(*state, MAPPING(KIDS ",{'name':'without a profile'}"), &session, &c);
    assert_int_equal(c.findings.errors, 0);
    assert_int_equal(c.model.states_len, 2);
    assert_int_equal(c.model.profiles_len, 0);
    assert_null(bundle_find(&c.bundle, "user_profiles.json"));
    assert_true(holds(&c, "agent.py", "'without_a_profile': {}"));
    assert_false(holds(&c, "agent.py", "router"));
    compiled_release(&c);
}

static void wrong_profiles_are_refused_by_their_index(void **state)
{
    static const struct {
        const char *request, *where, *says;
    } rows[] = {
        { MAPPING(KIDS ",5"), "config.personalizationMapping[1]", "object" },
        { MAPPING(KIDS ",{'name':'x'}"), "config.personalizationMapping[1].user_profile", "[1]" },
        { MAPPING("{'user_profile':null}"), "config.personalizationMapping[0].user_profile", "[0]" },
        { MAPPING("{'user_profile':[]}"), "config.personalizationMapping[0].user_profile", "object" },
        { MAPPING("{'user_profile':{'x':1e999}}"), "config.personalizationMapping[0].user_profile", "finite" },
        { MAPPING("{'user_profile':{},'configuration':'x'}"), "config.personalizationMapping[0].configuration",
          "object" },
        { MAPPING("{'user_profile':{},'name':{}}"), "config.personalizationMapping[0].name", "text" },
        { MAPPING("{'user_profile':{},'agent_model':[]}"), "config.personalizationMapping[0].agent_model", "object" },
        { MAPPING(KIDS ",{'name':'b','user_profile':{},'agent_model':" MODEL("a b", "") "}"),
          "config.personalizationMapping[1].agent_model.elements.s.name", "Profile \"b\"" },
        { MAPPING(KIDS ",{'name':'b','user_profile':{},'agent_model':" MODEL("go", "") "}"),
          "config.personalizationMapping[1].agent_model.elements.s.name", "Profile \"b\"" },
        { REQUEST("{'personalizationMapping':'x'}"), "config.personalizationMapping", "array" },
    };
    size_t i;

    for (i = 0; i < ARRAY_LEN(rows); i++) {
        struct compiled c = { 0 };
        const struct finding *f;

        compile(*state, rows[i].request, &download, &c);
        f = first_error(&c.findings);
        assert_non_null(f);
        assert_string_equal(f->where, rows[i].where);
        assert_non_null(strstr(f->message, rows[i].says));
        assert_int_equal(c.bundle.files_len, 0);
        compiled_release(&c);
    }
}

static void a_base_without_llm_gets_that_of_a_profile(void **state)
{
    struct compiled c = { 0 };

    compile(
        *state,
        "{'title':'T','model':{'elements':{'i':{'type':'StateInitialNode'},'s':{'type':'AgentState','name':'only'}},"
        "'relationships':{'r':{'type':'AgentStateTransitionInit','source':{'element':'i'},'target':{'element':'s'}}}},"
        "'config':{'personalizationMapping':[" KIDS "]}}",
        &download, &c);
    assert_int_equal(c.findings.errors, 0);
    assert_int_equal(c.model.default_llm, 0);
    assert_true(holds(&c, "T.py", "default_llm = llm_gpt4\n"));
    compiled_release(&c);
}

static void the_first_way_that_is_asked_for_counts(void **state)
{
    static const struct {
        const char *config, *paths[4];
    } rows[] = {
        { "{}", { "T.py" } },
        { "{'languages':{},'configurations':[]}", { "T.py" } },
        { "{'languages':{'target':['fr']},'baseModel':{},'variations':[],'configurations':[1]}",
          { "default/T.py", "fr/T.py", "fr/readme.txt" } },
        { "{'languages':{'source':'English'}}", { "default/T.py" } },
        { "{'baseModel':" MODEL("base", "") ",'variations':[{'name':'T.py','model':" MODEL("x",
                                                                                           "") "}],'configurations':"
                                                                                               "[1]}",
          { "T.py", "T.py_2/T.py" } },
        { "{'baseModel':{},'configurations':[{'name':'a','configuration':{}},{'name':'A','configuration':{}}]}",
          { "T.py", "a/T.py", "A_2/T.py" } },
    };
    size_t i, k;

    for (i = 0; i < ARRAY_LEN(rows); i++) {
        struct compiled c = { 0 };
        auto_buf struct buf request;

        buf_init(&request, 1u << 20);
        buf_add_fmt(&request, "{'title':'T','model':" MODEL("hub", "hello") ",'config':%s}", rows[i].config);
        compile(*state, request.data, &download, &c);
        assert_int_equal(c.findings.errors, 0);
        for (k = 0; k < ARRAY_LEN(rows[i].paths) && rows[i].paths[k]; k++)
            assert_non_null(bundle_find(&c.bundle, rows[i].paths[k]));
        for (k = 0; k < c.bundle.files_len; k++)
            assert_int_equal(path_check(c.bundle.files[k].path, strlen(c.bundle.files[k].path)), 0);
        assert_string_equal(c.model.name, "T");
        compiled_release(&c);
    }
}

static void the_number_of_programs_is_bounded(void **state)
{
    struct compiled c = { 0 };
    struct buf request;
    size_t i;

    buf_init(&request, 1u << 20);
    buf_add_str(&request, "{'title':'T','model':" MODEL("hub", "hello") ",'config':{'configurations':[");
    for (i = 0; i < BUILDS_MAX; i++)
        buf_add_str(&request, i ? ",{'configuration':{}}" : "{'configuration':{}}");
    buf_add_str(&request, "]}}");
    compile(*state, request.data, &download, &c);
    assert_int_equal(c.findings.errors, 1);
    assert_non_null(strstr(first_error(&c.findings)->message, "100"));
    assert_int_equal(c.bundle.files_len, 0);
    compiled_release(&c);
    buf_release(&request);
}

static int personalized(const cJSON *tree, struct bundle *ret, struct findings *f, struct err *err)
{
    struct model m;
    int result;

    model_init(&m);
    result = diagram_read(tree, NULL, &m, f, err);
    if (result == 0)
        result = diagram_read_profiles(tree, NULL, &m, f, err);
    if (result == 0)
        result = personalize(&m, err);
    if (result == 0)
        result = generate_bundle(&m, &download, ret, err);
    model_release(&m);
    return result;
}

static void short_memory_is_an_error_and_leaks_nothing(void **state)
{
    cJSON *tree = tree_of(MAPPING(KIDS "," KIDS ",{'user_profile':{'a':[1,2.5,'x',null,true,{}]}}"));

    (void)state;
    OOM_SWEEP({
        struct bundle b = { 0 };
        struct findings f;
        struct err err = { 0 };
        int result;

        findings_init(&f);
        result = personalized(tree, &b, &f, &err);
        assert_true(result == 0 || err.kind || f.errors);
        assert_true(result == 0 || !b.files);
        assert_true(oom_hit() || result == 0);
        bundle_release(&b);
        findings_release(&f);
    });
    cJSON_Delete(tree);
}

static void short_memory_between_builds_leaks_nothing(void **state)
{
    static const char *const requests[] = {
        REQUEST("{'languages':{'source':'English','target':['fr']}}"),
        REQUEST("{'configurations':[{'name':'a b','configuration':{'language':'fr'}}]}"),
    };
    size_t i;

    for (i = 0; i < ARRAY_LEN(requests); i++) {
        cJSON *tree = tree_of(requests[i]);

        OOM_SWEEP({
            struct compiled c = { 0 };
            struct err err = { 0 };
            int result = compile_diagram(tree, *state, &download, &c, &err);

            assert_true(result == 0 || err.kind);
            assert_true(oom_hit() || (result == 0 && !c.findings.errors && c.bundle.files_len == 8));
            assert_true(c.findings.errors == 0 || !c.bundle.files);
            compiled_release(&c);
        });
        cJSON_Delete(tree);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(profiles_get_states_of_their_own_behind_a_router),
        cmocka_unit_test(sessions_keep_the_agent_as_drawn),
        cmocka_unit_test(wrong_profiles_are_refused_by_their_index),
        cmocka_unit_test(a_base_without_llm_gets_that_of_a_profile),
        cmocka_unit_test(the_first_way_that_is_asked_for_counts),
        cmocka_unit_test(the_number_of_programs_is_bounded),
        cmocka_unit_test(short_memory_is_an_error_and_leaks_nothing),
        cmocka_unit_test(short_memory_between_builds_leaks_nothing),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
