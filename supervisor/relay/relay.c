/* A browser's conversation with the holder of its session (browser.h). */
#include <string.h>

#include "shared/base/log.h"
#include "shared/base/mem.h"
#include "shared/ipc/wire.h"
#include "supervisor/hold_event.h"
#include "supervisor/relay/browser.h"
#include "supervisor/relay/frames.h"
#include "supervisor/relay/ws_server.h"
#include "supervisor/supervisor.h"

#define JOIN_SECONDS 10.
#define LOST_SECONDS .7         /* for the session's end to be known, when its holder just hung up */
#define ORPHAN_SECONDS 300.     /* for what is under way from a session that is gone */
#define HIGH_WATER (256u << 10) /* bytes on the way to the holder at which the browser is not read any more */
#define LOW_WATER (64u << 10)
#define AT_ONCE 16 /* frames to one browser before the others have their turn */
#define MOST_QUEUED (HIGH_WATER + HOLD_MAX_PAYLOAD + FRAME_HEADER) /* one whole message more than the mark */

void relay_give_up(struct browser *b)
{
    auto_buf struct buf error, text;

    buf_init(&error, 256);
    buf_init(&text, 256);
    if (b->phase == BROWSER_CLOSING)
        return;
    frame_put_error(&error,
                    b->reason ? "The session has ended: its processes were killed" : "The agent cannot be reached");
    if (browser_queue(b, &error) < 0)
        return;
    if (b->reason && b->auth.wants_exit) {
        frame_put_exit(&text, b->reason, b->code);
        if (browser_queue(b, &text) < 0)
            return;
    }
    browser_close(b, CLOSE_UNREACHABLE, NULL);
}

/* A holder that was killed hangs up here first; the news of it come a moment later. */
static void lose_holder(struct browser *b, const char *why)
{
    log_info("the holder's end of a conversation of %s is lost: %s", b->who.actor, why);
    if (b->reason || !b->session || b->phase != BROWSER_OPEN) {
        relay_give_up(b);
        return;
    }
    peer_close(b->holder);
    b->lost = true;
    browser_set_timer(b, LOST_SECONDS);
}

static void say_hello(struct browser *b, const struct hold_event *e)
{
    auto_buf struct buf text, gap;

    buf_init(&text, 256);
    buf_init(&gap, 256);
    if (b->who.internal)
        return; /* that surface knows no sign-in */
    if (b->fresh)
        frame_put_auth_ok(&text);
    else
        frame_put_resumed(&text, e->attached.from);
    if (browser_queue(b, &text) < 0 || b->fresh || !e->attached.lost)
        return;
    frame_put_gap(&gap, e->attached.lost);
    browser_queue(b, &gap);
}

/* 0, or -1: the conversation is over. */
static int on_attached(struct browser *b, const struct hold_event *e)
{
    if (b->phase != BROWSER_JOINING)
        return -1;
    b->phase = BROWSER_OPEN;
    browser_set_timer(b, (double)b->server->supervisor->config->ping_s); /* then the first look whether it lives */
    say_hello(b, e);
    return 0;
}

static int on_frame(struct browser *b, const void *payload, const struct hold_event *e)
{
    if (b->phase != BROWSER_OPEN || e->frame.number <= b->next.number)
        return -1;
    b->next.waiting = true;
    b->next.number = e->frame.number;
    b->next.at = (size_t)((const char *)payload - b->holder->in.in.data) + e->frame.offset;
    b->next.len = e->frame.len;
    b->server->supervisor->sessions.metrics.frames_to_browsers++;
    b->server->supervisor->sessions.metrics.bytes_to_browsers += e->frame.len;
    browser_write_frame(b);
    return 0;
}

static void on_exit_said(struct browser *b, const struct hold_event *e)
{
    auto_buf struct buf text;

    buf_init(&text, 256);
    if (b->auth.wants_exit) {
        frame_put_exit(&text, e->end.reason, e->end.code);
        if (browser_queue(b, &text) < 0)
            return;
    }
    browser_close(b, e->end.reason == HOLD_REASON_START_FAILED ? CLOSE_UNREACHABLE : CLOSE_NORMAL, NULL);
}

static int take(struct browser *b, uint16_t type, const void *payload, size_t len)
{
    struct hold_event e;

    if (hold_event_parse(HOLD_ROLE_ATTACH, type, payload, len, &e) < 0)
        return -1;
    switch ((int)e.type) {
    case HOLD_ATTACHED:
        return on_attached(b, &e);
    case HOLD_FRAME:
        return on_frame(b, payload, &e);
    case HOLD_EXIT:
        if (b->phase != BROWSER_OPEN)
            return -1;
        on_exit_said(b, &e);
        return 0;
    }
    return -1;
}

void relay_pull(struct browser *b)
{
    const void *payload;
    uint16_t type;
    size_t len;
    int r;

    while (peer_is_open(b->holder) && !b->next.waiting) {
        r = peer_next(b->holder, &type, &payload, &len);
        if (r > 0 && take(b, type, payload, len) < 0) {
            lose_holder(b, "it sent a malformed message");
        } else if (r == 0 && !peer_ended(b->holder)) {
            peer_reading(b->holder, true);
            return;
        } else if (r <= 0) {
            lose_holder(b, b->holder->fault[0] ? b->holder->fault : "it closed the connection");
        }
    }
    if (b->next.waiting)
        peer_reading(b->holder, false);
}

static void on_readable(struct peer *p)
{
    struct browser *b = p->owner;

    browser_log_context(b);
    b->next.now = AT_ONCE;
    relay_pull(b);
    b->next.now = 0;
    log_context(NULL, NULL);
}

static void on_sent(struct peer *p)
{
    struct browser *b = p->owner;

    if (!b->choked || peer_pending(p) > LOW_WATER)
        return;
    b->choked = false;
    lws_rx_flow_control(b->wsi, 1);
}

static const struct peer_events peer_events = { on_readable, on_sent };

int relay_send(struct browser *b, const void *text, size_t len)
{
    uint32_t length = (uint32_t)len;
    char nul = '\0';
    const struct iovec field[] = { /* as wire_put_bytes() makes it */
                                   { &length, sizeof(length) },
                                   { (void *)(uintptr_t)text, len },
                                   { &nul, 1 }
    };

    if (b->lost)
        return 0; /* nobody is there to hear it, which the browser is told in a moment */
    if (!peer_is_open(b->holder) || peer_send_parts(b->holder, HOLD_SEND, field, ARRAY_LEN(field)) < 0)
        return -1;
    b->server->supervisor->sessions.metrics.frames_to_agents++;
    b->server->supervisor->sessions.metrics.bytes_to_agents += len;
    if (!b->choked && peer_pending(b->holder) > HIGH_WATER) {
        b->choked = true;
        lws_rx_flow_control(b->wsi, 0);
    }
    return 0;
}

static int attach(struct browser *b, struct session *s, struct err *err)
{
    struct supervisor *sv = b->server->supervisor;
    char path[SESSIONS_PATH_MAX];
    uint64_t after;

    if (!b->holder)
        b->holder = mem_zalloc(1, sizeof(*b->holder));
    if (!b->holder)
        return err_nomem(err);
    sessions_holder_path(&sv->sessions, s->slot, path);
    if (peer_connect(b->holder, sv->loop, path, HOLD_MAX_PAYLOAD, MOST_QUEUED, &peer_events, b, err) < 0)
        return -1;
    b->fresh = !b->auth.resumes;
    after = b->fresh ? HOLD_AFTER_DELIVERED : b->auth.received;
    if (peer_send(b->holder, HOLD_ATTACH, &after, sizeof(after)) < 0)
        return err_set(err, ERR_UNAVAILABLE, 0, "the holder does not listen");
    return 0;
}

void relay_join(struct browser *b, struct session *s)
{
    struct browser *former = s->browser;
    struct err err;

    if (!session_can_attach(s) || attach(b, s, &err) < 0) {
        log_info("out of reach for its browser: %s", session_can_attach(s) ? err.msg : session_state_name(s->state));
        browser_refuse(b, CLOSE_UNREACHABLE, "The agent cannot be reached");
        return;
    }
    browser_known(b);
    b->session = s;
    b->phase = BROWSER_JOINING;
    browser_set_timer(b, JOIN_SECONDS);
    sessions_attach(s, b);
    if (former)
        browser_close(former, CLOSE_TAKEN_OVER, "Another connection took over");
}

void relay_leave(struct browser *b)
{
    peer_close(b->holder);
    b->next.waiting = false;
    if (b->session)
        sessions_detach(b->session, b);
    b->session = NULL;
}

void relay_session_ends(struct browser *b)
{
    b->reason = b->session->reason;
    b->code = b->session->code;
    if (b->lost)
        relay_give_up(b);
}

void relay_session_gone(struct browser *b)
{
    b->session = NULL;
    b->orphan = true;
    if (b->phase == BROWSER_OPEN)
        browser_set_timer(b, ORPHAN_SECONDS);
}
