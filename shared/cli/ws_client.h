/* shared/cli/ws_client.h -- a WebSocket as its user sees it: whole text messages out and in. wslay does the frames. */
#ifndef CLI_WS_CLIENT_H
#define CLI_WS_CLIENT_H

#include <stdbool.h>
#include <stddef.h>

#include "shared/base/buf.h"
#include "shared/base/err.h"

struct ws_client; /* owns its connection */

/* url is http:// or https://. Blocking, some seconds at most: 0 and *ret (ws_client_free), or -1 and err. */
int ws_client_open(const char *url, struct ws_client **ret, struct err *err);
void ws_client_free(struct ws_client *c); /* without goodbye; NULL is fine */

int ws_client_fd(const struct ws_client *c);       /* wait for reading, and for writing when pending */
bool ws_client_pending(const struct ws_client *c); /* bytes wait to be sent */
int ws_client_send(struct ws_client *c, const char *text, size_t len, struct err *err); /* queued; 0 or -1 */
void ws_client_close(struct ws_client *c, unsigned code);

/* Moves what can be moved without waiting; every whole text message goes to on_text. 1 open, 0 closed by the other side
 * (its code: *ret_code, 1006 without one), -1 broken and err. */
int ws_client_run(struct ws_client *c, void (*on_text)(void *user, const char *text, size_t len), void *user,
                  unsigned *ret_code, struct err *err);

/* The handshake's pure parts, for tests. */
void ws_client_accept(const char *key, char out[29]);
int ws_client_check_answer(const char *head, const char *key, struct err *err); /* head: status line and headers */

#endif
