"""One service with two slots. In one an "earlier" session leaves what it can and ends; then "the attacker" gets that slot and
runs every attempt of inside/, while a "sibling" lives in the other. The service stands in a network of the test."""
import contextlib
import ctypes
import json
import os
import pathlib
import platform
import re
import socket
import stat
import sys

import pytest
from websockets.exceptions import ConnectionClosed

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT), str(HERE / "inside")]

from tests.security.table import AREAS  # noqa: E402
from tests.support.netns import Network  # noqa: E402
from tests.support.stack import TOKEN, Stack, processes_of_uids  # noqa: E402

SERVERS = ROOT / "tests" / "support" / "world.py"
SECRET = "sk-credential-of-the-attacker-0815"
SETTINGS = {
    "AGENT_SIMULATOR_MAX_SESSIONS": "2",
    "AGENT_SIMULATOR_RLIMIT_AS_GB": "4",
    "AGENT_SIMULATOR_RLIMIT_CPU_SEC": "60",
    "AGENT_SIMULATOR_RLIMIT_FSIZE_MB": "33",
    "AGENT_SIMULATOR_RLIMIT_NPROC": "48",
    "AGENT_SIMULATOR_RLIMIT_NOFILE": "200",
}
ATTACKER = """
import kit
kit.note_descriptors()
import json, time
kit.facts.update(json.load(open("facts.json")))
import %s
kit.run_all()
print("DONE", flush=True)
%s
time.sleep(600)
"""


@pytest.fixture(scope="session")
def net(tmp_path_factory):
    folder = tmp_path_factory.mktemp("world")
    with Network() as network:
        network.log, network.dns_log = folder / "hits", folder / "names"
        network.log.touch()
        network.run("world", [sys.executable, SERVERS, "http", network.log])
        network.run("here", [sys.executable, SERVERS, "http", network.log, "--port", "8080"])
        network.run("here", [sys.executable, SERVERS, "dns", network.dns_log])
        with network.inside("here"):
            yield network


@pytest.fixture(scope="session")
def stack(net):
    running = Stack(**SETTINGS)
    running.wrapper = net.command("here")
    with running:
        yield running
        running.assert_clean()


def said(stack, session, last):
    """The session's lines until one begins with `last`."""
    lines = []
    with stack.internal_socket(session) as ws:
        with contextlib.suppress(ConnectionClosed):
            while not lines or not lines[-1].startswith(last):
                frame = json.loads(ws.recv(timeout=120))
                lines.append(frame.get("line") or "")
    assert lines[-1].startswith(last), "\n".join(lines)
    return lines


def uid_of_slot(stack, slot):
    return stack.uid_base + slot


def slot_of(stack, session):
    for pid in processes_of_uids(stack.uid_base, stack.uid_base + 10):
        with contextlib.suppress(OSError):
            words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            if session.encode() in words and b"--slot" in words:
                return int(words[words.index(b"--slot") + 1])
    raise AssertionError(f"no holder of {session}")


def pids_of(stack, uid):
    """Process ids as the machine knows them: of a session, and of the service."""
    found = {}
    for pid in processes_of_uids(uid, uid):
        words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")
        name = os.path.basename(words[0])
        if name == "agentsim-holder":
            found["holder"] = pid
        elif name == "bwrap":
            found["bubblewrap"] = pid
        elif "agent.py" in words and name != "agentsim-pid1":
            found["sibling"] = pid
    found["keeper"] = stack.keeper.pid
    for name in ("supervisor", "launcher"):
        found[name] = stack.children("agentsim-" + name)[0]
    found["nginx"] = stack.children("nginx")[0]
    return found


def numbers_of_calls():
    """Every call's number on this machine, as libseccomp knows it; negative where there is none."""
    library = ctypes.CDLL("libseccomp.so.2")
    words = {word for path in (HERE / "inside").glob("*.py") for word in re.findall(r'"([a-z_][a-z0-9_]*)"', path.read_text())}
    return {word: library.seccomp_syscall_resolve_name(word.encode()) for word in sorted(words)}


def setuid_programs():
    return [str(p) for p in sorted(pathlib.Path("/usr/bin").iterdir()) if not p.is_symlink() and p.stat().st_mode & (stat.S_ISUID | stat.S_ISGID)
            and p.stat().st_mode & 0o5][:20]


@pytest.fixture(scope="session")
def sibling(stack):
    """The session beside: its id, what it said, its slot and process ids."""
    session = stack.create_program((HERE / "inside" / "sibling.py").read_text(), env_vars={"SIBLING_KEY": "sk-of-the-sibling"})
    info = json.loads(said(stack, session, "SIBLING ")[-1].removeprefix("SIBLING "))
    info["session"], info["slot"] = session, slot_of(stack, session)
    info["work"] = str(stack.state_dir / "slots" / str(info["slot"]) / "work")
    info["pids"] = pids_of(stack, info["uid"])
    yield info
    stack.internal("DELETE", f"/sessions/{session}")


@pytest.fixture(scope="session")
def facts(stack, net, sibling):
    """What an attacker who knows the service and the machine well could guess."""
    python = pathlib.Path(stack.env.get("AGENT_SIMULATOR_PYTHON", "/opt/agentsim/runtime/bin/python"))
    large = max((p for p in pathlib.Path("/usr/bin").iterdir() if p.is_file()), key=lambda p: p.stat().st_size)
    return {
        "calls": numbers_of_calls(), "newest": 450, "machine": platform.machine(), "sibling": {k: sibling[k] for k in ("udp", "uid", "work")},
        "pids": sibling["pids"], "abstract": f"agentsim-test-{os.getpid()}", "ports": [stack.port, stack.internal_port],
        "sockets": [str(p) for p in stack.runtime_dir.rglob("*") if p.is_socket()],
        "directories": [str(p) for p in (stack.dir, stack.state_dir, stack.runtime_dir, stack.state_dir / "slots", sibling["work"])],
        "addresses": ["11.77.0.1", "10.77.0.1", "11.77.0.2", "169.254.169.254", "2a11:77::1", "fd77::2", "192.0.2.1"],
        "own_files": [f"{name}.py" for name in ("kit", *AREAS)], "python": os.path.realpath(python.parent) + "/" + python.name,
        "large_file": str(large), "proc": sorted(p.name for p in pathlib.Path("/proc").iterdir() if p.is_file()),
        "setuid": setuid_programs(), "token": TOKEN.encode().hex(),
    }


@pytest.fixture(scope="session")
def attacker(stack, net, sibling, facts):
    """The session in which every attempt ran, right after another one had its slot: outcomes by name, then it lives on."""
    earlier = stack.create_program((HERE / "inside" / "earlier.py").read_text())
    said(stack, earlier, "LEFT")
    slot = slot_of(stack, earlier)
    assert stack.internal("DELETE", f"/sessions/{earlier}").status == 200
    with socket.socket(socket.AF_UNIX) as abstract:
        abstract.bind("\0" + facts["abstract"])
        abstract.listen()
        files = {f"{name}.py": (HERE / "inside" / f"{name}.py").read_text() for name in ("kit", *AREAS)}
        session = stack.create_program(ATTACKER % (", ".join(AREAS), (HERE / "inside" / "tricks.py").read_text()),
                                       support_files={**files, "facts.json": json.dumps(facts)}, env_vars={"MY_KEY": SECRET})
        assert slot_of(stack, session) == slot
        lines = said(stack, session, "TRICKS")
    outcomes = dict(json.loads(line.removeprefix("OUTCOME ")) for line in lines if line.startswith("OUTCOME "))
    yield {"session": session, "slot": slot, "uid": uid_of_slot(stack, slot), "outcomes": outcomes}
    stack.internal("DELETE", f"/sessions/{session}")
