/* fcgi/target.h -- the address of a request, taken apart before it is decoded: "a%2Fb" is one segment, never two.
 * Owns its texts; target_release() frees. What a client can write here is hostile: a byte that is zero once decoded
 * becomes U+FFFD, a '%' without two hex digits stays as it is. */
#ifndef FCGI_TARGET_H
#define FCGI_TARGET_H

#include <stdbool.h>
#include <stddef.h>

#include "shared/base/err.h"

#define TARGET_SEGMENTS_MAX 16 /* one route has eight; what is behind stays reachable by target_rest() */
#define TARGET_MAX 16384       /* bytes of an address */

struct target {
    char *raw;                           /* path as it came, without query */
    char *query;                         /* behind the '?', "" for none */
    char *segments[TARGET_SEGMENTS_MAX]; /* decoded, in one block */
    size_t starts[TARGET_SEGMENTS_MAX];  /* where each begins in raw */
    size_t len;
    bool more;  /* there are more segments */
    bool slash; /* the path ends with one (and is not "/" alone) */
    char *block;
};

/* uri: path and query as the client sent them. -1: ERR_NOT_FOUND (no path at all, or too long), or no memory. */
int target_parse(const char *uri, struct target *ret, struct err *err);
void target_release(struct target *t);

/* All from segment i on, decoded: the caller frees. NULL when out of memory. */
char *target_rest(const struct target *t, size_t i);

/* "/a/b?c=d" without the slash before the query (add: with one more): the caller frees. */
char *target_toggle_slash(const struct target *t);

#endif
