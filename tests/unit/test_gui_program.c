/* GUIs in whole programs: which files there are, and what the program does for them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "shared/base/buf.h"
#include "shared/generate/generate.h"
#include "tests/support/diagram.h"
#include "tests/support/gui.h"

static const struct generate_options session = { .session = true, .host = "127.0.0.1", .port = 8765 };

static int bundle_of(const char *hub, const char *elements, struct bundle *ret, struct err *err)
{
    struct read_result r;
    int rc;

    read_parts(hub, elements, "", NULL, &r);
    if (r.rc < 0)
        fail_msg("%s", r.findings.len ? r.findings.items[0].message : r.err.msg);
    rc = generate_bundle(&r.model, &session, ret, err);
    read_result_release(&r);
    return rc;
}

#define REPLY(id, gui) ", '" id "': {'type': 'AgentStateBody', 'actionType': 'GUIReplyAction', 'guiId': '" gui "'}"
#define GUI(id, gui, more) ", '" id "': {'type': 'AgentGUI', 'gui_id': '" gui "'" more "}"

static void each_gui_that_is_replied_has_a_module_of_its_own(void **state)
{
    struct bundle b = { 0 };
    struct err err = { 0 };

    (void)state;
    assert_int_equal(bundle_of(", 'actions': ['r1', 'r2']",
                               REPLY("r1", "a b") REPLY("r2", "a_b") GUI("g1", "a b", "") GUI("g2", "a_b", "")
                                   GUI("g3", "unused", ""),
                               &b, &err),
                     0);
    assert_int_equal(bundle_find(&b, "guis/__init__.py")->size, 0);
    assert_has(bundle_find(&b, "guis/a_b.py")->content, "gui_id='a b'");
    assert_has(bundle_find(&b, "guis/a_b_2.py")->content, "gui_id='a_b'");
    assert_null(bundle_find(&b, "guis/unused.py"));
    assert_has(bundle_find(&b, "agent.py")->content, "from guis.a_b_2 import gui as ");
    bundle_release(&b);
}

static void a_gui_without_width_takes_that_of_its_first_reply(void **state)
{
    static const struct {
        const char *elements, *said;
    } rows[] = {
        { REPLY("a", "g' ,'width':'9px") REPLY("b", "g' ,'width':'1px") GUI("g1", "g", ""), "width='9px')" },
        { REPLY("a", "g' ,'width':'9px") REPLY("b", "g") GUI("g1", "g", ", 'width': '50%'"), "width='50%')" },
        { REPLY("a", "g") REPLY("b", "g' ,'width':'1px") GUI("g1", "g", ""), "persist=True)" },
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        struct bundle b = { 0 };
        struct err err = { 0 };

        assert_int_equal(bundle_of(", 'actions': ['a', 'b']", rows[i].elements, &b, &err), 0);
        assert_has(bundle_find(&b, "guis/g.py")->content, rows[i].said);
        bundle_release(&b);
    }
}

static void inputs_are_stored_first_where_a_gui_keeps_them(void **state)
{
    static const char hook[] = "agent.receive_event = inputs_first(agent.receive_event)\n";
    struct bundle b = { 0 };
    struct err err = { 0 };

    (void)state;
    assert_int_equal(bundle_of(", 'actions': ['r']", REPLY("r", "g") GUI("g1", "g", ""), &b, &err), 0);
    assert_has(bundle_find(&b, "agent.py")->content, hook);
    bundle_release(&b);
    b = (struct bundle){ 0 };
    assert_int_equal(bundle_of(", 'actions': ['r']",
                               REPLY("r", "g") GUI("g1", "g", ", 'persist': false") GUI("g2", "unused", ""), &b, &err),
                     0);
    assert_lacks(bundle_find(&b, "agent.py")->content, "inputs_first");
    bundle_release(&b);
}

static void a_design_beyond_the_limits_is_a_bad_request(void **state)
{
    auto_buf struct buf elements;
    struct bundle b = { 0 };
    struct err err = { 0 };
    int i;

    (void)state;
    buf_init(&elements, 1 << 20);
    buf_add_str(&elements, REPLY("r", "big") ", 'g': {'type': 'AgentGUI', 'gui_id': 'big', 'guiModel': {'pages':"
                                             " [{'frames': [{'component': {'components': [0");
    for (i = 0; i < 30000; i++)
        buf_add_str(&elements, ",0");
    buf_add_str(&elements, "]}}]}]}}");
    assert_int_equal(bundle_of(", 'actions': ['r']", elements.data, &b, &err), -1);
    assert_int_equal(err.kind, ERR_BAD_REQUEST);
    assert_has(err.msg, "big");
    bundle_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_gui_that_is_replied_has_a_module_of_its_own),
        cmocka_unit_test(a_gui_without_width_takes_that_of_its_first_reply),
        cmocka_unit_test(inputs_are_stored_first_where_a_gui_keeps_them),
        cmocka_unit_test(a_design_beyond_the_limits_is_a_bad_request),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
