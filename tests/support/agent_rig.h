/* tests/support/agent_rig.h -- an agent_ws whose agent is the test: a listener on 127.0.0.1 and, once it has connected,
 * a non-blocking socket. Everything happens in one loop; the functions here turn it while they wait, a few seconds at
 * most. */
#ifndef TESTS_SUPPORT_AGENT_RIG_H
#define TESTS_SUPPORT_AGENT_RIG_H

#include <ev.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shared/base/buf.h"
#include "supervisor/holder/agent_ws.h"

#define AGENT_RIG_SESSION "0f8fad5b-d9cb-469f-a165-70867728950e"

struct agent_rig {
    struct ev_loop *loop;
    struct agent_ws ws;
    int listener, peer; /* -1: none */
    uint16_t port;
    char request[1024]; /* of the newest connection */

    unsigned opened, messages, refused, turned, drained, finished;
    struct buf heard;   /* all messages, a line feed behind each */
    struct buf why;     /* all that was refused, likewise */
    bool pause_at_each; /* as a journal that is full behaves */
};

void agent_rig_start(struct agent_rig *r); /* has connected when this returns, or tries */
void agent_rig_stop(struct agent_rig *r);

void agent_rig_listen(struct agent_rig *r);           /* again, at the same port */
void agent_rig_turn(struct agent_rig *r);             /* once, without waiting long */
void agent_rig_now(struct agent_rig *r, ev_timer *t); /* that time is up */

/* Turns the loop until it holds; fails the test when it does not. */
#define AGENT_RIG_UNTIL(r, condition) \
    do { \
        int rig_tries = 0; \
        while (!(condition) && rig_tries++ < 20000) \
            agent_rig_turn(r); \
        assert_true(condition); \
    } while (0)

void agent_rig_accept(struct agent_rig *r);                 /* takes the next connection and its request */
bool agent_rig_try_accept(struct agent_rig *r);             /* the connection only, if one is there */
void agent_rig_answer(struct agent_rig *r, struct buf *to); /* adds what accepts that request */
void agent_rig_open(struct agent_rig *r);                   /* accept and answer */
void agent_rig_hang_up(struct agent_rig *r);

void agent_rig_say(struct agent_rig *r, const void *data, size_t len); /* all of it */
/* Adds a server's frame: first is its first byte. */
void agent_rig_frame(struct buf *to, uint8_t first, const void *payload, size_t len);
void agent_rig_say_frame(struct agent_rig *r, uint8_t first, const char *text);

/* Reads one frame, unmasks it into ret (cleared before): its first byte. */
uint8_t agent_rig_read(struct agent_rig *r, struct buf *ret);
void agent_rig_expect(struct agent_rig *r, uint8_t first, const void *payload, size_t len);
bool agent_rig_at_end(struct agent_rig *r); /* the connection is over and nothing is left in it */

#endif
