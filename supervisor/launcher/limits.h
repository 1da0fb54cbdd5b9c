/* supervisor/launcher/limits.h -- control groups and disks together: made ready, undone, put into one word. */
#ifndef LAUNCHER_LIMITS_H
#define LAUNCHER_LIMITS_H

#include <stdint.h>

#include "supervisor/launcher/launcher.h"

void limits_find(struct launcher *l);   /* as full root; a disk that cannot be had is logged, not fatal */
void limits_set_up(struct launcher *l); /* with what is left of root: says in the log what there is */
void limits_close(struct launcher *l);  /* removes our directories of control groups */

/* What is bounded, as enum launch_limit. */
uint32_t limits_word(const struct launcher *l);

/* What would be bounded if the launcher started here and now: prints it in a line. Beside a service that runs. Returns
 * the exit status: 0 when all that is set can be enforced. */
int limits_self_test(const char *config_file);

/* Pure part: why there is no control group, by errno (0: nothing is mounted). */
uint32_t limits_why(int errnum);

#endif
