/* supervisor/holder/warm.h -- the interpreter that waits in the sandbox before there is a session (adr/0024); its side
 * of the talk is docker/runtime/site/agentsim_wait.py. Nobody's program has run in it when it is told to begin. */
#ifndef HOLDER_WARM_H
#define HOLDER_WARM_H

#include <ev.h>
#include <stdbool.h>
#include <stdint.h>

#include "shared/base/err.h"
#include "shared/base/id.h"

struct holder;

/* LOADS and READY: it waits; TOLD: where the program is, but it has not said that it took it. */
enum warm_state { WARM_NONE, WARM_LOADS, WARM_READY, WARM_TOLD };

struct warm {
    enum warm_state state;
    bool unclaimed; /* there is no session yet */
    ev_io words;
};

void warm_init(struct holder *h);

/* The supervisor's wishes: 0, or -1 when it is not the time for them. */
int warm_up(struct holder *h, struct err *err);
int warm_claim(struct holder *h, const struct id *id, const char *actor, uint64_t started_wall_ms,
               uint64_t lifetime_ms);

/* The program is in the work directory: tells the one that waits. False: there is none. */
bool warm_go(struct holder *h);

bool warm_waits(const struct holder *h); /* one is there, and has not taken a program */
bool warm_hear(struct holder *h);        /* the same, after what it said until now */
void warm_deaf(struct holder *h);        /* its socket is about to be closed */

/* All of the sandbox is gone. True: it was the waiting one, the program starts without it as soon as it is there.
 * False: it was the program. */
bool warm_lost(struct holder *h, const struct err *why);

#endif
