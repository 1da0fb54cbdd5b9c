#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <unistd.h>

#include "shared/base/mem.h"
#include "supervisor/launcher/sweep.h"

static void user_ids_are_read_from_a_status(void **state)
{
    static const char text[] =
        "Name:\ta\nUmask:\t0022\nState:\tS (sleeping)\nTgid:\t7\nUid:\t1\t2\t3\t4\nGid:\t5\t5\t5\t5\n";
    uid_t ids[4];

    (void)state;
    assert_int_equal(sweep_parse_status(text, ids), 0);
    assert_int_equal(ids[0], 1);
    assert_int_equal(ids[3], 4);
}

static void zombies_and_rubbish_are_no_process(void **state)
{
    static const char *const rows[] = {
        "Name:\ta\nState:\tZ (zombie)\nUid:\t1\t1\t1\t1\n",
        "Name:\ta\nState:\tX (dead)\nUid:\t1\t1\t1\t1\n",
        "Name:\ta\nState:\tS (sleeping)\n",
        "Name:\ta\nState:\tS (sleeping)\nUid:\t1\t2\n",
        "Name:\ta\nUid:\t1\t1\t1\t1\n",
        "",
    };
    uid_t ids[4];
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(sweep_parse_status(rows[i], ids), -1);
}

static void our_own_process_is_counted_in_a_range(void **state)
{
    unsigned counts[3] = { 0 };

    (void)state;
    assert_true(sweep_count(getuid()) > 0);
    assert_int_equal(sweep_count_range(getuid(), 3, counts), 0);
    assert_true(counts[0] > 0);
    assert_int_equal(sweep_count(4000000000u), 0);
    assert_int_equal(sweep_user(4000000000u, 100), 0);
}

static void root_is_never_swept(void **state)
{
    (void)state;
    assert_int_equal(sweep_become(0), -1);
    assert_int_equal(errno, EINVAL);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(user_ids_are_read_from_a_status),
        cmocka_unit_test(zombies_and_rubbish_are_no_process),
        cmocka_unit_test(our_own_process_is_counted_in_a_range),
        cmocka_unit_test(root_is_never_swept),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
