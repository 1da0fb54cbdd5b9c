#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "shared/base/mem.h"
#include "shared/base/time.h"
#include "supervisor/egress/resolver.h"
#include "tests/support/oom.h"

/* Runs in the resolver's child. */
static int lookup(const char *name, struct address *ret, size_t max)
{
    size_t i;

    if (strcmp(name, "one") == 0) {
        ret[0] = (struct address){ AF_INET, { 192, 0, 2, 1 } };
        return 1;
    }
    if (strcmp(name, "full") == 0) {
        for (i = 0; i < max; i++)
            ret[i] = (struct address){ AF_INET6, { 0x20, (uint8_t)i } };
        return (int)max;
    }
    if (strcmp(name, "descriptors") == 0) { /* of the parent, none but the answer and the standard ones is left */
        int fd, n = 0;

        for (fd = 4; fd < 200; fd++)
            n += fcntl(fd, F_GETFD) >= 0;
        ret[0] = (struct address){ AF_INET, { (uint8_t)n } };
        return 1;
    }
    if (strcmp(name, "liar") == 0)
        return 1000;
    if (strcmp(name, "odd") == 0) {
        ret[0].family = 99;
        return 1;
    }
    if (strcmp(name, "crash") == 0)
        abort();
    if (strcmp(name, "slow") == 0)
        sleep(100);
    return 0;
}

struct heard {
    unsigned times;
    size_t n;
    struct address found[EGRESS_ADDRESSES_MAX];
    char why[64];
    struct resolver_query *victim;
};

static void found(void *arg, const struct address *list, size_t n, const char *why)
{
    struct heard *h = arg;

    h->times++;
    h->n = n;
    assert_true((n == 0) == (why != NULL));
    if (n)
        memcpy(h->found, list, n * sizeof(*list));
    else
        (void)snprintf(h->why, sizeof(h->why), "%s", why);
    if (h->victim)
        resolver_cancel(steal_ptr(h->victim));
}

static void run_until(struct ev_loop *loop, const unsigned *value, unsigned wanted)
{
    int64_t until = time_mono_ms() + 20000;

    while (*value < wanted) {
        if (time_mono_ms() > until)
            fail_msg("nothing was heard");
        ev_run(loop, EVRUN_ONCE);
    }
}

static struct heard ask(const char *name, double patience)
{
    struct ev_loop *loop = ev_default_loop(0);
    struct resolver r;
    struct heard h = { 0 };
    struct err err = { 0 };

    resolver_init(&r, loop, lookup, patience, 2);
    assert_non_null(resolver_ask(&r, name, found, &h, &err));
    assert_int_equal(h.times, 0);
    run_until(loop, &h.times, 1);
    assert_int_equal(r.running, 0);
    assert_null(r.first);
    assert_null(r.last);
    resolver_release(&r);
    return h;
}

static void names_lead_to_addresses(void **state)
{
    struct heard h = ask("one", 10);

    (void)state;
    assert_int_equal(h.n, 1);
    assert_true(h.found[0].family == AF_INET && h.found[0].bytes[3] == 1);
    h = ask("full", 10);
    assert_int_equal(h.n, EGRESS_ADDRESSES_MAX);
    assert_true(h.found[7].family == AF_INET6 && h.found[7].bytes[1] == 7);
}

static void a_child_has_nothing_of_its_parent_open(void **state)
{
    struct heard h = ask("descriptors", 10);

    (void)state;
    assert_int_equal(h.n, 1);
    assert_int_equal(h.found[0].bytes[0], 0);
}

static void answers_that_make_no_sense_are_no_answers(void **state)
{
    static const char *const names[] = { "none", "liar", "odd", "crash" };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(names); i++) {
        struct heard h = ask(names[i], 10);

        assert_int_equal(h.n, 0);
        assert_string_equal(h.why, "the name is not known");
    }
}

static void patience_ends(void **state)
{
    struct heard h = ask("slow", 0.1);

    (void)state;
    assert_string_equal(h.why, "the name was not resolved in time");
}

static void queries_wait_for_their_turn(void **state)
{
    struct ev_loop *loop = ev_default_loop(0);
    struct resolver r;
    struct heard h = { 0 };
    int i;

    (void)state;
    resolver_init(&r, loop, lookup, 10, 2);
    for (i = 0; i < 10; i++)
        assert_non_null(resolver_ask(&r, "one", found, &h, NULL));
    assert_int_equal(r.running, 2);
    run_until(loop, &h.times, 10);
    assert_int_equal(r.running, 0);
    resolver_release(&r);
}

static void a_cancelled_query_is_silent_and_makes_room(void **state)
{
    struct ev_loop *loop = ev_default_loop(0);
    struct resolver r;
    struct heard slow = { 0 }, h = { 0 };
    struct resolver_query *q;

    (void)state;
    resolver_init(&r, loop, lookup, 10, 1);
    q = resolver_ask(&r, "slow", found, &slow, NULL);
    assert_non_null(q);
    assert_non_null(resolver_ask(&r, "one", found, &h, NULL));
    resolver_cancel(q);
    resolver_cancel(NULL);
    run_until(loop, &h.times, 1);
    assert_int_equal(slow.times, 0);
    resolver_release(&r);
    resolver_release(NULL);
}

static void an_answer_may_cancel_another_query(void **state)
{
    struct ev_loop *loop = ev_default_loop(0);
    struct resolver r;
    struct heard slow = { 0 }, h = { 0 }, last = { 0 };

    (void)state;
    resolver_init(&r, loop, lookup, 10, 2);
    h.victim = resolver_ask(&r, "slow", found, &slow, NULL);
    assert_non_null(resolver_ask(&r, "one", found, &h, NULL));
    run_until(loop, &h.times, 1);
    assert_non_null(resolver_ask(&r, "one", found, &last, NULL));
    run_until(loop, &last.times, 1);
    assert_int_equal(slow.times, 0);
    assert_non_null(resolver_ask(&r, "slow", found, &slow, NULL));
    resolver_release(&r); /* with one running */
    assert_int_equal(slow.times, 0);
}

static void children_do_not_pile_up(void **state)
{
    struct ev_loop *loop = ev_default_loop(0);
    int64_t until = time_mono_ms() + 10000;

    (void)state;
    while (waitpid(-1, NULL, WNOHANG) != -1 || errno != ECHILD) { /* killed ones need a moment */
        assert_true(time_mono_ms() < until);
        ev_run(loop, EVRUN_NOWAIT);
    }
}

static void the_system_knows_localhost(void **state)
{
    struct address found_here[4];
    int n = egress_lookup_system("localhost", found_here, 4), i;

    (void)state;
    assert_in_range(n, 1, 4);
    for (i = 0; i < n; i++)
        assert_string_equal(address_kind_refused(&found_here[i]), "a loopback address");
    assert_int_equal(egress_lookup_system("no such name", found_here, 4), 0);
}

static void no_memory_is_an_error(void **state)
{
    struct resolver r;
    struct heard h = { 0 };
    struct err err = { 0 };

    (void)state;
    resolver_init(&r, ev_default_loop(0), lookup, 10, 1);
    oom_fail_at(1);
    assert_null(resolver_ask(&r, "one", found, &h, &err));
    oom_off();
    assert_int_equal(err.kind, ERR_INTERNAL);
    assert_null(r.first);
    resolver_release(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_lead_to_addresses),
        cmocka_unit_test(a_child_has_nothing_of_its_parent_open),
        cmocka_unit_test(answers_that_make_no_sense_are_no_answers),
        cmocka_unit_test(patience_ends),
        cmocka_unit_test(queries_wait_for_their_turn),
        cmocka_unit_test(a_cancelled_query_is_silent_and_makes_room),
        cmocka_unit_test(an_answer_may_cancel_another_query),
        cmocka_unit_test(the_system_knows_localhost),
        cmocka_unit_test(no_memory_is_an_error),
        cmocka_unit_test(children_do_not_pile_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
