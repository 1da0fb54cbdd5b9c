#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "fcgi/siblings.h"

/* A family of n processes of one name and one of another; the last one counts and tells. */
static int count_among(int n)
{
    pid_t others[8];
    int status, i;

    for (i = 0; i < n; i++) {
        others[i] = fork();
        if (others[i] == 0) {
            prctl(PR_SET_NAME, i + 1 < n ? "worker" : "another");
            pause();
            _exit(0);
        }
    }
    if (fork() == 0) {
        int seen;

        prctl(PR_SET_NAME, "worker");
        do /* until the others have their names */
            seen = siblings_count();
        while (seen != n && seen > 0);
        _exit(seen < 0 ? 100 : seen);
    }
    wait(&status);
    for (i = 0; i < n; i++) {
        kill(others[i], SIGKILL);
        waitpid(others[i], NULL, 0);
    }
    return WEXITSTATUS(status);
}

static void those_of_the_same_name_and_parent_count(void **state)
{
    (void)state;
    alarm(60);
    assert_int_equal(count_among(3), 3); /* two others and itself */
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(those_of_the_same_name_and_parent_count),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
