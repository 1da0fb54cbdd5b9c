/* supervisor/sandbox/strv.h -- a growing, NULL-terminated list of owned strings: argument and
 * environment lists. A failed add is sticky, so builders check once at the end. */
#ifndef SANDBOX_STRV_H
#define SANDBOX_STRV_H

#include <stdbool.h>
#include <stddef.h>

struct strv {
    char **v; /* NULL-terminated; NULL while empty */
    size_t n, cap;
    bool failed;
};

void strv_release(struct strv *s); /* wipes too: environments hold credentials */
void strv_add(struct strv *s, const char *text);
void strv_add_fmt(struct strv *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Adds each argument up to a NULL. */
void strv_add_many(struct strv *s, ...) __attribute__((sentinel));

/* "NAME=value"; replaces an entry of the same name. */
void strv_set_env(struct strv *s, const char *name, const char *value);

#endif
