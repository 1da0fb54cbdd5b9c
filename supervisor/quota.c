#include "supervisor/quota.h"

#include <string.h>

#include "shared/base/keyed_hash.h"
#include "shared/base/mem.h"
#include "supervisor/list.h"

#define FIRST_BUCKETS 64
#define FIRST_HITS 4

struct actor {
    struct list age;     /* in quota.by_age, longest silent first */
    struct actor *chain; /* next in the same bucket */
    uint64_t hash;
    int64_t *hits; /* a ring of cap times, the oldest at first */
    size_t cap, first, count;
    char name[];
};

struct quota {
    struct quota_rule rule;
    struct hash_key key;
    struct actor **buckets; /* a power of two of them */
    size_t buckets_len;
    struct list by_age;
    size_t actors;
    void (*counted)(void *owner, const char *actor, int64_t now_ms);
    void *owner;
};

struct quota *quota_new(const struct quota_rule *rule)
{
    struct quota *q = mem_zalloc(1, sizeof(*q));

    if (!q)
        return NULL;
    q->rule = *rule;
    hash_key_new(&q->key);
    list_init(&q->by_age);
    q->buckets_len = FIRST_BUCKETS;
    q->buckets = mem_zalloc(q->buckets_len, sizeof(struct actor *));
    if (!q->buckets) {
        quota_free(q);
        return NULL;
    }
    return q;
}

static void forget(struct quota *q, struct actor *a)
{
    struct actor **p = &q->buckets[a->hash & (q->buckets_len - 1)];

    while (*p != a)
        p = &(*p)->chain;
    *p = a->chain;
    list_remove(&a->age);
    q->actors--;
    mem_free(a->hits);
    mem_free(a);
}

void quota_free(struct quota *q)
{
    if (!q)
        return;
    while (!list_empty(&q->by_age))
        forget(q, list_entry(q->by_age.next, struct actor, age));
    mem_free(q->buckets);
    mem_free(q);
}

void quota_change(struct quota *q, const struct quota_rule *rule)
{
    q->rule = *rule;
}

size_t quota_actors(const struct quota *q)
{
    return q->actors;
}

static int64_t newest(const struct actor *a)
{
    return a->count ? a->hits[(a->first + a->count - 1) % a->cap] : INT64_MIN;
}

static void drop_old_hits(struct actor *a, int64_t window_start)
{
    while (a->count && a->hits[a->first] <= window_start) {
        a->first = (a->first + 1) % a->cap;
        a->count--;
    }
}

/* The list is ordered by the last knock, so the first one that is still of interest ends the search. */
static void forget_silent(struct quota *q, int64_t window_start)
{
    while (!list_empty(&q->by_age)) {
        struct actor *a = list_entry(q->by_age.next, struct actor, age);

        if (newest(a) > window_start)
            return;
        forget(q, a);
    }
}

static struct actor *find(const struct quota *q, const char *name, uint64_t hash)
{
    struct actor *a = q->buckets[hash & (q->buckets_len - 1)];

    while (a && (a->hash != hash || strcmp(a->name, name) != 0))
        a = a->chain;
    return a;
}

static void link_to_bucket(struct actor **buckets, size_t buckets_len, struct actor *a)
{
    struct actor **head = &buckets[a->hash & (buckets_len - 1)];

    a->chain = *head;
    *head = a;
}

/* Without memory the old table goes on, only slower. */
static void grow_buckets(struct quota *q)
{
    size_t len = q->buckets_len * 2;
    struct actor **buckets = mem_zalloc(len, sizeof(struct actor *));
    struct list *l;

    if (!buckets)
        return;
    for (l = q->by_age.next; l != &q->by_age; l = l->next)
        link_to_bucket(buckets, len, list_entry(l, struct actor, age));
    mem_free(q->buckets);
    q->buckets = buckets;
    q->buckets_len = len;
}

static struct actor *meet(struct quota *q, const char *name, uint64_t hash)
{
    size_t len = strlen(name) + 1;
    struct actor *a = mem_zalloc(1, sizeof(*a) + len);

    if (!a)
        return NULL;
    memcpy(a->name, name, len);
    a->hash = hash;
    list_init(&a->age);
    while (q->actors >= q->rule.max_actors)
        forget(q, list_entry(q->by_age.next, struct actor, age));
    if (q->actors >= q->buckets_len)
        grow_buckets(q);
    link_to_bucket(q->buckets, q->buckets_len, a);
    list_append(&q->by_age, &a->age);
    q->actors++;
    return a;
}

static int grow_hits(struct actor *a, size_t max)
{
    size_t cap = a->cap ? a->cap * 2 : FIRST_HITS, i;
    int64_t *hits;

    if (cap > max)
        cap = max;
    hits = mem_zalloc(cap, sizeof(*hits));
    if (!hits)
        return -1;
    for (i = 0; i < a->count; i++)
        hits[i] = a->hits[(a->first + i) % a->cap];
    mem_free(a->hits);
    a->hits = hits;
    a->cap = cap;
    a->first = 0;
    return 0;
}

static unsigned whole_seconds(int64_t ms)
{
    return (unsigned)((ms + 999) / 1000);
}

static int refuse(const struct quota *q, const struct actor *a, int64_t now_ms, struct err *err)
{
    size_t over = a->count > q->rule.max_hits ? a->count - q->rule.max_hits : 0; /* of a rule that was wider */
    int64_t until = a->count ? a->hits[(a->first + over) % a->cap] + q->rule.window_ms : now_ms + q->rule.window_ms;
    unsigned wait = whole_seconds(until - now_ms);

    err_set(
        err, ERR_LIMIT, 0,
        "Too many requests: validating, starting and connecting count, %zu in %u seconds at most; try again in %u s",
        q->rule.max_hits, whole_seconds(q->rule.window_ms), wait);
    if (err)
        err->wait = wait;
    return -1;
}

void quota_tell(struct quota *q, void (*counted)(void *owner, const char *actor, int64_t now_ms), void *owner)
{
    q->counted = counted;
    q->owner = owner;
}

int quota_hit(struct quota *q, const char *actor, int64_t now_ms, struct err *err)
{
    uint64_t hash = hash_text(&q->key, actor);
    struct actor *a;

    forget_silent(q, now_ms - q->rule.window_ms);
    a = find(q, actor, hash);
    if (!a)
        a = meet(q, actor, hash);
    if (!a)
        return err_nomem(err);
    drop_old_hits(a, now_ms - q->rule.window_ms);
    if (a->count >= q->rule.max_hits)
        return refuse(q, a, now_ms, err);
    if (a->count == a->cap && grow_hits(a, q->rule.max_hits) < 0) {
        if (!a->count)
            forget(q, a);
        return err_nomem(err);
    }
    a->hits[(a->first + a->count++) % a->cap] = now_ms;
    list_append(&q->by_age, &a->age);
    if (q->counted)
        q->counted(q->owner, actor, now_ms);
    return 0;
}
