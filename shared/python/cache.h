/* shared/python/cache.h -- answers about sources that were asked before: a verdict depends on nothing but the source.
 * An editor sends a diagram again and again with one box changed. Bounded in bytes; owns copies; losing entries is
 * fine. */
#ifndef PYTHON_CACHE_H
#define PYTHON_CACHE_H

#include <stddef.h>
#include <stdint.h>

#define PYTHON_CACHE_SLOTS 2048
#define PYTHON_CACHE_ENTRY_MAX (256u << 10) /* bytes of one source and its answer */
#define PYTHON_CACHE_MAX (8u << 20)         /* bytes of all */

struct python_cache_entry {
    char *source, *answer;
    size_t source_len, answer_len;
    uint16_t type; /* of the answer */
};

struct python_cache {
    struct python_cache_entry slots[PYTHON_CACHE_SLOTS]; /* by hash; a newer source replaces an older one */
    size_t bytes;
};

void python_cache_clear(struct python_cache *c);

/* Borrowed until the next put; NULL when the source is not there. */
const struct python_cache_entry *python_cache_get(const struct python_cache *c, const char *source, size_t len);

/* Copies; too large or short of memory: nothing happens. */
void python_cache_put(struct python_cache *c, const char *source, size_t len, uint16_t type, const void *answer,
                      size_t answer_len);

#endif
