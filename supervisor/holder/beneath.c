#include "supervisor/holder/beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shared/base/mem.h"
#include "shared/ipc/hold.h"

/* Kernels and container filters without openat2: component by component, links refused at each. */
static int open_by_parts(int root, const char *path, int flags, mode_t mode)
{
    auto_fd int dir = fcntl(root, F_DUPFD_CLOEXEC, 0);
    char name[256];

    for (;;) {
        const char *slash = strchr(path, '/');
        size_t n = slash ? (size_t)(slash - path) : strlen(path);
        int next;

        if (dir < 0)
            return -1;
        if (n == 0 || n >= sizeof(name) || (n <= 2 && !strncmp(path, "..", n))) {
            errno = n >= sizeof(name) ? ENAMETOOLONG : EINVAL;
            return -1;
        }
        memcpy(name, path, n);
        name[n] = '\0';
        if (!slash)
            return openat(dir, name, flags | O_NOFOLLOW | O_CLOEXEC, mode);
        next = openat(dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        cleanup_fd_close(&dir);
        dir = next;
        path = slash + 1;
    }
}

int beneath_open(int root, const char *path, int flags, mode_t mode)
{
    struct open_how how = {
        .flags = (uint64_t)(flags | O_CLOEXEC),
        .mode = flags & O_CREAT ? mode : 0,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV,
    };
    long fd = syscall(SYS_openat2, root, path, &how, sizeof(how));

    if (fd < 0 && (errno == ENOSYS || errno == EPERM))
        return open_by_parts(root, path, flags, mode);
    return (int)fd;
}

int beneath_open_file(int root, const char *path, uid_t owner, struct stat *ret_st, struct err *err)
{
    /* O_NONBLOCK: a FIFO must not hold us up before fstat() says that it is one */
    auto_fd int fd = beneath_open(root, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
    struct stat st;

    if (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == EIO))
        return err_set(err, ERR_INTERNAL, errno, "open a file of the session");
    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != owner)
        return err_set(err, ERR_NOT_FOUND, 0, "no such file");
    *ret_st = st;
    return steal_fd(fd);
}

/* Makes path up to len bytes of it, each directory in turn. */
static int make_up_to(int root, const char *path, size_t len)
{
    char part[HOLD_PATH_MAX + 1];
    size_t i;

    if (len > HOLD_PATH_MAX) {
        errno = ENAMETOOLONG;
        return -1;
    }
    for (i = 1; i <= len; i++) {
        auto_fd int parent = -1;
        char *slash;

        if (i < len && path[i] != '/')
            continue;
        memcpy(part, path, i);
        part[i] = '\0';
        slash = strrchr(part, '/');
        if (slash)
            *slash = '\0';
        parent = slash ? beneath_open(root, part, O_PATH | O_DIRECTORY, 0) : fcntl(root, F_DUPFD_CLOEXEC, 0);
        if (parent < 0 || (mkdirat(parent, slash ? slash + 1 : part, 0755) < 0 && errno != EEXIST))
            return -1;
    }
    return 0;
}

int beneath_mkdir(int root, const char *path)
{
    auto_fd int fd = -1;

    if (make_up_to(root, path, strlen(path)) < 0)
        return -1;
    fd = beneath_open(root, path, O_PATH | O_DIRECTORY, 0); /* what was there may be no directory */
    return fd < 0 ? -1 : 0;
}

int beneath_append(int root, const char *path)
{
    const char *slash = strrchr(path, '/');

    if (slash && make_up_to(root, path, (size_t)(slash - path)) < 0)
        return -1;
    return beneath_open(root, path, O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK, 0644);
}
