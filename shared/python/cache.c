#include "shared/python/cache.h"

#include <string.h>

#include "shared/base/mem.h"

static size_t slot_of(const char *source, size_t len)
{
    uint64_t h = 14695981039346656037u; /* FNV-1a */
    size_t i;

    for (i = 0; i < len; i++)
        h = (h ^ (unsigned char)source[i]) * 1099511628211u;
    return (size_t)(h ^ (h >> 32)) % PYTHON_CACHE_SLOTS;
}

static void drop(struct python_cache *c, struct python_cache_entry *e)
{
    c->bytes -= e->source_len + e->answer_len;
    mem_free(e->source);
    mem_free(e->answer);
    *e = (struct python_cache_entry){ 0 };
}

void python_cache_clear(struct python_cache *c)
{
    size_t i;

    for (i = 0; i < PYTHON_CACHE_SLOTS; i++)
        drop(c, &c->slots[i]);
}

const struct python_cache_entry *python_cache_get(const struct python_cache *c, const char *source, size_t len)
{
    const struct python_cache_entry *e;

    if (len > PYTHON_CACHE_ENTRY_MAX)
        return NULL;
    e = &c->slots[slot_of(source, len)];
    return e->source && e->source_len == len && memcmp(e->source, source, len) == 0 ? e : NULL;
}

void python_cache_put(struct python_cache *c, const char *source, size_t len, uint16_t type, const void *answer,
                      size_t answer_len)
{
    struct python_cache_entry fresh = { .source_len = len, .answer_len = answer_len, .type = type }, *e;

    if (len + answer_len > PYTHON_CACHE_ENTRY_MAX)
        return;
    e = &c->slots[slot_of(source, len)];
    drop(c, e);
    if (c->bytes + len + answer_len > PYTHON_CACHE_MAX)
        python_cache_clear(c);
    fresh.source = mem_dup(source, len);
    fresh.answer = mem_dup(answer, answer_len);
    if (!fresh.source || !fresh.answer) {
        mem_free(fresh.source);
        mem_free(fresh.answer);
        return;
    }
    c->bytes += len + answer_len;
    *e = fresh;
}
