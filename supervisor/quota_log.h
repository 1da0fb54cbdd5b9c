/* supervisor/quota_log.h -- the knocks that were counted, in a file, so that a supervisor that starts anew goes on
 * counting where the one before stopped. RUNTIME_DIR/rates/now takes a line for each; when it is older than a window it
 * becomes before, and what was there goes. Times are those of the machine's monotonic clock, which a changed wall
 * clock does not move; the file of another boot is not read. Never synced: it has to outlive a process, not the
 * machine. What cannot be written is lost, and the log says so once. */
#ifndef SUPERVISOR_QUOTA_LOG_H
#define SUPERVISOR_QUOTA_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "supervisor/quota.h"

#define QUOTA_LOG_PATH 256

struct quota_log {
    char now[QUOTA_LOG_PATH], before[QUOTA_LOG_PATH];
    char boot[64];    /* which boot's clock it is */
    int fd;           /* of now; -1: nothing is kept */
    int64_t begun_ms; /* the file's first line */
    int64_t window_ms;
    bool complained;
};

/* Counts in q what was counted before, then keeps what comes. Never fails. */
void quota_log_open(struct quota_log *l, const char *runtime_dir, int64_t window_ms, struct quota *q, int64_t now_ms);
void quota_log_close(struct quota_log *l); /* one that was never opened has fd -1 */

void quota_log_add(struct quota_log *l, const char *actor, int64_t now_ms);

#endif
