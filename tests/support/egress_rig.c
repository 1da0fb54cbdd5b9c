#include "tests/support/egress_rig.h"

#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "shared/base/io.h"
#include "shared/base/mem.h"

/* Runs in the resolver's child. */
static int lookup(const char *name, struct address *ret, size_t max)
{
    (void)max;
    if (strcmp(name, "local.example") == 0) {
        ret[0] = (struct address){ AF_INET, { 127, 0, 0, 1 } };
        return 1;
    }
    if (strcmp(name, "inner.example") == 0) {
        ret[0] = (struct address){ AF_INET, { 10, 1, 2, 3 } };
        ret[1] = (struct address){ AF_INET6, { [15] = 1 } };
        return 2;
    }
    if (strcmp(name, "mixed.example") == 0) { /* only the second may be dialled */
        ret[0] = (struct address){ AF_INET, { 127, 0, 0, 2 } };
        ret[1] = (struct address){ AF_INET, { 127, 0, 0, 1 } };
        return 2;
    }
    return 0;
}

static int listen_on(uint16_t *ret_port)
{
    struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof(a);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
    assert_int_equal(listen(fd, 64), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &len), 0);
    *ret_port = ntohs(a.sin_port);
    return fd;
}

static void on_record(void *arg, const struct egress_record *r)
{
    struct egress_rig *rig = arg;

    rig->records++;
    rig->outcome = r->outcome;
    rig->up = r->up;
    rig->down = r->down;
    (void)snprintf(rig->target, sizeof(rig->target), "%s", r->target);
    (void)snprintf(rig->peer, sizeof(rig->peer), "%s", r->peer);
    (void)snprintf(rig->why, sizeof(rig->why), "%s", r->why);
}

int egress_rig_open(struct egress_rig *rig, bool listed_only, const struct egress_limits *limits)
{
    struct egress_setup setup = { .lookup = lookup, .record = on_record, .arg = rig };
    struct err err = { 0 };
    char list[256];
    int fd;

    *rig = (struct egress_rig){ .loop = ev_default_loop(0) };
    rig->server = listen_on(&rig->server_port);
    fd = listen_on(&rig->proxy_port);
    setup.policy.listed_only = listed_only;
    setup.limits = limits ? *limits : (struct egress_limits){ 8, 50, 1 << 30, 10, 10, 10, 10 };
    (void)snprintf(list, sizeof(list),
                   "127.0.0.1:%u,local.example:%u,inner.example:%u,mixed.example:%u,unknown.example:1",
                   rig->server_port, rig->server_port, rig->server_port, rig->server_port);
    if (listed_only && allow_list_parse(list, &setup.policy.list, &err) < 0) {
        close(fd);
        close(rig->server);
        return -1;
    }
    if (egress_new(rig->loop, fd, &setup, &rig->proxy, &err) < 0) {
        close(rig->server);
        return -1;
    }
    return 0;
}

void egress_rig_close(struct egress_rig *rig)
{
    egress_free(rig->proxy);
    close(rig->server);
}

/* One turn of the loop that does not wait long. */
void egress_rig_turn(struct egress_rig *rig)
{
    ev_run(rig->loop, EVRUN_NOWAIT);
    usleep(200);
}

int egress_rig_connect(uint16_t port)
{
    struct sockaddr_in a = { .sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                             .sin_port = htons(port) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
    assert_int_equal(io_set_nonblock(fd, true), 0);
    return fd;
}

void egress_rig_say(int fd, const char *text)
{
    assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
}

int egress_rig_ask(struct egress_rig *rig, const char *fmt, ...)
{
    char text[4096];
    va_list ap;
    int fd = egress_rig_connect(rig->proxy_port);

    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    egress_rig_say(fd, text);
    return fd;
}

/* Reads what has come: true at the end of the stream. */
bool egress_rig_hear(int fd, struct buf *b)
{
    char chunk[65536];
    ssize_t n;

    while ((n = recv(fd, chunk, sizeof(chunk), 0)) > 0)
        buf_add(b, chunk, (size_t)n);
    return n == 0 || (errno != EAGAIN && errno != EINTR);
}

bool egress_rig_heard(int fd, struct buf *b, const char *text)
{
    (void)egress_rig_hear(fd, b);
    return b->data && strstr(b->data, text);
}

int egress_rig_accept(struct egress_rig *rig)
{
    int fd = -1;

    UNTIL(rig, (fd = accept4(rig->server, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0);
    return fd;
}

/* The whole answer of the proxy to a request. */
struct buf egress_rig_answer(struct egress_rig *rig, int fd)
{
    struct buf b;

    buf_init(&b, 1 << 20);
    UNTIL(rig, egress_rig_hear(fd, &b));
    close(fd);
    return b;
}

void egress_rig_expect(struct egress_rig *rig, int fd, const char *status, const char *words)
{
    struct buf b = egress_rig_answer(rig, fd);

    if (!b.data || strncmp(b.data, status, strlen(status)) != 0 || !strstr(b.data, words))
        fail_msg("not %s ... %s: %s", status, words, b.data ? b.data : "nothing");
    buf_release(&b);
}
