"""What bounds a session, and that its neighbours go on meanwhile: memory, processes, processor, files."""
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import time
import uuid

import pytest
from websockets.exceptions import ConnectionClosed

from tests.support.bombs import OBEDIENT, Agent, Neighbour
from tests.support.cgroups import groups_of
from tests.support.stack import Stack, kill, wait_until

MEMORY_MB, DISK_MB, NPROC = 200, 16, 48
SETTINGS = {
    "AGENT_SIMULATOR_MEMORY_MB": str(MEMORY_MB),
    "AGENT_SIMULATOR_CPU_CORES": "0.5",
    "AGENT_SIMULATOR_DISK_MB": str(DISK_MB),
    "AGENT_SIMULATOR_RLIMIT_NPROC": str(NPROC),
    "AGENT_SIMULATOR_RLIMIT_CPU_SEC": "60",  # an agent that is only asked has to live as long as a bomb takes
    "AGENT_SIMULATOR_QUOTA_ENABLED": "true",
    "AGENT_SIMULATOR_WARM_POOL": "0",  # who waits has groups and a disk too, and each test looks for what is left
}
ENOSPC = "OSError(28, 'No space left on device')"


def session_groups(stack):
    return [group for group in groups_of(stack.uid_base) if not group.endswith(f"/{stack.uid_base}")]


def disk(stack, slot):
    """A slot's file system, which only the launcher's mount namespace has."""
    launcher = stack.children("agentsim-launcher")[0]
    return pathlib.Path(f"/proc/{launcher}/root{stack.state_dir}/disks/{slot}")


def assert_nothing_left(stack):
    stack.assert_clean()
    wait_until(lambda: not session_groups(stack), 15, f"no control group is left: {session_groups(stack)}")
    for slot in range(stack.max_sessions):
        where = disk(stack, slot)
        assert os.path.ismount(where) and os.listdir(where) == []
        st = os.statvfs(where)
        assert st.f_bfree == st.f_blocks and st.f_ffree == st.f_files - 1, "the disk is as empty as a new one"
    assert str(stack.dir) not in pathlib.Path("/proc/self/mounts").read_text(), "mounts stay in the launcher's namespace"


@pytest.fixture
def pair(stack):
    """(agent, neighbour); nothing is left of both."""
    with Neighbour(stack) as neighbour:
        with Agent(stack) as agent:
            yield agent, neighbour
    assert_nothing_left(stack)


def test_health_names_what_is_limited(stack):
    version, _, limits = stack.internal("GET", "/health").json()["cgroup"].partition(": ")
    assert version in ("v1", "v2", "v1 and v2")
    assert limits in ("memory swap pids cpu kill; disk: tmpfs", "memory pids cpu kill; disk: tmpfs")
    status = subprocess.run([stack.bin / "agentsim", "status"], env=stack.env, capture_output=True, text=True, check=True)
    assert f"cgroup       {version}: {limits}\n" in status.stdout


def test_the_editor_is_told_what_is_limited(stack):
    assert stack.get("/besser_api/simulation/limits").json() == {
        "memoryMb": MEMORY_MB, "cpuCores": 0.5, "diskMb": DISK_MB, "sessionLifetimeSeconds": 900, "editorQuotaEnabled": True}


MEMORY_BOMBS = {
    "heap": "kept = []\nwhile True: kept.append(bytearray(1 << 20))",
    "several processes": "import os, time\n"
                         "for i in range(8):\n"
                         "    if os.fork() == 0:\n"
                         "        kept = bytearray(b'x') * (15 << 20); time.sleep(600)\n"
                         "kept = []\nwhile True: kept.append(bytearray(1 << 20))",
    "files in memory": "import os\nwhile True:\n    f = os.memfd_create('x')\n    os.write(f, bytes(50 << 20))",
    "mapped, never in the heap": "import mmap\nkept = []\n"
                                 "while True:\n    m = mmap.mmap(-1, 8 << 20); m.write(bytes(8 << 20)); kept.append(m)",
    "empty files": "i = 0\nwhile True:\n    i += 1; open(f'/tmp/{i}', 'w').close()",
}


@pytest.mark.parametrize("bomb", MEMORY_BOMBS)
def test_a_memory_bomb_ends_with_its_reason(pair, bomb):
    agent, neighbour = pair
    assert agent.group("memory").memory_limit() == MEMORY_MB << 20
    with neighbour.watched(f"a memory bomb ({bomb})"):
        agent.tell(MEMORY_BOMBS[bomb])
        assert agent.end(120) == ("memory", signal.SIGKILL)
        with pytest.raises(ConnectionClosed):
            agent.answer()


def test_children_that_are_killed_for_memory_do_not_end_the_session(pair):
    agent, neighbour = pair
    with neighbour.watched("children that are killed for memory"):
        assert agent.run("import subprocess, sys\n"
                         "code = 'kept = []\\nwhile True: kept.append(bytearray(1 << 20))'\n"
                         "out = subprocess.run([sys.executable, '-c', code]).returncode") == "-9"
        assert agent.run("out = 'here'") == "here"
    assert agent.group("memory").memory_peak() <= MEMORY_MB << 20


def test_a_fork_bomb_is_bounded_and_ends_with_the_session(stack, pair):
    agent, neighbour = pair
    with neighbour.watched("a fork bomb"):
        agent.tell("import os\n"
                   "while True:\n"
                   "    try: os.fork()\n"
                   "    except OSError: pass")
        pids = agent.group("pids")
        wait_until(lambda: int(pids.read("pids.current")) >= NPROC - 8, 30, "it has what it may have")
        assert pids.read("pids.max") == str(NPROC)
        assert int(pids.read("pids.current")) <= NPROC
        assert stack.internal("DELETE", f"/sessions/{agent.session}").status == 200
    assert agent.end() == ("stopped", 0)


def test_a_thread_bomb_gets_errors_and_the_agent_lives(pair):
    agent, neighbour = pair
    with neighbour.watched("a thread bomb"):
        assert agent.run("import threading, time\n"
                         "n = 0\n"
                         "try:\n"
                         "    while True:\n"
                         "        threading.Thread(target=time.sleep, args=(600,), daemon=True).start(); n += 1\n"
                         "except RuntimeError as error:\n"
                         "    out = f'{n} {error}'").endswith(" can't start new thread")
        assert int(agent.group("pids").read("pids.current")) <= NPROC
        assert agent.run("out = 'here'") == "here"


def test_processor_time_ends_with_its_reason_and_is_throttled():
    with Stack(**{**SETTINGS, "AGENT_SIMULATOR_RLIMIT_CPU_SEC": "4"}) as short:
        with Agent(short) as agent, Neighbour(short) as neighbour:
            with neighbour.watched("a busy loop"):
                agent.tell("while True: pass")
                assert agent.end(60)[0] == "cpu"
        assert_nothing_left(short)


SOCKETS = {
    "tcp": "def pair():\n"
           "    c = socket.create_connection(server.getsockname()); return c, server.accept()[0]\n",
    "udp": "def pair():\n"
           "    a = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); a.bind(('127.0.0.1', 0))\n"
           "    a.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 30)\n"
           "    c = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); c.connect(a.getsockname()); return c, a\n",
    "unix": "def pair():\n"
            "    c, a = socket.socketpair(); c.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 30); return c, a\n",
}
FILL = ("import socket\nserver = socket.create_server(('127.0.0.1', 0), backlog=1000)\n%s"
        "kept = []\n"
        "try:\n"
        "    while True:\n"
        "        kept.append(pair()); kept[-1][0].setblocking(False)\n"
        "        try:\n"
        "            for i in range(400): kept[-1][0].send(bytes(50_000))\n"
        "        except (BlockingIOError, OSError): pass\n"
        "except OSError as error:\n"
        "    out = error.errno\n")


def in_sockets():
    """Bytes that the sockets of the machine hold."""
    text = pathlib.Path("/proc/net/sockstat").read_text()
    return sum(int(line.split()[-1]) for line in text.splitlines() if line.startswith(("TCP:", "UDP:"))) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.parametrize("kind", SOCKETS)
def test_what_lies_in_sockets_is_bounded_too(pair, kind):
    """The kernel counts it apart from memory, and has one limit for all sockets of the machine."""
    agent, neighbour = pair
    before = in_sockets()
    with neighbour.watched(f"a flood into {kind} sockets"):
        agent.tell(FILL % SOCKETS[kind])
        with contextlib.suppress(ConnectionClosed):  # where it is counted as memory, it may end so
            assert agent.answer(120) == "24", "it goes on until it has no more descriptors"
        assert in_sockets() - before < MEMORY_MB << 20


@pytest.mark.parametrize("what", ["os.write(1, b'a line of output' * 3 + b'\\n' * 1000)", "os.write(1, b'A' * 65536)", "os.write(1, b'\\n' * 65536)"],
                         ids=["lines", "no line", "empty lines"])
def test_a_flood_of_output_leaves_the_neighbour_alone(pair, what):
    """The work of its holder is on nobody's bill: it is bounded by what a browser takes."""
    agent, neighbour = pair
    with neighbour.watched(f"a flood of output ({what})"):
        assert agent.run(f"import os, time\nend = time.monotonic() + 1.5\nwhile time.monotonic() < end: {what}\nout = 'done'", 120) == "done"


def test_many_busy_processes_share_what_one_session_may_have(pair):
    agent, neighbour = pair
    with neighbour.watched("many busy processes"):
        agent.tell("import os\nfor i in range(12):\n    os.fork() or exec('while True: pass')\nout = 'started'")
        group = agent.group("cpu")
        wait_until(lambda: len(group.pids()) > 12, 30, "they run")
        started, before = time.monotonic(), group.processor_seconds()
        wait_until(lambda: group.processor_seconds() - before >= 1, 60, "they work for a second")
        assert time.monotonic() - started >= 1.6, "half a core and no more"


def test_a_full_disk_is_the_agents_own(stack, pair):
    agent, neighbour = pair
    fill = "f = open('big', 'ab', buffering=0)\nwhile True: f.write(bytes(1 << 16))"
    with neighbour.watched("a full disk"):
        assert agent.run(fill) == ENOSPC
        assert DISK_MB << 20 >= int(agent.run("import os; out = os.stat('big').st_size")) > (DISK_MB - 1) << 20
        assert neighbour.run("open('mine', 'wb').write(bytes(8 << 20)); out = 'written'") == "written"
    files = {f["path"]: f["content"] for f in stack.internal("GET", f"/sessions/{agent.session}/files").json()["files"]}
    assert "big" in files and "agent.py" in files
    assert agent.run("os.unlink('big'); open('small', 'w').write('x'); out = 'goes on'") == "goes on"


def test_a_disk_full_of_files_is_the_agents_own(pair):
    agent, neighbour = pair
    with neighbour.watched("a disk full of empty files"):
        assert agent.run("i = 0\nwhile True:\n    i += 1; open(f'f{i}', 'w').close()").startswith("OSError(28, ")
        count = int(agent.run("import os; out = len(os.listdir('.'))"))
        assert 900 <= count <= 1024
        assert neighbour.run("open('another', 'w').close(); out = 'made'") == "made"


@pytest.mark.parametrize("files", [{"big.txt": "x" * 6_000_000}, {f"f{i}.txt": "x" for i in range(1500)}],
                         ids=["bytes", "number"])
def test_a_program_that_does_not_fit_is_refused(files):
    with Stack(AGENT_SIMULATOR_DISK_MB="4") as own:
        reply = own.internal("POST", "/sessions", {
            "session_id": str(uuid.uuid4()), "agent_code": "x = 1", "config_yaml": "", "env_vars": {}, "event_list": [],
            "support_files": files, "workspace_paths": []})
        assert reply.status == 413, reply
        assert "more room or files than a session may have (4 MiB)" in reply.json()["detail"]
        assert_nothing_left(own)


@pytest.mark.parametrize("place, megabytes", [("/tmp", 64), ("/dev/shm", 64), ("/var/tmp", 8), ("/run", 8)])
def test_private_temporary_directories_are_bounded_too(pair, place, megabytes):
    agent, neighbour = pair
    assert agent.run(f"f = open('{place}/big', 'wb', buffering=0)\nwhile True: f.write(bytes(1 << 16))") == ENOSPC
    assert int(agent.run(f"import os; out = os.stat('{place}/big').st_size")) <= megabytes << 20
    assert neighbour.run(f"open('{place}/mine', 'wb').write(bytes(4 << 20)); out = 'written'") == "written"


def test_files_are_still_there_after_the_end(stack):
    with Stack(**{**SETTINGS, "AGENT_SIMULATOR_DETACH_SECONDS": "30"}) as short:
        session = short.create_program("open('result', 'w').write('42')\n" + OBEDIENT)
        with short.internal_socket(session) as ws:
            assert json.loads(ws.recv(timeout=60))["message"] == "hello"
        pid = next(p for p in short.session_processes()
                   if "agent.py" in pathlib.Path(f"/proc/{p}/cmdline").read_text().split("\0")[1:])
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: f"session={session} ended: signaled 9" in short.log_text(), 20, "the agent ends")
        files = {f["path"]: f["content"] for f in short.internal("GET", f"/sessions/{session}/files").json()["files"]}
        assert files["result"] == "42"
        assert short.internal("DELETE", f"/sessions/{session}").status == 200
        assert_nothing_left(short)


def test_a_killed_launcher_leaves_nothing_that_the_next_one_does_not_clean():
    with Stack(**SETTINGS) as own:
        with Agent(own) as agent:
            assert session_groups(own)
            assert agent.run("open('x', 'w').write('y'); out = 'written'") == "written"
            kill(own.children("agentsim-launcher")[0])
            wait_until(lambda: own.children("agentsim-launcher") and own.sandbox() == "ok", 40, "it is back")
            assert_nothing_left(own)
    assert not groups_of(own.uid_base), "a stopped service has no control group of its own either"


def test_a_browser_is_told_the_reason(diagram):
    request = diagram("custom_code")
    request["model"]["elements"]["a1"]["name"] = (
        "def eat(session: Session):\n    kept = []\n    while True:\n        kept.append(bytearray(1 << 20))\n")
    with Stack(AGENT_SIMULATOR_MEMORY_MB="400") as own:
        with own.talk(own.create(request), features=["exit"]) as talk:
            exit_frame = talk.until(lambda f: f.get("type") == "exit", 90)
        assert (exit_frame["reason"], exit_frame["code"]) == ("memory", 9)
        own.assert_clean()


def test_an_agent_that_needs_too_much_to_start_hears_so():
    with Stack(AGENT_SIMULATOR_MEMORY_MB="60") as own:
        session = own.create_program("kept = []\nwhile True: kept.append(bytearray(1 << 20))")
        with own.internal_socket(session) as ws:
            frames = []
            with pytest.raises(ConnectionClosed):
                while True:
                    frames.append(json.loads(ws.recv(timeout=60)))
        assert frames[-1]["message"].startswith("The agent needed more memory than it may have before it was ready.")
        own.assert_clean()
