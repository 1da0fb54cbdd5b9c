/* supervisor/selftest.h -- can this machine build the sandbox? Asked through the launcher's own path, as a session UID,
 * before any session is accepted, and again after 1, 2, 4 ... 30 s while the answer is no. Fails closed.
 * Owns its slot while it runs and its connection to that slot's holder. Design, section 5. */
#ifndef SUPERVISOR_SELFTEST_H
#define SUPERVISOR_SELFTEST_H

#include <ev.h>
#include <stdbool.h>
#include <stdint.h>

#include "shared/ipc/launch.h"
#include "supervisor/control.h"

#define SELFTEST_TEXT_MAX 700

struct sessions;

enum selftest_step { SELFTEST_IDLE, SELFTEST_STARTING, SELFTEST_PROBING, SELFTEST_CLEARING };

struct selftest {
    struct sessions *sessions;
    bool off; /* by configuration: nothing to test */
    bool passed;
    bool judged;                     /* this launcher's sandbox has been tried, whatever came of it */
    bool proven;                     /* the holder said yes; passed when its slot is clean again */
    bool wanted;                     /* to be run as soon as a slot is free */
    char verdict[SELFTEST_TEXT_MAX]; /* "ok", "off", "unavailable: <reason>" */
    enum selftest_step step;
    uint32_t slot;
    struct id id;
    struct control *control;
    struct ev_timer timer; /* patience with a step, else the pause before the next try */
    double pause;          /* seconds, the next one */
};

void selftest_init(struct selftest *t, struct sessions *sessions, bool off);
void selftest_release(struct selftest *t);

void selftest_want(struct selftest *t); /* the launcher is ready, or a slot came free: run if there is need */
/* A session from before runs in its sandbox: good enough, as long as no slot is free to try it. */
void selftest_vouched(struct selftest *t);
void selftest_launcher_lost(struct selftest *t);
bool selftest_owns(const struct selftest *t, uint32_t slot);
void selftest_message(struct selftest *t, const struct launch_msg *m); /* about its slot */
bool selftest_allows(const struct selftest *t);                        /* may sessions start? */
bool selftest_decides_soon(const struct selftest *t);                  /* or is that just being found out? */

#endif
