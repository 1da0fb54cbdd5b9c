/* What the proxy does not let an agent do for ever. */
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

static void a_head_that_does_not_come_is_not_waited_for(void **state)
{
    const struct egress_limits limits = { 8, 50, 1 << 20, .head_s = 0.2, .resolve_s = 10, .connect_s = 10 };
    struct egress_rig rig;
    struct buf nothing;

    (void)state;
    assert_int_equal(egress_rig_open(&rig, true, &limits), 0);
    egress_rig_expect(&rig, egress_rig_ask(&rig, "CONNECT 127.0.0.1:1 HT"), "HTTP/1.1 408 ", "in time");
    nothing = egress_rig_answer(&rig, egress_rig_connect(rig.proxy_port));
    assert_int_equal(nothing.len, 0);
    buf_release(&nothing);
    egress_rig_close(&rig);
}

static void one_connection_too_many_is_told_so(void **state)
{
    const struct egress_limits limits = { 3, 50, 1 << 20, 10, 10, 10, 10 };
    struct egress_rig rig;
    int clients[3], servers[3], i, more;

    (void)state;
    assert_int_equal(egress_rig_open(&rig, true, &limits), 0);
    for (i = 0; i < 3; i++) {
        clients[i] = egress_rig_ask(&rig, "CONNECT 127.0.0.1:%u HTTP/1.1\r\n\r\n", rig.server_port);
        servers[i] = egress_rig_accept(&rig);
    }
    egress_rig_expect(&rig, egress_rig_ask(&rig, "CONNECT 127.0.0.1:%u HTTP/1.1\r\n\r\n", rig.server_port),
                      "HTTP/1.1 503 ", "too many connections");
    close(clients[0]);
    close(servers[0]);
    UNTIL(&rig, rig.records == 2);
    more = egress_rig_ask(&rig, "CONNECT 127.0.0.1:%u HTTP/1.1\r\n\r\n", rig.server_port);
    close(egress_rig_accept(&rig));
    close(more);
    for (i = 1; i < 3; i++) {
        close(clients[i]);
        close(servers[i]);
    }
    egress_rig_close(&rig);
}

static void a_flood_of_connections_waits_and_is_served(void **state)
{
    const struct egress_limits limits = { 1, 50, 1 << 20, 0.1, 10, 10, 10 };
    struct egress_rig rig;
    int fds[20], i, closed = 0;
    struct buf b;

    (void)state;
    assert_int_equal(egress_rig_open(&rig, true, &limits), 0);
    buf_init(&b, 1 << 20);
    for (i = 0; i < 20; i++)
        fds[i] = egress_rig_connect(rig.proxy_port);
    UNTIL(&rig, ({
        for (i = 0; i < 20; i++)
            if (fds[i] >= 0 && egress_rig_hear(fds[i], &b)) {
                close(fds[i]);
                fds[i] = -1;
                closed++;
            }
        closed == 20;
    }));
    buf_release(&b);
    egress_rig_close(&rig);
}

static void new_connections_are_taken_at_a_pace(void **state)
{
    const struct egress_limits limits = { 8, 100, 1 << 20, 10, 10, 10, 10 };
    struct egress_rig rig;
    int64_t started = time_mono_ms();
    int i;

    (void)state;
    assert_int_equal(egress_rig_open(&rig, true, &limits), 0);
    for (i = 0; i < (int)EGRESS_BURST + 50; i++) {
        close(egress_rig_ask(&rig, "hello\r\n\r\n"));
        UNTIL(&rig, rig.records > i);
    }
    assert_true(time_mono_ms() - started >= 300); /* half a second for the 50, less what came in meanwhile */
    egress_rig_close(&rig);
}

static void a_session_that_has_used_its_bytes_is_cut(void **state)
{
    const struct egress_limits limits = { 8, 50, 1000, 10, 10, 10, 10 };
    struct egress_rig rig;
    struct buf b;
    char text[801];
    int client, server;

    (void)state;
    memset(text, 'b', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    assert_int_equal(egress_rig_open(&rig, true, &limits), 0);
    buf_init(&b, 1 << 20);
    client = egress_rig_ask(&rig, "CONNECT 127.0.0.1:%u HTTP/1.1\r\n\r\n", rig.server_port);
    server = egress_rig_accept(&rig);
    egress_rig_say(server, text);
    UNTIL(&rig, egress_rig_heard(client, &b, text));
    egress_rig_say(client, text);
    UNTIL(&rig, rig.records == 1);
    assert_non_null(strstr(rig.why, "used its bytes"));
    close(client);
    close(server);
    egress_rig_expect(&rig, egress_rig_ask(&rig, "CONNECT 127.0.0.1:%u HTTP/1.1\r\n\r\n", rig.server_port),
                      "HTTP/1.1 403 ", "the bytes");
    buf_release(&b);
    egress_rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_head_that_does_not_come_is_not_waited_for),
        cmocka_unit_test(one_connection_too_many_is_told_so),
        cmocka_unit_test(a_flood_of_connections_waits_and_is_served),
        cmocka_unit_test(new_connections_are_taken_at_a_pace),
        cmocka_unit_test(a_session_that_has_used_its_bytes_is_cut),
    };

    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
