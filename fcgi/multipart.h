/* fcgi/multipart.h -- one file out of a multipart/form-data body (RFC 7578), which is hostile: every bound is checked
 * and nothing is copied but names. What browsers and HTTP libraries write is read; all else is refused. */
#ifndef FCGI_MULTIPART_H
#define FCGI_MULTIPART_H

#include <stddef.h>

#include "shared/base/err.h"

#define MULTIPART_PARTS_MAX 100
#define MULTIPART_HEAD_MAX 8192 /* bytes of one part's header lines */
#define MULTIPART_BOUNDARY_MAX 70

struct multipart_file {
    char *filename;   /* owned, mem_free(); NULL: the field is no file */
    const char *data; /* in the body */
    size_t len;
};

/* type: the request's Content-Type. The last field of that name: 1 and *ret; 0 when the body has none, which is so of
 * an empty one and of other types. A part counts once the delimiter behind it is complete: of a body that ends too
 * early, what was whole. -1: ERR_BAD_REQUEST saying what is wrong with the body, or out of memory. */
int multipart_find(const char *type, const char *body, size_t len, const char *field, struct multipart_file *ret,
                   struct err *err);

#endif
