"""Sessions come, talk and go in every way: afterwards every count is where it began."""
from __future__ import annotations

import contextlib
import json

from websockets.exceptions import ConnectionClosed

from tests.faults.counts import SANITIZED, differences, everything, memory
from tests.faults.flow import Browser, Gone, numbers
from tests.faults.places import kill, of_sessions, sessions
from tests.faults.scale import Progress, pick
from tests.support.bombs import OBEDIENT
from tests.support.stack import Stack, wait_until

CYCLES = pick(20, 1000)
LOOKS = 5  # that find the same are rest
SETTINGS = {"AGENT_SIMULATOR_MAX_SESSIONS": "3", "AGENT_SIMULATOR_MAX_SESSIONS_PER_ACTOR": "3",
            "AGENT_SIMULATOR_DETACH_SECONDS": "1", "AGENT_SIMULATOR_WORKERS": "1",  # a worker starts its parser when it needs one
            "AGENT_SIMULATOR_WARM_POOL": "0"}  # nobody waits ready, so nobody is counted


def converse(stack, session):
    with stack.internal_socket(session) as ws:
        assert "hello" in ws.recv(timeout=120)
        ws.send(json.dumps({"action": "user_message", "message": "out = 6 * 7"}))
        assert "42" in ws.recv(timeout=120)


def deleted(stack):
    session = stack.create_program(OBEDIENT)
    converse(stack, session)
    assert stack.internal("DELETE", f"/sessions/{session}").status == 200


def deleted_under_a_browser(stack):
    browser = Browser(stack, stack.create(numbers()))
    browser.until_ready()
    browser.ask(20, 0)
    browser.until(20)
    assert stack.end(browser.session).status == 200
    with contextlib.suppress(Gone):
        while True:
            browser.next()


def agent_exits(stack):
    session = stack.create_program(OBEDIENT)
    with stack.internal_socket(session) as ws, contextlib.suppress(ConnectionClosed):
        assert "hello" in ws.recv(timeout=120)
        ws.send(json.dumps({"action": "user_message", "message": "import os; os._exit(3)"}))
        while True:
            ws.recv(timeout=90)


def agent_is_killed(stack):
    converse(stack, stack.create_program(OBEDIENT))
    kill(*of_sessions(stack, "agent.py"))


def holder_is_killed(stack):
    converse(stack, stack.create_program(OBEDIENT))
    kill(*of_sessions(stack, "agentsim-holder"))


def never_starts(stack):
    session = stack.create_program("import sys\nprint('no')\nsys.exit(1)\n")
    stack.internal("DELETE", f"/sessions/{session}")


def refused(stack):
    assert stack.post("/besser_api/simulation/sessions", b"{").status in (400, 422)


WAYS = [deleted, deleted_under_a_browser, agent_exits, agent_is_killed, holder_is_killed, never_starts, refused]
TOLERANCE_KIB = {"agentsim-fcgi": 6144, "nginx": 3072, "python3": 4096}  # the others: 1024


def within_bounds(before_kib, after_kib):
    for name, kib in after_kib.items():
        allowed = TOLERANCE_KIB.get(name.split()[0], 1024) * pick(1, 2)
        assert SANITIZED or kib - before_kib.get(name, kib) <= allowed, f"{name}: {before_kib[name]} -> {kib} KiB"


def settled(stack):
    """The same several times, a moment apart: a connection may take its time to close."""
    looks = []

    def at_rest():
        looks.append(everything(stack))
        return len(looks) >= LOOKS and all(look == looks[-1] for look in looks[-LOOKS:])

    stack.assert_clean(30)
    wait_until(at_rest, 10, "the service is at rest")
    return looks[-1]


def test_everything_is_where_it_began(stack, chance):
    for way in WAYS:  # what is allocated once, is
        way(stack)
        stack.assert_clean(30)
    before, before_kib = settled(stack), memory(stack)
    progress = Progress("sessions", CYCLES)
    for done in range(1, CYCLES + 1):
        way = WAYS[done % len(WAYS)] if done <= len(WAYS) else chance.choice(WAYS)
        way(stack)
        stack.assert_clean(30)
        progress.at(done, f"{memory(stack) if done % 100 == 0 else ''}")
    with contextlib.suppress(AssertionError):
        wait_until(lambda: settled(stack) == before, 10, "every count is where it began")
    assert not differences(before, settled(stack))
    within_bounds(before_kib, memory(stack))


def test_interpreters_that_wait_come_and_go_and_leave_nothing(chance):
    """The places that they wait in change; how many there are of each thing does not."""
    cycles, ways = pick(3, 300), pick(WAYS[:3], WAYS)

    def at_rest(stack):
        """Names of slots and of what runs in them become their number."""
        wait_until(lambda: len(sessions(stack)) == 0 and stack.counter("agentsim_warm") == 2, 90, "two wait")
        looks = []

        def the_same():
            found = everything(stack)
            looks.append({what: len(value) if isinstance(value, list) and "processes" not in what else value for what, value in found.items()})
            return len(looks) >= LOOKS and all(look == looks[-1] for look in looks[-LOOKS:])

        wait_until(the_same, 20, "the service is at rest")
        return looks[-1]

    with Stack(**{**SETTINGS, "AGENT_SIMULATOR_WARM_POOL": "2"}) as stack:
        for way in ways:
            way(stack)
        before, before_kib = at_rest(stack), memory(stack)
        progress = Progress("warm sessions", cycles)
        for done in range(1, cycles + 1):
            chance.choice(ways)(stack)
            wait_until(lambda: len(sessions(stack)) < 2, 30, "there is room")
            progress.at(done, f"{memory(stack) if done % 100 == 0 else ''}")
        with contextlib.suppress(AssertionError):
            wait_until(lambda: at_rest(stack) == before, 30, "every count is where it began")
        assert not differences(before, at_rest(stack))
        assert stack.counter("agentsim_warm_starts_total") > 0
        within_bounds(before_kib, memory(stack))
