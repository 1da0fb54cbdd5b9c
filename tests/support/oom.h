/* tests/support/oom.h -- makes the n-th allocation of our code fail (linked with --wrap=malloc,calloc,realloc). */
#ifndef TESTS_SUPPORT_OOM_H
#define TESTS_SUPPORT_OOM_H

#include <stdbool.h>

void oom_fail_at(unsigned long n); /* 1 = the next allocation fails, and only that one */
void oom_off(void);                /* allocations work again */
bool oom_hit(void);                /* true when the failure was delivered since oom_fail_at() */

/* Runs the statement with the 1st, 2nd, n-th allocation failing until it is no longer reached.
 * Inside, result must be checked by the caller's body: it may fail, must not crash or leak. */
#define OOM_SWEEP(body) \
    do { \
        for (unsigned long oom_n = 1; oom_n < 100000; oom_n++) { \
            oom_fail_at(oom_n); \
            body; \
            if (!oom_hit()) { \
                oom_off(); \
                break; \
            } \
            oom_off(); \
        } \
    } while (0)

#endif
