#include "shared/base/mem.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- memory of one request
 * ---------------------------------------------------------------------------------------
 */

#define PIECE_MAX 65536u /* bytes; larger ones are worth the C library's search */
#define ALIGN 16u
#define HEAD sizeof(size_t) /* in front of a piece: its usable bytes */
#define KINDS 64u           /* freed pieces of up to KINDS * ALIGN bytes are used again for others of their size */
#define PAGE 4096u
#define LARGE 64u /* bytes; arrays of larger things begin with room for fewer */

struct freed {
    struct freed *next;
};

/* All bytes from `used` on are zero. Pieces begin at multiples of ALIGN, so their heads, and base, lie HEAD before. */
static struct {
    char *base;
    size_t size, kept, used;
    bool on;
    struct freed *freed[KINDS];
} region;

int mem_request_open(size_t bytes, size_t kept, struct err *err)
{
    void *p;

    if (region.base)
        return 0;
    p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return err_set(err, ERR_INTERNAL, errno, "reserve memory for requests");
    region.base = (char *)p + (ALIGN - HEAD);
    region.size = bytes - ALIGN;
    region.kept = kept < region.size ? kept : region.size;
    return 0;
}

void mem_request_begin(void)
{
    region.on = region.base != NULL;
}

/* Pages that are given up read as zero afterwards; where the kernel keeps them, they are overwritten as the others. */
void mem_request_end(void)
{
    char *end = region.base + region.used, *cut;

    region.on = false;
    if (!region.used)
        return;
    cut = region.base + region.kept;
    cut += (PAGE - ((uintptr_t)cut & (PAGE - 1))) & (PAGE - 1);
    if (cut < end && madvise(cut, (size_t)(end - cut), MADV_DONTNEED) == 0)
        end = cut;
    explicit_bzero(region.base, (size_t)(end - region.base));
    memset(region.freed, 0, sizeof(region.freed));
    region.used = 0;
}

bool mem_request_pause(void)
{
    bool was_on = region.on;

    region.on = false;
    return was_on;
}

void mem_request_resume(bool was_on)
{
    region.on = was_on;
}

static size_t rounded(size_t bytes)
{
    return ((bytes + HEAD + ALIGN - 1) & ~(size_t)(ALIGN - 1)) - HEAD;
}

static struct freed **freed_of(size_t usable)
{
    return usable < KINDS * ALIGN ? &region.freed[usable / ALIGN] : NULL;
}

/* A piece of the region, or NULL: off, too large or full. *ret_zero: it was never used before. */
static void *piece_take(size_t bytes, bool *ret_zero)
{
    struct freed **list, *again;
    size_t usable;
    char *head;

    if (!region.on || bytes > PIECE_MAX)
        return NULL;
    usable = rounded(bytes);
    list = freed_of(usable);
    *ret_zero = !list || !*list;
    if (!*ret_zero) {
        again = *list;
        *list = again->next;
        return again;
    }
    if (usable + HEAD > region.size - region.used)
        return NULL;
    head = region.base + region.used;
    memcpy(head, &usable, HEAD);
    region.used += HEAD + usable;
    return head + HEAD;
}

static bool piece_owns(const void *p)
{
    return (uintptr_t)p - (uintptr_t)region.base < region.size && region.base;
}

static size_t piece_size(const void *p)
{
    size_t usable;

    memcpy(&usable, (const char *)p - HEAD, HEAD);
    return usable;
}

static void piece_give(void *p)
{
    struct freed **list = freed_of(piece_size(p)), *f = p;

    if (!list)
        return;
    f->next = *list;
    *list = f;
}

/* Only the last piece grows in place. */
static bool piece_extend(void *p, size_t bytes)
{
    size_t usable = piece_size(p), more;

    if (bytes <= usable)
        return true;
    if (!region.on || bytes > PIECE_MAX || (char *)p + usable != region.base + region.used)
        return false;
    more = rounded(bytes) - usable;
    if (more > region.size - region.used)
        return false;
    usable += more;
    memcpy((char *)p - HEAD, &usable, HEAD);
    region.used += more;
    return true;
}

/* ---- from the region, or from the C library
 * ----------------------------------------------------------------------
 */

static void *take(size_t bytes)
{
    bool zero;
    void *p = piece_take(bytes, &zero);

    return p ? p : malloc(bytes);
}

void *mem_zalloc(size_t n, size_t size)
{
    size_t bytes;
    bool zero;
    void *p;

    if (__builtin_mul_overflow(n, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    p = piece_take(bytes, &zero);
    if (!p)
        return calloc(n ? n : 1, size ? size : 1);
    return zero ? p : memset(p, 0, bytes);
}

static void *resize_piece(void *p, size_t bytes)
{
    void *bigger;

    if (piece_extend(p, bytes))
        return p;
    bigger = take(bytes);
    if (!bigger)
        return NULL;
    memcpy(bigger, p, piece_size(p));
    piece_give(p);
    return bigger;
}

void *mem_resize(void *p, size_t n, size_t size)
{
    size_t bytes;

    if (__builtin_mul_overflow(n, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    bytes = bytes ? bytes : 1;
    if (!p)
        return take(bytes);
    return piece_owns(p) ? resize_piece(p, bytes) : realloc(p, bytes);
}

char *mem_dup(const void *src, size_t len)
{
    char *copy;

    if (len == (size_t)-1)
        return NULL;
    copy = take(len + 1);
    if (!copy)
        return NULL;
    if (len)
        memcpy(copy, src, len);
    copy[len] = '\0';
    return copy;
}

char *mem_strdup(const char *s)
{
    return s ? mem_dup(s, strlen(s)) : NULL;
}

void mem_free(void *p)
{
    if (piece_owns(p))
        piece_give(p);
    else
        free(p);
}

void mem_wipe(void *p, size_t len)
{
    if (p && len)
        explicit_bzero(p, len);
}

int mem_grow(void **array, size_t len, size_t *cap, size_t size)
{
    size_t want = *cap ? *cap * 2 : size < LARGE ? 8 : 2;
    void *bigger;

    if (len < *cap)
        return 0;
    bigger = mem_resize(*array, want, size);
    if (!bigger)
        return -1;
    *array = bigger;
    *cap = want;
    return 0;
}

void cleanup_mem_free(void *p)
{
    void **slot = p;

    mem_free(*slot);
}

void cleanup_fd_close(int *fd)
{
    int saved = errno;

    if (*fd >= 0)
        close(*fd);
    errno = saved;
}
