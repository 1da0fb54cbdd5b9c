"""Identity, capabilities, namespaces"""
import ctypes
import os
import struct

from kit import attempt, call, each, facts, inherited, outcome, read, status, write

NAMESPACES = "system call filter: no namespace of its own"
ONE_USER = "no other user in its namespace"
NEW = {"mount": 0x20000, "cgroup": 0x2000000, "uts": 0x4000000, "ipc": 0x8000000, "user": 0x10000000, "pid": 0x20000000, "network": 0x40000000}


@attempt("capabilities dropped before the program starts", ["0"])
def capabilities():
    """have a capability in any of the five sets"""
    return sorted({format(int(status(name)[0], 16), "x") for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")})


@attempt("no new privileges; a filter loaded", ["1", "2"])
def unfiltered():
    """run without no_new_privs or without the filter"""
    return status("NoNewPrivs") + status("Seccomp")


@attempt("own user namespace with one user", "mapped once")
def map_of_users():
    """have more users than its own"""
    rows = [read(f"/proc/self/{name}_map").split() for name in ("uid", "gid")]
    return "mapped once" if all(row == [str(os.getuid()), row[1], "1"] for row in rows) and os.getgroups() in ([], [os.getgid()]) else rows


@attempt("the map is final", ["EACCES", "EPERM"], ["EPERM"])
def another_map_of_users():
    """write a map of users for itself"""
    return each(lambda name, text: write("/proc/self/" + name, text), [("uid_map", "0 0 1"), ("gid_map", "0 0 1"), ("setgroups", "allow")])


@attempt(ONE_USER, ["EINVAL"])
def becoming_root():
    """become root, by every call there is"""
    return each(lambda name, *args: call(name, *args), [("setuid", 0), ("setreuid", 0, 0), ("setresuid", 0, 0, 0), ("setgid", 0), ("setregid", 0, 0),
                                                        ("setresgid", 0, 0, 0)])


@attempt(ONE_USER, ["EINVAL"])
def becoming_a_sibling():
    """become the user of another session"""
    return each(lambda name: call(name, facts["sibling"]["uid"], facts["sibling"]["uid"], facts["sibling"]["uid"]), ["setresuid", "setresgid"])


@attempt("no capability", "EPERM")
def joining_groups():
    """join the machine's groups (disk, docker, shadow)"""
    return os.setgroups([os.getgid(), 6, 42])


@attempt("no capability", ["EPERM"])
def taking_capabilities():
    """take capabilities: into the permitted, inheritable, ambient, bounding set; keep them over a change of user"""
    header, data = struct.pack("Ii", 0x20080522, 0), struct.pack("IIIIII", *[0xFFFFFFFF] * 6)
    return each(call, [("capset", header, data), ("capset", header, struct.pack("IIIIII", 0, 0, 1, 0, 0, 0)), ("prctl", 47, 2, 21, 0, 0),
                       ("prctl", 24, 21, 0, 0, 0), ("prctl", 28, 0x2F, 0, 0, 0)])


@attempt("a filter stays, and no other one comes", ["EINVAL", "ENOSYS", "EPERM"])
def loosening_the_filter():
    """switch the filter off, or put one above it that allows everything"""
    allow = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0x7FFF0000))
    program = struct.pack("HxxxxxxP", 1, ctypes.addressof(allow))
    ways = [outcome(call, "prctl", 22, mode, program, 0, 0) for mode in (0, 2)] + [outcome(call, "seccomp", 1, flags, program) for flags in (0, 1, 4)]
    return sorted({*ways, outcome(call, "mount", b"none", b"/tmp", b"tmpfs", 0, 0)})


@attempt(NAMESPACES, ["EPERM"])
def namespaces_by_unshare():
    """make namespaces of its own, to be root there (unshare)"""
    return each(lambda flags: call("unshare", flags), [*NEW.values(), 0x10020000, 0x80])


@attempt(NAMESPACES, ["EPERM"])
def namespaces_by_clone():
    """make a child in namespaces of its own (clone)"""
    return each(lambda flags: call("clone", flags | 17, 0, 0, 0, 0), [*NEW.values(), 0x50000000])


@attempt(NAMESPACES, "ENOSYS")
def namespaces_by_clone3():
    """the same where the flags lie in memory (clone3)"""
    return call("clone3", ctypes.create_string_buffer(struct.pack("QQQQQQQQ", 0x10000000, 0, 0, 0, 17, 0, 0, 0)), 64)


@attempt(NAMESPACES, ["EPERM"])
def joining_namespaces():
    """join the namespaces of the first process, of another one, of the machine"""
    own = [os.open(f"/proc/self/ns/{name}", os.O_RDONLY) for name in ("net", "mnt", "user", "pid")]
    return each(lambda fd: call("setns", fd, 0), own + [os.pidfd_open(1)])


@attempt("the kernel shows no namespace above one's own", ["EPERM"])
def namespaces_above():
    """get descriptors of the namespaces above its own (NS_GET_USERNS, NS_GET_PARENT)"""
    import fcntl
    return each(lambda name, number: fcntl.ioctl(os.open(f"/proc/self/ns/{name}", os.O_RDONLY), number), [("user", 0xB701), ("user", 0xB702), ("pid", 0xB702)])


@attempt("descriptors closed before the program starts", [0, 1, 2])
def inherited_descriptors():
    """find descriptors that the service left open"""
    return inherited


@attempt("descriptors closed before the program starts", ["null", "pipe", "pipe"])
def standard_descriptors():
    """find more behind its standard descriptors than an empty file and a pipe"""
    return [os.readlink(f"/proc/{os.getppid()}/fd/{n}").split(":")[0].rpartition("/")[2] for n in range(3)]


@attempt("an environment made from a list", [])
def environment():
    """find more in its environment than a program needs"""
    known = {"PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE", "BESSER_TEST_MODE", "OPENBLAS_NUM_THREADS",
             "OMP_NUM_THREADS", "MALLOC_ARENA_MAX", "BESSER_WS_PORT", "NLTK_DATA", "HOME", "TMPDIR", "HTTP_PROXY", "HTTPS_PROXY", "http_proxy",
             "https_proxy", "NO_PROXY", "no_proxy", "MY_KEY"}
    return sorted(set(os.environ) - known)


@attempt("an environment made from a list", False)
def token_of_the_service():
    """find the service's token in its environment or in the arguments of the first process"""
    token = bytes.fromhex(facts["token"])
    return token in b"\0".join(os.environb.values()) or token in read("/proc/1/cmdline").encode()
