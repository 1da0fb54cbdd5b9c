#include "supervisor/pool.h"

#include <string.h>

#include "shared/base/log.h"
#include "shared/base/mem.h"
#include "shared/base/time.h"
#include "shared/ipc/version.h"
#include "supervisor/sessions.h"

#define LOOK_SECONDS 0.2   /* after something has changed */
#define RENEW_SECONDS 1.5  /* for the launcher to have the new settings, too */
#define STEP_SECONDS 60.   /* for a holder and its interpreter to get ready */
#define YOUNG_MS 3000      /* a session that is not ready yet and no older is being started */
#define STAYED_MS 60000    /* one that waited so long was no failure */
#define PAUSE_MOST 300.    /* between failures */
#define PAUSE_DOUBLINGS 10 /* beyond that anyway */

static const struct control_events control_events;

/* ---- which ones ---- */

static struct pool_place *place_at(const struct pool *p, uint32_t slot)
{
    uint32_t i;

    for (i = 0; i < p->size; i++)
        if (p->places[i].step != POOL_NONE && p->places[i].slot == slot)
            return &p->places[i];
    return NULL;
}

static struct pool_place *place_in(const struct pool *p, enum pool_step step)
{
    uint32_t i;

    for (i = 0; i < p->size; i++)
        if (p->places[i].step == step)
            return &p->places[i];
    return NULL;
}

uint32_t pool_count(const struct pool *p, enum pool_step step)
{
    uint32_t i, n = 0;

    for (i = 0; i < p->size; i++)
        n += p->places[i].step == step;
    return n;
}

uint32_t pool_takeable(const struct pool *p)
{
    return pool_count(p, POOL_READY) + pool_count(p, POOL_LOADING);
}

bool pool_owns(const struct pool *p, uint32_t slot)
{
    return place_at(p, slot) != NULL;
}

bool pool_clears(const struct pool *p, uint32_t slot)
{
    const struct pool_place *w = place_at(p, slot);

    return w && w->step == POOL_CLEARING;
}

/* ---- from place to place ---- */

static void look_in(struct pool *p, double seconds)
{
    struct ev_loop *loop = p->sessions->loop;

    ev_timer_stop(loop, &p->next);
    ev_timer_set(&p->next, seconds, 0.);
    ev_timer_start(loop, &p->next);
}

/* A pause that runs is not cut short. */
void pool_tend(struct pool *p)
{
    if (p->size && !ev_is_active(&p->next))
        look_in(p, LOOK_SECONDS);
}

static void let_go(struct pool_place *w, enum pool_step to)
{
    ev_timer_stop(w->pool->sessions->loop, &w->patience);
    control_close(w->control);
    w->control = NULL;
    w->step = to;
}

static void clear(struct pool_place *w)
{
    let_go(w, POOL_CLEARING);
    launch_client_send(&w->pool->sessions->launch, LAUNCH_STOP, w->slot, NULL);
}

static void back_off(struct pool *p)
{
    double pause = 1.;
    unsigned i;

    for (i = 0; i < p->failures && i < PAUSE_DOUBLINGS; i++)
        pause *= 2;
    p->failures++;
    look_in(p, pause < PAUSE_MOST ? pause : PAUSE_MOST);
}

/* Whoever was counting on its place is looked after when that is clean. */
static void fail(struct pool_place *w, const char *why)
{
    struct pool *p = w->pool;

    log_warn("slot %u: nothing waits there any more: %s", w->slot, why);
    if (w->step == POOL_READY && time_mono_ms() - w->ready_ms > STAYED_MS)
        p->failures = 0;
    back_off(p);
    clear(w);
}

static void on_warm(struct pool_place *w, const struct hold_event *e)
{
    switch (e->warm.state) {
    case HOLD_WARM_LOST:
        fail(w, e->warm.why[0] ? e->warm.why : "its holder does not say why");
        break;
    case HOLD_WARM_MAKING:
        if (w->step == POOL_STARTING) {
            w->step = POOL_LOADING;
            sessions_retry_pending(w->pool->sessions);
        }
        break;
    case HOLD_WARM_READY:
        w->step = POOL_READY;
        w->ready_ms = time_mono_ms();
        ev_timer_stop(w->pool->sessions->loop, &w->patience);
        log_debug("slot %u: an interpreter waits there", w->slot);
        pool_tend(w->pool);
        break;
    default:
        break;
    }
}

static void on_said(void *owner, const struct hold_event *e)
{
    if (e->type == HOLD_WARM)
        on_warm(owner, e);
    else if (e->type == HOLD_VERSION)
        fail(owner, "its holder is of a build that does not work with ours");
    else if (e->type != HOLD_PHASE)
        fail(owner, "its holder speaks of a session");
}

static void on_lost(void *owner, const char *why)
{
    fail(owner, why);
}

static void on_silent(void *owner)
{
    fail(owner, "its holder does not answer any more");
}

static const struct control_events control_events = { on_said, on_lost, on_silent };

static void on_patience(struct ev_loop *loop, struct ev_timer *t, int revents)
{
    (void)loop;
    (void)revents;
    fail(t->data, "it was not ready in time");
}

/* ---- making one ---- */

static bool something_starts(const struct sessions *ss)
{
    int64_t now_us = time_mono_us();
    uint32_t i;

    for (i = 0; i < ss->table.slots; i++) {
        const struct session *s = session_table_at(&ss->table, i);

        if (s && s->state <= SESSION_ATTACHED && s->phase < HOLD_READY && !s->adopted &&
            now_us - s->asked_us < YOUNG_MS * 1000)
            return true;
    }
    return false;
}

/* Whether one is wanted at all; when not, an event will say that things have changed. */
static bool wanted(const struct pool *p)
{
    const struct sessions *ss = p->sessions;

    return place_in(p, POOL_NONE) && ss->slots.free && !ss->draining && launch_client_ready(&ss->launch) &&
           ss->launch.version >= IPC_SINCE_NAME && selftest_allows(&ss->selftest) && list_empty(&ss->pending) &&
           !ss->queue.count;
}

static void make(struct pool *p)
{
    struct sessions *ss = p->sessions;
    struct pool_place *w = place_in(p, POOL_NONE);

    if (slots_take(&ss->slots, &w->slot) < 0)
        return;
    id_new(&w->id);
    w->step = POOL_STARTING;
    ev_timer_set(&w->patience, STEP_SECONDS, 0.);
    ev_timer_start(ss->loop, &w->patience);
    if (launch_client_send(&ss->launch, LAUNCH_START, w->slot, &w->id) < 0) {
        let_go(w, POOL_NONE);
        slots_set(&ss->slots, w->slot, SLOT_FREE);
        back_off(p);
    }
}

static void on_next(struct ev_loop *loop, struct ev_timer *t, int revents)
{
    struct pool *p = t->data;

    (void)loop;
    (void)revents;
    if (!wanted(p))
        return;
    if (something_starts(p->sessions))
        look_in(p, LOOK_SECONDS);
    else if (!place_in(p, POOL_STARTING) && !place_in(p, POOL_LOADING))
        make(p);
}

int pool_init(struct pool *p, struct sessions *sessions, uint32_t size)
{
    uint32_t i;

    *p = (struct pool){ .sessions = sessions };
    ev_timer_init(&p->next, on_next, 0., 0.);
    p->next.data = p;
    if (!size)
        return 0;
    p->places = mem_zalloc(size, sizeof(*p->places));
    if (!p->places)
        return -1;
    p->size = size;
    for (i = 0; i < size; i++) {
        p->places[i].pool = p;
        ev_timer_init(&p->places[i].patience, on_patience, 0., 0.);
        p->places[i].patience.data = &p->places[i];
    }
    return 0;
}

void pool_release(struct pool *p)
{
    uint32_t i;

    if (!p->sessions)
        return;
    ev_timer_stop(p->sessions->loop, &p->next);
    for (i = 0; i < p->size; i++)
        let_go(&p->places[i], POOL_NONE);
    mem_free(p->places);
    *p = (struct pool){ 0 };
}

void pool_renew(struct pool *p)
{
    uint32_t i;

    if (!p->size)
        return;
    for (i = 0; i < p->size; i++)
        if (p->places[i].step >= POOL_STARTING && p->places[i].step <= POOL_READY)
            clear(&p->places[i]);
    p->failures = 0;
    look_in(p, RENEW_SECONDS);
}

/* ---- taking one ---- */

int pool_take(struct pool *p, uint32_t *ret_slot)
{
    struct pool_place *w = place_in(p, POOL_READY);

    if (!w)
        w = place_in(p, POOL_LOADING);
    if (!w)
        return -1;
    let_go(w, POOL_CLAIMED);
    *ret_slot = w->slot;
    return 0;
}

void pool_taken(struct pool *p, uint32_t slot)
{
    struct pool_place *w = place_at(p, slot);

    if (!w || w->step != POOL_CLAIMED)
        return;
    let_go(w, POOL_NONE);
    p->failures = 0;
    look_in(p, LOOK_SECONDS);
}

void pool_give_back(struct pool *p, uint32_t slot)
{
    struct pool_place *w = place_at(p, slot);

    if (!w || w->step != POOL_CLAIMED)
        return;
    back_off(p);
    clear(w);
}

/* ---- the launcher ---- */

static void warm_up(struct pool_place *w)
{
    struct sessions *ss = w->pool->sessions;
    char path[SESSIONS_PATH_MAX];
    struct err err;

    sessions_holder_path(ss, w->slot, path);
    w->control = control_open(ss->loop, path, HOLD_ROLE_CONTROL, &control_events, w, &err);
    if (!w->control)
        fail(w, err.msg);
    else if (control_warm_up(w->control) < 0)
        fail(w, "its holder does not listen");
    else
        control_watch(w->control, CONTROL_PING_SECONDS);
}

void pool_message(struct pool *p, const struct launch_msg *m)
{
    struct pool_place *w = place_at(p, m->slot);
    bool ours = w && id_equal(&m->id, &w->id);

    if (!w)
        return;
    if (m->op == LAUNCH_STARTED && ours && w->step == POOL_STARTING) {
        warm_up(w);
    } else if (m->op == LAUNCH_FAILED) {
        log_warn("slot %u: the launcher could not start what was to wait there: %s", w->slot, strerror((int)m->value));
        let_go(w, POOL_NONE);
        back_off(p);
    } else if (m->op == LAUNCH_EXITED && ours && w->step < POOL_CLAIMED) {
        fail(w, "its holder ended");
    } else if ((m->op == LAUNCH_CLEAN && w->step == POOL_CLEARING) || m->op == LAUNCH_QUARANTINED) {
        let_go(w, POOL_NONE);
    }
}

/* The holders end with the launcher; where only the channel broke, the next inventory shows slots that nobody knows. */
void pool_launcher_lost(struct pool *p)
{
    uint32_t i;

    for (i = 0; i < p->size; i++)
        if (p->places[i].step != POOL_CLAIMED)
            let_go(&p->places[i], POOL_NONE);
}
