/* shared/base/str.h -- text helpers: UTF-8, trimming, numbers from text, file-safe names.
 * Pure functions; those that return char * hand it to the caller (mem_free). */
#ifndef BASE_STR_H
#define BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UTF8_REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

/* Code point at s (len bytes left), or -1 when malformed (RFC 3629: no surrogates, no overlongs, <= U+10FFFF).
 * *ret_width: bytes to step over, also when malformed (the maximal ill-formed prefix, at least 1); 0 when len is 0. */
int32_t utf8_decode(const char *s, size_t len, size_t *ret_width);

/* Writes the code point, returns its bytes (1 to 4). out holds 4. */
size_t utf8_encode(uint32_t cp, char *out);

/* True when all of s is well-formed UTF-8. */
bool utf8_valid(const char *s, size_t len);

/* Greatest n <= len so that s[0..n) does not end inside a character. */
size_t utf8_floor(const char *s, size_t len);

bool str_eq(const char *a, const char *b); /* NULL equals only NULL */
bool str_starts(const char *s, const char *prefix);
bool str_ends(const char *s, const char *suffix);

/* Appends s to the len bytes of text in out, which holds size > len: as much as there is room for, and a NUL. Returns
 * the new length. For short texts that are made by the thousand, where snprintf would be most of the work. */
size_t str_append(char *out, size_t size, size_t len, const char *s);

/* Whole text as a number in base 10 within [min, max]: 0, or -1 (empty, rest, out of range). */
int str_to_int(const char *s, int64_t min, int64_t max, int64_t *ret);
#define DOUBLE_TEXT_MAX 32

/* As Python and JavaScript write numbers that are no integers: the shortest digits that read back equal, always with a
 * point or an exponent. Finite only. */
void str_from_double(double v, char out[static DOUBLE_TEXT_MAX]);
int str_to_double(const char *s, double *ret); /* finite ones only, C locale spelling */

/* true: 1 true yes on; false: 0 false no off (any case). 0, or -1 for anything else. */
int str_to_bool(const char *s, bool *ret);

/* Compares without telling by time where they differ (lengths are not secret). */
bool str_eq_consttime(const char *a, const char *b);

/* Lower-case hex of len bytes into out, which holds 2 * len + 1. */
void str_hex(const uint8_t *data, size_t len, char *out);

#endif
