/* supervisor/signin_store.h -- the file that sign-ins survive a restart in: sealed as a whole with AES-256-GCM, so that
 * a byte that was changed, cut or added refuses all of it. What is in it are digests and names, no secret that could be
 * used; sealing keeps the names and what belongs together from whoever gets hold of the file. ADR 0015 says more. */
#ifndef SUPERVISOR_SIGNIN_STORE_H
#define SUPERVISOR_SIGNIN_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "shared/base/buf.h"
#include "shared/base/err.h"

#define SIGNIN_KEY_BYTES 32
#define SIGNIN_STORE_MAX (8u << 20) /* more than the bounds of signins.h can make */

struct signin_store { /* owns its texts, wipes its key; all zero: no file, nothing is kept */
    char *path, *new_path;
    uint8_t key[SIGNIN_KEY_BYTES];
};

/* The directory is made (0700) when it is not there. The key is the digest of key_text, or, when that is empty, what
 * the file "key" in the directory holds (0600; made at the first start). */
int signin_store_open(struct signin_store *st, const char *dir, const char *key_text, struct err *err);
void signin_store_release(struct signin_store *st); /* NULL is fine */

/* Into plain: 0, also when there is no file yet (nothing is added). -1: it cannot be read, or it was not sealed with
 * this key, or it was changed. */
int signin_store_load(const struct signin_store *st, struct buf *plain, struct err *err);

/* Replaces the file in one step: old or new, never half. durable: on the disk before this returns. */
int signin_store_save(const struct signin_store *st, const struct buf *plain, bool durable, struct err *err);

/* The sealing by itself. Pure but for the nonce. */
int signin_seal(const uint8_t key[SIGNIN_KEY_BYTES], const void *plain, size_t len, struct buf *out, struct err *err);
int signin_unseal(const uint8_t key[SIGNIN_KEY_BYTES], const void *sealed, size_t len, struct buf *out,
                  struct err *err);

#endif
