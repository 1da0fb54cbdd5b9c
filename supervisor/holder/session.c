/* Phases of a session and the only place where it ends. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shared/base/log.h"
#include "shared/base/mem.h"
#include "shared/base/time.h"
#include "supervisor/holder/beneath.h"
#include "supervisor/holder/holder.h"

#define BUNDLE_S 60.0       /* for the program to arrive */
#define FIRST_ATTACH_S 10.0 /* at least, for the first browser */
#define STOPPED_S 2.0       /* for a browser to take the rest of a session that was asked to stop */
#define UNSEEN_S 0.5        /* for the worker to hear why there is none: nobody else knows of the session */
#define LINGER_MOST_MS 300000
#define FAREWELL_S 60.0 /* for the launcher to stop us after HOLD_DONE */
#define TICK_S 1.0
#define CLOCK_SLACK_MS 1000                   /* what clocks drift apart is no jump */
#define FRAME_MOST (6 * LINES_PART_MAX + 256) /* a line, every byte escaped */
#define TAIL_MAX ((size_t)32 << 10)

/* ---- phases --------------------------------------------------------------------------------------- */

#define TO(p) (1u << HOLD_##p)

static const unsigned allowed[HOLD_PHASE__MAX] = {
    [HOLD_WAITING] = TO(STARTING) | TO(ENDED),
    [HOLD_STARTING] = TO(READY) | TO(ENDED),
    [HOLD_READY] = TO(ENDED),
};

static void set_phase(struct holder *h, enum hold_phase to)
{
    if (h->phase == to)
        return;
    if (!((allowed[h->phase] >> to) & 1u)) {
        log_error("phase %s cannot become %s", hold_phase_name(h->phase), hold_phase_name(to));
        return;
    }
    log_debug("phase %s -> %s", hold_phase_name(h->phase), hold_phase_name(to));
    h->phase = to;
    control_phase(h);
}

static void restart(struct holder *h, ev_timer *t, double after)
{
    ev_timer_stop(h->loop, t);
    ev_timer_set(t, after, 0);
    ev_timer_start(h->loop, t);
}

/* A session that nobody looks at ends after a while. Until it is ready, its deadline is enough. */
static void watch_detached(struct holder *h, double at_least)
{
    double grace = (double)h->config.detach_s;

    if (h->phase != HOLD_READY || h->attach)
        ev_timer_stop(h->loop, &h->detach);
    else
        restart(h, &h->detach, grace > at_least ? grace : at_least);
}

/* A clock that was set meanwhile takes the time of the end along. */
uint64_t session_expires_wall_ms(const struct holder *h)
{
    int64_t lived = time_mono_ms() - h->begun_mono_ms, shown = time_wall_ms() - h->begun_wall_ms;
    int64_t jump = shown - lived;

    return jump > CLOCK_SLACK_MS || jump < -CLOCK_SLACK_MS ? (uint64_t)((int64_t)h->expires_wall_ms + jump)
                                                           : h->expires_wall_ms;
}

void session_begin(struct holder *h, const char *actor, uint64_t started_wall_ms, uint64_t lifetime_ms)
{
    (void)snprintf(h->actor, sizeof(h->actor), "%s", actor);
    h->started_wall_ms = started_wall_ms;
    h->begun_mono_ms = time_mono_ms();
    h->begun_wall_ms = time_wall_ms();
    h->expires_wall_ms = (uint64_t)h->begun_wall_ms + lifetime_ms;
    if (h->phase != HOLD_ENDED)
        restart(h, &h->lifetime, (double)lifetime_ms / 1000.0);
}

void session_await_nothing(struct holder *h)
{
    ev_timer_stop(h->loop, &h->lifetime);
    ev_timer_stop(h->loop, &h->ready);
}

void session_await_bundle(struct holder *h)
{
    restart(h, &h->ready, BUNDLE_S);
}

void session_start_agent(struct holder *h)
{
    struct err err = { 0 };

    if (agent_start(h, false, &err) == 0)
        return;
    bundle_failed(h, &err);
    session_end(h, HOLD_REASON_START_FAILED);
}

int session_start(struct holder *h, struct err *err)
{
    struct stat st;

    if (beneath_mkdir(h->work_fd, "tmp") < 0)
        return errno == ENOSPC || errno == EDQUOT
                   ? err_set(err, ERR_UNAVAILABLE, errno, "There is no room for the files of another session")
                   : err_set(err, ERR_BAD_REQUEST, 0, "tmp belongs to the session and must be a directory");
    if (fstatat(h->work_fd, "agent.py", &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
        return err_set(err, ERR_BAD_REQUEST, 0, "the program has no agent.py");
    set_phase(h, HOLD_STARTING); /* before the start: its first output belongs to this phase */
    restart(h, &h->ready, (double)h->config.ready_s);
    if (!warm_go(h))
        session_start_agent(h);
    return 0;
}

void session_running(struct holder *h)
{
    bundle_started(h);
    if (h->phase == HOLD_STARTING && !h->ending)
        agent_ws_start(&h->ws, h->private_network ? h->agent.inner : -1, h->port, h->session);
}

/* The agent took our handshake. */
static void ready(struct holder *h)
{
    if (h->phase != HOLD_STARTING)
        return; /* opened again */
    ev_timer_stop(h->loop, &h->ready);
    buf_release(&h->tail);
    set_phase(h, HOLD_READY);
    watch_detached(h, FIRST_ATTACH_S);
}

/* ---- frames --------------------------------------------------------------------------------------- */

/* One frame for the browser, which may be taken out of its buffer. */
static void add_frame(struct holder *h, struct buf *frame)
{
    if (!buf_failed(frame) && journal_take(&h->journal, frame) == 0)
        return;
    log_error("no memory for a frame: the session ends");
    session_end(h, HOLD_REASON_STOPPED);
}

void session_line(void *arg, const char *line, size_t len)
{
    struct holder *h = arg;
    const char *name;
    size_t name_len;
    auto_buf struct buf b;

    buf_init(&b, FRAME_MOST);
    if (lines_state_name(line, len, &name, &name_len)) {
        lines_put_state(&b, name, name_len);
        add_frame(h, &b);
        buf_clear(&b);
    }
    lines_put_stdout(&b, line, len);
    add_frame(h, &b);
    if (h->phase == HOLD_STARTING && len && memmem(line, len, "WebSocketPlatform starting at", 29))
        agent_ws_hint(&h->ws);
}

static void add_error(struct holder *h, const char *text, const struct buf *output)
{
    auto_buf struct buf all, frame;

    buf_init(&all, TAIL_MAX + 1024);
    buf_init(&frame, 6 * (TAIL_MAX + 1024) + 256);
    buf_add_str(&all, text);
    if (output && output->len) {
        buf_add_char(&all, '\n');
        buf_add(&all, output->data, output->len);
    }
    lines_put_error(&frame, all.data ? all.data : "", all.len);
    add_frame(h, &frame);
}

/* ---- the agent's WebSocket ------------------------------------------------------------------------ */

static void on_opened(void *arg)
{
    ready(arg);
}

/* They go out together once all that is there has been read. */
static void on_message(void *arg, struct buf *text)
{
    struct holder *h = arg;

    transcript_add(&h->transcript, HOLD_SAID_AGENT, time_mono_ms(), text->data, text->len);
    if (journal_take(&h->journal, text) < 0) {
        log_error("no memory for a frame: the session ends");
        session_end(h, HOLD_REASON_STOPPED);
        return;
    }
    agent_flow(h);
}

static void on_refused(void *arg, const char *why)
{
    struct holder *h = arg;

    add_error(h, why, NULL);
    attach_pump(h);
}

static void on_turned(void *arg)
{
    attach_pump(arg);
}

static void on_drained(void *arg)
{
    attach_drained(arg);
}

static void on_finished(void *arg)
{
    agent_finished(arg);
}

/* ---- the end -------------------------------------------------------------------------------------- */

static void stop_timers(struct holder *h)
{
    ev_timer_stop(h->loop, &h->lifetime);
    ev_timer_stop(h->loop, &h->ready);
    ev_timer_stop(h->loop, &h->detach);
}

static void finish_done(struct holder *h)
{
    if (h->done)
        return;
    h->done = true;
    ev_timer_stop(h->loop, &h->linger);
    control_done(h);
    if (h->launcher_gone)
        ev_break(h->loop, EVBREAK_ALL);
    else
        restart(h, &h->farewell, FAREWELL_S);
}

/* How long somebody may still want what is here. */
static double linger_s(const struct holder *h)
{
    if (h->reason == HOLD_REASON_STOPPED || h->launcher_gone)
        return h->attach ? STOPPED_S : 0;
    if (!h->agent.running && !h->attach)
        return UNSEEN_S;
    return (double)h->config.detach_s;
}

static void linger(struct holder *h)
{
    double s = linger_s(h);

    if (s > 0)
        restart(h, &h->linger, s);
    else
        finish_done(h);
}

static void finish_session(struct holder *h)
{
    struct err stopped = { .kind = ERR_UNAVAILABLE };

    stop_timers(h);
    (void)snprintf(stopped.msg, sizeof(stopped.msg), "the session has ended (%s)", hold_reason_name(h->reason));
    bundle_failed(h, &stopped);
    h->ending = true;
    h->ended_mono_ms = time_mono_ms();
    set_phase(h, HOLD_ENDED);
    log_info("ended: %s %u", hold_reason_name(h->reason), h->code);
    control_gone(h);
    attach_pump(h); /* also tells the browser */
    if (!h->done)
        linger(h);
}

void session_end(struct holder *h, enum hold_reason reason)
{
    if (h->ending || h->phase == HOLD_ENDED) {
        if (h->phase == HOLD_ENDED && reason == HOLD_REASON_STOPPED && !h->attach)
            finish_done(h); /* nobody waits, and the owner does not want it any more */
        return;
    }
    h->ending = true;
    h->reason = reason;
    h->code = 0;
    stop_timers(h);
    if (h->agent.forked)
        agent_kill(h); /* session_agent_gone() follows */
    else
        finish_session(h);
}

/* It never got ready: the browser gets a sentence and the newest output. */
static void tell_start_failed(struct holder *h, const struct err *start_error)
{
    char text[700];

    verdict_sentence(h, start_error, text, sizeof(text));
    add_error(h, text, &h->tail);
    h->reason = HOLD_REASON_START_FAILED;
}

/* The worker still waits when the interpreter was never executed. */
static void tell_worker(struct holder *h, const struct err *start_error)
{
    struct err err = { 0 };

    verdict_of_start(h, start_error, &err);
    log_error("%s", err.msg);
    bundle_failed(h, &err);
}

void session_agent_gone(struct holder *h, const struct err *start_error)
{
    if (!h->ending && warm_lost(h, start_error))
        return;
    if (warm_waits(h)) {
        h->agent.running = false; /* it was no program */
        if (h->phase == HOLD_WAITING) {
            finish_session(h);
            return;
        }
    }
    if (!h->ending)
        verdict_find(h);
    if (!h->agent.running && (!h->ending || h->reason == HOLD_REASON_START_FAILED))
        tell_worker(h, start_error);
    if (h->phase == HOLD_STARTING && (!h->ending || h->reason == HOLD_REASON_START_FAILED))
        tell_start_failed(h, start_error);
    finish_session(h);
}

/* ---- browsers and time ---------------------------------------------------------------------------- */

void session_attached(struct holder *h)
{
    watch_detached(h, 0);
    if (h->phase == HOLD_ENDED && !h->done)
        linger(h);
    control_phase(h);
}

void session_detached(struct holder *h)
{
    watch_detached(h, 0);
    control_phase(h);
}

void session_delivered(struct holder *h)
{
    control_phase(h);
    finish_done(h);
}

void session_progress(struct holder *h)
{
    bool too_long = time_mono_ms() > h->ended_mono_ms + LINGER_MOST_MS;

    if (!h->done && !too_long && h->reason != HOLD_REASON_STOPPED)
        linger(h);
}

static void on_lifetime(struct ev_loop *loop, ev_timer *w, int events)
{
    (void)loop;
    (void)events;
    session_end(w->data, HOLD_REASON_EXPIRED);
}

static void on_ready_deadline(struct ev_loop *loop, ev_timer *w, int events)
{
    (void)loop;
    (void)events;
    session_end(w->data, HOLD_REASON_START_FAILED);
}

static void on_detach(struct ev_loop *loop, ev_timer *w, int events)
{
    (void)loop;
    (void)events;
    session_end(w->data, HOLD_REASON_STOPPED);
}

static void on_linger(struct ev_loop *loop, ev_timer *w, int events)
{
    struct holder *h = w->data;

    (void)loop;
    (void)events;
    if (h->attach)
        conn_close(h->attach);
    finish_done(h);
}

static void on_farewell(struct ev_loop *loop, ev_timer *w, int events)
{
    (void)w;
    (void)events;
    ev_break(loop, EVBREAK_ALL);
}

static void on_turn(struct ev_loop *loop, ev_prepare *w, int events)
{
    (void)loop;
    (void)events;
    control_count(w->data);
}

/* A browser whose frames wait is not read, so its end is asked for. */
static void on_tick(struct ev_loop *loop, ev_timer *w, int events)
{
    struct holder *h = w->data;

    (void)loop;
    (void)events;
    h->tells = CONTROL_COUNTS;
    control_count(h);
    if (h->attach && h->attach->paused && conn_peer_gone(h->attach))
        conn_close(h->attach);
}

/* The launcher has died: nobody may stop us later, so it ends now. */
static void on_life(struct ev_loop *loop, ev_io *w, int events)
{
    struct holder *h = w->data;

    (void)events;
    ev_io_stop(loop, w);
    log_warn("the launcher is gone: the session ends");
    h->launcher_gone = true;
    if (h->phase == HOLD_ENDED)
        finish_done(h);
    else
        session_end(h, HOLD_REASON_STOPPED);
    if (h->done)
        ev_break(loop, EVBREAK_ALL);
}

void session_init(struct holder *h)
{
    const struct agent_ws_events events = {
        .opened = on_opened,
        .message = on_message,
        .refused = on_refused,
        .turned = on_turned,
        .drained = on_drained,
        .finished = on_finished,
        .arg = h,
    };

    journal_init(&h->journal, (size_t)h->config.replay_bytes);
    transcript_init(&h->transcript, (size_t)h->config.replay_bytes, time_mono_ms(), (uint64_t)time_wall_ms());
    lines_init(&h->lines);
    buf_init(&h->tail, TAIL_MAX);
    agent_init(h);
    agent_ws_init(&h->ws, h->loop, &events);
    ev_init(&h->lifetime, on_lifetime);
    ev_init(&h->ready, on_ready_deadline);
    ev_init(&h->detach, on_detach);
    ev_init(&h->linger, on_linger);
    ev_init(&h->farewell, on_farewell);
    ev_timer_init(&h->tick, on_tick, TICK_S, TICK_S);
    ev_io_init(&h->life, on_life, h->life_fd, EV_READ);
    h->lifetime.data = h->ready.data = h->detach.data = h->linger.data = h;
    h->farewell.data = h->tick.data = h->life.data = h;
    ev_prepare_init(&h->turn, on_turn);
    h->turn.data = h;
    h->tells = CONTROL_COUNTS;
    ev_prepare_start(h->loop, &h->turn);
    ev_timer_start(h->loop, &h->tick);
    ev_io_start(h->loop, &h->life);
    warm_init(h);
    session_begin(h, "", (uint64_t)time_wall_ms(), (uint64_t)h->config.session_lifetime_s * 1000);
    session_await_bundle(h);
}
