#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "shared/base/mem.h"
#include "shared/generate/stems.h"
#include "tests/support/oom.h"

static void stems_are_safe_and_unique_whatever_their_case(void **state)
{
    static const struct {
        const char *name, *stem;
        bool lowered;
    } rows[] = {
        { "Menu", "Menu", false },       { "menu", "menu_2", false },         { "MENU", "menu_3", true },
        { "../up", "_up", false },       { "..", "unnamed", false },          { "unnamed", "unnamed_2", false },
        { "menu_3", "menu_3_2", false }, { "Agent.py", "Agent.py_2", false },
    };
    struct str_list made = { 0 };
    struct stems s;
    size_t i;

    (void)state;
    stems_init(&s);
    assert_int_equal(stems_reserve(&s, "agent.py"), 0);
    assert_int_equal(stems_reserve(&s, "agent.py"), 0);
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        assert_int_equal(stems_add(&s, rows[i].name, rows[i].lowered, &made), 0);
        assert_string_equal(made.items[i], rows[i].stem);
    }
    str_list_release(&made);
    stems_release(&s);
}

static void short_memory_is_said(void **state)
{
    (void)state;
    OOM_SWEEP({
        struct str_list made = { 0 };
        struct stems s;
        int result;

        stems_init(&s);
        result = stems_reserve(&s, "a");
        if (result == 0)
            result = stems_add(&s, "A", false, &made);
        assert_int_equal(result, oom_hit() ? -1 : 0);
        str_list_release(&made);
        stems_release(&s);
    });
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(stems_are_safe_and_unique_whatever_their_case),
        cmocka_unit_test(short_memory_is_said),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
