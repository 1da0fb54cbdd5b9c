/* supervisor/relay/browser.h -- one browser socket from the accept to its end, and the conversation on it.
 *
 *   HTTP     waits for the upgrade                  AUTH     public only: waits for the first frame
 *   JOINING  asked the holder for the frames        OPEN     frames pass both ways
 *   CLOSING  says its last words, then the close code
 *
 * Theory of operation. libwebsockets owns the socket and calls us; the connection to the holder is a peer of ours.
 * Towards the browser nothing is queued but the service's own few frames: a frame of the holder stays in the peer's
 * read buffer, is written from there when the browser can take it, and only then the next one is looked for. So a
 * browser that does not read stops us reading, and the holder after us. Towards the holder whole messages are queued;
 * above a mark the browser's socket is not read. Nothing is dropped while both are there. Owns itself: made at accept,
 * freed when libwebsockets destroys the connection. */
#ifndef RELAY_BROWSER_H
#define RELAY_BROWSER_H

#include <ev.h>
#include <libwebsockets.h>
#include <stdbool.h>
#include <stdint.h>

#include "shared/base/buf.h"
#include "supervisor/list.h"
#include "supervisor/peer.h"
#include "supervisor/relay/auth.h"
#include "supervisor/relay/handshake.h"
#include "supervisor/session.h"

#define BROWSER_MESSAGE_MAX (16u << 20) /* bytes of one client frame */

/* Close codes of the contract. */
enum close_code {
    CLOSE_NORMAL = 1000,
    CLOSE_PROTOCOL = 1002,
    CLOSE_BINARY = 1003,
    CLOSE_TEXT = 1007,
    CLOSE_TOO_LARGE = 1009,
    CLOSE_UNREACHABLE = 1011,
    CLOSE_RESTART = 1012,
    CLOSE_BAD_ID = 4400,
    CLOSE_AUTH = 4401,
    CLOSE_INTERNAL_UNKNOWN = 4004,
    CLOSE_UNKNOWN = 4404,
    CLOSE_TAKEN_OVER = 4409,
    CLOSE_RATE = 4429,
};

enum browser_phase { BROWSER_HTTP, BROWSER_AUTH, BROWSER_JOINING, BROWSER_OPEN, BROWSER_CLOSING };

struct ws_server;

/* There may be thousands who never join, so its parts stand by size and what only a conversation needs is apart. */
struct browser {
    struct list link;
    struct ws_server *server;
    struct lws *wsi;
    enum browser_phase phase;
    unsigned turns; /* in which something came; again from 0 when its close is under way */
    char request[ID_TEXT_LEN + 1],
        name[ID_TEXT_LEN + 1]; /* for the log: nginx's id of the handshake, the session; or "" */
    struct handshake who;
    bool much;   /* more bytes than a stranger may send came before this turn */
    bool choked; /* not read: the holder is behind */
    bool ping_due;
    bool close_sent;
    bool fresh;  /* did not say how far it got */
    bool orphan; /* its session is gone; what is under way still comes */
    bool lost;   /* the holder hung up without a word: perhaps its session's end explains it */
    struct auth auth;
    struct ev_io look;     /* until it has joined: how much it sends */
    size_t came;           /* about as many bytes */
    struct ev_timer timer; /* the phase's deadline; OPEN: the next look whether the browser lives */

    /* from the browser */
    struct buf in; /* the message that is coming, unless it came in one piece */
    double heard;  /* loop time of its last sign of life */
    double took;   /* loop time at which it last took a frame */

    /* to the browser */
    struct list own; /* the service's own frames, before the holder's next */
    struct {
        size_t at, len; /* where its text stands in the peer's buffer */
        uint64_t number;
        unsigned now; /* so many may still be written in this turn, without the way through libwebsockets */
        bool waiting; /* a frame of the holder is next */
    } next;
    const char *close_reason;
    uint16_t close_code; /* CLOSING: 0 when the browser closed */

    /* the holder */
    enum hold_reason reason; /* of the session's end; NONE: it has not ended */
    int32_t code;
    struct peer *holder;     /* NULL: has not joined */
    struct session *session; /* NULL: not joined, or gone */
};

struct browser *browser_new(struct ws_server *server, struct lws *wsi); /* NULL: out of memory */
void browser_free(struct browser *b);

/* Events of libwebsockets; int ones are its return values: 0, or -1 to end the connection. */
void browser_opened(struct browser *b);
void browser_received(struct browser *b, void *data, size_t len); /* data is overwritten while nobody is known */
int browser_writable(struct browser *b);
void browser_heard(struct browser *b);
void browser_peer_closes(struct browser *b);
void browser_known(struct browser *b); /* a session's own: it may send as much as it likes */
void browser_gone(struct browser *b);  /* no more events; the memory stays until browser_free() */

/* Stop what is going on, write what is queued, then close. The first code wins. */
void browser_close(struct browser *b, enum close_code code, const char *reason);
/* One error frame, then the close. */
void browser_refuse(struct browser *b, enum close_code code, const char *message);
void browser_kill(struct browser *b);                         /* ends the connection without words */
int browser_queue(struct browser *b, const struct buf *text); /* 0; -1 no memory: it was killed */
void browser_set_timer(struct browser *b, double seconds);
void browser_write_frame(struct browser *b); /* the holder's next frame: now where that can be, else when it can */
void browser_log_context(const struct browser *b); /* lines written from now on are about it */

/* The conversation (relay.c). */
void relay_join(struct browser *b, struct session *s);
void relay_leave(struct browser *b);                             /* lets go of holder and session; twice is fine */
void relay_pull(struct browser *b);                              /* looks for the holder's next frame */
int relay_send(struct browser *b, const void *text, size_t len); /* a whole message: 0 or -1 */
void relay_session_ends(struct browser *b);                      /* why is in its session */
void relay_session_gone(struct browser *b);
void relay_give_up(struct browser *b); /* nothing explained the loss of the holder */

#endif
