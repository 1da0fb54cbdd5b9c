#include "shared/generate/stems.h"

#include <string.h>

#include "shared/base/buf.h"
#include "shared/base/mem.h"
#include "shared/base/path.h"

void stems_init(struct stems *s)
{
    *s = (struct stems){ 0 };
    map_init(&s->taken);
}

void stems_release(struct stems *s)
{
    map_release(&s->taken);
    mem_free(s->next);
}

static void lower(char *s)
{
    for (; *s; s++) /* a stem has no other letters, or is in lower case */
        if (*s >= 'A' && *s <= 'Z')
            *s = (char)(*s - 'A' + 'a');
}

/* 1 free and now taken, 0 taken already (*ret_place says by whom), -1 out of memory. */
static int take(struct stems *s, const char *stem, size_t *ret_place)
{
    auto_free char *key = mem_strdup(stem);
    void *array = s->next;
    int added;

    if (!key)
        return -1;
    lower(key);
    if (mem_grow(&array, s->len, &s->cap, sizeof(*s->next)) < 0)
        return -1;
    s->next = array;
    added = map_put(&s->taken, key, strlen(key), s->len, ret_place);
    if (added == 1)
        s->next[s->len++] = 2;
    return added;
}

int stems_reserve(struct stems *s, const char *name)
{
    size_t place;

    return take(s, name, &place) < 0 ? -1 : 0;
}

int stems_add_as_is(struct stems *s, const char *stem, struct str_list *ret)
{
    auto_buf struct buf made;
    size_t place, other;
    int added;

    buf_init(&made, 1000);
    added = take(s, stem, &place);
    if (added == 1)
        return str_list_add(ret, stem);
    while (added == 0) {
        buf_clear(&made);
        if (buf_add_fmt(&made, "%s_%zu", stem, s->next[place]++) < 0)
            return -1;
        added = take(s, made.data, &other);
    }
    return added < 0 ? -1 : str_list_add(ret, made.data);
}

int stems_add(struct stems *s, const char *name, bool lowered, struct str_list *ret)
{
    auto_free char *stem = path_stem(name);

    if (!stem)
        return -1;
    if (lowered)
        lower(stem);
    return stems_add_as_is(s, stem, ret);
}
