/* supervisor/holder/lines.h -- the agent's output, cut into lines, and the service frames made of
 * them. Pure. Bytes are hostile: any encoding, any length. */
#ifndef HOLDER_LINES_H
#define HOLDER_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include "shared/base/buf.h"

#define LINES_PART_MAX ((size_t)64 << 10) /* a longer line comes in parts */

/* Each line or part, without its line end, bytes as they came. */
typedef void lines_fn(void *arg, const char *line, size_t len);

struct lines {
    struct buf part; /* what waits for its line end */
    bool continued;  /* part follows one that was given out already */
};

void lines_init(struct lines *l);
void lines_release(struct lines *l);

/* Takes bytes, calls fn for what is complete: 0, or -1 when memory is short (bytes may be lost). */
int lines_feed(struct lines *l, const char *data, size_t len, lines_fn *fn, void *arg);
void lines_end(struct lines *l, lines_fn *fn, void *arg); /* the last line, without an end */

/* Name of the state in a line that reports a body run, "[NAME] Running body"; false when it is
 * none. NAME may hold brackets itself; it is borrowed from line. */
bool lines_state_name(const char *line, size_t len, const char **ret_name, size_t *ret_len);

/* The service's frames of the conversation contract. Failure is buf_failed(). */
void lines_put_stdout(struct buf *out, const char *line, size_t len);
void lines_put_state(struct buf *out, const char *name, size_t len);
void lines_put_error(struct buf *out, const char *message, size_t len);

#endif
