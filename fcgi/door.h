/* fcgi/door.h -- the FastCGI side of a worker; the only user of fcgiapp. */
#ifndef FCGI_DOOR_H
#define FCGI_DOOR_H

#include <stdbool.h>

#include "shared/base/buf.h"
#include "shared/base/err.h"

struct door; /* opaque; door_free() accepts NULL */

/* listen_fd stays the caller's. */
int door_new(int listen_fd, struct door **ret, struct err *err);
void door_free(struct door *d);

/* Waits for the next request: its parameters, borrowed until door_done(); NULL when interrupted or the socket is gone.
 */
char *const *door_accept(struct door *d);

/* For struct request and struct reply; port is the door. */
int door_read_body(void *port, struct buf *body, struct err *err);
int door_write(void *port, const void *data, size_t len);

int door_fd(const struct door *d); /* the connection to whoever asked */

/* The connection is another process's now, which has it from a fork: ours goes, without a word on it. */
void door_hand_over(struct door *d);

/* Ends the request; broken: without its proper end, so that the other side knows that something is missing. */
void door_done(struct door *d, bool broken);

#endif
