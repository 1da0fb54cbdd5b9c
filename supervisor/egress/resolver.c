#include "supervisor/egress/resolver.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shared/base/child.h"
#include "shared/base/io.h"
#include "shared/base/mem.h"
#include "supervisor/egress/allow_list.h"

#define ANSWER_FD 3

/* What the child writes: less than PIPE_BUF, so whole or not at all. */
struct answer {
    int n;
    struct address found[EGRESS_ADDRESSES_MAX];
};

struct resolver_query {
    struct resolver_query *prev, *next;
    struct resolver *resolver;
    char name[HOST_NAME_MAX_LEN + 1];
    resolver_found found;
    void *arg;
    ev_io answer;
    ev_timer patience;
    int fd, pidfd; /* -1: waits for its turn */
};

int egress_lookup_system(const char *name, struct address *ret, size_t max)
{
    const struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_ADDRCONFIG };
    struct addrinfo *list = NULL, *a;
    size_t n = 0;

    if (getaddrinfo(name, NULL, &hints, &list) != 0)
        return 0;
    for (a = list; a && n < max; a = a->ai_next)
        n += address_from_sockaddr(a->ai_addr, &ret[n]) == 0;
    freeaddrinfo(list);
    return (int)n;
}

/* ---- the child ------------------------------------------------------------------------------------ */

static void child(const struct resolver_query *q, int fd, pid_t parent) __attribute__((noreturn));
static void child(const struct resolver_query *q, int fd, pid_t parent)
{
    struct answer a = { 0 };

    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (getppid() != parent || child_reset_signals(NULL) < 0)
        _exit(1);
    if (fd != ANSWER_FD && dup2(fd, ANSWER_FD) < 0)
        _exit(1);
    (void)close_range(ANSWER_FD + 1, ~0U, 0); /* the holder's: sockets of browsers, of the agent, its loop */
    a.n = q->resolver->lookup(q->name, a.found, EGRESS_ADDRESSES_MAX);
    _exit(write(ANSWER_FD, &a, sizeof(a)) == (ssize_t)sizeof(a) ? 0 : 1);
}

static int start_child(struct resolver_query *q, struct err *err)
{
    int fds[2];
    pid_t parent = getpid(), pid;

    if (pipe2(fds, O_CLOEXEC) < 0)
        return err_set(err, ERR_INTERNAL, errno, "pipe");
    if (io_set_nonblock(fds[0], true) == 0 && (pid = fork()) >= 0) {
        if (pid == 0)
            child(q, fds[1], parent);
        close(fds[1]);
        q->fd = fds[0];
        q->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
        return 0;
    }
    err_set(err, ERR_INTERNAL, errno, "fork");
    close(fds[0]);
    close(fds[1]);
    return -1;
}

/* ---- queries -------------------------------------------------------------------------------------- */

static void start_waiting(struct resolver *r);

static void unlink_query(struct resolver_query *q)
{
    struct resolver *r = q->resolver;

    *(q->prev ? &q->prev->next : &r->first) = q->next;
    *(q->next ? &q->next->prev : &r->last) = q->prev;
}

/* Its child, if it still works, is of no use any more. */
static void end_query(struct resolver_query *q)
{
    struct resolver *r = q->resolver;
    bool ran = q->fd >= 0;

    ev_io_stop(r->loop, &q->answer);
    ev_timer_stop(r->loop, &q->patience);
    if (q->pidfd >= 0)
        (void)syscall(SYS_pidfd_send_signal, q->pidfd, SIGKILL, NULL, 0);
    cleanup_fd_close(&q->pidfd);
    cleanup_fd_close(&q->fd);
    unlink_query(q);
    mem_free(q);
    r->running -= ran;
}

static void tell(struct resolver_query *q, const struct answer *a, const char *why)
{
    struct resolver *r = q->resolver;
    resolver_found found = q->found;
    void *arg = q->arg;

    end_query(q);
    start_waiting(r);
    found(arg, a ? a->found : NULL, a ? (size_t)a->n : 0, why); /* may free the resolver */
}

static bool is_sound(const struct answer *a)
{
    int i;

    for (i = 0; i < a->n && i < EGRESS_ADDRESSES_MAX; i++)
        if (a->found[i].family != AF_INET && a->found[i].family != AF_INET6)
            return false;
    return a->n > 0 && a->n <= EGRESS_ADDRESSES_MAX;
}

static void on_answer(struct ev_loop *loop, ev_io *w, int events)
{
    struct resolver_query *q = w->data;
    struct answer a;
    ssize_t n;

    (void)loop;
    (void)events;
    do
        n = read(q->fd, &a, sizeof(a));
    while (n < 0 && errno == EINTR);
    if (n < 0 && errno == EAGAIN)
        return;
    if (n == (ssize_t)sizeof(a) && is_sound(&a))
        tell(q, &a, NULL);
    else
        tell(q, NULL, "the name is not known");
}

static void on_patience(struct ev_loop *loop, ev_timer *w, int events)
{
    (void)loop;
    (void)events;
    tell(w->data, NULL, "the name was not resolved in time");
}

static void start_query(struct resolver_query *q)
{
    struct resolver *r = q->resolver;

    if (start_child(q, NULL) < 0)
        return; /* waits on: its patience ends it */
    r->running++;
    ev_io_set(&q->answer, q->fd, EV_READ);
    ev_io_start(r->loop, &q->answer);
}

static void start_waiting(struct resolver *r)
{
    struct resolver_query *q;

    for (q = r->first; q && r->running < r->at_once; q = q->next)
        if (q->fd < 0)
            start_query(q);
}

struct resolver_query *resolver_ask(struct resolver *r, const char *name, resolver_found found, void *arg,
                                    struct err *err)
{
    struct resolver_query *q = mem_zalloc(1, sizeof(*q));
    size_t len = strlen(name);

    if (!q || len >= sizeof(q->name)) {
        mem_free(q);
        err_nomem(err);
        return NULL;
    }
    q->resolver = r;
    q->found = found;
    q->arg = arg;
    q->fd = q->pidfd = -1;
    memcpy(q->name, name, len + 1);
    ev_init(&q->answer, on_answer);
    ev_timer_init(&q->patience, on_patience, r->patience_s, 0);
    q->answer.data = q->patience.data = q;
    q->prev = r->last;
    *(r->last ? &r->last->next : &r->first) = q;
    r->last = q;
    ev_timer_start(r->loop, &q->patience);
    start_waiting(r);
    return q;
}

void resolver_cancel(struct resolver_query *q)
{
    struct resolver *r;

    if (!q)
        return;
    r = q->resolver;
    end_query(q);
    start_waiting(r);
}

void resolver_init(struct resolver *r, struct ev_loop *loop, egress_lookup lookup, double patience_s, unsigned at_once)
{
    *r = (struct resolver){ .loop = loop, .lookup = lookup, .patience_s = patience_s, .at_once = at_once };
}

void resolver_release(struct resolver *r)
{
    if (!r)
        return;
    while (r->first)
        end_query(r->first);
}
