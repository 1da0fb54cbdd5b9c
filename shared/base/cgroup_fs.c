#include "shared/base/cgroup_fs.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "shared/base/mem.h"
#include "shared/base/str.h"

static const struct {
    unsigned bit;
    const char *name;
} names[] = {
    { CGROUP_MEMORY, "memory" },
    { CGROUP_PIDS, "pids" },
    { CGROUP_CPU, "cpu" },
    { CGROUP_FREEZER, "freezer" },
};

static unsigned bit_of(const char *word, size_t len)
{
    size_t i;

    for (i = 0; i < ARRAY_LEN(names); i++)
        if (strlen(names[i].name) == len && !memcmp(names[i].name, word, len))
            return names[i].bit;
    return 0;
}

unsigned cgroup_controllers_parse(const char *words)
{
    unsigned found = 0;

    while (*words) {
        size_t len = strcspn(words, " ,\n");

        found |= bit_of(words, len);
        words += len + strspn(words + len, " ,\n");
    }
    return found;
}

/* A field ends at the next blank; the kernel writes blanks inside of one as \040. -1 when it does not fit. */
static int unescape(const char *field, size_t len, char *out, size_t size)
{
    size_t i, n = 0;

    for (i = 0; i < len; i++) {
        char c = field[i];

        if (c == '\\' && len - i > 3) {
            c = (char)(((field[i + 1] - '0') << 6) | ((field[i + 2] - '0') << 3) | (field[i + 3] - '0'));
            i += 3;
        }
        if (n + 1 >= size)
            return -1;
        out[n++] = c;
    }
    out[n] = '\0';
    return 0;
}

/* Start and length of field number n (from 0) of a line; NULL when there are fewer. */
static const char *field_at(const char *line, const char *end, unsigned n, size_t *ret_len)
{
    const char *p = line;

    for (;;) {
        const char *blank = memchr(p, ' ', (size_t)(end - p));
        const char *stop = blank ? blank : end;

        if (n-- == 0) {
            *ret_len = (size_t)(stop - p);
            return p;
        }
        if (!blank)
            return NULL;
        p = blank + 1;
    }
}

static bool is(const char *field, size_t len, const char *word)
{
    return strlen(word) == len && !memcmp(field, word, len);
}

/* "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory" */
static int parse_line(struct cgroup_mount *ret, const char *line, const char *end)
{
    const char *rest = memmem(line, (size_t)(end - line), " - ", 3), *point, *type, *options;
    size_t point_len = 0, type_len = 0, options_len = 0;
    char text[256];

    if (!rest)
        return -1;
    rest += 3;
    point = field_at(line, end, 4, &point_len);
    type = field_at(rest, end, 0, &type_len);
    options = field_at(rest, end, 2, &options_len);
    if (!point || *point != '/' || !type || !options || unescape(point, point_len, ret->path, sizeof(ret->path)) < 0)
        return -1;
    ret->controllers = 0;
    if (is(type, type_len, "cgroup2")) {
        ret->version = 2;
        return 0;
    }
    if (!is(type, type_len, "cgroup") || options_len >= sizeof(text))
        return -1;
    memcpy(text, options, options_len);
    text[options_len] = '\0';
    ret->version = 1;
    ret->controllers = cgroup_controllers_parse(text);
    return ret->controllers ? 0 : -1;
}

void cgroup_mounts_parse(struct cgroup_mounts *ret, const char *mountinfo)
{
    unsigned have = 0;
    bool unified = false;
    const char *line;

    ret->n = 0;
    for (line = mountinfo; *line && ret->n < CGROUP_MOUNTS_MAX;) {
        const char *end = strchrnul(line, '\n');
        struct cgroup_mount *m = &ret->v[ret->n];

        if (parse_line(m, line, end) == 0) {
            m->controllers &= ~have;
            if (m->version == 2 ? !unified : m->controllers != 0)
                ret->n++;
            unified = unified || m->version == 2;
            have |= m->controllers;
        }
        line = *end ? end + 1 : end;
    }
}

int cgroup_own_group(const char *text, char *out, size_t size)
{
    const char *p = strncmp(text, "0::", 3) ? strstr(text, "\n0::") : text;
    size_t len;

    if (!p)
        return -1;
    p = strchr(p, '/');
    len = p ? strcspn(p, "\n") : 0;
    if (!len || len >= size)
        return -1;
    memcpy(out, p, len);
    out[len] = '\0';
    return 0;
}

int64_t cgroup_counter(const char *text, const char *word)
{
    size_t len = strlen(word);
    const char *line;

    for (line = text; line; line = (line = strchr(line, '\n')) ? line + 1 : NULL) {
        char digits[24];
        int64_t v;
        size_t n;

        if (strncmp(line, word, len) || line[len] != ' ')
            continue;
        n = strspn(line + len + 1, "0123456789");
        if (n >= sizeof(digits))
            return -1;
        memcpy(digits, line + len + 1, n);
        digits[n] = '\0';
        return str_to_int(digits, 0, INT64_MAX, &v) == 0 ? v : -1;
    }
    return -1;
}
