/* shared/cli/service.h -- questions of the command line to the running supervisor (rpc.h). */
#ifndef CLI_SERVICE_H
#define CLI_SERVICE_H

#include <stdbool.h>

#include "shared/base/buf.h"
#include "shared/base/err.h"
#include "shared/config/config.h"
#include "shared/ipc/rpc.h"

/* Asks; the answer has to be of type want. 0 and answer filled (initialised here, released by the caller also after
 * -1), or -1 and err: not running, not allowed (root or the service's user), or the supervisor's own refusal. */
int service_ask(const struct config *c, enum rpc_type question, const struct buf *payload, enum rpc_type want,
                struct buf *answer, struct err *err);

/* The settings, with what is bad in them said on standard error and left out: the service runs with those of its start,
 * and who looks after it is answered. CLI_OK, or the exit status when nothing can be read. *ret_bad says whether
 * something was bad: then the command ends with CLI_NO, whatever it did. */
int service_config(struct config *ret, const char *file, bool *ret_bad);

#endif
