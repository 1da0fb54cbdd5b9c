/* An upgrade step by step: the new nginx starts with the sockets; once it says in nginx.pid that it understood its
 * configuration it takes the old one's place, and the old one is asked to finish (SIGQUIT): it takes no connection any
 * more and ends with its last conversation. When the new one does not get that far, the old one stays. */
#include "supervisor/keeper/front.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shared/base/buf.h"
#include "shared/base/io.h"
#include "shared/base/log.h"
#include "shared/base/mem.h"
#include "shared/base/str.h"
#include "shared/base/time.h"

#define LOOK_S 0.1
#define UPGRADE_MS 10000

/* ---- sockets ---- */

static bool listens(int fd)
{
    int on = 0;
    socklen_t len = sizeof(on);

    return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &on, &len) == 0 && on;
}

/* Of the process: 0, or -1 when the kernel refuses. */
static int copy_listener(int process, int number, int out[FRONT_SOCKETS], int *n)
{
    auto_fd int fd = (int)syscall(SYS_pidfd_getfd, process, number, 0);

    if (fd < 0)
        return errno == EBADF ? 0 : -1; /* closed meanwhile */
    if (*n < FRONT_SOCKETS && listens(fd))
        out[(*n)++] = steal_fd(fd);
    return 0;
}

static bool is_socket(DIR *d, const char *name)
{
    char target[32];
    ssize_t len = readlinkat(dirfd(d), name, target, sizeof(target));

    return len > 7 && memcmp(target, "socket:", 7) == 0;
}

int front_sockets_of(pid_t pid, int out[FRONT_SOCKETS])
{
    auto_fd int process = (int)syscall(SYS_pidfd_open, pid, 0);
    const struct dirent *e;
    int n = 0, failed = 0;
    char path[64];
    int64_t number;
    DIR *d;

    (void)snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
    d = process < 0 ? NULL : opendir(path);
    if (!d)
        return -1;
    while (!failed && (e = readdir(d)))
        if (str_to_int(e->d_name, 0, INT_MAX, &number) == 0 && is_socket(d, e->d_name) &&
            copy_listener(process, (int)number, out, &n) < 0)
            failed = errno;
    closedir(d);
    while (failed && n)
        close(out[--n]);
    errno = failed;
    return failed ? -1 : n;
}

static void drop_sockets(struct front *f)
{
    while (f->sockets_len)
        close(f->sockets[--f->sockets_len]);
    f->nginx->inherited_len = 0;
}

static void take_sockets(struct front *f)
{
    int fds[FRONT_SOCKETS], n = front_sockets_of(f->nginx->pid, fds);

    if (n < 0) {
        if (!f->complained)
            log_warn("the sockets of nginx cannot be kept for the next one: %s", strerror(errno));
        f->complained = true;
        return;
    }
    drop_sockets(f);
    memcpy(f->sockets, fds, (size_t)n * sizeof(*fds));
    f->nginx->inherited = f->sockets;
    f->nginx->inherited_len = f->sockets_len = (size_t)n;
}

/* ---- which nginx is it ---- */

static void pid_path(const struct front *f, char out[PATH_MAX])
{
    (void)snprintf(out, PATH_MAX, "%s/nginx.pid", f->config->runtime_dir);
}

/* It writes its number once it has understood its configuration and has its sockets. */
static bool has_started(const struct front *f, pid_t pid)
{
    auto_buf struct buf text;
    char path[PATH_MAX], want[32];
    struct err err;

    pid_path(f, path);
    buf_init(&text, 64);
    (void)snprintf(want, sizeof(want), "%d\n", (int)pid);
    return io_read_file(path, &text, &err) == 0 && strcmp(text.data ? text.data : "", want) == 0;
}

/* A former one removes the file when it ends, whosever it is. */
static void write_pid(const struct front *f)
{
    char path[PATH_MAX], text[32];
    struct err err;

    if (!f->nginx->pid)
        return;
    pid_path(f, path);
    (void)snprintf(text, sizeof(text), "%d\n", (int)f->nginx->pid);
    if (io_write_file(path, text, strlen(text), 0644, &err) < 0)
        log_warn("%s", err.msg);
}

/* ---- upgrade ---- */

static pid_t *place_for_former(struct front *f)
{
    size_t i;

    for (i = 0; i < FRONT_FORMER; i++)
        if (!f->former[i])
            return &f->former[i];
    return NULL;
}

static void swap(struct front *f)
{
    pid_t *place = place_for_former(f);

    log_info("nginx, process %d, takes over; process %d ends with its last conversation", (int)f->next.pid,
             (int)f->nginx->pid);
    if (f->nginx->pid) {
        (void)kill(f->nginx->pid, SIGQUIT);
        if (place)
            *place = f->nginx->pid;
    }
    f->nginx->pid = f->next.pid;
    f->nginx->started_ms = f->next.started_ms;
    f->next.pid = 0;
}

static void give_up(struct front *f)
{
    log_error("the new nginx, process %d, does not start: the old one stays", (int)f->next.pid);
    (void)kill(-f->next.pid, SIGKILL); /* its end is reported like any other */
    f->next_until_ms = INT64_MAX;
}

void front_upgrade(struct front *f)
{
    struct err err;

    if (!f->nginx || !f->nginx->pid || f->next.pid || !f->sockets_len || !place_for_former(f)) {
        log_error("nginx is not replaced: %s", !f->nginx         ? "it is not ours"
                                               : !f->nginx->pid  ? "none runs"
                                               : f->next.pid     ? "another replacement is under way"
                                               : !f->sockets_len ? "its sockets are not known"
                                                                 : "too many old ones still have conversations");
        return;
    }
    f->next = *f->nginx;
    f->next.pid = 0;
    if (child_start(&f->next, f->user, time_mono_ms(), &err) < 0) {
        log_error("%s", err.msg);
        return;
    }
    log_info("a new nginx starts, process %d", (int)f->next.pid);
    f->next_until_ms = time_mono_ms() + UPGRADE_MS;
    front_watch(f, LOOK_S);
}

static void on_look(struct ev_loop *loop, ev_timer *w, int events)
{
    struct front *f = w->data;

    (void)events;
    if (f->next.pid && has_started(f, f->next.pid))
        swap(f);
    else if (f->next.pid && time_mono_ms() >= f->next_until_ms)
        give_up(f);
    if (!f->next.pid && (!f->nginx->pid || has_started(f, f->nginx->pid))) {
        ev_timer_stop(loop, w);
        if (f->nginx->pid)
            take_sockets(f);
    }
}

/* ---- ends ---- */

static bool reaped(pid_t *pid)
{
    int status;

    if (!*pid || waitpid(*pid, &status, WNOHANG) != *pid)
        return false;
    (void)kill(-*pid, SIGKILL);
    return true;
}

void front_reap(struct front *f)
{
    size_t i;

    if (!f->nginx)
        return;
    if (reaped(&f->next.pid)) {
        log_error("the new nginx, process %d, ended: the old one stays", (int)f->next.pid);
        f->next.pid = 0;
        write_pid(f);
    }
    for (i = 0; i < FRONT_FORMER; i++) {
        if (!reaped(&f->former[i]))
            continue;
        log_info("a former nginx, process %d, has ended", (int)f->former[i]);
        f->former[i] = 0;
        write_pid(f);
    }
}

void front_stop(struct front *f)
{
    if (!f->nginx)
        return;
    ev_timer_stop(f->loop, &f->look);
    drop_sockets(f);
    if (f->next.pid)
        (void)kill(f->next.pid, SIGTERM);
    if (f->nginx->pid)
        (void)kill(f->nginx->pid, SIGQUIT);
}

void front_kill(struct front *f)
{
    size_t i;

    if (f->next.pid)
        (void)kill(-f->next.pid, SIGKILL);
    for (i = 0; i < FRONT_FORMER; i++)
        if (f->former[i])
            (void)kill(-f->former[i], SIGKILL);
}

bool front_is_empty(const struct front *f)
{
    size_t i;

    for (i = 0; i < FRONT_FORMER; i++)
        if (f->former[i])
            return false;
    return !f->next.pid;
}

/* ---- life ---- */

void front_watch(struct front *f, double after_s)
{
    if (!f->nginx)
        return;
    ev_timer_stop(f->loop, &f->look);
    ev_timer_set(&f->look, after_s, LOOK_S);
    ev_timer_start(f->loop, &f->look);
}

void front_init(struct front *f, struct ev_loop *loop, const struct config *c, const struct child_user *user,
                struct child *nginx)
{
    *f = (struct front){ .loop = loop, .config = c, .user = user, .nginx = nginx };
    ev_timer_init(&f->look, on_look, LOOK_S, LOOK_S);
    f->look.data = f;
}

void front_release(struct front *f)
{
    if (f->nginx) {
        ev_timer_stop(f->loop, &f->look);
        drop_sockets(f);
    }
    f->nginx = NULL;
}
