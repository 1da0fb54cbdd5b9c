/* supervisor/holder/client_frame.h -- does the runtime end its connection because of this frame? Pure.
 * Source: the agent runtime contract, section 2. */
#ifndef HOLDER_CLIENT_FRAME_H
#define HOLDER_CLIENT_FRAME_H

#include <stdbool.h>
#include <stddef.h>

#define CLIENT_FRAME_JUDGED \
    ((size_t)16 << 10) /* of longer ones only the beginning: more would cost as much as to send them */

/* True when it surely does; false also when that cannot be told. */
bool client_frame_is_bad(const char *text, size_t len);

#endif
