#include "supervisor/launcher/users.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shared/base/mem.h"

/* Locks of a process, not of a descriptor: what it forks does not have them, its end of any kind gives them back. */
static int lock(int fd, int command, struct flock *range)
{
    int r;

    do
        r = fcntl(fd, command, range);
    while (r < 0 && errno == EINTR);
    return r;
}

int users_claim(const char *path, int64_t first, uint32_t n, int *ret_fd, struct err *err)
{
    auto_fd int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    struct flock range = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = first, .l_len = n };
    struct stat st;

    *ret_fd = -1;
    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return 0;
    if (lock(fd, F_SETLK, &range) < 0) {
        if (errno != EACCES && errno != EAGAIN)
            return 0; /* a file system without locks */
        if (lock(fd, F_GETLK, &range) < 0 || range.l_type == F_UNLCK)
            range.l_pid = 0;
        return err_set(err, ERR_INTERNAL, 0,
                       "some of the session users %lld to %lld are those of another service (process %d): "
                       "AGENT_SIMULATOR_SESSION_UID_BASE",
                       (long long)first, (long long)first + n - 1, (int)range.l_pid);
    }
    *ret_fd = steal_fd(fd);
    return 0;
}
