"""`agentsim chat` as a person or a script uses it, against a stand-in for the service."""

import os
import pathlib
import pty
import select
import signal
import socket
import subprocess
import time
import types

import pytest

from tests.support.fake_service import SESSION, FakeService

ROOT = pathlib.Path(__file__).resolve().parents[2]
AGENTSIM = ROOT / os.environ.get("AGENTSIM_BUILD", "build") / "bin" / "agentsim"
DIAGRAM = ROOT / "tests" / "fixtures" / "diagrams" / "hello_minimal.json"


def echo(conversation):
    """Greets, then answers every message with its own text."""
    conversation.receive()
    conversation.send({"type": "auth_ok"})
    conversation.send({"type": "state_change", "state": "start", "_source": "log_state"})
    conversation.send({"type": "stdout", "line": "[start] Running body x"})
    conversation.reply("Welcome")
    while True:
        frame = conversation.receive()
        conversation.reply(f"you said {frame['message']}")


def chat(service, *words, text="", timeout=120):
    return subprocess.run([AGENTSIM, "chat", "--url", service.url, *words, str(DIAGRAM)], input=text, timeout=timeout,
                          capture_output=True, encoding="utf-8", env={**os.environ, "OPENAI_API_KEY": "k-1"})


def test_piped_lines_are_said_in_turn_and_the_session_is_ended():
    with FakeService(echo) as service:
        done = chat(service, text="hi\nthere\n")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["Welcome", "you said hi", "you said there"]
    assert [r[:2] for r in service.requests] == [
        ("POST", "/besser_api/simulation/sessions"), ("WS", f"/besser_api/simulation/{SESSION}/ws"),
        ("DELETE", f"/besser_api/simulation/sessions/{SESSION}")]
    assert service.heard[0] == {"type": "auth", "githubSession": "", "features": ["exit"]}
    assert service.heard[1] == {"action": "user_message", "message": "hi"}
    assert service.close_code() == 1000 and not service.failures
    assert "credentials" not in service.requests[0][2]


def test_a_sign_in_comes_from_the_option_or_the_environment(monkeypatch):
    monkeypatch.setenv("AGENTSIM_GITHUB_SESSION", "of-the-environment")
    for words, session in (((), "of-the-environment"), (("--github-session", "of-the-option"), "of-the-option")):
        with FakeService(echo) as service:
            assert chat(service, *words, text="hi\n").returncode == 0
        assert service.heard[0]["githubSession"] == session


def test_a_last_line_without_line_break_counts():
    with FakeService(echo) as service:
        done = chat(service, text="hi")
    assert done.stdout.splitlines() == ["Welcome", "you said hi"]


def test_trace_and_output_show_what_goes_on():
    with FakeService(echo) as service:
        done = chat(service, "--trace", "--output", text="")
    assert done.stdout.splitlines() == ["-> start", "| [start] Running body x", "Welcome"]


def test_credentials_of_the_environment_go_along_when_asked():
    with FakeService(echo) as service:
        chat(service, "--credentials", text="/quit\n")
    assert service.requests[0][2]["credentials"] == {"openAiApiKey": "k-1"}


def test_keep_leaves_the_session():
    with FakeService(echo) as service:
        done = chat(service, "--keep", text="/quit\n")
    assert SESSION in done.stdout
    assert "DELETE" not in [r[0] for r in service.requests]


def test_a_number_chooses_an_option():
    def script(conversation):
        conversation.receive()
        conversation.send({"type": "auth_ok"})
        conversation.reply('{"0":"red","1":"blue"}', "agent_reply_options")
        conversation.reply("you like " + conversation.receive()["message"])
        conversation.reply("and the number " + conversation.receive()["message"])
        conversation.receive()

    with FakeService(script) as service:
        done = chat(service, text="2\n2\n")
    assert done.stdout.splitlines() == ["  1) red", "  2) blue", "you like blue", "and the number 2"]


def test_commands_set_variables_and_send_files(tmp_path):
    note = tmp_path / "note.txt"
    note.write_text("hello")

    with FakeService(echo) as service:
        done = chat(service, text=f"/var age=42\n/var name=Ann B\n/file {note}\n//slash\n/nonsense\n/file /nowhere\n/help\n")
    assert service.heard[1] == {"action": "user_set_variable", "message": {"age": 42}}
    assert service.heard[2] == {"action": "user_set_variable", "message": {"name": "Ann B"}}
    assert service.heard[3]["action"] == "user_file"
    assert service.heard[3]["message"] == '{"name":"note.txt","type":"text/plain","base64":"aGVsbG8="}'
    assert service.heard[4] == {"action": "user_message", "message": "/slash"}
    assert len(service.heard) == 5
    assert "/nonsense: no such command" in done.stdout and "/nowhere" in done.stdout and "/quit" in done.stdout


def test_what_the_agent_says_cannot_drive_the_terminal():
    def script(conversation):
        conversation.receive()
        conversation.send({"type": "auth_ok"})
        conversation.reply("a\x1b[2Jb\x07c\u202ed\r\ne")
        conversation.send('{"action":"agent_reply_str","message":NaN}')
        conversation.receive()

    with FakeService(script) as service:
        done = chat(service)
    assert done.stdout.split("\n")[:2] == ["a\\x1b[2Jb\\x07c\\u202ed", "e"]
    assert "unreadable" in done.stdout
    assert "\x1b" not in done.stdout and "\x07" not in done.stdout


def test_a_refused_session_says_why():
    with FakeService(echo, refuse=(400, {"detail": "State \"a\" has no name"})) as service:
        done = chat(service)
    assert done.returncode == 1
    assert 'State "a" has no name (HTTP 400)' in done.stderr
    assert len(service.requests) == 1


@pytest.mark.parametrize("status, cure", [(429, "agentsim sessions lists what runs"), (401, "--github-session")])
def test_a_refusal_names_what_helps(status, cure):
    with FakeService(echo, refuse=(status, {"detail": "Not now"})) as service:
        done = chat(service)
    assert done.returncode == 1
    assert f"Not now (HTTP {status}); {cure}" in done.stderr


def test_a_rate_that_is_used_up_is_no_matter_of_sessions():
    sentence = "Too many requests: validating, starting and connecting count, 12 in 60 seconds at most; try again in 9 s"
    with FakeService(echo, refuse=(429, {"detail": sentence})) as service:
        done = chat(service)
    assert done.returncode == 1 and done.stderr.strip().endswith(f"{sentence} (HTTP 429); AGENT_SIMULATOR_RATE_LIMIT_MAX_REQUESTS of the service allows more")


def test_a_service_that_is_not_there_is_said():
    with socket.socket() as nobody:  # bound, so that no other test takes the port, and not listening
        nobody.bind(("127.0.0.1", 0))
        service = types.SimpleNamespace(url=f"http://127.0.0.1:{nobody.getsockname()[1]}")
        done = chat(service)
    assert done.returncode == 1
    assert service.url in done.stderr and "is the service running there? make up starts it" in done.stderr


def test_an_agent_that_does_not_start_ends_with_its_words():
    def script(conversation):
        conversation.receive()
        conversation.send({"type": "auth_ok"})
        conversation.send({"type": "error", "message": "SyntaxError: bad"})
        conversation.close(1011)

    with FakeService(script) as service:
        done = chat(service)
    assert done.returncode == 1
    assert "error: SyntaxError: bad" in done.stdout


def test_the_end_of_the_session_is_told():
    def script(conversation):
        conversation.receive()
        conversation.send({"type": "auth_ok"})
        conversation.reply("bye")
        conversation.send({"type": "exit", "reason": "exited", "code": 3})
        conversation.close(1000)

    with FakeService(script) as service:
        done = chat(service, text="more\n")
    assert done.returncode == 0
    assert done.stdout.splitlines() == ["bye", "(the session is over: exited, code 3)"]
    assert "DELETE" not in [r[0] for r in service.requests]


def test_a_cut_connection_is_resumed_where_it_was():
    turns = []

    def script(conversation):
        hello = conversation.receive()
        turns.append(hello)
        if len(turns) == 1:
            conversation.send({"type": "auth_ok"})
            conversation.send({"type": "stdout", "line": "one"})
            conversation.reply("first")
            conversation.close(1012)
            return
        conversation.send({"type": "auth_ok", "resumed": True, "from": 3})
        conversation.reply("second")
        conversation.receive()

    with FakeService(script) as service:
        done = chat(service)
    assert done.returncode == 0
    assert done.stdout.splitlines() == ["first", "second"]
    assert turns[1]["received"] == 2


def test_a_service_that_went_away_is_told_once():
    def script(conversation):
        conversation.receive()
        conversation.send({"type": "auth_ok"})
        conversation.reply("first")
        conversation.service.listener.shutdown(socket.SHUT_RDWR)  # nobody is there for the DELETE
        conversation.close(4409)

    with FakeService(script) as service:
        done = chat(service)
    assert done.returncode == 1 and done.stderr == ""
    assert done.stdout.splitlines() == ["first", "(the connection was closed, code 4409)"]


def test_long_messages_pass_whole():
    def script(conversation):
        conversation.receive()
        conversation.send({"type": "auth_ok"})
        conversation.reply("x" * 300000)
        conversation.receive()

    with FakeService(script) as service:
        done = chat(service)
    assert done.stdout.rstrip("\n") == "x" * 300000


@pytest.mark.parametrize("words", [("chat",), ("chat", "a", "b"), ("chat", "--nonsense", "a"), ("chat", "--wait", "x", "a"),
                                   ("chat", "/nowhere/x.json"), ("chat", "-")])
def test_wrong_use_is_two(words):
    done = subprocess.run([AGENTSIM, *words], capture_output=True, encoding="utf-8", stdin=subprocess.DEVNULL)
    assert done.returncode == 2 and done.stderr


def read_until(fd, text, seconds=90):
    got, end = "", time.monotonic() + seconds
    while text not in got:
        ready, _w, _x = select.select([fd], [], [], max(0, end - time.monotonic()))
        assert ready, f"{text!r} did not come, only {got!r}"
        got += os.read(fd, 65536).decode()
    return got


def test_in_a_terminal_it_prompts_and_ends_on_interrupt():
    with FakeService(echo) as service:
        leader, follower = pty.openpty()
        process = subprocess.Popen([AGENTSIM, "chat", "--url", service.url, "--trace", str(DIAGRAM)], stdin=follower,
                                   stdout=follower, stderr=follower, start_new_session=True)
        os.close(follower)
        assert "\x1b[2m-> start\x1b[0m" in read_until(leader, "Welcome\r\n> ")
        os.write(leader, b"hello\n")
        read_until(leader, "you said hello\r\n> ")
        process.send_signal(signal.SIGINT)
        assert process.wait(90) == 130
        os.close(leader)
    assert service.requests[-1][0] == "DELETE"
