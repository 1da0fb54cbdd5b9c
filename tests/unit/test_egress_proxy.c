/* What the proxy carries, and what not. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "shared/base/mem.h"
#include "tests/support/egress_rig.h"
#include "tests/support/oom.h"

#define MUCH ((size_t)40 << 20) /* more than the sockets on the way may hold */
#define HEAD_TOO_LARGE (((size_t)32 << 10) + 2)

/* ---- what is carried ------------------------------------------------------------------------------ */

static void a_tunnel_carries_both_ways_and_passes_ends_on(void **state)
{
    struct egress_rig rig;
    struct buf at_client, at_server;
    int client, server;

    (void)state;
    assert_int_equal(egress_rig_open(&rig, true, NULL), 0);
    buf_init(&at_client, 1 << 20);
    buf_init(&at_server, 1 << 20);
    client = egress_rig_ask(&rig, "CONNECT 127.0.0.1:%u HTTP/1.1\r\nHost: x\r\n\r\nearly ", rig.server_port);
    server = egress_rig_accept(&rig);
    UNTIL(&rig, egress_rig_heard(client, &at_client, "\r\n\r\n"));
    assert_string_equal(at_client.data, "HTTP/1.1 200 Connection established\r\n\r\n");
    buf_clear(&at_client);
    egress_rig_say(client, "and late");
    UNTIL(&rig, egress_rig_heard(server, &at_server, "early and late"));
    egress_rig_say(server, "answer");
    UNTIL(&rig, egress_rig_heard(client, &at_client, "answer"));
    assert_int_equal(shutdown(client, SHUT_WR), 0);
    UNTIL(&rig, egress_rig_hear(server, &at_server)); /* the end arrives, the other way stays open */
    egress_rig_say(server, ", and more");
    UNTIL(&rig, egress_rig_heard(client, &at_client, "answer, and more"));
    close(server);
    UNTIL(&rig, egress_rig_hear(client, &at_client));
    UNTIL(&rig, rig.records == 1);
    assert_int_equal(rig.outcome, EGRESS_CARRIED);
    assert_int_equal(rig.up, strlen("early and late"));
    assert_int_equal(rig.down, strlen("answer, and more"));
    assert_string_equal(rig.peer, "127.0.0.1");
    assert_string_equal(rig.why, "");
    close(client);
    buf_release(&at_client);
    buf_release(&at_server);
    egress_rig_close(&rig);
}

static void a_request_reaches_its_server_and_the_answer_its_client(void **state)
{
    struct egress_rig rig;
    struct buf at_server, answer;
    int client, server;

    (void)state;
    assert_int_equal(egress_rig_open(&rig, true, NULL), 0);
    buf_init(&at_server, 1 << 20);
    client = egress_rig_ask(
        &rig, "POST http://local.example:%u/v1?q HTTP/1.1\r\nHost: elsewhere\r\nContent-Length: 4\r\n\r\nab",
        rig.server_port);
    server = egress_rig_accept(&rig);
    egress_rig_say(client, "cdGET http://x/ HTTP/1.1\r\n\r\n"); /* a second request must not get through unchecked */
    UNTIL(&rig, egress_rig_heard(server, &at_server, "\r\n\r\nabcd"));
    egress_rig_say(server, "HTTP/1.1 200 OK\r\n\r\nbody");
    for (int i = 0; i < 20; i++)
        egress_rig_turn(&rig);
    (void)egress_rig_hear(server, &at_server);
    assert_null(strstr(at_server.data, "GET"));
    assert_non_null(strstr(at_server.data, "POST /v1?q HTTP/1.1\r\nHost: local.example:"));
    assert_non_null(strstr(at_server.data, "Connection: close\r\n\r\nabcd"));
    assert_null(strstr(at_server.data, "elsewhere"));
    close(server);
    answer = egress_rig_answer(&rig, client);
    assert_string_equal(answer.data, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nbody");
    UNTIL(&rig, rig.records == 1);
    assert_int_equal(rig.up, 4 + strlen("GET http://x/ HTTP/1.1\r\n\r\n"));
    buf_release(&answer);
    buf_release(&at_server);
    egress_rig_close(&rig);
}

static void a_chunked_body_ends_where_it_ends(void **state)
{
    struct egress_rig rig;
    struct buf at_server;
    int client, server;

    (void)state;
    assert_int_equal(egress_rig_open(&rig, true, NULL), 0);
    buf_init(&at_server, 1 << 20);
    client = egress_rig_ask(&rig, "POST http://127.0.0.1:%u/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\na",
                            rig.server_port);
    server = egress_rig_accept(&rig);
    UNTIL(&rig, egress_rig_heard(server, &at_server, "3\r\na"));
    egress_rig_say(client, "bc\r\n0\r\n\r\nGET / HTTP/1.1\r\n\r\n");
    UNTIL(&rig, egress_rig_heard(server, &at_server, "3\r\nabc\r\n0\r\n\r\n"));
    close(server);
    UNTIL(&rig, rig.records == 1);
    assert_null(strstr(at_server.data, "GET"));
    close(client);
    client = egress_rig_ask(&rig, "POST http://127.0.0.1:%u/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n",
                            rig.server_port);
    server = egress_rig_accept(&rig);
    egress_rig_say(client, "abcdef"); /* its end cannot be known: cut */
    UNTIL(&rig, rig.records == 2);
    assert_non_null(strstr(rig.why, "malformed"));
    close(client);
    close(server);
    egress_rig_expect(&rig,
                      egress_rig_ask(&rig, "POST http://127.0.0.1:%u/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nx",
                                     rig.server_port),
                      "HTTP/1.1 400 ", "malformed");
    buf_release(&at_server);
    egress_rig_close(&rig);
}

/* The fast side is stopped, nothing is lost, nothing piles up. */
static void who_does_not_read_stops_who_writes(void **state)
{
    struct egress_rig rig;
    struct buf at_client;
    int client, server, quiet = 0;
    size_t sent = 0, established = strlen("HTTP/1.1 200 Connection established\r\n\r\n"), i;
    char *data = malloc(MUCH);

    (void)state;
    assert_non_null(data);
    for (i = 0; i < MUCH; i++)
        data[i] = (char)('a' + i % 23);
    assert_int_equal(egress_rig_open(&rig, true, NULL), 0);
    buf_init(&at_client, MUCH + 4096);
    client = egress_rig_ask(&rig, "CONNECT 127.0.0.1:%u HTTP/1.1\r\n\r\n", rig.server_port);
    server = egress_rig_accept(&rig);
    while (quiet < 100) { /* until nothing moves */
        ssize_t n = send(server, data + sent, MUCH - sent < 65536 ? MUCH - sent : 65536, MSG_NOSIGNAL);

        if (n > 0)
            sent += (size_t)n;
        quiet = n > 0 ? 0 : quiet + 1;
        egress_rig_turn(&rig);
        assert_true(sent < MUCH);
    }
    while (at_client.len < MUCH + established) {
        ssize_t n = sent < MUCH ? send(server, data + sent, MUCH - sent, MSG_NOSIGNAL) : 0;

        sent += n > 0 ? (size_t)n : 0;
        (void)egress_rig_hear(client, &at_client);
        egress_rig_turn(&rig);
    }
    assert_int_equal(at_client.len, MUCH + established);
    assert_memory_equal(at_client.data + established, data, MUCH);
    close(client);
    close(server);
    UNTIL(&rig, rig.records == 1);
    free(data);
    buf_release(&at_client);
    egress_rig_close(&rig);
}

static void an_upload_arrives_whole(void **state)
{
    struct egress_rig rig;
    struct buf at_server;
    int client, server;
    size_t sent = 0;
    char *data = calloc(1, MUCH);

    (void)state;
    assert_non_null(data);
    memset(data, 'u', MUCH);
    assert_int_equal(egress_rig_open(&rig, true, NULL), 0);
    buf_init(&at_server, MUCH + 4096);
    client =
        egress_rig_ask(&rig, "PUT http://127.0.0.1:%u/ HTTP/1.1\r\nContent-Length: %zu\r\n\r\n", rig.server_port, MUCH);
    server = egress_rig_accept(&rig);
    while (at_server.len < MUCH || !strstr(at_server.data, "\r\n\r\nuuu") || sent < MUCH ||
           at_server.len < MUCH + (size_t)(strstr(at_server.data, "\r\n\r\n") + 4 - at_server.data)) {
        ssize_t n = sent < MUCH ? send(client, data + sent, MUCH - sent, MSG_NOSIGNAL) : 0;

        sent += n > 0 ? (size_t)n : 0;
        (void)egress_rig_hear(server, &at_server);
        egress_rig_turn(&rig);
    }
    egress_rig_say(server, "HTTP/1.1 204 No Content\r\n\r\n");
    close(server);
    egress_rig_expect(&rig, client, "HTTP/1.1 204 ", "");
    free(data);
    buf_release(&at_server);
    egress_rig_close(&rig);
}

static void an_answer_comes_though_its_server_did_not_want_the_body(void **state)
{
    struct egress_rig rig;
    int client, server;

    (void)state;
    assert_int_equal(egress_rig_open(&rig, true, NULL), 0);
    client = egress_rig_ask(&rig, "PUT http://127.0.0.1:%u/ HTTP/1.1\r\nContent-Length: 100000000\r\n\r\nxxxx",
                            rig.server_port);
    server = egress_rig_accept(&rig);
    egress_rig_say(server, "HTTP/1.1 413 Too Large\r\n\r\nno");
    assert_int_equal(shutdown(server, SHUT_WR), 0);
    egress_rig_expect(&rig, client, "HTTP/1.1 413 ", "no");
    close(server);
    egress_rig_close(&rig);
}

/* ---- what is not ---------------------------------------------------------------------------------- */

static void inner_addresses_are_refused_under_public(void **state)
{
    static const char *const targets[] = { "127.0.0.1:80",         "[::1]:80",
                                           "10.0.0.1:443",         "169.254.169.254:80",
                                           "[::ffff:127.0.0.1]:1", "[fd00:ec2::254]:80",
                                           "local.example:443",    "inner.example:1" };
    struct egress_rig rig;
    size_t i;

    (void)state;
    assert_int_equal(egress_rig_open(&rig, false, NULL), 0);
    for (i = 0; i < ARRAY_LEN(targets); i++) {
        egress_rig_expect(&rig, egress_rig_ask(&rig, "CONNECT %s HTTP/1.1\r\n\r\n", targets[i]), "HTTP/1.1 403 ",
                          "policy \"public\"");
        egress_rig_expect(&rig, egress_rig_ask(&rig, "GET http://%s/ HTTP/1.1\r\n\r\n", targets[i]), "HTTP/1.1 403 ",
                          "address");
        UNTIL(&rig, rig.records == (int)i * 2 + 2);
        assert_int_equal(rig.outcome, EGRESS_REFUSED);
        assert_string_equal(rig.target, targets[i]);
    }
    assert_string_equal(rig.peer, "10.1.2.3"); /* the operator sees where a name led, the agent does not */
    assert_true(accept(rig.server, NULL, NULL) < 0);
    egress_rig_close(&rig);
}

static void hosts_that_are_not_listed_are_refused_before_they_are_looked_up(void **state)
{
    struct egress_rig rig;

    (void)state;
    assert_int_equal(egress_rig_open(&rig, true, NULL), 0);
    egress_rig_expect(&rig, egress_rig_ask(&rig, "CONNECT other.example:443 HTTP/1.1\r\n\r\n"), "HTTP/1.1 403 ",
                      "not in the list");
    egress_rig_expect(&rig, egress_rig_ask(&rig, "CONNECT 127.0.0.1:1 HTTP/1.1\r\n\r\n"), "HTTP/1.1 403 ",
                      "not in the list");
    egress_rig_expect(&rig, egress_rig_ask(&rig, "CONNECT 8.8.8.8:53 HTTP/1.1\r\n\r\n"), "HTTP/1.1 403 ",
                      "policy \"allow\"");
    egress_rig_expect(&rig, egress_rig_ask(&rig, "CONNECT inner.example:%u HTTP/1.1\r\n\r\n", rig.server_port),
                      "HTTP/1.1 403 ", "leads to a private address");
    egress_rig_close(&rig);
}

static void only_addresses_that_passed_are_dialled(void **state)
{
    struct egress_rig rig;
    int client, server;

    (void)state;
    assert_int_equal(egress_rig_open(&rig, true, NULL), 0);
    client = egress_rig_ask(&rig, "CONNECT mixed.example:%u HTTP/1.1\r\n\r\n", rig.server_port);
    server = egress_rig_accept(&rig);
    close(client);
    close(server);
    UNTIL(&rig, rig.records == 1);
    assert_string_equal(rig.peer, "127.0.0.1");
    egress_rig_close(&rig);
}

static void servers_that_do_not_answer_are_named(void **state)
{
    struct egress_rig rig;

    (void)state;
    assert_int_equal(egress_rig_open(&rig, true, NULL), 0);
    egress_rig_expect(&rig, egress_rig_ask(&rig, "CONNECT unknown.example:1 HTTP/1.1\r\n\r\n"), "HTTP/1.1 502 ",
                      "the name is not known");
    close(rig.server);
    egress_rig_expect(&rig, egress_rig_ask(&rig, "CONNECT local.example:%u HTTP/1.1\r\n\r\n", rig.server_port),
                      "HTTP/1.1 502 ", "Connection refused");
    UNTIL(&rig, rig.records == 2);
    assert_int_equal(rig.outcome, EGRESS_FAILED);
    rig.server = dup(0);
    egress_rig_close(&rig);
}

static void what_is_no_request_is_told_so(void **state)
{
    struct egress_rig rig;
    int fd;
    char *large = calloc(1, HEAD_TOO_LARGE);

    (void)state;
    assert_non_null(large);
    assert_int_equal(egress_rig_open(&rig, true, NULL), 0);
    egress_rig_expect(&rig, egress_rig_ask(&rig, "hello\r\n\r\n"), "HTTP/1.1 400 ", "malformed");
    egress_rig_expect(&rig, egress_rig_ask(&rig, "GET / HTTP/1.1\r\n\r\n"), "HTTP/1.1 400 ", "This is a proxy");
    memset(large, 'x', HEAD_TOO_LARGE - 1);
    fd = egress_rig_connect(rig.proxy_port);
    egress_rig_say(fd, large);
    egress_rig_expect(&rig, fd, "HTTP/1.1 431 ", "too large");
    fd = egress_rig_connect(rig.proxy_port); /* says nothing: no answer, no record */
    close(fd);
    fd = egress_rig_ask(&rig, "CONNECT ");
    close(fd);
    UNTIL(&rig, rig.records == 3);
    free(large);
    egress_rig_close(&rig);
}

static void ending_the_proxy_ends_what_it_carries(void **state)
{
    struct egress_rig rig;
    struct buf b;
    int relayed, server, looking, head;

    (void)state;
    assert_int_equal(egress_rig_open(&rig, true, NULL), 0);
    buf_init(&b, 1 << 20);
    relayed = egress_rig_ask(&rig, "CONNECT 127.0.0.1:%u HTTP/1.1\r\n\r\n", rig.server_port);
    server = egress_rig_accept(&rig);
    UNTIL(&rig, egress_rig_heard(relayed, &b, "\r\n\r\n"));
    looking = egress_rig_ask(&rig, "CONNECT local.example:%u HTTP/1.1\r\n\r\n", rig.server_port);
    head = egress_rig_ask(&rig, "CONNECT ");
    egress_rig_turn(&rig);
    egress_rig_turn(&rig);
    egress_rig_close(&rig);
    assert_int_equal(rig.records, 2);
    UNTIL(&rig, egress_rig_hear(relayed, &b)); /* a lookup's child may still have had a copy of the socket */
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
        struct egress_rig rig;
        struct buf b;
        int client;
        int server;
        int64_t until = time_mono_ms() + 5000;

        buf_init(&b, 4096);
        if (egress_rig_open(&rig, true, NULL) == 0) {
            client = egress_rig_ask(&rig, "POST http://local.example:%u/ HTTP/1.1\r\nContent-Length: 2\r\n\r\nab",
                                    rig.server_port);
            server = -1;
            while (!rig.records && time_mono_ms() < until) {
                egress_rig_turn(&rig);
                if (server < 0 && (server = accept4(rig.server, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0)
                    (void)shutdown(server, SHUT_WR);
                if (egress_rig_hear(client, &b))
                    break;
            }
            close(client);
            cleanup_fd_close(&server);
            assert_true(time_mono_ms() < until);
            egress_rig_close(&rig);
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
        cmocka_unit_test(ending_the_proxy_ends_what_it_carries),
        cmocka_unit_test(no_memory_ends_a_connection_and_nothing_else),
    };

    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
