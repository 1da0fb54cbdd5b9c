"""Memory, messages, kernel objects"""
import ctypes
import mmap
import os
import struct

from kit import attempt, call, each, facts, outcome, read

FILTER = "system call filter"
OWN_IPC = "own IPC namespace"


@attempt(FILTER + ": keyrings outlive sessions and belong to a user id", ["EPERM"])
def keyrings():
    """keep something in, or read from, the keyrings of its user id, where an earlier session may have left it"""
    return each(call, [("add_key", b"user", b"left", b"here", 4, -4), ("request_key", b"user", b"left", 0, -4), ("keyctl", 0, -4, 1),
                       ("keyctl", 1, 0), ("keyctl", 6, -3), ("keyctl", 11, -5, 0, 0)])


@attempt("covered", ["EACCES"])
def lists_of_keys():
    """see which keys there are"""
    return each(read, ["/proc/keys", "/proc/key-users"])


@attempt(FILTER, ["ENOSYS"])
def system_v_objects():
    """shared memory, queues and semaphores that no process owns"""
    return each(call, [("shmget", 1234, 4096, 0o1666), ("msgget", 1234, 0o1666), ("semget", 1234, 1, 0o1666)])


@attempt(OWN_IPC, [1, 1, 1])
def system_v_objects_of_others():
    """see the machine's shared memory, queues and semaphores"""
    return [len(read(f"/proc/sysvipc/{name}").splitlines()) for name in ("shm", "msg", "sem")]


@attempt("own mount namespace", ["ENOENT"])
def shared_memory_of_a_sibling():
    """open another session's POSIX shared memory and semaphores"""
    return each(lambda name: os.open("/dev/shm/" + name, os.O_RDONLY), ["sibling", "sem.sibling"])


@attempt(OWN_IPC, "ENOENT")
def message_queue_of_a_sibling():
    """open another session's POSIX message queue"""
    return call("mq_open", b"sibling", os.O_RDONLY, 0, 0)


@attempt(FILTER + ": files shared by sessions tell who opens them", ["ENOSYS"])
def watching_shared_files():
    """watch the interpreter's files, to see what other sessions import (inotify)"""
    return each(call, [("inotify_init1", 0), *([("inotify_init",)] if facts["calls"]["inotify_init"] > 0 else []),
                       ("inotify_add_watch", 0, b"/usr/bin", 0x20)])


@attempt(FILTER, "EPERM")
def watching_shared_directories():
    """the same by the older notification of directories (F_NOTIFY)"""
    import fcntl
    return fcntl.fcntl(os.open("/usr/bin", os.O_RDONLY), 1026, 0x1)


@attempt(FILTER, ["EPERM"])
def watching_mounts():
    """the same for whole mounts (fanotify)"""
    return each(call, [("fanotify_init", 0, 0), ("fanotify_init", 0x200, 0), ("fanotify_mark", 0, 0x10, 0x20, -100, b"/usr")])


@attempt("a lease needs the file's owner", ["EACCES"])
def leases_on_shared_files():
    """make everybody who opens a shared file wait (lease)"""
    import fcntl
    return each(lambda path: fcntl.fcntl(os.open(path, os.O_RDONLY), fcntl.F_SETLEASE, fcntl.F_RDLCK), ["/usr/bin/env", "/etc/ld.so.cache"])


@attempt("a write lock needs a file opened for writing", ["EBADF"])
def write_locks_on_shared_files():
    """lock a shared file for writing, so that others wait (fcntl)"""
    import fcntl
    return each(lambda path: fcntl.lockf(os.open(path, os.O_RDONLY), fcntl.LOCK_EX | fcntl.LOCK_NB), ["/usr/bin/env", "/etc/ld.so.cache"])


@attempt("locks are seen by PID namespace", "")
def locks_of_others():
    """see who holds locks on which files"""
    return read("/proc/locks")


@attempt(FILTER + ": file and network work that no filter sees", ["ENOSYS"])
def io_uring():
    """work through io_uring"""
    return each(call, [("io_uring_setup", 8, ctypes.create_string_buffer(120)), ("io_uring_enter", 0, 1, 0, 0, 0, 0), ("io_uring_register", 0, 0, 0, 0)])


@attempt(FILTER, ["ENOSYS"])
def old_asynchronous_io():
    """work through the older asynchronous interface"""
    return each(call, [("io_setup", 8, ctypes.byref(ctypes.c_ulong(0)))])


@attempt(FILTER + "; no such device", ["ENOENT", "EPERM"])
def faults_in_user_space():
    """stop the kernel at a moment of choice (userfaultfd, FUSE)"""
    return each(lambda f, *args: f(*args), [(call, "userfaultfd", 0), (call, "userfaultfd", 1), (os.open, "/dev/userfaultfd", os.O_RDWR),
                                            (os.open, "/dev/fuse", os.O_RDWR)])


@attempt(FILTER, ["EPERM"])
def programs_in_the_kernel():
    """load programs into the kernel (bpf)"""
    return each(lambda command: call("bpf", command, ctypes.create_string_buffer(128), 128), list(range(12)))


@attempt(FILTER, "EPERM")
def performance_counters():
    """measure the kernel and its neighbours (perf)"""
    return call("perf_event_open", ctypes.create_string_buffer(128), 0, -1, -1, 0)


@attempt(FILTER, "ENOSYS")
def secret_memory():
    """memory that the machine's tools cannot look at"""
    return call("memfd_secret", 0)


@attempt(FILTER, "ENOSYS")
def call_of_tomorrow():
    """a call that is newer than the table"""
    return call(facts["newest"] + 17, 0, 0, 0)


@attempt(FILTER + ": no other table of calls", "ENOSYS", "not this machine")
def x32_calls():
    """the same calls by the numbers of the x32 table"""
    if facts["machine"] != "x86_64":
        return "not this machine"
    return call(0x40000000 + 39)


@attempt(FILTER + ": no other table of calls", -38, "signal SIGSEGV", "not this machine")
def calls_of_32_bits():
    """getpid and mount by the 32-bit gate (int 0x80), where the numbers mean something else"""
    if facts["machine"] != "x86_64":
        return "not this machine"
    page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(b"\x53\xb8\x14\x00\x00\x00\xcd\x80\x5b\xc3")  # push rbx; mov eax, 20; int 0x80; pop rbx; ret
    return ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()


@attempt(FILTER, ["ENOSYS"])
def old_kernel_surface():
    """segments, libraries, file systems, sysctls by the calls of old kernels"""
    old = [n for n in ("modify_ldt", "uselib", "sysfs", "_sysctl", "ustat") if facts["calls"][n] >= 0]
    return each(lambda name: call(name, 0, 0, 0), old) or ["ENOSYS"]


@attempt(FILTER, ["EPERM"])
def fixed_addresses():
    """switch off the randomness of addresses, become another kind of process"""
    return each(lambda kind: call("personality", kind), [0x0040000, 0x0400000, 0x0000008, 0x1000000])


@attempt("the kernel tells only who may write the file", True)
def cached_pages_of_shared_files():
    """see which parts of the machine's files others have read lately (mincore)"""
    size, libc = 1 << 20, ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_void_p
    with open(facts["large_file"], "rb") as f:
        where = libc.mmap(None, ctypes.c_size_t(size), mmap.PROT_READ, mmap.MAP_SHARED, f.fileno(), ctypes.c_long(0))
    vector = ctypes.create_string_buffer(size // 4096)
    call("mincore", ctypes.c_void_p(where), size, vector)
    return all(b & 1 for b in vector.raw)  # every page seems to be there, whether it is or not


@attempt(FILTER + ": no answer about the cache", ["ENOTSUP", "page"])
def cached_pages_without_waiting():
    """the same by reading without waiting (RWF_NOWAIT): only what is in memory is read"""
    file = os.open(facts["large_file"], os.O_RDONLY)
    return [outcome(os.preadv, file, [bytearray(4096)], 0, os.RWF_NOWAIT), "page" if os.preadv(file, [bytearray(4096)], 0) == 4096 else "nothing"]


@attempt(FILTER, ["EPERM"])
def dropping_cached_pages():
    """throw the machine's files out of memory, so that others wait for the disk (POSIX_FADV_DONTNEED)"""
    return each(lambda path: os.posix_fadvise(os.open(path, os.O_RDONLY), 0, 0, os.POSIX_FADV_DONTNEED), [facts["large_file"], "/usr/bin/env"])


@attempt(FILTER, ["ENOSYS", "EPERM"])
def making_the_machine_write():
    """have the whole machine write its files out, again and again (sync, syncfs)"""
    return [outcome(call, "sync"), outcome(call, "syncfs", os.open("/usr/bin", os.O_RDONLY))]


@attempt(FILTER + ": it answers that all is written", [0])
def emptying_the_cache_of_the_disk():
    """have the disk empty its cache, again and again, by files that it only reads (fsync, fdatasync): also for a descriptor that is none"""
    files = [os.open(path, os.O_RDONLY) for path in ("/usr/bin/env", "/usr/bin")]
    return each(call, [(name, fd) for name in ("fsync", "fdatasync") for fd in (*files, 99)])


@attempt(FILTER, ["EINVAL", "ENOMEM"])
def huge_pages_of_the_machine():
    """take the huge pages that the machine keeps for others (MAP_HUGETLB, MFD_HUGETLB)"""
    sizes = (0, 21 << 26, 30 << 26)
    return each(call, [("mmap", 0, 1 << 30, 3, 0x22 | 0x40000 | size, -1, 0) for size in sizes] + [("memfd_create", b"x", 4 | size) for size in sizes])


@attempt(FILTER, ["EINVAL", "ENOSYS"])
def memory_for_compiled_programs():
    """fill the memory for compiled filters that all processes of the machine share (seccomp), so that nobody's sandbox can be made"""
    allow = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0x7FFF0000))
    program = struct.pack("HxxxxxxP", 1, ctypes.addressof(allow))
    return each(call, [("seccomp", 1, 0, program), ("seccomp", 1, 8, program), ("seccomp", 0, 0, 0), ("prctl", 22, 2, program, 0, 0), ("prctl", 22, 1, 0, 0, 0)])


@attempt(FILTER, ["ENOSYS"])
def policies_of_pages():
    """fill the kernel's memory with policies for single pages (mbind), which no control group counts"""
    return each(lambda policy: call("mbind", 1 << 12, 4096, policy, struct.pack("Q", 1), 64, 0), range(5))


@attempt(FILTER, ["ENOTSUP"])
def lists_of_rights():
    """fill the kernel's memory with lists of rights of files (ACLs), 64 KiB each, which no control group counts"""
    user = [struct.pack("<HHI", 2, 7, os.getuid())] * 8000
    rights = struct.pack("<I", 2) + b"".join([struct.pack("<HHI", 1, 7, 0), *user, *(struct.pack("<HHI", tag, 7, 0) for tag in (4, 16, 32))])
    files = [os.open(path, os.O_CREAT | os.O_RDWR) for path in ("/tmp/rights", "/dev/shm/rights")]
    tries = [(os.setxattr, file, "system.posix_acl_access", rights) for file in files]
    tries.append((lambda path: os.setxattr(path, "system.posix_acl_access", rights, follow_symlinks=False), "/tmp/rights"))
    result = each(lambda f, *a: f(*a), tries)
    for path in ("/tmp/rights", "/dev/shm/rights"):
        os.unlink(path)
    return result


@attempt(FILTER, ["EINVAL"])
def locks_without_a_process():
    """hold locks in the kernel that belong to no process (F_OFD_SETLK, F_OFD_SETLKW)"""
    with open(os.memfd_create("locks"), "wb") as f:
        return each(call, [("fcntl", f.fileno(), what, struct.pack("hhqqi4x", 1, 0, 0, 1, 0)) for what in (37, 38)])


@attempt(FILTER + ": newer than its table", ["ENOSYS"])
def calls_of_newer_kernels():
    """every call that is newer than the table: listing mounts, modules of security, memory that is sealed ..."""
    return each(call, [(number, 0, 0, 0, 0, 0, 0) for number in range(facts["newest"] + 1, 520)])


@attempt(FILTER + ": newer than its table", "ENOSYS")
def cached_pages_by_the_new_call():
    """the same by cachestat"""
    return call(451, os.open("/usr/bin/env", os.O_RDONLY), 0, 0, 0)
