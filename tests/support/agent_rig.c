#include "tests/support/agent_rig.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <openssl/evp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "shared/base/mem.h"
#include "supervisor/holder/ws_upgrade.h"

#define HEARD_MOST ((size_t)80 << 20)

static void on_opened(void *arg)
{
    ((struct agent_rig *)arg)->opened++;
}

static void on_message(void *arg, struct buf *text)
{
    struct agent_rig *r = arg;

    r->messages++;
    buf_add(&r->heard, text->data, text->len);
    buf_add_char(&r->heard, '\n');
    if (r->pause_at_each)
        agent_ws_pause(&r->ws, true);
}

static void on_refused(void *arg, const char *why)
{
    struct agent_rig *r = arg;

    r->refused++;
    buf_add_str(&r->why, why);
    buf_add_char(&r->why, '\n');
}

static void on_turned(void *arg)
{
    ((struct agent_rig *)arg)->turned++;
}

static void on_drained(void *arg)
{
    ((struct agent_rig *)arg)->drained++;
}

static void on_finished(void *arg)
{
    ((struct agent_rig *)arg)->finished++;
}

void agent_rig_listen(struct agent_rig *r)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof(at);
    int one = 1;

    at.sin_port = htons(r->port);
    r->listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    assert_true(r->listener >= 0);
    assert_int_equal(setsockopt(r->listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)), 0);
    assert_int_equal(bind(r->listener, (struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(listen(r->listener, 8), 0);
    assert_int_equal(getsockname(r->listener, (struct sockaddr *)&at, &len), 0);
    r->port = ntohs(at.sin_port);
}

void agent_rig_start(struct agent_rig *r)
{
    const struct agent_ws_events events = { on_opened, on_message, on_refused, on_turned, on_drained, on_finished, r };

    *r = (struct agent_rig){ .loop = ev_loop_new(0), .listener = -1, .peer = -1 };
    assert_non_null(r->loop);
    buf_init(&r->heard, HEARD_MOST);
    buf_init(&r->why, 65536);
    agent_rig_listen(r);
    agent_ws_init(&r->ws, r->loop, &events);
    agent_ws_start(&r->ws, -1, r->port, AGENT_RIG_SESSION);
    agent_ws_hint(&r->ws);
}

void agent_rig_stop(struct agent_rig *r)
{
    agent_ws_release(&r->ws);
    agent_rig_hang_up(r);
    cleanup_fd_close(&r->listener);
    ev_loop_destroy(r->loop);
    buf_release(&r->heard);
    buf_release(&r->why);
}

void agent_rig_turn(struct agent_rig *r)
{
    ev_run(r->loop, EVRUN_NOWAIT);
    usleep(100);
}

void agent_rig_now(struct agent_rig *r, ev_timer *t)
{
    assert_true(ev_is_active(t));
    ev_timer_stop(r->loop, t);
    ev_invoke(r->loop, t, EV_TIMER);
}

bool agent_rig_try_accept(struct agent_rig *r)
{
    if (r->peer < 0)
        r->peer = accept4(r->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    return r->peer >= 0;
}

void agent_rig_accept(struct agent_rig *r)
{
    size_t len = 0;

    assert_true(r->peer < 0);
    AGENT_RIG_UNTIL(r, agent_rig_try_accept(r));
    memset(r->request, 0, sizeof(r->request));
    while (!strstr(r->request, "\r\n\r\n")) {
        ssize_t n = recv(r->peer, r->request + len, sizeof(r->request) - 1 - len, 0);

        assert_true(n > 0 || errno == EAGAIN);
        len += n > 0 ? (size_t)n : 0;
        agent_rig_turn(r);
    }
}

void agent_rig_answer(struct agent_rig *r, struct buf *to)
{
    static const char name[] = "Sec-WebSocket-Key: ", guid[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    const char *key = strstr(r->request, name);
    unsigned char both[WS_KEY_LEN + sizeof(guid)], digest[EVP_MAX_MD_SIZE], accept[64];
    unsigned n;

    assert_non_null(key);
    memcpy(both, key + sizeof(name) - 1, WS_KEY_LEN);
    memcpy(both + WS_KEY_LEN, guid, sizeof(guid));
    assert_int_equal(EVP_Digest(both, WS_KEY_LEN + sizeof(guid) - 1, digest, &n, EVP_sha1(), NULL), 1);
    EVP_EncodeBlock(accept, digest, (int)n);
    buf_add_fmt(to,
                "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                "Sec-WebSocket-Accept: %s\r\n\r\n",
                (const char *)accept);
}

void agent_rig_open(struct agent_rig *r)
{
    unsigned before = r->opened;
    auto_buf struct buf b;

    buf_init(&b, 1024);
    agent_rig_accept(r);
    agent_rig_answer(r, &b);
    agent_rig_say(r, b.data, b.len);
    AGENT_RIG_UNTIL(r, r->opened > before);
}

void agent_rig_hang_up(struct agent_rig *r)
{
    cleanup_fd_close(&r->peer);
    r->peer = -1;
}

void agent_rig_say(struct agent_rig *r, const void *data, size_t len)
{
    const char *p = data;
    int idle = 0;

    while (len) {
        ssize_t n = send(r->peer, p, len, MSG_NOSIGNAL);

        assert_true(n > 0 || errno == EAGAIN);
        if (n > 0) {
            p += n;
            len -= (size_t)n;
        }
        idle = n > 0 ? 0 : idle + 1;
        assert_true(idle < 20000);
        if (len)
            agent_rig_turn(r);
    }
}

void agent_rig_frame(struct buf *to, uint8_t first, const void *payload, size_t len)
{
    size_t more = len < 126 ? 0 : len <= UINT16_MAX ? 2 : 8, i;

    buf_add_char(to, (char)first);
    buf_add_char(to, (char)(more == 0 ? len : more == 2 ? 126 : 127));
    for (i = 0; i < more; i++)
        buf_add_char(to, (char)(len >> (8 * (more - 1 - i))));
    buf_add(to, payload, len);
}

void agent_rig_say_frame(struct agent_rig *r, uint8_t first, const char *text)
{
    auto_buf struct buf b;

    buf_init(&b, strlen(text) + 16);
    agent_rig_frame(&b, first, text, strlen(text));
    agent_rig_say(r, b.data, b.len);
}

static void read_all(struct agent_rig *r, uint8_t *to, size_t len)
{
    int idle = 0;

    while (len) {
        ssize_t n = recv(r->peer, to, len, 0);

        assert_true(n > 0 || (n < 0 && errno == EAGAIN));
        if (n > 0) {
            to += n;
            len -= (size_t)n;
        }
        idle = n > 0 ? 0 : idle + 1;
        assert_true(idle < 20000);
        if (len)
            agent_rig_turn(r);
    }
}

uint8_t agent_rig_read(struct agent_rig *r, struct buf *ret)
{
    uint8_t head[8], key[4];
    uint64_t len;
    uint8_t first;
    size_t i, more;

    read_all(r, head, 2);
    first = head[0];
    assert_true(head[1] & 0x80);
    len = head[1] & 0x7f;
    more = len == 126 ? 2 : len == 127 ? 8 : 0;
    read_all(r, head, more);
    if (more)
        for (len = 0, i = 0; i < more; i++)
            len = len << 8 | head[i];
    read_all(r, key, sizeof(key));
    buf_clear(ret);
    assert_int_equal(buf_reserve(ret, len), 0);
    read_all(r, (uint8_t *)ret->data, len);
    ret->len = len;
    ret->data[len] = '\0';
    for (i = 0; i < len; i++)
        ret->data[i] = (char)((uint8_t)ret->data[i] ^ key[i % 4]);
    return first;
}

void agent_rig_expect(struct agent_rig *r, uint8_t first, const void *payload, size_t len)
{
    auto_buf struct buf b;

    buf_init(&b, (size_t)32 << 20);
    assert_int_equal(agent_rig_read(r, &b), first);
    assert_int_equal(b.len, len);
    if (len)
        assert_memory_equal(b.data, payload, len);
}

bool agent_rig_at_end(struct agent_rig *r)
{
    char byte;

    return recv(r->peer, &byte, 1, 0) == 0;
}
