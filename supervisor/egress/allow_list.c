#include "supervisor/egress/allow_list.h"

#include <ctype.h>
#include <string.h>

#include "shared/base/mem.h"
#include "shared/base/str.h"

#define LABEL_MAX 63
#define BITS_V4 32
#define BITS_V6 128
#define FEWEST_BITS 8 /* "everything" is no entry of a list: a slip of the pen would open the machine's own network */

int host_name_check(char *name)
{
    size_t len = strlen(name), label = 0, i;

    if (len > 1 && name[len - 1] == '.')
        name[--len] = '\0';
    if (!len || len > HOST_NAME_MAX_LEN)
        return -1;
    for (i = 0; i < len; i++) {
        unsigned char c = (unsigned char)name[i];

        if (c == '.') {
            if (!label || name[i - 1] == '-')
                return -1;
            label = 0;
            continue;
        }
        if (!isascii(c) || (!isalnum(c) && c != '_' && (c != '-' || !label)) || ++label > LABEL_MAX)
            return -1;
        name[i] = (char)tolower(c);
    }
    return label && name[len - 1] != '-' && !address_looks_numeric(name) ? 0 : -1;
}

static bool has_zeros_behind(const struct address *a, unsigned bits)
{
    unsigned i;

    for (i = bits; i < (a->family == AF_INET6 ? BITS_V6 : BITS_V4); i++)
        if (a->bytes[i / 8] & (0x80 >> i % 8))
            return false;
    return true;
}

/* address or address/bits: 0, or -1 */
static int parse_range(char *text, sa_family_t family, struct allow_entry *ret)
{
    char *slash = strchr(text, '/');
    int64_t bits = family == AF_INET6 ? BITS_V6 : BITS_V4;

    if (slash && str_to_int(slash + 1, FEWEST_BITS, bits, &bits) < 0)
        return -1;
    if (slash)
        *slash = '\0';
    ret->bits = (unsigned)bits;
    if (address_parse(text, &ret->address) < 0 || ret->address.family != family)
        return -1;
    return has_zeros_behind(&ret->address, ret->bits) ? 0 : -1;
}

static int parse_host(char *host, struct allow_entry *ret)
{
    size_t len = strlen(host);

    if (*host == '[') {
        if (host[len - 1] != ']')
            return -1;
        host[len - 1] = '\0';
        return parse_range(host + 1, AF_INET6, ret);
    }
    if (strchr(host, '/') || address_parse(host, &ret->address) == 0)
        return parse_range(host, AF_INET, ret);
    ret->below = str_starts(host, "*.");
    if (ret->below)
        host += 2;
    if (host_name_check(host) < 0)
        return -1;
    ret->name = mem_strdup(host);
    return ret->name ? 0 : 1;
}

/* 0, -1 no entry, 1 out of memory */
static int parse_entry(const char *text, size_t len, struct allow_entry *ret)
{
    auto_free char *host = mem_dup(text, len);
    char *colon;
    int64_t port;

    if (!host)
        return 1;
    colon = strrchr(host, ':');
    if (!colon || colon == host || str_to_int(colon + 1, 1, UINT16_MAX, &port) < 0)
        return -1;
    *colon = '\0';
    ret->port = (uint16_t)port;
    return parse_host(host, ret);
}

static int add_entry(struct allow_list *list, const char *text, size_t len, struct err *err)
{
    struct allow_entry entry = { 0 };
    int r;

    if (list->n == ALLOW_LIST_MAX)
        return err_set(err, ERR_BAD_REQUEST, 0, "the list of allowed hosts has more than %d entries", ALLOW_LIST_MAX);
    r = parse_entry(text, len, &entry);
    if (r < 0)
        return err_set(err, ERR_BAD_REQUEST, 0,
                       "the list of allowed hosts: \"%.*s\" is not host:port or range/bits:port",
                       (int)(len < 100 ? len : 100), text);
    if (r > 0 || mem_grow((void **)&list->entries, list->n, &list->cap, sizeof(entry)) < 0) {
        mem_free(entry.name);
        return err_nomem(err);
    }
    list->entries[list->n++] = entry;
    return 0;
}

int allow_list_parse(const char *text, struct allow_list *ret, struct err *err)
{
    struct allow_list list = { 0 };

    while (*text) {
        size_t len = strcspn(text, ","), end = len, start = 0;

        while (start < end && text[start] == ' ')
            start++;
        while (end > start && text[end - 1] == ' ')
            end--;
        if (start < end && add_entry(&list, text + start, end - start, err) < 0) {
            allow_list_release(&list);
            return -1;
        }
        text += len + (text[len] == ',');
    }
    *ret = list;
    return 0;
}

void allow_list_release(struct allow_list *list)
{
    size_t i;

    if (!list)
        return;
    for (i = 0; i < list->n; i++)
        mem_free(list->entries[i].name);
    mem_free(list->entries);
    *list = (struct allow_list){ 0 };
}

static bool names(const struct allow_entry *e, const char *name)
{
    size_t len, own;

    if (!e->name)
        return false;
    if (!e->below)
        return strcmp(e->name, name) == 0;
    len = strlen(name);
    own = strlen(e->name);
    return len > own + 1 && name[len - own - 1] == '.' && strcmp(name + len - own, e->name) == 0;
}

bool allow_list_has_name(const struct allow_list *list, const char *name, uint16_t port)
{
    size_t i;

    for (i = 0; i < list->n; i++)
        if (list->entries[i].port == port && names(&list->entries[i], name))
            return true;
    return false;
}

bool allow_list_has_address(const struct allow_list *list, const struct address *address, uint16_t port)
{
    size_t i;

    for (i = 0; i < list->n; i++)
        if (!list->entries[i].name && list->entries[i].port == port &&
            address_shares(&list->entries[i].address, address, list->entries[i].bits))
            return true;
    return false;
}
