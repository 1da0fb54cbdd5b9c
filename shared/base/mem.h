/* shared/base/mem.h -- allocation with overflow checks, and scope-bound cleanup.
 * Every allocation of the project goes through these functions, so that tests can make the
 * n-th one fail (tests/support/oom.h). All return NULL when memory is short; nothing aborts. */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stdbool.h>
#include <stddef.h>

#include "shared/base/err.h"

/* Zeroed memory for n objects of size bytes; NULL when short or n * size overflows. Free with mem_free(). */
void *mem_zalloc(size_t n, size_t size);

/* Resizes p (or allocates, p NULL) to n objects of size bytes; p stays valid when NULL comes back. */
void *mem_resize(void *p, size_t n, size_t size);

/* Copies len bytes and adds a NUL; the caller frees. src may be NULL when len is 0. */
char *mem_dup(const void *src, size_t len);

/* Copies a C string; NULL gives NULL. The caller frees. */
char *mem_strdup(const char *s);

/* Frees p; NULL is fine. */
void mem_free(void *p);

/* Overwrites len bytes so that no optimiser can drop it, for credentials and tokens. */
void mem_wipe(void *p, size_t len);

/* Memory of one request: between begin and end, small pieces come from one region, and all are given back and
 * overwritten at once at the end. A piece costs a few instructions instead of the C library's search, and no secret
 * stays in one that was freed. Large pieces, and all when the region is full, come from the C library as ever; freeing
 * and resizing know where a piece is from. What has to outlive the request is allocated between pause and resume.
 * One region a process: file-scope state, as the C library's heap is. */

/* Reserves it, once; pages are taken by use, those beyond `kept` bytes go back after each request. */
int mem_request_open(size_t bytes, size_t kept, struct err *err);
void mem_request_begin(void); /* without a region nothing changes */
void mem_request_end(void);   /* no piece taken since begin may be used any more */
bool mem_request_pause(void); /* returns whether it was on, for resume */
void mem_request_resume(bool was_on);

/* Grows an array: makes room for one more element behind *len. Returns 0, or -1 with the array as it was. */
int mem_grow(void **array, size_t len, size_t *cap, size_t size);

void cleanup_mem_free(void *p); /* p is the address of a pointer; used by auto_free */
void cleanup_fd_close(int *fd); /* closes when >= 0; used by auto_fd */

/* A local that is released when its scope ends. Always initialise on the same line. */
#define auto_call(fn) __attribute__((cleanup(cleanup_##fn)))
#define auto_free auto_call(mem_free)
#define auto_fd auto_call(fd_close) /* an empty one is -1, never 0 */

/* Hands a pointer or descriptor on: the local becomes empty and cleanup does nothing. */
#define steal_ptr(p) \
    __extension__({ \
        __typeof__(p) stolen_ = (p); \
        (p) = NULL; \
        stolen_; \
    })
#define steal_fd(fd) \
    __extension__({ \
        int stolen_ = (fd); \
        (fd) = -1; \
        stolen_; \
    })

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

#endif
