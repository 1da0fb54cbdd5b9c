#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "supervisor/keeper/stopped.h"

static void only_the_state_behind_the_name_counts(void **state)
{
    (void)state;
    assert_true(stopped_says("12 (agentsim-fcgi) T 1 12"));
    assert_true(stopped_says("12 (a) S (b) T 1 12"));
    assert_false(stopped_says("12 (agentsim-fcgi) S 1 12"));
    assert_false(stopped_says("12 (agentsim-fcgi) t 1 12"));
    assert_false(stopped_says("12 (a) T (b) S 1 12"));
    assert_false(stopped_says("12 (agentsim"));
    assert_false(stopped_says(""));
}

static void a_stopped_process_is_seen(void **state)
{
    int status;
    pid_t pid;

    (void)state;
    assert_false(stopped_now(getpid()));
    pid = fork();
    if (pid == 0)
        for (;;)
            pause();
    assert_true(pid > 0);
    assert_false(stopped_now(pid));
    assert_int_equal(kill(pid, SIGSTOP), 0);
    assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
    assert_true(WIFSTOPPED(status));
    assert_true(stopped_now(pid));
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    assert_false(stopped_now(pid));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_the_state_behind_the_name_counts),
        cmocka_unit_test(a_stopped_process_is_seen),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
