#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "shared/base/mem.h"
#include "shared/ipc/launch.h"
#include "shared/ipc/version.h"

static void two_sides_work_when_each_is_in_the_others_range(void **state)
{
    static const struct {
        uint32_t version, oldest;
        bool works;
    } rows[] = {
        { IPC_VERSION, IPC_OLDEST, true },
        { IPC_OLDEST, IPC_OLDEST, true },
        { IPC_VERSION + 9, IPC_VERSION, true },
        { IPC_VERSION + 9, 0, true },
        { IPC_VERSION + 1, IPC_VERSION + 1, false },
        { UINT32_MAX, IPC_VERSION + 1, false },
        { 0, 1, false }, /* nonsense */
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++)
        if (ipc_compatible(rows[i].version, rows[i].oldest) != rows[i].works)
            fail_msg("row %zu", i);
}

static void a_launcher_tells_it_in_one_word(void **state)
{
    uint32_t version, oldest;

    (void)state;
    launch_version_split(launch_version(7, 5), &version, &oldest);
    assert_int_equal(version, 7);
    assert_int_equal(oldest, 5);
    launch_version_split(0, &version, &oldest); /* what builds say that do not know of it */
    assert_true(version == 0 && oldest == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_sides_work_when_each_is_in_the_others_range),
        cmocka_unit_test(a_launcher_tells_it_in_one_word),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
