#include "shared/diagram/map.h"

#include <string.h>
#include <sys/random.h>

#include "shared/base/mem.h"
#include "shared/diagram/text.h"

void map_init(struct map *m)
{
    *m = (struct map){ 0 };
    if (getrandom(m->seed, sizeof(m->seed), GRND_NONBLOCK) != (ssize_t)sizeof(m->seed))
        m->seed[0] = (uintptr_t)m; /* a machine that just woke up: still not a constant */
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

static uint64_t rotate(uint64_t x, unsigned n)
{
    return (x << n) | (x >> (64 - n));
}

static void sip_round(uint64_t v[4])
{
    v[0] += v[1];
    v[1] = rotate(v[1], 13) ^ v[0];
    v[0] = rotate(v[0], 32);
    v[2] += v[3];
    v[3] = rotate(v[3], 16) ^ v[2];
    v[0] += v[3];
    v[3] = rotate(v[3], 21) ^ v[0];
    v[2] += v[1];
    v[1] = rotate(v[1], 17) ^ v[2];
    v[2] = rotate(v[2], 32);
}

/* SipHash-1-3 (Aumasson, Bernstein), the variant made for tables. */
static uint64_t sip_hash(const uint64_t seed[2], const unsigned char *p, size_t len)
{
    uint64_t v[4] = { seed[0] ^ 0x736f6d6570736575u, seed[1] ^ 0x646f72616e646f6du, seed[0] ^ 0x6c7967656e657261u,
                      seed[1] ^ 0x7465646279746573u };
    uint64_t word, last = (uint64_t)len << 56;
    size_t i;

    for (; len >= 8; len -= 8, p += 8) {
        memcpy(&word, p, 8);
        v[3] ^= word;
        sip_round(v);
        v[0] ^= word;
    }
    for (i = 0; i < len; i++)
        last |= (uint64_t)p[i] << (8 * i);
    v[3] ^= last;
    sip_round(v);
    v[0] ^= last;
    v[2] ^= 0xff;
    for (i = 0; i < 3; i++)
        sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
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

static int grow(struct map *m)
{
    struct map bigger = *m;
    size_t i;

    bigger.cap = m->cap ? m->cap * 2 : 16;
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

int map_put(struct map *m, const void *key, size_t len, size_t value, size_t *ret_value)
{
    struct map_slot *s;
    uint64_t hash;

    if (m->len * 4 >= m->cap * 3 && grow(m) < 0)
        return -1;
    hash = sip_hash(m->seed, key, len);
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
    s = probe(m, sip_hash(m->seed, key, len), key, len);
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

int map_find_folded(const struct map *m, const char *name, size_t *ret_value)
{
    return find_owned(m, text_fold_key(name), ret_value);
}
