"""One FastCGI worker by itself, spoken to directly: how it begins, ends and is interrupted."""
import contextlib
import fcntl
import os
import pathlib
import re
import resource
import signal
import socket
import struct
import subprocess
import tempfile
import termios
import time

import pytest

from tests.support.fastcgi import Request, ask
from tests.support.stack import BUILD, wait_until

BODY = b'{"title":"T","model":{"elements":{"x":1}}}'
JUDGE = "/besser_api/validate-diagram"


class Worker:
    def __init__(self, **settings):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="agentsim-worker-"))
        self.path = self.dir / "fcgi.sock"
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(self.path))
        self.listener.listen(16)
        self.env = {"AGENT_SIMULATOR_RUNTIME_DIR": str(self.dir), "AGENT_SIMULATOR_PROGRAM_DIR": str(BUILD / "bin"),
                    "AGENT_SIMULATOR_REQUIRE_AUTH": "false", **settings}
        self.log = open(self.dir / "log", "w+")
        self.start()

    def start(self):
        self.process = subprocess.Popen([BUILD / "bin" / "agentsim-fcgi"], stdin=self.listener, stderr=self.log, env=self.env)
        assert ask(self.path, "GET", "/health")[0] == 200

    def connections(self):
        folder = f"/proc/{self.process.pid}/fd"
        found = 0
        for name in os.listdir(folder):
            with contextlib.suppress(FileNotFoundError):
                found += os.readlink(f"{folder}/{name}").startswith("socket:")
        return found - 1  # the one it listens on

    def has_pending(self, number):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return bool(int(re.search(r"^ShdPnd:\s*(\w+)", status, re.M)[1], 16) >> (number - 1) & 1)

    def log_text(self):
        return (self.dir / "log").read_text()

    def close(self):
        self.process.kill()
        self.process.wait()
        self.listener.close()
        for name in os.listdir(self.dir):
            (self.dir / name).unlink()
        self.dir.rmdir()


def unread(sock):
    """Bytes, and the kernel's own for them, that the peer has not read yet."""
    return struct.unpack("i", fcntl.ioctl(sock, termios.TIOCOUTQ, bytes(4)))[0]


@pytest.fixture
def worker():
    w = Worker()
    yield w
    w.close()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_an_idle_worker_ends_at_once(worker, number):
    worker.process.send_signal(number)
    assert worker.process.wait(60) == 0


def test_the_request_at_hand_is_finished_first(worker):
    body = BODY[:-1] + b" " * 300000 + b"}"
    request = Request(worker.path, "POST", JUDGE, body)
    request.send(0, 100000)
    wait_until(lambda: unread(request.socket) == 0, 5, "the worker is inside the body")
    worker.process.terminate()
    wait_until(lambda: not worker.has_pending(signal.SIGTERM), 5, "the worker knows that it has to end")
    status, _headers, answer, ended = request.finish(100000)
    assert (status, ended) == (200, True) and b'"isValid":false' in answer
    assert worker.process.wait(60) == 0


def test_signals_that_come_at_any_moment_are_not_lost(worker):
    for delay in (0, 0.0005, 0.001, 0.002, 0.005):
        request = Request(worker.path, "GET", "/health")
        time.sleep(delay)
        worker.process.terminate()
        try:
            request.finish()
        except OSError:
            pass
        assert worker.process.wait(60) == 0
        worker.start()


def test_killed_in_a_request_it_costs_that_request_only(worker):
    wait_until(lambda: worker.connections() == 0, 5, "the worker is idle")
    request = Request(worker.path, "POST", JUDGE, BODY)
    wait_until(lambda: worker.connections() == 1, 5, "the worker took the request")
    worker.process.kill()
    worker.process.wait()
    waiting = Request(worker.path, "GET", "/health")  # in the backlog, which the listener's owner keeps
    worker.start()
    assert waiting.finish()[0] == 200
    with pytest.raises(OSError):
        if not request.finish()[3]:
            raise OSError("no answer")


def test_a_client_that_leaves_is_forgotten(worker):
    for sent in (0, 10, len(BODY)):
        request = Request(worker.path, "POST", JUDGE, BODY)
        request.send(0, sent)
        request.socket.close()
    connected = socket.socket(socket.AF_UNIX)
    connected.connect(str(worker.path))
    connected.close()
    assert ask(worker.path, "GET", "/health")[0] == 200
    assert worker.process.poll() is None


def test_nonsense_on_the_socket_is_survived(worker):
    for text in (b"GET / HTTP/1.1\r\n\r\n", b"\0" * 100, b"\1\1\0\1\0\x08\0\0" + b"\xff" * 8, os.urandom(500)):
        client = socket.socket(socket.AF_UNIX)
        client.connect(str(worker.path))
        client.sendall(text)
        client.shutdown(socket.SHUT_WR)
        client.settimeout(60)
        while client.recv(4096):
            pass
        client.close()
    assert ask(worker.path, "GET", "/health")[0] == 200
    assert worker.process.poll() is None


def test_a_body_beyond_its_announcement_is_413(worker):
    size = 50 * 1024 * 1024
    assert ask(worker.path, "POST", JUDGE, b"x" * 10, CONTENT_LENGTH=str(size + 1))[0] == 413
    assert ask(worker.path, "GET", "/health")[0] == 200


def test_credentials_are_in_no_log_and_memory_is_closed_to_others(worker):
    body = b'{"title":"T","model":{},"credentials":{"openAiApiKey":"sk-very-secret"}}'
    assert ask(worker.path, "POST", "/besser_api/simulation/validate", body)[0] == 503
    assert ask(worker.path, "POST", "/besser_api/simulation/validate", body.replace(b'"title":"T",', b""))[0] == 422
    assert "sk-very-secret" not in worker.log_text()
    limits = pathlib.Path(f"/proc/{worker.process.pid}/limits").read_text()
    assert re.search(r"^Max core file size +0 +0 ", limits, re.M)
    assert os.stat(f"/proc/{worker.process.pid}/mem").st_uid == 0  # not dumpable


def test_log_lines_carry_the_id_of_their_request(worker):
    ask(worker.path, "GET", "/nothing", REQUEST_ID="11111111-2222-4333-8444-555555555555")
    wait_until(lambda: "request=11111111-2222-4333-8444-555555555555 GET /nothing: 404" in worker.log_text(), 5, "log line")


def test_a_bad_setting_stops_the_start_with_a_sentence():
    env = {"AGENT_SIMULATOR_MAX_SESSIONS": "many", "AGENT_SIMULATOR_RUNTIME_DIR": "/tmp"}
    done = subprocess.run([BUILD / "bin" / "agentsim-fcgi"], stdin=subprocess.DEVNULL, capture_output=True, text=True, env=env,
                          timeout=60, check=False)
    assert done.returncode == 1
    assert 'AGENT_SIMULATOR_MAX_SESSIONS is "many"; allowed: a whole number from 1 to 4096' in done.stderr


def test_memory_of_large_bodies_is_given_back(worker):
    sanitized = b"__asan_init" in (BUILD / "bin" / "agentsim-fcgi").read_bytes()  # keeps freed memory for a while
    most = 1 << 30 if sanitized else 32 << 20

    def resident():
        return int(pathlib.Path(f"/proc/{worker.process.pid}/statm").read_text().split()[1]) * resource.getpagesize()

    before = resident()
    body = b'{"title":"T","model":{"elements":[' + b"{}," * 1000000 + b"1]}}"
    for _ in range(3):
        assert ask(worker.path, "POST", JUDGE, body)[0] == 200
    wait_until(lambda: resident() - before < most, 5, "memory given back")
