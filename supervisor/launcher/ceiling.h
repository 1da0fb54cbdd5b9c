/* supervisor/launcher/ceiling.h -- what bounds a session that no setting bounds. Pure.
 * The settings say what a session is promised and shown; without them one agent could still not have the whole
 * machine: half of its memory, a sixteenth of it, 1 GiB at most, in files. */
#ifndef LAUNCHER_CEILING_H
#define LAUNCHER_CEILING_H

#include <stdint.h>

#include "shared/config/config.h"

/* machine_mb: memory of the machine in MiB; 0: not known, then of a small one. */
int64_t ceiling_memory_mb(const struct config *config, int64_t machine_mb);
int64_t ceiling_disk_mb(const struct config *config, int64_t machine_mb);

int64_t ceiling_machine_mb(void);

#endif
