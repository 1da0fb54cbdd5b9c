#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "shared/base/mem.h"
#include "shared/ipc/listen.h"

static void tell(const char *pid, const char *count, const char *names)
{
    char own[20];

    snprintf(own, sizeof(own), "%d", (int)getpid());
    setenv("LISTEN_PID", pid ? pid : own, 1);
    setenv("LISTEN_FDS", count, 1);
    setenv("LISTEN_FDNAMES", names, 1);
}

static void sockets_are_found_by_name(void **state)
{
    (void)state;
    assert_int_equal(dup2(STDIN_FILENO, 3), 3);
    assert_int_equal(dup2(STDIN_FILENO, 4), 4);
    tell(NULL, "2", "supervisor:websocket");
    assert_int_equal(listen_inherited("supervisor"), 3);
    assert_int_equal(listen_inherited("websocket"), 4);
    assert_int_equal(fcntl(4, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    assert_int_equal(listen_inherited("web"), -1);
    assert_int_equal(listen_inherited("launcher"), -1);
    close(4);
    assert_int_equal(listen_inherited("websocket"), -1);
    close(3);
}

static void what_is_meant_for_another_process_is_not_taken(void **state)
{
    static const struct {
        const char *pid, *count, *names;
    } rows[] = {
        { "1", "2", "a:b" }, { "", "2", "a:b" },    { "x", "2", "a:b" },     { NULL, "1", "a:b" },
        { NULL, "", "a:b" }, { NULL, "-1", "a:b" }, { NULL, "9999", "a:b" }, { NULL, "2", "" },
    };
    size_t i;

    (void)state;
    assert_int_equal(dup2(STDIN_FILENO, 4), 4);
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        tell(rows[i].pid, rows[i].count, rows[i].names);
        assert_int_equal(listen_inherited("b"), -1);
    }
    unsetenv("LISTEN_PID");
    unsetenv("LISTEN_FDNAMES");
    assert_int_equal(listen_inherited("b"), -1);
    close(4);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(sockets_are_found_by_name),
        cmocka_unit_test(what_is_meant_for_another_process_is_not_taken),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
