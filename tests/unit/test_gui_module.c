#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "shared/base/mem.h"
#include "shared/gui/module.h"
#include "tests/support/gui.h"
#include "tests/support/oom.h"

static char *module_of(struct gui g)
{
    struct err err = { 0 };
    char *text = NULL;

    if (gui_module_text(&g, NULL, &text, &err) < 0)
        fail_msg("%s", err.msg);
    return text;
}

static void a_module_defines_its_gui(void **state)
{
    char id[] = "it's a \"GUI\"\n", width[] = "80%", none[] = "";
    auto_free char *plain = module_of((struct gui){ .gui_id = id, .persist = true, .width = none });
    auto_free char *narrow = module_of((struct gui){ .gui_id = id, .width = width });
    static const char head[] = "#############\n# GUI MODEL #\n#############\n\n"
                               "from baf.core.gui.agent_gui import AgentGUI\n"
                               "from besser.BUML.metamodel.gui import (\n    GUIModel,\n    Module,\n)\n\n"
                               "gui_module = Module(name='GUI_Module', screens=set())\n";

    (void)state;
    assert_memory_equal(plain, head, sizeof(head) - 1);
    assert_has(plain, "\ngui = AgentGUI(model=gui_model, gui_id='it\\x27s a \\x22GUI\\x22\\n', persist=True)\n");
    assert_has(narrow, ", persist=False, width='80%')\n");
}

static void only_what_is_used_is_imported(void **state)
{
    char id[] = "g";
    struct gui g = { .gui_id = id,
                     .design = test_design("{'pages': [{'frames': [{'component': {'components':"
                                           " [{'type': 'pie-chart'}]}}]}]}") };
    auto_free char *text = module_of(g);

    (void)state;
    assert_has(text, "from besser.BUML.metamodel.gui.dashboard import (\n    PieChart,\n)\n");
    assert_has(text, "from besser.BUML.metamodel.gui.style import (\n    Alignment,\n)\n");
    assert_lacks(text, "events_actions");
    assert_lacks(text, "besser.utilities");
    value_release(&g.design);
}

static void a_builder_is_a_function_without_parameters(void **state)
{
    char id[] = "g";
    struct gui g = { .gui_id = id };
    auto_buf struct buf text;
    struct err err = { 0 };

    (void)state;
    buf_init(&text, 10000);
    assert_int_equal(gui_builder_text(&g, "_agent_gui_0_g", &text, &err), 0);
    assert_has(text.data, "def _agent_gui_0_g():\n    from besser.BUML.metamodel.gui import (\n        GUIModel,\n");
    assert_has(text.data, "\n    gui_module = Module(name='GUI_Module', screens=set())\n    gui_model = GUIModel(\n");
    assert_has(text.data, "    )\n    return gui_model\n");
    assert_lacks(text.data, "#");
}

static void a_refused_design_names_its_gui(void **state)
{
    char id[] = "sign\nup", *text = NULL;
    struct gui g = { .gui_id = id };
    struct err err = { 0 };
    auto_buf struct buf design;
    int i;

    (void)state;
    buf_init(&design, 1 << 20);
    buf_add_str(&design, "{'pages': [{'frames': [{'component': {'components': [");
    for (i = 0; i < 30000; i++)
        buf_add_str(&design, i ? ",1" : "1");
    buf_add_str(&design, "]}}]}]}");
    g.design = test_design(design.data);
    assert_int_equal(gui_module_text(&g, NULL, &text, &err), -1);
    assert_int_equal(err.kind, ERR_BAD_REQUEST);
    assert_has(err.msg, "sign");
    assert_null(strchr(err.msg, '\n'));
    assert_null(text);
    value_release(&g.design);
}

static void memory_may_run_out_anywhere(void **state)
{
    char id[] = "g";
    struct gui g = { .gui_id = id, .persist = true };
    struct err err = { 0 };

    (void)state;
    OOM_SWEEP({
        struct buf builder;
        char *text = NULL;

        buf_init(&builder, 10000);
        assert_true(gui_module_text(&g, NULL, &text, &err) == 0 || !text);
        if (gui_builder_text(&g, "f", &builder, &err) < 0)
            assert_int_equal(err.kind, ERR_INTERNAL);
        else
            assert_has(builder.data, "return gui_model");
        buf_release(&builder);
        mem_free(text);
    });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_module_defines_its_gui),
        cmocka_unit_test(only_what_is_used_is_imported),
        cmocka_unit_test(a_builder_is_a_function_without_parameters),
        cmocka_unit_test(a_refused_design_names_its_gui),
        cmocka_unit_test(memory_may_run_out_anywhere),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
