#include "shared/diagram/map.h"

#include <stdbool.h>
#include <string.h>

#include "shared/base/mem.h"
#include "shared/diagram/text.h"

#define CAP_FIRST 16

void map_init(struct map *m)
{
    *m = (struct map){ 0 };
    hash_key_new(&m->key);
}

void map_release(struct map *m)
{
    size_t i;

    if (!m)
        return;
    for (i = 0; i < m->cap; i++)
        mem_free(m->slots[i].key);
    mem_free(m->slots);
    m->slots = NULL;
    m->len = m->cap = 0;
}

static struct map_slot *probe(const struct map *m, uint64_t hash, const void *key, size_t len)
{
    size_t i = hash & (m->cap - 1);

    for (;; i = (i + 1) & (m->cap - 1)) {
        struct map_slot *s = &m->slots[i];

        if (!s->key || (s->hash == hash && s->len == len && memcmp(s->key, key, len) == 0))
            return s;
    }
}

/* cap: a power of two, larger than what is in it. */
static int resize(struct map *m, size_t cap)
{
    struct map bigger = *m;
    size_t i;

    bigger.cap = cap;
    bigger.slots = mem_zalloc(bigger.cap, sizeof(*bigger.slots));
    if (!bigger.slots)
        return -1;
    for (i = 0; i < m->cap; i++)
        if (m->slots[i].key)
            *probe(&bigger, m->slots[i].hash, m->slots[i].key, m->slots[i].len) = m->slots[i];
    mem_free(m->slots);
    *m = bigger;
    return 0;
}

static bool is_full(size_t len, size_t cap)
{
    return len * 4 >= cap * 3;
}

int map_reserve(struct map *m, size_t n)
{
    size_t cap = CAP_FIRST;

    while (n && is_full(n - 1, cap))
        cap *= 2;
    return resize(m, cap);
}

int map_put(struct map *m, const void *key, size_t len, size_t value, size_t *ret_value)
{
    struct map_slot *s;
    uint64_t hash;

    if (is_full(m->len, m->cap) && resize(m, m->cap ? m->cap * 2 : CAP_FIRST) < 0)
        return -1;
    hash = hash_bytes(&m->key, key, len);
    s = probe(m, hash, key, len);
    if (!s->key) {
        char *copy = mem_dup(key, len);

        if (!copy)
            return -1;
        *s = (struct map_slot){ .key = copy, .len = len, .value = value, .hash = hash };
        m->len++;
        if (ret_value)
            *ret_value = value;
        return 1;
    }
    if (ret_value)
        *ret_value = s->value;
    return 0;
}

size_t map_get(const struct map *m, const void *key, size_t len)
{
    const struct map_slot *s;

    if (!m->cap)
        return MAP_NONE;
    s = probe(m, hash_bytes(&m->key, key, len), key, len);
    return s->key ? s->value : MAP_NONE;
}

static int put_owned(struct map *m, char *key, size_t value, size_t *ret_value)
{
    int rc = key ? map_put(m, key, strlen(key), value, ret_value) : -1;

    mem_free(key);
    return rc;
}

static int find_owned(const struct map *m, char *key, size_t *ret_value)
{
    if (!key)
        return -1;
    *ret_value = map_get(m, key, strlen(key));
    mem_free(key);
    return 0;
}

int map_put_name(struct map *m, const char *name, size_t value, size_t *ret_value)
{
    return put_owned(m, text_key(name), value, ret_value);
}

int map_put_folded(struct map *m, const char *name, size_t value, size_t *ret_value)
{
    return put_owned(m, text_fold_key(name), value, ret_value);
}

int map_find_name(const struct map *m, const char *name, size_t *ret_value)
{
    return find_owned(m, text_key(name), ret_value);
}
