/* supervisor/egress/pump.h -- carries bytes between two sockets, both ways, until both are done.
 * Each way has one buffer: a side that does not read stops the other side from being read, never more than that. An end
 * on one side is passed on once everything before it is (half-close); nothing is cut for being quiet, but a way whose
 * other way has ended. Does not own the descriptors. */
#ifndef EGRESS_PUMP_H
#define EGRESS_PUMP_H

#include <ev.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shared/base/buf.h"
#include "supervisor/egress/answer.h"
#include "supervisor/egress/body.h"

#define PUMP_BUFFER ((size_t)64 << 10)

struct pump;

/* One direction. */
struct pump_way {
    struct pump *pump;
    int from, to;
    ev_io reader, writer;
    char *data; /* start..start+len wait for the receiver */
    size_t start, len, cap;
    struct egress_body *body;     /* only what belongs to it is carried; NULL: everything */
    struct egress_answer *answer; /* its head is written anew; NULL: nothing is */
    bool ended;                   /* nothing more comes */
    bool finished;                /* and everything has left, or never will */
    uint64_t bytes;               /* taken from the sender */
};

enum pump_end {
    PUMP_DONE,
    PUMP_BROKEN, /* a side broke the connection */
    PUMP_BUDGET, /* the session has used its bytes */
    PUMP_QUIET,
    PUMP_MALFORMED, /* the request's body */
    PUMP_NOMEM,
};

struct pump {
    struct ev_loop *loop;
    struct pump_way up, down; /* client to server, server to client */
    ev_timer linger;
    uint64_t *budget;             /* of the session, both ways together */
    struct egress_body *body;     /* of one request upwards; NULL: a tunnel */
    struct egress_answer *answer; /* to it; NULL for a tunnel */
    double linger_s;              /* quiet time of one way after the other has ended */
    bool half_closed;
    bool broken;
    void (*over)(void *arg, enum pump_end end); /* once; the pump is stopped then and may be released in it */
    void *arg;
};

/* budget, linger_s, body, answer, over and arg are set before. first_up and first_down are sent before anything else,
 * and not counted. 0, or -1 when out of memory. */
int pump_start(struct pump *p, struct ev_loop *loop, int client, int server, const struct buf *first_up,
               const struct buf *first_down);
void pump_release(struct pump *p); /* a zeroed one is fine */

#endif
