/* supervisor/sandbox/selftest.h -- builds the sandbox once, with the real plan, and reports why it
 * cannot be built. Blocking, up to SELFTEST_SECONDS; run it in a process of its own that already
 * has the session's user. */
#ifndef SANDBOX_SELFTEST_H
#define SANDBOX_SELFTEST_H

#include "shared/base/err.h"
#include "shared/config/config.h"
#include "supervisor/sandbox/strv.h"

#define SELFTEST_SECONDS 20

/* work: an existing, empty directory of ours. 0: the interpreter ran inside, reached the
 * socket of its egress proxy where there is one, and a socket was made in its network. -1: err holds the failing step,
 * the system's words and, when known, the likely cure. */
int selftest_run(const struct config *config, const char *work, const struct strv *entered, struct err *err);

#endif
