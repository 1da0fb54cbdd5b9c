/* supervisor/egress/resolver.h -- names to addresses, without blocking the loop.
 * Each lookup runs in a child of its own: the C library's resolver blocks, knows every way in which a machine is told
 * about names, and parses what strangers' name servers send. The child hands back at most EGRESS_ADDRESSES_MAX
 * addresses and goes; one that takes too long is killed. Children are reaped by libev's default loop. */
#ifndef EGRESS_RESOLVER_H
#define EGRESS_RESOLVER_H

#include <ev.h>
#include <stddef.h>

#include "shared/base/err.h"
#include "supervisor/egress/address.h"

#define EGRESS_ADDRESSES_MAX 8

/* Runs in the child and may block: the number of addresses, 0 or less when there is none. */
typedef int (*egress_lookup)(const char *name, struct address *ret, size_t max);

/* Asks the machine's own resolver. */
int egress_lookup_system(const char *name, struct address *ret, size_t max);

/* n 0: why says it in a few words. Called once, then the query is gone. */
typedef void (*resolver_found)(void *arg, const struct address *found, size_t n, const char *why);

struct resolver_query;

struct resolver {
    struct ev_loop *loop;
    egress_lookup lookup;
    double patience_s;
    unsigned at_once; /* children; further queries wait for their turn */
    unsigned running;
    struct resolver_query *first, *last; /* running ones, then waiting ones */
};

void resolver_init(struct resolver *r, struct ev_loop *loop, egress_lookup lookup, double patience_s, unsigned at_once);
void resolver_release(struct resolver *r); /* cancels what is left; NULL is fine */

/* The answer comes from the loop, never from inside this call. NULL and err when out of memory. */
struct resolver_query *resolver_ask(struct resolver *r, const char *name, resolver_found found, void *arg,
                                    struct err *err);
void resolver_cancel(struct resolver_query *q); /* found() is not called any more; NULL is fine */

#endif
