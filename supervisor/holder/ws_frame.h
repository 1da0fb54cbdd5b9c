/* supervisor/holder/ws_frame.h -- frames of RFC 6455 as a client reads and writes them. Pure, and no byte of a payload
 * is looked at one by one: frames of megabytes pass here. */
#ifndef HOLDER_WS_FRAME_H
#define HOLDER_WS_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WS_HEAD_MAX 14     /* of a masked frame */
#define WS_CONTROL_MAX 125 /* payload of a control frame */

enum ws_opcode {
    WS_CONTINUATION = 0,
    WS_TEXT = 1,
    WS_BINARY = 2,
    WS_CLOSE = 8,
    WS_PING = 9,
    WS_PONG = 10,
};

struct ws_head {
    enum ws_opcode opcode;
    bool final;
    uint64_t len; /* of the payload */
};

/* The header of a server's frame at data: its length; 0 more bytes are needed; -1 it breaks the protocol. inside: the
 * last data frame was not the final one of its message. */
int ws_head_parse(const uint8_t *data, size_t len, bool inside, struct ws_head *ret);
bool ws_is_control(const struct ws_head *head);

/* Writes the header of a final, masked frame so that it ends where the payload begins: its length. key: four bytes as
 * they lie in memory. */
size_t ws_head_put(uint8_t out[WS_HEAD_MAX], enum ws_opcode opcode, size_t len, uint32_t key);
void ws_mask(void *out, const void *in, size_t len, uint32_t key); /* out may be in */

/* What to answer to the payload of a close frame: its own code, 0 none, 1002 or 1007 when it is a wrong one. */
unsigned ws_close_answer(const uint8_t *payload, size_t len);

#endif
