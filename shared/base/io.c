#include "shared/base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "shared/base/mem.h"

#define READ_CHUNK 65536

/* send() keeps SIGPIPE away on sockets; everything else is written plainly. */
static ssize_t write_some(int fd, const void *data, size_t len)
{
    ssize_t n = send(fd, data, len, MSG_NOSIGNAL);

    if (n < 0 && errno == ENOTSOCK)
        n = write(fd, data, len);
    return n;
}

int io_write_all(int fd, const void *data, size_t len)
{
    const char *p = data;

    while (len) {
        ssize_t n = write_some(fd, p, len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        p += n;
        len -= (size_t)n;
    }
    return 0;
}

int io_read_all(int fd, void *data, size_t len)
{
    char *p = data;
    size_t done = 0;

    while (done < len) {
        ssize_t n = read(fd, p + done, len - done);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        if (n == 0) {
            if (!done)
                return 0;
            errno = EPIPE;
            return -1;
        }
        done += (size_t)n;
    }
    return 1;
}

int io_read_rest(int fd, struct buf *out, struct err *err)
{
    for (;;) {
        size_t room = out->max - out->len;
        ssize_t n;
        char extra;

        if (!room) { /* at the ceiling: only the end of the stream is fine */
            n = read(fd, &extra, 1);
            if (n == 0)
                return 0;
            if (n < 0 && errno == EINTR)
                continue;
            return err_set(err, ERR_TOO_LARGE, 0, "more than %zu bytes", out->max);
        }
        if (room > READ_CHUNK)
            room = READ_CHUNK;
        if (buf_reserve(out, room) < 0)
            return err_nomem(err);
        n = read(fd, out->data + out->len, room);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_set(err, ERR_INTERNAL, errno, "read");
        if (n == 0)
            return 0;
        out->len += (size_t)n;
        out->data[out->len] = '\0';
    }
}

int io_read_file(const char *path, struct buf *out, struct err *err)
{
    auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    struct stat st;

    if (fd < 0)
        return err_set(err, ERR_NOT_FOUND, errno, "open %s", path);
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return err_set(err, ERR_NOT_FOUND, 0, "%s is not a regular file", path);
    if (io_read_rest(fd, out, err) < 0)
        return err_wrap(err, "%s", path);
    return 0;
}

int io_write_file(const char *path, const void *data, size_t len, mode_t mode, struct err *err)
{
    auto_fd int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode);

    if (fd < 0)
        return err_set(err, ERR_INTERNAL, errno, "create %s", path);
    if (io_write_all(fd, data, len) < 0)
        return err_set(err, ERR_INTERNAL, errno, "write %s", path);
    return 0;
}

int io_set_nonblock(int fd, bool on)
{
    int flags = fcntl(fd, F_GETFL);

    if (flags < 0)
        return -1;
    return fcntl(fd, F_SETFL, on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK) < 0 ? -1 : 0;
}

int io_set_timeouts(int fd, unsigned recv_ms, unsigned send_ms)
{
    struct timeval r = { recv_ms / 1000, (recv_ms % 1000) * 1000 };
    struct timeval s = { send_ms / 1000, (send_ms % 1000) * 1000 };

    if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &r, sizeof(r)) < 0)
        return -1;
    return setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &s, sizeof(s));
}

static int unix_address(const char *path, struct sockaddr_un *ret, struct err *err)
{
    *ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
    if (strlen(path) >= sizeof(ret->sun_path))
        return err_set(err, ERR_INTERNAL, 0, "socket path %s is longer than %zu bytes", path,
                       sizeof(ret->sun_path) - 1);
    memcpy(ret->sun_path, path, strlen(path) + 1);
    return 0;
}

int io_unix_listen(const char *path, mode_t mode, gid_t gid, int backlog, struct err *err)
{
    auto_fd int fd = -1;
    struct sockaddr_un a;

    if (unix_address(path, &a, err) < 0)
        return -1;
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return err_set(err, ERR_INTERNAL, errno, "socket");
    if (unlink(path) < 0 && errno != ENOENT)
        return err_set(err, ERR_INTERNAL, errno, "remove stale %s", path);
    /* The mode goes on before anybody can connect: nobody can until listen(). */
    if (bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0)
        return err_set(err, ERR_INTERNAL, errno, "bind %s", path);
    if (chmod(path, mode) < 0 || (gid != (gid_t)-1 && chown(path, (uid_t)-1, gid) < 0))
        return err_set(err, ERR_INTERNAL, errno, "set owner and mode of %s", path);
    if (listen(fd, backlog) < 0)
        return err_set(err, ERR_INTERNAL, errno, "listen on %s", path);
    return steal_fd(fd);
}

static int unix_connect(const char *path, bool nonblock, unsigned timeout_ms, struct err *err)
{
    auto_fd int fd = -1;
    struct sockaddr_un a;

    if (unix_address(path, &a, err) < 0)
        return -1;
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | (nonblock ? SOCK_NONBLOCK : 0), 0);
    if (fd < 0)
        return err_set(err, ERR_INTERNAL, errno, "socket");
    /* Before connect(), which waits for the send timeout where a full backlog is not taken in. */
    if (timeout_ms && io_set_timeouts(fd, timeout_ms, timeout_ms) < 0)
        return err_set(err, ERR_INTERNAL, errno, "set the timeouts of a socket");
    if (connect(fd, (struct sockaddr *)&a, sizeof(a)) < 0)
        return err_set(err, ERR_UNAVAILABLE, errno, "connect to %s", path);
    return steal_fd(fd);
}

int io_unix_connect(const char *path, bool nonblock, struct err *err)
{
    return unix_connect(path, nonblock, 0, err);
}

int io_unix_connect_within(const char *path, unsigned timeout_ms, struct err *err)
{
    return unix_connect(path, false, timeout_ms, err);
}

int io_peer_uid(int fd, uid_t *ret)
{
    struct ucred cred;
    socklen_t len = sizeof(cred);

    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) < 0)
        return -1;
    *ret = cred.uid;
    return 0;
}

int io_send_fd(int sock, const void *data, size_t len, int fd)
{
    union {
        struct cmsghdr align;
        char space[CMSG_SPACE(sizeof(int))];
    } control = { 0 };
    struct iovec iov = { (void *)(uintptr_t)data, len };
    struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
    struct cmsghdr *c;
    ssize_t n;

    if (fd >= 0) {
        msg.msg_control = control.space;
        msg.msg_controllen = sizeof(control.space);
        c = CMSG_FIRSTHDR(&msg);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(c), &fd, sizeof(int));
    }
    do
        n = sendmsg(sock, &msg, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return -1;
    return io_write_all(sock, (const char *)data + n, len - (size_t)n);
}

ssize_t io_recv_fd(int sock, void *data, size_t len, int *ret_fd)
{
    union {
        struct cmsghdr align;
        char space[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec iov = { data, len };
    struct msghdr msg = {
        .msg_iov = &iov,
        .msg_iovlen = 1,
        .msg_control = control.space,
        .msg_controllen = CMSG_LEN(sizeof(int)), /* CMSG_SPACE rounds up to room for a second one, which would leak */
    };
    struct cmsghdr *c;
    ssize_t n;

    *ret_fd = -1;
    do
        n = recvmsg(sock, &msg, MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    for (c = n < 0 ? NULL : CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c))
        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
            memcpy(ret_fd, CMSG_DATA(c), sizeof(int));
    return n;
}
