#include "supervisor/launcher/remove_tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shared/base/mem.h"

#define NAME_TRIES 1000000ul

/* Opens the directory name of dir for reading, made accessible first; NULL with errno. */
static DIR *open_dir(int dir, const char *name)
{
    int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat st;
    DIR *d;

    /* Without all rights for the owner its entries can neither be seen nor removed nor moved. */
    if (fd >= 0 && fstat(fd, &st) == 0 && (st.st_mode & S_IRWXU) != S_IRWXU)
        (void)fchmod(fd, S_IRWXU);
    if (fd < 0 && errno == EACCES && fchmodat(dir, name, S_IRWXU, 0) == 0)
        fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    d = fdopendir(fd);
    if (!d)
        close(fd);
    return d;
}

/* Moves directory name of dir into top under a free name. Moving changes its "..", so it must be
 * writable. */
static int move_up(int dir, const char *name, int top, unsigned long *counter)
{
    char to[32];
    unsigned long i;
    bool opened = false;

    for (i = 0; i < NAME_TRIES; i++) {
        (void)snprintf(to, sizeof(to), "d%lu", (*counter)++);
        if (renameat(dir, name, top, to) == 0)
            return 0;
        if (errno == EACCES && !opened) {
            opened = true;
            if (fchmodat(dir, name, S_IRWXU, 0) < 0)
                return -1;
        } else if (errno != EEXIST && errno != ENOTEMPTY && errno != ENOTDIR) {
            return -1;
        }
    }
    return -1;
}

/* Removes one entry. 1: gone, 0: a directory that stays (of top: it is emptied later), -1 with
 * errno. */
static int remove_entry(int dir, const char *name, int top, unsigned long *counter)
{
    if (unlinkat(dir, name, 0) == 0 || errno == ENOENT)
        return 1;
    if (errno != EISDIR && errno != EPERM)
        return -1;
    if (unlinkat(dir, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
        return 1;
    if (dir == top)
        return 0;
    return move_up(dir, name, top, counter) == 0 ? 1 : -1;
}

static bool is_self(const char *name)
{
    return !strcmp(name, ".") || !strcmp(name, "..");
}

/* Empties one directory below top; its subdirectories end up in top. */
static int empty_one(int top, const char *name, unsigned long *counter)
{
    DIR *d = open_dir(top, name);
    struct dirent *e;
    bool again = true;
    int r = 0;

    if (!d)
        return -1;
    while (again && r == 0) { /* a directory that changes may hide entries from one pass */
        again = false;
        rewinddir(d);
        while (r == 0 && (e = readdir(d))) {
            if (is_self(e->d_name))
                continue;
            again = true;
            if (remove_entry(dirfd(d), e->d_name, top, counter) < 0)
                r = -1;
        }
    }
    closedir(d);
    if (r == 0 && unlinkat(top, name, AT_REMOVEDIR) < 0 && errno != ENOENT)
        r = -1;
    return r;
}

int remove_tree(int top)
{
    unsigned long counter = 0;
    int copy = openat(top, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = copy < 0 ? NULL : fdopendir(copy);
    struct dirent *e;
    bool again = true;
    int r = 0;

    if (!d) {
        cleanup_fd_close(&copy);
        return -1;
    }
    while (again && r == 0) {
        again = false;
        rewinddir(d);
        while (r == 0 && (e = readdir(d))) {
            int gone;

            if (is_self(e->d_name))
                continue;
            again = true;
            gone = remove_entry(top, e->d_name, top, &counter);
            if (gone < 0 || (gone == 0 && empty_one(top, e->d_name, &counter) < 0))
                r = -1;
        }
    }
    closedir(d);
    return r;
}
