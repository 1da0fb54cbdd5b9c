/* What each kind of setting takes, and how it is written. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "shared/base/mem.h"
#include "shared/base/str.h"
#include "shared/config/table.h"

static void *slot_of(struct config *c, const struct config_row *row)
{
    return (char *)c + row->slot;
}

static const void *value_of(const struct config *c, const struct config_row *row)
{
    return (const char *)c + row->slot;
}

static int find_word(const char *const *words, const char *value)
{
    int i;

    for (i = 0; words[i]; i++)
        if (strcasecmp(words[i], value) == 0)
            return i;
    return -1;
}

static bool printable(const char *value)
{
    const unsigned char *p;

    for (p = (const unsigned char *)value; *p; p++)
        if (*p < 0x20 || *p == 0x7f)
            return false;
    return utf8_valid(value, strlen(value));
}

static bool is_url(const char *s, size_t len)
{
    const char *host = len > 7 && strncmp(s, "http://", 7) == 0    ? s + 7
                       : len > 8 && strncmp(s, "https://", 8) == 0 ? s + 8
                                                                   : NULL;

    return host && *host != '/' && !memchr(s, ' ', len);
}

static bool is_origin(const char *s, size_t len)
{
    const char *slashes = memchr(s, '/', len);

    if (len == 1 && *s == '*')
        return true;
    return is_url(s, len) && !memchr(slashes + 2, '/', len - (size_t)(slashes + 2 - s));
}

/* host:port; the host a name, an IPv4 address or range, or [IPv6]. The holder looks closer. */
static bool is_peer(const char *s, size_t len)
{
    const char *colon = memrchr(s, ':', len);
    char port[8];
    int64_t number;
    size_t port_len, i;

    if (!colon || colon == s)
        return false;
    if (len > 2 && memcmp(s, "*.", 2) == 0) { /* every name below */
        s += 2;
        len -= 2;
        if (colon <= s)
            return false;
    }
    port_len = len - (size_t)(colon + 1 - s);
    if (!port_len || port_len >= sizeof(port))
        return false;
    memcpy(port, colon + 1, port_len);
    port[port_len] = '\0';
    for (i = 0; s + i < colon; i++)
        if (!isalnum((unsigned char)s[i]) && !strchr(*s == '[' ? "[]:./" : ".-_/", s[i]))
            return false;
    return str_to_int(port, 1, 65535, &number) == 0;
}

/* Every entry of a comma list; blanks around an entry do not count. */
static bool all_entries(const char *list, bool (*fits)(const char *s, size_t len))
{
    while (*list) {
        size_t len = strcspn(list, ","), end = len, start = 0;

        while (start < end && list[start] == ' ')
            start++;
        while (end > start && list[end - 1] == ' ')
            end--;
        if (start < end && !fits(list + start, end - start))
            return false;
        list += len + (list[len] == ',');
    }
    return true;
}

static bool text_fits(const struct config_row *row, const char *value)
{
    size_t len = strlen(value);

    if ((double)len < row->min || (double)len > row->max || !printable(value))
        return false;
    if (!len)
        return true;
    switch ((int)row->kind) {
    case CONFIG_PATH:
        return *value == '/';
    case CONFIG_URL:
        return is_url(value, len);
    case CONFIG_ORIGINS:
        return all_entries(value, is_origin);
    case CONFIG_PEERS:
        return all_entries(value, is_peer);
    default:
        return true;
    }
}

static bool is_text(const struct config_row *row)
{
    return row->kind >= CONFIG_WORD;
}

/* "VAR=" is how compose files and unit files spell "not set"; only a text that may be empty takes it literally. */
bool config_row_takes_empty(const struct config_row *row)
{
    return is_text(row) && !row->words && row->min <= 0;
}

bool config_row_is_list(const struct config_row *row)
{
    return row->kind == CONFIG_ORIGINS || row->kind == CONFIG_PEERS;
}

void config_row_allowed(const struct config_row *row, struct buf *out)
{
    static const char *const kinds[CONFIG__MAX] = {
        [CONFIG_BOOL] = "true or false",
        [CONFIG_TEXT] = "text without control characters",
        [CONFIG_PATH] = "an absolute path",
        [CONFIG_URL] = "an address that starts with http:// or https://",
        [CONFIG_ORIGINS] = "a comma list of origins such as https://editor.example.org, or *",
        [CONFIG_PEERS] = "a comma list of host:port, *.host:port or range/bits:port",
    };
    size_t i;

    if (row->kind == CONFIG_INT) {
        buf_add_fmt(out, "a whole number from %.0f to %.0f", row->min, row->max);
    } else if (row->kind == CONFIG_REAL) {
        buf_add_fmt(out, "a number from %g to %g", row->min, row->max);
    } else if (row->words) {
        for (i = 0; row->words[i]; i++)
            buf_add_fmt(out, "%s%s", i ? (row->words[i + 1] ? ", " : " or ") : "", row->words[i]);
    } else {
        buf_add_str(out, kinds[row->kind]);
        if (is_text(row))
            buf_add_fmt(out, ", %s%.0f bytes at most", row->min > 0 ? "not empty, " : "", row->max);
    }
}

static int refuse(const struct config_row *row, const char *value, struct err *err)
{
    auto_buf struct buf allowed;

    buf_init(&allowed, 400);
    config_row_allowed(row, &allowed);
    if (buf_failed(&allowed))
        return err_nomem(err);
    if (row->flags & CONFIG_SECRET)
        return err_set(err, ERR_BAD_REQUEST, 0, "%s has a value that is not possible; allowed: %s", row->env,
                       allowed.data);
    return err_set(err, ERR_BAD_REQUEST, 0, "%s is \"%.100s\"; allowed: %s", row->env, value, allowed.data);
}

static int set_text(struct config *c, const struct config_row *row, const char *value, struct err *err)
{
    char **slot = slot_of(c, row), *copy;
    int word = row->words ? find_word(row->words, value) : 0;

    if (word < 0 || (!row->words && !text_fits(row, value)))
        return refuse(row, value, err);
    copy = mem_strdup(row->words ? row->words[word] : value);
    if (!copy)
        return err_nomem(err);
    if (*slot && (row->flags & CONFIG_SECRET))
        mem_wipe(*slot, strlen(*slot));
    mem_free(*slot);
    *slot = copy;
    return 0;
}

static int set_choice(struct config *c, const struct config_row *row, const char *value, struct err *err)
{
    int word = find_word(row->words, value);

    if (word < 0 && (row->flags & CONFIG_LENIENT))
        word = find_word(row->words, row->standard);
    if (word < 0)
        return refuse(row, value, err);
    *(int *)slot_of(c, row) = word;
    return 0;
}

static int set_trimmed(struct config *c, const struct config_row *row, const char *value, struct err *err)
{
    int64_t integer;
    double real;
    bool yes;

    if (!*value && !config_row_takes_empty(row))
        value = row->standard;
    switch (row->kind) {
    case CONFIG_BOOL:
        if (str_to_bool(value, &yes) < 0)
            return refuse(row, value, err);
        *(bool *)slot_of(c, row) = yes;
        return 0;
    case CONFIG_INT:
        if (str_to_int(value, (int64_t)row->min, (int64_t)row->max, &integer) < 0)
            return refuse(row, value, err);
        *(int64_t *)slot_of(c, row) = integer;
        return 0;
    case CONFIG_REAL:
        if (str_to_double(value, &real) < 0 || real < row->min || real > row->max)
            return refuse(row, value, err);
        *(double *)slot_of(c, row) = real;
        return 0;
    case CONFIG_CHOICE:
        return set_choice(c, row, value, err);
    default:
        return set_text(c, row, value, err);
    }
}

/* A secret read from a file ends with a line feed more often than not. */
int config_row_set(struct config *c, const struct config_row *row, const char *value, struct err *err)
{
    size_t start = strspn(value, " \t\r\n"), len = strlen(value + start);
    char *copy;
    int done;

    while (len && strchr(" \t\r\n", value[start + len - 1]))
        len--;
    copy = mem_dup(value + start, len);
    if (!copy)
        return err_nomem(err);
    done = set_trimmed(c, row, copy, err);
    if (row->flags & CONFIG_SECRET)
        mem_wipe(copy, len);
    mem_free(copy);
    return done;
}

void config_row_format(const struct config *c, const struct config_row *row, struct buf *out)
{
    const void *v = value_of(c, row);
    const char *text;

    switch (row->kind) {
    case CONFIG_BOOL:
        buf_add_str(out, *(const bool *)v ? "true" : "false");
        break;
    case CONFIG_INT:
        buf_add_fmt(out, "%lld", (long long)*(const int64_t *)v);
        break;
    case CONFIG_REAL:
        buf_add_fmt(out, "%.15g", *(const double *)v);
        break;
    case CONFIG_CHOICE:
        buf_add_str(out, row->words[*(const int *)v]);
        break;
    default:
        text = *(char *const *)v;
        buf_add_str(out, text ? text : "");
        break;
    }
}
