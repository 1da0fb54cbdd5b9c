/* shared/cli/scenario.h -- a conversation written down, to be held again: the file, and how what an agent says is
 * compared with it. No connection here.
 *
 *   {"name": ..., "diagram": "NAME or path", "timeout_s": 8, "quiet_s": 0.6, "steps": [
 *     {"expect": [FRAME...]}, {"send": {...}, "expect": [FRAME...]}, {"send_raw": "text", ...}, {"sleep_s": 1, ...}]}
 *
 * A FRAME names its action and one of message (any JSON value), message_json (the message is, or is the text of, this
 * value), message_has (the same, objects need only these members) and message_re (a POSIX extended expression that
 * matches all of it), perhaps message_id; or {"raw": text}. Steps may have timeout_s and quiet_s of their own. */
#ifndef CLI_SCENARIO_H
#define CLI_SCENARIO_H

#include <cjson/cJSON.h>
#include <stddef.h>

#include "shared/base/buf.h"
#include "shared/base/err.h"

#define SCENARIO_MAX (100u << 20) /* bytes of a file */

struct scenario {
    cJSON *root; /* as checked; the pointers below are into it */
    const char *name;
    const cJSON *steps;
    char *diagram; /* path of the diagram's file; NULL: none is named, or it does not exist */
    double timeout_s, quiet_s;
};

/* 0, or -1 and err naming the path and what is wrong. */
int scenario_read(const char *path, struct scenario *ret, struct err *err);
void scenario_release(struct scenario *s); /* a zeroed one is fine */

/* Seconds that a step (or its scenario) grants. */
double scenario_seconds(const cJSON *step, const char *key, double otherwise);

/* The text that a step sends; NULL: nothing. Freed by the caller. -1 out of memory. */
int scenario_frame(const cJSON *step, char **ret);

/* What of the frame (a text of the agent) is not as expected: "action", "message" ...; NULL: all is. */
const char *scenario_mismatch(const cJSON *expected, const char *text, size_t len);

/* A frame for people, cut when it is long: its action and message. */
void scenario_show(const cJSON *frame, struct buf *out);
void scenario_show_text(const char *text, size_t len, struct buf *out);

#endif
