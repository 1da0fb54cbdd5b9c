#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "shared/base/mem.h"
#include "shared/forget/forget.h"

/* A sanitizer would end the program for a piece that nobody can have. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

#define SECRET "sk-nobody-may-keep"
#define PAGE 4096u

/* Of what lies there, without regard to whose it is now. */
__attribute__((no_sanitize("address"))) static size_t secrets_in(const volatile char *p, size_t len)
{
    size_t i, n = 0;

    for (i = 0; i + 2 < len; i++)
        n += p[i] == 'n' && p[i + 1] == 'o' && p[i + 2] == 'b';
    return n;
}

static void fill(char *p, size_t len)
{
    size_t i;

    for (i = 0; i + sizeof(SECRET) <= len; i += sizeof(SECRET))
        memcpy(p + i, SECRET, sizeof(SECRET));
}

static size_t resident(void *p, size_t pages)
{
    unsigned char in[64] = { 0 };
    size_t i, n = 0;

    assert_true(pages <= sizeof(in));
    assert_int_equal(mincore(p, pages * PAGE, in), 0);
    for (i = 0; i < pages; i++)
        n += in[i] & 1u;
    return n;
}

static void what_is_freed_is_overwritten(void **state)
{
    static const size_t sizes[] = { 24, 100, 1000, 5000, 20000, 40000, 100000 };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(sizes); i++) {
        char *p = malloc(sizes[i]), *fence = malloc(24); /* keeps p from falling back to the system */

        fill(p, sizes[i]);
        assert_true(secrets_in(p, sizes[i]) > 0);
        errno = EDOM;
        forget_free(p);
        assert_int_equal(errno, EDOM);
        assert_int_equal(secrets_in(p, sizes[i]), 0);
        forget_free(fence);
    }
    forget_free(NULL);
}

static void a_piece_that_grows_leaves_nothing_behind(void **state)
{
    char *p = forget_realloc(NULL, 2000), *fence = malloc(24), *bigger;

    (void)state;
    fill(p, 2000);
    bigger = forget_realloc(p, 50000);
    assert_non_null(bigger);
    assert_ptr_not_equal(p, bigger);
    assert_memory_equal(bigger, SECRET, sizeof(SECRET));
    assert_int_equal(secrets_in(p, 2000), 0);
    forget_free(bigger);
    forget_free(fence);
}

static void a_piece_that_shrinks_loses_its_tail(void **state)
{
    char *p = malloc(60000), *fence = malloc(24), *less;

    (void)state;
    fill(p, 60000);
    less = forget_realloc(p, 100);
    assert_memory_equal(less, SECRET, sizeof(SECRET));
    assert_int_equal(secrets_in(p + 100, 59900), 0);
    assert_null(forget_realloc(less, 0));
    forget_free(fence);
}

static void what_cannot_grow_stays_as_it_was(void **state)
{
    char *p = malloc(100);
    volatile size_t too_much = SIZE_MAX / 2;

    (void)state;
    fill(p, 100);
    assert_null(forget_realloc(p, too_much));
    assert_memory_equal(p, SECRET, sizeof(SECRET));
    forget_free(p);
}

static void what_of_a_large_piece_was_not_used_is_not_touched(void **state)
{
    size_t pages = 20;
    char *p = aligned_alloc(PAGE, pages * PAGE), *fence = malloc(24);

    (void)state;
    madvise(p, pages * PAGE, MADV_DONTNEED);
    p[0] = 'x';
    assert_int_equal(resident(p, pages), 1);
    forget_free(p);
    assert_true(resident(p, pages) <= 2); /* the heap writes its own notes there */
    forget_free(fence);
}

/* ---- slots ---- */

static void a_slot_is_taken_and_given(void **state)
{
    char *one, *two;

    (void)state;
    forget_open_slots();
    forget_open_slots();
    one = forget_malloc(FORGET_SLOT);
    two = forget_malloc(FORGET_SLOT_MIN);
    assert_true(forget_is_slot(one) && forget_is_slot(two));
    assert_false(forget_is_slot(NULL) || forget_is_slot(&one));
    assert_int_equal((uintptr_t)one % PAGE, 0);
    assert_true(two >= one + FORGET_SLOT || one >= two + FORGET_SLOT);
    assert_int_equal(resident(one, FORGET_SLOT / PAGE), 0);
    fill(one, FORGET_SLOT);
    errno = EDOM;
    forget_free(one);
    assert_int_equal(errno, EDOM);
    assert_int_equal(resident(one, FORGET_SLOT / PAGE), 0);
    assert_int_equal(secrets_in(one, FORGET_SLOT), 0);
    assert_ptr_equal(forget_malloc(FORGET_SLOT), one);
    forget_free(one);
    forget_free(two);
}

static void buffers_of_other_sizes_are_the_heaps(void **state)
{
    char *small = forget_malloc(FORGET_SLOT_MIN - 1), *large = forget_malloc(FORGET_SLOT + 1);

    (void)state;
    assert_non_null(small);
    assert_non_null(large);
    assert_false(forget_is_slot(small) || forget_is_slot(large));
    forget_free(small);
    forget_free(large);
}

static void a_slot_is_resized_like_any_other_piece(void **state)
{
    char *p, *bigger;

    (void)state;
    forget_open_slots();
    p = forget_malloc(FORGET_SLOT_MIN);
    fill(p, FORGET_SLOT_MIN);
    assert_ptr_equal(forget_realloc(p, FORGET_SLOT), p);
    assert_ptr_equal(forget_realloc(p, 50), p);
    assert_int_equal(secrets_in(p + 50, FORGET_SLOT - 50), 0);
    bigger = forget_realloc(p, FORGET_SLOT * 2);
    assert_false(forget_is_slot(bigger));
    assert_memory_equal(bigger, SECRET, sizeof(SECRET));
    assert_int_equal(resident(p, FORGET_SLOT / PAGE), 0);
    forget_free(bigger);
}

static void without_a_free_slot_the_heap_serves(void **state)
{
    char **all = malloc(FORGET_SLOTS * sizeof(*all)), *more;
    size_t i;

    (void)state;
    forget_open_slots();
    for (i = 0; i < FORGET_SLOTS; i++) {
        all[i] = forget_malloc(FORGET_SLOT);
        assert_true(forget_is_slot(all[i]));
    }
    more = forget_malloc(FORGET_SLOT);
    assert_non_null(more);
    assert_false(forget_is_slot(more));
    forget_free(more);
    forget_free(all[7000]);
    assert_ptr_equal(forget_malloc(FORGET_SLOT), all[7000]);
    for (i = 0; i < FORGET_SLOTS; i++)
        forget_free(all[i]);
    forget_free(all);
}

/* The C library's own heap, in builds with a sanitizer too. */
extern void *__libc_malloc(size_t bytes);
extern void __libc_free(void *p);

static void after_many_slots_the_heap_gives_back_its_free_pages(void **state)
{
    enum { PIECES = 100, SIZE = 30000 };
    char *first, *pieces[PIECES], *fence;
    size_t i;

    (void)state;
    forget_open_slots();
    for (i = 0; i < PIECES; i++)
        pieces[i] = __libc_malloc(SIZE);
    fence = __libc_malloc(SIZE); /* else they were the heap's end, which falls back by itself */
    first = pieces[PIECES / 2];
    for (i = 0; i < PIECES; i++) {
        fill(pieces[i], SIZE);
        __libc_free(pieces[i]);
    }
    first += -(uintptr_t)first & (PAGE - 1);
    assert_int_equal(resident(first, 6), 6);
    for (i = 0; i < 2000; i++)
        forget_free(forget_malloc(FORGET_SLOT));
    assert_int_equal(resident(first, 6), 0);
    __libc_free(fence);
}

#define ANSWER "HTTP/1.1 101 Switching Protocols\r\nUpgrade: WebSocket\r\n\r\n"

static void an_answer_to_a_handshake_is_given_up_when_nothing_came_behind_it(void **state)
{
    static const char *const kept[] = {
        ANSWER "\x81\x01z",
        ANSWER "\x81",
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: WebSocket\r\n",
        "HTTP/1.1 200 OK\r\n\r\n",
        "\x81\x0dHTTP/1.1 101 \r\n\r\n",
        "H",
    };
    char *p, *heap = calloc(1, PAGE);
    size_t i;

    (void)state;
    forget_open_slots();
    p = forget_malloc(FORGET_SLOT);
    for (i = 0; i < ARRAY_LEN(kept); i++) {
        memset(p, 0, PAGE);
        memcpy(p, kept[i], strlen(kept[i]));
        assert_false(forget_answer(p));
        assert_memory_equal(p, kept[i], strlen(kept[i]));
    }
    memset(p, 0, PAGE);
    memcpy(p, ANSWER, strlen(ANSWER));
    p[PAGE - 1] = 'z'; /* far behind it */
    assert_false(forget_answer(p));
    memset(p, 'x', PAGE);
    memcpy(p, ANSWER, 13);
    memcpy(p + PAGE - 4, "\r\n\r\n", 4); /* goes on, perhaps, on the next page */
    assert_false(forget_answer(p));
    memset(p, 0, PAGE);
    memcpy(p, ANSWER, strlen(ANSWER));
    assert_true(forget_answer(p));
    assert_int_equal(resident(p, 1), 0);
    memcpy(heap, ANSWER, strlen(ANSWER));
    assert_false(forget_answer(heap) || forget_answer(NULL));
    forget_free(heap);
    forget_free(p);
}

static void who_takes_the_next_buffer_is_through_with_the_answer_in_the_last(void **state)
{
    char *first, *second, *small;

    (void)state;
    forget_open_slots();
    first = forget_place(FORGET_SLOT);
    memcpy(first, ANSWER, strlen(ANSWER));
    small = forget_place(100);
    assert_false(forget_is_slot(small));
    assert_int_equal(resident(first, 1), 1);
    second = forget_place(FORGET_SLOT);
    assert_int_equal(resident(first, 1), 0);
    memcpy(second, ANSWER "\x81", strlen(ANSWER "\x81"));
    forget_free(first);
    first = forget_place(FORGET_SLOT);
    assert_memory_equal(second, ANSWER "\x81", strlen(ANSWER "\x81"));
    forget_free(first);
    forget_free(second);
    forget_free(small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slot_is_taken_and_given),
        cmocka_unit_test(what_is_freed_is_overwritten),
        cmocka_unit_test(a_piece_that_grows_leaves_nothing_behind),
        cmocka_unit_test(a_piece_that_shrinks_loses_its_tail),
        cmocka_unit_test(what_cannot_grow_stays_as_it_was),
        cmocka_unit_test(what_of_a_large_piece_was_not_used_is_not_touched),
        cmocka_unit_test(buffers_of_other_sizes_are_the_heaps),
        cmocka_unit_test(a_slot_is_resized_like_any_other_piece),
        cmocka_unit_test(without_a_free_slot_the_heap_serves),
        cmocka_unit_test(after_many_slots_the_heap_gives_back_its_free_pages),
        cmocka_unit_test(who_takes_the_next_buffer_is_through_with_the_answer_in_the_last),
        cmocka_unit_test(an_answer_to_a_handshake_is_given_up_when_nothing_came_behind_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
