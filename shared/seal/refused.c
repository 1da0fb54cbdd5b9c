/* What agents do not get: one row, one reason. Order does not matter; the first row of a call that matches decides.
 * Filters are inherited, so what is above an agent is refused no more than bubblewrap needs to build the sandbox. */
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <linux/fs.h>
#include <linux/if_vlan.h>
#include <linux/prctl.h>
#include <linux/sockios.h>
#include <linux/udp.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "shared/base/mem.h"
#include "shared/seal/seccomp.h"

#define ALL_BITS 0xffffffffU

/* linux/net.h: the lower bits of a socket's type, above them flags */
#define TYPE_BITS 0xfU

#ifndef PR_SCHED_CORE
#define PR_SCHED_CORE 62
#endif

/* of Linux 6.7: newer than Debian 12's headers */
#ifndef TCP_AO_ADD_KEY
#define TCP_AO_ADD_KEY 38
#endif

#define FLOWLABEL_MGR 32 /* linux/in6.h, which does not go together with netinet/in.h */

#ifndef MFD_HUGETLB
#define MFD_HUGETLB 4U
#endif

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
/* to nobody: neither to agents nor to what is above them */
#define NOBODY(name, error, why) \
    { \
        .call = (name), .errnum = (error), .reason = (why), .wide = true \
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
static const char programs[] = "programs inside the kernel";
static const char filters[] = "each filter takes of the memory for compiled programs that the whole machine shares";
static const char modules[] = "loads kernel modules (bridge, VLAN) before it asks for a capability";
static const char cached[] = "tells which pages of shared files others have read, or drops them";
static const char writes[] = "makes the whole machine write, and others wait";
static const char flushes[] = "empties the disk's cache each time, also for files that are only read; "
                              "a session's own files end with it";
static const char huge[] = "the machine's reserve of huge pages, which no limit on memory counts";
static const char signed_tcp[] = "keys for TCP: rarely used kernel code, which loads modules by name";
static const char groups[] = "multicast groups: kernel memory that no limit counts, searched under one lock of the "
                             "machine's whole network";
static const char attributes[] = "lists of rights lie in kernel memory that no limit counts, 64 KiB per file";
static const char open_locks[] = "locks that outlive a process, or have none, could not be counted against a session";
static const char terminal[] = "puts words into a terminal, or loads a line discipline";
static const char sysv[] = "memory that no process owns is outside of every limit on processes";

#define JOINING(level, option) \
    { \
        .call = "setsockopt", .errnum = ENODEV, .reason = groups, .tests = { IS(1, level), IS(2, option) } \
    }

static const struct seccomp_rule table[] = {
    /* sockets */
    { "socket", EAFNOSUPPORT, families, { NOT_IN(0, ALL_BITS, 3, AF_UNIX, AF_INET, AF_INET6) }, false },
    { "socketpair", EAFNOSUPPORT, families, { NOT_IN(0, ALL_BITS, 3, AF_UNIX, AF_INET, AF_INET6) }, false },
    { "socket",
      ESOCKTNOSUPPORT,
      transports,
      { IS(0, AF_INET), NOT_IN(1, TYPE_BITS, 2, SOCK_STREAM, SOCK_DGRAM) },
      false },
    { "socket",
      ESOCKTNOSUPPORT,
      transports,
      { IS(0, AF_INET6), NOT_IN(1, TYPE_BITS, 2, SOCK_STREAM, SOCK_DGRAM) },
      false },
    { "socket",
      EPROTONOSUPPORT,
      transports,
      { IS(0, AF_INET), NOT_IN(2, ALL_BITS, 3, 0, IPPROTO_TCP, IPPROTO_UDP) },
      false },
    { "socket",
      EPROTONOSUPPORT,
      transports,
      { IS(0, AF_INET6), NOT_IN(2, ALL_BITS, 3, 0, IPPROTO_TCP, IPPROTO_UDP) },
      false },

    { "setsockopt", EPERM, programs, { IS(1, SOL_SOCKET), IS(2, SO_ATTACH_FILTER) }, false },
    { "setsockopt", EPERM, programs, { IS(1, SOL_SOCKET), IS(2, SO_ATTACH_BPF) }, false },
    { "setsockopt", EPERM, programs, { IS(1, SOL_SOCKET), IS(2, SO_ATTACH_REUSEPORT_CBPF) }, false },
    { "setsockopt", EPERM, programs, { IS(1, SOL_SOCKET), IS(2, SO_ATTACH_REUSEPORT_EBPF) }, false },
    { "setsockopt",
      ENOPROTOOPT,
      "protocols above TCP (TLS in the kernel): rarely used kernel code",
      { IS(1, IPPROTO_TCP), IS(2, TCP_ULP) },
      false },

    JOINING(IPPROTO_IP, IP_ADD_MEMBERSHIP),
    JOINING(IPPROTO_IP, IP_ADD_SOURCE_MEMBERSHIP),
    JOINING(IPPROTO_IP, MCAST_JOIN_GROUP),
    JOINING(IPPROTO_IP, MCAST_JOIN_SOURCE_GROUP),
    JOINING(IPPROTO_IPV6, IPV6_JOIN_GROUP),
    JOINING(IPPROTO_IPV6, MCAST_JOIN_GROUP),
    JOINING(IPPROTO_IPV6, MCAST_JOIN_SOURCE_GROUP),
    { "setsockopt",
      ENOPROTOOPT,
      "labels of flows: the machine has 4096 for everybody",
      { IS(1, IPPROTO_IPV6), IS(2, FLOWLABEL_MGR) },
      false },
    { "setsockopt", ENOPROTOOPT, signed_tcp, { IS(1, IPPROTO_TCP), IS(2, TCP_MD5SIG) }, false },
    { "setsockopt", ENOPROTOOPT, signed_tcp, { IS(1, IPPROTO_TCP), IS(2, TCP_MD5SIG_EXT) }, false },
    { "setsockopt", ENOPROTOOPT, signed_tcp, { IS(1, IPPROTO_TCP), IS(2, TCP_AO_ADD_KEY) }, false },

    { "setsockopt",
      ENOPROTOOPT,
      "IPsec and tunnels in datagrams: rarely used kernel code",
      { IS(1, IPPROTO_UDP), IS(2, UDP_ENCAP) },
      false },
    { "ioctl", EPERM, modules, { IS(1, SIOCGIFBR) }, false },
    { "ioctl", EPERM, modules, { IS(1, SIOCSIFBR) }, false },
    { "ioctl", EPERM, modules, { IS(1, SIOCBRADDBR) }, false },
    { "ioctl", EPERM, modules, { IS(1, SIOCBRDELBR) }, false },
    { "ioctl", EPERM, modules, { IS(1, SIOCGIFVLAN) }, false },
    { "ioctl", EPERM, modules, { IS(1, SIOCSIFVLAN) }, false },

    /* namespaces */
    { "clone", EPERM, namespaces, { ANY_BIT(CLONE_FLAGS_ARG, NEW_NAMESPACES) }, false },
    { "clone",
      EPERM,
      open_locks,
      { { .kind = SECCOMP_IS,
          .arg = CLONE_FLAGS_ARG,
          .mask = CLONE_FILES | CLONE_THREAD,
          .values = { CLONE_FILES },
          .n_values = 1 } },
      false },
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
    NOBODY("name_to_handle_at", EPERM, handles),
    NOBODY("open_by_handle_at", EPERM, handles),

    { "prctl", EINVAL, "keeps others off the processor cores that an agent runs on", { IS(0, PR_SCHED_CORE) }, false },

    /* other users of the same files */
    NOBODY("fanotify_init", EPERM, watching),
    NOBODY("fanotify_mark", EPERM, watching),
    NEVER("inotify_init", ENOSYS, watching),
    NEVER("inotify_init1", ENOSYS, watching),
    NEVER("inotify_add_watch", ENOSYS, watching),
    { "fcntl", EPERM, watching, { IS(1, F_NOTIFY) }, true },
    { "fcntl64", EPERM, watching, { IS(1, F_NOTIFY) }, true },

    { "preadv2", EOPNOTSUPP, cached, { ANY_BIT(5, RWF_NOWAIT) }, false },
    { "fadvise64", EPERM, cached, { IS(3, POSIX_FADV_DONTNEED) }, false },
    NEVER("sync", ENOSYS, writes),
    NEVER("syncfs", EPERM, writes),
    NEVER("fsync", SECCOMP_SKIP, flushes),
    NEVER("fdatasync", SECCOMP_SKIP, flushes),
    { "fcntl", EINVAL, open_locks, { IS(1, F_OFD_SETLK) }, false },
    { "fcntl", EINVAL, open_locks, { IS(1, F_OFD_SETLKW) }, false },
    NEVER("setxattr", EOPNOTSUPP, attributes),
    NEVER("lsetxattr", EOPNOTSUPP, attributes),
    NEVER("fsetxattr", EOPNOTSUPP, attributes),
    NEVER("mbind", ENOSYS, "policies of single pages lie in kernel memory that no limit counts"),
    { "mmap", ENOMEM, huge, { ANY_BIT(3, MAP_HUGETLB) }, false },
    { "memfd_create", EINVAL, huge, { ANY_BIT(1, MFD_HUGETLB) }, false },

    /* other processes */
    NOBODY("ptrace", EPERM, others),
    NOBODY("process_vm_readv", EPERM, others),
    NOBODY("process_vm_writev", EPERM, others),
    NOBODY("process_madvise", EPERM, others),
    NEVER("process_mrelease", EPERM, others),
    NOBODY("pidfd_getfd", EPERM, others),
    NOBODY("kcmp", EPERM, "tells addresses of kernel objects apart"),
    NOBODY("move_pages", EPERM, others),
    NOBODY("migrate_pages", EPERM, others),

    /* kernel interfaces with a long record of faults */
    NOBODY("io_uring_setup", ENOSYS, uring),
    NOBODY("io_uring_enter", ENOSYS, uring),
    NOBODY("io_uring_register", ENOSYS, uring),
    NEVER("io_setup", ENOSYS, old),
    NOBODY("userfaultfd", EPERM, "stops the kernel at a moment of an attacker's choice"),
    NOBODY("perf_event_open", EPERM, "measures the kernel and its neighbours"),
    NOBODY("bpf", EPERM, programs),
    NEVER("seccomp", ENOSYS, filters),
    { "prctl", EINVAL, filters, { IS(0, PR_SET_SECCOMP) }, false },
    NOBODY("memfd_secret", ENOSYS, "memory that not even the kernel's own tools may look at"),
    NOBODY("add_key", EPERM, keys),
    NOBODY("request_key", EPERM, keys),
    NOBODY("keyctl", EPERM, keys),
    NOBODY("shmget", ENOSYS, sysv),
    NOBODY("msgget", ENOSYS, sysv),
    NOBODY("semget", ENOSYS, sysv),
    { "personality",
      EPERM,
      "switches off address randomness, or to another ABI",
      { NOT_IN(0, ALL_BITS, 2, 0, ALL_BITS) },
      true },
    NOBODY("modify_ldt", ENOSYS, old),
    NOBODY("uselib", ENOSYS, old),
    NOBODY("sysfs", ENOSYS, old),
    NOBODY("_sysctl", ENOSYS, old),
    NOBODY("ustat", ENOSYS, old),
    NOBODY("lookup_dcookie", EPERM, old),
    NOBODY("vhangup", EPERM, terminal),
    { "ioctl", EPERM, terminal, { IS(1, TIOCSTI) }, true },
    { "ioctl", EPERM, terminal, { IS(1, TIOCLINUX) }, true },
    { "ioctl", EPERM, terminal, { IS(1, TIOCSETD) }, true },
    { "ioctl", EPERM, terminal, { IS(1, TIOCCONS) }, true },

    /* the machine */
    NOBODY("kexec_load", EPERM, machine),
    NOBODY("kexec_file_load", EPERM, machine),
    NOBODY("init_module", EPERM, machine),
    NOBODY("finit_module", EPERM, machine),
    NOBODY("delete_module", EPERM, machine),
    NOBODY("swapon", EPERM, machine),
    NOBODY("swapoff", EPERM, machine),
    NOBODY("reboot", EPERM, machine),
    NOBODY("settimeofday", EPERM, machine),
    NOBODY("clock_settime", EPERM, machine),
    NOBODY("clock_adjtime", EPERM, machine),
    NOBODY("adjtimex", EPERM, machine),
    NEVER("sethostname", EPERM, machine),
    NOBODY("setdomainname", EPERM, machine),
    NOBODY("quotactl", EPERM, machine),
    NOBODY("quotactl_fd", EPERM, machine),
    NOBODY("acct", EPERM, machine),
    NOBODY("syslog", EPERM, machine),
    NOBODY("iopl", EPERM, machine),
    NOBODY("ioperm", EPERM, machine),
};

const struct seccomp_rule *seccomp_rules(size_t *ret_n)
{
    *ret_n = ARRAY_LEN(table);
    return table;
}
