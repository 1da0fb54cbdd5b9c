/* shared/base/cgroup_fs.h -- what the kernel says about control groups, as text. Pure: nothing here opens a file.
 * Source: proc(5) for mountinfo, cgroups(7), the kernel's cgroup-v1 and cgroup-v2 pages. */
#ifndef BASE_CGROUP_FS_H
#define BASE_CGROUP_FS_H

#include <stddef.h>
#include <stdint.h>

#define CGROUP_PATH_MAX 1024
#define CGROUP_MOUNTS_MAX 5 /* a version 1 mount per controller, and version 2 */

/* The controllers that sessions are limited with, as bits. */
enum cgroup_controller { CGROUP_MEMORY = 1, CGROUP_PIDS = 2, CGROUP_CPU = 4, CGROUP_FREEZER = 8 };

struct cgroup_mount {
    unsigned version;     /* 1 or 2 */
    unsigned controllers; /* version 1 only: what the mount was made with; version 2 says it in a file */
    char path[CGROUP_PATH_MAX];
};

struct cgroup_mounts {
    struct cgroup_mount v[CGROUP_MOUNTS_MAX];
    size_t n;
};

/* From /proc/self/mountinfo: every version 1 mount with a controller of ours, each controller once, and the first
 * version 2 mount. Lines it does not understand are passed over. */
void cgroup_mounts_parse(struct cgroup_mounts *ret, const char *mountinfo);

/* Controllers of ours in a list of words between blanks or commas. */
unsigned cgroup_controllers_parse(const char *words);

/* From /proc/self/cgroup: the own version 2 group ("/system.slice/x.service"). 0, or -1: none, or too long. */
int cgroup_own_group(const char *text, char *out, size_t size);

/* From memory.events, memory.oom_control, cpu.stat ...: the number behind a word at the start of a line; -1: none. */
int64_t cgroup_counter(const char *text, const char *word);

#endif
