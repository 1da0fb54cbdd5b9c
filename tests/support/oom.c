#include "tests/support/oom.h"

#include <errno.h>
#include <stddef.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);

static unsigned long countdown; /* 0 = off */
static bool hit;

void oom_fail_at(unsigned long n)
{
    countdown = n;
    hit = false;
}

void oom_off(void)
{
    countdown = 0;
}

bool oom_hit(void)
{
    return hit;
}

static bool fails_now(void)
{
    if (!countdown || --countdown)
        return false;
    hit = true;
    errno = ENOMEM;
    return true;
}

void *__wrap_malloc(size_t size)
{
    return fails_now() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return fails_now() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t size)
{
    return fails_now() ? NULL : __real_realloc(p, size);
}
