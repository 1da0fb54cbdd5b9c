/* shared/python/emit.h -- the only way text, numbers and names of a diagram reach a Python program (section 7.9).
 * All functions append to a struct buf (sticky failure) and write ASCII only. */
#ifndef PYTHON_EMIT_H
#define PYTHON_EMIT_H

#include <stdint.h>

#include "shared/base/buf.h"
#include "shared/json/value.h"

/* One-line single-quoted literal; invalid UTF-8 becomes U+FFFD. NULL is written as None. */
void py_str(struct buf *b, const char *s);
void py_int(struct buf *b, int64_t v);
void py_float(struct buf *b, double v); /* finite only: shortest form that reads back equal, always with . or e */
void py_bool(struct buf *b, bool v);

/* None, True, numbers, strings, [..], {..}; deeper than 100 levels or a number that is not finite: sticky failure. */
void py_value(struct buf *b, const struct value *v);

#endif
