"""Files, devices and mounts"""
import ctypes
import os
import stat
import struct

from kit import attempt, call, each, facts, outcome, read, write

MOUNTS = "system call filter: the sandbox's mounts are final"
READ_ONLY = "read-only mounts"
ABSENT = "own mount namespace: only what a program needs"


@attempt(ABSENT, [])
def top_of_the_tree():
    """find more at the top than a program needs: /home, /root, /srv, /mnt, /boot, /sys"""
    return sorted(set(os.listdir("/")) - {"bin", "dev", "etc", "lib", "lib32", "lib64", "libx32", "opt", "proc", "run", "sbin", "tmp", "usr", "var", "work"})


@attempt(ABSENT, ["ENOENT"])
def directories_of_the_machine():
    """list the machine's homes, data, kernel interfaces"""
    return each(os.listdir, ["/root", "/home", "/srv", "/boot", "/mnt", "/media", "/sys", "/sys/fs/cgroup", "/var/lib", "/var/log",
                             "/var/spool", "/lost+found", "/run/systemd", "/run/user", "/etc/ssh", "/etc/ssl/private", "/etc/agentsim"])


@attempt(ABSENT, ["alternatives", "group", "hostname", "hosts", "ld.so.cache", "localtime", "nsswitch.conf", "passwd", "ssl"])
def settings_of_the_machine():
    """find more of /etc than a program needs"""
    return sorted(os.listdir("/etc"))


@attempt(ABSENT, ["ENOENT"])
def passwords_of_the_machine():
    """read password hashes, other users' rights, mounts, scheduled jobs"""
    return each(read, ["/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/fstab", "/etc/crontab", "/etc/machine-id", "/etc/environment"])


@attempt("a made-up file", ["agent", "nobody", "root"])
def users_of_the_machine():
    """learn the names of the machine's users"""
    return sorted(line.split(":")[0] for line in read("/etc/passwd").splitlines())


@attempt(ABSENT, ["ENOENT"])
def directories_of_the_service():
    """list the service's state and runtime directories, the slots, the work directory of a sibling"""
    return each(os.listdir, facts["directories"])


@attempt("removed before the slot is used again", [])
def files_of_an_earlier_session():
    """find files in the work directory that the slot's earlier session left, whose user id it has"""
    return sorted(set(os.listdir("/work")) - set(facts["own_files"]) - {"agent.py", "config.yaml", "facts.json", "tmp", "__pycache__"})


@attempt("own, new temporary file systems", [])
def temporary_files_of_others():
    """find what other and earlier sessions left in /tmp, /var/tmp, /dev/shm, /run"""
    return [name for d in ("/tmp", "/var/tmp", "/dev/shm", "/run", "/work/tmp") for name in os.listdir(d) if name != "agentsim-pid1"]


@attempt(READ_ONLY + "; files of root", ["EACCES", "EROFS"])
def writing_system_files():
    """change programs, libraries, the interpreter, settings"""
    return each(lambda path: os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), [
        "/usr/bin/env", "/usr/lib/x", "/etc/ld.so.cache", "/etc/ssl/certs/x", facts["python"], os.path.dirname(facts["python"]) + "/x",
        "/run/agentsim-pid1"])


@attempt(READ_ONLY, ["EROFS"])
def writing_made_up_files():
    """change the files and directories that were made for it, which belong to it"""
    return each(lambda f, *args: f(*args), [(os.mkdir, d + "/x") for d in ("", "/etc", "/opt", "/var", "/dev")] + [
        (os.chmod, "/etc/passwd", 0o600), (os.unlink, "/etc/hosts"), (os.rename, "/etc", "/x"), (os.symlink, "/tmp", "/home")])


@attempt(READ_ONLY + "; files of root", ["EACCES", "ENOTSUP", "EROFS"])
def changing_system_files():
    """change mode, times, names, owners, links of system files"""
    return each(lambda f, *args: f(*args), [
        (os.chmod, "/usr/bin/env", 0o777), (os.utime, "/usr/bin/env"), (os.unlink, "/usr/bin/env"), (os.rename, "/usr/bin/env", "/usr/bin/x"),
        (os.mkdir, "/usr/x"), (os.symlink, "x", "/etc/x"), (os.chown, "/usr/bin/env", os.getuid(), -1), (os.truncate, "/usr/bin/env", 0),
        (os.setxattr, "/usr/bin/env", "user.x", b"x")])


@attempt("a hard link stays in its mount", ["EXDEV"])
def links_to_system_files():
    """hard link a system file into the work directory"""
    return each(lambda path: os.link(path, "/work/link"), ["/usr/bin/env", "/etc/ld.so.cache", "/proc/1/environ", "/dev/null", "/usr/bin/su"])


@attempt(ABSENT, ["core", "fd", "full", "null", "ptmx", "pts", "random", "shm", "stderr", "stdin", "stdout", "tty", "urandom", "zero"])
def devices():
    """find devices of the machine"""
    return sorted(os.listdir("/dev"))


@attempt(ABSENT, ["ENOENT"])
def memory_and_disks_of_the_machine():
    """open the machine's memory, log, disks, virtual machines, tunnels, consoles"""
    return each(lambda name: os.open("/dev/" + name, os.O_RDONLY), [
        "mem", "kmem", "port", "kmsg", "kvm", "net/tun", "vda", "sda", "loop0", "loop-control", "console", "tty0", "ttyS0", "vsock",
        "vhost-vsock", "btrfs-control", "rfkill", "hpet", "snapshot", "input/event0", "dri/card0"])


@attempt("no capability; mounts without devices", ["EPERM"])
def making_devices():
    """make nodes of devices in the work directory and in /tmp"""
    return each(lambda d, kind, major, minor: os.mknod(d + "/node", kind | 0o666, os.makedev(major, minor)), [
        (d, k, a, b) for d in ("/work", "/tmp", "/dev/shm") for k, a, b in ((stat.S_IFCHR, 1, 1), (stat.S_IFBLK, 254, 0), (stat.S_IFCHR, 10, 232))])


@attempt("set when they were mounted", [])
def mounts_with_powers():
    """find a mount that lets setuid programs or devices through"""
    risky = []
    for line in read("/proc/self/mountinfo", 65536).splitlines():
        where, options = line.split()[4:6]
        if "nosuid" not in options.split(",") or ("nodev" not in options.split(",") and not where.startswith("/dev/")):
            risky.append(where)
    return risky


@attempt("set when they were mounted", ["/dev/full", "/dev/null", "/dev/pts", "/dev/random", "/dev/shm", "/dev/tty", "/dev/urandom", "/dev/zero", "/proc",
                                        "/run", "/tmp", "/var/tmp", "/work"])
def writable_mounts():
    """find a writable mount besides the work directory, temporary files, devices"""
    return sorted(line.split()[4] for line in read("/proc/self/mountinfo", 65536).splitlines() if "rw" in line.split()[5].split(","))


@attempt(MOUNTS, ["EPERM"])
def mounting():
    """mount something, bind something, mount again writable, move, unmount"""
    return each(call, [("mount", b"none", b"/tmp", b"tmpfs", 0, 0), ("mount", b"/usr", b"/tmp", 0, 4096, 0), ("mount", 0, b"/usr", 0, 4096 | 32, 0),
                       ("mount", b"proc", b"/tmp", b"proc", 0, 0), ("mount", b"/", b"/tmp", 0, 8192, 0), ("umount2", b"/proc", 2), ("umount2", b"/dev", 0)])


@attempt(MOUNTS, ["EPERM"])
def mounting_by_the_new_calls():
    """the same by fsopen, open_tree, move_mount, mount_setattr, fspick"""
    return each(call, [("fsopen", b"tmpfs", 0), ("fsconfig", 0, 6, 0, 0, 0), ("fsmount", 0, 0, 0), ("fspick", -100, b"/", 0), ("open_tree", -100, b"/", 1),
                       ("move_mount", -100, b"/usr", -100, b"/tmp", 0), ("mount_setattr", -100, b"/usr", 0, ctypes.create_string_buffer(32), 32)])


@attempt(MOUNTS, ["EPERM"])
def another_root():
    """change the root directory"""
    return each(call, [("pivot_root", b"/tmp", b"/tmp"), ("chroot", b"/tmp")])


@attempt("system call filter: files without a path", ["EPERM"])
def files_by_handle():
    """open a file of the machine by its inode number"""
    return each(call, [("name_to_handle_at", -100, b"/usr", ctypes.create_string_buffer(struct.pack("ii", 128, 0) + bytes(128)), ctypes.byref(ctypes.c_int()), 0),
                       ("open_by_handle_at", os.open("/work", os.O_RDONLY), ctypes.create_string_buffer(struct.pack("ii", 8, 1) + struct.pack("II", 2, 0)), 0)])


@attempt("the root directory has no parent", [True])
def parents_of_the_root():
    """climb out by .. from the work directory and through links of /proc"""
    return each(lambda path: os.path.samefile(path, "/"), ["/work/" + "../" * 50, "/proc/self/root/" + "../" * 50, "/proc/self/cwd/" + "../" * 50])


@attempt("system call filter: no attributes on files", ["ENOTSUP"])
def capabilities_on_files():
    """give a program of one's own capabilities, or marks that only the administrator sets"""
    open("/work/tmp/program", "w").close()
    names = [("security.capability", struct.pack("<IIIII", 0x02000001, 0xFFFFFFFF, 0, 0xFFFFFFFF, 0)), ("trusted.overlay.opaque", b"y")]
    result = each(lambda name, value: os.setxattr("/work/tmp/program", name, value), names)
    os.unlink("/work/tmp/program")
    return result


@attempt("no other user in its namespace", ["EINVAL"])
def files_of_other_users():
    """give files to root or to another session, as setuid programs"""
    open("/work/tmp/gift", "w").close()
    result = each(lambda uid, gid: os.chown("/work/tmp/gift", uid, gid), [(0, -1), (-1, 0), (facts["sibling"]["uid"], -1), (-1, facts["sibling"]["uid"])])
    os.unlink("/work/tmp/gift")
    return result


@attempt("no capability", ["EPERM"], ["ENOTTY"], ["EOPNOTSUPP"])
def files_that_cannot_be_removed():
    """leave files that nobody can change or remove (immutable, append only)"""
    import fcntl
    f = os.open("/work/tmp/stays", os.O_CREAT | os.O_RDWR)
    result = each(lambda flags: fcntl.ioctl(f, 0x40086602, struct.pack("l", flags)), [0x10, 0x20])
    os.unlink("/work/tmp/stays")
    return result


@attempt("only the machine's own user namespace may change it", ["EINVAL"], ["ENOTTY"], ["EOPNOTSUPP"])
def project_of_its_files():
    """leave the disk quota of its work directory by another project id"""
    import fcntl
    outcome(write, "/proc/self/projid_map", "0 0 4294967295")
    f = os.open("/work/tmp/project", os.O_CREAT | os.O_RDWR)
    result = each(lambda flags, project: fcntl.ioctl(f, 0x401C5820, struct.pack("IIIII8x", flags, 0, 0, project, 0)), [(0, 77), (0x200, 0)])
    os.unlink("/work/tmp/project")
    return result


@attempt("system call filter: the machine's administrator", ["EPERM"])
def quotas():
    """read and change disk quotas"""
    return each(call, [("quotactl", 0x800007 << 8, b"/dev/vda", 0, 0), ("quotactl_fd", 0, 0x800007 << 8, 0, 0)])


@attempt("files of the kernel belong to root outside", ["EACCES"])
def settings_of_the_kernel():
    """write sysctls: core handler, module loader, forwarding, address randomness, namespaces, panic"""
    return each(lambda name: os.open("/proc/sys/" + name, os.O_WRONLY), [name for name in (
        "kernel/core_pattern", "kernel/modprobe", "kernel/hostname", "kernel/randomize_va_space", "kernel/panic", "kernel/domainname",
        "net/ipv4/ip_forward", "net/ipv4/ping_group_range", "vm/drop_caches", "vm/overcommit_memory", "fs/protected_symlinks",
        "user/max_user_namespaces") if os.path.exists("/proc/sys/" + name)])


@attempt("files of the kernel belong to root outside", ["EACCES"], ["ENOENT"])
def magic_request():
    """restart or crash the machine through /proc/sysrq-trigger"""
    return each(lambda name: os.open("/proc/" + name, os.O_WRONLY), ["sysrq-trigger"])


@attempt("covered; the kernel's own checks", ["EACCES"])
def kernel_memory_and_symbols():
    """read the kernel's memory, its symbols, its command line, its log, its modules, its allocations"""
    return each(lambda name: read("/proc/" + name, 1), [n for n in (
        "kcore", "kallsyms", "cmdline", "kmsg", "modules", "timer_list", "sched_debug", "latency_stats", "slabinfo", "vmallocinfo", "kpageflags",
        "pagetypeinfo") if n in facts["proc"]])


@attempt("the kernel shows no address without a capability", ["00000000-00000000", "0000-0000"], ["00000000-00000000"])
def addresses_of_devices():
    """read where memory and devices lie, to know where the kernel does"""
    return sorted({line.split(" : ")[0].strip() for name in ("iomem", "ioports") for line in read("/proc/" + name, 65536).splitlines() if " : " in line},
                  key=len, reverse=True)


@attempt("own control group namespace, no file system of it", ["/", "ENOENT"])
def control_groups():
    """see or change its control groups and their release programs"""
    return sorted({line.split(":")[2] for line in read("/proc/self/cgroup").splitlines()}) + [outcome(os.listdir, "/sys/fs/cgroup")]
