/* supervisor/sandbox/netns.h -- sockets made inside a sandbox's network namespace.
 * A short-lived child joins user and network namespace of a process and hands the socket back; we
 * never change our own namespaces. Needs no privilege: the session's user owns the sandbox's user
 * namespace. */
#ifndef SANDBOX_NETNS_H
#define SANDBOX_NETNS_H

#include <sys/types.h>

#include "shared/base/err.h"

/* Forks the maker of one non-blocking TCP socket. *ret_fd becomes readable (or at its end) when it
 * is done: then call netns_take(). The child is the caller's to reap. */
int netns_start(int pidfd, int *ret_fd, pid_t *ret_pid, struct err *err);

/* Takes the result and closes fd: the socket, or -1 and err. */
int netns_take(int fd, struct err *err);

#endif
