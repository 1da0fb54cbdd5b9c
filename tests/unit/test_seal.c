/* Each filter is loaded in a child, and the kernel is asked. */
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <curl/curl.h>

#include "shared/base/mem.h"
#include "shared/base/str.h"
#include "shared/seal/seal.h"
#include "tests/support/oom.h"

#define EVERYBODY (SEAL_SUPERVISOR | SEAL_WORKER | SEAL_HOLDER | SEAL_LAUNCHER)
#define LISTED (SEAL_SUPERVISOR | SEAL_WORKER)
#define INHERITED (SEAL_HOLDER | SEAL_LAUNCHER)

static const enum seal_program programs[] = { SEAL_SUPERVISOR, SEAL_WORKER, SEAL_HOLDER, SEAL_LAUNCHER };

/* Exit status of a child that seals itself and runs f. */
static int sealed(enum seal_program program, int (*f)(const void *), const void *arg)
{
    pid_t pid = fork();
    int status = 0;

    if (pid == 0)
        _exit(seal_self(program, NULL) < 0 ? 200 : f(arg));
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

struct
try {
    unsigned programs;
    const char *call;
    long args[6];
    int errnum; /* 0: anything but a refusal */
};

/* 0: as expected */
static int try_call(const void *arg)
{
    const struct try *t = arg;
    long r = syscall(seccomp_number(t->call), t->args[0], t->args[1], t->args[2], t->args[3], t->args[4], t->args[5]);
    int refused = r < 0 && (errno == EPERM || errno == EAFNOSUPPORT || errno == EPROTONOSUPPORT || errno == ENOSYS);

    if (!t->errnum)
        return refused ? 100 : 0;
    return r < 0 && errno == t->errnum ? 0 : r < 0 ? errno : 101;
}

static const struct try tries[] = {
    { EVERYBODY, "bpf", { 0 }, EPERM },
    { EVERYBODY, "keyctl", { 0, -1, 1 }, EPERM },
    { EVERYBODY, "perf_event_open", { 0 }, EPERM },
    { EVERYBODY, "userfaultfd", { 0 }, EPERM },
    { EVERYBODY, "init_module", { 0 }, EPERM },
    { EVERYBODY, "process_vm_writev", { 0 }, EPERM },
    { EVERYBODY, "pidfd_getfd", { -1, 0, 0 }, EPERM },
    { EVERYBODY, "open_by_handle_at", { -1, 0, 0 }, EPERM },
    { LISTED, "io_uring_setup", { 1, 0 }, EPERM },
    { INHERITED, "io_uring_setup", { 1, 0 }, ENOSYS },
    { LISTED, "unshare", { CLONE_NEWUSER }, EPERM },
    { LISTED, "mount", { 0 }, EPERM },
    { LISTED, "setns", { -1, 0 }, EPERM },
    { LISTED, "mknodat", { AT_FDCWD, 0, S_IFIFO, 0 }, EPERM },
    { LISTED, "clone", { CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0 }, EPERM },
    { LISTED, "clone3", { 0, 0 }, ENOSYS },
    { LISTED, "socket", { AF_PACKET, SOCK_RAW, 0 }, EPERM },
    { SEAL_SUPERVISOR, "socket", { AF_INET, SOCK_STREAM, 0 }, EPERM },
    { SEAL_SUPERVISOR, "socket", { AF_NETLINK, SOCK_RAW, 0 }, EPERM },
    { SEAL_SUPERVISOR, "execve", { 0, 0, 0 }, EPERM },
    { SEAL_SUPERVISOR, "setresuid", { -1, -1, -1 }, EPERM },
    { SEAL_WORKER, "socket", { AF_NETLINK, SOCK_RAW, 9 }, EPERM },
    { INHERITED, "socket", { AF_NETLINK, SOCK_RAW, 9 }, EPROTONOSUPPORT },
    { INHERITED, "socket", { AF_VSOCK, SOCK_STREAM, 0 }, EAFNOSUPPORT },
    { INHERITED, "socket", { AF_PACKET, SOCK_RAW, 0 }, EAFNOSUPPORT },

    { EVERYBODY, "getpid", { 0 }, 0 },
    { EVERYBODY, "socket", { AF_UNIX, SOCK_STREAM, 0 }, 0 },
    { SEAL_WORKER | INHERITED, "socket", { AF_INET, SOCK_STREAM, 0 }, 0 },
    { SEAL_WORKER | INHERITED, "socket", { AF_INET6, SOCK_DGRAM, 0 }, 0 },
    { SEAL_WORKER | INHERITED, "socket", { AF_NETLINK, SOCK_RAW, 0 }, 0 },
    { SEAL_WORKER | INHERITED, "execve", { 0, 0, 0 }, 0 },
    { INHERITED, "unshare", { CLONE_NEWUSER }, 0 },
    { EVERYBODY, "mmap", { 0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0 }, 0 },
#if !defined(__SANITIZE_ADDRESS__)
    { EVERYBODY, "ptrace", { 0 }, EPERM },
    { SEAL_SUPERVISOR, "mmap", { 0, 4096, PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0 }, EPERM },
#endif
};

static void the_kernel_refuses_what_the_lists_do_not_have(void **state)
{
    size_t i, j;

    (void)state;
    for (i = 0; i < ARRAY_LEN(tries); i++) {
        int r;

        if (seccomp_number(tries[i].call) < 0)
            continue;
        for (j = 0; j < ARRAY_LEN(programs); j++) {
            if (!(tries[i].programs & programs[j]))
                continue;
            r = sealed(programs[j], try_call, &tries[i]);
            if (r != 0)
                fail_msg("row %zu, %s, for program %u: %d", i, tries[i].call, programs[j], r);
        }
    }
}

static int newer_call(const void *arg)
{
    (void)arg;
    return syscall(SECCOMP_NEWEST_CALL + 1, 0, 0, 0) < 0 && errno == ENOSYS ? 0 : 1;
}

static void what_is_newer_than_the_lists_is_not_there(void **state)
{
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(programs); i++)
        assert_int_equal(sealed(programs[i], newer_call, NULL), 0);
}

static void *nothing(void *arg)
{
    return arg;
}

/* Name resolution, for one, makes threads. */
static int everyday_work(const void *arg)
{
    char text[64];
    int fds[2], fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    pthread_t thread;
    void *block = malloc((size_t)64 << 20);

    (void)arg;
    if (fd < 0 || read(fd, text, sizeof(text)) <= 0 || pipe(fds) < 0 || write(fds[1], "x", 1) != 1 || !block)
        return 1;
    memset(block, 1, (size_t)64 << 20);
    free(block);
    if (pthread_create(&thread, NULL, nothing, NULL) != 0 || pthread_join(thread, NULL) != 0)
        return 2;
    return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 && prctl(PR_GET_SECCOMP) == 2 ? 0 : 3;
}

static void everyday_work_and_threads_go_on(void **state)
{
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(programs); i++)
        assert_int_equal(sealed(programs[i], everyday_work, NULL), 0);
}

/* The sign-in's way: OpenSSL set up, the name resolved in a thread, a socket tried. Nobody listens on port 1. */
static int ask_a_server(const void *arg)
{
    CURL *curl = curl_global_init(CURL_GLOBAL_ALL) == CURLE_OK ? curl_easy_init() : NULL;
    CURLcode r;

    (void)arg;
    if (!curl)
        return 1;
    curl_easy_setopt(curl, CURLOPT_URL, "https://localhost:1/");
    curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
    r = curl_easy_perform(curl);
    curl_easy_cleanup(curl);
    return r == CURLE_COULDNT_CONNECT ? 0 : (int)r;
}

static void a_worker_asks_servers_by_name(void **state)
{
    (void)state;
    assert_int_equal(sealed(SEAL_WORKER, ask_a_server, NULL), 0);
}

static int start_a_program(const void *arg)
{
    pid_t pid = fork();
    int status = -1;

    (void)arg;
    if (pid == 0) {
        execl("/bin/true", "true", (char *)NULL);
        _exit(1);
    }
    return pid < 0 || waitpid(pid, &status, 0) < 0 ? 1 : WEXITSTATUS(status);
}

static void all_but_the_supervisor_start_programs(void **state)
{
    (void)state;
    assert_int_equal(sealed(SEAL_WORKER, start_a_program, NULL), 0);
    assert_int_equal(sealed(SEAL_HOLDER, start_a_program, NULL), 0);
    assert_int_equal(sealed(SEAL_LAUNCHER, start_a_program, NULL), 0);
    assert_int_not_equal(sealed(SEAL_SUPERVISOR, start_a_program, NULL), 0);
}

static void every_row_has_a_reason_and_a_program(void **state)
{
    size_t n, i, j;
    const struct seal_row *rows = seal_rows(&n);

    (void)state;
    for (i = 0; i < n; i++) {
        assert_true(rows[i].rule.reason && *rows[i].rule.reason);
        assert_true(rows[i].programs & LISTED);
        assert_false(rows[i].programs & INHERITED);
        for (j = 0; j < i; j++)
            if (str_eq(rows[i].rule.call, rows[j].rule.call) && rows[i].programs & rows[j].programs)
                assert_true(rows[i].rule.tests[0].kind != SECCOMP_ALWAYS ||
                            rows[j].rule.tests[0].kind != SECCOMP_ALWAYS);
    }
}

static void a_machine_without_memory_gets_an_error(void **state)
{
    (void)state;
    OOM_SWEEP({
        struct buf b;
        struct err err = { 0 };

        buf_init(&b, 1 << 20);
        if (seal_make(&b, SEAL_HOLDER, &err) < 0)
            assert_true(b.len == 0 && err.kind == ERR_INTERNAL);
        buf_release(&b);
    });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_kernel_refuses_what_the_lists_do_not_have),
        cmocka_unit_test(what_is_newer_than_the_lists_is_not_there),
        cmocka_unit_test(everyday_work_and_threads_go_on),
        cmocka_unit_test(a_worker_asks_servers_by_name),
        cmocka_unit_test(all_but_the_supervisor_start_programs),
        cmocka_unit_test(every_row_has_a_reason_and_a_program),
        cmocka_unit_test(a_machine_without_memory_gets_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
