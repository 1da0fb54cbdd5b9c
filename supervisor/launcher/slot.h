/* supervisor/launcher/slot.h -- one place for a session: a UID, a directory, a holder. Pure
 * bookkeeping; what the states make happen is run.c's. Slots are numbered from 0; slot n has UID
 * base + n. */
#ifndef LAUNCHER_SLOT_H
#define LAUNCHER_SLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "shared/ipc/launch.h"

enum slot_state {
    SLOT_FREE,        /* nothing of it exists */
    SLOT_STARTING,    /* directory and socket are there, the child has not executed the holder yet */
    SLOT_BUSY,        /* the holder runs, or has ended and waits for LAUNCH_STOP */
    SLOT_STOPPING,    /* a cleaner is at work */
    SLOT_QUARANTINED, /* the cleaner gave up for now; the UID must not be used */
    SLOT__MAX
};

struct slot {
    uint32_t number;
    enum slot_state state; /* slot_set_state() only */
    struct id id;
    pid_t holder;  /* 0: none, or gone */
    pid_t cleaner; /* 0: none */
    int life_fd;   /* our end of the holder's pipe: it ends when we do; -1 none */
    int report_fd; /* start report of the child; -1 none */
    bool swept;    /* clean, but the holder's end is not known yet: the next one cannot be waited for before */
    bool given_up; /* its cleaner did so once since it was used: it is quarantined while the next one tries, too */
    bool failed;   /* the start failed: the supervisor gets LAUNCH_FAILED once it is clean */
    int errnum;    /* why */
};

/* Changes the state; -1 when that step is not allowed (a fault of ours: nothing changes). */
int slot_set_state(struct slot *s, enum slot_state to);
const char *slot_state_name(enum slot_state state);

/* What the supervisor is told. A slot being cleaned is not usable: quarantined, and slot_is_being_cleaned() tells it
 * from one that could not be cleaned. */
enum launch_slot_state slot_public_state(const struct slot *s);
bool slot_is_being_cleaned(const struct slot *s);

/* Checks what came from the supervisor: 0, or -1 when it is no message of ours. */
int slot_check_message(const struct launch_msg *m, size_t len, uint32_t n_slots);

#endif
