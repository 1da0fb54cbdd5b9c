#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "shared/base/mem.h"
#include "supervisor/session.h"
#include "tests/support/oom.h"

static unsigned entered[SESSION__MAX];

static void count_entry(struct session *s)
{
    entered[s->state]++;
}

static const struct session_actions counting = { {
    [SESSION_STARTING] = count_entry,
    [SESSION_STOPPING] = count_entry,
    [SESSION_GONE] = count_entry,
} };

static int setup(void **state)
{
    struct id id = { { 0xab } };

    memset(entered, 0, sizeof(entered));
    *state = session_new(&id, "ip:192.0.2.1", 3, &counting, NULL);
    return *state ? 0 : -1;
}

static int teardown(void **state)
{
    session_free(*state);
    return 0;
}

static void a_life_passes_the_states_in_order(void **state)
{
    static const enum session_state life[] = { SESSION_STARTING, SESSION_READY,    SESSION_ATTACHED, SESSION_DETACHED,
                                               SESSION_ATTACHED, SESSION_STOPPING, SESSION_GONE };
    struct session *s = *state;
    size_t i;

    assert_int_equal(s->state, SESSION_NEW);
    for (i = 0; i < ARRAY_LEN(life); i++) {
        assert_true(session_may(s, life[i]));
        session_set_state(s, life[i]);
        assert_int_equal(s->state, life[i]);
    }
}

static void exit_actions_run_once(void **state)
{
    struct session *s = *state;

    session_set_state(s, SESSION_STARTING);
    session_set_state(s, SESSION_STOPPING);
    session_set_state(s, SESSION_STOPPING);
    session_set_state(s, SESSION_GONE);
    session_set_state(s, SESSION_GONE); /* a late notice: no second entry */
    assert_int_equal(entered[SESSION_STARTING], 1);
    assert_int_equal(entered[SESSION_STOPPING], 1);
    assert_int_equal(entered[SESSION_GONE], 1);
}

static void nothing_comes_back_from_its_end(void **state)
{
    struct session *s = *state;
    unsigned to;

    session_set_state(s, SESSION_STOPPING);
    for (to = 0; to < SESSION__MAX; to++)
        assert_int_equal(session_may(s, to), to == SESSION_GONE);
    session_set_state(s, SESSION_GONE);
    for (to = 0; to < SESSION__MAX; to++)
        assert_false(session_may(s, to));
}

static void a_browser_may_come_before_the_agent_is_ready(void **state)
{
    struct session *s = *state;

    assert_false(session_can_attach(s)); /* no holder yet */
    session_set_state(s, SESSION_STARTING);
    assert_true(session_can_attach(s));
    session_set_state(s, SESSION_ATTACHED);
    session_set_state(s, SESSION_DETACHED);
    assert_true(session_can_attach(s));
}

static void who_was_left_or_ends_does_not_count_for_the_cap(void **state)
{
    struct session *s = *state;

    assert_true(session_counts(s));
    session_set_state(s, SESSION_STARTING);
    assert_true(session_counts(s)); /* not attached yet is not left */
    session_set_state(s, SESSION_READY);
    session_set_state(s, SESSION_ATTACHED);
    assert_true(session_counts(s));
    session_set_state(s, SESSION_DETACHED);
    assert_false(session_counts(s));
    session_set_state(s, SESSION_ATTACHED);
    s->reason = HOLD_REASON_EXITED;
    assert_false(session_counts(s));
    assert_true(session_can_attach(s)); /* its last frames can still be fetched */
    assert_false(session_is_leaving(s));
    s->ending = true;
    assert_true(session_is_leaving(s));
    assert_false(session_can_attach(s));
}

static void a_description_tells_state_and_reason(void **state)
{
    struct session *s = *state;
    struct rpc_session d;

    s->reason = HOLD_REASON_SIGNALED;
    s->code = 9;
    s->started_wall_ms = 1000;
    session_describe(s, &d);
    assert_true(id_equal(&d.id, &s->id));
    assert_string_equal(d.actor, "ip:192.0.2.1");
    assert_string_equal(d.state, "NEW");
    assert_string_equal(d.exit_reason, "signaled");
    assert_int_equal(d.exit_code, 9);
    assert_int_equal(d.started_wall_ms, 1000);
    assert_int_equal(d.slot, 3);
    assert_false(d.attached);
    assert_string_equal(session_state_name(SESSION__MAX), "");
}

static void without_memory_there_is_no_session(void **state)
{
    struct id id = { { 1 } };

    (void)state;
    OOM_SWEEP(session_free(session_new(&id, "internal", 0, &counting, NULL)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_life_passes_the_states_in_order, setup, teardown),
        cmocka_unit_test_setup_teardown(exit_actions_run_once, setup, teardown),
        cmocka_unit_test_setup_teardown(nothing_comes_back_from_its_end, setup, teardown),
        cmocka_unit_test_setup_teardown(a_browser_may_come_before_the_agent_is_ready, setup, teardown),
        cmocka_unit_test_setup_teardown(who_was_left_or_ends_does_not_count_for_the_cap, setup, teardown),
        cmocka_unit_test_setup_teardown(a_description_tells_state_and_reason, setup, teardown),
        cmocka_unit_test(without_memory_there_is_no_session),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
