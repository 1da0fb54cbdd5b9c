#include "supervisor/sandbox/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shared/base/child.h"
#include "shared/base/io.h"
#include "shared/base/mem.h"
#include "shared/base/str.h"
#include "supervisor/sandbox/bwrap_argv.h"

#define ARGS_MAX ((size_t)1 << 20)
#define HANDED_MAX 32
#define HIGH_FD 100 /* sources are moved above all target numbers first */

/* A descriptor of ours and the number the child's program knows it by. */
struct handed {
    int from, to;
};

struct child_plan {
    const struct sandbox_plan *plan;
    char *const *argv, *const *env;
    struct handed handed[HANDED_MAX];
    size_t n_handed;
    int output, null;
    pid_t parent;
};

/* ---- in the child
 * --------------------------------------------------------------------------------- */

/* Dies with the holder. Checked afterwards: it may have gone before the request. */
static int step_die_with_parent(const void *arg)
{
    const struct child_plan *c = arg;

    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
        return -1;
    if (getppid() != c->parent) {
        errno = ESRCH;
        return -1;
    }
    return 0;
}

static int step_stdio(const void *arg)
{
    const struct child_plan *c = arg;

    return dup2(c->null, STDIN_FILENO) < 0 || dup2(c->output, STDOUT_FILENO) < 0 || dup2(c->output, STDERR_FILENO) < 0
               ? -1
               : 0;
}

static int step_hand_over(const void *arg)
{
    const struct child_plan *c = arg;
    int high[HANDED_MAX];
    size_t i;

    for (i = 0; i < c->n_handed; i++)
        if ((high[i] = fcntl(c->handed[i].from, F_DUPFD_CLOEXEC, HIGH_FD)) < 0)
            return -1;
    if (close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC) < 0) /* whatever a library left open */
        return -1;
    for (i = 0; i < c->n_handed; i++)
        if (dup2(high[i], c->handed[i].to) < 0)
            return -1;
    return 0;
}

/* By itself and before anything of the agent runs: what it starts is born in the same groups. */
static int step_groups(const void *arg)
{
    const struct child_plan *c = arg;
    size_t i;

    for (i = 0; i < c->plan->entered.n; i++) {
        int fd = open(c->plan->entered.v[i], O_WRONLY | O_CLOEXEC), e;
        ssize_t n = fd < 0 ? -1 : write(fd, "0", 1);

        e = errno;
        if (fd >= 0)
            close(fd);
        errno = e;
        if (n != 1)
            return -1;
    }
    return 0;
}

static int step_limits(const void *arg)
{
    const struct child_plan *c = arg;

    return rlimits_apply(&c->plan->limits);
}

static int step_enter(const void *arg)
{
    const struct child_plan *c = arg;

    return chdir(c->plan->work);
}

static int step_exec(const void *arg)
{
    const struct child_plan *c = arg;

    execve(c->argv[0], c->argv, c->env);
    return -1;
}

static const struct child_step steps[] = {
    { "reset signals", child_reset_signals },    { "die with the holder", step_die_with_parent },
    { "new session", child_new_session },        { "no new privileges", child_no_new_privs },
    { "standard descriptors", step_stdio },      { "hand over descriptors", step_hand_over },
    { "enter the control groups", step_groups }, { "enter the work directory", step_enter },
    { "set resource limits", step_limits },      { "execute the sandbox program", step_exec },
};

/* ---- in the holder
 * -------------------------------------------------------------------------------- */

/* Everything the parent holds between fork and return; released whole. */
struct prepared {
    struct strv argv;
    struct strv no_env;
    struct buf options;
    int data[HANDED_MAX];
    size_t n_data;
    int pipes[5][2]; /* output, report, info, steps, wait */
    int null;
};

enum { P_OUTPUT, P_REPORT, P_INFO, P_STEPS, P_WAIT };

static void prepared_init(struct prepared *p)
{
    size_t i;

    *p = (struct prepared){ .null = -1 };
    buf_init(&p->options, ARGS_MAX);
    for (i = 0; i < ARRAY_LEN(p->pipes); i++)
        p->pipes[i][0] = p->pipes[i][1] = -1;
}

static void close_end(int *fd)
{
    cleanup_fd_close(fd);
    *fd = -1;
}

static void cleanup_prepared(struct prepared *p)
{
    size_t i;

    strv_release(&p->argv);
    strv_release(&p->no_env);
    if (p->options.data)
        mem_wipe(p->options.data, p->options.len);
    buf_release(&p->options);
    for (i = 0; i < p->n_data; i++)
        close_end(&p->data[i]);
    for (i = 0; i < ARRAY_LEN(p->pipes); i++) {
        close_end(&p->pipes[i][0]);
        close_end(&p->pipes[i][1]);
    }
    close_end(&p->null);
}

/* A sealed-off file in memory that the child reads from its start. */
static int hand_bytes(struct prepared *p, struct child_plan *c, int to, const void *data, size_t len, struct err *err)
{
    auto_fd int fd = memfd_create("agentsim", MFD_CLOEXEC);

    if (c->n_handed == HANDED_MAX || p->n_data == HANDED_MAX)
        return err_set(err, ERR_INTERNAL, 0, "too many files in the sandbox plan");
    if (fd < 0 || io_write_all(fd, data, len) < 0 || lseek(fd, 0, SEEK_SET) < 0)
        return err_set(err, ERR_INTERNAL, errno, "prepare the sandbox");
    c->handed[c->n_handed++] = (struct handed){ fd, to };
    p->data[p->n_data++] = steal_fd(fd);
    return 0;
}

static int prepare_files(struct prepared *p, struct child_plan *c, struct err *err)
{
    const struct sandbox_plan *plan = c->plan;
    int to = BWRAP_FD_DATA;
    size_t i;

    /* All at once: growing would leave copies of credentials in freed memory. */
    if (buf_reserve(&p->options, ARGS_MAX - 1) < 0)
        return err_nomem(err);
    bwrap_argv_options(&p->options, plan);
    if (buf_failed(&p->options))
        return err_nomem(err);
    if (hand_bytes(p, c, BWRAP_FD_ARGS, p->options.data, p->options.len, err) < 0)
        return -1;
    if (plan->seccomp.len && hand_bytes(p, c, BWRAP_FD_SECCOMP, plan->seccomp.data, plan->seccomp.len, err) < 0)
        return -1;
    for (i = 0; i < plan->n_mounts; i++)
        if (plan->mounts[i].kind == MOUNT_FILE &&
            hand_bytes(p, c, to++, plan->mounts[i].source, strlen(plan->mounts[i].source), err) < 0)
            return -1;
    c->handed[c->n_handed++] = (struct handed){ p->pipes[P_INFO][1], BWRAP_FD_INFO };
    return 0;
}

/* Out of the way of the numbers that the child's program knows. */
static int raise_fd(int *fd)
{
    int high = fcntl(*fd, F_DUPFD_CLOEXEC, HIGH_FD);

    if (high < 0)
        return -1;
    close_end(fd);
    *fd = high;
    return 0;
}

static int prepare(struct prepared *p, struct child_plan *c, struct err *err)
{
    size_t i;

    for (i = 0; i < ARRAY_LEN(p->pipes) - !c->plan->waits; i++)
        if ((i == P_REPORT || i == P_WAIT ? socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, p->pipes[i])
                                          : pipe2(p->pipes[i], O_CLOEXEC)) < 0 ||
            io_set_nonblock(p->pipes[i][0], true) < 0)
            return err_set(err, ERR_INTERNAL, errno, "pipe");
    if (raise_fd(&p->pipes[P_STEPS][1]) < 0)
        return err_set(err, ERR_INTERNAL, errno, "pipe");
    p->null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (p->null < 0)
        return err_set(err, ERR_INTERNAL, errno, "/dev/null");
    bwrap_argv_command(&p->argv, c->plan, SPAWN_BWRAP);
    strv_add(&p->no_env, "LC_ALL=C"); /* never the agent's: LD_PRELOAD there would act outside the sandbox */
    if (p->argv.failed || p->no_env.failed)
        return err_nomem(err);
    c->handed[c->n_handed++] = (struct handed){ p->pipes[P_REPORT][1], BWRAP_FD_REPORT };
    if (c->plan->waits)
        c->handed[c->n_handed++] = (struct handed){ p->pipes[P_WAIT][1], BWRAP_FD_WAIT };
    if (c->plan->sandboxed && prepare_files(p, c, err) < 0)
        return -1;
    c->argv = p->argv.v;
    c->env = c->plan->sandboxed ? p->no_env.v : c->plan->env.v;
    c->output = p->pipes[P_OUTPUT][1];
    c->null = p->null;
    return 0;
}

int spawn_start(struct spawned *ret, const struct sandbox_plan *plan, struct err *err)
{
    struct prepared p __attribute__((cleanup(cleanup_prepared)));
    struct child_plan c = { .plan = plan, .parent = getpid() };
    pid_t pid;

    prepared_init(&p);
    if (prepare(&p, &c, err) < 0)
        return -1;
    pid = fork();
    if (pid < 0)
        return err_set(err, ERR_INTERNAL, errno, "fork");
    if (pid == 0)
        child_run(steps, ARRAY_LEN(steps), &c, p.pipes[P_STEPS][1]);
    *ret = (struct spawned){
        .pid = pid,
        .output = steal_fd(p.pipes[P_OUTPUT][0]),
        .report = steal_fd(p.pipes[P_REPORT][0]),
        .info = plan->sandboxed ? steal_fd(p.pipes[P_INFO][0]) : -1,
        .steps = steal_fd(p.pipes[P_STEPS][0]),
        .wait = plan->waits ? steal_fd(p.pipes[P_WAIT][0]) : -1,
    };
    return 0;
}

void spawn_close(struct spawned *s)
{
    close_end(&s->output);
    close_end(&s->report);
    close_end(&s->info);
    close_end(&s->steps);
    close_end(&s->wait);
}

int spawn_failed_step(const struct spawned *s, struct err *err)
{
    return child_report(s->steps, steps, ARRAY_LEN(steps), err);
}

/* Nothing but a listening IP socket is worth accepting from. */
static bool is_listener(int fd)
{
    int domain = 0, listening = 0;
    socklen_t len = sizeof(int);

    return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) == 0 && domain == AF_INET &&
           getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &len) == 0 && listening &&
           io_set_nonblock(fd, true) == 0;
}

int spawn_next_report(const struct spawned *s, struct pid1_report *ret, int *ret_fd)
{
    struct pid1_report r;
    auto_fd int fd = -1;
    ssize_t n = io_recv_fd(s->report, &r, sizeof(r), &fd);

    *ret_fd = -1;
    if (n < 0 && errno == EAGAIN)
        return 0;
    if (n != (ssize_t)sizeof(r) || r.kind < PID1_READY || r.kind > PID1_ENDED)
        return -1;
    if ((r.kind == PID1_LISTENS) != (fd >= 0) || (fd >= 0 && !is_listener(fd)))
        return -1;
    *ret_fd = steal_fd(fd);
    *ret = r;
    return 1;
}

pid_t spawn_parse_info(const char *text, size_t len)
{
    static const char key[] = "\"child-pid\"";
    const char *p = memmem(text, len, key, sizeof(key) - 1), *end = text + len;
    int64_t pid;
    char digits[16];
    size_t n = 0;

    if (!p)
        return -1;
    for (p += sizeof(key) - 1; p < end && (*p == ':' || *p == ' '); p++)
        ;
    for (; p < end && *p >= '0' && *p <= '9' && n < sizeof(digits) - 1; p++)
        digits[n++] = *p;
    digits[n] = '\0';
    return p < end && str_to_int(digits, 1, INT32_MAX, &pid) == 0 ? (pid_t)pid : -1;
}

pid_t spawn_inner_pid(const struct spawned *s)
{
    char text[2048];
    ssize_t n;

    if (s->info < 0)
        return -1;
    do
        n = read(s->info, text, sizeof(text));
    while (n < 0 && errno == EINTR);
    return n > 0 ? spawn_parse_info(text, (size_t)n) : -1;
}

static pid_t parent_of(pid_t pid)
{
    char path[64], text[1024];
    const char *p;
    ssize_t n;
    auto_fd int fd = -1;

    (void)snprintf(path, sizeof(path), "/proc/%d/stat", pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
    if (n <= 0)
        return -1;
    text[n] = '\0';
    p = strrchr(text, ')'); /* the program's name may hold anything; state and parent follow it */
    if (!p || strlen(p) < 5)
        return -1;
    {
        char digits[16];
        int64_t v;
        size_t i = 0;

        for (p += 4; *p >= '0' && *p <= '9' && i < sizeof(digits) - 1; p++)
            digits[i++] = *p;
        digits[i] = '\0';
        return str_to_int(digits, 1, INT32_MAX, &v) == 0 ? (pid_t)v : -1;
    }
}

int spawn_open_pidfd(pid_t pid, pid_t parent)
{
    auto_fd int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    struct pollfd gone = { .fd = fd, .events = POLLIN };

    if (fd < 0)
        return -1;
    /* Right parent, and alive after that was read: so the descriptor is of that very process. */
    if (parent_of(pid) != parent || poll(&gone, 1, 0) != 0) {
        errno = ESRCH;
        return -1;
    }
    return steal_fd(fd);
}
