#include "supervisor/launcher/run.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shared/base/log.h"
#include "shared/base/mem.h"
#include "shared/ipc/listen.h"
#include "shared/seal/seal.h"
#include "supervisor/launcher/launcher.h"
#include "supervisor/launcher/limits.h"
#include "supervisor/launcher/locks.h"
#include "supervisor/launcher/privileges.h"
#include "supervisor/launcher/users.h"

#define END_PATIENCE_S 10.0
#define PATH_SIZE 4096

static char *join(const char *dir, const char *name)
{
    char path[PATH_SIZE];

    return snprintf(path, sizeof(path), "%s/%s", dir, name) < (int)sizeof(path) ? mem_strdup(path) : NULL;
}

static int make_dir(const char *path, mode_t mode, gid_t gid, struct err *err)
{
    if (mkdir(path, mode) < 0 && errno != EEXIST)
        return err_set(err, ERR_INTERNAL, errno, "make %s", path);
    if (chown(path, 0, gid) < 0 || chmod(path, mode) < 0)
        return err_set(err, ERR_INTERNAL, errno, "set owner and mode of %s", path);
    return 0;
}

/* The directories, should nobody have made them yet. */
static int make_dirs(struct launcher *l, struct err *err)
{
    l->slots_path = join(l->config.state_dir, "slots");
    l->holders_path = join(l->config.runtime_dir, "holders");
    l->holder_program = join(l->config.program_dir, "agentsim-holder");
    if (!l->slots_path || !l->holders_path || !l->holder_program)
        return err_nomem(err);
    if (make_dir(l->config.state_dir, 0755, 0, err) < 0 || make_dir(l->slots_path, 0711, 0, err) < 0 ||
        make_dir(l->config.runtime_dir, 0755, 0, err) < 0 || make_dir(l->holders_path, 0710, l->service_gid, err) < 0)
        return -1;
    l->slots_dir = open(l->slots_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (l->slots_dir < 0)
        return err_set(err, ERR_INTERNAL, errno, "%s", l->slots_path);
    return 0;
}

static int find_service(struct launcher *l, struct err *err)
{
    const struct passwd *pw = getpwnam(l->config.user);

    if (!pw)
        return err_set(err, ERR_INTERNAL, 0, "there is no user %s (AGENT_SIMULATOR_USER)", l->config.user);
    l->service_uid = pw->pw_uid;
    l->service_gid = pw->pw_gid;
    if ((int64_t)pw->pw_uid >= l->config.session_uid_base && (int64_t)pw->pw_uid < l->config.session_uid_base + l->n)
        return err_set(err, ERR_INTERNAL, 0, "user %s lies in the range of session users", l->config.user);
    return 0;
}

/* Without a look at all processes the launcher cannot prove that a session has ended. */
static int check_proc(struct err *err)
{
    auto_fd int fd = open("/proc/1/status", O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return err_set(err, ERR_INTERNAL, errno, "/proc/1/status (is /proc mounted with hidepid?)");
    return 0;
}

static int add_env(char **env, size_t *n, const char *name)
{
    const char *value = getenv(name);
    char text[PATH_SIZE];

    if (!value)
        return 0;
    if (snprintf(text, sizeof(text), "%s=%s", name, value) >= (int)sizeof(text))
        return 0; /* absurd: the holder does without */
    env[*n] = mem_strdup(text);
    return env[*n] ? (env[++*n] = NULL, 0) : -1;
}

/* Settings without secrets, and what agents inherit of our environment. */
static int make_env(struct launcher *l, struct err *err)
{
    static const char *const inherited[] = { "PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ" };
    char **env;
    size_t n = 0, i;

    if (config_public_env(&l->config, &l->holder_env, err) < 0)
        return -1;
    while (l->holder_env[n])
        n++;
    env = mem_resize(l->holder_env, n + ARRAY_LEN(inherited) + 1, sizeof(*env));
    if (!env)
        return err_nomem(err);
    l->holder_env = env;
    for (i = 0; i < ARRAY_LEN(inherited); i++)
        if (add_env(env, &n, inherited[i]) < 0)
            return err_nomem(err);
    return 0;
}

/* Nothing here needs a secret. */
static void forget_secrets(struct config *c)
{
    mem_wipe(c->api_token, strlen(c->api_token));
    mem_wipe(c->github_client_secret, strlen(c->github_client_secret));
}

static int reload(struct launcher *l, struct err *err)
{
    enum log_level level = LOG_INFO;

    if (config_reload(&l->config, l->config_file, err) < 0)
        return -1;
    forget_secrets(&l->config);
    (void)log_level_parse(l->config.log_level, &level);
    log_setup("agentsim-launcher", !strcmp(l->config.log, "json"), level);
    l->holder_env = NULL;
    return make_env(l, err);
}

/* ---- events
 * --------------------------------------------------------------------------------------- */

static void on_connect(void *arg)
{
    places_inventory(arg);
}

static void on_message(void *arg, const struct launch_msg *m)
{
    struct launcher *l = arg;

    if (m->op == LAUNCH_START)
        places_start(&l->places[m->slot], &m->id);
    else if (m->op == LAUNCH_NAME)
        places_name(&l->places[m->slot], &m->id);
    else
        places_stop(&l->places[m->slot]);
}

static void on_patience(struct ev_loop *loop, ev_timer *w, int events)
{
    (void)w;
    (void)events;
    log_error("some sessions could not be ended; the next start continues");
    ev_break(loop, EVBREAK_ALL);
}

static void on_signal(struct ev_loop *loop, ev_signal *w, int events)
{
    struct launcher *l = w->data;
    uint32_t i;

    (void)events;
    if (l->ending)
        return;
    l->ending = true;
    for (i = 0; i < l->n; i++)
        if (l->places[i].slot.state != SLOT_FREE)
            places_stop(&l->places[i]);
    if (places_all_free(l))
        ev_break(loop, EVBREAK_ALL);
    else
        ev_timer_start(loop, &l->patience);
}

/* For the sessions that start from now on. */
static void on_hangup(struct ev_loop *loop, ev_signal *w, int events)
{
    struct launcher *l = w->data;
    char **former = l->holder_env;
    struct err err;

    (void)loop;
    (void)events;
    if (reload(l, &err) == 0) {
        config_env_free(former);
        log_info("the settings were read anew");
        return;
    }
    if (l->holder_env != former)
        config_env_free(l->holder_env);
    l->holder_env = former;
    log_error("reload: %s", err.msg);
}

static void watch_signals(struct launcher *l)
{
    ev_signal_init(&l->term, on_signal, SIGTERM);
    ev_signal_init(&l->intr, on_signal, SIGINT);
    ev_timer_init(&l->patience, on_patience, END_PATIENCE_S, 0);
    l->term.data = l->intr.data = l;
    ev_signal_start(l->loop, &l->term);
    ev_signal_start(l->loop, &l->intr);
    ev_signal_init(&l->hangup, on_hangup, SIGHUP);
    l->hangup.data = l;
    ev_signal_start(l->loop, &l->hangup);
}

/* ---- set-up
 * --------------------------------------------------------------------------------------- */

static int open_door(struct launcher *l, int *ret_fd, struct err *err)
{
    auto_free char *path = join(l->config.runtime_dir, "launcher.sock");

    *ret_fd = listen_inherited("launcher");
    if (*ret_fd >= 0)
        return 0;
    if (!path)
        return err_nomem(err);
    *ret_fd = door_listen(path, l->service_gid, err);
    if (*ret_fd < 0)
        return -1;
    l->door_path = path;
    path = NULL;
    return 0;
}

static int claim_users(struct launcher *l, struct err *err)
{
    if (users_claim(USERS_FILE, l->config.session_uid_base, l->n, &l->users_fd, err) < 0)
        return -1;
    if (l->users_fd < 0)
        log_debug("%s cannot be used: another service's session users would not be noticed", USERS_FILE);
    return 0;
}

static int set_up(struct launcher *l, const char *config_file, int *ret_listen, struct err *err)
{
    enum log_level level = LOG_INFO;

    if (config_load(&l->config, config_file, err) < 0)
        return -1;
    (void)log_level_parse(l->config.log_level, &level);
    log_setup("agentsim-launcher", !strcmp(l->config.log, "json"), level);
    forget_secrets(&l->config);
    if (geteuid() != 0)
        return err_set(err, ERR_INTERNAL, 0, "the launcher needs root: it starts sessions under users of their own");
    l->n = (uint32_t)l->config.max_sessions; /* the supervisor counts the same */
    umask(022);
    if (claim_users(l, err) < 0 || find_service(l, err) < 0 || make_dirs(l, err) < 0 || make_env(l, err) < 0 ||
        open_door(l, ret_listen, err) < 0)
        return -1;
    limits_find(l);
    if (privileges_drop(err) < 0 || check_proc(err) < 0)
        return -1;
    limits_set_up(l);
    if (seal_self(SEAL_LAUNCHER, err) < 0)
        return -1;
    if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
        return err_set(err, ERR_INTERNAL, errno, "prctl");
    l->places = mem_zalloc(l->n, sizeof(*l->places));
    if (!l->places)
        return err_nomem(err);
    l->loop = ev_default_loop(EVBACKEND_EPOLL);
    return l->loop ? 0 : err_set(err, ERR_INTERNAL, errno, "event loop");
}

static void serve(struct launcher *l, int listen_fd)
{
    places_init(l);
    l->door = (struct door){
        .client = l->service_uid,
        .n_slots = l->n,
        .on_connect = on_connect,
        .on_message = on_message,
        .arg = l,
    };
    door_open(&l->door, l->loop, listen_fd);
    watch_signals(l);
    places_clean_stale(l);
    locks_watch(l);
    log_info("%u slots, users %lld to %lld", l->n, (long long)l->config.session_uid_base,
             (long long)(l->config.session_uid_base + l->n - 1));
    if (l->config.sandbox == SANDBOX_OFF)
        log_warn("AGENT_SIMULATOR_SANDBOX=off: agents run UNCONFINED, as session users on the bare system");
    ev_run(l->loop, 0);
    door_close(&l->door);
}

static void release(struct launcher *l)
{
    if (l->door_path)
        (void)unlink(l->door_path);
    mem_free(l->door_path);
    limits_close(l);
    config_env_free(l->holder_env);
    config_release(&l->config);
    cleanup_fd_close(&l->slots_dir);
    cleanup_fd_close(&l->users_fd); /* last: nothing runs as one of them any more */
    mem_free(l->places);
    mem_free(l->slots_path);
    mem_free(l->holders_path);
    mem_free(l->holder_program);
}

int launcher_run(const char *config_file)
{
    struct launcher l = { .slots_dir = -1, .users_fd = -1, .config_file = config_file };
    struct err err = { 0 };
    int listen_fd = -1, r;

    log_setup("agentsim-launcher", false, LOG_INFO);
    r = set_up(&l, config_file, &listen_fd, &err);
    if (r < 0)
        log_error("%s", err.msg);
    else
        serve(&l, listen_fd);
    cleanup_fd_close(&listen_fd);
    release(&l);
    return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
