/* shared/cli/player.h -- holds one scenario's conversation with a session of the running service. */
#ifndef CLI_PLAYER_H
#define CLI_PLAYER_H

#include <stdbool.h>

#include "shared/base/buf.h"
#include "shared/base/err.h"
#include "shared/cli/chat_session.h"
#include "shared/cli/scenario.h"

struct player_options {
    const char *url, *sign_in; /* as struct chat_session */
    bool credentials;          /* hand on those of our environment */
    bool verbose;              /* every frame into the report */
};

/* Starts a session of the request (as cli_read_request() gives it), plays all steps, ends the session. A line for each
 * step goes into report. 0, or -1 and failure (a text for people, lines) says why; it may be the service's refusal. */
int player_run(const struct player_options *o, const struct scenario *s, cJSON *request, struct buf *report,
               struct buf *failure);

#endif
