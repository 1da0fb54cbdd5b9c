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
static void remove_as_owner(const struct clean_job *job, const char *name) __attribute__((noreturn));
static void remove_as_owner(const struct clean_job *job, const char *name)
{
    int top;

    alarm(CLEAN_REMOVE_S);
    if (sweep_become(job->uid) < 0)
        _exit(1);
    if (fchmodat(job->slots_dir, name, S_IRWXU, 0) < 0 && errno == ENOENT)
        _exit(0);
    top = openat(job->slots_dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (top < 0)
        _exit(errno == ENOENT ? 0 : 1);
    _exit(remove_tree(top) < 0 ? 1 : 0);
}

static int remove_files(const struct clean_job *job)
{
    char name[16];
    pid_t pid;

    (void)snprintf(name, sizeof(name), "%u", job->slot);
    pid = fork();
    if (pid < 0)
        return -1;
    if (pid == 0)
        remove_as_owner(job, name);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    if (unlink(job->socket) < 0 && errno != ENOENT)
        return -1;
    if (unlinkat(job->slots_dir, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
        return 0;
    return errno == ENOTDIR ? unlinkat(job->slots_dir, name, 0) : -1;
}

/* The life pipes of other slots must not stay open here when the launcher dies. */
static void keep_only(int fd)
{
    if (fd > 3)
        (void)close_range(3, (unsigned)fd - 1, 0);
    (void)close_range((unsigned)fd + 1, ~0u, 0);
}

static int run(const struct clean_job *job)
{
    int left;

    child_reset_signals(NULL);
    keep_only(job->slots_dir);
    left = sweep_user(job->uid, CLEAN_PATIENCE_MS);
    if (left != 0)
        return left < 0 || left > CLEAN_LEFT_MAX ? CLEAN_LEFT_MAX : left;
    return remove_files(job) < 0 ? CLEAN_FILES : 0;
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
