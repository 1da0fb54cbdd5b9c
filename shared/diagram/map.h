/* shared/diagram/map.h -- keys of bytes to numbers, found in constant time whatever the keys are.
 * Keys come from diagrams, so the hash is keyed with random bytes per map: nobody can choose
 * colliding ones. A map owns copies of its keys; map_release() frees. */
#ifndef DIAGRAM_MAP_H
#define DIAGRAM_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "shared/base/keyed_hash.h"

#define MAP_NONE ((size_t)-1)

struct map_slot {
    char *key; /* NULL = free */
    size_t len, value;
    uint64_t hash;
};

struct map {
    struct map_slot *slots;
    size_t len, cap; /* cap is a power of two, 0 before the first entry */
    struct hash_key key;
};

void map_init(struct map *m);
void map_release(struct map *m); /* NULL is fine */

/* Makes an empty map large enough for n keys, so that it need not grow on the way. 0, or -1 out of memory. */
int map_reserve(struct map *m, size_t n);

/* Adds the key. *ret_value (NULL is fine) is the value it has afterwards. 1 added, 0 it was there
 * (kept), -1 out of memory. */
int map_put(struct map *m, const void *key, size_t len, size_t value, size_t *ret_value);
size_t map_get(const struct map *m, const void *key, size_t len); /* MAP_NONE: absent */

/* The same with the key of a name: text_key() and text_fold_key() of text.h. map_find_name: -1 out of
 * memory. */
int map_put_name(struct map *m, const char *name, size_t value, size_t *ret_value);
int map_put_folded(struct map *m, const char *name, size_t value, size_t *ret_value);
int map_find_name(const struct map *m, const char *name, size_t *ret_value);

#endif
