#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "shared/base/buf.h"
#include "shared/base/mem.h"
#include "shared/python/cache.h"
#include "tests/support/oom.h"

static int setup(void **state)
{
    *state = mem_zalloc(1, sizeof(struct python_cache));
    return *state ? 0 : -1;
}

static int teardown(void **state)
{
    python_cache_clear(*state);
    mem_free(*state);
    return 0;
}

static void what_was_put_is_found(void **state)
{
    const struct python_cache_entry *e;

    python_cache_put(*state, "a\0b", 3, 7, "answer", 6);
    e = python_cache_get(*state, "a\0b", 3);
    assert_non_null(e);
    assert_int_equal(e->type, 7);
    assert_int_equal(e->answer_len, 6);
    assert_memory_equal(e->answer, "answer", 6);
    assert_null(python_cache_get(*state, "a\0c", 3));
    assert_null(python_cache_get(*state, "a\0", 2));
    assert_null(python_cache_get(*state, "", 0));
}

static void a_newer_answer_replaces_the_older(void **state)
{
    python_cache_put(*state, "x", 1, 1, "one", 3);
    python_cache_put(*state, "x", 1, 2, "two", 3);
    assert_int_equal(python_cache_get(*state, "x", 1)->type, 2);
}

static void memory_stays_within_its_bounds(void **state)
{
    struct python_cache *c = *state;
    auto_buf struct buf source;
    int i;

    buf_init(&source, 1u << 20);
    for (i = 0; i < 2000; i++) {
        buf_clear(&source);
        buf_add_fmt(&source, "%d", i);
        buf_add_repeat(&source, 'x', (size_t)(i % 200) * 1000);
        python_cache_put(c, source.data, source.len, 1, "a", 1);
        assert_non_null(python_cache_get(c, source.data, source.len));
        assert_true(c->bytes <= PYTHON_CACHE_MAX);
    }
    python_cache_clear(c);
    assert_int_equal(c->bytes, 0);
}

static void large_sources_are_not_kept(void **state)
{
    auto_buf struct buf source;

    buf_init(&source, 1u << 20);
    buf_add_repeat(&source, 'x', PYTHON_CACHE_ENTRY_MAX);
    python_cache_put(*state, source.data, source.len, 1, "a", 1);
    assert_null(python_cache_get(*state, source.data, source.len));
    assert_null(python_cache_get(*state, source.data, source.len + 1));
}

static void short_memory_keeps_nothing(void **state)
{
    OOM_SWEEP({
        python_cache_clear(*state);
        python_cache_put(*state, "x", 1, 1, "one", 3);
        assert_int_equal(python_cache_get(*state, "x", 1) == NULL, oom_hit());
    });
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_was_put_is_found, setup, teardown),
        cmocka_unit_test_setup_teardown(a_newer_answer_replaces_the_older, setup, teardown),
        cmocka_unit_test_setup_teardown(memory_stays_within_its_bounds, setup, teardown),
        cmocka_unit_test_setup_teardown(large_sources_are_not_kept, setup, teardown),
        cmocka_unit_test_setup_teardown(short_memory_keeps_nothing, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
