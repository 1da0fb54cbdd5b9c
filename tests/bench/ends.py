"""ends: how soon a browser hears that its session is over and why, and how soon it is back where the session goes on."""
from __future__ import annotations

import json
import os
import time

from websockets.exceptions import ConnectionClosed

from tests.bench.service import UNLIMITED
from tests.bench.table import percentile, progress, show
from tests.faults.flow import Browser, Gone, numbers
from tests.faults.places import kill, nginx_workers, of_sessions, one
from tests.support.stack import Stack, wait_until

ROUNDS = int(os.environ.get("ROUNDS", "4"))
ENDS = {
    "the agent and its sandbox are killed": lambda stack, _: kill(*of_sessions(stack, "bwrap")),
    "the holder is killed": lambda stack, _: kill(*of_sessions(stack, "agentsim-holder")),
    "the launcher is killed": lambda stack, _: kill(one(stack, "agentsim-launcher")),
    "DELETE is sent": lambda stack, session: stack.end(session),
}
RETURNS = {
    "the supervisor is killed": lambda stack: kill(one(stack, "agentsim-supervisor")),
    "nginx's worker is killed": lambda stack: kill(*nginx_workers(stack)),
    "nginx is killed": lambda stack: kill(one(stack, "nginx")),
}


def ended(stack, act):
    """Seconds until the close, and its reason."""
    wait_until(lambda: stack.sandbox() == "ok", 60, "sessions can start")
    browser = Browser(stack, stack.create(numbers()))
    browser.until_ready()
    began = time.monotonic()
    act(stack, browser.session)
    try:
        while True:
            browser.next(30)
    except Gone as gone:
        return time.monotonic() - began, gone.reason()
    finally:
        stack.assert_clean(30)


def never_begun(stack):
    """From the request to the close of a program that ends at once."""
    began = time.monotonic()
    session = stack.create_program("raise SystemExit(3)")
    with stack.internal_socket(session) as ws:
        try:
            while True:
                kind = json.loads(ws.recv(timeout=30)).get("type")
        except ConnectionClosed:
            return time.monotonic() - began, kind


def returned(stack, act):
    """Seconds until a browser that tries again and again is signed in anew and has what it missed."""
    browser = Browser(stack, stack.create(numbers()))
    browser.until_ready()
    began = time.monotonic()
    act(stack)
    browser.ask(1, 0)
    browser.until(1)
    took = time.monotonic() - began
    assert browser.lost, "its socket was not cut"
    browser.close()
    stack.end(browser.session)
    stack.assert_clean(30)
    return took


def main():
    with Stack(AGENT_SIMULATOR_MAX_SESSIONS="2", AGENT_SIMULATOR_WARM_POOL="0", **UNLIMITED) as stack:
        rows = []
        for name, measure in {**{name: lambda act=act: ended(stack, act) for name, act in ENDS.items()},
                              "a program ends at once (from its request)": lambda: never_begun(stack)}.items():
            progress(name)
            times, words = zip(*(measure() for _ in range(ROUNDS)))
            rows.append([name, percentile(times, 0.5) * 1000, max(times) * 1000, " ".join(sorted({str(word) for word in words}))])
        show(f"Until the browser has its reason and its close, {ROUNDS} times each, ms", ["", "p50", "max", "reason"], rows)
        rows = []
        for name, act in RETURNS.items():
            progress(name)
            times = []
            for _ in range(ROUNDS):
                times.append(returned(stack, act))
                time.sleep(2.5)  # more often, and the keeper slows down
            rows.append([name, percentile(times, 0.5) * 1000, max(times) * 1000])
        show(f"Until the browser is back and its next question is answered, {ROUNDS} times each, ms", ["", "p50", "max"], rows)


if __name__ == "__main__":
    main()
