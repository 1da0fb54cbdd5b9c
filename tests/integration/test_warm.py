"""Interpreters that wait for a program: by themselves in a holder, and as the service's pool of them."""
import contextlib
import json
import os
import pathlib
import re
import signal
import struct
import subprocess
import time
import uuid

import pytest

from tests.bench import diagrams
from tests.support.holder import UID
from tests.support.stack import Stack, kill, processes_of_uids, wait_until
from tests.support.stack import runs as runs_yet
from tests.support.wire import (CLAIM, CONTROL, FAILED, HOLD_FAILED, HOLD_START, HOLD_STARTED, NAME, START, STARTED, STARTING, VERSION, WARM,
                                WARM_UP, Closed, Control, Failed, Frames, Slots, lines, string)

RUNTIME = {k: v for k, v in os.environ.items() if k == "AGENT_SIMULATOR_PYTHON"}
SETTINGS = {"AGENT_SIMULATOR_MAX_SESSIONS": "3", "AGENT_SIMULATOR_RLIMIT_CPU_SEC": "4", **RUNTIME}


@pytest.fixture
def waiting(holder):
    with holder.warm_up() as waiting:
        waiting.until_ready()
        yield waiting


# ---- a program notices nothing ----------------------------------------------------------------------------------------

# All that a program can see of how it was started.
LOOK = """
import json, os, subprocess, sys
found = {name: repr(value) for name, value in vars(sys.modules["__main__"]).items() if name not in ("json", "os", "subprocess", "sys")}
found |= {
    "argv": sys.argv, "orig_argv": sys.orig_argv, "path": sys.path, "cwd": os.getcwd(), "flags": str(sys.flags),
    "environment": list(os.environ.items()), "prefix": sys.prefix, "executable": sys.executable,
    "cmdline": open("/proc/self/cmdline").read().split("\\0"), "comm": open("/proc/self/comm").read(),
    "child": subprocess.run(["/usr/bin/env"], capture_output=True, text=True).stdout.splitlines(),
    "descriptors": sorted(os.listdir("/proc/self/fd"))[:-1], "limits": open("/proc/self/limits").read(),
    "files": sorted(os.listdir()), "framework": sorted(n for n in sys.modules if n.partition(".")[0] == "baf"),
    "status": [line for line in open("/proc/self/status").read().splitlines() if line.split(":")[0] in
               ("Seccomp", "NoNewPrivs", "CapEff", "CapBnd", "CapPrm", "SigBlk", "SigIgn", "SigCgt", "Threads", "Umask", "Groups", "Uid")],
    "namespaces": sorted(os.listdir("/proc/self/ns")), "tree": sorted(os.listdir("/")), "mounts": len(open("/proc/self/mounts").readlines()),
}
for name, value in found.items():
    print(name, value)
"""
AGENT = """
import os, sys
before = sorted(os.environ)
from baf.core.agent import Agent
from baf.core.session import Session
print(Agent.__module__, sys.modules["baf"].__spec__, sys.modules["baf"].__file__, sys.modules["baf"].__path__)
print(sorted(set(os.environ) - set(before)), sorted(os.listdir()), os.path.getsize("application.log"))
agent = Agent("x")
agent.load_properties("config.yaml")
print(agent.get_property)
import logging
logging.getLogger("BESSER Agentic Framework").warning("seen")
print(open("application.log").read().endswith("WARNING - seen\\n"))
"""
PROGRAMS = {
    "what it sees": {"agent.py": LOOK},
    "the framework": {"agent.py": AGENT, "config.yaml": "a:\n  b: 1\n"},
    "elsewhere": {"agent.py": "import os\nos.mkdir('x')\nos.chdir('x')\nimport baf.core.agent\nprint(os.listdir(), os.listdir('..'))"},
    "an exit code": {"agent.py": "import sys\nprint('one')\nprint('two', file=sys.stderr)\nsys.exit(7)"},
    "raises at import": {"agent.py": "import helper", "helper.py": "def f():\n    raise ValueError('no')\nf()\n"},
    "does not parse": {"agent.py": "print('x')\nif True print()\n"},
    "is a stranger to the codec": {"agent.py": b"print('\xff')\n"},
    "a signal": {"agent.py": "import os\nos.kill(os.getpid(), 11)"},
    "aborts": {"agent.py": "import os\nprint('x', end='')\nos.abort()"},
    "used up its time": {"agent.py": "while True: pass"},
    "file of a library's name": {"agent.py": "import json_tool, json\nprint(json.MINE)\nfrom baf.core.agent import Agent", "json.py": "MINE = 1", "json_tool.py": ""},
    "package of a library's name": {"agent.py": "import yaml\nprint(yaml.MINE)", "yaml/__init__.py": "MINE = 1"},
    "file of the framework's name": {"agent.py": "import baf\nprint(baf.MINE)", "baf.py": "MINE = 1"},
    "file that a library would like": {"agent.py": "import Stemmer\nprint(Stemmer.MINE)", "Stemmer.py": "MINE = 1"},
    "log that cannot be opened": {"agent.py": "import baf.core.agent", "application.log/x": ""},
    "log that is there": {"agent.py": "import baf.core.agent\nprint(open('application.log').read())", "application.log": "mine"},
}


def told(holder, control, files, env):
    """All that a browser gets of that program, and the supervisor, from its start to its end."""
    assert holder.run(files, env=env) == 8765
    with holder.attach() as browser:
        frames = browser.rest()
    gone = control.gone()
    control.done()
    return frames, browser.exit, gone


KEYS = {"MY_KEY": "v=1 \u00e4\n", "OPENAI_API_KEY": "sk"}


@pytest.mark.parametrize("name, env", [*((name, KEYS) for name in PROGRAMS), ("what it sees", {"PYTHONHASHSEED": "7"}), ("the framework", {"TF_CPP_MIN_LOG_LEVEL": "0"})])
def test_a_program_runs_as_it_does_without_waiting(slots, name, env):
    outcomes = []
    for slot, warm in enumerate((False, True)):
        holder = slots.start(slot)
        if warm:
            with holder.warm_up() as waiting:
                waiting.until_ready()
                with holder.claim() as control:
                    outcomes.append(told(holder, control, PROGRAMS[name], env))
        else:
            with holder.control() as control:
                outcomes.append(told(holder, control, PROGRAMS[name], env))
        slots.stop(slot)
    cold, warm = (json.loads(normal(json.dumps(o), slot)) for slot, o in enumerate(outcomes))
    assert warm == cold


def normal(text, slot):
    """Without what differs between any two starts."""
    text = re.sub(r"\b0x[0-9a-f]+|(?<=- )\d+(?=\.\d)|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}", "#", text)
    return text.replace(str(UID + slot), "UID")


# ---- what may go wrong with one that waits ----------------------------------------------------------------------------

PROGRAM = {"agent.py": "import os, sys\nprint('ran', os.environ['MY_KEY'], len(os.listdir()), 'baf' in sys.modules, 'yaml' in sys.modules)"}
WARM_RUN, COLD_RUN = (["ran v 2 False True"], ["ran v 2 False False"])


def process(holder, name):
    for pid in holder.processes():
        with contextlib.suppress(OSError):  # there for a moment
            if pathlib.Path(f"/proc/{pid}/comm").read_text() == name + "\n":
                return pid
    raise AssertionError(f"no {name}")


def runs(holder, control, expected):
    assert lines(told(holder, control, PROGRAM, {"MY_KEY": "v"})[0]) == expected


def test_it_is_taken_while_it_still_loads(holder):
    with holder.warm_up() as waiting:
        assert waiting.hears() == ("making", "")
        with holder.claim() as control:
            runs(holder, control, WARM_RUN)


def test_the_session_begins_when_it_is_taken(holder, waiting):
    time.sleep(1.1)  # of waiting, which does not count
    began = int(time.time() * 1000)
    with holder.claim(actor="somebody", lifetime_ms=60_000) as control:
        assert control.id == holder.session and control.actor == "somebody"
        assert began + 60_000 <= control.expires <= time.time() * 1000 + 60_001
        with pytest.raises(Closed):
            waiting.recv()
        runs(holder, control, WARM_RUN)


def test_nobody_but_the_supervisor_gives_it_work(holder, waiting):
    with pytest.raises(Failed) as refused:
        holder.run(PROGRAM, env={"MY_KEY": "v"})
    assert "has its program" in refused.value.text
    with holder.claim() as control:
        for message in ((WARM_UP,), (CLAIM, uuid.uuid4().bytes, string("me"), struct.pack("=QQ", 1, 1000))):
            with Frames(holder.connect()) as other, pytest.raises(Closed):
                other.send(*message)
                other.recv()
        runs(holder, control, WARM_RUN)


def test_a_session_does_not_become_one_that_waits(holder):
    with holder.control() as control, Frames(holder.connect()) as other:
        with pytest.raises(Closed):
            other.send(WARM_UP)
            other.recv()
        with pytest.raises(Closed):
            Control(holder.connect(), "me", 1000, uuid.uuid4())
        runs(holder, control, COLD_RUN)


def test_the_next_supervisor_learns_that_it_waits(holder, waiting):
    waiting.close()
    with Frames(holder.connect()) as other:
        other.send(CONTROL, string(""), struct.pack("=QQ", 0, 0))
        other.expect(VERSION)
        assert other.expect(WARM).u8() == 1
    with holder.claim() as control:
        runs(holder, control, WARM_RUN)


def test_more_variables_than_fit_one_message_arrive_all_the_same(holder, waiting):
    env = {f"A_NAME_{i:02}_{'N' * 110}": "v" * 4096 for i in range(64)}
    look = {"agent.py": "import os\nprint(sorted(len(v) for n, v in os.environ.items() if n.startswith('A_NAME')) == [4096] * 64)"}
    with holder.claim() as control:
        assert lines(told(holder, control, look, env)[0]) == ["True"]


@pytest.mark.parametrize("who", ["python", "agentsim-pid1", "bwrap"])
def test_one_that_dies_is_told_and_a_program_runs_all_the_same(holder, waiting, who):
    os.kill(process(holder, who), signal.SIGKILL)
    assert waiting.hears() == ("lost", "it has ended")
    with holder.claim() as control:
        runs(holder, control, COLD_RUN)


@pytest.mark.parametrize("who", ["python", "agentsim-pid1", "bwrap"])
def test_one_that_dies_with_the_program_in_its_hands_has_not_begun_it(holder, waiting, who):
    with holder.claim() as control:
        os.kill(process(holder, "python"), signal.SIGSTOP)
        with holder.bundle(PROGRAM, env={"MY_KEY": "v"}) as bundle:
            bundle.send(HOLD_START)
            control.phase(STARTING)
            os.kill(process(holder, who), signal.SIGKILL)
            assert bundle.expect(HOLD_STARTED).u32() == 8765
        with holder.attach() as browser:
            assert lines(browser.rest()) == COLD_RUN


def test_one_that_never_takes_the_program_meets_the_deadline(slots, holder, waiting):
    with holder.claim() as control:
        os.kill(process(holder, "python"), signal.SIGSTOP)
        with holder.bundle(PROGRAM, env={"MY_KEY": "v"}) as bundle:
            bundle.send(HOLD_START)
            control.phase(STARTING)
            control.end()
            assert bundle.expect(HOLD_FAILED)
        assert control.gone() == ("stopped", 0)


def test_a_program_that_is_refused_ends_it_at_once(holder, waiting):
    with holder.claim() as control:
        with pytest.raises(Failed):
            holder.run({"main.py": ""})
        assert control.gone() == ("start-failed", 0)
        control.done(timeout=10)


def test_nothing_of_it_is_in_the_work_directory(holder, waiting):
    assert list((holder.dir / "work").iterdir()) == []


def test_it_waits_until_its_launcher_dies(slots):
    holder = slots.start(2)
    with holder.warm_up() as waiting:
        waiting.until_ready()
        slots.kill()
        wait_until(lambda: not holder.processes(), 10, "nothing of it is left")
    slots.launch()


def test_a_runtime_without_the_framework_says_so(slots):
    with Slots(UID + 10, AGENT_SIMULATOR_MAX_SESSIONS="1", AGENT_SIMULATOR_PYTHON="/usr/bin/python3") as other:
        holder = other.start(0)
        with holder.warm_up() as waiting:
            assert waiting.hears()[0] == "making"
            state, why = waiting.hears()
            assert state == "lost" and "agent.py" in why
            with holder.claim() as control:
                runs(holder, control, COLD_RUN)
        other.stop(0)


# ---- the launcher -----------------------------------------------------------------------------------------------------

def test_a_slot_has_the_id_of_the_session_that_took_it(slots):
    holder, other = slots.start(0), slots.start(1)
    before, session = holder.session, uuid.uuid4()
    slots.send(NAME, 0, session)
    slots.send(NAME, 1, session)  # one that is in use
    slots.send(NAME, 2, uuid.uuid4())  # nothing is there
    slots.connect()
    assert slots.ids[:2] == [session, other.session] and slots.inventory[2] == 0
    slots.send(START, 2, before)  # is free again
    assert slots.until(STARTED, 2)[1] == before
    slots.send(START, 0, uuid.uuid4())
    assert slots.until(FAILED, 0)
    for slot in range(3):
        slots.stop(slot)


# ---- the pool ---------------------------------------------------------------------------------------------------------

ECHO = diagrams.small()


@pytest.fixture(scope="module")
def stack():
    with Stack(AGENT_SIMULATOR_WARM_POOL="2", AGENT_SIMULATOR_MAX_SESSIONS="3", AGENT_SIMULATOR_MAX_SESSIONS_PER_ACTOR="3", **RUNTIME) as running:
        yield running


@pytest.fixture
def full(stack):
    """Two wait: their interpreters by slot."""
    wait_until(lambda: stack.counter("agentsim_warm") == 2, 60, "two wait")
    return stack.waiting()


def parent(pid):
    return int(re.search(r"PPid:\s*(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text())[1])


def test_a_session_takes_one_and_another_comes(stack, full):
    before = stack.counter("agentsim_warm_starts_total")
    session = stack.create(ECHO)
    with stack.talk(session) as talk:
        talk.say("hello")
        assert "hello" in talk.until(lambda f: "hello" in str(f.get("message")))["message"]
        taken = {slot: pid for slot, pid in full.items() if stack.waiting().get(slot) != pid}
        assert len(taken) == 1
        assert all(os.path.exists(f"/proc/{pid}") for pid in taken.values())  # it is that very process that talks
        wait_until(lambda: stack.counter("agentsim_warm") == 2, 60, "another waits in its place")
        assert stack.internal("GET", "/health").json()["sessions"] == 1
    assert stack.counter("agentsim_warm_starts_total") == before + 1
    assert stack.end(session).status == 200


def test_those_that_wait_are_shown_and_are_no_sessions(stack, full):
    health = stack.internal("GET", "/health").json()
    assert health["sessions"] == 0 and health["capacity"] == 3
    assert stack.counter("agentsim_slots_free") == 3
    assert sum(stack.counter(f'agentsim_sessions{{state="{state}"}}') for state in ("NEW", "STARTING", "READY")) == 0
    command = [stack.bin / "agentsim"]
    assert "warm         2 of 2" in subprocess.run([*command, "status"], env=stack.env, capture_output=True, text=True).stdout
    status = json.loads(subprocess.run([*command, "status", "--json"], env=stack.env, capture_output=True, text=True).stdout)
    assert (status["warm"], status["warmPool"], status["sessions"]) == (2, 2, 0)
    assert json.loads(subprocess.run([*command, "sessions", "--json"], env=stack.env, capture_output=True, text=True).stdout) == []


def test_every_place_is_still_there_for_sessions(stack, full):
    with contextlib.ExitStack() as live:
        for _ in range(3):
            session = stack.create(ECHO)
            talk = live.enter_context(stack.talk(session))
            live.callback(stack.end, session)
            talk.say("one of three")
            talk.until(lambda f: "one of three" in str(f.get("message")))
        assert stack.post("/besser_api/simulation/sessions", ECHO).status == 429


@pytest.mark.parametrize("who", ["the interpreter", "its first process", "bubblewrap", "its holder"])
def test_one_that_dies_is_replaced_and_no_session_notices(stack, full, who):
    slot, interpreter = sorted(full.items())[0]
    pid = interpreter
    for name in ("the interpreter", "its first process", "bubblewrap", "its holder"):
        if name == who:
            break
        pid = parent(pid)
    kill(pid)
    wait_until(lambda: not runs_yet(interpreter), 30, "it has ended")  # as long as it lives, it may take a program with it
    sessions = [stack.create(ECHO) for _ in range(2)]  # at once: one of them may be given what has just died
    for session in sessions:
        with stack.talk(session) as talk:
            talk.say("still here")
            talk.until(lambda f: "still here" in str(f.get("message")))
        stack.end(session)
    wait_until(lambda: stack.counter("agentsim_warm") == 2 and interpreter not in stack.waiting().values(), 60, "two wait again")


@pytest.mark.parametrize("program", ["agentsim-supervisor", "agentsim-launcher"])
def test_what_waits_when_a_process_of_the_service_dies_is_replaced(stack, full, program):
    process, = stack.children(program)
    kill(process)
    wait_until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in full.values()), 30, "those that waited are gone")
    wait_until(lambda: stack.sandbox() == "ok", 30, "the service is back")
    wait_until(lambda: stack.counter("agentsim_warm") == 2, 60, "two wait again")
    wait_until(lambda: len(processes_of_uids(stack.uid_base, stack.uid_base + 2)) == 8, 20, "nothing but these two is there")
    assert stack.internal("GET", "/health").json()["sessions"] == 0


def test_a_session_that_took_one_is_found_by_the_next_supervisor(stack, full):
    session = stack.create(ECHO)
    with stack.talk(session) as talk:
        talk.until(lambda f: "action" in f)
    kill(stack.children("agentsim-supervisor")[0])
    wait_until(lambda: stack.sandbox() == "ok", 30, "the service is back")
    with stack.talk(session) as talk:
        talk.say("found again")
        talk.until(lambda f: "found again" in str(f.get("message")))
    assert stack.end(session).status == 200


def test_nothing_is_made_while_it_drains(stack, full):
    subprocess.run([stack.bin / "agentsim", "drain"], env=stack.env, check=True, capture_output=True)
    kill(sorted(full.values())[0])
    wait_until(lambda: stack.counter("agentsim_warm") == 1, 10, "one is gone")
    time.sleep(2.5)  # longer than the pause after a failure
    assert stack.counter("agentsim_warm") == 1
    subprocess.run([stack.bin / "agentsim", "drain", "--undo"], env=stack.env, check=True, capture_output=True)
    wait_until(lambda: stack.counter("agentsim_warm") == 2, 60, "it is made")


def test_new_settings_replace_what_waits(stack, full):
    os.kill(stack.keeper.pid, signal.SIGHUP)
    wait_until(lambda: not set(full.values()) & set(stack.waiting().values()), 20, "those of before are gone")
    wait_until(lambda: stack.counter("agentsim_warm") == 2, 60, "two wait again")


def test_where_nothing_can_wait_sessions_start_all_the_same(stack):
    with Stack(AGENT_SIMULATOR_WARM_POOL="2", AGENT_SIMULATOR_PYTHON="/usr/bin/python3") as other:
        wait_until(lambda: "nothing waits there any more" in other.log_text(), 30, "the failure is said")
        session = other.create_program("print('cold')")
        with other.talk_inside(session) as talk:
            assert talk.until(lambda f: f.get("line") == "cold")
        other.internal("DELETE", f"/sessions/{session}")
