/* shared/cli/chat_session.h -- the REST half of a conversation: start a session of a diagram, end it. */
#ifndef CLI_CHAT_SESSION_H
#define CLI_CHAT_SESSION_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

#include "shared/base/err.h"
#include "shared/base/id.h"

struct chat_session {
    const char *base;    /* "http://127.0.0.1:8080", borrowed */
    const char *sign_in; /* GitHub session, NULL = none; borrowed */
    char id[ID_TEXT_LEN + 1];
};

/* The sign-in to use: the option's, or that of the environment, which other users of the machine cannot see. */
const char *chat_sign_in(const char *option);

/* POST of the request: 0 and s->id, or -1 and err with the service's own sentence (ERR_LIMIT: later it may work). */
int chat_session_start(struct chat_session *s, const cJSON *request, struct err *err);
int chat_session_end(const struct chat_session *s, struct err *err); /* 0 also when it was gone */

/* Its state ("ready") into out, of size bytes: 0, or -1 and err. *ret_ended: its agent has ended. */
int chat_session_state(const struct chat_session *s, char *out, size_t size, bool *ret_ended, struct err *err);

/* Adds the credentials of our environment (OPENAI_API_KEY and so on) to the request. 0, -1 out of memory. */
int chat_add_credentials(cJSON *request, struct err *err);

/* {"type":"auth",...} as text; received < 0: first connection. Freed by the caller; NULL out of memory. */
char *chat_auth_frame(const struct chat_session *s, long long received);

/* {"action":..., "message":...} for a line of the user; commands like /var and /file included. 0 and *ret, or -1 and
 * err (a file that cannot be read, a command that does not exist). */
int chat_user_frame(const char *line, char **ret, struct err *err);

#endif
