#include "supervisor/relay/browser.h"

#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "shared/base/log.h"
#include "shared/base/mem.h"
#include "shared/base/str.h"
#include "shared/base/time.h"
#include "supervisor/relay/frames.h"
#include "supervisor/relay/ws_server.h"
#include "supervisor/supervisor.h"

#define HTTP_SECONDS 10.
#define AUTH_SECONDS 10.
#define CLOSE_SECONDS 5.          /* for a browser to take its close */
#define ANSWER_SECONDS 1.         /* and to answer it; many do not */
#define PINGS 3                   /* without an answer: it is dead */
#define STUCK_SECONDS 600.        /* without taking anything of what waits for it */
#define STRANGER_TURNS 1000       /* in which something comes of who has not joined; one frame needs a few */
#define STRANGER_CLOSING_TURNS 16 /* once it has been refused, which one in the middle of a long frame should hear */
#define STRANGER_BYTES (8 * AUTH_FRAME_MAX) /* without a first frame */
#define KEPT_BUFFER 16384                   /* a message buffer up to this size is kept for the next message */
#define RESERVED_MOST ((size_t)128 << 10)

struct own_frame {
    struct list link;
    size_t len;
    unsigned char data[]; /* LWS_PRE bytes for the WebSocket header, then the text */
};

static struct supervisor *supervisor_of(const struct browser *b)
{
    return b->server->supervisor;
}

void browser_set_timer(struct browser *b, double seconds)
{
    struct ev_loop *loop = supervisor_of(b)->loop;

    ev_timer_stop(loop, &b->timer);
    ev_timer_set(&b->timer, seconds, 0.);
    ev_timer_start(loop, &b->timer);
}

void browser_log_context(const struct browser *b)
{
    log_context(b->request, b->name);
}

static void wants_write(struct browser *b)
{
    lws_callback_on_writable(b->wsi);
}

/* The socket is cut under libwebsockets, which then ends everything the usual way: it has no call that drops
 * a connection with unsent data. */
void browser_kill(struct browser *b)
{
    relay_leave(b);
    shutdown(lws_get_socket_fd(b->wsi), SHUT_RDWR);
    browser_set_timer(b, CLOSE_SECONDS);
    if (b->phase == BROWSER_HTTP)
        return;
    b->phase = BROWSER_CLOSING;
    lws_rx_flow_control(b->wsi, 1);
    wants_write(b);
}

/* Not the loop's own time, which is that of the wall clock: a jump of it would end every quiet browser. */
static double seconds(void)
{
    return (double)time_mono_ms() / 1000.;
}

static void look_whether_alive(struct browser *b, double now)
{
    double ping = (double)supervisor_of(b)->config->ping_s;
    bool behind = b->next.waiting || !list_empty(&b->own);

    /* Whoever takes nothing or is not read cannot answer a ping either: slow is not dead. */
    if (b->choked || behind)
        b->heard = now;
    if (!behind)
        b->took = now; /* there was nothing to take */
    if (now - b->heard > (PINGS + .5) * ping || (behind && now - b->took > STUCK_SECONDS)) {
        log_info("browser of %s: no sign of life for %.0f s", b->who.actor, now - (behind ? b->took : b->heard));
        browser_kill(b);
        return;
    }
    b->ping_due = now - b->heard >= ping - .5;
    if (b->ping_due)
        wants_write(b);
    browser_set_timer(b, ping);
}

static void on_timer(struct ev_loop *loop, struct ev_timer *w, int revents)
{
    struct browser *b = w->data;

    (void)loop;
    (void)revents;
    browser_log_context(b);
    switch (b->phase) {
    case BROWSER_AUTH:
        browser_refuse(b, CLOSE_AUTH, "The first frame did not come in time");
        break;
    case BROWSER_JOINING:
        relay_give_up(b);
        break;
    case BROWSER_OPEN:
        if (b->lost)
            relay_give_up(b);
        else if (b->orphan)
            browser_refuse(b, CLOSE_UNREACHABLE, "The session is gone");
        else
            look_whether_alive(b, seconds());
        break;
    case BROWSER_HTTP:
    case BROWSER_CLOSING:
        browser_kill(b);
        break;
    }
    log_context(NULL, NULL);
}

/* ---- who is not known yet ---- */

/* libwebsockets takes frames without a mask and does not tell. Who has none in the first has none at all. */
static bool is_unmasked(int fd)
{
    unsigned char head[2];

    return recv(fd, head, sizeof(head), MSG_PEEK | MSG_DONTWAIT) == sizeof(head) && !(head[1] & 0x80);
}

/* What pings and empty pieces of frames cost libwebsockets it does not tell us, nor what comes behind a close. So the
 * socket itself is looked at, before libwebsockets reads it. */
static void on_look(struct ev_loop *loop, struct ev_io *w, int revents)
{
    struct browser *b = w->data;
    bool closing = b->phase == BROWSER_CLOSING;
    int waiting = 0;

    (void)revents;
    (void)ioctl(w->fd, FIONREAD, &waiting);
    if (++b->turns > (closing ? STRANGER_CLOSING_TURNS : STRANGER_TURNS)) {
        ev_io_stop(loop, w);
        browser_kill(b);
    } else if (!closing && (b->came += (size_t)waiting) > STRANGER_BYTES && b->much) {
        browser_refuse(b, CLOSE_AUTH, "The first frame is too long");
    } else if (!closing && b->turns == 1 && is_unmasked(w->fd)) {
        browser_close(b, CLOSE_PROTOCOL, "Frames of a client must be masked");
    }
    b->much = b->came > STRANGER_BYTES; /* what came now may begin with its first frame */
}

static void watch_stranger(struct browser *b)
{
    ev_io_init(&b->look, on_look, lws_get_socket_fd(b->wsi), EV_READ);
    ev_set_priority(&b->look, EV_MAXPRI);
    b->look.data = b;
    ev_io_start(supervisor_of(b)->loop, &b->look);
}

void browser_known(struct browser *b)
{
    ev_io_stop(supervisor_of(b)->loop, &b->look);
}

struct browser *browser_new(struct ws_server *server, struct lws *wsi)
{
    struct browser *b = mem_zalloc(1, sizeof(*b));

    if (!b)
        return NULL;
    b->server = server;
    b->wsi = wsi;
    list_init(&b->link);
    list_init(&b->own);
    buf_init(&b->in, BROWSER_MESSAGE_MAX + 1);
    ev_init(&b->look, on_look);
    ev_timer_init(&b->timer, on_timer, 0., 0.);
    b->timer.data = b;
    browser_set_timer(b, HTTP_SECONDS);
    return b;
}

static void drop_own(struct browser *b)
{
    while (!list_empty(&b->own)) {
        struct own_frame *f = list_entry(b->own.next, struct own_frame, link);

        list_remove(&f->link);
        mem_free(f);
    }
}

void browser_gone(struct browser *b)
{
    relay_leave(b);
    browser_known(b);
    ev_timer_stop(supervisor_of(b)->loop, &b->timer);
}

void browser_free(struct browser *b)
{
    struct ws_server *server = b->server;

    browser_gone(b);
    drop_own(b);
    buf_release(&b->in);
    mem_free(b->holder);
    list_remove(&b->link);
    mem_free(b);
    ws_server_forget(server);
}

/* ---- words of the service ---- */

int browser_queue(struct browser *b, const struct buf *text)
{
    struct own_frame *f = buf_failed(text) ? NULL : mem_zalloc(1, sizeof(*f) + LWS_PRE + text->len);

    if (!f) {
        browser_kill(b);
        return -1;
    }
    f->len = text->len;
    memcpy(f->data + LWS_PRE, text->data, text->len);
    list_init(&f->link);
    list_append(&b->own, &f->link);
    wants_write(b);
    return 0;
}

void browser_close(struct browser *b, enum close_code code, const char *reason)
{
    if (b->phase == BROWSER_CLOSING)
        return;
    relay_leave(b);
    b->phase = BROWSER_CLOSING;
    b->turns = 0;
    b->close_code = (uint16_t)code;
    b->close_reason = reason;
    browser_set_timer(b, CLOSE_SECONDS);
    lws_rx_flow_control(b->wsi, 1); /* else its answer to the close is never seen */
    wants_write(b);
}

void browser_refuse(struct browser *b, enum close_code code, const char *message)
{
    auto_buf struct buf text;

    buf_init(&text, 4096);
    if (b->phase == BROWSER_CLOSING)
        return;
    log_debug("browser of %s: %d, %s", b->who.actor, (int)code, message);
    frame_put_error(&text, message);
    if (browser_queue(b, &text) == 0)
        browser_close(b, code, NULL);
}

/* ---- the way in ---- */

/* Whom it belongs to from now on, where a sign-in is needed: 0, or -1 and err. */
static int identify(struct browser *b, struct err *err)
{
    struct supervisor *sv = supervisor_of(b);

    if (!sv->config->require_auth)
        return 0;
    if (!b->auth.signed_in)
        return err_set(err, ERR_AUTH, 0, "Sign in with GitHub first");
    if (!b->auth.well_formed)
        return err_set(err, ERR_AUTH, 0, "The GitHub session is unknown or has expired, sign in again");
    if (signin_desk_check(&sv->signins, &b->auth.signin, err) < 0)
        return -1;
    signin_actor(&b->auth.signin, b->who.actor);
    return 0;
}

/* The contract's order: id, first frame, sign-in, rate, owner. */
static void sign_in(struct browser *b, char *text, size_t len)
{
    struct supervisor *sv = supervisor_of(b);
    struct session *s;
    struct err err;
    int r = auth_parse(text, len, &b->auth, &err);

    mem_wipe(text, len); /* it held the session's id */
    if (r < 0 || identify(b, &err) < 0) {
        browser_refuse(b, CLOSE_AUTH, err.msg);
        return;
    }
    if (quota_hit(sv->quota, b->who.actor, time_mono_ms(), &err) < 0) {
        browser_refuse(b, CLOSE_RATE, err.msg);
        return;
    }
    s = sessions_find(&sv->sessions, &b->who.id, b->who.actor, &err);
    if (s && !session_is_leaving(s))
        relay_join(b, s);
    else
        browser_refuse(b, CLOSE_UNKNOWN, "There is no such session");
}

void browser_opened(struct browser *b)
{
    struct session *s;
    struct err err;

    b->heard = b->took = seconds();
    b->phase = BROWSER_AUTH;
    browser_set_timer(b, AUTH_SECONDS);
    watch_stranger(b);
    if (!b->who.id_valid) {
        browser_refuse(b, CLOSE_BAD_ID, "The session id is no UUID");
        return;
    }
    if (!b->who.internal)
        return;
    s = sessions_find(&supervisor_of(b)->sessions, &b->who.id, b->who.actor, &err);
    if (s && !session_is_leaving(s))
        relay_join(b, s);
    else
        browser_refuse(b, CLOSE_INTERNAL_UNKNOWN, "There is no such session");
}

/* ---- from the browser ---- */

void browser_heard(struct browser *b)
{
    b->heard = seconds();
}

static void take_message(struct browser *b, char *text, size_t len)
{
    bool binary = lws_frame_is_binary(b->wsi);

    if (b->phase == BROWSER_AUTH && binary)
        browser_refuse(b, CLOSE_AUTH, "The first frame must be text");
    else if (binary)
        browser_close(b, CLOSE_BINARY, "Frames must be text");
    else if (!utf8_valid(text, len))
        browser_close(b, CLOSE_TEXT, "The text is not UTF-8");
    else if (b->phase == BROWSER_AUTH)
        sign_in(b, text, len);
    else if (relay_send(b, text, len) < 0)
        browser_refuse(b, CLOSE_UNREACHABLE, "The agent cannot be reached");
}

/* A piece of a message: what is promised may never come, so not all room for it is made. */
static int collect(struct browser *b, char *data, size_t len, size_t rest)
{
    int r;

    if (b->in.cap <= KEPT_BUFFER && len + rest > KEPT_BUFFER)
        buf_reserve(&b->in, len + rest < RESERVED_MOST ? len + rest : RESERVED_MOST);
    r = buf_add(&b->in, data, len);
    if (b->phase == BROWSER_AUTH)
        mem_wipe(data, len); /* it may hold the id of a sign-in, and this buffer stays */
    return r;
}

void browser_received(struct browser *b, void *data, size_t len)
{
    size_t rest = lws_remaining_packet_payload(b->wsi),
           most = b->phase == BROWSER_AUTH ? AUTH_FRAME_MAX : BROWSER_MESSAGE_MAX;
    bool first = lws_is_first_fragment(b->wsi), last = lws_is_final_fragment(b->wsi);

    browser_heard(b);
    if (b->phase == BROWSER_CLOSING)
        return;
    if (first && b->in.cap > KEPT_BUFFER)
        buf_release(&b->in);
    if (first)
        buf_clear(&b->in);
    /* The frame's header tells how much is to come, so nothing is collected in vain. */
    if (len > most || rest > most || b->in.len + len + rest > most) {
        if (b->phase == BROWSER_AUTH)
            browser_refuse(b, CLOSE_AUTH, "The first frame is too long");
        else
            browser_close(b, CLOSE_TOO_LARGE, "Frames may have 16 MiB");
    } else if (first && last && len) {
        take_message(b, data, len);
    } else if (collect(b, data, len, rest) < 0) {
        browser_refuse(b, CLOSE_UNREACHABLE, "The service is out of memory");
    } else if (last) {
        take_message(b, b->in.data ? b->in.data : (char[]){ "" }, b->in.len);
    }
}

void browser_peer_closes(struct browser *b)
{
    relay_leave(b);
    b->phase = BROWSER_CLOSING;
    b->close_sent = true; /* libwebsockets answers it */
    browser_set_timer(b, CLOSE_SECONDS);
}

/* ---- to the browser ---- */

static int write_text(struct browser *b, unsigned char *text, size_t len)
{
    return lws_write(b->wsi, text, len, LWS_WRITE_TEXT) < (int)len ? -1 : 0;
}

static int write_own(struct browser *b)
{
    struct own_frame *f = list_entry(b->own.next, struct own_frame, link);
    int r = write_text(b, f->data + LWS_PRE, f->len);

    list_remove(&f->link);
    mem_free(f);
    return r;
}

/* The message's own header stands in front of the text: room enough for the WebSocket's, and not needed any more. */
static int write_waiting(struct browser *b)
{
    b->next.waiting = false;
    return write_text(b, (unsigned char *)b->holder->in.in.data + b->next.at, b->next.len);
}

static int write_next(struct browser *b)
{
    if (write_waiting(b) < 0)
        return -1;
    relay_pull(b);
    return 0;
}

/* libwebsockets wants to be asked first, which costs a turn of the loop and two system calls for each frame. What it
 * asks for in return is that the socket takes something, and that nothing it was given before still waits. */
void browser_write_frame(struct browser *b)
{
    if (!b->next.now || !list_empty(&b->own) || b->ping_due || lws_send_pipe_choked(b->wsi)) {
        wants_write(b);
        return;
    }
    b->next.now--;
    b->took = seconds();
    if (write_waiting(b) < 0)
        browser_kill(b);
}

static int write_ping(struct browser *b)
{
    unsigned char ping[LWS_PRE + 1] = { 0 };

    b->ping_due = false;
    ping[LWS_PRE] = '?'; /* libwebsockets does not tell of an answer that is empty */
    return lws_write(b->wsi, ping + LWS_PRE, 1, LWS_WRITE_PING) < 0 ? -1 : 0;
}

static int write_close(struct browser *b)
{
    unsigned char reason[124];
    size_t len = b->close_reason ? strlen(b->close_reason) : 0;

    if (b->close_sent || !b->close_code)
        return 0;
    if (len > 120)
        len = 120;
    if (len)
        memcpy(reason, b->close_reason, len);
    lws_close_reason(b->wsi, (enum lws_close_status)b->close_code, reason, len);
    b->close_sent = true;
    browser_set_timer(b, ANSWER_SECONDS);
    return -1;
}

/* Exactly one write per call, as libwebsockets wants it. */
int browser_writable(struct browser *b)
{
    int r = 0;

    if (b->close_sent)
        return 0;
    b->took = seconds();
    if (!list_empty(&b->own))
        r = write_own(b);
    else if (b->phase == BROWSER_CLOSING)
        return write_close(b);
    else if (b->next.waiting)
        r = write_next(b);
    else if (b->ping_due)
        r = write_ping(b);
    if (r == 0 && !b->close_sent &&
        (!list_empty(&b->own) || b->next.waiting || b->ping_due || b->phase == BROWSER_CLOSING))
        wants_write(b);
    return r;
}
