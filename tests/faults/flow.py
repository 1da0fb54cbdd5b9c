"""A conversation whose frames are numbered, and a browser that comes back whatever happens to its socket.

    session = stack.create(numbers())
    with Flow(stack, session) as flow:
        flow.ask(1000, pause=0.001)
        ... kill something ...
        flow.wait_for(1000)                 # each number once, in order, or AssertionError
"""
from __future__ import annotations

import contextlib
import json
import socket
import struct
import threading
import time

from websockets.exceptions import ConnectionClosed, InvalidHandshake
from websockets.sync.client import connect

from tests.support.draw import Diagram, code

PATIENCE = 60  # seconds that a browser tries to come back


def numbers():
    """The request of an agent that answers "LAST PAUSE" with frames up to that number. It begins after the last one that it
    has said, so asking twice, after a socket that took the first with it, is as good as once."""
    d = Diagram("Numbers")
    ready = d.state("ready", code("session.reply('ready')"))
    count = d.state("count", code("""
        import time
        last, pause = session.event.message.split()
        first = session.get('said') or 0
        session.set('said', max(first, int(last)))
        for number in range(first + 1, int(last) + 1):
            session.reply(str(number))
            if float(pause):
                time.sleep(float(pause))
    """))
    for source in (ready, count):
        d.on(source, count)
    return d.request()


class Gone(Exception):
    """The session has ended: .code of the close, .frames of the service before it."""

    def __init__(self, number, frames):
        self.code, self.frames = number, frames
        super().__init__(f"closed with {number} after {frames}")

    def reason(self):
        return next((f["reason"] for f in self.frames if f.get("type") == "exit"), None)


class Browser:
    """One session's browser, driven by the test: each socket that is lost is followed by another one."""

    def __init__(self, stack, session):
        self.stack, self.session = stack, session
        self.received = 0  # frames of the session, as `received` counts them
        self.number = 0  # the newest number of the agent
        self.own = []  # frames of the service that belong to no session's count
        self.lost = []  # (seconds without a socket, close code)
        self.ws = None
        self.resumes = False
        self.leaving = False  # does not come back any more
        self.asked, self.pause = 0, 0  # what a frame of ours may get lost with its socket is asked again

    # ---- the socket ----

    def open(self):
        began, last = time.monotonic(), None
        while True:
            try:
                self._open_once()
                self._ask()
                break
            except (OSError, InvalidHandshake, EOFError, TimeoutError, ConnectionClosed) as error:
                last = error
            if self.leaving:
                raise Gone(1006, self.own)
            if time.monotonic() - began > PATIENCE:
                raise AssertionError(f"the browser could not come back in {PATIENCE} s: {last!r}\n{self.stack.log_text()[-3000:]}")
            time.sleep(0.02)
        return time.monotonic() - began

    def _open_once(self):
        ws = connect(f"ws://127.0.0.1:{self.stack.port}/besser_api/simulation/{self.session}/ws", max_size=None, proxy=None,
                     compression=None, ping_interval=None, open_timeout=20, close_timeout=0.3).__enter__()  # with frames unread, close() waits all of it
        try:
            auth = {"type": "auth", "githubSession": "", "features": ["exit"]}
            if self.resumes:
                auth["received"] = self.received
            ws.send(json.dumps(auth))
            hello = json.loads(ws.recv(timeout=30))
            if hello["type"] == "error":
                code_of(ws)
                raise Gone(ws.protocol.close_code, [hello])
            assert hello["type"] == "auth_ok", hello
            if self.resumes:
                assert hello == {"type": "auth_ok", "resumed": True, "from": self.received + 1}, hello
        except BaseException:
            with contextlib.suppress(Exception):
                ws.socket.close()
            raise
        self.ws, self.resumes = ws, True

    def drop(self, how):
        """Ends the socket in one of HOW; the next next() opens another."""
        ws, self.ws = self.ws, None
        HOW[how](ws)

    # ---- frames ----

    def next(self, timeout=90):
        """The next frame of the session, whatever it takes."""
        deadline = time.monotonic() + timeout
        while True:
            if self.ws is None:
                self.open()
            try:
                frame = json.loads(self.ws.recv(timeout=max(0.01, deadline - time.monotonic())))
            except ConnectionClosed as closed:
                self._closed(closed)
                continue
            if frame.get("type") in ("exit", "replay_gap"):
                self.own.append(frame)
                assert frame["type"] == "exit", f"frames were lost: {frame}"
                continue
            self.received += 1
            if frame.get("type") == "error":
                self.own.append(frame)
            if frame.get("action") == "agent_reply_str" and frame["message"].isdigit():
                assert int(frame["message"]) == self.number + 1, f"{frame['message']} came after {self.number}"
                self.number += 1
            return frame

    def _closed(self, closed):
        number = closed.rcvd.code if closed.rcvd else 1006
        self.ws = None
        if any(f.get("type") == "exit" for f in self.own) or number in (1000, 1011, 4404):
            raise Gone(number, self.own)
        self.lost.append((self.open(), number))

    def until(self, wanted, timeout=180):
        """Reads up to that number."""
        deadline = time.monotonic() + timeout
        while self.number < wanted:
            self.next(max(0.01, deadline - time.monotonic()))

    def until_ready(self, timeout=180):
        while self.next(timeout).get("message") != "ready":
            pass

    def ask(self, many, pause):
        """For that many numbers more."""
        self.asked, self.pause = self.asked + many, pause
        self._ask()

    def _ask(self):
        ws = self.ws
        if ws and self.number < self.asked:
            with contextlib.suppress(ConnectionClosed, OSError):
                ws.send(json.dumps({"action": "user_message", "message": f"{self.asked} {self.pause}"}))

    def close(self):
        if self.ws:
            with contextlib.suppress(Exception):
                self.ws.close()
        self.ws = None


class Flow:
    """A Browser that reads in a thread of its own while the test does something to the service."""

    def __init__(self, stack, session=None):
        self.stack = stack
        self.session = session or stack.create(numbers())
        self.browser = Browser(stack, self.session)
        self.ended = None  # Gone, or the AssertionError
        self.changed = threading.Condition()
        self.stopping = False
        self.thread = None

    def __enter__(self):
        self.browser.until_ready()
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()
        return self

    def _read(self):
        try:
            while not self.stopping:
                try:
                    self.browser.next(0.5)
                except TimeoutError:
                    continue
                with self.changed:
                    self.changed.notify_all()
        except BaseException as error:  # handed to the test by wait_for()
            self.ended = error
        with self.changed:
            self.changed.notify_all()

    def ask(self, many, pause=0.002):
        self.browser.ask(many, pause)

    def wait_for(self, number, timeout=180):
        with self.changed:
            self.changed.wait_for(lambda: self.ended or self.browser.number >= number, timeout)
        if self.ended:
            raise AssertionError(f"{self.ended!r}\n{self.stack.log_text()[-6000:]}") from self.ended
        assert self.browser.number >= number, f"{self.browser.number} of {number} in {timeout} s\n{self.stack.log_text()[-3000:]}"

    def wait_for_the_end(self, timeout=90):
        """How the session ended for the browser (Gone)."""
        with self.changed:
            self.changed.wait_for(lambda: self.ended, timeout)
        assert isinstance(self.ended, Gone), f"not ended in {timeout} s: {self.ended!r}"
        return self.ended

    def __exit__(self, *_exc):
        self.stopping = self.browser.leaving = True
        self.thread.join(PATIENCE + 15)
        self.browser.close()


# ---- ends of a socket ----

def code_of(ws):
    with contextlib.suppress(ConnectionClosed):
        while True:
            ws.recv(timeout=30)


def _reset(ws):
    ws.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    with contextlib.suppress(OSError):
        ws.socket.shutdown(socket.SHUT_RD)  # wakes the thread that reads it
    ws.socket.close()


def _cut(ws):
    with contextlib.suppress(OSError):
        ws.socket.shutdown(socket.SHUT_RDWR)


def _half(ws):
    """It stops talking, and its answers are still read by the kernel for a while."""
    with contextlib.suppress(OSError):
        ws.socket.shutdown(socket.SHUT_WR)


def _leave(ws):
    """Nothing at all: as a machine that lost its network. The next socket has to take over."""


HOW = {"reset": _reset, "cut": _cut, "half": _half, "leave": _leave, "close": lambda ws: ws.close()}
