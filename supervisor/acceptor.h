/* supervisor/acceptor.h -- a listening socket on the loop: hands on each accepted connection. Owns the descriptor.
 * When descriptors run out it pauses instead of spinning; the others wait in the backlog. */
#ifndef SUPERVISOR_ACCEPTOR_H
#define SUPERVISOR_ACCEPTOR_H

#include <ev.h>
#include <stdbool.h>

struct acceptor {
    struct ev_loop *loop;
    int fd;                                /* -1: closed */
    void (*accepted)(void *owner, int fd); /* non-blocking, close-on-exec, the callee's to close */
    void *owner;
    bool paused;
    struct ev_io io;
    struct ev_timer retry;
};

void acceptor_start(struct acceptor *a, struct ev_loop *loop, int fd, void (*accepted)(void *owner, int fd),
                    void *owner);
void acceptor_pause(struct acceptor *a, bool paused); /* may be called from accepted() */
void acceptor_stop(struct acceptor *a);               /* closes; one that was never started is fine */

#endif
