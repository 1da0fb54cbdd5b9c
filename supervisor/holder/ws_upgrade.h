/* supervisor/holder/ws_upgrade.h -- the opening handshake of the agent's WebSocket, our side. Pure.
 * No subprotocol, no extensions: compression on loopback costs more than it saves. */
#ifndef HOLDER_WS_UPGRADE_H
#define HOLDER_WS_UPGRADE_H

#include <stddef.h>
#include <stdint.h>

#include "shared/base/buf.h"
#include "shared/base/err.h"

#define WS_KEY_LEN 24                /* base64 of 16 bytes */
#define WS_ANSWER_MAX ((size_t)8192) /* longest answer that is read */

void ws_upgrade_key(const uint8_t random[16], char out[WS_KEY_LEN + 1]);

/* The request. session becomes X-Session-ID, the agent's key of the conversation. Failure is
 * buf_failed(). */
void ws_upgrade_request(struct buf *out, uint16_t port, const char *key, const char *session);

/* What came so far: length of the whole answer when it accepts, 0 while more is needed, -1 and err
 * otherwise. */
ptrdiff_t ws_upgrade_answer(const char *data, size_t len, const char *key, struct err *err);

#endif
