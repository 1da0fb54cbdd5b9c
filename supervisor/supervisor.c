#include "supervisor/supervisor.h"

#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "shared/base/io.h"
#include "shared/base/log.h"
#include "shared/base/mem.h"
#include "shared/base/time.h"
#include "shared/ipc/listen.h"
#include "shared/seal/seal.h"
#include "supervisor/relay/browser.h"
#include "supervisor/relay/ws_server.h"

#define DRAIN_SECONDS 3.  /* for browsers to take the close */
#define ANSWER_SECONDS .2 /* and to answer it */
#define SETTLE_SECONDS 3. /* for what an earlier supervisor left to be found, before anybody is let in */
#define BACKLOG 512
#define MOST_BROWSERS 10500 /* what nginx lets in (agentsim.conf: limit_conn sockets) */
#define LEAST_BROWSERS 8
#define OTHER_FILES (RPC_CONNECTIONS_MAX * 2 + 64) /* each request may hold a holder's connection too */

/* Many clients just go, and their session's next supervisor waits for our end: once all have been told, nobody is
 * waited for but for a moment. */
static void on_drain(struct ev_loop *loop, struct ev_timer *w, int revents)
{
    struct supervisor *sv = w->data;
    bool late = time_mono_ms() - sv->stopping_ms >= (int64_t)(DRAIN_SECONDS * 1000);

    (void)revents;
    if (!late && !ws_server_told(sv->ws))
        return;
    ev_timer_stop(loop, w);
    if (late)
        log_warn("some browsers did not take the close");
}

/* Sessions live on in their holders; whoever starts next finds them. */
static void on_stop(struct ev_loop *loop, struct ev_signal *w, int revents)
{
    struct supervisor *sv = w->data;

    (void)revents;
    if (sv->stopping) { /* the second time means now */
        ev_timer_stop(loop, &sv->drain);
        return;
    }
    log_info("stopping: %u browsers are told to come back, %zu sessions live on", sv->ws->count,
             sv->sessions.table.count);
    sv->stopping = true;
    sv->stopping_ms = time_mono_ms();
    acceptor_stop(&sv->rpc.door);
    ws_server_drain(sv->ws);
    ev_timer_init(&sv->drain, on_drain, ANSWER_SECONDS, ANSWER_SECONDS);
    sv->drain.data = sv;
    ev_timer_start(loop, &sv->drain);
}

static void on_settled_late(struct ev_loop *loop, struct ev_timer *w, int revents)
{
    (void)loop;
    (void)w;
    (void)revents;
    log_warn("the launcher or a holder does not answer: requests are taken without them");
}

/* A browser that comes back is not told that there is no such session only because its holder has not been asked yet:
 * it waits in the backlog. */
static void open_when_settled(struct supervisor *sv)
{
    if (sv->open || sv->stopping || (!sessions_settled(&sv->sessions) && ev_is_active(&sv->settle)))
        return;
    sv->open = true;
    ev_timer_stop(sv->loop, &sv->settle);
    acceptor_pause(&sv->rpc.door, false);
    acceptor_pause(&sv->ws->door, false);
}

static void wait_until_settled(struct supervisor *sv)
{
    acceptor_pause(&sv->rpc.door, true);
    acceptor_pause(&sv->ws->door, true);
    ev_timer_init(&sv->settle, on_settled_late, SETTLE_SECONDS, 0.);
    ev_timer_start(sv->loop, &sv->settle);
}

/* Until it was asked to stop and the browsers are gone, or the time for that is over. */
static void run_loop(struct supervisor *sv)
{
    while (ev_run(sv->loop, EVRUN_ONCE)) {
        open_when_settled(sv);
        if (sv->stopping && (ws_server_empty(sv->ws) || !ev_is_active(&sv->drain)))
            return;
    }
}

static struct quota_rule rate_rule(const struct config *config)
{
    return (struct quota_rule){
        .window_ms = config->rate_window_s * 1000,
        .max_hits = (size_t)config->rate_max_requests,
        .max_actors = (size_t)config->rate_max_keys,
    };
}

int supervisor_reload(struct supervisor *sv, struct err *err)
{
    enum log_level level = LOG_INFO;
    struct quota_rule rule;

    if (config_reload(sv->config, sv->config_file, err) < 0)
        return -1;
    rule = rate_rule(sv->config);
    quota_change(sv->quota, &rule);
    (void)log_level_parse(sv->config->log_level, &level);
    log_setup("agentsim-supervisor", strcmp(sv->config->log, "json") == 0, level);
    pool_renew(&sv->sessions.pool);
    log_info("the settings were read anew");
    return 0;
}

static void on_hangup(struct ev_loop *loop, struct ev_signal *w, int revents)
{
    struct err err;

    (void)loop;
    (void)revents;
    if (supervisor_reload(w->data, &err) < 0)
        log_error("reload: %s", err.msg);
}

static void start_signals(struct supervisor *sv)
{
    static const int numbers[] = { SIGTERM, SIGINT };
    size_t i;

    signal(SIGPIPE, SIG_IGN);
    for (i = 0; i < ARRAY_LEN(numbers); i++) {
        ev_signal_init(&sv->stop[i], on_stop, numbers[i]);
        sv->stop[i].data = sv;
        ev_signal_start(sv->loop, &sv->stop[i]);
    }
    ev_signal_init(&sv->hangup, on_hangup, SIGHUP);
    sv->hangup.data = sv;
    ev_signal_start(sv->loop, &sv->hangup);
}

/* Each takes a descriptor, and a session one for its holder, another for that of its conversation and a third while
 * that is taken over. */
static unsigned most_browsers(const struct config *config)
{
    rlim_t others = OTHER_FILES + 3 * (rlim_t)config->max_sessions, wanted = MOST_BROWSERS + others;
    struct rlimit l = { wanted, wanted };

    getrlimit(RLIMIT_NOFILE, &l);
    l.rlim_cur = l.rlim_max < wanted ? l.rlim_max : wanted;
    if (setrlimit(RLIMIT_NOFILE, &l) < 0)
        getrlimit(RLIMIT_NOFILE, &l);
    return l.rlim_cur < others + LEAST_BROWSERS ? LEAST_BROWSERS : (unsigned)(l.rlim_cur - others);
}

/* The inherited listener, or one of our own in the runtime directory. */
static int listener(const struct config *config, const char *name, const char *file, mode_t mode, gid_t gid,
                    struct err *err)
{
    int fd = listen_inherited(name);
    char path[SESSIONS_PATH_MAX];

    if (fd >= 0)
        return fd;
    snprintf(path, sizeof(path), "%s/%s", config->runtime_dir, file);
    return io_unix_listen(path, mode, gid, BACKLOG, err);
}

static void warn_about(const struct config *config)
{
    if (config->require_auth && !*config->github_client_id)
        log_warn(
            "a sign-in is required (AGENT_SIMULATOR_REQUIRE_AUTH) and GITHUB_CLIENT_ID is not set: nobody gets in");
    else if (*config->github_client_id && !*config->github_client_secret)
        log_warn("GITHUB_CLIENT_SECRET is not set: GitHub will refuse every sign-in");
    if (config->sandbox == SANDBOX_OFF)
        log_warn("AGENT_SIMULATOR_SANDBOX=off: AGENTS RUN UNCONFINED, with the rights of their user on this machine");
    if (config->egress == EGRESS_HOST)
        log_warn("AGENT_SIMULATOR_EGRESS=host: AGENTS REACH EVERY NETWORK THIS MACHINE REACHES, loopback included");
}

static int open_doors(struct supervisor *sv, struct err *err)
{
    const struct group *web = getgrnam(sv->config->web_group);
    gid_t web_gid = geteuid() == 0 && web ? web->gr_gid : (gid_t)-1;
    unsigned browsers = most_browsers(sv->config);
    int rpc, ws;

    rpc = listener(sv->config, "supervisor", "supervisor.sock", 0660, (gid_t)-1, err);
    if (rpc < 0)
        return -1;
    rpc_server_start(&sv->rpc, sv->loop, rpc, supervisor_call, sv);
    sv->rpc.answered = supervisor_answered;
    sv->rpc.abandoned = supervisor_abandoned;
    ws = listener(sv->config, "websocket", "ws.sock", 0660, web_gid, err);
    if (ws < 0)
        return -1;
    sv->ws = ws_server_new(sv, ws, browsers, err);
    return sv->ws ? 0 : -1;
}

static void on_counted(void *owner, const char *actor, int64_t now_ms)
{
    quota_log_add(owner, actor, now_ms);
}

static int start(struct supervisor *sv, struct err *err)
{
    struct quota_rule rule = rate_rule(sv->config);

    sv->loop = ev_loop_new(EVBACKEND_EPOLL | EVFLAG_NOENV | EVFLAG_SIGNALFD);
    if (!sv->loop)
        return err_set(err, ERR_INTERNAL, 0, "the event loop does not start");
    sv->quota = quota_new(&rule);
    if (!sv->quota)
        return err_nomem(err);
    quota_log_open(&sv->rates, sv->config->runtime_dir, rule.window_ms, sv->quota, time_mono_ms());
    quota_tell(sv->quota, on_counted, &sv->rates);
    if (signin_desk_open(&sv->signins, sv->loop, sv->config, err) < 0 ||
        sessions_init(&sv->sessions, sv->loop, sv->config, err) < 0 || open_doors(sv, err) < 0)
        return -1;
    sv->sessions.warn_browser = relay_session_ends;
    sv->sessions.release_browser = relay_session_gone;
    start_signals(sv);
    wait_until_settled(sv);
    sessions_start(&sv->sessions);
    return 0;
}

static void release(struct supervisor *sv)
{
    size_t i;

    if (!sv->loop)
        return;
    ws_server_free(sv->ws);
    rpc_server_release(&sv->rpc);
    sessions_release(&sv->sessions);
    signin_desk_release(&sv->signins);
    quota_free(sv->quota);
    if (sv->quota)
        quota_log_close(&sv->rates);
    ev_timer_stop(sv->loop, &sv->drain);
    ev_timer_stop(sv->loop, &sv->settle);
    for (i = 0; i < ARRAY_LEN(sv->stop); i++)
        ev_signal_stop(sv->loop, &sv->stop[i]);
    ev_signal_stop(sv->loop, &sv->hangup);
    ev_loop_destroy(sv->loop);
}

int supervisor_run(struct config *config, const char *config_file, struct err *err)
{
    struct supervisor sv = { .config = config, .config_file = config_file, .started_ms = time_mono_ms() };
    int r = start(&sv, err);

    if (r == 0)
        r = seal_self(SEAL_SUPERVISOR, err);

    if (r == 0) {
        warn_about(config);
        log_info("ready, %lld places", (long long)config->max_sessions);
        run_loop(&sv);
    }
    release(&sv);
    return r;
}
