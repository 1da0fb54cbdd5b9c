#include "supervisor/egress/policy.h"

#include <stdio.h>

static const char not_listed[] = "it is not in the list of allowed hosts";

const char *egress_refuse_target(const struct egress_policy *policy, const struct egress_target *target)
{
    if (!policy->listed_only)
        return *target->name ? NULL : address_kind_refused(&target->address);
    if (*target->name)
        return allow_list_has_name(&policy->list, target->name, target->port) ? NULL : not_listed;
    return allow_list_has_address(&policy->list, &target->address, target->port) ? NULL : not_listed;
}

const char *egress_refuse_address(const struct egress_policy *policy, const struct address *address, uint16_t port,
                                  bool is_own)
{
    const char *kind;

    if (policy->listed_only && allow_list_has_address(&policy->list, address, port))
        return NULL;
    kind = address_kind_refused(address);
    return kind ? kind : is_own ? "an address of this machine" : NULL;
}

const char *egress_policy_name(const struct egress_policy *policy)
{
    return policy->listed_only ? "allow" : "public";
}

void egress_target_format(const struct egress_target *target, char out[EGRESS_TARGET_TEXT])
{
    char text[ADDRESS_TEXT_MAX];

    if (*target->name) {
        (void)snprintf(out, EGRESS_TARGET_TEXT, "%s:%u", target->name, target->port);
        return;
    }
    address_format(&target->address, text);
    (void)snprintf(out, EGRESS_TARGET_TEXT, target->address.family == AF_INET6 ? "[%s]:%u" : "%s:%u", text,
                   target->port);
}
