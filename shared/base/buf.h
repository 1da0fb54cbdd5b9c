/* shared/base/buf.h -- a growing byte string with a ceiling.
 * Owns its memory; buf_release() frees. A failed append is sticky: later ones do nothing and
 * buf_failed() tells, so writers check once at the end. data is always NUL-terminated (or NULL when empty). */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shared/base/mem.h" /* auto_call */

struct buf {
    char *data;
    size_t len;
    size_t cap;
    size_t max;  /* ceiling in bytes, chosen by the creator */
    bool failed; /* out of memory, or the ceiling was reached */
};

void buf_init(struct buf *b, size_t max);
void buf_release(struct buf *b); /* frees; NULL is fine; the buffer can be used again */
void cleanup_buf_release(struct buf *b);
#define auto_buf auto_call(buf_release)

void buf_clear(struct buf *b); /* length 0, failure forgotten, memory kept */
bool buf_failed(const struct buf *b);

int buf_reserve(struct buf *b, size_t more);              /* room for more bytes behind len; 0 or -1 */
int buf_add(struct buf *b, const void *data, size_t len); /* 0, or -1 and failed is set */
int buf_add_str(struct buf *b, const char *s);
int buf_add_char(struct buf *b, char c);
int buf_add_fmt(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int buf_add_vfmt(struct buf *b, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
int buf_add_repeat(struct buf *b, char c, size_t n);
int buf_add_hex(struct buf *b, uint32_t v, unsigned digits); /* the last of its digits, at most 8, lower case */

/* Remove n bytes from the front (n <= len). */
void buf_consume(struct buf *b, size_t n);

/* Take the NUL-terminated bytes out; the caller frees with mem_free(). NULL when failed or out of memory. */
char *buf_steal(struct buf *b, size_t *ret_len);

/* Append s as a JSON string, quotes included; control characters escaped, invalid UTF-8 becomes U+FFFD. */
int buf_add_json_str(struct buf *b, const char *s, size_t len);

#endif
