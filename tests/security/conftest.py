"""One service with three slots. In one lives a "sibling", in one the "bag" of files that outsiders ask for. In the third a
"wrecker" kills what it can, an "earlier" session leaves what it can, and then "the attacker" gets that slot and runs every
attempt of inside/. The service stands in a network of the test, and beside it another one, in which the attacker's
sandbox was there before the attacker."""
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
from tests.support.stack import TOKEN, Stack, processes_of_uids, wait_until  # noqa: E402
from tests.support.wire import alive  # noqa: E402

SERVERS = ROOT / "tests" / "support" / "world.py"
SECRET = "sk-credential-of-the-attacker-0815"
BAG_SECRET = "sk-credential-of-the-bag-4711"
SETTINGS = {
    "AGENT_SIMULATOR_MAX_SESSIONS": "3",
    "AGENT_SIMULATOR_RLIMIT_AS_GB": "4",
    "AGENT_SIMULATOR_RLIMIT_CPU_SEC": "60",
    "AGENT_SIMULATOR_RLIMIT_FSIZE_MB": "33",
    "AGENT_SIMULATOR_RLIMIT_NPROC": "48",
    "AGENT_SIMULATOR_RLIMIT_NOFILE": "200",
    # Nobody attaches to some of the sessions and some never listen; a busy machine takes its time.
    "AGENT_SIMULATOR_READY_SECONDS": "600",
    "AGENT_SIMULATOR_DETACH_SECONDS": "600",
}
ATTACKER = """
import sys
print("LOADED", "yaml" in sys.modules)
import kit
kit.note_descriptors()
import json, time
kit.facts.update(json.load(open("facts.json")))
import %s
kit.run_all()
print("DONE", flush=True)
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


@pytest.fixture(scope="session")
def warm_stack(net):
    running = Stack(**SETTINGS, AGENT_SIMULATOR_WARM_POOL="1")
    running.wrapper = net.command("here")
    with running:
        wait_until(lambda: running.counter("agentsim_warm") == 1, 60, "an interpreter waits")
        yield running


@contextlib.contextmanager
def attached(stack, session, last):
    """The session's lines until one begins with `last`; as long as it is attached it gives its slot to nobody."""
    lines = []
    with stack.internal_socket(session) as ws:
        with contextlib.suppress(ConnectionClosed):
            while not lines or not lines[-1].startswith(last):
                frame = json.loads(ws.recv(timeout=120))
                lines.append(frame.get("line") or "")
        assert lines[-1].startswith(last), "\n".join(lines)
        yield lines


def said(stack, session, last):
    with attached(stack, session, last) as lines:
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


def parent_name(pid):
    with contextlib.suppress(OSError):
        parent = re.search(r"PPid:\s*(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text())[1]
        return pathlib.Path(f"/proc/{parent}/comm").read_text().strip()
    return ""


def pids_of(stack, uid):
    """Process ids as the machine knows them: of a session, and of the service."""
    found = {}
    for pid in processes_of_uids(uid, uid):
        words = []
        with contextlib.suppress(OSError):
            words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")
        name = os.path.basename(words[0]) if words else ""
        if name == "agentsim-holder":
            found["holder"] = pid
        elif name == "bwrap":
            found["bubblewrap"] = pid
        elif "agent.py" in words and parent_name(pid) == "agentsim-pid1":  # not a child of it that lives for a moment
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
    with attached(stack, session, "SIBLING ") as lines:
        info = json.loads(lines[-1].removeprefix("SIBLING "))
        info["session"], info["slot"] = session, slot_of(stack, session)
        info["work"] = str(stack.slot_dir(info["slot"]) / "work")
        info["pids"] = pids_of(stack, info["uid"])
        yield info
    stack.internal("DELETE", f"/sessions/{session}")


@pytest.fixture(scope="session")
def bag(stack, sibling, diagram):
    """A session of the public surface whose work directory is full of tricks: its id, slot, user and process ids."""
    request = diagram("talk_custom_code")
    action = next(e for e in request["model"]["elements"].values() if e.get("actionType") == "CustomCodeAction")
    tricks = (HERE / "inside" / "tricks.py").read_text()
    action["name"] = f"def act(session):\n    run = exec  # the check of custom code is advice, no border\n    run({tricks!r}, {{}})\n"
    request["credentials"] = {"openAiApiKey": BAG_SECRET}
    session = stack.create(request)
    with stack.talk(session) as talk:
        talk.until(lambda frame: frame.get("line") == "TRICKS")
        slot = slot_of(stack, session)
        yield {"session": session, "slot": slot, "uid": uid_of_slot(stack, slot), "pids": pids_of(stack, uid_of_slot(stack, slot))}
    stack.end(session)


@pytest.fixture(scope="session")
def wrecked(stack, sibling, bag):
    """How it went when an agent sent SIGKILL to everybody it could: its last words, and who was still there."""
    session = stack.create_program("import os, signal, time\nchild = os.fork() or time.sleep(60)\nos.kill(-1, signal.SIGKILL)\nos.wait()\n"
                                   "try: os.kill(-1, signal.SIGKILL)\nexcept OSError as e: print('sent', e.strerror, flush=True)\n")
    lines = said(stack, session, "sent")
    stack.internal("DELETE", f"/sessions/{session}")
    return {"lines": lines, "alive": [os.path.exists(f"/proc/{pid}") for who in (sibling, bag) for pid in who["pids"].values()]}


def facts_for(stack, sibling, rebind):
    """What an attacker who knows the service and the machine well could guess."""
    python = pathlib.Path(stack.env.get("AGENT_SIMULATOR_PYTHON", "/opt/agentsim/runtime/bin/python"))
    large = max((p for p in pathlib.Path("/usr/bin").iterdir() if p.is_file()), key=lambda p: p.stat().st_size)
    return {
        "calls": numbers_of_calls(), "newest": 450, "machine": platform.machine(), "sibling": {k: sibling[k] for k in ("udp", "uid", "work")},
        "pids": sibling["pids"], "abstract": abstract_name(), "rebind": rebind, "ports": [stack.port, stack.internal_port],
        "sockets": [str(p) for p in stack.runtime_dir.rglob("*") if p.is_socket()],
        "directories": [str(p) for p in (stack.dir, stack.state_dir, stack.runtime_dir, stack.state_dir / "slots", stack.state_dir / "disks", sibling["work"])],
        "addresses": ["11.77.0.1", "10.77.0.1", "11.77.0.2", "169.254.169.254", "2a11:77::1", "fd77::2", "192.0.2.1"],
        "own_files": [f"{name}.py" for name in ("kit", *AREAS)], "python": os.path.realpath(python.parent) + "/" + python.name,
        "large_file": str(large), "proc": sorted(p.name for p in pathlib.Path("/proc").iterdir() if p.is_file()),
        "setuid": setuid_programs(), "token": TOKEN.encode().hex(),
    }


def attack(stack, sibling, rebind):
    """A session that makes every attempt: its id. rebind: a name that nobody has asked for."""
    facts = facts_for(stack, sibling, rebind)
    files = {f"{name}.py": (HERE / "inside" / f"{name}.py").read_text() for name in ("kit", *AREAS)}
    return stack.create_program(ATTACKER % ", ".join(AREAS), support_files={**files, "facts.json": json.dumps(facts)}, env_vars={"MY_KEY": SECRET})


@pytest.fixture(scope="session")
def target():
    """A socket of the machine with an abstract name, which everybody there could connect to."""
    with socket.socket(socket.AF_UNIX) as abstract:
        abstract.bind("\0" + abstract_name())
        abstract.listen()
        yield


def abstract_name():
    return f"agentsim-test-{os.getpid()}"


def outcomes_of(lines):
    return dict(json.loads(line.removeprefix("OUTCOME ")) for line in lines if line.startswith("OUTCOME "))


@pytest.fixture(scope="session")
def attacker(stack, net, sibling, bag, wrecked, target):
    """The session in which every attempt ran, right after another one had its slot: outcomes by name, then it lives on."""
    earlier = stack.create_program((HERE / "inside" / "earlier.py").read_text())
    said(stack, earlier, "LEFT")
    slot = slot_of(stack, earlier)
    uid = uid_of_slot(stack, slot)
    assert len(processes_of_uids(uid, uid)) >= 7
    assert stack.internal("DELETE", f"/sessions/{earlier}").status == 200
    left = {"processes": alive(uid, uid), "directory": stack.slot_dir(slot).exists(),
            "socket": (stack.runtime_dir / "holders" / f"{slot}.sock").exists()}
    session = attack(stack, sibling, "rebind.example")
    assert slot_of(stack, session) == slot
    with attached(stack, session, "DONE") as lines:
        assert "LOADED False" in lines
        yield {"session": session, "slot": slot, "uid": uid, "pids": pids_of(stack, uid), "outcomes": outcomes_of(lines), "left": left}
    stack.internal("DELETE", f"/sessions/{session}")


@pytest.fixture(scope="session")
def warm_attacker(warm_stack, net, sibling, target):
    """The same in a sandbox that had waited for it: outcomes by name."""
    session = attack(warm_stack, sibling, "rebind-too.example")
    lines = said(warm_stack, session, "DONE")
    assert "LOADED True" in lines and warm_stack.counter("agentsim_warm_starts_total") == 1
    yield {"outcomes": outcomes_of(lines)}
    warm_stack.internal("DELETE", f"/sessions/{session}")


@pytest.fixture(scope="session")
def diagram():
    return lambda name: json.loads((ROOT / "tests" / "fixtures" / "diagrams" / f"{name}.json").read_text(encoding="utf-8"))


@pytest.fixture
def free_slot(stack, sibling, bag, attacker):
    """The attacker has done its work: its slot is for others, who must wait until it is free."""
    stack.internal("DELETE", f"/sessions/{attacker['session']}")
    return attacker["slot"]


def pytest_collection_modifyitems(items):
    """Attempts that need the attacker's slot come last."""
    items.sort(key=lambda item: "free_slot" in getattr(item, "fixturenames", ()))
