#include "supervisor/session_table.h"

#include <string.h>

#include "shared/base/mem.h"

int session_table_init(struct session_table *t, uint32_t slots)
{
    *t = (struct session_table){ .slots = slots, .buckets = 16 };
    while (t->buckets < slots)
        t->buckets *= 2;
    hash_key_new(&t->key);
    t->by_slot = mem_zalloc(slots, sizeof(struct session *));
    t->by_id = mem_zalloc(t->buckets, sizeof(struct session *));
    t->by_actor = mem_zalloc(t->buckets, sizeof(struct session *));
    if (t->by_slot && t->by_id && t->by_actor)
        return 0;
    session_table_release(t);
    return -1;
}

void session_table_release(struct session_table *t)
{
    if (!t)
        return;
    mem_free(t->by_slot);
    mem_free(t->by_id);
    mem_free(t->by_actor);
    *t = (struct session_table){ 0 };
}

static struct session **id_bucket(const struct session_table *t, const struct id *id)
{
    return &t->by_id[hash_bytes(&t->key, id->b, sizeof(id->b)) & (t->buckets - 1)];
}

static struct session **actor_bucket(const struct session_table *t, const char *actor)
{
    return &t->by_actor[hash_text(&t->key, actor) & (t->buckets - 1)];
}

void session_table_add(struct session_table *t, struct session *s)
{
    struct session **id = id_bucket(t, &s->id), **actor = actor_bucket(t, s->actor);

    s->id_chain = *id;
    *id = s;
    s->actor_chain = *actor;
    *actor = s;
    t->by_slot[s->slot] = s;
    t->count++;
}

void session_table_remove(struct session_table *t, struct session *s)
{
    struct session **p = id_bucket(t, &s->id);

    while (*p && *p != s)
        p = &(*p)->id_chain;
    if (!*p)
        return;
    *p = s->id_chain;
    for (p = actor_bucket(t, s->actor); *p != s; p = &(*p)->actor_chain)
        ;
    *p = s->actor_chain;
    s->id_chain = s->actor_chain = NULL;
    t->by_slot[s->slot] = NULL;
    t->count--;
}

struct session *session_table_find(const struct session_table *t, const struct id *id)
{
    struct session *s = *id_bucket(t, id);

    while (s && !id_equal(&s->id, id))
        s = s->id_chain;
    return s;
}

struct session *session_table_at(const struct session_table *t, uint32_t slot)
{
    return slot < t->slots ? t->by_slot[slot] : NULL;
}

static struct session *same_actor(struct session *s, const char *actor)
{
    while (s && strcmp(s->actor, actor) != 0)
        s = s->actor_chain;
    return s;
}

struct session *session_table_first_of(const struct session_table *t, const char *actor)
{
    return same_actor(*actor_bucket(t, actor), actor);
}

struct session *session_table_next_of(const struct session *s)
{
    return same_actor(s->actor_chain, s->actor);
}
