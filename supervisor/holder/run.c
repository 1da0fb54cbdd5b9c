#include "supervisor/holder/run.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <malloc.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shared/base/io.h"
#include "shared/base/log.h"
#include "shared/base/mem.h"
#include "shared/seal/seal.h"
#include "supervisor/holder/holder.h"
#include "supervisor/sandbox/selftest.h"

#define LISTEN_FD 3
#define LIFE_FD 4
#define OTHER_FILES 512
#define LARGE (512 << 10) /* a block of memory that goes back to the machine by itself */

static int load_config(struct config *config, struct err *err)
{
    enum log_level level = LOG_INFO;

    if (config_load_env(config, err) < 0)
        return -1;
    (void)log_level_parse(config->log_level, &level);
    log_setup("agentsim-holder", !strcmp(config->log, "json"), level);
    return 0;
}

static int make_work(struct holder *h, const char *dir, struct err *err)
{
    char path[4096];

    if (snprintf(path, sizeof(path), "%s/work", dir) >= (int)sizeof(path))
        return err_set(err, ERR_INTERNAL, ENAMETOOLONG, "%s", dir);
    h->work = mem_strdup(path);
    if (!h->work)
        return err_nomem(err);
    if (mkdir(path, 0755) < 0 && errno != EEXIST)
        return err_set(err, ERR_INTERNAL, errno, "%s", path);
    h->work_fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return h->work_fd < 0 ? err_set(err, ERR_INTERNAL, errno, "%s", path) : 0;
}

static int adopt(int fd, struct err *err)
{
    if (fcntl(fd, F_SETFD, FD_CLOEXEC) < 0 || io_set_nonblock(fd, true) < 0)
        return err_set(err, ERR_INTERNAL, errno, "descriptor %d", fd);
    return 0;
}

/* What the launcher made for the agent. The file that it counts in is ours to read, and stays open. */
static int take_groups(struct holder *h, const struct holder_args *args, struct err *err)
{
    size_t i;

    for (i = 0; i < args->n_enter; i++)
        strv_add(&h->entered, args->enter[i]);
    if (h->entered.failed)
        return err_nomem(err);
    if (!args->memory_events)
        return 0;
    h->memory_events = open(args->memory_events, O_RDONLY | O_CLOEXEC);
    return h->memory_events < 0 ? err_set(err, ERR_INTERNAL, errno, "%s", args->memory_events) : 0;
}

static uid_t service_uid(const struct config *config)
{
    const struct passwd *pw = getpwnam(config->user);

    return pw ? pw->pw_uid : 0; /* without the user only root may connect */
}

/* A connection of the proxy takes two descriptors. Agents get a limit of their own. */
static void raise_files(const struct config *c)
{
    rlim_t wanted = (rlim_t)c->egress_connections * 2 + OTHER_FILES;
    struct rlimit l;

    if (getrlimit(RLIMIT_NOFILE, &l) < 0 || l.rlim_cur >= wanted)
        return;
    l.rlim_cur = wanted < l.rlim_max ? wanted : l.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &l); /* the proxy makes do with what there is */
}

static int set_up(struct holder *h, const struct holder_args *args, struct err *err)
{
    if (load_config(&h->config, err) < 0)
        return -1;
    raise_files(&h->config);
    h->slot = args->slot;
    if (id_parse(args->session, &h->id) < 0)
        return err_set(err, ERR_INTERNAL, 0, "no session id: %s", args->session);
    id_format(&h->id, h->session);
    log_context(NULL, h->session);
    if (adopt(LISTEN_FD, err) < 0 || adopt(LIFE_FD, err) < 0 || make_work(h, args->dir, err) < 0 ||
        take_groups(h, args, err) < 0)
        return -1;
    h->listen_fd = LISTEN_FD;
    h->life_fd = LIFE_FD;
    h->service_uid = service_uid(&h->config);
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
        return err_set(err, ERR_INTERNAL, errno, "prctl");
    signal(SIGPIPE, SIG_IGN);
    h->loop = ev_default_loop(EVBACKEND_EPOLL);
    return h->loop ? 0 : err_set(err, ERR_INTERNAL, errno, "event loop");
}

static void release(struct holder *h)
{
    agent_release(h);
    agent_ws_release(&h->ws);
    journal_release(&h->journal);
    transcript_release(&h->transcript);
    lines_release(&h->lines);
    buf_release(&h->tail);
    strv_release(&h->bundle.extra);
    strv_release(&h->entered);
    cleanup_fd_close(&h->memory_events);
    facts_release(&h->facts);
    config_release(&h->config);
    cleanup_fd_close(&h->work_fd);
    mem_free(h->work);
}

int holder_run(const struct holder_args *args)
{
    struct holder h = { .work_fd = -1, .listen_fd = -1, .life_fd = -1, .memory_events = -1 };
    struct err err = { 0 };
    int r;

    /* A frame of 16 MiB has several copies; without this they would be kept for the next one, in each session. */
    mallopt(M_MMAP_THRESHOLD, LARGE);
    mallopt(M_TRIM_THRESHOLD, LARGE);
    log_setup("agentsim-holder", false, LOG_INFO);
    r = set_up(&h, args, &err);
    if (r == 0)
        r = seal_self(SEAL_HOLDER, &err);
    if (r < 0) {
        log_error("%s", err.msg);
        release(&h);
        return EXIT_FAILURE;
    }
    session_init(&h);
    conn_accept(&h);
    ev_run(h.loop, 0);
    conn_close_all(&h);
    release(&h);
    return EXIT_SUCCESS;
}

/* Root cannot show what session users may: it becomes the first of them. */
static int become_session_user(const struct config *config, const char *dir, struct err *err)
{
    uid_t uid = (uid_t)config->session_uid_base;

    if (geteuid() != 0)
        return 0;
    if (chown(dir, uid, uid) < 0 || setgroups(0, NULL) < 0 || setresgid(uid, uid, uid) < 0 ||
        setresuid(uid, uid, uid) < 0)
        return err_set(err, ERR_INTERNAL, errno, "become user %u", uid);
    return 0;
}

/* On success: what an operator wants to know. */
static void print_success(const struct config *c, bool egress)
{
    if (!egress)
        (void)printf("sandbox OK\n");
    else if (c->egress == EGRESS_PUBLIC || c->egress == EGRESS_ALLOW)
        (void)printf("%s: the session's proxy is reached from inside the sandbox\n", config_egress_name(c->egress));
    else
        (void)printf("%s: there is no proxy\n", config_egress_name(c->egress));
}

int holder_self_test(bool egress)
{
    struct config config;
    struct err err = { 0 };
    char dir[] = "/tmp/agentsim-self-test-XXXXXX";
    int r;

    if (load_config(&config, &err) < 0) {
        (void)printf("%s\n", err.msg);
        return EXIT_FAILURE;
    }
    if (!mkdtemp(dir)) {
        (void)printf("%s: %s\n", dir, strerror(errno));
        config_release(&config);
        return EXIT_FAILURE;
    }
    r = way_out_check(&config, &err);
    if (r == 0)
        r = become_session_user(&config, dir, &err);
    if (r == 0)
        r = seal_self(SEAL_HOLDER, &err);
    if (r == 0)
        r = selftest_run(&config, dir, NULL, &err);
    (void)rmdir(dir);
    if (r < 0)
        (void)printf("%s\n", err.msg);
    else
        print_success(&config, egress);
    config_release(&config);
    return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
