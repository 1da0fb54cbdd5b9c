#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "shared/base/mem.h"
#include "tests/support/oom.h"

static void sizes_that_overflow_are_no_memory(void **state)
{
    void *p;

    (void)state;
    p = mem_zalloc(SIZE_MAX, 2);
    assert_null(p);
    p = mem_resize(NULL, SIZE_MAX / 2, 3);
    assert_null(p);
    assert_null(mem_dup("x", SIZE_MAX));
}

static void zero_sized_things_exist(void **state)
{
    void *p = mem_zalloc(0, 8), *q = mem_resize(NULL, 0, 8);

    (void)state;
    assert_non_null(p);
    assert_non_null(q);
    mem_free(p);
    mem_free(q);
    mem_free(NULL);
    mem_wipe(NULL, 0);
}

static void copies_end_with_nul(void **state)
{
    char *a = mem_dup("abc", 2), *b = mem_strdup("x"), *c = mem_dup(NULL, 0);

    (void)state;
    assert_string_equal(a, "ab");
    assert_string_equal(b, "x");
    assert_string_equal(c, "");
    assert_null(mem_strdup(NULL));
    mem_wipe(a, 2);
    assert_int_equal(a[0] | a[1], 0);
    mem_free(a);
    mem_free(b);
    mem_free(c);
}

static void arrays_grow_and_survive_short_memory(void **state)
{
    (void)state;
    OOM_SWEEP({
        void *array = NULL;
        size_t cap = 0;
        size_t i;

        for (i = 0; i < 100 && mem_grow(&array, i, &cap, sizeof(int)) == 0; i++)
            ((int *)array)[i] = (int)i;
        assert_true(oom_hit() || i == 100);
        assert_true(i <= cap);
        while (i--)
            assert_int_equal(((int *)array)[i], i);
        mem_free(array);
    });
}

static int open_one(int *ret_number)
{
    auto_fd int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

    *ret_number = fd;
    errno = ERANGE;
    return -1;
}

static void descriptors_close_with_their_scope_and_keep_errno(void **state)
{
    int fd;

    (void)state;
    assert_int_equal(open_one(&fd), -1);
    assert_int_equal(errno, ERANGE);
    assert_int_equal(fcntl(fd, F_GETFD), -1);
    assert_int_equal(errno, EBADF);
}

static void stealing_leaves_the_scope_empty(void **state)
{
    char *kept;
    int fd;

    (void)state;
    {
        auto_free char *p = mem_strdup("x");
        auto_fd int f = open("/dev/null", O_RDONLY | O_CLOEXEC);

        kept = steal_ptr(p);
        fd = steal_fd(f);
        assert_null(p);
        assert_int_equal(f, -1);
    }
    assert_string_equal(kept, "x");
    assert_int_equal(close(fd), 0);
    mem_free(kept);
}

#define REGION (1u << 20)
#define KEPT (1u << 16)

static void a_request_without_a_region_is_an_ordinary_one(void **state)
{
    char *p;

    (void)state;
    mem_request_begin();
    p = mem_strdup("x");
    mem_request_end();
    assert_string_equal(p, "x");
    mem_free(p);
}

static bool all_zero(const char *p, size_t len)
{
    while (len && !p[len - 1])
        len--;
    return len == 0;
}

static void begin(void)
{
    assert_int_equal(mem_request_open(REGION, KEPT, NULL), 0);
    mem_request_begin();
}

static void pieces_of_a_request_are_apart_and_aligned(void **state)
{
    char *pieces[200];
    size_t i;

    (void)state;
    begin();
    for (i = 0; i < ARRAY_LEN(pieces); i++) {
        pieces[i] = mem_zalloc(1, i);
        assert_int_equal((uintptr_t)pieces[i] % 16, 0);
        assert_true(all_zero(pieces[i], i));
        memset(pieces[i], (int)i, i);
    }
    while (i--)
        assert_true(!i || (pieces[i][0] == (char)i && pieces[i][i - 1] == (char)i));
    mem_request_end();
}

static void freed_pieces_are_used_again_and_are_zero_when_asked_for(void **state)
{
    char *a, *b;

    (void)state;
    begin();
    a = mem_dup("a secret of this request", 24);
    mem_free(a);
    b = mem_zalloc(1, 25);
    assert_ptr_equal(a, b);
    assert_true(all_zero(b, 25));
    mem_free(b);
    mem_request_end();
}

static void pieces_of_a_request_grow_and_keep_what_they_hold(void **state)
{
    size_t size = 1, i;
    char *first, *p;

    (void)state;
    begin();
    first = mem_dup("first", 5);
    p = mem_resize(NULL, 1, 1);
    p[0] = 'x';
    while (size < 4 * REGION) { /* in place, moved, out of the region */
        if (size % 3 == 1)
            mem_strdup("in the way");
        p = mem_resize(p, size *= 2, 1);
        assert_non_null(p);
        for (i = 0; i < size / 2; i++)
            assert_int_equal(p[i], 'x');
        memset(p, 'x', size);
    }
    first = mem_resize(first, 100, 1);
    assert_string_equal(first, "first");
    mem_free(first);
    mem_free(p);
    mem_request_end();
}

static void nothing_of_a_request_stays(void **state)
{
    char *first, *last = NULL, *p;
    size_t i;

    (void)state;
    begin();
    first = mem_strdup("a secret");
    for (i = 0; i < REGION / 2 / 1000; i++) { /* beyond what is kept */
        last = p = mem_resize(NULL, 1000, 1);
        memset(p, 's', 1000);
        if (i % 2)
            mem_free(p);
    }
    mem_request_end();
    assert_true(all_zero(first, (size_t)(last - first) + 1000));
    begin();
    assert_ptr_equal(mem_zalloc(1, 9), first); /* and the next one begins where this one did */
    mem_request_end();
}

static void a_full_region_is_no_end(void **state)
{
    char *pieces[2 * REGION / 1000];
    size_t i;

    (void)state;
    begin();
    for (i = 0; i < ARRAY_LEN(pieces); i++) {
        pieces[i] = mem_zalloc(1000, 1);
        assert_non_null(pieces[i]);
        memset(pieces[i], (int)i, 1000);
    }
    for (i = 0; i < ARRAY_LEN(pieces); i++) {
        assert_int_equal(pieces[i][999], (char)i);
        mem_free(pieces[i]);
    }
    mem_request_end();
}

static void what_is_taken_in_a_pause_outlives_the_request(void **state)
{
    char *kept, *of_request;
    bool was_on;

    (void)state;
    begin();
    of_request = mem_strdup("request");
    was_on = mem_request_pause();
    assert_true(was_on);
    assert_false(mem_request_pause());
    kept = mem_strdup("kept");
    mem_free(of_request);
    mem_request_resume(false);
    mem_request_resume(was_on);
    kept = mem_resize(kept, 1000, 1);
    mem_request_end();
    assert_string_equal(kept, "kept");
    mem_free(kept);
}

static void memory_of_a_request_may_be_short(void **state)
{
    (void)state;
    OOM_SWEEP({
        char *p;
        char *q;
        char *bigger;

        begin();
        p = mem_resize(NULL, REGION, 1);
        q = mem_dup("x", 1);
        assert_non_null(q);
        assert_true(p || oom_hit());
        bigger = mem_resize(q, 2 * REGION, 1);
        assert_string_equal(bigger ? bigger : q, "x");
        mem_free(bigger);
        mem_free(p);
        mem_request_end();
    });
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_that_overflow_are_no_memory),
        cmocka_unit_test(zero_sized_things_exist),
        cmocka_unit_test(copies_end_with_nul),
        cmocka_unit_test(arrays_grow_and_survive_short_memory),
        cmocka_unit_test(descriptors_close_with_their_scope_and_keep_errno),
        cmocka_unit_test(stealing_leaves_the_scope_empty),
        cmocka_unit_test(a_request_without_a_region_is_an_ordinary_one),
        cmocka_unit_test(pieces_of_a_request_are_apart_and_aligned),
        cmocka_unit_test(freed_pieces_are_used_again_and_are_zero_when_asked_for),
        cmocka_unit_test(pieces_of_a_request_grow_and_keep_what_they_hold),
        cmocka_unit_test(nothing_of_a_request_stays),
        cmocka_unit_test(a_full_region_is_no_end),
        cmocka_unit_test(what_is_taken_in_a_pause_outlives_the_request),
        cmocka_unit_test(memory_of_a_request_may_be_short),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
