#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "shared/base/mem.h"
#include "supervisor/launcher/slot.h"

static const struct launch_msg start = { .magic = LAUNCH_MAGIC, .op = LAUNCH_START, .slot = 3 };

static void a_slot_goes_round(void **state)
{
    static const enum slot_state way[] = {
        SLOT_STARTING, SLOT_BUSY,     SLOT_STOPPING, SLOT_QUARANTINED, SLOT_STOPPING,
        SLOT_FREE,     SLOT_STOPPING, SLOT_FREE,     SLOT_STARTING,    SLOT_STOPPING
    };
    struct slot s = { 0 };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(way); i++) {
        assert_int_equal(slot_set_state(&s, way[i]), 0);
        assert_int_equal(s.state, way[i]);
    }
}

static void a_used_slot_is_never_free_without_cleaning(void **state)
{
    static const struct {
        enum slot_state from, to;
    } rows[] = {
        { SLOT_BUSY, SLOT_FREE },        { SLOT_STARTING, SLOT_FREE }, { SLOT_QUARANTINED, SLOT_FREE },
        { SLOT_QUARANTINED, SLOT_BUSY }, { SLOT_FREE, SLOT_BUSY },     { SLOT_STOPPING, SLOT_STARTING },
        { SLOT_BUSY, SLOT_STARTING },    { SLOT_STOPPING, SLOT_BUSY }, { SLOT_FREE, SLOT_QUARANTINED },
        { SLOT_FREE, SLOT__MAX },        { SLOT_FREE, SLOT_FREE },
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        struct slot s = { .state = rows[i].from };

        assert_int_equal(slot_set_state(&s, rows[i].to), -1);
        assert_int_equal(s.state, rows[i].from);
    }
}

static void the_supervisor_never_sees_a_slot_free_that_is_not(void **state)
{
    struct slot s = { 0 };

    (void)state;
    for (s.state = 0; s.state < SLOT__MAX; s.state++) {
        assert_int_equal(slot_public_state(&s) == LAUNCH_SLOT_FREE, s.state == SLOT_FREE);
        assert_true(strlen(slot_state_name(s.state)) > 0);
        assert_int_equal(slot_is_being_cleaned(&s), s.state == SLOT_STOPPING);
    }
    s = (struct slot){ .state = SLOT_STOPPING, .given_up = true }; /* another attempt */
    assert_int_equal(slot_public_state(&s), LAUNCH_SLOT_QUARANTINED);
    assert_false(slot_is_being_cleaned(&s));
    assert_string_equal(slot_state_name(SLOT__MAX), "");
}

static void only_whole_messages_with_slots_that_exist_pass(void **state)
{
    struct launch_msg m = start;

    (void)state;
    assert_int_equal(slot_check_message(&m, sizeof(m), 4), 0);
    assert_int_equal(slot_check_message(&m, sizeof(m), 3), -1);
    assert_int_equal(slot_check_message(&m, sizeof(m) - 1, 4), -1);
    assert_int_equal(slot_check_message(&m, sizeof(m) + 1, 4), -1);
    m.op = LAUNCH_STOP;
    assert_int_equal(slot_check_message(&m, sizeof(m), 4), 0);
    m.op = LAUNCH_NAME;
    assert_int_equal(slot_check_message(&m, sizeof(m), 4), 0);
    assert_int_equal(slot_check_message(&m, sizeof(m), 3), -1);
    m.op = LAUNCH_STARTED;
    assert_int_equal(slot_check_message(&m, sizeof(m), 4), -1);
    m = start;
    m.magic++;
    assert_int_equal(slot_check_message(&m, sizeof(m), 4), -1);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slot_goes_round),
        cmocka_unit_test(a_used_slot_is_never_free_without_cleaning),
        cmocka_unit_test(the_supervisor_never_sees_a_slot_free_that_is_not),
        cmocka_unit_test(only_whole_messages_with_slots_that_exist_pass),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
