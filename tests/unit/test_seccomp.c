/* The filter is judged twice: by an interpreter of its own instructions, against the table, for many calls that nobody
 * wants to run; and by the kernel, in children, row by row, with errnos that no call has. */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "shared/base/mem.h"
#include "shared/seal/seccomp.h"
#include "tests/support/oom.h"

#if defined(__x86_64__)
#define OUR_ARCH AUDIT_ARCH_X86_64
#define OTHER_ARCH AUDIT_ARCH_I386
#elif defined(__aarch64__)
#define OUR_ARCH AUDIT_ARCH_AARCH64
#define OTHER_ARCH AUDIT_ARCH_ARM
#endif

#define MARK 1000 /* errnos from here on are the test's; the kernel lets filters return up to 4095 */

static void make(struct buf *program, const struct seccomp_rule *rules, size_t n)
{
    struct err err = { 0 };

    buf_init(program, 1 << 20);
    if (seccomp_make(program, rules, n, SECCOMP_REST_ALLOWED, &err) < 0)
        fail_msg("%s", err.msg);
}

static void make_real(struct buf *program)
{
    size_t n;
    const struct seccomp_rule *rules = seccomp_rules(&n);

    make(program, rules, n);
}

/* ---- an interpreter for what libseccomp writes ---------------------------------------------------- */

static bool jumps(uint16_t code, uint32_t a, uint32_t k)
{
    switch (BPF_OP(code)) {
    case BPF_JEQ:
        return a == k;
    case BPF_JGT:
        return a > k;
    case BPF_JGE:
        return a >= k;
    default:
        return a & k; /* BPF_JSET */
    }
}

static uint32_t verdict(const struct buf *program, const struct seccomp_data *data)
{
    const struct sock_filter *f = (const struct sock_filter *)(const void *)program->data;
    size_t n = program->len / sizeof(*f), i;
    uint32_t a = 0, m[BPF_MEMWORDS] = { 0 };

    for (i = 0; i < n; i++) {
        switch (f[i].code) {
        case BPF_LD | BPF_W | BPF_ABS:
            memcpy(&a, (const char *)data + f[i].k, sizeof(a));
            break;
        case BPF_ALU | BPF_AND | BPF_K:
            a &= f[i].k;
            break;
        case BPF_ST:
            m[f[i].k] = a;
            break;
        case BPF_LD | BPF_MEM:
            a = m[f[i].k];
            break;
        case BPF_JMP | BPF_JA:
            i += f[i].k;
            break;
        case BPF_RET | BPF_K:
            return f[i].k;
        default:
            if (BPF_CLASS(f[i].code) != BPF_JMP)
                fail_msg("instruction %zu: code 0x%x", i, f[i].code);
            i += jumps(f[i].code, a, f[i].k) ? f[i].jt : f[i].jf;
        }
    }
    fail_msg("the program has no end");
    return 0;
}

/* What the table says, read the simple way. */
static bool test_holds(const struct seccomp_test *t, const struct seccomp_data *d)
{
    uint32_t v = (uint32_t)d->args[t->arg];
    size_t i;

    switch (t->kind) {
    case SECCOMP_IS:
        return (v & t->mask) == t->values[0];
    case SECCOMP_ANY_BIT:
        return v & t->mask;
    case SECCOMP_NOT_IN:
        for (i = 0; i < t->n_values; i++)
            if ((v & t->mask) == t->values[i])
                return false;
        return true;
    default:
        return true;
    }
}

static bool rule_holds(const struct seccomp_rule *r, const struct seccomp_data *d)
{
    size_t i;

    if (seccomp_number(r->call) != d->nr)
        return false;
    for (i = 0; i < SECCOMP_TESTS_MAX; i++)
        if (!test_holds(&r->tests[i], d))
            return false;
    return true;
}

/* Any of the errnos of the rows that hold: where two hold, either is an answer. */
static bool as_the_table_says(const struct seccomp_data *d, uint32_t got)
{
    size_t n, i;
    const struct seccomp_rule *rules = seccomp_rules(&n);
    bool any = false;

    for (i = 0; i < n; i++) {
        if (!rule_holds(&rules[i], d))
            continue;
        any = true;
        if (got == (SECCOMP_RET_ERRNO | (rules[i].errnum == SECCOMP_SKIP ? 0 : (uint32_t)rules[i].errnum)))
            return true;
    }
    return !any && got == SECCOMP_RET_ALLOW;
}

static uint64_t interesting(void)
{
    static const uint32_t words[] = { 0,
                                      1,
                                      2,
                                      3,
                                      5,
                                      6,
                                      9,
                                      10,
                                      11,
                                      16,
                                      17,
                                      38,
                                      40,
                                      58,
                                      255,
                                      262,
                                      0x800 | 1,
                                      0x80000 | 2,
                                      0x80000 | 5,
                                      0x5412,
                                      0x541c,
                                      0x5423,
                                      0x541d,
                                      F_NOTIFY,
                                      0x5401,
                                      CLONE_NEWNS,
                                      CLONE_NEWUSER | 17,
                                      CLONE_VM | CLONE_FS | CLONE_FILES,
                                      0x0040000,
                                      0x20000,
                                      0x7fffffff,
                                      0x80000000,
                                      0xffffffff };
    uint64_t v = words[(size_t)random() % ARRAY_LEN(words)];

    if (random() % 4 == 0)
        v ^= (uint64_t)1 << (random() % 32);
    if (random() % 3 == 0)
        v |= (uint64_t)random() << 32;
    return v;
}

static void the_program_says_what_the_table_says(void **state)
{
    struct buf program;
    unsigned i, a;

    (void)state;
    make_real(&program);
    srandom(1);
    for (i = 0; i < 400000; i++) {
        struct seccomp_data d = { .arch = OUR_ARCH, .nr = (int)(random() % (SECCOMP_NEWEST_CALL + 1)) };
        static const char *const judged[] = { "socket", "socketpair", "clone",        "personality", "ioctl",
                                              "fcntl",  "mmap",       "memfd_create", "prctl" };

        if (i % 2)
            d.nr = seccomp_number(judged[i / 2 % ARRAY_LEN(judged)]);
        for (a = 0; a < 6; a++)
            d.args[a] = interesting();
        if (!as_the_table_says(&d, verdict(&program, &d)))
            fail_msg("call %d (%llx, %llx, %llx): %x", d.nr, d.args[0], d.args[1], d.args[2], verdict(&program, &d));
    }
    buf_release(&program);
}

static void every_family_but_three_is_refused(void **state)
{
    struct buf program;
    uint32_t family;

    (void)state;
    make_real(&program);
    for (family = 0; family < 70000; family++) {
        struct seccomp_data d = { .arch = OUR_ARCH, .nr = (int)SYS_socket, .args = { family, SOCK_STREAM, 0 } };
        bool fine = family == AF_UNIX || family == AF_INET || family == AF_INET6;

        assert_int_equal(verdict(&program, &d), fine ? SECCOMP_RET_ALLOW : (SECCOMP_RET_ERRNO | EAFNOSUPPORT));
    }
    buf_release(&program);
}

static void bits_that_the_kernel_does_not_look_at_hide_nothing(void **state)
{
    static const struct {
        long nr;
        uint64_t args[3];
    } rows[] = {
        { SYS_socket, { 0x100000000 | AF_VSOCK, SOCK_STREAM, 0 } },
        { SYS_socket, { 0xffffffff00000000 | AF_NETLINK, SOCK_RAW, 0 } },
        { SYS_socket, { AF_INET, 0x700000000 | SOCK_RAW, 0 } },
        { SYS_socket, { AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0x100000000 | IPPROTO_SCTP } },
        { SYS_ioctl, { 0, 0x100000000 | TIOCSTI, 0 } },
        { SYS_fcntl, { 0, 0x100000000 | F_NOTIFY, 0 } },
        { SYS_clone, { 0x8000000000000000 | CLONE_NEWUSER, 0, 0 } },
        { SYS_personality, { 0x100000000 | 0x0040000, 0, 0 } },
    };
    struct buf program;
    size_t i;

    (void)state;
    make_real(&program);
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        struct seccomp_data d = { .arch = OUR_ARCH,
                                  .nr = (int)rows[i].nr,
                                  .args = { rows[i].args[0], rows[i].args[1], rows[i].args[2] } };

        if (verdict(&program, &d) == SECCOMP_RET_ALLOW)
            fail_msg("row %zu is let through", i);
    }
    buf_release(&program);
}

static void what_programs_need_is_let_through(void **state)
{
    static const struct {
        const char *call;
        uint64_t args[3];
    } rows[] = {
        { "socket", { AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP } },
        { "socket", { AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, IPPROTO_UDP } },
        { "socket", { AF_UNIX, SOCK_SEQPACKET, 0 } },
        { "socket", { 0x100000000 | AF_INET, SOCK_STREAM, 0 } },
        { "socketpair", { AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0 } },
        { "clone", { CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM, 0, 0 } },
        { "clone", { 17 /* SIGCHLD: fork */, 0, 0 } },
        { "personality", { 0xffffffff, 0, 0 } },
        { "personality", { 0, 0, 0 } },
        { "ioctl", { 1, TCGETS, 0 } },
        { "ioctl", { 1, FIONREAD, 0 } },
        { "execve", { 0 } },
        { "pidfd_open", { 1, 0, 0 } },
        { "prctl", { 0 } },
        { "close_range", { 3, ~0U, 0 } },
        { "openat2", { 0 } },
        { "memfd_create", { 0 } },
        { "set_mempolicy", { 0 } },
        { "eventfd2", { 0 } },
        { "fcntl", { 1, F_DUPFD_CLOEXEC, 3 } },
        { "fcntl", { 1, F_SETLK, 0 } },
        { "setsockopt", { 1, SOL_SOCKET, SO_REUSEADDR } },
        { "setsockopt", { 1, IPPROTO_UDP, 103 /* UDP_SEGMENT */ } },
        { "prctl", { 15 /* PR_SET_NAME */, 0, 0 } },
        { "ioctl", { 1, FIONBIO, 0 } },
        { "setsockopt", { 1, IPPROTO_TCP, 1 /* TCP_NODELAY */ } },
        { "preadv2", { 0 } },
        { "fadvise64", { 0 } },
        { "msync", { 0 } },
        { "landlock_create_ruleset", { 0 } },
        { "set_mempolicy_home_node", { 0 } },
    };
    struct buf program;
    size_t i;

    (void)state;
    make_real(&program);
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        int nr = seccomp_number(rows[i].call);
        struct seccomp_data d = { .arch = OUR_ARCH,
                                  .nr = nr,
                                  .args = { rows[i].args[0], rows[i].args[1], rows[i].args[2] } };

        assert_true(nr >= 0);
        if (verdict(&program, &d) != SECCOMP_RET_ALLOW)
            fail_msg("%s (row %zu) is refused", rows[i].call, i);
    }
    buf_release(&program);
}

static void newer_calls_and_other_abis_are_not_there(void **state)
{
    struct buf program;
    int nr;

    (void)state;
    make_real(&program);
    for (nr = -1; nr < 2000; nr++) {
        struct seccomp_data ours = { .arch = OUR_ARCH, .nr = nr }, other = { .arch = OTHER_ARCH, .nr = nr };
        struct seccomp_data x32 = { .arch = OUR_ARCH, .nr = (int)(0x40000000U + (unsigned)nr) };

        assert_int_equal(verdict(&program, &other), SECCOMP_RET_ERRNO | ENOSYS);
        if (nr < 0 || nr > SECCOMP_NEWEST_CALL)
            assert_int_equal(verdict(&program, &ours), SECCOMP_RET_ERRNO | ENOSYS);
        if (nr >= 0)
            assert_int_equal(verdict(&program, &x32), SECCOMP_RET_ERRNO | ENOSYS);
    }
    buf_release(&program);
}

static void rows_are_complete(void **state)
{
    size_t n, i, known = 0;
    const struct seccomp_rule *rules = seccomp_rules(&n);

    (void)state;
    for (i = 0; i < n; i++) {
        assert_true(rules[i].errnum == SECCOMP_SKIP || (rules[i].errnum > 0 && rules[i].errnum < 4096));
        assert_true(strlen(rules[i].reason) > 10);
        known += seccomp_number(rules[i].call) >= 0;
    }
    assert_true(known > n - 8); /* a misspelt name would be skipped in silence; few are of other machines */
}

/* ---- the kernel ----------------------------------------------------------------------------------- */

static void install(const struct buf *program)
{
    struct sock_fprog p = { .len = (unsigned short)(program->len / sizeof(struct sock_filter)),
                            .filter = (struct sock_filter *)(void *)program->data };

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p) < 0)
        _exit(99);
}

/* Arguments for which the rule's tests hold. */
static void fill(const struct seccomp_rule *r, long *args)
{
    size_t i, j;

    for (i = 0; i < SECCOMP_TESTS_MAX; i++) {
        const struct seccomp_test *t = &r->tests[i];

        if (t->kind == SECCOMP_IS)
            args[t->arg] = t->values[0];
        else if (t->kind == SECCOMP_ANY_BIT)
            args[t->arg] = (long)(t->mask & -t->mask);
        else if (t->kind == SECCOMP_NOT_IN)
            for (args[t->arg] = 4, j = 0; j < t->n_values; j++)
                assert_true(t->values[j] != 4);
    }
}

/* The real table with an errno of its own for each row: a call that the kernel refuses for its own reasons does not
 * look like one that the filter refused. */
static void the_kernel_refuses_every_row(void **state)
{
    size_t n, i;
    const struct seccomp_rule *real = seccomp_rules(&n);
    struct seccomp_rule *rules = calloc(n, sizeof(*rules));
    struct buf program;

    (void)state;
    assert_non_null(rules);
    for (i = 0; i < n; i++) {
        rules[i] = real[i];
        rules[i].errnum = MARK + (int)i;
    }
    make(&program, rules, n);
    for (i = 0; i < n; i++) {
        long args[6] = { 0 }, nr = seccomp_number(real[i].call);
        int status = 0;
        pid_t pid;

        if (nr < 0)
            continue;
        fill(&real[i], args);
        pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
            if (geteuid() == 0 && setresuid(65534, 65534, 65534) < 0)
                _exit(98);
            install(&program);
            errno = 0;
            _exit(syscall(nr, args[0], args[1], args[2], args[3], args[4], args[5]) == -1 && errno >= MARK ? 0 : 1);
        }
        assert_int_equal(waitpid(pid, &status, 0), pid);
        if (status)
            fail_msg("%s (row %zu) is not refused: status %x", real[i].call, i, status);
    }
    free(rules);
    buf_release(&program);
}

static void errnos_are_those_of_the_table(void **state)
{
    struct buf program;
    int status = 0;
    pid_t pid;

    (void)state;
    make_real(&program);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        install(&program);
        if (socket(AF_VSOCK, SOCK_STREAM, 0) != -1 || errno != EAFNOSUPPORT)
            _exit(1);
        if (socket(AF_NETLINK, SOCK_RAW, 0) != -1 || errno != EAFNOSUPPORT)
            _exit(2);
        if (socket(AF_INET, SOCK_RAW, 1) != -1 || (errno != ESOCKTNOSUPPORT && errno != EPROTONOSUPPORT))
            _exit(3);
        if (syscall(SYS_clone3, NULL, 0) != -1 || errno != ENOSYS)
            _exit(4);
        if (unshare(CLONE_NEWUSER) != -1 || errno != EPERM)
            _exit(5);
        if (syscall(SYS_io_uring_setup, 1, NULL) != -1 || errno != ENOSYS)
            _exit(6);
        if (syscall(1000) != -1 || errno != ENOSYS)
            _exit(7);
        if (fsync(-1) != 0 || fdatasync(-1) != 0)
            _exit(9);
        pid = fork(); /* falls back from clone3 where the C library uses it */
        if (pid == 0)
            _exit(0);
        _exit(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0 ? 0 : 8);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    buf_release(&program);
}

#if defined(__x86_64__)
static void the_32_bit_entry_gives_nothing(void **state)
{
    struct buf program;
    int status = 0;
    pid_t pid;

    (void)state;
    make_real(&program);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        long answer = 20; /* getpid of the 32-bit table; in the 64-bit one, writev */

        install(&program);
        __asm__ volatile("int $0x80" : "+a"(answer) : : "memory", "r8", "r9", "r10", "r11");
        _exit(answer == -ENOSYS ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    /* a kernel without the entry ends the child instead */
    assert_true(status == 0 || WIFSIGNALED(status));
    buf_release(&program);
}
#endif

static void the_program_is_small(void **state)
{
    struct buf program;

    (void)state;
    make_real(&program);
    assert_in_range(program.len / sizeof(struct sock_filter), 50, 1500);
    buf_release(&program);
}

static void a_machine_without_memory_gets_an_error(void **state)
{
    size_t n;
    const struct seccomp_rule *rules = seccomp_rules(&n);

    (void)state;
    OOM_SWEEP({
        struct buf b;
        struct err err = { 0 };

        buf_init(&b, 1 << 20);
        if (seccomp_make(&b, rules, 4, SECCOMP_REST_ALLOWED, &err) < 0)
            assert_true(b.len == 0 && err.kind == ERR_INTERNAL);
        buf_release(&b);
    });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_complete),
        cmocka_unit_test(the_program_says_what_the_table_says),
        cmocka_unit_test(every_family_but_three_is_refused),
        cmocka_unit_test(bits_that_the_kernel_does_not_look_at_hide_nothing),
        cmocka_unit_test(what_programs_need_is_let_through),
        cmocka_unit_test(newer_calls_and_other_abis_are_not_there),
        cmocka_unit_test(the_program_is_small),
        cmocka_unit_test(the_kernel_refuses_every_row),
        cmocka_unit_test(errnos_are_those_of_the_table),
#if defined(__x86_64__)
        cmocka_unit_test(the_32_bit_entry_gives_nothing),
#endif
        cmocka_unit_test(a_machine_without_memory_gets_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
