"""Ports of 127.0.0.1 for services under test. One that the kernel hands out may be somebody else's before the service listens
there: another test's, or a client's own end. So they come from below the range of those, each of one process as long as it runs.

    port = free_port()
    first = ports(20)      # so many in a row
"""
from __future__ import annotations

import contextlib
import fcntl
import os
import pathlib
import random
import socket
import tempfile

FIRST, LAST = 12_000, 32_000
FOLDER = pathlib.Path(tempfile.gettempdir()) / "agentsim-test-ports"
HELD = []  # descriptors: an end of this process, of whatever kind, gives the ports back


def free_port():
    return ports(1)


def ports(count):
    FOLDER.mkdir(mode=0o700, exist_ok=True)
    chance = random.SystemRandom()
    for _ in range(10_000):
        first = chance.randrange(FIRST, LAST - count)
        if _taken(range(first, first + count)):
            return first
    raise AssertionError(f"no {count} ports in a row are free: {FOLDER}")


def _taken(numbers):
    with contextlib.ExitStack() as undo:
        locks = []
        for number in numbers:
            fd = os.open(FOLDER / str(number), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            undo.callback(os.close, fd)
            locks.append(fd)
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                with socket.socket() as probe:
                    probe.bind(("127.0.0.1", number))
            except OSError:
                return False
        undo.pop_all()
        HELD.extend(locks)
        return True
