#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <sys/wait.h>
#include <unistd.h>

#include "supervisor/sandbox/rlimits.h"

/* In a child: limits do not go up again. */
static void applied_limits_hold_and_lower_ones_stay(void **state)
{
    struct config config;
    pid_t pid;
    int status;

    (void)state;
    assert_int_equal(config_load_env(&config, NULL), 0);
    config.rlimit_nofile = 512;
    pid = fork();
    if (pid == 0) {
        const struct rlimit low = { 30, 30 };
        struct rlimits limits;
        struct rlimit now;
        int bad = 0;

        setrlimit(RLIMIT_CPU, &low);
        rlimits_make(&limits, &config);
        bad |= rlimits_apply(&limits) != 0;
        bad |= getrlimit(RLIMIT_NOFILE, &now) != 0 || now.rlim_cur != 512 || now.rlim_max != 512;
        bad |= getrlimit(RLIMIT_CPU, &now) != 0 || now.rlim_cur > 30 || (geteuid() && now.rlim_max > 30);
        bad |= getrlimit(RLIMIT_CORE, &now) != 0 || now.rlim_max != 0;
        _exit(bad);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    config_release(&config);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(applied_limits_hold_and_lower_ones_stay),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
