/* shared/seal/seccomp.h -- from tables of system calls to filter programs, and the table of what agents do not get.
 * Pure but for libseccomp.
 *
 * Namespaces do not confine everything: sockets that ignore network namespaces, calls that reach old or rarely used
 * parts of the kernel, calls that would build a new mount table. For agents a deny list from one table, because the
 * runtime's own needs are wide and change; what the C library does not know yet is refused as a whole, so the list does
 * not age. For our own programs see seal.h.
 *
 * A refused call fails with an errno, the process lives on: programs fall back. */
#ifndef SEAL_SECCOMP_H
#define SEAL_SECCOMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shared/base/buf.h"
#include "shared/base/err.h"

/* Newest call that anybody may know; all above it, and all of the other ABIs, fail with ENOSYS. */
#define SECCOMP_NEWEST_CALL 450 /* set_mempolicy_home_node: the newest in Debian 12's headers */

#define SECCOMP_TESTS_MAX 3

#define SECCOMP_SKIP (-1) /* an errnum: the call returns 0 without having done anything */
#define SECCOMP_VALUES_MAX 4

enum seccomp_test_kind {
    SECCOMP_ALWAYS,  /* ends the list of tests */
    SECCOMP_IS,      /* (argument & mask) is values[0] */
    SECCOMP_ANY_BIT, /* argument has a bit of mask */
    SECCOMP_NOT_IN,  /* (argument & mask) is none of values */
};

/* About one argument. Only its low 32 bits count, as for the kernel, which takes an int or unsigned from the register:
 * a filter that looks at all 64 is passed by by setting a higher one. */
struct seccomp_test {
    enum seccomp_test_kind kind;
    unsigned arg;
    uint32_t mask;
    uint32_t values[SECCOMP_VALUES_MAX];
    size_t n_values;
};

struct seccomp_rule {
    const char *call; /* name, the same on all architectures; one that this machine lacks is skipped */
    int errnum;       /* what a refused call fails with; 0: the call is let through; SECCOMP_SKIP */
    const char *reason;
    struct seccomp_test tests[SECCOMP_TESTS_MAX]; /* all must hold */
    bool wide; /* refused to everything above an agent too: to its holder, bubblewrap, the launcher */
};

/* What becomes of calls that no rule is about. */
enum seccomp_rest { SECCOMP_REST_ALLOWED, SECCOMP_REST_REFUSED /* EPERM */ };

/* The table of what agents do not get, for the filter, its tests and the documentation. */
const struct seccomp_rule *seccomp_rules(size_t *ret_n);

/* Appends the program for the rules (struct sock_filter records) to ret: what bubblewrap's --seccomp reads.
 * 0, or -1 and err; ret is untouched then. */
int seccomp_make(struct buf *ret, const struct seccomp_rule *rules, size_t n, enum seccomp_rest rest, struct err *err);

/* Number of the call on this machine, or -1. */
int seccomp_number(const char *call);

#endif
