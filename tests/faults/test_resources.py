"""Descriptors, memory and room run out under a running service: nothing spins, nothing dies, errors are clean, and it
recovers when there is enough again."""
from __future__ import annotations

import contextlib
import os
import re
import resource
import shutil
import socket
import subprocess
import sys
import threading
import time
import uuid

import pytest

from tests.faults.counts import SANITIZED, ticks
from tests.faults.flow import Flow, numbers
from tests.faults.places import end_all, kill, launcher_is_free, nginx_workers, of_sessions, one
from tests.faults.scale import pick
from tests.support import supervisor_rig as rpc
from tests.support.fastcgi import ask as ask_worker
from tests.support.stack import Stack, wait_until

SETTINGS = {"AGENT_SIMULATOR_MAX_SESSIONS": "4", "AGENT_SIMULATOR_MAX_SESSIONS_PER_ACTOR": "4", "AGENT_SIMULATOR_WORKERS": "1",
            "AGENT_SIMULATOR_SESSION_LIFETIME_SECONDS": "3600"}
SESSIONS = "/besser_api/simulation/sessions"


@pytest.fixture(autouse=True)
def nothing_is_left(request):
    yield
    if "stack" in request.fixturenames:
        running = request.getfixturevalue("stack")
        wait_until(lambda: running.sandbox() == "ok", 30, "the service is whole again")
        end_all(running)
        running.assert_clean(30)


def newest_descriptor(pid):
    return max(int(name) for name in os.listdir(f"/proc/{pid}/fd"))


PRLIMIT = """
import resource, sys
pid, what, soft = map(int, sys.argv[1:])
before = resource.prlimit(pid, what)
resource.prlimit(pid, what, (soft, before[1]))
print(before[0])
"""


def set_limit(pid, what, soft):
    """As the process's own user, who may without any capability. The soft limit it had."""
    status = open(f"/proc/{pid}/status").read()
    uid, gid = (int(status.split(f"{name}:")[1].split()[0]) for name in ("Uid", "Gid"))
    done = subprocess.run([sys.executable, "-c", PRLIMIT, str(pid), str(what), str(soft)], user=uid, group=gid, extra_groups=[],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ProcessLookupError(done.stderr)
    return int(done.stdout)


@contextlib.contextmanager
def limited(pid, what, most):
    """A resource limit of a running process, for a while."""
    before = set_limit(pid, what, most)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            set_limit(pid, what, before)


def no_more_descriptors(pid, free=0):
    """Numbers from `free` above the lowest unused one on are refused."""
    used = settled(pid)
    lowest = next(n for n in range(10000) if n not in used)
    return limited(pid, resource.RLIMIT_NOFILE, lowest + free)


def settled(pid):
    """The descriptors of a process, once what it still had to close is closed: the same at several looks."""
    looks = []

    def the_same():
        looks.append({int(name) for name in os.listdir(f"/proc/{pid}/fd")})
        return len(looks) >= 5 and all(look == looks[-1] for look in looks[-5:])

    wait_until(the_same, 10, "its descriptors stay the same")
    return looks[-1]


def assert_quiet(pid, seconds=0.7):
    """It waits instead of trying again and again."""
    before = ticks(pid)
    time.sleep(seconds)
    used = (ticks(pid) - before) / 100
    assert used < seconds / 2, f"{used:.2f} s of processor time in {seconds} s"


def knock(path, count=3):
    socks = []
    for _ in range(count):
        s = socket.socket(socket.AF_UNIX)
        s.connect(str(path))
        socks.append(s)
    return socks


def close(socks):
    for s in socks:
        s.close()


# ---- descriptors ----

def test_a_supervisor_without_descriptors_waits(stack):
    pid = one(stack, "agentsim-supervisor")
    with Flow(stack) as flow:
        flow.ask(500, pause=0.002)
        with no_more_descriptors(pid):
            waiting = knock(stack.runtime_dir / "ws.sock") + knock(stack.runtime_dir / "supervisor.sock")
            assert_quiet(pid)
            assert one(stack, "agentsim-supervisor") == pid
        flow.wait_for(500)
        assert flow.browser.lost == []
        close(waiting)
        wait_until(lambda: stack.state(flow.session).status == 200, 10, "workers are answered again")
        stack.end(flow.session)


def test_a_worker_without_descriptors_waits_and_answers(stack):
    pid = one(stack, "agentsim-fcgi")
    with no_more_descriptors(pid):
        waiting = knock(stack.runtime_dir / "fcgi.sock")
        assert_quiet(pid)
        assert one(stack, "agentsim-fcgi") == pid
    close(waiting)
    wait_until(lambda: stack.get("/health").status == 200, 10, "it answers again")
    # Enough for the request itself, not for what it asks others.
    with no_more_descriptors(pid, free=1):
        status, _, body, ended = ask_worker(stack.runtime_dir / "fcgi.sock", "GET", f"{SESSIONS}/{uuid.uuid4()}")
        assert status >= 500 and b"detail" in body and ended, (status, body)
    assert one(stack, "agentsim-fcgi") == pid
    assert stack.state(str(uuid.uuid4())).status == 404


def test_a_holder_without_descriptors_waits_and_its_conversation_goes_on(stack):
    with Flow(stack) as flow:
        (pid,) = of_sessions(stack, "agentsim-holder")
        flow.ask(300, pause=0.002)
        slot = rpc_slot(stack, flow.session)
        with no_more_descriptors(pid):
            waiting = knock(stack.runtime_dir / "holders" / f"{slot}.sock")
            assert_quiet(pid)
        flow.wait_for(300)
        close(waiting)
        wait_until(lambda: stack.get(f"{SESSIONS}/{flow.session}/files").status == 200, 10, "files can be asked for")
        assert flow.browser.lost == []
        stack.end(flow.session)


def rpc_slot(stack, session):
    from tests.faults.places import sessions

    return next(s["slot"] for s in sessions(stack) if s["id"] == session)


def test_a_launcher_without_descriptors_refuses_and_recovers(stack):
    pid = one(stack, "agentsim-launcher")
    with no_more_descriptors(pid):
        waiting = [socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)]
        waiting[0].connect(str(stack.runtime_dir / "launcher.sock"))
        assert_quiet(pid)
        reply = stack.post(SESSIONS, numbers())
        assert reply.status in (500, 502, 503) and reply.json()["detail"], reply
        assert one(stack, "agentsim-launcher") == pid
    close(waiting)
    launcher_is_free(stack)
    session = wait_until(lambda: (r := stack.post(SESSIONS, numbers())).status == 200 and r.json()["sessionId"], 20, "a session")
    stack.end(session)


def test_an_nginx_without_descriptors_waits_and_its_conversations_go_on(stack):
    with Flow(stack) as flow:
        flow.ask(300, pause=0.002)
        flow.wait_for(20)
        pids = nginx_workers(stack)
        with contextlib.ExitStack() as held:
            for pid in pids:
                held.enter_context(no_more_descriptors(pid))
            waiting = [socket.create_connection(("127.0.0.1", stack.port), 5) for _ in range(5)]
            for pid in pids:
                assert_quiet(pid)
            assert nginx_workers(stack) == pids
        flow.wait_for(300)
        assert flow.browser.lost == []
        close(waiting)
        wait_until(lambda: stack.get("/health").status == 200, 10, "it answers again")
        stack.end(flow.session)


def test_a_keeper_without_descriptors_starts_again_who_dies(stack):
    with Flow(stack) as flow:
        flow.ask(300, pause=0.002)
        killed = one(stack, "agentsim-fcgi")
        with no_more_descriptors(stack.keeper.pid):
            kill(killed)
            assert_quiet(stack.keeper.pid)
            assert stack.keeper.poll() is None
        wait_until(lambda: [p for p in stack.children("agentsim-fcgi") if p != killed], 40, "another worker")
        wait_until(lambda: stack.get("/health").status == 200, 10, "it answers")
        flow.wait_for(300)
        assert flow.browser.lost == []
        stack.end(flow.session)


# ---- memory ----

def address_space(pid):
    return int(open(f"/proc/{pid}/statm").read().split()[0]) * resource.getpagesize()


@pytest.mark.parametrize("program", ["agentsim-supervisor", "agentsim-fcgi", "agentsim-launcher"])
def test_memory_runs_out(stack, chance, program):
    """What needs more fails, by itself or with its process, and the next request is served."""
    if SANITIZED:
        return  # its shadow is most of the address space
    with Flow(stack) as flow:
        flow.ask(200, pause=0.002)
        pid, short = one(stack, program), 0
        for _ in range(pick(2, 20)):
            with contextlib.suppress(ProcessLookupError), limited(pid, resource.RLIMIT_AS, address_space(pid) + chance.choice((0, 65536, 1 << 20))):
                short += 1
                body = b'{"title":"T","model":{"elements":[' + b"{}," * chance.randrange(1000, 1000000) + b"1]}}"
                for path in ("/besser_api/simulation/validate", SESSIONS):
                    with contextlib.suppress(OSError):
                        reply = stack.post(path, body)
                        assert reply.json(), reply  # a verdict or an error, but not a cut one
                with contextlib.suppress(OSError):
                    for s in knock(stack.runtime_dir / "ws.sock", 20):
                        s.sendall(b"GET /besser_api/simulation/x/ws HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\n")
                        s.close()
            wait_until(lambda: stack.get("/health").status == 200, 20, "the service answers")
            wait_until(lambda: stack.sandbox() == "ok", 30, "sessions can start")
            pid = one(stack, program)
        assert short, "nobody was short of memory"
        if program != "agentsim-launcher" or not flow.ended:
            flow.wait_for(200)
            wait_until(lambda: stack.state(flow.session).status == 200, 10, "the session is known")
            stack.end(flow.session)


def test_a_holder_whose_memory_runs_out_ends_with_a_word_or_goes_on(stack):
    if SANITIZED:
        return
    with Flow(stack) as flow:
        (pid,) = of_sessions(stack, "agentsim-holder")
        with limited(pid, resource.RLIMIT_AS, address_space(pid)):
            flow.ask(20000, pause=0)
            wait_until(lambda: flow.ended or flow.browser.number > 15000, 30, "something comes of it")
        if flow.ended:
            assert flow.wait_for_the_end().frames
        else:
            flow.wait_for(20000)
            stack.end(flow.session)


# ---- room ----

class SmallDisk(Stack):
    """Its state or runtime directory is a file system of 16 MiB and some hundred files; so is where its log goes."""

    def __init__(self, which, **settings):
        super().__init__(**settings)
        self.small = getattr(self, which)
        self.log = self.small / "log"

    def install(self):
        self.small.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m,nr_inodes=400,mode=755", "agentsim-test", self.small], check=True)
        super().install()

    def start(self):
        if not self.bin.exists():
            self.install()
        super().start()

    def stop(self):
        super().stop()
        subprocess.run(["umount", "-l", self.small], check=False, stderr=subprocess.DEVNULL)
        super().stop()

    def fill(self):
        folder = self.small / "filler"
        folder.mkdir()
        with contextlib.suppress(OSError), open(folder / "large", "wb", buffering=0) as f:
            while f.write(b"x" * 4096):
                pass
        with contextlib.suppress(OSError):
            for number in range(1000):
                (folder / str(number)).touch()
        return folder


@pytest.mark.parametrize("which", ["state_dir", "runtime_dir"])
def test_a_full_disk_refuses_sessions_cleanly_and_recovers(which):
    with SmallDisk(which, AGENT_SIMULATOR_MAX_SESSIONS="3") as stack:
        with Flow(stack) as flow:
            flow.ask(300, pause=0.002)
            filler = stack.fill()
            statuses = set()
            for _ in range(3):
                reply = stack.post(SESSIONS, numbers())
                statuses.add(reply.status)
                assert reply.status == 200 or (reply.status in (500, 502, 503) and reply.json()["detail"]), reply
                if reply.status == 200:
                    stack.end(reply.json()["sessionId"])
            flow.wait_for(300)
            assert flow.browser.lost == []
            assert stack.get("/health").status == 200
            killed = [one(stack, name) for name in ("agentsim-supervisor", "agentsim-fcgi")]
            kill(*killed)
            wait_until(lambda: not set(killed) & set(stack.children("agentsim-supervisor") + stack.children("agentsim-fcgi")), 10, "they are gone")
            flow.ask(50)
            flow.wait_for(350)
            shutil.rmtree(filler)
            session = wait_until(lambda: (r := stack.post(SESSIONS, numbers())).status == 200 and r.json()["sessionId"], 20, "a session")
            stack.end(session)
            stack.end(flow.session)
        stack.assert_clean()


# ---- time ----

def test_signals_at_any_moment_disturb_nobody(stack, chance):
    """Stopped and continued hundreds of times a second: every system call that can be interrupted is."""
    stopping = threading.Event()

    def storm():
        import signal

        while not stopping.is_set():
            pids = [p for name in ("agentsim-supervisor", "agentsim-fcgi", "agentsim-launcher") for p in stack.children(name)]
            for pid in [*pids, *nginx_workers(stack), *of_sessions(stack, "agentsim-holder")]:
                for number in chance.choice(((signal.SIGSTOP, signal.SIGCONT), (signal.SIGCHLD,), (signal.SIGURG,))):
                    kill(pid, number=number)
            stopping.wait(0.002)

    with Flow(stack) as flow:
        thread = threading.Thread(target=storm, daemon=True)
        thread.start()
        try:
            flow.ask(pick(500, 20000), pause=0.001)
            for _ in range(pick(3, 100)):
                session = stack.create(numbers())
                assert stack.get(f"{SESSIONS}/{session}/files").status == 200
                assert stack.end(session).status == 200
            flow.wait_for(pick(500, 20000), 300)
        finally:
            stopping.set()
            thread.join()
        assert flow.browser.lost == []
        stack.end(flow.session)


WALL_CLOCK = re.compile(r"time_wall_ms\(|ev_now\(|ev_time\(|gettimeofday\(|CLOCK_REALTIME")
SHOWN = {  # where the wall clock is told or kept on disk, and no deadline comes of it
    "supervisor/holder/session.c", "supervisor/sessions.c", "supervisor/sessions_events.c", "supervisor/signin_desk.c",
    "supervisor/holder/warm.c",
}


def test_the_wall_clock_is_only_shown():
    """Deadlines are monotonic: a clock that is set ends no session and no conversation."""
    read_by = {str(path.relative_to(rpc.ROOT)) for path in (rpc.ROOT / "supervisor").rglob("*.c")
               if WALL_CLOCK.search(path.read_text())}
    assert read_by <= SHOWN, "use time_mono_ms() for what is waited for"
