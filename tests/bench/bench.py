"""Figures of a private agentsim: python -m tests.bench.bench [ROUNDS].

The figure of the reference service beside each row was measured with tests of the same shape on a 2-core machine;
it is there for orientation. Nothing here passes or fails.
"""
from __future__ import annotations

import json
import pathlib
import statistics
import sys
import threading
import time

from tests.support.stack import Stack, children_of, wait_until

ROOT = pathlib.Path(__file__).resolve().parents[2]
VALIDATE = "/besser_api/simulation/validate"


def example(name):
    return json.loads((ROOT / "docs" / "examples" / f"{name}.json").read_text(encoding="utf-8"))


def pss_of(pid):
    for line in pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1])
    return 0


def tree_of(pid):
    found = [pid]
    for child in children_of(pid):
        found += tree_of(child)
    return found


def spread(values, unit=1000.0):
    values = sorted(v * unit for v in values)
    return statistics.median(values), values[min(len(values) - 1, int(len(values) * 0.95))]


def sessions(stack, rounds):
    answered, first, clean = [], [], []
    request = example("bike_rental")
    for number in range(rounds):
        print(f"  session {number + 1} of {rounds}", end="\r", file=sys.stderr, flush=True)
        start = time.monotonic()
        session = stack.create(request)
        answered.append(time.monotonic() - start)
        with stack.talk(session) as talk:
            talk.reply()
            first.append(time.monotonic() - start)
            end = time.monotonic()
            stack.end(session)
            wait_until(lambda: not any(stack.leftovers().values()), 30, "clean")
            clean.append(time.monotonic() - end)
    return answered, first, clean


def round_trips(stack, count=500):
    session = stack.create(example("number_game"))
    times = []
    with stack.talk(session) as talk:
        talk.until(lambda f: f.get("message") == "Your guess?")
        for _ in range(count):
            start = time.monotonic()
            talk.say("no number")
            talk.until(lambda f: f.get("action") == "agent_reply_str")
            times.append(time.monotonic() - start)
            talk.until(lambda f: f.get("message") == "Your guess?")
    stack.end(session)
    return times


def validations(stack, request, seconds=4, clients=4):
    """Requests per second of POST validate through nginx with keep-alive clients."""
    import http.client

    body = json.dumps(request).encode()
    counts, until = [0] * clients, time.monotonic() + seconds

    def run(slot):
        link = http.client.HTTPConnection("127.0.0.1", stack.port)
        while time.monotonic() < until:
            link.request("POST", VALIDATE, body, {"Content-Type": "application/json"})
            answer = link.getresponse()
            answer.read()
            assert answer.status == 200, answer.status
            counts[slot] += 1

    threads = [threading.Thread(target=run, args=(i,)) for i in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(counts) / seconds


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    rows = []
    with Stack(AGENT_SIMULATOR_RATE_LIMIT_MAX_REQUESTS="1000000", AGENT_SIMULATOR_WORKERS="4") as stack:
        time.sleep(1)  # let start-up memory settle before it is read
        idle = sum(pss_of(pid) for pid in tree_of(stack.keeper.pid))
        answered, first, clean = sessions(stack, rounds)
        trips = round_trips(stack)
        rows.append(("POST sessions answered, ms (p50 p95)", spread(answered), "200"))
        rows.append(("POST to first agent message, ms", spread(first), "2200"))
        rows.append(("DELETE until all is clean, ms", spread(clean), "75"))
        rows.append(("message round trip in a session, ms", spread(trips), ""))
        for name in ("hello_minimal", "library_desk", "big_200_states"):
            request = json.loads((ROOT / "tests" / "fixtures" / "diagrams" / f"{name}.json").read_text(encoding="utf-8"))
            rate = validations(stack, request)
            rows.append((f"POST validate {name}, requests/s", (rate,), "4 to 6"))
        rows.append(("all own processes at idle, PSS MiB", (idle / 1024,), ""))
    print(f"{'figure':44} {'here':>20}   reference")
    for name, values, reference in rows:
        print(f"{name:44} {' '.join(f'{v:.1f}' for v in values):>20}   {reference}")


if __name__ == "__main__":
    main()
