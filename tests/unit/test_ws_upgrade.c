#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "shared/base/mem.h"
#include "supervisor/holder/ws_upgrade.h"

static const char key[] = "dGhlIHNhbXBsZSBub25jZQ=="; /* the example of RFC 6455 */
static const char good[] = "HTTP/1.1 101 Switching Protocols\r\nServer: x\r\nupgrade: websocket\r\n"
                           "sec-websocket-accept: \t s3pPLMBiTxaQ9kYGzzhZRbK+xOo= \r\n\r\n";

static void the_request_carries_the_key_of_the_conversation(void **state)
{
    auto_buf struct buf b;

    (void)state;
    buf_init(&b, 1000);
    ws_upgrade_request(&b, 8765, key, "11111111-2222-4333-8444-555555555555");
    assert_string_equal(b.data,
                        "GET / HTTP/1.1\r\nHost: 127.0.0.1:8765\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
                        "X-Session-ID: 11111111-2222-4333-8444-555555555555\r\n\r\n");
}

static void a_key_is_base64_of_sixteen_bytes(void **state)
{
    char out[WS_KEY_LEN + 1];

    (void)state;
    ws_upgrade_key((const uint8_t *)"the sample nonce", out);
    assert_string_equal(out, key);
}

static void an_answer_is_taken_when_it_is_whole(void **state)
{
    auto_buf struct buf b;
    size_t len = sizeof(good) - 1, i;

    (void)state;
    buf_init(&b, 10000);
    buf_add(&b, good, len);
    buf_add_str(&b, "\x81\x01x"); /* the first frame came along */
    assert_int_equal(ws_upgrade_answer(b.data, b.len, key, NULL), len);
    for (i = 0; i < len; i++)
        assert_int_equal(ws_upgrade_answer(good, i, key, NULL), 0);
}

static void other_answers_are_refused(void **state)
{
    static const char *const rows[] = {
        "HTTP/1.1 200 OK\r\n\r\n",
        "HTTP/1.1 101 X\r\n\r\n",
        "HTTP/1.1 101 X\r\nSec-WebSocket-Accept: wrong\r\n\r\n",
        "HTTP/1.1 101 X\r\nSec-WebSocket-Accept:\r\n\r\n",
        "HTTP/1.1 101 X\r\nXSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n",
        ("HTTP/1.1 101 X\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"
         "Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n"),
        "SSH-2.0-x\r\n\r\n",
        "\r\n\r\n",
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        struct err err = { 0 };

        assert_int_equal(ws_upgrade_answer(rows[i], strlen(rows[i]), key, &err), -1);
        assert_int_equal(err.kind, ERR_UPSTREAM);
    }
}

static void an_endless_answer_is_refused(void **state)
{
    auto_buf struct buf b;

    (void)state;
    buf_init(&b, 1 << 20);
    buf_add_repeat(&b, 'x', WS_ANSWER_MAX - 1);
    assert_int_equal(ws_upgrade_answer(b.data, b.len, key, NULL), 0);
    buf_add_char(&b, 'x');
    assert_int_equal(ws_upgrade_answer(b.data, b.len, key, NULL), -1);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_request_carries_the_key_of_the_conversation),
        cmocka_unit_test(a_key_is_base64_of_sixteen_bytes),
        cmocka_unit_test(an_answer_is_taken_when_it_is_whole),
        cmocka_unit_test(other_answers_are_refused),
        cmocka_unit_test(an_endless_answer_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
