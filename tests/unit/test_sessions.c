#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "shared/base/mem.h"
#include "shared/base/time.h"
#include "shared/ipc/version.h"
#include "shared/ipc/wire.h"
#include "tests/support/oom.h"
#include "tests/support/supervisor_fixture.h"

#define ME "ip:192.0.2.1"

static int setup(void **state)
{
    struct fixture *f = mem_zalloc(1, sizeof(*f));

    assert_non_null(f);
    fixture_open(f);
    *state = f;
    return 0;
}

static int setup_ready(void **state)
{
    setup(state);
    fixture_ready(*state);
    return 0;
}

static int teardown(void **state)
{
    fixture_close(*state);
    mem_free(*state);
    return 0;
}

static void nothing_starts_before_launcher_and_sandbox_are_there(void **state)
{
    struct fixture *f = *state;
    struct launch_msg m;
    struct asker a;

    asker_ask(f, &a, ME);
    assert_int_equal(a.told, 1);
    assert_int_equal(a.err.kind, ERR_UNAVAILABLE);
    sessions_start(&f->sv.sessions);
    fixture_connect_launcher(f);
    fixture_tell_slot(f, 0, LAUNCH_SLOT_FREE, NULL);
    fixture_tell(f, LAUNCH_READY, 0, NULL, FIXTURE_SLOTS);
    asker_ask(f, &a, ME);
    assert_int_equal(a.told, 0); /* it is just being tried */
    m = fixture_asked(f, LAUNCH_START);
    fixture_tell(f, LAUNCH_FAILED, m.slot, &m.id, EPERM);
    assert_int_equal(a.told, 1);
    assert_int_equal(a.err.kind, ERR_UNAVAILABLE);
    assert_non_null(strstr(a.err.msg, "sandbox"));
    asker_ask(f, &a, ME);
    assert_int_equal(a.told, 1);
    assert_int_equal(a.err.kind, ERR_UNAVAILABLE);
}

static void a_start_waits_while_the_sandbox_is_tried(void **state)
{
    struct fixture *f = *state;
    struct launch_msg m;
    struct asker a, b;
    auto_buf struct buf yes;
    int probe;

    buf_init(&yes, 64);
    wire_put_u8(&yes, 1);
    wire_put_str(&yes, "");
    sessions_start(&f->sv.sessions);
    fixture_connect_launcher(f);
    fixture_tell_slot(f, 0, LAUNCH_SLOT_FREE, NULL);
    fixture_tell(f, LAUNCH_READY, 0, NULL, FIXTURE_SLOTS);
    m = fixture_asked(f, LAUNCH_START);
    asker_ask(f, &a, ME);
    asker_ask(f, &b, "ip:192.0.2.2");
    fixture_open_holder(f, m.slot);
    fixture_tell(f, LAUNCH_STARTED, m.slot, &m.id, 1);
    probe = fixture_accept_holder(f, m.slot);
    fixture_send(probe, HOLD_PROBED, yes.data, yes.len);
    fixture_asked(f, LAUNCH_STOP);
    close(probe);
    fixture_close_holder(f, m.slot);
    fixture_tell(f, LAUNCH_CLEAN, m.slot, NULL, 0);
    m = fixture_asked(f, LAUNCH_START);
    assert_true(id_equal(&m.id, &a.request.id)); /* first come, first served, in the one place there is */
    assert_int_equal(a.told, 0);
    assert_int_equal(b.told, 1);
    assert_int_equal(b.err.kind, ERR_LIMIT);
    create_cancel(&a.request);
}

static void a_detached_session_makes_room_and_the_new_one_waits_for_it(void **state)
{
    struct fixture *f = *state;
    struct session *old, *foreign;
    struct launch_msg m;
    struct asker a, b;
    int control, other, browser;

    old = fixture_session(f, ME, &control);
    foreign = fixture_session(f, "ip:192.0.2.2", &other);
    asker_ask(f, &a, ME);
    assert_int_equal(a.err.kind, ERR_LIMIT); /* alive, so it stays */
    sessions_attach(old, (struct browser *)(void *)&browser);
    sessions_detach(old, (struct browser *)(void *)&browser);
    assert_int_equal(old->state, SESSION_DETACHED);
    asker_ask(f, &b, ME);
    assert_int_equal(b.told, 0);
    assert_int_equal(old->state, SESSION_STOPPING);
    fixture_asked(f, LAUNCH_STOP);
    fixture_asked_nothing(f);
    fixture_tell(f, LAUNCH_CLEAN, old->slot, NULL, 0);
    m = fixture_asked(f, LAUNCH_START);
    assert_true(id_equal(&m.id, &b.request.id));
    assert_int_equal(foreign->state, SESSION_READY);
    waiter_cancel(&b.request.waiter);
    close(control);
    close(other);
}

static void a_start_that_nobody_waits_for_is_undone(void **state)
{
    struct fixture *f = *state;
    struct launch_msg m;
    struct asker a;

    asker_ask(f, &a, ME);
    m = fixture_asked(f, LAUNCH_START);
    waiter_cancel(&a.request.waiter);
    fixture_tell(f, LAUNCH_STARTED, m.slot, &m.id, 1);
    assert_int_equal(fixture_asked(f, LAUNCH_STOP).slot, m.slot);
    fixture_tell(f, LAUNCH_CLEAN, m.slot, NULL, 0);
    assert_int_equal(f->sv.sessions.table.count, 0);
    assert_int_equal(a.told, 0);
}

static void a_holder_out_of_reach_fails_the_start(void **state)
{
    struct fixture *f = *state;
    struct launch_msg m;
    struct asker a;

    asker_ask(f, &a, ME);
    m = fixture_asked(f, LAUNCH_START);
    fixture_tell(f, LAUNCH_STARTED, m.slot, &m.id, 1); /* but no socket is there */
    assert_int_equal(a.told, 1);
    assert_int_equal(a.err.kind, ERR_UNAVAILABLE);
    assert_int_equal(fixture_asked(f, LAUNCH_STOP).slot, m.slot);
    assert_int_equal(f->sv.sessions.metrics.ends[HOLD_REASON_START_FAILED], 0); /* it counts as a start that failed */
}

static void an_end_waits_for_the_good_bye_then_for_the_slot(void **state)
{
    struct fixture *f = *state;
    struct asker a;
    struct session *s;
    uint16_t type;
    auto_buf struct buf b;
    int control, browser;

    buf_init(&b, 64);
    asker_init(&a);
    s = fixture_session(f, ME, &control);
    sessions_attach(s, (struct browser *)(void *)&browser);
    sessions_end(&f->sv.sessions, s, HOLD_REASON_STOPPED, &a.end);
    sessions_end(&f->sv.sessions, s, HOLD_REASON_EXPIRED, NULL); /* the second changes nothing */
    assert_int_equal(fixture_recv(f, control, &type, &b, NULL), 1);
    assert_int_equal(type, HOLD_END);
    assert_int_equal(b.data[0], HOLD_REASON_STOPPED);
    fixture_asked_nothing(f);
    assert_false(session_can_attach(s));
    fixture_send(control, HOLD_GONE, (const char[]){ HOLD_REASON_STOPPED, 0, 0, 0, 0 }, 5);
    fixture_send(control, HOLD_DONE, NULL, 0);
    fixture_asked(f, LAUNCH_STOP);
    assert_int_equal(s->reason, HOLD_REASON_STOPPED);
    assert_int_equal(a.ended, 0);
    fixture_tell(f, LAUNCH_CLEAN, s->slot, NULL, 0);
    assert_int_equal(a.ended, 1);
    assert_int_equal(a.err.kind, ERR_NONE);
    assert_int_equal(f->sv.sessions.metrics.ends[HOLD_REASON_STOPPED], 1);
    close(control);
}

static void an_end_without_a_listener_is_immediate(void **state)
{
    struct fixture *f = *state;
    struct session *s;
    int control;

    s = fixture_session(f, ME, &control);
    sessions_end(&f->sv.sessions, s, HOLD_REASON_STOPPED, NULL);
    assert_int_equal(s->state, SESSION_STOPPING);
    fixture_asked(f, LAUNCH_STOP);
    assert_int_equal(f->sv.sessions.metrics.ends[HOLD_REASON_STOPPED], 1);
    fixture_tell(f, LAUNCH_CLEAN, s->slot, NULL, 0);
    assert_int_equal(f->sv.sessions.metrics.ends[HOLD_REASON_STOPPED], 1);
    close(control);
}

static void what_an_earlier_supervisor_left_is_found(void **state)
{
    struct fixture *f = *state;
    struct id mine = { { 1 } }, stranger = { { 2 } };
    struct session *s;
    struct err err;
    int control;

    fixture_open_holder(f, 1);
    sessions_start(&f->sv.sessions);
    fixture_connect_launcher(f);
    fixture_tell_slot(f, 0, LAUNCH_SLOT_FREE, NULL);
    fixture_tell_slot(f, 1, LAUNCH_SLOT_BUSY, &mine);
    fixture_tell_slot(f, 2, LAUNCH_SLOT_BUSY, &stranger); /* nobody listens there */
    fixture_tell(f, LAUNCH_READY, 0, NULL, FIXTURE_SLOTS);
    assert_int_equal(fixture_asked(f, LAUNCH_STOP).slot, 2);
    control = fixture_accept_holder(f, 1);
    s = session_table_find(&f->sv.sessions.table, &mine);
    assert_non_null(s);
    assert_null(sessions_find(&f->sv.sessions, &mine, "?", &err)); /* nobody's until it has said whose */
    assert_false(session_can_attach(s));
    fixture_identify(f, control, &mine, ME);
    fixture_phase(f, control, HOLD_READY);
    fixture_wait(f, s->state == SESSION_DETACHED);
    assert_ptr_equal(sessions_find(&f->sv.sessions, &mine, ME, &err), s);
    assert_int_equal(s->frames, 5);
    close(control);
}

static void a_found_holder_that_belongs_to_nobody_is_stopped(void **state)
{
    struct fixture *f = *state;
    struct id mine = { { 1 } };
    int control;

    fixture_open_holder(f, 1);
    sessions_start(&f->sv.sessions);
    fixture_connect_launcher(f);
    fixture_tell_slot(f, 1, LAUNCH_SLOT_BUSY, &mine);
    fixture_tell(f, LAUNCH_READY, 0, NULL, FIXTURE_SLOTS);
    control = fixture_accept_holder(f, 1);
    fixture_identify(f, control, &mine, "");
    assert_int_equal(fixture_asked(f, LAUNCH_STOP).slot, 1);
    close(control);
}

static void a_new_inventory_corrects_what_we_believe(void **state)
{
    struct fixture *f = *state;
    struct id other = { { 7 } };
    struct session *kept, *lost;
    uint32_t third;
    int control, second;

    kept = fixture_session(f, ME, &control);
    lost = fixture_session(f, "ip:192.0.2.2", &second);
    third = 0 + 1 + 2 - kept->slot - lost->slot;
    shutdown(f->launcher, SHUT_RDWR);
    fixture_connect_launcher(f);
    assert_int_equal(kept->state, SESSION_READY); /* the channel says nothing about sessions */
    fixture_tell_slot(f, kept->slot, LAUNCH_SLOT_BUSY, &kept->id);
    fixture_tell_slot(f, lost->slot, LAUNCH_SLOT_FREE, NULL);
    fixture_tell_slot(f, third, LAUNCH_SLOT_BUSY, &other); /* known to nobody, and too late to be from before */
    fixture_tell(f, LAUNCH_READY, 0, NULL, FIXTURE_SLOTS);
    assert_int_equal(f->sv.sessions.table.count, 1);
    assert_int_equal(kept->state, SESSION_READY);
    assert_int_equal(fixture_asked(f, LAUNCH_STOP).slot, third);
    close(control);
    close(second);
}

/* The next launcher is still at it: no process has refused to end so far. */
static void what_is_being_cleaned_after_a_restart_is_not_quarantined(void **state)
{
    struct fixture *f = *state;
    struct session *kept, *ended;
    struct asker a;
    struct launch_msg m = { .magic = LAUNCH_MAGIC, .op = LAUNCH_SLOT, .state = LAUNCH_SLOT_QUARANTINED, .value = 1 };
    int control, second;

    kept = fixture_session(f, ME, &control);
    ended = fixture_session(f, "ip:192.0.2.2", &second);
    asker_init(&a);
    sessions_end(&f->sv.sessions, ended, HOLD_REASON_STOPPED, &a.end);
    assert_int_equal(fixture_asked(f, LAUNCH_STOP).slot, ended->slot);
    shutdown(f->launcher, SHUT_RDWR);
    fixture_connect_launcher(f);
    for (m.slot = 0; m.slot < FIXTURE_SLOTS; m.slot++) /* all three, the last without anybody we know of */
        assert_int_equal(send(f->launcher, &m, sizeof(m), MSG_NOSIGNAL), sizeof(m));
    fixture_tell(f, LAUNCH_READY, 0, NULL, FIXTURE_SLOTS);
    fixture_wait(f, kept->state == SESSION_STOPPING);
    assert_int_equal(f->sv.sessions.slots.quarantined, 0);
    assert_int_equal(a.ended, 0);
    assert_int_equal(f->sv.sessions.table.count, 2);
    fixture_tell(f, LAUNCH_CLEAN, ended->slot, NULL, 0);
    assert_int_equal(a.ended, 1);
    assert_int_equal(a.err.kind, ERR_NONE);
    fixture_tell(f, LAUNCH_QUARANTINED, kept->slot, NULL, 1);
    assert_int_equal(f->sv.sessions.table.count, 0);
    assert_int_equal(f->sv.sessions.slots.quarantined, 1);
    close(control);
    close(second);
}

/* Somebody changed the settings, and then the supervisor died. */
static void the_launcher_knows_how_many_places_there_are(void **state)
{
    struct fixture *f = *state;
    uint32_t i;

    sessions_start(&f->sv.sessions);
    fixture_connect_launcher(f);
    for (i = 0; i < FIXTURE_SLOTS + 3; i++)
        fixture_tell_slot(f, i, LAUNCH_SLOT_FREE, NULL);
    fixture_tell(f, LAUNCH_READY, 0, NULL, FIXTURE_SLOTS + 3);
    assert_int_equal(f->sv.sessions.slots.count, FIXTURE_SLOTS + 3);
    assert_int_equal(f->sv.sessions.slots.free, FIXTURE_SLOTS + 2); /* but for the self-test's */
}

static void tell_foreign(int control)
{
    auto_buf struct buf b;

    buf_init(&b, 64);
    wire_put_u32(&b, IPC_VERSION + 2);
    wire_put_u32(&b, IPC_VERSION + 1);
    fixture_send(control, HOLD_VERSION, b.data, b.len);
}

static void a_holder_that_we_do_not_understand_ends_and_its_owner_can_tell(void **state)
{
    struct fixture *f = *state;
    struct id mine = { { 1 } };
    struct rpc_session told;
    struct err err;
    int control;

    fixture_open_holder(f, 1);
    sessions_start(&f->sv.sessions);
    fixture_connect_launcher(f);
    fixture_tell_slot(f, 1, LAUNCH_SLOT_BUSY, &mine);
    fixture_tell(f, LAUNCH_READY, 0, NULL, FIXTURE_SLOTS);
    control = fixture_accept_holder(f, 1);
    tell_foreign(control);
    fixture_turn(f);
    fixture_identify(f, control, &mine, ME);
    fixture_send(control, HOLD_DONE, NULL, 0); /* it knows how to end */
    fixture_wait(f, session_table_find(&f->sv.sessions.table, &mine)->state == SESSION_STOPPING);
    fixture_tell(f, LAUNCH_CLEAN, 1, NULL, 0);
    assert_int_equal(f->sv.sessions.table.count, 0);
    assert_int_equal(sessions_describe(&f->sv.sessions, &mine, ME, &told, &err), 0);
    assert_string_equal(told.exit_reason, "stopped");
    close(control);
}

static void a_launcher_that_we_do_not_understand_is_told_to_whoever_asks(void **state)
{
    struct fixture *f = *state;
    struct launch_msg m = { .magic = LAUNCH_MAGIC,
                            .op = LAUNCH_READY,
                            .slot = launch_version(IPC_VERSION + 2, IPC_VERSION + 1),
                            .value = FIXTURE_SLOTS };
    struct asker a;

    sessions_start(&f->sv.sessions);
    fixture_connect_launcher(f);
    assert_int_equal(send(f->launcher, &m, sizeof(m), MSG_NOSIGNAL), sizeof(m));
    fixture_wait(f, f->sv.sessions.launch.foreign);
    asker_ask(f, &a, ME);
    assert_int_equal(a.told, 1);
    assert_int_equal(a.err.kind, ERR_UNAVAILABLE);
    assert_non_null(strstr(a.err.msg, "another version"));
}

static void a_session_that_was_starting_ends_with_the_channel(void **state)
{
    struct fixture *f = *state;
    struct asker a;

    asker_ask(f, &a, ME);
    fixture_asked(f, LAUNCH_START);
    shutdown(f->launcher, SHUT_RDWR);
    fixture_wait(f, a.told == 1);
    assert_int_equal(a.err.kind, ERR_INTERNAL);
    assert_int_equal(f->sv.sessions.table.count, 0);
    assert_false(selftest_allows(&f->sv.sessions.selftest)); /* to be proven again */
}

/* A whole life in which the n-th allocation of ours fails: did it come to that? */
static bool live_with_failure(unsigned long n)
{
    struct fixture *f;
    struct asker a;
    struct launch_msg m = { 0 };
    bool hit;

    setup_ready((void **)&f);
    oom_fail_at(n);
    asker_ask(f, &a, ME);
    hit = oom_hit();
    oom_off();
    if (a.told) {
        assert_int_equal(a.err.kind, ERR_INTERNAL);
        assert_int_equal(f->sv.sessions.table.count, 0);
    } else {
        m = fixture_asked(f, LAUNCH_START);
        fixture_open_holder(f, m.slot);
        oom_fail_at(n);
        fixture_tell(f, LAUNCH_STARTED, m.slot, &m.id, 1);
        hit = oom_hit() || hit;
        oom_off();
        assert_int_equal(a.told, 1);
        if (a.err.kind != ERR_NONE)
            fixture_asked(f, LAUNCH_STOP);
    }
    teardown((void **)&f);
    return hit;
}

static void without_memory_a_start_fails_and_nothing_stays(void **state)
{
    unsigned long n = 1;

    (void)state;
    while (live_with_failure(n))
        n++;
    assert_true(n > 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nothing_starts_before_launcher_and_sandbox_are_there, setup, teardown),
        cmocka_unit_test_setup_teardown(a_start_waits_while_the_sandbox_is_tried, setup, teardown),
        cmocka_unit_test_setup_teardown(a_detached_session_makes_room_and_the_new_one_waits_for_it, setup_ready,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_start_that_nobody_waits_for_is_undone, setup_ready, teardown),
        cmocka_unit_test_setup_teardown(a_holder_out_of_reach_fails_the_start, setup_ready, teardown),
        cmocka_unit_test_setup_teardown(an_end_waits_for_the_good_bye_then_for_the_slot, setup_ready, teardown),
        cmocka_unit_test_setup_teardown(an_end_without_a_listener_is_immediate, setup_ready, teardown),
        cmocka_unit_test_setup_teardown(what_an_earlier_supervisor_left_is_found, setup, teardown),
        cmocka_unit_test_setup_teardown(a_found_holder_that_belongs_to_nobody_is_stopped, setup, teardown),
        cmocka_unit_test_setup_teardown(a_new_inventory_corrects_what_we_believe, setup_ready, teardown),
        cmocka_unit_test_setup_teardown(what_is_being_cleaned_after_a_restart_is_not_quarantined, setup_ready,
                                        teardown),
        cmocka_unit_test_setup_teardown(the_launcher_knows_how_many_places_there_are, setup, teardown),
        cmocka_unit_test_setup_teardown(a_holder_that_we_do_not_understand_ends_and_its_owner_can_tell, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_launcher_that_we_do_not_understand_is_told_to_whoever_asks, setup, teardown),
        cmocka_unit_test_setup_teardown(a_session_that_was_starting_ends_with_the_channel, setup_ready, teardown),
        cmocka_unit_test(without_memory_a_start_fails_and_nothing_stays),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
