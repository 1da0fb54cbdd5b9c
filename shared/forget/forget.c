#include "shared/forget/forget.h"

#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* glibc's own, or the sanitizer's, under the names that stay when others stand in front. */
#ifdef FORGET_SANITIZED
#define __libc_free __interceptor_free
#define __libc_malloc __interceptor_malloc
#define __libc_realloc __interceptor_realloc
#endif
extern void __libc_free(void *p);
extern void *__libc_malloc(size_t bytes);
extern void *__libc_realloc(void *p, size_t bytes);

#define PAGE 4096u
#define GIVE_UP (32u << 10) /* from here on a system call is cheaper than to touch what was perhaps never used */
#define WORD 64u
#define TRIM_EACH 2000u /* slots given back: a thousand conversations in nginx */

/* Threads may share it, so bits are set and cleared atomically. File-scope state as the C library's heap is. */
static struct {
    char *base;
    uint64_t taken[FORGET_SLOTS / WORD];
    unsigned given;
    void *latest; /* of forget_place() */
} slots;

/* Pages that are given up read as zero. */
static void wipe(char *p, size_t len)
{
    char *end = p + len, *first = p + (-(uintptr_t)p & (PAGE - 1)), *last = end - ((uintptr_t)end & (PAGE - 1));

    if (len >= GIVE_UP && madvise(first, (size_t)(last - first), MADV_DONTNEED) == 0) {
        explicit_bzero(p, (size_t)(first - p));
        explicit_bzero(last, (size_t)(end - last));
    } else {
        explicit_bzero(p, len);
    }
}

/* ---- slots ---- */

void forget_open_slots(void)
{
    void *p;

    if (slots.base)
        return;
    p = mmap(NULL, FORGET_SLOTS * FORGET_SLOT, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
             0);
    if (p != MAP_FAILED)
        slots.base = p;
}

bool forget_is_slot(const void *p)
{
    return slots.base && (uintptr_t)p - (uintptr_t)slots.base < FORGET_SLOTS * FORGET_SLOT;
}

/* The lowest: page tables of what was once used stay. */
static void *slot_take(void)
{
    size_t w;

    for (w = 0; w < FORGET_SLOTS / WORD; w++) {
        uint64_t taken = __atomic_load_n(&slots.taken[w], __ATOMIC_RELAXED), bit;

        while (~taken) {
            bit = ~taken & (taken + 1); /* the lowest that is clear */
            taken = __atomic_fetch_or(&slots.taken[w], bit, __ATOMIC_ACQUIRE);
            if (!(taken & bit))
                return slots.base + (w * WORD + (size_t)__builtin_ctzll(bit)) * FORGET_SLOT;
        }
    }
    return NULL;
}

/* What a storm of conversations leaves lies between those that stay, so the heap does not shrink by itself. */
static void slot_give(void *p)
{
    size_t n = (size_t)((char *)p - slots.base) / FORGET_SLOT;

    wipe(p, FORGET_SLOT);
    __atomic_fetch_and(&slots.taken[n / WORD], ~((uint64_t)1 << (n % WORD)), __ATOMIC_RELEASE);
    if (__atomic_add_fetch(&slots.given, 1, __ATOMIC_RELAXED) % TRIM_EACH == 0)
        malloc_trim(0);
}

bool forget_answer(void *p)
{
    static const char begin[] = "HTTP/1.1 101 ", end[] = "\r\n\r\n";
    const char *rest, *last = (const char *)p + PAGE - 1;

    if (!forget_is_slot(p) || memcmp(p, begin, sizeof(begin) - 1) != 0)
        return false;
    rest = memmem(p, PAGE, end, sizeof(end) - 1);
    if (!rest)
        return false;
    rest += sizeof(end) - 1;
    if (rest > last || *rest || memcmp(rest, rest + 1, (size_t)(last - rest)) != 0) /* all as the first, which is 0 */
        return false;
    return madvise(p, PAGE, MADV_DONTNEED) == 0;
}

/* ---- in place of the C library's ---- */

void *forget_malloc(size_t bytes)
{
    void *p = NULL;

    if (slots.base && bytes >= FORGET_SLOT_MIN && bytes <= FORGET_SLOT)
        p = slot_take();
    return p ? p : __libc_malloc(bytes);
}

void forget_free(void *p)
{
    int saved = errno;

    if (forget_is_slot(p)) {
        slot_give(p);
    } else if (p) {
        wipe(p, malloc_usable_size(p));
        __libc_free(p);
    }
    errno = saved;
}

/* nginx reads the answer to a handshake into the first buffer of a conversation and copies what it needs of it. When it
 * takes the second buffer the answer has been passed on, and nobody looks at it again. */
void *forget_place(size_t bytes)
{
    void *p = forget_malloc(bytes);

    if (forget_is_slot(p))
        forget_answer(__atomic_exchange_n(&slots.latest, p, __ATOMIC_RELAXED));
    return p;
}

/* A piece never grows in place: glibc would not tell whether it moved, and left the old one as it was. */
void *forget_realloc(void *p, size_t bytes)
{
    size_t had;
    void *moved;

    if (!p)
        return forget_malloc(bytes);
    if (!bytes) {
        forget_free(p);
        return NULL;
    }
    had = forget_is_slot(p) ? FORGET_SLOT : malloc_usable_size(p);
    if (bytes <= had) {
        wipe((char *)p + bytes, had - bytes);
        return forget_is_slot(p) ? p : __libc_realloc(p, bytes); /* shrinks in place */
    }
    moved = forget_malloc(bytes);
    if (!moved)
        return NULL;
    memcpy(moved, p, had);
    forget_free(p);
    return moved;
}
