/* supervisor/keeper/front.h -- how one nginx follows another without refusing a connection. Keeps copies of the
 * listening sockets of the nginx that runs, so that a restart inherits them (nginx's own variable NGINX) and whoever
 * connects meanwhile waits; puts a new nginx beside the old one for an upgrade; waits for old ones that still
 * carry conversations. nginx's own upgrade by SIGUSR2 works for daemons only, and ours is watched.
 * Owns the sockets and the other nginx processes; the child of the table is the keeper's. */
#ifndef KEEPER_FRONT_H
#define KEEPER_FRONT_H

#include <ev.h>

#include "shared/config/config.h"
#include "supervisor/keeper/child.h"

#define FRONT_SOCKETS 16
#define FRONT_FORMER 8

struct front {
    struct ev_loop *loop;
    const struct config *config;
    const struct child_user *user;
    struct child *nginx; /* in the keeper's table; NULL: there is none */
    ev_timer look;
    int sockets[FRONT_SOCKETS];
    size_t sockets_len;
    struct child next; /* the new one of an upgrade; pid 0: none */
    int64_t next_until_ms;
    pid_t former[FRONT_FORMER]; /* have been asked to finish; 0: none */
    bool complained;
};

void front_init(struct front *f, struct ev_loop *loop, const struct config *c, const struct child_user *user,
                struct child *nginx);
void front_release(struct front *f); /* one that was never set up is fine */

void front_watch(struct front *f, double after_s); /* nginx was started or reloaded: its sockets may be others */
void front_upgrade(struct front *f);               /* says in the log what becomes of it */
void front_reap(struct front *f);                  /* some process has ended: perhaps one of these */

/* The service ends: nobody gets in any more, open conversations go on until their other side ends. */
void front_stop(struct front *f);
void front_kill(struct front *f); /* those that are left besides the keeper's own child */
bool front_is_empty(const struct front *f);

/* Copies of the listening sockets of a process: their number, or -1 (errno) where the kernel does not give them. */
int front_sockets_of(pid_t pid, int out[FRONT_SOCKETS]);

#endif
