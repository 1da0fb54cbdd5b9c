"""WebSocket clients that cost little, so that the service is what gets measured: a frame is masked once and sent often,
answers are counted by their bytes."""
from __future__ import annotations

import base64
import contextlib
import os
import select
import socket
import struct
import time


def frame(data, op=1):
    n = len(data)
    if n < 126:
        head = struct.pack("!BB", 0x80 | op, 0x80 | n)
    elif n < 65536:
        head = struct.pack("!BBH", 0x80 | op, 0x80 | 126, n)
    else:
        head = struct.pack("!BBQ", 0x80 | op, 0x80 | 127, n)
    key = os.urandom(4)
    mask = int.from_bytes((key * (n // 4 + 1))[:n], "big")
    return head + key + (int.from_bytes(data, "big") ^ mask).to_bytes(n, "big")


def size_from_service(n):
    """Bytes of an unmasked frame with a payload of n."""
    return n + (2 if n < 126 else 4 if n < 65536 else 10)


def handshake(path, port, headers=()):
    key = base64.b64encode(os.urandom(16)).decode()
    return "\r\n".join([f"GET {path} HTTP/1.1", f"Host: 127.0.0.1:{port}", "Upgrade: websocket", "Connection: Upgrade",
                        f"Sec-WebSocket-Key: {key}", "Sec-WebSocket-Version: 13", *(f"{k}: {v}" for k, v in headers), "", ""]).encode()


class Socket:
    """One WebSocket. `connected` is a socket that leads to the service already, None makes one to the port."""

    def __init__(self, path, port, headers=(), connected=None):
        self.s = connected or socket.create_connection(("127.0.0.1", port), 30)
        self.s.settimeout(60)
        with contextlib.suppress(OSError):
            self.s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.s.sendall(handshake(path, port, headers))
        self.buf = b""
        while b"\r\n\r\n" not in self.buf:
            self._fill()
        head, self.buf = self.buf.split(b"\r\n\r\n", 1)
        if b" 101 " not in head.split(b"\r\n")[0]:
            raise ConnectionError(head.split(b"\r\n")[0].decode())

    def _fill(self):
        more = self.s.recv(1 << 20)
        if not more:
            raise ConnectionError("closed")
        self.buf += more

    def send(self, data, op=1):
        self.s.sendall(frame(data, op))

    def recv(self):
        """The next text frame."""
        while True:
            while len(self.buf) < 2:
                self._fill()
            n, head = self.buf[1] & 127, 2
            if n >= 126:
                head = 4 if n == 126 else 10
                while len(self.buf) < head:
                    self._fill()
                n = int.from_bytes(self.buf[2:head], "big")
            while len(self.buf) < head + n:
                self._fill()
            op, data, self.buf = self.buf[0] & 15, self.buf[head : head + n], self.buf[head + n :]
            if op == 9:
                self.send(data, 10)
            elif op == 8:
                raise ConnectionError("close " + (str(struct.unpack("!H", data[:2])[0]) if n >= 2 else "without a code"))
            elif op < 3:
                return data

    def skip_until(self, wanted):
        while self.recv() != wanted:
            pass

    def quiet(self, seconds):
        """Reads until nothing came for so long: what the service says by itself is out of the way."""
        self.s.settimeout(seconds)
        with contextlib.suppress(TimeoutError):
            while True:
                self.recv()
        self.s.settimeout(60)

    def close(self):
        with contextlib.suppress(OSError):
            self.send(struct.pack("!H", 1000), 8)
        self.s.close()


def message(size):
    """What a client of the runtime sends, of that many bytes: a relay may look at it."""
    return b'{"action":"user_message","message":"%s"}' % (b"r" * (size - 38))


def round_trips(sockets, size, seconds, most=1 << 30):
    """Each socket has one message under way to an agent that says back what it hears. Times of all round trips, seconds."""
    data = frame(message(size))
    expected = size_from_service(size)
    poll, state, times = select.epoll(), {}, []
    until = time.perf_counter() + seconds
    for w in sockets:
        w.s.setblocking(False)
        state[w.s.fileno()] = [w.s, 0, 0.0, b""]
        poll.register(w.s.fileno(), select.EPOLLIN)
    for entry in state.values():
        entry[2] = time.perf_counter()
        _push(entry, data, poll)
    busy = len(state)
    while busy:
        events = poll.poll(20)
        if not events:
            raise ConnectionError(f"{busy} of {len(state)} sockets got no answer")
        for fd, what in events:
            entry = state[fd]
            if what & select.EPOLLOUT and entry[3]:
                _push(entry, b"", poll)
            if what & select.EPOLLIN:
                got = entry[0].recv(1 << 20)
                if not got:
                    raise ConnectionError("closed")
                entry[1] += len(got)
                if entry[1] >= expected:
                    now = time.perf_counter()
                    times.append(now - entry[2])
                    entry[1] = 0
                    if now < until and len(times) < most:
                        entry[2] = now
                        _push(entry, data, poll)
                    else:
                        busy -= 1
    poll.close()
    for w in sockets:
        w.s.setblocking(True)
        w.s.settimeout(60)
    return times


def _push(entry, data, poll):
    entry[3] += data
    try:
        entry[3] = entry[3][entry[0].send(entry[3]) :]
    except BlockingIOError:
        pass
    poll.modify(entry[0].fileno(), select.EPOLLIN | (select.EPOLLOUT if entry[3] else 0))


def flood(w, size, seconds):
    """From an agent that sends as fast as it can: frames, and the seconds they took."""
    one, total, began = size_from_service(size), 0, None
    count = max(200, min(20000, (64 << 20) // size))
    until = time.perf_counter() + seconds
    asked = 0
    while True:
        w.s.sendall(frame(b"flood %d %d" % (count, size)))
        asked += count
        while total < asked * one:
            got = w.s.recv(1 << 20)
            if not got:
                raise ConnectionError("closed")
            began = began or time.perf_counter()
            total += len(got)
        now = time.perf_counter()
        if now > until:
            return total / one, now - began
