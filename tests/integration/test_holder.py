"""agentsim-holder by itself: one session at a time, with this test as supervisor, worker and browser."""
import contextlib
import json
import os
import pathlib
import select
import shutil
import stat
import struct
import subprocess
import tempfile
import time

import pytest

from tests.support import wire
from tests.support.stack import wait_until
from tests.support.uids import Users
from tests.support.wire import Closed, Failed, Slots, lines

USERS = Users(128)  # held as long as the tests run
UID = USERS.first

# A WebSocket server without the framework: what it says and does is up to the test.
SERVER = """
import os, signal, sys, threading, time
from websockets.sync.server import serve
PORT = int(os.environ["BESSER_WS_PORT"])
{setup}
def handle(ws):
    {greet}
    for m in ws:
        {each}
with serve(handle, "127.0.0.1", PORT, max_size=None, compression=None) as server:
    print("x's WebSocketPlatform starting at ws://127.0.0.1:%d" % PORT)
    server.serve_forever()
"""


def server(each="ws.send(m)", greet="pass", setup=""):
    return {"agent.py": SERVER.format(each=each.replace("\n", "\n        "), greet=greet, setup=setup)}


@pytest.fixture(scope="module")
def slots():
    with Slots(UID, AGENT_SIMULATOR_MAX_SESSIONS="20",
               AGENT_SIMULATOR_REPLAY_BYTES="262144", AGENT_SIMULATOR_DETACH_SECONDS="3",
               AGENT_SIMULATOR_READY_SECONDS="6", AGENT_SIMULATOR_RLIMIT_CPU_SEC="3") as running:
        yield running


@pytest.fixture
def holder(slots):
    running = slots.start(0)
    yield running
    slots.stop(0, timeout=30)
    assert running.processes() == [] and not running.dir.exists()


@pytest.fixture
def control(holder):
    with holder.control() as c:
        yield c


SANITIZED = "asan" in str(wire.BUILD)  # freed memory is kept there


def memory_mb(pid):
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(text.split("VmRSS:")[1].split()[0]) / 1024 / (20 if SANITIZED else 1)


# ---- starting -------------------------------------------------------------------------------------------------------

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


def test_an_agent_that_never_listens_ends_at_the_deadline(holder, control):
    holder.run({"agent.py": "print('waiting')\nimport time\ntime.sleep(600)"})
    with holder.attach() as browser:
        frames = browser.rest(timeout=20)
    assert frames[-1] == {"type": "error", "message": "The agent was not ready after 6 seconds.\nwaiting\n"}
    assert control.gone() == ("start-failed", 0)


def test_an_agent_that_only_listens_is_not_ready(holder, control):
    holder.run({"agent.py": "import os,socket,time\ns=socket.create_server(('127.0.0.1',int(os.environ['BESSER_WS_PORT'])))\n"
                            "c,_=s.accept()\nc.sendall(b'HTTP/1.1 200 OK\\r\\n\\r\\n')\nprint('answered')\ntime.sleep(600)"})
    with holder.attach() as browser:
        frames = browser.rest(timeout=20)
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
    assert seen["limits"] == {"AS": [4 << 30] * 2, "CPU": [3, 4], "FSIZE": [100 << 20] * 2, "NPROC": [64] * 2,
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


# ---- talking --------------------------------------------------------------------------------------------------------

def test_frames_pass_unchanged_both_ways_in_order(holder, control):
    holder.run(server(greet="ws.send('{\"greeting\": 1}')"))
    control.phase(wire.IS_READY)
    with holder.attach() as browser:
        browser.find(lambda f: f == {"greeting": 1})
        said = ['{"n": %d, "text": "é\\u0000 \U0001f600%s"}' % (i, "x" * (i * 37 % 5000)) for i in range(300)]
        for text in said:
            browser.say(text)
        assert [browser.frame() for _ in said] == said
    assert control.phase(wire.IS_READY)[0] is True


def test_frames_before_the_agent_is_ready_wait_for_it(holder):
    files = server(setup="time.sleep(1)")
    with holder.attach() as browser:
        browser.say('{"early": 1}')
        holder.run(files)
        browser.say('{"early": 2}')
        got = [f for f in browser.find(lambda f: f == {"early": 2}) if "early" in f]
    assert got == [{"early": 1}, {"early": 2}]


def test_the_key_of_the_conversation_is_the_session_and_stays_when_the_agent_closes(holder):
    holder.run(server(greet="ws.send('{\"key\": \"%s\"}' % ws.request.headers.get('X-Session-ID'))",
                      each="if m == 'close':\n    return\nws.send(m)"))
    with holder.attach() as browser:
        key = {"key": str(holder.session)}
        browser.find(lambda f: f == key)
        for n in range(3):
            browser.say("close")
            browser.find(lambda f: f == key)
            browser.say(json.dumps({"n": n}))
            browser.find(lambda f: f == {"n": n})


def test_what_was_said_behind_a_frame_that_made_the_agent_close_is_not_lost(holder):
    """As the runtime does: it closes on the first frame that it cannot read, and reads nothing of what came with it."""
    holder.run(server(each="time.sleep(0.1)\nif not m.startswith('{'):\n    return\nws.send(m)"))
    say = ['{"action":"user_message","message":%d}' % n for n in range(8)]
    with holder.attach() as browser:
        browser.find(lambda f: "starting at" in f.get("line", ""))
        browser.say(say[0])
        for bad, good in (("no JSON", say[1:4]), ("[1]", say[4:8])):
            browser.say(bad)
            for text in good:
                browser.say(text)
        heard = []
        while len(heard) < len(say):
            frame = browser.json()
            if "action" in frame:
                heard.append(frame["message"])
        assert heard == list(range(8))


def test_only_one_connection_exists_at_a_time(holder):
    holder.run(server(setup="count = [0]",
                      greet="count[0] += 1; ws.send('{\"now\": %d}' % count[0])",
                      each="if m == 'slow':\n    ws.socket.settimeout(None)\n    time.sleep(1.5)\n    count[0] -= 1\n    return"))
    with holder.attach() as browser:
        browser.find(lambda f: f == {"now": 1})
        browser.say("slow")
        assert browser.find(lambda f: "now" in f)[-1] == {"now": 1}


def test_states_are_told_before_the_line_that_shows_them(holder):
    prefix = "2026-01-31 12:00:00,123 - BESSER Agentic Framework - INFO - "
    said = [prefix + "[idle] Running body idle_body", prefix + "[odd] name] Running body f",
            prefix + "[idle] Running fallback body f", "glued" + prefix + "[two] Running body b", "x [near] Running body",
            "no brackets ] Running body"]
    holder.run({"agent.py": "".join(f"print({line!r})\n" for line in said)})
    with holder.attach() as browser:
        frames = browser.rest()
    shown = [f.get("line", "=" + f.get("state", "")) for f in frames if f["type"] != "error"]
    assert shown == ["=idle", said[0], "=odd] name", said[1], said[2], "=two", said[3], "=near", said[4], said[5]]
    assert {"type": "state_change", "state": "idle", "_source": "log_state"} in frames


def test_any_bytes_of_output_become_lines(holder):
    holder.run({"agent.py": "import os\nos.write(1, b'ok \\xff\\xc3(\\n\\xe2\\x82\\xac\\r\\n\\0\\x1b[0m\\n')\n"
                            "os.write(1, b'y' * 200000 + b'\\nlast without end')"})
    with holder.attach() as browser:
        got = lines(browser.rest())
    assert got[:3] == ["ok \ufffd\ufffd(", "\u20ac", "\0\x1b[0m"]
    assert [len(x) for x in got[3:-1]] == [65536, 65536, 65536, 200000 - 3 * 65536]
    assert got[-1] == "last without end"


def test_a_frame_of_fifteen_mebibytes_passes_and_one_of_seventeen_is_refused(holder):
    holder.run(server(each="ws.send('x' * int(m))"))
    with holder.attach() as browser:
        browser.say(str(15 << 20))
        while len(text := browser.frame()) < 1 << 20:
            pass
        assert text == "x" * (15 << 20)
        browser.say(str(17 << 20))
        assert "16 MiB" in browser.find(lambda f: f.get("type") == "error")[-1]["message"]
        time.sleep(0.3)
        browser.say("5")
        while (text := browser.frame()).startswith("{"):
            pass
        assert text == "xxxxx"
    assert memory_mb(holder.pid) < 100


# ---- browsers that come and go --------------------------------------------------------------------------------------

def numbered(n, size=100):
    return server(each=f"for i in range({n}):\n    ws.send('{{\"i\": %d, \"x\": \"%s\"}}' % (i, 'x' * {size}))")


def frames_i(frames):
    return [f["i"] for f in frames if "i" in f]


def test_a_browser_that_returns_gets_every_frame_once(holder, control):
    holder.run(numbered(1000))
    control.phase(wire.IS_READY)
    got, received = [], None
    with holder.attach() as browser:
        browser.say("go")
        while len(frames_i(got)) < 50:
            got.append(browser.json())
        received = browser.number
    while len(frames_i(got)) < 1000:
        with holder.attach(received) as browser:
            assert (browser.first, browser.lost) == (received + 1, 0)
            for _ in range(170):
                got.append(browser.json())
                if frames_i(got[-1:]) == [999]:
                    break
            received = browser.number
    assert frames_i(got) == list(range(1000))


def test_lost_frames_are_counted_and_do_not_move_the_clients_count(holder, control):
    holder.run(numbered(3000, 200))  # 600 kB and more, the journal holds 256 KiB
    control.phase(wire.IS_READY)
    with holder.attach() as browser:
        browser.say("go")
        head = browser.find(lambda f: f.get("i") == 5)
        received = browser.number
    wait_until(lambda: control.phase(wire.IS_READY)[1] >= 3000, 20, "all frames are there")
    with holder.attach(received) as browser:
        assert browser.first == received + 1 and browser.lost > 0
        rest = browser.find(lambda f: f.get("i") == 2999)
        lost = browser.lost
        assert frames_i(rest)[0] == 6 + lost
        assert len(frames_i(head)) + lost + len(frames_i(rest)) == 3000
        middle = browser.number - 100
    with holder.attach(middle) as browser:  # the count goes on as if nothing had been lost
        assert (browser.first, browser.lost) == (middle + 1, 0)
        assert frames_i(browser.find(lambda f: f.get("i") == 2999))[0] == 2900
    with holder.attach(received) as browser:  # the answer about the gap may not have arrived: it is told again
        assert browser.lost == lost


def test_a_fresh_browser_goes_on_where_delivery_stopped_and_counts_from_one(holder):
    holder.run(server())
    with holder.attach() as first:
        first.say('{"n": 1}')
        first.find(lambda f: f == {"n": 1})
        with holder.attach() as second:  # takes over
            with pytest.raises(Closed):
                while True:
                    first.recv()
            assert (second.first, second.lost) == (1, 0)
            second.say('{"n": 2}')
            assert second.find(lambda f: "n" in f) == [{"n": 2}]


def test_output_before_the_first_browser_waits_for_it(holder, control):
    holder.run(server(setup="[print('line', i) for i in range(2000)]"))
    control.phase(wire.IS_READY)
    with holder.attach() as browser:
        got = lines(browser.find(lambda f: "starting at" in f.get("line", "")))
    assert got[:-1] == [f"line {i}" for i in range(2000)]


def test_a_session_nobody_looks_at_ends(holder, control):
    holder.run(server())
    with holder.attach() as browser:
        browser.find(lambda f: "starting at" in f.get("line", ""))
        control.phase(wire.IS_READY)
        time.sleep(3.5)  # as long as somebody looks it goes on
        browser.say('{"n": 1}')
        browser.find(lambda f: f == {"n": 1})
    left = time.monotonic()
    assert control.gone(timeout=10) == ("stopped", 0)
    assert 2.5 < time.monotonic() - left < 6
    control.done()


def test_a_browser_in_time_keeps_the_session(holder, control):
    holder.run(server())
    control.phase(wire.IS_READY)
    for _ in range(3):
        with holder.attach() as browser:
            browser.say('{"n": 1}')
            browser.find(lambda f: f == {"n": 1})
        time.sleep(1.5)
    with holder.attach():
        pass


def test_a_slow_browser_holds_the_agent_up_and_loses_nothing(holder):
    holder.run(server(setup="print('%')",
                      each="for i in range(2000):\n    ws.send('{\"i\": %d, \"x\": \"%s\"}' % (i, 'x' * 20000))\n    print('p%d' % i)"))
    with holder.attach() as browser:
        browser.find(lambda f: "starting at" in f.get("line", ""))
        browser.say("go")
        time.sleep(2)
        assert memory_mb(holder.pid) < 40  # 40 MB wait in all, most of them inside the agent
        got = browser.find(lambda f: f.get("line") == "p1999", timeout=60)
        got += [] if 1999 in frames_i(got) else browser.find(lambda f: f.get("i") == 1999)
    assert frames_i(got) == list(range(2000))
    assert [x for x in lines(got) if x.startswith("p")] == [f"p{i}" for i in range(2000)]


def test_an_agent_that_does_not_read_holds_the_browser_up(holder):
    holder.run(server(each="if m == 'wait':\n    time.sleep(3)\nelse:\n    ws.send(m[:20])"))
    with holder.attach() as browser:
        browser.find(lambda f: "starting at" in f.get("line", ""))
        browser.say("wait")
        message = struct.pack("=IHH", 100_005, wire.SEND, 0) + wire.string(b"{}" + b" " * 99_998)
        waiting = memoryview(message * 300)
        browser.sock.setblocking(False)
        start, most = time.monotonic(), 0
        while waiting:  # as a supervisor does: writes what the socket takes
            with contextlib.suppress(BlockingIOError):
                waiting = waiting[browser.sock.send(waiting[:1 << 16]):]
            if time.monotonic() - start < 2:
                most = max(most, len(message) * 300 - len(waiting))
            select.select([], [browser.sock], [], 0.1)
        browser.sock.setblocking(True)
        assert 1 << 20 < most < 16 << 20  # the queue, the sockets; not all of it
        assert memory_mb(holder.pid) < 60
        for _ in range(300):
            while not (text := browser.frame()).startswith("{} "):
                pass


def test_output_is_drained_while_nobody_is_attached(holder, control):
    holder.run(server(setup="threading.Thread(target=lambda: [print('z' * 1000) for _ in range(20000)] and print('all'), daemon=True).start()"))
    control.phase(wire.IS_READY)
    wait_until(lambda: control.phase(wire.IS_READY)[1] > 20000, 20, "it is drained")
    assert memory_mb(holder.pid) < 40


# ---- the end --------------------------------------------------------------------------------------------------------

def ready(holder, control, files):
    holder.run(files)
    browser = holder.attach()
    control.phase(wire.IS_READY)
    return browser


@pytest.mark.parametrize("how, exit_", [
    ("os._exit(3)", ("exited", 3)),
    ("os.kill(os.getpid(), signal.SIGSEGV)", ("signaled", 11)),
    ("os.kill(os.getpid(), signal.SIGKILL)", ("signaled", 9)),
    ("while True: pass", ("cpu", 24)),
    ("signal.signal(signal.SIGXCPU, signal.SIG_IGN)\nwhile True: pass", ("cpu", 9)),
])
def test_the_end_of_the_agent_has_a_reason(holder, control, how, exit_):
    setup = "signal.signal(signal.SIGXCPU, signal.SIG_IGN)" if how.startswith("signal.") else ""
    with ready(holder, control, server(setup=setup, each="print('bye')\n" + how.split("\n")[-1])) as browser:
        browser.say("x")
        frames = browser.rest(timeout=120)  # the limit counts computing time, of which a busy machine gives little
    assert lines(frames)[-1] == "bye" and browser.exit == exit_
    assert control.gone() == exit_
    control.done()


@pytest.mark.parametrize("reason", ["stopped", "expired"])
def test_the_owner_may_end_it_whatever_it_does(holder, control, reason):
    stubborn = ("[signal.signal(s, signal.SIG_IGN) for s in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)]\n"
                "for i in range(5):\n    if os.fork() == 0:\n        os.setsid()\n        if os.fork(): os._exit(0)\n"
                "        time.sleep(600)\n")
    with ready(holder, control, server(setup=stubborn)) as browser:
        wait_until(lambda: len(holder.processes()) >= 9, 10, "its children run")
        control.end(reason)
        browser.rest()
        assert browser.exit == (reason, 0)
    assert control.gone() == (reason, 0)
    assert holder.processes() == [holder.pid]
    control.done()


def test_the_lifetime_ends_it(holder):
    with holder.control(lifetime_ms=8000) as control:
        assert 0 < control.expires - control.started < 12000
        with ready(holder, control, server()) as browser:
            browser.rest()
            assert browser.exit == ("expired", 0)
        assert control.gone() == ("expired", 0)


def test_after_the_end_it_waits_for_a_browser_then_is_done(holder, control):
    holder.run({"agent.py": "print('gone')"})
    assert control.gone()[0] == "start-failed"
    time.sleep(1)
    with holder.attach() as browser:
        assert lines(browser.rest()) == ["gone"]
    control.done(timeout=2)


def test_after_the_end_nobody_comes_and_it_is_done(holder, control):
    holder.run({"agent.py": "print('gone')"})
    control.gone()
    start = time.monotonic()
    control.done(timeout=10)
    assert 2 < time.monotonic() - start < 6


def test_a_stopped_session_nobody_looks_at_is_done_at_once(holder, control):
    holder.run(server())
    control.phase(wire.IS_READY)
    control.end()
    control.gone()
    control.done(timeout=1)


def test_what_the_agent_said_last_is_delivered(holder, control):
    with ready(holder, control, server(each="[ws.send('{\"i\": %d}' % i) for i in range(500)]\n[print(i) for i in range(500)]\nos._exit(0)")) as browser:
        browser.say("go")
        frames = browser.rest()
    assert frames_i(frames) == list(range(500))
    assert lines(frames)[-1] == "499"


def test_a_new_supervisor_adopts_what_it_finds(holder):
    with holder.control("ip:192.0.2.1", 60_000) as first:
        with ready(holder, first, server()) as browser:
            with holder.control("", 0) as second:
                assert (second.actor, second.id, second.started, second.expires) == (
                    "ip:192.0.2.1", holder.session, first.started, first.expires)
                assert second.phase(wire.IS_READY)[0] is True
                with pytest.raises(Closed):
                    while True:
                        first.recv()
                browser.say('{"n": 1}')
                browser.find(lambda f: f == {"n": 1})
                second.end()
                second.gone()
        with holder.control("", 0) as third:
            assert third.gone() == ("stopped", 0)
            third.done()


def test_the_session_lives_on_without_its_supervisor(holder):
    with holder.control() as control, ready(holder, control, server()) as browser:
        control.close()
        browser.say('{"n": 1}')
        browser.find(lambda f: f == {"n": 1})


# ---- files ----------------------------------------------------------------------------------------------------------

def test_files_are_listed_and_read(holder, control):
    holder.run(server(setup="os.makedirs('out/empty'); open('out/a.txt','w').write('A'*1000)\n"
                            "open('out/big','wb').write(bytes(3_000_000)); open('none','w').close()\n"
                            "open('tmp/secret','w').write('x'); open('caf\\u00e9 \\udcff','w').write('odd')"),
               dirs=["given/deep"], )
    control.phase(wire.IS_READY)
    files, dirs, truncated = holder.list(1000)
    assert dirs == ["given", "given/deep", "out", "out/empty"] and not truncated
    assert files["out/a.txt"] == b"A" * 1000 and files["out/big"] is None and files["none"] == b""
    assert files["caf\u00e9 \udcff"] == b"odd" and not any(path.startswith("tmp") for path in files)
    assert holder.read("out/big") == bytes(3_000_000) and holder.read("none") == b""
    walked, dirs, truncated = holder.walk()
    assert walked["out/big"] == bytes(3_000_000) and walked["out/a.txt"] == b"A" * 1000 and not truncated
    assert set(walked) == set(files)


@pytest.mark.parametrize("path", ["", ".", "..", "../x", "/etc/passwd", "nothing", "link", "dir/passwd", "fifo", "out", "tmp/x",
                                  "tmp", "self/agent.py", "sock", "shut/x", "a\nb", "x" * 4096])
def test_nothing_but_regular_files_below_the_work_directory_is_read(holder, control, path):
    holder.run(server(setup="os.symlink('/etc/passwd','link'); os.symlink('/etc','dir'); os.mkfifo('fifo'); os.mkdir('out')\n"
                            "os.symlink('.','self'); open('tmp/x','w').close(); os.mkdir('shut'); open('shut/x','w').close(); os.chmod('shut',0)\n"
                            "import socket; s=socket.socket(socket.AF_UNIX); s.bind('sock')"))
    control.phase(wire.IS_READY)
    with pytest.raises((Failed, Closed)) as caught:
        holder.read(path)
    assert not isinstance(caught.value, Failed) or caught.value.kind == 5
    assert set(holder.list()[0]) == {"agent.py"}
    assert set(holder.walk()[0]) == {"agent.py"}


def test_endless_trees_are_cut(holder, control):
    holder.run(server(setup="os.makedirs('m')\nfor i in range(11000): open('m/%d' % i, 'w').close()\n"
                            "d = os.getcwd()\nfor i in range(300):\n    os.mkdir('deep'); os.chdir('deep')\nos.chdir(d)"))
    control.phase(wire.IS_READY)
    files, dirs, truncated = holder.list()
    assert truncated and len(files) + len(dirs) <= 10000
    assert max(d.count("/") for d in dirs) <= 64


def test_a_disk_full_of_names_is_listed_in_part(holder, control):
    """As many files as a session can have at all, and four thousand levels: the answers stay small and come."""
    holder.run(server(setup="import errno\nd = os.getcwd()\nfor i in range(4000):\n    os.mkdir('deep'); os.chdir('deep')\nos.chdir(d)\n"
                            "os.mkdir('m')\n"
                            "try:\n    for i in range(1 << 20): os.mknod('m/%d' % i)\n"
                            "except OSError as e:\n    assert e.errno == errno.ENOSPC"))
    control.phase(wire.IS_READY, timeout=60)
    for files, dirs, truncated in (holder.list(), holder.walk()):
        assert truncated and len(files) + len(dirs) <= 10000
        assert max(d.count("/") for d in dirs) <= 64
    with pytest.raises((Failed, Closed)):
        holder.read("deep/" * 3999 + "deep")


def test_what_is_not_the_sessions_is_not_shown(holder, control):
    """Devices, files of others and hard links to them, as only root can put them there."""
    holder.run(server(setup="open('mine', 'w').write('mine'); os.link('mine', 'linked')"))
    control.phase(wire.IS_READY)
    work = holder.dir / "work"
    os.mknod(work / "null", 0o666 | stat.S_IFCHR, os.makedev(1, 3))
    os.mknod(work / "disk", 0o666 | stat.S_IFBLK, os.makedev(7, 0))
    (work / "others").write_text("of root")
    os.link(work / "others", work / "others-linked")
    assert set(holder.list()[0]) == set(holder.walk()[0]) == {"agent.py", "mine", "linked"}
    for path in ("null", "disk", "others", "others-linked"):
        with pytest.raises(Failed):
            holder.read(path)


def test_names_of_any_bytes_are_told_as_they_are(holder, control):
    names = [b"a\nb", b"\xff\xfe", b"\xc3\x28", b"tab\t", b"\x1b[31mred", b"'\"\\", b" ", b"\xe2\x80\xae.txt", b"-rf", b"x" * 255]
    holder.run(server(setup=f"for name in {names!r}: open(name, 'wb').write(b'odd')"))
    control.phase(wire.IS_READY)
    files = holder.list()[0]
    shown = {os.fsencode(path) for path in files} - {b"agent.py"}
    assert shown <= set(names) and {b"tab\t", b" ", b"-rf", b"x" * 255} & shown
    assert shown == {os.fsencode(path) for path in holder.walk()[0]} - {b"agent.py"}
    unread = set()
    for name in shown:
        try:
            assert holder.read(os.fsdecode(name)) == b"odd"
        except Failed:
            unread.add(name)
    assert unread == {b"'\"\\"}, "a backslash is no part of a path that may be asked for"


def test_a_tree_that_changes_all_the_time_can_be_read(holder, control):
    holder.run(server(setup="def churn():\n    n = 0\n    while True:\n        n += 1\n        open('f', 'w').write('x' * (n % 9) * 100000)\n"
                            "        try:\n            os.unlink('swap') if n % 2 else os.symlink('/etc/passwd', 'swap')\n        except OSError:\n            pass\n"
                            "        if n % 3 == 0:\n            os.rename('f', 'swap')\n"
                            "threading.Thread(target=churn, daemon=True).start()"))
    control.phase(wire.IS_READY)
    for _ in range(20):
        for files in (holder.list()[0], holder.walk()[0]):
            assert not any(b"root:" in (content or b"") for content in files.values())
        with contextlib.suppress(Failed):
            assert b"root:" not in holder.read("swap")


def test_a_reader_that_stops_reading_blocks_nobody(holder, control):
    holder.run(server(setup="open('big','wb').write(bytes(50_000_000))"))
    control.phase(wire.IS_READY)
    stuck = [wire.Frames(holder.connect()) for _ in range(12)]
    for s in stuck:
        s.send(wire.READ, wire.string("big"))
    with holder.attach() as browser:
        browser.say('{"n": 1}')
        browser.find(lambda f: f == {"n": 1})
    answers = 0
    for s in stuck:  # more than it serves at once
        kind, fields = s.recv()
        answers += kind == wire.HOLD_FAILED and Failed(fields).kind == 8
        s.close()
    assert answers >= 4
    wait_until(lambda: len(holder.processes()) == 4, 10, "the helpers are gone")


# ---- hostile peers --------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("data", [
    b"GET / HTTP/1.1\r\n\r\n", b"\xff" * 64, b"\0" * 8, bytes([4, 0, 0, 0, 64, 0, 0, 0, 1, 2, 3, 4]),
    bytes([0, 0, 0, 0, 1, 0, 0, 0]), bytes([0, 0, 0, 0, 65, 0, 0, 0]), bytes([0, 0, 0, 0, 32, 0, 1, 0]),
    bytes([9, 0, 0, 0, 32, 0, 0, 0]) + b"x" * 9, bytes([5, 0, 0, 0, 97, 0, 0, 0]) + b"\xff\xff\xff\xff\0",
])
def test_strange_bytes_end_the_connection_not_the_session(holder, control, data):
    with holder.connect() as sock:
        sock.sendall(data)
        sock.settimeout(15)
        while sock.recv(4096):
            pass
    holder.run(server())
    control.phase(wire.IS_READY)


def test_roles_never_mix(holder, control):
    with holder.attach() as browser:
        browser.send(wire.END, b"\6")
        with pytest.raises(Closed):
            browser.recv()
    holder.run(server())
    control.phase(wire.IS_READY)


def test_hostile_websocket_bytes_do_not_end_the_session(holder, control):
    program = ("import base64,hashlib,os,socket,struct,time\n"
               "s=socket.create_server(('127.0.0.1',int(os.environ['BESSER_WS_PORT'])))\n"
               "tricks=[b'\\xff'*100, b'\\x81\\xff'+b'x'*200, b'\\x01\\x01a'*100, b'\\x80\\x01a', b'\\x81\\x02\\xff\\xfe', b'\\x82\\x03\\xff\\xfe\\xfd',\n"
               "  b'\\x88\\x01x', b'\\x88\\x02\\x00\\x01', b'\\x89\\x7e\\xff\\xff', b'\\x81\\x7f'+b'\\xff'*8, b'\\xc1\\x01a', b'\\x89\\x00'*30000, b'\\x81\\x05hello']\n"
               "while True:\n"
               "    c,_=s.accept()\n"
               "    q=b''\n"
               "    while b'\\r\\n\\r\\n' not in q: q+=c.recv(4096)\n"
               "    key=[l.split(b': ')[1] for l in q.split(b'\\r\\n') if l.startswith(b'Sec-WebSocket-Key')][0]\n"
               "    acc=base64.b64encode(hashlib.sha1(key+b'258EAFA5-E914-47DA-95CA-C5AB0DC85B11').digest())\n"
               "    c.sendall(b'HTTP/1.1 101 X\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\nSec-WebSocket-Accept: '+acc+b'\\r\\n\\r\\n'+(tricks.pop(0) if tricks else b''))\n"
               "    c.settimeout(0.2)\n"
               "    try:\n"
               "        while c.recv(65536): pass\n"
               "    except OSError: pass\n"
               "    if not tricks: print('survived'); c.sendall(b'\\x81\\x07{\"n\":9}'); time.sleep(600)\n"
               "    c.close()\n")
    holder.run({"agent.py": program})
    with holder.attach() as browser:
        texts = []
        while (text := browser.frame(timeout=60)) != '{"n":9}':
            texts.append(text)
    # Of all the malformed ones only the binary frame is a message: it has no rules about its bytes.
    assert "hello" in texts and [t for t in texts if "\ufffd" in t and not t.startswith("{")] == ["\ufffd" * 3]
    assert memory_mb(holder.pid) < 60


def test_the_probe_says_ok_and_leaves_nothing(holder):
    with wire.Frames(holder.connect()) as c:
        c.send(wire.PROBE)
        f = c.expect(wire.PROBED, timeout=30)
        assert (f.u8(), f.str()) == (1, "")
    assert holder.processes() == [holder.pid]


# ---- other settings -------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("settings", [{"AGENT_SIMULATOR_SANDBOX": "off"}, {"AGENT_SIMULATOR_EGRESS": "host"}])
def test_in_a_shared_network_each_slot_has_its_port(settings):
    base = 20000 + os.getpid() % 5000
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
    with Slots(UID, wrapper=["prlimit", "--nofile=1024:4096"], AGENT_SIMULATOR_EGRESS_CONNECTIONS="1024") as slots:
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
