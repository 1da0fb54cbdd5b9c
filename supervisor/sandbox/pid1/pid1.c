/* agentsim-pid1 REPORT_FD LISTEN_PORT WAIT_FD PROGRAM ARGUMENTS... -- first process inside a sandbox.
 * With a port other than 0 it first listens there, on the loopback of the sandbox's own network, and hands the socket
 * to the holder: sockets stay in the namespace they were made in, so the holder accepts from outside what the program
 * connects inside. WAIT_FD other than 0 is handed on to the program. Starts the program, says so, reaps whatever is
 * left to it, reports how the program ended and goes: the kernel then ends all other processes of the PID namespace.
 * Without a PID namespace it reaps as sub-reaper, and ending the others is the holder's work. Static and without the
 * project's library: inside, nothing but the mounts of the plan exists. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "supervisor/sandbox/pid1/report.h"

#define BACKLOG 64

static int parse_number(const char *text, long least, long most)
{
    char *end;
    long v = strtol(text, &end, 10);

    return *text && !*end && v >= least && v <= most ? (int)v : -1;
}

static int close_between(int first, int last)
{
    return first <= last ? close_range((unsigned)first, (unsigned)last, 0) : 0;
}

/* Only the standard descriptors and these are ours; bubblewrap's must not reach the program. wait_fd 0: there is none.
 */
static int keep_only(int report_fd, int wait_fd)
{
    int low = wait_fd && wait_fd < report_fd ? wait_fd : report_fd, high = wait_fd > report_fd ? wait_fd : report_fd;

    if (close_between(STDERR_FILENO + 1, low - 1) < 0 || close_between(low + 1, high - 1) < 0 ||
        close_range((unsigned)high + 1, ~0U, 0) < 0)
        return -1;
    return fcntl(report_fd, F_SETFD, FD_CLOEXEC);
}

static void report(int fd, enum pid1_kind kind, int value, uint32_t cpu_ms)
{
    const struct pid1_report r = { .kind = kind, .value = value, .cpu_ms = cpu_ms };
    ssize_t n;

    do
        n = write(fd, &r, sizeof(r)); /* less than PIPE_BUF: whole or not at all */
    while (n < 0 && errno == EINTR);
}

/* ---- the way out ---------------------------------------------------------------------------------- */

static int listen_on(int port)
{
    const struct sockaddr_in address = {
        .sin_family = AF_INET,
        .sin_port = htons((uint16_t)port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (fd >= 0 && bind(fd, (const struct sockaddr *)&address, sizeof(address)) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    return -1;
}

static int send_listener(int report_fd, int fd)
{
    struct pid1_report r = { .kind = PID1_LISTENS };
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(sizeof(int))];
    } control = { .header = { .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS } };
    struct iovec iov = { &r, sizeof(r) };
    const struct msghdr msg = {
        .msg_iov = &iov,
        .msg_iovlen = 1,
        .msg_control = control.space,
        .msg_controllen = CMSG_LEN(sizeof(int)),
    };

    memcpy(CMSG_DATA(&control.header), &fd, sizeof(int));
    return sendmsg(report_fd, &msg, MSG_NOSIGNAL) == (ssize_t)sizeof(r) ? 0 : -1;
}

static int open_way_out(int report_fd, int port)
{
    int fd = listen_on(port), e;

    if (fd >= 0 && send_listener(report_fd, fd) == 0) {
        close(fd);
        return 0;
    }
    e = errno;
    report(report_fd, PID1_DEAF, e, 0);
    return -1;
}

/* ---- the program ---------------------------------------------------------------------------------- */

/* When the machine runs out of memory, agents go first, and of an agent's processes not those that watch it. Only who
 * may be looked at may write that file; the program may be anyway. */
static void go_first(void)
{
    int fd;

    prctl(PR_SET_DUMPABLE, 1);
    fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return; /* it is a wish */
    if (write(fd, "1000", 4) < 0)
        errno = 0;
    close(fd);
}

static void run_program(char **argv, int failed_fd)
{
    sigset_t none;
    int e;

    go_first();
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
    int fd, port, wait_fd, status, e;
    pid_t program, gone;

    if (argc < 5 || (fd = parse_number(argv[1], STDERR_FILENO + 1, INT_MAX)) < 0 ||
        (port = parse_number(argv[2], 0, UINT16_MAX)) < 0 || (wait_fd = parse_number(argv[3], 0, INT_MAX)) < 0 ||
        keep_only(fd, wait_fd) < 0)
        return 125;
    prctl(PR_SET_DUMPABLE, 0);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (port && open_way_out(fd, port) < 0)
        return 125;
    program = start(argv + 4, &e);
    if (wait_fd)
        close(wait_fd);
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
