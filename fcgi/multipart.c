#include "fcgi/multipart.h"

#include <string.h>
#include <strings.h>

#include "shared/base/buf.h"
#include "shared/base/mem.h"
#include "shared/base/str.h"

struct span {
    const char *s;
    size_t len;
};

static int bad(struct err *err, const char *what)
{
    return err_set(err, ERR_BAD_REQUEST, 0, "The body is no valid multipart/form-data: %s", what);
}

/* ---- header values ------------------------------------------------------------------------------------------------
 */

static bool is_token(char c)
{
    return c > 0x20 && c < 0x7f && !strchr("()<>@,;:\\\"/[]?=", c);
}

static struct span skip(struct span v, size_t n)
{
    return (struct span){ v.s + n, v.len - n };
}

static struct span skip_blanks(struct span v)
{
    while (v.len && (*v.s == ' ' || *v.s == '\t'))
        v = skip(v, 1);
    return v;
}

static size_t token_len(struct span v)
{
    size_t n = 0;

    while (n < v.len && is_token(v.s[n]))
        n++;
    return n;
}

/* "text" with \" and \\ inside; other backslashes stand for themselves, as in the paths that old browsers send. */
static int take_quoted(struct span *v, struct buf *out)
{
    struct span at = skip(*v, 1);

    while (at.len && *at.s != '"') {
        if (*at.s == '\\' && at.len > 1 && (at.s[1] == '"' || at.s[1] == '\\'))
            at = skip(at, 1);
        buf_add_char(out, *at.s);
        at = skip(at, 1);
    }
    if (!at.len)
        return -1;
    *v = skip(at, 1);
    return 0;
}

/* Takes "; name=value" off the front: 1, 0 at the end, -1. */
static int take_parameter(struct span *v, struct span *ret_name, struct buf *ret_value)
{
    struct span at = skip_blanks(*v);
    size_t n;

    if (!at.len)
        return 0;
    if (*at.s != ';')
        return -1;
    at = skip_blanks(skip(at, 1));
    if (!at.len)
        return 0;
    n = token_len(at);
    *ret_name = (struct span){ at.s, n };
    at = skip(at, n);
    if (!n || !at.len || *at.s != '=')
        return -1;
    at = skip(at, 1);
    buf_clear(ret_value);
    if (at.len && *at.s == '"') {
        if (take_quoted(&at, ret_value) < 0)
            return -1;
    } else {
        n = token_len(at);
        buf_add(ret_value, at.s, n);
        at = skip(at, n);
    }
    *v = at;
    return buf_failed(ret_value) ? -1 : 1;
}

static bool is_word(struct span name, const char *word)
{
    return name.len == strlen(word) && strncasecmp(name.s, word, name.len) == 0;
}

static bool is_boundary(const struct buf *b)
{
    static const char marks[] = "'()+_,-./:=? ";
    size_t i;

    if (!b->len || b->len > MULTIPART_BOUNDARY_MAX || b->data[b->len - 1] == ' ')
        return false;
    for (i = 0; i < b->len; i++) {
        char c = b->data[i];

        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c && strchr(marks, c))))
            return false;
    }
    return true;
}

static const char wanted[] = "multipart/form-data";

static bool is_multipart(const char *type)
{
    size_t len = strlen(wanted);

    return strncasecmp(type, wanted, len) == 0 && (!type[len] || strchr("; \t", type[len]));
}

/* Fills out with "--boundary". */
static int read_boundary(const char *type, struct buf *out, struct err *err)
{
    struct span v = { type, strlen(type) }, name;
    auto_buf struct buf value;
    int rc;

    buf_init(&value, 1000);
    v = skip(v, strlen(wanted));
    while ((rc = take_parameter(&v, &name, &value)) > 0)
        if (is_word(name, "boundary")) {
            if (!is_boundary(&value))
                return bad(err, "its boundary is malformed");
            buf_add_str(out, "--");
            buf_add(out, value.data, value.len);
            return buf_failed(out) ? err_nomem(err) : 0;
        }
    return bad(err, rc < 0 ? "its Content-Type is malformed" : "its Content-Type names no boundary");
}

/* ---- parts --------------------------------------------------------------------------------------------------------
 */

struct part {
    struct buf name, filename;
    bool named, file;
};

static int read_disposition(struct span v, struct part *p, struct err *err)
{
    auto_buf struct buf value;
    size_t n = token_len(v);
    struct span name;
    int rc;

    buf_init(&value, MULTIPART_HEAD_MAX);
    if (!is_word((struct span){ v.s, n }, "form-data"))
        return bad(err, "a part is no form-data");
    v = skip(v, n);
    while ((rc = take_parameter(&v, &name, &value)) > 0)
        if (is_word(name, "name")) {
            p->named = true;
            buf_clear(&p->name);
            buf_add(&p->name, value.data, value.len);
        } else if (is_word(name, "filename")) {
            p->file = true;
            buf_clear(&p->filename);
            buf_add(&p->filename, value.data, value.len);
        }
    if (rc < 0)
        return bad(err, "a Content-Disposition is malformed");
    return buf_failed(&p->name) || buf_failed(&p->filename) ? err_nomem(err) : 0;
}

/* One line without its end; the header ends with an empty one. */
static int read_head_line(struct span line, struct part *p, struct err *err)
{
    size_t n = token_len(line);
    struct span v;

    if (memchr(line.s, '\0', line.len) || memchr(line.s, '\r', line.len) || memchr(line.s, '\n', line.len))
        return bad(err, "a header line holds a control character");
    if (!n || n == line.len || line.s[n] != ':')
        return bad(err, "a header line is malformed");
    v = skip_blanks(skip(line, n + 1));
    return is_word((struct span){ line.s, n }, "Content-Disposition") ? read_disposition(v, p, err) : 0;
}

/* The body ends in the middle of a part. */
#define CUT 2

/* Takes the header off the front: 0, CUT, -1. */
static int read_head(struct span *body, struct part *p, struct err *err)
{
    size_t used = 0;

    for (;;) {
        const char *end = memmem(body->s, body->len, "\r\n", 2);
        size_t n = end ? (size_t)(end - body->s) : 0;

        if (!end && used + body->len <= MULTIPART_HEAD_MAX)
            return CUT;
        used += n + 2;
        if (!end || used > MULTIPART_HEAD_MAX)
            return bad(err, "the header of a part does not end");
        if (n && read_head_line((struct span){ body->s, n }, p, err) < 0)
            return -1;
        *body = skip(*body, n + 2);
        if (!n)
            return p->named ? 0 : bad(err, "a part has no name");
    }
}

/* Whether the body ends before it is clear what a delimiter begins. */
static bool is_cut(struct span behind)
{
    if (behind.len == 1 && *behind.s == '-')
        return true;
    behind = skip_blanks(behind);
    return !behind.len || (behind.len == 1 && *behind.s == '\r');
}

/* What follows a delimiter: 1 a part, 0 the end, -1. */
static int after_delimiter(struct span *body)
{
    if (is_cut(*body))
        return 0;
    if (body->len >= 2 && memcmp(body->s, "--", 2) == 0)
        return 0;
    *body = skip_blanks(*body);
    if (body->len < 2 || memcmp(body->s, "\r\n", 2) != 0)
        return -1;
    *body = skip(*body, 2);
    return 1;
}

/* The part's content, up to the line break before the next delimiter, which is taken: 0, or -1 when there is none. */
static int take_content(struct span *body, const struct buf *delimiter, struct span *ret)
{
    struct span at = *body;

    for (;;) {
        const char *found = memmem(at.s, at.len, delimiter->data, delimiter->len);

        if (!found)
            return -1;
        if (found - body->s >= 2 && memcmp(found - 2, "\r\n", 2) == 0) {
            *ret = (struct span){ body->s, (size_t)(found - body->s) - 2 };
            *body = skip(*body, (size_t)(found - body->s) + delimiter->len);
            return is_cut(*body) ? -1 : 0;
        }
        at = skip(at, (size_t)(found - at.s) + 1);
    }
}

static int keep(const struct part *p, struct span content, struct multipart_file *ret, struct err *err)
{
    mem_free(ret->filename);
    ret->filename = p->file ? mem_dup(p->filename.data, p->filename.len) : NULL;
    if (p->file && !ret->filename)
        return err_nomem(err);
    ret->data = content.s;
    ret->len = content.len;
    return 1;
}

/* 1 the field, 0 another, CUT, -1. */
static int read_part(struct span *body, const struct buf *delimiter, const char *field, struct multipart_file *ret,
                     struct err *err)
{
    struct part p = { .named = false };
    struct span content;
    int rc;

    buf_init(&p.name, MULTIPART_HEAD_MAX);
    buf_init(&p.filename, MULTIPART_HEAD_MAX);
    rc = read_head(body, &p, err);
    if (rc == 0 && take_content(body, delimiter, &content) < 0)
        rc = CUT;
    if (rc == 0 && p.name.len == strlen(field) && memcmp(p.name.data, field, p.name.len) == 0)
        rc = keep(&p, content, ret, err);
    buf_release(&p.name);
    buf_release(&p.filename);
    return rc;
}

static int read_parts(struct span body, const struct buf *delimiter, const char *field, struct multipart_file *ret,
                      struct err *err)
{
    int found = 0, more, rc, parts;

    for (parts = 0; (more = after_delimiter(&body)) > 0; parts++) {
        if (parts == MULTIPART_PARTS_MAX)
            return bad(err, "it has too many parts");
        rc = read_part(&body, delimiter, field, ret, err);
        if (rc < 0)
            return -1;
        if (rc == CUT)
            return found;
        found |= rc;
    }
    return more < 0 ? bad(err, "a delimiter is malformed") : found;
}

int multipart_find(const char *type, const char *body, size_t len, const char *field, struct multipart_file *ret,
                   struct err *err)
{
    struct multipart_file file = { 0 };
    struct span at = { body, len }, preamble;
    auto_buf struct buf delimiter;
    int rc;

    buf_init(&delimiter, MULTIPART_BOUNDARY_MAX + 3);
    if (!is_multipart(type))
        return 0;
    if (read_boundary(type, &delimiter, err) < 0)
        return -1;
    if (!len)
        return 0;
    if (len < delimiter.len && memcmp(body, delimiter.data, len) == 0)
        return 0;
    if (len >= delimiter.len && memcmp(body, delimiter.data, delimiter.len) == 0)
        at = skip(at, delimiter.len);
    else if (take_content(&at, &delimiter, &preamble) < 0)
        return bad(err, "its boundary is nowhere in it");
    rc = read_parts(at, &delimiter, field, &file, err);
    if (rc <= 0) {
        mem_free(file.filename);
        return rc;
    }
    *ret = file;
    return 1;
}
