#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "shared/base/mem.h"
#include "supervisor/egress/request.h"
#include "tests/support/oom.h"

static struct egress_request parsed(const char *head)
{
    struct egress_request r;
    struct err err = { 0 };

    if (egress_request_parse(head, strlen(head), &r, &err) < 0)
        fail_msg("%s: %s", err.msg, head);
    return r;
}

static void expect_refused(const char *head, size_t len, const char *why)
{
    struct egress_request r;
    struct err err = { 0 };

    if (egress_request_parse(head, len, &r, &err) == 0)
        fail_msg("taken: %.*s", (int)len, head);
    assert_int_equal(err.kind, ERR_BAD_REQUEST);
    if (!strstr(err.msg, why))
        fail_msg("\"%s\" lacks \"%s\": %.*s", err.msg, why, (int)len, head);
}

static void a_head_ends_at_its_empty_line_however_it_comes(void **state)
{
    static const char text[] = "CONNECT a:1 HTTP/1.1\r\nX: y\r\n\r\nrest";
    size_t whole = sizeof(text) - 1 - 4, len, scanned = 0;

    (void)state;
    for (len = 0; len < whole; len++)
        assert_int_equal(egress_head_end(text, len, &scanned), 0);
    assert_int_equal(egress_head_end(text, whole, &scanned), whole);
    scanned = 0;
    assert_int_equal(egress_head_end(text, sizeof(text) - 1, &scanned), whole);
    scanned = whole - 3; /* the end lies across two reads */
    assert_int_equal(egress_head_end(text, sizeof(text) - 1, &scanned), whole);
    scanned = 0;
    assert_int_equal(egress_head_end(NULL, 0, &scanned), 0);
}

static void connect_names_host_and_port(void **state)
{
    static const struct {
        const char *head, *target;
        bool address;
    } rows[] = {
        { "CONNECT api.example.org:443 HTTP/1.1\r\nHost: api.example.org:443\r\n\r\n", "api.example.org:443", false },
        { "CONNECT API.Example.Org.:443 HTTP/1.0\r\n\r\n", "api.example.org:443", false },
        { "CONNECT 1.2.3.4:1 HTTP/1.1\r\nProxy-Connection: Keep-Alive\r\n\r\n", "1.2.3.4:1", true },
        { "CONNECT [2606:4700::1111]:65535 HTTP/1.1\r\n\r\n", "[2606:4700::1111]:65535", true },
        { "CONNECT [::FFFF:127.0.0.1]:80 HTTP/1.1\r\n\r\n", "[::ffff:127.0.0.1]:80", true },
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        struct egress_request r = parsed(rows[i].head);
        char text[EGRESS_TARGET_TEXT];

        assert_true(r.tunnel);
        egress_target_format(&r.target, text);
        assert_string_equal(text, rows[i].target);
        assert_int_equal(*r.target.name == '\0', rows[i].address);
        assert_int_equal(r.head.len, 0);
        assert_int_equal(r.body.state, BODY_DONE);
        egress_request_release(&r);
    }
    egress_request_release(NULL);
}

static void a_server_gets_its_request_in_origin_form(void **state)
{
    static const struct {
        const char *in, *out;
    } rows[] = {
        { "GET http://example.org/a?b=c HTTP/1.1\r\nHost: other.example\r\nAccept: */*\r\n\r\n",
          "GET /a?b=c HTTP/1.1\r\nHost: example.org\r\nAccept: */*\r\nConnection: close\r\n\r\n" },
        { "GET HTTP://Example.ORG HTTP/1.1\r\n\r\n",
          "GET / HTTP/1.1\r\nHost: example.org\r\nConnection: close\r\n\r\n" },
        { "GET http://example.org:8080?q HTTP/1.0\r\n\r\n",
          "GET /?q HTTP/1.0\r\nHost: example.org:8080\r\nConnection: close\r\n\r\n" },
        { "GET http://[2606:4700::1]/x HTTP/1.1\r\n\r\n",
          "GET /x HTTP/1.1\r\nHost: [2606:4700::1]\r\nConnection: close\r\n\r\n" },
        { "GET http://1.2.3.4:80/x HTTP/1.1\r\n\r\n", "GET /x HTTP/1.1\r\nHost: 1.2.3.4\r\nConnection: close\r\n\r\n" },
        { "POST http://a.example/ HTTP/1.1\r\nContent-Length:  007 \r\nX-A:1\r\n\r\n",
          "POST / HTTP/1.1\r\nHost: a.example\r\nX-A: 1\r\nContent-Length: 7\r\nConnection: close\r\n\r\n" },
        { "POST http://a.example/ HTTP/1.1\r\ntransfer-encoding: Chunked\r\n\r\n",
          "POST / HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n" },
        /* for us, or for this hop: not passed on */
        { "GET http://a.example/ HTTP/1.1\r\nProxy-Authorization: Basic x\r\nProxy-Connection: keep-alive\r\n"
          "Keep-Alive: 5\r\nTE: trailers\r\nTrailer: X\r\nUpgrade: h2c\r\nHTTP2-Settings: x\r\nConnection: X-Mine , "
          "upgrade,,\r\n"
          "X-Mine: 1\r\nX-Yours: 2\r\n\r\n",
          "GET / HTTP/1.1\r\nHost: a.example\r\nX-Yours: 2\r\nConnection: close\r\n\r\n" },
        /* a nomination does not take away how the body ends, nor the host */
        { "POST http://a.example/ HTTP/1.1\r\nConnection: content-length, host\r\nContent-Length: 3\r\n\r\n",
          "POST / HTTP/1.1\r\nHost: a.example\r\nContent-Length: 3\r\nConnection: close\r\n\r\n" },
        { "GET http://a.example/ HTTP/1.1\r\nX: \xc3\xa4\tb\r\nY:\r\n\r\n",
          "GET / HTTP/1.1\r\nHost: a.example\r\nX: \xc3\xa4\tb\r\nY: \r\nConnection: close\r\n\r\n" },
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        struct egress_request r = parsed(rows[i].in);

        assert_false(r.tunnel);
        assert_string_equal(r.head.data, rows[i].out);
        egress_request_release(&r);
    }
}

static void the_body_is_known_by_one_header(void **state)
{
    struct egress_request r = parsed("POST http://a.example/ HTTP/1.1\r\nContent-Length: 123456789012345678\r\n\r\n");

    (void)state;
    assert_int_equal(r.body.state, BODY_LENGTH);
    assert_int_equal(r.body.left, 123456789012345678);
    egress_request_release(&r);
    r = parsed("POST http://a.example/ HTTP/1.1\r\nContent-Length: 0\r\n\r\n");
    assert_int_equal(r.body.state, BODY_DONE);
    egress_request_release(&r);
    r = parsed("POST http://a.example/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n");
    assert_int_equal(r.body.state, BODY_CHUNK_SIZE);
    egress_request_release(&r);
}

#define GET "GET http://a.example/ HTTP/1.1\r\n"
#define POST "POST http://a.example/ HTTP/1.1\r\n"

static const struct {
    const char *head, *why;
} ambiguous[] = {
    { "\r\n\r\n", "request line" },
    { "GET\r\n\r\n", "request line" },
    { "GET http://a.example/\r\n\r\n", "request line" },
    { "GET  HTTP/1.1\r\n\r\n", "request line" },
    { "G@T http://a.example/ HTTP/1.1\r\n\r\n", "request line" },
    { " GET http://a.example/ HTTP/1.1\r\n\r\n", "request line" },
    { "GETGETGETGETGETGETGETGETGETGETGET http://a.example/ HTTP/1.1\r\n\r\n", "request line" },
    { "GET http://a.example/a b HTTP/1.1\r\n\r\n", "percent-encoded" },
    { "GET http://a.example/\xc3\xa4 HTTP/1.1\r\n\r\n", "percent-encoded" },
    { "GET http://a.example/ HTTP/2.0\r\n\r\n", "HTTP/1.1" },
    { "GET http://a.example/ HTTP/1.10\r\n\r\n", "HTTP/1.1" },
    { "GET http://a.example/ http/1.1\r\n\r\n", "HTTP/1.1" },
    { "GET / HTTP/1.1\r\nHost: a.example\r\n\r\n", "This is a proxy" },
    { "GET a.example HTTP/1.1\r\n\r\n", "This is a proxy" },
    { "GET http:// HTTP/1.1\r\n\r\n", "This is a proxy" },
    { "GET ftp://a.example/ HTTP/1.1\r\n\r\n", "This is a proxy" },
    { "GET https://a.example/ HTTP/1.1\r\n\r\n", "CONNECT" },
    { "GET http:///x HTTP/1.1\r\n\r\n", "neither a host name" },
    { "GET http://a.example:/ HTTP/1.1\r\n\r\n", "port" },
    { "GET http://a.example:0/ HTTP/1.1\r\n\r\n", "port" },
    { "GET http://a.example:+80/ HTTP/1.1\r\n\r\n", "port" },
    { "GET http://a.example:65536/ HTTP/1.1\r\n\r\n", "port" },
    { "GET http://a.example:000080/ HTTP/1.1\r\n\r\n", "port" },
    { "GET http://user@a.example/ HTTP/1.1\r\n\r\n", "user name" },
    { "GET http://8.8.8.8@127.0.0.1/ HTTP/1.1\r\n\r\n", "user name" },
    { "GET http://a.example/#x HTTP/1.1\r\n\r\n", "fragment" },
    { "GET http://a.example#@b.example/ HTTP/1.1\r\n\r\n", "fragment" },
    { "GET http://a.example\\@b.example/ HTTP/1.1\r\n\r\n", "user name" },
    { "GET http://127.1/ HTTP/1.1\r\n\r\n", "full form" },
    { "GET http://2130706433/ HTTP/1.1\r\n\r\n", "full form" },
    { "GET http://0x7f000001/ HTTP/1.1\r\n\r\n", "full form" },
    { "GET http://0177.0.0.1/ HTTP/1.1\r\n\r\n", "full form" },
    { "GET http://127.0.0.1./ HTTP/1.1\r\n\r\n", "full form" },
    { "GET http://::1/ HTTP/1.1\r\n\r\n", "" },
    { "GET http://[127.0.0.1]/ HTTP/1.1\r\n\r\n", "full form" },
    { "GET http://[fe80::1%25lo]/ HTTP/1.1\r\n\r\n", "full form" },
    { "GET http://a%2eexample/ HTTP/1.1\r\n\r\n", "full form" },
    { "CONNECT a.example HTTP/1.1\r\n\r\n", "port" },
    { "CONNECT [::1] HTTP/1.1\r\n\r\n", "port" },
    { "CONNECT http://a.example:80/ HTTP/1.1\r\n\r\n", "port" },
    { "CONNECT a.example:80/x HTTP/1.1\r\n\r\n", "port" },
    { "CONNECT a.example:443:443 HTTP/1.1\r\n\r\n", "full form" },
    { "connect a.example:443 HTTP/1.1\r\n\r\n", "This is a proxy" },
    { GET "no colon\r\n\r\n", "malformed" },
    { GET ": x\r\n\r\n", "name of a header" },
    { GET "A : x\r\n\r\n", "name of a header" },
    { GET "A: x\r\n folded: y\r\n\r\n", "name of a header" },
    { GET "\tfolded\r\n\r\n", "malformed" },
    { GET "A\xc3: x\r\n\r\n", "name of a header" },
    { GET "A: b\nB: c\r\n\r\n", "control" },
    { GET "A: b\rB: c\r\n\r\n", "control" },
    { GET "A: \x7f\r\n\r\n", "control" },
    { GET "A: x\r\n\r\nB: y\r\n\r\n", "malformed" },
    { GET "A: x\r\n", "malformed" },
    { "GET http://a.example/ HTTP/1.1\nA: x\r\n\r\n", "request line" },
    { POST "Content-Length: 1\r\nContent-Length: 1\r\n\r\n", "Content-Length" },
    { POST "Content-Length: 1, 1\r\n\r\n", "Content-Length" },
    { POST "Content-Length: -1\r\n\r\n", "Content-Length" },
    { POST "Content-Length: +1\r\n\r\n", "Content-Length" },
    { POST "Content-Length: 0x1\r\n\r\n", "Content-Length" },
    { POST "Content-Length:\r\n\r\n", "Content-Length" },
    { POST "Content-Length: 1234567890123456789\r\n\r\n", "Content-Length" },
    { POST "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", "both" },
    { POST "Transfer-Encoding: gzip, chunked\r\n\r\n", "Transfer-Encoding" },
    { POST "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", "Transfer-Encoding" },
    { POST "Transfer-Encoding: identity\r\n\r\n", "Transfer-Encoding" },
    { POST "Transfer-Encoding: xchunked\r\n\r\n", "Transfer-Encoding" },
    { POST "Transfer-Encoding:\vchunked\r\n\r\n", "control" },
    { "POST http://a.example/ HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", "Transfer-Encoding" },
};

static void what_can_be_read_in_two_ways_is_refused(void **state)
{
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(ambiguous); i++)
        expect_refused(ambiguous[i].head, strlen(ambiguous[i].head), ambiguous[i].why);
    expect_refused(GET "A: b\0c\r\n\r\n", sizeof(GET "A: b\0c\r\n\r\n") - 1, "control");
    expect_refused("GET http://a.example\0.b/ HTTP/1.1\r\n\r\n",
                   sizeof("GET http://a.example\0.b/ HTTP/1.1\r\n\r\n") - 1, "request line");
    expect_refused("", 0, "request line");
}

static void headers_are_counted(void **state)
{
    auto_buf struct buf head;
    struct egress_request r;
    struct err err = { 0 };
    int i;

    (void)state;
    buf_init(&head, EGRESS_HEAD_MAX);
    buf_add_str(&head, GET);
    for (i = 0; i < EGRESS_HEADERS_MAX; i++)
        buf_add_fmt(&head, "X-%d:\r\n", i);
    buf_add_str(&head, "\r\n");
    assert_int_equal(egress_request_parse(head.data, head.len, &r, &err), 0);
    egress_request_release(&r);
    head.len -= 2;
    buf_add_str(&head, "Y:\r\n\r\n");
    expect_refused(head.data, head.len, "too many");
}

static void the_largest_head_fits_when_it_is_written_anew(void **state)
{
    auto_buf struct buf head;
    struct egress_request r;
    struct err err = { 0 };

    (void)state;
    buf_init(&head, EGRESS_HEAD_MAX);
    buf_add_str(&head, GET "A:");
    buf_add_repeat(&head, 'x', EGRESS_HEAD_MAX - head.len - 4);
    buf_add_str(&head, "\r\n\r\n");
    assert_int_equal(head.len, EGRESS_HEAD_MAX);
    assert_int_equal(egress_request_parse(head.data, head.len, &r, &err), 0);
    egress_request_release(&r);
}

/* ---- bodies --------------------------------------------------------------------------------------- */

/* How many bytes a body takes when it comes in pieces of the given size; -1 malformed. */
static ssize_t taken(struct egress_body b, const char *data, size_t len, size_t piece)
{
    size_t total = 0;

    while (total < len && b.state != BODY_DONE) {
        size_t n = len - total < piece ? len - total : piece;
        ssize_t t = egress_body_take(&b, data + total, n);

        if (t < 0)
            return -1;
        total += (size_t)t;
    }
    return b.state == BODY_DONE ? (ssize_t)total : -2;
}

static void a_body_ends_where_its_framing_says(void **state)
{
    static const struct {
        const char *data;
        ssize_t length; /* >= 0: Content-Length */
        ssize_t taken;  /* -1 malformed, -2 not at its end */
    } rows[] = {
        { "abcGET", 3, 3 },
        { "", 0, 0 },
        { "ab", 3, -2 },
        { "0\r\n\r\nGET", -1, 5 },
        { "3\r\nabc\r\n0\r\n\r\nGET", -1, 13 },
        { "a\r\n0123456789\r\nA\r\n0123456789\r\n000\r\n\r\nx", -1, 37 },
        { "3\r\nabc\r\n", -1, -2 },
        { "3;x=y\r\nabc\r\n0\r\n\r\n", -1, -1 },
        { "3 \r\nabc\r\n0\r\n\r\n", -1, -1 },
        { "\r\n0\r\n\r\n", -1, -1 },
        { "3\nabc\r\n0\r\n\r\n", -1, -1 },
        { "3\r\nabcd\r\n0\r\n\r\n", -1, -1 },
        { "3\r\nabc\n0\r\n\r\n", -1, -1 },
        { "0\r\nTrailer: x\r\n\r\n", -1, -1 },
        { "0\r\n\rx", -1, -1 },
        { "-1\r\n", -1, -1 },
        { "0x1\r\n", -1, -1 },
        { "1000000000000000\r\n", -1, -1 },
        { "fffffffffffffff\r\nx", -1, -2 },
    };
    size_t i, piece;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        struct egress_body b;

        if (rows[i].length >= 0)
            egress_body_length(&b, (uint64_t)rows[i].length);
        else
            egress_body_chunked(&b);
        for (piece = 1; piece < 8; piece++)
            if (taken(b, rows[i].data, strlen(rows[i].data), piece) != rows[i].taken)
                fail_msg("row %zu in pieces of %zu: %zd", i, piece,
                         taken(b, rows[i].data, strlen(rows[i].data), piece));
    }
}

static void parsing_without_memory_leaves_nothing_behind(void **state)
{
    static const char head[] =
        POST "Content-Length: 5\r\nX: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\r\n\r\n";

    (void)state;
    OOM_SWEEP({
        struct egress_request r = { 0 };
        struct err err = { 0 };

        if (egress_request_parse(head, sizeof(head) - 1, &r, &err) < 0)
            assert_int_equal(err.kind, ERR_INTERNAL);
        egress_request_release(&r);
    });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_head_ends_at_its_empty_line_however_it_comes),
        cmocka_unit_test(connect_names_host_and_port),
        cmocka_unit_test(a_server_gets_its_request_in_origin_form),
        cmocka_unit_test(the_body_is_known_by_one_header),
        cmocka_unit_test(what_can_be_read_in_two_ways_is_refused),
        cmocka_unit_test(headers_are_counted),
        cmocka_unit_test(the_largest_head_fits_when_it_is_written_anew),
        cmocka_unit_test(a_body_ends_where_its_framing_says),
        cmocka_unit_test(parsing_without_memory_leaves_nothing_behind),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
