"""Requests made to hold a worker: each is over in a bounded time, and others are answered."""
import collections
import contextlib
import json
import resource
import select
import socket
import time
import uuid

import pytest

from tests.support.stack import Conversation, wait_until

SETTINGS = {"AGENT_SIMULATOR_WORKERS": "2", "TRUSTED_PROXIES": "127.0.0.1"}
AWAY = {"X-Forwarded-For": "198.51.100.7"}  # another machine's address; this one's have no shares
VALIDATE = "/besser_api/simulation/validate"
SESSIONS = "/besser_api/simulation/sessions"


def diagram_with(elements):
    return {
        "title": "wide",
        "model": {
            "type": "AgentDiagram",
            "elements": {
                "s": {"id": "s", "name": "welcome", "type": "AgentState"},
                "i": {"id": "i", "name": "", "type": "StateInitialNode"},
                **elements,
            },
            "relationships": {"r": {"id": "r", "type": "AgentStateTransitionInit", "source": {"element": "i"}, "target": {"element": "s"}}},
        },
    }


def slow_tools(count):
    """CPython compares every keyword with every other: a second for each of these."""
    keywords = ",".join(f"a{i}=1" for i in range(10000))
    return {f"t{n}": {"id": f"t{n}", "name": f"tool{n}", "type": "AgentTool",
                      "code": f"def tool{n}(x):\n    return f({keywords})\n"} for n in range(count)}


@pytest.mark.parametrize("path", [VALIDATE, SESSIONS])
def test_many_slow_pieces_of_python_do_not_hold_a_worker_for_minutes(stack, path):
    began = time.monotonic()
    reply = stack.post(path, diagram_with(slow_tools(200)), timeout=120)
    assert time.monotonic() - began < 60
    if reply.status == 503:  # the machine was too busy to give the checker its computing time
        assert "too busy" in reply.json()["detail"]
        return
    said = reply.body.decode()  # of the request's time; or of one piece, where sanitizers or neighbours slow each down
    assert "too much Python code" in said or "could not be checked within" in said
    assert 'Tool \\"tool' in said
    assert (reply.status, reply.json().get("valid")) == ((200, False) if path == VALIDATE else (400, None))


WRITE_BIG_FILES = """def fill(session):
    take = __builtins__["open"] if isinstance(__builtins__, dict) else __builtins__.open
    block = take("/dev/urandom", "rb").read(90000000)
    for i in range(4):
        take("big%d" % i, "wb").write(block)
    session.reply("written")
"""


def open_download(stack, path):
    """A reader that asks and then takes next to nothing."""
    reader = socket.socket()
    reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    reader.connect(("127.0.0.1", stack.port))
    reader.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: {AWAY['X-Forwarded-For']}\r\n\r\n".encode())
    reader.settimeout(60)
    return reader


def test_slow_readers_of_archives_hold_no_worker_and_are_few(stack):
    body = {"id": "b", "owner": "s", "name": WRITE_BIG_FILES, "code": WRITE_BIG_FILES, "type": "AgentStateBody",
            "actionType": "CustomCodeAction"}
    request = diagram_with({"b": body})
    request["model"]["elements"]["s"]["actions"] = ["b"]
    session = stack.post(SESSIONS, request, headers=AWAY).json()["sessionId"]
    with contextlib.ExitStack() as readers:
        talk = readers.enter_context(Conversation(stack.socket(session, additional_headers=AWAY), {}))  # and stays, for a session that nobody looks at ends
        assert talk.reply() == "written"

        def slow():
            return readers.enter_context(open_download(stack, f"{SESSIONS}/{session}/archive"))

        first = [slow() for _ in range(2)]
        wait_until(lambda: select.select(first, [], [], 0)[0] == first, 60, "both are being answered")
        refused = slow()
        assert refused.recv(12) == b"HTTP/1.1 503"
        wait_until(lambda: health_within(stack, 5), 60, "the workers are free again while nobody reads")
    assert stack.request("DELETE", f"{SESSIONS}/{session}", headers=AWAY).status == 200
    stack.assert_clean()


def health_within(stack, seconds):
    with contextlib.suppress(OSError):
        return stack.get("/health", timeout=seconds).status == 200
    return False


def test_one_address_cannot_shut_out_others_with_sockets(stack):
    handshake = (f"GET /besser_api/simulation/{uuid.uuid4()}/ws HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\n"
                 "Connection: Upgrade\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n"
                 f"X-Forwarded-For: {AWAY['X-Forwarded-For']}\r\n\r\n")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 4096)), hard))
    answers = collections.Counter()
    with contextlib.ExitStack() as sockets:
        # All are asked before an answer is read: who says nothing more is sent away after ten seconds.
        many = [sockets.enter_context(socket.create_connection(("127.0.0.1", stack.port), 60)) for _ in range(1200)]
        for one in many:
            one.sendall(handshake.encode())
        for one in many:
            answers[one.recv(12)] += 1
        assert stack.get("/health", timeout=30).status == 200
    assert answers == {b"HTTP/1.1 101": 1000, b"HTTP/1.1 503": 200}


def first_line_and_body(stack, request):
    with socket.create_connection(("127.0.0.1", stack.port), 60) as s:
        s.sendall(request)
        answer = b""
        while b"\r\n\r\n" not in answer or (b"Switching" not in answer and not answer.endswith(b"}")):
            part = s.recv(65536)
            if not part:
                break
            answer += part
    return answer.split(b"\r\n")[0].decode(), answer.partition(b"\r\n\r\n")[2]


@pytest.mark.parametrize("version, key, host, origin, status", [
    ("13", "AAAAAAAAAAAAAAAAAAAAAA==", "x", "http://x", 101),
    ("13", "", "x", "http://x", 400),
    ("13", "short", "x", "http://x", 400),
    ("99", "AAAAAAAAAAAAAAAAAAAAAA==", "x", "http://x", 400),
    ("13", "AAAAAAAAAAAAAAAAAAAAAA==", "h" * 7000, "o" * 7000, 403),
])
def test_a_handshake_gets_an_answer_that_fits(stack, version, key, host, origin, status):
    line, body = first_line_and_body(stack, (
        f"GET /besser_api/simulation/x/ws HTTP/1.1\r\nHost: {host}\r\nOrigin: {origin}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        f"Sec-WebSocket-Version: {version}\r\nSec-WebSocket-Key: {key}\r\n\r\n").encode())
    assert line.startswith(f"HTTP/1.1 {status} ")
    assert status == 101 or b"detail" in body


@pytest.mark.parametrize("request_line, headers, status", [
    ("GET /health HTTP/9.9", "", 505),
    ("POST /besser_api/simulation/validate HTTP/1.1", "Transfer-Encoding: identity, chunked\r\n", 501),
])
def test_what_nginx_refuses_itself_is_json_with_a_sentence(stack, request_line, headers, status):
    line, body = first_line_and_body(stack, f"{request_line}\r\nHost: x\r\n{headers}\r\n".encode())
    assert line.startswith(f"HTTP/1.1 {status} ")
    assert "not supported" in json.loads(body)["detail"]
