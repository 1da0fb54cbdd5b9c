#include "supervisor/rpc_request.h"

#include <stdbool.h>

#include "shared/base/mem.h"
#include "shared/ipc/wire.h"

static const struct {
    enum rpc_type type;
    bool id, actor, has_flags;
    uint32_t flags; /* known ones */
} kinds[] = {
    { RPC_ADMIT, false, true, true, RPC_ADMIT_RATE | RPC_ADMIT_CAP },
    { RPC_CREATE, true, true, true, RPC_CREATE_INTERNAL },
    { RPC_INFO, true, true, false, 0 },
    { RPC_OPEN, true, true, false, 0 },
    { RPC_END, true, true, false, 0 },
    { RPC_HEALTH, false, false, false, 0 },
    { RPC_LIST, false, false, false, 0 },
    { RPC_METRICS, false, false, false, 0 },
    { RPC_DRAIN, false, false, true, RPC_DRAIN_ON },
    { RPC_RELOAD, false, false, false, 0 },
};

int rpc_request_parse(uint16_t type, const void *payload, size_t len, struct rpc_request *ret, struct err *err)
{
    struct rpc_request r = { .type = (enum rpc_type)type, .actor = "" };
    struct wire_in in;
    size_t i;

    for (i = 0; i < ARRAY_LEN(kinds) && kinds[i].type != type; i++)
        ;
    if (i == ARRAY_LEN(kinds))
        return err_set(err, ERR_BAD_REQUEST, 0, "the supervisor knows no request of type %u", type);
    wire_start(&in, payload, len);
    if (kinds[i].id)
        wire_get_id(&in, &r.id);
    if (kinds[i].actor)
        r.actor = wire_get_str(&in, RPC_ACTOR_MAX);
    if (kinds[i].has_flags)
        r.flags = wire_get_u32(&in);
    if (wire_end(&in) < 0 || (kinds[i].actor && !r.actor[0]) || (r.flags & ~kinds[i].flags))
        return err_set(err, ERR_BAD_REQUEST, 0, "malformed request of type %u", type);
    *ret = r;
    return 0;
}
