#include "shared/json/repeats.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "shared/base/keyed_hash.h"
#include "shared/base/mem.h"

#define FEW_MEMBERS 12 /* objects up to this size are compared pairwise */

/* A member and its place, so that equal names sort by place. */
struct member {
    cJSON *node;
    size_t place;
};

static int by_name_and_place(const void *a, const void *b)
{
    const struct member *x = a, *y = b;
    int order = strcmp(x->node->string, y->node->string);

    return order ? order : x->place < y->place ? -1 : 1;
}

/* The last of several equal members takes the place of the first; the ones between are dropped. */
static void merge_equal(cJSON *object, const struct member *equal, size_t n)
{
    size_t i;

    for (i = 1; i + 1 < n; i++)
        cJSON_Delete(cJSON_DetachItemViaPointer(object, equal[i].node));
    cJSON_DetachItemViaPointer(object, equal[n - 1].node);
    cJSON_ReplaceItemViaPointer(object, equal[0].node, equal[n - 1].node);
}

static bool few_and_different(const cJSON *object, size_t n)
{
    const cJSON *a, *b;

    if (n > FEW_MEMBERS)
        return false;
    for (a = object->child; a; a = a->next)
        for (b = a->next; b; b = b->next)
            if (a->string[0] == b->string[0] && strcmp(a->string, b->string) == 0)
                return false;
    return true;
}

/* Whether two of n members have one name: 1, 0, -1 out of memory. Sorting them would cost most of the reading of a wide
 * object. */
static int has_equal(const cJSON *object, size_t n)
{
    size_t mask = 1, i;
    auto_free const char **slots = NULL;
    struct hash_key key;
    const cJSON *c;

    while (mask < 2 * n)
        mask <<= 1;
    slots = mem_zalloc(mask--, sizeof(*slots));
    if (!slots)
        return -1;
    hash_key_new(&key);
    for (c = object->child; c; c = c->next) {
        for (i = (size_t)hash_text(&key, c->string) & mask; slots[i]; i = (i + 1) & mask)
            if (strcmp(slots[i], c->string) == 0)
                return 1;
        slots[i] = c->string;
    }
    return 0;
}

int json_merge_repeats(cJSON *object, size_t n)
{
    auto_free struct member *members = NULL;
    int equal = few_and_different(object, n) ? 0 : has_equal(object, n);
    size_t i, end;
    cJSON *c;

    if (equal <= 0)
        return equal;
    members = mem_zalloc(n, sizeof(*members));
    if (!members)
        return -1;
    for (c = object->child, i = 0; c; c = c->next, i++)
        members[i] = (struct member){ c, i };
    qsort(members, n, sizeof(*members), by_name_and_place);
    for (i = 0; i < n; i = end) {
        for (end = i + 1; end < n && strcmp(members[i].node->string, members[end].node->string) == 0; end++)
            ;
        if (end - i > 1)
            merge_equal(object, members + i, end - i);
    }
    return 0;
}
