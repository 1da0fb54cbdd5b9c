#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "supervisor/quota.h"
#include "tests/support/oom.h"

#define SECOND 1000

static struct quota *make(int64_t window_s, size_t hits, size_t actors)
{
    struct quota *q = quota_new(&(struct quota_rule){ window_s * SECOND, hits, actors });

    assert_non_null(q);
    return q;
}

static void as_many_as_allowed_pass_and_the_next_waits_exactly(void **state)
{
    struct quota *q = make(60, 12, 100);
    struct err err;
    int i;

    (void)state;
    for (i = 0; i < 12; i++)
        assert_int_equal(quota_hit(q, "ip:192.0.2.1", i * SECOND, &err), 0);
    assert_int_equal(quota_hit(q, "ip:192.0.2.1", 20 * SECOND, &err), -1);
    assert_int_equal(err.kind, ERR_LIMIT);
    assert_int_equal(err.wait, 40); /* the first was at 0, its window ends at 60 */
    assert_int_equal(quota_hit(q, "ip:192.0.2.1", 20 * SECOND + 1, &err), -1);
    assert_int_equal(err.wait, 40); /* 39.999 s: rounded up, never too early */
    assert_int_equal(quota_hit(q, "ip:192.0.2.1", 60 * SECOND - 1, &err), -1);
    assert_int_equal(err.wait, 1);
    assert_int_equal(quota_hit(q, "ip:192.0.2.1", 60 * SECOND, &err), 0);
    quota_free(q);
}

static void the_window_slides_with_each_knock(void **state)
{
    struct quota *q = make(10, 2, 100);
    struct err err;

    (void)state;
    assert_int_equal(quota_hit(q, "a", 0, &err), 0);
    assert_int_equal(quota_hit(q, "a", 9 * SECOND, &err), 0);
    assert_int_equal(quota_hit(q, "a", 10 * SECOND, &err), 0);  /* the one at 0 is out */
    assert_int_equal(quota_hit(q, "a", 11 * SECOND, &err), -1); /* 9 and 10 are in: no fresh window at 10 */
    assert_int_equal(err.wait, 8);
    quota_free(q);
}

static void refused_knocks_do_not_prolong_the_wait(void **state)
{
    struct quota *q = make(10, 1, 100);
    struct err err;
    int i;

    (void)state;
    assert_int_equal(quota_hit(q, "a", 0, &err), 0);
    for (i = 1; i < 100; i++)
        assert_int_equal(quota_hit(q, "a", i * 100, &err), -1);
    assert_int_equal(quota_hit(q, "a", 10 * SECOND, &err), 0);
    quota_free(q);
}

static void actors_do_not_share_their_windows(void **state)
{
    struct quota *q = make(60, 1, 100);
    struct err err;

    (void)state;
    assert_int_equal(quota_hit(q, "ip:192.0.2.1", 0, &err), 0);
    assert_int_equal(quota_hit(q, "ip:192.0.2.2", 0, &err), 0);
    assert_int_equal(quota_hit(q, "ip:192.0.2.1", 1, &err), -1);
    quota_free(q);
}

static void the_one_silent_for_longest_makes_room(void **state)
{
    struct quota *q = make(60, 1, 3);
    struct err err;

    (void)state;
    assert_int_equal(quota_hit(q, "a", 1, &err), 0);
    assert_int_equal(quota_hit(q, "b", 2, &err), 0);
    assert_int_equal(quota_hit(q, "c", 3, &err), 0);
    assert_int_equal(quota_hit(q, "d", 4, &err), 0); /* a is forgotten */
    assert_int_equal(quota_actors(q), 3);
    assert_int_equal(quota_hit(q, "b", 5, &err), -1);
    assert_int_equal(quota_hit(q, "c", 6, &err), -1);
    assert_int_equal(quota_hit(q, "d", 7, &err), -1);
    assert_int_equal(quota_hit(q, "a", 8, &err), 0);
    quota_free(q);
}

static void thousands_of_strangers_leave_a_bounded_table(void **state)
{
    struct quota *q = make(60, 12, 1000);
    struct err err;
    char name[32];
    int i;

    (void)state;
    for (i = 0; i < 20000; i++) {
        snprintf(name, sizeof(name), "ip:2001:db8:%x::/64", (unsigned)i);
        assert_int_equal(quota_hit(q, name, i, &err), 0);
        assert_true(quota_actors(q) <= 1000);
    }
    for (i = 19000; i < 20000; i++) { /* the newest are all still known: one more each, eleven left */
        snprintf(name, sizeof(name), "ip:2001:db8:%x::/64", (unsigned)i);
        assert_int_equal(quota_hit(q, name, 20000, &err), 0);
    }
    assert_int_equal(quota_actors(q), 1000);
    quota_free(q);
}

static void who_was_silent_for_a_window_is_forgotten(void **state)
{
    struct quota *q = make(60, 12, 1000);
    struct err err;

    (void)state;
    assert_int_equal(quota_hit(q, "a", 0, &err), 0);
    assert_int_equal(quota_hit(q, "b", 30 * SECOND, &err), 0);
    assert_int_equal(quota_actors(q), 2);
    assert_int_equal(quota_hit(q, "c", 61 * SECOND, &err), 0);
    assert_int_equal(quota_actors(q), 2);
    assert_int_equal(quota_hit(q, "c", 3600 * SECOND, &err), 0);
    assert_int_equal(quota_actors(q), 1);
    quota_free(q);
}

static void a_limit_of_none_refuses_everybody(void **state)
{
    struct quota *q = make(60, 0, 10);
    struct err err;

    (void)state;
    assert_int_equal(quota_hit(q, "a", 0, &err), -1);
    assert_int_equal(err.kind, ERR_LIMIT);
    assert_int_equal(err.wait, 60);
    quota_free(q);
}

static void another_rule_counts_what_was_counted(void **state)
{
    struct quota *q = make(60, 3, 10);
    struct quota_rule narrow = { 60 * SECOND, 1, 1 };
    struct err err;
    int i;

    (void)state;
    for (i = 0; i < 3; i++)
        assert_int_equal(quota_hit(q, "a", i * SECOND, &err), 0);
    assert_int_equal(quota_hit(q, "b", 3 * SECOND, &err), 0);
    quota_change(q, &narrow);
    assert_int_equal(quota_hit(q, "a", 4 * SECOND, &err), -1);
    assert_int_equal(err.wait, 58); /* the last of its three has to be old */
    assert_int_equal(quota_hit(q, "a", 61 * SECOND, &err), -1);
    assert_int_equal(quota_hit(q, "a", 62 * SECOND, &err), 0);
    assert_int_equal(quota_hit(q, "c", 62 * SECOND, &err), 0);
    assert_int_equal(quota_actors(q), 1);
    quota_free(q);
}

static void without_memory_knocks_are_refused_and_nothing_leaks(void **state)
{
    (void)state;
    OOM_SWEEP({
        struct quota *q = quota_new(&(struct quota_rule){ 60 * SECOND, 12, 100 });
        struct err err;
        char name[16];
        int i;

        for (i = 0; q && i < 80; i++) { /* past the first growth of both tables */
            snprintf(name, sizeof(name), "a%d", i);
            if (quota_hit(q, name, i, &err) < 0)
                assert_int_equal(err.kind, ERR_INTERNAL);
        }
        for (i = 0; q && i < 8; i++)
            if (quota_hit(q, "a1", 100 + i, &err) < 0)
                assert_int_equal(err.kind, ERR_INTERNAL);
        quota_free(q);
    });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_many_as_allowed_pass_and_the_next_waits_exactly),
        cmocka_unit_test(the_window_slides_with_each_knock),
        cmocka_unit_test(refused_knocks_do_not_prolong_the_wait),
        cmocka_unit_test(actors_do_not_share_their_windows),
        cmocka_unit_test(the_one_silent_for_longest_makes_room),
        cmocka_unit_test(thousands_of_strangers_leave_a_bounded_table),
        cmocka_unit_test(who_was_silent_for_a_window_is_forgotten),
        cmocka_unit_test(a_limit_of_none_refuses_everybody),
        cmocka_unit_test(another_rule_counts_what_was_counted),
        cmocka_unit_test(without_memory_knocks_are_refused_and_nothing_leaks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
