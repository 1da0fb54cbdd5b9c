/* supervisor/peer.h -- one connection on the loop that speaks frames (shared/ipc/frame.h): a holder or a worker.
 * Owns the descriptor, both watchers and both buffers. It only collects: the owner takes messages out when it wants
 * them, so not taking is how a slow reader holds its peer back. */
#ifndef SUPERVISOR_PEER_H
#define SUPERVISOR_PEER_H

#include <ev.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shared/base/err.h"
#include "shared/ipc/frame.h"

struct peer;

struct peer_events {
    /* New bytes came, or the end of them: take messages with peer_next(), then ask peer_ended(). May close the peer. */
    void (*readable)(struct peer *p);
    /* What was waiting is sent, as far as the socket takes it; NULL: not interesting. May close the peer. */
    void (*sent)(struct peer *p);
};

struct peer {
    struct ev_loop *loop;
    const struct peer_events *events;
    void *owner;
    int fd; /* -1: closed */
    struct ev_io read, write;
    struct frame_reader in;
    struct frame_writer out;
    bool reading, ended;
    char fault[160]; /* why it ended, "" for a plain end */
};

/* Takes the connected, non-blocking fd. Reading is on. */
void peer_open(struct peer *p, struct ev_loop *loop, int fd, size_t max_in, size_t max_out,
               const struct peer_events *events, void *owner);

/* Connects to the UNIX socket at path: 0, or -1 (nothing was opened). */
int peer_connect(struct peer *p, struct ev_loop *loop, const char *path, size_t max_in, size_t max_out,
                 const struct peer_events *events, void *owner, struct err *err);
void peer_close(struct peer *p); /* a closed or zeroed one, or NULL, is fine */
bool peer_is_open(const struct peer *p);

/* Next whole message: 1, borrowed until the next call or until the peer reads again; 0 none; -1 malformed or oversized:
 * the peer has ended. */
int peer_next(struct peer *p, uint16_t *ret_type, const void **ret_payload, size_t *ret_len);

/* Nothing will come any more; messages may still be there to be taken. */
bool peer_ended(const struct peer *p);
void peer_reading(struct peer *p, bool on); /* off: the kernel's buffer fills, then the other side waits */

/* Queue a message and send what goes out at once: 0; -1 the queue is full, no memory, or the other side is gone. */
int peer_send(struct peer *p, uint16_t type, const void *payload, size_t len);
int peer_send_parts(struct peer *p, uint16_t type, const struct iovec *parts, size_t count); /* up to FRAME_PARTS */
size_t peer_pending(const struct peer *p);                                                   /* bytes not sent yet */

#endif
