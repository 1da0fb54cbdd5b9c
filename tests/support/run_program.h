/* tests/support/run_program.h -- finds our programs, which are built beside the tests; runs a program to its end with
 * bytes on standard input, collects standard output. */
#ifndef TESTS_SUPPORT_RUN_PROGRAM_H
#define TESTS_SUPPORT_RUN_PROGRAM_H

#include <stddef.h>

#include "shared/base/buf.h"

#define PROGRAM_PATH 4096

/* Path of one of our programs, "" for the folder they are in: 0, or -1 when it is not there. */
int program_beside(const char *name, char out[PROGRAM_PATH]);

/* argv NULL-terminated, argv[0] a path; standard error goes through. Wait status, or -1 when it did not start. */
int run_program(char *const argv[], const void *input, size_t len, struct buf *out);

#endif
