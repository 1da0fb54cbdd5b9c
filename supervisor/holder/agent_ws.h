/* supervisor/holder/agent_ws.h -- the one WebSocket to the agent, for its whole life.
 * Theory of operation: off -> waiting -> making the socket (a child inside the sandbox's network) -> connecting ->
 * upgrading -> open -> closing -> waiting ... One connection at a time: the agent loses replies when two of the
 * same key overlap, so a new one is begun only after the agent ended the former. A refused connection
 * is a harmless probe and tried again; a handshake is not, it makes the agent run its first state.
 * What the agent did not read before it closed is sent again on the next connection (agent_queue.h).
 * Owns its socket, its child's answer descriptor and the frames that wait for the agent. */
#ifndef HOLDER_AGENT_WS_H
#define HOLDER_AGENT_WS_H

#include <ev.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shared/base/buf.h"
#include "shared/base/id.h"
#include "supervisor/holder/agent_queue.h"
#include "supervisor/holder/ws_frame.h"

#define AGENT_WS_MESSAGE_MAX ((size_t)16 << 20) /* either way; the agent's longer ones are refused (1009) */
#define AGENT_WS_QUEUE_HIGH ((size_t)1 << 20)   /* what waits for the agent: above it agent_ws_is_full() */

enum agent_ws_state {
    WS_OFF,
    WS_WAITING,
    WS_MAKING,
    WS_CONNECTING,
    WS_UPGRADING,
    WS_OPEN,
    WS_CLOSING,
};

struct agent_ws_events {
    void (*opened)(void *arg);                    /* each time a handshake succeeded */
    void (*message)(void *arg, struct buf *text); /* one whole text frame, which may be taken out of its buffer */
    void (*refused)(void *arg, const char *why);  /* a message that was dropped */
    void (*turned)(void *arg);                    /* what was there has been read */
    void (*drained)(void *arg);                   /* no longer full */
    void (*finished)(void *arg);                  /* off, after agent_ws_finish() */
    void *arg;
};

struct agent_ws {
    struct ev_loop *loop;
    struct agent_ws_events events;
    enum agent_ws_state state;
    int target; /* pidfd of a process in the sandbox, borrowed; -1: connect from here */
    uint16_t port;
    char session[ID_TEXT_LEN + 1];

    int fd, answer; /* the socket; the maker's answer */
    ev_io reader, writer, made;
    ev_timer timer;
    double pause; /* before the next attempt */
    int64_t started_at;
    int64_t opened_at; /* 0: not since the former connection */
    int64_t tried_at;  /* the newest attempt to connect */

    char key[25];
    struct buf head; /* the handshake's answer so far */
    uint8_t *rx;     /* bytes read and not parsed yet */
    size_t rx_pos, rx_len;
    bool more;   /* of which some could be parsed, had it been their turn */
    bool paused; /* the journal is full */

    struct ws_head frame; /* the frame that is coming in, */
    uint64_t left;        /* what is missing of its payload */
    bool in_frame, in_message, is_binary;
    struct buf message; /* frames of the message that is coming in */
    uint8_t control[WS_CONTROL_MAX];
    size_t control_len;
    bool close_received;

    struct buf words; /* answers to pings and the close, ready to be sent */
    size_t words_sent;
    struct agent_queue queue;
    ev_timer keep; /* until the queue's copies are of no use any more */
    bool refusing; /* the last frame for the agent was not taken, and the browser was told */

    bool deaf;      /* the agent has closed: it hears nothing any more, what it said before is still read */
    bool finishing; /* it has ended: so much more is read, paused or not */
    size_t left_of_it;
};

void agent_ws_init(struct agent_ws *w, struct ev_loop *loop, const struct agent_ws_events *events);
void agent_ws_release(struct agent_ws *w);

/* Begin: the first attempt comes after a second, or at the first hint. */
void agent_ws_start(struct agent_ws *w, int target, uint16_t port, const char *session);
void agent_ws_hint(struct agent_ws *w); /* the agent says that it listens: anything it prints may say so */

/* The agent has ended: reads what it sent to the end, paused or not, within FINISH_S; then is off and says so once. */
void agent_ws_finish(struct agent_ws *w);

/* Keeps a copy of one text frame for the agent: 0, also when it is one of too many that the agent cannot read
 * (refused() tells of the first); or -1 when memory is short. */
int agent_ws_send(struct agent_ws *w, const void *data, size_t len);
void agent_ws_push(struct agent_ws *w); /* sends now what goes out at once, rather than when the loop asks */
bool agent_ws_is_full(const struct agent_ws *w);

void agent_ws_pause(struct agent_ws *w, bool paused);

#endif
