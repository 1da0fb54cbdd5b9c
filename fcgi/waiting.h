/* fcgi/waiting.h -- a request that has to wait goes on in a process of its own, so that however many wait, every worker
 * goes on serving others (docs/adr: a queue of processes). The child is the same program at the same place of the
 * code; it answers its one request and ends. It must not use the parser, whose talk belongs to the worker. */
#ifndef FCGI_WAITING_H
#define FCGI_WAITING_H

#include <stdbool.h>
#include <sys/types.h>

#include "fcgi/request.h"

#define WAITING_MAX 16 /* children of one worker */

struct waiting {
    pid_t children[WAITING_MAX];
    bool here; /* we are such a child */
};

/* 1: we are the child now. 0: rq was handed over, the worker leaves it alone. -1: as many wait as may, or there is no
 * process to be had: go on as before. */
int waiting_fork(struct waiting *w, struct request *rq);

/* A worker takes note of children that have ended. */
void waiting_reap(struct waiting *w);

bool waiting_client_gone(const struct request *rq);

#endif
