/* agentsim-pid1 REPORT_FD PROGRAM ARGUMENTS... -- first process inside a sandbox.
 * Starts the program, says so, reaps whatever is left to it, reports how the program ended and
 * goes: the kernel then ends all other processes of the PID namespace. Without a PID namespace it
 * reaps as sub-reaper, and ending the others is the holder's work. Static and without the project's
 * library: inside, nothing but the mounts of the plan exists. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "supervisor/sandbox/pid1/report.h"

static int parse_fd(const char *text)
{
    char *end;
    long v = strtol(text, &end, 10);

    return *text && !*end && v > STDERR_FILENO && v < INT_MAX ? (int)v : -1;
}

/* Only the standard descriptors and the report are ours; bubblewrap's must not reach the program.
 */
static int keep_only(int fd)
{
    if (fd > 3 && close_range(3, (unsigned)fd - 1, 0) < 0)
        return -1;
    if (close_range((unsigned)fd + 1, ~0U, 0) < 0)
        return -1;
    return fcntl(fd, F_SETFD, FD_CLOEXEC);
}

static void report(int fd, enum pid1_kind kind, int value, uint32_t cpu_ms)
{
    const struct pid1_report r = { .kind = kind, .value = value, .cpu_ms = cpu_ms };
    ssize_t n;

    do
        n = write(fd, &r, sizeof(r)); /* less than PIPE_BUF: whole or not at all */
    while (n < 0 && errno == EINTR);
}

static void run_program(char **argv, int failed_fd)
{
    sigset_t none;
    int e;

    setsid();        /* kill(0) in the program reaches the program only */
    unsetenv("PWD"); /* bubblewrap's addition */
    signal(SIGPIPE, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execv(argv[0], argv);
    e = errno;
    if (write(failed_fd, &e, sizeof(e)) < 0)
        _exit(126);
    _exit(127);
}

static pid_t start(char **argv, int *ret_errno)
{
    int fds[2], e = 0;
    pid_t pid;

    if (pipe2(fds, O_CLOEXEC) < 0 || (pid = fork()) < 0) {
        *ret_errno = errno;
        return -1;
    }
    if (pid == 0)
        run_program(argv, fds[1]);
    close(fds[1]);
    while (read(fds[0], &e, sizeof(e)) < 0 && errno == EINTR)
        ;
    close(fds[0]);
    *ret_errno = e;
    return e ? -1 : pid;
}

static uint32_t cpu_ms(const struct rusage *u)
{
    return (uint32_t)((u->ru_utime.tv_sec + u->ru_stime.tv_sec) * 1000 +
                      (u->ru_utime.tv_usec + u->ru_stime.tv_usec) / 1000);
}

int main(int argc, char **argv)
{
    struct rusage usage;
    int fd, status, e;
    pid_t program, gone;

    if (argc < 3 || (fd = parse_fd(argv[1])) < 0 || keep_only(fd) < 0)
        return 125;
    prctl(PR_SET_DUMPABLE, 0);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    program = start(argv + 2, &e);
    if (program < 0) {
        report(fd, PID1_FAILED, e, 0);
        return 125;
    }
    report(fd, PID1_READY, 0, 0);
    do
        gone = wait4(-1, &status, 0, &usage);
    while (gone != program && (gone > 0 || errno == EINTR));
    if (gone == program)
        report(fd, PID1_ENDED, status, cpu_ms(&usage));
    return 0;
}
