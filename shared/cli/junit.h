/* shared/cli/junit.h -- results as the XML that build servers read. Pure. */
#ifndef CLI_JUNIT_H
#define CLI_JUNIT_H

#include "shared/base/buf.h"

struct junit {
    struct buf cases;
    unsigned total, failed;
    double seconds;
};

void junit_init(struct junit *j);
void junit_release(struct junit *j);
void junit_add(struct junit *j, const char *name, double seconds, const char *failure); /* NULL: it passed */

/* Failure is buf_failed(out). */
void junit_write(const struct junit *j, const char *suite, struct buf *out);

#endif
