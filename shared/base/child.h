/* shared/base/child.h -- a forked child that sets itself up in named steps and then executes a
 * program. The child may only make async-signal-safe calls: on failure it writes the number of the
 * step and errno to a close-on-exec pipe, and the parent makes words of it. End of file on the
 * pipe: the program runs (or the child was killed, which its pidfd tells). */
#ifndef BASE_CHILD_H
#define BASE_CHILD_H

#include <stddef.h>

#include "shared/base/err.h"

struct child_step {
    const char *name;             /* for the sentence: "set user: Operation not permitted" */
    int (*run)(const void *plan); /* 0, or -1 with errno; the last one executes and returns only to fail */
};

/* In the child: runs the steps, reports the first failure to report_fd, exits 127. */
void child_run(const struct child_step *steps, size_t n, const void *plan, int report_fd) __attribute__((noreturn));

/* In the parent, non-blocking descriptor: 1 executed (end of file), 0 nothing yet, -1 and err
 * naming the failed step (errnum is the child's errno). */
int child_report(int report_fd, const struct child_step *steps, size_t n, struct err *err);

/* Steps that every child of ours takes. */
int child_reset_signals(const void *unused); /* default actions, empty mask */
int child_new_session(const void *unused);   /* setsid */
int child_no_new_privs(const void *unused);
int child_no_core(const void *unused); /* RLIMIT_CORE 0, for good */

#endif
