#include "shared/cli/ws_client.h"

#include <curl/curl.h>
#include <errno.h>
#include <openssl/evp.h>
#include <poll.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <wslay/wslay.h>

#include "shared/base/mem.h"
#include "shared/base/time.h"
#include "shared/cli/http.h"

#define HANDSHAKE_MS 10000
#define HEAD_MAX 16384
#define MESSAGE_MAX (20u << 20) /* a frame of the service is at most 16 MiB */
#define ACCEPT_LEN 28

struct ws_client {
    struct http_link *link;
    wslay_event_context_ptr ws;
    struct buf early; /* frame bytes that came with the handshake's answer */
    bool eof, in_close;
    uint8_t code[2]; /* of the close frame, as it came */
    size_t code_len;
    void (*on_text)(void *user, const char *text, size_t len);
    void *user;
};

void ws_client_accept(const char *key, char out[29])
{
    static const char guid[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"; /* RFC 6455, 1.3 */
    unsigned char digest[EVP_MAX_MD_SIZE];
    auto_buf struct buf both;
    unsigned n = 0;

    buf_init(&both, 256);
    buf_add_str(&both, key);
    buf_add_str(&both, guid);
    out[0] = '\0';
    if (!buf_failed(&both) && EVP_Digest(both.data, both.len, digest, &n, EVP_sha1(), NULL) == 1)
        EVP_EncodeBlock((unsigned char *)out, digest, (int)n);
}

int ws_client_check_answer(const char *head, const char *key, struct err *err)
{
    static const char name[] = "\r\nsec-websocket-accept:";
    char want[ACCEPT_LEN + 1];
    const char *at;

    if (strncmp(head, "HTTP/1.1 101", 12) != 0)
        return err_set(err, ERR_UPSTREAM, 0, "the conversation socket was refused: %.*s", (int)strcspn(head, "\r\n"),
                       head);
    ws_client_accept(key, want);
    at = strcasestr(head, name);
    if (at)
        at += sizeof(name) - 1;
    while (at && (*at == ' ' || *at == '\t'))
        at++;
    if (!at || !*want || strncmp(at, want, ACCEPT_LEN) != 0)
        return err_set(err, ERR_UPSTREAM, 0, "whoever answered speaks no WebSocket");
    return 0;
}

static bool wait_io(int fd, short events, int64_t deadline)
{
    struct pollfd p = { fd, events, 0 };
    int64_t left = deadline - time_mono_ms();

    return left > 0 && poll(&p, 1, (int)left) > 0;
}

static int send_all(struct http_link *l, const char *data, size_t len, int64_t deadline)
{
    while (len) {
        ssize_t n = http_send(l, data, len);

        if (n < 0 && (errno != EAGAIN || !wait_io(http_link_fd(l), POLLOUT, deadline)))
            return -1;
        if (n > 0) {
            data += n;
            len -= (size_t)n;
        }
    }
    return 0;
}

/* Everything up to the empty line, and what came behind it. */
static int read_head(struct http_link *l, struct buf *in, int64_t deadline)
{
    while (!in->len || !strstr(in->data, "\r\n\r\n")) {
        ssize_t n;

        if (buf_reserve(in, 1024) < 0)
            return -1;
        n = http_receive(l, in->data + in->len, 1024);
        if (n == 0 || (n < 0 && (errno != EAGAIN || !wait_io(http_link_fd(l), POLLIN, deadline))))
            return -1;
        if (n > 0)
            in->len += (size_t)n;
        in->data[in->len] = '\0';
    }
    return 0;
}

/* "http://host:port/path?x" -> host part and path part. */
static int split_url(const char *url, struct buf *host, struct buf *path)
{
    CURLU *u = curl_url();
    char *name = NULL, *port = NULL, *where = NULL;
    int r = -1;

    if (u && !curl_url_set(u, CURLUPART_URL, url, 0) && !curl_url_get(u, CURLUPART_HOST, &name, 0) &&
        !curl_url_get(u, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT) && !curl_url_get(u, CURLUPART_PATH, &where, 0)) {
        buf_add_fmt(host, "%s:%s", name, port);
        buf_add_str(path, where);
        r = buf_failed(host) || buf_failed(path) ? -1 : 0;
    }
    curl_free(name);
    curl_free(port);
    curl_free(where);
    curl_url_cleanup(u);
    return r;
}

static int shake_hands(struct ws_client *c, const char *url, struct err *err)
{
    auto_buf struct buf request, host, path, answer;
    int64_t deadline = time_mono_ms() + HANDSHAKE_MS;
    unsigned char random[16];
    char key[25], *end;

    buf_init(&request, HEAD_MAX);
    buf_init(&host, HEAD_MAX);
    buf_init(&path, HEAD_MAX);
    buf_init(&answer, HEAD_MAX);
    if (split_url(url, &host, &path) < 0 || getrandom(random, sizeof(random), 0) != sizeof(random))
        return err_set(err, ERR_BAD_REQUEST, 0, "%s is no address of a service", url);
    EVP_EncodeBlock((unsigned char *)key, random, sizeof(random));
    buf_add_fmt(&request,
                "GET %s HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                "Sec-WebSocket-Key: %s\r\nSec-WebSocket-Version: 13\r\n\r\n",
                path.data, host.data, key);
    if (buf_failed(&request))
        return err_nomem(err);
    if (send_all(c->link, request.data, request.len, deadline) < 0 || read_head(c->link, &answer, deadline) < 0)
        return err_set(err, ERR_UNAVAILABLE, 0, "%s: no answer to the WebSocket handshake", url);
    end = strstr(answer.data, "\r\n\r\n");
    *end = '\0';
    if (ws_client_check_answer(answer.data, key, err) < 0)
        return -1;
    end += 4;
    return buf_add(&c->early, end, (size_t)(answer.data + answer.len - end)) < 0 ? err_nomem(err) : 0;
}

static ssize_t on_receive(wslay_event_context_ptr ws, uint8_t *data, size_t len, int flags, void *user)
{
    struct ws_client *c = user;
    ssize_t n;

    (void)flags;
    if (c->early.len) {
        n = (ssize_t)(c->early.len < len ? c->early.len : len);
        memcpy(data, c->early.data, (size_t)n);
        buf_consume(&c->early, (size_t)n);
        return n;
    }
    n = http_receive(c->link, data, len);
    if (n > 0)
        return n;
    c->eof = c->eof || n == 0;
    wslay_event_set_error(ws, n < 0 && errno == EAGAIN ? WSLAY_ERR_WOULDBLOCK : WSLAY_ERR_CALLBACK_FAILURE);
    return -1;
}

static ssize_t on_send(wslay_event_context_ptr ws, const uint8_t *data, size_t len, int flags, void *user)
{
    struct ws_client *c = user;
    ssize_t n = http_send(c->link, data, len);

    (void)flags;
    if (n < 0)
        wslay_event_set_error(ws, errno == EAGAIN ? WSLAY_ERR_WOULDBLOCK : WSLAY_ERR_CALLBACK_FAILURE);
    return n;
}

static int on_mask(wslay_event_context_ptr ws, uint8_t *out, size_t len, void *user)
{
    (void)ws;
    (void)user;
    return getrandom(out, len, 0) == (ssize_t)len ? 0 : -1;
}

static void on_message(wslay_event_context_ptr ws, const struct wslay_event_on_msg_recv_arg *m, void *user)
{
    struct ws_client *c = user;

    (void)ws;
    if (m->opcode == WSLAY_TEXT_FRAME && c->on_text)
        c->on_text(c->user, (const char *)m->msg, m->msg_length);
}

/* The close code is taken from the bytes: wslay calls 1012 (restart) and 1013 a protocol error. */
static void on_frame_start(wslay_event_context_ptr ws, const struct wslay_event_on_frame_recv_start_arg *f, void *user)
{
    struct ws_client *c = user;

    (void)ws;
    c->in_close = f->opcode == WSLAY_CONNECTION_CLOSE;
}

static void on_frame_chunk(wslay_event_context_ptr ws, const struct wslay_event_on_frame_recv_chunk_arg *f, void *user)
{
    struct ws_client *c = user;
    size_t i;

    (void)ws;
    for (i = 0; c->in_close && i < f->data_length && c->code_len < sizeof(c->code); i++)
        c->code[c->code_len++] = f->data[i];
}

int ws_client_open(const char *url, struct ws_client **ret, struct err *err)
{
    static const struct wslay_event_callbacks callbacks = {
        .recv_callback = on_receive,
        .send_callback = on_send,
        .genmask_callback = on_mask,
        .on_frame_recv_start_callback = on_frame_start,
        .on_frame_recv_chunk_callback = on_frame_chunk,
        .on_msg_recv_callback = on_message,
    };
    struct ws_client *c = mem_zalloc(1, sizeof(*c));

    if (!c)
        return err_nomem(err);
    buf_init(&c->early, HEAD_MAX);
    if (http_connect(url, &c->link, err) < 0 || shake_hands(c, url, err) < 0) {
        ws_client_free(c);
        return -1;
    }
    if (wslay_event_context_client_init(&c->ws, &callbacks, c) != 0) {
        ws_client_free(c);
        return err_nomem(err);
    }
    wslay_event_config_set_max_recv_msg_length(c->ws, MESSAGE_MAX);
    *ret = c;
    return 0;
}

void ws_client_free(struct ws_client *c)
{
    if (!c)
        return;
    if (c->ws)
        wslay_event_context_free(c->ws);
    http_link_free(c->link);
    buf_release(&c->early);
    mem_free(c);
}

int ws_client_fd(const struct ws_client *c)
{
    return http_link_fd(c->link);
}

bool ws_client_pending(const struct ws_client *c)
{
    return wslay_event_want_write(c->ws);
}

int ws_client_send(struct ws_client *c, const char *text, size_t len, struct err *err)
{
    struct wslay_event_msg m = { WSLAY_TEXT_FRAME, (const uint8_t *)text, len };

    if (wslay_event_queue_msg(c->ws, &m) != 0)
        return err_set(err, ERR_UNAVAILABLE, 0, "the conversation socket takes no more messages");
    return 0;
}

void ws_client_close(struct ws_client *c, unsigned code)
{
    if (wslay_event_queue_close(c->ws, (uint16_t)code, NULL, 0) == 0)
        (void)wslay_event_send(c->ws);
}

int ws_client_run(struct ws_client *c, void (*on_text)(void *user, const char *text, size_t len), void *user,
                  unsigned *ret_code, struct err *err)
{
    int r;

    c->on_text = on_text;
    c->user = user;
    r = wslay_event_recv(c->ws);
    if (r == 0)
        r = wslay_event_send(c->ws);
    if (c->eof || wslay_event_get_close_received(c->ws) || !wslay_event_get_read_enabled(c->ws)) {
        *ret_code = c->code_len == sizeof(c->code) ? (unsigned)c->code[0] << 8 | c->code[1] : 1006;
        return 0;
    }
    if (r != 0)
        return err_set(err, ERR_UPSTREAM, 0, "the conversation socket broke (wslay %d)", r);
    return 1;
}
