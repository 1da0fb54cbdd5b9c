"""A service on a machine whose wall clock is set while it runs (preload/clock.c). Its programs get clean environments, so
the loader is told by /etc/ld.so.preload, of a copy of /etc that only the service sees. Agents have their own /etc."""
from __future__ import annotations

import contextlib
import mmap
import pathlib
import shutil
import struct
import subprocess
import time

from tests.support.cgroups import machine
from tests.support.stack import BUILD, ROOT, Stack

HOUR, YEAR = 3600, 365 * 86400


class ClockStack(Stack):
    def __init__(self, **settings):
        super().__init__(**settings)
        self.shift = None
        self.wrapper = machine(f"mount --bind '{self.dir}/etc' /etc")

    def install(self):
        super().install()
        library = self.dir / "clock.so"
        subprocess.run(["make", "-s", "--no-print-directory", f"B={BUILD}", f"{BUILD}/test/clock.so"], cwd=ROOT, check=True)
        shutil.copy(BUILD / "test" / "clock.so", library)
        subprocess.run(["cp", "-a", "/etc", self.dir / "etc"], check=True)
        (self.dir / "etc" / "ld.so.preload").write_text(f"{library}\n")
        with open(f"{library}.shift", "w+b") as file:
            file.write(bytes(8))
            file.flush()
            self.shift = mmap.mmap(file.fileno(), 8)

    def jump(self, seconds):
        """The clock is set forward or back, for all processes at once."""
        (before,) = struct.unpack("=q", self.shift[:])
        self.shift[:] = struct.pack("=q", before + seconds * 1_000_000_000)

    def off_by(self):
        """What the service's clock is away from ours, in seconds."""
        with contextlib.suppress(TypeError):
            return struct.unpack("=q", self.shift[:])[0] / 1e9
        return 0

    def now(self):
        return time.time() + self.off_by()

    def preloaded(self, pid):
        return "clock.so" in pathlib.Path(f"/proc/{pid}/maps").read_text()
