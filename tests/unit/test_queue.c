#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "supervisor/queue.h"
#include "tests/support/oom.h"

static void owners_take_turns_whoever_asked_more(void **state)
{
    static const char *const owners[] = { "a", "a", "a", "b", "c", "b" };
    static const size_t turns[] = { 0, 3, 4, 1, 5, 2 }; /* a b c a b a */
    struct queue_entry e[6] = { 0 };
    struct queue q;
    size_t i;

    (void)state;
    queue_init(&q, 10, 10);
    for (i = 0; i < 6; i++)
        assert_int_equal(queue_join(&q, &e[i], owners[i]), 0);
    for (i = 0; i < 6; i++)
        assert_int_equal(queue_position(&q, &e[turns[i]]), i + 1);
    for (i = 0; i < 6; i++) {
        assert_ptr_equal(queue_first(&q), &e[turns[i]]);
        assert_ptr_equal(queue_take(&q), &e[turns[i]]);
        assert_int_equal(queue_position(&q, &e[turns[i]]), 0);
    }
    assert_null(queue_first(&q));
    assert_null(queue_take(&q));
    queue_release(&q);
}

static void who_leaves_lets_the_others_move_up(void **state)
{
    struct queue_entry a = { 0 }, b = { 0 }, c = { 0 };
    struct queue q;

    (void)state;
    queue_init(&q, 10, 10);
    queue_join(&q, &a, "a");
    queue_join(&q, &b, "b");
    queue_join(&q, &c, "a");
    queue_leave(&q, &a);
    queue_leave(&q, &a);
    assert_int_equal(queue_position(&q, &c), 1);
    assert_int_equal(queue_position(&q, &b), 2);
    queue_join(&q, &a, "a"); /* comes again, at the end */
    assert_int_equal(queue_position(&q, &a), 3);
    queue_release(&q);
    assert_int_equal(queue_position(&q, &b), 0);
}

static void it_is_bounded_in_all_and_for_each(void **state)
{
    struct queue_entry e[5] = { 0 };
    struct queue q;

    (void)state;
    queue_init(&q, 3, 2);
    assert_int_equal(queue_join(&q, &e[0], "a"), 0);
    assert_int_equal(queue_join(&q, &e[1], "a"), 0);
    assert_int_equal(queue_join(&q, &e[2], "a"), -1);
    assert_int_equal(queue_join(&q, &e[2], "b"), 0);
    assert_int_equal(queue_join(&q, &e[3], "c"), -1);
    queue_take(&q);
    assert_int_equal(queue_join(&q, &e[3], "c"), 0);
    queue_release(&q);
}

static void without_memory_nobody_joins(void **state)
{
    struct queue_entry e = { 0 };
    struct queue q;

    (void)state;
    queue_init(&q, 3, 3);
    oom_fail_at(1);
    assert_int_equal(queue_join(&q, &e, "a"), -1);
    oom_off();
    assert_int_equal(q.count, 0);
    queue_release(&q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(owners_take_turns_whoever_asked_more),
        cmocka_unit_test(who_leaves_lets_the_others_move_up),
        cmocka_unit_test(it_is_bounded_in_all_and_for_each),
        cmocka_unit_test(without_memory_nobody_joins),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
