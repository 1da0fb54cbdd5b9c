/* Version 2: one tree. Controllers are handed down level by level, and a group that hands them down may not hold
 * processes of its own (the top is exempt): so a slot's group has two, one for the holder and one for the agent. Who
 * moves a process needs the right to write cgroup.procs of the target and of the nearest group above both, which is
 * the slot's own. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shared/base/io.h"
#include "shared/base/mem.h"
#include "supervisor/launcher/cgroup.h"

#define PERIOD_US 100000
#define LEAST_QUOTA_US 1000
#define LIST_MAX ((size_t)1 << 20)
#define MOVES_MAX 20 /* looks at a group whose processes keep forking */

static const struct {
    unsigned bit;
    const char *word;
} handed_down[] = { { CGROUP_MEMORY, "+memory" }, { CGROUP_PIDS, "+pids" }, { CGROUP_CPU, "+cpu" } };

static int read_text(const char *dir, const char *file, struct buf *out)
{
    char path[CGROUP_FILE_MAX];
    struct err err;

    cgroup_path(path, dir, file);
    return io_read_file(path, out, &err);
}

/* What was enabled, of what is wanted. */
static unsigned enable(const char *dir, unsigned wanted)
{
    unsigned done = 0;
    size_t i;

    for (i = 0; i < ARRAY_LEN(handed_down); i++)
        if ((wanted & handed_down[i].bit) && cgroup_put(dir, "cgroup.subtree_control", handed_down[i].word) == 0)
            done |= handed_down[i].bit;
    return done;
}

/* Into a group of its own below, until none is left. The launcher's own group, in a container or as a delegated
 * service, is full of us. */
static int move_processes(const char *root)
{
    char service[CGROUP_FILE_MAX];
    int round;

    cgroup_path(service, root, "agentsim/service");
    if (cgroup_mkdir(service) < 0)
        return -1;
    for (round = 0; round < MOVES_MAX; round++) {
        auto_buf struct buf pids;
        char *line, *next;

        buf_init(&pids, LIST_MAX);
        if (read_text(root, "cgroup.procs", &pids) < 0)
            return -1;
        if (!pids.len)
            return 0;
        for (line = pids.data; *line; line = next) {
            next = line + strcspn(line, "\n");
            if (*next)
                *next++ = '\0';
            (void)cgroup_put(service, "cgroup.procs", line); /* it may have ended meanwhile */
        }
    }
    errno = EBUSY;
    return -1;
}

static int v2_open(const char *root, const char *dir, unsigned *controllers)
{
    char parent[CGROUP_FILE_MAX];
    auto_buf struct buf offered;
    unsigned wanted, have;

    buf_init(&offered, 4096);
    cgroup_path(parent, root, "agentsim");
    if (read_text(root, "cgroup.controllers", &offered) < 0) {
        errno = ENOENT;
        return -1;
    }
    wanted = cgroup_controllers_parse(offered.data ? offered.data : "") & (CGROUP_MEMORY | CGROUP_PIDS | CGROUP_CPU);
    if (cgroup_mkdir(parent) < 0 || cgroup_mkdir(dir) < 0)
        return -1;
    have = enable(root, wanted);
    if (have != wanted && errno == EBUSY && move_processes(root) == 0)
        have = enable(root, wanted);
    have = enable(dir, enable(parent, have));
    *controllers = have | CGROUP_FREEZER; /* part of every group here */
    return 0;
}

static int give(const char *dir, uid_t uid)
{
    char procs[CGROUP_FILE_MAX];

    cgroup_path(procs, dir, "cgroup.procs");
    return chown(procs, uid, uid);
}

static int v2_make(const char *group, uid_t uid, unsigned controllers)
{
    char agent[CGROUP_FILE_MAX], holder[CGROUP_FILE_MAX];

    cgroup_path(agent, group, "agent");
    cgroup_path(holder, group, "holder");
    controllers &= ~(unsigned)CGROUP_FREEZER;
    if (cgroup_mkdir(group) < 0 || enable(group, controllers) != controllers || cgroup_mkdir(holder) < 0 ||
        cgroup_mkdir(agent) < 0)
        return -1;
    return give(group, uid) < 0 || give(agent, uid) < 0 ? -1 : 0;
}

static size_t v2_limits(struct cgroup_limit out[CGROUP_LIMITS_MAX], const struct config *config, int64_t memory_mb,
                        unsigned controllers)
{
    long long bytes = (long long)memory_mb << 20;
    long long quota = (long long)(config->cpu_cores * PERIOD_US);
    size_t n = 0;

    if ((controllers & CGROUP_MEMORY) && bytes) {
        out[n] = (struct cgroup_limit){ CGROUP_MEMORY, "memory.max", "", false };
        (void)snprintf(out[n++].value, sizeof(out->value), "%lld", bytes);
        out[n++] = (struct cgroup_limit){ CGROUP_MEMORY, "memory.swap.max", "0", true };
    }
    if (controllers & CGROUP_PIDS) {
        out[n] = (struct cgroup_limit){ CGROUP_PIDS, "pids.max", "", false };
        (void)snprintf(out[n++].value, sizeof(out->value), "%lld", (long long)config->rlimit_nproc);
    }
    if ((controllers & CGROUP_CPU) && quota) {
        out[n] = (struct cgroup_limit){ CGROUP_CPU, "cpu.max", "", false };
        (void)snprintf(out[n++].value, sizeof(out->value), "%lld %d", quota < LEAST_QUOTA_US ? LEAST_QUOTA_US : quota,
                       PERIOD_US);
    }
    return n;
}

/* cgroup.kill (Linux 5.14) needs no second step; before it there is the freezer. */
static void v2_hold(const char *group, bool on)
{
    if (!on)
        (void)cgroup_put(group, "cgroup.freeze", "0");
    else if (cgroup_put(group, "cgroup.kill", "1") < 0)
        (void)cgroup_put(group, "cgroup.freeze", "1");
}

static int v2_remove(const char *group)
{
    static const char *const parts[] = { "agent", "holder" };
    char path[CGROUP_FILE_MAX];
    size_t i;

    for (i = 0; i < ARRAY_LEN(parts); i++) {
        cgroup_path(path, group, parts[i]);
        if (rmdir(path) < 0 && errno != ENOENT)
            return -1;
    }
    return rmdir(group) == 0 || errno == ENOENT ? 0 : -1;
}

const struct cgroup_backend cgroup_v2 = {
    .version = 2,
    .agent = "/agent",
    .holder = "/holder",
    .events = "memory.events",
    .swap = "memory.swap.max",
    .open = v2_open,
    .make = v2_make,
    .limits = v2_limits,
    .hold = v2_hold,
    .remove = v2_remove,
};
