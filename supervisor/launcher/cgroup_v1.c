/* Version 1: a tree per controller, a process in one group of each, groups with processes may have others below. */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "supervisor/launcher/cgroup.h"

#define PERIOD_US 100000
#define LEAST_QUOTA_US 1000 /* the kernel's own */

/* What lies in sockets is counted by itself here, and by default not at all: one agent could fill what all sockets of
 * the machine have together. Version 2 counts it as memory. */
#define SOCKETS_BYTES ((long long)64 << 20)

static int v1_open(const char *root, const char *dir, unsigned *controllers)
{
    char parent[CGROUP_FILE_MAX];

    (void)controllers;
    cgroup_path(parent, root, "agentsim");
    return cgroup_mkdir(parent) < 0 || cgroup_mkdir(dir) < 0 ? -1 : 0;
}

static int v1_make(const char *group, uid_t uid, unsigned controllers)
{
    char procs[CGROUP_FILE_MAX];

    (void)controllers;
    cgroup_path(procs, group, "cgroup.procs");
    return cgroup_mkdir(group) < 0 || chown(procs, uid, uid) < 0 ? -1 : 0;
}

static size_t v1_limits(struct cgroup_limit out[CGROUP_LIMITS_MAX], const struct config *config, int64_t memory_mb,
                        unsigned controllers)
{
    long long bytes = (long long)memory_mb << 20;
    long long quota = (long long)(config->cpu_cores * PERIOD_US);
    size_t n = 0;

    if ((controllers & CGROUP_MEMORY) && bytes) {
        out[n] = (struct cgroup_limit){ CGROUP_MEMORY, "memory.limit_in_bytes", "", false };
        (void)snprintf(out[n++].value, sizeof(out->value), "%lld", bytes);
        /* memory and swap together: the kernel wants it last, it may not be less than memory */
        out[n] = (struct cgroup_limit){ CGROUP_MEMORY, "memory.memsw.limit_in_bytes", "", true };
        (void)snprintf(out[n++].value, sizeof(out->value), "%lld", bytes);
        out[n] = (struct cgroup_limit){ CGROUP_MEMORY, "memory.kmem.tcp.limit_in_bytes", "", true };
        (void)snprintf(out[n++].value, sizeof(out->value), "%lld", bytes < SOCKETS_BYTES ? bytes : SOCKETS_BYTES);
    }
    if (controllers & CGROUP_PIDS) {
        out[n] = (struct cgroup_limit){ CGROUP_PIDS, "pids.max", "", false };
        (void)snprintf(out[n++].value, sizeof(out->value), "%lld", (long long)config->rlimit_nproc);
    }
    if ((controllers & CGROUP_CPU) && quota) {
        out[n] = (struct cgroup_limit){ CGROUP_CPU, "cpu.cfs_period_us", "", false };
        (void)snprintf(out[n++].value, sizeof(out->value), "%d", PERIOD_US);
        out[n] = (struct cgroup_limit){ CGROUP_CPU, "cpu.cfs_quota_us", "", false };
        (void)snprintf(out[n++].value, sizeof(out->value), "%lld", quota < LEAST_QUOTA_US ? LEAST_QUOTA_US : quota);
    }
    return n;
}

/* Only the freezer's tree has that file. A frozen process that got SIGKILL ends when it is thawed. */
static void v1_hold(const char *group, bool on)
{
    (void)cgroup_put(group, "freezer.state", on ? "FROZEN" : "THAWED");
}

static int v1_remove(const char *group)
{
    return rmdir(group) == 0 || errno == ENOENT ? 0 : -1;
}

const struct cgroup_backend cgroup_v1 = {
    .version = 1,
    .agent = "",
    .holder = NULL,
    .events = "memory.oom_control",
    .swap = "memory.memsw.limit_in_bytes",
    .open = v1_open,
    .make = v1_make,
    .limits = v1_limits,
    .hold = v1_hold,
    .remove = v1_remove,
};
