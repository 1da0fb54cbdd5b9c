#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "supervisor/slots.h"
#include "tests/support/oom.h"

static void nothing_is_given_before_the_launcher_has_spoken(void **state)
{
    struct slots t;
    uint32_t slot = 77;

    (void)state;
    assert_int_equal(slots_init(&t, 3, 3), 0);
    assert_int_equal(slots_take(&t, &slot), -1);
    assert_int_equal(slot, 77);
    slots_set(&t, 2, SLOT_FREE);
    assert_int_equal(slots_take(&t, &slot), 0);
    assert_int_equal(slot, 2);
    assert_int_equal(slots_state(&t, 2), SLOT_BUSY);
    assert_int_equal(slots_take(&t, &slot), -1);
    slots_release(&t);
}

static void the_slot_free_for_longest_comes_first(void **state)
{
    struct slots t;
    uint32_t slot, i;

    (void)state;
    assert_int_equal(slots_init(&t, 3, 3), 0);
    for (i = 0; i < 3; i++)
        slots_set(&t, i, SLOT_FREE);
    assert_int_equal(slots_take(&t, &slot), 0);
    assert_int_equal(slot, 0);
    slots_set(&t, 0, SLOT_FREE); /* just used: goes to the end */
    for (i = 0; i < 3; i++) {
        assert_int_equal(slots_take(&t, &slot), 0);
        assert_int_equal(slot, (i + 1) % 3);
    }
    slots_release(&t);
}

static void a_quarantined_slot_stays_out_until_it_is_clean(void **state)
{
    struct slots t;
    uint32_t slot;

    (void)state;
    assert_int_equal(slots_init(&t, 2, 2), 0);
    slots_set(&t, 0, SLOT_FREE);
    slots_set(&t, 1, SLOT_QUARANTINED);
    assert_int_equal(t.quarantined, 1);
    assert_int_equal(slots_take(&t, &slot), 0);
    assert_int_equal(slot, 0);
    assert_int_equal(slots_take(&t, &slot), -1);
    slots_set(&t, 1, SLOT_FREE);
    assert_int_equal(t.quarantined, 0);
    assert_int_equal(slots_take(&t, &slot), 0);
    assert_int_equal(slot, 1);
    slots_release(&t);
}

static void a_slot_may_leave_the_middle_of_the_queue(void **state)
{
    struct slots t;
    uint32_t slot, i;

    (void)state;
    assert_int_equal(slots_init(&t, 4, 4), 0);
    for (i = 0; i < 4; i++)
        slots_set(&t, i, SLOT_FREE);
    slots_set(&t, 3, SLOT_BUSY); /* the last */
    slots_set(&t, 1, SLOT_BUSY); /* one in between */
    slots_set(&t, 3, SLOT_FREE);
    assert_int_equal(t.free, 3);
    assert_int_equal(slots_take(&t, &slot), 0);
    assert_int_equal(slot, 0);
    assert_int_equal(slots_take(&t, &slot), 0);
    assert_int_equal(slot, 2);
    assert_int_equal(slots_take(&t, &slot), 0);
    assert_int_equal(slot, 3);
    assert_int_equal(t.free, 0);
    slots_forget(&t);
    assert_int_equal(slots_state(&t, 0), SLOT_UNKNOWN);
    assert_int_equal(slots_take(&t, &slot), -1);
    assert_int_equal(slots_state(&t, 99), SLOT_UNKNOWN);
    slots_release(&t);
}

static void without_memory_there_are_no_slots(void **state)
{
    (void)state;
    OOM_SWEEP({
        struct slots t;

        if (slots_init(&t, 4, 4) == 0)
            slots_release(&t);
    });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_given_before_the_launcher_has_spoken),
        cmocka_unit_test(the_slot_free_for_longest_comes_first),
        cmocka_unit_test(a_quarantined_slot_stays_out_until_it_is_clean),
        cmocka_unit_test(a_slot_may_leave_the_middle_of_the_queue),
        cmocka_unit_test(without_memory_there_are_no_slots),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
