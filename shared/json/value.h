/* shared/json/value.h -- a JSON value as the model keeps it: order of members kept, every text owned.
 * Built from a parsed document once (json.h); emitters walk it and never see the parser's tree. */
#ifndef JSON_VALUE_H
#define JSON_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;

enum value_kind { VALUE_NULL, VALUE_BOOL, VALUE_INT, VALUE_DOUBLE, VALUE_STRING, VALUE_ARRAY, VALUE_OBJECT };

struct value {
    enum value_kind kind;
    bool boolean;
    int64_t integer;     /* numbers without point and exponent; the nearest when there is none of 64 bits */
    double number;       /* all other numbers; may be infinite when the document said 1e999 */
    char *string;        /* VALUE_STRING: UTF-8, no NUL inside. VALUE_INT: the digits, when 64 bits do not hold it */
    char **keys;         /* VALUE_OBJECT: len names, else NULL */
    struct value *items; /* VALUE_ARRAY and VALUE_OBJECT: len values, in document order */
    size_t len;
};

void value_release(struct value *v);                      /* frees what v holds; NULL is fine */
int value_copy(const struct value *v, struct value *ret); /* deep; 0, or -1 out of memory (ret untouched) */
int value_write(const struct value *v, unsigned indent, struct buf *out);   /* JSON, a member a line; sticky in out */
const struct value *value_get(const struct value *object, const char *key); /* borrowed; NULL: absent or no object */

#endif
