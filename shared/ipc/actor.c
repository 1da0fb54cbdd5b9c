#include "shared/ipc/actor.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#define PREFIX_BYTES 8 /* a /64: what one customer gets at least */

int actor_from_address(const char *address, char out[RPC_ACTOR_MAX + 1])
{
    char text[INET6_ADDRSTRLEN];
    struct in6_addr six;
    struct in_addr four;

    if (address && inet_pton(AF_INET6, address, &six) == 1 && !IN6_IS_ADDR_V4MAPPED(&six)) {
        memset(six.s6_addr + PREFIX_BYTES, 0, sizeof(six.s6_addr) - PREFIX_BYTES);
        inet_ntop(AF_INET6, &six, text, sizeof(text));
        snprintf(out, RPC_ACTOR_MAX + 1, "ip:%s/64", text);
        return 0;
    }
    if (address && inet_pton(AF_INET6, address, &six) == 1)
        memcpy(&four, six.s6_addr + 12, sizeof(four));
    else if (!address || inet_pton(AF_INET, address, &four) != 1) {
        snprintf(out, RPC_ACTOR_MAX + 1, "ip:unknown");
        return -1;
    }
    inet_ntop(AF_INET, &four, text, sizeof(text));
    snprintf(out, RPC_ACTOR_MAX + 1, "ip:%s", text);
    return 0;
}
