#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "shared/base/mem.h"
#include "shared/cli/ws_client.h"

/* The example of RFC 6455, section 1.3. */
#define KEY "dGhlIHNhbXBsZSBub25jZQ=="
#define ACCEPT "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="

static void the_accept_value_is_that_of_the_rfc(void **state)
{
    char out[29];

    (void)state;
    ws_client_accept(KEY, out);
    assert_string_equal(out, ACCEPT);
}

static void only_a_true_upgrade_is_taken(void **state)
{
    static const struct {
        const char *head;
        int r;
    } rows[] = {
        { "HTTP/1.1 101 Switching Protocols\r\nSec-WebSocket-Accept: " ACCEPT, 0 },
        { "HTTP/1.1 101 X\r\nServer: a\r\nsec-websocket-accept:" ACCEPT "\r\nX: y", 0 },
        { "HTTP/1.1 101 X\r\nSec-WebSocket-Accept: other", -1 },
        { "HTTP/1.1 101 X", -1 },
        { "HTTP/1.1 403 Forbidden\r\nSec-WebSocket-Accept: " ACCEPT, -1 },
        { "", -1 },
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        struct err err = { 0 };

        assert_int_equal(ws_client_check_answer(rows[i].head, KEY, &err), rows[i].r);
        assert_int_equal(err.kind == ERR_NONE, rows[i].r == 0);
    }
}

static void what_is_no_service_is_said(void **state)
{
    static const char *const urls[] = { "http://127.0.0.1:1/x", "ftp://127.0.0.1/", "nonsense", "" };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(urls); i++) {
        struct ws_client *c;
        struct err err = { 0 };

        assert_int_equal(ws_client_open(urls[i], &c, &err), -1);
        assert_true(err.kind != ERR_NONE);
    }
    ws_client_free(NULL);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_accept_value_is_that_of_the_rfc),
        cmocka_unit_test(only_a_true_upgrade_is_taken),
        cmocka_unit_test(what_is_no_service_is_said),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
