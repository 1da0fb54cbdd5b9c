#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "shared/base/time.h"

static void instants_are_written_in_utc(void **state)
{
    char text[TIME_TEXT_LEN + 1];

    (void)state;
    time_format_utc(0, text);
    assert_string_equal(text, "1970-01-01T00:00:00.000Z");
    time_format_utc(1769860800123, text);
    assert_string_equal(text, "2026-01-31T12:00:00.123Z");
}

static void the_clocks_run(void **state)
{
    int64_t a = time_mono_ms(), b = time_mono_ms();

    (void)state;
    assert_true(b >= a);
    assert_true(time_mono_us() / 1000 >= b);
    assert_true(time_boot_ms() >= b);
    assert_true(time_wall_ms() > 1700000000000);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(instants_are_written_in_utc),
        cmocka_unit_test(the_clocks_run),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
