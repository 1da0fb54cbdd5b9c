/* shared/cli/show.h -- frames of a session become lines for a terminal. Pure. Agents are strangers: nothing they say
 * can drive the terminal. Frame shapes: sections 3 of the HTTP contract and of the agent runtime contract. */
#ifndef CLI_SHOW_H
#define CLI_SHOW_H

#include <stdbool.h>
#include <stddef.h>

#include "shared/base/buf.h"

#define SHOW_OPTIONS_MAX 1000

enum show_kind {
    SHOW_REPLY,   /* the agent spoke */
    SHOW_NOISE,   /* output, state changes, steps of reasoning */
    SHOW_AUTH_OK, /* the service took us in */
    SHOW_ERROR,   /* the service says what went wrong */
    SHOW_EXIT,    /* the session is over */
    SHOW_UNKNOWN,
};

struct show {
    bool trace, output, color; /* set by the caller */
    bool traceback, hinted;    /* the output is inside of one; it was said how to see all of it */
    char **options;            /* choices of the last options reply; owned */
    size_t options_len;
};

void show_release(struct show *s);

/* Appends the lines of one frame (none, when it is not wanted); tells what it was. Of output that is not wanted, errors
 * are shown still: an agent whose body raised would say nothing. */
enum show_kind show_frame(struct show *s, const char *text, size_t len, struct buf *out);

/* What a line of the user means: "2" after two options is the second's text. Borrowed. */
const char *show_choice(const struct show *s, const char *line);

#endif
