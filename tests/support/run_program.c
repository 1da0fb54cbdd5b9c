#include "tests/support/run_program.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shared/base/io.h"
#include "shared/base/mem.h"

int program_beside(const char *name, char out[PROGRAM_PATH])
{
    ssize_t n = readlink("/proc/self/exe", out, PROGRAM_PATH - 1);
    char *slash;

    if (n < 0)
        return -1;
    out[n] = '\0';
    slash = strrchr(out, '/');
    if (snprintf(slash, PROGRAM_PATH - (size_t)(slash - out), "/../bin/%s", name) >= PROGRAM_PATH - (slash - out))
        return -1;
    return access(out, X_OK);
}

static void child(char *const argv[], int sock)
{
    dup2(sock, STDIN_FILENO);
    dup2(sock, STDOUT_FILENO);
    execv(argv[0], argv);
    _exit(127);
}

/* Writes and reads in turns, so that neither side can fill a buffer and wait for the other. */
static int exchange(int sock, const char *input, size_t len, struct buf *out)
{
    bool writing = true;

    for (;;) {
        struct pollfd p = { sock, (short)(POLLIN | (writing ? POLLOUT : 0)), 0 };
        ssize_t n;

        if (writing && !len) {
            shutdown(sock, SHUT_WR);
            writing = false;
            continue;
        }
        if (poll(&p, 1, -1) < 0 && errno != EINTR)
            return -1;
        if (p.revents & (POLLIN | POLLHUP)) {
            if (buf_reserve(out, 65536) < 0)
                return -1;
            n = read(sock, out->data + out->len, 65536);
            if (n == 0)
                return 0;
            if (n < 0)
                return errno == ECONNRESET ? 0 : -1;
            out->len += (size_t)n;
            out->data[out->len] = '\0';
        } else if (p.revents & POLLOUT) {
            n = send(sock, input, len, MSG_DONTWAIT | MSG_NOSIGNAL);
            if (n < 0)
                return -1;
            input += n;
            len -= (size_t)n;
        }
    }
}

int run_program(char *const argv[], const void *input, size_t len, struct buf *out)
{
    int sock[2], status = -1, r;
    pid_t pid;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sock) < 0)
        return -1;
    pid = fork();
    if (pid == 0)
        child(argv, sock[1]);
    close(sock[1]);
    if (pid < 0) {
        close(sock[0]);
        return -1;
    }
    r = exchange(sock[0], input, len, out);
    close(sock[0]);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return r < 0 ? -1 : status;
}
