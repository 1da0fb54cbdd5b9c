/* shared/python/names.h -- identifiers of one generated file: safe, unique, never a word the file needs otherwise.
 * The table owns its names; names_release() frees. Rules: section 7.8 of the agent diagram contract. */
#ifndef PYTHON_NAMES_H
#define PYTHON_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shared/base/err.h"
#include "shared/base/keyed_hash.h"

#define NAME_MAX_LEN 120  /* longest safe form, without suffix */
#define NAME_RAW_MAX 4096 /* bytes of a raw name that are looked at */

struct names_entry;

struct names { /* hashed: a thousand states of one name cost no more than a thousand different ones */
    struct names_entry *entries;
    size_t len, cap;
    uint32_t *slots;                    /* open addressing, index into entries + 1; 0 = free */
    size_t slots_len;                   /* power of two */
    bool (*is_taken)(const char *word); /* NULL, or words that the file needs besides those of the table */
    struct hash_key key;                /* the names are a stranger's: nobody can choose colliding ones */
};

void names_init(struct names *n);
void names_release(struct names *n);

/* Marks a word as taken (a name the file defines or imports). 0, or -1 out of memory. */
int names_reserve(struct names *n, const char *word, struct err *err);
bool names_taken(const struct names *n, const char *word);

/* The safe form of a raw name, made unique with _2, _3 ...; borrowed from the table. NULL out of memory. */
const char *names_make(struct names *n, const char *raw, struct err *err);

/* prefix + "_" + safe form (without the marks that only a bare name needs: n_, trailing _), made unique likewise:
 * readable private names such as state_greeting. prefix is ours: an identifier. */
const char *names_make_prefixed(struct names *n, const char *prefix, const char *raw, struct err *err);

/* safe(name) of section 7.8 without uniqueness; the caller frees, NULL out of memory. */
char *name_safe(const char *raw);

bool name_is_identifier(
    const char *s); /* ASCII or Unicode identifier as CPython sees it (conservative: ASCII only is true) */
bool name_is_reserved(const char *s); /* keyword, soft keyword or builtin of CPython 3.11 */

#endif
