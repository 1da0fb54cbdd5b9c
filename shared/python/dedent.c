#include "shared/python/dedent.h"

#include <stdbool.h>
#include <string.h>

#include "shared/base/buf.h"
#include "shared/base/mem.h"

/* Just enough of Python's tokens to know where a line starts inside a literal or continues an
 * earlier one. */
struct scan {
    const char *s;
    size_t at;
    unsigned depth; /* open brackets */
    char quote;     /* of the literal we are in, else 0 */
    bool triple;
    bool continued; /* the line before ended with a backslash */
};

enum line_kind { LINE_LOGICAL, LINE_FREE, LINE_LITERAL }; /* counts; may move; must stay */

static bool starts_triple(const char *s, char quote)
{
    return s[0] == quote && s[1] == quote && s[2] == quote;
}

static void scan_literal(struct scan *p)
{
    const char *s = p->s + p->at;

    if (*s == '\\' && s[1]) {
        p->at += 2;
    } else if (p->triple ? starts_triple(s, p->quote) : *s == p->quote) {
        p->at += p->triple ? 3 : 1;
        p->quote = 0;
    } else {
        p->at++;
    }
}

static void scan_code(struct scan *p)
{
    const char *s = p->s + p->at;

    p->at++;
    switch (*s) {
    case '\'':
    case '"':
        p->quote = *s;
        p->triple = starts_triple(s, *s);
        p->at += p->triple ? 2 : 0;
        break;
    case '(':
    case '[':
    case '{':
        p->depth++;
        break;
    case ')':
    case ']':
    case '}':
        p->depth -= p->depth > 0;
        break;
    case '#':
        while (p->s[p->at] && p->s[p->at] != '\n')
            p->at++;
        break;
    default:
        break;
    }
}

/* Steps over the rest of a line and its line break. */
static void scan_line(struct scan *p)
{
    p->continued = false;
    while (p->s[p->at]) {
        const char *s = p->s + p->at;

        if (*s == '\n') {
            if (p->quote && !p->triple)
                p->quote = 0; /* never closed: no Python anyway */
            p->at++;
            return;
        }
        if (*s == '\\' && (s[1] == '\n' || (s[1] == '\r' && s[2] == '\n'))) {
            p->continued = true;
            p->at += s[1] == '\n' ? 2 : 3;
            return;
        }
        if (p->quote)
            scan_literal(p);
        else
            scan_code(p);
    }
}

static enum line_kind next_line(struct scan *p)
{
    const char *s = p->s + p->at;
    enum line_kind kind = LINE_LOGICAL;

    s += strspn(s, " \t");
    if (p->quote)
        kind = LINE_LITERAL;
    else if (p->depth || p->continued || !*s || *s == '\n' || *s == '\r' || *s == '#')
        kind = LINE_FREE;
    scan_line(p);
    return kind;
}

/* Length of the blanks that start every logical line, and the text of them in *ret. */
static size_t shared_indent(const char *source, const char **ret)
{
    struct scan p = { .s = source };
    size_t len = 0, i;
    bool first = true;

    while (source[p.at]) {
        const char *line = source + p.at;

        if (next_line(&p) != LINE_LOGICAL)
            continue;
        if (first) {
            *ret = line;
            len = strspn(line, " \t");
            first = false;
        }
        for (i = 0; i < len && line[i] == (*ret)[i]; i++)
            ;
        len = i;
    }
    return len;
}

char *python_dedent(const char *source)
{
    const char *indent = source;
    size_t len = shared_indent(source, &indent), n = 0, skip;
    char *out = mem_zalloc(strlen(source) + 1, 1);
    struct scan p = { .s = source };

    while (out && source[p.at]) {
        size_t start = p.at, blanks = strspn(source + start, " \t");
        enum line_kind kind = next_line(&p);

        for (skip = 0; kind != LINE_LITERAL && skip < len && source[start + skip] == indent[skip]; skip++)
            ;
        if (blanks && (source[start + blanks] == '\n' || !source[start + blanks]))
            skip = blanks;
        memcpy(out + n, source + start + skip, p.at - start - skip);
        n += p.at - start - skip;
    }
    return out;
}

char *python_indent(const char *source)
{
    struct scan p = { .s = source };
    auto_buf struct buf out;

    buf_init(&out, SIZE_MAX / 2);
    while (source[p.at]) {
        size_t start = p.at, blanks = strspn(source + start, " \t\r");
        enum line_kind kind = next_line(&p);

        if (kind != LINE_LITERAL && source[start + blanks] != '\n' && source[start + blanks])
            buf_add_repeat(&out, ' ', 4);
        buf_add(&out, source + start, p.at - start);
    }
    if (!out.len || out.data[out.len - 1] != '\n')
        buf_add_char(&out, '\n');
    return buf_steal(&out, NULL);
}
