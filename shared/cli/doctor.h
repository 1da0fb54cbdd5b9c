/* shared/cli/doctor.h -- can sessions run on this machine? One row per thing that has to be there. */
#ifndef CLI_DOCTOR_H
#define CLI_DOCTOR_H

#include <stdbool.h>

#include "shared/base/buf.h"
#include "shared/config/config.h"

enum doctor_state { DOCTOR_OK, DOCTOR_WARN, DOCTOR_BAD };

struct doctor_result {
    enum doctor_state state;
    char found[400]; /* what is there */
    char cure[400];  /* what to do; "" when all is well */
};

struct doctor_check {
    const char *name;
    void (*run)(const struct config *c, struct doctor_result *ret);
};

/* doctor_disks.c: bytes and files that are free where the service writes. */
void doctor_check_disks(const struct config *c, struct doctor_result *ret);

extern const struct doctor_check doctor_checks[];
extern const unsigned doctor_checks_len;

/* The sandbox itself, tried as a session gets it: as root through the holder, else by asking the service.
 * DOCTOR_OK: sessions will start. */
void doctor_try_sandbox(const struct config *c, struct doctor_result *ret);

/* Runs argv (NULL-terminated, argv[0] a path) as uid (0 = as we are) with the settings of c (NULL: none) as its
 * environment, standard output and error into out, at most timeout_ms: its exit status, or -1 when it did not start,
 * died or was too slow. */
int doctor_run(const struct config *c, char *const argv[], unsigned uid, int timeout_ms, struct buf *out);

#endif
