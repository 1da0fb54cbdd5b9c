#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "shared/base/buf.h"
#include "supervisor/holder/agent_queue.h"
#include "supervisor/holder/ws_frame.h"
#include "tests/support/oom.h"

#define GOOD "{\"action\":\"user_message\",\"message\":1}"
#define BAD "no JSON"
#define MANY 64

static void add(struct agent_queue *q, const char *text)
{
    assert_int_equal(agent_queue_add(q, text, strlen(text)), 0);
}

/* The text of one masked frame on the wire. */
static void expect_text(const struct iovec *part, const char *text)
{
    size_t len = strlen(text), i;
    const uint8_t *p = part->iov_base;

    assert_int_equal(part->iov_len, 6 + len);
    assert_int_equal(p[0], 0x81);
    assert_int_equal(p[1], 0x80 | len);
    for (i = 0; i < len; i++)
        assert_int_equal(p[6 + i] ^ p[2 + i % 4], text[i]);
}

static void expect_next(struct agent_queue *q, const char *text)
{
    struct iovec part;

    assert_int_equal(agent_queue_whole(q, &part, 1, 1), 1);
    expect_text(&part, text);
}

static void send_next(struct agent_queue *q, const char *text)
{
    expect_next(q, text);
    assert_int_equal(agent_queue_sent(q, 6 + strlen(text)), 0);
}

static void expect_empty(const struct agent_queue *q)
{
    struct iovec part;

    assert_int_equal(agent_queue_rest(q, &part), 0);
    assert_int_equal(agent_queue_whole(q, &part, 1, 1), 0);
    assert_null(q->first);
    assert_null(q->last);
    assert_int_equal(q->bytes, 0);
}

static void frames_are_masked_and_leave_in_order(void **state)
{
    struct agent_queue q = { 0 };
    struct iovec parts[MANY];

    (void)state;
    add(&q, "one");
    add(&q, "");
    add(&q, "three");
    assert_int_equal(agent_queue_whole(&q, parts, MANY, 1 << 20), 3);
    expect_text(&parts[0], "one");
    expect_text(&parts[1], "");
    expect_text(&parts[2], "three");
    assert_int_equal(agent_queue_sent(&q, 9 + 6), 6); /* one call sends several: the rest is the next one's */
    assert_int_equal(agent_queue_sent(&q, 6), 0);
    send_next(&q, "three");
    expect_empty(&q);
    agent_queue_release(&q);
}

static void so_many_parts_or_bytes_are_handed_out_at_once(void **state)
{
    struct agent_queue q = { 0 };
    struct iovec parts[MANY];
    int i;

    (void)state;
    for (i = 0; i < MANY; i++)
        add(&q, "1234");
    assert_int_equal(agent_queue_whole(&q, parts, 7, 1 << 20), 7);
    assert_int_equal(agent_queue_whole(&q, parts, MANY, 25), 3); /* 10 bytes each: the third one reaches it */
    assert_int_equal(agent_queue_whole(&q, parts, MANY, 0), 0);
    agent_queue_release(&q);
}

static void the_rest_of_a_frame_goes_first_and_alone(void **state)
{
    struct agent_queue q = { 0 };
    struct iovec rest, part, whole;

    (void)state;
    add(&q, "a frame");
    add(&q, "the next");
    assert_int_equal(agent_queue_whole(&q, &whole, 1, 1), 1);
    assert_int_equal(agent_queue_sent(&q, 4), 0);
    assert_int_equal(agent_queue_rest(&q, &rest), 1);
    assert_ptr_equal(rest.iov_base, (uint8_t *)whole.iov_base + 4);
    assert_int_equal(rest.iov_len, whole.iov_len - 4);
    assert_int_equal(agent_queue_whole(&q, &part, 1, 1), 1);
    expect_text(&part, "the next");
    assert_int_equal(agent_queue_sent(&q, 3), 0);
    assert_int_equal(agent_queue_rest(&q, &rest), 1);
    assert_int_equal(rest.iov_len, 6);
    assert_int_equal(agent_queue_sent(&q, 6), 0);
    assert_int_equal(agent_queue_rest(&q, &rest), 0);
    send_next(&q, "the next");
    agent_queue_release(&q);
}

static void a_frame_that_went_out_in_part_goes_again_as_a_whole(void **state)
{
    struct agent_queue q = { 0 };
    struct iovec rest;

    (void)state;
    add(&q, "a frame");
    assert_int_equal(agent_queue_sent(&q, 12), 0);
    assert_false(agent_queue_again(&q));
    assert_int_equal(agent_queue_rest(&q, &rest), 0);
    send_next(&q, "a frame");
    expect_empty(&q);
    agent_queue_release(&q);
}

static void a_frame_that_no_connection_takes_is_given_up(void **state)
{
    struct agent_queue q = { 0 };
    int i;

    (void)state;
    add(&q, "as long as it is");
    add(&q, "the next");
    for (i = 0; i < 10; i++)
        assert_false(agent_queue_again(&q)); /* it was not begun: not its fault */
    for (i = 0; i < 2; i++) {
        agent_queue_sent(&q, 1);
        assert_false(agent_queue_again(&q));
    }
    agent_queue_sent(&q, 1);
    assert_true(agent_queue_again(&q));
    send_next(&q, "the next");
    expect_empty(&q);
    agent_queue_release(&q);
}

static void what_went_out_behind_a_bad_frame_goes_again(void **state)
{
    struct agent_queue q = { 0 };
    struct iovec part;

    (void)state;
    add(&q, GOOD);
    add(&q, BAD);
    add(&q, GOOD "  ");
    add(&q, BAD " again");
    add(&q, "{}");
    send_next(&q, GOOD);
    send_next(&q, BAD);
    send_next(&q, GOOD "  ");
    send_next(&q, BAD " again");
    agent_queue_sent(&q, 3);
    assert_false(agent_queue_again(&q)); /* closed because of the first bad one */
    send_next(&q, GOOD "  ");
    send_next(&q, BAD " again");
    assert_int_equal(agent_queue_whole(&q, &part, 1, 1), 0); /* one that minds is not sent more behind that */
    assert_false(agent_queue_again(&q));                     /* closed because of the second */
    send_next(&q, "{}");
    assert_false(agent_queue_again(&q)); /* it is bad itself: nothing was behind it */
    expect_empty(&q);
    agent_queue_release(&q);
}

/* Each costs the agent a connection; those that could be read have to wait for that. */
static void of_bad_frames_only_some_wait(void **state)
{
    struct agent_queue q = { 0 };
    struct iovec parts[MANY];
    int i;

    (void)state;
    for (i = 0; i < 3 * AGENT_QUEUE_BAD_MOST; i++)
        add(&q, BAD);
    add(&q, GOOD);
    send_next(&q, BAD);
    send_next(&q, BAD); /* kept */
    assert_false(agent_queue_again(&q));
    assert_true(q.dropped);
    assert_int_equal(q.bad, AGENT_QUEUE_BAD_MOST);
    assert_int_equal(agent_queue_add(&q, BAD, sizeof(BAD) - 1), 1);
    for (i = 0; i < AGENT_QUEUE_BAD_MOST; i++) {
        assert_int_equal(agent_queue_whole(&q, parts, MANY, 1 << 20), 1);
        assert_true(agent_queue_flows(&q));
        send_next(&q, BAD);
        assert_false(agent_queue_flows(&q));
        assert_false(agent_queue_again(&q));
        assert_false(q.dropped);
    }
    add(&q, BAD);
    add(&q, GOOD);
    send_next(&q, GOOD);
    send_next(&q, BAD);
    agent_queue_forget(&q); /* it takes its time */
    send_next(&q, GOOD);
    expect_empty(&q);
    agent_queue_release(&q);
}

static void an_agent_that_does_not_mind_hears_nothing_twice(void **state)
{
    struct agent_queue q = { 0 };

    (void)state;
    add(&q, BAD);
    add(&q, GOOD);
    send_next(&q, BAD);
    send_next(&q, GOOD);
    agent_queue_forget(&q);
    assert_false(agent_queue_again(&q));
    expect_empty(&q);
    agent_queue_release(&q);
}

static void copies_have_a_bound(void **state)
{
    static char text[100000];
    struct agent_queue q = { 0 };
    int i;

    (void)state;
    memset(text, ' ', sizeof(text) - 1);
    add(&q, BAD);
    send_next(&q, BAD);
    for (i = 0; i < 20; i++) {
        struct iovec part;

        add(&q, text);
        assert_int_equal(agent_queue_whole(&q, &part, 1, 1), 1);
        agent_queue_sent(&q, part.iov_len);
        assert_true(q.kept_bytes <= 1 << 20);
    }
    assert_null(q.kept);
    assert_false(agent_queue_again(&q));
    expect_empty(&q);
    agent_queue_release(&q);
}

/* A browser that sends nothing but empty frames takes memory too. */
static void small_frames_cost_more_than_their_bytes(void **state)
{
    struct agent_queue q = { 0 };
    int i;

    (void)state;
    for (i = 0; i < 1000; i++)
        add(&q, "");
    assert_true(q.bytes >= 1000 * sizeof(void *) * 4);
    for (i = 0; i < 1000; i++)
        send_next(&q, "");
    expect_empty(&q);
    agent_queue_release(&q);
}

static void short_memory_refuses_one_frame_and_keeps_the_others(void **state)
{
    (void)state;
    OOM_SWEEP({
        struct agent_queue q = { 0 };
        int taken = 0;
        int i;

        for (i = 0; i < 4; i++)
            taken += agent_queue_add(&q, GOOD, sizeof(GOOD) - 1) == 0;
        assert_true(taken >= 3);
        for (i = 0; i < taken; i++)
            send_next(&q, GOOD);
        expect_empty(&q);
        agent_queue_release(&q);
    });
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_are_masked_and_leave_in_order),
        cmocka_unit_test(so_many_parts_or_bytes_are_handed_out_at_once),
        cmocka_unit_test(the_rest_of_a_frame_goes_first_and_alone),
        cmocka_unit_test(a_frame_that_went_out_in_part_goes_again_as_a_whole),
        cmocka_unit_test(a_frame_that_no_connection_takes_is_given_up),
        cmocka_unit_test(what_went_out_behind_a_bad_frame_goes_again),
        cmocka_unit_test(of_bad_frames_only_some_wait),
        cmocka_unit_test(an_agent_that_does_not_mind_hears_nothing_twice),
        cmocka_unit_test(copies_have_a_bound),
        cmocka_unit_test(small_frames_cost_more_than_their_bytes),
        cmocka_unit_test(short_memory_refuses_one_frame_and_keeps_the_others),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
