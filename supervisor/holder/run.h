/* supervisor/holder/run.h -- entry points of agentsim-holder. */
#ifndef HOLDER_RUN_H
#define HOLDER_RUN_H

#include <stdbool.h>

#include <stddef.h>
#include <stdint.h>

#define HOLDER_GROUPS_MAX 8

struct holder_args {
    uint32_t slot;
    const char *session;                  /* UUID */
    const char *dir;                      /* the slot's directory; ours */
    const char *enter[HOLDER_GROUPS_MAX]; /* cgroup.procs files that the agent's processes have to be in */
    size_t n_enter;
    const char *memory_events; /* file that counts memory kills among them; NULL: none */
};

/* One session: listens on descriptor 3, ends when descriptor 4 does. Returns the exit status. */
int holder_run(const struct holder_args *args);

/* Builds the sandbox once and prints "sandbox OK", or why it cannot be built; root becomes the first session user. */
int holder_self_test(bool egress);

#endif
