#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "shared/base/io.h"
#include "shared/base/mem.h"
#include "shared/base/time.h"
#include "tests/support/oom.h"

static int folder(void **state)
{
    char *dir = mem_strdup("/tmp/test_io_XXXXXX");

    *state = dir;
    return dir && mkdtemp(dir) ? 0 : -1;
}

static int no_folder(void **state)
{
    char path[200];

    snprintf(path, sizeof(path), "%s/f", (char *)*state);
    unlink(path);
    rmdir(*state);
    mem_free(*state);
    return 0;
}

static size_t open_descriptors(void)
{
    size_t n = 0;
    int fd;

    for (fd = 0; fd < 256; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

static void reads_are_whole_or_tell_how_they_ended(void **state)
{
    char two[2];
    int p[2];

    (void)state;
    assert_int_equal(pipe2(p, O_CLOEXEC), 0);
    assert_int_equal(io_write_all(p[1], "abc", 3), 0);
    close(p[1]);
    assert_int_equal(io_read_all(p[0], two, 2), 1);
    assert_memory_equal(two, "ab", 2);
    assert_int_equal(io_read_all(p[0], two, 2), -1);
    assert_int_equal(errno, EPIPE);
    assert_int_equal(io_read_all(p[0], two, 2), 0);
    close(p[0]);
}

static void a_peer_that_left_raises_no_signal(void **state)
{
    int s[2];

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, s), 0);
    close(s[1]);
    assert_int_equal(io_write_all(s[0], "x", 1), -1);
    assert_int_equal(errno, EPIPE);
    close(s[0]);
}

static void files_are_read_and_written_whole(void **state)
{
    auto_buf struct buf b;
    char path[200];
    struct stat st;
    struct err err;

    snprintf(path, sizeof(path), "%s/f", (char *)*state);
    assert_int_equal(io_write_file(path, "hello", 5, 0640, &err), 0);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777 & ~0640u, 0);
    buf_init(&b, 5);
    assert_int_equal(io_read_file(path, &b, &err), 0);
    assert_string_equal(b.data, "hello");
    buf_release(&b);
    buf_init(&b, 4);
    assert_int_equal(io_read_file(path, &b, &err), -1);
    assert_int_equal(err.kind, ERR_TOO_LARGE);
    assert_non_null(strstr(err.msg, path));
    assert_int_equal(io_read_file(*state, &b, &err), -1);
    assert_int_equal(err.kind, ERR_NOT_FOUND);
    assert_non_null(strstr(err.msg, "not a regular file"));
    assert_int_equal(io_read_file("/nonexistent/x", &b, &err), -1);
    assert_int_equal(err.kind, ERR_NOT_FOUND);
    assert_int_equal(io_write_file("/nonexistent/x", "", 0, 0600, &err), -1);
}

static void links_are_not_followed_for_writing(void **state)
{
    char path[200];
    struct err err;

    snprintf(path, sizeof(path), "%s/f", (char *)*state);
    assert_int_equal(symlink("/dev/null", path), 0);
    assert_int_equal(io_write_file(path, "x", 1, 0600, &err), -1);
    assert_int_equal(err.errnum, ELOOP);
}

static void a_stale_socket_is_replaced(void **state)
{
    auto_fd int first = -1;
    auto_fd int second = -1;
    auto_fd int client = -1;
    char path[200];
    struct stat st;
    struct err err;
    uid_t uid;

    snprintf(path, sizeof(path), "%s/f", (char *)*state);
    assert_int_equal(io_unix_connect(path, false, &err), -1);
    assert_int_equal(err.kind, ERR_UNAVAILABLE);
    first = io_unix_listen(path, 0600, (gid_t)-1, 4, &err);
    assert_true(first >= 0);
    second = io_unix_listen(path, 0660, getgid(), 4, &err);
    assert_true(second >= 0);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0660);
    client = io_unix_connect(path, true, &err);
    assert_true(client >= 0);
    assert_int_equal(fcntl(client, F_GETFL) & O_NONBLOCK, O_NONBLOCK);
    assert_int_equal(io_set_nonblock(client, false), 0);
    assert_int_equal(fcntl(client, F_GETFL) & O_NONBLOCK, 0);
    assert_int_equal(io_peer_uid(client, &uid), 0);
    assert_int_equal(uid, getuid());
}

static void a_full_backlog_ends_a_connect_in_time(void **state)
{
    int clients[16], n = 0;
    auto_fd int server = -1;
    char path[200];
    int64_t before;
    struct err err;

    snprintf(path, sizeof(path), "%s/f", (char *)*state);
    server = io_unix_listen(path, 0600, (gid_t)-1, 1, &err);
    assert_true(server >= 0);
    while (n < 16 && (clients[n] = io_unix_connect(path, true, &err)) >= 0)
        n++;
    assert_in_range(n, 1, 15);
    before = time_mono_ms();
    assert_int_equal(io_unix_connect_within(path, 50, &err), -1);
    assert_int_equal(err.kind, ERR_UNAVAILABLE);
    assert_in_range(time_mono_ms() - before, 40, 5000);
    while (n--)
        close(clients[n]);
}

static void too_long_socket_paths_are_named(void **state)
{
    char path[300];
    struct err err;

    (void)state;
    memset(path, 'x', sizeof(path));
    path[sizeof(path) - 1] = '\0';
    assert_int_equal(io_unix_connect(path, false, &err), -1);
    assert_int_equal(io_unix_listen(path, 0600, (gid_t)-1, 1, &err), -1);
    assert_non_null(strstr(err.msg, "longer than"));
}

static void descriptors_travel_with_a_message(void **state)
{
    int s[2], p[2], got = -1;
    char text[8];

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, s), 0);
    assert_int_equal(pipe2(p, O_CLOEXEC), 0);
    assert_int_equal(io_send_fd(s[0], "one", 3, p[1]), 0);
    assert_int_equal(io_recv_fd(s[1], text, sizeof(text), &got), 3);
    assert_true(got >= 0);
    assert_int_equal(fcntl(got, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    assert_int_equal(io_write_all(got, "x", 1), 0);
    assert_int_equal(io_read_all(p[0], text, 1), 1);
    close(got);
    assert_int_equal(io_send_fd(s[0], "two", 3, -1), 0);
    assert_int_equal(io_recv_fd(s[1], text, sizeof(text), &got), 3);
    assert_int_equal(got, -1);
    close(s[0]);
    assert_int_equal(io_recv_fd(s[1], text, sizeof(text), &got), 0);
    close(s[1]);
    close(p[0]);
    close(p[1]);
}

/* A peer may attach more than it should; none may stay open here. */
static void surplus_descriptors_do_not_leak(void **state)
{
    union {
        struct cmsghdr align;
        char space[CMSG_SPACE(3 * sizeof(int))];
    } control = { 0 };
    char byte = 'x', in;
    struct iovec iov = { &byte, 1 };
    struct msghdr msg = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.space, .msg_controllen = sizeof(control.space)
    };
    struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
    int s[2], three[3] = { 0, 1, 2 }, got;
    size_t before;

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, s), 0);
    before = open_descriptors();
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(three));
    memcpy(CMSG_DATA(c), three, sizeof(three));
    assert_int_equal(sendmsg(s[0], &msg, 0), 1);
    assert_int_equal(io_recv_fd(s[1], &in, 1, &got), 1);
    assert_true(got >= 0);
    close(got);
    assert_int_equal(open_descriptors(), before);
    close(s[0]);
    close(s[1]);
}

static void short_memory_while_reading_is_told(void **state)
{
    (void)state;
    OOM_SWEEP({
        auto_buf struct buf b;
        struct err err;

        buf_init(&b, 1 << 20);
        if (io_read_file("/proc/self/status", &b, &err) < 0)
            assert_true(oom_hit());
    });
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_are_whole_or_tell_how_they_ended),
        cmocka_unit_test(a_peer_that_left_raises_no_signal),
        cmocka_unit_test_setup_teardown(files_are_read_and_written_whole, folder, no_folder),
        cmocka_unit_test_setup_teardown(links_are_not_followed_for_writing, folder, no_folder),
        cmocka_unit_test_setup_teardown(a_stale_socket_is_replaced, folder, no_folder),
        cmocka_unit_test_setup_teardown(a_full_backlog_ends_a_connect_in_time, folder, no_folder),
        cmocka_unit_test(too_long_socket_paths_are_named),
        cmocka_unit_test(descriptors_travel_with_a_message),
        cmocka_unit_test(surplus_descriptors_do_not_leak),
        cmocka_unit_test(short_memory_while_reading_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
