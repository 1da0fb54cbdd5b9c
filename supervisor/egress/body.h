/* supervisor/egress/body.h -- where the body of a request ends. Pure.
 * The bytes are handed on as they came; what lies behind the body would be a second request, which nobody checked,
 * and is never handed on. Chunks must be plain: no extensions, no trailer, so that every server finds the same end. */
#ifndef EGRESS_BODY_H
#define EGRESS_BODY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum egress_body_state {
    BODY_DONE, /* also the state of a request without one */
    BODY_LENGTH,
    BODY_CHUNK_SIZE,
    BODY_CHUNK_SIZE_LF,
    BODY_CHUNK_DATA,
    BODY_CHUNK_END,
    BODY_CHUNK_END_LF,
    BODY_LAST, /* behind the chunk of size 0 */
    BODY_LAST_LF,
};

struct egress_body {
    enum egress_body_state state;
    uint64_t left; /* of the body or of this chunk; while a size is read: the size so far */
    unsigned digits;
};

void egress_body_none(struct egress_body *b);
void egress_body_length(struct egress_body *b, uint64_t length);
void egress_body_chunked(struct egress_body *b);

/* How many of the bytes belong to the body, or -1 when it is malformed. Fewer than len: the body is done. */
ssize_t egress_body_take(struct egress_body *b, const char *data, size_t len);

#endif
