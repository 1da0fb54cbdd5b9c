/* shared/ipc/signin.h -- the secrets of a sign-in (HTTP contract, section 5): state, browser, session id. All are 256
 * random bits as 43 characters of base64url, and leave a worker towards the supervisor only as their SHA-256, so that
 * nobody who reads the supervisor's memory or files can use one. Nothing here keeps state. */
#ifndef IPC_SIGNIN_H
#define IPC_SIGNIN_H

#include <stdbool.h>
#include <stdint.h>

#include "shared/ipc/rpc.h"
#include "shared/ipc/wire.h"

#define SIGNIN_TEXT_LEN 43
#define SIGNIN_HASH 32
#define SIGNIN_LOGIN_MAX 100
#define SIGNIN_AVATAR_MAX 512

struct signin_hash {
    uint8_t b[SIGNIN_HASH];
};

/* A new secret: 0, or -1 without randomness (ERR_INTERNAL). */
int signin_secret_new(char out[SIGNIN_TEXT_LEN + 1], struct err *err);

/* Whether text has the form of a secret; nothing else is worth being hashed. NULL has not. */
bool signin_secret_valid(const char *text);

/* 0, or -1: no such form, or the digest failed. */
int signin_hash_of(const char *text, struct signin_hash *ret);
bool signin_hash_equal(const struct signin_hash *a, const struct signin_hash *b); /* in constant time */

/* On the wire it is one run of bytes. One of another length makes in bad, and *ret zero. */
void signin_put_hash(struct buf *out, const struct signin_hash *hash);
void signin_get_hash(struct wire_in *in, struct signin_hash *ret);

/* "gh:<64 hex digits>" */
void signin_actor(const struct signin_hash *session, char out[RPC_ACTOR_MAX + 1]);

/* As GitHub makes them: letters, digits, "-", "_", "."; an https or http address without blanks, or "". */
bool signin_login_valid(const char *login);
bool signin_avatar_valid(const char *avatar);

#endif
