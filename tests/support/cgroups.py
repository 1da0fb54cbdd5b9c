"""Control groups of a service, whichever version this machine has."""
from __future__ import annotations

import contextlib
import os
import pathlib
import re

CONTROLLERS = ("memory", "pids", "cpu", "freezer")


def trees():
    """(version, controllers, path) of each mounted tree."""
    found = []
    for line in pathlib.Path("/proc/self/mounts").read_text().splitlines():
        _, path, kind, options = line.split()[:4]
        if kind == "cgroup2":
            with contextlib.suppress(FileNotFoundError):  # unmounted meanwhile
                offered = (pathlib.Path(path) / "cgroup.controllers").read_text().split()
                found.append((2, [*offered, "freezer"], pathlib.Path(path)))
        elif kind == "cgroup":
            found.append((1, options.split(","), pathlib.Path(path)))
    return found


def below(top):
    """Every directory below top and itself. Groups of others come and go meanwhile, which pathlib's glob takes for an error."""
    return (pathlib.Path(folder) for folder, _, _ in os.walk(top))


def services(uid_base, tree):
    """Where a service with these session users has its groups in a tree."""
    return (path for path in below(tree) if path.parts[-2:] == ("agentsim", str(uid_base)))


def groups_of(uid_base):
    """Every group that a service with these session users has, its own directory included."""
    return [str(path) for _, _, tree in trees() for service in services(uid_base, tree) for path in below(service)]


class Group:
    """Where the agent of a slot is limited by one controller."""

    def __init__(self, controller, uid_base, slot):
        self.controller = controller
        for self.version, controllers, tree in trees():
            if controller in controllers:
                found = next((path / str(slot) for path in services(uid_base, tree)), None)
                if found and found.is_dir():
                    self.dir = found if self.version == 1 else found / "agent"
                    return
        raise AssertionError(f"slot {slot} has no group for {controller}")

    def read(self, version_1, version_2=None):
        return (self.dir / (version_1 if self.version == 1 or not version_2 else version_2)).read_text().strip()

    def memory_limit(self):
        return int(self.read("memory.limit_in_bytes", "memory.max"))

    def memory_peak(self):
        return int(self.read("memory.max_usage_in_bytes", "memory.peak"))

    def pids(self):
        return [int(pid) for pid in self.read("cgroup.procs").split()]

    def processor_seconds(self):
        """What its processes have used; none of them may have ended in between."""
        total = 0
        for pid in self.pids():
            fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            total += int(fields[11]) + int(fields[12])
        return total / os.sysconf("SC_CLK_TCK")

    def freeze(self):
        name, value = ("freezer.state", "FROZEN") if self.version == 1 else ("cgroup.freeze", "1")
        (self.dir / name).write_text(value)

    def frozen(self):
        return bool(re.search("FROZEN|frozen 1", self.read("freezer.state", "cgroup.events")))


def path_of(pid, controller):
    """The group of a process for a controller, from the tree's top."""
    unified = None
    for line in pathlib.Path(f"/proc/{pid}/cgroup").read_text().splitlines():
        number, names, path = line.split(":", 2)
        if controller in names.split(","):
            return path
        if number == "0":
            unified = path
    return unified


def machine(script):
    """A command line that makes the machine so and then becomes what follows it."""
    return ["unshare", "--mount", "--propagation", "slave", "sh", "-ec", f'{script}\nexec "$@"', "sh"]


def without_trees():
    return machine("\n".join(f"umount {tree}" for _, _, tree in reversed(trees())))


def read_only_trees():
    return machine("\n".join(f"mount -o remount,bind,ro {tree}" for _, _, tree in trees()))
