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

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_that_overflow_are_no_memory),
        cmocka_unit_test(zero_sized_things_exist),
        cmocka_unit_test(copies_end_with_nul),
        cmocka_unit_test(arrays_grow_and_survive_short_memory),
        cmocka_unit_test(descriptors_close_with_their_scope_and_keep_errno),
        cmocka_unit_test(stealing_leaves_the_scope_empty),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
