"""What processes cost: computing time and memory of whole trees of them, and how busy the machine is with others."""
from __future__ import annotations

import contextlib
import os
import pathlib
import time

TICK = os.sysconf("SC_CLK_TCK")
CORES = os.cpu_count()


def _stat(pid):
    return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def tree(*roots):
    """The processes and all that come from them."""
    children = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with contextlib.suppress(OSError):
                children.setdefault(int(_stat(entry)[1]), []).append(int(entry))
    found, todo = [], list(roots)
    while todo:
        pid = todo.pop()
        found.append(pid)
        todo += children.get(pid, [])
    return found


def cpu_seconds(pids):
    """Computing time of living processes, threads and ended children that were waited for included."""
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError):
            total += sum(int(word) for word in _stat(pid)[11:15])
    return total / TICK


def pss_kib(pids):
    """Memory with shared pages in parts, so that sums are honest."""
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError):
            for line in pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    total += int(line.split()[1])
    return total


class Cost:
    """Computing time of the trees below `roots` between start and end of a `with`, and the time that passed."""

    def __init__(self, *roots):
        self.roots = roots

    def __enter__(self):
        self.pids = tree(*self.roots)
        self.cpu, self.began, self.machine = cpu_seconds(self.pids), time.monotonic(), busy()
        return self

    def __exit__(self, *_exc):
        self.seconds = time.monotonic() - self.began
        self.cpu = cpu_seconds(self.pids) - self.cpu
        self.others = (busy() - self.machine) / CORES / max(self.seconds, 1e-9)


def busy():
    """Seconds that the machine's processors have computed for anybody."""
    words = [int(word) for word in pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]]
    return (sum(words) - words[3] - words[4]) / TICK


def describe():
    model = next(
        (line.split(":")[1].strip() for line in open("/proc/cpuinfo", encoding="utf-8") if line.startswith("model name")), "?"
    )
    before, began = busy(), time.monotonic()
    time.sleep(1)
    load = (busy() - before) / (time.monotonic() - began) / CORES
    return f"{CORES} cores, {model}; before the first measurement others keep them {load:.0%} busy"
