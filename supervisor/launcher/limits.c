#include "supervisor/launcher/limits.h"

#include <errno.h>

#include "shared/base/log.h"
#include "shared/base/mem.h"
#include "shared/ipc/launch.h"

void limits_find(struct launcher *l)
{
    struct err err = { 0 };

    cgroups_find(&l->cgroups, &l->config);
    if (!l->config.disk_mb || disks_mount(&l->disks, l->config.state_dir, l->n, l->config.disk_mb, &err) == 0)
        return;
    log_warn("AGENT_SIMULATOR_DISK_MB is not enforced: %s", err.msg);
}

uint32_t limits_why(int errnum)
{
    switch (errnum) {
    case 0:
        return LAUNCH_LIMITS_NOT_MOUNTED;
    case EROFS:
        return LAUNCH_LIMITS_READ_ONLY;
    case EPERM:
    case EACCES:
        return LAUNCH_LIMITS_DENIED;
    case EBUSY:
        return LAUNCH_LIMITS_BUSY;
    default:
        return LAUNCH_LIMITS_BROKEN;
    }
}

uint32_t limits_word(const struct launcher *l)
{
    static const struct {
        unsigned controller;
        uint32_t bit;
    } rows[] = {
        { CGROUP_MEMORY, LAUNCH_LIMITS_MEMORY },
        { CGROUP_PIDS, LAUNCH_LIMITS_PIDS },
        { CGROUP_CPU, LAUNCH_LIMITS_CPU },
        { CGROUP_FREEZER, LAUNCH_LIMITS_KILL },
    };
    unsigned controllers = cgroups_controllers(&l->cgroups);
    uint32_t word = l->disks.dirs ? LAUNCH_LIMITS_DISK : 0;
    size_t i;

    if (!l->cgroups.n)
        return word | limits_why(l->cgroups.errnum);
    for (i = 0; i < l->cgroups.n; i++)
        word |= l->cgroups.trees[i].backend->version == 1 ? LAUNCH_LIMITS_V1 : LAUNCH_LIMITS_V2;
    for (i = 0; i < ARRAY_LEN(rows); i++)
        if (controllers & rows[i].controller)
            word |= rows[i].bit;
    if (l->cgroups.swap && (word & LAUNCH_LIMITS_MEMORY))
        word |= LAUNCH_LIMITS_SWAP;
    return word;
}

void limits_set_up(struct launcher *l)
{
    char text[LAUNCH_LIMITS_TEXT_MAX];
    uint32_t word;

    cgroups_set_up(&l->cgroups);
    if (l->cgroups.trouble[0])
        log_warn("control groups: %s", l->cgroups.trouble);
    word = limits_word(l);
    launch_limits_text(
        word, launch_limits_wanted(l->config.memory_mb > 0, l->config.cpu_cores > 0, l->config.disk_mb > 0), text);
    log_info("limits of sessions beyond rlimits: %s", text);
}

void limits_close(struct launcher *l)
{
    cgroups_close(&l->cgroups);
    disks_release(&l->disks);
}
