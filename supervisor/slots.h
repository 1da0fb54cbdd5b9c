/* supervisor/slots.h -- which slots of the launcher are free. A slot is a UID and a directory; it is given again only
 * after the launcher said that nothing is left in it, and the one free for longest is given first. */
#ifndef SUPERVISOR_SLOTS_H
#define SUPERVISOR_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

enum slot_state { SLOT_UNKNOWN, SLOT_FREE, SLOT_BUSY, SLOT_QUARANTINED };

struct slots {
    struct slot {
        enum slot_state state;
        uint32_t next; /* queue of free ones */
    } * slot;
    uint32_t room;                  /* of them have a place in memory */
    uint32_t count;                 /* so many there are */
    uint32_t first_free, last_free; /* room: none */
    uint32_t free, quarantined;     /* how many are in that state */
};

int slots_init(struct slots *t, uint32_t count, uint32_t room); /* all UNKNOWN; 0, or -1 out of memory */
void slots_release(struct slots *t);                            /* NULL is fine */
int slots_take(struct slots *t, uint32_t *ret); /* a free slot becomes BUSY: 0, or -1 when there is none */
enum slot_state slots_state(const struct slots *t, uint32_t slot);     /* UNKNOWN beyond room */
void slots_set(struct slots *t, uint32_t slot, enum slot_state state); /* what the launcher says; slot < room */
void slots_forget(struct slots *t);                                    /* the launcher is gone: all UNKNOWN */

#endif
