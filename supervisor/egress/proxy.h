/* supervisor/egress/proxy.h -- an agent's way to the network: an HTTP proxy behind a listening socket that somebody
 * made inside the agent's network namespace. Lives on the holder's loop, outside; the agent has no other way. One
 * session, one proxy: the limits and the budget of bytes are the session's.
 *
 * Files: request.c and body.c read what the agent says; policy.c, allow_list.c, address.c decide; resolver.c finds
 * addresses; client.c takes one connection from its first byte to its last; pump.c carries bytes; proxy.c accepts. */
#ifndef EGRESS_PROXY_H
#define EGRESS_PROXY_H

#include <ev.h>
#include <stdint.h>

#include "shared/base/err.h"
#include "supervisor/egress/policy.h"
#include "supervisor/egress/resolver.h"

#define EGRESS_BURST 256.0

struct egress_limits {
    unsigned connections; /* at once; one more is answered with 503 */
    double per_second;    /* new ones, after the first EGRESS_BURST; more wait: our work is not on the agent's bill */
    uint64_t bytes;       /* of the session, both directions together */
    double head_s;        /* from accept to the end of a request's head */
    double resolve_s;
    double connect_s; /* for the last address; earlier ones get a third */
    double linger_s;  /* for a side to speak after the other has closed; while both are open, quiet is never cut */
};

enum egress_outcome {
    EGRESS_CARRIED, /* the server was reached */
    EGRESS_REFUSED, /* by the policy or a limit */
    EGRESS_FAILED,  /* not resolved, not reached, not understood */
};

/* What became of one connection. */
struct egress_record {
    enum egress_outcome outcome;
    const char *target; /* "host:port"; "" when it was not understood */
    const char *peer;   /* address that was dialled or refused; "" when it did not come to that */
    const char *why;    /* refused, failed or cut: in a few words; else "" */
    uint64_t up, down;  /* bytes */
};

struct egress_setup {
    struct egress_policy policy; /* the proxy takes it over, also when it cannot be made */
    struct egress_limits limits;
    egress_lookup lookup;                                          /* egress_lookup_system() */
    void (*record)(void *arg, const struct egress_record *record); /* at the end of each connection */
    void *arg;
};

struct egress;

/* Takes over listen_fd (non-blocking), also when it fails: 0 and *ret is the caller's, -1 and err. The loop must be
 * libev's default one: it reaps the resolver's children. */
int egress_new(struct ev_loop *loop, int listen_fd, struct egress_setup *setup, struct egress **ret, struct err *err);
void egress_free(struct egress *e); /* cuts what is left, records it; NULL is fine */

#endif
