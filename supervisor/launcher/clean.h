/* supervisor/launcher/clean.h -- brings a slot back to nothing, in a process of its own.
 * The exit status of that process is the answer. */
#ifndef LAUNCHER_CLEAN_H
#define LAUNCHER_CLEAN_H

#include <stdint.h>
#include <sys/types.h>

#include "shared/base/err.h"
#include "supervisor/launcher/cgroup.h"

#define CLEAN_PATIENCE_MS 5000 /* for processes to go */
#define CLEAN_REMOVE_S 60      /* for files to go; the next attempt continues */

/* Exit status: 0 clean, 1..CLEAN_LEFT_MAX processes left, CLEAN_GROUP its control group, CLEAN_FILES
 * directory or socket not removable. */
#define CLEAN_LEFT_MAX 200
#define CLEAN_GROUP 249
#define CLEAN_FILES 250

struct clean_job {
    uid_t uid;
    uint32_t slot;
    int slots_dir; /* directory that holds the slots' directories */
    int disk;      /* the slot's own file system, where its directory is instead; -1: none */
    const struct cgroups *cgroups;
    const char *socket; /* the holder's socket */
};

/* Forks the cleaner: its pid, or -1 and err. */
pid_t clean_start(const struct clean_job *job, struct err *err);

#endif
