#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shared/base/child.h"
#include "shared/base/io.h"
#include "shared/base/mem.h"

static int fine(const void *plan)
{
    (void)plan;
    return 0;
}

static int refused(const void *plan)
{
    errno = *(const int *)plan;
    return -1;
}

static int run_true(const void *plan)
{
    (void)plan;
    execl("/bin/true", "true", NULL);
    return -1;
}

static int forever(const void *plan)
{
    (void)plan;
    return pause();
}

/* Starts a child with these steps; its end of the report pipe is close-on-exec. */
static pid_t start(const struct child_step *steps, size_t n, const void *plan, int *ret_fd)
{
    int fds[2];
    pid_t pid;

    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    io_set_nonblock(fds[0], true);
    pid = fork();
    if (pid == 0)
        child_run(steps, n, plan, fds[1]);
    close(fds[1]);
    *ret_fd = fds[0];
    return pid;
}

static void a_failed_step_is_named_with_its_error(void **state)
{
    static const struct child_step steps[] = { { "first", fine }, { "second", refused }, { "third", fine } };
    const int plan = EPERM;
    struct err err = { 0 };
    int fd, status;
    pid_t pid = start(steps, ARRAY_LEN(steps), &plan, &fd);

    (void)state;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(WEXITSTATUS(status), 127);
    assert_int_equal(child_report(fd, steps, ARRAY_LEN(steps), &err), -1);
    assert_int_equal(err.errnum, EPERM);
    assert_string_equal(err.msg, "second: Operation not permitted");
    close(fd);
}

static void an_executed_program_closes_the_report(void **state)
{
    static const struct child_step steps[] = {
        { "signals", child_reset_signals },
        { "session", child_new_session },
        { "core", child_no_core },
        { "privileges", child_no_new_privs },
        { "exec", run_true },
    };
    int fd, status;
    pid_t pid;

    (void)state;
    signal(SIGPIPE, SIG_IGN);
    pid = start(steps, ARRAY_LEN(steps), NULL, &fd);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_int_equal(child_report(fd, steps, ARRAY_LEN(steps), NULL), 1);
    close(fd);
}

static void nothing_is_known_while_steps_run(void **state)
{
    static const struct child_step steps[] = { { "forever", forever } };
    int fd;
    pid_t pid = start(steps, 1, NULL, &fd);

    (void)state;
    assert_int_equal(child_report(fd, steps, 1, NULL), 0);
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_int_equal(child_report(fd, steps, 1, NULL), 1);
    close(fd);
}

static void a_report_that_makes_no_sense_is_an_error(void **state)
{
    static const struct child_step steps[] = { { "one", fine } };
    const unsigned rubbish[2] = { 99, 1 };
    struct err err = { 0 };
    int fds[2];

    (void)state;
    assert_int_equal(pipe(fds), 0);
    assert_int_equal(write(fds[1], rubbish, sizeof(rubbish)), sizeof(rubbish));
    assert_int_equal(child_report(fds[0], steps, 1, &err), -1);
    assert_int_equal(write(fds[1], rubbish, 3), 3);
    assert_int_equal(child_report(fds[0], steps, 1, &err), -1);
    assert_int_equal(err.kind, ERR_INTERNAL);
    close(fds[0]);
    close(fds[1]);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failed_step_is_named_with_its_error),
        cmocka_unit_test(an_executed_program_closes_the_report),
        cmocka_unit_test(nothing_is_known_while_steps_run),
        cmocka_unit_test(a_report_that_makes_no_sense_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
