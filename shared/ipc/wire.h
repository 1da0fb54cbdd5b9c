/* shared/ipc/wire.h -- fields of messages between our processes: host byte order, one machine only.
 * A writer appends to a struct buf (its ceiling is the message's maximum). A reader walks borrowed
 * bytes; the first malformed field makes it bad for good, so callers check once with wire_end(). */
#ifndef IPC_WIRE_H
#define IPC_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shared/base/buf.h"
#include "shared/base/id.h"

void wire_put_u8(struct buf *b, uint8_t v);
void wire_put_u32(struct buf *b, uint32_t v);
void wire_put_u64(struct buf *b, uint64_t v);
void wire_put_id(struct buf *b, const struct id *id);
void wire_put_str(struct buf *b, const char *s);                  /* NULL is written as "" */
void wire_put_bytes(struct buf *b, const void *data, size_t len); /* u32 length, bytes, NUL */

struct wire_in {
    const uint8_t *p;
    size_t left;
    bool bad;
};

void wire_start(struct wire_in *in, const void *data, size_t len);
uint8_t wire_get_u8(struct wire_in *in); /* 0 when bad, like all below */
uint32_t wire_get_u32(struct wire_in *in);
uint64_t wire_get_u64(struct wire_in *in);
void wire_get_id(struct wire_in *in, struct id *ret);

/* Borrowed from the message. A string holds no NUL but its last byte, so it is a C string; "" when bad. */
const char *wire_get_str(struct wire_in *in, size_t max);
const void *wire_get_bytes(struct wire_in *in, size_t max, size_t *ret_len);

/* 0 when every field was there and nothing is left over; else -1. */
int wire_end(const struct wire_in *in);

#endif
