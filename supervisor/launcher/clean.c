#include "supervisor/launcher/clean.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shared/base/child.h"
#include "shared/base/mem.h"
#include "supervisor/launcher/remove_tree.h"
#include "supervisor/launcher/sweep.h"

/* As the owner of the files: a link that leads out can then do no harm, whatever happens. */
static void remove_as_owner(uid_t uid, int dir, const char *name) __attribute__((noreturn));
static void remove_as_owner(uid_t uid, int dir, const char *name)
{
    int top;

    alarm(CLEAN_REMOVE_S);
    if (sweep_become(uid) < 0)
        _exit(1);
    if (fchmodat(dir, name, S_IRWXU, 0) < 0 && errno == ENOENT)
        _exit(0);
    top = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (top < 0)
        _exit(errno == ENOENT ? 0 : 1);
    _exit(remove_tree(top) < 0 ? 1 : 0);
}

static int remove_directory(const struct clean_job *job, int dir)
{
    char name[16];
    pid_t pid;

    (void)snprintf(name, sizeof(name), "%u", job->slot);
    pid = fork();
    if (pid < 0)
        return -1;
    if (pid == 0)
        remove_as_owner(job->uid, dir, name);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    if (unlinkat(dir, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
        return 0;
    return errno == ENOTDIR ? unlinkat(dir, name, 0) : -1;
}

/* With disks, slots_dir may still have what a former run without them left. */
static int remove_files(const struct clean_job *job)
{
    int r = remove_directory(job, job->slots_dir);

    if (job->disk >= 0 && remove_directory(job, job->disk) < 0)
        r = -1;
    if (unlink(job->socket) < 0 && errno != ENOENT)
        r = -1;
    return r;
}

/* The life pipes of other slots must not stay open here when the launcher dies. */
static void keep_only(int a, int b)
{
    int low = a < b ? a : b, high = a < b ? b : a;

    if (low > 3)
        (void)close_range(3, (unsigned)low - 1, 0);
    if (high > low + 1)
        (void)close_range(low < 0 ? 3 : (unsigned)low + 1, (unsigned)high - 1, 0);
    (void)close_range((unsigned)high + 1, ~0u, 0);
}

/* Whatever a session's processes do to come into being faster than they are killed, stopped ones do not. */
static int end_processes(const struct clean_job *job)
{
    cgroup_hold(job->cgroups, job->slot, true);
    sweep_strike(job->uid);
    cgroup_hold(job->cgroups, job->slot, false);
    return sweep_user(job->uid, CLEAN_PATIENCE_MS);
}

static int run(const struct clean_job *job)
{
    int left;

    child_reset_signals(NULL);
    keep_only(job->slots_dir, job->disk);
    left = end_processes(job);
    if (left != 0)
        return left < 0 || left > CLEAN_LEFT_MAX ? CLEAN_LEFT_MAX : left;
    if (remove_files(job) < 0)
        return CLEAN_FILES;
    return cgroup_remove(job->cgroups, job->slot) < 0 ? CLEAN_GROUP : 0;
}

pid_t clean_start(const struct clean_job *job, struct err *err)
{
    pid_t pid = fork();

    if (pid == 0)
        _exit(run(job));
    if (pid < 0)
        return err_set(err, ERR_INTERNAL, errno, "fork a cleaner");
    return pid;
}
