#include "supervisor/holder/agent_ws.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "shared/base/log.h"
#include "shared/base/mem.h"
#include "shared/base/time.h"
#include "supervisor/holder/agent_ws_frames.h"
#include "supervisor/holder/ws_upgrade.h"
#include "supervisor/sandbox/netns.h"

#define PROBE_S 0.25     /* between refused connections */
#define PROBE_SOON_S .05 /* the same for an agent that has just started: somebody waits for its first word */
#define SOON_MS 3000
#define REOPEN_SOON_S .01 /* after the agent closed over a frame that it could not read */
#define REOPEN_S 0.1      /* after it closed for reasons of its own; doubles while that repeats */
#define REOPEN_MOST_S 2.0
#define STABLE_MS 5000 /* a connection that lived so long starts the count anew */
#define HANDSHAKE_S 10.0
#define MAKE_S 5.0
#define ANSWER_CHUNK 2048
#define HINT_MS 20 /* between attempts, however often the agent says that it listens */
#define FINISH_S 0.5
#define FINISH_MOST ((size_t)32 << 20) /* what may still come from a dead agent: more than sockets hold */

static const char too_many_bad[] =
    "The agent cannot read these messages (what it takes is a JSON object with an action and a "
    "message); some were not passed on.";

/* ---- ends ----------------------------------------------------------------------------------------- */

static void stop_io(struct agent_ws *w)
{
    ev_io_stop(w->loop, &w->reader);
    ev_io_stop(w->loop, &w->writer);
    ev_io_stop(w->loop, &w->made);
    ev_timer_stop(w->loop, &w->timer);
}

/* The one place where a connection ends; harmless when there is none. */
static void disconnect(struct agent_ws *w)
{
    stop_io(w);
    cleanup_fd_close(&w->fd);
    cleanup_fd_close(&w->answer);
    w->fd = w->answer = -1;
    mem_free(w->rx);
    w->rx = NULL;
    w->rx_pos = w->rx_len = w->words_sent = 0;
    w->in_frame = w->in_message = w->more = w->close_received = w->deaf = false;
    buf_release(&w->head);
    buf_release(&w->message);
    buf_release(&w->words);
}

void agent_ws_set_timer(struct agent_ws *w, double after)
{
    ev_timer_stop(w->loop, &w->timer);
    ev_timer_set(&w->timer, after, 0);
    ev_timer_start(w->loop, &w->timer);
}

static void wait_again(struct agent_ws *w, double pause)
{
    disconnect(w);
    w->state = WS_WAITING;
    agent_ws_set_timer(w, pause);
}

static void forget_frames(struct agent_ws *w)
{
    agent_queue_release(&w->queue);
    ev_timer_stop(w->loop, &w->keep);
}

static void go_off(struct agent_ws *w)
{
    disconnect(w);
    forget_frames(w);
    w->state = WS_OFF;
    w->finishing = false;
    w->events.finished(w->events.arg);
}

void agent_ws_reopen(struct agent_ws *w)
{
    bool was_full = agent_ws_is_full(w), soon = w->queue.keeping;

    if (w->finishing) {
        go_off(w);
        return;
    }
    if (w->opened_at && time_mono_ms() - w->opened_at > STABLE_MS)
        w->pause = REOPEN_S;
    w->opened_at = 0;
    if (soon) {
        wait_again(w, REOPEN_SOON_S);
    } else {
        wait_again(w, w->pause);
        w->pause = w->pause * 2 > REOPEN_MOST_S ? REOPEN_MOST_S : w->pause * 2;
    }
    ev_timer_stop(w->loop, &w->keep);
    if (agent_queue_again(&w->queue))
        w->events.refused(w->events.arg, "The agent closed again and again in the middle of a frame; it was dropped.");
    if (w->queue.dropped)
        w->events.refused(w->events.arg, too_many_bad);
    if (was_full && !agent_ws_is_full(w))
        w->events.drained(w->events.arg);
}

static void on_kept_long_enough(struct ev_loop *loop, ev_timer *t, int events)
{
    struct agent_ws *w = t->data;

    (void)loop;
    (void)events;
    agent_queue_forget(&w->queue);
    if (w->state == WS_OPEN)
        agent_ws_watch(w);
}

/* ---- handshake ------------------------------------------------------------------------------------ */

static void opened(struct agent_ws *w, size_t answer_len)
{
    size_t rest = w->head.len - answer_len;

    w->rx = mem_zalloc(1, AGENT_WS_RX_SIZE);
    if (!w->rx || rest > AGENT_WS_RX_SIZE) {
        agent_ws_reopen(w);
        return;
    }
    memcpy(w->rx, w->head.data + answer_len, rest); /* the agent's first frames may follow at once */
    w->rx_len = rest;
    buf_release(&w->head);
    ev_timer_stop(w->loop, &w->timer);
    agent_ws_begin(w);
    w->state = WS_OPEN;
    w->opened_at = time_mono_ms();
    w->events.opened(w->events.arg);
    agent_ws_watch(w);
}

static void read_answer(struct agent_ws *w)
{
    char chunk[ANSWER_CHUNK];
    struct err err = { 0 };
    ssize_t n = recv(w->fd, chunk, sizeof(chunk), 0);
    ptrdiff_t len;

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0 || buf_add(&w->head, chunk, (size_t)n) < 0) {
        agent_ws_reopen(w);
        return;
    }
    len = ws_upgrade_answer(w->head.data, w->head.len, w->key, &err);
    if (len < 0) {
        log_debug("%s", err.msg);
        agent_ws_reopen(w);
    } else if (len > 0) {
        opened(w, (size_t)len);
    }
}

static void send_request(struct agent_ws *w)
{
    auto_buf struct buf request;
    uint8_t random[16];
    int one = 1;

    buf_init(&request, 1024);
    if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random)) {
        agent_ws_reopen(w);
        return;
    }
    ws_upgrade_key(random, w->key);
    ws_upgrade_request(&request, w->port, w->key, w->session);
    (void)setsockopt(w->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    /* A fresh connection takes so few bytes at once. */
    if (buf_failed(&request) || send(w->fd, request.data, request.len, MSG_NOSIGNAL) != (ssize_t)request.len) {
        agent_ws_reopen(w);
        return;
    }
    buf_init(&w->head, WS_ANSWER_MAX + 2 * (size_t)ANSWER_CHUNK);
    w->state = WS_UPGRADING;
    agent_ws_set_timer(w, HANDSHAKE_S);
    ev_io_stop(w->loop, &w->writer);
    ev_io_start(w->loop, &w->reader);
}

/* Refused: nobody listens yet. The same socket can try again. */
static void refused(struct agent_ws *w)
{
    stop_io(w);
    w->state = WS_WAITING;
    agent_ws_set_timer(w, time_mono_ms() - w->started_at < SOON_MS ? PROBE_SOON_S : PROBE_S);
}

static void connect_result(struct agent_ws *w, int error)
{
    if (error == 0)
        send_request(w);
    else if (error == ECONNREFUSED)
        refused(w);
    else
        wait_again(w, PROBE_S);
}

static void try_connect(struct agent_ws *w)
{
    const struct sockaddr_in to = {
        .sin_family = AF_INET,
        .sin_port = htons(w->port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };

    ev_io_set(&w->reader, w->fd, EV_READ);
    ev_io_set(&w->writer, w->fd, EV_WRITE);
    w->state = WS_CONNECTING;
    if (connect(w->fd, (const struct sockaddr *)&to, sizeof(to)) == 0) {
        connect_result(w, 0);
    } else if (errno == EINPROGRESS) {
        agent_ws_set_timer(w, HANDSHAKE_S);
        ev_io_start(w->loop, &w->writer);
    } else {
        connect_result(w, errno);
    }
}

static void on_made(struct ev_loop *loop, ev_io *io, int events)
{
    struct agent_ws *w = io->data;
    struct err err = { 0 };
    int answer = w->answer;

    (void)events;
    ev_io_stop(loop, io);
    w->answer = -1;
    w->fd = netns_take(answer, &err);
    if (w->fd < 0) {
        log_debug("%s", err.msg);
        wait_again(w, PROBE_S);
        return;
    }
    try_connect(w);
}

static void make_socket(struct agent_ws *w)
{
    struct err err = { 0 };
    pid_t maker; /* reaped by the loop, as all our children */

    if (w->target < 0) {
        w->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (w->fd < 0)
            wait_again(w, PROBE_S);
        else
            try_connect(w);
        return;
    }
    if (netns_start(w->target, &w->answer, &maker, &err) < 0) {
        log_debug("%s", err.msg);
        wait_again(w, PROBE_S);
        return;
    }
    w->state = WS_MAKING;
    agent_ws_set_timer(w, MAKE_S);
    ev_io_set(&w->made, w->answer, EV_READ);
    ev_io_start(w->loop, &w->made);
}

static void attempt(struct agent_ws *w)
{
    ev_timer_stop(w->loop, &w->timer);
    w->tried_at = time_mono_ms();
    if (w->fd >= 0)
        try_connect(w);
    else
        make_socket(w);
}

/* ---- events of the loop --------------------------------------------------------------------------- */

static void on_timer(struct ev_loop *loop, ev_timer *t, int events)
{
    struct agent_ws *w = t->data;

    (void)loop;
    (void)events;
    if (w->state == WS_WAITING)
        attempt(w);
    else
        agent_ws_reopen(w); /* no answer in time, or no end of the connection */
}

static void on_readable(struct ev_loop *loop, ev_io *io, int events)
{
    struct agent_ws *w = io->data;

    (void)loop;
    (void)events;
    if (w->state == WS_UPGRADING)
        read_answer(w);
    else if (w->state == WS_OPEN)
        agent_ws_read(w);
    else if (w->state == WS_CLOSING && !agent_ws_discard(w))
        agent_ws_reopen(w);
}

static void on_writable(struct ev_loop *loop, ev_io *io, int events)
{
    struct agent_ws *w = io->data;
    int error = 0;
    socklen_t len = sizeof(error);

    (void)events;
    if (w->state != WS_CONNECTING) {
        agent_ws_write(w);
        return;
    }
    ev_io_stop(loop, io);
    if (getsockopt(w->fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0)
        error = errno;
    connect_result(w, error);
}

/* ---- for the holder ------------------------------------------------------------------------------- */

void agent_ws_init(struct agent_ws *w, struct ev_loop *loop, const struct agent_ws_events *events)
{
    *w = (struct agent_ws){ .loop = loop, .events = *events, .target = -1, .fd = -1, .answer = -1 };
    ev_init(&w->reader, on_readable);
    ev_init(&w->writer, on_writable);
    ev_init(&w->made, on_made);
    ev_init(&w->timer, on_timer);
    ev_init(&w->keep, on_kept_long_enough);
    w->keep.data = w;
    w->reader.data = w->writer.data = w->made.data = w->timer.data = w;
    w->pause = REOPEN_S;
}

void agent_ws_release(struct agent_ws *w)
{
    if (!w || !w->loop)
        return;
    disconnect(w);
    forget_frames(w);
    w->state = WS_OFF;
}

void agent_ws_start(struct agent_ws *w, int target, uint16_t port, const char *session)
{
    w->target = target;
    w->port = port;
    memcpy(w->session, session, sizeof(w->session));
    w->state = WS_WAITING;
    w->started_at = time_mono_ms();
    agent_ws_set_timer(w, PROBE_SOON_S);
}

void agent_ws_hint(struct agent_ws *w)
{
    int64_t since = time_mono_ms() - w->tried_at;

    if (w->state != WS_WAITING)
        return;
    if (since >= HINT_MS)
        attempt(w);
    else if (ev_timer_remaining(w->loop, &w->timer) > HINT_MS / 1000.0)
        agent_ws_set_timer(w, HINT_MS / 1000.0);
}

void agent_ws_finish(struct agent_ws *w)
{
    w->finishing = w->deaf = true;
    w->paused = false;
    forget_frames(w);
    if (w->state != WS_OPEN) {
        go_off(w);
        return;
    }
    buf_clear(&w->words);
    w->words_sent = 0;
    w->left_of_it = FINISH_MOST;
    agent_ws_set_timer(w, FINISH_S);
    agent_ws_read(w);
}

int agent_ws_send(struct agent_ws *w, const void *data, size_t len)
{
    int r;

    if (w->finishing)
        return 0;
    if (len > AGENT_WS_MESSAGE_MAX)
        return -1;
    r = agent_queue_add(&w->queue, data, len);
    if (r < 0)
        return -1;
    if (r > 0 && !w->refusing)
        w->events.refused(w->events.arg, too_many_bad);
    w->refusing = r > 0;
    if (r > 0)
        return 0;
    if (w->state == WS_OPEN)
        agent_ws_watch(w);
    return 0;
}

void agent_ws_push(struct agent_ws *w)
{
    if (w->state == WS_OPEN && w->queue.first)
        agent_ws_write(w);
}

bool agent_ws_is_full(const struct agent_ws *w)
{
    return w->queue.bytes > AGENT_WS_QUEUE_HIGH;
}

void agent_ws_pause(struct agent_ws *w, bool paused)
{
    if (w->paused == paused || w->finishing)
        return;
    w->paused = paused;
    if (w->state == WS_OPEN)
        agent_ws_watch(w);
}
