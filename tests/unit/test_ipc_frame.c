#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "shared/base/io.h"
#include "shared/base/mem.h"
#include "shared/ipc/frame.h"
#include "tests/support/oom.h"

struct pair {
    int a, b;
};

static int make_pair(void **state)
{
    struct pair *p = mem_zalloc(1, sizeof(*p));
    int s[2];

    *state = p;
    if (!p || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, s) < 0)
        return -1;
    p->a = s[0];
    p->b = s[1];
    return 0;
}

static int drop_pair(void **state)
{
    struct pair *p = *state;

    if (p->a >= 0)
        close(p->a);
    close(p->b);
    mem_free(p);
    return 0;
}

static void hang_up(struct pair *p)
{
    close(p->a);
    p->a = -1;
}

static void messages_arrive_one_by_one(void **state)
{
    struct pair *p = *state;
    auto_buf struct buf out;
    auto_buf struct buf in;
    struct err err;
    uint16_t type;

    buf_init(&out, 100);
    buf_init(&in, 100);
    buf_add_str(&out, "payload");
    assert_int_equal(frame_send(p->a, 7, &out, -1, &err), 0);
    assert_int_equal(frame_send(p->a, 8, NULL, -1, &err), 0);
    hang_up(p);
    assert_int_equal(frame_recv(p->b, &type, &in, NULL, &err), 1);
    assert_int_equal(type, 7);
    assert_string_equal(in.data, "payload");
    assert_int_equal(frame_recv(p->b, &type, &in, NULL, &err), 1);
    assert_int_equal(type, 8);
    assert_int_equal(in.len, 0);
    assert_int_equal(frame_recv(p->b, &type, &in, NULL, &err), 0);
}

static void a_descriptor_comes_along_or_is_closed(void **state)
{
    struct pair *p = *state;
    auto_buf struct buf in;
    struct err err;
    uint16_t type;
    int fd = -1, next;

    buf_init(&in, 100);
    assert_int_equal(frame_send(p->a, 1, NULL, STDIN_FILENO, &err), 0);
    assert_int_equal(frame_recv(p->b, &type, &in, &fd, &err), 1);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(frame_send(p->a, 1, NULL, STDIN_FILENO, &err), 0);
    assert_int_equal(frame_recv(p->b, &type, &in, NULL, &err), 1);
    next = open("/dev/null", O_RDONLY | O_CLOEXEC);
    assert_int_equal(next, fd); /* the lowest free number again */
    close(next);
    assert_int_equal(frame_send(p->a, 1, NULL, -1, &err), 0);
    assert_int_equal(frame_recv(p->b, &type, &in, &fd, &err), 1);
    assert_int_equal(fd, -1);
}

static void oversized_and_malformed_headers_are_a_broken_peer(void **state)
{
    static const uint8_t rows[][FRAME_HEADER] = {
        { 101, 0, 0, 0, 1, 0, 0, 0 }, /* above the receiver's maximum */
        { 0xff, 0xff, 0xff, 0xff, 1, 0, 0, 0 },
        { 1, 0, 0, 0, 1, 0, 1, 0 }, /* the zero field is not */
    };
    size_t i;

    for (i = 0; i < ARRAY_LEN(rows); i++) {
        struct pair *p;
        auto_buf struct buf in;
        struct err err = { 0 };
        uint16_t type;

        drop_pair(state);
        assert_int_equal(make_pair(state), 0);
        p = *state;
        buf_init(&in, 100);
        assert_int_equal(io_write_all(p->a, rows[i], FRAME_HEADER), 0);
        assert_int_equal(frame_recv(p->b, &type, &in, NULL, &err), -1);
        assert_int_equal(err.kind, ERR_UPSTREAM);
    }
}

static void an_end_inside_a_message_is_an_error(void **state)
{
    static const uint8_t message[] = { 3, 0, 0, 0, 1, 0, 0, 0, 'a', 'b' };
    size_t n;

    for (n = 1; n <= sizeof(message); n++) {
        struct pair *p;
        auto_buf struct buf in;
        struct err err = { 0 };
        uint16_t type;

        drop_pair(state);
        assert_int_equal(make_pair(state), 0);
        p = *state;
        buf_init(&in, 100);
        assert_int_equal(io_write_all(p->a, message, n), 0);
        hang_up(p);
        assert_int_equal(frame_recv(p->b, &type, &in, NULL, &err), -1);
        assert_int_equal(err.kind, ERR_UNAVAILABLE);
        assert_string_equal(err.msg, "receive: Broken pipe");
    }
}

static void a_failed_payload_is_not_sent(void **state)
{
    struct pair *p = *state;
    auto_buf struct buf out;
    struct err err;

    buf_init(&out, 2);
    buf_add_str(&out, "abc");
    assert_int_equal(frame_send(p->a, 1, &out, -1, &err), -1);
    assert_int_equal(err.kind, ERR_INTERNAL);
    hang_up(p);
    assert_int_equal(frame_send(p->b, 1, NULL, -1, &err), -1);
    assert_int_equal(err.kind, ERR_UNAVAILABLE);
}

static void a_reader_takes_bytes_in_any_portion(void **state)
{
    static const uint8_t stream[] = { 2, 0, 0, 0, 5, 0, 0, 0, 'h', 'i', 0, 0, 0, 0, 6, 0, 0, 0 };
    struct pair *p = *state;
    struct frame_reader r;
    const void *payload;
    struct err err;
    uint16_t type;
    size_t i, len, seen = 0;

    frame_reader_init(&r, 100);
    assert_int_equal(io_set_nonblock(p->b, true), 0);
    assert_int_equal(frame_reader_next(&r, &type, &payload, &len, &err), 0);
    for (i = 0; i < sizeof(stream); i++) {
        assert_int_equal(io_write_all(p->a, stream + i, 1), 0);
        assert_int_equal(frame_reader_fill(&r, p->b, &err), 1);
        while (frame_reader_next(&r, &type, &payload, &len, &err) == 1) {
            assert_int_equal(type, seen ? 6 : 5);
            assert_int_equal(len, seen ? 0 : 2);
            if (!seen)
                assert_memory_equal(payload, "hi", 2);
            seen++;
        }
    }
    assert_int_equal(seen, 2);
    assert_int_equal(frame_reader_fill(&r, p->b, &err), 1); /* nothing there */
    hang_up(p);
    assert_int_equal(frame_reader_fill(&r, p->b, &err), 0);
    frame_reader_release(&r);
    frame_reader_release(NULL);
}

static void a_reader_refuses_what_is_too_long_before_it_comes(void **state)
{
    static const uint8_t header[] = { 101, 0, 0, 0, 5, 0, 0, 0 };
    struct pair *p = *state;
    struct frame_reader r;
    const void *payload;
    struct err err;
    uint16_t type;
    size_t len;

    frame_reader_init(&r, 100);
    assert_int_equal(io_write_all(p->a, header, sizeof(header)), 0);
    assert_int_equal(frame_reader_fill(&r, p->b, &err), 1);
    assert_int_equal(frame_reader_next(&r, &type, &payload, &len, &err), -1);
    assert_int_equal(err.kind, ERR_UPSTREAM);
    frame_reader_release(&r);
}

/* Else all that came behind a long one would be moved to the front each time. */
static void little_is_read_behind_a_long_message(void **state)
{
    enum { LONG = 60000 };
    struct pair *p = *state;
    struct frame_reader r;
    struct frame_writer w;
    const void *payload;
    char *data = mem_zalloc(1, LONG);
    struct err err;
    uint16_t type;
    size_t i, len;

    frame_reader_init(&r, LONG);
    frame_writer_init(&w, 10 * LONG);
    assert_int_equal(io_set_nonblock(p->b, true), 0);
    for (i = 1; i <= 6; i++)
        assert_int_equal(frame_writer_put(&w, (uint16_t)i, data, LONG), 0);
    for (i = 1; i <= 6; i++) {
        while (frame_reader_next(&r, &type, &payload, &len, &err) == 0) {
            assert_int_equal(frame_writer_flush(&w, p->a), 0);
            assert_int_equal(frame_reader_fill(&r, p->b, &err), 1);
        }
        assert_int_equal(type, i);
        assert_int_equal(len, LONG);
        if (i > 2) /* the first time nothing is known yet */
            assert_true(r.in.len - r.pos <= 4096);
    }
    frame_reader_release(&r);
    frame_writer_release(&w);
    mem_free(data);
}

static void a_long_message_leaves_no_room_behind(void **state)
{
    auto_free char *data = mem_zalloc(1, 400000);
    struct pair *p = *state;
    struct frame_reader r;
    struct frame_writer w;
    const void *payload;
    struct err err;
    uint16_t type;
    size_t len;

    frame_reader_init(&r, 400000);
    frame_writer_init(&w, 500000);
    assert_int_equal(io_set_nonblock(p->b, true), 0);
    assert_int_equal(frame_writer_put(&w, 7, data, 400000), 0);
    do {
        assert_int_equal(frame_writer_flush(&w, p->a), 0);
        assert_int_equal(frame_reader_fill(&r, p->b, &err), 1);
        frame_reader_slim(&r); /* not before all of it is there */
    } while (frame_reader_next(&r, &type, &payload, &len, &err) == 0);
    assert_int_equal(len, 400000);
    assert_true(r.in.cap > 400000);
    frame_reader_slim(&r);
    assert_int_equal(r.in.cap, 0);
    assert_int_equal(w.out.cap, 0);
    assert_int_equal(frame_writer_put(&w, 8, "next", 4), 0);
    assert_int_equal(frame_writer_flush(&w, p->a), 0);
    assert_int_equal(frame_reader_fill(&r, p->b, &err), 1);
    assert_int_equal(frame_reader_next(&r, &type, &payload, &len, &err), 1);
    assert_memory_equal(payload, "next", 4);
    frame_reader_release(&r);
    frame_writer_release(&w);
}

/* Writer and reader against each other, with a socket buffer that is often full. */
static void bursts_pass_in_order(void **state)
{
    struct pair *p = *state;
    struct frame_reader r;
    struct frame_writer w;
    const void *payload;
    char *data = mem_zalloc(1, 300000);
    uint16_t type, expect = 0, sent = 0;
    struct err err;
    size_t len;

    frame_reader_init(&r, 300000);
    frame_writer_init(&w, 700000);
    assert_int_equal(io_set_nonblock(p->a, true), 0);
    assert_int_equal(io_set_nonblock(p->b, true), 0);
    while (expect < 200) {
        while (sent < 200 && frame_writer_put(&w, sent, data, (sent * 7919u) % 300000) == 0)
            sent++;
        assert_int_equal(frame_writer_flush(&w, p->a), 0);
        assert_int_equal(frame_reader_fill(&r, p->b, &err), 1);
        while (frame_reader_next(&r, &type, &payload, &len, &err) == 1) {
            assert_int_equal(type, expect);
            assert_int_equal(len, (expect * 7919u) % 300000);
            expect++;
        }
    }
    assert_int_equal(frame_writer_pending(&w), 0);
    hang_up(p);
    frame_reader_release(&r);
    frame_writer_release(&w);
    frame_writer_release(NULL);
    mem_free(data);
}

static void a_full_writer_keeps_what_it_has(void **state)
{
    struct pair *p = *state;
    auto_buf struct buf in;
    struct frame_writer w;
    struct err err;
    uint16_t type;

    frame_writer_init(&w, 40);
    buf_init(&in, 100);
    assert_int_equal(frame_writer_put(&w, 1, "0123456789", 10), 0);
    assert_int_equal(frame_writer_put(&w, 2, "01234567890123456789", 20), -1);
    assert_int_equal(frame_writer_put(&w, 3, "0123456789", 10), 0);
    assert_int_equal(frame_writer_put(&w, 4, NULL, (size_t)FRAME_MAX + 1), -1);
    assert_int_equal(frame_writer_pending(&w), 36);
    assert_int_equal(frame_writer_flush(&w, p->a), 0);
    assert_int_equal(frame_recv(p->b, &type, &in, NULL, &err), 1);
    assert_int_equal(type, 1);
    assert_int_equal(frame_recv(p->b, &type, &in, NULL, &err), 1);
    assert_int_equal(type, 3);
    frame_writer_release(&w);
}

static void what_is_sent_at_once_stays_in_order_with_what_waits(void **state)
{
    struct pair *p = *state;
    struct frame_reader r;
    struct frame_writer w;
    const void *payload;
    char *data = mem_zalloc(1, 700000);
    const struct iovec too_long[] = { { data, 1 }, { data, FRAME_MAX } }, short_parts[] = { { data, 1 }, { data, 1 } };
    uint16_t type, sent = 0, expect = 0;
    struct err err;
    size_t len;
    int i;

    frame_reader_init(&r, 1000000);
    frame_writer_init(&w, 4000000);
    assert_int_equal(io_set_nonblock(p->a, true), 0);
    assert_int_equal(io_set_nonblock(p->b, true), 0);
    for (i = 0; i < 700000; i++)
        data[i] = (char)(i * 31 >> 4);
    while (expect < 60) {
        if (sent < 60 &&
            frame_writer_pending(&w) <= 1000000) { /* all sizes: a part of the header fits now and then, or nothing */
            const size_t n = (sent * 71993u) % 600000;
            const struct iovec parts[] = { { data, n / 3 }, { data + n / 3, n - n / 3 } };

            assert_int_equal(sent % 3 ? frame_writer_send_parts(&w, p->a, sent, parts, ARRAY_LEN(parts))
                                      : frame_writer_put(&w, sent, data, n),
                             0);
            sent++;
        }
        if (sent < 60 && sent % 5 && frame_writer_pending(&w) <= 1000000)
            continue;
        assert_int_equal(frame_writer_flush(&w, p->a), 0);
        assert_int_equal(frame_reader_fill(&r, p->b, &err), 1);
        while (frame_reader_next(&r, &type, &payload, &len, &err) == 1) {
            assert_int_equal(type, expect);
            assert_int_equal(len, (expect * 71993u) % 600000);
            assert_memory_equal(payload, data, len);
            expect++;
        }
    }
    assert_int_equal(frame_writer_pending(&w), 0);
    assert_int_equal(frame_writer_send_parts(&w, p->a, 1, too_long, ARRAY_LEN(too_long)), -1);
    assert_int_equal(frame_writer_put(&w, 1, data, (size_t)FRAME_MAX + 1), -1);
    hang_up(p);
    assert_int_equal(frame_writer_send_parts(&w, p->b, 1, short_parts, ARRAY_LEN(short_parts)), -1);
    frame_reader_release(&r);
    frame_writer_release(&w);
    mem_free(data);
}

static void a_writer_tells_that_the_peer_left(void **state)
{
    struct pair *p = *state;
    struct frame_writer w;

    frame_writer_init(&w, 40);
    assert_int_equal(frame_writer_put(&w, 1, "x", 1), 0);
    hang_up(p);
    assert_int_equal(frame_writer_flush(&w, p->b), -1);
    frame_writer_release(&w);
}

static void short_memory_is_told(void **state)
{
    OOM_SWEEP({
        struct pair *p;
        struct frame_reader r;
        struct frame_writer w;
        auto_buf struct buf in;
        const void *payload;
        struct err err;
        uint16_t type;
        size_t len;

        oom_off();
        drop_pair(state);
        assert_int_equal(make_pair(state), 0);
        p = *state;
        oom_fail_at(oom_n);
        buf_init(&in, 1000);
        frame_reader_init(&r, 1000);
        frame_writer_init(&w, 1000);
        if (frame_writer_put(&w, 1, "x", 1) == 0) {
            assert_int_equal(frame_writer_put(&w, 2, "y", 1), 0);
            assert_int_equal(frame_writer_flush(&w, p->a), 0);
            if (frame_recv(p->b, &type, &in, NULL, &err) == 1 && frame_reader_fill(&r, p->b, &err) == 1)
                assert_int_equal(frame_reader_next(&r, &type, &payload, &len, &err), 1);
            else
                assert_int_equal(err.kind, ERR_INTERNAL);
        }
        frame_reader_release(&r);
        frame_writer_release(&w);
    });
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(messages_arrive_one_by_one, make_pair, drop_pair),
        cmocka_unit_test_setup_teardown(a_descriptor_comes_along_or_is_closed, make_pair, drop_pair),
        cmocka_unit_test_setup_teardown(oversized_and_malformed_headers_are_a_broken_peer, make_pair, drop_pair),
        cmocka_unit_test_setup_teardown(an_end_inside_a_message_is_an_error, make_pair, drop_pair),
        cmocka_unit_test_setup_teardown(a_failed_payload_is_not_sent, make_pair, drop_pair),
        cmocka_unit_test_setup_teardown(a_reader_takes_bytes_in_any_portion, make_pair, drop_pair),
        cmocka_unit_test_setup_teardown(a_reader_refuses_what_is_too_long_before_it_comes, make_pair, drop_pair),
        cmocka_unit_test_setup_teardown(little_is_read_behind_a_long_message, make_pair, drop_pair),
        cmocka_unit_test_setup_teardown(a_long_message_leaves_no_room_behind, make_pair, drop_pair),
        cmocka_unit_test_setup_teardown(bursts_pass_in_order, make_pair, drop_pair),
        cmocka_unit_test_setup_teardown(a_full_writer_keeps_what_it_has, make_pair, drop_pair),
        cmocka_unit_test_setup_teardown(what_is_sent_at_once_stays_in_order_with_what_waits, make_pair, drop_pair),
        cmocka_unit_test_setup_teardown(a_writer_tells_that_the_peer_left, make_pair, drop_pair),
        cmocka_unit_test_setup_teardown(short_memory_is_told, make_pair, drop_pair),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
