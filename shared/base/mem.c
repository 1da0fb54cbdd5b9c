#include "shared/base/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *mem_zalloc(size_t n, size_t size)
{
    size_t bytes;

    if (__builtin_mul_overflow(n, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return calloc(n ? n : 1, size ? size : 1);
}

void *mem_resize(void *p, size_t n, size_t size)
{
    size_t bytes;

    if (__builtin_mul_overflow(n, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc(p, bytes ? bytes : 1);
}

char *mem_dup(const void *src, size_t len)
{
    char *copy;

    if (len == (size_t)-1)
        return NULL;
    copy = malloc(len + 1);
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
    free(p);
}

void mem_wipe(void *p, size_t len)
{
    if (p && len)
        explicit_bzero(p, len);
}

int mem_grow(void **array, size_t len, size_t *cap, size_t size)
{
    size_t want = *cap ? *cap * 2 : 8;
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
