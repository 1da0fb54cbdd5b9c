/* fcgi/query.h -- names and values as browsers write them into addresses and forms (x-www-form-urlencoded). Pure. */
#ifndef FCGI_QUERY_H
#define FCGI_QUERY_H

#include <stddef.h>

#include "shared/base/buf.h"

/* The first value of that name, decoded, the caller's; U+0000 reads as U+FFFD. NULL: no such name, or no memory (which
 * a query is too short for to matter: it is cut at 16 KiB before it comes here). */
char *query_value(const char *query, const char *name);

/* Appends "name=value" with what has to be escaped escaped, and "&" in front unless out is empty or ends with "?". */
void query_add(struct buf *out, const char *name, const char *value);

#endif
