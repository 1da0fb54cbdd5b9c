/* shared/base/keyed_hash.h -- a hash for tables whose keys strangers choose (SipHash-1-3, Aumasson and Bernstein).
 * With a random key nobody can prepare keys that share a bucket. Pure but for the making of the key. */
#ifndef BASE_KEYED_HASH_H
#define BASE_KEYED_HASH_H

#include <stddef.h>
#include <stdint.h>

struct hash_key {
    uint64_t k0, k1;
};

void hash_key_new(struct hash_key *ret); /* random */
uint64_t hash_bytes(const struct hash_key *key, const void *data, size_t len);
uint64_t hash_text(const struct hash_key *key, const char *s);

#endif
