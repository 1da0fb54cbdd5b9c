/* shared/ipc/frame.h -- messages on a stream socket: a header (u32 payload length, u16 type, u16 zero), then the
 * payload. Blocking calls for the workers and tools; a reader and a writer for event loops. A length above the
 * receiver's maximum is a broken peer (ERR_UPSTREAM), never a reason to allocate. */
#ifndef IPC_FRAME_H
#define IPC_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "shared/base/buf.h"
#include "shared/base/err.h"

#define FRAME_HEADER 8
#define FRAME_PARTS 3
#define FRAME_MAX (17u << 20) /* hard ceiling of one payload: a 16 MiB browser frame and its fields */

void frame_put_header(uint8_t h[FRAME_HEADER], uint16_t type, uint32_t len); /* for those who send by themselves */

/* Blocking: send one message, with a descriptor when fd >= 0 (it stays the caller's). */
int frame_send(int sock, uint16_t type, const struct buf *payload, int fd, struct err *err);

/* Blocking: receive one message into payload (cleared first, its ceiling applies); ret_fd NULL refuses descriptors
 * (they are closed), else *ret_fd is the caller's or -1. 1 message, 0 the peer closed in between messages, -1 err. */
int frame_recv(int sock, uint16_t *ret_type, struct buf *payload, int *ret_fd, struct err *err);

/* Event loops: collects bytes of a non-blocking socket. */
struct frame_reader {
    struct buf in;
    size_t max; /* largest payload accepted */
    size_t pos; /* start of the next message in in */
};

void frame_reader_init(struct frame_reader *r, size_t max_payload);
void frame_reader_release(struct frame_reader *r);

/* Read what is there, at most about 256 KiB: 1 something came (or EAGAIN), 0 end of stream, -1 err. */
int frame_reader_fill(struct frame_reader *r, int sock, struct err *err);

/* Next whole message, borrowed until the following fill: 1, 0 none yet, -1 oversized or malformed. */
int frame_reader_next(struct frame_reader *r, uint16_t *ret_type, const void **ret_payload, size_t *ret_len,
                      struct err *err);

/* Nothing borrowed is in use any more: the room of a long message goes back before another one comes. */
void frame_reader_slim(struct frame_reader *r);

/* Event loops: bytes waiting to be sent. max is the most it holds; a put above it fails. */
struct frame_writer {
    struct buf out;
    size_t pos; /* sent so far */
};

void frame_writer_init(struct frame_writer *w, size_t max);
void frame_writer_release(struct frame_writer *w);
int frame_writer_put(struct frame_writer *w, uint16_t type, const void *payload,
                     size_t len); /* 0, -1 full or no memory */
/* Of a payload in up to FRAME_PARTS pieces: sends at once what goes out and puts the rest: 0, or -1 when it is full or
 * the peer is gone (nothing was sent). */
int frame_writer_send_parts(struct frame_writer *w, int sock, uint16_t type, const struct iovec *parts, size_t count);
size_t frame_writer_pending(const struct frame_writer *w); /* bytes not sent yet */
int frame_writer_flush(struct frame_writer *w, int sock);  /* 0 (also EAGAIN), -1 the peer is gone */

#endif
