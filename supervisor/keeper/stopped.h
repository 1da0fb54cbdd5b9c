/* supervisor/keeper/stopped.h -- does a child stand still? Whoever was stopped (SIGSTOP) is there and does nothing, and
 * everybody waits for it. Debuggers stop in another way and are let be. */
#ifndef KEEPER_STOPPED_H
#define KEEPER_STOPPED_H

#include <stdbool.h>
#include <sys/types.h>

#define STOPPED_LOOK_S 5. /* between two looks */
#define STOPPED_LOOKS_MOST \
    2 /* in a row: then it is killed and starts anew, so 5 to 10 seconds after it was stopped \
       */

bool stopped_now(pid_t pid);

/* Is this text of /proc/PID/stat one of a stopped process? Its name may hold anything. */
bool stopped_says(const char *stat);

#endif
