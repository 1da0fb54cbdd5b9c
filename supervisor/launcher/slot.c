#include "supervisor/launcher/slot.h"

#define TO(s) (1u << SLOT_##s)

static const unsigned allowed[SLOT__MAX] = {
    [SLOT_FREE] = TO(STARTING) | TO(STOPPING),    [SLOT_STARTING] = TO(BUSY) | TO(STOPPING), [SLOT_BUSY] = TO(STOPPING),
    [SLOT_STOPPING] = TO(FREE) | TO(QUARANTINED), [SLOT_QUARANTINED] = TO(STOPPING),
};

int slot_set_state(struct slot *s, enum slot_state to)
{
    if ((unsigned)to >= SLOT__MAX || !((allowed[s->state] >> to) & 1u))
        return -1;
    s->state = to;
    return 0;
}

const char *slot_state_name(enum slot_state state)
{
    static const char *const names[SLOT__MAX] = { "free", "starting", "busy", "stopping", "quarantined" };

    return (unsigned)state < SLOT__MAX ? names[state] : "";
}

enum launch_slot_state slot_public_state(const struct slot *s)
{
    static const enum launch_slot_state shown[SLOT__MAX] = {
        [SLOT_FREE] = LAUNCH_SLOT_FREE,
        [SLOT_STARTING] = LAUNCH_SLOT_BUSY,
        [SLOT_BUSY] = LAUNCH_SLOT_BUSY,
        [SLOT_STOPPING] = LAUNCH_SLOT_QUARANTINED,
        [SLOT_QUARANTINED] = LAUNCH_SLOT_QUARANTINED,
    };

    return shown[s->state];
}

bool slot_is_being_cleaned(const struct slot *s)
{
    return s->state == SLOT_STOPPING && !s->given_up;
}

int slot_check_message(const struct launch_msg *m, size_t len, uint32_t n_slots)
{
    if (len != sizeof(*m) || m->magic != LAUNCH_MAGIC)
        return -1;
    if (m->op != LAUNCH_START && m->op != LAUNCH_STOP && m->op != LAUNCH_NAME)
        return -1;
    return m->slot < n_slots ? 0 : -1;
}
