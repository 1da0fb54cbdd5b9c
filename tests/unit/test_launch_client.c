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

#include "shared/base/mem.h"
#include "shared/ipc/version.h"
#include "supervisor/launch_client.h"
#include "tests/support/oom.h"

#define SLOTS 3

struct fixture {
    char dir[64], path[96];
    struct ev_loop *loop;
    struct launch_client client;
    int listener, launcher; /* the launcher's side */
    struct launch_msg last;
    int messages, losses;
};

static void on_message(void *owner, const struct launch_msg *m)
{
    struct fixture *f = owner;

    f->last = *m;
    f->messages++;
}

static void on_lost(void *owner)
{
    struct fixture *f = owner;

    assert_false(launch_client_ready(&f->client));
    f->losses++;
}

static const struct launch_events events = { on_message, on_lost };

static void listen_again(struct fixture *f)
{
    struct sockaddr_un a = { .sun_family = AF_UNIX };

    memcpy(a.sun_path, f->path, strlen(f->path) + 1);
    unlink(f->path);
    f->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(f->listener, (struct sockaddr *)&a, sizeof(a)), 0);
    assert_int_equal(listen(f->listener, 4), 0);
}

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));

    f->listener = f->launcher = -1;
    f->loop = ev_loop_new(EVBACKEND_EPOLL);
    snprintf(f->dir, sizeof(f->dir), "/tmp/agentsim-launch-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    snprintf(f->path, sizeof(f->path), "%s/launcher.sock", f->dir);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    launch_client_stop(&f->client);
    launch_client_stop(&f->client);
    if (f->launcher >= 0)
        close(f->launcher);
    if (f->listener >= 0)
        close(f->listener);
    unlink(f->path);
    rmdir(f->dir);
    ev_loop_destroy(f->loop);
    free(f);
    return 0;
}

static void start(struct fixture *f)
{
    launch_client_start(&f->client, f->loop, f->path, SLOTS, &events, f);
}

/* Turns the loop until the launcher has a connection. Pauses are at most two seconds. */
static void take_connection(struct fixture *f)
{
    if (f->launcher >= 0)
        close(f->launcher);
    while ((f->launcher = accept4(f->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) < 0)
        ev_run(f->loop, EVRUN_ONCE);
}

static void say(struct fixture *f, uint32_t op, uint32_t slot)
{
    struct launch_msg m = { .magic = LAUNCH_MAGIC, .op = op, .slot = slot };

    assert_int_equal(send(f->launcher, &m, sizeof(m), 0), sizeof(m));
}

static void turn(struct fixture *f)
{
    ev_run(f->loop, EVRUN_NOWAIT);
}

static void become_ready(struct fixture *f)
{
    take_connection(f);
    say(f, LAUNCH_READY, 0);
    while (!launch_client_ready(&f->client))
        ev_run(f->loop, EVRUN_ONCE);
}

static void it_may_be_asked_only_after_the_inventory(void **state)
{
    struct fixture *f = *state;
    struct launch_msg m;
    struct id id = { { 9 } };

    listen_again(f);
    start(f);
    take_connection(f);
    assert_int_equal(launch_client_send(&f->client, LAUNCH_STOP, 1, NULL), -1);
    say(f, LAUNCH_SLOT, 2);
    turn(f);
    assert_int_equal(f->messages, 1);
    assert_int_equal(f->last.slot, 2);
    assert_false(launch_client_ready(&f->client));
    say(f, LAUNCH_READY, 0);
    turn(f);
    assert_true(launch_client_ready(&f->client));
    assert_int_equal(launch_client_send(&f->client, LAUNCH_START, 1, &id), 0);
    assert_int_equal(recv(f->launcher, &m, sizeof(m), 0), sizeof(m));
    assert_true(m.magic == LAUNCH_MAGIC && m.op == LAUNCH_START && m.slot == 1 && id_equal(&m.id, &id));
}

static void it_waits_for_a_launcher_that_is_not_there_yet(void **state)
{
    struct fixture *f = *state;

    start(f);
    turn(f);
    assert_int_equal(f->losses, 0); /* was never connected */
    listen_again(f);
    become_ready(f);
}

static void it_connects_again_when_the_launcher_dies(void **state)
{
    struct fixture *f = *state;

    listen_again(f);
    start(f);
    become_ready(f);
    close(f->launcher);
    f->launcher = -1;
    while (!f->losses)
        ev_run(f->loop, EVRUN_ONCE);
    assert_int_equal(launch_client_send(&f->client, LAUNCH_STOP, 0, NULL), -1);
    become_ready(f);
    assert_int_equal(f->losses, 1);
}

static void messages_are_checked(void **state)
{
    static const struct {
        struct launch_msg m;
        size_t len;
        bool valid;
    } rows[] = {
        { { .magic = LAUNCH_MAGIC, .op = LAUNCH_SLOT, .slot = SLOTS - 1 }, sizeof(struct launch_msg), true },
        { { .magic = LAUNCH_MAGIC, .op = LAUNCH_QUARANTINED }, sizeof(struct launch_msg), true },
        { { .magic = LAUNCH_MAGIC, .op = LAUNCH_READY, .slot = 99 }, sizeof(struct launch_msg), true },
        { { .magic = LAUNCH_MAGIC, .op = LAUNCH_READY, .value = SLOTS }, sizeof(struct launch_msg), true },
        { { .magic = LAUNCH_MAGIC, .op = LAUNCH_READY, .value = SLOTS + 1 }, sizeof(struct launch_msg), false },
        { { .magic = LAUNCH_MAGIC, .op = LAUNCH_READY, .value = -1 }, sizeof(struct launch_msg), false },
        { { .magic = LAUNCH_MAGIC, .op = LAUNCH_CLEAN, .slot = SLOTS }, sizeof(struct launch_msg), false },
        { { .magic = LAUNCH_MAGIC, .op = LAUNCH_SLOT, .state = 3 }, sizeof(struct launch_msg), false },
        { { .magic = LAUNCH_MAGIC, .op = LAUNCH_START }, sizeof(struct launch_msg), false }, /* ours */
        { { .magic = LAUNCH_MAGIC, .op = LAUNCH_OP_MAX }, sizeof(struct launch_msg), false },
        { { .magic = LAUNCH_MAGIC }, sizeof(struct launch_msg), false },
        { { .magic = 1, .op = LAUNCH_SLOT }, sizeof(struct launch_msg), false },
        { { .magic = LAUNCH_MAGIC, .op = LAUNCH_SLOT }, sizeof(struct launch_msg) - 1, false },
        { { .magic = LAUNCH_MAGIC, .op = LAUNCH_SLOT }, sizeof(struct launch_msg) + 1, false },
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(launch_msg_valid(&rows[i].m, rows[i].len, SLOTS), rows[i].valid);
}

static void a_newer_launcher_may_have_news(void **state)
{
    struct fixture *f = *state;

    listen_again(f);
    start(f);
    take_connection(f);
    say(f, LAUNCH_READY, launch_version(IPC_VERSION + 7, IPC_VERSION));
    say(f, LAUNCH_OP_MAX + 3, 99);
    say(f, LAUNCH_CLEAN, 1);
    while (f->messages < 2)
        ev_run(f->loop, EVRUN_ONCE);
    assert_int_equal(f->last.op, LAUNCH_CLEAN);
    assert_int_equal(f->losses, 0);
    assert_true(launch_client_ready(&f->client));
    assert_int_equal(f->client.version, IPC_VERSION + 7);
}

static void one_that_does_not_work_with_us_is_not_asked(void **state)
{
    struct fixture *f = *state;

    listen_again(f);
    start(f);
    take_connection(f);
    say(f, LAUNCH_READY, launch_version(IPC_VERSION + 7, IPC_VERSION + 1));
    while (!f->client.foreign)
        ev_run(f->loop, EVRUN_ONCE);
    assert_false(launch_client_ready(&f->client));
    assert_int_equal(f->losses, 0);
    become_ready(f); /* the next one may */
    assert_false(f->client.foreign);
}

static void a_malformed_message_ends_the_channel(void **state)
{
    struct fixture *f = *state;

    listen_again(f);
    start(f);
    become_ready(f);
    say(f, LAUNCH_CLEAN, SLOTS);
    while (!f->losses)
        ev_run(f->loop, EVRUN_ONCE);
    assert_int_equal(f->messages, 1); /* only READY was handed on */
    become_ready(f);
    assert_int_equal(send(f->launcher, "x", 1, 0), 1);
    while (f->losses < 2)
        ev_run(f->loop, EVRUN_ONCE);
}

static void a_full_channel_delays_but_loses_nothing(void **state)
{
    struct fixture *f = *state;
    struct launch_msg m;
    uint32_t sent = 0, got = 0;

    listen_again(f);
    start(f);
    become_ready(f);
    for (; sent < 3000; sent++)
        assert_int_equal(launch_client_send(&f->client, LAUNCH_STOP, sent, NULL), 0);
    while (got < sent) {
        if (recv(f->launcher, &m, sizeof(m), 0) == sizeof(m))
            assert_int_equal(m.slot, got++);
        else
            ev_run(f->loop, EVRUN_ONCE);
    }
    assert_int_equal(f->losses, 0);
}

static void without_memory_the_channel_is_begun_anew(void **state)
{
    struct fixture *f = *state;

    listen_again(f);
    start(f);
    become_ready(f);
    oom_fail_at(1);
    assert_int_equal(launch_client_send(&f->client, LAUNCH_STOP, 0, NULL), -1);
    oom_off();
    while (!f->losses)
        ev_run(f->loop, EVRUN_ONCE);
    become_ready(f);
    assert_int_equal(launch_client_send(&f->client, LAUNCH_STOP, 0, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(it_may_be_asked_only_after_the_inventory, setup, teardown),
        cmocka_unit_test_setup_teardown(it_waits_for_a_launcher_that_is_not_there_yet, setup, teardown),
        cmocka_unit_test_setup_teardown(it_connects_again_when_the_launcher_dies, setup, teardown),
        cmocka_unit_test(messages_are_checked),
        cmocka_unit_test_setup_teardown(a_newer_launcher_may_have_news, setup, teardown),
        cmocka_unit_test_setup_teardown(one_that_does_not_work_with_us_is_not_asked, setup, teardown),
        cmocka_unit_test_setup_teardown(a_malformed_message_ends_the_channel, setup, teardown),
        cmocka_unit_test_setup_teardown(a_full_channel_delays_but_loses_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(without_memory_the_channel_is_begun_anew, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
