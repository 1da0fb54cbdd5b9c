#include "shared/json/scan.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CJSON_NUMBER_MAX 63 /* characters of a number that cJSON reads */
#define NUMBER_MAX 4096     /* characters; a longer one is nobody's number */
#define DIGITS_SURE 15      /* every number of so many digits is a double of its own */

struct scanner {
    const char *s;
    size_t len, pos;
    char *fix;
    struct json_exact *exact;
    struct json_scan *found;
    struct json_error *error;
    size_t values, numbers, depth;
    char open[JSON_DEPTH_MAX]; /* '{' or '[' of each level */
};

static int fault(struct scanner *sc, enum json_fault kind, size_t offset, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

static int fault(struct scanner *sc, enum json_fault kind, size_t offset, const char *fmt, ...)
{
    va_list ap;

    sc->error->fault = kind;
    sc->error->offset = offset;
    va_start(ap, fmt);
    vsnprintf(sc->error->message, sizeof(sc->error->message), fmt, ap);
    va_end(ap);
    return -1;
}

static int peek(const struct scanner *sc)
{
    return sc->pos < sc->len ? (unsigned char)sc->s[sc->pos] : -1;
}

static void skip_blanks(struct scanner *sc)
{
    while (sc->pos < sc->len &&
           (sc->s[sc->pos] == ' ' || sc->s[sc->pos] == '\n' || sc->s[sc->pos] == '\r' || sc->s[sc->pos] == '\t'))
        sc->pos++;
}

static bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

/* Four hex digits behind \u at p, or -1. */
static int hex4(const struct scanner *sc, size_t p)
{
    int v = 0;
    size_t i;

    if (p + 4 > sc->len)
        return -1;
    for (i = 0; i < 4; i++) {
        int c = (unsigned char)sc->s[p + i];

        if (is_digit(c))
            v = v * 16 + c - '0';
        else if ((c | 32) >= 'a' && (c | 32) <= 'f')
            v = v * 16 + (c | 32) - 'a' + 10;
        else
            return -1;
    }
    return v;
}

static void replace_escape(struct scanner *sc, size_t at)
{
    sc->found->repair = true;
    if (sc->fix)
        memcpy(sc->fix + at, "\\ufffd", 6);
}

/* At the backslash of \uXXXX; a surrogate pair is taken as one. */
static int scan_unicode_escape(struct scanner *sc)
{
    int unit = hex4(sc, sc->pos + 2);
    int low;

    if (unit < 0)
        return fault(sc, JSON_INVALID, sc->pos, "Four hex digits must follow \\u");
    if (unit >= 0xd800 && unit <= 0xdbff && sc->pos + 12 <= sc->len && memcmp(sc->s + sc->pos + 6, "\\u", 2) == 0) {
        low = hex4(sc, sc->pos + 8);
        if (low >= 0xdc00 && low <= 0xdfff) {
            sc->pos += 12;
            return 0;
        }
    }
    if (unit >= 0xd800 && unit <= 0xdfff)
        replace_escape(sc, sc->pos);
    if (unit == 0) {
        sc->found->nul = true;
        replace_escape(sc, sc->pos);
    }
    sc->pos += 6;
    return 0;
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

static int scan_string(struct scanner *sc)
{
    size_t start = sc->pos++;

    for (;;) {
        int c;

        sc->pos += plain_run(sc->s + sc->pos, sc->len - sc->pos);
        c = peek(sc);
        if (c < 0)
            return fault(sc, JSON_INVALID, start, "A string that starts here has no end");
        if (c < 0x20)
            return fault(sc, JSON_INVALID, sc->pos, "A control character stands unescaped in a string");
        if (c == '"') {
            sc->pos++;
            return 0;
        }
        c = sc->pos + 1 < sc->len ? (unsigned char)sc->s[sc->pos + 1] : 0;
        if (c == 'u') {
            if (scan_unicode_escape(sc) < 0)
                return -1;
        } else if (c && strchr("\"\\/bfnrt", c)) {
            sc->pos += 2;
        } else {
            return fault(sc, JSON_INVALID, sc->pos, "A backslash is followed by no known escape");
        }
    }
}

static bool scan_digits(struct scanner *sc)
{
    size_t start = sc->pos;

    while (is_digit(peek(sc)))
        sc->pos++;
    return sc->pos > start;
}

/* cJSON stops after 63 characters, so longer numbers are written anew with the value they have. */
static int shorten_number(struct scanner *sc, size_t start, bool integer)
{
    char text[NUMBER_MAX + 1], brief[32];
    size_t len = sc->pos - start;
    double v;
    int n;

    if (len > NUMBER_MAX)
        return fault(sc, JSON_NUMBER, start, "A number of %zu characters is beyond what a machine can hold", len);
    memcpy(text, sc->s + start, len);
    text[len] = '\0';
    v = strtod(text, NULL);
    if (integer && isinf(v))
        return fault(sc, JSON_NUMBER, start, "An integer of %zu digits is beyond what a machine can hold", len);
    sc->found->repair = true;
    if (!sc->fix)
        return 0;
    n = isinf(v) ? snprintf(brief, sizeof(brief), "%s1e999", v < 0 ? "-" : "")
                 : snprintf(brief, sizeof(brief), "%.17g", v);
    memset(sc->fix + start, ' ', len);
    memcpy(sc->fix + start, brief, (size_t)n);
    return 0;
}

static bool zeros(const char *s, size_t len)
{
    size_t i;

    for (i = 0; i < len && s[i] == '0'; i++)
        ;
    return i == len;
}

/* fraction: where the digits behind the point begin, 0 without. */
static void note_exact(struct scanner *sc, size_t start, size_t fraction, bool exponent)
{
    size_t len = sc->pos - start, ordinal = sc->numbers++;

    if (len <= DIGITS_SURE && !exponent && !(fraction && zeros(sc->s + fraction, sc->pos - fraction)))
        return;
    if (sc->exact)
        sc->exact[sc->found->exact] = (struct json_exact){ ordinal, start, len };
    sc->found->exact++;
}

static int scan_number(struct scanner *sc)
{
    size_t start = sc->pos, fraction = 0;
    bool integer = true, exponent = false;

    if (peek(sc) == '-')
        sc->pos++;
    if (peek(sc) == '0')
        sc->pos++;
    else if (!scan_digits(sc))
        return fault(sc, JSON_INVALID, start, "A value is expected here");
    if (peek(sc) == '.') {
        integer = false;
        fraction = ++sc->pos;
        if (!scan_digits(sc))
            return fault(sc, JSON_INVALID, sc->pos, "Digits must follow the decimal point");
    }
    if (peek(sc) == 'e' || peek(sc) == 'E') {
        integer = false;
        exponent = true;
        sc->pos++;
        if (peek(sc) == '+' || peek(sc) == '-')
            sc->pos++;
        if (!scan_digits(sc))
            return fault(sc, JSON_INVALID, sc->pos, "Digits must follow the exponent sign");
    }
    note_exact(sc, start, fraction, exponent);
    return sc->pos - start > CJSON_NUMBER_MAX ? shorten_number(sc, start, integer) : 0;
}

static int scan_word(struct scanner *sc)
{
    static const char *const words[] = { "true", "false", "null" };
    size_t i;

    for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        size_t n = strlen(words[i]);

        if (sc->len - sc->pos >= n && memcmp(sc->s + sc->pos, words[i], n) == 0) {
            sc->pos += n;
            return 0;
        }
    }
    return fault(sc, JSON_INVALID, sc->pos, "A value is expected here");
}

/* At the start of a member: its name and the colon. */
static int scan_name(struct scanner *sc)
{
    skip_blanks(sc);
    if (peek(sc) != '"')
        return fault(sc, JSON_INVALID, sc->pos, "A member name in double quotes is expected here");
    if (scan_string(sc) < 0)
        return -1;
    skip_blanks(sc);
    if (peek(sc) != ':')
        return fault(sc, JSON_INVALID, sc->pos, "A colon is expected here");
    sc->pos++;
    return 0;
}

/* A scalar, or the opening of a container. *ret_open: the value goes on with its first member. */
static int scan_value_start(struct scanner *sc, bool *ret_open)
{
    int c;

    *ret_open = false;
    skip_blanks(sc);
    c = peek(sc);
    if (++sc->values > JSON_VALUES_MAX)
        return fault(sc, JSON_TOO_MANY, sc->pos, "The document has more than %u values", JSON_VALUES_MAX);
    if (c == '"')
        return scan_string(sc);
    if (c == '-' || is_digit(c))
        return scan_number(sc);
    if (c != '{' && c != '[')
        return scan_word(sc);
    if (sc->depth == JSON_DEPTH_MAX)
        return fault(sc, JSON_DEPTH, sc->pos, "The document is nested more than %d levels deep", JSON_DEPTH_MAX);
    sc->open[sc->depth++] = (char)c;
    sc->pos++;
    skip_blanks(sc);
    if (peek(sc) == (c == '{' ? '}' : ']')) {
        sc->depth--;
        sc->pos++;
        return 0;
    }
    *ret_open = true;
    return c == '{' ? scan_name(sc) : 0;
}

/* Behind a whole value: closes what ends here. *ret_more: another member follows. */
static int scan_value_end(struct scanner *sc, bool *ret_more)
{
    *ret_more = false;
    while (sc->depth) {
        bool object = sc->open[sc->depth - 1] == '{';
        int c;

        skip_blanks(sc);
        c = peek(sc);
        if (c == ',') {
            sc->pos++;
            *ret_more = true;
            return object ? scan_name(sc) : 0;
        }
        if (c != (object ? '}' : ']'))
            return fault(sc, JSON_INVALID, sc->pos, "A comma or the closing '%c' is expected here", object ? '}' : ']');
        sc->pos++;
        sc->depth--;
    }
    return 0;
}

int json_scan(const char *text, size_t len, char *fix, struct json_exact *exact, struct json_scan *ret,
              struct json_error *ret_error)
{
    struct scanner sc = { .s = text, .len = len, .fix = fix, .exact = exact, .found = ret, .error = ret_error };
    bool open, more = true;

    *ret = (struct json_scan){ 0 };
    while (more) {
        if (scan_value_start(&sc, &open) < 0)
            return -1;
        if (!open && scan_value_end(&sc, &more) < 0)
            return -1;
    }
    skip_blanks(&sc);
    if (sc.pos < len)
        return fault(&sc, JSON_INVALID, sc.pos, "There is more text behind the end of the document");
    return 0;
}
