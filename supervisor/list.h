/* supervisor/list.h -- a ring of nodes that live inside other structs; the head is a node too.
 * A node that is in no list points to itself, so that removing it twice is harmless. */
#ifndef SUPERVISOR_LIST_H
#define SUPERVISOR_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct list {
    struct list *prev, *next;
};

static inline void list_init(struct list *l)
{
    l->prev = l->next = l;
}

static inline bool list_empty(const struct list *l)
{
    return l->next == l;
}

static inline void list_remove(struct list *node)
{
    node->prev->next = node->next;
    node->next->prev = node->prev;
    list_init(node);
}

/* At the end of head's list; out of the one it was in. */
static inline void list_append(struct list *head, struct list *node)
{
    list_remove(node);
    node->prev = head->prev;
    node->next = head;
    head->prev->next = node;
    head->prev = node;
}

/* The struct of the given type that node is the named member of. */
#define list_entry(node, type, member) ((type *)(void *)((char *)(void *)(node)-offsetof(type, member)))

#endif
