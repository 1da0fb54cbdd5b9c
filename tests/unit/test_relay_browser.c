#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "shared/base/io.h"
#include "shared/base/mem.h"
#include "shared/base/time.h"
#include "shared/ipc/wire.h"
#include "supervisor/relay/browser.h"
#include "supervisor/relay/ws_server.h"
#include "tests/support/oom.h"
#include "tests/support/supervisor_fixture.h"

#define HELLO "{\"type\":\"auth\",\"features\":[\"exit\"]}"
#define BINARY 2
#define CLOSE 8

static int setup(void **state)
{
    struct fixture *f = mem_zalloc(1, sizeof(*f));
    char path[80];
    struct err err;
    int fd;

    assert_non_null(f);
    fixture_open(f);
    f->sv.sessions.release_browser = relay_session_gone;
    fixture_ready(f);
    snprintf(path, sizeof(path), "%s/ws.sock", f->dir);
    fd = io_unix_listen(path, 0600, (gid_t)-1, 16, &err);
    assert_true(fd >= 0);
    f->sv.ws = ws_server_new(&f->sv, fd, 100, &err);
    assert_non_null(f->sv.ws);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    char path[80];

    ws_server_free(f->sv.ws);
    snprintf(path, sizeof(path), "%s/ws.sock", f->dir);
    unlink(path);
    fixture_close(f);
    mem_free(f);
    return 0;
}

/* ---- a browser of few words ---- */

static int open_socket(struct fixture *f, const struct session *s)
{
    char request[512], answer[512] = "";
    int fd = fixture_connect(f, "ws.sock"), n;
    size_t len = 0;

    n = snprintf(
        request, sizeof(request),
        "GET /besser_api/simulation/%s/ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\nX-Real-IP: 192.0.2.1\r\n\r\n",
        s->name);
    assert_int_equal(send(fd, request, (size_t)n, 0), n);
    while (!strstr(answer, "\r\n\r\n"))
        len += fixture_read(f, fd, answer + len, 1);
    assert_non_null(strstr(answer, " 101 "));
    return fd;
}

/* Masked with zeros, final, one frame. */
static void say(int fd, uint8_t opcode, const char *text)
{
    uint8_t head[6] = { (uint8_t)(0x80 | opcode), (uint8_t)(0x80 | strlen(text)) };

    assert_true(strlen(text) < 126);
    assert_int_equal(send(fd, head, sizeof(head), MSG_NOSIGNAL), sizeof(head));
    assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

/* The next frame's opcode, 0 at the end; its payload in text. A close frame's code becomes text. */
static int hear(struct fixture *f, int fd, char text[256])
{
    uint8_t head[2], code[2];
    size_t len;

    text[0] = '\0';
    if (fixture_read(f, fd, head, 2) < 2)
        return 0;
    len = head[1];
    assert_true(len < 126);
    assert_int_equal(fixture_read(f, fd, text, len), len);
    text[len] = '\0';
    if ((head[0] & 15) == CLOSE) {
        memcpy(code, text, 2);
        snprintf(text, 256, "%d", code[0] << 8 | code[1]);
    }
    return head[0] & 15;
}

static void hear_text(struct fixture *f, int fd, const char *want)
{
    char text[256];

    assert_int_equal(hear(f, fd, text), 1);
    assert_string_equal(text, want);
}

static void hear_close(struct fixture *f, int fd, const char *want)
{
    char text[256];

    assert_int_equal(hear(f, fd, text), CLOSE);
    assert_string_equal(text, want);
}

/* ---- its holder ---- */

static int accept_attach(struct fixture *f, const struct session *s, uint64_t *ret_after)
{
    uint16_t type;
    auto_buf struct buf b;
    int fd = fixture_accept_holder(f, s->slot);

    buf_init(&b, 64);
    assert_int_equal(fixture_recv(f, fd, &type, &b, NULL), 1);
    assert_int_equal(type, HOLD_ATTACH);
    assert_int_equal(b.len, 8);
    memcpy(ret_after, b.data, 8);
    return fd;
}

static void attached(int fd, uint64_t from, uint64_t lost)
{
    const uint64_t fields[2] = { from, lost };

    fixture_send(fd, HOLD_ATTACHED, fields, sizeof(fields));
}

static void frame(int fd, uint64_t number, const char *text)
{
    auto_buf struct buf b;

    buf_init(&b, 512);
    wire_put_u64(&b, number);
    wire_put_bytes(&b, text, strlen(text));
    fixture_send(fd, HOLD_FRAME, b.data, b.len);
}

static int join(struct fixture *f, struct session *s, int *ret_holder)
{
    int fd = open_socket(f, s);
    uint64_t after;

    say(fd, 1, HELLO);
    *ret_holder = accept_attach(f, s, &after);
    assert_true(after == HOLD_AFTER_DELIVERED);
    attached(*ret_holder, 1, 0);
    hear_text(f, fd, "{\"type\":\"auth_ok\"}");
    assert_int_equal(s->state, SESSION_ATTACHED);
    return fd;
}

/* ---- tests ---- */

static void frames_pass_both_ways(void **state)
{
    struct fixture *f = *state;
    struct session *s;
    uint16_t type;
    auto_buf struct buf b;
    int control, holder, fd;

    buf_init(&b, 512);
    s = fixture_session(f, "ip:192.0.2.1", &control);
    fd = join(f, s, &holder);
    frame(holder, 1, "one");
    frame(holder, 2, "");
    frame(holder, 3, "three");
    hear_text(f, fd, "one");
    hear_text(f, fd, "");
    hear_text(f, fd, "three");
    say(fd, 1, "hello");
    assert_int_equal(fixture_recv(f, holder, &type, &b, NULL), 1);
    assert_int_equal(type, HOLD_SEND);
    assert_int_equal(b.len, 4 + 5 + 1);
    assert_string_equal(b.data + 4, "hello");
    close(fd);
    fixture_wait(f, s->state == SESSION_DETACHED);
    assert_int_equal(f->sv.ws->count, 0);
    close(holder);
    close(control);
}

static void the_exit_comes_last_then_the_close(void **state)
{
    struct fixture *f = *state;
    struct session *s;
    int control, holder, fd;

    s = fixture_session(f, "ip:192.0.2.1", &control);
    fd = join(f, s, &holder);
    frame(holder, 1, "last words");
    fixture_send(holder, HOLD_EXIT, (const uint8_t[]){ HOLD_REASON_EXITED, 3, 0, 0, 0 }, 5);
    hear_text(f, fd, "last words");
    hear_text(f, fd, "{\"type\":\"exit\",\"reason\":\"exited\",\"code\":3}");
    hear_close(f, fd, "1000");
    close(fd);
    fixture_wait(f, f->sv.ws->count == 0);
    close(holder);
    close(control);
}

static void what_a_dead_session_left_still_arrives(void **state)
{
    struct fixture *f = *state;
    struct session *s;
    int control, holder, fd;

    s = fixture_session(f, "ip:192.0.2.1", &control);
    fd = join(f, s, &holder);
    fixture_send(control, HOLD_DONE, NULL, 0);
    fixture_asked(f, LAUNCH_STOP);
    fixture_tell(f, LAUNCH_CLEAN, s->slot, NULL, 0);
    assert_int_equal(f->sv.sessions.table.count, 0);
    frame(holder, 1, "late");
    fixture_send(holder, HOLD_EXIT, (const uint8_t[]){ HOLD_REASON_STOPPED, 0, 0, 0, 0 }, 5);
    hear_text(f, fd, "late");
    hear_text(f, fd, "{\"type\":\"exit\",\"reason\":\"stopped\",\"code\":0}");
    hear_close(f, fd, "1000");
    close(fd);
    close(holder);
    close(control);
}

static void a_takeover_leaves_the_session_attached(void **state)
{
    struct fixture *f = *state;
    struct session *s;
    uint64_t after;
    int control, holder, second_holder, first, second;
    char byte;

    s = fixture_session(f, "ip:192.0.2.1", &control);
    first = join(f, s, &holder);
    second = open_socket(f, s);
    say(second, 1, "{\"type\":\"auth\",\"received\":4}");
    second_holder = accept_attach(f, s, &after);
    assert_int_equal(after, 4);
    attached(second_holder, 5, 2);
    hear_text(f, second, "{\"type\":\"auth_ok\",\"resumed\":true,\"from\":5}");
    hear_text(f, second, "{\"type\":\"replay_gap\",\"lost\":2}");
    hear_close(f, first, "4409");
    assert_int_equal(fixture_read(f, holder, &byte, 1), 0); /* the holder is let go at once */
    close(first);
    fixture_wait(f, f->sv.ws->count == 1);
    assert_int_equal(s->state, SESSION_ATTACHED);
    close(second);
    fixture_wait(f, s->state == SESSION_DETACHED);
    close(second_holder);
    close(holder);
    close(control);
}

static void words_of_a_holder_in_the_wrong_place_end_the_conversation(void **state)
{
    struct fixture *f = *state;
    struct session *s;
    uint64_t after;
    char text[256];
    int control, holder, fd, i;

    s = fixture_session(f, "ip:192.0.2.1", &control);
    for (i = 0; i < 3; i++) {
        fd = open_socket(f, s);
        say(fd, 1, HELLO);
        holder = accept_attach(f, s, &after);
        if (i == 0) {
            frame(holder, 1, "before it said where from");
        } else {
            attached(holder, 1, 0);
            hear_text(f, fd, "{\"type\":\"auth_ok\"}");
            frame(holder, 7, "seven");
            hear_text(f, fd, "seven");
            if (i == 1)
                frame(holder, 7, "seven again");
            else
                attached(holder, 1, 0);
        }
        assert_int_equal(hear(f, fd, text), 1);
        assert_non_null(strstr(text, "\"error\""));
        hear_close(f, fd, "1011");
        close(fd);
        close(holder);
        fixture_wait(f, f->sv.ws->count == 0);
    }
    close(control);
}

static void a_drain_sends_everybody_away(void **state)
{
    struct fixture *f = *state;
    struct session *s;
    int control, holder, fd, undecided, raw;
    char byte;

    s = fixture_session(f, "ip:192.0.2.1", &control);
    fd = join(f, s, &holder);
    undecided = open_socket(f, s);
    raw = fixture_connect(f, "ws.sock");
    fixture_wait(f, f->sv.ws->count == 3);
    ws_server_drain(f->sv.ws);
    hear_close(f, fd, "1012");
    hear_close(f, undecided, "1012");
    assert_int_equal(fixture_read(f, raw, &byte, 1), 0);
    close(fd);
    close(undecided);
    fixture_wait(f, ws_server_empty(f->sv.ws));
    close(raw);
    close(holder);
    close(control);
}

/* A conversation whose n-th allocation of ours fails: did it come to that? Whatever happens, the service goes on. */
static bool converse_with_failure(unsigned long n)
{
    struct fixture *f;
    struct session *s;
    uint16_t type;
    auto_buf struct buf b;
    /* ATTACHED from 1, lost 0; FRAME 1 "x". Perhaps there is nobody any more to hear it. */
    static const uint8_t words[24 + 22] = {
        16, 0, 0, 0, HOLD_ATTACHED, 0, 0, 0, 1, [24] = 14, [28] = HOLD_FRAME, [32] = 1, [40] = 1, [44] = 'x'
    };
    char byte[4096];
    int control, holder, fd, i;
    bool hit;

    buf_init(&b, 512);
    setup((void **)&f);
    s = fixture_session(f, "ip:192.0.2.1", &control);
    oom_fail_at(n);
    fd = open_socket(f, s);
    say(fd, 1, HELLO);
    for (i = 0; i < 10; i++)
        fixture_turn(f);
    holder = accept4(f->holders[s->slot], NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (holder >= 0 && send(holder, words, sizeof(words), MSG_NOSIGNAL) == sizeof(words))
        for (i = 0; i < 10; i++)
            fixture_turn(f);
    hit = oom_hit();
    oom_off();
    while (recv(fd, byte, sizeof(byte), MSG_DONTWAIT) > 0)
        ;
    close(fd);
    fixture_wait(f, f->sv.ws->count == 0);
    assert_int_equal(s->browser == NULL, true);
    fd = fixture_connect(f, "supervisor.sock");
    fixture_send(fd, RPC_HEALTH, NULL, 0);
    buf_release(&b);
    buf_init(&b, RPC_MAX_PAYLOAD);
    assert_int_equal(fixture_recv(f, fd, &type, &b, NULL), 1);
    close(fd);
    if (holder >= 0)
        close(holder);
    close(control);
    teardown((void **)&f);
    return hit;
}

static void without_memory_one_conversation_suffers(void **state)
{
    unsigned long n = 3; /* the first two are the accept's: then there is no answer to wait for */

    (void)state;
    while (converse_with_failure(n))
        n++;
    assert_true(n > 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(frames_pass_both_ways, setup, teardown),
        cmocka_unit_test_setup_teardown(the_exit_comes_last_then_the_close, setup, teardown),
        cmocka_unit_test_setup_teardown(what_a_dead_session_left_still_arrives, setup, teardown),
        cmocka_unit_test_setup_teardown(a_takeover_leaves_the_session_attached, setup, teardown),
        cmocka_unit_test_setup_teardown(words_of_a_holder_in_the_wrong_place_end_the_conversation, setup, teardown),
        cmocka_unit_test_setup_teardown(a_drain_sends_everybody_away, setup, teardown),
        cmocka_unit_test(without_memory_one_conversation_suffers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
