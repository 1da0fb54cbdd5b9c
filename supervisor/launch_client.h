/* supervisor/launch_client.h -- the channel to agentsim-launcher: connects, connects again with growing pauses,
 * checks every message, hands it on as one event. Owns the socket and its queue.
 * After each connect the launcher tells all slots (LAUNCH_SLOT), then LAUNCH_READY: only then it may be asked. */
#ifndef SUPERVISOR_LAUNCH_CLIENT_H
#define SUPERVISOR_LAUNCH_CLIENT_H

#include <ev.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shared/ipc/launch.h"

struct launch_events {
    void (*message)(void *owner, const struct launch_msg *m); /* op, slot and state are within bounds */
    void (*lost)(void *owner); /* it was connected and is no more; called before anything is tried again */
};

struct launch_client {
    struct ev_loop *loop;
    const char *path; /* borrowed */
    uint32_t slots;   /* slot numbers below this are valid, */
    uint32_t there;   /* or below this, once LAUNCH_READY has told */
    const struct launch_events *events;
    void *owner;
    int fd;           /* -1: not connected */
    bool ready;       /* LAUNCH_READY has come */
    bool foreign;     /* it has, of a build that does not work with ours: it is not ready, then */
    uint32_t version; /* of the launcher (version.h), once LAUNCH_READY has come */
    bool complained;  /* that nobody answers */
    struct ev_io read, write;
    struct ev_timer retry;
    double pause; /* seconds before the next try */
    struct launch_msg *queue;
    size_t queue_len, queue_cap, queue_pos;
};

/* Connects at once if somebody listens, else keeps trying. Never fails. */
void launch_client_start(struct launch_client *c, struct ev_loop *loop, const char *path, uint32_t slots,
                         const struct launch_events *events, void *owner);
void launch_client_stop(struct launch_client *c); /* closes, frees; one that never started is fine */

bool launch_client_ready(const struct launch_client *c);

/* 0; -1 when it is not ready or there is no memory: then the connection is given up, so that what the launcher
 * believes and what we believe are compared anew. id may be NULL. */
int launch_client_send(struct launch_client *c, enum launch_op op, uint32_t slot, const struct id *id);

/* Is m something a launcher with that many slots may say? Pure. */
bool launch_msg_valid(const struct launch_msg *m, size_t len, uint32_t slots);

#endif
