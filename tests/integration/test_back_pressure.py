"""Slow readers and floods through the whole chain: bounded memory, an agent that is never held up while nobody is there, and
nothing lost while somebody is. The bounds are those of docs/operations.md."""
import contextlib
import json
import os
import pathlib
import socket
import struct
import time

import pytest

from tests.support.stack import TOKEN, BUILD, processes_of_uids, wait_until

REPLAY = 1 << 20
# What an agent says before its browser is there may be dropped: none begins in no time.
SETTINGS = {"AGENT_SIMULATOR_WARM_POOL": "0", "AGENT_SIMULATOR_MAX_SESSIONS": "2", "AGENT_SIMULATOR_REPLAY_BYTES": str(REPLAY), "AGENT_SIMULATOR_DETACH_SECONDS": "60"}
SANITIZED = "asan" in str(BUILD)

# What a holder may take beyond its start: journal and transcript, and for a message of 16 MiB its copies on the way in and out.
HOLDER_MIB = 2 * REPLAY / (1 << 20) + 7 * 16 + 8
# What one conversation may add to the supervisor: one message each way, and what libwebsockets could not write yet.
SUPERVISOR_MIB = 3 * 17 + 8

AGENT = """
import os, sys, threading, time
from websockets.sync.server import serve
PORT = int(os.environ.get("BESSER_WS_PORT", "8765"))
{setup}
def handle(ws):
    {talk}
with serve(handle, "127.0.0.1", PORT, max_size=None, compression=None) as server:
    print("x's WebSocketPlatform starting at ws://127.0.0.1:%d" % PORT, flush=True)
    {beside}
    server.serve_forever()
"""


def agent(talk="for m in ws: ws.send(m)", setup="", beside="pass"):
    return AGENT.format(talk=talk.replace("\n", "\n    "), setup=setup, beside=beside.replace("\n", "\n    "))


def rss_mib(pid):
    return int(pathlib.Path(f"/proc/{pid}/status").read_text().split("VmRSS:")[1].split()[0]) / 1024


class Memory:
    """Most memory that the session's holder and the supervisor have taken since it began, looked at now and then."""

    def __init__(self, stack):
        self.supervisor = stack.children("agentsim-supervisor")[0]
        self.holder = next(pid for uid in (0, 1) for pid in processes_of_uids(stack.uid_base + uid, stack.uid_base + uid)
                           if self.name(pid) == "agentsim-holder")
        self.first = {pid: rss_mib(pid) for pid in (self.supervisor, self.holder)}
        self.most = dict(self.first)

    @staticmethod
    def name(pid):
        with contextlib.suppress(OSError):
            return os.path.basename(pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[0].decode())

    def look(self):
        for pid in self.most:
            self.most[pid] = max(self.most[pid], rss_mib(pid))

    def check(self):
        self.look()
        for pid, bound in ((self.holder, HOLDER_MIB), (self.supervisor, SUPERVISOR_MIB)):
            grown = self.most[pid] - self.first[pid]
            assert SANITIZED or grown < bound, f"{self.name(pid)} grew by {grown:.0f} MiB, {bound:.0f} are allowed"


@pytest.fixture
def session(stack):
    """start(program): its id, and its memory's observer."""
    begun = []

    def start(program):
        begun.append(stack.create_program(program))
        return begun[-1], Memory(stack)

    yield start
    for one in begun:
        assert stack.internal("DELETE", f"/sessions/{one}").status == 200



def done(stack, session_id):
    return lambda: any(f["path"] == "done" for f in stack.internal("GET", f"/sessions/{session_id}/files").json().get("files", []))


MARK = "open('done', 'w').close()"
# 50 MB in one line, which comes in parts and ends at last; one byte in a hundred is no UTF-8
FLOOD = ("import os\nchunk = (b'x' * 99 + b'\\xff') * 10000\nfor _ in range(50):\n    data = memoryview(chunk)\n    while data:\n"
         "        data = data[os.write(1, data):]\nos.write(1, b'\\n')\n" + MARK)


def test_a_flood_that_nobody_hears_is_drained(stack, session):
    program = agent(beside=f"threading.Thread(target=lambda: exec({FLOOD!r}), daemon=True).start()")
    name, memory = session(program)
    wait_until(lambda: memory.look() or done(stack, name)(), 30, "the agent has written everything")
    memory.check()
    with stack.internal_socket(name) as ws:  # what is left is the newest, and whole
        frame = json.loads(ws.recv(timeout=10))
        assert frame["type"] == "stdout" and set(frame["line"]) <= {"x", "\ufffd"}


def test_a_flood_is_heard_to_the_last_byte(stack, session):
    program = agent(talk=f"threading.Thread(target=lambda: exec({FLOOD!r}), daemon=True).start()\nfor m in ws: pass")
    name, memory = session(program)
    whole = broken = 0
    with stack.internal_socket(name) as ws:
        ws.send("go")
        while whole + broken < 50_000_000:
            frame = json.loads(ws.recv(timeout=30))
            if frame.get("type") == "stdout" and "starting at" not in frame["line"]:
                broken += frame["line"].count("\ufffd")
                whole += frame["line"].count("x")
                memory.look()
    assert (whole, broken) == (49_500_000, 500_000)
    memory.check()


def test_thousands_of_small_frames_pass_in_order_both_ways(stack, session):
    count = 20_000
    program = agent(talk=f"for n in range({count}):\n    ws.send(str(n))\n"
                         f"for n in range({count}):\n    assert ws.recv() == str(n)\nws.send('all of them')")
    name, memory = session(program)
    with stack.internal_socket(name) as ws:
        heard = (m for m in iter(lambda: ws.recv(timeout=30), None) if not m.startswith("{"))
        for n in range(count):
            assert next(heard) == str(n)
        for n in range(count):
            ws.send(str(n))
        assert next(heard) == "all of them"
    memory.check()


def test_sixteen_mebibytes_pass_both_ways(stack, session):
    name, memory = session(agent())
    text = "y" * ((16 << 20) - 64)
    with stack.internal_socket(name) as ws:
        for _ in range(2):
            ws.send(text)
            assert next(m for m in iter(lambda: ws.recv(timeout=60), None) if not m.startswith("{")) == text
            memory.look()
    memory.check()


class SlowBrowser:
    """A conversation on a bare socket with a small window, read as slowly as the test wants."""

    def __init__(self, stack, session_id):
        self.sock = socket.socket()
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.sock.settimeout(30)
        self.sock.connect(("127.0.0.1", stack.internal_port))
        self.sock.sendall(f"GET /sessions/{session_id}/ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                          f"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
                          f"X-Agent-Simulator-Token: {TOKEN}\r\n\r\n".encode())
        head = b""
        while b"\r\n\r\n" not in head:
            head += self.sock.recv(1)
        self.buffer = bytearray()

    def read(self, size=65536):
        data = self.sock.recv(size)
        assert data
        self.buffer += data

    def messages(self):
        """Whole text messages that are here already."""
        while len(self.buffer) >= 2:
            length, at = self.buffer[1], 2
            if length == 126:
                length, at = struct.unpack_from("!H", self.buffer, 2)[0], 4
            elif length == 127:
                length, at = struct.unpack_from("!Q", self.buffer, 2)[0], 10
            if len(self.buffer) < at + length:
                return
            kind, text = self.buffer[0] & 15, bytes(self.buffer[at:at + length])
            del self.buffer[:at + length]
            if kind == 1 and not text.startswith(b"{"):
                yield text


def test_a_reader_that_stops_holds_the_agent_up_and_then_hears_everything(stack, session):
    total = 12_000  # of a kilobyte each: far more than is buffered anywhere
    program = agent(talk=f"sent = open('sent', 'wb', 0)\nfor n in range({total}):\n    ws.send('%06d' % n + 'z' * 1018)\n"
                         "    sent.write(b'.')\nws.recv()")
    name, memory = session(program)
    browser = SlowBrowser(stack, name)

    def sent():
        files = stack.internal("GET", f"/sessions/{name}/files").json().get("files", [])
        return next((len(f["content"]) for f in files if f["path"] == "sent"), 0)

    def stands_still():
        before = sent()
        end = time.monotonic() + 0.5
        while time.monotonic() < end:
            memory.look()
            time.sleep(0.05)
        return before and sent() == before

    wait_until(stands_still, 30, "the agent is held up")
    assert sent() < total
    heard = 0
    for _ in range(16):  # a kilobyte a second would be as good; the agent goes on as it is read
        browser.read(1024)
        memory.look()
    while heard < total:
        for text in browser.messages():
            assert text.startswith(b"%06d" % heard)
            heard += 1
        if heard < total:
            browser.read()
    memory.check()
    browser.sock.close()
