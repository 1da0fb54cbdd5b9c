#include "supervisor/selftest.h"

#include <stdio.h>
#include <string.h>

#include "shared/base/log.h"
#include "supervisor/sessions.h"

#define STEP_SECONDS 20.
/* Doubles with each failure: a full disk is over soon, a machine without namespaces stays one. */
#define AGAIN_SECONDS 1.
#define AGAIN_MOST 30.

static void set_timer(struct selftest *t, double seconds)
{
    ev_timer_stop(t->sessions->loop, &t->timer);
    ev_timer_set(&t->timer, seconds, 0.);
    ev_timer_start(t->sessions->loop, &t->timer);
}

static void try_again(struct selftest *t)
{
    set_timer(t, t->pause);
    t->pause = t->pause * 2 > AGAIN_MOST ? AGAIN_MOST : t->pause * 2;
}

static void decide(struct selftest *t, bool passed, const char *reason)
{
    if (passed && !t->passed)
        log_info("sandbox: self-test passed");
    t->passed = passed;
    t->judged = true;
    if (passed) {
        t->pause = AGAIN_SECONDS;
        snprintf(t->verdict, sizeof(t->verdict), "ok");
        return;
    }
    snprintf(t->verdict, sizeof(t->verdict), "unavailable: %s", reason);
    log_error("sandbox: %s; no session is started until its self-test passes", t->verdict);
}

static void clear_slot(struct selftest *t)
{
    control_close(t->control);
    t->control = NULL;
    t->step = SELFTEST_CLEARING;
    try_again(t);
    launch_client_send(&t->sessions->launch, LAUNCH_STOP, t->slot, NULL);
}

static void fail(struct selftest *t, const char *reason)
{
    decide(t, false, reason);
    clear_slot(t);
}

static void on_said(void *owner, const struct hold_event *e)
{
    struct selftest *t = owner;

    t->proven = e->probed.ok;
    if (!t->proven)
        decide(t, false, e->probed.text[0] ? e->probed.text : "the self-test failed without a reason");
    clear_slot(t);
}

static void on_lost(void *owner, const char *why)
{
    char text[256];

    snprintf(text, sizeof(text), "the self-test's holder did not answer: %s", why);
    fail(owner, text);
}

static const struct control_events control_events = { on_said, on_lost, NULL };

static void probe(struct selftest *t)
{
    char path[SESSIONS_PATH_MAX];
    struct err err;

    sessions_holder_path(t->sessions, t->slot, path);
    t->control = control_open(t->sessions->loop, path, HOLD_ROLE_PROBE, &control_events, t, &err);
    if (!t->control || control_probe(t->control) < 0) {
        fail(t, t->control ? "the self-test's holder does not listen" : err.msg);
        return;
    }
    t->step = SELFTEST_PROBING;
    set_timer(t, STEP_SECONDS);
}

static void start(struct selftest *t)
{
    if (t->step != SELFTEST_IDLE || !launch_client_ready(&t->sessions->launch))
        return;
    if (slots_take(&t->sessions->slots, &t->slot) < 0)
        return; /* tried again as soon as one comes free */
    t->wanted = t->proven = false;
    id_new(&t->id);
    t->step = SELFTEST_STARTING;
    set_timer(t, STEP_SECONDS);
    launch_client_send(&t->sessions->launch, LAUNCH_START, t->slot, &t->id);
}

static void on_timer(struct ev_loop *loop, struct ev_timer *w, int revents)
{
    struct selftest *t = w->data;

    (void)loop;
    (void)revents;
    if (t->step == SELFTEST_STARTING || t->step == SELFTEST_PROBING) {
        fail(t, "the self-test did not end in time");
    } else if (!t->passed) {
        t->wanted = true;
        start(t);
    }
}

void selftest_init(struct selftest *t, struct sessions *sessions, bool off)
{
    *t = (struct selftest){ .sessions = sessions, .off = off, .passed = off, .wanted = !off, .pause = AGAIN_SECONDS };
    snprintf(t->verdict, sizeof(t->verdict), "%s", off ? "off" : "unavailable: the launcher has not answered yet");
    ev_timer_init(&t->timer, on_timer, 0., 0.);
    t->timer.data = t;
}

void selftest_release(struct selftest *t)
{
    if (!t->sessions)
        return;
    ev_timer_stop(t->sessions->loop, &t->timer);
    control_close(t->control);
    t->control = NULL;
}

void selftest_want(struct selftest *t)
{
    if (t->wanted)
        start(t);
}

void selftest_vouched(struct selftest *t)
{
    if (!t->passed && t->step == SELFTEST_IDLE && t->wanted && !t->sessions->slots.free)
        decide(t, true, ""); /* it stays wanted: tried all the same when a slot comes free */
}

void selftest_launcher_lost(struct selftest *t)
{
    if (t->off)
        return;
    ev_timer_stop(t->sessions->loop, &t->timer);
    control_close(t->control);
    t->control = NULL;
    t->step = SELFTEST_IDLE;
    t->passed = t->judged = false;
    t->wanted = true;
    snprintf(t->verdict, sizeof(t->verdict), "unavailable: the launcher does not answer");
}

bool selftest_owns(const struct selftest *t, uint32_t slot)
{
    return t->step != SELFTEST_IDLE && t->slot == slot;
}

void selftest_message(struct selftest *t, const struct launch_msg *m)
{
    char text[128];

    if (m->op == LAUNCH_STARTED && t->step == SELFTEST_STARTING && id_equal(&m->id, &t->id)) {
        probe(t);
    } else if (m->op == LAUNCH_FAILED) {
        snprintf(text, sizeof(text), "the launcher could not start the self-test: %s", strerror((int)m->value));
        decide(t, false, text);
        t->step = SELFTEST_IDLE;
        try_again(t);
    } else if (m->op == LAUNCH_EXITED && t->step != SELFTEST_CLEARING) {
        fail(t, "the self-test's holder ended");
    } else if (m->op == LAUNCH_CLEAN) {
        t->step = SELFTEST_IDLE;
        if (t->proven)
            decide(t, true, "");
        if (t->passed)
            ev_timer_stop(t->sessions->loop, &t->timer);
    } else if (m->op == LAUNCH_QUARANTINED) {
        t->step = SELFTEST_IDLE;
        decide(t, false, "the processes of the self-test cannot be killed");
    }
}

bool selftest_allows(const struct selftest *t)
{
    return t->passed;
}

bool selftest_decides_soon(const struct selftest *t)
{
    return !t->passed && !t->judged && t->step != SELFTEST_IDLE;
}
