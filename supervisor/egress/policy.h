/* supervisor/egress/policy.h -- may an agent reach this host, this address? Pure.
 * Asked twice per connection: with what the agent wrote, before anything is looked up; and with each address that was
 * found, before it is dialled. Only addresses that passed the second are ever dialled. */
#ifndef EGRESS_POLICY_H
#define EGRESS_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "supervisor/egress/address.h"
#include "supervisor/egress/allow_list.h"

struct egress_policy {
    bool listed_only; /* `allow`; else `public` */
    struct allow_list list;
};

/* What a request names: a host name, or an address. */
struct egress_target {
    char name[HOST_NAME_MAX_LEN + 1]; /* "" for an address */
    struct address address;
    uint16_t port;
};

/* NULL when allowed so far, or why not: words that follow "example.org:80 is refused: ". */
const char *egress_refuse_target(const struct egress_policy *policy, const struct egress_target *target);

/* The same for an address and port to dial. is_own: it belongs to this machine. */
const char *egress_refuse_address(const struct egress_policy *policy, const struct address *address, uint16_t port,
                                  bool is_own);

const char *egress_policy_name(const struct egress_policy *policy);

/* "host:port", for logs and answers. */
#define EGRESS_TARGET_TEXT (HOST_NAME_MAX_LEN + 16)
void egress_target_format(const struct egress_target *target, char out[EGRESS_TARGET_TEXT]);

#endif
