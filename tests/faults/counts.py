"""What a Stack holds of everything that can leak."""
from __future__ import annotations

import contextlib
import os
import pathlib

from tests.faults.places import command, sessions, tree
from tests.support.cgroups import groups_of
from tests.support.stack import BUILD, processes_of_uids, wait_until

SANITIZED = "asan" in str(BUILD)  # keeps freed memory for a while


def ours(stack):
    """Every process of the service but sessions: {pid: name}."""
    found = {stack.keeper.pid: "keeper"}
    sessions_too = set(processes_of_uids(stack.uid_base, stack.uid_base + stack.max_sessions))
    for pid in tree(stack.keeper.pid):
        if pid not in sessions_too and (words := command(pid)):
            found[pid] = words.split()[0].rsplit("/", 1)[-1].rstrip(":")
    return found


def descriptors(pid):
    with contextlib.suppress(OSError):
        return len(os.listdir(f"/proc/{pid}/fd"))
    return 0


def steady(look):
    """What look() has come to: the same several times, a moment apart. What was answered may have its end still before it."""
    looks = []

    def the_same():
        looks.append(look())
        return len(looks) >= 5 and all(one == looks[-1] for one in looks[-5:])

    wait_until(the_same, 10, "it stays the same")
    return looks[-1]


def resident_kib(pid):
    with contextlib.suppress(OSError, IndexError, ValueError):
        return int(pathlib.Path(f"/proc/{pid}/status").read_text().split("VmRSS:")[1].split()[0])
    return 0


def ticks(pid):
    """Processor time so far, in hundredths of a second."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def mounts(stack, pid):
    """Those below the stack's directory: the machine has others that come and go."""
    with contextlib.suppress(OSError):
        return pathlib.Path(f"/proc/{pid}/mountinfo").read_text().count(f" {stack.dir}")


def namespaces(pids):
    found = set()
    for pid in pids:
        with contextlib.suppress(OSError):
            found |= {os.readlink(f"/proc/{pid}/ns/{name}") for name in os.listdir(f"/proc/{pid}/ns")}
    return len(found)


def files(folder, but=("nginx-access.log", "before")):
    """But the log, and the rates of the minute before, which a service that has just started does not have."""
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.name not in but)


def everything(stack):
    """But parsers, which a worker has when it needs one, and for a minute more. The request comes last: the next look
    at descriptors finds its connections closed."""
    processes = {pid: name for pid, name in ours(stack).items() if "pyparse" not in name}
    found = {
        "processes": sorted(processes.values()),
        "descriptors": {f"{name} {pid}": descriptors(pid) for pid, name in processes.items()},
        "groups": sorted(groups_of(stack.uid_base)),
        "mounts": {f"{name} {pid}": mounts(stack, pid) for pid, name in processes.items()},
        "namespaces": namespaces(processes),
        "runtime": files(stack.runtime_dir),
        "state": files(stack.state_dir),
        "sessions": len(sessions(stack)),
        "of session users": processes_of_uids(stack.uid_base, stack.uid_base + stack.max_sessions),
    }
    health = stack.internal("GET", "/health").json()
    found |= {what: health.get(what) for what in ("capacity", "quarantined")}
    return {f"{what} of {which}": value for what, all_ in found.items()
            for which, value in (all_.items() if isinstance(all_, dict) else [("all", all_)])}


def differences(before, after):
    return {what: (before.get(what), after.get(what)) for what in {*before, *after} if before.get(what) != after.get(what)}


def memory(stack):
    return {f"{name} {pid}": resident_kib(pid) for pid, name in ours(stack).items() if "pyparse" not in name}
