/* Theory of operation: children are started in table order. SIGCHLD says that some ended; each is reaped by its pid,
 * logged, and started again at its time by one timer. Stopping goes through the table backwards, one child after
 * the other: a signal, then a deadline, then SIGKILL for its whole group. The loop ends when none is left. nginx, the
 * first of the table, lets nobody in from the beginning of that, and carries the others' last words. */
#include "supervisor/keeper/keeper.h"

#include <errno.h>
#include <ev.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shared/base/log.h"
#include "shared/base/mem.h"
#include "shared/base/time.h"
#include "supervisor/keeper/children.h"
#include "supervisor/keeper/stopped.h"
#include "supervisor/keeper/front.h"
#include "supervisor/keeper/origins.h"

#define RELOADED_S 1. /* for nginx to have opened what new settings name */

struct keeper {
    struct ev_loop *loop;
    struct config *config;
    const char *config_file;
    struct child_user user;
    struct keeper_sockets sockets;
    struct children children;
    struct front front;
    ev_signal ended, hangup, upgrade, stop[2];
    ev_timer restart, patience, look;
    bool stopping;
    int pid_file;
};

/* ---- starting ---- */

static void start_due(struct keeper *k)
{
    int64_t now = time_mono_ms(), next = -1;
    size_t i;

    for (i = 0; i < k->children.len; i++) {
        struct child *c = &k->children.items[i];
        struct err err;

        if (c->pid)
            continue;
        if (c->start_at_ms <= now) {
            if (child_start(c, &k->user, now, &err) == 0) {
                log_info("%s started, process %d", c->name, (int)c->pid);
                if (c == k->front.nginx)
                    front_watch(&k->front, 0.);
                continue;
            }
            log_error("%s", err.msg);
            c->start_at_ms = now + child_pause_ms(++c->crashes) + 1000;
        }
        if (next < 0 || c->start_at_ms < next)
            next = c->start_at_ms;
    }
    ev_timer_stop(k->loop, &k->restart);
    if (next >= 0) {
        ev_timer_set(&k->restart, (double)(next - now) / 1000.0 + 0.01, 0.);
        ev_timer_start(k->loop, &k->restart);
    }
}

static void on_restart(struct ev_loop *loop, ev_timer *w, int events)
{
    (void)loop, (void)events;
    start_due(w->data);
}

/* ---- stopping ---- */

static void stop_next(struct keeper *k)
{
    size_t i = k->children.len;

    ev_timer_stop(k->loop, &k->patience);
    while (i-- > 0) {
        struct child *c = &k->children.items[i];

        if (!c->pid)
            continue;
        (void)kill(c->pid, c->stop_signal);
        ev_timer_set(&k->patience, (double)c->stop_ms / 1000.0, 0.);
        ev_timer_start(k->loop, &k->patience);
        return;
    }
    if (front_is_empty(&k->front))
        ev_break(k->loop, EVBREAK_ALL);
    else
        front_kill(&k->front);
}

static void on_patience(struct ev_loop *loop, ev_timer *w, int events)
{
    struct keeper *k = w->data;
    size_t i = k->children.len;

    (void)loop, (void)events;
    while (i-- > 0) {
        struct child *c = &k->children.items[i];

        if (!c->pid)
            continue;
        log_warn("%s, process %d, did not end in %d ms and is killed", c->name, (int)c->pid, (int)c->stop_ms);
        (void)kill(-c->pid, SIGKILL);
        return; /* its end is reported by SIGCHLD */
    }
}

static void on_stop(struct ev_loop *loop, ev_signal *w, int events)
{
    struct keeper *k = w->data;

    (void)loop, (void)events;
    if (k->stopping)
        return;
    log_info("stop: signal %d", w->signum);
    k->stopping = true;
    ev_timer_stop(k->loop, &k->restart);
    front_stop(&k->front);
    stop_next(k);
}

/* ---- watching ---- */

static void note_end(struct keeper *k, struct child *c, int status)
{
    char how[96];
    pid_t pid = c->pid;
    bool renewed = c->renewed;
    int64_t now = time_mono_ms();

    child_ended(c, status, now, how, sizeof(how));
    if (k->stopping || renewed) {
        log_info("%s, process %d, %s", c->name, (int)pid, how);
        return;
    }
    /* What it started dies with it; a worker's parser jail for one. */
    (void)kill(-pid, SIGKILL);
    log_error("%s, process %d, %s; it starts again in %g s", c->name, (int)pid, how,
              (double)(c->start_at_ms - now) / 1000.);
}

static void on_ended(struct ev_loop *loop, ev_signal *w, int events)
{
    struct keeper *k = w->data;
    bool some = false;
    size_t i;

    (void)loop, (void)events;
    for (i = 0; i < k->children.len; i++) {
        struct child *c = &k->children.items[i];
        int status;

        if (c->pid && waitpid(c->pid, &status, WNOHANG) == c->pid) {
            note_end(k, c, status);
            some = true;
        }
    }
    front_reap(&k->front);
    if (!some && !k->stopping)
        return;
    if (k->stopping)
        stop_next(k);
    else
        start_due(k);
}

/* What is there and does nothing would be missed by nobody but its users. */
static void on_look(struct ev_loop *loop, ev_timer *w, int events)
{
    struct keeper *k = w->data;
    size_t i;

    (void)loop, (void)events;
    for (i = 0; !k->stopping && i < k->children.len; i++) {
        struct child *c = &k->children.items[i];

        c->stopped = c->pid && stopped_now(c->pid) ? c->stopped + 1 : 0;
        if (c->stopped < STOPPED_LOOKS_MOST)
            continue;
        log_error("%s, process %d, was stopped and is killed", c->name, (int)c->pid);
        (void)kill(-c->pid, SIGKILL); /* its end is reported by SIGCHLD */
        c->stopped = 0;
    }
}

static void on_hangup(struct ev_loop *loop, ev_signal *w, int events)
{
    struct keeper *k = w->data;
    struct err err;
    size_t i;

    (void)loop, (void)events;
    if (k->stopping)
        return;
    if (config_reload(k->config, k->config_file, &err) < 0) {
        log_error("reload: %s", err.msg);
        return;
    }
    log_info("the settings were read anew");
    if (keeper_write_origins(k->config, &err) < 0)
        log_error("reload: %s", err.msg);
    for (i = 0; i < k->children.len; i++) {
        struct child *c = &k->children.items[i];

        if (!c->pid)
            continue;
        c->renewed = c->reload_signal == c->stop_signal;
        (void)kill(c->pid, c->reload_signal);
    }
    front_watch(&k->front, RELOADED_S);
}

static void on_upgrade(struct ev_loop *loop, ev_signal *w, int events)
{
    struct keeper *k = w->data;

    (void)loop, (void)events;
    if (!k->stopping)
        front_upgrade(&k->front);
}

/* ---- set-up ---- */

static int find_users(struct keeper *k, gid_t *ret_web, struct err *err)
{
    const struct passwd *pw = getpwnam(k->config->user);
    const struct group *gr = getgrnam(k->config->web_group);

    if (!pw)
        return err_set(err, ERR_INTERNAL, 0, "there is no user %s (AGENT_SIMULATOR_USER)", k->config->user);
    if (!gr)
        return err_set(err, ERR_INTERNAL, 0, "there is no group %s (AGENT_SIMULATOR_WEB_GROUP)", k->config->web_group);
    k->user = (struct child_user){ k->config->user, pw->pw_uid, pw->pw_gid };
    *ret_web = gr->gr_gid;
    return 0;
}

/* The lock, not the file, says that a keeper runs: it goes with the process, however that ends. */
static int take_pid_file(struct keeper *k, struct err *err)
{
    char path[4096], text[32];
    auto_fd int fd = -1;

    (void)snprintf(path, sizeof(path), "%s/keeper.pid", k->config->runtime_dir);
    fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (fd < 0)
        return err_set(err, ERR_INTERNAL, errno, "create %s", path);
    if (flock(fd, LOCK_EX | LOCK_NB) < 0)
        return err_set(err, ERR_CONFLICT, 0, "agentsim runs already with these directories (%s is locked)", path);
    (void)snprintf(text, sizeof(text), "%d\n", (int)getpid());
    if (ftruncate(fd, 0) < 0 || write(fd, text, strlen(text)) < 0)
        return err_set(err, ERR_INTERNAL, errno, "write %s", path);
    k->pid_file = steal_fd(fd);
    return 0;
}

static void watch(struct keeper *k)
{
    static const int stops[] = { SIGTERM, SIGINT };
    size_t i;

    ev_signal_init(&k->ended, on_ended, SIGCHLD);
    ev_signal_init(&k->hangup, on_hangup, SIGHUP);
    ev_signal_init(&k->upgrade, on_upgrade, SIGUSR2);
    ev_timer_init(&k->restart, on_restart, 0., 0.);
    ev_timer_init(&k->patience, on_patience, 0., 0.);
    ev_timer_init(&k->look, on_look, STOPPED_LOOK_S, STOPPED_LOOK_S);
    k->look.data = k;
    ev_timer_start(k->loop, &k->look);
    k->ended.data = k->hangup.data = k->upgrade.data = k->restart.data = k->patience.data = k;
    ev_signal_start(k->loop, &k->ended);
    ev_signal_start(k->loop, &k->hangup);
    ev_signal_start(k->loop, &k->upgrade);
    for (i = 0; i < ARRAY_LEN(stops); i++) {
        ev_signal_init(&k->stop[i], on_stop, stops[i]);
        k->stop[i].data = k;
        ev_signal_start(k->loop, &k->stop[i]);
    }
}

static int set_up(struct keeper *k, const struct keeper_options *o, struct err *err)
{
    gid_t web_group = 0;

    if (geteuid() != 0)
        return err_set(err, ERR_FORBIDDEN, 0, "the keeper starts processes of several users and has to run as root");
    if (find_users(k, &web_group, err) < 0 || keeper_make_directories(k->config, &k->user, err) < 0 ||
        take_pid_file(k, err) < 0 || keeper_make_sockets(k->config, &k->user, web_group, &k->sockets, err) < 0 ||
        keeper_write_origins(k->config, err) < 0 ||
        children_make(k->config, o->config_file, &k->sockets, &k->children, err) < 0)
        return -1;
    /* Not the default loop: that one would reap children of its own accord. */
    k->loop = ev_loop_new(EVBACKEND_EPOLL | EVFLAG_SIGNALFD);
    return k->loop ? 0 : err_nomem(err);
}

int keeper_run(struct config *c, const struct keeper_options *o, struct err *err)
{
    struct keeper k = { .config = c, .config_file = o->config_file, .sockets = { { -1, -1, -1 } }, .pid_file = -1 };
    int r = set_up(&k, o, err);

    if (r == 0) {
        watch(&k);
        front_init(&k.front, k.loop, c, &k.user, children_find(&k.children, "nginx"));
        start_due(&k);
        ev_run(k.loop, 0);
        log_info("stopped");
        front_release(&k.front);
        ev_loop_destroy(k.loop);
    }
    keeper_close_sockets(c, &k.sockets);
    children_release(&k.children);
    cleanup_fd_close(&k.pid_file);
    return r;
}
