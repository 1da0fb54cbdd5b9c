#include "shared/generate/yaml_tree.h"

#include <string.h>

#include "shared/base/mem.h"
#include "shared/base/str.h"

void ytree_release(struct ytree *t)
{
    size_t i;

    if (!t)
        return;
    for (i = 0; i < t->len; i++)
        ytree_release(&t->items[i]);
    mem_free(t->items);
    mem_free(t->text);
    *t = (struct ytree){ 0 };
}

bool ytree_is_null(const struct ytree *t)
{
    static const char *const spellings[] = { "", "~", "null", "Null", "NULL" };
    size_t i;

    if (t->kind != YTREE_SCALAR || !t->plain)
        return false;
    for (i = 0; i < ARRAY_LEN(spellings); i++)
        if (str_eq(t->text, spellings[i]))
            return true;
    return false;
}

bool ytree_equal(const struct ytree *a, const struct ytree *b)
{
    size_t i;

    if (a->kind != b->kind || a->len != b->len || a->plain != b->plain || !str_eq(a->text, b->text))
        return false;
    for (i = 0; i < a->len; i++)
        if (!ytree_equal(&a->items[i], &b->items[i]))
            return false;
    return true;
}

struct ytree *ytree_get(const struct ytree *mapping, const char *key)
{
    size_t i;

    if (mapping->kind != YTREE_MAPPING)
        return NULL;
    for (i = 0; i + 1 < mapping->len; i += 2)
        if (str_eq(mapping->items[i].text, key))
            return &mapping->items[i + 1];
    return NULL;
}

/* Room for one more item, zeroed. */
struct ytree *ytree_grow(struct ytree *t)
{
    void *array = t->items;

    if (mem_grow(&array, t->len, &t->cap, sizeof(*t->items)) < 0)
        return NULL;
    t->items = array;
    t->items[t->len] = (struct ytree){ 0 };
    return &t->items[t->len++];
}

void ytree_make_mapping(struct ytree *t)
{
    ytree_release(t);
    t->kind = YTREE_MAPPING;
}

int ytree_make_scalar(struct ytree *t, const char *text, bool plain, struct err *err)
{
    char *copy = mem_strdup(text);

    if (!copy)
        return err_nomem(err);
    ytree_release(t);
    *t = (struct ytree){ .kind = YTREE_SCALAR, .text = copy, .plain = plain };
    return 0;
}

struct ytree *ytree_add(struct ytree *mapping, const char *key, struct err *err)
{
    struct ytree *found = ytree_get(mapping, key), *made;
    char *copy;

    if (found)
        return found;
    copy = mem_strdup(key);
    made = copy ? ytree_grow(mapping) : NULL;
    if (!made || !ytree_grow(mapping)) {
        if (made)
            mapping->len--;
        mem_free(copy);
        err_nomem(err);
        return NULL;
    }
    mapping->items[mapping->len - 2] = (struct ytree){ .kind = YTREE_SCALAR, .text = copy, .plain = true };
    made = &mapping->items[mapping->len - 1];
    made->kind = YTREE_MAPPING;
    return made;
}

struct ytree *ytree_append(struct ytree *sequence, struct err *err)
{
    struct ytree *made;

    if (!sequence->len)
        sequence->kind = YTREE_SEQUENCE;
    made = ytree_grow(sequence);
    if (!made) {
        err_nomem(err);
        return NULL;
    }
    made->kind = YTREE_MAPPING;
    return made;
}
