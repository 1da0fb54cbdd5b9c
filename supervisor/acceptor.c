#include "supervisor/acceptor.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "shared/base/io.h"
#include "shared/base/log.h"

#define BURST 64         /* connections before others get their turn */
#define RETRY_SECONDS .2 /* after the system ran out of something */

static bool out_of_something(int errnum)
{
    return errnum == EMFILE || errnum == ENFILE || errnum == ENOBUFS || errnum == ENOMEM;
}

static void on_readable(struct ev_loop *loop, struct ev_io *w, int revents)
{
    struct acceptor *a = w->data;
    int i, fd;

    (void)revents;
    for (i = 0; i < BURST && !a->paused && a->fd >= 0; i++) {
        fd = accept4(a->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd >= 0) {
            a->accepted(a->owner, fd);
        } else if (out_of_something(errno)) {
            log_error("accept: %s", strerror(errno));
            ev_io_stop(loop, w);
            ev_timer_set(&a->retry, RETRY_SECONDS, 0.);
            ev_timer_start(loop, &a->retry);
            return;
        } else if (errno != EINTR && errno != ECONNABORTED) {
            return;
        }
    }
}

static void on_retry(struct ev_loop *loop, struct ev_timer *w, int revents)
{
    struct acceptor *a = w->data;

    (void)revents;
    if (!a->paused)
        ev_io_start(loop, &a->io);
}

void acceptor_start(struct acceptor *a, struct ev_loop *loop, int fd, void (*accepted)(void *owner, int fd),
                    void *owner)
{
    *a = (struct acceptor){ .loop = loop, .fd = fd, .accepted = accepted, .owner = owner };
    io_set_nonblock(fd, true);
    ev_io_init(&a->io, on_readable, fd, EV_READ);
    ev_timer_init(&a->retry, on_retry, 0., 0.);
    a->io.data = a->retry.data = a;
    ev_io_start(loop, &a->io);
}

void acceptor_pause(struct acceptor *a, bool paused)
{
    if (a->paused == paused || a->fd < 0)
        return;
    a->paused = paused;
    if (paused)
        ev_io_stop(a->loop, &a->io);
    else
        ev_io_start(a->loop, &a->io);
}

void acceptor_stop(struct acceptor *a)
{
    if (!a->loop || a->fd < 0)
        return;
    ev_io_stop(a->loop, &a->io);
    ev_timer_stop(a->loop, &a->retry);
    close(a->fd);
    a->fd = -1;
}
