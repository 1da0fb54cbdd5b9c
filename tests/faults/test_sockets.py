"""Nonsense, silence and crowds on each of our sockets: nobody else notices, memory is bounded, all of it comes back."""
from __future__ import annotations

import base64
import contextlib
import json
import os
import resource
import socket
import struct
import threading
import time
import uuid

import pytest
from websockets.frames import Frame, Opcode

from tests.bench.sockets import connect_all
from tests.faults.counts import SANITIZED, descriptors, ours, resident_kib, steady
from tests.faults.flow import Browser, Flow, numbers
from tests.faults.places import end_all, launcher_is_free, nginx_workers, of_sessions, one, sessions
from tests.faults.scale import Progress, pick
from tests.support.stack import Stack, wait_until

SETTINGS = {"AGENT_SIMULATOR_MAX_SESSIONS": "4", "AGENT_SIMULATOR_MAX_SESSIONS_PER_ACTOR": "4",
            "AGENT_SIMULATOR_SESSION_LIFETIME_SECONDS": "3600", "AGENT_SIMULATOR_RATE_LIMIT_MAX_REQUESTS": "100000"}
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))  # a crowd of sockets is ours too
SOCKETS = ["supervisor.sock", "ws.sock", "fcgi.sock", "launcher.sock", "holder"]


@pytest.fixture
def flow(stack):
    """A conversation meanwhile, which has to be whole."""
    with Flow(stack) as running:
        running.ask(400, pause=0.002)
        yield running
        running.wait_for(400)
        assert running.browser.lost == []
        stack.end(running.session)
    wait_until(lambda: stack.sandbox() == "ok", 30, "the service is whole")
    end_all(stack)
    stack.assert_clean(30)


def address(stack, flow, name):
    if name != "holder":
        return str(stack.runtime_dir / name)
    slot = next(s["slot"] for s in sessions(stack) if s["id"] == flow.session)
    return str(stack.runtime_dir / "holders" / f"{slot}.sock")


def connect(stack, flow, name):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET if name == "launcher.sock" else socket.SOCK_STREAM)
    s.settimeout(30)
    s.connect(address(stack, flow, name))
    return s


def frame(kind, payload, length=None):
    return struct.pack("=IHH", len(payload) if length is None else length, kind, 0) + payload


def nonsense(chance, name):
    """What a peer might say that has lost its mind, or is another version."""
    kind = chance.choice((0, 1, 2, 3, 32, 33, 38, 64, 65, 96, 97, 98, 128, 999, 65535))
    payload = chance.randbytes(chance.choice((0, 1, 16, 60, 1000)))
    fcgi = struct.pack(">BBHHBx", 1, chance.choice((1, 4, 5, 9, 11, 77)), chance.choice((0, 1, 7)), len(payload), 0) + payload
    return chance.choice((
        chance.randbytes(chance.choice((1, 7, 8, 9, 48, 500))),
        frame(kind, payload),
        frame(kind, payload)[:-1] if payload else frame(kind, payload)[:5],
        frame(kind, payload, length=0xFFFFFFFF),
        frame(kind, payload, length=len(payload) + 1),
        struct.pack("=IIIIq16s", 0x61677331, chance.choice((0, 3, 9, 77)), chance.choice((0, 4000000000)), 0, 0, bytes(16)),
        b"GET / HTTP/1.1\r\n\r\n", b"\0" * 64, fcgi, fcgi[:-1],
    ))


@pytest.mark.parametrize("name", SOCKETS)
def test_truncated_oversized_and_senseless_messages(stack, flow, chance, name):
    before = {pid: name for pid, name in ours(stack).items() if "pyparse" not in name}
    for _ in range(pick(60, 5000)):
        with contextlib.suppress(OSError), connect(stack, flow, name) as s:
            s.sendall(nonsense(chance, name))
            if chance.random() < 0.3:
                s.shutdown(socket.SHUT_WR)
                s.settimeout(0.05)
                s.recv(4096)
    if name == "launcher.sock":
        launcher_is_free(stack)
    wait_until(lambda: stack.get("/health").status == 200, 20, "requests are served")
    # libfcgi ends a worker whose peer announces more than there is memory: nobody but nginx can be that peer.
    kept = {pid: name for pid, name in before.items() if name != "agentsim-fcgi"} if name == "fcgi.sock" else before
    assert kept.items() <= ours(stack).items(), "nobody had to be started again"


@pytest.mark.parametrize("name", SOCKETS)
def test_peers_that_say_nothing(stack, flow, name):
    silent = [connect(stack, flow, name) for _ in range(40 if name != "launcher.sock" else 3)]
    if name == "fcgi.sock":  # each worker waits for one of them; nginx's come after those
        for s in silent:
            s.close()
    assert stack.get("/health").status == 200
    assert stack.get(f"/besser_api/simulation/sessions/{flow.session}/files").status in (200, 503)
    for s in silent:
        s.close()
    if name == "launcher.sock":
        launcher_is_free(stack)


def test_clients_that_send_a_byte_now_and_then(stack, flow):
    slow = []
    for i in range(pick(100, 1000)):
        s = socket.create_connection(("127.0.0.1", stack.port), 5)
        if i % 2:
            s.sendall(b"POST /besser_api/simulation/sessions HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n")
        slow.append(s)
    for byte in b"GET /":
        for s in slow:
            with contextlib.suppress(OSError):
                s.sendall(bytes([byte]))
        began = time.monotonic()
        assert stack.get("/health").status == 200
        assert stack.state(flow.session).status == 200
        assert time.monotonic() - began < 20
    for s in slow:
        s.close()


# ---- crowds on the conversation socket ----

HANDSHAKE = ("GET /besser_api/simulation/{}/ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
             "Sec-WebSocket-Key: {}\r\nSec-WebSocket-Version: 13\r\nX-Agentsim-Surface: public\r\nX-Real-IP: 127.0.0.1\r\n\r\n")
NOBODYS = HANDSHAKE.format(uuid.uuid4(), base64.b64encode(os.urandom(16)).decode()).encode()  # made once: crowds come fast


def signed_in(stack, session):
    """A browser's socket through nginx, as bytes: what it does from here on is the test's."""
    s = socket.create_connection(("127.0.0.1", stack.port), 30)
    s.sendall(HANDSHAKE.format(session, base64.b64encode(os.urandom(16)).decode()).encode())
    s.sendall(Frame(Opcode.TEXT, b'{"type":"auth","githubSession":""}').serialize(mask=True))
    return s


def shake_hands(stack, whole=True):
    s = socket.socket(socket.AF_UNIX)
    s.connect(str(stack.runtime_dir / "ws.sock"))  # waits when the backlog is full, which it would not with a timeout
    s.settimeout(30)
    s.sendall(NOBODYS if whole else NOBODYS[:-30])
    return s


def test_idle_sockets_are_cheap_are_closed_and_give_back_what_they_had(stack, flow):
    pid, many = one(stack, "agentsim-supervisor"), pick(5000, 10_000)
    fds, kib, began = steady(lambda: descriptors(pid)), resident_kib(pid), time.monotonic()
    idle = []
    while len(idle) < many and time.monotonic() - began < 6:  # the first ones are sent away after ten seconds
        idle.append(shake_hands(stack, whole=bool(len(idle) % 5)))
    many = len(idle)
    assert many >= 500
    wait_until(lambda: descriptors(pid) >= fds + many, 30, "all are in")
    auth = Frame(Opcode.TEXT, b'{"type":"auth","githubSession":""}').serialize(mask=True)
    slow = [(s, iter(auth if i % 5 else b"X-Slow: a header without end" * 9)) for i, s in enumerate(idle) if i % 5 in (0, 1)]

    def a_byte_each():
        """Slower than ten seconds for all of it, and never silent."""
        for s, rest in slow:
            with contextlib.suppress(OSError, StopIteration):
                s.sendall(bytes([next(rest)]))
        time.sleep(0.5)
        return descriptors(pid) < fds + 20

    each = (resident_kib(pid) - kib) / many
    assert SANITIZED or each < 4, f"{each:.1f} KiB for a socket that has not signed in"
    assert stack.state(flow.session).status == 200
    # Nobody signs in: they are sent away after ten seconds, whatever they have sent by then.
    wait_until(a_byte_each, 40, "all have been closed")
    for s in idle:
        s.close()
    assert SANITIZED or resident_kib(pid) - kib < 8192
    assert one(stack, "agentsim-supervisor") == pid


def test_idle_sockets_are_cheap_for_nginx_too(stack, flow):
    """As browsers open them: all but nothing of their large buffers is there, and all of it goes."""
    pids, many = [one(stack, "agentsim-supervisor"), *nginx_workers(stack)], pick(500, 10_000)

    def kib():
        return sum(resident_kib(pid) for pid in pids)

    before = kib()
    made, refused = connect_all(stack.port, many)
    each = (kib() - before) / many
    assert not refused and len(made) == many
    for s in made:
        s.close()
    assert SANITIZED or each < pick(16, 14), f"{each:.1f} KiB for a socket that has not signed in"
    wait_until(lambda: SANITIZED or kib() - before < 4096, 20, "memory is given back")


def test_a_storm_of_browsers_is_let_in_whole(stack, flow):
    """All at once, as after a restart of nginx: who comes waits for the supervisor, and none is sent away."""
    many = []
    with contextlib.ExitStack() as sockets:
        for i in range(pick(2000, 8000)):
            s = sockets.enter_context(socket.socket())
            s.settimeout(60)
            s.bind((f"127.0.2.{i % 16 + 1}", 0))
            s.connect(("127.0.0.1", stack.port))
            many.append(s)
        for s in many:
            s.sendall(NOBODYS)
        answers = {s.recv(12) for s in many}
    assert answers == {b"HTTP/1.1 101"}


def test_a_browser_that_vanished_is_found():
    """Its machine answers for it, it does not: three pings, and the session waits for its return."""
    with Stack(AGENT_SIMULATOR_PING_SECONDS="1") as stack:
        session = stack.create(numbers())
        began = time.monotonic()
        with signed_in(stack, session) as vanished:
            wait_until(lambda: stack.state(session).json()["attached"], 20, "it is in")
            wait_until(lambda: not stack.state(session).json()["attached"], 4 + 4, "it is given up")
            assert time.monotonic() - began > 2, "it had time to answer"
            vanished.settimeout(30)
            with contextlib.suppress(ConnectionResetError):
                while vanished.recv(65536):
                    pass
        browser = Browser(stack, session)
        browser.ask(10, pause=0.4)
        browser.until(10)
        assert browser.lost == [], "one that answers stays"
        browser.close()
        stack.end(session)


def test_when_every_place_is_taken_the_others_wait_and_conversations_go_on(stack, flow):
    """A crowd straight at the supervisor: nginx would let fewer in."""
    pid, crowd = one(stack, "agentsim-supervisor"), []
    with contextlib.suppress(BlockingIOError):  # the backlog is full as well
        while len(crowd) < 6000:
            s = socket.socket(socket.AF_UNIX)
            s.setblocking(False)
            crowd.append(s)
            s.connect(str(stack.runtime_dir / "ws.sock"))
            if len(crowd) % 100 == 0:
                assert stack.get("/health").status == 200  # and lets the supervisor take them in
            with contextlib.suppress(OSError):
                s.sendall(NOBODYS)
    assert len(crowd) > 500
    assert stack.state(flow.session).status == 200
    number = flow.browser.number
    flow.ask(50)
    flow.wait_for(number + 50)
    for s in crowd:
        s.close()
    with stack.socket(flow.session):  # the next one gets in
        pass
    assert one(stack, "agentsim-supervisor") == pid


def test_a_flood_of_sockets(stack, flow, chance):
    pid, total = one(stack, "agentsim-supervisor"), pick(400, 20000)
    fds, kib, progress = steady(lambda: descriptors(pid)), resident_kib(pid), Progress("sockets", total)
    for done in range(1, total + 1):
        s = shake_hands(stack, whole=chance.random() < 0.8)
        with contextlib.suppress(OSError):
            if chance.random() < 0.5:
                s.sendall(chance.randbytes(chance.randrange(200)))
            if chance.random() < 0.3:
                s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        s.close()
        progress.at(done)
    wait_until(lambda: descriptors(pid) < fds + 20, 30, "all are gone")
    assert SANITIZED or resident_kib(pid) - kib < 8192
    assert one(stack, "agentsim-supervisor") == pid


# ---- floods of requests ----

BODIES = [b"", b"{", b"[]", b"null", b'{"title":5}', b'{"title":"T"}', b'{"title":"T","model":{}}', b"\xff\xfe" * 50, b"[" * 20000,
          b'{"title":"' + b"x" * 100000 + b'"}', json.dumps({"title": "T", "model": {"elements": {"a" * 1000: {}}}}).encode()]


def test_a_flood_of_senseless_requests(stack, flow, chance):
    total = pick(600, 10000)
    workers = stack.children("agentsim-fcgi")
    kib = {pid: resident_kib(pid) for pid in workers}
    statuses, lock, progress = {}, threading.Lock(), Progress("requests", total)

    def post(count, seed):
        import random

        pick_one = random.Random(seed)
        for done in range(count):
            reply = stack.post(pick_one.choice(("/besser_api/simulation/sessions", "/besser_api/simulation/validate",
                                                "/besser_api/validate-diagram", "/besser_api/generate-output", "/besser_api/nothing")),
                               pick_one.choice(BODIES))
            with lock:
                statuses[reply.status] = statuses.get(reply.status, 0) + 1
                progress.at(sum(statuses.values()), str(statuses) if done % 100 == 0 else "")
            reply.json()

    threads = [threading.Thread(target=post, args=(total // 4, chance.random()), daemon=True) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert sum(statuses.values()) == total // 4 * 4, "every request was answered, in JSON"
    assert not [s for s in statuses if s >= 500], statuses
    assert stack.children("agentsim-fcgi") == workers
    for pid, before in kib.items():
        assert SANITIZED or resident_kib(pid) - before < 32768
    assert not of_sessions(stack, "agent.py")[10:]
