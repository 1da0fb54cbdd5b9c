/* What the reader of B-UML texts refuses, and why: broken files, limits, short memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "shared/base/buf.h"
#include "shared/base/mem.h"
#include "shared/buml/file.h"
#include "shared/buml/read.h"
#include "tests/support/diagram.h"
#include "tests/support/model_dump.h"
#include "tests/support/oom.h"

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

#define AGENT "agent = Agent('A')\n"
#define STATE AGENT "s = agent.new_state('s', initial=True)\n"
#define TWO STATE "d = agent.new_state('d')\n"

#define SHOWN_IN(model) "agent.add_gui_model('g', " model ")\n"

static void refused(struct python_parser *p, const char *text, size_t len, const char *why)
{
    struct err err = { 0 };
    struct findings f;
    struct model m;

    findings_init(&f);
    assert_int_equal(buml_read(text, len, p, &m, &f, &err), -1);
    if (!strstr(err.msg, why))
        fail_msg("\"%s\" does not say %s", err.msg, why);
    assert_true(err.kind == ERR_BAD_REQUEST || err.kind == ERR_TOO_LARGE);
    findings_release(&f);
}

static void broken_files_are_refused_with_their_place(void **state)
{
    static const struct {
        const char *text;
        size_t len;
        const char *why;
    } rows[] = {
#define TEXT_ROW(text, why) { text, sizeof(text) - 1, why }
        TEXT_ROW("a = Agent('x'\nb = 1\n", "line 1, column 10"),
        TEXT_ROW("a = 1\n  b = 2\n", "line 2"),
        TEXT_ROW("a = '\xff'\n", "not UTF-8"),
        TEXT_ROW("a = '\xed\xa0\x80'\n", "not UTF-8"),
        TEXT_ROW("a = 1\0\n", "null bytes"),
        TEXT_ROW("if a:\n\tb\n        c\n", "line 3"),
    };
    size_t i;

    for (i = 0; i < ARRAY_LEN(rows); i++)
        refused(*state, rows[i].text, rows[i].len, rows[i].why);
}

static void repeat(struct buf *b, const char *piece, size_t times)
{
    size_t i;

    for (i = 0; i < times; i++)
        buf_add_str(b, piece);
}

static void limits_are_named(void **state)
{
    struct buf b;

    buf_init(&b, 8u << 20);
    repeat(&b, "#", BUML_UPLOAD_MAX + 1);
    refused(*state, b.data, b.len, "2 MiB");
    buf_clear(&b);
    buf_add_str(&b, "x = ");
    repeat(&b, "[", 120);
    repeat(&b, "]", 120);
    refused(*state, b.data, b.len, "100 levels");
    buf_clear(&b);
    buf_add_str(&b, "def f(a):\n    for x in a:\n        y = x\nl = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]\n");
    repeat(&b, "l = l + l\n", 14);
    repeat(&b, "f(l)\n", 10);
    refused(*state, b.data, b.len, "steps");
    buf_clear(&b);
    buf_add_str(&b, "a = Agent('a')\nt = 'xxxxxxxxxxxxxxxx'\n");
    repeat(&b, "t = t + t\n", 40);
    refused(*state, b.data, b.len, "96 MiB");
    buf_release(&b);
}

static void a_gui_that_holds_itself_is_refused(void **state)
{
    static const char text[] =
        AGENT "x = ViewContainer('c', 'd', set())\nx.view_elements = {x}\np = Screen('p', '', {x})\n"
              "m = GUIModel('G', '', '1', '1', {Module('M', {p})}, '')\n" SHOWN_IN("m");

    refused(*state, text, strlen(text), "GUI \"g\" has more than");
}

static void a_builder_has_limits(void **state)
{
    struct buf b;

    buf_init(&b, 8u << 20);
    buf_add_str(&b, AGENT "def _agent_gui_0_g():\n    x = [");
    repeat(&b, "1,", 20000);
    buf_add_str(&b, "]\n" SHOWN_IN("_agent_gui_0_g()"));
    refused(*state, b.data, b.len, "GUI \"g\": its text has more than 20000 parts");
    buf_clear(&b);
    buf_add_str(&b, AGENT "def _agent_gui_0_g():\n    x = '");
    repeat(&b, "1", 1000000);
    buf_add_str(&b, "'\n" SHOWN_IN("_agent_gui_0_g()"));
    refused(*state, b.data, b.len, "more than 1000000 characters");
    buf_clear(&b);
    buf_add_str(&b, AGENT "def _agent_gui_0_g():\n    x = ");
    repeat(&b, "[", 85);
    repeat(&b, "]", 85);
    buf_add_str(&b, "\n" SHOWN_IN("_agent_gui_0_g()"));
    refused(*state, b.data, b.len, "more than 80 levels");
    buf_release(&b);
}

static void a_tree_of_too_many_nodes_is_refused(void **state)
{
    struct err err = { 0 };
    struct tree tree;
    struct buf b;

    (void)state;
    buf_init(&b, 32u << 20);
    buf_add_str(&b, "{\"_\":\"Module\",\"body\":[{\"_\":\"Pass\"}");
    repeat(&b, ",{\"_\":\"Pass\"}", BUML_NODES_MAX - 2);
    buf_add_str(&b, "]}");
    assert_int_equal(buml_tree_read(b.data, &tree, &err), 0);
    assert_int_equal(tree.nodes, BUML_NODES_MAX);
    buml_tree_release(&tree);
    b.len -= 2;
    buf_add_str(&b, ",{\"_\":\"Pass\"}]}");
    assert_int_equal(buml_tree_read(b.data, &tree, &err), -1);
    assert_non_null(strstr(err.msg, "200000 parts"));
    buf_release(&b);
}

static void what_is_no_tree_is_refused(void **state)
{
    static const char *const rows[] = {
        "",
        "[]",
        "{}",
        "{\"_\":7}",
        "{\"_\":\"Expr\"}",
        "{\"_\":\"Module\",\"body\":[{\"_\":\"Expr\"}]}",
        "{\"_\":\"Module\",\"body\":[7]}",
        "{\"_\":\"Module\",\"body\":[{\"_\":\"Name\"}]}",
        "{\"_\":\"Module\",\"body\":[{\"_\":\"Attribute\",\"attr\":\"x\"}]}",
        "{\"_\":\"Module\",\"body\":[{\"_\":\"Call\",\"func\":null}]}",
        "{\"_\":\"Module\",\"body\":",
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        struct err err = { 0 };
        struct tree tree;

        assert_int_equal(buml_tree_read(rows[i], &tree, &err), -1);
        assert_int_equal(err.kind, ERR_UPSTREAM);
    }
}

static void a_long_chain_is_not_deep(void **state)
{
    struct findings f;
    struct model m;
    struct err err = { 0 };
    struct buf b;

    buf_init(&b, 1u << 20);
    buf_add_str(&b, TWO "k = Condition('c', source='def c(session): return 2')\ns.when_condition(k)");
    repeat(&b, ".with_condition(k)", 150);
    buf_add_str(&b, ".go_to(d)\nx = 'a'");
    repeat(&b, " + 'a'", 300);
    findings_init(&f);
    if (buml_read(b.data, b.len, *state, &m, &f, &err) < 0)
        fail_msg("%s", err.msg);
    assert_int_equal(m.states[0].transitions[0].conditions_len, 151);
    assert_int_equal(f.len, 0);
    model_release(&m);
    findings_release(&f);
    buf_release(&b);
}

/* ---- short memory -------------------------------------------------------------------------------------------------
 */

static const char everything[] =
    "from x import Agent as A\nimport operator\n"
    "agent = A('A', metadata=Metadata(description='d'))\n"
    "m = agent.new_llm('g', 'openai', {'a': [1, {'b': 'c'}]}, 2, 'ctx')\nagent.set_default_llm('g')\n"
    "agent.new_tool('t', 'd', 'def t(): pass')\nagent.new_skill('k', 'c')\nagent.new_workspace('w', 'w', 'd')\n"
    "v = RAGVectorStore('ollama', {'base_url': 'u', 'model': 'm'})\nagent.new_rag('r', v, None, 'g', 'p')\n"
    "i = agent.new_intent('i', ['a'] + ['b'], description='x')\n"
    "s = agent.new_state('s', initial=True)\nd = agent.new_reasoning_state('d', m)\ns.metadata = Metadata('y')\n"
    "def f(session):\n    return 1\n"
    "b = Body('b', actions=[AgentReply('x' + 'y'), CustomCodeAction(callable=f), WebSocketReplyOptions(['1', '2']),\n"
    "    GUIReplyAction('gui', width='1px'), RAGReply('r'), f])\ns.set_body(b)\n"
    "def g(session):\n    session.reply('a')\ns.set_fallback_body(g)\n"
    "def _agent_gui_0_gui():\n    t = Text(name='t', content='c', description='', display_order=0, css_classes=['a'],\n"
    "        custom_attributes={'id': 'x'}, styling=Styling(size=Size(width='1px'), position=Position()))\n"
    "    n = Button(name='n', description='', label='l')\n"
    "    p = Screen('p', '', {t, n})\n    n.targetScreen = p\n"
    "    n.events = {Event('e', EventType.OnClick, actions={Transition('x', p)})}\n"
    "    gui_model = GUIModel('G', '', '1', '1', {Module('M', {p})}, '')\n    return gui_model\n"
    "agent.add_gui_model('gui', _agent_gui_0_gui())\n"
    "s.when_intent_matched(i).go_to(d)\ns.when_variable_matches_operation('x', operator.eq, [1]).go_to(d)\n"
    "s.when_file_received(['pdf']).go_to(d)\ns.when_form_submitted('gui').go_to(d)\n"
    "s.when_event(GUIEvent('gui')).with_condition(Condition('c', lambda session: "
    "True)).go_to(d)\ns.go_to(d)\nprint(1)\n";

static void short_memory_is_an_error(void **state)
{
    auto_free char *json = NULL;
    unsigned long whole = 0;
    struct err err = { 0 };

    if (python_tree(*state, everything, strlen(everything), &json, &err) < 0)
        fail_msg("%s", err.msg);
    OOM_SWEEP({
        struct buml_file file;
        struct findings f;
        struct model m;

        findings_init(&f);
        err_clear(&err);
        if (buml_file_take(everything, strlen(everything), json, &file, &err) == 0) {
            if (buml_file_read(&file, 1, (int)file.lines_len, NULL, &m, &f, &err) == 0) {
                assert_int_equal(m.states_len, 2);
                whole++;
                model_release(&m);
            } else {
                assert_int_not_equal(err.kind, ERR_NONE);
            }
            buml_file_close(&file);
        } else {
            assert_int_not_equal(err.kind, ERR_NONE);
        }
        findings_release(&f);
    });
    assert_true(whole > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(broken_files_are_refused_with_their_place),
        cmocka_unit_test(limits_are_named),
        cmocka_unit_test(a_gui_that_holds_itself_is_refused),
        cmocka_unit_test(a_builder_has_limits),
        cmocka_unit_test(a_tree_of_too_many_nodes_is_refused),
        cmocka_unit_test(what_is_no_tree_is_refused),
        cmocka_unit_test(a_long_chain_is_not_deep),
        cmocka_unit_test(short_memory_is_an_error),
    };

    return cmocka_run_group_tests(tests, start, end);
}
