/* supervisor/launcher/door.h -- the launcher's one client: the supervisor. A newer connection
 * replaces an older one; a client that does not read, or says anything unexpected, is dropped. */
#ifndef LAUNCHER_DOOR_H
#define LAUNCHER_DOOR_H

#include <ev.h>
#include <stdint.h>

#include "shared/base/buf.h"
#include "shared/base/err.h"
#include "shared/ipc/launch.h"

struct door {
    struct ev_loop *loop;
    ev_io listener, reader, writer;
    ev_timer retry; /* of accepting, after descriptors ran out */
    int conn;       /* -1: nobody is connected */
    struct buf out; /* messages that wait to be sent */
    uid_t client;   /* who may connect besides root */
    uint32_t n_slots;
    void (*on_connect)(void *arg); /* send the inventory now */
    void (*on_message)(void *arg, const struct launch_msg *m);
    void *arg;
};

/* listen_fd is the caller's until door_close(). The members of *d with a comment-free name are set
 * by this. */
void door_open(struct door *d, struct ev_loop *loop, int listen_fd);
void door_close(struct door *d);

/* Queue a message; without a client it is dropped (the next one gets an inventory). */
void door_send(struct door *d, struct launch_msg m);

/* Listening SEQPACKET socket at path, mode 0660, that group: fd or -1. */
int door_listen(const char *path, gid_t gid, struct err *err);

#endif
