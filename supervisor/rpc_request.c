#include "supervisor/rpc_request.h"

#include <stdbool.h>
#include <string.h>

#include "shared/base/mem.h"
#include "shared/ipc/wire.h"

static const struct {
    enum rpc_type type;
    unsigned hashes;
    uint32_t flags; /* known ones */
    bool id, actor, has_flags;
    bool user; /* login and avatar */
} kinds[] = {
    { RPC_ADMIT, 0, RPC_ADMIT_RATE | RPC_ADMIT_CAP, false, true, true, false },
    { RPC_CREATE, 0, RPC_CREATE_INTERNAL | RPC_CREATE_MAY_WAIT | RPC_CREATE_TAKES, true, true, true, false },
    { RPC_QUEUE, 0, RPC_QUEUE_TAKES | 63, true, true, true, false },
    { RPC_INFO, 0, 0, true, true, false, false },
    { RPC_OPEN, 0, 0, true, true, false, false },
    { RPC_END, 0, 0, true, true, false, false },
    { RPC_HEALTH, 0, 0, false, false, false, false },
    { RPC_LIST, 0, 0, false, false, false, false },
    { RPC_SIGNIN_BEGIN, 2, 0, false, true, false, false },
    { RPC_SIGNIN_TAKE, 2, 0, false, false, false, false },
    { RPC_SIGNIN_MAKE, 2, 0, false, false, false, true },
    { RPC_SIGNIN_GIVE_UP, 1, 0, false, false, false, false },
    { RPC_SIGNIN_SHOW, 1, 0, false, false, false, false },
    { RPC_SIGNIN_END, 1, 0, false, false, false, false },
    { RPC_METRICS, 0, 0, false, false, false, false },
    { RPC_DRAIN, 0, RPC_DRAIN_ON, false, false, true, false },
    { RPC_RELOAD, 0, 0, false, false, false, false },
};

/* A worker was replaced before the supervisor was. */
static int is_newer(uint16_t type, struct err *err)
{
    return err_set(err, ERR_UNAVAILABLE, 0,
                   "The service is being upgraded, try again in a moment (its supervisor does not know request %u yet)",
                   type);
}

int rpc_request_parse(uint16_t type, const void *payload, size_t len, struct rpc_request *ret, struct err *err)
{
    struct rpc_request r = { .type = (enum rpc_type)type, .actor = "", .login = "", .avatar = "" };
    struct wire_in in;
    size_t i, h;

    for (i = 0; i < ARRAY_LEN(kinds) && kinds[i].type != type; i++)
        ;
    if (i == ARRAY_LEN(kinds))
        return is_newer(type, err);
    wire_start(&in, payload, len);
    if (kinds[i].id)
        wire_get_id(&in, &r.id);
    for (h = 0; h < kinds[i].hashes; h++)
        signin_get_hash(&in, &r.hashes[h]);
    if (kinds[i].actor)
        r.actor = wire_get_str(&in, RPC_ACTOR_MAX);
    if (kinds[i].has_flags)
        r.flags = wire_get_u32(&in);
    if (kinds[i].user) {
        r.login = wire_get_str(&in, SIGNIN_LOGIN_MAX);
        r.avatar = wire_get_str(&in, SIGNIN_AVATAR_MAX);
    }
    if (r.flags & ~kinds[i].flags)
        return is_newer(type, err);
    if (wire_end(&in) < 0 || (kinds[i].actor && !r.actor[0]) ||
        (type == RPC_QUEUE && ((r.flags & 63) < 1 || (r.flags & 63) > RPC_QUEUE_SECONDS_MAX)))
        return err_set(err, ERR_BAD_REQUEST, 0, "malformed request of type %u", type);
    *ret = r;
    return 0;
}
