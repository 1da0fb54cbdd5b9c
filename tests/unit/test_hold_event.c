#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "shared/base/mem.h"
#include "shared/ipc/wire.h"
#include "supervisor/hold_event.h"

static const struct id some = { { 5, 4, 3 } };

static void put_identity(struct buf *b)
{
    wire_put_id(b, &some);
    wire_put_str(b, "ip:192.0.2.1");
    wire_put_u64(b, 1000);
    wire_put_u64(b, 901000);
}

static void put_phase(struct buf *b)
{
    wire_put_u8(b, HOLD_READY);
    wire_put_u8(b, 1);
    wire_put_u64(b, 42);
}

static void put_end(struct buf *b)
{
    wire_put_u8(b, HOLD_REASON_SIGNALED);
    wire_put_u32(b, 9);
}

static void put_nothing(struct buf *b)
{
    (void)b;
}

static void put_attached(struct buf *b)
{
    wire_put_u64(b, 12);
    wire_put_u64(b, 3);
}

static void put_frame(struct buf *b)
{
    wire_put_u64(b, 12);
    wire_put_bytes(b, "{\"a\":1}", 7);
}

static void put_probed(struct buf *b)
{
    wire_put_u8(b, 0);
    wire_put_str(b, "user namespaces are off");
}

static void put_warm(struct buf *b)
{
    wire_put_u8(b, HOLD_WARM_LOST);
    wire_put_str(b, "it has ended");
}

static void put_no_actor(struct buf *b)
{
    wire_put_id(b, &some);
    wire_put_str(b, "");
    wire_put_u64(b, 0);
    wire_put_u64(b, 0);
}

static void put_version(struct buf *b)
{
    wire_put_u32(b, 7);
    wire_put_u32(b, 5);
}

static const struct {
    uint16_t type;
    enum hold_role role;
    void (*put)(struct buf *b);
} rows[] = {
    { HOLD_IDENTITY, HOLD_ROLE_CONTROL, put_identity }, { HOLD_PHASE, HOLD_ROLE_CONTROL, put_phase },
    { HOLD_GONE, HOLD_ROLE_CONTROL, put_end },          { HOLD_DONE, HOLD_ROLE_CONTROL, put_nothing },
    { HOLD_ATTACHED, HOLD_ROLE_ATTACH, put_attached },  { HOLD_FRAME, HOLD_ROLE_ATTACH, put_frame },
    { HOLD_EXIT, HOLD_ROLE_ATTACH, put_end },           { HOLD_PROBED, HOLD_ROLE_PROBE, put_probed },
    { HOLD_WARM, HOLD_ROLE_CONTROL, put_warm },         { HOLD_PONG, HOLD_ROLE_CONTROL, put_nothing },
    { HOLD_VERSION, HOLD_ROLE_CONTROL, put_version },
};

static int parse(enum hold_role role, uint16_t type, void (*fill)(struct buf *b), struct hold_event *ret)
{
    static struct buf b; /* borrowed texts live until the next call */

    buf_release(&b);
    buf_init(&b, 4096);
    fill(&b);
    return hold_event_parse(role, type, b.data, b.len, ret);
}

static void every_field_arrives(void **state)
{
    struct hold_event e;

    (void)state;
    assert_int_equal(parse(HOLD_ROLE_CONTROL, HOLD_IDENTITY, put_identity, &e), 0);
    assert_true(id_equal(&e.identity.id, &some));
    assert_string_equal(e.identity.actor, "ip:192.0.2.1");
    assert_int_equal(e.identity.started_wall_ms, 1000);
    assert_int_equal(e.identity.expires_wall_ms, 901000);
    assert_int_equal(parse(HOLD_ROLE_CONTROL, HOLD_PHASE, put_phase, &e), 0);
    assert_int_equal(e.phase.phase, HOLD_READY);
    assert_true(e.phase.attached);
    assert_int_equal(e.phase.frames, 42);
    assert_int_equal(parse(HOLD_ROLE_CONTROL, HOLD_GONE, put_end, &e), 0);
    assert_int_equal(e.end.reason, HOLD_REASON_SIGNALED);
    assert_int_equal(e.end.code, 9);
    assert_int_equal(parse(HOLD_ROLE_ATTACH, HOLD_ATTACHED, put_attached, &e), 0);
    assert_int_equal(e.attached.from, 12);
    assert_int_equal(e.attached.lost, 3);
    assert_int_equal(parse(HOLD_ROLE_ATTACH, HOLD_FRAME, put_frame, &e), 0);
    assert_int_equal(e.frame.number, 12);
    assert_int_equal(e.frame.offset, 12); /* behind the number and the length */
    assert_int_equal(e.frame.len, 7);
    assert_int_equal(parse(HOLD_ROLE_CONTROL, HOLD_VERSION, put_version, &e), 0);
    assert_int_equal(e.version.number, 7);
    assert_int_equal(e.version.oldest, 5);
    assert_int_equal(parse(HOLD_ROLE_CONTROL, HOLD_IDENTITY, put_no_actor, &e), 0);
    assert_string_equal(e.identity.actor, "");
    assert_int_equal(parse(HOLD_ROLE_PROBE, HOLD_PROBED, put_probed, &e), 0);
    assert_false(e.probed.ok);
    assert_string_equal(e.probed.text, "user namespaces are off");
    assert_int_equal(parse(HOLD_ROLE_CONTROL, HOLD_WARM, put_warm, &e), 0);
    assert_int_equal(e.warm.state, HOLD_WARM_LOST);
    assert_string_equal(e.warm.why, "it has ended");
}

static void a_role_says_only_what_is_its(void **state)
{
    static const enum hold_role roles[] = { HOLD_ROLE_CONTROL, HOLD_ROLE_ATTACH, HOLD_ROLE_PROBE };
    struct hold_event e;
    size_t i, r;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++)
        for (r = 0; r < ARRAY_LEN(roles); r++)
            assert_int_equal(parse(roles[r], rows[i].type, rows[i].put, &e), roles[r] == rows[i].role ? 0 : -1);
    assert_int_equal(parse(HOLD_ROLE_CONTROL, HOLD_CONTROL, put_nothing, &e), -1); /* ours, not theirs */
    assert_int_equal(parse(HOLD_ROLE_ATTACH, 9999, put_nothing, &e), -1);
}

static void a_message_cut_short_or_prolonged_is_refused(void **state)
{
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        struct hold_event e = { .type = 1234 };
        struct buf b;
        size_t len;

        buf_init(&b, 4096);
        rows[i].put(&b);
        buf_add_char(&b, 'x');
        for (len = 0; len <= b.len; len++)
            if (len != b.len - 1)
                assert_int_equal(hold_event_parse(rows[i].role, rows[i].type, b.data, len, &e), -1);
        assert_int_equal(e.type, 1234);
        assert_int_equal(hold_event_parse(rows[i].role, rows[i].type, b.data, b.len - 1, &e), 0);
        buf_release(&b);
    }
}

static void put_endless_time(struct buf *b)
{
    wire_put_id(b, &some);
    wire_put_str(b, "ip:a");
    wire_put_u64(b, 0);
    wire_put_u64(b, UINT64_MAX);
}

static void put_bad_phase(struct buf *b)
{
    wire_put_u8(b, HOLD_PHASE__MAX);
    wire_put_u8(b, 0);
    wire_put_u64(b, 0);
}

static void put_no_reason(struct buf *b)
{
    wire_put_u8(b, HOLD_REASON_NONE);
    wire_put_u32(b, 0);
}

static void put_bad_warmth(struct buf *b)
{
    wire_put_u8(b, HOLD_WARM__MAX);
    wire_put_str(b, "");
}

static void put_bad_reason(struct buf *b)
{
    wire_put_u8(b, HOLD_REASON__MAX);
    wire_put_u32(b, 0);
}

static void put_frame_zero(struct buf *b)
{
    wire_put_u64(b, 0);
    wire_put_bytes(b, "x", 1);
}

static void put_from_zero(struct buf *b)
{
    wire_put_u64(b, 0);
    wire_put_u64(b, 0);
}

static void values_out_of_range_are_refused(void **state)
{
    struct hold_event e;

    (void)state;
    assert_int_equal(parse(HOLD_ROLE_CONTROL, HOLD_IDENTITY, put_endless_time, &e), -1);
    assert_int_equal(parse(HOLD_ROLE_CONTROL, HOLD_PHASE, put_bad_phase, &e), -1);
    assert_int_equal(parse(HOLD_ROLE_CONTROL, HOLD_GONE, put_no_reason, &e), -1);
    assert_int_equal(parse(HOLD_ROLE_CONTROL, HOLD_WARM, put_bad_warmth, &e), -1);
    assert_int_equal(parse(HOLD_ROLE_ATTACH, HOLD_EXIT, put_bad_reason, &e), -1);
    assert_int_equal(parse(HOLD_ROLE_ATTACH, HOLD_FRAME, put_frame_zero, &e), -1);
    assert_int_equal(parse(HOLD_ROLE_ATTACH, HOLD_ATTACHED, put_from_zero, &e), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_field_arrives),
        cmocka_unit_test(a_role_says_only_what_is_its),
        cmocka_unit_test(a_message_cut_short_or_prolonged_is_refused),
        cmocka_unit_test(values_out_of_range_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
