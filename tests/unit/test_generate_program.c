/* Programs: a few read as a whole (tests/golden), the rest by what must or must not stand in them. */
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
#include "shared/generate/generate.h"
#include "tests/support/diagram.h"
#include "tests/support/oom.h"

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

/* Reads and checks; the diagram must be right. */
static void load(struct python_parser *parser, const char *path, struct read_result *ret)
{
    read_file_at(path, parser, ret);
    assert_int_equal(ret->rc, 0);
    assert_int_equal(diagram_check(&ret->model, &ret->findings, &ret->err), 0);
    assert_int_equal(diagram_check_program(&ret->model, true, parser, &ret->findings, &ret->err), 0);
    assert_int_equal(ret->findings.errors, 0);
}

/* Program of a hub with these further members, elements and arcs. The caller frees. */
static char *program_of(struct python_parser *parser, const char *hub, const char *elements, const char *arcs)
{
    struct read_result r;
    char *program = NULL;

    read_parts(hub, elements, arcs, parser, &r);
    if (r.rc < 0)
        fail_msg("%s", r.findings.len ? r.findings.items[0].message : r.err.msg);
    assert_int_equal(diagram_check_program(&r.model, true, parser, &r.findings, &r.err), 0);
    assert_int_equal(r.findings.errors, 0);
    assert_int_equal(generate_program(&r.model, &session, &program, &r.err), 0);
    read_result_release(&r);
    return program;
}

static void assert_valid(struct python_parser *parser, const char *program)
{
    struct python_facts facts = { 0 };
    struct err err = { 0 };

    assert_int_equal(python_parse(parser, program, strlen(program), &facts, &err), 0);
    if (!facts.valid)
        fail_msg("line %d: %s\n%s", facts.error_line, facts.error, program);
    python_facts_release(&facts);
}

static void assert_same_text(const char *name, const char *got, const char *wanted)
{
    size_t line = 1, i, start = 0;

    for (i = 0; got[i] && got[i] == wanted[i]; i++)
        if (got[i] == '\n') {
            line++;
            start = i + 1;
        }
    if (got[i] != wanted[i])
        fail_msg("%s.py differs at line %zu:\n  got    %.*s\n  wanted %.*s", name, line,
                 (int)strcspn(got + start, "\n"), got + start, (int)strcspn(wanted + start, "\n"), wanted + start);
}

static void programs_read_as_they_were_agreed(void **state)
{
    static const char *const names[] = { "greeter", "own_code", "knowledge" };
    size_t i;

    for (i = 0; i < ARRAY_LEN(names); i++) {
        struct read_result r;
        char path[256], *program = NULL, *again = NULL;
        struct buf wanted;

        snprintf(path, sizeof(path), "tests/golden/%s.json", names[i]);
        load(*state, path, &r);
        assert_int_equal(generate_program(&r.model, &session, &program, &r.err), 0);
        assert_int_equal(generate_program(&r.model, &session, &again, &r.err), 0);
        assert_string_equal(program, again);
        assert_valid(*state, program);
        buf_init(&wanted, 1u << 20);
        snprintf(path, sizeof(path), "tests/golden/%s.py", names[i]);
        assert_int_equal(io_read_file(path, &wanted, NULL), 0);
        assert_same_text(names[i], program, wanted.data);
        buf_release(&wanted);
        mem_free(program);
        mem_free(again);
        read_result_release(&r);
    }
}

static void a_plain_agent_needs_no_helpers_and_few_imports(void **state)
{
    auto_free char *program =
        program_of(*state, ", 'actions': ['a']", ", 'a': {'name': 'hi', 'actionType': 'TextReplyAction'}", "");

    assert_null(strstr(program, "import json"));
    assert_null(strstr(program, "def fill"));
    assert_null(strstr(program, "logger"));
    assert_null(strstr(program, " as "));
    assert_non_null(strstr(program, "\nstate_hub = agent.new_state('hub', initial=True)\n"));
}

#define CODE(text) ", 'a': {'actionType': 'CustomCodeAction', 'name': 'def f(session):\\n    " text "'}"

static void the_prefix_of_private_names_is_new_to_the_users_code(void **state)
{
    static const struct {
        const char *code, *line;
    } rows[] = {
        { CODE("pass"), "\nmy_agent = my_Agent(" },
        { CODE("dummy_x = 1"), "\nown_agent = own_Agent(" },
        { CODE("dummy_x = known_y = 1"), "\nour_agent = our_Agent(" },
        { CODE("dummy_x = known_y = your_z = 1"), "\nmyx_agent = myx_Agent(" },
        { CODE("my_ = own_ = our_ = myx_ = amyxxx_b = 1"), "\nmyxxxx_agent = myxxxx_Agent(" },
    };
    size_t i;

    for (i = 0; i < ARRAY_LEN(rows); i++) {
        auto_free char *program = program_of(*state, ", 'actions': ['a']", rows[i].code, "");

        assert_non_null(strstr(program, rows[i].line));
        assert_valid(*state, program);
    }
}

static void users_code_stands_as_drawn_and_is_captured_at_once(void **state)
{
    auto_free char *program = program_of(
        *state, ", 'actions': ['a', 'b']",
        ", 'a': {'actionType': 'CustomCodeAction', 'name': 'def g(session):\\r\\n\\tx = \\'\\'\\'a\\n b\\'\\'\\''}"
        ", 'b': {'actionType': 'CustomCodeAction', 'name': 'def g(session, n=2):\\n  return __name__'}",
        "");

    assert_non_null(strstr(program, "\n\n\ndef g(session):\r\n\tx = "));
    assert_non_null(
        strstr(program, "\n\n\nmy_code_hub = g\n\n\ndef g(session, n=2):\n  return __name__\n\n\nmy_code_hub_2 = g\n"));
    assert_non_null(strstr(program, "    my_code_hub(session)\n    my_code_hub_2(session)\n"));
    assert_non_null(strstr(program, "\nmy_main = __name__ == '__main__'\n"));
    assert_non_null(strstr(program, "\nif my_main:\n    my_agent.run()\n"));
    assert_valid(*state, program);
}

static void names_are_published_once_and_take_nothing_away(void **state)
{
    auto_free char *program = program_of(
        *state, ", 'actions': ['a']",
        CODE("pass") ", 'l1': {'type': 'AgentLLM', 'name': 'Big-1'}, 'l2': {'type': 'AgentLLM', 'name': 'big_1'}"
                     ", 'l3': {'type': 'AgentLLM', 'name': 'small'}, 'g': {'type': 'AgentRagElement', 'name': 'small'}"
                     ", 's2': {'type': 'AgentState', 'name': 'list'}, 's3': {'type': 'AgentState', 'name': 'agent'}"
                     ", 's4': {'type': 'AgentState', 'name': '__name__'}, 's5': {'type': 'AgentState', 'name': 'a.b'}"
                     ", 's6': {'type': 'AgentState', 'name': 'f'}, 's7': {'type': 'AgentState', 'name': 'class'}"
                     ", 's8': {'type': 'AgentState', 'name': 'menu'}, 's9': {'type': 'AgentState', 'name': 'my_agent'}",
        "");

    assert_non_null(strstr(program, "\nagent = my_agent\n"));
    assert_non_null(strstr(program, "\nAgentSession = my_Session\n"));
    assert_non_null(strstr(program, "\nLLMOpenAI = my_LLMOpenAI\n"));
    assert_non_null(strstr(program, "\nbig_1 = my_llm_big_1\n")); /* the first LLM keeps its name */
    assert_non_null(strstr(program, "\nmenu = my_state_menu\n"));
    assert_non_null(strstr(program, "\nhub = my_state_hub\n"));
    assert_null(strstr(program, "\nsmall = "));
    assert_null(strstr(program, "\nlist = "));
    assert_null(strstr(program, "\n__name__ = "));
    assert_null(strstr(program, "\nf = "));
    assert_null(strstr(program, "\nclass = "));
    assert_null(strstr(program, "= my_state_agent\n"));
    assert_null(strstr(program, "\nmy_agent = my_state"));
    assert_valid(*state, program);
}

static void an_action_without_llm_says_so_and_lets_the_body_go_on(void **state)
{
    auto_free char *program =
        program_of(*state, ", 'actions': ['a', 'b', 'c', 'd', 'r', 'e']",
                   ", 'a': {'actionType': 'LLMReplyAction', 'storeInSession': 'x'}, 'b': {'actionType': 'DBAction'}"
                   ", 'k': {'type': 'AgentRagElement', 'name': 'papers'}"
                   ", 'r': {'actionType': 'RAGReplyAction', 'ragDatabaseName': 'papers'}"
                   ", 'c': {'actionType': 'LLMChatAction'}, 'e': {'actionType': 'TextReplyAction', 'name': 'after'}"
                   ", 'd': {'actionType': 'WebCrawlLLMAction', 'initial_url': 'http://x'}",
                   "");

    assert_non_null(strstr(program, "    logger.warning('State %s: there is no LLM for this reply', 'hub')\n"));
    assert_non_null(strstr(
        program, "this database question', 'hub')\n    logger.warning('State %s: there is no LLM for this chat'"));
    assert_non_null(strstr(program, "    session.reply('after')\n"));
    assert_non_null(strstr(program, "there is no LLM for this answer from documents', 'hub')\n"));
    assert_null(strstr(program, "answer ="));
    assert_null(strstr(program, "predict"));
    assert_valid(*state, program);
}

static void a_body_that_does_nothing_is_still_a_function(void **state)
{
    auto_free char *program =
        program_of(*state, ", 'actions': ['a']",
                   ", 'a': {'actionType': 'DBAction', 'dbQueryMode': 'sql', 'sendReply': false}", "");

    assert_non_null(strstr(program, "def body_hub(session: Session):\n    pass\n"));
}

static void downloads_use_the_platform_that_was_chosen(void **state)
{
    static const struct generate_options download = { 0 };
    static const struct {
        enum platform platform;
        const char *download, *session;
    } rows[] = {
        { PLATFORM_DEFAULT, "use_websocket_platform(use_ui=True)", "use_websocket_platform(use_ui=False)" },
        { PLATFORM_WEBSOCKET, "use_websocket_platform(use_ui=False)", "use_websocket_platform(use_ui=False)" },
        { PLATFORM_STREAMLIT, "use_websocket_platform(use_ui=True)", "use_websocket_platform(use_ui=False)" },
        { PLATFORM_TELEGRAM, "use_telegram_platform()", "use_websocket_platform(use_ui=False)" },
    };
    struct model m = { .name = (char[]){ "A" }, .default_llm = MODEL_NONE };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        char *program = NULL;

        m.settings.platform = rows[i].platform;
        assert_int_equal(generate_program(&m, &download, &program, NULL), 0);
        assert_non_null(strstr(program, rows[i].download));
        mem_free(program);
        assert_int_equal(generate_program(&m, &session, &program, NULL), 0);
        assert_non_null(strstr(program, rows[i].session));
        mem_free(program);
    }
}

static void a_personalization_mapping_sets_configurations_and_speech(void **state)
{
    char *keys[] = { (char[]){ "name" }, (char[]){ "configuration" } }, *modality = (char[]){ "outputModalities" };
    struct value speech = { .kind = VALUE_STRING, .string = (char[]){ "SPEECH" } };
    struct value list = { .kind = VALUE_ARRAY, .items = &speech, .len = 1 };
    struct value members[] = {
        { .kind = VALUE_STRING, .string = (char[]){ "it's young-riders" } },
        { .kind = VALUE_OBJECT, .keys = &modality, .items = &list, .len = 1 },
    };
    struct value entries[] = { { .kind = VALUE_OBJECT, .keys = keys, .items = members, .len = 2 },
                               { .kind = VALUE_OBJECT } };
    struct model m = {
        .name = (char[]){ "A" },
        .default_llm = MODEL_NONE,
        .settings.personalization = { .kind = VALUE_ARRAY, .items = entries, .len = 2 },
    };
    struct err err = { 0 };
    char *program = NULL;

    (void)state;
    assert_int_equal(generate_program(&m, &session, &program, &err), 0);
    assert_non_null(strstr(program, "agent.set_agent_configurations({\n"
                                    "    'it\\x27s_young_riders': {'outputModalities': ['SPEECH']},\n"
                                    "    'variant_2': {},\n})\n"));
    assert_non_null(strstr(program, "\ntts = OpenAIText2Speech("));
    assert_null(strstr(program, "stt"));
    mem_free(program);
    speech = (struct value){ .kind = VALUE_DOUBLE, .number = __builtin_inf() };
    assert_int_equal(generate_program(&m, &session, &program, &err), -1);
    assert_int_equal(err.kind, ERR_BAD_REQUEST);
    assert_non_null(strstr(err.msg, "personalizationMapping[0]"));
}

static void short_memory_is_an_error_and_leaks_nothing(void **state)
{
    static const char *const names[] = { "own_code", "knowledge" };
    size_t i;

    for (i = 0; i < ARRAY_LEN(names); i++) {
        struct read_result r;
        char path[256];

        snprintf(path, sizeof(path), "tests/golden/%s.json", names[i]);
        load(*state, path, &r);
        OOM_SWEEP({
            struct bundle b = { 0 };
            struct err err = { 0 };
            int result = generate_bundle(&r.model, &session, &b, &err);

            assert_int_equal(result, oom_hit() ? -1 : 0);
            assert_true(result == 0 || (err.kind == ERR_INTERNAL && !b.files));
            bundle_release(&b);
        });
        read_result_release(&r);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs_read_as_they_were_agreed),
        cmocka_unit_test(a_plain_agent_needs_no_helpers_and_few_imports),
        cmocka_unit_test(the_prefix_of_private_names_is_new_to_the_users_code),
        cmocka_unit_test(users_code_stands_as_drawn_and_is_captured_at_once),
        cmocka_unit_test(names_are_published_once_and_take_nothing_away),
        cmocka_unit_test(an_action_without_llm_says_so_and_lets_the_body_go_on),
        cmocka_unit_test(a_body_that_does_nothing_is_still_a_function),
        cmocka_unit_test(downloads_use_the_platform_that_was_chosen),
        cmocka_unit_test(a_personalization_mapping_sets_configurations_and_speech),
        cmocka_unit_test(short_memory_is_an_error_and_leaks_nothing),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
