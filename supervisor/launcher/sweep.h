/* supervisor/launcher/sweep.h -- ends every process of a session's user, and proves it.
 * Blocking; runs in a cleaner process, never in the launcher's loop. */
#ifndef LAUNCHER_SWEEP_H
#define LAUNCHER_SWEEP_H

#include <stdint.h>
#include <sys/types.h>

/* Processes (zombies do not count) one of whose user ids is uid; -1 when /proc cannot be read. */
int sweep_count(uid_t uid);

/* The same for users first .. first + n - 1 in one look: adds to counts[n]. 0, or -1. */
int sweep_count_range(uid_t first, uint32_t n, unsigned *counts);

/* Pure part: the four user ids (real, effective, saved, file system) in a /proc/PID/status text;
 * -1 when it is a zombie's, or none. */
int sweep_parse_status(const char *status, uid_t ret[4]);

/* One signal for all of them, none can slip through by forking. Does not wait for their end. */
void sweep_strike(uid_t uid);

/* Kills until none is left or so many milliseconds have passed: number left, -1 as above. */
int sweep_user(uid_t uid, unsigned patience_ms);

/* Children only: become uid for good (groups, gid, uid, checked): 0, or -1 with errno. */
int sweep_become(uid_t uid);

#endif
