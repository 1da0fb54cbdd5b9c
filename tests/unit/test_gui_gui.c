/* Objects of the metamodel and the table of their classes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "shared/base/mem.h"
#include "shared/gui/gui.h"
#include "tests/support/oom.h"

static void every_kind_has_a_class_of_its_own(void **state)
{
    int kind;

    (void)state;
    for (kind = 0; kind < GUI__KINDS; kind++) {
        const struct gui_class *c = gui_class((enum gui_kind)kind);
        enum gui_kind found = GUI__KINDS;

        assert_non_null(c->name);
        assert_true(c->arguments_len > 0);
        assert_int_equal(gui_class_find(c->name, &found), 0);
        assert_int_equal(found, kind);
    }
    assert_int_equal(gui_class_find("Nothing", &(enum gui_kind){ GUI_MODEL }), -1);
}

static void a_class_has_its_parts_in_one_argument(void **state)
{
    int kind;

    (void)state;
    for (kind = 0; kind < GUI__KINDS; kind++) {
        const struct gui_class *c = gui_class((enum gui_kind)kind);
        size_t i, parts = 0;

        for (i = 0; i < c->arguments_len; i++) {
            parts += c->arguments[i].type == GUI_SET || c->arguments[i].type == GUI_LIST;
            assert_int_equal(c->arguments[i].type == GUI_MEMBER, c->arguments[i].enumeration != NULL);
        }
        assert_true(parts <= 1);
    }
}

static void slots_keep_what_was_set_last(void **state)
{
    struct gui_object *o = gui_object_new(GUI_INPUT), *list = gui_object_new(GUI_SOURCE);

    (void)state;
    assert_null(gui_slot(o, "label"));
    assert_null(gui_slot(o, "no_such_argument"));
    assert_int_equal(gui_set_text(o, "label", "a"), 0);
    assert_int_equal(gui_set_text(o, "label", "b"), 0);
    assert_string_equal(gui_text(o, "label"), "b");
    assert_int_equal(gui_set_text(o, "label", NULL), 0);
    assert_null(gui_text(o, "label"));
    gui_set_bool(o, "required", false);
    assert_false(gui_slot(o, "required")->flag);
    gui_set_float(o, "step", 0.5);
    assert_true(gui_slot(o, "step")->number == 0.5);
    gui_set_member(o, "field_type", "Text");
    assert_string_equal(gui_slot(o, "field_type")->member, "Text");
    assert_int_equal(gui_add_text(list, "field_names", "x"), 0);
    assert_int_equal(gui_add_text(list, "field_names", "y"), 0);
    assert_int_equal(gui_slot(list, "field_names")->texts.len, 2);
    gui_object_free(o);
    gui_object_free(list);
    gui_object_free(NULL);
}

static void memory_may_run_out_anywhere(void **state)
{
    (void)state;
    OOM_SWEEP({
        struct gui_object *o = gui_object_new(GUI_MENU);
        struct gui_object *item = gui_object_new(GUI_MENU_ITEM);

        if (o && item && gui_set_text(item, "label", "x") == 0 && gui_add_part(o, item) == 0)
            item = NULL;
        gui_object_free(item);
        gui_object_free(o);
    });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_has_a_class_of_its_own),
        cmocka_unit_test(a_class_has_its_parts_in_one_argument),
        cmocka_unit_test(slots_keep_what_was_set_last),
        cmocka_unit_test(memory_may_run_out_anywhere),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
