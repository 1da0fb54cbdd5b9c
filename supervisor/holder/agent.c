/* The agent's process: start, output, end. Everything is drained always, but while the journal is full. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shared/base/log.h"
#include "shared/base/mem.h"
#include "supervisor/holder/holder.h"
#include "supervisor/sandbox/plan.h"

#define READ_MAX 65536
#define HARDER_S 2.0                 /* until bubblewrap itself is killed */
#define DRAIN_MOST ((size_t)2 << 20) /* more than a pipe can hold */

static void keep_tail(struct buf *tail, const char *data, size_t len)
{
    size_t over = tail->len + len > tail->max ? tail->len + len - tail->max : 0;

    if (over >= tail->len)
        buf_clear(tail);
    else
        buf_consume(tail, over);
    if (len > tail->max)
        buf_add(tail, data + len - tail->max, tail->max);
    else
        buf_add(tail, data, len);
}

void agent_output(struct holder *h, const char *data, size_t len)
{
    if (lines_feed(&h->lines, data, len, session_line, h) < 0)
        log_error("no memory for a line of output");
}

static void take_output(struct holder *h, const char *data, size_t len)
{
    bool waits = warm_hear(h); /* what comes behind "taken" is the program's */

    if (waits || h->phase == HOLD_STARTING)
        keep_tail(&h->tail, data, len);
    if (!waits)
        agent_output(h, data, len);
}

/* Bytes read, 0 when nothing is there now or ever again. */
static size_t read_output(struct holder *h)
{
    char chunk[READ_MAX];
    ssize_t n;

    do
        n = read(h->agent.proc.output, chunk, sizeof(chunk));
    while (n < 0 && errno == EINTR);
    if (n > 0) {
        take_output(h, chunk, (size_t)n);
        return (size_t)n;
    }
    if (n == 0 || errno != EAGAIN)
        h->agent.unreadable = true;
    return 0;
}

void agent_flow(struct holder *h)
{
    struct agent *a = &h->agent;
    bool full = journal_is_full(&h->journal);

    if (!a->forked || a->finishing)
        return;
    agent_ws_pause(&h->ws, full);
    if (full || a->unreadable || a->proc.output < 0)
        ev_io_stop(h->loop, &a->output);
    else
        ev_io_start(h->loop, &a->output);
}

static void on_output(struct ev_loop *loop, ev_io *w, int events)
{
    struct holder *h = w->data;

    (void)loop;
    (void)events;
    read_output(h);
    attach_pump(h);
    agent_flow(h);
}

/* ---- the end -------------------------------------------------------------------------------------- */

static bool inner_gone(const struct agent *a)
{
    struct pollfd p = { .fd = a->inner, .events = POLLIN };

    return a->inner < 0 || poll(&p, 1, 0) > 0;
}

static void read_reports(struct holder *h);

/* Nothing of the sandbox runs any more: what it left in pipes and in its socket is all that comes. */
static void finish(struct holder *h)
{
    struct agent *a = &h->agent;
    size_t total = 0, n;

    read_reports(h);
    (void)warm_hear(h);
    ev_io_stop(h->loop, &a->output);
    ev_io_stop(h->loop, &a->report);
    ev_io_stop(h->loop, &a->gone);
    ev_timer_stop(h->loop, &a->harder);
    while (total < DRAIN_MOST && (n = read_output(h)))
        total += n;
    lines_end(&h->lines, session_line, h);
    a->finishing = true;
    agent_ws_finish(&h->ws); /* agent_finished() follows */
}

void agent_finished(struct holder *h)
{
    struct agent *a = &h->agent;
    struct err err = { 0 };
    bool failed = !a->running && spawn_failed_step(&a->proc, &err) < 0;

    way_out_close(&h->way_out);
    warm_deaf(h);
    spawn_close(&a->proc);
    cleanup_fd_close(&a->inner);
    a->inner = -1;
    a->forked = a->finishing = false;
    session_agent_gone(h, failed ? &err : NULL);
}

static void check_gone(struct holder *h)
{
    struct agent *a = &h->agent;

    if (!a->child_gone)
        return;
    if (inner_gone(a)) {
        finish(h);
        return;
    }
    /* bubblewrap went first: its child dies with it, and is ours to wait for */
    (void)syscall(SYS_pidfd_send_signal, a->inner, SIGKILL, NULL, 0);
    ev_io_set(&a->gone, a->inner, EV_READ);
    ev_io_start(h->loop, &a->gone);
}

static void on_child(struct ev_loop *loop, ev_child *w, int events)
{
    struct holder *h = w->data;

    (void)events;
    ev_child_stop(loop, w);
    h->agent.child_gone = true;
    h->agent.status = w->rstatus;
    if (h->config.sandbox == SANDBOX_OFF)
        agent_kill(h); /* others of its user may live on */
    check_gone(h);
}

static void on_gone(struct ev_loop *loop, ev_io *w, int events)
{
    (void)events;
    ev_io_stop(loop, w);
    check_gone(w->data);
}

/* bubblewrap tells the PID of the first process once, before it builds anything. */
static void find_inner(struct agent *a)
{
    pid_t pid = a->inner < 0 && !a->child_gone ? spawn_inner_pid(&a->proc) : -1;

    if (pid > 0)
        a->inner = spawn_open_pidfd(pid, a->proc.pid);
}

/* Without a sandbox: all of the session's user but ourselves, if we are such a user. */
static void kill_user(struct holder *h)
{
    if ((int64_t)getuid() >= h->config.session_uid_base)
        kill(-1, SIGKILL);
    else if (!h->agent.child_gone)
        kill(-h->agent.proc.pid, SIGKILL);
}

void agent_kill(struct holder *h)
{
    struct agent *a = &h->agent;

    if (!a->forked || a->finishing)
        return;
    if (h->config.sandbox == SANDBOX_OFF) {
        kill_user(h);
        return;
    }
    find_inner(a);
    if (a->inner >= 0)
        (void)syscall(SYS_pidfd_send_signal, a->inner, SIGKILL, NULL, 0);
    else if (!a->child_gone)
        kill(a->proc.pid, SIGKILL);
    ev_timer_start(h->loop, &a->harder);
}

static void on_harder(struct ev_loop *loop, ev_timer *w, int events)
{
    struct holder *h = w->data;

    (void)events;
    ev_timer_stop(loop, w);
    if (h->agent.forked && !h->agent.child_gone)
        kill(h->agent.proc.pid, SIGKILL);
}

/* ---- reports -------------------------------------------------------------------------------------- */

static void running(struct holder *h)
{
    struct agent *a = &h->agent;

    if (a->running)
        return;
    a->running = true;
    find_inner(a);
    if (h->private_network && a->inner < 0)
        log_warn("the sandbox's first process is not known: the agent will not be reached");
    if (!warm_waits(h))
        session_running(h);
}

/* Without it the agent would wait for nobody. */
static void open_way_out(struct holder *h, int listener)
{
    struct err err = { 0 };

    if (h->agent.running) {
        close(listener); /* too late: this is not what made the socket */
    } else if (way_out_open(&h->way_out, h->loop, listener, &h->config, &err) < 0) {
        log_error("%s", err.msg);
        session_end(h, HOLD_REASON_START_FAILED);
    }
}

static void read_reports(struct holder *h)
{
    struct agent *a = &h->agent;
    struct pid1_report r;
    int got, listener;

    while ((got = spawn_next_report(&a->proc, &r, &listener)) == 1) {
        if (r.kind == PID1_READY) {
            running(h);
        } else if (r.kind == PID1_LISTENS) {
            open_way_out(h, listener);
        } else if (!a->ended) {
            a->ended = true;
            a->end = r;
        }
    }
    if (got < 0)
        ev_io_stop(h->loop, &a->report);
}

static void on_report(struct ev_loop *loop, ev_io *w, int events)
{
    (void)loop;
    (void)events;
    read_reports(w->data);
}

/* ---- the start ------------------------------------------------------------------------------------ */

static int plan_and_spawn(struct holder *h, bool waits, struct err *err)
{
    static const char *const program[] = { "agent.py", NULL };
    const struct sandbox_site site = {
        .slot = h->slot,
        .uid = getuid(),
        .work = h->work,
        .program = program,
        .waits = waits,
        .service = environ,
        .extra = &h->bundle.extra,
        .entered = &h->entered,
    };
    struct sandbox_plan plan = { 0 };
    int r;

    if (sandbox_plan_make(&plan, &h->config, &h->facts, &site, err) < 0)
        return -1;
    h->port = plan.port;
    h->private_network = plan.private_network;
    r = spawn_start(&h->agent.proc, &plan, err);
    sandbox_plan_release(&plan);
    return r;
}

int agent_start(struct holder *h, bool waits, struct err *err)
{
    struct agent *a = &h->agent;

    facts_release(&h->facts);
    if (facts_probe(&h->facts, &h->config, err) < 0 || plan_and_spawn(h, waits, err) < 0)
        return -1;
    a->forked = true;
    ev_io_set(&a->output, a->proc.output, EV_READ);
    ev_io_set(&a->report, a->proc.report, EV_READ);
    ev_child_set(&a->child, a->proc.pid, 0);
    ev_io_start(h->loop, &a->output);
    ev_io_start(h->loop, &a->report);
    ev_child_start(h->loop, &a->child);
    return 0;
}

void agent_init(struct holder *h)
{
    struct agent *a = &h->agent;

    *a = (struct agent){ .inner = -1, .proc = { .output = -1, .report = -1, .info = -1, .steps = -1, .wait = -1 } };
    ev_init(&a->output, on_output);
    ev_init(&a->report, on_report);
    ev_init(&a->gone, on_gone);
    ev_init(&a->child, on_child);
    ev_timer_init(&a->harder, on_harder, HARDER_S, 0);
    a->output.data = a->report.data = a->gone.data = a->child.data = a->harder.data = h;
}

void agent_release(struct holder *h)
{
    way_out_close(&h->way_out);
    spawn_close(&h->agent.proc);
    cleanup_fd_close(&h->agent.inner);
    h->agent.inner = -1;
}
