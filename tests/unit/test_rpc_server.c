#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "shared/base/mem.h"
#include "shared/base/time.h"
#include "shared/ipc/wire.h"
#include "tests/support/oom.h"
#include "tests/support/supervisor_fixture.h"

static int setup(void **state)
{
    struct fixture *f = mem_zalloc(1, sizeof(*f));

    assert_non_null(f);
    fixture_open(f);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture_close(*state);
    mem_free(*state);
    return 0;
}

static bool closed(struct fixture *f, int fd)
{
    char byte;

    return fixture_read(f, fd, &byte, 1) == 0;
}

static void one_request_gets_one_answer_and_the_end(void **state)
{
    struct fixture *f = *state;
    struct rpc_status status;
    struct wire_in in;
    uint16_t type;
    auto_buf struct buf b;
    int fd = fixture_connect(f, "supervisor.sock");

    buf_init(&b, RPC_MAX_PAYLOAD);
    fixture_send(fd, RPC_HEALTH, NULL, 0);
    assert_int_equal(fixture_recv(f, fd, &type, &b, NULL), 1);
    assert_int_equal(type, RPC_STATUS);
    wire_start(&in, b.data, b.len);
    assert_int_equal(rpc_get_status(&in, &status), 0);
    assert_int_equal(status.capacity, FIXTURE_SLOTS);
    assert_string_equal(status.sandbox, "unavailable: the launcher has not answered yet");
    assert_true(closed(f, fd));
    assert_int_equal(f->sv.rpc.count, 0);
    close(fd);
}

static void errors_come_as_errors(void **state)
{
    struct fixture *f = *state;
    struct wire_in in;
    struct err err;
    uint16_t type;
    auto_buf struct buf b;
    int fd = fixture_connect(f, "supervisor.sock");

    buf_init(&b, RPC_MAX_PAYLOAD);
    fixture_send(fd, RPC_CREATE, "x", 1);
    assert_int_equal(fixture_recv(f, fd, &type, &b, NULL), 1);
    assert_int_equal(type, RPC_ERROR);
    wire_start(&in, b.data, b.len);
    assert_int_equal(rpc_get_error(&in, &err), 0);
    assert_int_equal(err.kind, ERR_BAD_REQUEST);
    assert_true(closed(f, fd));
    close(fd);
}

static void broken_peers_are_dropped_without_an_answer(void **state)
{
    struct fixture *f = *state;
    int oversized = fixture_connect(f, "supervisor.sock"), silent = fixture_connect(f, "supervisor.sock");
    const uint32_t header[2] = { RPC_MAX_PAYLOAD + 1, RPC_HEALTH };

    assert_int_equal(send(oversized, header, sizeof(header), 0), sizeof(header));
    assert_true(closed(f, oversized));
    fixture_wait(f, f->sv.rpc.count == 1);
    close(silent);
    fixture_wait(f, f->sv.rpc.count == 0);
    close(oversized);
}

static void beyond_the_most_connections_the_door_waits(void **state)
{
    struct fixture *f = *state;
    int fds[RPC_CONNECTIONS_MAX + 1];
    uint16_t type;
    auto_buf struct buf b;
    size_t i;

    buf_init(&b, RPC_MAX_PAYLOAD);
    for (i = 0; i < ARRAY_LEN(fds); i++) {
        fds[i] = fixture_connect(f, "supervisor.sock");
        fixture_turn(f);
        fixture_turn(f);
    }
    assert_int_equal(f->sv.rpc.count, RPC_CONNECTIONS_MAX);
    fixture_send(fds[RPC_CONNECTIONS_MAX], RPC_HEALTH, NULL, 0);
    fixture_turn(f);
    assert_int_equal(f->sv.rpc.count, RPC_CONNECTIONS_MAX);
    close(fds[0]); /* one leaves, the one that waited is served */
    assert_int_equal(fixture_recv(f, fds[RPC_CONNECTIONS_MAX], &type, &b, NULL), 1);
    assert_int_equal(type, RPC_STATUS);
    for (i = 1; i < ARRAY_LEN(fds); i++)
        close(fds[i]);
    fixture_wait(f, f->sv.rpc.count == 0);
}

static void a_worker_that_leaves_waits_for_nothing_any_more(void **state)
{
    struct fixture *f = *state;
    struct launch_msg m;
    struct id id = { { 3 } };
    auto_buf struct buf b;
    int fd;

    buf_init(&b, 256);
    fixture_ready(f);
    fd = fixture_connect(f, "supervisor.sock");
    wire_put_id(&b, &id);
    wire_put_str(&b, "ip:a");
    wire_put_u32(&b, 0);
    fixture_send(fd, RPC_CREATE, b.data, b.len);
    m = fixture_asked(f, LAUNCH_START);
    close(fd);
    fixture_wait(f, f->sv.rpc.count == 0);
    fixture_tell(f, LAUNCH_STARTED, m.slot, &m.id, 1);
    fixture_asked(f, LAUNCH_STOP);
}

static void a_second_request_on_the_same_connection_ends_it(void **state)
{
    struct fixture *f = *state;
    struct id id = { { 3 } };
    auto_buf struct buf b;
    int fd;

    buf_init(&b, 256);
    fixture_ready(f);
    fd = fixture_connect(f, "supervisor.sock");
    wire_put_id(&b, &id);
    wire_put_str(&b, "ip:a");
    wire_put_u32(&b, 0);
    fixture_send(fd, RPC_CREATE, b.data, b.len);
    fixture_asked(f, LAUNCH_START);
    fixture_send(fd, RPC_HEALTH, NULL, 0);
    assert_true(closed(f, fd));
    assert_int_equal(f->sv.rpc.count, 0);
    close(fd);
}

/* A question whose n-th allocation fails: did it come to that? */
static bool ask_with_failure(unsigned long n)
{
    struct fixture *f;
    uint16_t type;
    auto_buf struct buf b;
    bool hit;
    int fd, i;

    buf_init(&b, RPC_MAX_PAYLOAD);
    setup((void **)&f);
    fd = fixture_connect(f, "supervisor.sock");
    fixture_send(fd, RPC_HEALTH, NULL, 0);
    oom_fail_at(n);
    for (i = 0; i < 4; i++)
        fixture_turn(f);
    hit = oom_hit();
    oom_off();
    if (fixture_recv(f, fd, &type, &b, NULL) == 1)
        assert_true(type == RPC_STATUS || type == RPC_ERROR);
    assert_int_equal(f->sv.rpc.count, 0);
    close(fd);
    teardown((void **)&f);
    return hit;
}

static void without_memory_the_connection_ends(void **state)
{
    unsigned long n = 1;

    (void)state;
    while (ask_with_failure(n))
        n++;
    assert_true(n > 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(one_request_gets_one_answer_and_the_end, setup, teardown),
        cmocka_unit_test_setup_teardown(errors_come_as_errors, setup, teardown),
        cmocka_unit_test_setup_teardown(broken_peers_are_dropped_without_an_answer, setup, teardown),
        cmocka_unit_test_setup_teardown(beyond_the_most_connections_the_door_waits, setup, teardown),
        cmocka_unit_test_setup_teardown(a_worker_that_leaves_waits_for_nothing_any_more, setup, teardown),
        cmocka_unit_test_setup_teardown(a_second_request_on_the_same_connection_ends_it, setup, teardown),
        cmocka_unit_test(without_memory_the_connection_ends),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
