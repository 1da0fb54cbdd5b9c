#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shared/base/buf.h"
#include "shared/base/io.h"
#include "supervisor/keeper/front.h"

static int listener(struct sockaddr_in *ret)
{
    struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof(a);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
    assert_int_equal(listen(fd, 5), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)ret, &len), 0);
    return fd;
}

static pid_t server(void)
{
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0) {
        pause();
        _exit(0);
    }
    return pid;
}

static void end(pid_t pid)
{
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static int connects(const struct sockaddr_in *a)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int r = connect(fd, (const struct sockaddr *)a, sizeof(*a));

    close(fd);
    return r;
}

static void a_listening_socket_outlives_its_process(void **state)
{
    struct sockaddr_in one, two;
    int mine[2], other[2], kept[FRONT_SOCKETS], n, i;
    pid_t pid;

    (void)state;
    mine[0] = listener(&one);
    mine[1] = listener(&two);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, other), 0); /* listens to nobody: not copied */
    pid = server();
    close(mine[0]);
    close(mine[1]);
    n = front_sockets_of(pid, kept);
    assert_int_equal(n, 2);
    end(pid);
    assert_int_equal(connects(&one), 0);
    assert_int_equal(connects(&two), 0);
    for (i = 0; i < n; i++)
        close(kept[i]);
    assert_int_equal(connects(&one), -1);
    close(other[0]);
    close(other[1]);
}

static void a_process_that_is_gone_has_none(void **state)
{
    int kept[FRONT_SOCKETS];
    pid_t pid = server();

    (void)state;
    end(pid);
    assert_int_equal(front_sockets_of(pid, kept), -1);
}

static void the_next_nginx_is_told_what_it_inherits(void **state)
{
    static const struct child_user root = { "root", 0, 0 };
    int ends[2], saved = dup(STDOUT_FILENO), status;
    struct sockaddr_in a;
    int fds[1] = { listener(&a) };
    struct child c = { .name = "nginx",
                       .argv = { "/bin/sh", "-c", "echo $NGINX; readlink /proc/self/fd/${NGINX%;}" },
                       .inherited = fds,
                       .inherited_len = 1 };
    auto_buf struct buf out;
    char want[64];
    struct err err;

    (void)state;
    buf_init(&out, 4096);
    assert_int_equal(pipe(ends), 0);
    assert_true(dup2(ends[1], STDOUT_FILENO) >= 0);
    assert_int_equal(child_start(&c, &root, 1, &err), 0);
    assert_true(dup2(saved, STDOUT_FILENO) >= 0);
    close(saved);
    close(ends[1]);
    assert_int_equal(io_read_rest(ends[0], &out, &err), 0);
    close(ends[0]);
    assert_int_equal(waitpid(c.pid, &status, 0), c.pid);
    (void)snprintf(want, sizeof(want), "%d;\nsocket:[", fds[0]);
    assert_memory_equal(out.data, want, strlen(want));
    close(fds[0]);
}

static void without_nginx_there_is_nothing_to_do(void **state)
{
    struct front f;

    (void)state;
    front_init(&f, NULL, NULL, NULL, NULL);
    front_watch(&f, 0.);
    front_upgrade(&f);
    front_reap(&f);
    front_stop(&f);
    front_kill(&f);
    assert_true(front_is_empty(&f));
    front_release(&f);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_listening_socket_outlives_its_process),
        cmocka_unit_test(a_process_that_is_gone_has_none),
        cmocka_unit_test(the_next_nginx_is_told_what_it_inherits),
        cmocka_unit_test(without_nginx_there_is_nothing_to_do),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
