"""Slow and stopped readers, floods, and how much memory they cost whom.

    with Watch(stack) as memory:            # of every process that a conversation passes
        browser = SlowBrowser(stack, session)
        ...
        memory.check(holder=FRAME * 7)      # MiB beyond what each had at the beginning
"""
from __future__ import annotations

import contextlib
import json
import os
import pathlib
import socket
import struct
import time

from tests.support.stack import BUILD, TOKEN, children_of, processes_of_uids

SANITIZED = "asan" in str(BUILD)  # freed memory is kept there
MIB = 1 << 20
REPLAY = 1 << 20  # AGENT_SIMULATOR_REPLAY_BYTES of the tests

# MiB beyond the start. A holder has journal and transcript, and for a message of 16 MiB its copies on the way in and out, of
# which two stay; the supervisor one message each way of a conversation; an agent what it wants to say.
SMALL = {"holder": 2 * REPLAY / MIB + 8, "supervisor": 8, "nginx": 8, "agent": 48}
LARGE = {"holder": 2 * REPLAY / MIB + 6 * 16 + 8, "supervisor": 3 * 17 + 8, "nginx": 8}

# A program that listens like an agent: what it says and does is up to the test.
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


MARK = "open('done', 'w').close()"


def flood(megabytes):
    """Code that writes so many MB of output in one line, which comes in parts and ends at last; one byte in a hundred is no UTF-8."""
    return (f"import os\nchunk = (b'x' * 99 + b'\\xff') * 10000\nfor _ in range({megabytes}):\n    data = memoryview(chunk)\n    while data:\n"
            f"        data = data[os.write(1, data):]\nos.write(1, b'\\n')\n{MARK}")


def in_thread(code):
    return f"threading.Thread(target=lambda: exec({code!r}), daemon=True).start()"


# ---- memory -----------------------------------------------------------------------------------------------------------

def pss_mib(pid):
    """Its own memory and its share of what several have, so that forked workers are not counted twice."""
    with contextlib.suppress(OSError, IndexError, ValueError):
        return int(pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().split("\nPss:")[1].split()[0]) / 1024
    return 0.0


def name_of(pid):
    with contextlib.suppress(OSError):
        return os.path.basename(pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[0].decode()).rstrip(":")
    return ""


class Watch:
    """Most memory that each kind of process has taken since the beginning, looked at now and then: holder, agent (all of the
    session's others), supervisor, nginx."""

    def __init__(self, stack, slots=2):
        self.groups = {"supervisor": stack.children("agentsim-supervisor"), "nginx": [], "holder": [], "agent": []}
        for pid in stack.children("nginx"):
            self.groups["nginx"] += [pid, *children_of(pid)]
        for pid in processes_of_uids(stack.uid_base, stack.uid_base + slots - 1):
            self.groups["holder" if name_of(pid) == "agentsim-holder" else "agent"].append(pid)
        assert self.groups["holder"]
        self.first = self.now()
        self.most = dict(self.first)

    def now(self):
        return {name: sum(map(pss_mib, pids)) for name, pids in self.groups.items()}

    def look(self):
        for name, mib in self.now().items():
            self.most[name] = max(self.most[name], mib)

    def grown(self):
        return {name: self.most[name] - self.first[name] for name in self.groups}

    def check(self, **bounds):
        """MiB that each of these may have grown by."""
        self.look()
        grown = self.grown()
        for name, bound in bounds.items():
            assert SANITIZED or grown[name] < bound, f"{name} grew by {grown[name]:.1f} MiB, {bound:.0f} are allowed: {grown}"


# ---- readers ----------------------------------------------------------------------------------------------------------

class SlowBrowser:
    """A conversation on a bare socket with a small window, pings answered as they are seen, read as slowly as the test wants. With auth it is a browser of the
    public surface, else the backend's."""

    def __init__(self, stack, session, auth=None, window=4096):
        path = f"/sessions/{session}/ws" if auth is None else f"/besser_api/simulation/{session}/ws"
        self.sock = socket.socket()
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, window)
        self.sock.settimeout(60)
        self.sock.connect(("127.0.0.1", stack.internal_port if auth is None else stack.port))
        self.sock.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                          f"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
                          f"X-Agent-Simulator-Token: {TOKEN}\r\n\r\n".encode())
        head = b""
        while b"\r\n\r\n" not in head:
            head += self.sock.recv(1)
        assert head.startswith(b"HTTP/1.1 101"), head
        self.buffer = bytearray()
        self.early = []  # texts that came along with the first one
        self.received = 0  # frames of the session, as `received` counts them
        self.code = None  # of the close frame
        self.own = []  # frames of the service that are not of the session's count
        if auth is not None:
            self.say(json.dumps({"type": "auth", "githubSession": "", **auth}))
            self.hello = json.loads(self.frame())
            self.received = auth.get("received", 0)

    def say(self, text):
        data = text.encode()
        head = bytes([0x81, 0x80 | (len(data) if len(data) < 126 else 126)]) + (struct.pack("!H", len(data)) if len(data) > 125 else b"")
        self.sock.sendall(head + bytes(4) + data)  # masked with zeros

    def answer(self, first, payload):
        with contextlib.suppress(OSError):  # it may have gone meanwhile
            self.sock.sendall(bytes([first, 0x80 | len(payload)]) + bytes(4) + payload)

    def read(self, size=65536):
        """False at the end of the stream."""
        try:
            data = self.sock.recv(size)
        except ConnectionResetError:
            data = b""
        self.buffer += data
        return bool(data)

    def frames(self):
        """Whole texts that are here already."""
        at, view = 0, self.buffer
        found, self.early = self.early, []
        while len(view) >= at + 2:
            length, head = view[at + 1], 2
            if length == 126 and len(view) >= at + 4:
                length, head = struct.unpack_from("!H", view, at + 2)[0], 4
            elif length == 127 and len(view) >= at + 10:
                length, head = struct.unpack_from("!Q", view, at + 2)[0], 10
            elif length > 125:
                break
            if len(view) < at + head + length:
                break
            kind, text = view[at] & 15, bytes(view[at + head:at + head + length])
            at += head + length
            if kind == 1:
                found.append(text)
            elif kind == 9:
                self.answer(0x8a, text)
            elif kind == 8:
                self.answer(0x88, text)
                self.code = struct.unpack("!H", text[:2])[0] if text else 1005
        del self.buffer[:at]
        return found

    def frame(self):
        """Text of the next one."""
        while not (found := self.frames()):
            assert self.read(), "the socket has ended"
        self.early = found[1:]
        return found[0]

    def messages(self):
        """What the agent said of the texts that are here; all of the session's are counted."""
        found = []
        for text in self.frames():
            if text.startswith((b'{"type":"exit"', b'{"type":"replay_gap"')):
                self.own.append(json.loads(text))
                continue
            self.received += 1
            if not text.startswith(b'{"type":'):
                found.append(text)
        return found

    def at_pace(self, seconds, each_second=1024, every=0.25, look=lambda: None):
        """Reads so many bytes a second, no more."""
        began = time.monotonic()
        while (now := time.monotonic() - began) < seconds:
            self.read(int(each_second * every))
            look()
            time.sleep(max(0.0, every - (time.monotonic() - began - now)))

    def waiting_in_kernel(self):
        """Bytes that nginx has written to this socket and that have not arrived."""
        here, there = (f"{port:04X}" for port in (self.sock.getpeername()[1], self.sock.getsockname()[1]))
        for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[1].endswith(":" + here) and fields[2].endswith(":" + there):
                return int(fields[4].split(":")[0], 16)
        raise AssertionError("no such connection")

    def hurry(self):
        """From now on it takes what comes: with a small window the kernel waits between packets."""
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, MIB)

    def close(self):
        self.sock.close()
