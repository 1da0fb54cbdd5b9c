#include "shared/base/child.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

struct report {
    uint32_t step;
    int32_t errnum;
};

void child_run(const struct child_step *steps, size_t n, const void *plan, int report_fd)
{
    struct report r = { 0 };

    errno = 0;
    while (r.step < n && steps[r.step].run(plan) == 0)
        r.step++;
    r.errnum = errno;
    if (write(report_fd, &r, sizeof(r)) < 0) {
        /* the parent is gone: nobody left to tell */
    }
    _exit(127);
}

int child_report(int report_fd, const struct child_step *steps, size_t n, struct err *err)
{
    struct report r;
    ssize_t got;

    do
        got = read(report_fd, &r, sizeof(r));
    while (got < 0 && errno == EINTR);
    if (got == 0)
        return 1;
    if (got < 0 && errno == EAGAIN)
        return 0;
    if (got != (ssize_t)sizeof(r) || r.step >= n)
        return err_set(err, ERR_INTERNAL, got < 0 ? errno : EIO, "start report");
    return err_set(err, ERR_UNAVAILABLE, r.errnum, "%s", steps[r.step].name);
}

int child_reset_signals(const void *unused)
{
    struct sigaction dfl;
    sigset_t none;
    int sig;

    (void)unused;
    memset(&dfl, 0, sizeof(dfl));
    dfl.sa_handler = SIG_DFL;
    for (sig = 1; sig < NSIG; sig++) {
        if (sigaction(sig, &dfl, NULL) < 0) {
            /* SIGKILL, SIGSTOP and the C library's own: cannot be anything but default */
        }
    }
    sigemptyset(&none);
    return sigprocmask(SIG_SETMASK, &none, NULL);
}

int child_new_session(const void *unused)
{
    (void)unused;
    return setsid() < 0 ? -1 : 0;
}

int child_no_new_privs(const void *unused)
{
    (void)unused;
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

int child_no_core(const void *unused)
{
    const struct rlimit none = { 0, 0 };

    (void)unused;
    return setrlimit(RLIMIT_CORE, &none);
}
