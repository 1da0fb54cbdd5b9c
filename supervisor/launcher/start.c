#include "supervisor/launcher/start.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shared/base/child.h"
#include "shared/base/io.h"
#include "shared/base/mem.h"
#include "supervisor/launcher/cgroup.h"

#define HOLDER_LISTEN_FD 3
#define HOLDER_LIFE_FD 4
#define HIGH_FD 20 /* above the numbers that the holder knows */
#define BACKLOG 64
#define ARGS_MAX (10 + 2 * CGROUP_MOUNTS_MAX)

struct plan {
    const struct start_job *job;
    const char *dir;
    char *const *argv;
    int listen, life, null;
};

/* ---- in the child
 * --------------------------------------------------------------------------------- */

/* Version 2 only, see cgroup_v2.c; no one's memory limit is on that group. */
static int step_control_group(const void *arg)
{
    const struct plan *p = arg;
    int fd, r;

    if (!p->job->way->holder[0])
        return 0;
    fd = open(p->job->way->holder, O_WRONLY | O_CLOEXEC);
    r = fd < 0 || write(fd, "0", 1) != 1 ? -1 : 0;
    if (fd >= 0)
        close(fd);
    return r;
}

static int step_groups(const void *arg)
{
    (void)arg;
    return setgroups(0, NULL);
}

static int step_gid(const void *arg)
{
    const struct plan *p = arg;

    return setresgid(p->job->uid, p->job->uid, p->job->uid);
}

static int step_uid(const void *arg)
{
    const struct plan *p = arg;

    return setresuid(p->job->uid, p->job->uid, p->job->uid);
}

/* The drop must be final: nothing of root may come back. */
static int step_no_regain(const void *arg)
{
    const struct plan *p = arg;
    uid_t r, e, s;
    gid_t gr, ge, gs;

    if (getresuid(&r, &e, &s) < 0 || getresgid(&gr, &ge, &gs) < 0)
        return -1;
    if (r != p->job->uid || e != r || s != r || gr != p->job->uid || ge != gr || gs != gr || getgroups(0, NULL) != 0 ||
        setuid(0) == 0 || setgid(0) == 0) {
        errno = EPERM;
        return -1;
    }
    return 0;
}

static int step_enter(const void *arg)
{
    const struct plan *p = arg;

    umask(022);
    return chdir(p->dir);
}

static int step_descriptors(const void *arg)
{
    const struct plan *p = arg;

    if (dup2(p->null, STDIN_FILENO) < 0 || dup2(p->listen, HOLDER_LISTEN_FD) < 0 || dup2(p->life, HOLDER_LIFE_FD) < 0)
        return -1;
    return close_range(HOLDER_LIFE_FD + 1, ~0u, CLOSE_RANGE_CLOEXEC);
}

static int step_exec(const void *arg)
{
    const struct plan *p = arg;

    execve(p->job->program, p->argv, p->job->env);
    return -1;
}

static const struct child_step steps[] = {
    { "reset signals", child_reset_signals },
    { "new session", child_new_session },
    { "no core dumps", child_no_core },
    { "enter the control group", step_control_group },
    { "drop groups", step_groups },
    { "set group", step_gid },
    { "set user", step_uid },
    { "check the drop", step_no_regain },
    { "no new privileges", child_no_new_privs },
    { "enter the slot's directory", step_enter },
    { "hand over descriptors", step_descriptors },
    { "execute the holder", step_exec },
};

/* ---- in the launcher
 * ------------------------------------------------------------------------------ */

static int make_directory(const struct start_job *job, struct err *err)
{
    char name[16];

    (void)snprintf(name, sizeof(name), "%u", job->slot);
    if (mkdirat(job->slots_dir, name, S_IRWXU) < 0)
        return err_set(err, ERR_INTERNAL, errno, "make the directory of slot %u", job->slot);
    if (fchownat(job->slots_dir, name, job->uid, job->uid, AT_SYMLINK_NOFOLLOW) < 0)
        return err_set(err, ERR_INTERNAL, errno, "give away the directory of slot %u", job->slot);
    return 0;
}

static int raise_fd(int fd)
{
    int high = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, HIGH_FD), e = errno;

    cleanup_fd_close(&fd);
    errno = e;
    return high;
}

/* Both ends out of the way of the numbers that the holder knows. */
static int make_pipe(int *ret_read, int *ret_write)
{
    int fds[2];

    if (pipe2(fds, O_CLOEXEC) < 0)
        return -1;
    *ret_read = raise_fd(fds[0]);
    *ret_write = raise_fd(fds[1]);
    return *ret_read < 0 || *ret_write < 0 ? -1 : 0;
}

/* The writable strings that execve() asks for, which it does not write to. */
static char *arg(const char *text)
{
    return (char *)(uintptr_t)text;
}

static void make_argv(char **argv, const struct start_job *job, const char *number, const char *session,
                      const char *dir)
{
    size_t n = 0, i;

    argv[n++] = arg(job->program);
    argv[n++] = arg("--slot");
    argv[n++] = arg(number);
    argv[n++] = arg("--session");
    argv[n++] = arg(session);
    argv[n++] = arg("--dir");
    argv[n++] = arg(dir);
    for (i = 0; i < job->way->n; i++) {
        argv[n++] = arg("--enter");
        argv[n++] = arg(job->way->agent[i]);
    }
    if (job->way->events[0]) {
        argv[n++] = arg("--memory-events");
        argv[n++] = arg(job->way->events);
    }
    argv[n] = NULL;
}

static pid_t fork_holder(const struct plan *plan, int report_fd, struct err *err)
{
    pid_t pid = fork();

    if (pid == 0)
        child_run(steps, ARRAY_LEN(steps), plan, report_fd);
    if (pid < 0)
        return err_set(err, ERR_INTERNAL, errno, "fork");
    return pid;
}

int start_holder(struct started *ret, const struct start_job *job, struct err *err)
{
    char number[16], session[ID_TEXT_LEN + 1], dir[4096], *argv[ARGS_MAX];
    auto_fd int listener = -1, life_r = -1, life_w = -1, report_r = -1, report_w = -1, null = -1;
    struct plan plan = { .job = job, .dir = dir, .argv = argv };
    pid_t pid;

    (void)snprintf(number, sizeof(number), "%u", job->slot);
    (void)snprintf(dir, sizeof(dir), "%s/%u", job->slots_path, job->slot);
    id_format(&job->id, session);
    make_argv(argv, job, number, session, dir);
    if (make_directory(job, err) < 0)
        return -1;
    listener = raise_fd(io_unix_listen(job->socket, 0660, job->socket_gid, BACKLOG, err));
    if (listener < 0)
        return -1;
    null = raise_fd(open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (null < 0 || make_pipe(&life_r, &life_w) < 0 || make_pipe(&report_r, &report_w) < 0 ||
        io_set_nonblock(report_r, true) < 0)
        return err_set(err, ERR_INTERNAL, errno, "prepare slot %u", job->slot);
    plan.listen = listener;
    plan.life = life_r;
    plan.null = null;
    pid = fork_holder(&plan, report_w, err);
    if (pid < 0)
        return -1;
    *ret = (struct started){ .pid = pid, .life = steal_fd(life_w), .report = steal_fd(report_r) };
    return 0;
}

int start_report(int report_fd, struct err *err)
{
    return child_report(report_fd, steps, ARRAY_LEN(steps), err);
}
