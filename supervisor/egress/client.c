/* One connection, a state at a time. Functions whose name starts with "to_" enter a state; any of them and any callback
 * may be the last thing that happens to a client, so nothing touches it after such a call. */
#include "supervisor/egress/client.h"

#include <assert.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "shared/base/mem.h"
#include "supervisor/egress/own.h"

#define ANSWER_S 10.0
#define DRAIN_S 2.0
#define DRAIN_CHUNK 4096
#define BEHIND_HEAD_MAX ((size_t)16 << 10) /* of a body or tunnel, read together with the head */
#define ANSWER_MAX 1024

#define TO(s) (1U << CLIENT_##s)

static const unsigned allowed[CLIENT__MAX] = {
    [CLIENT_HEAD] = TO(LOOKUP) | TO(DIAL) | TO(ANSWER),
    [CLIENT_LOOKUP] = TO(DIAL) | TO(ANSWER),
    [CLIENT_DIAL] = TO(DIAL) | TO(RELAY) | TO(ANSWER),
    [CLIENT_RELAY] = 0,
    [CLIENT_ANSWER] = TO(DRAIN),
    [CLIENT_DRAIN] = 0,
};

static void stop(struct client *c)
{
    ev_io_stop(c->egress->loop, &c->io);
    ev_timer_stop(c->egress->loop, &c->timer);
}

/* The only writer of the state. The watchers are the next state's to start. */
static void set_state(struct client *c, enum client_state to)
{
    assert((allowed[c->state] >> to) & 1U);
    stop(c);
    c->state = to;
}

static void watch(struct client *c, int fd, int events, double patience_s)
{
    ev_io_set(&c->io, fd, events);
    ev_io_start(c->egress->loop, &c->io);
    ev_timer_set(&c->timer, patience_s, 0);
    ev_timer_start(c->egress->loop, &c->timer);
}

/* ---- our own answers ------------------------------------------------------------------------------ */

static void to_answer(struct client *c, const char *status, const char *text)
{
    set_state(c, CLIENT_ANSWER);
    buf_add_fmt(&c->out,
                "HTTP/1.1 %s\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: %zu\r\n"
                "Connection: close\r\n\r\n%s",
                status, strlen(text), text);
    if (buf_failed(&c->out)) {
        client_end(c);
        return;
    }
    watch(c, c->fd, EV_WRITE, ANSWER_S);
}

static void remember(struct client *c, enum egress_outcome outcome, const char *why)
{
    c->outcome = outcome;
    (void)snprintf(c->why, sizeof(c->why), "%.*s", (int)sizeof(c->why) - 1, why);
}

static void refuse(struct client *c, const char *why)
{
    char target[EGRESS_TARGET_TEXT], text[ANSWER_MAX / 2];

    egress_target_format(&c->request.target, target);
    remember(c, EGRESS_REFUSED, why);
    (void)snprintf(text, sizeof(text), "The egress policy \"%s\" of this service refuses %s: %s.\n",
                   egress_policy_name(&c->egress->setup.policy), target, why);
    to_answer(c, "403 Forbidden", text);
}

static void fail(struct client *c, const char *status, const char *why)
{
    char target[EGRESS_TARGET_TEXT], text[ANSWER_MAX / 2];

    egress_target_format(&c->request.target, target);
    remember(c, EGRESS_FAILED, why);
    (void)snprintf(text, sizeof(text), "%s was not reached: %s.\n", target, why);
    to_answer(c, status, text);
}

static void complain(struct client *c, enum egress_outcome outcome, const char *status, const char *why)
{
    char text[ANSWER_MAX / 2];

    remember(c, outcome, why);
    (void)snprintf(text, sizeof(text), "%.*s\n", (int)sizeof(text) - 2, why);
    to_answer(c, status, text);
}

static void send_answer(struct client *c)
{
    ssize_t n = send(c->fd, c->out.data + c->sent, c->out.len - c->sent, MSG_NOSIGNAL);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n < 0) {
        client_end(c);
        return;
    }
    c->sent += (size_t)n;
    if (c->sent < c->out.len)
        return;
    (void)shutdown(c->fd, SHUT_WR);
    set_state(c, CLIENT_DRAIN);
    watch(c, c->fd, EV_READ, DRAIN_S);
}

static void drain(struct client *c)
{
    char chunk[DRAIN_CHUNK];
    ssize_t n = recv(c->fd, chunk, sizeof(chunk), 0);

    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
        client_end(c);
}

/* ---- the server ----------------------------------------------------------------------------------- */

static void on_pump_over(void *arg, enum pump_end how)
{
    static const char *const words[] = {
        [PUMP_DONE] = "",
        [PUMP_BROKEN] = "a side broke the connection",
        [PUMP_BUDGET] = "cut: the session has used its bytes",
        [PUMP_QUIET] = "cut: one side had closed and the other stayed quiet",
        [PUMP_MALFORMED] = "cut: the body of the request is malformed",
        [PUMP_NOMEM] = "cut: out of memory",
    };
    struct client *c = arg;

    remember(c, EGRESS_CARRIED, words[how]);
    client_end(c);
}

/* A dead peer must not hold a connection for good, and small messages must not wait for larger ones. */
static void tune(int fd)
{
    static const struct {
        int level, name, value;
    } options[] = {
        { SOL_SOCKET, SO_KEEPALIVE, 1 }, { IPPROTO_TCP, TCP_KEEPIDLE, 60 }, { IPPROTO_TCP, TCP_KEEPINTVL, 15 },
        { IPPROTO_TCP, TCP_KEEPCNT, 4 }, { IPPROTO_TCP, TCP_NODELAY, 1 },
    };
    size_t i;

    for (i = 0; i < ARRAY_LEN(options); i++)
        (void)setsockopt(fd, options[i].level, options[i].name, &options[i].value, sizeof(int));
}

static void to_relay(struct client *c)
{
    auto_buf struct buf established;
    struct egress_request *r = &c->request;

    set_state(c, CLIENT_RELAY);
    buf_init(&established, ANSWER_MAX);
    if (r->tunnel)
        buf_add_str(&established, "HTTP/1.1 200 Connection established\r\n\r\n");
    tune(c->fd);
    tune(c->server);
    c->outcome = EGRESS_CARRIED;
    egress_answer_init(&c->answer);
    c->pump.body = r->tunnel ? NULL : &r->body;
    c->pump.answer = r->tunnel ? NULL : &c->answer;
    c->pump.budget = &c->egress->budget;
    c->pump.linger_s = c->egress->setup.limits.linger_s;
    c->pump.over = on_pump_over;
    c->pump.arg = c;
    if (buf_failed(&established) ||
        pump_start(&c->pump, c->egress->loop, c->fd, c->server, &r->head, &established) < 0) {
        remember(c, EGRESS_FAILED, "out of memory");
        client_end(c);
        return;
    }
    buf_release(&r->head);
}

static void to_dial(struct client *c);

/* The address did not answer: the next one, or the end. */
static void dial_failed(struct client *c, int e)
{
    char why[64];

    cleanup_fd_close(&c->server);
    c->server = -1;
    if (c->tried < c->n_found) {
        to_dial(c);
        return;
    }
    (void)snprintf(why, sizeof(why), "%s", strerror(e));
    fail(c, e == ETIMEDOUT ? "504 Gateway Timeout" : "502 Bad Gateway", why);
}

static void to_dial(struct client *c)
{
    const struct address *a = &c->found[c->tried++];
    double patience = c->egress->setup.limits.connect_s;
    struct sockaddr_storage sa;
    socklen_t len = address_to_sockaddr(a, c->request.target.port, &sa);

    set_state(c, CLIENT_DIAL);
    address_format(a, c->peer);
    c->server = socket(a->family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (c->server < 0 || (connect(c->server, (const struct sockaddr *)&sa, len) < 0 && errno != EINPROGRESS)) {
        dial_failed(c, errno);
        return;
    }
    watch(c, c->server, EV_WRITE, c->tried < c->n_found ? patience / 3 : patience);
}

static void dialled(struct client *c)
{
    int e = 0;
    socklen_t len = sizeof(e);

    if (getsockopt(c->server, SOL_SOCKET, SO_ERROR, &e, &len) < 0)
        e = errno;
    if (e)
        dial_failed(c, e);
    else
        to_relay(c);
}

/* Keeps the addresses that may be dialled, in their order. Why the first one may not: the words. */
static const char *judge(struct client *c, const struct address *found, size_t n)
{
    const struct egress_policy *policy = &c->egress->setup.policy;
    const char *first = NULL;
    size_t i;

    for (i = 0; i < n; i++) {
        const char *why = egress_refuse_address(policy, &found[i], c->request.target.port, egress_is_own(&found[i]));

        if (!why) {
            c->found[c->n_found++] = found[i];
        } else if (!first) {
            first = why;
            address_format(&found[i], c->peer); /* for the log; the agent learns no inner addresses */
        }
    }
    return c->n_found ? NULL : first;
}

static void on_found(void *arg, const struct address *found, size_t n, const char *why)
{
    struct client *c = arg;
    char words[96];

    c->query = NULL;
    if (!n) {
        fail(c, "502 Bad Gateway", why);
        return;
    }
    why = judge(c, found, n);
    if (!why) {
        to_dial(c);
        return;
    }
    (void)snprintf(words, sizeof(words), "the name leads to %s", why);
    refuse(c, words);
}

static void to_lookup(struct client *c)
{
    struct err err = { 0 };

    set_state(c, CLIENT_LOOKUP);
    c->query = resolver_ask(&c->egress->resolver, c->request.target.name, on_found, c, &err);
    if (!c->query)
        fail(c, "502 Bad Gateway", err.msg);
}

/* ---- the request ---------------------------------------------------------------------------------- */

static void find_server(struct client *c)
{
    const struct egress_target *t = &c->request.target;
    const char *why = egress_refuse_target(&c->egress->setup.policy, t);

    if (!c->egress->budget)
        why = "the session has used the bytes it may send and receive";
    if (!why && !*t->name)
        why = judge(c, &t->address, 1);
    if (why)
        refuse(c, why);
    else if (*t->name)
        to_lookup(c);
    else
        to_dial(c);
}

/* What came with the head goes with it to the server, as far as it belongs to the request: 0, or -1 malformed. */
static int add_rest(struct client *c, const char *rest, size_t len)
{
    struct egress_request *r = &c->request;
    ssize_t n = r->tunnel ? (ssize_t)len : egress_body_take(&r->body, rest, len);

    if (n < 0)
        return -1;
    r->head.max = EGRESS_HEAD_MAX + BEHIND_HEAD_MAX + 1024;
    buf_add(&r->head, rest, (size_t)n);
    c->first_up = (uint64_t)n;
    return 0;
}

static void understand(struct client *c, size_t head_len)
{
    struct err err = { 0 };

    if (egress_request_parse(c->in.data, head_len, &c->request, &err) < 0) {
        complain(c, EGRESS_FAILED, err.kind == ERR_BAD_REQUEST ? "400 Bad Request" : "500 Internal Server Error",
                 err.msg);
        return;
    }
    c->parsed = true;
    if (add_rest(c, c->in.data + head_len, c->in.len - head_len) < 0) {
        complain(c, EGRESS_FAILED, "400 Bad Request", "The body of the request is malformed.");
        return;
    }
    buf_release(&c->in);
    if (buf_failed(&c->request.head)) {
        remember(c, EGRESS_FAILED, "out of memory");
        client_end(c);
    } else {
        find_server(c);
    }
}

static void read_head(struct client *c)
{
    char chunk[BEHIND_HEAD_MAX];
    ssize_t n = recv(c->fd, chunk, sizeof(chunk), 0);
    size_t end;

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0 || buf_add(&c->in, chunk, (size_t)n) < 0) {
        client_end(c); /* went without a word, or no memory */
        return;
    }
    end = egress_head_end(c->in.data, c->in.len, &c->scanned);
    if (end > EGRESS_HEAD_MAX || (!end && c->in.len >= EGRESS_HEAD_MAX))
        complain(c, EGRESS_FAILED, "431 Request Header Fields Too Large", "The head of the request is too large.");
    else if (end)
        understand(c, end);
}

/* ---- events --------------------------------------------------------------------------------------- */

static void on_io(struct ev_loop *loop, ev_io *w, int events)
{
    static void (*const act[CLIENT__MAX])(struct client * c) = {
        [CLIENT_HEAD] = read_head,
        [CLIENT_DIAL] = dialled,
        [CLIENT_ANSWER] = send_answer,
        [CLIENT_DRAIN] = drain,
    };
    struct client *c = w->data;

    (void)loop;
    (void)events;
    act[c->state](c);
}

static void on_timer(struct ev_loop *loop, ev_timer *w, int events)
{
    struct client *c = w->data;

    (void)loop;
    (void)events;
    if (c->state == CLIENT_HEAD && c->in.len)
        complain(c, EGRESS_FAILED, "408 Request Timeout", "The head of the request did not come in time.");
    else if (c->state == CLIENT_DIAL)
        dial_failed(c, ETIMEDOUT);
    else
        client_end(c); /* never said anything, or does not take the answer */
}

int client_start(struct egress *e, int fd, bool busy)
{
    struct client *c = mem_zalloc(1, sizeof(*c));

    if (!c) {
        close(fd);
        return -1;
    }
    c->egress = e;
    c->fd = fd;
    c->server = -1;
    c->outcome = EGRESS_FAILED;
    buf_init(&c->in, EGRESS_HEAD_MAX + BEHIND_HEAD_MAX);
    buf_init(&c->out, ANSWER_MAX);
    ev_init(&c->io, on_io);
    ev_init(&c->timer, on_timer);
    c->io.data = c->timer.data = c;
    c->next = e->clients;
    if (c->next)
        c->next->prev = c;
    e->clients = c;
    e->n_clients++;
    if (busy)
        complain(c, EGRESS_REFUSED, "503 Service Unavailable",
                 "The session has too many connections through this proxy.");
    else
        watch(c, fd, EV_READ, e->setup.limits.head_s);
    return 0;
}

static void record(const struct client *c)
{
    char target[EGRESS_TARGET_TEXT] = "";
    const struct egress_record r = {
        .outcome = c->outcome,
        .target = target,
        .peer = c->peer,
        .why = c->why,
        .up = c->pump.up.bytes + (c->outcome == EGRESS_CARRIED ? c->first_up : 0),
        .down = c->pump.down.bytes,
    };

    if (c->parsed)
        egress_target_format(&c->request.target, target);
    if (c->egress->setup.record && (c->parsed || *c->why))
        c->egress->setup.record(c->egress->setup.arg, &r);
}

void client_end(struct client *c)
{
    struct egress *e = c->egress;

    stop(c);
    record(c);
    resolver_cancel(c->query);
    pump_release(&c->pump);
    egress_answer_release(&c->answer);
    cleanup_fd_close(&c->fd);
    cleanup_fd_close(&c->server);
    if (c->parsed)
        egress_request_release(&c->request);
    buf_release(&c->in);
    buf_release(&c->out);
    if (c->next)
        c->next->prev = c->prev;
    *(c->prev ? &c->prev->next : &e->clients) = c->next;
    mem_free(c);
    e->n_clients--;
    egress_client_gone(e);
}
