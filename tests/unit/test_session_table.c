#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "supervisor/session_table.h"
#include "tests/support/oom.h"

static const struct session_actions none;

static struct session *make(uint8_t number, const char *actor, uint32_t slot)
{
    struct id id = { { number } };
    struct session *s = session_new(&id, actor, slot, &none, NULL);

    assert_non_null(s);
    return s;
}

static void sessions_are_found_by_id_slot_and_owner(void **state)
{
    struct session_table t;
    struct session *a = make(1, "ip:a", 0), *b = make(2, "ip:b", 1), *c = make(3, "ip:a", 2);
    struct id nobody = { { 9 } };
    struct session *first, *second;

    (void)state;
    assert_int_equal(session_table_init(&t, 4), 0);
    session_table_add(&t, a);
    session_table_add(&t, b);
    session_table_add(&t, c);
    assert_int_equal(t.count, 3);
    assert_ptr_equal(session_table_find(&t, &b->id), b);
    assert_null(session_table_find(&t, &nobody));
    assert_ptr_equal(session_table_at(&t, 2), c);
    assert_null(session_table_at(&t, 3));
    assert_null(session_table_at(&t, 4));
    first = session_table_first_of(&t, "ip:a");
    second = session_table_next_of(first);
    assert_true((first == a && second == c) || (first == c && second == a));
    assert_null(session_table_next_of(second));
    assert_null(session_table_first_of(&t, "ip:c"));

    session_table_remove(&t, a);
    session_table_remove(&t, a); /* no harm */
    assert_null(session_table_find(&t, &a->id));
    assert_null(session_table_at(&t, 0));
    assert_ptr_equal(session_table_first_of(&t, "ip:a"), c);
    assert_null(session_table_next_of(c));
    assert_int_equal(t.count, 2);
    session_table_release(&t);
    session_free(a);
    session_free(b);
    session_free(c);
}

static void a_full_table_keeps_everybody_apart(void **state)
{
    struct session_table t;
    struct session *all[200];
    char actor[16];
    uint32_t i;

    (void)state;
    assert_int_equal(session_table_init(&t, 200), 0);
    for (i = 0; i < 200; i++) {
        snprintf(actor, sizeof(actor), "ip:%u", i % 50);
        all[i] = make((uint8_t)i, actor, i);
        session_table_add(&t, all[i]);
    }
    for (i = 0; i < 200; i++) {
        struct session *s = session_table_first_of(&t, all[i]->actor);
        unsigned of_same = 0;

        assert_ptr_equal(session_table_find(&t, &all[i]->id), all[i]);
        for (; s; s = session_table_next_of(s))
            of_same++;
        assert_int_equal(of_same, 4);
    }
    for (i = 0; i < 200; i++) {
        session_table_remove(&t, all[i]);
        session_free(all[i]);
    }
    assert_int_equal(t.count, 0);
    session_table_release(&t);
}

static void without_memory_there_is_no_table(void **state)
{
    (void)state;
    OOM_SWEEP({
        struct session_table t;

        if (session_table_init(&t, 8) == 0)
            session_table_release(&t);
    });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sessions_are_found_by_id_slot_and_owner),
        cmocka_unit_test(a_full_table_keeps_everybody_apart),
        cmocka_unit_test(without_memory_there_is_no_table),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
