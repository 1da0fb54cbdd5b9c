"""Secrets, seen from the machine"""
import array
import contextlib
import ctypes
import os
import pathlib
import socket

from tests.security.conftest import BAG_SECRET, SECRET
from tests.security.table import stopped_by
from tests.support.stack import TOKEN, children_of, wait_until

SECRETS = (SECRET.encode(), BAG_SECRET.encode())
PAGE = os.sysconf("SC_PAGE_SIZE")
OUR_PROGRAMS = ("agentsim-fcgi", "agentsim-supervisor", "agentsim-launcher", "agentsim-keeper")


def processes():
    return [int(p) for p in os.listdir("/proc") if p.isdigit() and int(p) != os.getpid()]


def read(pid, name):
    with contextlib.suppress(OSError):
        return pathlib.Path(f"/proc/{pid}/{name}").read_bytes()
    return b""


def user_of(pid):
    return int(read(pid, "status").split(b"Uid:")[1].split()[0])


def service(stack):
    return [stack.keeper.pid] + [pid for name in OUR_PROGRAMS for pid in stack.children(name)]


def used(pid, start, end):
    """The parts of a mapping that the kernel has pages for; much of a large one may never have been touched."""
    with open(f"/proc/{pid}/pagemap", "rb", 0) as f:
        f.seek(start // PAGE * 8)
        pages = array.array("Q", f.read((end - start) // PAGE * 8))
    first = None
    for n, page in enumerate(pages):
        if page >> 62 and first is None:
            first = n
        elif not page >> 62 and first is not None:
            yield start + first * PAGE, start + n * PAGE
            first = None
    if first is not None:
        yield start + first * PAGE, start + len(pages) * PAGE


def memory(pid):
    """All that is readable of a process's memory."""
    parts = []
    with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb", 0) as mem:
        for line in maps:
            start, end = (int(x, 16) for x in line.split()[0].split("-"))
            if line.split()[1].startswith("rw") and end - start < 8 << 30:
                with contextlib.suppress(OSError, OverflowError):
                    for begin, until in used(pid, start, end) if end - start > 64 << 20 else [(start, end)]:
                        mem.seek(begin)
                        parts.append(mem.read(until - begin))
    return b"\0".join(parts)


@stopped_by("handed over in memory and by descriptors, never as an argument")
def test_credentials_in_arguments(attacker, bag):
    """read credentials of sessions from the arguments of processes, which everybody may read"""
    assert not [pid for pid in processes() if any(s in read(pid, "cmdline") for s in SECRETS)]


@stopped_by("in the environment of the session's own processes only")
def test_credentials_in_environments(attacker, bag):
    """read credentials of a session from the environment of a process of another user"""
    holders = {secret: {user_of(pid) for pid in processes() if secret in read(pid, "environ")} for secret in SECRETS}
    assert holders[SECRET.encode()] == {attacker["uid"]} and holders[BAG_SECRET.encode()] <= {bag["uid"]}


@stopped_by("wiped after use")
def test_credentials_in_the_service(stack, attacker, bag):
    """find credentials of living sessions in the memory of the service's processes"""
    pids = service(stack) + [pid for master in stack.children("nginx") for pid in children_of(master)]
    assert len(pids) >= 6

    def found():
        return [(read(pid, "comm").decode().strip(), s) for pid in pids for s in SECRETS if s in memory(pid)]

    wait_until(lambda: not found(), 10, "what was answered a moment ago is wiped, too")


@stopped_by("never logged")
def test_credentials_in_the_log(stack, attacker, bag):
    """read credentials of sessions, and the service's token, from the log"""
    log = stack.log.read_bytes()
    assert not [s for s in (*SECRETS, TOKEN.encode()) if s in log]


@stopped_by("only in the session's own directory, which ends with it")
def test_credentials_in_files(stack, attacker, bag):
    """find credentials in the state and runtime directories, besides the session's own"""
    own = {stack.slot_dir(who["slot"]) for who in (attacker, bag)}
    disks = next(iter(own)).parent.parent
    assert disks.name == "disks" and all((d / "work").is_dir() for d in own)
    for top in (stack.state_dir, stack.runtime_dir, disks):
        for path in top.rglob("*"):
            if path.is_file() and not path.is_symlink() and not own & set(path.parents):
                with contextlib.suppress(FileNotFoundError):  # replaced meanwhile
                    assert not any(s in path.read_bytes() for s in SECRETS), path


@stopped_by("kept from everything that runs as a session's user")
def test_token_of_the_service_in_processes(stack, attacker, bag, sibling):
    """find the service's token in arguments, or in the environment of a process of a session's user"""
    token, sessions = TOKEN.encode(), {who["uid"] for who in (attacker, bag, sibling)}
    assert not [pid for pid in processes() if token in read(pid, "cmdline")]
    assert not [pid for pid in processes() if token in read(pid, "environ") and user_of(pid) in sessions]


@stopped_by("not dumpable, or limit 0")
def test_core_dumps_of_the_service(stack, attacker, sibling):
    """have a process that knows secrets dump its memory"""
    for pid in [*service(stack), sibling["pids"]["holder"], sibling["pids"]["bubblewrap"], sibling["pids"]["sibling"]]:
        core = next(line.split()[4:6] for line in read(pid, "limits").decode().splitlines() if line.startswith("Max core file size"))
        assert core == ["0", "0"] or core[0] == "0" or os.stat(f"/proc/{pid}/environ").st_uid == 0 != user_of(pid), (read(pid, "comm"), core)


def enter_mounts(pid):
    """Where the disks of the sessions are mounted."""
    with open(f"/proc/{pid}/ns/mnt") as namespace:
        assert ctypes.CDLL(None).setns(namespace.fileno(), 0x20000) == 0


def as_session_user(uid, function, mounts_of=None):
    """What function() says in a process of the machine that has a session's user: as if the sandbox were not there."""
    receive, send = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if mounts_of:
                enter_mounts(mounts_of)
            os.setgroups([])
            os.setresgid(uid, uid, uid)
            os.setresuid(uid, uid, uid)
            os.write(send, repr(function()).encode())
        except BaseException as e:
            os.write(send, repr(e).encode())
        os._exit(0)
    os.close(send)
    with open(receive, "rb") as answer:
        said = answer.read().decode()
    os.waitpid(child, 0)
    return said


def refused(function, things, *errors):
    """What of things was not refused with one of errors."""
    holes = []
    for thing in things:
        try:
            function(thing)
            holes.append((thing, "worked"))
        except errors:
            pass
        except OSError as e:
            holes.append((thing, repr(e)))
    return holes


@stopped_by("even without the sandbox: other users, processes that cannot be looked into")
def test_environments_for_a_session_user(stack, attacker, sibling, bag):
    """as a session's user outside of every sandbox: read environments and memory of the service, of siblings, of its own holder"""
    pids = {*service(stack), *sibling["pids"].values(), *bag["pids"].values(), attacker["pids"]["holder"]}
    paths = [f"/proc/{pid}/{name}" for pid in pids for name in ("environ", "mem", "maps", "auxv", "io")]
    assert as_session_user(attacker["uid"], lambda: refused(lambda p: open(p, "rb").read(1), paths, PermissionError)) == "[]"


@stopped_by("even without the sandbox: other users")
def test_processes_for_a_session_user(stack, attacker, sibling, bag):
    """as a session's user outside of every sandbox: signal and trace the service and siblings"""
    pids = [*service(stack), *sibling["pids"].values(), *bag["pids"].values()]

    def trace(pid):
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.ptrace(0x4206, pid, 0, 0) == -1:
            raise OSError(ctypes.get_errno(), "ptrace")

    assert as_session_user(attacker["uid"], lambda: refused(lambda p: os.kill(p, 0), pids, PermissionError) + refused(trace, pids, PermissionError)) == "[]"


@stopped_by("even without the sandbox: modes of sockets")
def test_sockets_for_a_session_user(stack, attacker, sibling):
    """as a session's user outside of every sandbox: connect to the service's and the holders' sockets"""
    paths = [str(p) for p in stack.runtime_dir.rglob("*") if p.is_socket()]
    assert len(paths) >= 5

    def connect(path):
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(path)

    assert as_session_user(attacker["uid"], lambda: refused(connect, paths, PermissionError)) == "[]"


@stopped_by("even without the sandbox: modes of directories")
def test_files_for_a_session_user(stack, attacker, sibling, bag):
    """as a session's user outside of every sandbox: list the slots, read the files of siblings, replace programs and settings"""
    slots, launcher = stack.state_dir / "slots", stack.children("agentsim-launcher")[0]
    disks = {who["slot"]: stack.state_dir / "disks" / str(who["slot"]) / str(who["slot"]) for who in (sibling, bag)}
    lists = [str(p) for p in (slots, stack.state_dir / "disks", stack.state_dir / "signin", stack.runtime_dir / "holders", *disks.values(),
                              *(d.parent for d in disks.values()), f"/proc/{launcher}/root/tmp")]
    files = [str(disks[sibling["slot"]] / "work" / "agent.py"), str(disks[bag["slot"]] / "work" / "config.yaml"),
             str(stack.state_dir / "signin" / "key")]
    assert all(os.path.exists(f"/proc/{launcher}/root{path}") for path in files), "they are there"
    places = [str(p / "x") for p in (stack.state_dir, slots, stack.runtime_dir, stack.bin, stack.dir, stack.dir / "nginx")]
    assert as_session_user(attacker["uid"], lambda: refused(os.listdir, lists, PermissionError) + refused(open, files, PermissionError) +
                           refused(os.mkdir, places, PermissionError), mounts_of=launcher) == "[]"


@stopped_by("a refusal that repeats what it was sent is not logged")
def test_credentials_in_errors(stack, diagram):
    """find credentials of requests that went wrong in the log of the service or of nginx"""
    secret, good = "sk-of-a-request-that-went-wrong", diagram("hello_minimal")
    requests = [{**good, "credentials": value} for value in ([secret], {"openAiApiKey": [secret]}, {"openAiApiKey": {secret: 1}}, {secret: secret}, secret,
                                                             {"openAiApiKey": secret + "\n\x1b[2K"}, {"openAiApiKey": secret * 100_000})]
    requests += [{"credentials": {"openAiApiKey": secret}}, {**good, "model": secret, "credentials": {"openAiApiKey": secret}},
                 {**good, "model": {}, "credentials": {"openAiApiKey": secret}}, [secret]]
    seen = set()
    for body in requests:
        reply = stack.post("/besser_api/simulation/sessions", body)
        seen.add(reply.status)
        if reply.status == 200:
            stack.end(reply.json()["sessionId"])
    assert seen & {400, 422} and 500 not in seen, seen
    stack.request("POST", "/besser_api/simulation/sessions?key=" + secret)
    for word in ("session", "Authorization", "x"):
        stack.internal("POST", "/sessions", {"agent_code": secret, word: secret})
    logs = [stack.log, *(p for p in stack.dir.rglob("*.log") if p.is_file())]
    assert not [p for p in logs if secret.encode() in p.read_bytes()]
