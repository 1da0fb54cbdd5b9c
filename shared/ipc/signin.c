#include "shared/ipc/signin.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "shared/base/mem.h"
#include "shared/base/str.h"

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/* 32 bytes are 42 characters and two thirds: the last one holds four bits. */
int signin_secret_new(char out[SIGNIN_TEXT_LEN + 1], struct err *err)
{
    uint8_t random[SIGNIN_HASH + 1] = { 0 };
    size_t i;

    if (getrandom(random, SIGNIN_HASH, 0) != SIGNIN_HASH)
        return err_set(err, ERR_INTERNAL, 0, "the machine has no randomness");
    for (i = 0; i < SIGNIN_TEXT_LEN; i++) {
        size_t bit = i * 6, byte = bit / 8;
        unsigned two = (unsigned)random[byte] << 8 | random[byte + 1];

        out[i] = alphabet[two >> (10 - bit % 8) & 63];
    }
    out[SIGNIN_TEXT_LEN] = '\0';
    mem_wipe(random, sizeof(random));
    return 0;
}

bool signin_secret_valid(const char *text)
{
    return text && strlen(text) == SIGNIN_TEXT_LEN && strspn(text, alphabet) == SIGNIN_TEXT_LEN;
}

int signin_hash_of(const char *text, struct signin_hash *ret)
{
    struct signin_hash h;

    if (!signin_secret_valid(text) || EVP_Digest(text, SIGNIN_TEXT_LEN, h.b, NULL, EVP_sha256(), NULL) != 1)
        return -1;
    *ret = h;
    return 0;
}

bool signin_hash_equal(const struct signin_hash *a, const struct signin_hash *b)
{
    return CRYPTO_memcmp(a->b, b->b, SIGNIN_HASH) == 0;
}

void signin_put_hash(struct buf *out, const struct signin_hash *hash)
{
    wire_put_bytes(out, hash->b, SIGNIN_HASH);
}

void signin_get_hash(struct wire_in *in, struct signin_hash *ret)
{
    size_t len;
    const void *bytes = wire_get_bytes(in, SIGNIN_HASH, &len);

    *ret = (struct signin_hash){ { 0 } };
    if (in->bad || len != SIGNIN_HASH)
        in->bad = true;
    else
        memcpy(ret->b, bytes, SIGNIN_HASH);
}

void signin_actor(const struct signin_hash *session, char out[RPC_ACTOR_MAX + 1])
{
    char hex[2 * SIGNIN_HASH + 1];

    str_hex(session->b, SIGNIN_HASH, hex);
    snprintf(out, RPC_ACTOR_MAX + 1, "gh:%s", hex);
}

bool signin_login_valid(const char *login)
{
    size_t len = strlen(login), i;

    for (i = 0; i < len; i++)
        if (login[i] != '.' && !strchr(alphabet, login[i]))
            return false;
    return len && len <= SIGNIN_LOGIN_MAX;
}

bool signin_avatar_valid(const char *avatar)
{
    size_t i;

    if (!*avatar)
        return true;
    if (strlen(avatar) > SIGNIN_AVATAR_MAX || !(str_starts(avatar, "https://") || str_starts(avatar, "http://")))
        return false;
    for (i = 0; avatar[i]; i++)
        if (avatar[i] <= ' ' || avatar[i] == 0x7f || strchr("\"'<>\\", avatar[i]))
            return false;
    return true;
}
