/* supervisor/keeper/keeper.h -- starts the service's processes, watches them, starts them again, ends them in order.
 * One event loop; its input is the configuration and signals, nothing else. */
#ifndef KEEPER_KEEPER_H
#define KEEPER_KEEPER_H

#include "shared/base/err.h"
#include "shared/config/config.h"

struct keeper_options {
    const char *config_file; /* NULL = the usual one; handed on to the children */
};

/* Runs until SIGTERM or SIGINT, then ends all children. SIGHUP reads the settings anew and has all children
 * do so (config_reload()); when they are refused nothing happens but a line in the log. 0, or -1 and err when the start
 * failed. The settings stay the caller's. SIGUSR2 puts the nginx that is installed now in the place of the one that
 * runs (front.h). */
int keeper_run(struct config *c, const struct keeper_options *o, struct err *err);

#endif
