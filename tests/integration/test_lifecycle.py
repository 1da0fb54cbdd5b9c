"""Processes come and go; sessions, sockets and counts stay right."""
import contextlib
import datetime
import json
import os
import pathlib
import re
import signal
import subprocess
import time

import pytest
from websockets.exceptions import ConnectionClosed

from tests.support.stack import Stack, children_of, kill, processes_of_uids, wait_until

SETTINGS = {"AGENT_SIMULATOR_MAX_SESSIONS": "2", "AGENT_SIMULATOR_MAX_SESSIONS_PER_ACTOR": "2",
            "AGENT_SIMULATOR_DETACH_SECONDS": "60"}


def exit_code_of(ws, timeout=60):
    with pytest.raises(ConnectionClosed) as closed:
        while True:
            ws.recv(timeout=timeout)
    return closed.value.rcvd.code if closed.value.rcvd else 1006


def test_a_full_service_says_so_and_takes_the_next_after_an_end(stack, diagram):
    sessions = [stack.create(diagram("hello_minimal")) for _ in range(2)]
    refused = stack.post("/besser_api/simulation/sessions", diagram("hello_minimal"))
    assert refused.status == 429 and refused.json()["detail"]
    assert stack.end(sessions[0]).status == 200
    sessions[0] = stack.create(diagram("hello_minimal"))
    for session in sessions:
        assert stack.end(session).status == 200
    stack.assert_clean()


def test_an_ended_session_is_unknown_to_everybody(stack, diagram):
    session = stack.create(diagram("hello_minimal"))
    stack.end(session)
    assert stack.state(session).status == 404
    assert stack.end(session).status == 404
    assert stack.get(f"/besser_api/simulation/sessions/{session}/files").status == 404
    with stack.socket(session) as ws:
        ws.send(json.dumps({"type": "auth", "githubSession": ""}))
        assert json.loads(ws.recv(timeout=30))["type"] == "error"
        assert exit_code_of(ws) == 4404


def test_delete_closes_the_browser_and_says_why(stack, diagram):
    session = stack.create(diagram("hello_minimal"))
    with stack.talk(session, features=["exit"]) as talk:
        talk.reply()
        assert stack.end(session).json() == {"ok": True}
        frame = talk.until(lambda f: f.get("type") == "exit")
        assert frame["reason"] == "stopped"
        assert exit_code_of(talk.ws) == 1000
    stack.assert_clean()


def test_a_second_tab_takes_over(stack, diagram):
    session = stack.create(diagram("talk_ticket_machine"))
    with stack.talk(session) as one:
        assert one.reply() == "Tickets here. Where to?"
        got = len(one.frames)
        with stack.talk(session, received=got) as two:
            assert exit_code_of(one.ws) == 4409
            assert two.hello == {"type": "auth_ok", "resumed": True, "from": got + 1}
            two.say("Delft")
            assert two.reply() == "Single or return?"
    stack.end(session)


def test_a_lost_socket_resumes_where_it_stopped(stack, diagram):
    session = stack.create(diagram("talk_ticket_machine"))
    talk = stack.talk(session)
    assert talk.reply() == "Tickets here. Where to?"
    talk.say("Delft")
    talk.ws.socket.shutdown(2)
    with stack.talk(session, received=len(talk.frames)) as again:
        assert again.hello["resumed"] is True
        if not any(f.get("message") == "Single or return?" for f in talk.frames):
            assert again.reply() == "Single or return?"
    stack.end(session)


def test_nobody_comes_back_and_the_session_ends(diagram):
    with Stack(AGENT_SIMULATOR_DETACH_SECONDS="3") as short:
        session = short.create(diagram("hello_minimal"))
        with short.talk(session) as talk:
            talk.reply()
        wait_until(lambda: short.state(session).json()["state"] == "gone", 30, "the detached session is gone")
        assert short.state(session).json()["exit"] == {"reason": "stopped", "code": 0}  # its owner may still ask why
        short.assert_clean()


def seconds(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def test_a_session_is_described_in_every_state(stack, diagram):
    session = stack.create(diagram("talk_ticket_machine"))
    first = stack.state(session).json()
    assert set(first) == {"sessionId", "state", "startedAt", "expiresAt", "attached", "framesSent", "exit"}
    assert first["sessionId"] == session and first["exit"] is None and first["attached"] is False
    assert first["state"] in ("starting", "ready")
    assert abs(seconds(first["startedAt"]) - time.time()) < 60
    assert seconds(first["expiresAt"]) - seconds(first["startedAt"]) == 900
    wait_until(lambda: stack.state(session).json()["state"] == "ready", 75, "the agent listens")
    with stack.talk(session) as talk:
        assert talk.reply() == "Tickets here. Where to?"
        there = stack.state(session).json()
        assert there["framesSent"] >= len(talk.frames), "what a browser has is counted"
        assert there["state"] == "attached" and there["attached"] is True
    left = wait_until(lambda: (s := stack.state(session).json())["state"] == "detached" and s, 10, "the browser has left")
    assert left["attached"] is False and left["exit"] is None and left["startedAt"] == first["startedAt"]
    with stack.talk(session, received=0) as talk:
        for pid in stack.session_processes():
            with contextlib.suppress(OSError):
                if b"agent.py" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0"):
                    os.kill(pid, signal.SIGTERM)
        exit_code_of(talk.ws)
        assert stack.state(session).json()["exit"], "whoever was told may ask at once"
    over = wait_until(lambda: (s := stack.state(session).json())["state"] == "gone" and s, 30, "the session is over")
    assert over["attached"] is False and over["exit"]["reason"] in ("signaled", "exited") and over["framesSent"] >= there["framesSent"]
    assert stack.internal("DELETE", f"/sessions/{session}").status == 200  # not the backend's
    assert stack.state(session).json()["exit"] == over["exit"]


def holder_of_session(stack):
    for pid in stack.session_processes():
        with contextlib.suppress(OSError):
            if b"agentsim-holder" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[0]:
                return pid


def test_a_killed_holder_ends_its_session_with_reason_and_a_clean_slot(stack, diagram):
    session = stack.create(diagram("hello_minimal"))
    with stack.talk(session, features=["exit"]) as talk:
        talk.reply()
        os.kill(holder_of_session(stack), signal.SIGKILL)
        frame = talk.until(lambda f: f.get("type") == "exit")
        assert frame == {"type": "exit", "reason": "signaled", "code": 9}
        assert talk.frames[-2]["type"] == "error"
        assert exit_code_of(talk.ws) == 1011
    stack.assert_clean()
    assert stack.state(session).json()["exit"] == {"reason": "signaled", "code": 9}


def test_killing_every_worker_costs_nobody_a_session(stack, diagram):
    session = stack.create(diagram("talk_ticket_machine"))
    with stack.talk(session) as talk:
        assert talk.reply() == "Tickets here. Where to?"
        workers = wait_until(lambda: len(found := stack.children("agentsim-fcgi")) == 2 and found, 10, "both run")
        kill(*workers)
        talk.say("Delft")
        assert talk.reply() == "Single or return?"
        wait_until(lambda: stack.get("/health").status == 200, 20, "workers are back")
    told = re.compile(r"agentsim-fcgi[^\n]*signal 9", re.I)
    wait_until(lambda: len(told.findall(stack.log_text())) >= len(workers), 20, "their ends are told")
    assert stack.end(session).status == 200


def test_an_open_conversation_survives_an_nginx_reload(stack, diagram):
    session = stack.create(diagram("talk_ticket_machine"))
    with stack.talk(session) as talk:
        assert talk.reply() == "Tickets here. Where to?"
        master = int((stack.runtime_dir / "nginx.pid").read_text())
        before = subprocess.run(["pgrep", "-P", str(master)], capture_output=True, text=True).stdout.split()
        os.kill(master, signal.SIGHUP)
        wait_until(lambda: set(subprocess.run(["pgrep", "-P", str(master)], capture_output=True, text=True).stdout.split())
                   - set(before), 10, "new nginx workers")
        assert stack.get("/health").status == 200
        talk.say("Delft")
        assert talk.reply() == "Single or return?"
    stack.end(session)


def test_a_killed_supervisor_comes_back_and_finds_its_session(stack, diagram):
    session = stack.create(diagram("talk_ticket_machine"))
    talk = stack.talk(session)
    assert talk.reply() == "Tickets here. Where to?"
    kill(stack.children("agentsim-supervisor")[0])
    exit_code_of(talk.ws)
    wait_until(lambda: stack.state(session).status == 200, 10, "the session is known again")
    with stack.talk(session, received=len(talk.frames)) as again:
        again.say("Delft")
        assert again.reply() == "Single or return?"
    assert stack.end(session).status == 200
    stack.assert_clean()


def test_a_killed_launcher_ends_its_sessions_cleanly(stack, diagram):
    session = stack.create(diagram("hello_minimal"))
    with stack.talk(session, features=["exit"]) as talk:
        talk.reply()
        kill(stack.children("agentsim-launcher")[0])
        assert talk.until(lambda f: f.get("type") == "exit")["reason"] == "stopped"
        assert exit_code_of(talk.ws) in (1000, 1011)  # its holder may have been swept away before it could say good-bye
    stack.assert_clean()
    wait_until(lambda: stack.sandbox() == "ok", 60, "the sandbox is available again")
    second = wait_until(lambda: (r := stack.post("/besser_api/simulation/sessions", diagram("hello_minimal"))).status == 200
                        and r.json()["sessionId"], 30, "a new session starts")
    stack.end(second)


def test_who_is_stopped_is_replaced_and_clients_get_answers_meanwhile(stack, diagram):
    session = stack.create(diagram("talk_ticket_machine"))
    talk = stack.talk(session)
    assert talk.reply() == "Tickets here. Where to?"
    workers, supervisor = stack.children("agentsim-fcgi"), stack.children("agentsim-supervisor")[0]
    for pid in workers[:1] + [supervisor]:
        os.kill(pid, signal.SIGSTOP)
    assert stack.get("/health").status in (200, 502)  # the other worker, or the end of the stopped one
    assert stack.state(session).status in (200, 502, 503)
    wait_until(lambda: workers[0] not in stack.children("agentsim-fcgi") and supervisor not in stack.children("agentsim-supervisor"),
               30, "they are killed")
    exit_code_of(talk.ws)
    wait_until(lambda: stack.state(session).status == 200, 30, "the session is found again")
    with stack.talk(session, received=len(talk.frames)) as again:
        again.say("Delft")
        assert again.reply() == "Single or return?"
    launcher = stack.children("agentsim-launcher")[0]
    os.kill(launcher, signal.SIGSTOP)
    wait_until(lambda: launcher not in stack.children("agentsim-launcher"), 30, "the launcher is replaced, too")
    stack.assert_clean()  # its sessions end with it
    wait_until(lambda: stack.sandbox() == "ok", 60, "the sandbox is available again")


def test_lifetime_ends_a_session(diagram):
    with Stack(AGENT_SIMULATOR_SESSION_LIFETIME_SECONDS="8") as short:
        silent = short.create_program("import time\ntime.sleep(1000)\n")
        session = short.create(diagram("hello_minimal"))
        with short.internal_socket(silent) as ws, short.talk(session, features=["exit"]) as talk:
            assert talk.until(lambda f: f.get("type") == "exit", 30) == {"type": "exit", "reason": "expired", "code": 0}
            assert exit_code_of(talk.ws) == 1000
            exit_code_of(ws)
        short.assert_clean()
        assert short.state(session).json()["exit"]["reason"] == "expired"


def test_many_silent_sessions_hold_nobody_up(diagram):
    with Stack(AGENT_SIMULATOR_MAX_SESSIONS="21", AGENT_SIMULATOR_MAX_SESSIONS_PER_ACTOR="21") as many:
        silent = [many.create_program("import time\ntime.sleep(1000)\n") for _ in range(20)]
        with contextlib.ExitStack() as sockets:
            for session in silent:
                sockets.enter_context(many.internal_socket(session))
            for _ in range(20):
                assert many.get("/health", timeout=30).status == 200
            session = many.create(diagram("hello_minimal"))
            with many.talk(session) as talk:
                talk.reply()
            assert many.request("DELETE", f"/besser_api/simulation/sessions/{session}", timeout=30).status == 200
        for session in silent:
            assert many.internal("DELETE", f"/sessions/{session}", timeout=30).status == 200
        many.assert_clean()


def test_an_agent_that_never_listens_is_reported_at_the_deadline():
    with Stack(AGENT_SIMULATOR_READY_SECONDS="5") as quick:
        session = quick.create_program("import time\nprint('still thinking', flush=True)\ntime.sleep(1000)\n")
        frames = []
        with quick.internal_socket(session) as ws, pytest.raises(ConnectionClosed):
            while True:
                frames.append(json.loads(ws.recv(timeout=60)))
        assert {"type": "stdout", "line": "still thinking"} in frames
        assert frames[-1]["type"] == "error" and "still thinking" in frames[-1]["message"]
        quick.assert_clean()


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_the_end_of_the_service_is_the_end_of_everything(diagram, how):
    with Stack() as short:
        session = short.create(diagram("hello_minimal"))
        with short.talk(session) as talk:
            talk.reply()
            tree = children_of(short.keeper.pid)
            tree += [pid for child in tree for pid in children_of(child)]
            assert len(tree) >= 6
            short.keeper.send_signal(how)
            if how == signal.SIGTERM:
                assert short.keeper.wait(90) == 0
            wait_until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in tree), 30, "no process is left")
        wait_until(lambda: processes_of_uids(short.uid_base, short.uid_base + short.max_sessions) == [], 30, "no agent is left")
        if how == signal.SIGTERM:
            assert sorted(os.listdir(short.state_dir / "slots")) == []


def test_what_a_killed_service_left_is_cleaned_before_the_next_start(diagram):
    with Stack() as short:
        session = short.create(diagram("hello_minimal"))
        with short.talk(session) as talk:
            talk.reply()
            for pid in short.children("agentsim-launcher") + [short.keeper.pid]:
                os.kill(pid, signal.SIGKILL)
        short.keeper.wait()
        wait_until(lambda: not short.is_up(), 30, "the old service is gone")
        short.start()
        short.assert_clean()
        again = short.create(diagram("hello_minimal"))
        assert short.end(again).status == 200
