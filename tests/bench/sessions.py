"""sessions: start, end and memory, cold and with an interpreter that waits, beside the reference: the same diagrams, the
same client."""
from __future__ import annotations

import os
import pathlib
import time
from concurrent.futures import ThreadPoolExecutor

from tests.bench import diagrams
from tests.bench.machine import pss_kib
from tests.bench.reference import Reference
from tests.bench.service import UNLIMITED
from tests.bench.table import percentile, progress, ratio, show
from tests.support.stack import Stack, processes_of_uids, wait_until

ROUNDS = int(os.environ.get("ROUNDS", "4"))
AT_ONCE = 5
REFERENCE_UID = 21000


def alive(pid):
    """Whether it still runs: one that ended and was not waited for does not."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def is_clean(uids, folder):
    return not any(alive(pid) for pid in processes_of_uids(*uids)) and not (folder and folder.exists() and os.listdir(folder))


NAMES = ("POST answered", "auth_ok", "first agent message", "a message and its answer", "DELETE answered", "DELETE until clean")
POOL = 2


def one_by_one(service, clean, before=lambda: None):
    times = {name: [] for name in NAMES}
    for _ in range(ROUNDS):
        before()
        start = time.monotonic()
        session = service.create(diagrams.small())
        times["POST answered"].append(time.monotonic() - start)
        with service.talk(session) as talk:
            times["auth_ok"].append(time.monotonic() - start)
            assert talk.reply() == "ready"
            times["first agent message"].append(time.monotonic() - start)
            for word in ("one", "two", "three"):
                asked = time.monotonic()
                talk.say(word)
                assert talk.reply() == word
                times["a message and its answer"].append(time.monotonic() - asked)
            end = time.monotonic()
            service.end(session)
            times["DELETE answered"].append(time.monotonic() - end)
            wait_until(lambda: clean(), 30, "nothing of the session is left")
            times["DELETE until clean"].append(time.monotonic() - end)
    return times


def at_once(service, uids):
    """Seconds until all of five have spoken, and KiB of each: memory of its processes, shared pages in parts."""
    def one(_):
        session = service.create(diagrams.small())
        talk = service.talk(session)
        assert talk.reply() == "ready"
        return session, talk

    start = time.monotonic()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        live = list(pool.map(one, range(AT_ONCE)))
    took = time.monotonic() - start
    time.sleep(1)
    memory = pss_kib(processes_of_uids(*uids)) / AT_ONCE
    for session, talk in live:
        service.end(session)
        talk.__exit__(None, None, None)
    return took, memory


def measure(service, uids, folder):
    times = one_by_one(service, lambda: is_clean(uids, folder))
    return times, *at_once(service, uids)


def measure_warm(settings):
    """Times of sessions that all find an interpreter waiting, and KiB of one that waits."""
    with Stack(**{**settings, "AGENT_SIMULATOR_WARM_POOL": str(POOL)}) as stack:
        def full():
            wait_until(lambda: stack.counter("agentsim_warm") == POOL, 60, "interpreters wait")
            time.sleep(0.2)

        full()
        memory = pss_kib(processes_of_uids(stack.uid_base, stack.uid_base + AT_ONCE)) / POOL
        times = one_by_one(stack, lambda: stack.internal("GET", "/health").json()["sessions"] == 0, full)
        assert stack.counter("agentsim_warm_starts_total") == ROUNDS
    return times, memory


def main():
    settings = {"AGENT_SIMULATOR_MAX_SESSIONS": str(AT_ONCE), "AGENT_SIMULATOR_MAX_SESSIONS_PER_ACTOR": str(AT_ONCE), **UNLIMITED}
    progress("agentsim")
    with Stack(**settings) as stack:
        ours, our_five, our_memory = measure(stack, (stack.uid_base, stack.uid_base + AT_ONCE), stack.state_dir / "slots")
    progress("agentsim, with interpreters that wait")
    warm, waiting_memory = measure_warm(settings)
    progress("the reference")
    with Reference(sessions=AT_ONCE, AGENT_SIMULATOR_SESSION_UID_BASE=str(REFERENCE_UID)) as them:
        theirs, their_five, their_memory = measure(them, (REFERENCE_UID, REFERENCE_UID + AT_ONCE), None)
    rows = []
    for name in NAMES:
        values = [percentile(times[name], p) * 1000 for times in (warm, ours, theirs) for p in (0.5, 0.95)]
        rows.append([name, *values, ratio(values[4], values[0]), ratio(values[4], values[2])])
    rows.append([f"{AT_ONCE} at once, until all have spoken", None, None, our_five * 1000, None, their_five * 1000, None, None, ratio(their_five, our_five)])
    show(f"Sessions of an agent of two states, {ROUNDS} one after another, ms",
         ["", "warm p50", "warm p95", "cold p50", "cold p95", "ref p50", "ref p95", "warm ratio", "cold ratio"], rows)
    show("Memory of one session (its processes, shared pages in parts)", ["", "MiB", "ref MiB", "ratio"],
         [["framework agent, waiting for words", our_memory / 1024, their_memory / 1024, ratio(their_memory, our_memory)],
          ["interpreter that waits for a session", waiting_memory / 1024, None, None]])
