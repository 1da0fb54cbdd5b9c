#include "supervisor/relay/ws_server.h"

#include <malloc.h>
#include <string.h>
#include <unistd.h>

#include "shared/base/log.h"
#include "shared/base/mem.h"
#include "shared/base/time.h"
#include "shared/forget/forget.h"
#include "supervisor/relay/browser.h"
#include "supervisor/supervisor.h"

#define READ_SIZE (72u << 10)   /* nginx hands on as much at a time */
#define WRITE_SIZE (1u << 20)   /* offered to the kernel at once; it takes what fits */
#define HEADERS_MAX (34u << 10) /* nginx sends ten lines, of four buffers of 8 KiB at most */
#define HTTP_SECONDS 10
#define TELL_EACH_MS 10000
#define TELL_MOST 10u  /* refused handshakes that are told in that time, the others by their number */
#define GONE_MANY 1000 /* 2 KiB each */
#define GONE_SOME 50

/* libwebsockets speaks of what strangers do; our own lines say what matters. */
static void on_lws_log(int level, const char *line)
{
    size_t len = strcspn(line, "\n");

    (void)level;
    log_debug("libwebsockets: %.*s", (int)len, line);
}

/* Header texts hold tokens, so what it frees is overwritten. Each connection has a buffer of READ_SIZE, which it hardly
 * ever uses: the slots keep that from costing anything. */
static void *on_lws_memory(void *p, size_t size, const char *what)
{
    (void)what;
    if (size)
        return forget_realloc(p, size);
    forget_free(p); /* it frees NULL, too, for which realloc() would give a piece */
    return NULL;
}

static struct ws_server *server_of(struct lws *wsi)
{
    return lws_context_user(lws_get_context(wsi));
}

/* ---- HTTP ---- */

#define HEADER_TEXT 1024

struct header_texts {
    char path[HEADER_TEXT], surface[HEADER_TEXT], token[HEADER_TEXT], address[HEADER_TEXT], origin[HEADER_TEXT],
        host[HEADER_TEXT];
};

/* A header too long for its place is as good as none, but for the origin: it then matches nothing. */
static void copy_known(struct lws *wsi, enum lws_token_indexes token, char out[HEADER_TEXT])
{
    if (lws_hdr_copy(wsi, out, HEADER_TEXT, token) < 0)
        memcpy(out, "?", 2);
}

static void copy_custom(struct lws *wsi, const char *name, char out[HEADER_TEXT])
{
    if (lws_hdr_custom_copy(wsi, out, HEADER_TEXT, name, (int)strlen(name)) < 0)
        out[0] = '\0';
}

static void copy_request_id(struct lws *wsi, char out[ID_TEXT_LEN + 1])
{
    char text[HEADER_TEXT];
    struct id id;

    copy_custom(wsi, "x-request-id:", text);
    out[0] = '\0';
    if (id_parse(text, &id) == 0)
        id_format(&id, out);
}

/* Strangers decide how many there are. */
static bool may_tell(struct ws_server *ws)
{
    int64_t now = time_mono_ms();

    if (now - ws->refused.since_ms >= TELL_EACH_MS) {
        if (ws->refused.told > TELL_MOST)
            log_info("websocket: refused %u more", ws->refused.told - TELL_MOST);
        ws->refused.since_ms = now;
        ws->refused.told = 0;
    }
    return ++ws->refused.told <= TELL_MOST;
}

static int judge(struct ws_server *ws, struct lws *wsi, char request[ID_TEXT_LEN + 1], struct handshake *ret,
                 struct err *err)
{
    struct header_texts t = { 0 };
    struct handshake_request r = { t.path, t.surface, t.token, t.address, t.origin, t.host };

    copy_known(wsi, WSI_TOKEN_GET_URI, t.path);
    copy_known(wsi, WSI_TOKEN_ORIGIN, t.origin);
    copy_known(wsi, WSI_TOKEN_HOST, t.host);
    copy_known(wsi, WSI_TOKEN_HTTP_X_REAL_IP, t.address);
    copy_custom(wsi, "x-agentsim-surface:", t.surface);
    copy_custom(wsi, "x-agent-simulator-token:", t.token);
    copy_request_id(wsi, request);
    log_context(request, NULL);
    if (handshake_judge(ws->supervisor->config, &r, ret, err) == 0)
        return 0;
    if (may_tell(ws))
        log_info("websocket: refused %s: %s", t.path, err->msg);
    mem_wipe(t.token, sizeof(t.token));
    return -1;
}

/* A whole answer, then the end of the connection. detail is ours and needs no escapes. */
static int answer(struct lws *wsi, int status, const char *detail)
{
    unsigned char space[LWS_PRE + 1024];
    char body[512];
    int len = lws_snprintf(body, sizeof(body), "{\"detail\":\"%s\"}", detail);
    int n = lws_snprintf((char *)space + LWS_PRE, sizeof(space) - LWS_PRE,
                         "HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n"
                         "Connection: close\r\n\r\n%s",
                         status, status == 403 ? "Forbidden" : "Not Found", len, body);

    lws_write(wsi, space + LWS_PRE, (size_t)n, LWS_WRITE_HTTP_HEADERS);
    return -1;
}

/* 0: upgrade, -1: refused and answered. */
static int on_upgrade(struct browser *b, struct lws *wsi, const char *to)
{
    struct err err;

    if (strcasecmp(to, "websocket") != 0)
        return answer(wsi, 403, "This address speaks WebSocket only");
    if (judge(b->server, wsi, b->request, &b->who, &err) < 0)
        return answer(wsi, err_http_status(err.kind), err.msg);
    if (b->who.id_valid)
        id_format(&b->who.id, b->name);
    return 0;
}

static int on_connection(struct lws *wsi)
{
    struct ws_server *ws = server_of(wsi);
    struct browser *b = browser_new(ws, wsi);

    if (!b)
        return -1;
    lws_set_opaque_user_data(wsi, b);
    list_append(&ws->browsers, &b->link);
    if (++ws->count >= ws->max)
        acceptor_pause(&ws->door, true);
    return 0;
}

/* ---- routing only: one line per reason ---- */

static int on_browser_event(struct browser *b, struct lws *wsi, enum lws_callback_reasons why, void *in, size_t len)
{
    switch ((int)why) {
    case LWS_CALLBACK_HTTP_CONFIRM_UPGRADE:
        return on_upgrade(b, wsi, in);
    case LWS_CALLBACK_ESTABLISHED:
        browser_opened(b);
        return 0;
    case LWS_CALLBACK_RECEIVE:
        browser_received(b, in, len);
        return 0;
    case LWS_CALLBACK_RECEIVE_PONG:
        browser_heard(b);
        return 0;
    case LWS_CALLBACK_SERVER_WRITEABLE:
        return browser_writable(b);
    case LWS_CALLBACK_WS_PEER_INITIATED_CLOSE:
        browser_peer_closes(b);
        return 0;
    case LWS_CALLBACK_CLOSED:
    case LWS_CALLBACK_CLOSED_HTTP:
        browser_gone(b);
        return 0;
    case LWS_CALLBACK_WSI_DESTROY:
        lws_set_opaque_user_data(wsi, NULL);
        browser_free(b);
        return 0;
    }
    return 0;
}

static int on_event(struct lws *wsi, enum lws_callback_reasons why, void *user, void *in, size_t len)
{
    struct browser *b = lws_get_opaque_user_data(wsi);
    int r;

    (void)user;
    if (why == LWS_CALLBACK_SERVER_NEW_CLIENT_INSTANTIATED)
        return on_connection(wsi);
    if (why == LWS_CALLBACK_HTTP)
        return answer(wsi, 404, "Not Found");
    if (!b)
        return 0;
    browser_log_context(b);
    r = on_browser_event(b, wsi, why, in, len);
    log_context(NULL, NULL);
    return r;
}

/* ---- life ---- */

static void on_accepted(void *owner, int fd)
{
    struct ws_server *ws = owner;

    lws_adopt_socket_vhost(ws->vhost, fd); /* closes fd itself when it fails */
}

void ws_server_forget(struct ws_server *ws)
{
    ws->count--;
    /* Sockets of one storm lie between those of the next, so the heap never shrinks by itself. */
    if (++ws->gone >= GONE_MANY || (!ws->count && ws->gone >= GONE_SOME)) {
        ws->gone = 0;
        malloc_trim(0);
    }
    acceptor_pause(&ws->door, false);
}

static struct lws_context *make_context(struct ws_server *ws)
{
    /* The first protocol is where clients without a subprotocol land. */
    static const struct lws_protocols protocols[] = {
        { .name = "", .callback = on_event, .rx_buffer_size = READ_SIZE, .tx_packet_size = WRITE_SIZE },
        { 0 },
    };
    static const lws_retry_bo_t no_pings = { 0 }; /* ours know whether the browser is slow or dead */
    /* Nor is text checked byte by byte as it comes: browser.c does it once for each message. */
    void *loops[] = { ws->supervisor->loop };
    struct lws_context_creation_info info = {
        .port = CONTEXT_PORT_NO_LISTEN,
        .protocols = protocols,
        .options = LWS_SERVER_OPTION_LIBEV | LWS_SERVER_OPTION_DISABLE_IPV6,
        .foreign_loops = loops,
        .user = ws,
        .gid = (gid_t)-1,
        .uid = (uid_t)-1,
        .count_threads = 1,
        .max_http_header_data = HEADERS_MAX,
        .pt_serv_buf_size = READ_SIZE + LWS_PRE,
        .timeout_secs = HTTP_SECONDS,
        .retry_and_idle_policy = &no_pings,
        .vhost_name = "agentsim",
    };

    forget_open_slots();
    lws_set_allocator(on_lws_memory);
    lws_set_log_level(LLL_ERR | LLL_WARN, on_lws_log);
    return lws_create_context(&info);
}

struct ws_server *ws_server_new(struct supervisor *sv, int fd, unsigned max, struct err *err)
{
    struct ws_server *ws = mem_zalloc(1, sizeof(*ws));

    if (!ws) {
        close(fd);
        err_nomem(err);
        return NULL;
    }
    ws->supervisor = sv;
    ws->max = max;
    list_init(&ws->browsers);
    ws->context = make_context(ws);
    if (!ws->context) {
        close(fd);
        mem_free(ws);
        err_set(err, ERR_INTERNAL, 0,
                "libwebsockets does not start (is the package libwebsockets-evlib-ev installed?)");
        return NULL;
    }
    ws->vhost = lws_get_vhost_by_name(ws->context, "agentsim");
    acceptor_start(&ws->door, sv->loop, fd, on_accepted, ws);
    return ws;
}

void ws_server_drain(struct ws_server *ws)
{
    struct list *l, *next;

    acceptor_stop(&ws->door);
    for (l = ws->browsers.next; l != &ws->browsers; l = next) {
        struct browser *b = list_entry(l, struct browser, link);

        next = l->next;
        if (b->phase == BROWSER_HTTP)
            browser_kill(b);
        else
            browser_close(b, CLOSE_RESTART, "The service restarts");
    }
}

bool ws_server_empty(const struct ws_server *ws)
{
    return list_empty(&ws->browsers);
}

bool ws_server_told(const struct ws_server *ws)
{
    struct list *l;

    for (l = ws->browsers.next; l != &ws->browsers; l = l->next)
        if (!list_entry(l, struct browser, link)->close_sent)
            return false;
    return true;
}

void ws_server_free(struct ws_server *ws)
{
    if (!ws)
        return;
    acceptor_stop(&ws->door);
    lws_context_destroy(ws->context);
    mem_free(ws);
}
