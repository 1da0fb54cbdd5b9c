/* supervisor/sandbox/env.h -- environment of an agent (configuration contract, "Environment of an
 * agent"). Pure: the service's own environment comes as an argument. */
#ifndef SANDBOX_ENV_H
#define SANDBOX_ENV_H

#include <stdbool.h>
#include <stdint.h>

#include "shared/base/err.h"
#include "supervisor/sandbox/strv.h"

#define ENV_NAME_MAX 128
#define ENV_VALUE_MAX 4096
#define ENV_EXTRA_MAX 64         /* credentials of one session */
#define ENV_WAIT "AGENTSIM_WAIT" /* descriptor on which an interpreter waits for its program; agents never see it */

/* True for names that hold credentials by custom (TOKEN, SECRET, PASSWORD, KEY ...): never
 * inherited. */
bool env_name_is_secret(const char *name);

/* 0 when name may be set for an agent at a worker's wish: a shell identifier that does not belong
 * to us. -1 and err (ERR_BAD_REQUEST) else. */
int env_check_extra(const char *name, const char *value, struct err *err);

struct env_place {
    const char *work;      /* as the agent sees it */
    const char *nltk_data; /* "" for none */
    uint16_t port;
    uint16_t proxy_port; /* 0: no proxy */
};

/* Appends the whole environment: inherited ones out of service (NULL-terminated), ours, then extra
 * ("NAME=value", checked by env_check_extra(); NULL for none). Failure is s->failed. */
void env_build(struct strv *s, const struct env_place *place, char *const *service, const struct strv *extra);

#endif
