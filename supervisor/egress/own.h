/* supervisor/egress/own.h -- addresses of this machine. */
#ifndef EGRESS_OWN_H
#define EGRESS_OWN_H

#include <stdbool.h>

#include "supervisor/egress/address.h"

/* True when a connection to the address would end on this machine: what its packet filter keeps from the outside
 * would be open from here. True as well when it cannot be found out. */
bool egress_is_own(const struct address *a);

#endif
