/* supervisor/launcher/start.h -- makes a slot's directory and socket and starts its holder as the
 * slot's user. */
#ifndef LAUNCHER_START_H
#define LAUNCHER_START_H

#include <stdint.h>
#include <sys/types.h>

#include "shared/base/err.h"
#include "shared/base/id.h"

struct cgroup_way;

struct start_job {
    uid_t uid;
    uint32_t slot;
    struct id id;
    int slots_dir;
    const char *slots_path;       /* of the same directory */
    const struct cgroup_way *way; /* into the session's control groups, made already */
    const char *socket;           /* where the holder listens */
    gid_t socket_gid;             /* may connect there */
    const char *program;          /* agentsim-holder */
    char *const *env;
};

struct started {
    pid_t pid;
    int life;   /* the holder sees the end of its pipe when this closes */
    int report; /* start_report() */
};

/* 0: a child was forked. -1 and err (errnum is what the supervisor is told); what was made may need
 * cleaning. */
int start_holder(struct started *ret, const struct start_job *job, struct err *err);

/* 1 the holder runs, 0 not known yet, -1 and err: the step that failed. */
int start_report(int report_fd, struct err *err);

#endif
