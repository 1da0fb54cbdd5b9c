/* shared/ipc/launch.h -- supervisor <-> launcher: fixed-size messages on a SEQPACKET socket.
 * The launcher is the only process with power over session UIDs; it trusts nothing but these
 * fields, each checked against its own configuration. Anything else ends the connection. */
#ifndef IPC_LAUNCH_H
#define IPC_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>

#include "shared/base/id.h"

#define LAUNCH_MAGIC 0x61677331u /* "ags1" */
#define LAUNCH_SLOTS_MAX 4096    /* of one launcher */

enum launch_op {
    /* supervisor -> launcher */
    LAUNCH_START = 1, /* slot, id: make the slot's directory and start its holder */
    LAUNCH_STOP,      /* slot: kill everything of its UID, remove its directory */

    /* launcher -> supervisor */
    LAUNCH_SLOT,        /* slot, state, id, value: one per slot right after connecting, then LAUNCH_READY */
    LAUNCH_READY,       /* value: number of slots, state: enum launch_limit, slot: launch_version() */
    LAUNCH_STARTED,     /* slot, id, value: pid of the holder; its socket listens */
    LAUNCH_FAILED,      /* slot, id, value: errno; the slot is clean */
    LAUNCH_EXITED,      /* slot, id, value: wait status of the holder; the slot still needs LAUNCH_STOP */
    LAUNCH_CLEAN,       /* slot, id (zero: it was free): nothing of the session is left, the slot may be used again */
    LAUNCH_QUARANTINED, /* slot, value: processes that cannot be killed; retried by the launcher, CLEAN may follow */

    /* supervisor -> launcher */
    LAUNCH_NAME, /* slot, id: what runs there is this session by now; nothing is answered */
    LAUNCH_OP_MAX
};

enum launch_slot_state { LAUNCH_SLOT_FREE, LAUNCH_SLOT_BUSY, LAUNCH_SLOT_QUARANTINED };

/* Value of a LAUNCH_SLOT: what is called quarantined is but being cleaned, CLEAN or QUARANTINED follows. Else 0. (No
 * state of its own: supervisors that know only those three would hang up.) */
#define LAUNCH_BEING_CLEANED 1

/* What the launcher bounds a session with: bits. Of the last row, one at most. */
enum launch_limit {
    LAUNCH_LIMITS_V1 = 1 << 0, /* control groups of that version; both may be in use */
    LAUNCH_LIMITS_V2 = 1 << 1,
    LAUNCH_LIMITS_MEMORY = 1 << 2,
    LAUNCH_LIMITS_SWAP = 1 << 3, /* memory's limit counts swapped pages too */
    LAUNCH_LIMITS_PIDS = 1 << 4,
    LAUNCH_LIMITS_CPU = 1 << 5,
    LAUNCH_LIMITS_KILL = 1 << 6, /* everything of a session is stopped at once before it is killed */
    LAUNCH_LIMITS_DISK = 1 << 7,

    LAUNCH_LIMITS_NOT_MOUNTED = 1 << 16, /* why there is no control group */
    LAUNCH_LIMITS_READ_ONLY = 1 << 17,
    LAUNCH_LIMITS_DENIED = 1 << 18,
    LAUNCH_LIMITS_BUSY = 1 << 19,
    LAUNCH_LIMITS_BROKEN = 1 << 20,
};

#define LAUNCH_LIMITS_TEXT_MAX 160

/* The bits of those limits that the settings ask for. */
uint32_t launch_limits_wanted(bool memory, bool cpu, bool disk);

/* For people: "v1: memory swap pids cpu kill", "none: not mounted", both with what of wanted is missing. limits 0: the
 * launcher has not said anything yet. */
void launch_limits_text(uint32_t limits, uint32_t wanted, char out[LAUNCH_LIMITS_TEXT_MAX]);

/* What the launcher speaks (version.h), in one word, and back. */
uint32_t launch_version(uint16_t version, uint16_t oldest);
void launch_version_split(uint32_t word, uint32_t *ret_version, uint32_t *ret_oldest);

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
