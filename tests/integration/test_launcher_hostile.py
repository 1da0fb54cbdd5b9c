"""The launcher against a supervisor that was taken over: whoever has the service's user may start and stop slots, and
nothing else comes of whatever is said. Everything of the machine that a launcher could touch is looked at before and after."""
import ast
import contextlib
import os
import pathlib
import random
import signal
import socket
import struct
import uuid

import pytest

from tests.support import wire
from tests.support.stack import wait_until
from tests.support.uids import Users
from tests.support.wire import Slots

USERS = Users(64)  # held as long as the tests run
UID = USERS.first
NOBODY = 65534  # the service's user of Slots


def message(op, slot, session=uuid.UUID(int=7), magic=wire.MAGIC, state=0, value=0):
    return struct.pack("=IIIIq16s", magic, op, slot, state, value, session.bytes)


class Intruder:
    """A process with the service's user, connected to the launcher: says what it is told to."""

    def __init__(self, slots):
        self.slots = slots

    def run(self, steps):
        """steps(connect) in a child of its own: what it returned, as text."""
        receive, send = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                os.setgroups([])
                os.setresgid(NOBODY, NOBODY, NOBODY)
                os.setresuid(NOBODY, NOBODY, NOBODY)
                os.write(send, repr(steps(self.connect)).encode())
            except BaseException as e:
                os.write(send, repr(e).encode())
            os._exit(0)
        os.close(send)
        with open(receive, "rb") as answer:
            said = answer.read().decode()
        os.waitpid(child, 0)
        return said

    def connect(self):
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        sock.settimeout(60)
        sock.connect(str(self.slots.runtime / "launcher.sock"))
        while (op := struct.unpack("=IIIIq16s", sock.recv(64))[1]) != wire.READY:
            assert op == wire.SLOT
        return sock


def answers(sock, last, slot):
    """Operations that are told, up to that one of that slot."""
    told = []
    while True:
        data = sock.recv(64)
        if not data:
            return [*told, "closed"]
        _, op, number, *_ = struct.unpack("=IIIIq16s", data)
        told.append(op)
        if (op, number) == (last, slot):
            return told


def machine(slots):
    """What a launcher could touch besides its slots: files and their owners, processes of others, its own standing."""
    places = [slots.folder, slots.state, slots.runtime, pathlib.Path("/etc/passwd"), pathlib.Path("/etc/shadow"), pathlib.Path("/tmp")]
    owners = [(str(p), (st := p.stat()).st_uid, st.st_gid, st.st_mode) for p in places if p.exists()]
    status = pathlib.Path(f"/proc/{slots.process.pid}/status").read_text()
    standing = [line for line in status.splitlines() if line.startswith(("Uid", "Gid", "Cap", "NoNewPrivs", "Seccomp"))]
    files = sorted(str(p.relative_to(slots.folder)) for p in slots.folder.rglob("*") if p.name != "launcher.log")
    return owners, standing, files, len(os.listdir(f"/proc/{slots.process.pid}/fd"))


def emptied(slots):
    """Whether all slots are free; those that are not are told to stop."""
    slots.connect()
    for slot, state in enumerate(slots.inventory):
        if state:
            slots.send(wire.STOP, slot)
    if any(slots.inventory):
        with contextlib.suppress(TimeoutError):
            slots.recv(2)  # what is said right before a newer connection is not heard
    return not any(slots.inventory)


@pytest.fixture
def intruder():
    with Slots(UID) as slots:
        bystander = os.fork()
        if bystander == 0:
            os.setresuid(UID + slots.n, UID + slots.n, UID + slots.n)  # right behind the range
            signal.pause()
        slots.sock.close()
        try:
            before = machine(slots)
            yield Intruder(slots)
            wait_until(lambda: emptied(slots), 40, "all slots are free")
            assert machine(slots) == before or wait_until(lambda: machine(slots)[:3] == before[:3], 20, "nothing has changed")
            assert pathlib.Path(f"/proc/{bystander}").exists(), "a user outside of the range is not touched"
        finally:
            os.kill(bystander, 9)
            os.waitpid(bystander, 0)


def test_slots_that_are_not_there_end_the_connection(intruder):
    n = intruder.slots.n

    def steps(connect):
        told = []
        for slot in (n, n + 1, 1 << 16, 1 << 31, (1 << 32) - 1, (1 << 32) - UID):
            for op in (wire.START, wire.STOP):
                with connect() as sock:
                    sock.send(message(op, slot))
                    told.append(sock.recv(64))
        return set(told)
    assert intruder.run(steps) == "{b''}"


def test_records_that_are_none_end_the_connection(intruder):
    good = message(wire.START, 0)

    def steps(connect):
        told = []
        for record in (b"\0", good[:39], good + b"\0", good * 100, good[:4], message(wire.START, 0, magic=1), message(0, 0), message(3, 0), message(5, 0),
                       message(1 << 31, 0), b"A" * 40, b"B" * 100_000):
            with connect() as sock:
                sock.send(record)
                told.append(sock.recv(64))
        return set(told)
    assert intruder.run(steps) == "{b''}"


def test_the_same_session_and_the_same_slot_twice_are_refused(intruder):
    def steps(connect):
        with connect() as sock:
            sock.send(message(wire.START, 0))
            told = answers(sock, wire.STARTED, 0)
            sock.send(message(wire.START, 0, uuid.UUID(int=8)))
            told += answers(sock, wire.FAILED, 0)
            sock.send(message(wire.START, 1))
            told += answers(sock, wire.FAILED, 1)
            for _ in range(3):
                sock.send(message(wire.STOP, 0))
            told += answers(sock, wire.CLEAN, 0)
            sock.send(message(wire.STOP, 0))
            return told + answers(sock, wire.CLEAN, 0)
    told = ast.literal_eval(intruder.run(steps))
    assert told[:3] == [wire.STARTED, wire.FAILED, wire.FAILED]
    assert told[-1] == wire.CLEAN and "closed" not in told


def test_descriptors_that_come_along_are_not_taken(intruder):
    def steps(connect):
        with connect() as sock, open("/etc/passwd") as one:
            for _ in range(50):
                socket.send_fds(sock, [message(wire.STOP, 3)], [one.fileno()] * 20)
                answers(sock, wire.CLEAN, 3)
        return "sent"
    assert intruder.run(steps) == "'sent'"
    opened = [os.readlink(f"/proc/{intruder.slots.process.pid}/fd/{n}") for n in os.listdir(f"/proc/{intruder.slots.process.pid}/fd")]
    assert "/etc/passwd" not in opened


def test_a_flood_that_reads_no_answer_is_cut_and_the_next_one_is_served(intruder):
    def steps(connect):
        with connect() as sock:
            sock.setblocking(False)
            sent = 0
            with contextlib.suppress(BrokenPipeError, ConnectionResetError, BlockingIOError):
                while sent < 200_000:
                    sock.send(message(wire.STOP, sent % 5))
                    sent += 1
        crowd = [connect() for _ in range(100)]  # each replaces the one before
        told = crowd[0].recv(64)
        crowd[-1].send(message(wire.STOP, 0))
        return told, answers(crowd[-1], wire.CLEAN, 0)
    assert intruder.run(steps) == repr((b"", [wire.CLEAN]))


def test_a_storm_of_starts_and_stops_ends_in_clean_slots(intruder):
    order = random.Random(5)

    def steps(connect):
        for _ in range(6):
            with contextlib.suppress(OSError), connect() as sock:
                sock.setblocking(False)
                for _ in range(60):
                    with contextlib.suppress(BlockingIOError):
                        sock.send(message(order.choice((wire.START, wire.STOP)), order.randrange(5), uuid.UUID(int=order.randrange(1, 9))))
        return "done"
    assert intruder.run(steps) == "'done'"


def test_a_stranger_is_not_served():
    with Slots(UID) as slots:
        path = slots.runtime / "launcher.sock"
        path.chmod(0o666)
        other = os.fork()
        if other == 0:
            os.setresgid(12345, 12345, 12345)
            os.setresuid(12345, 12345, 12345)
            with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as sock:
                with contextlib.suppress(OSError):
                    sock.settimeout(60)
                    sock.connect(str(path))
                    sock.send(message(wire.START, 0))
                    os._exit(0 if sock.recv(64) == b"" else 1)
            os._exit(0)
        assert os.waitpid(other, 0)[1] == 0
        assert "a stranger connected to the launcher: refused" in slots.log.read_text()
        slots.stop(0)
