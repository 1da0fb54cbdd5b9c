#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "shared/base/mem.h"
#include "shared/ipc/launch.h"

static void limits_are_told_in_words(void **state)
{
    static const struct {
        uint32_t limits, wanted;
        const char *text;
    } rows[] = {
        { 0, 0, "none: the launcher has not answered yet" },
        { 0, LAUNCH_LIMITS_MEMORY, "none: the launcher has not answered yet" },
        { LAUNCH_LIMITS_NOT_MOUNTED, 0, "none: no control groups are mounted" },
        { LAUNCH_LIMITS_READ_ONLY, LAUNCH_LIMITS_MEMORY | LAUNCH_LIMITS_DISK,
          "none: control groups are mounted read-only; set but not enforced: memory disk" },
        { LAUNCH_LIMITS_V1 | LAUNCH_LIMITS_PIDS, LAUNCH_LIMITS_CPU, "v1: pids; set but not enforced: cpu" },
        { LAUNCH_LIMITS_V2 | LAUNCH_LIMITS_KILL, 0, "v2: kill" },
        { LAUNCH_LIMITS_V1 | LAUNCH_LIMITS_V2 | LAUNCH_LIMITS_MEMORY | LAUNCH_LIMITS_SWAP | LAUNCH_LIMITS_PIDS |
              LAUNCH_LIMITS_CPU | LAUNCH_LIMITS_KILL | LAUNCH_LIMITS_DISK,
          LAUNCH_LIMITS_MEMORY | LAUNCH_LIMITS_DISK, "v1 and v2: memory swap pids cpu kill; disk: tmpfs" },
    };
    char text[LAUNCH_LIMITS_TEXT_MAX];
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        launch_limits_text(rows[i].limits, rows[i].wanted, text);
        assert_string_equal(text, rows[i].text);
    }
}

static void every_word_fits_at_once(void **state)
{
    char text[LAUNCH_LIMITS_TEXT_MAX];
    unsigned v;

    (void)state;
    for (v = 0; v < 4; v++) {
        launch_limits_text(~3u | v, 0, text);
        assert_true(strlen(text) < sizeof(text));
        launch_limits_text(0xffff0000u | v, ~0u, text);
        assert_true(strlen(text) < sizeof(text));
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_are_told_in_words),
        cmocka_unit_test(every_word_fits_at_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
