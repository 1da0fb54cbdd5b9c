#include "supervisor/egress/own.h"

#include <errno.h>
#include <ifaddrs.h>
#include <sys/socket.h>

#include "shared/base/mem.h"

/* Only an own address can be bound (also one of a range that a route makes local, which no interface lists). */
static bool can_bind(const struct address *a)
{
    struct sockaddr_storage sa;
    socklen_t len = address_to_sockaddr(a, 0, &sa);
    auto_fd int fd = socket(a->family, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return errno != EAFNOSUPPORT; /* without the family, nothing of it is ours */
    return bind(fd, (const struct sockaddr *)&sa, len) == 0 || errno != EADDRNOTAVAIL;
}

static bool is_of_an_interface(const struct address *a)
{
    struct ifaddrs *list = NULL, *i;
    struct address one;
    bool found = false;

    if (getifaddrs(&list) < 0)
        return true;
    for (i = list; i && !found; i = i->ifa_next)
        found = i->ifa_addr && address_from_sockaddr(i->ifa_addr, &one) == 0 && address_equal(&one, a);
    freeifaddrs(list);
    return found;
}

bool egress_is_own(const struct address *a)
{
    /* nobody's: bound all the same where the system lets foreign addresses be bound (ip_nonlocal_bind) */
    static const struct address nobodys[] = { { AF_INET, { 240, 0, 0, 1 } }, { AF_INET6, { 0x01, 0x00, [15] = 1 } } };

    if (!can_bind(a))
        return false;
    return can_bind(&nobodys[a->family == AF_INET6]) ? is_of_an_interface(a) : true;
}
