#include "shared/base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "shared/base/str.h"

static const int statuses[ERR__MAX] = {
    [ERR_NONE] = 200,      [ERR_BAD_REQUEST] = 400, [ERR_SCHEMA] = 422,      [ERR_AUTH] = 401,
    [ERR_FORBIDDEN] = 403, [ERR_NOT_FOUND] = 404,   [ERR_TOO_LARGE] = 413,   [ERR_CONFLICT] = 409,
    [ERR_LIMIT] = 429,     [ERR_UPSTREAM] = 502,    [ERR_UNAVAILABLE] = 503, [ERR_INTERNAL] = 500,
};

/* Formatting into a fixed buffer can split a UTF-8 character; JSON answers need whole ones. */
static void finish(struct err *err)
{
    err->msg[utf8_floor(err->msg, strlen(err->msg))] = '\0';
}

/* Behind the n bytes that are there, ": " and as much of text as fits. */
static void append(struct err *err, size_t n, const char *text)
{
    size_t room = n + 3 < sizeof(err->msg) ? sizeof(err->msg) - n - 3 : 0, len = strnlen(text, room);

    if (!room)
        return;
    memcpy(err->msg + n, ": ", 2);
    memcpy(err->msg + n + 2, text, len);
    err->msg[n + 2 + len] = '\0';
}

int err_set(struct err *err, enum err_kind kind, int errnum, const char *fmt, ...)
{
    va_list ap;
    int n;

    if (!err)
        return -1;
    err->kind = kind;
    err->errnum = errnum;
    err->wait = 0;
    va_start(ap, fmt);
    n = vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
    va_end(ap);
    if (n < 0)
        err->msg[0] = '\0';
    if (errnum && n >= 0)
        append(err, (size_t)n, strerror(errnum));
    finish(err);
    return -1;
}

int err_wrap(struct err *err, const char *fmt, ...)
{
    char old[sizeof(err->msg)];
    va_list ap;
    int n;

    if (!err)
        return -1;
    memcpy(old, err->msg, sizeof(old));
    va_start(ap, fmt);
    n = vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
    va_end(ap);
    if (n >= 0)
        append(err, (size_t)n, old);
    finish(err);
    return -1;
}

int err_nomem(struct err *err)
{
    return err_set(err, ERR_INTERNAL, ENOMEM, "out of memory");
}

void err_clear(struct err *err)
{
    if (err)
        *err = (struct err){ 0 };
}

int err_http_status(enum err_kind kind)
{
    return (unsigned)kind < ERR__MAX ? statuses[kind] : 500;
}
