/* shared/ipc/launch.h -- supervisor <-> launcher: fixed-size messages on a SEQPACKET socket.
 * The launcher is the only process with power over session UIDs; it trusts nothing but these
 * fields, each checked against its own configuration. Anything else ends the connection. */
#ifndef IPC_LAUNCH_H
#define IPC_LAUNCH_H

#include <stdint.h>

#include "shared/base/id.h"

#define LAUNCH_MAGIC 0x61677331u /* "ags1": both sides of one build */

enum launch_op {
    /* supervisor -> launcher */
    LAUNCH_START = 1, /* slot, id: make the slot's directory and start its holder */
    LAUNCH_STOP,      /* slot: kill everything of its UID, remove its directory */

    /* launcher -> supervisor */
    LAUNCH_SLOT,        /* slot, state, id: one per slot right after connecting, then LAUNCH_READY */
    LAUNCH_READY,       /* value: number of slots */
    LAUNCH_STARTED,     /* slot, id, value: pid of the holder; its socket listens */
    LAUNCH_FAILED,      /* slot, id, value: errno; the slot is clean */
    LAUNCH_EXITED,      /* slot, id, value: wait status of the holder; the slot still needs LAUNCH_STOP */
    LAUNCH_CLEAN,       /* slot: nothing of the session is left, the slot may be used again */
    LAUNCH_QUARANTINED, /* slot, value: processes that cannot be killed; retried by the launcher, CLEAN may follow */
    LAUNCH_OP_MAX
};

enum launch_slot_state { LAUNCH_SLOT_FREE, LAUNCH_SLOT_BUSY, LAUNCH_SLOT_QUARANTINED };

struct launch_msg {
    uint32_t magic;
    uint32_t op;    /* enum launch_op */
    uint32_t slot;  /* 0 .. slots - 1 */
    uint32_t state; /* enum launch_slot_state, for LAUNCH_SLOT */
    int64_t value;
    struct id id; /* session; zero where none */
};

_Static_assert(sizeof(struct launch_msg) == 40, "fixed layout, no padding");

#endif
