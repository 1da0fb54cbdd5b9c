/* shared/base/err.h -- what went wrong, on the caller's stack, so that even "out of memory" can be said.
 * Owns nothing. A function that takes struct err * fills it only when it fails (returns -1 or NULL). */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include <stddef.h>

enum err_kind {
    ERR_NONE,
    ERR_BAD_REQUEST, /* the input is wrong: 400 */
    ERR_SCHEMA,      /* JSON of the wrong shape: 422 */
    ERR_AUTH,        /* sign-in needed: 401 */
    ERR_FORBIDDEN,   /* not allowed here: 403 */
    ERR_NOT_FOUND,   /* 404 */
    ERR_TOO_LARGE,   /* 413 */
    ERR_CONFLICT,    /* exists already, or wrong state: 409 outside, 400 where the contract says so */
    ERR_LIMIT,       /* rate, cap or capacity: 429 */
    ERR_UPSTREAM,    /* a process behind us answered badly: 502 */
    ERR_UNAVAILABLE, /* a process behind us, or the sandbox, is not there: 503 */
    ERR_INTERNAL,    /* our fault, or the machine's: 500 */
    ERR__MAX
};

struct err {
    enum err_kind kind;
    int errnum;    /* errno of the cause, 0 when there is none */
    unsigned wait; /* seconds after which a retry makes sense (ERR_LIMIT), else 0 */
    char msg[512]; /* a sentence, UTF-8, cut at a character boundary when too long */
};

/* Fill err (NULL is fine) with a formatted sentence. With errnum != 0, ": <strerror>" is appended. Always -1. */
int err_set(struct err *err, enum err_kind kind, int errnum, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* Put "<context>: " in front of what err holds; kind and errnum stay. Always -1. */
int err_wrap(struct err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Shorthand for a failed allocation: ERR_INTERNAL, ENOMEM. Always -1. */
int err_nomem(struct err *err);

/* Empty an err that is used again. */
void err_clear(struct err *err);

/* HTTP status of a kind; the only table that maps them. */
int err_http_status(enum err_kind kind);

#endif
