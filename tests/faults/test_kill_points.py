"""Every process of the service killed at moments drawn by chance, while a numbered conversation flows."""
from __future__ import annotations

import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import threading
import time
import uuid

import pytest

from tests.faults.flow import Flow, numbers
from tests.faults.places import children_of, command, end_all, kill, nginx_workers, of_sessions, one, sessions, stopped, tree
from tests.faults.scale import Progress, pick
from tests.support import supervisor_rig as rpc
from tests.support.converse import Closed, WebSocket
from tests.support.draw import Diagram, code
from tests.support.fastcgi import Request
from tests.support.stack import TOKEN, Stack, processes_of_uids, runs, wait_until

DETACH = 10  # a conversation is back by then, whoever was killed
CLEANING = 10  # seconds
SETTINGS = {"AGENT_SIMULATOR_MAX_SESSIONS": "4", "AGENT_SIMULATOR_MAX_SESSIONS_PER_ACTOR": "4",
            "AGENT_SIMULATOR_SESSION_LIFETIME_SECONDS": "3600", "AGENT_SIMULATOR_DETACH_SECONDS": str(DETACH)}
ROUNDS = pick(2, 50)
SESSIONS = "/besser_api/simulation/sessions"


@pytest.fixture(autouse=True)
def nothing_is_left(stack):
    yield
    wait_until(lambda: stack.sandbox() == "ok", 60, "the service is whole again")
    end_all(stack)
    stack.assert_clean(30)


def restarted(stack, program, killed):
    return wait_until(lambda: [p for p in stack.children(program) if p not in killed], 20, f"another {program}")


# ---- who may die without a conversation's end ----

def kill_supervisor(stack):
    kill(one(stack, "agentsim-supervisor"))


def stop_supervisor(stack):
    old = one(stack, "agentsim-supervisor")
    kill(old, number=signal.SIGTERM)
    restarted(stack, "agentsim-supervisor", [old])


def kill_nginx_worker(stack):
    kill(*nginx_workers(stack))


def kill_nginx(stack):
    workers = nginx_workers(stack)
    kill(one(stack, "nginx"))
    wait_until(lambda: not any(map(runs, workers)), 20, "its workers have gone with it")


def kill_workers(stack):
    kill(*stack.children("agentsim-fcgi"))


def kill_parser(stack):
    kill(*(pid for worker in stack.children("agentsim-fcgi") for pid in children_of(worker)))


def replace(stack, name):
    """An upgrade: the file is another one from now on."""
    program, new = stack.bin / name, stack.bin / "new"
    shutil.copy(program, new)
    os.rename(new, program)
    return program


def new_supervisor(stack):
    program = replace(stack, "agentsim-supervisor")
    old = one(stack, "agentsim-supervisor")
    kill(old, number=signal.SIGTERM)
    for pid in restarted(stack, "agentsim-supervisor", [old]):
        wait_until(lambda p=pid: os.path.samefile(f"/proc/{p}/exe", program), 5, "the new file runs")


def new_workers(stack):
    replace(stack, "agentsim-fcgi")
    old = stack.children("agentsim-fcgi")
    kill(*old, number=signal.SIGTERM)
    wait_until(lambda: len(set(stack.children("agentsim-fcgi")) - set(old)) >= len(old), 20, "other workers")


SURVIVED = [kill_supervisor, stop_supervisor, new_supervisor, new_workers, kill_nginx_worker, kill_nginx, kill_workers, kill_parser]


def test_a_conversation_goes_on_whoever_is_killed(stack, chance):
    """Each number once, in order, and the browser is back within seconds."""
    order = [one_kill for one_kill in SURVIVED for _ in range(ROUNDS)]
    chance.shuffle(order)
    progress = Progress("kills", len(order))
    with Flow(stack) as flow:
        asked = 0
        for done, one_kill in enumerate(order, 1):
            agents = of_sessions(stack, "agent.py")
            flow.ask(150, pause=0.002)
            asked += 150
            time.sleep(chance.random() * pick(0.4, 3))
            before = len(flow.browser.lost)
            one_kill(stack)
            flow.wait_for(asked)
            assert of_sessions(stack, "agent.py") == agents, one_kill.__name__
            progress.at(done, f"{one_kill.__name__}, sockets {flow.browser.lost[before:]}")
        wait_until(lambda: stack.state(flow.session).status == 200, 10, "the session is known")
        assert stack.end(flow.session).status == 200
        assert flow.wait_for_the_end().reason() == "stopped"


def test_however_often_it_is_killed_a_supervisor_is_back_in_a_moment():
    """And whoever asks for a session meanwhile waits until the sandbox has been tried."""
    with Stack(AGENT_SIMULATOR_MAX_SESSIONS="3") as own, Flow(own) as flow:
        for round_ in range(1, pick(10, 40) + 1):
            flow.ask(50, pause=0.001)
            killed = one(own, "agentsim-supervisor")
            kill(killed, number=signal.SIGTERM if round_ % 5 == 0 else signal.SIGKILL)
            restarted(own, "agentsim-supervisor", [killed])
            flow.wait_for(50 * round_)
        other = own.create_program("")
        assert own.internal("DELETE", f"/sessions/{other}").status == 200
        assert not re.search(r"starts again in [1-9]", own.log_text())
        assert max(seconds for seconds, _ in flow.browser.lost) < 30
        own.end(flow.session)


def test_a_client_that_just_goes_holds_up_no_new_supervisor(stack):
    session = stack.create_program("import time\ntime.sleep(100)")
    client = WebSocket(f"ws://127.0.0.1:{stack.internal_port}/sessions/{session}/ws", headers=[f"X-Agent-Simulator-Token: {TOKEN}"])
    before = one(stack, "agentsim-supervisor")
    kill(before, number=signal.SIGTERM)
    with pytest.raises(Closed) as end:
        while True:
            client.receive(10)
    assert end.value.code == 1012  # it does not answer that
    restarted(stack, "agentsim-supervisor", [before])
    assert "did not take the close" not in stack.log_text()
    client.sock.close()
    assert stack.internal("DELETE", f"/sessions/{session}").status == 200


# ---- who takes its sessions along ----

def agent_of(stack):
    return [pid for pid in of_sessions(stack, "agent.py") if "bwrap" not in command(pid) and "pid1" not in command(pid)]


@pytest.mark.parametrize("name", ["holder", "agent", "sandbox", "launcher"])
def test_a_session_that_cannot_go_on_ends_with_a_word(stack, chance, name):
    for _ in range(pick(1, 20)):
        with Flow(stack) as flow:
            flow.ask(100000, pause=0.002)
            flow.wait_for(chance.randrange(5, 50))
            began = time.monotonic()
            if name == "launcher":
                kill(one(stack, "agentsim-launcher"))
            elif name == "holder":
                kill(*of_sessions(stack, "agentsim-holder"))
            elif name == "sandbox":
                kill(*of_sessions(stack, "bwrap"))
            else:
                kill(*agent_of(stack))
            gone = flow.wait_for_the_end()
            assert time.monotonic() - began < 30
            told = [f for f in gone.frames if f.get("type") in ("exit", "error")]
            assert told and gone.code in (1000, 1011), gone
            assert gone.reason() == ("stopped" if name == "launcher" else "signaled")
            assert name != "holder" or gone.code == 1011
        wait_until(lambda: not sessions(stack), 20, "the session is gone")
        stack.assert_clean(30)
        wait_until(lambda: stack.sandbox() == "ok", 30, "sessions can start")


def test_a_session_whose_holder_hangs_ends_with_a_word(stack):
    """Its sockets stay open and its processes are all there: only that it does not answer can be noticed."""
    with Flow(stack) as flow, Flow(stack) as other:
        alone = stack.create(numbers())
        wait_until(lambda: stack.state(alone).json()["state"] == "ready", 30, "nobody talks to the third")
        users = [stack.uid_base + s["slot"] for s in sessions(stack) if s["id"] != other.session]
        holders = [p for user in users for p in processes_of_uids(user, user) if "agentsim-holder" in command(p)]
        assert len(holders) == 2
        kill(*holders, number=signal.SIGSTOP)
        gone = flow.wait_for_the_end(60)
        assert gone.reason() == "stopped" and gone.code == 1011, gone
        assert any(f.get("type") == "error" for f in gone.frames), gone
        wait_until(lambda: [s["id"] for s in sessions(stack)] == [other.session], 60, "the slots of both are clean")
        assert "does not answer any more" in stack.log_text()
        other.ask(50)
        other.wait_for(50)
        stack.end(other.session)


# ---- workers, in each phase of a request ----

class Post(threading.Thread):
    """A request in a thread: .reply, or .error."""

    def __init__(self, stack, path, body, port=None, headers=None):
        super().__init__(daemon=True)
        self.stack, self.path, self.body, self.port, self.headers = stack, path, body, port, headers
        self.reply = self.error = None
        self.start()

    def run(self):
        try:
            self.reply = self.stack.request("POST", self.path, self.body, port=self.port, headers=self.headers)
        except OSError as error:
            self.error = error

    def clean_error(self):
        self.join(90)
        assert not self.is_alive() and self.error is None, self.error
        assert self.reply.status in (502, 503), self.reply
        assert self.reply.json()["detail"], self.reply


def internal_session(stack, code="import time\ntime.sleep(600)\n", files=None):
    body = {"session_id": str(uuid.uuid4()), "agent_code": code, "config_yaml": "", "env_vars": {}, "event_list": [],
            "support_files": files or {}, "workspace_paths": []}
    return Post(stack, "/sessions", body, stack.internal_port, {"X-Agent-Simulator-Token": "a-token-for-tests"})


def busy_workers(stack):
    """Those that have taken a request: a socket beside the one they listen on."""
    return [pid for pid in stack.children("agentsim-fcgi") if len(sockets_of(pid)) > 1]


def sockets_of(pid):
    found = set()
    with contextlib.suppress(OSError):  # it ends meanwhile
        for name in os.listdir(f"/proc/{pid}/fd"):
            with contextlib.suppress(OSError):
                found.add(os.readlink(f"/proc/{pid}/fd/{name}"))
    return {target for target in found if target.startswith("socket:")}


def stands(pid):
    with contextlib.suppress(OSError):
        return "\nState:\tT" in pathlib.Path(f"/proc/{pid}/status").read_text()


def kill_busy(stack, number):
    """Once that many sockets are open in a worker: nginx's, the supervisor's, the holder's."""
    busy = wait_until(lambda: [p for p in stack.children("agentsim-fcgi") if len(sockets_of(p)) >= number], 20, "a busy worker")
    kill(*busy)


def sessions_known(stack):
    return stack.internal("GET", "/health").json()["sessions"]


def test_a_worker_killed_while_it_reads_the_body(stack):
    idle = {pid: sockets_of(pid) for pid in stack.children("agentsim-fcgi")}
    request = Request(stack.runtime_dir / "fcgi.sock", "POST", SESSIONS, b"x" * 200000)
    request.send(0, 100000)
    kill(*wait_until(lambda: [pid for pid, before in idle.items() if sockets_of(pid) - before], 10, "a worker reads"))
    with pytest.raises((OSError, AssertionError)):
        assert request.finish(100000)[3]
    wait_until(lambda: len(set(stack.children("agentsim-fcgi"))) == len(idle), 10, "as many workers as before")
    assert sessions_known(stack) == 0


@contextlib.contextmanager
def standing_still(stack, name):
    """Processes of that program stop before their first step."""
    program, real = stack.bin / name, stack.bin / f"{name}.real"
    os.rename(program, real)
    program.write_text(f'#!/bin/bash\nkill -STOP $$\nexec {real} "$@"\n')
    program.chmod(0o755)
    try:
        yield
    finally:
        os.rename(real, program)


def test_a_worker_killed_while_it_compiles(stack):
    unknown = Diagram("Unknown")
    unknown.state("s", code(f"session.reply('{uuid.uuid4()}')"))  # what was judged before needs no parser
    with standing_still(stack, "agentsim-pyparse"):
        kill_parser(stack)  # the next question starts another one
        post = Post(stack, SESSIONS, unknown.request())
        wait_until(lambda: post.reply or any(stands(pid) for w in stack.children("agentsim-fcgi") for pid in children_of(w)), 20, "a parser")
        assert post.reply is None, post.reply
        kill_busy(stack, 2)
        post.clean_error()
    assert sessions_known(stack) == 0


def test_a_worker_killed_while_it_asks(stack):
    with stopped(one(stack, "agentsim-supervisor")):
        post = Post(stack, SESSIONS, numbers())
        kill_busy(stack, 3)
        post.clean_error()
    assert sessions_known(stack) == 0


def test_a_worker_killed_while_a_session_is_created(stack):
    with stopped(one(stack, "agentsim-launcher")):
        post = Post(stack, SESSIONS, numbers())
        wait_until(lambda: sessions_known(stack) == 1, 20, "the supervisor has the session")
        kill_busy(stack, 3)
        post.clean_error()
    wait_until(lambda: sessions_known(stack) == 0, 20, "no orphan is left")
    stack.assert_clean()


@pytest.fixture
def slow_holders(stack):
    with standing_still(stack, "agentsim-holder"):
        yield


def still_holders(stack):
    return [pid for pid in of_sessions(stack, "agentsim-holder") if stands(pid)]


@pytest.mark.parametrize("size", [0, 8 << 20])
def test_a_worker_killed_while_it_hands_over_or_waits(stack, slow_holders, size):
    """A small program is on its way in whole, and the worker waits for the start; a large one is stuck midway."""
    post = internal_session(stack, files={"big.txt": "x" * size} if size else None)
    holders = wait_until(lambda: still_holders(stack), 20, "a holder stands still")
    wait_until(lambda: sessions_known(stack) == 1, 10, "the session is known")
    kill_busy(stack, 3)
    post.clean_error()
    kill(*holders, number=signal.SIGCONT)
    wait_until(lambda: sessions_known(stack) == 0, 10, "no orphan is left")
    stack.assert_clean()


def test_a_client_that_leaves_before_the_answer_keeps_no_place(slow_holders, stack):
    """As whoever reloads the page while the agent starts, and tries again at once."""
    body = json.dumps(numbers()).encode()
    with socket.create_connection(("127.0.0.1", stack.port), 30) as s:
        s.sendall(f"POST {SESSIONS} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
        holders = wait_until(lambda: still_holders(stack), 20, "a holder stands still")
        wait_until(lambda: sessions_known(stack) == 1, 10, "the session is known")
    worker = wait_until(lambda: busy_workers(stack), 10, "the worker waits")
    kill(*holders, number=signal.SIGCONT)
    wait_until(lambda: sessions_known(stack) == 0, CLEANING, "nobody was told of it")
    assert set(worker) <= set(stack.children("agentsim-fcgi")), "the worker goes on"
    stack.assert_clean()


def test_a_worker_killed_before_its_first_word_to_the_holder(stack):
    """The supervisor has answered, the program never comes: its connection to the holder ends without a word."""
    fds, session = [], uuid.uuid4()
    with socket.socket(socket.AF_UNIX) as sock:
        sock.connect(str(stack.runtime_dir / "supervisor.sock"))
        rpc.send_message(sock, rpc.CREATE, session.bytes + rpc.text("ip:192.0.2.1") + rpc.u32(0))
        assert rpc.recv_message(sock, fds)[0] == rpc.CREATED
    assert sessions_known(stack) == 1
    os.close(fds[0])
    wait_until(lambda: sessions_known(stack) == 0, CLEANING, "no orphan is left")
    stack.assert_clean()


def test_a_worker_killed_while_it_answers(stack):
    """Nobody takes the half for the whole, and the session is as it was."""
    with Flow(stack) as flow:
        slot = next(s["slot"] for s in sessions(stack) if s["id"] == flow.session)
        large = stack.slot_dir(slot) / "work" / "large"
        large.write_bytes(os.urandom(48 << 20))
        os.chown(large, stack.uid_base + slot, stack.uid_base + slot)
        with socket.create_connection(("127.0.0.1", stack.port), 30) as s:
            s.sendall(f"GET {SESSIONS}/{flow.session}/archive HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
            assert s.recv(15, socket.MSG_WAITALL) == b"HTTP/1.1 200 OK"  # compressing takes it a second more
            kill(*wait_until(lambda: busy_workers(stack), 10, "the worker that answers"))
            answer = b""
            with contextlib.suppress(ConnectionResetError):
                while part := s.recv(1 << 20):
                    answer = (answer + part)[-7:]
        assert answer != b"\r\n0\r\n\r\n", "a last chunk would say that this was all"
        wait_until(lambda: stack.get("/health").status == 200, 20, "workers are back")
        assert stack.state(flow.session).json()["attached"]
        stack.end(flow.session)


def test_the_supervisor_killed_while_a_session_is_created(stack):
    with stopped(one(stack, "agentsim-launcher")):
        post = Post(stack, SESSIONS, numbers())
        wait_until(lambda: sessions_known(stack) == 1, 20, "the supervisor has the session")
        kill(one(stack, "agentsim-supervisor"))
        post.clean_error()
    wait_until(lambda: stack.sandbox() == "ok", 20, "the next supervisor is ready")
    wait_until(lambda: sessions_known(stack) == 0, 20, "no orphan is left")


# ---- everything at once ----

def test_a_machine_that_stopped_is_cleaned_before_the_first_start():
    stack = Stack(AGENT_SIMULATOR_MAX_SESSIONS="3")
    stack.wrapper = ["setpriv", "--bounding-set=-sys_admin"]  # work directories on the disk, where they stay
    with stack:
        for _ in range(2):
            stack.create(numbers())
        everybody = [stack.keeper.pid, *tree(stack.keeper.pid)]
        everybody += of_sessions(stack, "")
        kill(*everybody, number=signal.SIGSTOP)  # a machine that stops gives nobody time for a last step
        kill(*reversed(everybody))  # the keeper last: its end wakes the others up
        stack.keeper.wait()
        kill(*of_sessions(stack, ""))
        wait_until(lambda: not of_sessions(stack, ""), 20, "nothing runs")
        slots = stack.state_dir / "slots"
        # What sessions leave on a disk; disks in memory are gone with the machine.
        deep = slots / "0" / "work" / "/".join("d" * 60)
        deep.mkdir(parents=True)
        (deep / "file").write_text("x")
        (slots / "0" / "work" / "link").symlink_to("/etc")
        for place in [slots / "0", *(slots / "0").rglob("*")]:
            os.chown(place, stack.uid_base, stack.uid_base, follow_symlinks=False)
        os.chmod(slots / "0" / "work", 0)
        (stack.runtime_dir / "holders" / "1.sock").touch()
        stack.start()
        stack.assert_clean()
        assert os.path.exists("/etc/passwd")
        with Flow(stack) as flow:
            flow.ask(10)
            flow.wait_for(10)
            stack.end(flow.session)
