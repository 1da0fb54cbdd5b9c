#include "shared/ipc/hold.h"

uint16_t hold_agent_port(bool shared_network, int64_t port_pool_start, uint32_t slot)
{
    return shared_network ? (uint16_t)(port_pool_start + slot) : HOLD_AGENT_PORT;
}

const char *hold_reason_name(enum hold_reason reason)
{
    static const char *const names[HOLD_REASON__MAX] = {
#define X(name, text) [HOLD_REASON_##name] = text,
        HOLD_REASONS(X)
#undef X
    };

    return (unsigned)reason < HOLD_REASON__MAX ? names[reason] : "";
}

const char *hold_phase_name(enum hold_phase phase)
{
    static const char *const names[HOLD_PHASE__MAX] = { "waiting", "starting", "ready", "ended" };

    return (unsigned)phase < HOLD_PHASE__MAX ? names[phase] : "";
}
