#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include <errno.h>

#include "shared/base/mem.h"
#include "shared/base/time.h"
#include "shared/ipc/wire.h"
#include "tests/support/oom.h"
#include "tests/support/supervisor_fixture.h"

#define ME "ip:192.0.2.1"

static const struct id nobody;

static struct pool *pool_of(struct fixture *f)
{
    return &f->sv.sessions.pool;
}

static int setup_with(void **state, int64_t warm_pool)
{
    struct fixture *f = mem_zalloc(1, sizeof(*f));

    assert_non_null(f);
    fixture_open_pool(f, warm_pool);
    *state = f;
    return 0;
}

static int setup_unready(void **state)
{
    return setup_with(state, 2);
}

static int setup(void **state)
{
    setup_with(state, 2);
    fixture_ready(*state);
    return 0;
}

static int setup_one(void **state)
{
    setup_with(state, 1);
    fixture_ready(*state);
    return 0;
}

static int teardown(void **state)
{
    fixture_close(*state);
    mem_free(*state);
    return 0;
}

static void say_warm(struct fixture *f, int holder, enum hold_warm how, const char *why)
{
    auto_buf struct buf b;

    buf_init(&b, 4096);
    wire_put_u8(&b, (uint8_t)how);
    wire_put_str(&b, why);
    fixture_send(holder, HOLD_WARM, b.data, b.len);
    fixture_turn(f);
}

/* The launcher is asked for a holder, and that one to get ready: its end of the connection, still loading. */
static int make_one(struct fixture *f, struct launch_msg *ret)
{
    struct launch_msg m = fixture_asked(f, LAUNCH_START);
    uint16_t type;
    auto_buf struct buf b;
    int holder;

    buf_init(&b, 4096);
    assert_false(id_equal(&m.id, &nobody));
    fixture_open_holder(f, m.slot);
    fixture_tell(f, LAUNCH_STARTED, m.slot, &m.id, 1);
    holder = fixture_accept_holder(f, m.slot);
    assert_int_equal(fixture_recv(f, holder, &type, &b, NULL), 1);
    assert_int_equal(type, HOLD_WARM_UP);
    assert_int_equal(b.len, 0);
    say_warm(f, holder, HOLD_WARM_MAKING, "");
    fixture_wait(f, pool_count(pool_of(f), POOL_LOADING) == 1);
    *ret = m;
    return holder;
}

static int make_ready(struct fixture *f, struct launch_msg *ret)
{
    uint32_t before = pool_count(pool_of(f), POOL_READY);
    int holder = make_one(f, ret);

    say_warm(f, holder, HOLD_WARM_READY, "");
    fixture_wait(f, pool_count(pool_of(f), POOL_READY) == before + 1);
    return holder;
}

/* Its holder hears that it is a's: its end of that connection. */
static int hear_claim(struct fixture *f, uint32_t slot, const struct asker *a)
{
    int holder = fixture_accept_holder(f, slot);
    uint64_t started, lifetime;
    struct wire_in in;
    struct id id;
    uint16_t type;
    auto_buf struct buf b;

    buf_init(&b, 4096);
    assert_int_equal(fixture_recv(f, holder, &type, &b, NULL), 1);
    assert_int_equal(type, HOLD_CLAIM);
    wire_start(&in, b.data, b.len);
    wire_get_id(&in, &id);
    assert_true(id_equal(&id, &a->request.id));
    assert_string_equal(wire_get_str(&in, 200), a->request.actor);
    started = wire_get_u64(&in);
    lifetime = wire_get_u64(&in);
    assert_int_equal(wire_end(&in), 0);
    assert_true(started + 5000 > (uint64_t)time_wall_ms());
    assert_true(lifetime > 890000 && lifetime <= 900000);
    return holder;
}

static void none_is_made_before_the_sandbox_was_tried(void **state)
{
    struct fixture *f = *state;

    pool_tend(pool_of(f));
    fixture_wait(f, !ev_is_active(&pool_of(f)->next));
    assert_int_equal(pool_count(pool_of(f), POOL_NONE), 2);
    fixture_ready(f);
    assert_int_equal(fixture_asked(f, LAUNCH_START).op, LAUNCH_START);
}

static void they_are_made_one_after_another_and_are_no_sessions(void **state)
{
    struct fixture *f = *state;
    struct launch_msg one, two;
    int first = make_one(f, &one), second;

    fixture_wait(f, !ev_is_active(&pool_of(f)->next));
    fixture_asked_nothing(f);
    say_warm(f, first, HOLD_WARM_READY, "");
    second = make_ready(f, &two);
    assert_int_not_equal(one.slot, two.slot);
    fixture_wait(f, !ev_is_active(&pool_of(f)->next));
    fixture_asked_nothing(f);
    assert_int_equal(f->sv.sessions.table.count, 0);
    assert_true(sessions_settled(&f->sv.sessions));
    close(first);
    close(second);
}

static void a_session_takes_one_and_another_is_made_when_it_listens(void **state)
{
    struct fixture *f = *state;
    struct launch_msg m, named;
    struct asker a;
    int waits = make_ready(f, &m), holder;
    char byte;

    asker_ask(f, &a, ME);
    holder = hear_claim(f, m.slot, &a);
    fixture_wait(f, recv(waits, &byte, 1, MSG_DONTWAIT) == 0); /* that talk is over */
    assert_int_equal(a.told, 0);
    fixture_identify(f, holder, &a.request.id, ME);
    fixture_wait(f, a.told == 1);
    assert_non_null(a.session);
    assert_int_equal(a.session->slot, m.slot);
    assert_int_equal(a.session->state, SESSION_STARTING);
    named = fixture_asked(f, LAUNCH_NAME);
    assert_true(named.slot == m.slot && id_equal(&named.id, &a.request.id));
    assert_int_equal(f->sv.sessions.metrics.warm_starts, 1);
    fixture_pass(f);
    fixture_asked_nothing(f); /* starting comes first */
    fixture_phase(f, holder, HOLD_READY);
    assert_int_equal(a.session->state, SESSION_READY);
    assert_int_not_equal(fixture_asked(f, LAUNCH_START).slot, m.slot);
    close(waits);
    close(holder);
}

static void one_that_loads_is_better_than_none(void **state)
{
    struct fixture *f = *state;
    struct launch_msg m;
    struct asker a;
    int waits = make_one(f, &m), holder;

    asker_ask(f, &a, ME);
    holder = hear_claim(f, m.slot, &a);
    fixture_identify(f, holder, &a.request.id, ME);
    fixture_wait(f, a.told == 1);
    assert_non_null(a.session);
    close(waits);
    close(holder);
}

/* What became of one that was to be a's: nothing, and a starts as if there had been none. */
static void starts_anew(struct fixture *f, struct asker *a, uint32_t slot)
{
    struct launch_msg m;

    assert_int_equal(fixture_asked(f, LAUNCH_STOP).slot, slot);
    m = fixture_asked(f, LAUNCH_START);
    assert_int_not_equal(m.slot, slot);
    assert_true(id_equal(&m.id, &a->request.id));
    assert_int_equal(a->told, 0);
    assert_int_equal(f->sv.sessions.table.count, 1);
    fixture_tell(f, LAUNCH_CLEAN, slot, NULL, 0);
    assert_int_equal(pool_count(pool_of(f), POOL_CLEARING), 0);
    waiter_cancel(&a->request.waiter);
}

static void one_that_is_gone_when_it_is_taken_costs_a_cold_start(void **state)
{
    struct fixture *f = *state;
    struct launch_msg m;
    struct asker a;
    int waits = make_ready(f, &m);

    fixture_close_holder(f, m.slot);
    asker_ask(f, &a, ME);
    starts_anew(f, &a, m.slot);
    close(waits);
}

static void one_that_goes_while_it_is_taken_costs_a_cold_start(void **state)
{
    struct fixture *f = *state;
    struct launch_msg m;
    struct asker a;
    int waits = make_ready(f, &m);

    asker_ask(f, &a, ME);
    close(hear_claim(f, m.slot, &a));
    starts_anew(f, &a, m.slot);
    close(waits);
}

static void one_that_says_it_is_somebody_else_costs_a_cold_start(void **state)
{
    struct fixture *f = *state;
    struct launch_msg m;
    struct asker a;
    int waits = make_ready(f, &m), holder;

    asker_ask(f, &a, ME);
    holder = hear_claim(f, m.slot, &a);
    fixture_identify(f, holder, &m.id, ME);
    starts_anew(f, &a, m.slot);
    close(waits);
    close(holder);
}

static void one_that_does_not_answer_costs_a_cold_start(void **state)
{
    struct fixture *f = *state;
    struct launch_msg m;
    struct asker a;
    int waits = make_ready(f, &m), holder;

    asker_ask(f, &a, ME);
    holder = hear_claim(f, m.slot, &a);
    starts_anew(f, &a, m.slot); /* after its patience */
    close(waits);
    close(holder);
}

static void an_end_overtakes_the_taking(void **state)
{
    struct fixture *f = *state;
    struct launch_msg m;
    struct asker a;
    struct session *s;
    int waits = make_ready(f, &m), holder;

    asker_ask(f, &a, ME);
    holder = hear_claim(f, m.slot, &a);
    s = session_table_find(&f->sv.sessions.table, &a.request.id);
    sessions_end(&f->sv.sessions, s, HOLD_REASON_STOPPED, NULL);
    close(holder);
    assert_int_equal(fixture_asked(f, LAUNCH_STOP).slot, m.slot);
    assert_int_equal(a.told, 1);
    assert_int_equal(a.err.kind, ERR_UNAVAILABLE);
    assert_int_equal(pool_count(pool_of(f), POOL_CLAIMED), 0);
    fixture_tell(f, LAUNCH_CLEAN, m.slot, NULL, 0);
    assert_int_equal(f->sv.sessions.table.count, 0);
    close(waits);
}

static void who_asked_for_it_and_went_leaves_nothing(void **state)
{
    struct fixture *f = *state;
    struct launch_msg m;
    struct asker a;
    int waits = make_ready(f, &m), holder;

    asker_ask(f, &a, ME);
    holder = hear_claim(f, m.slot, &a);
    waiter_cancel(&a.request.waiter);
    fixture_identify(f, holder, &a.request.id, ME);
    fixture_asked(f, LAUNCH_NAME);
    assert_int_equal(fixture_asked(f, LAUNCH_STOP).slot, m.slot);
    fixture_tell(f, LAUNCH_CLEAN, m.slot, NULL, 0);
    assert_int_equal(f->sv.sessions.table.count, 0);
    close(waits);
    close(holder);
}

static void those_that_wait_are_in_nobodys_way(void **state)
{
    struct fixture *f = *state;
    struct launch_msg one, two, m;
    struct asker a, b, c, d;
    int first = make_ready(f, &one), second = make_ready(f, &two), holders[2];

    asker_ask(f, &a, "ip:192.0.2.1");
    holders[0] = hear_claim(f, one.slot, &a);
    fixture_identify(f, holders[0], &a.request.id, "ip:192.0.2.1");
    fixture_asked(f, LAUNCH_NAME);
    asker_ask(f, &b, "ip:192.0.2.2");
    holders[1] = hear_claim(f, two.slot, &b);
    fixture_identify(f, holders[1], &b.request.id, "ip:192.0.2.2");
    fixture_asked(f, LAUNCH_NAME);
    asker_ask(f, &c, "ip:192.0.2.3");
    m = fixture_asked(f, LAUNCH_START);
    assert_true(id_equal(&m.id, &c.request.id));
    asker_ask(f, &d, "ip:192.0.2.4");
    assert_int_equal(d.err.kind, ERR_LIMIT);
    assert_true(a.session && b.session && !c.told);
    waiter_cancel(&c.request.waiter);
    close(first);
    close(second);
    close(holders[0]);
    close(holders[1]);
}

static void whoever_needs_the_slot_that_one_is_made_in_gets_it(void **state)
{
    struct fixture *f = *state;
    struct launch_msg m;
    struct asker a;
    int holder;
    uint16_t type;
    auto_buf struct buf b;

    buf_init(&b, 4096);
    slots_set(&f->sv.sessions.slots, 0, SLOT_BUSY);
    slots_set(&f->sv.sessions.slots, 1, SLOT_BUSY);
    m = fixture_asked(f, LAUNCH_START);
    assert_int_equal(f->sv.sessions.slots.free, 0);
    asker_ask(f, &a, ME);
    assert_int_equal(a.told, 0);
    fixture_open_holder(f, m.slot);
    fixture_tell(f, LAUNCH_STARTED, m.slot, &m.id, 1);
    holder = fixture_accept_holder(f, m.slot);
    assert_int_equal(fixture_recv(f, holder, &type, &b, NULL), 1);
    say_warm(f, holder, HOLD_WARM_MAKING, "");
    close(hear_claim(f, m.slot, &a));
    close(holder);
    fixture_asked(f, LAUNCH_STOP);
    assert_int_equal(a.told, 0); /* waits until that is clean */
    fixture_tell(f, LAUNCH_CLEAN, m.slot, NULL, 0);
    m = fixture_asked(f, LAUNCH_START);
    assert_true(id_equal(&m.id, &a.request.id));
    waiter_cancel(&a.request.waiter);
}

static void what_cannot_be_made_is_tried_again_with_growing_pauses(void **state)
{
    struct fixture *f = *state;
    double pauses[3];
    int i;

    for (i = 0; i < 3; i++) {
        struct launch_msg m;
        int holder = make_one(f, &m);

        say_warm(f, holder, HOLD_WARM_LOST, "no such file");
        assert_int_equal(fixture_asked(f, LAUNCH_STOP).slot, m.slot);
        fixture_tell(f, LAUNCH_CLEAN, m.slot, NULL, 0);
        fixture_close_holder(f, m.slot);
        pauses[i] = ev_timer_remaining(f->sv.loop, &pool_of(f)->next);
        pool_tend(pool_of(f)); /* does not cut it short */
        assert_true(ev_timer_remaining(f->sv.loop, &pool_of(f)->next) > pauses[i] - 0.5);
        ev_feed_event(f->sv.loop, &pool_of(f)->next, EV_TIMER);
        ev_timer_stop(f->sv.loop, &pool_of(f)->next);
        ev_feed_event(f->sv.loop, &pool_of(f)->next, EV_TIMER);
        close(holder);
    }
    assert_true(pauses[0] > 0.5 && pauses[1] > pauses[0] + 0.5 && pauses[2] > pauses[1] + 1);
}

static void a_launcher_that_cannot_start_it_is_asked_again_later(void **state)
{
    struct fixture *f = *state;
    struct launch_msg m = fixture_asked(f, LAUNCH_START);

    fixture_tell(f, LAUNCH_FAILED, m.slot, &m.id, ENOMEM);
    assert_int_equal(pool_count(pool_of(f), POOL_NONE), 2);
    assert_int_equal(f->sv.sessions.slots.free, FIXTURE_SLOTS);
    assert_true(ev_timer_remaining(f->sv.loop, &pool_of(f)->next) > 0.5);
}

static void a_holder_that_ends_or_talks_nonsense_is_replaced(void **state)
{
    struct fixture *f = *state;
    struct launch_msg m;
    int holder = make_ready(f, &m);

    fixture_tell(f, LAUNCH_EXITED, m.slot, &m.id, 9);
    assert_int_equal(fixture_asked(f, LAUNCH_STOP).slot, m.slot);
    fixture_tell(f, LAUNCH_CLEAN, m.slot, NULL, 0);
    fixture_close_holder(f, m.slot);
    close(holder);
    holder = make_ready(f, &m); /* after a second */
    fixture_send(holder, HOLD_DONE, NULL, 0);
    assert_int_equal(fixture_asked(f, LAUNCH_STOP).slot, m.slot);
    close(holder);
}

static void a_slot_that_is_told_clean_twice_stays_taken(void **state)
{
    struct fixture *f = *state;
    struct launch_msg m;
    int holder;

    m = fixture_asked(f, LAUNCH_START);
    fixture_tell(f, LAUNCH_CLEAN, m.slot, NULL, 0);
    fixture_turn(f);
    assert_int_equal(pool_count(pool_of(f), POOL_STARTING), 1);
    assert_int_equal(slots_state(&f->sv.sessions.slots, m.slot), SLOT_BUSY);
    fixture_open_holder(f, m.slot);
    fixture_tell(f, LAUNCH_STARTED, m.slot, &m.id, 1);
    holder = fixture_accept_holder(f, m.slot);
    say_warm(f, holder, HOLD_WARM_MAKING, "");
    fixture_wait(f, pool_count(pool_of(f), POOL_LOADING) == 1);
    fixture_tell(f, LAUNCH_CLEAN, m.slot, NULL, 0);
    fixture_turn(f);
    assert_int_equal(pool_count(pool_of(f), POOL_LOADING), 1);
    close(holder);
}

static void a_drained_service_makes_none(void **state)
{
    struct fixture *f = *state;

    f->sv.sessions.draining = true;
    fixture_wait(f, !ev_is_active(&pool_of(f)->next));
    fixture_asked_nothing(f);
    f->sv.sessions.draining = false;
    pool_tend(pool_of(f));
    fixture_asked(f, LAUNCH_START);
}

static void other_settings_replace_those_that_wait(void **state)
{
    struct fixture *f = *state;
    struct launch_msg m, again;
    int holder = make_ready(f, &m);

    pool_renew(pool_of(f));
    assert_int_equal(fixture_asked(f, LAUNCH_STOP).slot, m.slot);
    fixture_tell(f, LAUNCH_CLEAN, m.slot, NULL, 0);
    again = fixture_asked(f, LAUNCH_START);
    assert_false(id_equal(&again.id, &m.id));
    close(holder);
}

static void a_launcher_that_comes_back_clears_what_waited(void **state)
{
    struct fixture *f = *state;
    struct launch_msg m;
    uint32_t i;
    int holder = make_ready(f, &m);

    fixture_connect_launcher(f);
    assert_int_equal(pool_takeable(pool_of(f)), 0);
    for (i = 0; i < FIXTURE_SLOTS; i++)
        fixture_tell_slot(f, i, i == m.slot ? LAUNCH_SLOT_BUSY : LAUNCH_SLOT_FREE, i == m.slot ? &m.id : NULL);
    fixture_tell(f, LAUNCH_READY, 0, NULL, FIXTURE_SLOTS);
    assert_int_equal(fixture_asked(f, LAUNCH_STOP).slot, m.slot);
    assert_int_equal(f->sv.sessions.table.count, 0);
    close(holder);
}

/* A new supervisor meets in the inventory what the former one left. */
static void one_that_a_former_supervisor_left_is_replaced(void **state)
{
    struct fixture *f = *state;
    struct id id;
    uint32_t i;
    uint16_t type;
    auto_buf struct buf b;
    int holder;

    buf_init(&b, 4096);
    id_new(&id);
    fixture_open_holder(f, 1);
    sessions_start(&f->sv.sessions);
    fixture_connect_launcher(f);
    for (i = 0; i < FIXTURE_SLOTS; i++)
        fixture_tell_slot(f, i, i == 1 ? LAUNCH_SLOT_BUSY : LAUNCH_SLOT_FREE, i == 1 ? &id : NULL);
    holder = fixture_accept_holder(f, 1);
    assert_int_equal(fixture_recv(f, holder, &type, &b, NULL), 1);
    assert_int_equal(type, HOLD_CONTROL);
    fixture_tell(f, LAUNCH_READY, 0, NULL, FIXTURE_SLOTS);
    assert_false(sessions_settled(&f->sv.sessions));
    assert_int_not_equal(fixture_asked(f, LAUNCH_START).slot, 1); /* the self-test */
    say_warm(f, holder, HOLD_WARM_READY, "");
    assert_int_equal(fixture_asked(f, LAUNCH_STOP).slot, 1);
    assert_true(sessions_settled(&f->sv.sessions));
    assert_int_equal(f->sv.sessions.table.count, 0);
    close(holder);
}

static void short_memory_costs_a_cold_start(void **state)
{
    struct fixture *f = *state;
    unsigned long n;

    for (n = 1; n <= 2; n++) { /* for the session, for the connection */
        struct launch_msg m;
        int waits = make_ready(f, &m);
        struct asker a;

        oom_fail_at(n);
        asker_ask(f, &a, ME);
        assert_true(oom_hit());
        oom_off();
        starts_anew(f, &a, m.slot);
        sessions_end(&f->sv.sessions, session_table_find(&f->sv.sessions.table, &a.request.id), HOLD_REASON_STOPPED,
                     NULL);
        fixture_tell(f, LAUNCH_CLEAN, fixture_asked(f, LAUNCH_STOP).slot, NULL, 0);
        fixture_close_holder(f, m.slot);
        close(waits);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(none_is_made_before_the_sandbox_was_tried, setup_unready, teardown),
        cmocka_unit_test_setup_teardown(they_are_made_one_after_another_and_are_no_sessions, setup, teardown),
        cmocka_unit_test_setup_teardown(a_session_takes_one_and_another_is_made_when_it_listens, setup_one, teardown),
        cmocka_unit_test_setup_teardown(one_that_loads_is_better_than_none, setup_one, teardown),
        cmocka_unit_test_setup_teardown(one_that_is_gone_when_it_is_taken_costs_a_cold_start, setup_one, teardown),
        cmocka_unit_test_setup_teardown(one_that_goes_while_it_is_taken_costs_a_cold_start, setup_one, teardown),
        cmocka_unit_test_setup_teardown(one_that_says_it_is_somebody_else_costs_a_cold_start, setup_one, teardown),
        cmocka_unit_test_setup_teardown(one_that_does_not_answer_costs_a_cold_start, setup_one, teardown),
        cmocka_unit_test_setup_teardown(an_end_overtakes_the_taking, setup_one, teardown),
        cmocka_unit_test_setup_teardown(who_asked_for_it_and_went_leaves_nothing, setup_one, teardown),
        cmocka_unit_test_setup_teardown(those_that_wait_are_in_nobodys_way, setup, teardown),
        cmocka_unit_test_setup_teardown(whoever_needs_the_slot_that_one_is_made_in_gets_it, setup_one, teardown),
        cmocka_unit_test_setup_teardown(what_cannot_be_made_is_tried_again_with_growing_pauses, setup_one, teardown),
        cmocka_unit_test_setup_teardown(a_launcher_that_cannot_start_it_is_asked_again_later, setup, teardown),
        cmocka_unit_test_setup_teardown(a_holder_that_ends_or_talks_nonsense_is_replaced, setup_one, teardown),
        cmocka_unit_test_setup_teardown(a_slot_that_is_told_clean_twice_stays_taken, setup, teardown),
        cmocka_unit_test_setup_teardown(a_drained_service_makes_none, setup, teardown),
        cmocka_unit_test_setup_teardown(other_settings_replace_those_that_wait, setup_one, teardown),
        cmocka_unit_test_setup_teardown(a_launcher_that_comes_back_clears_what_waited, setup_one, teardown),
        cmocka_unit_test_setup_teardown(one_that_a_former_supervisor_left_is_replaced, setup_unready, teardown),
        cmocka_unit_test_setup_teardown(short_memory_costs_a_cold_start, setup_one, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
