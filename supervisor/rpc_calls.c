/* What the requests of workers and the command line do (shared/ipc/rpc.h): one row and one function each. */
#include <stdio.h>
#include <unistd.h>

#include "shared/base/io.h"
#include "shared/base/log.h"
#include "shared/base/mem.h"
#include "shared/base/time.h"
#include "shared/ipc/wire.h"
#include "supervisor/relay/ws_server.h"
#include "supervisor/supervisor.h"

#define CREATE_SECONDS 30.
#define END_SECONDS 20.

static struct supervisor *supervisor_of(const struct rpc_conn *c)
{
    return c->server->owner;
}

static void answer_buf(struct rpc_conn *c, enum rpc_type type, const struct buf *b, int fd)
{
    struct err err;

    if (buf_failed(b)) {
        err_nomem(&err);
        rpc_answer_error(c, &err);
    } else {
        rpc_answer(c, type, b, fd);
    }
}

static void call_admit(struct rpc_conn *c, const struct rpc_request *r)
{
    struct supervisor *sv = supervisor_of(c);
    struct err err;

    if ((r->flags & RPC_ADMIT_RATE) && quota_hit(sv->quota, r->actor, time_mono_ms(), &err) < 0) {
        sv->sessions.metrics.limits[METRICS_RATE]++;
        rpc_answer_error(c, &err);
    } else if ((r->flags & RPC_ADMIT_CAP) && sessions_check_cap(&sv->sessions, r->actor, &err) < 0) {
        sv->sessions.metrics.limits[METRICS_OWNER_CAP]++;
        rpc_answer_error(c, &err);
    } else {
        rpc_answer(c, RPC_OK, NULL, -1);
    }
}

/* A connection of the worker's own to the holder. The worker uses it with blocking calls. */
static int connect_holder(const struct supervisor *sv, const struct session *s, struct err *err)
{
    char path[SESSIONS_PATH_MAX];
    auto_fd int fd = -1;

    sessions_holder_path(&sv->sessions, s->slot, path);
    fd = io_unix_connect(path, true, err);
    if (fd < 0)
        return -1;
    if (io_set_nonblock(fd, false) < 0)
        return err_set(err, ERR_INTERNAL, 0, "the connection to the session could not be made");
    return steal_fd(fd);
}

static void answer_refused(struct rpc_conn *c, const struct err *why)
{
    auto_buf struct buf b;

    buf_init(&b, sizeof(why->msg) + 64);
    if (!c->create.full || !c->may_wait) {
        rpc_answer_error(c, why);
        return;
    }
    wire_put_u32(&b, why->wait);
    wire_put_u32(&b, (uint32_t)c->create.position);
    wire_put_u32(&b, (uint32_t)supervisor_of(c)->sessions.queue.count);
    wire_put_str(&b, why->msg);
    answer_buf(c, RPC_FULL, &b, -1);
}

static void on_started(struct waiter *w, struct session *s, const struct err *why)
{
    struct create_request *r = list_entry(w, struct create_request, waiter);
    struct rpc_conn *c = list_entry(r, struct rpc_conn, create);
    struct supervisor *sv = supervisor_of(c);
    auto_buf struct buf b;
    auto_fd int fd = -1;
    struct err err;

    buf_init(&b, 64);
    metrics_start(&sv->sessions.metrics, r->internal ? METRICS_INTERNAL : METRICS_PUBLIC, why);
    if (why) {
        answer_refused(c, why);
        return;
    }
    fd = connect_holder(sv, s, &err);
    if (fd < 0) {
        rpc_answer_error(c, &err);
        sessions_end(&sv->sessions, s, HOLD_REASON_STOPPED, NULL);
        return;
    }
    wire_put_u32(&b, hold_agent_port(sv->config->egress == EGRESS_HOST || sv->config->sandbox == SANDBOX_OFF,
                                     sv->config->port_pool_start, s->slot));
    c->open = c->takes;
    answer_buf(c, RPC_CREATED, &b, fd);
}

static void create(struct rpc_conn *c, const struct rpc_request *r)
{
    waiter_init(&c->create.waiter, on_started);
    c->create.id = r->id;
    snprintf(c->create.actor, sizeof(c->create.actor), "%s", r->actor);
    rpc_wait_for(c, CREATE_SECONDS + c->create.wait_s);
    sessions_create(&supervisor_of(c)->sessions, &c->create);
}

static void call_create(struct rpc_conn *c, const struct rpc_request *r)
{
    c->create.internal = r->flags & RPC_CREATE_INTERNAL;
    c->may_wait = r->flags & RPC_CREATE_MAY_WAIT;
    c->takes = r->flags & RPC_CREATE_TAKES;
    create(c, r);
}

static void call_queue(struct rpc_conn *c, const struct rpc_request *r)
{
    c->create.wait_s = r->flags & ~RPC_QUEUE_TAKES;
    c->may_wait = true;
    c->takes = r->flags & RPC_QUEUE_TAKES;
    create(c, r);
}

static void call_info(struct rpc_conn *c, const struct rpc_request *r)
{
    struct rpc_session described;
    auto_buf struct buf b;
    struct err err;

    buf_init(&b, RPC_MAX_PAYLOAD);
    if (sessions_describe(&supervisor_of(c)->sessions, &r->id, r->actor, &described, &err) < 0) {
        rpc_answer_error(c, &err);
        return;
    }
    rpc_put_session(&b, &described);
    answer_buf(c, RPC_SESSION, &b, -1);
}

static void call_open(struct rpc_conn *c, const struct rpc_request *r)
{
    struct supervisor *sv = supervisor_of(c);
    auto_fd int fd = -1;
    struct session *s;
    struct err err;

    s = sessions_find(&sv->sessions, &r->id, r->actor, &err);
    if (s && (s->state == SESSION_NEW || s->state >= SESSION_STOPPING)) {
        err_set(&err, ERR_NOT_FOUND, 0, "There is no such session");
        s = NULL;
    }
    if (s)
        fd = connect_holder(sv, s, &err);
    if (fd < 0)
        rpc_answer_error(c, &err);
    else
        rpc_answer(c, RPC_OK, NULL, fd);
}

static void on_gone(struct waiter *w, struct session *s, const struct err *why)
{
    struct rpc_conn *c = list_entry(w, struct rpc_conn, waiter);

    (void)s;
    if (why)
        rpc_answer_error(c, why);
    else
        rpc_answer(c, RPC_OK, NULL, -1);
}

static void call_end(struct rpc_conn *c, const struct rpc_request *r)
{
    struct sessions *ss = &supervisor_of(c)->sessions;
    struct session *s;
    struct err err;

    s = sessions_find(ss, &r->id, r->actor, &err);
    if (!s) {
        rpc_answer_error(c, &err);
        return;
    }
    s->unwanted = true;
    waiter_init(&c->waiter, on_gone);
    rpc_wait_for(c, END_SECONDS);
    sessions_end(ss, s, HOLD_REASON_STOPPED, &c->waiter);
}

static void call_health(struct rpc_conn *c, const struct rpc_request *r)
{
    const struct supervisor *sv = supervisor_of(c);
    char limits[LAUNCH_LIMITS_TEXT_MAX];
    struct rpc_status status = {
        .sessions = (uint32_t)sv->sessions.table.count,
        .capacity = sv->sessions.slots.count,
        .quarantined = sv->sessions.slots.quarantined,
        .sandbox = sv->sessions.launch.foreign ? "unavailable: " SESSIONS_FOREIGN : sv->sessions.selftest.verdict,
        .egress = config_egress_name(sv->config->egress),
        .cgroup = limits,
        .draining = sv->sessions.draining,
        .warm = pool_count(&sv->sessions.pool, POOL_READY),
        .warm_pool = sv->sessions.pool.size,
    };
    auto_buf struct buf b;

    (void)r;
    buf_init(&b, RPC_MAX_PAYLOAD);
    launch_limits_text(
        sv->sessions.limits,
        launch_limits_wanted(sv->config->memory_mb > 0, sv->config->cpu_cores > 0, sv->config->disk_mb > 0), limits);
    rpc_put_status(&b, &status);
    answer_buf(c, RPC_STATUS, &b, -1);
}

/* As many as the answer holds: more than a thousand. */
static void call_list(struct rpc_conn *c, const struct rpc_request *r)
{
    const struct session_table *t = &supervisor_of(c)->sessions.table;
    auto_buf struct buf b, list;
    uint32_t i, n = 0;

    (void)r;
    buf_init(&b, RPC_MAX_PAYLOAD);
    buf_init(&list, RPC_MAX_PAYLOAD - sizeof(n));
    for (i = 0; i < t->slots; i++) {
        const struct session *s = session_table_at(t, i);
        struct rpc_session described;
        size_t before = list.len;

        if (!s)
            continue;
        session_describe(s, &described);
        rpc_put_session(&list, &described);
        if (buf_failed(&list)) {
            list.len = before;
            break;
        }
        n++;
    }
    wire_put_u32(&b, n);
    buf_add(&b, list.data, list.len);
    answer_buf(c, RPC_SESSIONS, &b, -1);
}

static struct metrics_now metrics_of_now(const struct supervisor *sv)
{
    const struct sessions *ss = &sv->sessions;
    struct metrics_now now = {
        .slots = ss->slots.count,
        .slots_free = ss->slots.free + pool_takeable(&ss->pool),
        .warm = pool_count(&ss->pool, POOL_READY),
        .slots_quarantined = ss->slots.quarantined,
        .browsers = sv->ws->count,
        .uptime_s = (uint64_t)(time_mono_ms() - sv->started_ms) / 1000,
        .sandbox_ok = selftest_allows(&ss->selftest) && !ss->selftest.off,
        .draining = ss->draining,
        .rate_actors = quota_actors(sv->quota),
    };
    const struct list *l;
    uint32_t i;

    for (i = 0; i < ss->table.slots; i++) {
        const struct session *s = session_table_at(&ss->table, i);

        if (s)
            now.sessions[s->state]++;
    }
    now.queue = (uint32_t)ss->queue.count;
    for (l = ss->pending.next; l != &ss->pending; l = l->next)
        now.queue++;
    return now;
}

static void call_metrics(struct rpc_conn *c, const struct rpc_request *r)
{
    const struct supervisor *sv = supervisor_of(c);
    const struct metrics_now now = metrics_of_now(sv);
    auto_buf struct buf b;
    auto_buf struct buf page;

    (void)r;
    buf_init(&page, RPC_MAX_PAYLOAD - 16);
    metrics_write(&sv->sessions.metrics, &now, &page);
    buf_init(&b, buf_failed(&page) ? 0 : RPC_MAX_PAYLOAD);
    wire_put_bytes(&b, page.data, page.len);
    answer_buf(c, RPC_METRICS_PAGE, &b, -1);
}

static void call_drain(struct rpc_conn *c, const struct rpc_request *r)
{
    struct sessions *ss = &supervisor_of(c)->sessions;
    bool on = r->flags & RPC_DRAIN_ON;

    if (ss->draining != on)
        log_audit("", "operator", "%s", on ? "draining: no new sessions" : "not draining any more");
    ss->draining = on;
    sessions_retry_pending(ss); /* who waits for a place is told */
    pool_tend(&ss->pool);
    call_health(c, r);
}

static void call_reload(struct rpc_conn *c, const struct rpc_request *r)
{
    struct err err;

    (void)r;
    if (supervisor_reload(supervisor_of(c), &err) < 0)
        rpc_answer_error(c, &err);
    else
        rpc_answer(c, RPC_OK, NULL, -1);
}

void supervisor_abandoned(void *owner, const struct id *id)
{
    struct sessions *ss = &((struct supervisor *)owner)->sessions;
    struct session *s = session_table_find(&ss->table, id);

    if (!s || session_is_leaving(s))
        return;
    log_info("session %s: whoever asked for it has gone before anybody was told of it", s->name);
    s->unwanted = true;
    sessions_end(ss, s, HOLD_REASON_STOPPED, NULL);
}

void supervisor_answered(void *owner, enum rpc_type type, double seconds)
{
    struct supervisor *sv = owner;

    if ((unsigned)type < METRICS_RPC_MAX)
        metrics_observe(&sv->sessions.metrics.rpc[type], seconds);
}

/* Who signs out cannot reach what was started any more, so it must not go on. */
static void end_sessions_of(struct supervisor *sv, const struct signin_hash *signin)
{
    char actor[RPC_ACTOR_MAX + 1];
    struct session *s, *next;

    signin_actor(signin, actor);
    for (s = session_table_first_of(&sv->sessions.table, actor); s; s = next) {
        next = session_table_next_of(s);
        sessions_end(&sv->sessions, s, HOLD_REASON_STOPPED, NULL);
    }
}

static const struct {
    enum rpc_type type;
    void (*run)(struct rpc_conn *c, const struct rpc_request *r);
} calls[] = {
    { RPC_ADMIT, call_admit }, { RPC_CREATE, call_create }, { RPC_INFO, call_info },   { RPC_OPEN, call_open },
    { RPC_END, call_end },     { RPC_HEALTH, call_health }, { RPC_LIST, call_list },   { RPC_METRICS, call_metrics },
    { RPC_DRAIN, call_drain }, { RPC_RELOAD, call_reload }, { RPC_QUEUE, call_queue },
};

void supervisor_call(struct rpc_conn *c, const struct rpc_request *r)
{
    struct err err;
    size_t i;

    for (i = 0; i < ARRAY_LEN(calls) && calls[i].type != r->type; i++)
        ;
    if (supervisor_of(c)->stopping) {
        err_set(&err, ERR_UNAVAILABLE, 0, "The service is being restarted");
        rpc_answer_error(c, &err);
    } else if (i < ARRAY_LEN(calls)) {
        calls[i].run(c, r);
    } else {
        if (r->type == RPC_SIGNIN_END)
            end_sessions_of(supervisor_of(c), &r->hashes[0]);
        signin_desk_call(&supervisor_of(c)->signins, c, r);
    }
}
