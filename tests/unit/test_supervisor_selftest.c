#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "shared/base/mem.h"
#include "shared/base/time.h"
#include "shared/ipc/wire.h"
#include "tests/support/supervisor_fixture.h"

static struct selftest *test_of(struct fixture *f)
{
    return &f->sv.sessions.selftest;
}

static int setup(void **state)
{
    struct fixture *f = mem_zalloc(1, sizeof(*f));

    assert_non_null(f);
    fixture_open(f);
    sessions_start(&f->sv.sessions);
    fixture_connect_launcher(f);
    fixture_tell_slot(f, 2, LAUNCH_SLOT_FREE, NULL);
    fixture_tell(f, LAUNCH_READY, 0, NULL, FIXTURE_SLOTS);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture_close(*state);
    mem_free(*state);
    return 0;
}

/* Up to the question; the holder's end of it. */
static int until_probe(struct fixture *f)
{
    struct launch_msg m = fixture_asked(f, LAUNCH_START);
    uint16_t type;
    auto_buf struct buf b;
    int fd;

    buf_init(&b, 64);
    assert_int_equal(m.slot, 2);
    fixture_open_holder(f, 2);
    fixture_tell(f, LAUNCH_STARTED, 2, &m.id, 1);
    fd = fixture_accept_holder(f, 2);
    assert_int_equal(fixture_recv(f, fd, &type, &b, NULL), 1);
    assert_int_equal(type, HOLD_PROBE);
    return fd;
}

static void answer(struct fixture *f, int fd, bool ok, const char *reason)
{
    auto_buf struct buf b;

    buf_init(&b, 1024);
    wire_put_u8(&b, ok);
    wire_put_str(&b, reason);
    fixture_send(fd, HOLD_PROBED, b.data, b.len);
    fixture_turn(f);
    close(fd);
}

static void it_passes_when_the_sandbox_stood_and_the_slot_is_clean(void **state)
{
    struct fixture *f = *state;

    answer(f, until_probe(f), true, "");
    assert_int_equal(fixture_asked(f, LAUNCH_STOP).slot, 2);
    assert_false(selftest_allows(test_of(f))); /* the place is not free yet */
    fixture_tell(f, LAUNCH_CLEAN, 2, NULL, 0);
    assert_true(selftest_allows(test_of(f)));
    assert_string_equal(test_of(f)->verdict, "ok");
    assert_false(selftest_owns(test_of(f), 2));
    fixture_asked_nothing(f);
}

static void its_reason_is_the_verdict(void **state)
{
    struct fixture *f = *state;

    answer(f, until_probe(f), false, "no user namespaces; try sysctl");
    assert_string_equal(test_of(f)->verdict, "unavailable: no user namespaces; try sysctl");
    fixture_asked(f, LAUNCH_STOP);
    fixture_tell(f, LAUNCH_CLEAN, 2, NULL, 0);
    assert_false(selftest_allows(test_of(f)));
    assert_true(ev_is_active(&test_of(f)->timer)); /* it will be tried again */
}

static void a_start_that_fails_is_a_failure(void **state)
{
    struct fixture *f = *state;
    struct launch_msg m = fixture_asked(f, LAUNCH_START);

    fixture_tell(f, LAUNCH_FAILED, 2, &m.id, 13);
    assert_non_null(strstr(test_of(f)->verdict, "Permission denied"));
    assert_int_equal(slots_state(&f->sv.sessions.slots, 2), SLOT_FREE);
    assert_true(ev_is_active(&test_of(f)->timer));
}

static void a_holder_without_an_answer_is_a_failure(void **state)
{
    struct fixture *f = *state;

    close(until_probe(f));
    fixture_wait(f, !strncmp(test_of(f)->verdict, "unavailable: the self-test's holder did not answer", 50));
    fixture_asked(f, LAUNCH_STOP);
}

static void nonsense_is_a_failure(void **state)
{
    struct fixture *f = *state;
    int fd = until_probe(f);

    fixture_send(fd, HOLD_PROBED, "\x07", 1);
    fixture_asked(f, LAUNCH_STOP);
    assert_false(selftest_allows(test_of(f)));
    close(fd);
}

static void a_holder_that_ended_is_a_failure(void **state)
{
    struct fixture *f = *state;
    int fd = until_probe(f);

    fixture_tell(f, LAUNCH_EXITED, 2, &test_of(f)->id, 11);
    fixture_asked(f, LAUNCH_STOP);
    assert_non_null(strstr(test_of(f)->verdict, "ended"));
    close(fd);
}

static void what_cannot_be_killed_is_no_proof(void **state)
{
    struct fixture *f = *state;

    answer(f, until_probe(f), true, "");
    fixture_asked(f, LAUNCH_STOP);
    fixture_tell(f, LAUNCH_QUARANTINED, 2, NULL, 1);
    assert_false(selftest_allows(test_of(f)));
}

static void it_waits_for_a_free_slot(void **state)
{
    struct fixture *f = *state;

    fixture_asked(f, LAUNCH_START);
    shutdown(f->launcher, SHUT_RDWR);
    fixture_connect_launcher(f);
    assert_false(selftest_allows(test_of(f)));
    fixture_tell_slot(f, 2, LAUNCH_SLOT_QUARANTINED, NULL);
    fixture_tell(f, LAUNCH_READY, 0, NULL, FIXTURE_SLOTS);
    fixture_asked_nothing(f);
    fixture_tell(f, LAUNCH_CLEAN, 2, NULL, 0);
    fixture_asked(f, LAUNCH_START);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(it_passes_when_the_sandbox_stood_and_the_slot_is_clean, setup, teardown),
        cmocka_unit_test_setup_teardown(its_reason_is_the_verdict, setup, teardown),
        cmocka_unit_test_setup_teardown(a_start_that_fails_is_a_failure, setup, teardown),
        cmocka_unit_test_setup_teardown(a_holder_without_an_answer_is_a_failure, setup, teardown),
        cmocka_unit_test_setup_teardown(nonsense_is_a_failure, setup, teardown),
        cmocka_unit_test_setup_teardown(a_holder_that_ended_is_a_failure, setup, teardown),
        cmocka_unit_test_setup_teardown(what_cannot_be_killed_is_no_proof, setup, teardown),
        cmocka_unit_test_setup_teardown(it_waits_for_a_free_slot, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
