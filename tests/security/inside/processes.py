"""Processes"""
import ctypes
import os
import signal
import struct
import subprocess

from kit import attempt, call, each, facts, outcome, read, status, write

OWN_PIDS = "own PID namespace"
OTHERS = "system call filter: other processes' memory and descriptors"
NOT_DUMPABLE = "the first process cannot be looked into"
PIDS = ("sibling", "holder", "bubblewrap", "keeper", "supervisor", "launcher", "nginx")


def pids():
    return [facts["pids"][name] for name in PIDS]


@attempt(OWN_PIDS, ["agent.py", "agentsim-pid1"])
def processes_in_sight():
    """see processes of others, and their arguments"""
    seen = set()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        arguments = outcome(read, f"/proc/{pid}/cmdline").split("\0")
        seen.add("agent.py" if "agent.py" in arguments[-2:] and "pid1" not in arguments[0] else os.path.basename(arguments[0]))
    return sorted(seen - {"ENOENT", "ESRCH"})


@attempt(OWN_PIDS, ["ENOENT"])
def environment_of_others():
    """read the environment of another session, of its holder, of the service"""
    return each(lambda pid: read(f"/proc/{pid}/environ"), pids())


@attempt(OWN_PIDS, ["ESRCH"])
def signals_to_others():
    """stop or kill processes of another session and of the service"""
    return each(lambda pid, number: os.kill(pid, number), [(p, s) for p in pids() for s in (0, signal.SIGSTOP, signal.SIGKILL)])


@attempt(OWN_PIDS, ["ESRCH"])
def queued_signals_to_others():
    """the same by thread, by process group, by queued signal, by descriptor"""
    information = ctypes.create_string_buffer(struct.pack("iii", signal.SIGKILL, 0, -1).ljust(128, b"\0"))
    return each(lambda name, *args: call(name, *args), [t for p in pids() for t in (
        ("tkill", p, 9), ("tgkill", p, p, 9), ("rt_sigqueueinfo", p, 9, information), ("pidfd_open", p, 0), ("kill", -p, 9))])


@attempt(OTHERS, ["EPERM"])
def debugging_others():
    """attach to a sibling, to its holder, to the first process (ptrace)"""
    return each(lambda request, pid: call("ptrace", request, pid, 0, 0), [(r, p) for r in (16, 0x4206) for p in [1, *pids()]])


@attempt(OTHERS, ["EPERM"])
def memory_of_others():
    """read and write memory of another process without attaching"""
    vector = (ctypes.c_long * 2)(ctypes.addressof(ctypes.create_string_buffer(8)), 8)
    return each(lambda name, pid: call(name, pid, vector, 1, vector, 1, 0),
                [(n, p) for n in ("process_vm_readv", "process_vm_writev") for p in [1, os.getppid(), *pids()]])


@attempt(OTHERS, ["EPERM"])
def descriptors_of_others():
    """take descriptors, compare kernel objects, give advice on and move memory of another process"""
    own = os.pidfd_open(os.getppid())
    return each(call, [("pidfd_getfd", own, 1, 0), ("kcmp", os.getppid(), os.getpid(), 0, 1, 1), ("process_madvise", own, 0, 0, 4, 0),
                       ("process_mrelease", own, 0), ("move_pages", os.getppid(), 0, 0, 0, 0, 0), ("migrate_pages", os.getppid(), 1, 0, 0)])


@attempt(NOT_DUMPABLE, ["EACCES"])
def secrets_of_the_first_process():
    """read environment, memory, maps, descriptors, stack of the sandbox's first process"""
    return each(lambda name: read(f"/proc/1/{name}", 1), ["environ", "mem", "maps", "auxv", "syscall", "stack", "io", "pagemap"])


@attempt(NOT_DUMPABLE, ["EACCES"])
def descriptors_of_the_first_process():
    """use the descriptors of the first process, over which it reports to the service"""
    return each(lambda f, path: f(path), [(os.listdir, "/proc/1/fd"), (os.listdir, "/proc/1/map_files"), (os.readlink, "/proc/1/fd/10"), (read, "/proc/1/fd/1")])


@attempt(NOT_DUMPABLE, ["EACCES"])
def paths_of_the_first_process():
    """leave through root, directory, program or namespaces of the first process"""
    return each(os.readlink, [f"/proc/1/{name}" for name in ("root", "cwd", "exe", "ns/mnt", "ns/user")])


@attempt("the kernel lets no signal from inside end a first process", "alive")
def killing_the_first_process():
    """kill and stop the first process, which reports how the agent ended"""
    for number in (signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM, signal.SIGSEGV):
        os.kill(1, number)
    return "alive" if status("State", 1)[0] == "S" else status("State", 1)


@attempt(OWN_PIDS, 0)
def parent_outside():
    """see who stands above the first process"""
    return int(status("PPid", 1)[0])


@attempt("no capability", ["EACCES", "EPERM"])
def priority():
    """take more than its share: negative nice, real-time scheduling, real-time disk priority"""
    return each(lambda f, *args: f(*args), [
        (os.setpriority, os.PRIO_PROCESS, 0, -5), (os.sched_setscheduler, 0, os.SCHED_FIFO, os.sched_param(1)),
        (os.sched_setscheduler, 0, os.SCHED_RR, os.sched_param(1)), (call, "ioprio_set", 1, 0, 1 << 13)])


@attempt(OWN_PIDS, ["ESRCH"])
def scheduling_of_others():
    """slow others down: their priority, processors, limits, disk priority"""
    return each(lambda f, *args: f(*args), [t for p in pids() for t in (
        (os.setpriority, os.PRIO_PROCESS, p, 19), (os.sched_setaffinity, p, [0]), (call, "prlimit64", p, 7, 0, 0),
        (call, "ioprio_set", 1, p, 3 << 13))])


@attempt("hard limits only go down without a capability", ["EPERM"])
def raising_limits():
    """raise its own limits"""
    def raise_limit(number):
        return call("prlimit64", 0, number, (ctypes.c_ulong * 2)(1 << 62, 1 << 62), 0)
    return each(raise_limit, [0, 1, 4, 6, 7, 8, 9, 12, 13, 14])


@attempt(OWN_PIDS, "alive")
def limits_of_the_first_process():
    """starve the first process, which reports how the agent ended: its limits, processors, priority"""
    outcome(call, "prlimit64", 1, 0, (ctypes.c_ulong * 2)(0, 0), 0)
    outcome(call, "prlimit64", 1, 7, (ctypes.c_ulong * 2)(0, 0), 0)
    outcome(os.setpriority, os.PRIO_PROCESS, 1, 19)
    return "alive" if status("State", 1)[0] == "S" else status("State", 1)


@attempt("no capability", ["EPERM"])
def priority_of_its_group():
    """raise the priority of its whole group of processes (autogroup)"""
    return each(lambda text: write("/proc/self/autogroup", text), ["-5", "-20"])


@attempt("system call filter", ["EINVAL"])
def cores_of_its_own():
    """keep others off the processor cores that it runs on (core scheduling)"""
    return each(call, [("prctl", 62, command, 0, kind, 0) for command in (1, 2, 3) for kind in (0, 1, 2)])


@attempt("covered", ["EACCES"], ["ENOENT"])
def watches_on_the_load():
    """have the kernel watch the machine's load for it, many times (pressure triggers)"""
    return each(lambda name: write("/proc/pressure/" + name, "some 500000 2000000\n"), ["cpu", "memory", "io", "irq"] if os.path.exists("/proc/pressure/irq") else ["cpu", "memory", "io"])


@attempt("resource limits set before the program starts", [4 << 30, 60, 61, 33 << 20, 48, 200, 0])
def limits_in_force():
    """run without limits on address space, processor time, file size, processes, descriptors, core dumps"""
    import resource as r
    def hard(n):
        return r.getrlimit(n)[1]
    return [hard(r.RLIMIT_AS), r.getrlimit(r.RLIMIT_CPU)[0], hard(r.RLIMIT_CPU), hard(r.RLIMIT_FSIZE), hard(r.RLIMIT_NPROC),
            hard(r.RLIMIT_NOFILE), hard(r.RLIMIT_CORE)]


@attempt("resource limits set before the program starts", [8 << 20, 819200, 0, 0, 1024])
def smaller_limits_in_force():
    """take locked memory, message queues, priority, real time, queued signals from the machine"""
    import resource as r
    return [r.getrlimit(n)[1] for n in (r.RLIMIT_MEMLOCK, r.RLIMIT_MSGQUEUE, r.RLIMIT_NICE, r.RLIMIT_RTPRIO, r.RLIMIT_SIGPENDING)]


@attempt("no core files: limit 0", [False, []])
def core_dump():
    """leave a core dump, or have the machine's handler started with it"""
    os.mkdir("/work/tmp/crash")
    child = os.fork()
    if child == 0:
        os.chdir("/work/tmp/crash")
        os.kill(os.getpid(), signal.SIGSEGV)
    dumped = os.WCOREDUMP(os.waitpid(child, 0)[1])
    left = os.listdir("/work/tmp/crash")
    os.rmdir("/work/tmp/crash")
    return [dumped, left]


@attempt("no capability", "EACCES")
def last_to_be_killed():
    """tell the kernel to kill others first when memory is short"""
    return write("/proc/self/oom_score_adj", "-1000")


@attempt("no terminal; system call filter", ["EPERM"])
def words_into_a_terminal():
    """put words into a terminal, take over the console, load a line discipline"""
    import fcntl
    _, terminal = os.openpty()
    return each(lambda number: fcntl.ioctl(terminal, number, struct.pack("l", 0)), [0x5412, 0x541C, 0x541D, 0x5423])


@attempt("own session without a terminal", "ENXIO")
def terminal_of_the_operator():
    """open the terminal that the service was started from"""
    return os.open("/dev/tty", os.O_RDWR)


@attempt("no new privileges, mounts without setuid, no other user in its namespace", [["own", "0"]])
def programs_that_change_the_user():
    """start su, mount, passwd and others for their privileges: what user the kernel gave them, whether it raised anything"""
    def powers(path):
        told = subprocess.run([path], env={"LD_SHOW_AUXV": "1", "LD_TRACE_LOADED_OBJECTS": "1"}, capture_output=True, text=True, timeout=60, check=True)
        words = dict(line.split(":", 1) for line in told.stdout.splitlines() if line.startswith("AT_"))
        return ["own" if int(words["AT_EUID"]) == os.getuid() else words["AT_EUID"], words["AT_SECURE"].strip()]
    return each(powers, facts["setuid"])


@attempt("no new privileges", [1, "EINVAL"])
def taking_back_no_new_privileges():
    """switch no_new_privs off again"""
    return [int(status("NoNewPrivs")[0]), outcome(call, "prctl", 38, 0, 0, 0, 0)]
