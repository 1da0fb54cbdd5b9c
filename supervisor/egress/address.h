/* supervisor/egress/address.h -- IP addresses and what lies behind them. Pure.
 * Agents may reach the public network: everything that is not certainly public counts as not public. The table follows
 * the IANA special-purpose registries, and knows what clouds put elsewhere. IPv6 forms that carry an IPv4 address are
 * no way around: they are refused, or judged by what they carry. */
#ifndef EGRESS_ADDRESS_H
#define EGRESS_ADDRESS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#define ADDRESS_TEXT_MAX 48

struct address {
    sa_family_t family; /* AF_INET or AF_INET6 */
    uint8_t bytes[16];  /* network order; the first 4 for AF_INET */
};

/* Text in its only full form: dotted quad without leading zeros, or IPv6 without brackets and zone. 0 or -1. */
int address_parse(const char *text, struct address *ret);

/* True for texts that some resolvers take for an IPv4 address though they are none in full form ("127.1",
 * "0x7f000001", "2130706433"): the last label is a number. */
bool address_looks_numeric(const char *host);

void address_format(const struct address *a, char out[ADDRESS_TEXT_MAX]);
bool address_equal(const struct address *a, const struct address *b);

/* Whether the first bits of both are the same; families differ: false. bits is at most the family's length. */
bool address_shares(const struct address *a, const struct address *b, unsigned bits);

/* What kind of address it is when agents must not reach it ("a loopback address"); NULL when it is public. */
const char *address_kind_refused(const struct address *a);

int address_from_sockaddr(const struct sockaddr *sa, struct address *ret); /* -1: another family */
socklen_t address_to_sockaddr(const struct address *a, uint16_t port, struct sockaddr_storage *ret);

#endif
