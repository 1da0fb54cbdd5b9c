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
#include "supervisor/holder/agent_ws_frames.h"
#include "tests/support/agent_rig.h"

enum {
    MORE = 0x00,
    LAST = 0x80,
    FIRST_TEXT = 0x01,
    TEXT = 0x81,
    BINARY = 0x82,
    CLOSE = 0x88,
    PING = 0x89,
    PONG = 0x8a
};

#define BYTES(text) (const uint8_t *)(text), sizeof(text) - 1

static void start(struct agent_rig *r)
{
    agent_rig_start(r);
    agent_rig_open(r);
}

static void expect_close(struct agent_rig *r, unsigned code)
{
    const uint8_t payload[] = { (uint8_t)(code >> 8), (uint8_t)code };

    agent_rig_expect(r, CLOSE, payload, code ? sizeof(payload) : 0);
}

/* The conversation goes on with the next connection. */
static void reopen(struct agent_rig *r)
{
    agent_rig_hang_up(r);
    AGENT_RIG_UNTIL(r, r->ws.state == WS_WAITING);
    agent_rig_now(r, &r->ws.timer);
    agent_rig_open(r);
}

/* ---- messages ---------------------------------------------------------------------------------------- */

static void messages_come_as_they_were_said(void **state)
{
    static const char *const said[] = { "", "a", "\xc3\xa9 \xf0\x9f\x98\x80", "{\"x\":1}" };
    struct agent_rig r;
    size_t i;

    (void)state;
    start(&r);
    for (i = 0; i < ARRAY_LEN(said); i++)
        agent_rig_say_frame(&r, i == 1 ? BINARY : TEXT, said[i]);
    AGENT_RIG_UNTIL(&r, r.messages == ARRAY_LEN(said));
    assert_string_equal(r.heard.data, "\na\n\xc3\xa9 \xf0\x9f\x98\x80\n{\"x\":1}\n");
    agent_rig_stop(&r);
}

static void lengths_around_every_form_of_header_pass(void **state)
{
    static const size_t lengths[] = { 125,   126,   127,   4095,   4096,   4097,   16379, 16380,
                                      16381, 65535, 65536, 262143, 262144, 262145, 300000 };
    auto_free char *text = mem_zalloc(1, 300001);
    struct agent_rig r;
    size_t i, total = 0;

    (void)state;
    memset(text, 'x', 300000);
    start(&r);
    for (i = 0; i < ARRAY_LEN(lengths); i++) {
        auto_buf struct buf b;

        buf_init(&b, 400000);
        agent_rig_frame(&b, TEXT, text, lengths[i]);
        agent_rig_say(&r, b.data, b.len);
        total += lengths[i] + 1;
    }
    AGENT_RIG_UNTIL(&r, r.messages == ARRAY_LEN(lengths));
    assert_int_equal(r.heard.len, total);
    agent_rig_stop(&r);
}

static void bytes_that_come_one_by_one_are_the_same(void **state)
{
    static const uint8_t bytes[] = "\x01\x02\xe2\x82\x89\x02hi\x80\x01\xac\x81\x00\x82\x02ok";
    struct agent_rig r;
    size_t i;

    (void)state;
    start(&r);
    for (i = 0; i < sizeof(bytes) - 1; i++) {
        agent_rig_say(&r, bytes + i, 1);
        agent_rig_turn(&r);
    }
    AGENT_RIG_UNTIL(&r, r.messages == 3);
    assert_string_equal(r.heard.data, "\xe2\x82\xac\n\nok\n");
    agent_rig_expect(&r, PONG, "hi", 2);
    agent_rig_stop(&r);
}

static void a_message_in_many_fragments_is_one(void **state)
{
    auto_buf struct buf b;
    struct agent_rig r;
    int i;

    (void)state;
    buf_init(&b, 1 << 20);
    start(&r);
    agent_rig_frame(&b, FIRST_TEXT, "<", 1);
    for (i = 0; i < 100000; i++)
        agent_rig_frame(&b, MORE, "x", i % 2);
    agent_rig_frame(&b, LAST, ">", 1);
    agent_rig_say(&r, b.data, b.len);
    AGENT_RIG_UNTIL(&r, r.messages == 1);
    assert_int_equal(r.heard.len, 50003);
    assert_true(r.heard.data[0] == '<' && r.heard.data[50001] == '>');
    agent_rig_stop(&r);
}

static void control_frames_between_fragments_are_answered_and_no_part_of_it(void **state)
{
    struct agent_rig r;

    (void)state;
    start(&r);
    agent_rig_say_frame(&r, FIRST_TEXT, "one ");
    agent_rig_say_frame(&r, PING, "first");
    agent_rig_say_frame(&r, MORE, "two ");
    agent_rig_say_frame(&r, PONG, "nobody asked");
    agent_rig_say_frame(&r, PING, "");
    agent_rig_say_frame(&r, LAST, "three");
    agent_rig_expect(&r, PONG, "first", 5);
    agent_rig_expect(&r, PONG, "", 0);
    AGENT_RIG_UNTIL(&r, r.messages == 1);
    assert_string_equal(r.heard.data, "one two three\n");
    agent_rig_stop(&r);
}

static void characters_may_be_cut_by_fragments(void **state)
{
    struct agent_rig r;

    (void)state;
    start(&r);
    agent_rig_say_frame(&r, FIRST_TEXT, "\xf0");
    agent_rig_say_frame(&r, MORE, "\x9f\x98");
    agent_rig_say_frame(&r, LAST, "\x80");
    AGENT_RIG_UNTIL(&r, r.messages == 1);
    assert_string_equal(r.heard.data, "\xf0\x9f\x98\x80\n");
    agent_rig_stop(&r);
}

static void text_that_is_none_ends_the_connection_with_1007(void **state)
{
    struct agent_rig r;

    (void)state;
    start(&r);
    agent_rig_say_frame(&r, FIRST_TEXT, "ok \xf0\x9f");
    agent_rig_say_frame(&r, LAST, "z");
    expect_close(&r, 1007);
    reopen(&r);
    agent_rig_say_frame(&r, TEXT, "\xc3"); /* its second byte never comes */
    expect_close(&r, 1007);
    assert_int_equal(r.messages, 0);
    reopen(&r);
    agent_rig_say_frame(&r, TEXT, "fine");
    AGENT_RIG_UNTIL(&r, r.messages == 1);
    agent_rig_stop(&r);
}

static void a_binary_message_becomes_text(void **state)
{
    struct agent_rig r;

    (void)state;
    start(&r);
    agent_rig_say_frame(&r, BINARY, "a\xff\xfe z\xc3");
    AGENT_RIG_UNTIL(&r, r.messages == 1);
    assert_string_equal(r.heard.data, "a\xef\xbf\xbd\xef\xbf\xbd z\xef\xbf\xbd\n");
    agent_rig_stop(&r);
}

/* ---- sizes ------------------------------------------------------------------------------------------- */

static void say_long(struct agent_rig *r, size_t first, size_t second)
{
    auto_free char *text = mem_zalloc(1, first > second ? first : second);
    auto_buf struct buf b;

    memset(text, 'l', first > second ? first : second);
    buf_init(&b, first + second + 100);
    agent_rig_frame(&b, second ? FIRST_TEXT : TEXT, text, first);
    if (second)
        agent_rig_frame(&b, LAST, text, second);
    agent_rig_say(r, b.data, b.len);
}

static void messages_of_16_mib_pass_and_leave_no_memory(void **state)
{
    struct agent_rig r;

    (void)state;
    start(&r);
    say_long(&r, AGENT_WS_MESSAGE_MAX, 0);
    say_long(&r, 1, AGENT_WS_MESSAGE_MAX - 1);
    AGENT_RIG_UNTIL(&r, r.messages == 2);
    assert_int_equal(r.heard.len, 2 * (AGENT_WS_MESSAGE_MAX + 1));
    assert_true(r.ws.message.cap < 1 << 20);
    agent_rig_stop(&r);
}

/* The agent has not sent all of it when it is told. */
static void longer_ones_are_refused_with_1009(void **state)
{
    static const uint8_t head[] = { TEXT, 127, 0, 0, 0, 0, 1, 0, 0, 1 };
    auto_free char *half = mem_zalloc(1, AGENT_WS_MESSAGE_MAX);
    auto_buf struct buf b;
    struct agent_rig r;

    (void)state;
    start(&r);
    agent_rig_say(&r, head, sizeof(head));
    expect_close(&r, 1009);
    assert_int_equal(r.refused, 1);
    assert_non_null(strstr(r.why.data, "16 MiB"));
    reopen(&r);

    buf_init(&b, AGENT_WS_MESSAGE_MAX + 100);
    agent_rig_frame(&b, FIRST_TEXT, half, AGENT_WS_MESSAGE_MAX);
    agent_rig_frame(&b, LAST, "!", 1);
    agent_rig_say(&r, b.data, b.len);
    expect_close(&r, 1009);
    assert_int_equal(r.messages, 0);
    assert_int_equal(r.refused, 2);
    agent_rig_stop(&r);
}

static void what_is_announced_takes_no_memory_before_it_comes(void **state)
{
    static const uint8_t head[] = { TEXT, 127, 0, 0, 0, 0, 1, 0, 0, 0, 'x' };
    struct agent_rig r;

    (void)state;
    start(&r);
    agent_rig_say(&r, head, sizeof(head));
    AGENT_RIG_UNTIL(&r, r.ws.message.len == 1);
    agent_rig_turn(&r);
    assert_true(r.ws.message.cap <= 2 * AGENT_WS_TURN_BYTES);
    agent_rig_stop(&r);
}

/* ---- ends -------------------------------------------------------------------------------------------- */

static void a_close_is_answered_with_its_code(void **state)
{
    static const struct {
        const uint8_t *payload;
        size_t len;
        unsigned code;
    } rows[] = {
        { BYTES("\x03\xe8"), 1000 },
        { BYTES("\x03\xe8 bye"), 1000 },
        { BYTES(""), 0 },
        { BYTES("x"), 1002 },
        { BYTES("\x00\x01"), 1002 },
        { BYTES("\x03\xee"), 1002 },
        { BYTES("\x03\xe8\xff"), 1007 },
        { BYTES("\x0f\xa0"), 4000 },
    };
    struct agent_rig r;
    size_t i;

    (void)state;
    start(&r);
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        auto_buf struct buf b;

        buf_init(&b, 200);
        agent_rig_frame(&b, FIRST_TEXT, "begun", 5); /* and never ended */
        agent_rig_frame(&b, CLOSE, rows[i].payload, rows[i].len);
        agent_rig_frame(&b, TEXT, "behind it", 9);
        agent_rig_say(&r, b.data, b.len);
        expect_close(&r, rows[i].code);
        reopen(&r);
        r.ws.pause = 0.1;
    }
    assert_int_equal(r.messages, 0);
    agent_rig_stop(&r);
}

static void an_end_in_the_middle_of_a_frame_drops_that_message_only(void **state)
{
    struct agent_rig r;

    (void)state;
    start(&r);
    agent_rig_say(&r, BYTES("\x81\x05whole\x81\x05par"));
    reopen(&r);
    agent_rig_say(&r, BYTES("\x01\x05par"));
    reopen(&r);
    agent_rig_say(&r, BYTES("\x81\x7e\x01"));
    reopen(&r);
    agent_rig_say_frame(&r, TEXT, "again");
    AGENT_RIG_UNTIL(&r, r.messages == 2);
    assert_string_equal(r.heard.data, "whole\nagain\n");
    agent_rig_stop(&r);
}

static void what_breaks_the_protocol_ends_the_connection_with_1002(void **state)
{
    static const struct {
        const uint8_t *bytes;
        size_t len;
    } rows[] = {
        { BYTES("\x81\x81\1\2\3\4a") },          /* masked by a server */
        { BYTES("\xc1\x01x") },                  /* reserved bits */
        { BYTES("\x91\x01x") },                  /* . */
        { BYTES("\x83\x01x") },                  /* unknown opcodes */
        { BYTES("\x8b\x00") },                   /* . */
        { BYTES("\x80\x01x") },                  /* goes on with nothing */
        { BYTES("\x01\x01x\x81\x01y") },         /* a message inside another */
        { BYTES("\x01\x01x\x02\x01y") },         /* . */
        { BYTES("\x09\x01x") },                  /* a ping in fragments */
        { BYTES("\x89\x7e\x00\x7e") },           /* a long one */
        { BYTES("\x81\x7e\x00\x01x") },          /* longer than needed */
        { BYTES("\x81\x7f\0\0\0\0\0\0\0\1x") },  /* . */
        { BYTES("\x81\x7f\xff\0\0\0\0\0\0\1") }, /* no length */
    };
    struct agent_rig r;
    size_t i;

    (void)state;
    start(&r);
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        agent_rig_say(&r, rows[i].bytes, rows[i].len);
        expect_close(&r, 1002);
        reopen(&r);
        r.ws.pause = 0.1;
    }
    assert_int_equal(r.messages, 0);
    agent_rig_stop(&r);
}

static void an_agent_that_goes_on_after_our_close_is_cut(void **state)
{
    static char noise[65536];
    struct agent_rig r;
    int i;

    (void)state;
    start(&r);
    agent_rig_say(&r, BYTES("\xff\xff"));
    expect_close(&r, 1002);
    for (i = 0; i < 50; i++)
        agent_rig_say(&r, noise, sizeof(noise));
    assert_int_equal(r.ws.state, WS_CLOSING);
    assert_int_equal(agent_ws_send(&r.ws, "{}", 2), 0); /* for the next connection */
    agent_ws_push(&r.ws);
    agent_rig_now(&r, &r.ws.timer);
    assert_int_equal(r.ws.state, WS_WAITING);
    reopen(&r);
    agent_rig_expect(&r, TEXT, "{}", 2);
    agent_rig_stop(&r);
}

/* ---- both ways at once -------------------------------------------------------------------------------- */

static void pings_of_an_agent_that_does_not_read_are_bounded(void **state)
{
    auto_buf struct buf b, got;
    struct agent_rig r;
    int small = 32768, i;
    size_t sent = 0;

    (void)state;
    buf_init(&b, 20 << 20);
    buf_init(&got, 200);
    start(&r);
    for (i = 0; i < 4; i++)
        assert_int_equal(
            setsockopt(i < 2 ? r.ws.fd : r.peer, SOL_SOCKET, i % 2 ? SO_SNDBUF : SO_RCVBUF, &small, sizeof(small)), 0);
    for (i = 0; i < 20000; i++)
        agent_rig_frame(&b, PING, "0123456789012345678901234567890123456789", 40);
    for (i = 0; i < 200; i++) { /* until nothing moves any more */
        ssize_t n = send(r.peer, b.data + sent, b.len - sent, MSG_NOSIGNAL);

        if (n > 0) {
            sent += (size_t)n;
            i = 0;
        }
        agent_rig_turn(&r);
        assert_true(r.ws.words.len < 66000);
    }
    assert_true(sent < b.len);
    for (i = 0; i < 20000; i++) {
        if (sent < b.len) {
            ssize_t n = send(r.peer, b.data + sent, b.len - sent, MSG_NOSIGNAL);

            sent += n > 0 ? (size_t)n : 0;
        }
        assert_int_equal(agent_rig_read(&r, &got), PONG);
        assert_int_equal(got.len, 40);
    }
    agent_rig_stop(&r);
}

static void a_pause_keeps_what_comes_in_the_socket(void **state)
{
    auto_buf struct buf b;
    struct agent_rig r;
    int i;

    (void)state;
    buf_init(&b, 65536);
    start(&r);
    r.pause_at_each = true;
    for (i = 0; i < 5; i++)
        agent_rig_frame(&b, TEXT, "in one packet", 13);
    agent_rig_frame(&b, TEXT, "", 0);
    agent_rig_say(&r, b.data, b.len);
    for (i = 1; i <= 6; i++) {
        int n;

        AGENT_RIG_UNTIL(&r, r.messages == (unsigned)i);
        for (n = 0; n < 5; n++)
            agent_rig_turn(&r);
        assert_int_equal(r.messages, i);
        agent_ws_pause(&r.ws, false); /* nothing new has to come for the next one to be heard */
    }
    agent_rig_stop(&r);
}

static void a_flood_leaves_turns_to_others(void **state)
{
    auto_free char *text = mem_zalloc(1, 60000);
    auto_buf struct buf b;
    struct agent_rig r;
    unsigned before;
    int i;

    (void)state;
    buf_init(&b, 4 << 20);
    memset(text, 'x', 60000);
    for (i = 0; i < 40; i++)
        agent_rig_frame(&b, TEXT, text, 60000);
    start(&r);
    before = r.turned;
    agent_rig_say(&r, b.data, b.len);
    AGENT_RIG_UNTIL(&r, r.messages == 40);
    assert_true(r.turned - before >= b.len / (AGENT_WS_TURN_BYTES + AGENT_WS_RX_SIZE));
    agent_rig_stop(&r);
}

static void answers_go_between_two_frames_never_into_one(void **state)
{
    size_t len = (size_t)2 << 20;
    auto_free char *text = mem_zalloc(1, len + 1);
    struct agent_rig r;
    int small = 4096;

    (void)state;
    memset(text, ' ', len);
    start(&r);
    assert_int_equal(setsockopt(r.ws.fd, SOL_SOCKET, SO_SNDBUF, &small, sizeof(small)), 0);
    assert_int_equal(agent_ws_send(&r.ws, text, len), 0);
    assert_int_equal(agent_ws_send(&r.ws, "{}", 2), 0);
    agent_ws_push(&r.ws);
    AGENT_RIG_UNTIL(&r, r.ws.queue.sent > 0);
    agent_rig_say_frame(&r, PING, "are you there?");
    AGENT_RIG_UNTIL(&r, r.ws.words.len > 0);
    agent_rig_expect(&r, TEXT, text, len);
    agent_rig_expect(&r, PONG, "are you there?", 14);
    agent_rig_expect(&r, TEXT, "{}", 2);
    agent_rig_stop(&r);
}

/* It hears the rest of what it was in the middle of, then the close. */
static void a_close_waits_for_the_frame_that_is_under_way(void **state)
{
    size_t len = (size_t)2 << 20;
    auto_free char *text = mem_zalloc(1, len + 1);
    struct agent_rig r;
    int small = 4096;

    (void)state;
    memset(text, ' ', len);
    start(&r);
    assert_int_equal(setsockopt(r.ws.fd, SOL_SOCKET, SO_SNDBUF, &small, sizeof(small)), 0);
    assert_int_equal(agent_ws_send(&r.ws, text, len), 0);
    assert_int_equal(agent_ws_send(&r.ws, "{}", 2), 0);
    agent_ws_push(&r.ws);
    agent_rig_say_frame(&r, CLOSE, "\x03\xe8");
    agent_rig_expect(&r, TEXT, text, len);
    expect_close(&r, 1000);
    AGENT_RIG_UNTIL(&r, agent_rig_at_end(&r)); /* without being asked: it is over */
    reopen(&r);
    agent_rig_expect(&r, TEXT, "{}", 2);
    agent_rig_stop(&r);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_come_as_they_were_said),
        cmocka_unit_test(lengths_around_every_form_of_header_pass),
        cmocka_unit_test(bytes_that_come_one_by_one_are_the_same),
        cmocka_unit_test(a_message_in_many_fragments_is_one),
        cmocka_unit_test(control_frames_between_fragments_are_answered_and_no_part_of_it),
        cmocka_unit_test(characters_may_be_cut_by_fragments),
        cmocka_unit_test(text_that_is_none_ends_the_connection_with_1007),
        cmocka_unit_test(a_binary_message_becomes_text),
        cmocka_unit_test(messages_of_16_mib_pass_and_leave_no_memory),
        cmocka_unit_test(longer_ones_are_refused_with_1009),
        cmocka_unit_test(what_is_announced_takes_no_memory_before_it_comes),
        cmocka_unit_test(a_close_is_answered_with_its_code),
        cmocka_unit_test(an_end_in_the_middle_of_a_frame_drops_that_message_only),
        cmocka_unit_test(what_breaks_the_protocol_ends_the_connection_with_1002),
        cmocka_unit_test(an_agent_that_goes_on_after_our_close_is_cut),
        cmocka_unit_test(pings_of_an_agent_that_does_not_read_are_bounded),
        cmocka_unit_test(a_pause_keeps_what_comes_in_the_socket),
        cmocka_unit_test(a_flood_leaves_turns_to_others),
        cmocka_unit_test(answers_go_between_two_frames_never_into_one),
        cmocka_unit_test(a_close_waits_for_the_frame_that_is_under_way),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
