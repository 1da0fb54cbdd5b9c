/* What supervisor and workers may: one row, one reason. Both serve in one process and start no program but the parser's
 * jail, which a worker starts. Names that this machine lacks (old calls on new architectures) are skipped. */
#include <errno.h>
#include <linux/sched.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "shared/base/mem.h"
#include "shared/seal/seal.h"

#define ALL_BITS 0xffffffffU
#define BOTH (SEAL_SUPERVISOR | SEAL_WORKER)
#define WORKER SEAL_WORKER

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif
#define NEW_NAMESPACES \
    (CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET)

#define ROW(who, name, why) \
    { \
        { .call = (name), .reason = (why) }, (who) \
    }
/* let through where (argument n & bits) is value */
#define WHERE(who, name, n, bits, value, why) \
    { \
        { .call = (name), \
          .reason = (why), \
          .tests = { { .kind = SECCOMP_IS, \
                       .arg = (n), \
                       .mask = (uint32_t)(bits), \
                       .values = { (uint32_t)(value) }, \
                       .n_values = 1 } } }, \
            (who) \
    }

static const char memory[] = "the C library's allocator and stacks";
static const char locks[] = "locks and threads of the C library and of libraries that resolve names";
static const char self[] = "what it is: the C library, logs, libraries ask";
static const char timing[] = "clocks, timers, deadlines";
static const char signals[] = "handlers, masks, an abort with its own words";
static const char bytes[] = "files, pipes and sockets that are open";
static const char handles[] = "descriptors made, copied, marked, closed";
static const char looking[] = "files looked at: settings, certificates, name servers, time zones, sockets' places";
static const char keeping[] = "files kept in the state directory, which modes and users bound";
static const char loops[] = "the event loop, waiting for descriptors";
static const char peers[] = "sockets of nginx, of each other, of holders";
static const char names[] = "GitHub, and the name servers on the way to it";
static const char jail[] = "the Python parser, a program of its own that builds its jail";
static const char terminal[] = "whether a descriptor is a terminal, how much it holds, non-blocking";

static const struct seal_row table[] = {
    /* memory. The supervisor maps nothing executable once it runs; a worker starts the parser, whose loader does, and
     * loads the C library's modules for names. */
    ROW(BOTH, "brk", memory),
    WHERE(SEAL_SUPERVISOR, "mmap", 2, PROT_EXEC, 0, memory),
    WHERE(SEAL_SUPERVISOR, "mprotect", 2, PROT_EXEC, 0, memory),
    ROW(WORKER, "mmap", memory),
    ROW(WORKER, "mprotect", memory),
    ROW(BOTH, "munmap", memory),
    ROW(BOTH, "mremap", memory),
    ROW(BOTH, "madvise", memory),
    ROW(BOTH, "mlock", "keys and credentials kept out of swap"),
    ROW(BOTH, "munlock", "keys and credentials kept out of swap"),
    ROW(BOTH, "mincore", memory),
    ROW(BOTH, "membarrier", locks),
    ROW(BOTH, "futex", locks),
    ROW(BOTH, "set_robust_list", locks),
    ROW(BOTH, "get_robust_list", locks),
    ROW(BOTH, "rseq", locks),
    ROW(BOTH, "set_tid_address", locks),
    ROW(BOTH, "sched_yield", locks),
    ROW(BOTH, "sched_getaffinity", locks),
    ROW(BOTH, "sched_getparam", locks),
    ROW(BOTH, "sched_getscheduler", locks),
    ROW(BOTH, "arch_prctl", locks),

    /* itself */
    ROW(BOTH, "getpid", self),
    ROW(BOTH, "getppid", self),
    ROW(BOTH, "gettid", self),
    ROW(BOTH, "getuid", self),
    ROW(BOTH, "geteuid", self),
    ROW(BOTH, "getgid", self),
    ROW(BOTH, "getegid", self),
    ROW(BOTH, "getresuid", self),
    ROW(BOTH, "getresgid", self),
    ROW(BOTH, "getgroups", self),
    ROW(BOTH, "getpgrp", self),
    ROW(BOTH, "getpgid", self),
    ROW(BOTH, "getsid", self),
    ROW(BOTH, "getcpu", self),
    ROW(BOTH, "uname", self),
    ROW(BOTH, "sysinfo", self),
    ROW(BOTH, "getrandom", self),
    ROW(BOTH, "getrusage", self),
    ROW(BOTH, "getrlimit", self),
    ROW(BOTH, "setrlimit", "lower limits: no core file, the parser's jail"),
    ROW(BOTH, "prlimit64", "lower limits: no core file, the parser's jail"),
    ROW(BOTH, "prctl", "not to be looked into, names of threads, the parser's jail"),
    ROW(BOTH, "umask", keeping),

    /* time */
    ROW(BOTH, "clock_gettime", timing),
    ROW(BOTH, "clock_getres", timing),
    ROW(BOTH, "clock_nanosleep", timing),
    ROW(BOTH, "nanosleep", timing),
    ROW(BOTH, "gettimeofday", timing),
    ROW(BOTH, "time", timing),
    ROW(BOTH, "times", timing),
    ROW(BOTH, "alarm", timing),
    ROW(BOTH, "setitimer", timing),
    ROW(BOTH, "getitimer", timing),
    ROW(BOTH, "timerfd_create", timing),
    ROW(BOTH, "timerfd_settime", timing),
    ROW(BOTH, "timerfd_gettime", timing),
    ROW(BOTH, "restart_syscall", timing),

    /* signals */
    ROW(BOTH, "rt_sigaction", signals),
    ROW(BOTH, "rt_sigprocmask", signals),
    ROW(BOTH, "rt_sigreturn", signals),
    ROW(BOTH, "rt_sigpending", signals),
    ROW(BOTH, "rt_sigsuspend", signals),
    ROW(BOTH, "rt_sigtimedwait", signals),
    ROW(BOTH, "sigreturn", signals),
    ROW(BOTH, "sigaltstack", signals),
    ROW(BOTH, "signalfd4", signals),
    ROW(BOTH, "pause", signals),
    ROW(BOTH, "tgkill", signals),
    ROW(BOTH, "kill", "its own user's processes only: the parser"),

    /* what is open */
    ROW(BOTH, "read", bytes),
    ROW(BOTH, "write", bytes),
    ROW(BOTH, "readv", bytes),
    ROW(BOTH, "writev", bytes),
    ROW(BOTH, "pread64", bytes),
    ROW(BOTH, "pwrite64", bytes),
    ROW(BOTH, "preadv", bytes),
    ROW(BOTH, "pwritev", bytes),
    ROW(BOTH, "lseek", bytes),
    ROW(BOTH, "_llseek", bytes),
    ROW(BOTH, "sendfile", bytes),
    ROW(BOTH, "close", handles),
    ROW(BOTH, "close_range", handles),
    ROW(BOTH, "dup", handles),
    ROW(BOTH, "dup2", handles),
    ROW(BOTH, "dup3", handles),
    ROW(BOTH, "pipe", handles),
    ROW(BOTH, "pipe2", handles),
    ROW(BOTH, "fcntl", handles),
    ROW(BOTH, "fcntl64", handles),
    ROW(BOTH, "memfd_create", handles),
    WHERE(BOTH, "ioctl", 1, ALL_BITS, TCGETS, terminal),
    WHERE(BOTH, "ioctl", 1, ALL_BITS, TIOCGWINSZ, terminal),
    WHERE(BOTH, "ioctl", 1, ALL_BITS, FIONREAD, terminal),
    WHERE(BOTH, "ioctl", 1, ALL_BITS, FIONBIO, terminal),
    WHERE(BOTH, "ioctl", 1, ALL_BITS, FIOCLEX, terminal),
    WHERE(BOTH, "ioctl", 1, ALL_BITS, FIONCLEX, terminal),
    WHERE(BOTH, "ioctl", 1, ALL_BITS, SIOCGIFINDEX, names),
    WHERE(BOTH, "ioctl", 1, ALL_BITS, SIOCGIFNAME, names),

    /* files */
    ROW(BOTH, "open", looking),
    ROW(BOTH, "openat", looking),
    ROW(BOTH, "openat2", looking),
    ROW(BOTH, "stat", looking),
    ROW(BOTH, "lstat", looking),
    ROW(BOTH, "fstat", looking),
    ROW(BOTH, "newfstatat", looking),
    ROW(BOTH, "statx", looking),
    ROW(BOTH, "statfs", looking),
    ROW(BOTH, "fstatfs", looking),
    ROW(BOTH, "access", looking),
    ROW(BOTH, "faccessat", looking),
    ROW(BOTH, "faccessat2", looking),
    ROW(BOTH, "readlink", looking),
    ROW(BOTH, "readlinkat", looking),
    ROW(BOTH, "getcwd", looking),
    ROW(BOTH, "chdir", looking),
    ROW(BOTH, "getdents64", looking),
    ROW(BOTH, "fadvise64", looking),
    ROW(BOTH, "mkdir", keeping),
    ROW(BOTH, "mkdirat", keeping),
    ROW(BOTH, "rmdir", keeping),
    ROW(BOTH, "unlink", keeping),
    ROW(BOTH, "unlinkat", keeping),
    ROW(BOTH, "rename", keeping),
    ROW(BOTH, "renameat", keeping),
    ROW(BOTH, "renameat2", keeping),
    ROW(BOTH, "link", keeping),
    ROW(BOTH, "linkat", keeping),
    ROW(BOTH, "chmod", keeping),
    ROW(BOTH, "fchmod", keeping),
    ROW(BOTH, "fchmodat", keeping),
    ROW(BOTH, "chown", keeping),
    ROW(BOTH, "fchown", keeping),
    ROW(BOTH, "fchownat", keeping),
    ROW(BOTH, "ftruncate", keeping),
    ROW(BOTH, "fallocate", keeping),
    ROW(BOTH, "fsync", keeping),
    ROW(BOTH, "fdatasync", keeping),
    ROW(BOTH, "flock", keeping),
    ROW(BOTH, "utimensat", keeping),

    /* waiting */
    ROW(BOTH, "poll", loops),
    ROW(BOTH, "ppoll", loops),
    ROW(BOTH, "select", loops),
    ROW(BOTH, "pselect6", loops),
    ROW(BOTH, "epoll_create1", loops),
    ROW(BOTH, "epoll_ctl", loops),
    ROW(BOTH, "epoll_wait", loops),
    ROW(BOTH, "epoll_pwait", loops),
    ROW(BOTH, "epoll_pwait2", loops),
    ROW(BOTH, "eventfd2", loops),

    /* sockets. The supervisor speaks to nobody outside of the machine. */
    WHERE(BOTH, "socket", 0, ALL_BITS, AF_UNIX, peers),
    WHERE(WORKER, "socket", 0, ALL_BITS, AF_INET, names),
    WHERE(WORKER, "socket", 0, ALL_BITS, AF_INET6, names),
    { { .call = "socket",
        .reason = "the name servers' library asks for the machine's addresses",
        .tests = { { .kind = SECCOMP_IS, .arg = 0, .mask = ALL_BITS, .values = { AF_NETLINK }, .n_values = 1 },
                   { .kind = SECCOMP_IS, .arg = 2, .mask = ALL_BITS, .values = { 0 }, .n_values = 1 } } },
      WORKER },
    WHERE(BOTH, "socketpair", 0, ALL_BITS, AF_UNIX, peers),
    ROW(BOTH, "connect", peers),
    ROW(BOTH, "accept", peers),
    ROW(BOTH, "accept4", peers),
    ROW(BOTH, "bind", peers),
    ROW(BOTH, "listen", peers),
    ROW(BOTH, "getsockname", peers),
    ROW(BOTH, "getpeername", peers),
    ROW(BOTH, "getsockopt", peers),
    ROW(BOTH, "setsockopt", peers),
    ROW(BOTH, "sendto", peers),
    ROW(BOTH, "sendmsg", peers),
    ROW(BOTH, "sendmmsg", names),
    ROW(BOTH, "recvfrom", peers),
    ROW(BOTH, "recvmsg", peers),
    ROW(BOTH, "recvmmsg", names),
    ROW(BOTH, "shutdown", peers),

    /* processes */
    ROW(BOTH, "exit", self),
    ROW(BOTH, "exit_group", self),
    WHERE(BOTH, "clone", 0, NEW_NAMESPACES, 0, locks),
    { { .call = "clone3", .errnum = ENOSYS, .reason = "its flags lie in memory; the C library falls back to clone" },
      BOTH },
    ROW(WORKER, "fork", jail),
    ROW(WORKER, "vfork", jail),
    ROW(WORKER, "execve", jail),
    ROW(WORKER, "wait4", jail),
    ROW(WORKER, "waitid", jail),
    ROW(WORKER, "pidfd_open", jail),
    ROW(WORKER, "pidfd_send_signal", jail),
    ROW(WORKER, "seccomp", jail),
    ROW(WORKER, "setsid", jail),
    ROW(WORKER, "setpgid", jail),
    ROW(WORKER, "setgroups", jail),
    ROW(WORKER, "setresuid", jail),
    ROW(WORKER, "setresgid", jail),

#if SEAL_SANITIZED
    /* The leak checker stops its own process and looks into it; executable memory is the sanitizers' affair. */
    ROW(SEAL_SUPERVISOR, "mmap", "sanitizers"),
    ROW(SEAL_SUPERVISOR, "mprotect", "sanitizers"),
    ROW(BOTH, "ptrace", "sanitizers"),
    ROW(BOTH, "process_vm_readv", "sanitizers"),
    ROW(SEAL_SUPERVISOR, "wait4", "sanitizers"),
    ROW(SEAL_SUPERVISOR, "fork", "sanitizers"),
    ROW(BOTH, "personality", "sanitizers"),
    ROW(BOTH, "getdents", "sanitizers"), /* by the number of old kernels */
#endif
};

const struct seal_row *seal_rows(size_t *ret_n)
{
    *ret_n = ARRAY_LEN(table);
    return table;
}
