"""A supervisor among stand-ins: launcher and holders are threads here, workers and browsers are the tests themselves.
The messages are those of shared/ipc (rpc.h, hold.h, launch.h, frame.h, wire.h), written down a second time on purpose."""
from __future__ import annotations

import array
import contextlib
import json
import os
import pathlib
import queue
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import time
import uuid

from websockets.exceptions import ConnectionClosed
from websockets.frames import Frame, Opcode
from websockets.sync.client import unix_connect

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = ROOT / os.environ.get("AGENTSIM_BUILD", "build") / "bin" / "agentsim-supervisor"

# rpc.h
ADMIT, CREATE, INFO, OPEN, END, HEALTH, LIST, TAKEN = range(1, 9)
TAKES, QUEUE_TAKES = 4, 64
OK, ERROR, SESSION, STATUS, SESSIONS, CREATED = range(64, 70)
METRICS, QUEUE, FULL, METRICS_PAGE = 24, 32, 88, 84
RATE, CAP = 1, 2
BAD_REQUEST, SCHEMA, AUTH, FORBIDDEN, NOT_FOUND, TOO_LARGE, CONFLICT, LIMIT, UPSTREAM, UNAVAILABLE, INTERNAL = range(1, 12)

# hold.h
CONTROL, HOLD_END, IDENTITY, PHASE, GONE, DONE = range(1, 7)
PING, PONG, HOLD_VERSION = 130, 131, 132
VERSION, OLDEST = 1, 0  # version.h
ATTACH, SEND, ATTACHED, FRAME, EXIT = range(64, 69)
PROBE, PROBED = 128, 129
WAITING, STARTING, READY, ENDED = range(4)
EXITED, SIGNALED, EXPIRED, MEMORY, CPU, STOPPED, OUTPUT, START_FAILED = range(1, 9)
AFTER_DELIVERED = 2**64 - 1

# launch.h
MAGIC = 0x61677331
L_START, L_STOP, L_SLOT, L_READY, L_STARTED, L_FAILED, L_EXITED, L_CLEAN, L_QUARANTINED = range(1, 10)
FREE, BUSY, QUARANTINED = range(3)


PATIENCE = 3  # times as long as an idle machine may take


def wait_until(condition, seconds=10, what="the condition"):
    end = time.monotonic() + PATIENCE * seconds
    while not (value := condition()):
        assert time.monotonic() < end, f"{what} did not come true"
        time.sleep(0.005)
    return value


def wait_still(count, seconds=0.3):
    """The number that count() has come to: it did not change any more for so long."""
    last, since = count(), time.monotonic()
    while time.monotonic() - since < seconds:
        if (now := count()) != last:
            last, since = now, time.monotonic()
        time.sleep(0.01)
    return last


# ---- wire.h and frame.h ----


def text(s):
    data = s if isinstance(s, bytes) else s.encode()
    return struct.pack("<I", len(data)) + data + b"\0"


def u8(n):
    return struct.pack("<B", n)


def u32(n):
    return struct.pack("<I", n)


def u64(n):
    return struct.pack("<Q", n)


class Fields:
    def __init__(self, data):
        self.data = data

    def take(self, n):
        value, self.data = self.data[:n], self.data[n:]
        assert len(value) == n
        return value

    def number(self, fmt):
        return struct.unpack("<" + fmt, self.take(struct.calcsize("<" + fmt)))[0]

    def text(self):
        value = self.take(self.number("I"))
        assert self.take(1) == b"\0"
        return value.decode()

    def session(self):
        return {
            "id": str(uuid.UUID(bytes=self.take(16))), "actor": self.text(), "state": self.text(), "started": self.number("Q"),
            "expires": self.number("Q"), "attached": bool(self.number("B")), "frames": self.number("Q"), "reason": self.text(),
            "code": self.number("i"), "slot": self.number("I"),
        }


def send_message(sock, kind, payload=b""):
    sock.sendall(struct.pack("<IHH", len(payload), kind, 0) + payload)


def recv_exactly(sock, n, fds=None):
    data = b""
    while len(data) < n:
        if fds is None:
            part = sock.recv(n - len(data))
        else:
            part, control, _, _ = sock.recvmsg(n - len(data), socket.CMSG_SPACE(4))
            for level, kind, value in control:
                if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                    got = array.array("i")
                    got.frombytes(value)
                    fds.extend(got)
        if not part:
            return None
        data += part
    return data


def recv_message(sock, fds=None):
    head = recv_exactly(sock, 8, fds)
    if head is None:
        return None
    length, kind, zero = struct.unpack("<IHH", head)
    assert zero == 0
    payload = recv_exactly(sock, length, fds) if length else b""
    return None if payload is None else (kind, payload)


# ---- stand-ins ----


class Holder:
    """One session's holder. Frames are numbered from 1; a journal keeps them all unless told to forget."""

    def __init__(self, path, session):
        self.session = self.claims = session  # claims: the id it says it has
        self.lock = threading.RLock()
        self.actor, self.started, self.expires = "", 0, 0
        self.phase_now, self.frames, self.first_kept, self.delivered = WAITING, [], 1, 0  # places in frames, from 1
        self.shift = 0  # frames before the one that the present client counts as its first
        self.control = self.attached = None
        self.reached = 0
        self.attaches, self.heard, self.ends, self.others = [], queue.Queue(), queue.Queue(), queue.Queue()
        self.reads = threading.Event()  # cleared: what the browser sends is not taken
        self.reads.set()
        self.answers_attach = self.answers_end = True
        self.claimed, self.greeted = threading.Event(), threading.Event()
        self.version, self.works_with = VERSION, OLDEST  # version 0: a build that does not tell
        self.connections = []
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listener.bind(str(path))
        self.listener.listen(16)
        self.path = path
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                sock, _ = self.listener.accept()
            except OSError:
                return
            self.connections.append(sock)
            threading.Thread(target=self._serve, args=(sock,), daemon=True).start()

    def _serve(self, sock):
        try:
            first = recv_message(sock)
            if first is None:
                return
            kind, payload = first
            role = {CONTROL: self._serve_control, ATTACH: self._serve_attach, PROBE: self._serve_probe}.get(kind)
            if role:
                role(sock, Fields(payload))
            else:
                self.others.put((kind, payload))
        except OSError:
            pass

    def _serve_probe(self, sock, _):
        send_message(sock, PROBED, self.probe_answer)

    def _serve_control(self, sock, fields):
        actor, started, lifetime = fields.text(), fields.number("Q"), fields.number("Q")
        with self.lock:
            if lifetime:
                self.actor, self.started, self.expires = actor, started, started + lifetime
            self.control = sock
            if self.version:
                send_message(sock, HOLD_VERSION, u32(self.version) + u32(self.works_with))
            send_message(sock, IDENTITY, self.claims.bytes + text(self.actor) + u64(self.started) + u64(self.expires))
            self._tell_phase()
        self.claimed.set()
        while (message := recv_message(sock)) is not None:
            kind, payload = message
            if kind == PING:
                assert self.version, "it would not know what that is"
                with self.lock:
                    send_message(sock, PONG)
                continue
            if kind == HOLD_VERSION:
                self.greeted.set()
                continue
            assert kind == HOLD_END
            self.ends.put(payload[0])
            if self.answers_end:
                self.end(payload[0])

    def _tell_phase(self):
        if self.control:
            send_message(self.control, PHASE, u8(self.phase_now) + u8(bool(self.attached)) + u64(len(self.frames)))

    def _serve_attach(self, sock, fields):
        after = fields.number("Q")
        self.attaches.append(after)
        if not self.answers_attach:
            recv_message(sock)
            return
        with self.lock:
            if after == AFTER_DELIVERED:
                after, self.shift = 0, self.delivered
            after = min(after, len(self.frames) - self.shift)
            lost = max(0, self.first_kept - 1 - self.shift - after)
            self.shift += lost
            self.attached = sock
            send_message(sock, ATTACHED, u64(after + 1) + u64(lost))
            self._tell_phase()
            for place in range(self.shift + after + 1, len(self.frames) + 1):
                self._send_frame(place)
        while self.reads.wait() and (message := recv_message(sock)) is not None:
            kind, payload = message
            assert kind == SEND
            self.heard.put(Fields(payload).text())
        with self.lock:
            if self.attached is sock:
                self.attached = None
                self.reached += 1

    def _send_frame(self, place):
        try:
            send_message(self.attached, FRAME, u64(place - self.shift) + text(self.frames[place - 1]))
            self.delivered = place
        except OSError:
            pass

    # what a test says through it

    def say(self, frame):
        with self.lock:
            self.frames.append(frame)
            if self.attached:
                self._send_frame(len(self.frames))

    def forget_frames(self, upto):
        self.first_kept = upto + 1

    def phase(self, phase):
        assert self.claimed.wait(30)
        with self.lock:
            self.phase_now = phase
            self._tell_phase()

    def end(self, reason, code=0, done=True):
        with self.lock:
            self.phase_now = ENDED
            send_message(self.control, GONE, u8(reason) + struct.pack("<i", code))
            if self.attached:
                send_message(self.attached, EXIT, u8(reason) + struct.pack("<i", code))
            if done:
                send_message(self.control, DONE)

    def close(self):
        for sock in [self.listener, *self.connections]:
            for step in (lambda: sock.shutdown(socket.SHUT_RDWR), sock.close):
                try:
                    step()
                except OSError:
                    pass
        pathlib.Path(self.path).unlink(missing_ok=True)


class Launcher:
    """Slots and their holders outlive the supervisor, as the real ones do."""

    def __init__(self, runtime_dir, slots):
        self.dir, self.slots = runtime_dir, slots
        self.holders, self.quarantined = {}, set()
        self.probe_answer = u8(1) + text("")
        self.starts, self.stops = [], []
        self.start_errno = 0
        self.version, self.works_with = VERSION, OLDEST
        self.keeps_starting = self.keeps_cleaning = False  # True: that message is never sent
        self.sock = None
        self.at_end = False  # the supervisor's newest connection has ended, and all that it said is known
        self.open()

    def open(self):
        path = self.dir / "launcher.sock"
        path.unlink(missing_ok=True)
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.listener.bind(str(path))
        self.listener.listen(4)
        threading.Thread(target=self._accept, args=(self.listener,), daemon=True).start()

    def _accept(self, listener):
        while True:
            try:
                sock, _ = listener.accept()
            except OSError:
                return
            self.sock, self.at_end = sock, False
            threading.Thread(target=self._serve, args=(sock,), daemon=True).start()

    def tell(self, op, slot=0, state=0, value=0, session=None):
        self.sock.send(struct.pack("<IIIIq16s", MAGIC, op, slot, state, value, session.bytes if session else bytes(16)))

    def _serve(self, sock):
        try:
            for slot in range(self.slots):
                holder = self.holders.get(slot)
                state = BUSY if holder else QUARANTINED if slot in self.quarantined else FREE
                self.tell(L_SLOT, slot, state, session=holder.session if holder else None)
            self.tell(L_READY, self.works_with << 16 | self.version, value=self.slots)
            while data := sock.recv(64):
                magic, op, slot, _, _, session = struct.unpack("<IIIIq16s", data)
                assert magic == MAGIC
                if op == L_START:
                    self._start(slot, uuid.UUID(bytes=session))
                else:
                    assert op == L_STOP
                    self._stop(slot)
        except OSError:
            pass
        if sock is self.sock:
            self.at_end = True

    def _start(self, slot, session):
        self.starts.append((slot, session))
        if self.keeps_starting:
            return
        if self.start_errno:
            self.tell(L_FAILED, slot, value=self.start_errno, session=session)
            return
        assert slot not in self.holders and slot not in self.quarantined
        holder = Holder(self.dir / "holders" / f"{slot}.sock", session)
        holder.probe_answer = self.probe_answer
        self.holders[slot] = holder
        self.tell(L_STARTED, slot, value=os.getpid(), session=session)

    def _stop(self, slot):
        self.stops.append(slot)
        if self.keeps_cleaning:
            return
        if holder := self.holders.pop(slot, None):
            holder.close()
        self.tell(L_CLEAN, slot)

    def holder(self, session):
        return wait_until(lambda: next((h for h in list(self.holders.values()) if str(h.session) == str(session)), None), 5,
                          f"a holder of {session}")

    def die(self):
        """The process ends: with it, as its holders notice, they do."""
        self.close()
        self.drop()
        for holder in self.holders.values():
            holder.close()
        self.holders.clear()

    def close(self):
        """Nobody gets in any more: a thread that waits in accept() would let one in after a mere close()."""
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()

    def drop(self):
        self.sock.shutdown(socket.SHUT_RDWR)
        self.sock.close()


class Failed(Exception):
    def __init__(self, kind, wait, sentence):
        super().__init__(sentence)
        self.kind, self.wait, self.sentence = kind, wait, sentence


class Rig:
    """One supervisor in a directory of its own. Settings are environment names without their prefix."""

    def __init__(self, slots=4, ready=True, **settings):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="agentsim-rig-"))
        (self.dir / "holders").mkdir()
        self.settings = {"MAX_SESSIONS": str(slots), "REQUIRE_AUTH": "false", "RATE_LIMIT_MAX_REQUESTS": "10000",
                         "MAX_SESSIONS_PER_ACTOR": str(slots), "API_TOKEN": "s3cret", "EGRESS": "none", "LOG_LEVEL": "debug", **settings}
        self.launcher = Launcher(self.dir, slots)
        self.log = open(self.dir / "log", "w+b")
        self.process = None
        self.start(ready)

    def start(self, ready=True):
        env = {k if k in ("CORS_ORIGINS", "DEPLOYMENT_URL") else f"AGENT_SIMULATOR_{k}": v
               for k, v in {"RUNTIME_DIR": str(self.dir), "WARM_POOL": "0", **self.settings}.items()}
        self.process = subprocess.Popen([PROGRAM], env={"PATH": os.environ["PATH"], **env}, stderr=self.log, stdin=subprocess.DEVNULL)
        wait_until(self.answers, what="the supervisor answers")
        if ready:
            wait_until(lambda: self.health()["sandbox"] == "ok", what="the self-test passes")

    def answers(self):
        try:
            return self.health()
        except OSError:
            return None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                assert self.process.wait(60) == 0, self.log_text()
            except subprocess.TimeoutExpired:
                self.process.kill()
                raise AssertionError("the supervisor did not stop\n" + self.log_text()) from None
        self.launcher.close()
        for holder in list(self.launcher.holders.values()):
            holder.close()
        log = self.log_text()
        self.log.close()
        shutil.rmtree(self.dir, ignore_errors=True)
        assert "Sanitizer" not in log, log

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def log_text(self):
        return (self.dir / "log").read_text(errors="replace")

    # workers

    def connect(self):
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        sock.settimeout(40)
        sock.connect(str(self.dir / "supervisor.sock"))
        return sock

    def ask(self, kind, payload=b"", want=None):
        """(type, fields, descriptor as a socket or None); an error becomes Failed."""
        fds = []
        with self.connect() as sock:
            send_message(sock, kind, payload)
            answer = recv_message(sock, fds)
            assert answer is not None, "no answer"
            assert sock.recv(1) == b""  # one answer, then the end
        fields = Fields(answer[1])
        if answer[0] == ERROR:
            raise Failed(fields.number("I"), fields.number("I"), fields.text())
        assert want in (None, answer[0])
        return answer[0], fields, socket.socket(fileno=fds[0]) if fds else None

    def create(self, actor="ip:127.0.0.1", session=None, internal=False):
        session = session or uuid.uuid4()
        _, fields, sock = self.ask(CREATE, session.bytes + text(actor) + u32(1 if internal else 0), CREATED)
        assert fields.number("I") == 8765
        sock.close()
        return session

    def ready(self, actor="ip:127.0.0.1", **kw):
        """A session whose agent listens, and its holder."""
        session = self.create(actor, **kw)
        holder = self.launcher.holder(session)
        holder.phase(READY)
        wait_until(lambda: self.info(session, "internal" if kw.get("internal") else actor)["state"] == "READY", what="READY")
        return session, holder

    def info(self, session, actor="ip:127.0.0.1"):
        return self.ask(INFO, session.bytes + text(actor), SESSION)[1].session()

    def found(self, session, actor="ip:127.0.0.1"):
        """Its info; None as long as it is unknown: a supervisor that starts learns from holders whose their sessions are."""
        try:
            return self.info(session, actor)
        except Failed as failed:
            assert failed.kind == NOT_FOUND, failed
            return None

    def is_gone(self, session, actor="ip:127.0.0.1"):
        try:
            return self.info(session, actor)["state"] == "GONE"
        except Failed as failed:
            return failed.kind == NOT_FOUND

    def end(self, session, actor="ip:127.0.0.1"):
        self.ask(END, session.bytes + text(actor), OK)

    def counter(self, name):
        """What the page for Prometheus says of it."""
        page = self.ask(METRICS, want=METRICS_PAGE)[1].text()
        return next(float(line.split()[1]) for line in page.splitlines() if line.startswith(name + " "))

    def health(self):
        _, fields, _ = self.ask(HEALTH, want=STATUS)
        return {"sessions": fields.number("I"), "capacity": fields.number("I"), "quarantined": fields.number("I"),
                "sandbox": fields.text(), "egress": fields.text(), "cgroup": fields.text()}

    # browsers

    def socket(self, session, path=None, address="127.0.0.1", surface="public", headers=None, **kw):
        fields = {"X-Real-IP": address, **({"X-Agentsim-Surface": surface} if surface else {}), **(headers or {})}
        if path is None:
            path = f"/besser_api/simulation/{session}/ws"
        return unix_connect(str(self.dir / "ws.sock"), f"ws://localhost{path}", additional_headers=fields, compression=None,
                            max_size=None, user_agent_header=None, **{"open_timeout": 30, **kw})

    def internal_socket(self, session, token="s3cret", **kw):
        headers = {"X-Agent-Simulator-Token": token} if token is not None else {}
        return self.socket(session, f"/sessions/{session}/ws", surface="internal", headers=headers, **kw)


# ---- browsers ----

HELLO = {"type": "auth", "githubSession": ""}


def greet(ws, **more):
    ws.send(json.dumps({**HELLO, **more}))
    return json.loads(ws.recv(timeout=30))


def close_code(ws, seconds=60):
    """Reads on until the close; the code, and the frames before it."""
    frames = []
    try:
        while True:
            frames.append(ws.recv(timeout=seconds))
    except ConnectionClosed as closed:
        return (closed.rcvd.code if closed.rcvd else 1006), frames


def refused(ws):
    """The one error frame, then the code."""
    code, frames = close_code(ws)
    assert len(frames) == 1, frames
    frame = json.loads(frames[0])
    assert frame["type"] == "error" and frame["message"]
    return code


def raw_browser(rig, session, hello=HELLO):
    """A browser that shook hands and signed in (hello None: did not), as a bare socket that reads only when told."""
    raw = socket.socket(socket.AF_UNIX)
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    raw.settimeout(30)
    raw.connect(str(rig.dir / "ws.sock"))
    raw.sendall(f"GET /besser_api/simulation/{session}/ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\nX-Real-IP: 127.0.0.1\r\n\r\n".encode())
    answer = b""
    while b"\r\n\r\n" not in answer:
        answer += raw.recv(1)
    if hello:
        raw.sendall(Frame(Opcode.TEXT, json.dumps(hello).encode()).serialize(mask=True))
    return raw


def read_raw_frame(raw, buffered):
    def need(n):
        while len(buffered) < n:
            part = raw.recv(65536)
            assert part, "closed"
            buffered.extend(part)
        data = bytes(buffered[:n])
        del buffered[:n]
        return data

    first, length = need(2)
    if length == 126:
        length = struct.unpack("!H", need(2))[0]
    elif length == 127:
        length = struct.unpack("!Q", need(8))[0]
    return first & 15, need(length)


def rss_mib(rig):
    for line in open(f"/proc/{rig.process.pid}/status"):
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024


def leave_no_session(rig):
    """Ends what is left in a rig that tests share."""
    _, fields, _ = rig.ask(LIST)
    for _ in range(fields.number("I")):
        session = fields.session()
        try:
            rig.end(uuid.UUID(session["id"]), session["actor"])
        except Failed as failed:
            assert failed.kind == NOT_FOUND, failed  # it has ended by itself meanwhile
    wait_until(lambda: rig.health()["sessions"] == 0, what="no session is left")


def failure(rig, *args):
    """How the supervisor refuses that question."""
    try:
        rig.ask(*args)
    except Failed as failed:
        return failed
    raise AssertionError("it was not refused")
