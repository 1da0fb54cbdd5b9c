#include "shared/ipc/version.h"

bool ipc_compatible(uint32_t version, uint32_t oldest)
{
    return oldest <= version && oldest <= IPC_VERSION && (uint64_t)version + 1 > IPC_OLDEST;
}
