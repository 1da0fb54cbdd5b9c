#include "supervisor/holder/agent_ws_frames.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "shared/base/mem.h"
#include "shared/base/str.h"

#define CLOSE_S 10.0
#define KEEP_S 2.0                    /* after a bad frame: an agent that has not closed by then does not mind it */
#define WORDS_MOST ((size_t)64 << 10) /* answers to pings that wait */
#define LONG_REST 4096                /* of a frame: worth being read to its place at once */
#define BEHIND_LONG 4096              /* read along with it: the next frames' headers */
#define SEND_PARTS 32                 /* frames handed to the kernel at once */
#define SEND_BYTES ((size_t)256 << 10)

enum { CODE_PROTOCOL = 1002, CODE_TEXT = 1007, CODE_TOO_BIG = 1009, CODE_INTERNAL = 1011 };

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

/* ---- our own words -------------------------------------------------------------------------------- */

/* 0, or -1: the connection cannot go on. */
static int say(struct agent_ws *w, enum ws_opcode opcode, const void *payload, size_t len)
{
    uint8_t head[WS_HEAD_MAX], masked[WS_CONTROL_MAX];
    uint32_t key;
    size_t n;

    if (w->deaf)
        return opcode == WS_CLOSE ? -1 : 0;
    if (getrandom(&key, sizeof(key), 0) != (ssize_t)sizeof(key))
        return -1;
    n = ws_head_put(head, opcode, len, key);
    ws_mask(masked, payload, len, key);
    buf_consume(&w->words, w->words_sent);
    w->words_sent = 0;
    buf_add(&w->words, head + sizeof(head) - n, n);
    return buf_add(&w->words, masked, len);
}

static int say_close(struct agent_ws *w, unsigned code)
{
    const uint8_t payload[] = { (uint8_t)(code >> 8), (uint8_t)code };
    int r = say(w, WS_CLOSE, payload, code ? sizeof(payload) : 0);

    if (r == 0)
        begin_closing(w);
    return r;
}

static int refuse(struct agent_ws *w, unsigned code, const char *why)
{
    w->events.refused(w->events.arg, why);
    return say_close(w, code);
}

/* ---- from the agent -------------------------------------------------------------------------------- */

static size_t words_left(const struct agent_ws *w)
{
    return w->words.len - w->words_sent;
}

/* An agent that pings and does not read must not fill our memory with answers. */
static bool may_read(const struct agent_ws *w)
{
    return !w->paused && words_left(w) < WORDS_MOST;
}

static int begin_frame(struct agent_ws *w)
{
    w->in_frame = true;
    w->left = w->frame.len;
    w->control_len = 0;
    if (ws_is_control(&w->frame))
        return 0;
    if (w->frame.opcode != WS_CONTINUATION) {
        buf_clear(&w->message);
        w->is_binary = w->frame.opcode == WS_BINARY;
    }
    if (w->frame.len > AGENT_WS_MESSAGE_MAX - w->message.len)
        return refuse(w, CODE_TOO_BIG, "The agent sent a message of more than 16 MiB; it was dropped.");
    return 0;
}

static int no_memory(struct agent_ws *w)
{
    return refuse(w, CODE_INTERNAL, "There is no memory for a message of the agent; it was dropped.");
}

static int add_payload(struct agent_ws *w, const uint8_t *data, size_t len)
{
    w->left -= len;
    if (ws_is_control(&w->frame)) {
        memcpy(w->control + w->control_len, data, len);
        w->control_len += len;
        return 0;
    }
    return buf_add(&w->message, data, len) < 0 ? no_memory(w) : 0;
}

static int end_control(struct agent_ws *w)
{
    if (w->frame.opcode == WS_PING)
        return say(w, WS_PONG, w->control, w->control_len);
    if (w->frame.opcode == WS_PONG)
        return 0;
    w->close_received = true;
    return say_close(w, ws_close_answer(w->control, w->control_len));
}

/* What is no UTF-8 in it becomes U+FFFD, as in the reference. */
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
        w->events.message(w->events.arg, &text);
}

static int end_message(struct agent_ws *w)
{
    bool valid = utf8_valid(w->message.data, w->message.len);

    if (valid)
        w->events.message(w->events.arg, &w->message);
    else if (w->is_binary)
        give_binary(w, w->message.data, w->message.len);
    if (w->message.cap > AGENT_WS_TURN_BYTES)
        buf_release(&w->message);
    else
        buf_clear(&w->message);
    return valid || w->is_binary ? 0 : say_close(w, CODE_TEXT);
}

static int end_frame(struct agent_ws *w)
{
    w->in_frame = false;
    if (ws_is_control(&w->frame))
        return end_control(w);
    w->in_message = !w->frame.final;
    return w->in_message ? 0 : end_message(w);
}

/* What rx holds, as far as it goes and is wanted: 0, or -1 when the connection cannot go on. */
static int parse(struct agent_ws *w)
{
    int r = 0;

    while (r == 0 && w->state == WS_OPEN && may_read(w)) {
        const uint8_t *data = w->rx + w->rx_pos;
        size_t have = w->rx_len - w->rx_pos;

        if (!w->in_frame) {
            int n = ws_head_parse(data, have, w->in_message, &w->frame);

            if (n == 0)
                return 0;
            if (n < 0)
                return say_close(w, CODE_PROTOCOL);
            w->rx_pos += (size_t)n;
            r = begin_frame(w);
            continue;
        }
        have = have < w->left ? have : (size_t)w->left;
        w->rx_pos += have;
        if (have)
            r = add_payload(w, data, have);
        if (r == 0 && w->state == WS_OPEN && w->left)
            return 0;
        if (r == 0 && w->state == WS_OPEN)
            r = end_frame(w);
    }
    return r;
}

/* Where the next bytes go: the rest of a long frame to its message, what follows it to rx. */
static int places(struct agent_ws *w, size_t most, struct iovec place[2])
{
    size_t rest = w->rx_len - w->rx_pos, direct = 0;

    memmove(w->rx, w->rx + w->rx_pos, rest); /* a piece of a header at most */
    w->rx_pos = 0;
    w->rx_len = rest;
    if (w->in_frame && !ws_is_control(&w->frame) && w->left >= LONG_REST) {
        direct = w->left < most ? (size_t)w->left : most;
        if (buf_reserve(&w->message, direct) < 0)
            return -1;
        place[0] = (struct iovec){ w->message.data + w->message.len, direct };
    } else {
        place[0] = (struct iovec){ w->rx, 0 };
    }
    place[1] = (struct iovec){ w->rx + rest, direct ? BEHIND_LONG : AGENT_WS_RX_SIZE - rest };
    return 0;
}

/* 0, or -1 when the connection is over. *ret_more: there may be more; less than was asked for was all. */
static int fill(struct agent_ws *w, size_t *budget, bool *ret_more)
{
    struct iovec place[2];
    size_t direct;
    ssize_t n;

    *ret_more = false;

    if (places(w, *budget, place) < 0)
        return no_memory(w);
    do
        n = place[0].iov_len ? readv(w->fd, place, 2) : recv(w->fd, place[1].iov_base, place[1].iov_len, 0);
    while (n < 0 && errno == EINTR);
    if (n <= 0)
        return n < 0 && errno == EAGAIN ? 0 : -1;
    *ret_more = (size_t)n == place[0].iov_len + place[1].iov_len;
    direct = (size_t)n < place[0].iov_len ? (size_t)n : place[0].iov_len;
    if (direct) {
        w->message.len += direct;
        w->message.data[w->message.len] = '\0';
        w->left -= direct;
    }
    w->rx_len += (size_t)n - direct;
    *budget -= (size_t)n < *budget ? (size_t)n : *budget;
    return 0;
}

static int take_in(struct agent_ws *w, size_t *budget)
{
    bool more = true; /* in the socket */
    int r = parse(w);

    while (r == 0 && more && w->state == WS_OPEN && may_read(w) && *budget) {
        r = fill(w, budget, &more);
        if (r == 0)
            r = parse(w);
    }
    w->more = r == 0 && (more || !may_read(w)) && (w->rx_pos < w->rx_len || (w->in_frame && !w->left));
    return r;
}

void agent_ws_begin(struct agent_ws *w)
{
    buf_init(&w->message, AGENT_WS_MESSAGE_MAX + 1);
    buf_init(&w->words, 2 * WORDS_MOST);
    w->more = true;
}

/* Of an agent that has ended there is an end to what comes, too. */
static bool is_too_much(struct agent_ws *w, size_t n)
{
    if (!w->finishing)
        return false;
    w->left_of_it -= n < w->left_of_it ? n : w->left_of_it;
    return w->left_of_it == 0;
}

void agent_ws_read(struct agent_ws *w)
{
    size_t budget = AGENT_WS_TURN_BYTES;

    w->more = false;
    if (take_in(w, &budget) < 0 || is_too_much(w, AGENT_WS_TURN_BYTES - budget)) {
        agent_ws_reopen(w); /* the agent ended, or there is no way to answer it */
    } else if (words_left(w)) {
        agent_ws_write(w);
    } else {
        agent_ws_watch(w);
    }
    w->events.turned(w->events.arg);
}

/* Read and dropped; 0 once the agent has closed. */
int agent_ws_discard(struct agent_ws *w)
{
    ssize_t n;

    w->rx_pos = w->rx_len = 0;
    do
        n = recv(w->fd, w->rx, AGENT_WS_RX_SIZE, 0);
    while (n < 0 && errno == EINTR);
    return n > 0 || (n < 0 && errno == EAGAIN);
}

/* ---- to the agent ---------------------------------------------------------------------------------- */

/* What is to be sent next, in order: the rest of a frame, our own words, whole frames. */
static size_t gather(const struct agent_ws *w, struct iovec parts[SEND_PARTS])
{
    size_t n = agent_queue_rest(&w->queue, parts);

    if (words_left(w))
        parts[n++] = (struct iovec){ w->words.data + w->words_sent, words_left(w) };
    if (w->state == WS_OPEN)
        n += agent_queue_whole(&w->queue, parts + n, SEND_PARTS - n, SEND_BYTES);
    return n;
}

static size_t sent_of_words(struct agent_ws *w, size_t n)
{
    size_t rest = words_left(w);

    if (n < rest) {
        w->words_sent += n;
        return 0;
    }
    buf_clear(&w->words);
    w->words_sent = 0;
    return n - rest;
}

/* 0, or -1: the agent does not listen any more. */
static int send_some(struct agent_ws *w)
{
    struct iovec parts[SEND_PARTS];
    struct msghdr m = { .msg_iov = parts };
    size_t total = 0;

    while (total < SEND_BYTES && (m.msg_iovlen = gather(w, parts))) {
        ssize_t n = sendmsg(w->fd, &m, MSG_NOSIGNAL);
        size_t left = (size_t)n;

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno == EAGAIN ? 0 : -1;
        total += left;
        if (w->queue.sent)
            left = agent_queue_sent(&w->queue, left);
        left = sent_of_words(w, left);
        while (left)
            left = agent_queue_sent(&w->queue, left);
    }
    return 0;
}

static bool wants_write(const struct agent_ws *w)
{
    return !w->deaf &&
           (w->queue.sent || words_left(w) || (w->state == WS_OPEN && w->queue.first && agent_queue_flows(&w->queue)));
}

void agent_ws_watch(struct agent_ws *w)
{
    bool reading = w->state == WS_CLOSING || may_read(w);

    if (w->fd < 0)
        return;
    if (reading)
        ev_io_start(w->loop, &w->reader);
    else
        ev_io_stop(w->loop, &w->reader);
    if (wants_write(w))
        ev_io_start(w->loop, &w->writer);
    else
        ev_io_stop(w->loop, &w->writer);
    if (reading && w->more)
        ev_feed_event(w->loop, &w->reader, EV_READ); /* bytes that epoll knows nothing of */
}

/* The agent has forgotten a connection before it sends its close. Its library ends it only seconds later when frames
 * are left that nobody reads. */
static bool is_over(const struct agent_ws *w)
{
    return w->state == WS_CLOSING && w->close_received && !wants_write(w);
}

/* The agent has closed or died. What it said before lies in the socket, also while we must not read. */
static void go_on_reading(struct agent_ws *w)
{
    w->deaf = true;
    buf_clear(&w->words);
    w->words_sent = 0;
    agent_ws_watch(w);
}

static void write_some(struct agent_ws *w)
{
    int r = send_some(w);

    if (w->queue.keeping && !ev_is_active(&w->keep)) {
        ev_timer_set(&w->keep, KEEP_S, 0);
        ev_timer_start(w->loop, &w->keep);
    }
    if (r < 0 && w->state == WS_OPEN && (errno == EPIPE || errno == ECONNRESET))
        go_on_reading(w);
    else if (r < 0 || is_over(w))
        agent_ws_reopen(w);
    else
        agent_ws_watch(w);
}

void agent_ws_write(struct agent_ws *w)
{
    bool was_full = agent_ws_is_full(w);

    if (!w->deaf)
        write_some(w);
    if (was_full && !agent_ws_is_full(w))
        w->events.drained(w->events.arg);
}
