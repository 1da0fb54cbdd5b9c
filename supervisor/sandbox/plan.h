/* supervisor/sandbox/plan.h -- everything about one agent's sandbox, decided before anything is
 * started. Pure: settings + facts of the machine + the session's place -> mounts, program,
 * environment, limits. Two readers: bwrap_argv.c (how bubblewrap is told) and spawn.c (what the
 * child does before exec). */
#ifndef SANDBOX_PLAN_H
#define SANDBOX_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "shared/base/buf.h"
#include "shared/base/err.h"
#include "shared/config/config.h"
#include "supervisor/sandbox/facts.h"
#include "supervisor/sandbox/rlimits.h"
#include "supervisor/sandbox/strv.h"

/* Where the work directory is seen inside; also the home directory there. */
#define SANDBOX_WORK "/work"
#define SANDBOX_PID1 "/run/agentsim-pid1"

#define SANDBOX_PROXY_PORT 3128 /* on the loopback of a private network */

enum mount_kind {
    MOUNT_RO,     /* source read-only at target */
    MOUNT_RO_TRY, /* the same, when source is there */
    MOUNT_RW,     /* source read-write at target */
    MOUNT_LINK,   /* symbolic link target with text source */
    MOUNT_TMPFS,  /* size bytes */
    MOUNT_PROC,
    MOUNT_DEV,  /* null, zero, full, random, urandom, tty, pts */
    MOUNT_FILE, /* read-only file with the bytes of source */
    MOUNT_DIR,
    MOUNT_SEAL, /* target becomes read-only, mounts below it stay as they are */
    MOUNT__MAX
};

struct sandbox_mount {
    enum mount_kind kind;
    char *source; /* path on the host, link text or file content; NULL where none */
    char *target;
    size_t size;
};

struct sandbox_plan {
    bool sandboxed;       /* false: SANDBOX=off, the program runs on the bare system */
    bool private_network; /* own network namespace with a loopback only */
    uint16_t port;        /* where the agent listens */
    uint16_t proxy_port;  /* where its way out listens, in its own network; 0: there is none */
    bool waits;           /* the program gets a socket on which it is told when to begin */
    char *work;           /* work directory on the host */
    char *work_inside;    /* as the agent sees it */
    char *pid1;           /* agentsim-pid1 as the agent's side sees it */
    struct sandbox_mount *mounts;
    size_t n_mounts;
    struct strv argv; /* program and arguments, behind pid1 */
    struct strv env;
    struct rlimits limits;
    struct strv entered; /* cgroup.procs files that the child writes itself into */
    struct buf seccomp;  /* filter program for bubblewrap's --seccomp; empty: none */
};

struct sandbox_site {
    uint32_t slot;
    uid_t uid;                  /* of the session; group alike */
    const char *work;           /* host path */
    const char *const *program; /* arguments behind the interpreter, NULL-terminated */
    bool waits;                 /* it is not there yet: the interpreter waits for it */
    char *const *service;       /* our own environment */
    const struct strv *extra;   /* credentials, NULL for none */
    const struct strv *entered; /* cgroup.procs files of the session's control groups, NULL for none */
};

/* 0 and *ret is the caller's, or -1 with err. */
int sandbox_plan_make(struct sandbox_plan *ret, const struct config *config, const struct sandbox_facts *facts,
                      const struct sandbox_site *site, struct err *err);
void sandbox_plan_release(struct sandbox_plan *p); /* wipes the environment; NULL is fine */

#endif
