/* shared/python/names.h -- identifiers of one generated file: safe, unique, never a word the file needs otherwise.
 * The table owns its names; names_release() frees. Rules: section 7.8 of the agent diagram contract. */
#ifndef PYTHON_NAMES_H
#define PYTHON_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "shared/base/err.h"

struct names {
    char **taken;
    size_t len, cap;
};

void names_init(struct names *n);
void names_release(struct names *n);

/* Marks a word as taken (a name the file defines or imports). 0, or -1 out of memory. */
int names_reserve(struct names *n, const char *word, struct err *err);

/* The safe form of a raw name, made unique with _2, _3 ...; borrowed from the table. NULL out of memory. */
const char *names_make(struct names *n, const char *raw, struct err *err);

/* "prefix_" + safe form, made unique likewise: readable private names such as state_greeting. */
const char *names_make_prefixed(struct names *n, const char *prefix, const char *raw, struct err *err);

/* safe(name) of section 7.8 without uniqueness; the caller frees, NULL out of memory. */
char *name_safe(const char *raw);

bool name_is_identifier(const char *s); /* ASCII or Unicode identifier as CPython sees it (conservative: ASCII only is true) */
bool name_is_reserved(const char *s);   /* keyword, soft keyword or builtin of CPython 3.11 */

#endif
