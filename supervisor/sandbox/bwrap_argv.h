/* supervisor/sandbox/bwrap_argv.h -- tells bubblewrap what the plan says. Pure.
 * The options travel through a descriptor (--args), not on the command line: the environment holds
 * credentials. */
#ifndef SANDBOX_BWRAP_ARGV_H
#define SANDBOX_BWRAP_ARGV_H

#include "shared/base/buf.h"
#include "supervisor/sandbox/plan.h"
#include "supervisor/sandbox/strv.h"

/* Descriptor numbers inside the child; spawn.c puts the right ones there. */
#define BWRAP_FD_WAIT 9    /* the program waits there for its beginning */
#define BWRAP_FD_REPORT 10 /* agentsim-pid1 writes */
#define BWRAP_FD_INFO 11   /* bubblewrap writes the PID of the sandbox's first process */
#define BWRAP_FD_ARGS 12   /* bubblewrap reads its options */
#define BWRAP_FD_SECCOMP 13
#define BWRAP_FD_DATA 14 /* first of the MOUNT_FILE contents, in plan order */

/* Command line: bubblewrap and pid1 with its program, or pid1 alone without a sandbox. Failure is
 * out->failed. */
void bwrap_argv_command(struct strv *out, const struct sandbox_plan *plan, const char *bwrap);

/* The bytes behind BWRAP_FD_ARGS: options, each ended by a NUL. Failure is buf_failed(). */
void bwrap_argv_options(struct buf *out, const struct sandbox_plan *plan);

#endif
