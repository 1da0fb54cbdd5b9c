"""The messages between our processes (shared/ipc/*.h), for tests that stand in for one of them.

    with Slots(UID) as slots:                   # a private agentsim-launcher, session users from UID (uids.py)
        holder = slots.start(0)                 # a holder in slot 0
        control = holder.control("tester")
        holder.run({"agent.py": "print('hello')"})
        with holder.attach() as browser: ...
"""
from __future__ import annotations

import contextlib
import json
import os
import pathlib
import select
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import time
import uuid

from tests.support.stack import processes_of_uids, wait_until

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / os.environ.get("AGENTSIM_BUILD", "build")

MAGIC = 0x61677331
START, STOP, SLOT, READY, STARTED, FAILED, EXITED, CLEAN, QUARANTINED, NAME = range(1, 11)

CONTROL, END, IDENTITY, PHASE, GONE, DONE = range(1, 7)
BUNDLE, FILE, DIR, ENV, HOLD_START, HOLD_STARTED, HOLD_FAILED = range(32, 39)
ATTACH, SEND, ATTACHED, FRAME, EXIT = range(64, 69)
LIST, READ, WALK, ENTRY, DATA, LAST = range(96, 102)
WARM_UP, CLAIM, WARM = 120, 121, 122
PROBE, PROBED = 128, 129
PING, PONG, VERSION = 130, 131, 132
WARMTH = ["making", "ready", "lost"]

WAITING, STARTING, IS_READY, ENDED = range(4)
REASONS = ["", "exited", "signaled", "expired", "memory", "cpu", "stopped", "output", "start-failed"]
FRESH = 2**64 - 1
CHUNK = 256 << 10


def string(value):
    data = os.fsencode(value) if isinstance(value, str) else bytes(value)
    return struct.pack("=I", len(data)) + data + b"\0"


def alive(first, last):
    """Processes of those users; the ones that have ended and only wait for their parent do not count."""
    found = []
    for pid in processes_of_uids(first, last):
        with contextlib.suppress(OSError):
            if "\nState:\tZ" not in pathlib.Path(f"/proc/{pid}/status").read_text():
                found.append(pid)
    return found


class Fields:
    """Reads the fields of one payload in order."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, form):
        value, = struct.unpack_from("=" + form, self.data, self.at)
        self.at += struct.calcsize("=" + form)
        return value

    def u8(self):
        return self.take("B")

    def u32(self):
        return self.take("I")

    def u64(self):
        return self.take("Q")

    def id(self):
        self.at += 16
        return uuid.UUID(bytes=bytes(self.data[self.at - 16:self.at]))

    def bytes(self):
        size = self.u32()
        value = bytes(self.data[self.at:self.at + size])
        assert self.data[self.at + size] == 0
        self.at += size + 1
        return value

    def str(self):
        return self.bytes().decode()

    def end(self):
        assert self.at == len(self.data), "fields left over"


class Closed(Exception):
    """The other side ended the connection."""


class Frames:
    """A stream of messages."""

    def __init__(self, sock):
        self.sock, self.buffer = sock, bytearray()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.sock.close()

    def send(self, kind, *fields):
        payload = b"".join(fields)
        self.sock.sendall(struct.pack("=IHH", len(payload), kind, 0) + payload)

    def recv(self, timeout=30.0):
        """(kind, Fields) of the next message; Closed, or TimeoutError."""
        deadline = time.monotonic() + timeout
        while True:
            if len(self.buffer) >= 8:
                size, kind, zero = struct.unpack_from("=IHH", self.buffer)
                assert zero == 0
                if len(self.buffer) >= 8 + size:
                    payload = bytes(self.buffer[8:8 + size])
                    del self.buffer[:8 + size]
                    return kind, Fields(payload)
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.sock], [], [], left)[0]:
                raise TimeoutError("no message")
            try:
                data = self.sock.recv(1 << 20)
            except ConnectionResetError:
                data = b""
            if not data:
                raise Closed
            self.buffer += data

    def expect(self, kind, timeout=30.0):
        got, fields = self.recv(timeout)
        assert got == kind, f"message {got} instead of {kind}"
        return fields

    def until(self, kind, timeout=30.0):
        """Fields of the next message of that kind; others are dropped."""
        deadline = time.monotonic() + timeout
        while True:
            got, fields = self.recv(max(0.01, deadline - time.monotonic()))
            if got == kind:
                return fields


class Failed(Exception):
    """HOLD_FAILED."""

    def __init__(self, fields):
        self.kind, _, self.text = fields.u32(), fields.u32(), fields.str()
        fields.end()
        super().__init__(self.text)


class Waiting(Frames):
    """The supervisor's connection while there is no session."""

    def __init__(self, sock):
        super().__init__(sock)
        self.heard = False
        self.send(WARM_UP)

    def hears(self, timeout=90.0):
        """What has become of the interpreter, and why."""
        if not self.heard:
            self.expect(VERSION, timeout)
        self.heard = True
        f = self.expect(WARM, timeout)
        state, why = WARMTH[f.u8()], f.str()
        f.end()
        return state, why

    def until_ready(self, timeout=90.0):
        while (heard := self.hears(timeout))[0] == "making":
            pass
        assert heard == ("ready", ""), heard


class Control(Frames):
    """The supervisor's connection. session: of a holder without one, which becomes that session's."""

    def __init__(self, sock, actor, lifetime_ms, session=None):
        super().__init__(sock)
        kind, first = (CLAIM, session.bytes) if session else (CONTROL, b"")
        self.send(kind, first, string(actor), struct.pack("=QQ", int(time.time() * 1000), lifetime_ms))
        f = self.expect(VERSION)
        self.version, self.works_with = f.u32(), f.u32()
        f.end()
        f = self.expect(IDENTITY)
        self.id, self.actor, self.started, self.expires = f.id(), f.str(), f.u64(), f.u64()
        f.end()

    def phase(self, wanted, timeout=30.0):
        """Waits for that phase: (attached, frames)."""
        deadline = time.monotonic() + timeout
        while True:
            f = self.until(PHASE, max(0.01, deadline - time.monotonic()))
            phase, attached, frames = f.u8(), bool(f.u8()), f.u64()
            if phase == wanted:
                return attached, frames

    def end(self, reason="stopped"):
        self.send(END, struct.pack("=B", REASONS.index(reason)))

    def gone(self, timeout=30.0):
        f = self.until(GONE, timeout)
        reason, code = REASONS[f.u8()], f.u32()
        f.end()
        return reason, code

    def done(self, timeout=30.0):
        self.until(DONE, timeout).end()


class Browser(Frames):
    """An attach connection."""

    def __init__(self, sock, after):
        super().__init__(sock)
        self.send(ATTACH, struct.pack("=Q", after))
        f = self.expect(ATTACHED)
        self.first, self.lost = f.u64(), f.u64()
        f.end()
        self.number = self.first - 1
        self.exit = None

    def say(self, text):
        self.send(SEND, string(text))

    def frame(self, timeout=30.0):
        """Text of the next frame; None after the exit, whose reason is then in .exit."""
        kind, f = self.recv(timeout)
        if kind == EXIT:
            self.exit = REASONS[f.u8()], f.u32()
            f.end()
            return None
        assert kind == FRAME
        number, text = f.u64(), f.bytes()
        f.end()
        assert number == self.number + 1, "frames are numbered without a gap"
        self.number = number
        return text.decode()

    def json(self, timeout=30.0):
        text = self.frame(timeout)
        return None if text is None else json.loads(text)

    def rest(self, timeout=30.0):
        """All frames up to the exit, as objects."""
        frames = []
        while (one := self.json(timeout)) is not None:
            frames.append(one)
        return frames

    def find(self, wanted, timeout=30.0):
        """The frames up to the first one for which wanted(frame) holds, that one included."""
        deadline = time.monotonic() + timeout
        frames = []
        while True:
            one = self.json(max(0.01, deadline - time.monotonic()))
            assert one is not None, f"ended ({self.exit}) before the wanted frame: {frames[-5:]}"
            frames.append(one)
            if wanted(one):
                return frames


def lines(frames):
    return [f["line"] for f in frames if f.get("type") == "stdout"]


class Holder:
    """One session, as the supervisor and a worker see it."""

    def __init__(self, slots, slot, session, pid):
        self.slots, self.slot, self.session, self.pid = slots, slot, session, pid
        self.path = slots.runtime / "holders" / f"{slot}.sock"
        self.dir = slots.slot_dir(slot)
        self.uid = slots.uid_base + slot

    def connect(self):
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        sock.connect(str(self.path))
        return sock

    def control(self, actor="tester", lifetime_ms=600_000):
        return Control(self.connect(), actor, lifetime_ms)

    def warm_up(self):
        return Waiting(self.connect())

    def claim(self, actor="tester", lifetime_ms=600_000, session=None):
        self.session = session or uuid.uuid4()
        return Control(self.connect(), actor, lifetime_ms, self.session)

    def attach(self, after=FRESH):
        return Browser(self.connect(), after)

    def bundle(self, files=(), dirs=(), env=()):
        """A connection with a bundle that has not been started yet."""
        b = Frames(self.connect())
        b.send(BUNDLE)
        for path in dirs:
            b.send(DIR, string(path))
        for path, data in dict(files).items():
            data = data.encode() if isinstance(data, str) else data
            for at in range(0, max(1, len(data)), CHUNK):
                b.send(FILE, string(path), string(data[at:at + CHUNK]))
        for name, value in dict(env).items():
            b.send(ENV, string(name), string(value))
        return b

    def run(self, files, dirs=(), env=(), timeout=30.0):
        """Hands the program over and starts it: the port it was told."""
        with self.bundle(files, dirs, env) as b:
            b.send(HOLD_START)
            kind, f = b.recv(timeout)
            if kind == HOLD_FAILED:
                raise Failed(f)
            assert kind == HOLD_STARTED
            return f.u32()

    def files(self, kind=LIST, *fields, timeout=30.0):
        """Answer of a files request: ({path: content or None}, [directories], truncated)."""
        found, dirs, last = {}, [], None
        with Frames(self.connect()) as c:
            c.send(kind, *fields)
            while True:
                got, f = c.recv(timeout)
                if got == HOLD_FAILED:
                    raise Failed(f)
                if got == LAST:
                    return found, dirs, bool(f.u8())
                if got == DATA:
                    found[last] = (found[last] or b"") + f.bytes()
                    continue
                assert got == ENTRY
                is_dir, path, size, inside, content = f.u8(), os.fsdecode(f.bytes()), f.u64(), f.u8(), f.bytes()
                f.end()
                if is_dir:
                    dirs.append(path)
                else:
                    found[path] = content if inside else (b"" if kind != LIST and size == 0 else None)
                    last = path

    def list(self, per_file=1 << 19):
        return self.files(LIST, struct.pack("=Q", per_file))

    def read(self, path):
        return self.files(READ, string(path))[0][path]

    def walk(self):
        return self.files(WALK)

    def processes(self):
        return alive(self.uid, self.uid)


class Slots:
    """A private launcher with its own directories and users, and the test as its supervisor."""

    def __init__(self, uid_base, wrapper=(), **settings):
        self.uid_base = uid_base
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="agentsim-slots-", dir="/tmp"))
        self.folder.chmod(0o755)
        self.runtime, self.state = self.folder / "run", self.folder / "state"
        self.settings = {
            "AGENT_SIMULATOR_STATE_DIR": str(self.state),
            "AGENT_SIMULATOR_RUNTIME_DIR": str(self.runtime),
            "AGENT_SIMULATOR_PROGRAM_DIR": str(BUILD / "bin"),
            "AGENT_SIMULATOR_SESSION_UID_BASE": str(uid_base),
            "AGENT_SIMULATOR_USER": "nobody",
            "AGENT_SIMULATOR_LOG_LEVEL": "debug",
        } | settings
        self.process = self.sock = None
        self.limits = 0  # enum launch_limit, of the last connection
        self.wrapper = wrapper  # stands before the launcher's command: another view of the machine, for one
        self.log = self.folder / "launcher.log"

    def __enter__(self):
        self.launch()
        return self

    def launch(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen([*self.wrapper, BUILD / "bin" / "agentsim-launcher"], stderr=log, stdout=log,
                                            env={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"} | self.settings)
        wait_until(lambda: (self.runtime / "launcher.sock").exists() or self.process.poll() is not None, 10,
                   "the launcher listens")
        self.connect()

    def connect(self):
        if self.sock:
            self.sock.close()
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        wait_until(self._try_connect, 10, "the launcher takes connections")
        self.inventory, self.ids, self.values = [], [], []
        while (m := self.recv())[0] != READY:
            assert m[0] == SLOT
            self.inventory.append(m[2])
            self.ids.append(m[4])
            self.values.append(m[3])
        self.limits, self.n = m[2], m[3]
        assert m[1] == 1, "version, works with any"
        assert len(self.inventory) == self.n

    def _try_connect(self):
        with contextlib.suppress(ConnectionRefusedError, FileNotFoundError):
            self.sock.connect(str(self.runtime / "launcher.sock"))
            return True

    def send(self, op, slot=0, session=uuid.UUID(int=0)):
        self.sock.send(struct.pack("=IIIIq16s", MAGIC, op, slot, 0, 0, session.bytes))

    def recv(self, timeout=60.0):
        """(op, slot, state, value, session)"""
        self.sock.settimeout(timeout)
        data = self.sock.recv(64)
        if not data:
            raise Closed(self.log.read_text()[-1500:])
        magic, op, slot, state, value, session = struct.unpack("=IIIIq16s", data)
        assert magic == MAGIC
        return op, slot, state, value, uuid.UUID(bytes=session)

    def until(self, op, slot, timeout=60.0):
        """Value and session of the next such message about that slot."""
        deadline = time.monotonic() + timeout
        while True:
            got = self.recv(max(0.01, deadline - time.monotonic()))
            if got[0] == op and got[1] == slot:
                return got[3], got[4]
            assert got[1] != slot or got[0] == EXITED, f"{got} instead of {op}"

    def start(self, slot, session=None):
        session = session or uuid.uuid4()
        self.send(START, slot, session)
        pid, told = self.until(STARTED, slot)
        assert told == session
        return Holder(self, slot, session, pid)

    def stop(self, slot, timeout=60.0):
        self.send(STOP, slot)
        self.until(CLEAN, slot, timeout)

    def slot_dir(self, slot):
        """Where a slot's directory is: with disks, in the launcher's own mount namespace."""
        disk = pathlib.Path(f"/proc/{self.process.pid}/root{self.state}/disks/{slot}")
        return disk / str(slot) if os.path.ismount(disk) else self.state / "slots" / str(slot)

    def left_over(self):
        """What a clean service does not have: processes of its session users, slots' directories, sockets."""
        return (alive(self.uid_base, self.uid_base + 39)
                + sorted(map(str, (self.state / "slots").glob("*")))
                + sorted(map(str, pathlib.Path(f"/proc/{self.process.pid}/root{self.state}/disks").glob("*/*")))
                + sorted(map(str, (self.runtime / "holders").glob("*"))))

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(30)

    def __exit__(self, kind, *_):
        if self.sock:
            self.sock.close()
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(60)
        left, log = self.left_over(), self.log.read_text(errors="replace")
        if kind is None:
            assert left == [], log[-2000:]
            for word in ("Sanitizer", "runtime error:"):
                assert word not in log, log[log.index(word) - 200:][:4000]
        if not left:
            shutil.rmtree(self.folder)
