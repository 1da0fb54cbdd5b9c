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
#include "shared/ipc/wire.h"
#include "tests/support/supervisor_fixture.h"

#define ME "ip:192.0.2.1"

static int setup(void **state)
{
    struct fixture *f = mem_zalloc(1, sizeof(*f));

    assert_non_null(f);
    fixture_open(f);
    fixture_ready(f);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture_close(*state);
    mem_free(*state);
    return 0;
}

/* Sends a request; the connection, for the answer. */
static int ask(struct fixture *f, enum rpc_type type, const struct id *id, const char *actor, int64_t flags)
{
    int fd = fixture_connect(f, "supervisor.sock");
    auto_buf struct buf b;

    buf_init(&b, 512);
    if (id)
        wire_put_id(&b, id);
    wire_put_str(&b, actor);
    if (flags >= 0)
        wire_put_u32(&b, (uint32_t)flags);
    fixture_send(fd, (uint16_t)type, b.data, b.len);
    fixture_turn(f);
    return fd;
}

/* Type of the answer; an error's kind in its place, negative. */
static int answer(struct fixture *f, int fd, struct buf *b, int *ret_fd)
{
    struct wire_in in;
    struct err err;
    uint16_t type;

    buf_init(b, RPC_MAX_PAYLOAD);
    assert_int_equal(fixture_recv(f, fd, &type, b, ret_fd), 1);
    close(fd);
    if (type != RPC_ERROR)
        return type;
    wire_start(&in, b->data, b->len);
    assert_int_equal(rpc_get_error(&in, &err), 0);
    return -(int)err.kind;
}

static void a_created_session_comes_with_a_connection_to_its_holder(void **state)
{
    struct fixture *f = *state;
    struct id id = { { 8 } };
    struct launch_msg m;
    struct wire_in in;
    auto_buf struct buf b;
    int fd, control, bundle, passed = -1;
    char got[FRAME_HEADER];

    fd = ask(f, RPC_CREATE, &id, ME, 0);
    m = fixture_asked(f, LAUNCH_START);
    fixture_open_holder(f, m.slot);
    fixture_tell(f, LAUNCH_STARTED, m.slot, &m.id, 1);
    assert_int_equal(answer(f, fd, &b, &passed), RPC_CREATED);
    wire_start(&in, b.data, b.len);
    assert_int_equal(wire_get_u32(&in), HOLD_AGENT_PORT);
    assert_true(passed >= 0);
    control = fixture_accept_holder(f, m.slot);
    bundle = fixture_accept_holder(f, m.slot);
    fixture_send(passed, HOLD_BUNDLE, NULL, 0);
    assert_int_equal(fixture_read(f, bundle, got, sizeof(got)), sizeof(got));
    close(passed);
    close(control);
    close(bundle);
}

static void sessions_answer_to_their_owner_only(void **state)
{
    static const enum rpc_type types[] = { RPC_INFO, RPC_OPEN, RPC_END };
    struct fixture *f = *state;
    struct rpc_session described;
    struct session *s;
    struct wire_in in;
    auto_buf struct buf b;
    int control, passed = -1;
    size_t i;

    s = fixture_session(f, ME, &control);
    for (i = 0; i < ARRAY_LEN(types); i++) {
        assert_int_equal(answer(f, ask(f, types[i], &s->id, "ip:192.0.2.2", -1), &b, NULL), -(int)ERR_NOT_FOUND);
        buf_release(&b);
    }
    assert_int_equal(answer(f, ask(f, RPC_INFO, &s->id, ME, -1), &b, NULL), RPC_SESSION);
    wire_start(&in, b.data, b.len);
    assert_int_equal(rpc_get_session(&in, &described), 0);
    assert_int_equal(wire_end(&in), 0);
    assert_string_equal(described.state, "READY");
    assert_int_equal(described.frames, 5);
    buf_release(&b);
    assert_int_equal(answer(f, ask(f, RPC_OPEN, &s->id, ME, -1), &b, &passed), RPC_OK);
    assert_true(passed >= 0);
    close(passed);
    close(control);
}

static void an_end_is_answered_when_the_slot_is_clean(void **state)
{
    struct fixture *f = *state;
    struct session *s;
    auto_buf struct buf b;
    uint32_t slot;
    char byte;
    int control, fd;

    s = fixture_session(f, ME, &control);
    slot = s->slot;
    fd = ask(f, RPC_END, &s->id, ME, -1);
    fixture_asked(f, LAUNCH_STOP);
    assert_int_equal(recv(fd, &byte, 1, MSG_DONTWAIT), -1);
    fixture_tell(f, LAUNCH_CLEAN, slot, NULL, 0);
    assert_int_equal(answer(f, fd, &b, NULL), RPC_OK);
    close(control);
}

static void an_end_that_cannot_be_reached_says_so(void **state)
{
    struct fixture *f = *state;
    struct session *s;
    auto_buf struct buf b;
    uint32_t slot;
    int control, fd;

    s = fixture_session(f, ME, &control);
    slot = s->slot;
    fd = ask(f, RPC_END, &s->id, ME, -1);
    fixture_asked(f, LAUNCH_STOP);
    fixture_tell(f, LAUNCH_QUARANTINED, slot, NULL, 1);
    assert_int_equal(answer(f, fd, &b, NULL), -(int)ERR_INTERNAL);
    assert_int_equal(f->sv.sessions.slots.quarantined, 1);
    close(control);
}

static void admission_asks_for_rate_and_cap_as_flagged(void **state)
{
    struct fixture *f = *state;
    auto_buf struct buf b;
    int control, i;

    for (i = 0; i < 13; i++) {
        assert_int_equal(answer(f, ask(f, RPC_ADMIT, NULL, "ip:x", RPC_ADMIT_RATE), &b, NULL),
                         i < 12 ? RPC_OK : -(int)ERR_LIMIT);
        buf_release(&b);
    }
    assert_int_equal(answer(f, ask(f, RPC_ADMIT, NULL, "ip:x", 0), &b, NULL), RPC_OK);
    buf_release(&b);
    assert_int_equal(answer(f, ask(f, RPC_ADMIT, NULL, ME, RPC_ADMIT_CAP), &b, NULL), RPC_OK);
    buf_release(&b);
    fixture_session(f, ME, &control);
    assert_int_equal(answer(f, ask(f, RPC_ADMIT, NULL, ME, RPC_ADMIT_CAP), &b, NULL), -(int)ERR_LIMIT);
    buf_release(&b);
    assert_int_equal(answer(f, ask(f, RPC_ADMIT, NULL, ME, RPC_ADMIT_RATE), &b, NULL), RPC_OK);
    close(control);
}

static void on_the_way_out_nothing_is_begun(void **state)
{
    struct fixture *f = *state;
    struct id id = { { 8 } };
    auto_buf struct buf b;

    f->sv.stopping = true;
    assert_int_equal(answer(f, ask(f, RPC_CREATE, &id, ME, 0), &b, NULL), -(int)ERR_UNAVAILABLE);
    fixture_asked_nothing(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_created_session_comes_with_a_connection_to_its_holder, setup, teardown),
        cmocka_unit_test_setup_teardown(sessions_answer_to_their_owner_only, setup, teardown),
        cmocka_unit_test_setup_teardown(an_end_is_answered_when_the_slot_is_clean, setup, teardown),
        cmocka_unit_test_setup_teardown(an_end_that_cannot_be_reached_says_so, setup, teardown),
        cmocka_unit_test_setup_teardown(admission_asks_for_rate_and_cap_as_flagged, setup, teardown),
        cmocka_unit_test_setup_teardown(on_the_way_out_nothing_is_begun, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
