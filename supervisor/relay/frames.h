/* supervisor/relay/frames.h -- the frames that the service itself puts into a conversation (HTTP contract, section 3).
 * Each appends one JSON text to b; a full buffer shows in buf_failed(). The agent's frames never pass here. Pure. */
#ifndef RELAY_FRAMES_H
#define RELAY_FRAMES_H

#include <stdint.h>

#include "shared/base/buf.h"
#include "shared/ipc/hold.h"

void frame_put_auth_ok(struct buf *b);
void frame_put_resumed(struct buf *b, uint64_t from);
void frame_put_gap(struct buf *b, uint64_t lost);
void frame_put_error(struct buf *b, const char *message);
void frame_put_exit(struct buf *b, enum hold_reason reason, int32_t code);

#endif
