"""A holder by itself: programs that start or do not, what they see, and what the holder checks before."""
import contextlib
import json
import pathlib
import shutil
import subprocess
import tempfile

import pytest

from tests.support import wire
from tests.support.holder import UID, server
from tests.support.ports import ports
from tests.support.stack import wait_until
from tests.support.wire import Failed, Slots, lines


def test_a_program_that_ends_at_once_shows_its_output_and_why(holder, control):
    assert holder.run({"agent.py": "import sys\nprint('one')\nprint('two', file=sys.stderr)\nsys.exit(7)"}) == 8765
    with holder.attach() as browser:
        frames = browser.rest()
    assert lines(frames) == ["one", "two"]
    assert [f["type"] for f in frames] == ["stdout", "stdout", "error"]
    assert frames[-1]["message"] == "The agent ended before it was ready (exit code 7).\none\ntwo\n"
    assert browser.exit == ("start-failed", 7)
    assert control.gone() == ("start-failed", 7)
    control.done()


def test_an_agent_that_never_listens_ends_at_the_deadline(hasty):
    holder, control = hasty
    holder.run({"agent.py": "print('waiting')\nimport time\ntime.sleep(600)"})
    with holder.attach() as browser:
        frames = browser.rest()
    assert frames[-1] == {"type": "error", "message": "The agent was not ready after 6 seconds.\nwaiting\n"}
    assert control.gone() == ("start-failed", 0)


def test_a_ping_is_answered_whatever_the_session_does(holder, control):
    control.send(wire.PING)
    control.until(wire.PONG).end()
    holder.run({"agent.py": "import time\ntime.sleep(600)"})
    control.send(wire.PING)
    control.send(wire.PING)
    control.until(wire.PONG).end()
    control.until(wire.PONG).end()
    control.end()
    control.gone()
    control.send(wire.PING)
    control.until(wire.PONG).end()


def test_an_agent_that_only_listens_is_not_ready(hasty):
    holder, _ = hasty
    holder.run({"agent.py": "import os,socket,time\ns=socket.create_server(('127.0.0.1',int(os.environ['BESSER_WS_PORT'])))\n"
                            "c,_=s.accept()\nc.sendall(b'HTTP/1.1 200 OK\\r\\n\\r\\n')\nprint('answered')\ntime.sleep(600)"})
    with holder.attach() as browser:
        frames = browser.rest()
    assert lines(frames) == ["answered"] and browser.exit == ("start-failed", 0)


@pytest.mark.parametrize("files, dirs, env, kind", [
    ({"../agent.py": "x"}, [], {}, 1),
    ({"/agent.py": "x"}, [], {}, 1),
    ({"a/../agent.py": "x"}, [], {}, 1),
    ({"a//b": "x"}, [], {}, 1),
    ({"main.py": "x"}, [], {}, 1),
    ({"agent.py": "x", "agent.py/b": "y"}, [], {}, 1),
    ({"agent.py": "x", "tmp": "y"}, [], {}, 1),
    ({}, ["agent.py"], {}, 1),
    ({"agent.py": "x"}, [], {"1BAD": "y"}, 1),
    ({"agent.py": "x"}, [], {"A B": "y"}, 1),
    ({"agent.py": "x"}, [], {"HOME": "/root"}, 1),
])
def test_a_bundle_that_makes_no_sense_is_refused_and_ends_the_session(holder, control, files, dirs, env, kind):
    with pytest.raises(Failed) as caught:
        holder.run(files, dirs, env)
    assert caught.value.kind == kind
    assert control.gone()[0] == "start-failed"


def test_a_worker_that_dies_midway_ends_the_session(holder, control):
    with holder.bundle({"agent.py": "print('no')"}):
        pass
    assert control.gone() == ("start-failed", 0)
    control.done()


def test_a_worker_that_dies_before_its_first_word_ends_the_session(holder, control):
    holder.connect().close()
    assert control.gone() == ("start-failed", 0)
    control.done()


def test_there_is_one_bundle_in_a_session(holder, control):
    with holder.bundle({"agent.py": "import time\ntime.sleep(60)"}) as first, holder.bundle() as second:
        assert second.recv()[0] == wire.HOLD_FAILED
        first.send(wire.HOLD_START)
        assert first.recv()[0] == wire.HOLD_STARTED
    with holder.bundle() as third:
        assert third.recv()[0] == wire.HOLD_FAILED
    assert holder.processes() != []


def test_the_environment_is_exactly_what_the_contract_says(slots, holder):
    holder.run({"agent.py": "import json,os\nprint(json.dumps(dict(os.environ)))"},
               env={"OPENAI_API_KEY": "sk-1", "LD_PRELOAD": "/work/x.so"})
    with holder.attach() as browser:
        frames = browser.rest()
    shown = json.loads([line for line in lines(frames) if line.startswith("{")][0])
    assert shown == {
        "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "PYTHONUNBUFFERED": "1", "PYTHONDONTWRITEBYTECODE": "1",
        "BESSER_TEST_MODE": "1", "BESSER_WS_PORT": "8765", "NLTK_DATA": "/opt/nltk_data", "HOME": "/work",
        "TMPDIR": "/work/tmp", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2",
        "HTTP_PROXY": "http://127.0.0.1:3128", "HTTPS_PROXY": "http://127.0.0.1:3128",
        "http_proxy": "http://127.0.0.1:3128", "https_proxy": "http://127.0.0.1:3128",
        "NO_PROXY": "127.0.0.1,localhost", "no_proxy": "127.0.0.1,localhost",
        "OPENAI_API_KEY": "sk-1", "LD_PRELOAD": "/work/x.so"}
    assert "sk-1" not in slots.log.read_text()


def test_credentials_stand_on_no_command_line_and_outlive_the_start_nowhere_outside(holder, control):
    holder.run(server(), env={"OPENAI_API_KEY": "sk-very-secret"})
    control.phase(wire.IS_READY)
    for pid in holder.processes():
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # who made the socket inside is there for a moment
            assert b"sk-very-secret" not in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
    found = 0
    with open(f"/proc/{holder.pid}/mem", "rb", buffering=0) as memory:
        for line in pathlib.Path(f"/proc/{holder.pid}/maps").read_text().splitlines():
            low, high = (int(x, 16) for x in line.split()[0].split("-"))
            if " rw-p " in line and high - low < 1 << 30:
                memory.seek(low)
                found += memory.read(high - low).count(b"sk-very-secret")
    assert found == 0


# ---- inside the sandbox ---------------------------------------------------------------------------------------------

INSIDE = r"""
import ctypes, json, os, resource, socket, subprocess
def tries(f):
    try:
        f()
        return "worked"
    except OSError as e:
        return e.errno
def outside():
    socket.create_connection(("1.1.1.1", 53), 2)
out = {
    "uid": os.getresuid(), "gid": os.getresgid(), "groups": os.getgroups(), "cwd": os.getcwd(),
    "processes": sorted(p for p in os.listdir("/proc") if p.isdigit()),
    "top": sorted(os.listdir("/")), "etc": sorted(os.listdir("/etc")), "var": os.listdir("/var"),
    "hostname": socket.gethostname(), "loopback": socket.gethostbyname("localhost"),
    "network": sorted(os.listdir("/sys/class/net")) if os.path.exists("/sys") else "no /sys",
    "outside": tries(outside),
    "root": tries(lambda: open("/x", "w")), "dev": tries(lambda: open("/dev/x", "w")),
    "usr": tries(lambda: open("/usr/x", "w")), "etc_write": tries(lambda: open("/etc/hosts", "w")),
    "userns": ctypes.CDLL(None, use_errno=True).unshare(0x10000000),
    "mount": ctypes.CDLL(None, use_errno=True).mount(b"none", b"/tmp", b"tmpfs", 0, None),
    "caps": [l.split()[1] for l in open("/proc/self/status") if l.startswith("Cap")],
    "no_new_privs": [l.split()[1] for l in open("/proc/self/status") if l.startswith("NoNewPrivs")],
    "fds": sorted(os.listdir("/proc/self/fd")),
    "pid1_fds": tries(lambda: os.listdir("/proc/1/fd")), "pid1_mem": tries(lambda: open("/proc/1/mem", "rb")),
    "kill1": tries(lambda: os.kill(1, 9)),
    "limits": {n: resource.getrlimit(getattr(resource, "RLIMIT_" + n)) for n in ("AS", "CPU", "FSIZE", "NPROC", "NOFILE", "CORE")},
    "tmp": os.statvfs("/tmp").f_blocks * os.statvfs("/tmp").f_frsize, "shm": os.statvfs("/dev/shm").f_blocks * os.statvfs("/dev/shm").f_frsize,
    "whoami": subprocess.run(["id", "-un"], capture_output=True, text=True).stdout,
    "stdin": os.readlink("/proc/self/fd/0"),
}
open("written", "w").write("yes"); open(os.path.join(os.environ["TMPDIR"], "t"), "w").close()
print(json.dumps(out))
"""


def test_an_agent_sees_and_may_only_what_the_plan_says(holder):
    holder.run({"agent.py": INSIDE})
    with holder.attach() as browser:
        frames = browser.rest()
    seen = json.loads([line for line in lines(frames) if line.startswith("{")][0])
    assert seen["uid"] == seen["gid"] == [holder.uid] * 3 and seen["groups"] in ([], [holder.uid])
    assert seen["cwd"] == "/work" and len(seen["processes"]) <= 3 and seen["processes"][0] == "1"
    assert set(seen["top"]) <= {"bin", "sbin", "lib", "lib32", "lib64", "libx32", "usr", "etc", "opt", "proc", "dev", "tmp",
                                "run", "var", "work"}
    assert set(seen["etc"]) <= {"hosts", "hostname", "passwd", "group", "nsswitch.conf", "ld.so.cache", "alternatives", "ssl",
                                "localtime"}
    assert seen["var"] == ["tmp"] and seen["hostname"] == "agent" and seen["loopback"] == "127.0.0.1"
    assert seen["outside"] == 101 and seen["network"] == "no /sys"
    assert seen["root"] == seen["dev"] == seen["usr"] == 30 and seen["etc_write"] in (13, 30)
    assert seen["userns"] == -1 and seen["mount"] == -1
    assert set(seen["caps"]) == {"0" * 16} and seen["no_new_privs"] == ["1"]
    assert seen["fds"] == ["0", "1", "2", "3"] and seen["stdin"] == "/dev/null"
    assert seen["pid1_fds"] == 13 and seen["pid1_mem"] == 13
    assert seen["limits"] == {"AS": [4 << 30] * 2, "CPU": [30, 31], "FSIZE": [100 << 20] * 2, "NPROC": [64] * 2,
                              "NOFILE": [1024] * 2, "CORE": [0, 0]}
    assert seen["tmp"] == 64 << 20 and seen["shm"] == 64 << 20 and seen["whoami"] == "agent\n"
    assert holder.list()[0]["written"] == b"yes"


def test_twenty_silent_agents_start_and_leave_nothing():
    # They never listen: on a busy machine the first one's time must not be up before the last one has started.
    with Slots(UID + 80, AGENT_SIMULATOR_MAX_SESSIONS="20", AGENT_SIMULATOR_READY_SECONDS="300") as slots, \
            contextlib.ExitStack() as ends:
        holders = []
        for n in range(20):
            holders.append(slots.start(n))
            ends.callback(slots.stop, n)
            ends.enter_context(holders[-1].control())
        for h in holders:
            h.run({"agent.py": "import time\ntime.sleep(600)"})
        # holder, bubblewrap, PID 1, interpreter; for a moment also who makes the socket inside
        wait_until(lambda: all(len(h.processes()) == 4 for h in holders), 30, "nothing else is left in each")
        ends.close()
        for h in holders:
            assert h.processes() == [] and not h.dir.exists() and not h.path.exists()


def test_a_sandbox_that_cannot_be_built_is_told_to_all():
    programs = pathlib.Path(tempfile.mkdtemp(prefix="agentsim-programs-", dir="/tmp"))
    programs.chmod(0o755)
    shutil.copy(wire.BUILD / "bin" / "agentsim-holder", programs)
    (programs / "agentsim-pid1").write_text("#!/nonexistent\n")
    (programs / "agentsim-pid1").chmod(0o755)
    with Slots(UID + 40, AGENT_SIMULATOR_PROGRAM_DIR=str(programs)) as slots:
        holder = slots.start(0)
        with holder.control() as control:
            with pytest.raises(Failed, match="could not be built: bwrap: execvp") as caught:
                holder.run({"agent.py": "print('never')"})
            assert caught.value.kind == 10  # unavailable
            with holder.attach() as browser:
                frames = browser.rest()
            assert "could not be started" in frames[-1]["message"] and browser.exit == ("start-failed", 0)
            assert control.gone() == ("start-failed", 0)
        slots.stop(0)
    shutil.rmtree(programs)


# ---- other settings -------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("settings", [{"AGENT_SIMULATOR_SANDBOX": "off"}, {"AGENT_SIMULATOR_EGRESS": "host"}])
def test_in_a_shared_network_each_slot_has_its_port(settings):
    base = ports(20)
    with Slots(UID + 60, AGENT_SIMULATOR_PORT_POOL_START=str(base), **settings) as slots:
        holders = [slots.start(n) for n in (0, 3)]
        for h in holders:
            with h.control() as control:
                setup = "if os.fork() == 0:\n    os.setsid()\n    if os.fork(): os._exit(0)\n    time.sleep(600)"
                assert h.run(server(setup=setup)) == base + h.slot
                with h.attach() as browser:
                    browser.say('{"n": 1}')
                    browser.find(lambda f: f == {"n": 1})
                    control.end()
                    browser.rest()
                    assert browser.exit == ("stopped", 0)
                control.done()
                wait_until(lambda h=h: h.processes() == [h.pid], 10, "only the holder is left")
        for h in holders:
            slots.stop(h.slot)


def self_test(**settings):
    env = {"PATH": "/usr/bin:/bin", "AGENT_SIMULATOR_PROGRAM_DIR": str(wire.BUILD / "bin"),
           "AGENT_SIMULATOR_SESSION_UID_BASE": str(UID + 90)} | settings
    return subprocess.run([wire.BUILD / "bin" / "agentsim-holder", "--self-test"], env=env, capture_output=True, text=True,
                          timeout=60, check=False)


def test_a_holder_has_descriptors_for_its_proxys_connections():
    with Slots(UID + 40, wrapper=["prlimit", "--nofile=1024:4096"], AGENT_SIMULATOR_EGRESS_CONNECTIONS="1024") as slots:
        limits = pathlib.Path(f"/proc/{slots.start(0).pid}/limits")
        wait_until(lambda: next(line.split()[3:5] for line in limits.read_text().splitlines() if "open files" in line) == ["2560", "4096"],
                   10, "the holder has raised its limit")
        slots.stop(0)


def test_the_self_test_says_ok():
    done = self_test()
    assert (done.returncode, done.stdout) == (0, "sandbox OK\n"), done


@pytest.mark.parametrize("settings, words", [
    ({"AGENT_SIMULATOR_PYTHON": "/nonexistent/bin/python"}, ["interpreter", "make up"]),
    ({"AGENT_SIMULATOR_PROGRAM_DIR": "/nonexistent"}, ["agentsim-pid1", "make install"]),
    ({"AGENT_SIMULATOR_PYTHON": "/usr/bin/true"}, ["ended inside"]),
    ({"AGENT_SIMULATOR_RLIMIT_NPROC": "0"}, ["AGENT_SIMULATOR_RLIMIT_NPROC"]),
])
def test_the_self_test_says_what_is_wrong_and_the_cure(settings, words):
    done = self_test(**settings)
    assert done.returncode == 1 and done.stdout.count("\n") == 1
    assert all(word in done.stdout for word in words), done.stdout


def test_the_probe_says_ok_and_leaves_nothing(holder):
    with wire.Frames(holder.connect()) as c:
        c.send(wire.PROBE)
        f = c.expect(wire.PROBED, timeout=30)
        assert (f.u8(), f.str()) == (1, "")
    wait_until(lambda: holder.processes() == [holder.pid], 10, "only the holder is left")
