#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "shared/base/mem.h"
#include "supervisor/sandbox/strv.h"
#include "tests/support/oom.h"

static void it_grows_and_ends_with_null(void **state)
{
    struct strv s = { 0 };
    int i;

    (void)state;
    assert_null(s.v);
    for (i = 0; i < 100; i++)
        strv_add_fmt(&s, "%d", i);
    assert_int_equal(s.n, 100);
    assert_string_equal(s.v[99], "99");
    assert_null(s.v[100]);
    strv_release(&s);
    assert_null(s.v);
    strv_release(&s);
    strv_release(NULL);
}

static void a_variable_stands_once(void **state)
{
    struct strv s = { 0 };

    (void)state;
    strv_set_env(&s, "A", "1");
    strv_set_env(&s, "AB", "2");
    strv_set_env(&s, "A", "3");
    assert_int_equal(s.n, 2);
    assert_string_equal(s.v[0], "AB=2");
    assert_string_equal(s.v[1], "A=3");
    assert_null(s.v[2]);
    strv_release(&s);
}

static void a_failure_is_sticky(void **state)
{
    (void)state;
    OOM_SWEEP({
        struct strv s = { 0 };

        strv_add_many(&s, "a", "b", NULL);
        strv_add_fmt(&s, "%s", "c");
        strv_set_env(&s, "A", "1");
        strv_set_env(&s, "A", "2");
        assert_int_equal(s.failed, oom_hit());
        strv_release(&s);
    });
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_grows_and_ends_with_null),
        cmocka_unit_test(a_variable_stands_once),
        cmocka_unit_test(a_failure_is_sticky),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
