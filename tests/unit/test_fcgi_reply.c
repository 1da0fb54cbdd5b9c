#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fcgi/reply.h"
#include "shared/base/mem.h"
#include "tests/support/oom.h"

static int keep(void *port, const void *data, size_t len)
{
    return buf_add(port, data, len);
}

static int client_is_gone(void *port, const void *data, size_t len)
{
    (void)port;
    (void)data;
    (void)len;
    return -1;
}

static void a_collected_answer_has_its_length(void **state)
{
    auto_buf struct buf out;
    struct reply rp;

    (void)state;
    buf_init(&out, 10000);
    reply_init(&rp, keep, &out);
    buf_add_str(&rp.body, "{\"a\":1}");
    reply_header(&rp, "X-Test", "yes");
    reply_json(&rp, 200);
    reply_send(&rp);
    assert_string_equal(
        out.data,
        "Status: 200 OK\r\nContent-Type: application/json\r\nContent-Length: 7\r\nX-Test: yes\r\n\r\n{\"a\":1}");
    reply_release(&rp);
    reply_release(NULL);
}

static void head_has_headers_only(void **state)
{
    auto_buf struct buf out;
    struct reply rp;

    (void)state;
    buf_init(&out, 10000);
    reply_init(&rp, keep, &out);
    rp.head = true;
    buf_add_str(&rp.body, "12345");
    reply_json(&rp, 200);
    reply_send(&rp);
    assert_non_null(strstr(out.data, "Content-Length: 5\r\n"));
    assert_string_equal(strstr(out.data, "\r\n\r\n"), "\r\n\r\n");
    reply_release(&rp);
}

static void header_values_cannot_end_their_line(void **state)
{
    struct reply rp;

    (void)state;
    reply_init(&rp, keep, NULL);
    reply_header(&rp, "A", "x\r\nSet-Cookie: y");
    reply_header(&rp, "B", "x\ny");
    reply_header(&rp, "C", "x\x7f");
    reply_header(&rp, "D", "ok");
    assert_string_equal(rp.headers.data, "D: ok\r\n");
    reply_release(&rp);
}

static void errors_become_status_sentence_and_wait(void **state)
{
    static const struct {
        enum err_kind kind;
        unsigned wait;
        const char *status, *header, *body;
    } rows[] = {
        { ERR_BAD_REQUEST, 0, "Status: 400 Bad Request", NULL, "{\"detail\":\"no \\\"way\\\"\"}" },
        { ERR_LIMIT, 17, "Status: 429 Too Many Requests", "Retry-After: 17\r\n", "{\"detail\":\"no \\\"way\\\"\"}" },
        { ERR_LIMIT, 0, "Status: 429", NULL, "{\"detail\":\"no \\\"way\\\"\"}" },
        { ERR_UNAVAILABLE, 9, "Status: 503 Service Unavailable", NULL, "{\"detail\":\"no \\\"way\\\"\"}" },
        { ERR_INTERNAL, 0, "Status: 500 Internal Server Error", NULL,
          "log says more" }, /* what failed is not for clients */
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        auto_buf struct buf out;
        struct err err = { .kind = rows[i].kind, .wait = rows[i].wait, .msg = "no \"way\"" };
        struct reply rp;

        buf_init(&out, 10000);
        reply_init(&rp, keep, &out);
        buf_add_str(&rp.body, "half an answer");
        reply_err(&rp, &err);
        reply_send(&rp);
        assert_non_null(strstr(out.data, rows[i].status));
        assert_non_null(strstr(out.data, rows[i].body));
        assert_int_equal(strstr(out.data, "Retry-After") != NULL, rows[i].header != NULL);
        if (rows[i].header)
            assert_non_null(strstr(out.data, rows[i].header));
        if (rows[i].kind == ERR_INTERNAL)
            assert_null(strstr(out.data, "way"));
        reply_release(&rp);
    }
}

static void a_stream_has_no_length_and_a_lost_client_breaks_it(void **state)
{
    auto_buf struct buf out;
    struct reply rp;

    (void)state;
    buf_init(&out, 10000);
    reply_init(&rp, keep, &out);
    reply_stream(&rp, 200, "application/zip");
    assert_int_equal(reply_write(&rp, "PK", 2), 0);
    reply_send(&rp);
    assert_string_equal(out.data, "Status: 200 OK\r\nContent-Type: application/zip\r\n\r\nPK");
    assert_false(rp.broken);
    rp.write = client_is_gone;
    assert_int_equal(reply_write(&rp, "x", 1), -1);
    assert_true(rp.broken);
    assert_int_equal(reply_write(&rp, "x", 1), -1);
    reply_release(&rp);
}

static void a_handler_that_says_nothing_is_a_fault(void **state)
{
    auto_buf struct buf out;
    struct reply rp;

    (void)state;
    buf_init(&out, 10000);
    reply_init(&rp, keep, &out);
    reply_send(&rp);
    assert_non_null(strstr(out.data, "Status: 500"));
    assert_non_null(strstr(out.data, "{\"detail\":"));
    reply_release(&rp);
}

static void names_of_attachments_come_in_two_forms(void **state)
{
    static const struct {
        const char *name, *header;
    } rows[] = {
        { "a.txt", "Content-Disposition: attachment; filename=\"a.txt\"; filename*=UTF-8''a.txt\r\n" },
        { "\xc3\xa9 \"x\".py",
          "Content-Disposition: attachment; filename=\"__ _x_.py\"; filename*=UTF-8''%C3%A9%20%22x%22.py\r\n" },
        { "a\r\nb\\c%", "Content-Disposition: attachment; filename=\"a__b_c_\"; filename*=UTF-8''a%0D%0Ab%5Cc%25\r\n" },
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        struct reply rp;

        reply_init(&rp, keep, NULL);
        reply_attachment(&rp, rows[i].name);
        assert_string_equal(rp.headers.data, rows[i].header);
        reply_release(&rp);
    }
}

static void short_memory_still_answers(void **state)
{
    (void)state;
    OOM_SWEEP({
        char text[1000];
        struct buf out;
        struct reply rp;

        oom_off();
        buf_init(&out, 10000);
        buf_reserve(&out, 5000);
        oom_fail_at(oom_n);
        reply_init(&rp, keep, &out);
        memset(text, 'x', sizeof(text) - 1);
        text[sizeof(text) - 1] = '\0';
        reply_detail(&rp, 400, "%s", text);
        reply_send(&rp);
        assert_true(rp.broken || strstr(out.data, "\r\n\r\n{\"detail\":"));
        reply_release(&rp);
        buf_release(&out);
    });
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_collected_answer_has_its_length),
        cmocka_unit_test(head_has_headers_only),
        cmocka_unit_test(header_values_cannot_end_their_line),
        cmocka_unit_test(errors_become_status_sentence_and_wait),
        cmocka_unit_test(a_stream_has_no_length_and_a_lost_client_breaks_it),
        cmocka_unit_test(a_handler_that_says_nothing_is_a_fault),
        cmocka_unit_test(names_of_attachments_come_in_two_forms),
        cmocka_unit_test(short_memory_still_answers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
