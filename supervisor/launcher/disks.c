#include "supervisor/launcher/disks.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shared/base/mem.h"

#define PATH_SIZE 4096
#define INODES_PER_MB 64
#define LEAST_INODES 1024 /* the session's own few, and an agent of many small files on a small disk */

#define FLAGS (MS_NOSUID | MS_NODEV | MS_NOATIME)

void disks_options(int64_t size_mb, char *out, size_t size)
{
    int64_t inodes = size_mb * INODES_PER_MB;

    if (inodes < LEAST_INODES)
        inodes = LEAST_INODES;
    (void)snprintf(out, size, "size=%lldm,nr_inodes=%lld,mode=0711", (long long)size_mb, (long long)inodes);
}

/* Ours, and nothing of it reaches the others; what they mount later reaches us. */
static int own_namespace(struct err *err)
{
    if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", NULL, MS_REC | MS_SLAVE, NULL) < 0)
        return err_set(err, ERR_UNAVAILABLE, errno, "a mount namespace for the sessions' disks");
    return 0;
}

static int mount_one(struct disks *d, uint32_t i, const char *options, struct err *err)
{
    char path[PATH_SIZE];

    (void)snprintf(path, sizeof(path), "%s/%u", d->path, i);
    if (mkdir(path, 0711) < 0 || mount("agentsim", path, "tmpfs", FLAGS, options) < 0)
        return err_set(err, ERR_UNAVAILABLE, errno, "mount %s", path);
    d->dirs[i] = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return d->dirs[i] < 0 ? err_set(err, ERR_UNAVAILABLE, errno, "%s", path) : 0;
}

/* The directories of the mount points are in a small file system of their own: nothing of it is left on disk. */
static int mount_all(struct disks *d, int64_t size_mb, bool *ret_own, struct err *err)
{
    char options[96];
    uint32_t i;

    if (mkdir(d->path, 0711) < 0 && errno != EEXIST)
        return err_set(err, ERR_UNAVAILABLE, errno, "make %s", d->path);
    if (own_namespace(err) < 0)
        return -1;
    *ret_own = true;
    if (mount("agentsim", d->path, "tmpfs", FLAGS, "size=1m,mode=0711") < 0)
        return err_set(err, ERR_UNAVAILABLE, errno, "mount %s", d->path);
    disks_options(size_mb, options, sizeof(options));
    for (i = 0; i < d->n; i++)
        if (mount_one(d, i, options, err) < 0)
            return -1;
    return 0;
}

int disks_mount(struct disks *ret, const char *state_dir, uint32_t n, int64_t size_mb, struct err *err)
{
    char path[PATH_SIZE];
    struct disks d = { .n = n };
    bool own = false;
    uint32_t i;

    *ret = (struct disks){ 0 };
    if (snprintf(path, sizeof(path), "%s/disks", state_dir) >= (int)sizeof(path) - 16)
        return err_set(err, ERR_INTERNAL, ENAMETOOLONG, "%s", state_dir);
    d.path = mem_strdup(path);
    d.dirs = d.path ? mem_zalloc(n, sizeof(*d.dirs)) : NULL;
    if (!d.dirs) {
        mem_free(d.path);
        return err_nomem(err);
    }
    for (i = 0; i < n; i++)
        d.dirs[i] = -1;
    if (mount_all(&d, size_mb, &own, err) < 0) {
        disks_release(&d);
        if (own)
            (void)umount2(path, MNT_DETACH); /* the others with it */
        return -1;
    }
    *ret = d;
    return 0;
}

void disks_release(struct disks *d)
{
    uint32_t i;

    for (i = 0; d->dirs && i < d->n; i++)
        cleanup_fd_close(&d->dirs[i]);
    mem_free(d->dirs);
    mem_free(d->path);
    *d = (struct disks){ 0 };
}
