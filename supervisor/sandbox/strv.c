#include "supervisor/sandbox/strv.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "shared/base/mem.h"

void strv_release(struct strv *s)
{
    size_t i;

    if (!s)
        return;
    for (i = 0; i < s->n; i++) {
        mem_wipe(s->v[i], strlen(s->v[i]));
        mem_free(s->v[i]);
    }
    mem_free(s->v);
    *s = (struct strv){ 0 };
}

/* Takes text over, also when it cannot be kept. */
static void add_owned(struct strv *s, char *text)
{
    size_t cap = s->cap ? s->cap * 2 : 16;
    char **v;

    if (!text || s->failed) {
        s->failed = true;
        mem_free(text);
        return;
    }
    if (s->n + 2 > s->cap) {
        v = mem_resize(s->v, cap, sizeof(*v));
        if (!v) {
            s->failed = true;
            mem_free(text);
            return;
        }
        s->v = v;
        s->cap = cap;
    }
    s->v[s->n++] = text;
    s->v[s->n] = NULL;
}

void strv_add(struct strv *s, const char *text)
{
    add_owned(s, mem_strdup(text));
}

void strv_add_fmt(struct strv *s, const char *fmt, ...)
{
    va_list ap;
    char *text = NULL;
    int len;

    va_start(ap, fmt);
    len = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    if (len >= 0 && (text = mem_zalloc((size_t)len + 1, 1))) {
        va_start(ap, fmt);
        (void)vsnprintf(text, (size_t)len + 1, fmt, ap);
        va_end(ap);
    }
    add_owned(s, text);
}

void strv_add_many(struct strv *s, ...)
{
    const char *text;
    va_list ap;

    va_start(ap, s);
    while ((text = va_arg(ap, const char *)))
        strv_add(s, text);
    va_end(ap);
}

void strv_set_env(struct strv *s, const char *name, const char *value)
{
    size_t len = strlen(name), i;

    for (i = 0; i < s->n; i++)
        if (!strncmp(s->v[i], name, len) && s->v[i][len] == '=') {
            mem_wipe(s->v[i], strlen(s->v[i]));
            mem_free(s->v[i]);
            s->v[i] = s->v[--s->n];
            s->v[s->n] = NULL;
            break;
        }
    strv_add_fmt(s, "%s=%s", name, value);
}
