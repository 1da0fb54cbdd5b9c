/* Names while a file is followed: where they are kept, found, and what stands for one that is not known. */
#include <stdio.h>
#include <string.h>

#include "shared/base/mem.h"
#include "shared/buml/reader.h"

int buml_list_add(struct reader *r, struct thing_list *l, struct thing *t)
{
    void *items = l->items;

    if (mem_grow(&items, l->len, &l->cap, sizeof(*l->items)) < 0)
        return buml_nomem(r);
    l->items = items;
    l->items[l->len++] = t;
    return 0;
}

static int put(struct reader *r, struct scope *s, const char *name, struct thing *t)
{
    size_t at = 0;
    int rc = map_put(&s->names, name, strlen(name), s->things.len, &at);

    if (rc < 0)
        return buml_nomem(r);
    if (rc == 0) {
        s->things.items[at] = t;
        return 0;
    }
    return buml_list_add(r, &s->things, t);
}

void buml_scope_release(struct scope *s)
{
    map_release(&s->names);
    mem_free(s->things.items);
    *s = (struct scope){ 0 };
}

static struct thing *scope_get(const struct scope *s, const char *name)
{
    size_t at = map_get(&s->names, name, strlen(name));

    return at == MAP_NONE || at >= s->things.len ? NULL : s->things.items[at];
}

/* A function that is defined only later in the file. */
static struct thing *later_function(struct reader *r, const char *name)
{
    size_t at = map_get(&r->defs, name, strlen(name));
    struct thing *t;

    if (at == MAP_NONE)
        return NULL;
    t = thing_new(r, THING_FUNCTION, node_list(r->tree.module, PART_BODY)->items[at]);
    if (!t)
        return NULL;
    t->name = t->node->name;
    return map_put(&r->early, name, strlen(name), at, NULL) < 0 ? NULL : t;
}

struct thing *buml_scope_find(struct reader *r, const char *name)
{
    const struct scope *s;
    struct thing *t;

    for (s = r->scope; s; s = s->outer) {
        t = scope_get(s, name);
        if (t && (t->kind != THING_UNKNOWN || !s->outer))
            return t;
        if (t)
            break; /* a parameter that nobody gave: the name may say what it is */
    }
    t = scope_get(&r->seen, name);
    if (t)
        return t;
    return s ? scope_get(s, name) : later_function(r, name);
}

/* The name among things of one kind alone. */
static const char *kind_key(char out[static 256], enum thing_kind kind, const char *class, const char *name)
{
    return snprintf(out, 256, "%d %s %s", (int)kind, class ? class : "", name) < 256 ? out : NULL;
}

int buml_scope_bind(struct reader *r, const char *name, struct thing *t)
{
    char text[256];
    const char *key;

    if (t->kind >= THING_AGENT) {
        key = kind_key(text, t->kind, t->callee ? t->callee->name : NULL, name);
        if (put(r, &r->seen, name, t) < 0 || (key && put(r, &r->seen, key, t) < 0))
            return -1;
    }
    return put(r, r->scope, name, t);
}

struct thing *buml_meant(struct reader *r, struct thing *t, const struct node *n, enum thing_kind kind,
                         const char *class)
{
    struct thing *other = NULL;
    char text[256];
    const char *key;

    if (t && t->kind == kind && (!class || thing_is(t, class)))
        return t;
    if (n && n->kind == NODE_NAME && (key = kind_key(text, kind, class, n->name)))
        other = scope_get(&r->seen, key);
    return other ? other : t;
}
