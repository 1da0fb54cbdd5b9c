/* The proxy over loopback: servers and clients are this test, on one loop with it. What may be reached is said by an
 * allow list, as an operator would; names are answered by a table. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "shared/base/buf.h"
#include "shared/base/io.h"
#include "shared/base/mem.h"
#include "shared/base/time.h"
#include "supervisor/egress/proxy.h"
#include "tests/support/oom.h"

#define MUCH ((size_t)40 << 20) /* more than the sockets on the way may hold */
#define HEAD_TOO_LARGE (((size_t)32 << 10) + 2)

struct rig {
    struct ev_loop *loop;
    struct egress *proxy;
    uint16_t proxy_port, server_port;
    int server; /* listening */
    int records;
    enum egress_outcome outcome; /* of the newest record */
    char target[300], peer[64], why[128];
    uint64_t up, down;
};

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
    struct rig *rig = arg;

    rig->records++;
    rig->outcome = r->outcome;
    rig->up = r->up;
    rig->down = r->down;
    (void)snprintf(rig->target, sizeof(rig->target), "%s", r->target);
    (void)snprintf(rig->peer, sizeof(rig->peer), "%s", r->peer);
    (void)snprintf(rig->why, sizeof(rig->why), "%s", r->why);
}

static int open_rig(struct rig *rig, bool listed_only, const struct egress_limits *limits)
{
    struct egress_setup setup = { .lookup = lookup, .record = on_record, .arg = rig };
    struct err err = { 0 };
    char list[256];
    int fd;

    *rig = (struct rig){ .loop = ev_default_loop(0) };
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

static void close_rig(struct rig *rig)
{
    egress_free(rig->proxy);
    close(rig->server);
}

/* One turn of the loop that does not wait long. */
static void turn(struct rig *rig)
{
    ev_run(rig->loop, EVRUN_NOWAIT);
    usleep(200);
}

#define UNTIL(rig, condition) \
    do { \
        int64_t until_ = time_mono_ms() + 20000; \
        while (!(condition)) { \
            if (time_mono_ms() > until_) \
                fail_msg("not in time: %s", #condition); \
            turn(rig); \
        } \
    } while (0)

static int connect_to(uint16_t port)
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

static void say(int fd, const char *text)
{
    assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
}

static int ask(struct rig *rig, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static int ask(struct rig *rig, const char *fmt, ...)
{
    char text[4096];
    va_list ap;
    int fd = connect_to(rig->proxy_port);

    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    say(fd, text);
    return fd;
}

/* Reads what has come: true at the end of the stream. */
static bool hear(int fd, struct buf *b)
{
    char chunk[65536];
    ssize_t n;

    while ((n = recv(fd, chunk, sizeof(chunk), 0)) > 0)
        buf_add(b, chunk, (size_t)n);
    return n == 0 || (errno != EAGAIN && errno != EINTR);
}

static bool heard(int fd, struct buf *b, const char *text)
{
    (void)hear(fd, b);
    return b->data && strstr(b->data, text);
}

static int accepted(struct rig *rig)
{
    int fd = -1;

    UNTIL(rig, (fd = accept4(rig->server, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0);
    return fd;
}

/* The whole answer of the proxy to a request. */
static struct buf answer_to(struct rig *rig, int fd)
{
    struct buf b;

    buf_init(&b, 1 << 20);
    UNTIL(rig, hear(fd, &b));
    close(fd);
    return b;
}

static void expect_answer(struct rig *rig, int fd, const char *status, const char *words)
{
    struct buf b = answer_to(rig, fd);

    if (!b.data || strncmp(b.data, status, strlen(status)) != 0 || !strstr(b.data, words))
        fail_msg("not %s ... %s: %s", status, words, b.data ? b.data : "nothing");
    buf_release(&b);
}

/* ---- what is carried ------------------------------------------------------------------------------ */

static void a_tunnel_carries_both_ways_and_passes_ends_on(void **state)
{
    struct rig rig;
    struct buf at_client, at_server;
    int client, server;

    (void)state;
    assert_int_equal(open_rig(&rig, true, NULL), 0);
    buf_init(&at_client, 1 << 20);
    buf_init(&at_server, 1 << 20);
    client = ask(&rig, "CONNECT 127.0.0.1:%u HTTP/1.1\r\nHost: x\r\n\r\nearly ", rig.server_port);
    server = accepted(&rig);
    UNTIL(&rig, heard(client, &at_client, "\r\n\r\n"));
    assert_string_equal(at_client.data, "HTTP/1.1 200 Connection established\r\n\r\n");
    buf_clear(&at_client);
    say(client, "and late");
    UNTIL(&rig, heard(server, &at_server, "early and late"));
    say(server, "answer");
    UNTIL(&rig, heard(client, &at_client, "answer"));
    assert_int_equal(shutdown(client, SHUT_WR), 0);
    UNTIL(&rig, hear(server, &at_server)); /* the end arrives, the other way stays open */
    say(server, ", and more");
    UNTIL(&rig, heard(client, &at_client, "answer, and more"));
    close(server);
    UNTIL(&rig, hear(client, &at_client));
    UNTIL(&rig, rig.records == 1);
    assert_int_equal(rig.outcome, EGRESS_CARRIED);
    assert_int_equal(rig.up, strlen("early and late"));
    assert_int_equal(rig.down, strlen("answer, and more"));
    assert_string_equal(rig.peer, "127.0.0.1");
    assert_string_equal(rig.why, "");
    close(client);
    buf_release(&at_client);
    buf_release(&at_server);
    close_rig(&rig);
}

static void a_request_reaches_its_server_and_the_answer_its_client(void **state)
{
    struct rig rig;
    struct buf at_server, answer;
    int client, server;

    (void)state;
    assert_int_equal(open_rig(&rig, true, NULL), 0);
    buf_init(&at_server, 1 << 20);
    client = ask(&rig, "POST http://local.example:%u/v1?q HTTP/1.1\r\nHost: elsewhere\r\nContent-Length: 4\r\n\r\nab",
                 rig.server_port);
    server = accepted(&rig);
    say(client, "cdGET http://x/ HTTP/1.1\r\n\r\n"); /* a second request must not get through unchecked */
    UNTIL(&rig, heard(server, &at_server, "\r\n\r\nabcd"));
    say(server, "HTTP/1.1 200 OK\r\n\r\nbody");
    for (int i = 0; i < 20; i++)
        turn(&rig);
    (void)hear(server, &at_server);
    assert_null(strstr(at_server.data, "GET"));
    assert_non_null(strstr(at_server.data, "POST /v1?q HTTP/1.1\r\nHost: local.example:"));
    assert_non_null(strstr(at_server.data, "Connection: close\r\n\r\nabcd"));
    assert_null(strstr(at_server.data, "elsewhere"));
    close(server);
    answer = answer_to(&rig, client);
    assert_string_equal(answer.data, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nbody");
    UNTIL(&rig, rig.records == 1);
    assert_int_equal(rig.up, 4 + strlen("GET http://x/ HTTP/1.1\r\n\r\n"));
    buf_release(&answer);
    buf_release(&at_server);
    close_rig(&rig);
}

static void a_chunked_body_ends_where_it_ends(void **state)
{
    struct rig rig;
    struct buf at_server;
    int client, server;

    (void)state;
    assert_int_equal(open_rig(&rig, true, NULL), 0);
    buf_init(&at_server, 1 << 20);
    client =
        ask(&rig, "POST http://127.0.0.1:%u/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\na", rig.server_port);
    server = accepted(&rig);
    UNTIL(&rig, heard(server, &at_server, "3\r\na"));
    say(client, "bc\r\n0\r\n\r\nGET / HTTP/1.1\r\n\r\n");
    UNTIL(&rig, heard(server, &at_server, "3\r\nabc\r\n0\r\n\r\n"));
    close(server);
    UNTIL(&rig, rig.records == 1);
    assert_null(strstr(at_server.data, "GET"));
    close(client);
    client =
        ask(&rig, "POST http://127.0.0.1:%u/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n", rig.server_port);
    server = accepted(&rig);
    say(client, "abcdef"); /* its end cannot be known: cut */
    UNTIL(&rig, rig.records == 2);
    assert_non_null(strstr(rig.why, "malformed"));
    close(client);
    close(server);
    expect_answer(
        &rig, ask(&rig, "POST http://127.0.0.1:%u/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nx", rig.server_port),
        "HTTP/1.1 400 ", "malformed");
    buf_release(&at_server);
    close_rig(&rig);
}

/* The fast side is stopped, nothing is lost, nothing piles up. */
static void who_does_not_read_stops_who_writes(void **state)
{
    struct rig rig;
    struct buf at_client;
    int client, server, quiet = 0;
    size_t sent = 0, established = strlen("HTTP/1.1 200 Connection established\r\n\r\n"), i;
    char *data = malloc(MUCH);

    (void)state;
    assert_non_null(data);
    for (i = 0; i < MUCH; i++)
        data[i] = (char)('a' + i % 23);
    assert_int_equal(open_rig(&rig, true, NULL), 0);
    buf_init(&at_client, MUCH + 4096);
    client = ask(&rig, "CONNECT 127.0.0.1:%u HTTP/1.1\r\n\r\n", rig.server_port);
    server = accepted(&rig);
    while (quiet < 100) { /* until nothing moves */
        ssize_t n = send(server, data + sent, MUCH - sent < 65536 ? MUCH - sent : 65536, MSG_NOSIGNAL);

        if (n > 0)
            sent += (size_t)n;
        quiet = n > 0 ? 0 : quiet + 1;
        turn(&rig);
        assert_true(sent < MUCH);
    }
    while (at_client.len < MUCH + established) {
        ssize_t n = sent < MUCH ? send(server, data + sent, MUCH - sent, MSG_NOSIGNAL) : 0;

        sent += n > 0 ? (size_t)n : 0;
        (void)hear(client, &at_client);
        turn(&rig);
    }
    assert_int_equal(at_client.len, MUCH + established);
    assert_memory_equal(at_client.data + established, data, MUCH);
    close(client);
    close(server);
    UNTIL(&rig, rig.records == 1);
    free(data);
    buf_release(&at_client);
    close_rig(&rig);
}

static void an_upload_arrives_whole(void **state)
{
    struct rig rig;
    struct buf at_server;
    int client, server;
    size_t sent = 0;
    char *data = calloc(1, MUCH);

    (void)state;
    assert_non_null(data);
    memset(data, 'u', MUCH);
    assert_int_equal(open_rig(&rig, true, NULL), 0);
    buf_init(&at_server, MUCH + 4096);
    client = ask(&rig, "PUT http://127.0.0.1:%u/ HTTP/1.1\r\nContent-Length: %zu\r\n\r\n", rig.server_port, MUCH);
    server = accepted(&rig);
    while (at_server.len < MUCH || !strstr(at_server.data, "\r\n\r\nuuu") || sent < MUCH ||
           at_server.len < MUCH + (size_t)(strstr(at_server.data, "\r\n\r\n") + 4 - at_server.data)) {
        ssize_t n = sent < MUCH ? send(client, data + sent, MUCH - sent, MSG_NOSIGNAL) : 0;

        sent += n > 0 ? (size_t)n : 0;
        (void)hear(server, &at_server);
        turn(&rig);
    }
    say(server, "HTTP/1.1 204 No Content\r\n\r\n");
    close(server);
    expect_answer(&rig, client, "HTTP/1.1 204 ", "");
    free(data);
    buf_release(&at_server);
    close_rig(&rig);
}

static void an_answer_comes_though_its_server_did_not_want_the_body(void **state)
{
    struct rig rig;
    int client, server;

    (void)state;
    assert_int_equal(open_rig(&rig, true, NULL), 0);
    client = ask(&rig, "PUT http://127.0.0.1:%u/ HTTP/1.1\r\nContent-Length: 100000000\r\n\r\nxxxx", rig.server_port);
    server = accepted(&rig);
    say(server, "HTTP/1.1 413 Too Large\r\n\r\nno");
    assert_int_equal(shutdown(server, SHUT_WR), 0);
    expect_answer(&rig, client, "HTTP/1.1 413 ", "no");
    close(server);
    close_rig(&rig);
}

/* ---- what is not ---------------------------------------------------------------------------------- */

static void inner_addresses_are_refused_under_public(void **state)
{
    static const char *const targets[] = { "127.0.0.1:80",         "[::1]:80",
                                           "10.0.0.1:443",         "169.254.169.254:80",
                                           "[::ffff:127.0.0.1]:1", "[fd00:ec2::254]:80",
                                           "local.example:443",    "inner.example:1" };
    struct rig rig;
    size_t i;

    (void)state;
    assert_int_equal(open_rig(&rig, false, NULL), 0);
    for (i = 0; i < ARRAY_LEN(targets); i++) {
        expect_answer(&rig, ask(&rig, "CONNECT %s HTTP/1.1\r\n\r\n", targets[i]), "HTTP/1.1 403 ", "policy \"public\"");
        expect_answer(&rig, ask(&rig, "GET http://%s/ HTTP/1.1\r\n\r\n", targets[i]), "HTTP/1.1 403 ", "address");
        UNTIL(&rig, rig.records == (int)i * 2 + 2);
        assert_int_equal(rig.outcome, EGRESS_REFUSED);
        assert_string_equal(rig.target, targets[i]);
    }
    assert_string_equal(rig.peer, "10.1.2.3"); /* the operator sees where a name led, the agent does not */
    assert_true(accept(rig.server, NULL, NULL) < 0);
    close_rig(&rig);
}

static void hosts_that_are_not_listed_are_refused_before_they_are_looked_up(void **state)
{
    struct rig rig;

    (void)state;
    assert_int_equal(open_rig(&rig, true, NULL), 0);
    expect_answer(&rig, ask(&rig, "CONNECT other.example:443 HTTP/1.1\r\n\r\n"), "HTTP/1.1 403 ", "not in the list");
    expect_answer(&rig, ask(&rig, "CONNECT 127.0.0.1:1 HTTP/1.1\r\n\r\n"), "HTTP/1.1 403 ", "not in the list");
    expect_answer(&rig, ask(&rig, "CONNECT 8.8.8.8:53 HTTP/1.1\r\n\r\n"), "HTTP/1.1 403 ", "policy \"allow\"");
    expect_answer(&rig, ask(&rig, "CONNECT inner.example:%u HTTP/1.1\r\n\r\n", rig.server_port), "HTTP/1.1 403 ",
                  "leads to a private address");
    close_rig(&rig);
}

static void only_addresses_that_passed_are_dialled(void **state)
{
    struct rig rig;
    int client, server;

    (void)state;
    assert_int_equal(open_rig(&rig, true, NULL), 0);
    client = ask(&rig, "CONNECT mixed.example:%u HTTP/1.1\r\n\r\n", rig.server_port);
    server = accepted(&rig);
    close(client);
    close(server);
    UNTIL(&rig, rig.records == 1);
    assert_string_equal(rig.peer, "127.0.0.1");
    close_rig(&rig);
}

static void servers_that_do_not_answer_are_named(void **state)
{
    struct rig rig;

    (void)state;
    assert_int_equal(open_rig(&rig, true, NULL), 0);
    expect_answer(&rig, ask(&rig, "CONNECT unknown.example:1 HTTP/1.1\r\n\r\n"), "HTTP/1.1 502 ",
                  "the name is not known");
    close(rig.server);
    expect_answer(&rig, ask(&rig, "CONNECT local.example:%u HTTP/1.1\r\n\r\n", rig.server_port), "HTTP/1.1 502 ",
                  "Connection refused");
    UNTIL(&rig, rig.records == 2);
    assert_int_equal(rig.outcome, EGRESS_FAILED);
    rig.server = dup(0);
    close_rig(&rig);
}

static void what_is_no_request_is_told_so(void **state)
{
    struct rig rig;
    int fd;
    char *large = calloc(1, HEAD_TOO_LARGE);

    (void)state;
    assert_non_null(large);
    assert_int_equal(open_rig(&rig, true, NULL), 0);
    expect_answer(&rig, ask(&rig, "hello\r\n\r\n"), "HTTP/1.1 400 ", "malformed");
    expect_answer(&rig, ask(&rig, "GET / HTTP/1.1\r\n\r\n"), "HTTP/1.1 400 ", "This is a proxy");
    memset(large, 'x', HEAD_TOO_LARGE - 1);
    fd = connect_to(rig.proxy_port);
    say(fd, large);
    expect_answer(&rig, fd, "HTTP/1.1 431 ", "too large");
    fd = connect_to(rig.proxy_port); /* says nothing: no answer, no record */
    close(fd);
    fd = ask(&rig, "CONNECT ");
    close(fd);
    UNTIL(&rig, rig.records == 3);
    free(large);
    close_rig(&rig);
}

/* ---- limits --------------------------------------------------------------------------------------- */

static void a_head_that_does_not_come_is_not_waited_for(void **state)
{
    const struct egress_limits limits = { 8, 50, 1 << 20, .head_s = 0.2, .resolve_s = 10, .connect_s = 10 };
    struct rig rig;
    struct buf nothing;

    (void)state;
    assert_int_equal(open_rig(&rig, true, &limits), 0);
    expect_answer(&rig, ask(&rig, "CONNECT 127.0.0.1:1 HT"), "HTTP/1.1 408 ", "in time");
    nothing = answer_to(&rig, connect_to(rig.proxy_port));
    assert_int_equal(nothing.len, 0);
    buf_release(&nothing);
    close_rig(&rig);
}

static void one_connection_too_many_is_told_so(void **state)
{
    const struct egress_limits limits = { 3, 50, 1 << 20, 10, 10, 10, 10 };
    struct rig rig;
    int clients[3], servers[3], i, more;

    (void)state;
    assert_int_equal(open_rig(&rig, true, &limits), 0);
    for (i = 0; i < 3; i++) {
        clients[i] = ask(&rig, "CONNECT 127.0.0.1:%u HTTP/1.1\r\n\r\n", rig.server_port);
        servers[i] = accepted(&rig);
    }
    expect_answer(&rig, ask(&rig, "CONNECT 127.0.0.1:%u HTTP/1.1\r\n\r\n", rig.server_port), "HTTP/1.1 503 ",
                  "too many connections");
    close(clients[0]);
    close(servers[0]);
    UNTIL(&rig, rig.records == 2);
    more = ask(&rig, "CONNECT 127.0.0.1:%u HTTP/1.1\r\n\r\n", rig.server_port);
    close(accepted(&rig));
    close(more);
    for (i = 1; i < 3; i++) {
        close(clients[i]);
        close(servers[i]);
    }
    close_rig(&rig);
}

static void a_flood_of_connections_waits_and_is_served(void **state)
{
    const struct egress_limits limits = { 1, 50, 1 << 20, 0.1, 10, 10, 10 };
    struct rig rig;
    int fds[20], i, closed = 0;
    struct buf b;

    (void)state;
    assert_int_equal(open_rig(&rig, true, &limits), 0);
    buf_init(&b, 1 << 20);
    for (i = 0; i < 20; i++)
        fds[i] = connect_to(rig.proxy_port);
    UNTIL(&rig, ({
        for (i = 0; i < 20; i++)
            if (fds[i] >= 0 && hear(fds[i], &b)) {
                close(fds[i]);
                fds[i] = -1;
                closed++;
            }
        closed == 20;
    }));
    buf_release(&b);
    close_rig(&rig);
}

static void new_connections_are_taken_at_a_pace(void **state)
{
    const struct egress_limits limits = { 8, 100, 1 << 20, 10, 10, 10, 10 };
    struct rig rig;
    int64_t started = time_mono_ms();
    int i;

    (void)state;
    assert_int_equal(open_rig(&rig, true, &limits), 0);
    for (i = 0; i < (int)EGRESS_BURST + 50; i++) {
        close(ask(&rig, "hello\r\n\r\n"));
        UNTIL(&rig, rig.records > i);
    }
    assert_true(time_mono_ms() - started >= 300); /* half a second for the 50, less what came in meanwhile */
    close_rig(&rig);
}

static void a_session_that_has_used_its_bytes_is_cut(void **state)
{
    const struct egress_limits limits = { 8, 50, 1000, 10, 10, 10, 10 };
    struct rig rig;
    struct buf b;
    char text[801];
    int client, server;

    (void)state;
    memset(text, 'b', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    assert_int_equal(open_rig(&rig, true, &limits), 0);
    buf_init(&b, 1 << 20);
    client = ask(&rig, "CONNECT 127.0.0.1:%u HTTP/1.1\r\n\r\n", rig.server_port);
    server = accepted(&rig);
    say(server, text);
    UNTIL(&rig, heard(client, &b, text));
    say(client, text);
    UNTIL(&rig, rig.records == 1);
    assert_non_null(strstr(rig.why, "used its bytes"));
    close(client);
    close(server);
    expect_answer(&rig, ask(&rig, "CONNECT 127.0.0.1:%u HTTP/1.1\r\n\r\n", rig.server_port), "HTTP/1.1 403 ",
                  "the bytes");
    buf_release(&b);
    close_rig(&rig);
}

static void ending_the_proxy_ends_what_it_carries(void **state)
{
    struct rig rig;
    struct buf b;
    int relayed, server, looking, head;

    (void)state;
    assert_int_equal(open_rig(&rig, true, NULL), 0);
    buf_init(&b, 1 << 20);
    relayed = ask(&rig, "CONNECT 127.0.0.1:%u HTTP/1.1\r\n\r\n", rig.server_port);
    server = accepted(&rig);
    UNTIL(&rig, heard(relayed, &b, "\r\n\r\n"));
    looking = ask(&rig, "CONNECT local.example:%u HTTP/1.1\r\n\r\n", rig.server_port);
    head = ask(&rig, "CONNECT ");
    turn(&rig);
    turn(&rig);
    close_rig(&rig);
    assert_int_equal(rig.records, 2);
    UNTIL(&rig, hear(relayed, &b)); /* a lookup's child may still have had a copy of the socket */
    close(relayed);
    close(server);
    close(looking);
    close(head);
    buf_release(&b);
    egress_free(NULL);
}

/* Whichever allocation fails, nothing leaks and the next connection works. */
static void no_memory_ends_a_connection_and_nothing_else(void **state)
{
    (void)state;
    OOM_SWEEP({
        struct rig rig;
        struct buf b;
        int client;
        int server;
        int64_t until = time_mono_ms() + 5000;

        buf_init(&b, 4096);
        if (open_rig(&rig, true, NULL) == 0) {
            client =
                ask(&rig, "POST http://local.example:%u/ HTTP/1.1\r\nContent-Length: 2\r\n\r\nab", rig.server_port);
            server = -1;
            while (!rig.records && time_mono_ms() < until) {
                turn(&rig);
                if (server < 0 && (server = accept4(rig.server, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0)
                    (void)shutdown(server, SHUT_WR);
                if (hear(client, &b))
                    break;
            }
            close(client);
            cleanup_fd_close(&server);
            assert_true(time_mono_ms() < until);
            close_rig(&rig);
        }
        buf_release(&b);
    });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tunnel_carries_both_ways_and_passes_ends_on),
        cmocka_unit_test(a_request_reaches_its_server_and_the_answer_its_client),
        cmocka_unit_test(a_chunked_body_ends_where_it_ends),
        cmocka_unit_test(who_does_not_read_stops_who_writes),
        cmocka_unit_test(an_upload_arrives_whole),
        cmocka_unit_test(an_answer_comes_though_its_server_did_not_want_the_body),
        cmocka_unit_test(inner_addresses_are_refused_under_public),
        cmocka_unit_test(hosts_that_are_not_listed_are_refused_before_they_are_looked_up),
        cmocka_unit_test(only_addresses_that_passed_are_dialled),
        cmocka_unit_test(servers_that_do_not_answer_are_named),
        cmocka_unit_test(what_is_no_request_is_told_so),
        cmocka_unit_test(a_head_that_does_not_come_is_not_waited_for),
        cmocka_unit_test(one_connection_too_many_is_told_so),
        cmocka_unit_test(a_flood_of_connections_waits_and_is_served),
        cmocka_unit_test(new_connections_are_taken_at_a_pace),
        cmocka_unit_test(a_session_that_has_used_its_bytes_is_cut),
        cmocka_unit_test(ending_the_proxy_ends_what_it_carries),
        cmocka_unit_test(no_memory_ends_a_connection_and_nothing_else),
    };

    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
