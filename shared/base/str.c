#include "shared/base/str.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "shared/base/mem.h"

#define UTF8_PIECE 64 /* bytes that are judged one by one before the next look for plain ASCII */

/* Well-formed byte sequences, Unicode standard table 3-7: the second byte's range depends on the first. */
static const struct {
    unsigned char lo, hi; /* first byte */
    unsigned char width;
    unsigned char lo2, hi2; /* second byte */
} utf8_rows[] = {
    { 0xc2, 0xdf, 2, 0x80, 0xbf }, { 0xe0, 0xe0, 3, 0xa0, 0xbf }, { 0xe1, 0xec, 3, 0x80, 0xbf },
    { 0xed, 0xed, 3, 0x80, 0x9f }, { 0xee, 0xef, 3, 0x80, 0xbf }, { 0xf0, 0xf0, 4, 0x90, 0xbf },
    { 0xf1, 0xf3, 4, 0x80, 0xbf }, { 0xf4, 0xf4, 4, 0x80, 0x8f },
};

int32_t utf8_decode(const char *s, size_t len, size_t *ret_width)
{
    const unsigned char *u = (const unsigned char *)s;
    int32_t cp;
    size_t i, k;

    *ret_width = len ? 1 : 0;
    if (!len)
        return -1;
    if (u[0] < 0x80)
        return u[0];
    for (i = 0; i < ARRAY_LEN(utf8_rows); i++)
        if (u[0] >= utf8_rows[i].lo && u[0] <= utf8_rows[i].hi)
            break;
    if (i == ARRAY_LEN(utf8_rows))
        return -1;
    cp = u[0] & (0x7f >> utf8_rows[i].width);
    for (k = 1; k < utf8_rows[i].width; k++) {
        unsigned char lo = k == 1 ? utf8_rows[i].lo2 : 0x80;
        unsigned char hi = k == 1 ? utf8_rows[i].hi2 : 0xbf;

        if (k >= len || u[k] < lo || u[k] > hi) {
            *ret_width = k;
            return -1;
        }
        cp = (cp << 6) | (u[k] & 0x3f);
    }
    *ret_width = utf8_rows[i].width;
    return cp;
}

size_t utf8_encode(uint32_t cp, char *out)
{
    if (cp < 0x80) {
        out[0] = (char)cp;
        return 1;
    }
    if (cp < 0x800) {
        out[0] = (char)(0xc0 | (cp >> 6));
        out[1] = (char)(0x80 | (cp & 0x3f));
        return 2;
    }
    if (cp < 0x10000) {
        out[0] = (char)(0xe0 | (cp >> 12));
        out[1] = (char)(0x80 | ((cp >> 6) & 0x3f));
        out[2] = (char)(0x80 | (cp & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | (cp >> 18));
    out[1] = (char)(0x80 | ((cp >> 12) & 0x3f));
    out[2] = (char)(0x80 | ((cp >> 6) & 0x3f));
    out[3] = (char)(0x80 | (cp & 0x3f));
    return 4;
}

static uint64_t word_at(const char *s)
{
    uint64_t word;

    memcpy(&word, s, sizeof(word));
    return word;
}

/* Words by themselves, not an array: that would lie on the stack, and a piece of somebody's key with it. */
static size_t ascii_run(const char *s, size_t len)
{
    const uint64_t high = UINT64_C(0x8080808080808080);
    const size_t step = sizeof(high);
    size_t i = 0;

    while (len - i >= 4 * step &&
           !((word_at(s + i) | word_at(s + i + step) | word_at(s + i + 2 * step) | word_at(s + i + 3 * step)) & high))
        i += 4 * step;
    while (len - i >= step && !(word_at(s + i) & high))
        i += step;
    while (i < len && (unsigned char)s[i] < 0x80)
        i++;
    return i;
}

/* What has to follow, as the place of that state in a row of utf8_steps: nothing, so many bytes of 80 to bf, or one of
 * the second bytes that RFC 3629 limits. What a row does not name is BAD, and BAD stays. */
enum { BAD = 0, DONE = 6, ONE = 12, TWO = 18, THREE = 24, E0 = 30, ED = 36, F0 = 42, F4 = 48, STATE_MASK = 63 };

#define STEP(from, to) ((uint64_t)(to) << (from))
#define FOLLOWS (STEP(ONE, DONE) | STEP(TWO, ONE) | STEP(THREE, TWO))

/* For each byte the next state, of all states at once: one shift finds it, whatever the text. */
static const uint64_t utf8_steps[256] = {
    [0x00 ... 0x7f] = STEP(DONE, DONE),
    [0x80 ... 0x8f] = FOLLOWS | STEP(ED, ONE) | STEP(F4, TWO),
    [0x90 ... 0x9f] = FOLLOWS | STEP(ED, ONE) | STEP(F0, TWO),
    [0xa0 ... 0xbf] = FOLLOWS | STEP(E0, ONE) | STEP(F0, TWO),
    [0xc2 ... 0xdf] = STEP(DONE, ONE),
    [0xe0] = STEP(DONE, E0),
    [0xe1 ... 0xec] = STEP(DONE, TWO),
    [0xed] = STEP(DONE, ED),
    [0xee ... 0xef] = STEP(DONE, TWO),
    [0xf0] = STEP(DONE, F0),
    [0xf1 ... 0xf3] = STEP(DONE, THREE),
    [0xf4] = STEP(DONE, F4),
};

bool utf8_valid(const char *s, size_t len)
{
    uint64_t state = DONE;
    size_t i = 0, end;

    while (i < len && state != BAD) {
        if (state == DONE)
            i += ascii_run(s + i, len - i);
        end = len - i < UTF8_PIECE ? len : i + UTF8_PIECE;
        for (; i < end; i++)
            state = utf8_steps[(unsigned char)s[i]] >> (state & STATE_MASK);
        state &= STATE_MASK;
    }
    return state == DONE;
}

size_t utf8_floor(const char *s, size_t len)
{
    size_t back, width;

    for (back = 1; back <= 3 && back <= len; back++) {
        unsigned char c = (unsigned char)s[len - back];

        if (c < 0x80)
            return len;
        if (c >= 0xc0) { /* a first byte: is its character complete? */
            if (utf8_decode(s + len - back, back, &width) >= 0 || width < back)
                return len;
            return len - back;
        }
    }
    return len;
}

size_t str_append(char *out, size_t size, size_t len, const char *s)
{
    size_t n = strlen(s), room = size - 1 - len;

    n = n < room ? n : room;
    memcpy(out + len, s, n);
    out[len + n] = '\0';
    return len + n;
}

bool str_eq(const char *a, const char *b)
{
    if (!a || !b)
        return a == b;
    return strcmp(a, b) == 0;
}

bool str_starts(const char *s, const char *prefix)
{
    return strncmp(s, prefix, strlen(prefix)) == 0;
}

bool str_ends(const char *s, const char *suffix)
{
    size_t n = strlen(s), m = strlen(suffix);

    return n >= m && memcmp(s + n - m, suffix, m) == 0;
}

int str_to_int(const char *s, int64_t min, int64_t max, int64_t *ret)
{
    char *end;
    long long v;

    if (!s || !((*s >= '0' && *s <= '9') || *s == '-' || *s == '+'))
        return -1;
    errno = 0;
    v = strtoll(s, &end, 10);
    if (errno || *end || end == s || v < min || v > max)
        return -1;
    *ret = v;
    return 0;
}

int str_to_double(const char *s, double *ret)
{
    char *end;
    double v;

    if (!s || !*s || !strchr("+-.0123456789", *s))
        return -1;
    errno = 0;
    v = strtod(s, &end);
    if (*end || end == s || !isfinite(v) || strpbrk(s, "xXpP"))
        return -1;
    *ret = v;
    return 0;
}

int str_to_bool(const char *s, bool *ret)
{
    static const struct {
        const char *word;
        bool value;
    } words[] = {
        { "1", true },  { "true", true },   { "yes", true }, { "on", true },
        { "0", false }, { "false", false }, { "no", false }, { "off", false },
    };
    size_t i;

    for (i = 0; s && i < ARRAY_LEN(words); i++) {
        if (strcasecmp(s, words[i].word) == 0) {
            *ret = words[i].value;
            return 0;
        }
    }
    return -1;
}

bool str_eq_consttime(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b), i;
    unsigned char diff = n != m;

    for (i = 0; i < n; i++)
        diff |= (unsigned char)(a[i] ^ b[m ? i % m : 0]);
    return diff == 0;
}

void str_hex(const uint8_t *data, size_t len, char *out)
{
    static const char digits[] = "0123456789abcdef";
    size_t i;

    for (i = 0; i < len; i++) {
        out[2 * i] = digits[data[i] >> 4];
        out[2 * i + 1] = digits[data[i] & 15];
    }
    out[2 * len] = '\0';
}

#define DOUBLE_DIGITS 17

void str_from_double(double v, char out[static DOUBLE_TEXT_MAX])
{
    int digits, exponent = 0;

    for (digits = 1; digits <= DOUBLE_DIGITS; digits++) {
        snprintf(out, DOUBLE_TEXT_MAX, "%.*e", digits - 1, v);
        if (strtod(out, NULL) == v)
            break;
    }
    if (strchr(out, 'e'))
        exponent = (int)strtol(strchr(out, 'e') + 1, NULL, 10);
    if (exponent >= -4 && exponent < 16)
        snprintf(out, DOUBLE_TEXT_MAX, "%.*f", digits - 1 > exponent ? digits - 1 - exponent : 1, v);
}
