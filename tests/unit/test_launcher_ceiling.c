#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "shared/base/mem.h"
#include "supervisor/launcher/ceiling.h"

static void what_no_setting_bounds_is_bounded_by_the_machine(void **state)
{
    static const struct {
        int64_t machine, memory, disk;
    } rows[] = {
        { 0, 512, 128 },     { 256, 256, 128 },     { 1024, 512, 128 },
        { 4096, 2048, 256 }, { 16384, 8192, 1024 }, { 1 << 20, 1 << 19, 1024 },
    };
    const struct config none = { .memory_mb = 0, .disk_mb = 0 };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        assert_int_equal(ceiling_memory_mb(&none, rows[i].machine), rows[i].memory);
        assert_int_equal(ceiling_disk_mb(&none, rows[i].machine), rows[i].disk);
    }
}

static void settings_are_taken_as_they_are(void **state)
{
    const struct config set = { .memory_mb = 60, .disk_mb = 4 };

    (void)state;
    assert_int_equal(ceiling_memory_mb(&set, 4096), 60);
    assert_int_equal(ceiling_disk_mb(&set, 4096), 4);
}

static void the_machine_has_memory(void **state)
{
    (void)state;
    assert_true(ceiling_machine_mb() > 64);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_no_setting_bounds_is_bounded_by_the_machine),
        cmocka_unit_test(settings_are_taken_as_they_are),
        cmocka_unit_test(the_machine_has_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
