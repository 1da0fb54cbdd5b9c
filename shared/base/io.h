/* shared/base/io.h -- descriptors: whole reads and writes, files, UNIX sockets, passing descriptors.
 * Every descriptor made here is close-on-exec. EINTR is handled. Nothing here logs. */
#ifndef BASE_IO_H
#define BASE_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "shared/base/buf.h"
#include "shared/base/err.h"

/* Write all of data to a blocking descriptor: 0, or -1 with errno. Sockets never raise SIGPIPE. */
int io_write_all(int fd, const void *data, size_t len);

/* Read exactly len bytes: 1 done, 0 end of stream before the first byte, -1 error (EPIPE: ended in between). */
int io_read_all(int fd, void *data, size_t len);

/* Append the rest of fd to out: 0; -1 and err when reading fails or out's ceiling is reached (ERR_TOO_LARGE). */
int io_read_rest(int fd, struct buf *out, struct err *err);

/* Whole regular file into out (its ceiling applies): 0, -1 and err naming the path. */
int io_read_file(const char *path, struct buf *out, struct err *err);

/* Create or replace path, mode as given, written whole: 0, -1 and err naming the path. */
int io_write_file(const char *path, const void *data, size_t len, mode_t mode, struct err *err);

int io_set_nonblock(int fd, bool on);                            /* 0, or -1 with errno */
int io_set_timeouts(int fd, unsigned recv_ms, unsigned send_ms); /* SO_RCVTIMEO and SO_SNDTIMEO, 0 = none */

/* Listening UNIX stream socket at path (a stale one is replaced), with mode and, unless gid is -1, group: fd or -1. */
int io_unix_listen(const char *path, mode_t mode, gid_t gid, int backlog, struct err *err);

/* Connected UNIX stream socket: fd or -1 (ERR_UNAVAILABLE when nobody listens). Non-blocking when asked. */
int io_unix_connect(const char *path, bool nonblock, struct err *err);

/* The same, blocking, with timeout_ms as the limit of the connect and of every read and write after it. */
int io_unix_connect_within(const char *path, unsigned timeout_ms, struct err *err);

/* UID of the process at the other end of a UNIX socket: 0, or -1 with errno. */
int io_peer_uid(int fd, uid_t *ret);

/* One message of len > 0 bytes with a descriptor attached (fd -1: none). Blocking: 0 or -1 with errno. */
int io_send_fd(int sock, const void *data, size_t len, int fd);

/* Receives up to len bytes and at most one descriptor (else *ret_fd = -1): bytes, 0 at end, -1 with errno. */
ssize_t io_recv_fd(int sock, void *data, size_t len, int *ret_fd);

#endif
