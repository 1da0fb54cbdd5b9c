/* The rules: one row, one reason. Order does not matter; the first row of a call that matches decides. */
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "shared/base/mem.h"
#include "supervisor/sandbox/seccomp.h"

#define ALL_BITS 0xffffffffU

/* linux/net.h: the lower bits of a socket's type, above them flags */
#define TYPE_BITS 0xfU

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif
#define NEW_NAMESPACES \
    (CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET)

/* s390 passes the flags second; nothing else we run on does. */
#ifdef __s390__
#define CLONE_FLAGS_ARG 1
#else
#define CLONE_FLAGS_ARG 0
#endif

#define IS(n, value) \
    { \
        .kind = SECCOMP_IS, .arg = (n), .mask = ALL_BITS, .values = { (uint32_t)(value) }, .n_values = 1 \
    }
#define ANY_BIT(n, bits) \
    { \
        .kind = SECCOMP_ANY_BIT, .arg = (n), .mask = (uint32_t)(bits) \
    }
#define NOT_IN(n, bits, count, ...) \
    { \
        .kind = SECCOMP_NOT_IN, .arg = (n), .mask = (bits), .values = { __VA_ARGS__ }, .n_values = (count) \
    }

#define NEVER(name, error, why) \
    { \
        .call = (name), .errnum = (error), .reason = (why) \
    }

static const char mounts[] = "the sandbox's mounts are final";
static const char namespaces[] = "a namespace of its own would give an agent the kernel's root-only surface";
static const char others[] = "other processes' memory and descriptors are theirs, also inside a sandbox";
static const char machine[] = "belongs to the machine's administrator";
static const char keys[] = "keyrings are shared by everything with the same user and outlive sessions";
static const char uring[] = "does file and network work that no filter sees";
static const char handles[] = "opens files without a path, past the sandbox's mounts";
static const char old[] = "old kernel surface that nothing we run needs";
static const char families[] = "only UNIX and IP sockets: the others are not confined by a network namespace "
                               "(vsock, ALG) or are kernel interfaces (netlink, packet, key)";
static const char transports[] = "only TCP and UDP: other transports are rarely used kernel code";
static const char watching[] = "tells when others open the files that all sessions share";
static const char terminal[] = "puts words into a terminal, or loads a line discipline";
static const char sysv[] = "memory that no process owns is outside of every limit on processes";

static const struct seccomp_rule table[] = {
    /* sockets */
    { "socket", EAFNOSUPPORT, families, { NOT_IN(0, ALL_BITS, 3, AF_UNIX, AF_INET, AF_INET6) } },
    { "socketpair", EAFNOSUPPORT, families, { NOT_IN(0, ALL_BITS, 3, AF_UNIX, AF_INET, AF_INET6) } },
    { "socket", ESOCKTNOSUPPORT, transports, { IS(0, AF_INET), NOT_IN(1, TYPE_BITS, 2, SOCK_STREAM, SOCK_DGRAM) } },
    { "socket", ESOCKTNOSUPPORT, transports, { IS(0, AF_INET6), NOT_IN(1, TYPE_BITS, 2, SOCK_STREAM, SOCK_DGRAM) } },
    { "socket", EPROTONOSUPPORT, transports, { IS(0, AF_INET), NOT_IN(2, ALL_BITS, 3, 0, IPPROTO_TCP, IPPROTO_UDP) } },
    { "socket", EPROTONOSUPPORT, transports, { IS(0, AF_INET6), NOT_IN(2, ALL_BITS, 3, 0, IPPROTO_TCP, IPPROTO_UDP) } },

    /* namespaces */
    { "clone", EPERM, namespaces, { ANY_BIT(CLONE_FLAGS_ARG, NEW_NAMESPACES) } },
    NEVER("clone3", ENOSYS, "its flags lie in memory, where no filter sees them; the C library falls back to clone"),
    NEVER("unshare", EPERM, namespaces),
    NEVER("setns", EPERM, namespaces),

    /* mounts */
    NEVER("mount", EPERM, mounts),
    NEVER("umount", EPERM, mounts),
    NEVER("umount2", EPERM, mounts),
    NEVER("pivot_root", EPERM, mounts),
    NEVER("chroot", EPERM, mounts),
    NEVER("open_tree", EPERM, mounts),
    NEVER("move_mount", EPERM, mounts),
    NEVER("fsopen", EPERM, mounts),
    NEVER("fsconfig", EPERM, mounts),
    NEVER("fsmount", EPERM, mounts),
    NEVER("fspick", EPERM, mounts),
    NEVER("mount_setattr", EPERM, mounts),
    NEVER("name_to_handle_at", EPERM, handles),
    NEVER("open_by_handle_at", EPERM, handles),

    /* other users of the same files */
    NEVER("fanotify_init", EPERM, watching),
    NEVER("fanotify_mark", EPERM, watching),
    NEVER("inotify_init", ENOSYS, watching),
    NEVER("inotify_init1", ENOSYS, watching),
    NEVER("inotify_add_watch", ENOSYS, watching),
    { "fcntl", EPERM, watching, { IS(1, F_NOTIFY) } },
    { "fcntl64", EPERM, watching, { IS(1, F_NOTIFY) } },

    /* other processes */
    NEVER("ptrace", EPERM, others),
    NEVER("process_vm_readv", EPERM, others),
    NEVER("process_vm_writev", EPERM, others),
    NEVER("process_madvise", EPERM, others),
    NEVER("process_mrelease", EPERM, others),
    NEVER("pidfd_getfd", EPERM, others),
    NEVER("kcmp", EPERM, "tells addresses of kernel objects apart"),
    NEVER("move_pages", EPERM, others),
    NEVER("migrate_pages", EPERM, others),

    /* kernel interfaces with a long record of faults */
    NEVER("io_uring_setup", ENOSYS, uring),
    NEVER("io_uring_enter", ENOSYS, uring),
    NEVER("io_uring_register", ENOSYS, uring),
    NEVER("io_setup", ENOSYS, old),
    NEVER("userfaultfd", EPERM, "stops the kernel at a moment of an attacker's choice"),
    NEVER("perf_event_open", EPERM, "measures the kernel and its neighbours"),
    NEVER("bpf", EPERM, "programs inside the kernel"),
    NEVER("memfd_secret", ENOSYS, "memory that not even the kernel's own tools may look at"),
    NEVER("add_key", EPERM, keys),
    NEVER("request_key", EPERM, keys),
    NEVER("keyctl", EPERM, keys),
    NEVER("shmget", ENOSYS, sysv),
    NEVER("msgget", ENOSYS, sysv),
    NEVER("semget", ENOSYS, sysv),
    { "personality",
      EPERM,
      "switches off address randomness, or to another ABI",
      { NOT_IN(0, ALL_BITS, 2, 0, ALL_BITS) } },
    NEVER("modify_ldt", ENOSYS, old),
    NEVER("uselib", ENOSYS, old),
    NEVER("sysfs", ENOSYS, old),
    NEVER("_sysctl", ENOSYS, old),
    NEVER("ustat", ENOSYS, old),
    NEVER("lookup_dcookie", EPERM, old),
    NEVER("vhangup", EPERM, terminal),
    { "ioctl", EPERM, terminal, { IS(1, TIOCSTI) } },
    { "ioctl", EPERM, terminal, { IS(1, TIOCLINUX) } },
    { "ioctl", EPERM, terminal, { IS(1, TIOCSETD) } },
    { "ioctl", EPERM, terminal, { IS(1, TIOCCONS) } },

    /* the machine */
    NEVER("kexec_load", EPERM, machine),
    NEVER("kexec_file_load", EPERM, machine),
    NEVER("init_module", EPERM, machine),
    NEVER("finit_module", EPERM, machine),
    NEVER("delete_module", EPERM, machine),
    NEVER("swapon", EPERM, machine),
    NEVER("swapoff", EPERM, machine),
    NEVER("reboot", EPERM, machine),
    NEVER("settimeofday", EPERM, machine),
    NEVER("clock_settime", EPERM, machine),
    NEVER("clock_adjtime", EPERM, machine),
    NEVER("adjtimex", EPERM, machine),
    NEVER("sethostname", EPERM, machine),
    NEVER("setdomainname", EPERM, machine),
    NEVER("quotactl", EPERM, machine),
    NEVER("quotactl_fd", EPERM, machine),
    NEVER("acct", EPERM, machine),
    NEVER("syslog", EPERM, machine),
    NEVER("iopl", EPERM, machine),
    NEVER("ioperm", EPERM, machine),
};

const struct seccomp_rule *seccomp_rules(size_t *ret_n)
{
    *ret_n = ARRAY_LEN(table);
    return table;
}
