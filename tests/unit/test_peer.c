#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "shared/base/io.h"
#include "supervisor/peer.h"
#include "tests/support/oom.h"

#define PAYLOAD_MAX 100000

/* One peer on a loop, and the other end of its socket in our hand. */
struct fixture {
    struct ev_loop *loop;
    struct peer peer;
    int other;
    int readable, sent; /* calls */
};

static void count_readable(struct peer *p)
{
    ((struct fixture *)p->owner)->readable++;
}

static void count_sent(struct peer *p)
{
    ((struct fixture *)p->owner)->sent++;
}

static const struct peer_events counting = { count_readable, count_sent };

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    int pair[2];

    f->loop = ev_loop_new(EVBACKEND_EPOLL);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair), 0);
    f->other = pair[1];
    peer_open(&f->peer, f->loop, pair[0], PAYLOAD_MAX, PAYLOAD_MAX, &counting, f);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    peer_close(&f->peer);
    peer_close(&f->peer); /* twice is fine */
    if (f->other >= 0)
        close(f->other);
    ev_loop_destroy(f->loop);
    free(f);
    return 0;
}

static void put(struct fixture *f, uint16_t type, uint32_t len, const char *payload, size_t sent)
{
    char header[FRAME_HEADER] = { 0 };

    memcpy(header, &len, 4);
    memcpy(header + 4, &type, 2);
    assert_int_equal(write(f->other, header, sizeof(header)), sizeof(header));
    assert_int_equal(write(f->other, payload, sent), sent);
}

static void turn(struct fixture *f)
{
    ev_run(f->loop, EVRUN_NOWAIT);
}

static void messages_wait_until_they_are_taken(void **state)
{
    struct fixture *f = *state;
    const void *payload;
    uint16_t type;
    size_t len;

    put(f, 7, 3, "abc", 3);
    put(f, 8, 0, "", 0);
    turn(f);
    assert_int_equal(f->readable, 1);
    assert_int_equal(peer_next(&f->peer, &type, &payload, &len), 1);
    assert_int_equal(type, 7);
    assert_int_equal(len, 3);
    assert_memory_equal(payload, "abc", 3);
    assert_int_equal(peer_next(&f->peer, &type, &payload, &len), 1);
    assert_int_equal(type, 8);
    assert_int_equal(len, 0);
    assert_int_equal(peer_next(&f->peer, &type, &payload, &len), 0);
    assert_false(peer_ended(&f->peer));
    assert_null(f->peer.in.in.data); /* an idle connection keeps no buffer */
}

static void a_message_in_pieces_comes_when_it_is_whole(void **state)
{
    struct fixture *f = *state;
    const void *payload;
    uint16_t type;
    size_t len;

    put(f, 7, 6, "abc", 3);
    turn(f);
    assert_int_equal(peer_next(&f->peer, &type, &payload, &len), 0);
    assert_int_equal(write(f->other, "def", 3), 3);
    turn(f);
    assert_int_equal(peer_next(&f->peer, &type, &payload, &len), 1);
    assert_memory_equal(payload, "abcdef", 6);
}

static void what_came_before_the_end_is_still_there(void **state)
{
    struct fixture *f = *state;
    const void *payload;
    uint16_t type;
    size_t len;

    put(f, 7, 3, "abc", 3);
    close(f->other);
    f->other = -1;
    turn(f);
    turn(f);
    assert_int_equal(f->readable, 2);
    assert_true(peer_ended(&f->peer));
    assert_string_equal(f->peer.fault, "");
    assert_int_equal(peer_next(&f->peer, &type, &payload, &len), 1);
    assert_int_equal(peer_next(&f->peer, &type, &payload, &len), 0);
    turn(f);
    assert_int_equal(f->readable, 2); /* told once */
}

static void an_oversized_message_ends_the_connection(void **state)
{
    struct fixture *f = *state;
    const void *payload;
    uint16_t type;
    size_t len;

    put(f, 7, PAYLOAD_MAX + 1, "", 0);
    turn(f);
    assert_int_equal(peer_next(&f->peer, &type, &payload, &len), -1);
    assert_true(peer_ended(&f->peer));
    assert_true(f->peer.fault[0] != '\0');
    assert_int_equal(peer_send(&f->peer, 1, "", 0), -1);
}

static void while_reading_is_off_nothing_comes(void **state)
{
    struct fixture *f = *state;
    const void *payload;
    uint16_t type;
    size_t len;

    peer_reading(&f->peer, false);
    put(f, 7, 3, "abc", 3);
    turn(f);
    turn(f);
    assert_int_equal(f->readable, 0);
    assert_int_equal(peer_next(&f->peer, &type, &payload, &len), 0);
    peer_reading(&f->peer, true);
    turn(f);
    assert_int_equal(f->readable, 1);
    assert_int_equal(peer_next(&f->peer, &type, &payload, &len), 1);
}

static void a_message_is_borrowed_until_reading_is_on_again(void **state)
{
    struct fixture *f = *state;
    const void *payload, *other;
    uint16_t type;
    size_t len;

    put(f, 7, 3, "abc", 3);
    turn(f);
    assert_int_equal(peer_next(&f->peer, &type, &payload, &len), 1);
    peer_reading(&f->peer, false);
    put(f, 8, 3, "xyz", 3);
    turn(f);
    turn(f);
    assert_memory_equal(payload, "abc", 3);
    assert_int_equal(peer_next(&f->peer, &type, &other, &len), 0);
    peer_reading(&f->peer, true);
    turn(f);
    assert_int_equal(peer_next(&f->peer, &type, &other, &len), 1);
    assert_memory_equal(other, "xyz", 3);
}

static void what_the_socket_does_not_take_is_sent_later(void **state)
{
    struct fixture *f = *state;
    static char big[50000], got[400000];
    size_t total = 0, want = 0;
    ssize_t n;
    int small = 4096, i;

    setsockopt(f->peer.fd, SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
    while (peer_send(&f->peer, 7, big, sizeof(big)) == 0)
        want += FRAME_HEADER + sizeof(big);
    assert_true(want > 0); /* then it was full: refused whole, nothing half sent */
    assert_true(peer_pending(&f->peer) > 0 && peer_pending(&f->peer) <= PAYLOAD_MAX);
    for (i = 0; i < 1000 && total < want; i++) {
        while ((n = read(f->other, got, sizeof(got))) > 0)
            total += (size_t)n;
        turn(f);
    }
    assert_int_equal(total, want);
    assert_int_equal(peer_pending(&f->peer), 0);
    assert_true(f->sent > 0);
    i = f->sent;
    turn(f);
    assert_int_equal(f->sent, i); /* nothing to send: no more turns */
}

static void a_send_to_nobody_fails(void **state)
{
    struct fixture *f = *state;

    close(f->other);
    f->other = -1;
    assert_int_equal(peer_send(&f->peer, 7, "x", 1), -1);
}

static void a_connect_to_nobody_opens_nothing(void **state)
{
    struct peer p = { .fd = -1 };
    struct err err;

    (void)state;
    assert_int_equal(peer_connect(&p, ev_default_loop(0), "/nonexistent/socket", 10, 10, &counting, NULL, &err), -1);
    assert_int_equal(err.kind, ERR_UNAVAILABLE);
    assert_false(peer_is_open(&p));
    peer_close(&p);
}

/* One conversation whose n-th allocation fails: did it come to that? The fixture is made with memory. */
static bool talk_with_failure(unsigned long n)
{
    struct fixture *f;
    const void *payload;
    uint16_t type;
    size_t len;
    bool hit;

    setup((void **)&f);
    put(f, 7, 3, "abc", 3);
    oom_fail_at(n);
    turn(f);
    if (peer_next(&f->peer, &type, &payload, &len) == 1)
        assert_memory_equal(payload, "abc", 3);
    else
        assert_true(peer_ended(&f->peer));
    if (!peer_ended(&f->peer) && peer_send(&f->peer, 9, "reply", 5) < 0)
        assert_int_equal(peer_pending(&f->peer), 0);
    hit = oom_hit();
    oom_off();
    teardown((void **)&f);
    return hit;
}

static void without_memory_it_ends_or_refuses(void **state)
{
    unsigned long n = 1;

    (void)state;
    while (talk_with_failure(n))
        n++;
    assert_true(n > 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(messages_wait_until_they_are_taken, setup, teardown),
        cmocka_unit_test_setup_teardown(a_message_in_pieces_comes_when_it_is_whole, setup, teardown),
        cmocka_unit_test_setup_teardown(what_came_before_the_end_is_still_there, setup, teardown),
        cmocka_unit_test_setup_teardown(an_oversized_message_ends_the_connection, setup, teardown),
        cmocka_unit_test_setup_teardown(while_reading_is_off_nothing_comes, setup, teardown),
        cmocka_unit_test_setup_teardown(a_message_is_borrowed_until_reading_is_on_again, setup, teardown),
        cmocka_unit_test_setup_teardown(what_the_socket_does_not_take_is_sent_later, setup, teardown),
        cmocka_unit_test_setup_teardown(a_send_to_nobody_fails, setup, teardown),
        cmocka_unit_test(a_connect_to_nobody_opens_nothing),
        cmocka_unit_test(without_memory_it_ends_or_refuses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
