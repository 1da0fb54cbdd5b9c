/* The launcher's and the holders' news, and what follows from them (sessions.h). */
#include <signal.h>
#include <string.h>

#include "shared/base/log.h"
#include "shared/base/time.h"
#include "shared/ipc/version.h"
#include "supervisor/sessions.h"

#define LIFETIME_GRACE 5.  /* seconds: the holder ends its session itself, we only if it does not */
#define DELIVERY_GRACE 10. /* seconds beyond the holder's own wait for somebody who fetches the last frames */
#define ADOPTION_PATIENCE 10.

static void on_begun(struct sessions *ss, struct session *s);
static void lose(struct session *s);

static double seconds_left(const struct session *s)
{
    return (double)(s->expires_mono_ms - time_mono_ms()) / 1000.;
}

/* ---- holders ---- */

/* The holder that waited is this session's: so the next supervisor finds it, too. */
static void on_claimed(struct session *s, const struct hold_event *e)
{
    struct sessions *ss = s->keeper;

    if (!id_equal(&e->identity.id, &s->id)) {
        lose(s);
        return;
    }
    s->claims = false;
    ss->metrics.warm_starts++;
    pool_taken(&ss->pool, s->slot);
    launch_client_send(&ss->launch, LAUNCH_NAME, s->slot, &s->id);
    if (!s->ending)
        on_begun(ss, s);
}

/* An earlier supervisor had it started and told nobody. Or it waits for a session: it may have older settings than
 * ours. */
static void on_nobodys(struct session *s, const char *what)
{
    struct sessions *ss = s->keeper;
    uint32_t slot = s->slot;

    log_info("slot %u: %s", slot, what);
    s->waited = true;
    session_set_state(s, SESSION_GONE);
    launch_client_send(&ss->launch, LAUNCH_STOP, slot, NULL); /* or when its inventory is complete */
}

/* Its holder is of a build that has nothing in common with ours. To its owner it is a session that was stopped. */
static void on_foreign(struct session *s, const struct hold_event *e)
{
    log_error("session %s: its holder speaks version %u, and none before %u; this supervisor speaks %u to %u: it ends",
              s->name, e->version.number, e->version.oldest, IPC_OLDEST, IPC_VERSION);
    s->foreign = true;
    if (!s->found) /* else once it has said whose it is */
        sessions_end(s->keeper, s, HOLD_REASON_STOPPED, NULL);
}

/* What an earlier supervisor left says who it is. */
static void on_identity(struct session *s, const struct hold_event *e)
{
    struct sessions *ss = s->keeper;

    if (s->claims)
        on_claimed(s, e);
    if (!s->found)
        return;
    if (!id_equal(&e->identity.id, &s->id)) {
        log_error("session %s: the holder in its slot is another session's", s->name);
        session_set_state(s, SESSION_STOPPING);
        return;
    }
    if (!e->identity.actor[0]) {
        on_nobodys(s, "what was started there was nobody's yet, it is stopped");
        return;
    }
    session_table_remove(&ss->table, s);
    memcpy(s->actor, e->identity.actor, strlen(e->identity.actor) + 1);
    session_table_add(&ss->table, s);
    s->found = false;
    s->adopted = true;
    s->counts_end = true;
    s->started_wall_ms = e->identity.started_wall_ms;
    s->expires_wall_ms = e->identity.expires_wall_ms;
    s->expires_mono_ms = time_mono_ms() + s->expires_wall_ms - time_wall_ms(); /* the holder has just worked it out */
    sessions_set_timer(s, seconds_left(s) + LIFETIME_GRACE);
    log_audit(s->name, s->actor, "session is found again in slot %u", s->slot);
    if (s->foreign)
        sessions_end(ss, s, HOLD_REASON_STOPPED, NULL);
}

static double age_seconds(const struct session *s)
{
    return (double)(time_mono_us() - s->asked_us) / 1e6;
}

static void on_phase(struct session *s, const struct hold_event *e)
{
    struct sessions *ss = s->keeper;

    if (s->phase < HOLD_READY && e->phase.phase == HOLD_READY && !s->found && !s->adopted)
        metrics_observe(&ss->metrics.ready, age_seconds(s));
    s->phase = e->phase.phase;
    if (e->phase.frames > s->frames)
        s->frames = e->phase.frames;
    if (s->state != SESSION_STARTING || s->found || s->phase < HOLD_READY)
        return;
    /* Whoever was talking to a session when the supervisor died may come back, or start anew. */
    s->detached_ms = time_mono_ms();
    session_set_state(s, s->adopted ? SESSION_DETACHED : SESSION_READY);
    if (s->adopted && s->phase == HOLD_READY)
        selftest_vouched(&((struct sessions *)s->keeper)->selftest);
}

static void on_end(struct session *s, const struct hold_event *e)
{
    struct sessions *ss = s->keeper;
    double patience = seconds_left(s);

    s->reason = e->end.reason;
    s->code = e->end.code;
    sessions_count_end(s);
    log_info("session %s: agent ended, %s %d", s->name, hold_reason_name(s->reason), s->code);
    if (s->ending)
        return; /* its patience runs already */
    if (patience < (double)ss->config->detach_s)
        patience = (double)ss->config->detach_s;
    sessions_set_timer(s, patience + DELIVERY_GRACE);
    if (!s->browser)
        sessions_serve_queue(ss);
}

static void on_said(void *owner, const struct hold_event *e)
{
    struct session *s = owner;

    switch ((int)e->type) {
    case HOLD_VERSION:
        on_foreign(s, e);
        break;
    case HOLD_WARM:
        if (s->found)
            on_nobodys(s, "what waited there for a session is replaced");
        break;
    case HOLD_IDENTITY:
        on_identity(s, e);
        break;
    case HOLD_PHASE:
        on_phase(s, e);
        break;
    case HOLD_GONE:
        on_end(s, e);
        break;
    case HOLD_DONE:
        session_set_state(s, SESSION_STOPPING);
        break;
    }
}

/* What waited was gone already: its session begins anew, and nobody has noticed. */
static void begin_anew(struct session *s)
{
    struct sessions *ss = s->keeper;
    struct create_request *r = NULL;

    if (!list_empty(&s->creators))
        r = list_entry(list_entry(s->creators.next, struct waiter, link), struct create_request, waiter);
    if (r)
        list_remove(&r->waiter.link);
    sessions_forget_claim(s);
    if (!r)
        return;
    r->turn = true;
    sessions_create(ss, r);
}

/* The agent dies with its holder. Both have to when the launcher dies; the next one does not wait for good-byes. */
static void lose(struct session *s)
{
    const struct sessions *ss = s->keeper;

    if (s->claims && !s->ending) {
        begin_anew(s);
        return;
    }
    if (!s->reason && !s->asked && launch_client_ready(&ss->launch)) {
        s->reason = HOLD_REASON_SIGNALED;
        s->code = SIGKILL;
    } else if (!s->reason) {
        s->reason = s->asked ? s->asked : HOLD_REASON_STOPPED;
    }
    session_set_state(s, SESSION_STOPPING);
}

static void on_control_lost(void *owner, const char *why)
{
    struct session *s = owner;

    log_warn("session %s: its holder is lost: %s", s->name, why);
    lose(s);
}

/* It does not run, or not as it should, and would not say good-bye either. */
static void on_control_silent(void *owner)
{
    struct session *s = owner;

    log_error("session %s: its holder does not answer any more, it is killed", s->name);
    if (!s->reason)
        s->reason = s->asked ? s->asked : HOLD_REASON_STOPPED;
    session_set_state(s, SESSION_STOPPING);
}

const struct control_events sessions_control_events = { on_said, on_control_lost, on_control_silent };

int sessions_claim(struct session *s, struct err *err)
{
    struct sessions *ss = s->keeper;
    int64_t lifetime_ms = s->expires_mono_ms - time_mono_ms();
    char path[SESSIONS_PATH_MAX];

    s->claims = true;
    sessions_holder_path(ss, s->slot, path);
    s->control = control_open(ss->loop, path, HOLD_ROLE_CONTROL, &sessions_control_events, s, err);
    if (!s->control)
        return -1;
    if (control_take(s->control, &s->id, s->actor, s->started_wall_ms, lifetime_ms > 0 ? lifetime_ms : 1) < 0)
        return err_set(err, ERR_UNAVAILABLE, 0, "the holder does not listen");
    control_watch(s->control, CONTROL_PING_SECONDS);
    return 0;
}

static int open_control(struct session *s, const char *actor, int64_t started_wall_ms, int64_t lifetime_ms,
                        struct err *err)
{
    struct sessions *ss = s->keeper;
    char path[SESSIONS_PATH_MAX];

    sessions_holder_path(ss, s->slot, path);
    s->control = control_open(ss->loop, path, HOLD_ROLE_CONTROL, &sessions_control_events, s, err);
    if (!s->control)
        return -1;
    if (control_claim(s->control, actor, started_wall_ms, lifetime_ms) < 0)
        return err_set(err, ERR_UNAVAILABLE, 0, "the holder does not listen");
    control_watch(s->control, CONTROL_PING_SECONDS);
    return 0;
}

/* ---- the launcher ---- */

/* Its holder runs and has its control connection, or gets it now. */
static void on_begun(struct sessions *ss, struct session *s)
{
    int64_t lifetime_ms = s->expires_mono_ms - time_mono_ms();
    struct err err;

    if (s->state != SESSION_NEW)
        return; /* its end overtook its start; the launcher has been told */
    if (list_empty(&s->creators)) {
        log_info("session %s: nobody waits for it any more", s->name);
        session_set_state(s, SESSION_STOPPING);
        return;
    }
    session_set_state(s, SESSION_STARTING);
    metrics_observe(&ss->metrics.start, age_seconds(s));
    if (!s->control && open_control(s, s->actor, s->started_wall_ms, lifetime_ms > 0 ? lifetime_ms : 1, &err) < 0) {
        log_error("session %s: %s", s->name, err.msg);
        sessions_tell(&s->creators, s, &err);
        session_set_state(s, SESSION_STOPPING);
        return;
    }
    s->counts_end = true;
    sessions_set_timer(s, (double)lifetime_ms / 1000. + LIFETIME_GRACE);
    sessions_tell(&s->creators, s, NULL);
}

static void on_failed(struct session *s, int errnum)
{
    struct err err;

    err_set(&err, ERR_INTERNAL, errnum, "The session could not be started");
    log_error("session %s: the launcher could not start it: %s", s->name, strerror(errnum));
    sessions_tell(&s->creators, s, &err);
    session_set_state(s, SESSION_GONE);
}

static void on_holder_exited(struct session *s, int status)
{
    if (s->state >= SESSION_STOPPING)
        return;
    log_warn("session %s: its holder ended with wait status 0x%x", s->name, (unsigned)status);
    lose(s);
}

static void on_quarantined(struct session *s)
{
    struct err err;

    err_set(&err, ERR_INTERNAL, 0, "Processes of the session cannot be killed; its place is not used again");
    sessions_tell(&s->enders, s, &err);
    session_set_state(s, SESSION_GONE);
}

static void on_slot_free(struct sessions *ss, struct session *s)
{
    if (s)
        session_set_state(s, SESSION_GONE);
    selftest_want(&ss->selftest);
    sessions_retry_pending(ss);
    pool_tend(&ss->pool);
}

static void adopt(struct sessions *ss, uint32_t slot, const struct id *id)
{
    struct session *s = sessions_add(ss, id, "?", slot);
    struct err err;

    if (!s)
        return; /* stopped with the other unknown ones when the inventory is complete */
    s->found = true;
    session_set_state(s, SESSION_STARTING);
    sessions_set_timer(s, ADOPTION_PATIENCE);
    if (open_control(s, "", 0, 0, &err) < 0) {
        log_warn("session %s: left from before in slot %u, but out of reach: %s", s->name, slot, err.msg);
        session_set_state(s, SESSION_STOPPING);
    }
}

/* Whatever was there has ended, and who asked for that is told once nothing is left: as when we had it stopped. */
static void on_being_cleaned(struct sessions *ss, uint32_t slot, struct session *s)
{
    slots_set(&ss->slots, slot, SLOT_BUSY);
    if (s && s->state < SESSION_STOPPING)
        session_set_state(s, SESSION_STOPPING);
}

/* One line of the launcher's inventory. */
static void on_slot(struct sessions *ss, const struct launch_msg *m)
{
    static const enum slot_state states[] = { SLOT_FREE, SLOT_BUSY, SLOT_QUARANTINED };
    struct session *s = session_table_at(&ss->table, m->slot);
    bool same = s && m->state == LAUNCH_SLOT_BUSY && id_equal(&m->id, &s->id);

    if (m->state == LAUNCH_SLOT_QUARANTINED && m->value == LAUNCH_BEING_CLEANED) {
        on_being_cleaned(ss, m->slot, s);
        return;
    }
    slots_set(&ss->slots, m->slot, states[m->state]);
    if (s && !same && m->state == LAUNCH_SLOT_QUARANTINED)
        on_quarantined(s);
    else if (s && !same)
        session_set_state(s, SESSION_GONE);
    if (m->state == LAUNCH_SLOT_QUARANTINED)
        log_error("slot %u: quarantined, processes of an ended session cannot be killed", m->slot);
    if (m->state == LAUNCH_SLOT_BUSY && !s && ss->adopting && !session_table_find(&ss->table, &m->id))
        adopt(ss, m->slot, &m->id);
}

/* The settings may have been changed since the launcher read them; it knows what there is. */
static void count_places(struct sessions *ss, uint32_t count)
{
    if (!count || count == ss->slots.count)
        return;
    log_warn("the launcher has %u places, not %u: that is so until the service is restarted", count, ss->slots.count);
    ss->slots.count = count;
}

/* The inventory is complete: what nobody knows has to go, and what was to go still has to. */
static void on_ready(struct sessions *ss)
{
    uint32_t i;

    ss->adopting = false;
    for (i = 0; i < ss->slots.room; i++) {
        const struct session *s = session_table_at(&ss->table, i);

        if (slots_state(&ss->slots, i) == SLOT_BUSY && (!s || s->state == SESSION_STOPPING))
            launch_client_send(&ss->launch, LAUNCH_STOP, i, NULL);
    }
    log_info("launcher: connected, %u slots, %u free, %zu sessions", ss->slots.count, ss->slots.free, ss->table.count);
    selftest_want(&ss->selftest);
    sessions_retry_pending(ss);
    pool_tend(&ss->pool);
}

/* The slot's state first, then whoever has it. */
static void update_slot(struct sessions *ss, const struct launch_msg *m)
{
    if (m->op == LAUNCH_CLEAN || m->op == LAUNCH_FAILED)
        slots_set(&ss->slots, m->slot, SLOT_FREE);
    if (m->op == LAUNCH_QUARANTINED && slots_state(&ss->slots, m->slot) != SLOT_QUARANTINED) {
        slots_set(&ss->slots, m->slot, SLOT_QUARANTINED);
        log_error("slot %u: quarantined, %lld processes of an ended session cannot be killed", m->slot,
                  (long long)m->value);
    }
}

/* The launcher clears a slot by itself too, and answers a stop that crossed with that once more: by then the slot may
 * have been given again, and whoever is in it now stays. */
static bool is_old_news(const struct sessions *ss, const struct session *s, const struct launch_msg *m)
{
    const struct selftest *t = &ss->selftest;

    if (m->op != LAUNCH_CLEAN)
        return false;
    if (selftest_owns(t, m->slot))
        return t->step != SELFTEST_CLEARING && !id_equal(&m->id, &t->id);
    if (!s && pool_owns(&ss->pool, m->slot))
        return !pool_clears(&ss->pool, m->slot);
    return s && s->state < SESSION_STOPPING && !id_equal(&m->id, &s->id);
}

static void on_message(void *owner, const struct launch_msg *m)
{
    struct sessions *ss = owner;
    struct session *s = session_table_at(&ss->table, m->slot);

    if (m->op == LAUNCH_READY) {
        ss->limits = m->state;
        count_places(ss, (uint32_t)m->value);
        on_ready(ss);
        return;
    }
    if (m->op == LAUNCH_SLOT) {
        on_slot(ss, m);
        return;
    }
    if (is_old_news(ss, s, m))
        return;
    update_slot(ss, m);
    if (selftest_owns(&ss->selftest, m->slot))
        selftest_message(&ss->selftest, m);
    else if (!s && pool_owns(&ss->pool, m->slot))
        pool_message(&ss->pool, m);
    else if (s && m->op == LAUNCH_STARTED && id_equal(&s->id, &m->id))
        on_begun(ss, s);
    else if (s && m->op == LAUNCH_FAILED && s->state < SESSION_GONE)
        on_failed(s, (int)m->value);
    else if (s && m->op == LAUNCH_EXITED && id_equal(&s->id, &m->id))
        on_holder_exited(s, (int)m->value);
    else if (s && m->op == LAUNCH_QUARANTINED)
        on_quarantined(s);
    if (m->op == LAUNCH_CLEAN || m->op == LAUNCH_FAILED)
        on_slot_free(ss, session_table_at(&ss->table, m->slot));
    else if (m->op == LAUNCH_QUARANTINED)
        sessions_retry_pending(ss); /* that place does not come */
}

/* Holders end by themselves when the launcher dies; when only the channel broke, they are in the next inventory. */
static void on_launcher_lost(void *owner)
{
    struct sessions *ss = owner;
    uint32_t i;

    ss->limits = 0;
    slots_forget(&ss->slots);
    selftest_launcher_lost(&ss->selftest);
    pool_launcher_lost(&ss->pool);
    for (i = 0; i < ss->table.slots; i++) {
        struct session *s = session_table_at(&ss->table, i);

        if (s && s->state == SESSION_NEW)
            session_set_state(s, SESSION_GONE);
    }
    sessions_retry_pending(ss); /* they are told that nothing can start now */
}

const struct launch_events sessions_launch_events = { on_message, on_launcher_lost };
