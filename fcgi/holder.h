/* fcgi/holder.h -- a worker's connection to one session's holder (shared/ipc/hold.h): the bundle, or files.
 * The holder runs with the UID of a stranger's agent, so it is not trusted: every message is bounded, and the whole
 * talk has a deadline. Owns the descriptor. */
#ifndef FCGI_HOLDER_H
#define FCGI_HOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shared/base/err.h"
#include "shared/generate/generate.h"
#include "shared/ipc/frame.h"
#include "shared/ipc/hold.h"

struct holder_link {
    int fd;
    struct frame_reader in;
    int64_t deadline; /* monotonic ms */
    bool told;        /* the holder said itself that it failed */
};

/* Takes fd over, also when it fails. */
int holder_link_init(struct holder_link *l, int fd, unsigned timeout_ms, struct err *err);
void holder_link_release(struct holder_link *l);

/* One message, sent whole and copied nowhere. -1: what the holder said meanwhile, or that it is gone or slow. */
int holder_send(struct holder_link *l, enum hold_type type, const struct buf *payload, struct err *err);

/* The next message, borrowed until the following call. HOLD_FAILED becomes -1. */
int holder_receive(struct holder_link *l, enum hold_type *ret_type, const void **ret_payload, size_t *ret_len,
                   struct err *err);

struct env_pair {
    const char *name, *value; /* borrowed; the value is a secret */
};

/* Hands the program over and waits until the interpreter runs: 0 and the port, or -1 and why. Takes fd over.
 * *ret_told: the holder itself said that the start failed, so the session ends without anybody's help. */
int holder_start(int fd, const struct bundle *b, const struct env_pair *env, size_t env_len, uint32_t *ret_port,
                 bool *ret_told, struct err *err);

struct holder_file { /* one entry of a listing; the path is not NUL-free UTF-8 but what the agent wrote */
    bool directory, has_content;
    const char *path;
    size_t path_len;
    uint64_t size;
    const char *content;
    size_t content_len;
};

/* Parses HOLD_ENTRY: 0, or -1 ERR_UPSTREAM. */
int holder_get_entry(const void *payload, size_t len, struct holder_file *ret, struct err *err);

#endif
