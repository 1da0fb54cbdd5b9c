#include "supervisor/sandbox/netns.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "shared/base/io.h"
#include "shared/base/mem.h"

static void maker(int pidfd, int answer, pid_t parent) __attribute__((noreturn));
static void maker(int pidfd, int answer, pid_t parent)
{
    int e = 0, sock = -1;

    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (getppid() != parent)
        _exit(1);
    if (setns(pidfd, CLONE_NEWUSER | CLONE_NEWNET) < 0 ||
        (sock = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) < 0)
        e = errno;
    if (io_send_fd(answer, &e, sizeof(e), sock) < 0)
        _exit(1);
    _exit(0);
}

int netns_start(int pidfd, int *ret_fd, pid_t *ret_pid, struct err *err)
{
    int pair[2];
    pid_t parent = getpid(), pid;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return err_set(err, ERR_INTERNAL, errno, "socketpair");
    pid = fork();
    if (pid == 0) {
        close(pair[0]);
        maker(pidfd, pair[1], parent);
    }
    close(pair[1]);
    if (pid < 0) {
        close(pair[0]);
        return err_set(err, ERR_INTERNAL, errno, "fork");
    }
    *ret_fd = pair[0];
    *ret_pid = pid;
    return 0;
}

int netns_take(int fd, struct err *err)
{
    auto_fd int own = fd, sock = -1;
    int e = 0;
    ssize_t n = io_recv_fd(own, &e, sizeof(e), &sock);

    if (n != (ssize_t)sizeof(e))
        return err_set(err, ERR_UNAVAILABLE, n < 0 ? errno : EPIPE, "join the sandbox's network");
    if (e || sock < 0)
        return err_set(err, ERR_UNAVAILABLE, e ? e : EBADMSG, "join the sandbox's network");
    return steal_fd(sock);
}
