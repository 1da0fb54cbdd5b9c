/* supervisor/keeper/keeper.h -- starts the service's processes, watches them, starts them again, ends them in order.
 * One event loop; it reads its configuration once and signals after that, nothing else. */
#ifndef KEEPER_KEEPER_H
#define KEEPER_KEEPER_H

#include "shared/base/err.h"
#include "shared/config/config.h"

struct keeper_options {
    const char *config_file; /* NULL = the usual one; handed on to the children */
};

/* Runs until SIGTERM or SIGINT, then ends all children. SIGHUP reloads nginx. 0, or -1 and err when the start failed.
 */
int keeper_run(const struct config *c, const struct keeper_options *o, struct err *err);

#endif
