#include "shared/diagram/findings.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "shared/base/mem.h"
#include "shared/base/str.h"

void findings_init(struct findings *f)
{
    *f = (struct findings){ 0 };
}

void findings_release(struct findings *f)
{
    size_t i;

    if (!f)
        return;
    for (i = 0; i < f->len; i++) {
        mem_free(f->items[i].where);
        mem_free(f->items[i].message);
    }
    mem_free(f->items);
    findings_init(f);
}

static bool has_room(struct findings *f, enum finding_class severity)
{
    void *items = f->items;

    if (f->len >= FINDINGS_MAX)
        return false;
    if (severity == FINDING_WARNING && f->len - (f->errors < f->len ? f->errors : f->len) >= FINDINGS_WARNINGS_MAX)
        return false;
    if (mem_grow(&items, f->len, &f->cap, sizeof(*f->items)) < 0)
        return false;
    f->items = items;
    return true;
}

int finding_add(struct findings *f, enum finding_class severity, int rule, const char *where, const char *fmt, ...)
{
    int verdict = severity == FINDING_ERROR ? -1 : 0;
    char text[FINDING_MESSAGE_MAX + 1];
    struct finding one = { .severity = severity, .rule = rule };
    bool room = has_room(f, severity);
    va_list ap;
    int n;

    if (severity == FINDING_ERROR)
        f->errors++;
    if (!room) {
        f->truncated = true;
        return verdict;
    }
    va_start(ap, fmt);
    n = vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    if (n >= (int)sizeof(text))
        text[utf8_floor(text, sizeof(text) - 1)] = '\0';
    one.where = mem_strdup(where ? where : "");
    one.message = mem_strdup(n < 0 ? fmt : text);
    if (!one.where || !one.message) {
        mem_free(one.where);
        mem_free(one.message);
        f->truncated = true;
        return verdict;
    }
    f->items[f->len++] = one;
    return verdict;
}

/* What follows word at the start of path; NULL when path does not begin with it. */
static const char *behind(const char *path, const char *word)
{
    size_t len = strlen(word);

    if (strncmp(path, word, len) != 0 || (path[len] && path[len] != '.' && path[len] != '['))
        return NULL;
    return path + len;
}

void findings_adopt(struct findings *f, struct findings *part, const char *title, const char *model, const char *config)
{
    size_t i, unsaid = part->errors;

    for (i = 0; i < part->len; i++) {
        const struct finding *one = &part->items[i];
        const char *rest = model ? behind(one->where, "model") : NULL, *start = model;
        char where[2 * FINDING_MESSAGE_MAX];

        if (!rest && config) {
            rest = behind(one->where, "config");
            start = config;
        }
        snprintf(where, sizeof(where), "%s%s", rest ? start : "", rest ? rest : one->where);
        unsaid -= one->severity == FINDING_ERROR;
        finding_add(f, one->severity, one->rule, where, "%s%s%s", title ? title : "", title ? ": " : "", one->message);
    }
    f->errors += unsaid;
    f->truncated = f->truncated || part->truncated;
    findings_release(part);
}
