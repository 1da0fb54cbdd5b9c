/* shared/base/id.h -- 16-byte identifiers (sessions, requests): parse, print, make.
 * Text form is the UUID of RFC 4122: 36 characters, lower case when written. Read in any case, and in the forms that
 * clients in Python may hold, as their uuid.UUID takes them: without dashes, in braces, as urn:uuid:. */
#ifndef BASE_ID_H
#define BASE_ID_H

#include <stdbool.h>
#include <stdint.h>

#define ID_TEXT_LEN 36
#define ID_TEXT_MAX 80 /* characters that are looked at: longer is no UUID */

struct id {
    uint8_t b[16];
};

void id_new(struct id *ret);                    /* random, version 4 */
int id_parse(const char *text, struct id *ret); /* 0, or -1 when text is no UUID */
void id_format(const struct id *id, char out[ID_TEXT_LEN + 1]);
bool id_equal(const struct id *a, const struct id *b);

#endif
