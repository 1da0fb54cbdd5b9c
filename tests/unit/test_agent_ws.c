#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "shared/base/mem.h"
#include "shared/base/time.h"
#include "tests/support/agent_rig.h"
#include "tests/support/oom.h"

#define TEXT 0x81
#define CLOSE 0x88
#define GOOD "{\"action\":\"user_message\",\"message\":1}"

static void send_text(struct agent_rig *r, const char *text)
{
    assert_int_equal(agent_ws_send(&r->ws, text, strlen(text)), 0);
    agent_ws_push(&r->ws);
}

static void expect_text(struct agent_rig *r, const char *text)
{
    agent_rig_expect(r, TEXT, text, strlen(text));
}

/* ---- the handshake ---------------------------------------------------------------------------------- */

static void the_request_names_the_conversation_and_offers_nothing(void **state)
{
    struct agent_rig r;

    (void)state;
    agent_rig_start(&r);
    agent_rig_accept(&r);
    assert_non_null(strstr(r.request, "\r\nX-Session-ID: " AGENT_RIG_SESSION "\r\n"));
    assert_null(strstr(r.request, "Extensions"));
    assert_null(strstr(r.request, "Protocol:"));
    agent_rig_stop(&r);
}

static void an_answer_that_comes_byte_by_byte_is_one(void **state)
{
    auto_buf struct buf b;
    struct agent_rig r;
    size_t i;

    (void)state;
    buf_init(&b, 1024);
    agent_rig_start(&r);
    agent_rig_accept(&r);
    agent_rig_answer(&r, &b);
    for (i = 0; i < b.len; i++) {
        assert_int_equal(r.opened, 0);
        agent_rig_say(&r, b.data + i, 1);
        agent_rig_turn(&r);
    }
    AGENT_RIG_UNTIL(&r, r.opened == 1);
    assert_int_equal(r.ws.state, WS_OPEN);
    agent_rig_stop(&r);
}

static void frames_right_behind_the_answer_are_heard(void **state)
{
    auto_buf struct buf b;
    struct agent_rig r;

    (void)state;
    buf_init(&b, 1024);
    agent_rig_start(&r);
    agent_rig_accept(&r);
    agent_rig_answer(&r, &b);
    agent_rig_frame(&b, TEXT, "hello", 5);
    agent_rig_frame(&b, TEXT, "and in part", 11);
    agent_rig_say(&r, b.data, b.len - 4);
    AGENT_RIG_UNTIL(&r, r.messages == 1);
    assert_string_equal(r.heard.data, "hello\n");
    agent_rig_say(&r, b.data + b.len - 4, 4);
    AGENT_RIG_UNTIL(&r, r.messages == 2);
    assert_string_equal(r.heard.data, "hello\nand in part\n");
    agent_rig_stop(&r);
}

static void an_answer_that_does_not_accept_is_followed_by_another_attempt(void **state)
{
    static const char *const answers[] = {
        "HTTP/1.1 403 Forbidden\r\n\r\n",
        "HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
        "HTTP/1.1 101 X\r\nSec-WebSocket-Accept: AAAAAAAAAAAAAAAAAAAAAAAAAAA=\r\n\r\n",
        "\r\n\r\n",
        "\x81\x05hello\r\n\r\n",
        "HTTP/1.1 101 X\r\nSec-WebS", /* and no more */
    };
    struct agent_rig r;
    size_t i;

    (void)state;
    agent_rig_start(&r);
    for (i = 0; i < ARRAY_LEN(answers); i++) {
        agent_rig_accept(&r);
        agent_rig_say(&r, answers[i], strlen(answers[i]));
        agent_rig_turn(&r);
        if (i == ARRAY_LEN(answers) - 1)
            assert_int_equal(shutdown(r.peer, SHUT_WR), 0);
        AGENT_RIG_UNTIL(&r, r.ws.state == WS_WAITING);
        AGENT_RIG_UNTIL(&r, agent_rig_at_end(&r));
        agent_rig_hang_up(&r);
        agent_rig_now(&r, &r.ws.timer);
    }
    assert_int_equal(r.opened, 0);
    agent_rig_open(&r);
    agent_rig_stop(&r);
}

static void an_extension_nobody_offered_is_refused(void **state)
{
    auto_buf struct buf b;
    struct agent_rig r;

    (void)state;
    buf_init(&b, 1024);
    agent_rig_start(&r);
    agent_rig_accept(&r);
    agent_rig_answer(&r, &b);
    b.len -= 2;
    buf_add_str(&b, "Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n");
    agent_rig_say(&r, b.data, b.len);
    AGENT_RIG_UNTIL(&r, r.ws.state == WS_WAITING);
    assert_int_equal(r.opened, 0);
    agent_rig_stop(&r);
}

static void an_endless_answer_is_not_read_to_its_end(void **state)
{
    static char line[1000];
    struct agent_rig r;
    int i;

    (void)state;
    memset(line, 'x', sizeof(line));
    agent_rig_start(&r);
    agent_rig_accept(&r);
    for (i = 0; i < 1000 && r.ws.state == WS_UPGRADING; i++) {
        if (send(r.peer, line, sizeof(line), MSG_NOSIGNAL) < 0)
            break;
        agent_rig_turn(&r);
    }
    assert_int_equal(r.ws.state, WS_WAITING);
    assert_true(i < 20);
    agent_rig_stop(&r);
}

static void no_answer_in_time_is_none(void **state)
{
    struct agent_rig r;

    (void)state;
    agent_rig_start(&r);
    agent_rig_accept(&r);
    agent_rig_now(&r, &r.ws.timer);
    assert_int_equal(r.ws.state, WS_WAITING);
    agent_rig_hang_up(&r);
    agent_rig_now(&r, &r.ws.timer);
    agent_rig_open(&r);
    agent_rig_stop(&r);
}

/* ---- attempts --------------------------------------------------------------------------------------- */

static void a_refused_connection_is_tried_again_until_somebody_listens(void **state)
{
    struct agent_rig r;
    int i;

    (void)state;
    agent_rig_start(&r);
    agent_rig_accept(&r);
    agent_rig_hang_up(&r);
    cleanup_fd_close(&r.listener);
    AGENT_RIG_UNTIL(&r, r.ws.state == WS_WAITING);
    for (i = 0; i < 3; i++) {
        agent_rig_now(&r, &r.ws.timer);
        AGENT_RIG_UNTIL(&r, r.ws.state == WS_WAITING);
    }
    agent_rig_listen(&r);
    agent_rig_now(&r, &r.ws.timer);
    agent_rig_open(&r);
    agent_rig_stop(&r);
}

/* The loop's clock stands still between two turns. */
static bool is_nearly(double value, double wanted)
{
    return value > wanted - 0.001 && value < wanted + 0.001;
}

static void pauses_grow_until_a_connection_has_lived_for_a_while(void **state)
{
    static const double wanted[] = { 0.1, 0.2, 0.4, 0.8, 1.6, 2.0, 2.0 };
    struct agent_rig r;
    size_t i, round;

    (void)state;
    agent_rig_start(&r);
    for (round = 0; round < 2; round++) {
        for (i = 0; i < ARRAY_LEN(wanted); i++) {
            agent_rig_open(&r);
            agent_rig_hang_up(&r);
            AGENT_RIG_UNTIL(&r, r.ws.state == WS_WAITING);
            assert_true(is_nearly(ev_timer_remaining(r.loop, &r.ws.timer), wanted[i]));
            agent_rig_now(&r, &r.ws.timer);
        }
        agent_rig_open(&r);
        r.ws.opened_at -= 6000;
        agent_rig_hang_up(&r);
        AGENT_RIG_UNTIL(&r, r.ws.state == WS_WAITING);
        assert_true(is_nearly(ev_timer_remaining(r.loop, &r.ws.timer), wanted[0]));
        r.ws.pause = 0.1;
        agent_rig_now(&r, &r.ws.timer);
    }
    agent_rig_stop(&r);
}

/* That a former connection was a good one says nothing about those that follow. */
static void handshakes_that_fail_after_a_long_conversation_are_paced_too(void **state)
{
    struct agent_rig r;
    int i;

    (void)state;
    agent_rig_start(&r);
    agent_rig_open(&r);
    r.ws.opened_at -= 6000;
    for (i = 0; i < 6; i++) {
        agent_rig_hang_up(&r);
        AGENT_RIG_UNTIL(&r, r.ws.state == WS_WAITING);
        agent_rig_now(&r, &r.ws.timer);
        agent_rig_accept(&r);
    }
    assert_true(r.ws.pause > 1.9);
    agent_rig_stop(&r);
}

/* Each attempt costs a process in the holder. */
static void what_an_agent_prints_does_not_set_the_pace(void **state)
{
    struct agent_rig r;
    int i, connections = 0;
    int64_t began = time_mono_ms();

    (void)state;
    agent_rig_start(&r);
    for (i = 0; i < 3000; i++) {
        if (agent_rig_try_accept(&r)) {
            connections++;
            agent_rig_hang_up(&r);
        }
        agent_ws_hint(&r.ws);
        ev_run(r.loop, EVRUN_NOWAIT);
    }
    assert_true(connections >= 1);
    assert_true(connections <= (time_mono_ms() - began) / 20 + 2);
    agent_rig_stop(&r);
}

/* ---- frames and the next connection ------------------------------------------------------------------ */

static void frames_wait_for_the_agent(void **state)
{
    struct agent_rig r;

    (void)state;
    agent_rig_start(&r);
    send_text(&r, "one");
    send_text(&r, "two");
    agent_rig_open(&r);
    expect_text(&r, "one");
    expect_text(&r, "two");
    agent_rig_stop(&r);
}

static void make_buffers_small(struct agent_rig *r)
{
    int small = 4096;

    assert_int_equal(setsockopt(r->ws.fd, SOL_SOCKET, SO_SNDBUF, &small, sizeof(small)), 0);
    assert_int_equal(setsockopt(r->peer, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small)), 0);
}

static void a_frame_the_agent_did_not_read_to_its_end_is_sent_again(void **state)
{
    size_t len = (size_t)4 << 20;
    auto_free char *text = mem_zalloc(1, len + 1);
    struct agent_rig r;

    (void)state;
    memset(text, ' ', len);
    agent_rig_start(&r);
    agent_rig_open(&r);
    make_buffers_small(&r);
    send_text(&r, text);
    send_text(&r, GOOD);
    AGENT_RIG_UNTIL(&r, r.ws.queue.sent > 0);
    assert_true(agent_ws_is_full(&r.ws));
    agent_rig_say_frame(&r, CLOSE, "\x03\xe8");
    AGENT_RIG_UNTIL(&r, r.ws.close_received);
    agent_rig_hang_up(&r);
    AGENT_RIG_UNTIL(&r, r.ws.state == WS_WAITING);
    agent_rig_now(&r, &r.ws.timer);
    agent_rig_open(&r);
    expect_text(&r, text);
    expect_text(&r, GOOD);
    assert_int_equal(r.drained, 1);
    assert_int_equal(r.refused, 0);
    agent_rig_stop(&r);
}

static void a_frame_that_is_too_long_for_the_agent_does_not_keep_the_others(void **state)
{
    size_t len = (size_t)4 << 20;
    auto_free char *text = mem_zalloc(1, len + 1);
    struct agent_rig r;
    int i;

    (void)state;
    memset(text, ' ', len);
    agent_rig_start(&r);
    send_text(&r, text);
    send_text(&r, GOOD);
    for (i = 0; i < 3; i++) {
        agent_rig_open(&r);
        AGENT_RIG_UNTIL(&r, r.ws.queue.sent > 0);
        agent_rig_say_frame(&r, CLOSE, "\x03\xf1too long"); /* 1009 */
        AGENT_RIG_UNTIL(&r, r.ws.close_received);
        agent_rig_hang_up(&r);
        AGENT_RIG_UNTIL(&r, r.ws.state == WS_WAITING);
        agent_rig_now(&r, &r.ws.timer);
    }
    assert_int_equal(r.refused, 1);
    assert_int_equal(r.drained, 1);
    agent_rig_open(&r);
    expect_text(&r, GOOD);
    agent_rig_stop(&r);
}

static void what_a_closing_agent_did_not_read_goes_to_the_next_connection(void **state)
{
    struct agent_rig r;

    (void)state;
    agent_rig_start(&r);
    agent_rig_open(&r);
    send_text(&r, "no JSON");
    send_text(&r, GOOD);
    expect_text(&r, "no JSON");
    agent_rig_say_frame(&r, CLOSE, "\x03\xe8");
    AGENT_RIG_UNTIL(&r, r.ws.state == WS_WAITING);
    agent_rig_hang_up(&r);
    agent_rig_now(&r, &r.ws.timer);
    agent_rig_open(&r);
    expect_text(&r, GOOD);
    agent_rig_stop(&r);
}

static void an_agent_that_goes_on_hears_nothing_twice(void **state)
{
    struct agent_rig r;

    (void)state;
    agent_rig_start(&r);
    agent_rig_open(&r);
    send_text(&r, "no JSON");
    send_text(&r, GOOD);
    agent_rig_now(&r, &r.ws.keep);
    agent_rig_hang_up(&r);
    AGENT_RIG_UNTIL(&r, r.ws.state == WS_WAITING);
    assert_null(r.ws.queue.first);
    agent_rig_stop(&r);
}

/* What was said before the end is read, although our own words do not get through any more. */
static void an_agent_that_closed_is_heard_to_the_end_when_we_talk_to_it(void **state)
{
    struct agent_rig r;
    int i;

    (void)state;
    agent_rig_start(&r);
    agent_rig_open(&r);
    agent_ws_pause(&r.ws, true);
    for (i = 0; i < 100; i++)
        agent_rig_say_frame(&r, TEXT, "last words");
    agent_rig_hang_up(&r);
    for (i = 0; i < 50; i++) {
        send_text(&r, GOOD);
        agent_rig_turn(&r);
    }
    assert_int_equal(r.messages, 0);
    agent_ws_pause(&r.ws, false);
    AGENT_RIG_UNTIL(&r, r.messages == 100);
    AGENT_RIG_UNTIL(&r, r.ws.state == WS_WAITING);
    agent_rig_now(&r, &r.ws.timer);
    agent_rig_open(&r);
    expect_text(&r, GOOD);
    agent_rig_stop(&r);
}

static void above_a_bound_it_is_full_and_says_when_no_longer(void **state)
{
    static char text[100000];
    auto_buf struct buf b;
    struct agent_rig r;
    int i, n = 0;

    (void)state;
    buf_init(&b, 1 << 20);
    memset(text, ' ', sizeof(text) - 1);
    agent_rig_start(&r);
    for (; !agent_ws_is_full(&r.ws); n++)
        send_text(&r, text);
    assert_true(n == 11);
    assert_int_equal(agent_ws_send(&r.ws, text, AGENT_WS_MESSAGE_MAX + 1), -1);
    agent_rig_open(&r);
    for (i = 0; i < n; i++)
        expect_text(&r, text);
    assert_int_equal(r.drained, 1);
    for (n = 0; !agent_ws_is_full(&r.ws); n++) /* nobody may fill memory with frames of no bytes */
        assert_int_equal(agent_ws_send(&r.ws, "", 0), 0);
    assert_true(n < 40000);
    agent_rig_stop(&r);
}

/* ---- the end of the agent ---------------------------------------------------------------------------- */

static void an_agent_that_was_never_reached_is_finished_at_once(void **state)
{
    struct agent_rig r;

    (void)state;
    agent_rig_start(&r);
    agent_rig_accept(&r);
    agent_ws_finish(&r.ws);
    assert_int_equal(r.finished, 1);
    assert_int_equal(r.ws.state, WS_OFF);
    agent_ws_hint(&r.ws);
    agent_rig_turn(&r);
    assert_int_equal(r.ws.state, WS_OFF);
    agent_rig_stop(&r);
}

/* Frames that fill what is read at once to its last byte; a journal that is full after each. */
static void all_that_an_agent_said_is_read_when_it_has_ended_paused_or_not(void **state)
{
    static char text[253];
    struct agent_rig r;
    int i;

    (void)state;
    memset(text, 'x', sizeof(text) - 1); /* 256 bytes with its header */
    agent_rig_start(&r);
    r.pause_at_each = true;
    agent_rig_open(&r);
    agent_ws_pause(&r.ws, true);
    for (i = 0; i < 1000; i++)
        agent_rig_say_frame(&r, TEXT, text);
    agent_rig_hang_up(&r);
    agent_ws_finish(&r.ws);
    AGENT_RIG_UNTIL(&r, r.finished == 1);
    assert_int_equal(r.messages, 1000);
    agent_rig_stop(&r);
}

static void pings_of_an_agent_that_has_ended_hide_nothing(void **state)
{
    auto_buf struct buf b;
    struct agent_rig r;
    int i;

    (void)state;
    buf_init(&b, 1 << 20);
    for (i = 0; i < 50000; i++)
        agent_rig_frame(&b, 0x89, "", 0);
    agent_rig_frame(&b, TEXT, "the end", 7);
    agent_rig_start(&r);
    agent_rig_open(&r);
    agent_ws_pause(&r.ws, true);
    agent_rig_say(&r, b.data, b.len);
    agent_rig_hang_up(&r);
    agent_ws_finish(&r.ws);
    AGENT_RIG_UNTIL(&r, r.finished == 1);
    assert_string_equal(r.heard.data, "the end\n");
    agent_rig_stop(&r);
}

static void what_still_lies_in_the_dead_agents_socket_is_read_too(void **state)
{
    size_t len = (size_t)1 << 20;
    auto_free char *text = mem_zalloc(1, len + 1);
    int large = 4 << 20, i;
    struct agent_rig r;

    (void)state;
    memset(text, 'y', len);
    agent_rig_start(&r);
    agent_rig_open(&r);
    agent_ws_pause(&r.ws, true);
    (void)setsockopt(r.peer, SOL_SOCKET, SO_SNDBUFFORCE, &large, sizeof(large));
    for (i = 0; i < 3; i++) {
        auto_buf struct buf b;

        buf_init(&b, len + 16);
        agent_rig_frame(&b, TEXT, text, len);
        if (send(r.peer, b.data, b.len, MSG_NOSIGNAL) != (ssize_t)b.len)
            break; /* as much as goes into sockets here */
    }
    agent_rig_hang_up(&r);
    agent_ws_finish(&r.ws);
    AGENT_RIG_UNTIL(&r, r.finished == 1);
    assert_int_equal(r.messages, i);
    agent_rig_stop(&r);
}

static void a_socket_that_outlives_the_agent_is_not_waited_for(void **state)
{
    struct agent_rig r;

    (void)state;
    agent_rig_start(&r);
    agent_rig_open(&r);
    send_text(&r, GOOD);
    agent_rig_say_frame(&r, TEXT, "hello");
    agent_ws_finish(&r.ws);
    AGENT_RIG_UNTIL(&r, r.messages == 1);
    assert_int_equal(r.finished, 0);
    assert_int_equal(agent_ws_send(&r.ws, GOOD, 3), 0); /* nobody hears it */
    agent_ws_push(&r.ws);
    agent_ws_pause(&r.ws, true);
    agent_rig_now(&r, &r.ws.timer);
    assert_int_equal(r.finished, 1);
    assert_int_equal(r.ws.state, WS_OFF);
    agent_rig_stop(&r);
}

static void a_socket_that_says_more_and_more_after_the_end_is_cut(void **state)
{
    auto_free char *text = mem_zalloc(1, 1 << 20);
    auto_buf struct buf b;
    struct agent_rig r;
    size_t sent = 0;

    (void)state;
    memset(text, 'z', (1 << 20) - 1);
    buf_init(&b, 2 << 20);
    agent_rig_frame(&b, TEXT, text, 1 << 20);
    agent_rig_start(&r);
    agent_rig_open(&r);
    agent_ws_finish(&r.ws);
    ev_timer_stop(r.loop, &r.ws.timer); /* time stands still */
    while (!r.finished) {
        ssize_t n = send(r.peer, b.data + sent % b.len, b.len - sent % b.len, MSG_NOSIGNAL);

        sent += n > 0 ? (size_t)n : 0;
        assert_true(sent < (size_t)64 << 20);
        agent_rig_turn(&r);
    }
    assert_true(r.messages <= 33);
    agent_rig_stop(&r);
}

/* ---- memory ------------------------------------------------------------------------------------------ */

/* A conversation that may fail anywhere: nothing is asserted but that it can be ended. */
static void converse(struct agent_rig *r)
{
    static const char answer_end[] = "\r\n\r\n";
    auto_buf struct buf b;
    int i;

    buf_init(&b, 65536);
    for (i = 0; i < 40 && !agent_rig_try_accept(r); i++)
        ev_run(r->loop, EVRUN_NOWAIT);
    if (r->peer < 0)
        return;
    for (i = 0; i < 40 && recv(r->peer, r->request, sizeof(r->request) - 1, 0) < 0; i++)
        ev_run(r->loop, EVRUN_NOWAIT);
    if (!strstr(r->request, answer_end))
        return;
    agent_rig_answer(r, &b);
    agent_rig_frame(&b, 0x01, "some", 4);
    agent_rig_frame(&b, 0x89, "ping", 4);
    agent_rig_frame(&b, 0x80, "thing", 5);
    agent_rig_frame(&b, 0x82, "\xff", 1);
    if (buf_failed(&b))
        return;
    (void)send(r->peer, b.data, b.len, MSG_NOSIGNAL);
    (void)agent_ws_send(&r->ws, "no JSON", 7);
    for (i = 0; i < 10; i++)
        ev_run(r->loop, EVRUN_NOWAIT);
    (void)agent_ws_send(&r->ws, GOOD, sizeof(GOOD) - 1);
    agent_ws_push(&r->ws);
    (void)send(r->peer, "\x01\x01x\x88\x00", 5, MSG_NOSIGNAL);
    for (i = 0; i < 10; i++)
        ev_run(r->loop, EVRUN_NOWAIT);
}

static void short_memory_costs_a_connection_at_most(void **state)
{
    unsigned long n;
    unsigned heard = 0;

    (void)state;
    for (n = 1; n < 1000; n++) {
        struct agent_rig r;
        bool hit;

        agent_rig_start(&r);
        oom_fail_at(n);
        converse(&r);
        hit = oom_hit();
        oom_off();
        if (r.messages)
            heard++;
        if (n % 2)
            agent_ws_finish(&r.ws);
        agent_rig_stop(&r);
        if (!hit)
            break;
    }
    assert_true(n > 5 && n < 1000);
    assert_true(heard > 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_request_names_the_conversation_and_offers_nothing),
        cmocka_unit_test(an_answer_that_comes_byte_by_byte_is_one),
        cmocka_unit_test(frames_right_behind_the_answer_are_heard),
        cmocka_unit_test(an_answer_that_does_not_accept_is_followed_by_another_attempt),
        cmocka_unit_test(an_extension_nobody_offered_is_refused),
        cmocka_unit_test(an_endless_answer_is_not_read_to_its_end),
        cmocka_unit_test(no_answer_in_time_is_none),
        cmocka_unit_test(a_refused_connection_is_tried_again_until_somebody_listens),
        cmocka_unit_test(pauses_grow_until_a_connection_has_lived_for_a_while),
        cmocka_unit_test(handshakes_that_fail_after_a_long_conversation_are_paced_too),
        cmocka_unit_test(what_an_agent_prints_does_not_set_the_pace),
        cmocka_unit_test(frames_wait_for_the_agent),
        cmocka_unit_test(a_frame_the_agent_did_not_read_to_its_end_is_sent_again),
        cmocka_unit_test(a_frame_that_is_too_long_for_the_agent_does_not_keep_the_others),
        cmocka_unit_test(what_a_closing_agent_did_not_read_goes_to_the_next_connection),
        cmocka_unit_test(an_agent_that_goes_on_hears_nothing_twice),
        cmocka_unit_test(an_agent_that_closed_is_heard_to_the_end_when_we_talk_to_it),
        cmocka_unit_test(above_a_bound_it_is_full_and_says_when_no_longer),
        cmocka_unit_test(an_agent_that_was_never_reached_is_finished_at_once),
        cmocka_unit_test(all_that_an_agent_said_is_read_when_it_has_ended_paused_or_not),
        cmocka_unit_test(pings_of_an_agent_that_has_ended_hide_nothing),
        cmocka_unit_test(what_still_lies_in_the_dead_agents_socket_is_read_too),
        cmocka_unit_test(a_socket_that_outlives_the_agent_is_not_waited_for),
        cmocka_unit_test(a_socket_that_says_more_and_more_after_the_end_is_cut),
        cmocka_unit_test(short_memory_costs_a_connection_at_most),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
