/* supervisor/sandbox/spawn.h -- starts what a plan describes and gives the ends of its pipes.
 * Owns nothing after the call: the caller closes the descriptors and waits for the child.
 * The caller must be a child sub-reaper, so that nobody else inherits what bubblewrap leaves. */
#ifndef SANDBOX_SPAWN_H
#define SANDBOX_SPAWN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "shared/base/err.h"
#include "supervisor/sandbox/pid1/report.h"
#include "supervisor/sandbox/plan.h"

#define SPAWN_BWRAP "/usr/bin/bwrap"

struct spawned {
    pid_t pid;  /* bubblewrap, or agentsim-pid1 without a sandbox; our child, not reaped */
    int output; /* stdout and stderr of everything inside; all ends here are non-blocking,
                   close-on-exec */
    int report; /* socket: struct pid1_report records */
    int info;   /* bubblewrap's JSON; -1 without a sandbox */
    int wait;   /* socket to the program, one message each; -1 when the plan does not say that it waits */
    int steps;  /* child_report() of what went wrong before exec */
};

/* 0: a child was forked (its exec may still fail). -1: nothing is left behind. */
int spawn_start(struct spawned *ret, const struct sandbox_plan *plan, struct err *err);
void spawn_close(struct spawned *s); /* the descriptors only */

/* Which step of the child failed before exec: -1 and err; 1 none did; 0 not known yet. */
int spawn_failed_step(const struct spawned *s, struct err *err);

/* Next record: 1, 0 nothing yet, -1 end or malformed. *ret_fd: the socket that came with PID1_LISTENS, checked and the
 * caller's, else -1. */
int spawn_next_report(const struct spawned *s, struct pid1_report *ret, int *ret_fd);

/* PID (as we see it) of the sandbox's first process, from the info pipe; -1 when it is not known.
 */
pid_t spawn_inner_pid(const struct spawned *s);

/* Pure part of it: "child-pid" of bubblewrap's JSON, or -1. */
pid_t spawn_parse_info(const char *text, size_t len);

/* Descriptor of that process, only when it still is a child of parent; else -1 with errno. */
int spawn_open_pidfd(pid_t pid, pid_t parent);

#endif
