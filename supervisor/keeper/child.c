#include "supervisor/keeper/child.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shared/base/mem.h"

/* An end every few seconds is bad luck, and users wait for the next start; a handful in a row is a loop. */
#define FREE_ENDS 5u
#define FORGIVEN_AFTER_MS 2000
#define LONGEST_PAUSE_S 30u
#define OTHERS_PAUSE_MS 250          /* the longest after an end that others caused */
#define MOST_COUNTED (FREE_ENDS + 6) /* where the pause is the longest */
#define FIRST_FD 3                   /* LISTEN_FDS starts here */
#define SPARE_FD 200

int64_t child_pause_ms(unsigned crashes)
{
    unsigned seconds;

    if (crashes <= FREE_ENDS)
        return 0;
    seconds = crashes < MOST_COUNTED ? 1u << (crashes - FREE_ENDS - 1) : LONGEST_PAUSE_S;
    return (int64_t)seconds * 1000;
}

/* Sockets go to fixed numbers. They are first moved out of the way, so that no target is still a source. */
static int place_sockets(const struct child *c)
{
    int moved[CHILD_SOCKETS], first = c->socket_is_stdin ? 0 : FIRST_FD;
    size_t i;

    for (i = 0; i < c->sockets_len; i++) {
        moved[i] = fcntl(c->sockets[i].fd, F_DUPFD_CLOEXEC, SPARE_FD);
        if (moved[i] < 0)
            return -1;
    }
    for (i = 0; i < c->sockets_len; i++)
        if (dup2(moved[i], first + (int)i) < 0)
            return -1;
    return 0;
}

static int announce_sockets(const struct child *c)
{
    char names[256] = "", number[32];
    size_t i, used = 0;

    if (c->socket_is_stdin || !c->sockets_len)
        return 0;
    for (i = 0; i < c->sockets_len; i++)
        used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s", i ? ":" : "", c->sockets[i].name);
    (void)snprintf(number, sizeof(number), "%zu", c->sockets_len);
    if (setenv("LISTEN_FDS", number, 1) < 0 || setenv("LISTEN_FDNAMES", names, 1) < 0)
        return -1;
    (void)snprintf(number, sizeof(number), "%d", (int)getpid());
    return setenv("LISTEN_PID", number, 1);
}

/* They keep their numbers: nginx is told which. */
static int hand_listeners_on(const struct child *c)
{
    char text[512] = "";
    size_t i, used = 0;

    if (!c->inherited_len)
        return 0;
    for (i = 0; i < c->inherited_len; i++) {
        if (fcntl(c->inherited[i], F_SETFD, 0) < 0)
            return -1;
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%d;", c->inherited[i]);
    }
    return setenv("NGINX", text, 1);
}

/* The loader would do without a library that is not there, and only say so. Without the C library's cache for small
 * pieces, memory of many closed conversations goes back to the system. */
static int have_it_forget(const struct child *c)
{
    if (!c->preload)
        return 0;
    if (access(c->preload, R_OK) < 0)
        return -1;
    return setenv("LD_PRELOAD", c->preload, 1) < 0 ? -1 : setenv("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0", 1);
}

static int become(const struct child *c, const struct child_user *user)
{
    if (!c->service_user)
        return 0;
    if (initgroups(user->name, user->gid) < 0 || setresgid(user->gid, user->gid, user->gid) < 0 ||
        setresuid(user->uid, user->uid, user->uid) < 0)
        return -1;
    if (user->uid != 0 && setuid(0) == 0) {
        errno = EPERM;
        return -1;
    }
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

/* A keeper that is killed must not leave a service behind that nobody watches. After the change of user, which
 * would forget it. */
static int end_with_keeper(const struct child *c, pid_t keeper)
{
    if (prctl(PR_SET_PDEATHSIG, c->stop_signal, 0, 0, 0) < 0)
        return -1;
    if (getppid() != keeper) {
        errno = ESRCH;
        return -1;
    }
    return 0;
}

/* How much is decided by the kernel, and a container may forbid it: then it starts as the others do. */
static void give_way(const struct child *c)
{
    if (c->nice)
        (void)setpriority(PRIO_PROCESS, 0, c->nice);
}

/* Everything else the keeper holds is close-on-exec; the signal mask is inherited and has to be emptied. */
__attribute__((noreturn)) static void run(const struct child *c, const struct child_user *user, pid_t keeper)
{
    sigset_t none;

    sigemptyset(&none);
    setpgid(0, 0);
    signal(SIGPIPE, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
    give_way(c);
    if (place_sockets(c) < 0 || announce_sockets(c) < 0 || hand_listeners_on(c) < 0 || have_it_forget(c) < 0 ||
        become(c, user) < 0 || end_with_keeper(c, keeper) < 0) {
        (void)fprintf(stderr, "agentsim-keeper: set up %s: %s\n", c->name, strerror(errno));
        _exit(126);
    }
    /* The table is const; execv() does not write to it, its type is older than const. */
    execv(c->argv[0], (char *const *)(uintptr_t)c->argv);
    (void)fprintf(stderr, "agentsim-keeper: run %s: %s\n", c->argv[0], strerror(errno));
    _exit(127);
}

int child_start(struct child *c, const struct child_user *user, int64_t now_ms, struct err *err)
{
    pid_t keeper = getpid(), pid = fork();

    if (pid < 0)
        return err_set(err, ERR_INTERNAL, errno, "fork for %s", c->name);
    if (pid == 0)
        run(c, user, keeper);
    setpgid(pid, pid); /* both sides: whoever comes first, a later kill of the group finds it */
    c->pid = pid;
    c->started_ms = now_ms;
    return 0;
}

/* Operators and upgrades end processes so; it is no fault of theirs that a pause could cure. But so does the kernel
 * when memory is short: hence some pause. */
static bool others_caused(int wait_status)
{
    if (WIFSIGNALED(wait_status))
        return WTERMSIG(wait_status) == SIGKILL || WTERMSIG(wait_status) == SIGTERM;
    return WEXITSTATUS(wait_status) == 0;
}

void child_ended(struct child *c, int wait_status, int64_t now_ms, char *text, size_t text_size)
{
    int64_t forgiven = (now_ms - c->started_ms) / FORGIVEN_AFTER_MS, pause;

    if (WIFSIGNALED(wait_status))
        (void)snprintf(text, text_size, "killed by signal %d (%s)", WTERMSIG(wait_status),
                       strsignal(WTERMSIG(wait_status)));
    else
        (void)snprintf(text, text_size, "exited with status %d", WEXITSTATUS(wait_status));
    c->crashes = c->crashes > forgiven ? c->crashes - (unsigned)forgiven : 0;
    if (c->crashes < MOST_COUNTED && !c->renewed)
        c->crashes++;
    c->renewed = false;
    c->pid = 0;
    pause = child_pause_ms(c->crashes);
    if (pause > OTHERS_PAUSE_MS && others_caused(wait_status))
        pause = OTHERS_PAUSE_MS;
    c->start_at_ms = now_ms + pause;
}
