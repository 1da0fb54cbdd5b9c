#include "shared/json/value.h"

#include <string.h>

#include "shared/base/mem.h"

void value_release(struct value *v)
{
    size_t i;

    if (!v)
        return;
    for (i = 0; i < v->len; i++) {
        if (v->keys)
            mem_free(v->keys[i]);
        if (v->items)
            value_release(&v->items[i]);
    }
    mem_free(v->keys);
    mem_free(v->items);
    mem_free(v->string);
    *v = (struct value){ 0 };
}

static int copy_members(const struct value *v, struct value *to)
{
    size_t i;

    to->items = mem_zalloc(v->len, sizeof(*to->items));
    if (!to->items)
        return -1;
    if (v->keys) {
        to->keys = mem_zalloc(v->len, sizeof(*to->keys));
        if (!to->keys)
            return -1;
    }
    for (i = 0; i < v->len; i++) {
        to->len = i + 1; /* what is half built is released with the rest */
        if (v->keys) {
            to->keys[i] = mem_strdup(v->keys[i]);
            if (!to->keys[i])
                return -1;
        }
        if (value_copy(&v->items[i], &to->items[i]) < 0)
            return -1;
    }
    return 0;
}

int value_copy(const struct value *v, struct value *ret)
{
    struct value copy = { .kind = v->kind, .boolean = v->boolean, .integer = v->integer, .number = v->number };

    if (v->string) {
        copy.string = mem_strdup(v->string);
        if (!copy.string)
            return -1;
    }
    if (v->len && copy_members(v, &copy) < 0) {
        value_release(&copy);
        return -1;
    }
    *ret = copy;
    return 0;
}

const struct value *value_get(const struct value *object, const char *key)
{
    size_t i;

    if (!object || object->kind != VALUE_OBJECT)
        return NULL;
    for (i = 0; i < object->len; i++)
        if (strcmp(object->keys[i], key) == 0)
            return &object->items[i];
    return NULL;
}
