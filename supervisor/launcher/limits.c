#include "supervisor/launcher/limits.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <unistd.h>

#include "shared/base/log.h"
#include "shared/base/mem.h"
#include "shared/ipc/launch.h"
#include "supervisor/launcher/ceiling.h"

void limits_find(struct launcher *l)
{
    int64_t disk_mb = ceiling_disk_mb(&l->config, ceiling_machine_mb());
    struct err err = { 0 };

    cgroups_find(&l->cgroups, &l->config, NULL);
    if (disks_mount(&l->disks, l->config.state_dir, l->n, disk_mb, &err) == 0)
        return;
    if (l->config.disk_mb)
        log_warn("AGENT_SIMULATOR_DISK_MB is not enforced: %s", err.msg);
    else
        log_warn("an agent may fill the disk of %s: %s", l->config.state_dir, err.msg);
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

static uint32_t wanted(const struct config *c)
{
    return launch_limits_wanted(c->memory_mb > 0, c->cpu_cores > 0, c->disk_mb > 0);
}

void limits_set_up(struct launcher *l)
{
    char text[LAUNCH_LIMITS_TEXT_MAX];

    cgroups_set_up(&l->cgroups);
    if (l->cgroups.trouble[0])
        log_warn("control groups: %s", l->cgroups.trouble);
    launch_limits_text(limits_word(l), wanted(&l->config), text);
    log_info("limits of sessions beyond rlimits: %s", text);
}

/* A directory of its own for the mounts, which are gone with this process. */
static void try_disks(struct launcher *l, struct err *err)
{
    char dir[] = "/tmp/agentsim-limits-XXXXXX", path[64];

    if (!mkdtemp(dir)) {
        err_set(err, ERR_UNAVAILABLE, errno, "%s", dir);
        return;
    }
    (void)snprintf(path, sizeof(path), "%s/disks", dir);
    if (disks_mount(&l->disks, dir, 1, ceiling_disk_mb(&l->config, ceiling_machine_mb()), err) == 0)
        (void)umount2(path, MNT_DETACH);
    (void)rmdir(path);
    (void)rmdir(dir);
}

int limits_self_test(const char *config_file)
{
    char text[LAUNCH_LIMITS_TEXT_MAX], name[32];
    struct launcher l = { .slots_dir = -1 };
    struct err err = { 0 };
    uint32_t word, missing;

    if (config_load(&l.config, config_file, &err) < 0) {
        (void)printf("%s\n", err.msg);
        return EXIT_FAILURE;
    }
    (void)snprintf(name, sizeof(name), "self-test-%d", (int)getpid());
    cgroups_find(&l.cgroups, &l.config, name);
    cgroups_set_up(&l.cgroups);
    try_disks(&l, &err);
    word = limits_word(&l);
    missing = wanted(&l.config) & ~word;
    launch_limits_text(word, wanted(&l.config), text);
    (void)printf("%s%s%s%s%s\n", text, missing && l.cgroups.trouble[0] ? "; " : "", missing ? l.cgroups.trouble : "",
                 missing && err.msg[0] ? "; " : "", missing ? err.msg : "");
    limits_close(&l);
    config_release(&l.config);
    return missing ? EXIT_FAILURE : EXIT_SUCCESS;
}

void limits_close(struct launcher *l)
{
    cgroups_close(&l->cgroups);
    disks_release(&l->disks);
}
