#include "supervisor/slots.h"

#include "shared/base/mem.h"

int slots_init(struct slots *t, uint32_t count, uint32_t room)
{
    *t = (struct slots){ 0 };
    t->slot = mem_zalloc(room, sizeof(*t->slot));
    if (!t->slot)
        return -1;
    t->count = count;
    t->room = t->first_free = t->last_free = room;
    return 0;
}

void slots_release(struct slots *t)
{
    if (!t)
        return;
    mem_free(t->slot);
    *t = (struct slots){ 0 };
}

void slots_forget(struct slots *t)
{
    uint32_t i;

    for (i = 0; i < t->room; i++)
        t->slot[i].state = SLOT_UNKNOWN;
    t->first_free = t->last_free = t->room;
    t->free = t->quarantined = 0;
}

static void queue_append(struct slots *t, uint32_t slot)
{
    t->slot[slot].next = t->room;
    if (t->last_free == t->room)
        t->first_free = slot;
    else
        t->slot[t->last_free].next = slot;
    t->last_free = slot;
    t->free++;
}

static void queue_remove(struct slots *t, uint32_t slot)
{
    uint32_t *p = &t->first_free, before = t->room;

    while (*p != slot) {
        before = *p;
        p = &t->slot[*p].next;
    }
    *p = t->slot[slot].next;
    if (t->last_free == slot)
        t->last_free = before;
    t->free--;
}

int slots_take(struct slots *t, uint32_t *ret)
{
    uint32_t slot = t->first_free;

    if (slot == t->room)
        return -1;
    slots_set(t, slot, SLOT_BUSY);
    *ret = slot;
    return 0;
}

enum slot_state slots_state(const struct slots *t, uint32_t slot)
{
    return slot < t->room ? t->slot[slot].state : SLOT_UNKNOWN;
}

void slots_set(struct slots *t, uint32_t slot, enum slot_state state)
{
    enum slot_state was = t->slot[slot].state;

    if (was == state)
        return;
    if (was == SLOT_FREE)
        queue_remove(t, slot);
    t->quarantined -= was == SLOT_QUARANTINED;
    t->slot[slot].state = state;
    t->quarantined += state == SLOT_QUARANTINED;
    if (state == SLOT_FREE)
        queue_append(t, slot);
}
