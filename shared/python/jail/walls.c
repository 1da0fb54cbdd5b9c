#include "shared/python/jail/jail.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#define MEMORY_MAX (512u << 20)
#define NOBODY 65534

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1 /* shadow memory needs terabytes of address space and calls of its own */
#else
#define SANITIZED 0
#endif

static int failed(const char *what)
{
    fprintf(stderr, "agentsim-pyparse: %s: %s\n", what, strerror(errno));
    return -1;
}

/* What CPython's allocator, locks and clocks need, without a condition on arguments. */
static const int allowed[] = {
    SCMP_SYS(poll),
    SCMP_SYS(ppoll),
    SCMP_SYS(brk),
    SCMP_SYS(munmap),
    SCMP_SYS(mremap),
    SCMP_SYS(madvise),
    SCMP_SYS(futex),
    SCMP_SYS(exit),
    SCMP_SYS(exit_group),
    SCMP_SYS(rt_sigaction),
    SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(rt_sigreturn),
    SCMP_SYS(restart_syscall),
    SCMP_SYS(clock_gettime),
    SCMP_SYS(gettimeofday),
    SCMP_SYS(getrandom),
};

/* CPython tries these for a better error message and lives without: SyntaxError wants the line from
 * a file of the source's name. Refused, not fatal. */
static const int refused[] = {
    SCMP_SYS(open),   SCMP_SYS(openat), SCMP_SYS(stat),   SCMP_SYS(lstat),    SCMP_SYS(newfstatat),
    SCMP_SYS(statx),  SCMP_SYS(fstat),  SCMP_SYS(access), SCMP_SYS(readlink), SCMP_SYS(readlinkat),
    SCMP_SYS(getcwd), SCMP_SYS(ioctl),  SCMP_SYS(lseek),  SCMP_SYS(close),    SCMP_SYS(fcntl),
};

#if SANITIZED
static const int sanitizer_calls[] = { SCMP_SYS(sigaltstack), SCMP_SYS(sched_yield), SCMP_SYS(getpid),
                                       SCMP_SYS(gettid) };
#endif

static int add_rules(scmp_filter_ctx filter)
{
    const struct scmp_arg_cmp from_0 = SCMP_A0(SCMP_CMP_EQ, STDIN_FILENO, 0);
    const struct scmp_arg_cmp to_1_or_2 = SCMP_A0(SCMP_CMP_GE, STDOUT_FILENO, 0);
    const struct scmp_arg_cmp no_exec = SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0);
    size_t i;
    int r = 0;

    for (i = 0; i < sizeof(allowed) / sizeof(allowed[0]); i++)
        r |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, allowed[i], 0);
    for (i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
        r |= seccomp_rule_add(filter, SCMP_ACT_ERRNO(EACCES), refused[i], 0);
#if SANITIZED
    for (i = 0; i < sizeof(sanitizer_calls) / sizeof(sanitizer_calls[0]); i++)
        r |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, sanitizer_calls[i], 0);
#endif
    r |= seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, SCMP_SYS(read), 1, &from_0);
    r |= seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, SCMP_SYS(write), 1, &to_1_or_2);
    r |= seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1, &no_exec);
    r |= seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1, &no_exec);
    return r;
}

static int filter_calls(void)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_KILL_PROCESS);
    int r;

    if (!filter)
        return failed("seccomp");
    r = add_rules(filter);
    if (r == 0)
        r = seccomp_load(filter);
    seccomp_release(filter);
    errno = -r;
    return r ? failed("seccomp") : 0;
}

static int limit_resources(void)
{
    static const struct {
        int what;
        rlim_t most;
    } rows[] = {
        { RLIMIT_NOFILE, 3 },
        { RLIMIT_NPROC, 0 },
        { RLIMIT_FSIZE, 0 },
        { RLIMIT_CORE, 0 },
        { RLIMIT_MEMLOCK, 0 },
#if !SANITIZED
        { RLIMIT_AS, MEMORY_MAX },
#endif
    };
    size_t i;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct rlimit limit = { rows[i].most, rows[i].most };

        if (setrlimit((__rlimit_resource_t)rows[i].what, &limit) < 0)
            return failed("setrlimit");
    }
    return 0;
}

/* In tests and as root on the command line; a worker's jail has the service's user already. */
static int leave_root(void)
{
    if (geteuid() != 0)
        return 0;
    if (setgroups(0, NULL) < 0 || setresgid(NOBODY, NOBODY, NOBODY) < 0 || setresuid(NOBODY, NOBODY, NOBODY) < 0)
        return failed("leave root");
    return 0;
}

/* Later writes to standard error would be a stranger's words in our log. */
static int silence(void)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    if (null < 0 || dup2(null, STDERR_FILENO) < 0)
        return failed("/dev/null");
    close(null);
    return 0;
}

int walls_raise(void)
{
    if (leave_root() < 0)
        return -1;
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || prctl(PR_SET_DUMPABLE, 0) < 0 ||
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return failed("prctl");
    if (close_range(STDERR_FILENO + 1, ~0u, 0) < 0)
        return failed("close_range");
    if (silence() < 0 || limit_resources() < 0)
        return -1;
    return filter_calls();
}
