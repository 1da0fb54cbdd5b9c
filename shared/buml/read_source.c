/* Program text that is carried, never run: the source of functions (reader.h). */
#include <string.h>

#include "shared/base/buf.h"
#include "shared/base/mem.h"
#include "shared/buml/reader.h"
#include "shared/diagram/text.h"
#include "shared/python/dedent.h"
#include "shared/python/names.h"

#define FUNCTION_GAP 2            /* empty lines behind a function, as they are written here */
#define SEARCHED_MAX (256u << 20) /* bytes that buml_source_contains() looks through for one file */

static size_t offset(const struct reader *r, int line, int column)
{
    size_t at;

    if (line < 1 || (size_t)line > r->lines_len || column < 0)
        return r->len;
    at = r->lines[line - 1] + (size_t)column;
    return at < r->len ? at : r->len;
}

char *buml_source_slice(struct reader *r, const struct node *from, const struct node *to)
{
    size_t start = offset(r, from->line, from->column), end = offset(r, to->end_line, to->end_column);

    return mem_dup(r->text + start, end > start ? end - start : 0);
}

size_t buml_source_len(const struct reader *r, const struct node *n)
{
    size_t at = offset(r, n->line, n->column), end = offset(r, n->end_line, n->end_column), count = 0;

    for (; at < end; at++)
        count += ((unsigned char)r->text[at] & 0xc0) != 0x80;
    return count;
}

static size_t line_end(const struct reader *r, size_t at)
{
    while (at < r->len && r->text[at] != '\n' && r->text[at] != '\r')
        at++;
    return at;
}

static size_t skip_blanks(const struct reader *r, size_t at)
{
    while (at < r->len && (r->text[at] == ' ' || r->text[at] == '\t' || r->text[at] == '\f'))
        at++;
    return at;
}

/* Where the function's text begins: at its first decorator, with the blanks before it. */
static size_t function_start(const struct reader *r, const struct node *n)
{
    const struct node *decorator = node_child(n, PART_DECORATORS);
    int line = decorator ? decorator->line : n->line;
    size_t at = offset(r, line, 0), limit = offset(r, line, decorator ? decorator->column : n->column);

    while (decorator && limit > 0 && r->text[limit] != '@')
        limit--;
    while (at < limit && skip_blanks(r, at) < limit)
        at++; /* something else stands before it on this line */
    if (!decorator)
        return at;
    for (at = limit; at > 0 && (r->text[at - 1] == ' ' || r->text[at - 1] == '\t'); at--)
        ;
    return at;
}

/* Comments behind the last statement, on its line or deeper than the def, belong to the function. */
static size_t function_end(const struct reader *r, const struct node *n)
{
    size_t end = offset(r, n->end_line, n->end_column), at = skip_blanks(r, end);
    int line;

    if (at < r->len && r->text[at] == '#')
        end = line_end(r, at);
    for (line = n->end_line + 1; line > 0 && (size_t)line <= r->lines_len; line++) {
        size_t start = r->lines[line - 1];

        at = skip_blanks(r, start);
        if (at == line_end(r, start))
            continue;
        if (r->text[at] != '#' || at - start <= (size_t)n->column)
            break;
        end = line_end(r, at);
    }
    return end;
}

static bool is_said_at(const struct reader *r, size_t at, const char *function)
{
    auto_buf struct buf said;

    buf_init(&said, SIZE_MAX / 2);
    return buf_add_fmt(&said, "callable=%s)", function) == 0 &&
           memmem(r->text + at, line_end(r, at) - at, said.data, said.len);
}

/* Line breaks that the function's text ends with: of files written here, the empty lines beyond two before the
 * statement that names it. */
static size_t line_breaks(const struct reader *r, const struct node *n, size_t end)
{
    size_t line = (size_t)n->end_line, empty = 0;

    if (n->column || !n->name || n->end_line < 1 || line > r->lines_len || line_end(r, r->lines[line - 1]) != end)
        return 0;
    for (; line < r->lines_len && line_end(r, r->lines[line]) == r->lines[line]; line++)
        empty++;
    return empty > FUNCTION_GAP && line < r->lines_len && is_said_at(r, r->lines[line], n->name) ? empty - FUNCTION_GAP
                                                                                                 : 0;
}

static char *function_text(struct reader *r, const struct node *n)
{
    size_t start = function_start(r, n), end = function_end(r, n);
    auto_free char *slice = mem_dup(r->text + start, end > start ? end - start : 0);
    auto_free char *text = slice ? python_dedent(slice) : NULL;
    auto_buf struct buf whole;

    buf_init(&whole, SIZE_MAX / 2);
    if (!text || buf_add_str(&whole, text) < 0 || buf_add_repeat(&whole, '\n', line_breaks(r, n, end)) < 0)
        return NULL;
    return buf_steal(&whole, NULL);
}

/* lambda a, b=1: value -> def name(a, b=1): return (value) */
static char *lambda_text(struct reader *r, const struct node *n, const char *name)
{
    const struct node *body = node_child(n, PART_BODY);
    size_t start = offset(r, n->line, n->column) + sizeof("lambda") - 1, at = offset(r, body->line, body->column);
    size_t end = offset(r, body->end_line, body->end_column), colon = at;
    auto_buf struct buf b;

    while (colon > start && r->text[colon] != ':')
        colon--;
    start = skip_blanks(r, start);
    buf_init(&b, BUML_BYTES_MAX);
    buf_add_fmt(&b, "def %s(", name && name_is_identifier(name) && !name_is_reserved(name) ? name : "condition");
    if (colon > start)
        buf_add(&b, r->text + start, colon - start);
    buf_add_str(&b, "):\n    return (");
    if (end > at)
        buf_add(&b, r->text + at, end - at);
    buf_add_str(&b, ")");
    return buf_steal(&b, NULL);
}

char *buml_source_of(struct reader *r, const struct node *function, const char *name)
{
    char *text = function->kind == NODE_LAMBDA ? lambda_text(r, function, name) : function_text(r, function);

    if (!text) {
        buml_nomem(r);
        return NULL;
    }
    if (buml_charge(r, strlen(text) + 1) < 0) {
        mem_free(text);
        return NULL;
    }
    return text;
}

bool buml_source_contains(struct reader *r, const struct node *n)
{
    size_t start = offset(r, n->line, n->column), end = offset(r, n->end_line, n->end_column), i;

    for (i = 0; end > start && i < r->m->tools_len; i++) {
        const char *code = r->m->tools[i].code;
        size_t len = code ? strlen(code) : 0;

        r->searched += len;
        if (r->searched > SEARCHED_MAX)
            return false;
        if (len && memmem(code, len, r->text + start, end - start))
            return true;
    }
    return false;
}
