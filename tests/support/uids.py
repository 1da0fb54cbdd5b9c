"""Session users for services under test. Two services that share some kill each other's sessions: a launcher clears its
users of whatever runs when it starts. So each gets a range of its own, on the whole machine, for as long as it is held.

    users = Users(5)       # users.first .. users.last, nobody else's until users.release()
"""
from __future__ import annotations

import fcntl
import itertools
import os
import pathlib
import random
import tempfile

from tests.support.cgroups import groups_of

FIRST, SIZE, BLOCKS = 2_000_000, 64, 4096  # above what people and packages use
FOLDER = pathlib.Path(tempfile.gettempdir()) / "agentsim-test-users"


def _busy(first, last):
    """Somebody died without clearing up: its sessions still run, or its control groups are there."""
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                if first <= os.stat(f"/proc/{entry}").st_uid <= last:
                    return True
            except OSError:
                continue
    return any(groups_of(uid) for uid in range(first, last + 1, SIZE))


class Users:
    def __init__(self, count):
        FOLDER.mkdir(mode=0o700, exist_ok=True)
        blocks = -(-count // SIZE)
        begin = random.SystemRandom().randrange(BLOCKS)
        for step in itertools.islice(itertools.count(), BLOCKS):
            at = (begin + step) % (BLOCKS - blocks + 1)
            self.first, self.last = FIRST + at * SIZE, FIRST + (at + blocks) * SIZE - 1
            self.locks = []
            if all(self._lock(at + i) for i in range(blocks)) and not _busy(self.first, self.last):
                return
            self.release()
        raise AssertionError(f"no range of {count} users is free: {FOLDER}")

    def _lock(self, block):
        """An end of this process, of whatever kind, gives it back."""
        fd = os.open(FOLDER / str(block), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self.locks.append(fd)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def release(self):
        while self.locks:
            os.close(self.locks.pop())
