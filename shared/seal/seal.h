/* shared/seal/seal.h -- each of our programs gives up, for good, the system calls that it does not need.
 * Supervisor and workers, who start nothing but the jailed Python parser, have a list of what they may; all else fails
 * with EPERM, and with ENOSYS what is newer than the list. Launcher and holder have a list of what they may not:
 * filters are inherited, and bubblewrap and the agents come after them. Without a filter no program goes on.
 *
 * The keeper has none: it reads nothing but its settings and starts nginx, whose needs are not ours to list.
 *
 * Builds with sanitizers let through what the sanitizers' own work needs. */
#ifndef SEAL_SEAL_H
#define SEAL_SEAL_H

#include <stddef.h>

#include "shared/base/err.h"
#include "shared/seal/seccomp.h"

#if defined(__SANITIZE_ADDRESS__)
#define SEAL_SANITIZED 1
#elif defined(__has_feature)
#define SEAL_SANITIZED __has_feature(address_sanitizer)
#else
#define SEAL_SANITIZED 0
#endif

enum seal_program {
    SEAL_SUPERVISOR = 1 << 0,
    SEAL_WORKER = 1 << 1,
    SEAL_HOLDER = 1 << 2,
    SEAL_LAUNCHER = 1 << 3,
};

/* no_new_privs, then the filter, for this thread and all that it starts: call it while there is one. 0, or -1 and err:
 * do not go on. */
int seal_self(enum seal_program program, struct err *err);

/* The filter program of seal_self(), for tests. */
int seal_make(struct buf *ret, enum seal_program program, struct err *err);

/* A row of the list of what supervisor and workers may. */
struct seal_row {
    struct seccomp_rule rule;
    unsigned programs; /* enum seal_program, several */
};

const struct seal_row *seal_rows(size_t *ret_n);

#endif
