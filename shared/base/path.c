#include "shared/base/path.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "shared/base/buf.h"
#include "shared/base/mem.h"
#include "shared/base/str.h"

/* White space as Unicode has it (White_Space, plus U+001C to U+001F as Python strips them). */
static bool is_space(int32_t cp)
{
    return (cp >= 0x09 && cp <= 0x0d) || (cp >= 0x1c && cp <= 0x20) || cp == 0x85 || cp == 0xa0 || cp == 0x1680 ||
           (cp >= 0x2000 && cp <= 0x200a) || cp == 0x2028 || cp == 0x2029 || cp == 0x202f || cp == 0x205f ||
           cp == 0x3000;
}

static void trim(const char *s, size_t *ret_start, size_t *ret_end)
{
    size_t len = strlen(s), i = 0, end = 0, width;

    *ret_start = len;
    while (i < len) {
        if (!is_space(utf8_decode(s + i, len - i, &width))) {
            if (*ret_start == len)
                *ret_start = i;
            end = i + width;
        }
        i += width;
    }
    *ret_end = *ret_start == len ? len : end;
}

int path_normalise(const char *raw, char **ret, struct err *err)
{
    auto_buf struct buf out;
    size_t start, end, seg;
    char *text;

    buf_init(&out, strlen(raw) + 1);
    trim(raw, &start, &end);
    if (end - start >= 2 && isalpha((unsigned char)raw[start]) && raw[start + 1] == ':')
        start += 2;
    while (start < end) {
        for (seg = start; start < end && raw[start] != '/' && raw[start] != '\\'; start++)
            ;
        if (start - seg == 2 && memcmp(raw + seg, "..", 2) == 0)
            return err_set(err, ERR_BAD_REQUEST, 0, "the path \"%.200s\" leaves its folder (\"..\")", raw);
        if (start - seg > PATH_SEGMENT_MAX)
            return err_set(err, ERR_BAD_REQUEST, 0, "the path \"%.200s...\" has a name of more than %d bytes", raw,
                           PATH_SEGMENT_MAX);
        if (start > seg && !(start - seg == 1 && raw[seg] == '.')) {
            if (out.len)
                buf_add_char(&out, '/');
            buf_add(&out, raw + seg, start - seg);
        }
        if (start < end)
            start++;
    }
    if (!out.len && !out.failed)
        return err_set(err, ERR_BAD_REQUEST, 0, "the path \"%.200s\" names nothing inside its folder", raw);
    if (out.len > PATH_MAX_BYTES)
        return err_set(err, ERR_BAD_REQUEST, 0, "the path \"%.200s...\" is longer than %d bytes", raw, PATH_MAX_BYTES);
    text = buf_steal(&out, NULL);
    if (!text)
        return err_nomem(err);
    *ret = text;
    return 0;
}

int path_check(const char *path, size_t len)
{
    return len && memchr(path, '\\', len) ? -1 : path_check_found(path, len);
}

int path_check_found(const char *path, size_t len)
{
    size_t i = 0, seg;

    if (!len || len > PATH_MAX_BYTES || memchr(path, '\0', len))
        return -1;
    while (i <= len) {
        for (seg = i; i < len && path[i] != '/'; i++)
            ;
        if (i == seg || i - seg > PATH_SEGMENT_MAX || (i - seg == 1 && path[seg] == '.') ||
            (i - seg == 2 && memcmp(path + seg, "..", 2) == 0))
            return -1;
        i++;
    }
    return 0;
}

/* FNV-1a, 32 bit: only has to tell long names apart. */
static uint32_t hash32(const char *s)
{
    uint32_t h = 2166136261u;

    for (; *s; s++)
        h = (h ^ (unsigned char)*s) * 16777619u;
    return h;
}

char *path_stem(const char *name)
{
    auto_buf struct buf out;
    size_t i, len = strlen(name), width;

    buf_init(&out, len + 32);
    for (i = 0; i < len; i += width) {
        int32_t cp = utf8_decode(name + i, len - i, &width);

        if (cp == '.' && !out.len)
            continue;
        buf_add_char(&out, cp >= 0 && cp < 0x80 && (isalnum(cp) || cp == '_' || cp == '.') ? (char)cp : '_');
    }
    if (!out.len)
        buf_add_str(&out, "unnamed");
    if (out.len > PATH_STEM_MAX) {
        out.len = PATH_STEM_MAX - 9;
        buf_add_fmt(&out, "_%08x", hash32(name));
    }
    return buf_steal(&out, NULL);
}
