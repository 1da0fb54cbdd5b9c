#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "shared/base/keyed_hash.h"

static void the_same_key_gives_the_same_hash(void **state)
{
    struct hash_key key = { 1, 2 };

    (void)state;
    assert_true(hash_text(&key, "ip:192.0.2.1") == hash_text(&key, "ip:192.0.2.1"));
    assert_true(hash_text(&key, "abc") == hash_bytes(&key, "abc", 3));
}

static void every_byte_and_the_length_matter(void **state)
{
    struct hash_key key = { 1, 2 };
    char text[25] = { 0 };
    uint64_t seen[sizeof(text) * 2];
    size_t n = 0, i, j;

    (void)state;
    for (i = 0; i < sizeof(text); i++) {
        seen[n++] = hash_bytes(&key, text, i);
        text[i] = 1;
        seen[n++] = hash_bytes(&key, text, sizeof(text));
        text[i] = 0;
    }
    for (i = 0; i < n; i++)
        for (j = i + 1; j < n; j++)
            assert_true(seen[i] != seen[j]);
}

static void another_key_gives_another_hash(void **state)
{
    struct hash_key a, b;

    (void)state;
    hash_key_new(&a);
    hash_key_new(&b);
    assert_true(a.k0 != b.k0 && a.k1 != b.k1 && a.k0 != a.k1);
    assert_true(hash_text(&a, "x") != hash_text(&b, "x"));
}

static void hashes_spread_over_the_buckets(void **state)
{
    struct hash_key key = { 7, 9 };
    unsigned count[64] = { 0 };
    uint32_t i;

    (void)state;
    for (i = 0; i < 6400; i++)
        count[hash_bytes(&key, &i, sizeof(i)) & 63]++;
    for (i = 0; i < 64; i++)
        assert_in_range(count[i], 50, 160);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_key_gives_the_same_hash),
        cmocka_unit_test(every_byte_and_the_length_matter),
        cmocka_unit_test(another_key_gives_another_hash),
        cmocka_unit_test(hashes_spread_over_the_buckets),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
