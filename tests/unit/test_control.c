#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "shared/base/mem.h"
#include "shared/base/time.h"
#include "shared/ipc/version.h"
#include "shared/ipc/wire.h"
#include "supervisor/control.h"
#include "tests/support/oom.h"
#include "tests/support/supervisor_fixture.h"

/* A control connection to the holder in slot 0, and what came of it. */
struct talk {
    struct fixture f;
    struct control *control;
    int holder;
    int said, lost, silent;
    bool closes; /* the handler closes at the first word */
};

static void on_said(void *owner, const struct hold_event *e)
{
    struct talk *t = owner;

    (void)e;
    t->said++;
    if (t->closes) {
        control_close(t->control);
        t->control = NULL;
    }
}

static void on_lost(void *owner, const char *why)
{
    struct talk *t = owner;

    assert_true(why[0] != '\0');
    t->lost++;
}

static void on_silent(void *owner)
{
    struct talk *t = owner;

    t->silent++;
}

static const struct control_events events = { on_said, on_lost, on_silent };

static int setup(void **state)
{
    struct talk *t = mem_zalloc(1, sizeof(*t));
    char path[SESSIONS_PATH_MAX];
    struct err err;

    assert_non_null(t);
    fixture_open(&t->f);
    fixture_open_holder(&t->f, 0);
    sessions_holder_path(&t->f.sv.sessions, 0, path);
    t->control = control_open(t->f.sv.loop, path, HOLD_ROLE_CONTROL, &events, t, &err);
    assert_non_null(t->control);
    t->holder = fixture_accept_holder(&t->f, 0);
    *state = t;
    return 0;
}

static int teardown(void **state)
{
    struct talk *t = *state;

    control_close(t->control);
    if (t->holder >= 0)
        close(t->holder);
    fixture_close(&t->f);
    mem_free(t);
    return 0;
}

static void our_words_arrive_as_fields(void **state)
{
    struct talk *t = *state;
    struct wire_in in;
    uint16_t type;
    auto_buf struct buf b;

    buf_init(&b, 1024);
    assert_int_equal(control_claim(t->control, "ip:a", 1234, 5678), 0);
    assert_int_equal(control_end(t->control, HOLD_REASON_EXPIRED), 0);
    assert_int_equal(fixture_recv(&t->f, t->holder, &type, &b, NULL), 1);
    assert_int_equal(type, HOLD_CONTROL);
    wire_start(&in, b.data, b.len);
    assert_string_equal(wire_get_str(&in, 100), "ip:a");
    assert_int_equal(wire_get_u64(&in), 1234);
    assert_int_equal(wire_get_u64(&in), 5678);
    assert_int_equal(wire_end(&in), 0);
    assert_int_equal(fixture_recv(&t->f, t->holder, &type, &b, NULL), 1);
    assert_int_equal(type, HOLD_END);
    assert_int_equal(b.data[0], HOLD_REASON_EXPIRED);
}

static void each_word_is_an_event_and_the_end_is_the_last(void **state)
{
    struct talk *t = *state;

    fixture_phase(&t->f, t->holder, HOLD_STARTING);
    fixture_phase(&t->f, t->holder, HOLD_READY);
    fixture_send(t->holder, HOLD_DONE, NULL, 0);
    close(t->holder);
    t->holder = -1;
    fixture_wait(&t->f, t->lost);
    assert_int_equal(t->said, 3);
    fixture_turn(&t->f);
    assert_int_equal(t->lost, 1);
}

static void a_malformed_word_is_the_last(void **state)
{
    struct talk *t = *state;

    fixture_send(t->holder, HOLD_PHASE, "?", 1);
    fixture_send(t->holder, HOLD_DONE, NULL, 0);
    fixture_wait(&t->f, t->lost);
    fixture_turn(&t->f);
    fixture_turn(&t->f);
    assert_int_equal(t->said, 0);
    assert_int_equal(t->lost, 1);
}

static void a_handler_may_close(void **state)
{
    struct talk *t = *state;

    t->closes = true;
    fixture_phase(&t->f, t->holder, HOLD_STARTING);
    fixture_wait(&t->f, t->said);
    assert_null(t->control);
    assert_int_equal(t->said, 1);
    assert_int_equal(t->lost, 0);
}

static int await(struct talk *t)
{
    uint16_t type;
    auto_buf struct buf b;

    buf_init(&b, 1024);
    return fixture_recv(&t->f, t->holder, &type, &b, NULL) ? type : -1;
}

static void tell_version(struct talk *t, uint32_t version, uint32_t oldest)
{
    auto_buf struct buf b;

    buf_init(&b, 64);
    wire_put_u32(&b, version);
    wire_put_u32(&b, oldest);
    fixture_send(t->holder, HOLD_VERSION, b.data, b.len);
}

static void watch(struct talk *t, double pause)
{
    tell_version(t, IPC_VERSION, IPC_OLDEST);
    control_watch(t->control, pause);
    assert_int_equal(await(t), HOLD_VERSION);
}

static void who_answers_none_of_four_pings_is_silent(void **state)
{
    struct talk *t = *state;
    int i;

    watch(t, .005);
    for (i = 0; i < CONTROL_PINGS; i++)
        assert_int_equal(await(t), HOLD_PING);
    fixture_wait(&t->f, t->silent);
    for (i = 0; i < 10; i++)
        fixture_pass(&t->f);
    assert_int_equal(t->silent, 1);
    assert_int_equal(t->lost, 0);
    assert_int_equal(t->said, 0);
}

static void any_word_is_an_answer_and_pongs_are_no_event(void **state)
{
    struct talk *t = *state;
    int i;

    watch(t, .005);
    for (i = 0; i < 3 * CONTROL_PINGS; i++) {
        assert_int_equal(await(t), HOLD_PING);
        if (i % 2)
            fixture_send(t->holder, HOLD_PONG, NULL, 0);
        else
            fixture_phase(&t->f, t->holder, HOLD_READY);
    }
    assert_int_equal(t->silent, 0);
    assert_int_equal(t->said, 3 * CONTROL_PINGS / 2);
}

/* It stands still for longer than any holder may: one ping more than before is what that can cost. */
static void a_supervisor_that_stood_still_blames_nobody(void **state)
{
    const double pause = .005;
    struct talk *t = *state;
    struct timespec still = { .tv_nsec = 100000000 };
    int i, round;

    watch(t, pause);
    for (round = 0; round < 3; round++) {
        for (i = 0; i < CONTROL_PINGS - 1; i++)
            assert_int_equal(await(t), HOLD_PING);
        nanosleep(&still, NULL);
        fixture_turn(&t->f);
        assert_int_equal(await(t), HOLD_PING);
        assert_int_equal(t->silent, 0);
        fixture_send(t->holder, HOLD_PONG, NULL, 0);
        fixture_turn(&t->f);
    }
    close(t->holder);
    t->holder = -1;
    fixture_wait(&t->f, t->lost);
    for (i = 0; i < 10; i++)
        fixture_pass(&t->f);
    assert_int_equal(t->silent, 0);
    assert_int_equal(t->lost, 1);
}

static void who_never_says_a_word_is_silent_too(void **state)
{
    struct talk *t = *state;

    control_watch(t->control, .005);
    fixture_wait(&t->f, t->silent);
    assert_int_equal(t->lost, 0);
}

/* It would end its connection at a ping. */
static void who_does_not_tell_its_version_is_not_pinged(void **state)
{
    struct talk *t = *state;
    char byte;
    int i;

    control_watch(t->control, .001);
    fixture_phase(&t->f, t->holder, HOLD_READY);
    fixture_wait(&t->f, t->said);
    while (recv(t->holder, &byte, 1, MSG_DONTWAIT) > 0) /* before it spoke nothing could be told */
        fail_msg("a ping, or a version, for somebody who may not know them");
    for (i = 0; i < 20; i++)
        fixture_pass(&t->f);
    assert_int_equal(t->silent, 0);
    assert_int_equal(recv(t->holder, &byte, 1, MSG_DONTWAIT), -1);
}

static void what_a_newer_holder_says_is_skipped(void **state)
{
    struct talk *t = *state;

    tell_version(t, IPC_VERSION + 7, IPC_VERSION);
    assert_int_equal(await(t), HOLD_VERSION);
    fixture_send(t->holder, 999, "news", 4);
    fixture_phase(&t->f, t->holder, HOLD_READY);
    fixture_wait(&t->f, t->said);
    assert_int_equal(t->lost, 0);
    fixture_send(t->holder, HOLD_PHASE, "?", 1); /* what we know has to be as we know it */
    fixture_wait(&t->f, t->lost);
}

static void one_that_does_not_work_with_us_is_an_event(void **state)
{
    struct talk *t = *state;
    char byte;

    tell_version(t, IPC_VERSION + 7, IPC_VERSION + 1);
    fixture_wait(&t->f, t->said);
    assert_int_equal(t->lost, 0);
    assert_int_equal(recv(t->holder, &byte, 1, MSG_DONTWAIT), -1);
}

static void nobody_there_is_an_error(void **state)
{
    struct talk *t = *state;
    struct err err;

    assert_null(control_open(t->f.sv.loop, "/nonexistent", HOLD_ROLE_CONTROL, &events, t, &err));
    assert_int_equal(err.kind, ERR_UNAVAILABLE);
    OOM_SWEEP({
        char path[SESSIONS_PATH_MAX];
        struct control *c;

        sessions_holder_path(&t->f.sv.sessions, 0, path);
        c = control_open(t->f.sv.loop, path, HOLD_ROLE_CONTROL, &events, t, &err);
        if (c)
            control_claim(c, "ip:a", 1, 2);
        control_close(c);
    });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(our_words_arrive_as_fields, setup, teardown),
        cmocka_unit_test_setup_teardown(each_word_is_an_event_and_the_end_is_the_last, setup, teardown),
        cmocka_unit_test_setup_teardown(a_malformed_word_is_the_last, setup, teardown),
        cmocka_unit_test_setup_teardown(a_handler_may_close, setup, teardown),
        cmocka_unit_test_setup_teardown(who_answers_none_of_four_pings_is_silent, setup, teardown),
        cmocka_unit_test_setup_teardown(any_word_is_an_answer_and_pongs_are_no_event, setup, teardown),
        cmocka_unit_test_setup_teardown(a_supervisor_that_stood_still_blames_nobody, setup, teardown),
        cmocka_unit_test_setup_teardown(who_never_says_a_word_is_silent_too, setup, teardown),
        cmocka_unit_test_setup_teardown(who_does_not_tell_its_version_is_not_pinged, setup, teardown),
        cmocka_unit_test_setup_teardown(what_a_newer_holder_says_is_skipped, setup, teardown),
        cmocka_unit_test_setup_teardown(one_that_does_not_work_with_us_is_an_event, setup, teardown),
        cmocka_unit_test_setup_teardown(nobody_there_is_an_error, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
