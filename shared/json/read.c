#include "shared/json/read.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared/base/mem.h"
#include "shared/base/str.h"
#include "shared/json/repeats.h"

#define NUMBER_MAX 4096 /* characters; a longer one is nobody's number */
#define DIGITS_SURE 15  /* every number of so many digits is a double of its own */

/* What stands between two quotes, or a number. at NULL: nothing. */
struct span {
    const char *at;
    size_t len;
    bool escaped;
};

/* An object or array that has no end yet. */
struct level {
    cJSON *node;
    size_t members;
};

struct reader {
    const char *s;
    size_t len, pos;
    size_t values, depth;
    bool nul;
    struct span name; /* of the member whose value comes next */
    cJSON *root;
    struct level *open; /* JSON_DEPTH_MAX, of which depth are used */
    struct json_error *error;
};

static int fault(struct reader *r, enum json_fault kind, size_t offset, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

static int fault(struct reader *r, enum json_fault kind, size_t offset, const char *fmt, ...)
{
    va_list ap;

    r->error->fault = kind;
    r->error->offset = offset;
    va_start(ap, fmt);
    vsnprintf(r->error->message, sizeof(r->error->message), fmt, ap);
    va_end(ap);
    return -1;
}

static int peek(const struct reader *r)
{
    return r->pos < r->len ? (unsigned char)r->s[r->pos] : -1;
}

static void skip_blanks(struct reader *r)
{
    while (r->pos < r->len &&
           (r->s[r->pos] == ' ' || r->s[r->pos] == '\n' || r->s[r->pos] == '\r' || r->s[r->pos] == '\t'))
        r->pos++;
}

static bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

/* ---- text ------------------------------------------------------------------------------------------------------ */

/* Four hex digits at s, or -1. */
static int hex4(const char *s, size_t len)
{
    int v = 0;
    size_t i;

    if (len < 4)
        return -1;
    for (i = 0; i < 4; i++) {
        int c = (unsigned char)s[i];

        if (is_digit(c))
            v = v * 16 + c - '0';
        else if ((c | 32) >= 'a' && (c | 32) <= 'f')
            v = v * 16 + (c | 32) - 'a' + 10;
        else
            return -1;
    }
    return v;
}

/* Bytes that stand for themselves in a string. */
static const bool plain[256] = {
    [0x20 ... '"' - 1] = true,
    ['"' + 1 ... '\\' - 1] = true,
    ['\\' + 1 ... 0xff] = true,
};

static size_t plain_run(const char *s, size_t len)
{
    size_t i = 0;

    while (i < len && plain[(unsigned char)s[i]])
        i++;
    return i;
}

/* What the letter behind a backslash stands for; 0: there is no such escape. */
static const char escapes[256] = {
    ['"'] = '"', ['\\'] = '\\', ['/'] = '/', ['b'] = '\b', ['f'] = '\f', ['n'] = '\n', ['r'] = '\r', ['t'] = '\t',
};

/* At a backslash: steps over the escape. */
static int scan_escape(struct reader *r)
{
    int c = r->pos + 1 < r->len ? (unsigned char)r->s[r->pos + 1] : 0, unit;

    if (c != 'u') {
        if (!escapes[c])
            return fault(r, JSON_INVALID, r->pos, "A backslash is followed by no known escape");
        r->pos += 2;
        return 0;
    }
    unit = hex4(r->s + r->pos + 2, r->len - r->pos - 2);
    if (unit < 0)
        return fault(r, JSON_INVALID, r->pos, "Four hex digits must follow \\u");
    if (unit == 0)
        r->nul = true;
    r->pos += 6;
    return 0;
}

/* At a quote: steps over the string. */
static int scan_string(struct reader *r, struct span *ret)
{
    size_t start = r->pos++;

    *ret = (struct span){ .at = r->s + r->pos };
    for (;;) {
        int c;

        r->pos += plain_run(r->s + r->pos, r->len - r->pos);
        c = peek(r);
        if (c < 0)
            return fault(r, JSON_INVALID, start, "A string that starts here has no end");
        if (c < 0x20)
            return fault(r, JSON_INVALID, r->pos, "A control character stands unescaped in a string");
        if (c == '"')
            break;
        ret->escaped = true;
        if (scan_escape(r) < 0)
            return -1;
    }
    ret->len = (size_t)(r->s + r->pos++ - ret->at);
    return 0;
}

/* The character of \uXXXX at s, of two of them for a surrogate pair. *ret_used: bytes of both. */
static uint32_t escaped_character(const char *s, size_t len, size_t *ret_used)
{
    int unit = hex4(s + 2, len - 2), low;

    *ret_used = 6;
    if (unit >= 0xd800 && unit <= 0xdbff && len >= 12 && s[6] == '\\' && s[7] == 'u') {
        low = hex4(s + 8, 4);
        if (low >= 0xdc00 && low <= 0xdfff) {
            *ret_used = 12;
            return 0x10000u + ((uint32_t)(unit - 0xd800) << 10) + (uint32_t)(low - 0xdc00);
        }
    }
    return unit == 0 || (unit >= 0xd800 && unit <= 0xdfff) ? 0xfffdu : (uint32_t)unit;
}

/* Writes the text of a scanned string, which is never longer than what stands there, and a NUL. Returns its end. */
static char *put_text(const struct span *from, char *to)
{
    size_t i = 0, run, used;

    while (i < from->len) {
        run = from->escaped ? plain_run(from->at + i, from->len - i) : from->len;
        memcpy(to, from->at + i, run);
        to += run;
        i += run;
        if (i == from->len)
            break;
        if (from->at[i + 1] == 'u') {
            to += utf8_encode(escaped_character(from->at + i, from->len - i, &used), to);
            i += used;
        } else {
            *to++ = escapes[(unsigned char)from->at[i + 1]];
            i += 2;
        }
    }
    *to++ = '\0';
    return to;
}

/* ---- nodes ----------------------------------------------------------------------------------------------------- */

/* As cJSON links them: the first child's prev is the last child. */
static void link_node(struct reader *r, cJSON *node)
{
    struct level *l;
    cJSON *first;

    if (!r->depth) {
        r->root = node;
        return;
    }
    l = &r->open[r->depth - 1];
    first = l->node->child;
    if (!first) {
        l->node->child = node->prev = node;
    } else {
        node->prev = first->prev;
        first->prev->next = node;
        first->prev = node;
    }
    l->members++;
}

/* A node with the name at hand and perhaps a text. Both lie behind it, in the same piece of memory: the flags tell
 * cJSON to free neither alone. */
static cJSON *add_node(struct reader *r, int type, const struct span *text)
{
    size_t name = r->name.at ? r->name.len + 1 : 0;
    cJSON *node = mem_zalloc(1, sizeof(*node) + name + (text ? text->len + 1 : 0));
    char *rest = (char *)(node + 1);

    if (!node) {
        fault(r, JSON_NOMEM, 0, "Out of memory");
        return NULL;
    }
    node->type = type;
    if (name) {
        node->type |= cJSON_StringIsConst;
        node->string = rest;
        rest = put_text(&r->name, rest);
        r->name.at = NULL;
    }
    if (text) {
        node->type |= cJSON_IsReference;
        node->valuestring = rest;
        put_text(text, rest);
    }
    link_node(r, node);
    return node;
}

static int read_string(struct reader *r)
{
    struct span text;

    return scan_string(r, &text) == 0 && add_node(r, cJSON_String, &text) ? 0 : -1;
}

/* ---- numbers --------------------------------------------------------------------------------------------------- */

struct number {
    size_t start, len;
    bool integer; /* neither point nor exponent */
    bool exact;   /* a double tells all of it: its digits, and that 1.0 is no integer */
};

static bool scan_digits(struct reader *r)
{
    size_t start = r->pos;

    while (is_digit(peek(r)))
        r->pos++;
    return r->pos > start;
}

static bool zeros(const char *s, size_t len)
{
    size_t i;

    for (i = 0; i < len && s[i] == '0'; i++)
        ;
    return i == len;
}

static int scan_number(struct reader *r, struct number *n)
{
    size_t fraction;

    *n = (struct number){ .start = r->pos, .integer = true, .exact = true };
    if (peek(r) == '-')
        r->pos++;
    if (peek(r) == '0')
        r->pos++;
    else if (!scan_digits(r))
        return fault(r, JSON_INVALID, n->start, "A value is expected here");
    if (peek(r) == '.') {
        n->integer = false;
        fraction = ++r->pos;
        if (!scan_digits(r))
            return fault(r, JSON_INVALID, r->pos, "Digits must follow the decimal point");
        n->exact = !zeros(r->s + fraction, r->pos - fraction);
    }
    if (peek(r) == 'e' || peek(r) == 'E') {
        n->integer = n->exact = false;
        r->pos++;
        if (peek(r) == '+' || peek(r) == '-')
            r->pos++;
        if (!scan_digits(r))
            return fault(r, JSON_INVALID, r->pos, "Digits must follow the exponent sign");
    }
    n->len = r->pos - n->start;
    n->exact = n->exact && n->len <= DIGITS_SURE;
    return 0;
}

/* At most DIGITS_SURE characters. */
static double short_integer(const char *s, size_t len)
{
    size_t i = s[0] == '-';
    int64_t v = 0;

    for (; i < len; i++)
        v = v * 10 + s[i] - '0';
    return (double)(s[0] == '-' ? -v : v); /* -0 is no other integer than 0 */
}

static int number_value(struct reader *r, const struct number *n, double *ret)
{
    char text[NUMBER_MAX + 1];

    if (n->integer && n->exact) {
        *ret = short_integer(r->s + n->start, n->len);
        return 0;
    }
    if (n->len > NUMBER_MAX)
        return fault(r, JSON_NUMBER, n->start, "A number of %zu characters is beyond what a machine can hold", n->len);
    memcpy(text, r->s + n->start, n->len);
    text[n->len] = '\0';
    *ret = strtod(text, NULL);
    if (n->integer && isinf(*ret))
        return fault(r, JSON_NUMBER, n->start, "An integer of %zu digits is beyond what a machine can hold", n->len);
    return 0;
}

static int read_number(struct reader *r)
{
    struct number n = { 0 };
    struct span text;
    cJSON *node;
    double v = 0;

    if (scan_number(r, &n) < 0 || number_value(r, &n, &v) < 0)
        return -1;
    text = (struct span){ .at = r->s + n.start, .len = n.len };
    node = add_node(r, cJSON_Number, n.exact ? NULL : &text);
    if (!node)
        return -1;
    cJSON_SetNumberHelper(node, v);
    return 0;
}

/* ---- documents ------------------------------------------------------------------------------------------------- */

static int read_word(struct reader *r)
{
    static const struct {
        const char *word;
        int type;
    } words[] = { { "true", cJSON_True }, { "false", cJSON_False }, { "null", cJSON_NULL } };
    size_t i;

    for (i = 0; i < ARRAY_LEN(words); i++) {
        size_t n = strlen(words[i].word);

        if (r->len - r->pos >= n && memcmp(r->s + r->pos, words[i].word, n) == 0) {
            r->pos += n;
            return add_node(r, words[i].type, NULL) ? 0 : -1;
        }
    }
    return fault(r, JSON_INVALID, r->pos, "A value is expected here");
}

/* At the start of a member: its name and the colon. */
static int read_name(struct reader *r)
{
    skip_blanks(r);
    if (peek(r) != '"')
        return fault(r, JSON_INVALID, r->pos, "A member name in double quotes is expected here");
    if (scan_string(r, &r->name) < 0)
        return -1;
    skip_blanks(r);
    if (peek(r) != ':')
        return fault(r, JSON_INVALID, r->pos, "A colon is expected here");
    r->pos++;
    return 0;
}

/* At '{' or '['. *ret_open: it goes on with its first value. */
static int read_opening(struct reader *r, bool *ret_open)
{
    bool object = peek(r) == '{';
    cJSON *node;

    if (r->depth == JSON_DEPTH_MAX)
        return fault(r, JSON_DEPTH, r->pos, "The document is nested more than %d levels deep", JSON_DEPTH_MAX);
    node = add_node(r, object ? cJSON_Object : cJSON_Array, NULL);
    if (!node)
        return -1;
    r->pos++;
    skip_blanks(r);
    if (peek(r) == (object ? '}' : ']')) {
        r->pos++;
        return 0;
    }
    r->open[r->depth++] = (struct level){ .node = node };
    *ret_open = true;
    return object ? read_name(r) : 0;
}

/* A scalar, or the opening of a container. *ret_open: the value goes on with its first member. */
static int read_value_start(struct reader *r, bool *ret_open)
{
    int c;

    *ret_open = false;
    skip_blanks(r);
    c = peek(r);
    if (++r->values > JSON_VALUES_MAX)
        return fault(r, JSON_TOO_MANY, r->pos, "The document has more than %u values", JSON_VALUES_MAX);
    if (c == '"')
        return read_string(r);
    if (c == '-' || is_digit(c))
        return read_number(r);
    return c == '{' || c == '[' ? read_opening(r, ret_open) : read_word(r);
}

static int close_level(struct reader *r)
{
    const struct level *l = &r->open[--r->depth];

    if (cJSON_IsObject(l->node) && json_merge_repeats(l->node, l->members) < 0)
        return fault(r, JSON_NOMEM, 0, "Out of memory");
    return 0;
}

/* Behind a whole value: closes what ends here. *ret_more: another member follows. */
static int read_value_end(struct reader *r, bool *ret_more)
{
    *ret_more = false;
    while (r->depth) {
        bool object = cJSON_IsObject(r->open[r->depth - 1].node);
        int c;

        skip_blanks(r);
        c = peek(r);
        if (c == ',') {
            r->pos++;
            *ret_more = true;
            return object ? read_name(r) : 0;
        }
        if (c != (object ? '}' : ']'))
            return fault(r, JSON_INVALID, r->pos, "A comma or the closing '%c' is expected here", object ? '}' : ']');
        r->pos++;
        if (close_level(r) < 0)
            return -1;
    }
    return 0;
}

static int read_document(struct reader *r)
{
    bool open, more = true;

    while (more) {
        if (read_value_start(r, &open) < 0)
            return -1;
        if (!open && read_value_end(r, &more) < 0)
            return -1;
    }
    skip_blanks(r);
    if (r->pos < r->len)
        return fault(r, JSON_INVALID, r->pos, "There is more text behind the end of the document");
    return 0;
}

cJSON *json_read(const char *text, size_t len, bool *ret_nul, struct json_error *ret_error)
{
    struct level open[JSON_DEPTH_MAX];
    struct reader r = { .s = text, .len = len, .open = open, .error = ret_error };

    if (read_document(&r) < 0) {
        cJSON_Delete(r.root);
        return NULL;
    }
    *ret_nul = r.nul;
    return r.root;
}
