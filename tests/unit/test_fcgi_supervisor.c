#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "fcgi/supervisor.h"
#include "shared/base/io.h"
#include "shared/base/mem.h"
#include "shared/ipc/frame.h"
#include "shared/ipc/wire.h"

#define ACTOR "ip:192.0.2.1"

static char dir[] = "/tmp/test_supervisor_XXXXXX";
static char path[sizeof(dir) + 8];
static int server = -1;

static int open_server(void **state)
{
    struct err err;

    (void)state;
    memcpy(dir + sizeof(dir) - 7, "XXXXXX", 6);
    if (!mkdtemp(dir))
        return -1;
    snprintf(path, sizeof(path), "%s/s", dir);
    server = io_unix_listen(path, 0600, (gid_t)-1, 4, &err);
    return server < 0 ? -1 : 0;
}

static int close_server(void **state)
{
    (void)state;
    close(server);
    unlink(path);
    return rmdir(dir);
}

/* A supervisor for one question: checks nothing, answers with type, payload and, with it, a descriptor. */
static pid_t answer_once(uint16_t type, const void *payload, size_t len, bool with_fd)
{
    auto_buf struct buf b;
    struct err err;
    uint16_t asked;
    pid_t pid;
    int sock;

    buf_init(&b, RPC_MAX_PAYLOAD);
    pid = fork();
    if (pid != 0)
        return pid;
    sock = accept(server, NULL, NULL);
    if (frame_recv(sock, &asked, &b, NULL, &err) != 1)
        _exit(1);
    buf_clear(&b);
    buf_add(&b, payload, len);
    _exit(frame_send(sock, type, &b, with_fd ? STDIN_FILENO : -1, &err) < 0);
}

static void join(pid_t pid)
{
    int status;

    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static void a_created_session_has_port_and_descriptor(void **state)
{
    static const struct {
        uint16_t type;
        uint32_t port;
        size_t len;
        bool fd, good;
    } rows[] = {
        { RPC_CREATED, 7700, 4, true, true },   { RPC_CREATED, 0, 4, true, false },
        { RPC_CREATED, 65536, 4, true, false }, { RPC_CREATED, 7700, 4, false, false },
        { RPC_CREATED, 7700, 3, true, false },  { RPC_OK, 7700, 4, true, false },
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        pid_t pid = answer_once(rows[i].type, &rows[i].port, rows[i].len, rows[i].fd);
        struct err err = { 0 };
        struct place place = { 1, -1, -1 };
        struct id id;
        int r;

        id_new(&id);
        r = supervisor_create(path, &id, ACTOR, 0, &place, NULL, &err);
        assert_int_equal(r, rows[i].good ? 0 : -1);
        assert_int_equal(place.holder >= 0 && place.claim >= 0, rows[i].good);
        assert_int_equal(place.port, rows[i].good ? 7700 : 1);
        if (r < 0)
            assert_int_equal(err.kind, ERR_UPSTREAM);
        else
            close(place.holder), supervisor_taken(place.claim); /* nobody is there any more: no harm */
        join(pid);
    }
}

static void malformed_descriptions_are_upstreams_fault(void **state)
{
    auto_buf struct buf answer;
    struct rpc_session s;
    struct rpc_status st;
    struct err err = { 0 };
    struct id id;
    pid_t pid;

    (void)state;
    buf_init(&answer, RPC_MAX_PAYLOAD);
    id_new(&id);
    pid = answer_once(RPC_SESSION, "x", 1, false);
    assert_int_equal(supervisor_info(path, &id, ACTOR, &answer, &s, &err), -1);
    assert_int_equal(err.kind, ERR_UPSTREAM);
    join(pid);
    pid = answer_once(RPC_STATUS, "x", 1, false);
    assert_int_equal(supervisor_health(path, &answer, &st, &err), -1);
    assert_int_equal(err.kind, ERR_UPSTREAM);
    join(pid);
}

static void an_answer_to_another_question_is_refused(void **state)
{
    struct err err = { 0 };
    struct id id;
    pid_t pid;
    int fd = -1;

    (void)state;
    id_new(&id);
    pid = answer_once(RPC_STATUS, "", 0, false);
    assert_int_equal(supervisor_admit(path, ACTOR, RPC_ADMIT_RATE, &err), -1);
    assert_int_equal(err.kind, ERR_UPSTREAM);
    join(pid);
    pid = answer_once(RPC_OK, "", 0, false); /* a descriptor is missing */
    assert_int_equal(supervisor_open(path, &id, ACTOR, &fd, &err), -1);
    assert_int_equal(err.kind, ERR_UPSTREAM);
    join(pid);
    pid = answer_once(RPC_OK, "", 0, true); /* one too many: closed */
    assert_int_equal(supervisor_end(path, &id, ACTOR, &err), 0);
    join(pid);
}

static void what_fails_on_the_way_is_told_without_its_cause(void **state)
{
    struct err err = { 0 };

    (void)state;
    assert_int_equal(supervisor_admit("/nonexistent/s", ACTOR, RPC_ADMIT_RATE, &err), -1);
    assert_int_equal(err.kind, ERR_UNAVAILABLE);
    assert_int_equal(err.errnum, 0);
    assert_null(strstr(err.msg, "nonexistent"));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_created_session_has_port_and_descriptor, open_server, close_server),
        cmocka_unit_test_setup_teardown(malformed_descriptions_are_upstreams_fault, open_server, close_server),
        cmocka_unit_test_setup_teardown(an_answer_to_another_question_is_refused, open_server, close_server),
        cmocka_unit_test(what_fails_on_the_way_is_told_without_its_cause),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
