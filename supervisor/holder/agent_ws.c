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
#include "shared/base/str.h"
#include "shared/base/time.h"
#include "supervisor/holder/ws_upgrade.h"
#include "supervisor/sandbox/netns.h"

#define FIRST_PROBE_S 1.0
#define PROBE_S 0.25 /* between refused connections */
#define REOPEN_S 0.1 /* after the agent closed; doubles while that repeats */
#define REOPEN_MOST_S 2.0
#define STABLE_MS 5000 /* a connection that lived so long starts the count anew */
#define HANDSHAKE_S 10.0
#define CLOSE_S 10.0
#define MAKE_S 5.0
#define RX_SIZE 65536
#define ANSWER_CHUNK 2048
#define TURN_BYTES ((size_t)256 << 10) /* per loop turn: other events must not wait */
#define WSLAY_HIGH ((size_t)256 << 10) /* masked and ready in the library */
#define WSLAY_MESSAGES 64              /* of ours, in the library; beyond PONGS_MOST it holds answers to pings only */
#define PONGS_MOST 1024
#define DRAIN_MOST ((size_t)32 << 20) /* what may still come from a dead agent */

static void attempt(struct agent_ws *w);

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
    if (w->ctx)
        wslay_event_context_free(w->ctx);
    w->ctx = NULL;
    mem_free(w->rx);
    w->rx = NULL;
    w->rx_pos = w->rx_len = 0;
    w->eof = w->in_data = false;
    buf_release(&w->head);
    buf_release(&w->message);
}

static void set_timer(struct agent_ws *w, double after)
{
    ev_timer_stop(w->loop, &w->timer);
    ev_timer_set(&w->timer, after, 0);
    ev_timer_start(w->loop, &w->timer);
}

static void wait_again(struct agent_ws *w, double pause)
{
    disconnect(w);
    w->state = WS_WAITING;
    set_timer(w, pause);
}

static void reopen(struct agent_ws *w)
{
    if (w->opened_at && time_mono_ms() - w->opened_at > STABLE_MS)
        w->pause = REOPEN_S;
    wait_again(w, w->pause);
    w->pause = w->pause * 2 > REOPEN_MOST_S ? REOPEN_MOST_S : w->pause * 2;
}

/* Everything was said from our side: what the agent still sends is dropped until it closes. */
static void begin_closing(struct agent_ws *w)
{
    if (w->state != WS_OPEN)
        return;
    w->state = WS_CLOSING;
    buf_release(&w->message);
    set_timer(w, CLOSE_S);
    ev_io_start(w->loop, &w->reader); /* also while paused: nothing of this is kept */
    ev_io_start(w->loop, &w->writer);
}

/* ---- the library's calls -------------------------------------------------------------------------- */

static ssize_t fill_rx(struct agent_ws *w)
{
    ssize_t n;

    do
        n = recv(w->fd, w->rx, RX_SIZE, 0);
    while (n < 0 && errno == EINTR);
    w->rx_pos = 0;
    w->rx_len = n > 0 ? (size_t)n : 0;
    if (n == 0)
        w->eof = true;
    return n;
}

/* An agent that pings and does not read must not fill our memory with answers. */
static bool may_read(const struct agent_ws *w)
{
    return !w->paused && w->ctx && wslay_event_get_queued_msg_count(w->ctx) < PONGS_MOST;
}

static ssize_t cb_recv(wslay_event_context_ptr ctx, uint8_t *out, size_t len, int flags, void *user)
{
    struct agent_ws *w = user;
    size_t n;

    (void)flags;
    if (!w->budget || !may_read(w)) {
        wslay_event_set_error(ctx, WSLAY_ERR_WOULDBLOCK);
        return -1;
    }
    if (w->rx_pos == w->rx_len && fill_rx(w) <= 0) {
        wslay_event_set_error(ctx, !w->eof && errno == EAGAIN ? WSLAY_ERR_WOULDBLOCK : WSLAY_ERR_CALLBACK_FAILURE);
        return -1;
    }
    n = w->rx_len - w->rx_pos;
    n = n < len ? n : len;
    n = n < w->budget ? n : w->budget;
    memcpy(out, w->rx + w->rx_pos, n);
    w->rx_pos += n;
    w->budget -= n;
    return (ssize_t)n;
}

static ssize_t cb_send(wslay_event_context_ptr ctx, const uint8_t *data, size_t len, int flags, void *user)
{
    struct agent_ws *w = user;
    ssize_t n;

    do
        n = send(w->fd, data, len, MSG_NOSIGNAL | (flags & WSLAY_MSG_MORE ? MSG_MORE : 0));
    while (n < 0 && errno == EINTR);
    if (n < 0)
        wslay_event_set_error(ctx, errno == EAGAIN ? WSLAY_ERR_WOULDBLOCK : WSLAY_ERR_CALLBACK_FAILURE);
    return n;
}

static int cb_mask(wslay_event_context_ptr ctx, uint8_t *out, size_t len, void *user)
{
    (void)user;
    if (getrandom(out, len, 0) == (ssize_t)len)
        return 0;
    wslay_event_set_error(ctx, WSLAY_ERR_CALLBACK_FAILURE);
    return -1;
}

static void cb_frame_start(wslay_event_context_ptr ctx, const struct wslay_event_on_frame_recv_start_arg *a, void *user)
{
    struct agent_ws *w = user;

    w->in_data = !wslay_is_ctrl_frame(a->opcode);
    if (!w->in_data || w->state != WS_OPEN)
        return;
    if (a->opcode != WSLAY_CONTINUATION_FRAME) {
        buf_clear(&w->message);
        w->is_binary = a->opcode == WSLAY_BINARY_FRAME;
    }
    if (a->payload_length > AGENT_WS_MESSAGE_MAX - w->message.len) {
        w->events.refused(w->events.arg, "The agent sent a message of more than 16 MiB; it was dropped.");
        wslay_event_queue_close(ctx, WSLAY_CODE_MESSAGE_TOO_BIG, NULL, 0);
        begin_closing(w);
    }
}

static void cb_frame_chunk(wslay_event_context_ptr ctx, const struct wslay_event_on_frame_recv_chunk_arg *a, void *user)
{
    struct agent_ws *w = user;

    if (!w->in_data || w->state != WS_OPEN)
        return;
    if (buf_add(&w->message, a->data, a->data_length) < 0) {
        w->events.refused(w->events.arg, "There is no memory for a message of the agent; it was dropped.");
        wslay_event_queue_close(ctx, WSLAY_CODE_INTERNAL_SERVER_ERROR, NULL, 0);
        begin_closing(w);
    }
}

/* The library tells the end of a message only to callers that let it collect the bytes. */
static void cb_message(wslay_event_context_ptr ctx, const struct wslay_event_on_msg_recv_arg *a, void *user)
{
    struct agent_ws *w = user;
    bool big = w->message.cap > TURN_BYTES;

    (void)ctx;
    if (wslay_is_ctrl_frame(a->opcode) || w->state != WS_OPEN)
        return;
    if (!w->is_binary || utf8_valid(w->message.data ? w->message.data : "", w->message.len))
        w->events.message(w->events.arg, w->message.data ? w->message.data : "", w->message.len);
    if (big)
        buf_release(&w->message);
    else
        buf_clear(&w->message);
}

static int new_context(struct agent_ws *w)
{
    static const struct wslay_event_callbacks calls = {
        .recv_callback = cb_recv,
        .send_callback = cb_send,
        .genmask_callback = cb_mask,
        .on_frame_recv_start_callback = cb_frame_start,
        .on_frame_recv_chunk_callback = cb_frame_chunk,
        .on_msg_recv_callback = cb_message,
    };

    if (wslay_event_context_client_init(&w->ctx, &calls, w) != 0) {
        w->ctx = NULL;
        return -1;
    }
    wslay_event_config_set_no_buffering(w->ctx, 1);
    wslay_event_config_set_max_recv_msg_length(w->ctx, UINT32_MAX);
    buf_init(&w->message, AGENT_WS_MESSAGE_MAX + 1);
    return 0;
}

/* ---- traffic -------------------------------------------------------------------------------------- */

static void watch(struct agent_ws *w)
{
    bool reading = w->state == WS_CLOSING || may_read(w);

    if (w->fd < 0)
        return;
    if (reading)
        ev_io_start(w->loop, &w->reader);
    else
        ev_io_stop(w->loop, &w->reader);
    if (w->ctx && (wslay_event_want_write(w->ctx) || (w->state == WS_OPEN && w->head_frame)))
        ev_io_start(w->loop, &w->writer);
    else
        ev_io_stop(w->loop, &w->writer);
    if (reading && w->rx_pos < w->rx_len)
        ev_feed_event(w->loop, &w->reader, EV_READ); /* bytes that epoll knows nothing of */
}

static void queue_frames(struct agent_ws *w)
{
    while (w->head_frame && wslay_event_get_queued_msg_count(w->ctx) < WSLAY_MESSAGES &&
           wslay_event_get_queued_msg_length(w->ctx) < WSLAY_HIGH) {
        struct agent_ws_frame *f = w->head_frame;
        const struct wslay_event_msg m = { WSLAY_TEXT_FRAME, (const uint8_t *)f->data, f->len };

        if (wslay_event_queue_msg(w->ctx, &m) != 0)
            return; /* short of memory: stays queued for the next turn */
        w->head_frame = f->next;
        if (!w->head_frame)
            w->tail_frame = NULL;
        w->queued -= f->len;
        mem_free(f);
    }
}

static void write_frames(struct agent_ws *w)
{
    bool was_full = agent_ws_is_full(w);

    if (w->state == WS_OPEN)
        queue_frames(w);
    if (wslay_event_send(w->ctx) != 0) {
        reopen(w);
        return;
    }
    if (w->state == WS_OPEN && wslay_event_get_close_sent(w->ctx))
        begin_closing(w);
    watch(w);
    if (was_full && !agent_ws_is_full(w))
        w->events.drained(w->events.arg);
}

/* Read and dropped; 0 once the agent has closed. */
static int discard(struct agent_ws *w)
{
    w->rx_pos = w->rx_len = 0;
    if (fill_rx(w) > 0 || (!w->eof && errno == EAGAIN))
        return 1;
    return 0;
}

static void read_frames(struct agent_ws *w)
{
    w->budget = TURN_BYTES;
    if (wslay_event_recv(w->ctx) != 0) {
        reopen(w); /* the agent ended, or broke the protocol beyond repair */
        return;
    }
    /* A close frame of the agent is answered, a violation is told: both by frames that wait now. */
    if (w->state == WS_OPEN && (wslay_event_get_close_received(w->ctx) || !wslay_event_want_read(w->ctx)))
        begin_closing(w);
    watch(w);
}

/* ---- handshake ------------------------------------------------------------------------------------ */

static void opened(struct agent_ws *w, size_t answer_len)
{
    size_t rest = w->head.len - answer_len;

    w->rx = mem_zalloc(1, RX_SIZE);
    if (!w->rx || new_context(w) < 0 || rest > RX_SIZE) {
        reopen(w);
        return;
    }
    memcpy(w->rx, w->head.data + answer_len, rest); /* the agent's first frames may follow at once */
    w->rx_len = rest;
    buf_release(&w->head);
    ev_timer_stop(w->loop, &w->timer);
    w->state = WS_OPEN;
    w->opened_at = time_mono_ms();
    w->events.opened(w->events.arg);
    watch(w);
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
        reopen(w);
        return;
    }
    len = ws_upgrade_answer(w->head.data, w->head.len, w->key, &err);
    if (len < 0) {
        log_debug("%s", err.msg);
        reopen(w);
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
        reopen(w);
        return;
    }
    ws_upgrade_key(random, w->key);
    ws_upgrade_request(&request, w->port, w->key, w->session);
    (void)setsockopt(w->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    /* A fresh connection takes so few bytes at once. */
    if (buf_failed(&request) || send(w->fd, request.data, request.len, MSG_NOSIGNAL) != (ssize_t)request.len) {
        reopen(w);
        return;
    }
    buf_init(&w->head, WS_ANSWER_MAX + 2 * (size_t)ANSWER_CHUNK);
    w->state = WS_UPGRADING;
    set_timer(w, HANDSHAKE_S);
    ev_io_stop(w->loop, &w->writer);
    ev_io_start(w->loop, &w->reader);
}

/* Refused: nobody listens yet. The same socket can try again. */
static void refused(struct agent_ws *w)
{
    stop_io(w);
    w->state = WS_WAITING;
    set_timer(w, PROBE_S);
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
        set_timer(w, HANDSHAKE_S);
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
    set_timer(w, MAKE_S);
    ev_io_set(&w->made, w->answer, EV_READ);
    ev_io_start(w->loop, &w->made);
}

static void attempt(struct agent_ws *w)
{
    ev_timer_stop(w->loop, &w->timer);
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
        reopen(w); /* no answer in time, or no end of the connection */
}

static void on_readable(struct ev_loop *loop, ev_io *io, int events)
{
    struct agent_ws *w = io->data;

    (void)loop;
    (void)events;
    if (w->state == WS_UPGRADING)
        read_answer(w);
    else if (w->state == WS_OPEN)
        read_frames(w);
    else if (w->state == WS_CLOSING && !discard(w))
        reopen(w);
}

static void on_writable(struct ev_loop *loop, ev_io *io, int events)
{
    struct agent_ws *w = io->data;
    int error = 0;
    socklen_t len = sizeof(error);

    (void)events;
    if (w->state != WS_CONNECTING) {
        write_frames(w);
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
    w->reader.data = w->writer.data = w->made.data = w->timer.data = w;
    w->pause = REOPEN_S;
}

static void drop_queue(struct agent_ws *w)
{
    while (w->head_frame) {
        struct agent_ws_frame *f = w->head_frame;

        w->head_frame = f->next;
        mem_free(f);
    }
    w->tail_frame = NULL;
    w->queued = 0;
}

void agent_ws_release(struct agent_ws *w)
{
    if (!w || !w->loop)
        return;
    disconnect(w);
    drop_queue(w);
    w->state = WS_OFF;
}

void agent_ws_start(struct agent_ws *w, int target, uint16_t port, const char *session)
{
    w->target = target;
    w->port = port;
    memcpy(w->session, session, sizeof(w->session));
    w->state = WS_WAITING;
    set_timer(w, FIRST_PROBE_S);
}

void agent_ws_hint(struct agent_ws *w)
{
    if (w->state == WS_WAITING)
        attempt(w);
}

void agent_ws_finish(struct agent_ws *w)
{
    if (w->state == WS_OPEN) {
        w->paused = false;
        w->budget = DRAIN_MOST;
        (void)wslay_event_recv(w->ctx); /* ends at the end of the stream */
    }
    disconnect(w);
    drop_queue(w);
    w->state = WS_OFF;
}

int agent_ws_send(struct agent_ws *w, const void *data, size_t len)
{
    struct agent_ws_frame *f;

    if (len > AGENT_WS_MESSAGE_MAX || !(f = mem_zalloc(1, sizeof(*f) + len)))
        return -1;
    f->len = len;
    memcpy(f->data, data, len);
    if (w->tail_frame)
        w->tail_frame->next = f;
    else
        w->head_frame = f;
    w->tail_frame = f;
    w->queued += len;
    if (w->state == WS_OPEN)
        watch(w);
    return 0;
}

bool agent_ws_is_full(const struct agent_ws *w)
{
    return w->queued > AGENT_WS_QUEUE_HIGH;
}

void agent_ws_pause(struct agent_ws *w, bool paused)
{
    if (w->paused == paused)
        return;
    w->paused = paused;
    if (w->state == WS_OPEN)
        watch(w);
}
