#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "shared/base/mem.h"
#include "supervisor/holder/journal.h"
#include "tests/support/oom.h"

#define COST 64 /* what a frame costs besides its bytes */

static void add(struct journal *j, const char *text)
{
    assert_int_equal(journal_add(j, text, strlen(text)), 0);
}

/* Gives out the next frame, which must be this one. */
static void expect(struct journal *j, uint64_t number, const char *text)
{
    uint64_t n;
    const struct journal_frame *f = journal_peek(j, 0, &n);

    assert_non_null(f);
    assert_int_equal(n, number);
    assert_int_equal(f->len, strlen(text));
    assert_memory_equal(f->data, text, f->len + 1);
    journal_pass(j);
}

static void expect_nothing(struct journal *j)
{
    uint64_t n;

    assert_null(journal_peek(j, 0, &n));
}

static void attach(struct journal *j, uint64_t after, uint64_t from, uint64_t lost)
{
    uint64_t got_from, got_lost;

    journal_attach(j, after, &got_from, &got_lost);
    assert_int_equal(got_from, from);
    assert_int_equal(got_lost, lost);
}

static void the_first_client_gets_all_from_number_one(void **state)
{
    struct journal j;

    (void)state;
    journal_init(&j, 1000);
    add(&j, "a");
    add(&j, "b");
    expect_nothing(&j); /* nobody is attached */
    attach(&j, JOURNAL_FRESH, 1, 0);
    expect(&j, 1, "a");
    expect(&j, 2, "b");
    expect_nothing(&j);
    add(&j, "c");
    expect(&j, 3, "c");
    assert_int_equal(journal_count(&j), 3);
    journal_release(&j);
}

static void a_client_that_returns_goes_on_behind_what_it_has(void **state)
{
    struct journal j;

    (void)state;
    journal_init(&j, 1000);
    attach(&j, JOURNAL_FRESH, 1, 0);
    add(&j, "a");
    add(&j, "b");
    add(&j, "c");
    expect(&j, 1, "a");
    expect(&j, 2, "b");
    journal_detach(&j);
    attach(&j, 1, 2, 0); /* b was sent and never arrived */
    expect(&j, 2, "b");
    expect(&j, 3, "c");
    journal_detach(&j);
    attach(&j, 3, 4, 0);
    expect_nothing(&j);
    attach(&j, 1000, 4, 0); /* more than there is: it cannot have that */
    add(&j, "d");
    expect(&j, 4, "d");
    attach(&j, 0, 1, 0);
    expect(&j, 1, "a");
    journal_release(&j);
}

static void a_fresh_client_counts_from_one_where_delivery_stopped(void **state)
{
    struct journal j;

    (void)state;
    journal_init(&j, 1000);
    attach(&j, JOURNAL_FRESH, 1, 0);
    add(&j, "a");
    add(&j, "b");
    expect(&j, 1, "a");
    journal_detach(&j);
    attach(&j, JOURNAL_FRESH, 1, 0);
    expect(&j, 1, "b");
    add(&j, "c");
    expect(&j, 2, "c");
    attach(&j, 1, 2, 0); /* of its own count */
    expect(&j, 2, "c");
    journal_release(&j);
}

static void the_oldest_go_when_nobody_is_attached(void **state)
{
    struct journal j;

    (void)state;
    journal_init(&j, 3 * (COST + 1));
    add(&j, "a");
    add(&j, "b");
    add(&j, "c");
    add(&j, "d");
    add(&j, "e");
    assert_int_equal(j.bytes, 3 * (COST + 1));
    attach(&j, JOURNAL_FRESH, 1, 2);
    expect(&j, 1, "c");
    journal_release(&j);
}

static void a_gap_is_counted_once_and_moves_no_number(void **state)
{
    struct journal j;

    (void)state;
    journal_init(&j, 2 * (COST + 1));
    attach(&j, JOURNAL_FRESH, 1, 0);
    add(&j, "a");
    expect(&j, 1, "a");
    journal_detach(&j);
    add(&j, "b");
    add(&j, "c");
    add(&j, "d");
    add(&j, "e");
    attach(&j, 1, 2, 2); /* b and c are gone */
    expect(&j, 2, "d");
    journal_detach(&j);
    attach(&j, 1, 2, 2); /* the client never heard of it: told again, not added up */
    expect(&j, 2, "d");
    expect(&j, 3, "e");
    journal_detach(&j);
    attach(&j, 3, 4, 0);
    journal_detach(&j);
    attach(&j, 2, 3, 0);
    expect(&j, 3, "e");
    add(&j, "f");
    expect(&j, 4, "f");
    journal_detach(&j);
    attach(&j, 0, 1, 2 + 2); /* a gap in front of the gap: its frame d is gone too */
    journal_release(&j);
}

static void a_client_may_count_what_is_lost(void **state)
{
    struct journal j;

    (void)state;
    journal_init(&j, 2 * (COST + 1));
    attach(&j, JOURNAL_FRESH, 1, 0);
    add(&j, "a");
    expect(&j, 1, "a");
    journal_detach(&j);
    add(&j, "b");
    add(&j, "c");
    add(&j, "d");
    add(&j, "e");
    attach(&j, 1, 2, 2); /* b and c are gone */
    expect(&j, 2, "d");
    journal_detach(&j);
    attach(&j, 4, 5, 0); /* a, the two, d */
    expect(&j, 5, "e");
    journal_detach(&j);
    attach(&j, 5, 6, 0);
    journal_detach(&j);
    attach(&j, 4, 5, 0);
    expect(&j, 5, "e");
    journal_detach(&j);
    add(&j, "f");
    add(&j, "g");
    add(&j, "h");
    attach(&j, 5, 6, 1); /* f is gone */
    expect(&j, 7, "g");
    journal_detach(&j);
    attach(&j, 5, 6, 1);
    journal_detach(&j);
    attach(&j, 7, 8, 0);
    expect(&j, 8, "h");
    journal_detach(&j);
    add(&j, "i");
    attach(&j, JOURNAL_FRESH, 1, 0); /* a new client, whose way is its own */
    expect(&j, 1, "i");
    journal_release(&j);
}

static void nothing_undelivered_goes_while_attached(void **state)
{
    struct journal j;
    char text[16];
    int i;

    (void)state;
    journal_init(&j, 4 * (COST + 2));
    attach(&j, JOURNAL_FRESH, 1, 0);
    for (i = 10; i < 12; i++) {
        snprintf(text, sizeof(text), "%d", i);
        add(&j, text);
        assert_false(journal_is_full(&j));
    }
    for (; i < 16; i++) { /* whoever goes on nevertheless */
        snprintf(text, sizeof(text), "%d", i);
        add(&j, text);
        assert_true(journal_is_full(&j));
    }
    for (i = 10; i < 16; i++) {
        snprintf(text, sizeof(text), "%d", i);
        expect(&j, (uint64_t)i - 9, text);
    }
    assert_false(journal_is_full(&j));
    assert_int_equal(j.bytes, 4 * (COST + 2)); /* kept for a client that returns */
    journal_detach(&j);
    assert_false(journal_is_full(&j)); /* nobody attached: the agent is drained always */
    journal_release(&j);
}

/* What it was given may be lost between here and there: a slow reader's next socket finds it again. */
static void a_client_that_is_behind_finds_what_it_was_given_last(void **state)
{
    struct journal j;
    int given = 0, waiting = 0;

    (void)state;
    journal_init(&j, 20 * (COST + 1));
    attach(&j, JOURNAL_FRESH, 1, 0);
    while (given < 100) {
        while (!journal_is_full(&j)) {
            add(&j, "x");
            waiting++;
        }
        expect(&j, (uint64_t)++given, "x");
        waiting--;
        assert_true(j.bytes <= 21 * (COST + 1));
    }
    assert_true(waiting >= 10);
    attach(&j, 90, 91, 0);
    expect(&j, 91, "x");
    journal_detach(&j);
    attach(&j, 90, 91, 0); /* nothing came meanwhile */
    expect(&j, 91, "x");
    journal_detach(&j);
    for (given = 0; given < 100; given++)
        add(&j, "y");
    assert_true(j.bytes <= 21 * (COST + 1));
    journal_release(&j);
}

static void what_is_too_much_goes_with_the_next_frame_when_nobody_is_there(void **state)
{
    struct journal j;
    int i;

    (void)state;
    journal_init(&j, 4 * (COST + 1));
    attach(&j, JOURNAL_FRESH, 1, 0);
    for (i = 0; i < 10; i++)
        add(&j, "x");
    journal_detach(&j);
    attach(&j, 0, 1, 0);
    journal_detach(&j);
    add(&j, "y");
    assert_int_equal(j.bytes, 4 * (COST + 1));
    attach(&j, 0, 1, 7);
    journal_release(&j);
}

static void a_huge_frame_stays_until_enough_came_behind_it(void **state)
{
    auto_free char *huge = mem_zalloc(1, 100001);
    struct journal j;
    uint64_t i;

    (void)state;
    memset(huge, 'h', 100000);
    journal_init(&j, 1000);
    add(&j, "a");
    add(&j, huge);
    attach(&j, JOURNAL_FRESH, 1, 1);
    expect(&j, 1, huge);
    add(&j, "b");
    expect(&j, 2, "b");
    attach(&j, 0, 1, 0); /* its socket was lost in the middle */
    expect(&j, 1, huge);
    expect(&j, 2, "b");
    for (i = 0; i < 20; i++)
        add(&j, "c");
    attach(&j, 2, 3, 0);
    for (i = 0; i < 20; i++)
        expect(&j, 3 + i, "c");
    assert_true(j.bytes < 1000 + COST + 1);
    journal_release(&j);
}

static void frames_behind_the_next_one_are_seen(void **state)
{
    struct journal j;
    uint64_t n;

    (void)state;
    journal_init(&j, 1000);
    add(&j, "one");
    assert_null(journal_peek(&j, 0, &n)); /* nobody is attached */
    attach(&j, JOURNAL_FRESH, 1, 0);
    add(&j, "two");
    add(&j, "three");
    expect(&j, 1, "one");
    assert_string_equal(journal_peek(&j, 0, &n)->data, "two");
    assert_int_equal(n, 2);
    assert_string_equal(journal_peek(&j, 1, &n)->data, "three");
    assert_int_equal(n, 3);
    assert_null(journal_peek(&j, 2, &n));
    assert_null(journal_peek(&j, SIZE_MAX, &n));
    attach(&j, JOURNAL_FRESH, 1, 0); /* another client: none of what was only looked at is gone */
    expect(&j, 1, "two");
    expect(&j, 2, "three");
    journal_release(&j);
}

static void the_next_frame_stays_until_it_is_given_out(void **state)
{
    auto_free char *huge = mem_zalloc(1, 100001);
    struct journal j;
    uint64_t n;
    int i;

    (void)state;
    memset(huge, 'h', 100000);
    journal_init(&j, 1000);
    attach(&j, JOURNAL_FRESH, 1, 0);
    add(&j, huge);
    for (i = 0; i < 100; i++)
        add(&j, "behind it");
    assert_memory_equal(journal_peek(&j, 0, &n)->data, huge, 100001);
    attach(&j, 0, 1, 0); /* takes over in the middle of it */
    expect(&j, 1, huge);
    expect(&j, 2, "behind it");
    journal_detach(&j);
    attach(&j, 1, 2, 0);
    expect(&j, 2, "behind it");
    journal_release(&j);
}

static void a_long_text_is_taken_out_of_its_buffer(void **state)
{
    static const size_t lengths[] = { 0, 1, 16383, 16384, 65536 };
    struct journal j;
    size_t i;

    (void)state;
    journal_init(&j, 1 << 20);
    attach(&j, JOURNAL_FRESH, 1, 0);
    for (i = 0; i < ARRAY_LEN(lengths); i++) {
        auto_buf struct buf text;
        auto_free char *copy = NULL;

        buf_init(&text, 1 << 20);
        buf_add_repeat(&text, 't', lengths[i]);
        copy = mem_dup(text.data, text.len);
        assert_int_equal(journal_take(&j, &text), 0);
        assert_int_equal(text.data == NULL, lengths[i] >= 16384);
        buf_clear(&text);
        assert_int_equal(buf_add_str(&text, "next"), 0); /* it can be used again */
        expect(&j, i + 1, copy);
    }
    journal_release(&j);
}

static void many_frames_keep_their_order_through_growth(void **state)
{
    struct journal j;
    char text[16];
    int i, out = 0;

    (void)state;
    journal_init(&j, 1 << 20);
    attach(&j, JOURNAL_FRESH, 1, 0);
    for (i = 0; i < 5000; i++) {
        snprintf(text, sizeof(text), "%d", i);
        add(&j, text);
        if (i % 3 == 0) {
            snprintf(text, sizeof(text), "%d", out);
            expect(&j, (uint64_t)++out, text);
        }
    }
    journal_release(&j);
    journal_release(NULL);
}

static void short_memory_leaves_a_long_text_where_it_is(void **state)
{
    (void)state;
    OOM_SWEEP({
        struct journal j;
        struct buf text;
        int taken;

        journal_init(&j, 1 << 20);
        buf_init(&text, 1 << 20);
        if (buf_add_repeat(&text, 't', 30000) == 0) {
            taken = journal_take(&j, &text) == 0;
            assert_int_equal(taken, !oom_hit());
            assert_int_equal(journal_count(&j), taken);
            assert_int_equal(text.len, taken ? 0 : 30000);
        }
        buf_release(&text);
        journal_release(&j);
    });
}

static void short_memory_loses_no_frame_that_was_taken(void **state)
{
    (void)state;
    OOM_SWEEP({
        struct journal j;
        int i;
        int taken = 0;

        journal_init(&j, 100000);
        for (i = 0; i < 100; i++)
            taken += journal_add(&j, "frame", 5) == 0;
        attach(&j, JOURNAL_FRESH, 1, 0);
        for (i = 0; i < taken; i++)
            expect(&j, (uint64_t)i + 1, "frame");
        expect_nothing(&j);
        assert_int_equal(taken, oom_hit() ? 99 : 100);
        journal_release(&j);
    });
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_client_gets_all_from_number_one),
        cmocka_unit_test(a_client_that_returns_goes_on_behind_what_it_has),
        cmocka_unit_test(a_fresh_client_counts_from_one_where_delivery_stopped),
        cmocka_unit_test(the_oldest_go_when_nobody_is_attached),
        cmocka_unit_test(a_gap_is_counted_once_and_moves_no_number),
        cmocka_unit_test(a_client_may_count_what_is_lost),
        cmocka_unit_test(nothing_undelivered_goes_while_attached),
        cmocka_unit_test(a_client_that_is_behind_finds_what_it_was_given_last),
        cmocka_unit_test(what_is_too_much_goes_with_the_next_frame_when_nobody_is_there),
        cmocka_unit_test(a_huge_frame_stays_until_enough_came_behind_it),
        cmocka_unit_test(frames_behind_the_next_one_are_seen),
        cmocka_unit_test(the_next_frame_stays_until_it_is_given_out),
        cmocka_unit_test(a_long_text_is_taken_out_of_its_buffer),
        cmocka_unit_test(many_frames_keep_their_order_through_growth),
        cmocka_unit_test(short_memory_loses_no_frame_that_was_taken),
        cmocka_unit_test(short_memory_leaves_a_long_text_where_it_is),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
