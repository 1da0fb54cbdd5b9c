/* shared/base/marks.h -- combining marks of Unicode text. Normal forms put marks that follow each other in order, which
 * costs time by the square of their number: text of strangers is asked about first. */
#ifndef BASE_MARKS_H
#define BASE_MARKS_H

#include <stdbool.h>
#include <stddef.h>

/* Whether more marks follow each other than any text needs: 30 (UAX 15, stream-safe text format). */
bool marks_pile_up(const char *s, size_t len);

#endif
