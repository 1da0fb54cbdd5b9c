"""What bounds a session on a machine without control groups: limits of its processes, its disk, its end. The neighbour goes
on there too."""
import pytest

from tests.support.bombs import Agent, Neighbour
from tests.support.cgroups import without_trees
from tests.support.stack import Stack, processes_of_uids, wait_until

NPROC = 48
SETTINGS = {"AGENT_SIMULATOR_RLIMIT_AS_GB": "1", "AGENT_SIMULATOR_RLIMIT_NPROC": str(NPROC), "AGENT_SIMULATOR_RLIMIT_CPU_SEC": "8"}


@pytest.fixture(scope="module")
def bare():
    stack = Stack(**SETTINGS)
    stack.wrapper = without_trees()
    with stack:
        yield stack
        stack.assert_clean()


@pytest.fixture
def pair(bare):
    with Neighbour(bare) as neighbour:
        with Agent(bare) as agent:
            yield agent, neighbour
    bare.assert_clean()


def user_of(agent):
    uid = agent.stack.uid_base + agent.slot()
    return lambda: len(processes_of_uids(uid, uid))


def test_health_says_what_there_is(bare):
    assert bare.internal("GET", "/health").json()["cgroup"] == "none: no control groups are mounted; disk: tmpfs"


def test_a_memory_bomb_gets_an_error_and_the_agent_lives(pair):
    agent, neighbour = pair
    with neighbour.watched("a memory bomb without groups"):
        assert agent.run("kept = []\nwhile True: kept.append(bytearray(16 << 20))").startswith("MemoryError")
        assert agent.run("kept = None; out = 'here'") == "here"


def test_a_fork_bomb_is_bounded_and_ends_with_the_session(bare, pair):
    agent, neighbour = pair
    processes = user_of(agent)
    with neighbour.watched("a fork bomb without groups"):
        agent.tell("import os\nwhile True:\n    try: os.fork()\n    except OSError: pass")
        wait_until(lambda: processes() >= NPROC - 8, 30, "it has what it may have")
        assert processes() <= NPROC + 8, "its holder and the sandbox's own beside it"
        assert bare.internal("DELETE", f"/sessions/{agent.session}").status == 200
    assert agent.end() == ("stopped", 0)


def test_a_thread_bomb_gets_errors_and_the_agent_lives(pair):
    agent, neighbour = pair
    with neighbour.watched("a thread bomb without groups"):
        assert agent.run("import threading, time\n"
                         "try:\n"
                         "    while True:\n"
                         "        threading.Thread(target=time.sleep, args=(600,), daemon=True).start()\n"
                         "except RuntimeError as error:\n"
                         "    out = str(error)") == "can't start new thread"
        assert agent.run("out = 'here'") == "here"


def test_processor_time_ends_with_its_reason(pair):
    agent, neighbour = pair
    with neighbour.watched("a busy loop without groups"):
        agent.tell("while True: pass")
        assert agent.end(60)[0] == "cpu"


def test_a_full_disk_is_the_agents_own(pair):
    agent, neighbour = pair
    with neighbour.watched("a disk full of empty files without groups"):
        assert agent.run("i = 0\nwhile True:\n    i += 1; open(f'f{i}', 'w').close()", 120).startswith("OSError(28, ")
        assert neighbour.run("open('mine', 'w').close(); out = 'made'") == "made"
