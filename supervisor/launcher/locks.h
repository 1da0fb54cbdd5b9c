/* supervisor/launcher/locks.h -- ends sessions that hold more locks on parts of files (fcntl) than programs need.
 *
 * Each lock lies in memory of the kernel that no control group counts, and no resource limit bounds their number:
 * one session would take all memory of the machine in a minute. /proc/locks tells who holds them; the filter sees to
 * it that each has a process that lives (shared/seal/refused.c: no locks without one, no shared tables of files). */
#ifndef LAUNCHER_LOCKS_H
#define LAUNCHER_LOCKS_H

#include <sys/types.h>

#define LOCKS_MOST 10000 /* of one session: 2 MB; databases take a handful per file */

struct launcher;

void locks_watch(struct launcher *l); /* looks every second while sessions run */

/* Pure parts. Who holds the lock of a line of /proc/locks, or waits for it: 0, or -1 and no such line. */
int locks_parse_line(const char *line, pid_t *ret);

/* The real user in a /proc/PID/status text, also that of a process whose first thread has ended: 0, or -1. */
int locks_parse_user(const char *status, uid_t *ret);

#endif
