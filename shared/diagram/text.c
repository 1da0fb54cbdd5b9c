#include "shared/diagram/text.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <unictype.h>
#include <utf8proc.h>

#include "shared/base/marks.h"
#include "shared/base/mem.h"
#include "shared/base/str.h"

#define IDENTIFIER_MAX 4096 /* bytes */
#define MAPPED_MAX ((size_t)2 << 20)

static bool is_space(int32_t c)
{
    static const uint16_t single[] = { 0x20, 0x85, 0xa0, 0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000 };
    size_t i;

    if ((c >= 0x09 && c <= 0x0d) || (c >= 0x1c && c <= 0x1f) || (c >= 0x2000 && c <= 0x200a))
        return true;
    for (i = 0; i < ARRAY_LEN(single); i++)
        if (c == single[i])
            return true;
    return false;
}

static bool is_deleted(unsigned char c)
{
    return (c >= 0x01 && c <= 0x08) || c == 0x0b || c == 0x0c || (c >= 0x0e && c <= 0x1f) || c == 0x7f;
}

static bool is_ascii(const char *s, size_t len)
{
    size_t i;

    for (i = 0; i < len; i++)
        if ((unsigned char)s[i] >= 0x80)
            return false;
    return true;
}

static char *clean_span(const char *s, size_t len)
{
    char *copy = mem_dup(s, len);
    size_t i, n = 0;

    if (!copy)
        return NULL;
    for (i = 0; i < len; i++)
        if (!is_deleted((unsigned char)copy[i]))
            copy[n++] = copy[i];
    copy[n] = '\0';
    return copy;
}

char *text_clean(const char *s)
{
    return clean_span(s, strlen(s));
}

const char *text_trim_span(const char *s, size_t *ret_len)
{
    size_t len = strlen(s), width, back;

    while (len && is_space(utf8_decode(s, len, &width))) {
        s += width;
        len -= width;
    }
    while (len) {
        for (back = 1; back < len && back < 4 && ((unsigned char)s[len - back] & 0xc0) == 0x80; back++)
            ;
        if (!is_space(utf8_decode(s + len - back, back, &width)) || width != back)
            break;
        len -= back;
    }
    *ret_len = len;
    return s;
}

char *text_trim(const char *s)
{
    size_t len;

    s = text_trim_span(s, &len);
    return mem_dup(s, len);
}

char *text_trim_clean(const char *s)
{
    size_t len;

    s = text_trim_span(s, &len);
    return clean_span(s, len);
}

bool text_is_blank(const char *s)
{
    size_t len;

    if (!s)
        return true;
    text_trim_span(s, &len);
    return len == 0;
}

static char *ascii_lower(const char *s, size_t len)
{
    char *copy = mem_dup(s, len);
    size_t i;

    for (i = 0; copy && i < len; i++)
        if (copy[i] >= 'A' && copy[i] <= 'Z')
            copy[i] = (char)(copy[i] + ('a' - 'A'));
    return copy;
}

/* A form of text the Unicode tables are asked for. Text that is no UTF-8, or no text, has none and is taken as it is.
 */
static char *mapped(const char *s, size_t len, utf8proc_option_t options)
{
    utf8proc_uint8_t *out = NULL;
    utf8proc_ssize_t n;
    char *copy;

    if (len > MAPPED_MAX || marks_pile_up(s, len))
        return mem_dup(s, len);
    n = utf8proc_map((const utf8proc_uint8_t *)s, (utf8proc_ssize_t)len, &out, options);
    if (n == UTF8PROC_ERROR_NOMEM)
        return NULL;
    if (n < 0)
        return mem_dup(s, len);
    copy = mem_dup(out, (size_t)n);
    mem_free(out);
    return copy;
}

char *text_lower(const char *s)
{
    size_t len = strlen(s), at = 0, width, n = 0;
    char *out;

    if (is_ascii(s, len))
        return ascii_lower(s, len);
    out = mem_zalloc(len + 1, 4);
    if (!out)
        return NULL;
    while (at < len) {
        int32_t c = utf8_decode(s + at, len - at, &width);

        n += utf8_encode(c < 0 ? 0xfffd : (uint32_t)utf8proc_tolower(c), out + n);
        at += width;
    }
    return out;
}

char *text_key(const char *s)
{
    size_t len = strlen(s);

    if (is_ascii(s, len))
        return mem_dup(s, len);
    return mapped(s, len, UTF8PROC_STABLE | UTF8PROC_COMPOSE);
}

char *text_fold_key(const char *s)
{
    size_t len;

    s = text_trim_span(s, &len);
    if (is_ascii(s, len))
        return ascii_lower(s, len);
    return mapped(s, len, UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_CASEFOLD);
}

bool text_same(const char *a, const char *b)
{
    char *ka, *kb;
    bool same;

    if (strcmp(a, b) == 0)
        return true;
    if (is_ascii(a, strlen(a)) && is_ascii(b, strlen(b)))
        return false;
    ka = text_key(a);
    kb = text_key(b);
    same = ka && kb && strcmp(ka, kb) == 0;
    mem_free(ka);
    mem_free(kb);
    return same;
}

bool text_is_identifier(const char *s)
{
    size_t len = strlen(s), at = 0, width;

    if (!len)
        return false;
    for (; at < len; at += width) {
        int32_t c = utf8_decode(s + at, len - at, &width);

        if (c < 0)
            return false;
        if (c == '_' || uc_is_property_xid_start((ucs4_t)c) || (at && uc_is_property_xid_continue((ucs4_t)c)))
            continue;
        return false;
    }
    return true;
}

char *text_as_identifier(const char *s)
{
    size_t len = strlen(s);
    char *form;

    if (len > IDENTIFIER_MAX || !text_is_identifier(s))
        return mem_strdup("");
    if (is_ascii(s, len))
        return mem_dup(s, len);
    form = mapped(s, len, UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT);
    if (form && !text_is_identifier(form))
        *form = '\0';
    return form;
}

const char *text_shown(struct shown *out, const char *s)
{
    size_t len, n = 0, i, keep;

    if (!s)
        s = "";
    len = strlen(s);
    keep = utf8_floor(s, len < SHOWN_MAX ? len : SHOWN_MAX);
    for (i = 0; i < keep && n < SHOWN_MAX; i++) {
        unsigned char c = (unsigned char)s[i];

        if (c == '\n')
            n += (size_t)snprintf(out->text + n, 3, "\\n");
        else if (c < 0x20 || c == 0x7f)
            n += (size_t)snprintf(out->text + n, 5, "\\x%02x", c);
        else
            out->text[n++] = (char)c;
    }
    if (i < len) {
        n = utf8_floor(out->text, n);
        memcpy(out->text + n, "...", 3);
        n += 3;
    }
    out->text[n] = '\0';
    return out->text;
}
