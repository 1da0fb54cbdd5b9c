/* An uploaded file as the answer to its upload, when memory is short and when it is not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "shared/buml/import.h"
#include "tests/support/diagram.h"
#include "tests/support/oom.h"

typedef int import_fn(const struct buml_upload *upload, struct python_parser *parser, cJSON **ret, struct findings *f,
                      struct err *err);

static const char agent_file[] = "agent = Agent('Desk')\n"
                                 "s = agent.new_state('s', initial=True)\n"
                                 "d = agent.new_state('d')\n"
                                 "b = Body('s_body')\n"
                                 "b.add_action(AgentReply('Hello'))\n"
                                 "s.set_body(b)\n"
                                 "s.when_no_intent_matched().go_to(d)\n"
                                 "agent.frobnicate(3)\n";

static const char project_file[] = "# AGENT MODEL #\n"
                                   "agent = Agent('Desk')\n"
                                   "s = agent.new_state('s', initial=True)\n"
                                   "# PROJECT DEFINITION #\n"
                                   "metadata = Metadata(description='d')\n"
                                   "project = Project(name='P', models=[agent], owner='o', metadata=metadata)\n";

static int start(void **state)
{
    *state = test_parser();
    return 0;
}

static int end(void **state)
{
    python_parser_free(*state);
    return 0;
}

/* How often it worked; each failure has to say why. */
static unsigned sweep(import_fn *import, const char *text, struct python_parser *p, const char *member)
{
    const struct buml_upload upload = { "desk.py", text, strlen(text) };
    unsigned whole = 0;

    OOM_SWEEP({
        struct err err = { 0 };
        cJSON *answer = NULL;
        struct findings f;

        findings_init(&f);
        if (import(&upload, p, &answer, &f, &err) == 0) {
            assert_non_null(cJSON_GetObjectItemCaseSensitive(answer, member));
            cJSON_Delete(answer);
            whole++;
        } else {
            assert_null(answer);
            assert_true(oom_hit());
            assert_int_not_equal(err.kind, ERR_NONE);
        }
        findings_release(&f);
    });
    return whole;
}

static void a_diagram_is_whole_or_an_error(void **state)
{
    assert_true(sweep(buml_import_diagram, agent_file, *state, "model") > 0);
}

static void a_project_is_whole_or_an_error(void **state)
{
    assert_true(sweep(buml_import_project, project_file, *state, "diagrams") > 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_diagram_is_whole_or_an_error),
        cmocka_unit_test(a_project_is_whole_or_an_error),
    };

    return cmocka_run_group_tests(tests, start, end);
}
