"""relay: from a browser to an agent and back, beside a socket straight to the same agent, and the reference's two relays."""
from __future__ import annotations

import contextlib
import ctypes
import os
import pathlib
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from tests.bench.diagrams import ECHO_PROGRAM, small
from tests.bench.machine import Cost, cpu_seconds, tree
from tests.bench.reference import Reference
from tests.bench.service import UNLIMITED
from tests.bench.table import percentile, progress, ratio, show
from tests.bench.wire import Socket, flood, message, round_trips
from tests.support.stack import TOKEN, Stack, processes_of_uids, wait_until

SESSIONS = tuple(int(n) for n in os.environ.get("SESSIONS", "1,50,200").split(","))
STARTS = 8  # at the same time
TURNS = 5  # of each side; rates and medians are those of the best one
SIZES = (128, 65536)
SECONDS = 0.4
CLONE_NEWNET = 0x40000000
UID_BASE = 610_000
FRAMEWORK_SESSIONS = 2


# ---- to our agents --------------------------------------------------------------------------------------------------

def slots_of(first, last):
    """Process id of the agent of each session: by the session ids that the holders' command lines hold."""
    uids, agents = {}, {}
    for pid in processes_of_uids(first, last):
        try:
            words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            uid = os.stat(f"/proc/{pid}").st_uid
        except OSError:
            continue
        if b"--session" in words:
            uids[words[words.index(b"--session") + 1].decode()] = uid
        elif b"agent.py" in words and b"--" not in words:
            agents[uid] = pid
    return {session: agents.get(uid) for session, uid in uids.items()}


def inside(pid, make):
    """make() called by a thread in the network of a process: what it connects stays there."""
    result = []

    def run():
        try:
            with open(f"/proc/{pid}/ns/net", "rb") as ns:
                if ctypes.CDLL(None, use_errno=True).setns(ns.fileno(), CLONE_NEWNET) < 0:
                    raise OSError(ctypes.get_errno(), "setns")
            result.append(make())
        except OSError as error:
            result.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if isinstance(result[0], OSError):
        raise result[0]
    return result[0]


class Here:
    name = "agentsim"

    def __init__(self, count):
        self.count = count
        places = str(count + FRAMEWORK_SESSIONS)
        self.stack = Stack(AGENT_SIMULATOR_MAX_SESSIONS=places, AGENT_SIMULATOR_MAX_SESSIONS_PER_ACTOR=places, AGENT_SIMULATOR_WORKERS="4",
                           AGENT_SIMULATOR_SESSION_UID_BASE=str(UID_BASE), AGENT_SIMULATOR_READY_SECONDS="600",
                           AGENT_SIMULATOR_DETACH_SECONDS="600", AGENT_SIMULATOR_PING_SECONDS="600", **UNLIMITED)
        self.stack.uid_base = UID_BASE

    def __enter__(self):
        self.stack.__enter__()
        return self

    def __exit__(self, *exc):
        self.stack.__exit__(*exc)

    def open(self):
        def one(_):
            session = self.stack.create_program(ECHO_PROGRAM)
            return session, Socket(f"/sessions/{session}/ws", self.stack.internal_port, [("X-Agent-Simulator-Token", TOKEN)])

        with ThreadPoolExecutor(STARTS) as pool:
            self.sessions = list(pool.map(one, range(self.count)))
        relayed = [w for _, w in self.sessions]
        warm(relayed)
        agents = slots_of(UID_BASE, UID_BASE + self.count)
        connect = lambda: Socket("/", 8765)
        return relayed, [inside(agents[session], connect) for session, _ in self.sessions]

    @property
    def roots(self):
        return [self.stack.keeper.pid]


class There:
    name = "reference"

    def __init__(self, count):
        self.count = count
        self.services = Reference(sessions=count)

    def __enter__(self):
        self.services.__enter__()
        return self

    def __exit__(self, *exc):
        self.services.__exit__(*exc)

    def open(self):
        with ThreadPoolExecutor(STARTS) as pool:
            made = list(pool.map(lambda _: self.services.create_program(ECHO_PROGRAM), range(self.count)))
        relayed = []
        for session, _ in made:
            self.services.own(session)
            w = Socket(f"/besser_api/simulation/{session}/ws", self.services.port)
            w.send(b'{"type":"auth","githubSession":""}')
            w.skip_until(b'{"type": "auth_ok"}')
            relayed.append(w)
        warm(relayed)
        return relayed, [Socket("/", answer["port"]) for _, answer in made]

    @property
    def roots(self):
        return self.services.pids


def warm(sockets):
    for w in sockets:
        w.send(b"warm")
    for w in sockets:
        w.skip_until(b"warm")
    time.sleep(0.3)
    for w in sockets:
        w.quiet(0.01)


# ---- the measurements -----------------------------------------------------------------------------------------------

def in_turns(relayed, direct, run):
    """run(side) of both by turns, as others come and go on this machine: all results of each."""
    results = {"relay": [], "direct": []}
    for _ in range(TURNS):
        results["relay"].append(run(relayed))
        results["direct"].append(run(direct))
    return results


def measure(relayed, direct, size, roots):
    """Round trips with one message under way on each socket."""
    def turn(sockets):
        before = by_program(roots)
        with Cost() as cost:
            times = round_trips(sockets, size, SECONDS)
        return times, len(times) / cost.seconds, since(before, roots)

    for sockets in (relayed, direct):
        round_trips(sockets, size, SECONDS)
    found = {}
    for name, turns in in_turns(relayed, direct, turn).items():
        times = [t for taken, _, _ in turns for t in taken]
        rate, each = max(rate for _, rate, _ in turns), computing([each for _, _, each in turns], len(times))
        found[name] = {"p50": min(percentile(taken, 0.5) for taken, _, _ in turns) * 1000, "p99": percentile(times, 0.99) * 1000, "rate": rate,
                       "mb": rate * size / 1e6, "cpu": sum(each.values()), "each": each}
    return found


def measure_flood(relayed, direct, size, roots):
    def turn(w):
        before = by_program(roots)
        frames, seconds = flood(w, size, SECONDS)
        return frames, frames / seconds, since(before, roots)

    found = {}
    for name, turns in in_turns(relayed, direct, turn).items():
        rate = max(rate for _, rate, _ in turns)
        found[name] = {"rate": rate, "mb": rate * size / 1e6, "each": computing([each for _, _, each in turns], sum(frames for frames, _, _ in turns))}
    return found


def answer(w):
    while b"agent_reply_str" not in w.recv()[:60]:
        pass


def measure_framework(stack, size=65536):
    """Median milliseconds of a message to an agent of the framework and its answer, by the relay and straight. Two sessions:
    what an agent prints goes to the browser, and holds the agent up when that does not read."""
    sessions = [stack.create(small()) for _ in range(FRAMEWORK_SESSIONS)]
    relayed = Socket(f"/besser_api/simulation/{sessions[0]}/ws", stack.port)
    relayed.send(b'{"type":"auth","githubSession":""}')
    answer(relayed)
    wait_until(lambda: stack.state(sessions[1]).json()["state"] == "ready", 60, "the second agent listens")
    pid = slots_of(UID_BASE, UID_BASE + stack.max_sessions)[sessions[1]]
    direct = inside(pid, lambda: Socket("/", 8765, [("X-Session-ID", "bench")]))
    answer(direct)

    def turn(w):
        times, until = [], time.monotonic() + SECONDS
        while time.monotonic() < until:
            began = time.perf_counter()
            w.send(message(size))
            answer(w)
            times.append(time.perf_counter() - began)
        return percentile(times, 0.5) * 1000

    return {name: min(medians) for name, medians in in_turns(relayed, direct, turn).items()}


PROGRAMS = {"nginx": "nginx", "agentsim-superv": "supervisor", "agentsim-holder": "holder", "python": "agent"}


def since(before, roots):
    return {name: max(0, seconds - before.get(name, 0)) for name, seconds in by_program(roots).items()}


def computing(turns, count):
    """Microseconds that each program computed for one of so many."""
    return {name: sum(turn.get(name, 0) for turn in turns) / count * 1e6 for name in turns[0]}


def by_program(roots):
    """Seconds of computing of each program below `roots`."""
    found = {}
    for pid in tree(*roots):
        with contextlib.suppress(OSError):
            name = pathlib.Path(f"/proc/{pid}/comm").read_text().strip()
            name = PROGRAMS.get(name, "others")
            found[name] = found.get(name, 0) + cpu_seconds([pid])
    return found


def run(side):
    results = {}
    progress(f"{side.name}: start {side.count} light agents")
    began = time.monotonic()
    with side:
        relayed, direct = side.open()
        progress(f"{side.name}: all there after {time.monotonic() - began:.1f} s")
        for count in [n for n in SESSIONS if n <= side.count]:
            for size in SIZES:
                for name, found in measure(relayed[:count], direct[:count], size, side.roots).items():
                    results[name, count, size] = found
        for size in SIZES:
            for name, found in measure_flood(relayed[0], direct[0], size, side.roots).items():
                results["flood", name, size] = found
        if side.name == "agentsim":
            results["framework"] = measure_framework(side.stack)
    return results


def main():
    here = run(Here(max(SESSIONS)))
    there = run(There(min(50, max(SESSIONS))))
    framework = here.pop("framework")
    rows = []
    for (kind, count, size), value in here.items():
        if kind != "relay":
            continue
        straight, theirs = here["direct", count, size], there.get(("relay", count, size))
        theirs_straight = there.get(("direct", count, size))
        rows.append([f"{count} x {size} B", straight["p50"], value["p50"], value["p50"] - straight["p50"], straight["p99"], value["p99"],
                     straight["rate"], value["rate"], value["mb"], f"{value['rate'] / straight['rate']:.0%}", f"{straight['p50'] / value['p50']:.0%}", value["cpu"],
                     theirs and theirs["p50"], theirs and theirs["p50"] - theirs_straight["p50"], theirs and theirs["p99"], theirs and theirs["rate"], theirs and theirs["cpu"],
                     ratio(value["rate"], theirs["rate"]) if theirs else "-"])
    show("Round trips, one message under way on each socket; ms, messages a second each way",
         ["sessions x size", "direct p50", "relay p50", "adds", "direct p99", "relay p99", "direct /s", "relay /s", "MB/s", "of direct", "by p50", "cpu us",
          "ref p50", "adds", "ref p99", "ref /s", "ref cpu us", "ratio"], rows,
         [f"rates and medians are those of the best of {TURNS} turns that both sides had, one after the other",
          "cpu us: computing of all processes of the service and the agents for a frame and its answer",
          "direct: a socket from the same client straight into the agent's own network; ref: backend relay and simulator relay"])
    rows = [[f"{count} x {size} B", here["direct", count, size]["each"].get("agent"), *(value["each"].get(name) for name in ("agent", "holder", "supervisor", "nginx"))]
            for (kind, count, size), value in here.items() if kind == "relay"]
    show("Computing for a message and its answer, us", ["sessions x size", "direct: agent", "relay: agent", "holder", "supervisor", "nginx"], rows,
         ["besides it the client, which computes on the same cores in both cases: the more of a round trip the agent itself is, the less the relay shows"])
    rows = []
    for size in SIZES:
        ours, straight, theirs = here["flood", "relay", size], here["flood", "direct", size], there["flood", "relay", size]
        rows.append([f"{size} B", straight["rate"], ours["rate"], ours["mb"], f"{ours['rate'] / straight['rate']:.0%}", theirs["rate"], theirs["mb"],
                     ratio(ours["rate"], theirs["rate"]), straight["each"].get("agent"), *(ours["each"].get(name) for name in ("agent", "holder", "supervisor", "nginx"))])
    show("One agent sends as fast as it can, frames a second; computing for each, us",
         ["size", "direct", "relay", "MB/s", "of direct", "ref", "ref MB/s", "ratio", "direct: agent", "relay: agent", "holder", "supervisor", "nginx"], rows)
    show("An agent of the framework, a message of 64 KiB and its answer; ms", ["direct p50", "relay p50", "of direct"],
         [[framework["direct"], framework["relay"], f"{framework['direct'] / framework['relay']:.0%}"]],
         ["it prints the message, too, and the relay carries that to the browser"])


if __name__ == "__main__":
    main()
