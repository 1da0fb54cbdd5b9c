/* supervisor/launcher/privileges.h -- the launcher gives up what it does not need, for good. */
#ifndef LAUNCHER_PRIVILEGES_H
#define LAUNCHER_PRIVILEGES_H

#include "shared/base/err.h"

/* Keeps CAP_SETUID, CAP_SETGID, CAP_KILL, CAP_CHOWN and CAP_DAC_OVERRIDE: no other capability can
 * come back, not by executing a program and not through the bounding set. -1 and err: do not go on.
 */
int privileges_drop(struct err *err);

#endif
