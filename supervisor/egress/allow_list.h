/* supervisor/egress/allow_list.h -- hosts and ports that an operator lists (AGENT_SIMULATOR_EGRESS_ALLOW). Pure.
 * Entries, commas between: name:port, *.name:port (every name below, not the name itself), address:port with IPv6 in
 * brackets, range/bits:port with zeros behind the bits ("10.1.0.0/16:443", "[fd00:1::/32]:443"). A listed name leads to
 * public addresses only, wherever its zone's owner lets it point; an inner address is reached when it is listed as an
 * address. */
#ifndef EGRESS_ALLOW_LIST_H
#define EGRESS_ALLOW_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shared/base/err.h"
#include "supervisor/egress/address.h"

#define ALLOW_LIST_MAX 1024 /* entries */
#define HOST_NAME_MAX_LEN 253

struct allow_entry {
    char *name; /* lower case, no final dot; NULL: an address */
    bool below; /* *.name */
    struct address address;
    unsigned bits; /* of the address that count */
    uint16_t port;
};

struct allow_list {
    struct allow_entry *entries;
    size_t n, cap;
};

/* 0, or -1 and err naming the entry that makes no sense (ERR_BAD_REQUEST). "" is an empty list. */
int allow_list_parse(const char *text, struct allow_list *ret, struct err *err);
void allow_list_release(struct allow_list *list); /* NULL is fine */

/* name as host_name_check() leaves it. */
bool allow_list_has_name(const struct allow_list *list, const char *name, uint16_t port);
bool allow_list_has_address(const struct allow_list *list, const struct address *address, uint16_t port);

/* Lower case, final dot cut, in place: 0; -1 when it is no host name (RFC 1123, underscores let through), too long, or
 * one that looks like a number. */
int host_name_check(char *name);

#endif
