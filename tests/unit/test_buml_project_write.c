#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "shared/base/buf.h"
#include "shared/base/mem.h"
#include "shared/buml/project_write.h"
#include "shared/buml/write.h"
#include "shared/json/json.h"
#include "tests/support/diagram.h"
#include "tests/support/gui.h"
#include "tests/support/oom.h"

#define AGENT(title) \
    "{'title':'" title "','model':{'type':'AgentDiagram','elements':{'i':{'type':'StateInitialNode'}," \
    "'s':{'type':'AgentState','name':'agent_2'}},'relationships':{'r':{'type':'AgentStateTransitionInit'," \
    "'source':{'element':'i'},'target':{'element':'s'}}}}}"
struct outcome {
    int rc;
    struct buf text;
    struct findings f;
    struct err err;
};

static void write(const char *project, struct outcome *ret)
{
    auto_free char *json = quoted(project);
    struct json_error e;
    cJSON *tree = json_parse(json, strlen(json), &e);

    if (!tree)
        fail_msg("%s", e.message);
    *ret = (struct outcome){ 0 };
    buf_init(&ret->text, SIZE_MAX / 2);
    findings_init(&ret->f);
    ret->rc = buml_write_project(tree, NULL, &ret->text, &ret->f, &ret->err);
    cJSON_Delete(tree);
}

static void drop(struct outcome *o)
{
    buf_release(&o->text);
    findings_release(&o->f);
}

static void one_agent_has_its_own_banner(void **state)
{
    static const char head[] = BUML_VERSION_COMMENT "###############\n# AGENT MODEL #\n###############\n";
    struct outcome o;

    (void)state;
    write("{'name':'P','owner':'me','diagrams':{'AgentDiagram':[" AGENT("One") "],'ClassDiagram':[{'model':{}}]}}", &o);
    assert_int_equal(o.rc, 0);
    assert_memory_equal(o.text.data, head, sizeof(head) - 1);
    assert_has(o.text.data, "\nagent = Agent('One')\n");
    assert_has(o.text.data, "\n\n######################\n# PROJECT DEFINITION #\n######################\n\n");
    assert_has(o.text.data, "metadata = Metadata(description='')\nproject = Project(\n    name='P',\n"
                            "    models=[agent],\n    owner='me',\n    metadata=metadata,\n)\n");
    drop(&o);
}

static void several_agents_have_numbers(void **state)
{
    struct outcome o;

    (void)state;
    write("{'name':'My first-project','diagrams':{'AgentDiagram':[" AGENT("One") "," AGENT("a#b") "]}}", &o);
    assert_int_equal(o.rc, 0);
    assert_has(o.text.data, BUML_VERSION_COMMENT "# AGENT MODEL 1: \"One\" #\nimport datetime\n");
    assert_has(o.text.data, "\n\n# AGENT MODEL 2 #\nimport datetime\n");
    assert_has(o.text.data, "agent_2_2 = agent_1.new_state('agent_2', initial=True)\n");
    assert_has(o.text.data, "agent_2 = Agent('a#b')\n");
    assert_has(o.text.data, "    name='My_first_project',\n    models=[agent_1, agent_2],\n");
    assert_lacks(o.text.data, "# AGENT MODEL #");
    drop(&o);
}

static void a_project_may_be_empty(void **state)
{
    struct outcome o;

    (void)state;
    write("{'name':'','diagrams':{'AgentDiagram':[{'model':{'type':'AgentDiagram','elements':{}}}]}}", &o);
    assert_int_equal(o.rc, 0);
    assert_has(o.text.data, "    name='Project',\n    models=[],\n");
    drop(&o);
}

static void other_kinds_are_named(void **state)
{
    struct outcome o;

    (void)state;
    write("{'name':'P','diagrams':{'ClassDiagram':{'model':{'elements':{'a':{}}}},'AgentDiagram':[" AGENT(
              "One") "],"
                     "'GUINoCodeDiagram':[{'model':{'pages':[{}]}}],'BPMNDiagram':[{'model':{}}]}}",
          &o);
    assert_int_equal(o.rc, -1);
    assert_int_equal(o.err.kind, ERR_BAD_REQUEST);
    assert_has(o.err.msg, "\"ClassDiagram\", \"GUINoCodeDiagram\"");
    assert_lacks(o.err.msg, "BPMN");
    drop(&o);
}

static void a_wrong_diagram_is_named(void **state)
{
    struct outcome o;

    (void)state;
    write("{'name':'P','diagrams':{'AgentDiagram':[" AGENT("One") "," AGENT("a-b") "]}}", &o);
    assert_int_equal(o.rc, -1);
    assert_int_equal(o.f.errors, 1);
    assert_has(o.f.items[o.f.len - 1].message, "Agent diagram 2 (\"a-b\")");
    drop(&o);
}

static void short_memory_is_an_error(void **state)
{
    auto_free char *json = quoted("{'name':'P','diagrams':{'AgentDiagram':[" AGENT("One") "," AGENT("Two") "]}}");
    struct json_error e;
    cJSON *tree = json_parse(json, strlen(json), &e);

    (void)state;
    assert_non_null(tree);
    OOM_SWEEP({
        struct outcome o = { 0 };

        buf_init(&o.text, SIZE_MAX / 2);
        findings_init(&o.f);
        o.rc = buml_write_project(tree, NULL, &o.text, &o.f, &o.err);
        assert_true(o.rc == 0 || o.err.kind || o.f.errors);
        assert_true(o.rc < 0 || !oom_hit());
        drop(&o);
    });
    cJSON_Delete(tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_agent_has_its_own_banner), cmocka_unit_test(several_agents_have_numbers),
        cmocka_unit_test(a_project_may_be_empty),       cmocka_unit_test(other_kinds_are_named),
        cmocka_unit_test(a_wrong_diagram_is_named),     cmocka_unit_test(short_memory_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
