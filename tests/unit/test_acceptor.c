#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <fcntl.h>
#include <unistd.h>

#include <cmocka.h>

#include "shared/base/io.h"
#include "shared/base/log.h"
#include "supervisor/acceptor.h"

struct fixture {
    struct ev_loop *loop;
    struct acceptor a;
    char path[48];
    int got[8], count;
    bool pause_at_first;
};

static void on_accepted(void *owner, int fd)
{
    struct fixture *f = owner;

    assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    f->got[f->count++] = fd;
    if (f->pause_at_first)
        acceptor_pause(&f->a, true);
}

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    struct err err;
    int fd;

    log_setup("agentsim", false, LOG__MAX);
    f->loop = ev_loop_new(EVBACKEND_EPOLL);
    snprintf(f->path, sizeof(f->path), "/tmp/agentsim-door-%d", (int)getpid());
    fd = io_unix_listen(f->path, 0600, (gid_t)-1, 8, &err);
    assert_true(fd >= 0);
    acceptor_start(&f->a, f->loop, fd, on_accepted, f);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    acceptor_stop(&f->a);
    acceptor_stop(&f->a);
    while (f->count)
        close(f->got[--f->count]);
    unlink(f->path);
    ev_loop_destroy(f->loop);
    free(f);
    return 0;
}

static int dial(const struct fixture *f)
{
    struct err err;
    int fd = io_unix_connect(f->path, true, &err);

    assert_true(fd >= 0);
    return fd;
}

static void everybody_who_waits_is_let_in(void **state)
{
    struct fixture *f = *state;
    int a = dial(f), b = dial(f);

    ev_run(f->loop, EVRUN_NOWAIT);
    assert_int_equal(f->count, 2);
    close(a);
    close(b);
}

static void while_paused_they_wait_outside(void **state)
{
    struct fixture *f = *state;
    int a = dial(f), b = dial(f);

    f->pause_at_first = true;
    ev_run(f->loop, EVRUN_NOWAIT);
    ev_run(f->loop, EVRUN_NOWAIT);
    assert_int_equal(f->count, 1);
    f->pause_at_first = false;
    acceptor_pause(&f->a, false);
    ev_run(f->loop, EVRUN_NOWAIT);
    assert_int_equal(f->count, 2);
    close(a);
    close(b);
}

static void without_descriptors_it_pauses_and_tries_again(void **state)
{
    struct fixture *f = *state;
    struct rlimit was, none;
    int a = dial(f), turns;

    getrlimit(RLIMIT_NOFILE, &was);
    none = was;
    none.rlim_cur = (rlim_t)a + 1; /* every lower one is taken */
    setrlimit(RLIMIT_NOFILE, &none);
    for (turns = 0; turns < 5; turns++)
        ev_run(f->loop, EVRUN_NOWAIT);
    assert_int_equal(f->count, 0);
    assert_false(ev_is_active(&f->a.io)); /* else it would spin */
    setrlimit(RLIMIT_NOFILE, &was);
    while (!f->count)
        ev_run(f->loop, EVRUN_ONCE);
    close(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(everybody_who_waits_is_let_in, setup, teardown),
        cmocka_unit_test_setup_teardown(while_paused_they_wait_outside, setup, teardown),
        cmocka_unit_test_setup_teardown(without_descriptors_it_pauses_and_tries_again, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
