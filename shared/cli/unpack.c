#include "shared/cli/unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shared/base/io.h"
#include "shared/base/mem.h"
#include "shared/base/path.h"

/* The kernel resolves: no link, no "..", nothing above root. */
static int open_below(int root, const char *path, int flags)
{
    struct open_how how = {
        .flags = (unsigned)(flags | O_CLOEXEC),
        .mode = flags & O_CREAT ? 0644 : 0,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS,
    };

    return (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
}

/* All directories of path (its last part too), one level at a time: descriptor of the last, or -1 with errno. */
static int make_directories(int root, const char *path)
{
    auto_fd int at = open_below(root, ".", O_RDONLY | O_DIRECTORY);
    const char *part = path;

    while (at >= 0 && *part) {
        size_t len = strcspn(part, "/");
        auto_free char *name = mem_dup(part, len);
        int next;

        if (!name)
            return -1;
        if (mkdirat(at, name, 0755) < 0 && errno != EEXIST)
            return -1;
        next = open_below(at, name, O_RDONLY | O_DIRECTORY);
        if (next < 0)
            return -1;
        close(at);
        at = next;
        part += len + (part[len] == '/');
    }
    return steal_fd(at);
}

static int check(const char *path, struct err *err)
{
    if (path_check(path, strlen(path)) < 0)
        return err_set(err, ERR_BAD_REQUEST, 0, "the program has a file at the unsafe path %s", path);
    return 0;
}

static int write_file(int root, const struct bundle_file *f, struct err *err)
{
    const char *slash = strrchr(f->path, '/');
    auto_free char *folder = mem_dup(f->path, slash ? (size_t)(slash - f->path) : 0);
    auto_fd int at = -1, fd = -1;

    if (check(f->path, err) < 0)
        return -1;
    if (!folder)
        return err_nomem(err);
    at = make_directories(root, folder);
    if (at >= 0)
        fd = open_below(at, slash ? slash + 1 : f->path, O_WRONLY | O_CREAT | O_TRUNC);
    if (fd < 0)
        return err_set(err, ERR_INTERNAL, errno, "create %s", f->path);
    if (io_write_all(fd, f->content, f->size) < 0)
        return err_set(err, ERR_INTERNAL, errno, "write %s", f->path);
    return 0;
}

static int make_directory(int root, const char *path, struct err *err)
{
    auto_fd int fd = -1;

    if (check(path, err) < 0)
        return -1;
    fd = make_directories(root, path);
    return fd < 0 ? err_set(err, ERR_INTERNAL, errno, "create the directory %s", path) : 0;
}

int cli_unpack(const struct bundle *b, const char *directory, struct err *err)
{
    auto_fd int root = -1;
    size_t i;

    if (mkdir(directory, 0755) < 0 && errno != EEXIST)
        return err_set(err, ERR_INTERNAL, errno, "create %s", directory);
    root = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (root < 0)
        return err_set(err, ERR_INTERNAL, errno, "open %s", directory);
    for (i = 0; i < b->directories.len; i++)
        if (make_directory(root, b->directories.items[i], err) < 0)
            return -1;
    for (i = 0; i < b->files_len; i++)
        if (write_file(root, &b->files[i], err) < 0)
            return -1;
    return 0;
}
