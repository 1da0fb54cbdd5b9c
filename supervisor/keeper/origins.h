/* supervisor/keeper/origins.h -- tells nginx whose pages may read the errors that nginx makes itself (a body that is
 * too large, a worker that is gone): the workers say it in their own answers, from the same setting. */
#ifndef KEEPER_ORIGINS_H
#define KEEPER_ORIGINS_H

#include "shared/base/buf.h"
#include "shared/base/err.h"
#include "shared/config/config.h"

/* RUNTIME_DIR/nginx-origins.conf, replaced in one step: 0, or -1. */
int keeper_write_origins(const struct config *c, struct err *err);

/* Its text: rows of nginx's map from an Origin to what it is answered with. Entries that nginx could read as something
 * else are left out. */
void keeper_put_origins(const char *list, struct buf *out);

#endif
