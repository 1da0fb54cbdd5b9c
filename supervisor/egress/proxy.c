#include "supervisor/egress/proxy.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "shared/base/mem.h"
#include "shared/base/time.h"
#include "supervisor/egress/client.h"

#define ACCEPT_AT_ONCE 16
#define LOOKUPS 4  /* children at once: they count against the session user's processes */
#define REST_S 0.2 /* without descriptors, or before more connections are taken */

/* Clients above the limit are told so, which takes a moment; twice the limit is where accepting itself waits. */
static bool is_full(const struct egress *e)
{
    return e->n_clients >= 2 * e->setup.limits.connections;
}

static void rest(struct egress *e)
{
    ev_io_stop(e->loop, &e->listener);
    ev_timer_set(&e->pause, REST_S, 0);
    ev_timer_start(e->loop, &e->pause);
}

/* Not the loop's own time, which is that of the wall clock: after a jump back nobody would be accepted. */
static double seconds(void)
{
    return (double)time_mono_ms() / 1000.;
}

/* A bucket that fills with time. */
static bool may_accept(struct egress *e)
{
    double now = seconds();

    e->may_accept += (now - e->accepted_at) * e->setup.limits.per_second;
    e->may_accept = e->may_accept > EGRESS_BURST ? EGRESS_BURST : e->may_accept;
    e->accepted_at = now;
    if (e->may_accept < 1)
        return false;
    e->may_accept -= 1;
    return true;
}

static void on_accept(struct ev_loop *loop, ev_io *w, int events)
{
    struct egress *e = w->data;
    int i, fd;

    (void)events;
    (void)loop;
    for (i = 0; i < ACCEPT_AT_ONCE && !is_full(e); i++) {
        if (!may_accept(e)) {
            rest(e);
            return;
        }
        fd = accept4(e->listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0 && (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED))
            return;
        if (fd < 0 || client_start(e, fd, e->n_clients >= e->setup.limits.connections) < 0) {
            rest(e);
            return;
        }
    }
    if (is_full(e))
        ev_io_stop(e->loop, w);
}

static void on_pause(struct ev_loop *loop, ev_timer *w, int events)
{
    struct egress *e = w->data;

    (void)events;
    ev_timer_stop(loop, w);
    ev_io_start(loop, &e->listener);
}

void egress_client_gone(struct egress *e)
{
    if (!is_full(e) && !ev_is_active(&e->pause))
        ev_io_start(e->loop, &e->listener);
}

int egress_new(struct ev_loop *loop, int listen_fd, struct egress_setup *setup, struct egress **ret, struct err *err)
{
    struct egress *e = mem_zalloc(1, sizeof(*e));

    if (!e) {
        allow_list_release(&setup->policy.list);
        close(listen_fd);
        return err_nomem(err);
    }
    e->loop = loop;
    e->listen_fd = listen_fd;
    e->setup = *setup;
    setup->policy.list = (struct allow_list){ 0 };
    e->budget = setup->limits.bytes;
    resolver_init(&e->resolver, loop, setup->lookup, setup->limits.resolve_s, LOOKUPS);
    ev_io_init(&e->listener, on_accept, listen_fd, EV_READ);
    ev_init(&e->pause, on_pause);
    e->may_accept = EGRESS_BURST;
    e->accepted_at = seconds();
    e->listener.data = e->pause.data = e;
    ev_io_start(loop, &e->listener);
    *ret = e;
    return 0;
}

void egress_free(struct egress *e)
{
    if (!e)
        return;
    while (e->clients)
        client_end(e->clients);
    ev_io_stop(e->loop, &e->listener);
    ev_timer_stop(e->loop, &e->pause);
    resolver_release(&e->resolver);
    allow_list_release(&e->setup.policy.list);
    close(e->listen_fd);
    mem_free(e);
}
