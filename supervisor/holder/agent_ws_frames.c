#include "supervisor/holder/agent_ws_frames.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>

#include "shared/base/mem.h"
#include "shared/base/str.h"

#define CLOSE_S 10.0
#define WSLAY_HIGH ((size_t)256 << 10) /* masked and ready in the library */
#define WSLAY_MESSAGES 64              /* of ours, in the library; beyond PONGS_MOST it holds answers to pings only */
#define PONGS_MOST 1024

/* Everything was said from our side: what the agent still sends is dropped until it closes. */
static void begin_closing(struct agent_ws *w)
{
    if (w->state != WS_OPEN)
        return;
    w->state = WS_CLOSING;
    buf_release(&w->message);
    agent_ws_set_timer(w, CLOSE_S);
    ev_io_start(w->loop, &w->reader); /* also while paused: nothing of this is kept */
    ev_io_start(w->loop, &w->writer);
}

/* ---- the library's calls -------------------------------------------------------------------------- */

static ssize_t fill_rx(struct agent_ws *w)
{
    ssize_t n;

    do
        n = recv(w->fd, w->rx, AGENT_WS_RX_SIZE, 0);
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

/* What is no UTF-8 in it becomes U+FFFD, as in the reference. Texts have been checked by the library. */
static void give_binary(struct agent_ws *w, const char *data, size_t len)
{
    auto_buf struct buf text;
    size_t i, width;

    buf_init(&text, AGENT_WS_MESSAGE_MAX);
    for (i = 0; i < len; i += width)
        if (utf8_decode(data + i, len - i, &width) >= 0)
            buf_add(&text, data + i, width);
        else
            buf_add_str(&text, UTF8_REPLACEMENT);
    if (buf_failed(&text))
        w->events.refused(w->events.arg, "The agent sent a large message that is no text; it was dropped.");
    else
        w->events.message(w->events.arg, text.data ? text.data : "", text.len);
}

/* The library tells the end of a message only to callers that let it collect the bytes. */
static void cb_message(wslay_event_context_ptr ctx, const struct wslay_event_on_msg_recv_arg *a, void *user)
{
    struct agent_ws *w = user;
    const char *data = w->message.data ? w->message.data : "";
    bool big = w->message.cap > AGENT_WS_TURN_BYTES;

    (void)ctx;
    if (wslay_is_ctrl_frame(a->opcode) || w->state != WS_OPEN)
        return;
    if (!w->is_binary || utf8_valid(data, w->message.len))
        w->events.message(w->events.arg, data, w->message.len);
    else
        give_binary(w, data, w->message.len);
    if (big)
        buf_release(&w->message);
    else
        buf_clear(&w->message);
}

int agent_ws_new_context(struct agent_ws *w)
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

void agent_ws_watch(struct agent_ws *w)
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
        agent_ws_passed(w, f);
    }
}

/* The agent has forgotten a connection before it sends its close. Its library ends it only seconds later when frames
 * are left that nobody reads. */
static bool is_over(const struct agent_ws *w)
{
    return w->state == WS_CLOSING && wslay_event_get_close_received(w->ctx) && !wslay_event_want_write(w->ctx);
}

void agent_ws_write(struct agent_ws *w)
{
    bool was_full = agent_ws_is_full(w);

    if (w->state == WS_OPEN)
        queue_frames(w);
    if (wslay_event_send(w->ctx) != 0) {
        agent_ws_reopen(w);
        return;
    }
    if (w->state == WS_OPEN && wslay_event_get_close_sent(w->ctx))
        begin_closing(w);
    if (is_over(w))
        agent_ws_reopen(w);
    else
        agent_ws_watch(w);
    if (was_full && !agent_ws_is_full(w))
        w->events.drained(w->events.arg);
}

/* Read and dropped; 0 once the agent has closed. */
int agent_ws_discard(struct agent_ws *w)
{
    w->rx_pos = w->rx_len = 0;
    if (fill_rx(w) > 0 || (!w->eof && errno == EAGAIN))
        return 1;
    return 0;
}

void agent_ws_read(struct agent_ws *w)
{
    w->budget = AGENT_WS_TURN_BYTES;
    if (wslay_event_recv(w->ctx) != 0) {
        agent_ws_reopen(w); /* the agent ended, or broke the protocol beyond repair */
        return;
    }
    /* A close frame of the agent is answered, a violation is told: both by frames that wait now. */
    if (w->state == WS_OPEN && (wslay_event_get_close_received(w->ctx) || !wslay_event_want_read(w->ctx)))
        begin_closing(w);
    agent_ws_watch(w);
}
