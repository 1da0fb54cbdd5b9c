#include "supervisor/launcher/door.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "shared/base/io.h"
#include "shared/base/log.h"
#include "shared/base/mem.h"
#include "supervisor/launcher/slot.h"

#define PER_TURN 32
#define PER_SOCKET 1024 /* more than a socket holds */
#define RETRY_S .2

static void drop(struct door *d)
{
    if (d->conn < 0)
        return;
    ev_io_stop(d->loop, &d->reader);
    ev_io_stop(d->loop, &d->writer);
    close(d->conn);
    d->conn = -1;
    buf_clear(&d->out);
}

/* Records keep their borders: one send per message. */
static void flush(struct door *d)
{
    size_t sent = 0;

    while (sent < d->out.len) {
        ssize_t n = send(d->conn, d->out.data + sent, sizeof(struct launch_msg), MSG_DONTWAIT | MSG_NOSIGNAL);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            break;
        if (n != (ssize_t)sizeof(struct launch_msg)) {
            drop(d);
            return;
        }
        sent += (size_t)n;
    }
    buf_consume(&d->out, sent);
    if (d->out.len)
        ev_io_start(d->loop, &d->writer);
    else
        ev_io_stop(d->loop, &d->writer);
}

static void on_writable(struct ev_loop *loop, ev_io *w, int events)
{
    (void)loop;
    (void)events;
    flush(w->data);
}

void door_send(struct door *d, struct launch_msg m)
{
    if (d->conn < 0)
        return;
    m.magic = LAUNCH_MAGIC;
    if (buf_add(&d->out, &m, sizeof(m)) < 0) {
        log_warn("the supervisor does not read: connection dropped");
        drop(d);
        return;
    }
    flush(d);
}

static void hear(struct door *d, int most)
{
    int i;

    for (i = 0; i < most && d->conn >= 0; i++) {
        struct launch_msg m;
        ssize_t n = recv(d->conn, &m, sizeof(m), MSG_DONTWAIT | MSG_TRUNC);

        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (n > 0 && slot_check_message(&m, (size_t)n, d->n_slots) == 0) {
            d->on_message(d->arg, &m);
            continue;
        }
        if (n > 0)
            log_warn("unexpected message from the supervisor: connection dropped");
        drop(d);
    }
}

static void on_readable(struct ev_loop *loop, ev_io *w, int events)
{
    (void)loop;
    (void)events;
    hear(w->data, PER_TURN);
}

/* The connection waits in the backlog, which keeps the listener readable: without a pause this would spin. */
static void accept_later(struct door *d)
{
    if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED)
        return;
    log_error("accept: %s", strerror(errno));
    ev_io_stop(d->loop, &d->listener);
    ev_timer_stop(d->loop, &d->retry);
    ev_timer_set(&d->retry, RETRY_S, 0.);
    ev_timer_start(d->loop, &d->retry);
}

static void on_retry(struct ev_loop *loop, ev_timer *w, int events)
{
    struct door *d = w->data;

    (void)events;
    ev_io_start(loop, &d->listener);
}

static void on_client(struct ev_loop *loop, ev_io *w, int events)
{
    struct door *d = w->data;
    auto_fd int fd = accept4(w->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    uid_t uid;

    (void)events;
    if (fd < 0) {
        accept_later(d);
        return;
    }
    if (io_peer_uid(fd, &uid) < 0 || (uid != 0 && uid != d->client)) {
        log_warn("a stranger connected to the launcher: refused");
        return;
    }
    hear(d, PER_SOCKET); /* the former one's last words count: it was killed right behind them, perhaps */
    drop(d);
    d->conn = steal_fd(fd);
    ev_io_set(&d->reader, d->conn, EV_READ);
    ev_io_set(&d->writer, d->conn, EV_WRITE);
    ev_io_start(loop, &d->reader);
    d->on_connect(d->arg);
}

void door_open(struct door *d, struct ev_loop *loop, int listen_fd)
{
    d->loop = loop;
    d->conn = -1;
    buf_init(&d->out, ((size_t)d->n_slots + 64) * 4 * sizeof(struct launch_msg));
    ev_init(&d->reader, on_readable);
    ev_init(&d->writer, on_writable);
    ev_io_init(&d->listener, on_client, listen_fd, EV_READ);
    ev_init(&d->retry, on_retry);
    d->reader.data = d->writer.data = d->listener.data = d->retry.data = d;
    ev_io_start(loop, &d->listener);
}

void door_close(struct door *d)
{
    drop(d);
    ev_io_stop(d->loop, &d->listener);
    ev_timer_stop(d->loop, &d->retry);
    buf_release(&d->out);
}

int door_listen(const char *path, gid_t gid, struct err *err)
{
    struct sockaddr_un a = { .sun_family = AF_UNIX };
    auto_fd int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (snprintf(a.sun_path, sizeof(a.sun_path), "%s", path) >= (int)sizeof(a.sun_path))
        return err_set(err, ERR_INTERNAL, ENAMETOOLONG, "%s", path);
    if (unlink(path) < 0 && errno != ENOENT)
        return err_set(err, ERR_INTERNAL, errno, "%s", path);
    if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0 || chmod(path, 0660) < 0 ||
        chown(path, (uid_t)-1, gid) < 0 || listen(fd, 8) < 0)
        return err_set(err, ERR_INTERNAL, errno, "%s", path);
    return steal_fd(fd);
}
