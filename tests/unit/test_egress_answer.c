#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "shared/base/mem.h"
#include "supervisor/egress/answer.h"
#include "tests/support/oom.h"

/* What comes out when the answer comes in pieces. */
static struct buf passed(const char *data, size_t len, size_t piece)
{
    struct egress_answer a;
    struct buf out;
    size_t at = 0;

    buf_init(&out, 1 << 20);
    egress_answer_init(&a);
    while (at < len) {
        size_t n = len - at < piece ? len - at : piece;

        egress_answer_take(&a, data + at, n, &out);
        at += n;
    }
    egress_answer_end(&a, &out);
    egress_answer_release(&a);
    assert_false(buf_failed(&out));
    return out;
}

static void the_client_is_told_that_the_connection_closes(void **state)
{
    static const struct {
        const char *in, *out;
    } rows[] = {
        { "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody",
          "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\nbody" },
        { "HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nKeep-Alive: timeout=5\r\nX: y\r\n\r\n",
          "HTTP/1.1 200 OK\r\nX: y\r\nConnection: close\r\n\r\n" },
        { "HTTP/1.1 200 OK\r\nCONNECTION : x,\r\n y\r\nA: b\r\n c\r\nproxy-connection: z\r\n\r\nb",
          "HTTP/1.1 200 OK\r\nA: b\r\n c\r\nConnection: close\r\n\r\nb" },
        { "HTTP/1.0 404 No\r\n\r\n\r\n\r\n", "HTTP/1.0 404 No\r\nConnection: close\r\n\r\n\r\n\r\n" },
        { "HTTP/1.1 200 OK\nA: b\n\nbody", "HTTP/1.1 200 OK\nA: b\nConnection: close\r\n\nbody" },
        { "HTTP/1.1 200\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
          "HTTP/1.1 200\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n0\r\n\r\n" },
        /* heads before the head */
        { "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 204 None\r\n\r\n",
          "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 204 None\r\nConnection: "
          "close\r\n\r\n" },
        /* not ours to touch */
        { "", "" },
        { "HTTP/1.1 200 OK\r\nno end", "HTTP/1.1 200 OK\r\nno end" },
        { "SSH-2.0-x\r\nConnection: keep-alive\r\n\r\n", "SSH-2.0-x\r\nConnection: keep-alive\r\n\r\n" },
        { "HTTP/2 200\r\nConnection: x\r\n\r\n", "HTTP/2 200\r\nConnection: x\r\n\r\n" },
        { "<html>\n\n</html>", "<html>\n\n</html>" },
        { "HTT", "HTT" },
    };
    size_t i, piece;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++)
        for (piece = 1; piece < 60; piece++) {
            struct buf out = passed(rows[i].in, strlen(rows[i].in), piece);

            if (strcmp(out.data ? out.data : "", rows[i].out) != 0)
                fail_msg("row %zu in pieces of %zu: %s", i, piece, out.data);
            buf_release(&out);
        }
}

static void a_head_without_an_end_is_not_waited_for(void **state)
{
    struct buf in, out;
    size_t pieces[] = { 1000, 4096, EGRESS_ANSWER_HEAD_MAX, EGRESS_ANSWER_HEAD_MAX * 2 }, i;

    (void)state;
    buf_init(&in, 1 << 20);
    buf_add_str(&in, "HTTP/1.1 200 OK\r\nX: ");
    buf_add_repeat(&in, 'x', EGRESS_ANSWER_HEAD_MAX + 1000);
    buf_add_str(&in, "\r\n\r\nbody");
    for (i = 0; i < ARRAY_LEN(pieces); i++) {
        out = passed(in.data, in.len, pieces[i]);
        assert_int_equal(out.len, in.len);
        assert_memory_equal(out.data, in.data, in.len);
        buf_release(&out);
    }
    buf_release(&in);
}

static void short_memory_is_said(void **state)
{
    static const char text[] =
        "HTTP/1.1 200 OK\r\nA: b\r\n\r\nbody that is long enough to make the buffer grow once more, and more";

    (void)state;
    OOM_SWEEP({
        struct egress_answer a;
        struct buf out;

        buf_init(&out, 4096);
        egress_answer_init(&a);
        egress_answer_take(&a, text, 10, &out);
        egress_answer_take(&a, text + 10, sizeof(text) - 11, &out);
        assert_int_equal(buf_failed(&out), oom_hit());
        egress_answer_release(&a);
        buf_release(&out);
    });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_client_is_told_that_the_connection_closes),
        cmocka_unit_test(a_head_without_an_end_is_not_waited_for),
        cmocka_unit_test(short_memory_is_said),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
