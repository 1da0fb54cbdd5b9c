#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "shared/diagram/map.h"
#include "tests/support/oom.h"

static void keys_are_found_again_and_kept_once(void **state)
{
    struct map m;
    char key[32];
    size_t i, value;

    (void)state;
    map_init(&m);
    assert_int_equal(map_get(&m, "x", 1), MAP_NONE);
    for (i = 0; i < 20000; i++) {
        int n = snprintf(key, sizeof(key), "key %zu", i);

        assert_int_equal(map_put(&m, key, (size_t)n, i, NULL), 1);
    }
    for (i = 0; i < 20000; i++) {
        int n = snprintf(key, sizeof(key), "key %zu", i);

        assert_int_equal(map_get(&m, key, (size_t)n), i);
        assert_int_equal(map_put(&m, key, (size_t)n, 7, &value), 0);
        assert_int_equal(value, i);
    }
    assert_int_equal(map_get(&m, "key", 3), MAP_NONE);
    assert_int_equal(m.len, 20000);
    map_release(&m);
    map_release(&m);
    map_release(NULL);
}

static void keys_are_bytes_of_any_length(void **state)
{
    struct map m;
    char zeros[40] = { 0 };
    size_t i;

    (void)state;
    map_init(&m);
    for (i = 0; i < sizeof(zeros); i++)
        assert_int_equal(map_put(&m, zeros, i, i, NULL), 1);
    for (i = 0; i < sizeof(zeros); i++)
        assert_int_equal(map_get(&m, zeros, i), i);
    map_release(&m);
}

static void room_made_before_is_enough(void **state)
{
    size_t n;

    (void)state;
    for (n = 0; n <= 200; n++) {
        struct map m;
        size_t i, cap;

        map_init(&m);
        assert_int_equal(map_reserve(&m, n), 0);
        cap = m.cap;
        for (i = 0; i < n; i++)
            assert_int_equal(map_put(&m, &i, sizeof(i), 2 * i, NULL), 1);
        assert_int_equal(m.cap, cap);
        for (i = 0; i < n; i++)
            assert_int_equal(map_get(&m, &i, sizeof(i)), 2 * i);
        assert_int_equal(map_get(&m, &n, sizeof(n)), MAP_NONE);
        map_release(&m);
    }
}

static void two_maps_do_not_hash_alike(void **state)
{
    struct map a, b;

    (void)state;
    map_init(&a);
    map_init(&b);
    assert_int_equal(map_put(&a, "x", 1, 0, NULL), 1);
    assert_int_equal(map_put(&b, "x", 1, 0, NULL), 1);
    assert_true(a.key.k0 != b.key.k0 || a.key.k1 != b.key.k1);
    map_release(&a);
    map_release(&b);
}

static void names_are_found_composed_or_folded(void **state)
{
    struct map m;
    size_t at;

    (void)state;
    map_init(&m);
    assert_int_equal(map_put_name(&m, "cafe\xcc\x81", 3, NULL), 1);
    assert_int_equal(map_put_name(&m, "caf\xc3\xa9", 4, &at), 0);
    assert_int_equal(at, 3);
    assert_int_equal(map_find_name(&m, "caf\xc3\xa9", &at), 0);
    assert_int_equal(at, 3);
    assert_int_equal(map_find_name(&m, "CAF\xc3\xa9", &at), 0);
    assert_int_equal(at, MAP_NONE);
    assert_int_equal(map_put_folded(&m, " CAF\xc3\x89 ", 9, &at), 0);
    assert_int_equal(at, 3);
    assert_int_equal(map_put_folded(&m, "HELLO", 5, NULL), 1);
    assert_int_equal(map_find_name(&m, "hello", &at), 0);
    assert_int_equal(at, 5);
    map_release(&m);
}

static void short_memory_keeps_the_map_as_it_was(void **state)
{
    (void)state;
    OOM_SWEEP({
        struct map m;
        size_t i;
        size_t n = 0;
        char key[8];

        map_init(&m);
        for (i = 0; i < 40; i++) {
            snprintf(key, sizeof(key), "%zu", i);
            n += map_put_name(&m, key, i, NULL) == 1;
        }
        assert_int_equal(m.len, n);
        assert_true(n == 40 || (oom_hit() && n >= 38));
        map_release(&m);
    });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_found_again_and_kept_once), cmocka_unit_test(keys_are_bytes_of_any_length),
        cmocka_unit_test(room_made_before_is_enough),         cmocka_unit_test(two_maps_do_not_hash_alike),
        cmocka_unit_test(names_are_found_composed_or_folded), cmocka_unit_test(short_memory_keeps_the_map_as_it_was),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
