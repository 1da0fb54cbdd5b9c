#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shared/base/io.h"
#include "shared/base/mem.h"
#include "supervisor/sandbox/spawn.h"
#include "tests/support/oom.h"

static void the_pid_is_found_in_what_bubblewrap_says(void **state)
{
    static const struct {
        const char *text;
        pid_t pid;
    } rows[] = {
        { "{\n    \"child-pid\": 26879,\n    \"cgroup-namespace\": 4026532182\n}", 26879 },
        { "{\"child-pid\":1}", 1 },
        { "{\"child-pid\": 0}", -1 },
        { "{\"child-pid\": -5}", -1 },
        { "{\"child-pid\": 99999999999999}", -1 },
        { "{\"child-pid\": 12", -1 }, /* cut: more digits may follow */
        { "{\"child-pid\": }", -1 },
        { "{\"other\": 12}", -1 },
        { "", -1 },
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(spawn_parse_info(rows[i].text, strlen(rows[i].text)), rows[i].pid);
}

static void a_descriptor_is_given_for_a_child_of_the_right_parent_only(void **state)
{
    pid_t pid = fork();
    int fd;

    (void)state;
    if (pid == 0) {
        prctl(PR_SET_NAME, "a) S 1 (b", 0, 0, 0);
        pause();
        _exit(0);
    }
    fd = spawn_open_pidfd(pid, getpid());
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(spawn_open_pidfd(pid, 1), -1);
    assert_int_equal(errno, ESRCH);
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_int_equal(spawn_open_pidfd(pid, getpid()), -1);
}

static void reports_are_read_whole_and_checked(void **state)
{
    const struct pid1_report good = { PID1_ENDED, 7, 100 }, bad = { 99, 0, 0 };
    struct spawned s = { .output = -1, .info = -1, .steps = -1, .wait = -1 };
    struct pid1_report r;
    int fds[2], fd;

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, fds), 0);
    s.report = fds[0];
    assert_int_equal(spawn_next_report(&s, &r, &fd), 0);
    assert_int_equal(write(fds[1], &good, sizeof(good)), sizeof(good));
    assert_int_equal(spawn_next_report(&s, &r, &fd), 1);
    assert_int_equal(r.value, 7);
    assert_int_equal(fd, -1);
    assert_int_equal(write(fds[1], &bad, sizeof(bad)), sizeof(bad));
    assert_int_equal(spawn_next_report(&s, &r, &fd), -1);
    assert_int_equal(write(fds[1], &good, 5), 5);
    assert_int_equal(spawn_next_report(&s, &r, &fd), -1);
    close(fds[1]);
    assert_int_equal(spawn_next_report(&s, &r, &fd), -1);
    spawn_close(&s);
}

static int open_descriptors(void)
{
    int fd, n = 0;

    for (fd = 0; fd < 256; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

static void a_socket_comes_with_its_record_and_nothing_else_does(void **state)
{
    const struct pid1_report listens = { PID1_LISTENS, 0, 0 }, ready = { PID1_READY, 0, 0 };
    const struct sockaddr_in any = { .sin_family = AF_INET };
    struct spawned s = { .output = -1, .info = -1, .steps = -1, .wait = -1 };
    struct pid1_report r;
    int fds[2], fd = -1, plain = socket(AF_INET, SOCK_STREAM, 0), listener = socket(AF_INET, SOCK_STREAM, 0), before;

    (void)state;
    assert_int_equal(bind(listener, (const struct sockaddr *)&any, sizeof(any)), 0);
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, fds), 0);
    s.report = fds[0];
    before = open_descriptors();
    assert_int_equal(io_send_fd(fds[1], &listens, sizeof(listens), listener), 0);
    assert_int_equal(spawn_next_report(&s, &r, &fd), 1);
    assert_true(fd >= 0 && (fcntl(fd, F_GETFL) & O_NONBLOCK) && (fcntl(fd, F_GETFD) & FD_CLOEXEC));
    close(fd);
    assert_int_equal(io_send_fd(fds[1], &listens, sizeof(listens), plain), 0); /* does not listen */
    assert_int_equal(spawn_next_report(&s, &r, &fd), -1);
    assert_int_equal(io_send_fd(fds[1], &listens, sizeof(listens), fds[1]), 0);
    assert_int_equal(spawn_next_report(&s, &r, &fd), -1);
    assert_int_equal(io_send_fd(fds[1], &listens, sizeof(listens), -1), 0); /* nothing came */
    assert_int_equal(spawn_next_report(&s, &r, &fd), -1);
    assert_int_equal(io_send_fd(fds[1], &ready, sizeof(ready), listener), 0); /* not asked for */
    assert_int_equal(spawn_next_report(&s, &r, &fd), -1);
    assert_int_equal(fd, -1);
    assert_int_equal(open_descriptors(), before);
    close(fds[1]);
    close(plain);
    close(listener);
    spawn_close(&s);
}

/* A plan that runs a program of the system in place of agentsim-pid1, without a sandbox. */
static void fill(struct sandbox_plan *p, const struct config *config, const char *program, const char *argument)
{
    *p = (struct sandbox_plan){ 0 };
    p->pid1 = mem_strdup(program);
    p->work = mem_strdup("/");
    strv_add(&p->argv, argument);
    strv_add(&p->env, "A=b");
    rlimits_make(&p->limits, config);
}

static void a_program_that_is_not_there_is_a_named_step(void **state)
{
    struct config config;
    struct sandbox_plan p;
    struct spawned s;
    struct err err = { 0 };

    (void)state;
    assert_int_equal(config_load_env(&config, NULL), 0);
    fill(&p, &config, "/nonexistent", "x");
    assert_int_equal(spawn_start(&s, &p, &err), 0);
    assert_int_equal(waitpid(s.pid, NULL, 0), s.pid);
    assert_int_equal(spawn_failed_step(&s, &err), -1);
    assert_string_equal(err.msg, "execute the sandbox program: No such file or directory");
    assert_int_equal(spawn_inner_pid(&s), -1);
    spawn_close(&s);
    sandbox_plan_release(&p);
    config_release(&config);
}

#define FD "/proc/self/fd/"

static void output_comes_and_nothing_else_is_inherited(void **state)
{
    static const char script[] = "/tmp/agentsim-spawn-test.sh";
    static const char text[] = "#!/bin/sh\necho $# $2 $3 $A; echo /proc/self/fd/*; cat; echo err >&2\n";
    struct config config;
    struct sandbox_plan p;
    struct spawned s;
    auto_buf struct buf out;
    int leak = dup(1), status;

    (void)state;
    io_write_file(script, text, sizeof(text) - 1, 0755, NULL);
    assert_int_equal(fcntl(leak, F_SETFD, FD_CLOEXEC), 0);
    assert_int_equal(config_load_env(&config, NULL), 0);
    fill(&p, &config, script, "arg");
    assert_int_equal(spawn_start(&s, &p, NULL), 0);
    assert_int_equal(waitpid(s.pid, &status, 0), s.pid);
    assert_int_equal(status, 0);
    assert_int_equal(spawn_failed_step(&s, NULL), 1);
    buf_init(&out, 4096);
    assert_int_equal(io_read_rest(s.output, &out, NULL), 0);
    assert_string_equal(out.data, "4 0 0 b\n" FD "0 " FD "1 " FD "10 " FD "11 " FD "2 " FD "3\nerr\n");
    /* 10 is the report, 3 and 11 are the shell's */
    close(leak);
    spawn_close(&s);
    unlink(script);
    sandbox_plan_release(&p);
    config_release(&config);
}

static void a_program_that_waits_has_a_socket_to_us(void **state)
{
    static const char script[] = "/tmp/agentsim-spawn-wait.sh";
    static const char text[] = "#!/bin/bash\necho ready >&9; read -r -u 9 word; echo \"$3 $word\" >&9\n";
    struct config config;
    struct sandbox_plan p;
    struct spawned s;
    char said[16] = "";

    (void)state;
    io_write_file(script, text, sizeof(text) - 1, 0755, NULL);
    assert_int_equal(config_load_env(&config, NULL), 0);
    fill(&p, &config, script, "x");
    p.waits = true;
    assert_int_equal(spawn_start(&s, &p, NULL), 0);
    assert_int_equal(io_set_nonblock(s.wait, false), 0);
    assert_int_equal(recv(s.wait, said, sizeof(said), 0), 6);
    assert_string_equal(said, "ready\n");
    assert_int_equal(send(s.wait, "g", 1, 0), 1); /* a shell reads a byte, and what is left of the message is lost */
    assert_int_equal(send(s.wait, "\n", 1, 0), 1);
    assert_int_equal(recv(s.wait, said, sizeof(said), 0), 4);
    assert_memory_equal(said, "9 g\n", 4);
    assert_int_equal(recv(s.wait, said, sizeof(said), 0), 0);
    assert_int_equal(waitpid(s.pid, NULL, 0), s.pid);
    spawn_close(&s);
    unlink(script);
    sandbox_plan_release(&p);
    config_release(&config);
}

static void short_memory_leaves_nothing_open(void **state)
{
    struct config config;
    struct sandbox_plan p;
    int before;

    (void)state;
    assert_int_equal(config_load_env(&config, NULL), 0);
    fill(&p, &config, "/bin/true", "x");
    p.sandboxed = p.waits = true;
    p.work_inside = mem_strdup("/");
    before = open_descriptors();
    OOM_SWEEP({
        struct spawned s;

        if (spawn_start(&s, &p, NULL) == 0) {
            kill(s.pid, SIGKILL);
            waitpid(s.pid, NULL, 0);
            spawn_close(&s);
        } else {
            assert_true(oom_hit());
        }
        assert_int_equal(open_descriptors(), before);
    });
    sandbox_plan_release(&p);
    config_release(&config);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_pid_is_found_in_what_bubblewrap_says),
        cmocka_unit_test(a_descriptor_is_given_for_a_child_of_the_right_parent_only),
        cmocka_unit_test(reports_are_read_whole_and_checked),
        cmocka_unit_test(a_socket_comes_with_its_record_and_nothing_else_does),
        cmocka_unit_test(a_program_that_is_not_there_is_a_named_step),
        cmocka_unit_test(output_comes_and_nothing_else_is_inherited),
        cmocka_unit_test(a_program_that_waits_has_a_socket_to_us),
        cmocka_unit_test(short_memory_leaves_nothing_open),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
