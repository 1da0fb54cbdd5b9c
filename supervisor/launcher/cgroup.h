/* supervisor/launcher/cgroup.h -- control groups of sessions: what no rlimit can bound (memory of all processes
 * together, processor share, processes) and one handle on everything that a session runs.
 * Theory of operation: every mounted tree that offers something is used, version 1 or 2 through one table of calls.
 * In each we own ROOT/agentsim/UID-BASE/, made by the launcher; a slot's group is a directory below it. ROOT is the
 * tree's top, or our own group where a service manager has delegated it. Instances on one machine have different
 * ranges of users, so different directories. Only the agent's side is limited: the holder, which has to answer when
 * the agent is at its limits, stays outside. The agent's child enters by itself (supervisor/sandbox/spawn.c), with the
 * session's user and rights over nothing but its own slot's file.
 * What the machine does not offer is said, not guessed: cgroups_set_up() makes a trial group and sets each limit. */
#ifndef LAUNCHER_CGROUP_H
#define LAUNCHER_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "shared/base/cgroup_fs.h"
#include "shared/base/err.h"
#include "shared/config/config.h"

#define CGROUP_LIMITS_MAX 6
#define CGROUP_FILE_MAX (CGROUP_PATH_MAX + 128) /* path of a control file */

/* A value for one control file. */
struct cgroup_limit {
    unsigned controller;
    const char *file;
    char value[48];
    bool optional; /* the file may be missing: the kernel was built or booted without it */
};

/* One version of the kernel's interface. Directories are absolute paths. */
struct cgroup_backend {
    unsigned version;
    const char *agent;  /* below a slot's group: where the agent runs; "" is the group itself */
    const char *holder; /* where the holder runs; NULL: it stays where the launcher is */
    const char *events; /* file with the counter "oom_kill", in the agent's group */
    const char *swap;   /* file that bounds swap; there only if the kernel counts it */

    /* Makes dir (two levels below root) and what has to be set on the way: 0 and the controllers, or -1 with errno. */
    int (*open)(const char *root, const char *dir, unsigned *controllers);
    /* Makes the group of one session, whose agent's part uid may enter: 0, or -1 with errno. */
    int (*make)(const char *group, uid_t uid, unsigned controllers);
    /* Pure: limits as the settings want them, in the order of writing; memory_mb is the setting or the ceiling, 0: no
     * limit. Returns how many. */
    size_t (*limits)(struct cgroup_limit out[CGROUP_LIMITS_MAX], const struct config *config, int64_t memory_mb,
                     unsigned controllers);
    void (*hold)(const char *group, bool on); /* nothing in it runs on; off: what was told to end, ends */
    int (*remove)(const char *group);         /* 0 (also: not there), or -1 with errno */
};

extern const struct cgroup_backend cgroup_v1, cgroup_v2;

struct cgroup_tree {
    const struct cgroup_backend *backend;
    unsigned controllers;
    char root[CGROUP_PATH_MAX]; /* where our part begins */
    char dir[CGROUP_PATH_MAX];  /* ROOT/agentsim/UID-BASE */
};

struct cgroups {
    struct cgroup_tree trees[CGROUP_MOUNTS_MAX];
    size_t n;
    const struct config *config; /* borrowed */
    int64_t memory_mb;           /* of one session; 0: no limit */
    bool swap;                   /* is bounded together with memory */
    int errnum;                  /* why there is none, or not all; 0: nothing is mounted */
    char trouble[160];           /* the same for the log; "" when all is well */
};

/* How the processes of one session get into their groups. */
struct cgroup_way {
    char holder[CGROUP_FILE_MAX];                   /* the holder's cgroup.procs; "": it stays */
    char agent[CGROUP_MOUNTS_MAX][CGROUP_FILE_MAX]; /* the agent's, one per tree */
    size_t n;
    char events[CGROUP_FILE_MAX]; /* tells of memory kills; "" when nothing does */
};

/* Looks which trees are mounted. As full root: whether a group is delegated is said by an attribute for root. name:
 * of our directory; NULL is the usual one. */
void cgroups_find(struct cgroups *ret, const struct config *config, const char *name);

/* Makes our directories, removes what a former run left, keeps the trees and controllers that work. Never fails:
 * without any, g->n is 0 and g->errnum says why. */
void cgroups_set_up(struct cgroups *g);
void cgroups_close(struct cgroups *g); /* removes our directories, if no session is left */

unsigned cgroups_controllers(const struct cgroups *g); /* of all trees, as bits of enum cgroup_controller */

/* A slot's groups with their limits, new and empty. -1 and err: a part may be there, cgroup_remove() takes it. */
int cgroup_make(const struct cgroups *g, uint32_t slot, uid_t uid, struct cgroup_way *ret, struct err *err);

bool cgroup_exists(const struct cgroups *g, uint32_t slot);
void cgroup_hold(const struct cgroups *g, uint32_t slot, bool on); /* around the killing of its processes */
int cgroup_remove(const struct cgroups *g, uint32_t slot);         /* 0, or -1 with errno (EBUSY: some live) */

/* For the back ends: write value to the file below dir; mkdir that takes an existing one. 0, or -1 with errno. */
int cgroup_put(const char *dir, const char *file, const char *value);
int cgroup_mkdir(const char *dir);
void cgroup_path(char out[CGROUP_FILE_MAX], const char *dir, const char *name); /* "": it does not fit */

#endif
