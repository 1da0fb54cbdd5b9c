#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "supervisor/ended.h"
#include "tests/support/oom.h"

static const struct session_actions none;

static struct id add(struct ended *e, const char *actor, enum hold_reason reason, int64_t now_ms)
{
    struct session *s;
    struct id id;

    id_new(&id);
    s = session_new(&id, actor, 3, &none, NULL);
    assert_non_null(s);
    s->reason = reason;
    s->code = 9;
    s->frames = 7;
    s->state = SESSION_GONE;
    ended_add(e, s, now_ms);
    session_free(s);
    return id;
}

static void an_owner_learns_why_and_nobody_else(void **state)
{
    struct rpc_session s;
    struct ended e;
    struct id id;

    (void)state;
    assert_int_equal(ended_init(&e), 0);
    id = add(&e, "ip:192.0.2.1", HOLD_REASON_SIGNALED, 1000);
    assert_true(ended_find(&e, &id, "ip:192.0.2.1", 1000, &s));
    assert_string_equal(s.exit_reason, "signaled");
    assert_string_equal(s.actor, "ip:192.0.2.1");
    assert_string_equal(s.state, "GONE");
    assert_int_equal(s.exit_code, 9);
    assert_int_equal(s.frames, 7);
    assert_false(s.attached);
    assert_false(ended_find(&e, &id, "ip:192.0.2.2", 1000, &s));
    id_new(&id);
    assert_false(ended_find(&e, &id, "ip:192.0.2.1", 1000, &s));
    ended_release(&e);
}

static void it_is_forgotten_after_a_while(void **state)
{
    struct rpc_session s;
    struct ended e;
    struct id id;

    (void)state;
    assert_int_equal(ended_init(&e), 0);
    id = add(&e, "internal", HOLD_REASON_EXPIRED, 5000);
    assert_true(ended_find(&e, &id, "internal", 5000 + ENDED_SECONDS * 1000 - 1, &s));
    assert_false(ended_find(&e, &id, "internal", 5000 + ENDED_SECONDS * 1000, &s));
    ended_release(&e);
}

static void the_newest_are_kept_however_many_end(void **state)
{
    struct id ids[ENDED_MAX + 5];
    struct rpc_session s;
    struct ended e;
    size_t i;

    (void)state;
    assert_int_equal(ended_init(&e), 0);
    for (i = 0; i < ENDED_MAX + 5; i++)
        ids[i] = add(&e, "internal", HOLD_REASON_EXITED, 100);
    for (i = 0; i < ENDED_MAX + 5; i++)
        assert_int_equal(ended_find(&e, &ids[i], "internal", 100, &s), i >= 5);
    ended_release(&e);
}

static void without_memory_there_is_none(void **state)
{
    struct ended e;

    (void)state;
    oom_fail_at(1);
    assert_int_equal(ended_init(&e), -1);
    oom_off();
    ended_release(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_owner_learns_why_and_nobody_else),
        cmocka_unit_test(it_is_forgotten_after_a_while),
        cmocka_unit_test(the_newest_are_kept_however_many_end),
        cmocka_unit_test(without_memory_there_is_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
