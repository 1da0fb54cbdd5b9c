/* supervisor/sandbox/rlimits.h -- resource limits of an agent: from the settings to setrlimit. */
#ifndef SANDBOX_RLIMITS_H
#define SANDBOX_RLIMITS_H

#include <stddef.h>
#include <sys/resource.h>

#include "shared/config/config.h"

#define RLIMITS_N 11

struct rlimits {
    struct {
        int resource;
        rlim_t soft, hard;
    } row[RLIMITS_N];
};

/* Pure. The processor time limit has a second of grace between SIGXCPU and SIGKILL. */
void rlimits_make(struct rlimits *ret, const struct config *config);

/* Async-signal-safe: 0, or -1 with errno. A hard limit that is lower already stays. */
int rlimits_apply(const struct rlimits *limits);

#endif
