/* supervisor/keeper/child.h -- one watched process: what it is, how it is started, when it is started again.
 * A child owns its pid and nothing else; sockets belong to the keeper (sockets.h). */
#ifndef KEEPER_CHILD_H
#define KEEPER_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "shared/base/err.h"

#define CHILD_ARGS 8
#define CHILD_SOCKETS 2

struct child_socket {
    const char *name; /* for LISTEN_FDNAMES */
    int fd;           /* the keeper's, stays open */
};

struct child {
    char name[32]; /* for the log */
    const char *argv[CHILD_ARGS];
    bool service_user;    /* runs as the service's user, else as root */
    bool socket_is_stdin; /* FastCGI: its only socket is descriptor 0 instead of LISTEN_FDS */
    struct child_socket sockets[CHILD_SOCKETS];
    size_t sockets_len;
    const int *inherited; /* nginx: listening sockets of the one before, not ours; its variable NGINX names them */
    size_t inherited_len;
    int nice;            /* above 0: lets the others run first */
    const char *preload; /* nginx: a library that has it overwrite what it frees, for credentials pass through it */
    int stop_signal;
    int64_t stop_ms;   /* after that long it is killed */
    int reload_signal; /* for new settings; the one that stops it: it starts anew with them */

    pid_t pid;           /* 0 = does not run */
    int64_t started_ms;  /* monotonic */
    int64_t start_at_ms; /* when it does not run: not before */
    bool renewed;        /* was asked to start anew: its end is none of its own */
    unsigned stopped;    /* looks in a row that found it stopped */
    unsigned crashes;    /* in a row; every two seconds of life make one forgotten */
};

struct child_user {
    const char *name;
    uid_t uid;
    gid_t gid;
};

/* Pause before the next start after that many ends in a row: none for the first five, then 1, 2, 4 ... 30 seconds. */
int64_t child_pause_ms(unsigned crashes);

/* Forks and runs it in a process group of its own: 0 and c->pid, or -1. exec failures show as exit status 127. */
int child_start(struct child *c, const struct child_user *user, int64_t now_ms, struct err *err);

/* Takes note of an end: decides when it starts again; after an end that others caused (SIGKILL, SIGTERM, status 0)
 * within a quarter of a second. Writes "exited with status 3" or "killed by signal 11 (Segmentation fault)". */
void child_ended(struct child *c, int wait_status, int64_t now_ms, char *text, size_t text_size);

#endif
