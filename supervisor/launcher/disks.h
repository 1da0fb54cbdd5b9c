/* supervisor/launcher/disks.h -- a file system of limited size for each slot, when a limit is set: tmpfs, mounted once,
 * by the launcher while it still may, in a mount namespace of its own. So nobody has to unmount anything: the mounts
 * go with the last process of that namespace, however the launcher ends. Holders are its children and see them;
 * nobody else has to. */
#ifndef LAUNCHER_DISKS_H
#define LAUNCHER_DISKS_H

#include <stddef.h>
#include <stdint.h>

#include "shared/base/err.h"

struct disks {
    char *path; /* directory with one directory per slot; NULL: no limit, or none possible */
    int *dirs;  /* those, opened */
    uint32_t n;
};

/* Mounts n file systems of size_mb each below STATE_DIR/disks. -1 and err: nothing is mounted, ret is empty. */
int disks_mount(struct disks *ret, const char *state_dir, uint32_t n, int64_t size_mb, struct err *err);
void disks_release(struct disks *d); /* the descriptors; an empty one is fine */

/* Pure: mount options for so many MiB, with as many files and directories as fit an average of 16 KiB each. */
void disks_options(int64_t size_mb, char *out, size_t size);

#endif
