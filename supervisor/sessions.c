#include "supervisor/sessions.h"

#include <stdio.h>
#include <string.h>

#include "shared/base/log.h"
#include "shared/base/mem.h"
#include "shared/base/str.h"
#include "shared/base/time.h"

#define LAUNCH_PATIENCE 20. /* seconds for a holder to start */
#define QUEUE_MAX 32
#define QUEUE_MAX_OF_ONE 4
#define CLAIM_PATIENCE 3. /* for a holder that waits to say that it does no more */
#define END_PATIENCE 3.   /* seconds for a holder to say good-bye to a browser or worker */

static void enter_stopping(struct session *s);
static void enter_gone(struct session *s);

static const struct session_actions actions = { {
    [SESSION_STOPPING] = enter_stopping,
    [SESSION_GONE] = enter_gone,
} };

void waiter_init(struct waiter *w, void (*done)(struct waiter *w, struct session *s, const struct err *err))
{
    list_init(&w->link);
    w->done = done;
}

void waiter_cancel(struct waiter *w)
{
    list_remove(&w->link);
}

void sessions_tell(struct list *waiters, struct session *s, const struct err *err)
{
    while (!list_empty(waiters)) {
        struct waiter *w = list_entry(waiters->next, struct waiter, link);

        list_remove(&w->link);
        w->done(w, s, err);
    }
}

static void tell_one(struct waiter *w, const struct err *err)
{
    list_remove(&w->link);
    w->done(w, NULL, err);
}

void sessions_holder_path(const struct sessions *ss, uint32_t slot, char out[SESSIONS_PATH_MAX])
{
    snprintf(out, SESSIONS_PATH_MAX, "%s/holders/%u.sock", ss->config->runtime_dir, slot);
}

/* ---- entry actions ---- */

/* What its holder did not come to say. */
static void settle_reason(struct session *s)
{
    if (s->reason)
        return;
    if (s->asked)
        s->reason = s->asked;
    else
        s->reason = s->phase < HOLD_READY ? HOLD_REASON_START_FAILED : HOLD_REASON_STOPPED;
}

void sessions_count_end(struct session *s)
{
    struct sessions *ss = s->keeper;

    if (s->counts_end)
        ss->metrics.ends[s->reason]++;
    s->counts_end = false;
}

/* Whatever waited in its slot has become its own. */
static void settle_claim(struct session *s)
{
    struct sessions *ss = s->keeper;

    if (s->claims)
        pool_taken(&ss->pool, s->slot);
    s->claims = false;
}

static void enter_stopping(struct session *s)
{
    struct sessions *ss = s->keeper;
    struct err err;

    settle_claim(s);
    settle_reason(s);
    sessions_count_end(s);
    if (s->browser)
        ss->warn_browser(s->browser);
    ev_timer_stop(ss->loop, &s->timer);
    control_close(s->control);
    s->control = NULL;
    err_set(&err, ERR_UNAVAILABLE, 0, "the session was stopped before it had started");
    sessions_tell(&s->creators, s, &err);
    /* Without a launcher now: it is told, or tells us that nothing is left, when it is back. */
    launch_client_send(&ss->launch, LAUNCH_STOP, s->slot, &s->id);
}

static void enter_gone(struct session *s)
{
    struct sessions *ss = s->keeper;
    struct err err;

    settle_claim(s);
    settle_reason(s);
    sessions_count_end(s);
    ev_timer_stop(ss->loop, &s->timer);
    control_close(s->control);
    s->control = NULL;
    if (s->browser) {
        ss->warn_browser(s->browser);
        ss->release_browser(s->browser);
    }
    s->browser = NULL;
    session_table_remove(&ss->table, s);
    if (!s->waited)
        log_audit(s->name, s->actor, "session is gone, reason %s, code %d, %llu frames, %lld s old",
                  s->reason ? hold_reason_name(s->reason) : "none", s->code, (unsigned long long)s->frames,
                  (long long)((time_wall_ms() - s->started_wall_ms) / 1000));
    if (!s->unwanted && !s->found)
        ended_add(&ss->ended, s, time_mono_ms());
    err_set(&err, ERR_INTERNAL, 0, "the session could not be started");
    sessions_tell(&s->creators, s, &err);
    sessions_tell(&s->enders, s, NULL);
    list_append(&ss->dead, &s->link);
}

static void on_timer(struct ev_loop *loop, struct ev_timer *w, int revents)
{
    struct session *s = w->data;

    (void)loop;
    (void)revents;
    if (s->claims) {
        sessions_control_events.lost(s, "it does not answer");
    } else if (s->state == SESSION_NEW || s->ending || s->found || s->reason) {
        log_warn("session %s: its %s does not come to an end, it is stopped", s->name,
                 s->state == SESSION_NEW ? "start" : "holder");
        session_set_state(s, SESSION_STOPPING);
    } else {
        log_warn("session %s: still there after its lifetime", s->name);
        sessions_end(s->keeper, s, HOLD_REASON_EXPIRED, NULL);
    }
}

void sessions_set_timer(struct session *s, double seconds)
{
    struct sessions *ss = s->keeper;

    ev_timer_stop(ss->loop, &s->timer);
    ev_timer_set(&s->timer, seconds > 0 ? seconds : 0., 0.);
    ev_timer_start(ss->loop, &s->timer);
}

/* ---- start ---- */

struct session *sessions_add(struct sessions *ss, const struct id *id, const char *actor, uint32_t slot)
{
    struct session *s = session_new(id, actor, slot, &actions, ss);

    if (!s)
        return NULL;
    ev_timer_init(&s->timer, on_timer, 0., 0.);
    s->timer.data = s;
    s->started_wall_ms = time_wall_ms();
    s->expires_wall_ms = s->started_wall_ms + ss->config->session_lifetime_s * 1000;
    s->expires_mono_ms = time_mono_ms() + ss->config->session_lifetime_s * 1000;
    session_table_add(&ss->table, s);
    slots_set(&ss->slots, slot, SLOT_BUSY);
    return s;
}

struct tally {
    int64_t counting; /* sessions of the owner that are alive */
    int64_t ending;   /* the others: detached, without agent, or on their way out */
};

static struct tally tally_of(const struct sessions *ss, const char *actor)
{
    struct tally t = { 0, 0 };
    const struct session *s;

    for (s = session_table_first_of(&ss->table, actor); s; s = session_table_next_of(s))
        *(session_counts(s) ? &t.counting : &t.ending) += 1;
    return t;
}

static int over_cap(const struct sessions *ss, struct err *err)
{
    long long most = ss->config->max_sessions_per_actor;

    return err_set(err, ERR_LIMIT, 0,
                   "You have %lld running session%s already, the most that one user may have: stop one, or close its "
                   "page and wait %lld s",
                   most, most == 1 ? "" : "s", (long long)ss->config->detach_s);
}

int sessions_check_cap(const struct sessions *ss, const char *actor, struct err *err)
{
    return tally_of(ss, actor).counting >= ss->config->max_sessions_per_actor ? over_cap(ss, err) : 0;
}

/* 1; 0: the sandbox is just being tried, after the start or a new launcher's; -1 and err: no session may start. */
static int check_service(struct sessions *ss, const struct create_request *r, struct err *err)
{
    if (ss->draining)
        return err_set(err, ERR_UNAVAILABLE, 0, "The service is about to be stopped and starts no new sessions");
    if (ss->launch.foreign)
        return err_set(err, ERR_UNAVAILABLE, 0, "Sessions cannot be started now: %s", SESSIONS_FOREIGN);
    if (!launch_client_ready(&ss->launch))
        return err_set(err, ERR_UNAVAILABLE, 0, "Sessions cannot be started now: the launcher does not answer");
    if (selftest_decides_soon(&ss->selftest))
        return 0;
    if (!selftest_allows(&ss->selftest)) {
        ss->metrics.sandbox_refusals++;
        return err_set(err, ERR_UNAVAILABLE, 0, "Sessions cannot be started now: the sandbox is %s",
                       ss->selftest.verdict);
    }
    if (session_table_find(&ss->table, &r->id))
        return err_set(err, ERR_CONFLICT, 0, "A session with this id exists already");
    return 1;
}

/* The sessions of an owner that nobody talks to any more make room for a new one. */
static void end_unused(struct sessions *ss, const char *actor)
{
    struct session *s, *next;

    for (s = session_table_first_of(&ss->table, actor); s; s = next) {
        next = session_table_next_of(s);
        if (!session_counts(s))
            sessions_end(ss, s, HOLD_REASON_STOPPED, NULL);
    }
}

/* A session without its agent is but a record of it: it goes when somebody needs its place. False: there is none. */
static bool end_a_record(struct sessions *ss)
{
    struct session *oldest = NULL;
    uint32_t i;

    for (i = 0; i < ss->table.slots; i++) {
        struct session *s = session_table_at(&ss->table, i);

        if (s && s->reason && !s->browser && !session_is_leaving(s) &&
            (!oldest || s->started_wall_ms < oldest->started_wall_ms))
            oldest = s;
    }
    if (oldest)
        sessions_end(ss, oldest, HOLD_REASON_STOPPED, NULL);
    return oldest != NULL;
}

/* It is being cleaned, of what an earlier supervisor or launcher left. */
static bool is_nobodys(const struct sessions *ss, uint32_t slot)
{
    return slots_state(&ss->slots, slot) == SLOT_BUSY && !pool_owns(&ss->pool, slot) &&
           !selftest_owns(&ss->selftest, slot);
}

/* Does more come free in a moment than others wait for already? */
static bool place_is_coming(const struct sessions *ss)
{
    const struct list *l;
    int64_t coming = 0;
    uint32_t i;

    for (i = 0; i < ss->table.slots; i++) {
        const struct session *s = session_table_at(&ss->table, i);

        coming += s ? session_is_leaving(s) : is_nobodys(ss, i);
    }
    coming += pool_count(&ss->pool, POOL_STARTING) + pool_count(&ss->pool, POOL_CLEARING);
    for (l = ss->pending.next; l != &ss->pending; l = l->next)
        coming--;
    return coming > 0;
}

/* 1 there is room, 0 there will be when what ends now is gone, -1 there is none. */
static int find_room(struct sessions *ss, struct create_request *r, struct err *err)
{
    struct tally t = tally_of(ss, r->actor);
    int64_t cap = r->internal ? INT64_MAX : ss->config->max_sessions_per_actor;

    if (t.counting >= cap) {
        ss->metrics.limits[METRICS_OWNER_CAP]++;
        return over_cap(ss, err);
    }
    if (t.counting + t.ending < cap && (ss->slots.free || pool_takeable(&ss->pool)) && (r->turn || !ss->queue.count))
        return 1;
    if (t.ending) {
        end_unused(ss, r->actor);
        return 0;
    }
    if ((r->turn || !ss->queue.count) && (place_is_coming(ss) || end_a_record(ss)))
        return 0;
    return sessions_full(ss, r, err);
}

/* In the slot of one that waits. 0: it starts, 1: there is none, or not any more, or no memory for it now. */
static int launch_warm(struct sessions *ss, struct create_request *r)
{
    struct session *s;
    struct err err;
    uint32_t slot;

    while (pool_take(&ss->pool, &slot) == 0) {
        s = sessions_add(ss, &r->id, r->actor, slot);
        if (s && sessions_claim(s, &err) == 0) {
            list_append(&s->creators, &r->waiter.link);
            sessions_set_timer(s, CLAIM_PATIENCE);
            log_audit(s->name, s->actor, "session starts in slot %u, where an interpreter waits", slot);
            return 0;
        }
        if (s)
            sessions_forget_claim(s);
        else
            pool_give_back(&ss->pool, slot);
    }
    return 1;
}

static int launch(struct sessions *ss, struct create_request *r, struct err *err)
{
    struct session *s;
    uint32_t slot;

    if (launch_warm(ss, r) == 0)
        return 0;
    if (slots_take(&ss->slots, &slot) < 0)
        return sessions_full(ss, r, err);
    s = sessions_add(ss, &r->id, r->actor, slot);
    if (!s || launch_client_send(&ss->launch, LAUNCH_START, slot, &r->id) < 0) {
        /* Nothing was started, so the slot is as free as before. */
        slots_set(&ss->slots, slot, SLOT_FREE);
        if (s)
            session_set_state(s, SESSION_GONE);
        return err_set(err, ERR_INTERNAL, 0, "The session could not be started");
    }
    list_append(&s->creators, &r->waiter.link);
    sessions_set_timer(s, LAUNCH_PATIENCE);
    log_audit(s->name, s->actor, "session starts in slot %u", slot);
    return 0;
}

void sessions_forget_claim(struct session *s)
{
    struct sessions *ss = s->keeper;

    s->claims = false;
    s->waited = s->unwanted = true;
    session_set_state(s, SESSION_GONE);
    pool_give_back(&ss->pool, s->slot);
}

int sessions_try(struct sessions *ss, struct create_request *r, struct err *err)
{
    int room;

    r->full = false;
    room = check_service(ss, r, err);
    if (room > 0)
        room = find_room(ss, r, err);
    if (room > 0)
        return launch(ss, r, err) < 0 ? -1 : 1;
    if (room == 0) {
        r->turn = true;
        list_append(&ss->pending, &r->waiter.link);
    }
    return room;
}

void sessions_create(struct sessions *ss, struct create_request *r)
{
    struct err err;

    if (sessions_try(ss, r, &err) >= 0)
        return;
    if (r->full && r->wait_s && sessions_join_queue(ss, r) == 0)
        return;
    if (r->full)
        ss->metrics.limits[METRICS_CAPACITY]++;
    tell_one(&r->waiter, &err);
}

void sessions_retry_pending(struct sessions *ss)
{
    struct list now;

    if (list_empty(&ss->pending)) {
        sessions_serve_queue(ss);
        return;
    }
    now = ss->pending; /* those that have to wait on join a fresh list */
    now.next->prev = now.prev->next = &now;
    list_init(&ss->pending);
    while (!list_empty(&now)) {
        struct waiter *w = list_entry(now.next, struct waiter, link);

        list_remove(&w->link);
        sessions_create(ss, list_entry(w, struct create_request, waiter));
    }
    sessions_serve_queue(ss);
}

/* ---- the rest of a life ---- */

struct session *sessions_find(const struct sessions *ss, const struct id *id, const char *actor, struct err *err)
{
    struct session *s = session_table_find(&ss->table, id);

    if (s && !s->found && str_eq_consttime(s->actor, actor))
        return s;
    err_set(err, ERR_NOT_FOUND, 0, "There is no such session");
    return NULL;
}

int sessions_describe(const struct sessions *ss, const struct id *id, const char *actor, struct rpc_session *ret,
                      struct err *err)
{
    const struct session *s = sessions_find(ss, id, actor, err);

    if (s)
        session_describe(s, ret);
    return s || ended_find(&ss->ended, id, actor, time_mono_ms(), ret) ? 0 : -1;
}

void sessions_end(struct sessions *ss, struct session *s, enum hold_reason reason, struct waiter *w)
{
    (void)ss;
    if (w)
        list_append(&s->enders, &w->link);
    if (session_is_leaving(s))
        return;
    s->ending = true;
    log_audit(s->name, s->actor, "session is ended, reason %s", hold_reason_name(reason));
    s->asked = reason;
    /* Somebody may be listening who should learn why. Else there is nothing to wait for. */
    if (s->control && (s->browser || s->phase < HOLD_READY) && control_end(s->control, reason) == 0)
        sessions_set_timer(s, END_PATIENCE);
    else
        session_set_state(s, SESSION_STOPPING);
}

void sessions_attach(struct session *s, struct browser *b)
{
    struct sessions *ss = s->keeper;

    ss->metrics.attached++;
    ss->metrics.taken_over += s->browser != NULL;
    log_audit(s->name, s->actor, "browser attached%s", s->browser ? ", another one gives way" : "");
    s->browser = b;
    if (session_may(s, SESSION_ATTACHED))
        session_set_state(s, SESSION_ATTACHED);
}

void sessions_detach(struct session *s, struct browser *b)
{
    if (s->browser != b)
        return;
    s->browser = NULL;
    log_audit(s->name, s->actor, "browser left");
    s->detached_ms = time_mono_ms();
    if (session_may(s, SESSION_DETACHED))
        session_set_state(s, SESSION_DETACHED);
    sessions_serve_queue(s->keeper); /* without its agent it is but a record now */
}

static void free_dead(struct sessions *ss)
{
    while (!list_empty(&ss->dead)) {
        struct session *s = list_entry(ss->dead.next, struct session, link);

        list_remove(&s->link);
        session_free(s);
    }
}

static void on_prepare(struct ev_loop *loop, struct ev_prepare *w, int revents)
{
    (void)loop;
    (void)revents;
    free_dead(w->data);
}

static void forget_browser(struct browser *b)
{
    (void)b;
}

int sessions_init(struct sessions *ss, struct ev_loop *loop, const struct config *config, struct err *err)
{
    uint32_t slots = (uint32_t)config->max_sessions, room = slots > LAUNCH_SLOTS_MAX ? slots : LAUNCH_SLOTS_MAX;
    int len;

    *ss = (struct sessions){ .loop = loop, .config = config, .adopting = true };
    ss->warn_browser = ss->release_browser = forget_browser;
    queue_init(&ss->queue, QUEUE_MAX, QUEUE_MAX_OF_ONE);
    list_init(&ss->pending);
    list_init(&ss->dead);
    ev_prepare_init(&ss->reaper, on_prepare);
    ss->reaper.data = ss;
    len = snprintf(ss->launcher_path, sizeof(ss->launcher_path), "%s/launcher.sock", config->runtime_dir);
    if (len < 0 || (size_t)len >= sizeof(ss->launcher_path))
        return err_set(err, ERR_INTERNAL, 0, "the runtime directory %s has too long a name", config->runtime_dir);
    if (session_table_init(&ss->table, room) < 0 || slots_init(&ss->slots, slots, room) < 0 ||
        ended_init(&ss->ended) < 0 ||
        pool_init(&ss->pool, ss, config->sandbox == SANDBOX_OFF ? 0 : (uint32_t)config->warm_pool) < 0) {
        sessions_release(ss);
        return err_nomem(err);
    }
    selftest_init(&ss->selftest, ss, config->sandbox == SANDBOX_OFF);
    ev_prepare_start(loop, &ss->reaper);
    return 0;
}

void sessions_start(struct sessions *ss)
{
    launch_client_start(&ss->launch, ss->loop, ss->launcher_path, ss->slots.room, &sessions_launch_events, ss);
}

bool sessions_settled(const struct sessions *ss)
{
    uint32_t i;

    for (i = 0; i < ss->table.slots; i++) {
        const struct session *s = session_table_at(&ss->table, i);

        if (s && s->found && s->state < SESSION_STOPPING)
            return false;
    }
    return !ss->adopting;
}

void sessions_release(struct sessions *ss)
{
    uint32_t i;

    if (!ss->loop)
        return;
    queue_release(&ss->queue);
    launch_client_stop(&ss->launch);
    selftest_release(&ss->selftest);
    pool_release(&ss->pool);
    for (i = 0; i < ss->table.slots; i++) {
        struct session *s = session_table_at(&ss->table, i);

        if (!s)
            continue;
        session_table_remove(&ss->table, s);
        ev_timer_stop(ss->loop, &s->timer);
        control_close(s->control);
        session_free(s);
    }
    free_dead(ss);
    ev_prepare_stop(ss->loop, &ss->reaper);
    session_table_release(&ss->table);
    slots_release(&ss->slots);
    ended_release(&ss->ended);
}
