"""Whoever takes part in a session's creation is killed at a moment drawn by chance: the client gets a session or a clean
error, and nothing is left of what it was not told of."""
from __future__ import annotations

import time

import pytest

from tests.faults.places import end_all, kill, of_sessions, one, sessions
from tests.faults.flow import numbers
from tests.faults.scale import Progress, pick
from tests.faults.test_kill_points import CLEANING, DETACH, SESSIONS, Post, busy_workers, sessions_known
from tests.support.stack import Stack, wait_until

SETTINGS = {"AGENT_SIMULATOR_MAX_SESSIONS": "4", "AGENT_SIMULATOR_MAX_SESSIONS_PER_ACTOR": "4",
            "AGENT_SIMULATOR_DETACH_SECONDS": str(DETACH)}
POOL = 2
WHO = {
    "worker": busy_workers,
    "supervisor": lambda stack: [one(stack, "agentsim-supervisor")],
    "launcher": lambda stack: [one(stack, "agentsim-launcher")],
    "holder": lambda stack: of_sessions(stack, "agentsim-holder"),
    "sandbox": lambda stack: of_sessions(stack, "bwrap"),
}


def whole(stack):
    wait_until(lambda: stack.get("/health").status == 200, 20, "workers are back")
    wait_until(lambda: stack.sandbox() == "ok", 60, "sessions can start")


def ended(stack, session):
    """It may be over already, with whoever was killed."""
    return stack.end(session).status in (200, 404)


def one_round(stack, chance, name, most):
    post = Post(stack, SESSIONS, numbers())
    time.sleep(chance.random() * most)
    kill(*WHO[name](stack))
    post.join(120)
    assert not post.is_alive() and post.error is None, post.error
    whole(stack)
    if post.reply.status == 200:  # a worker may take one more request in the moment of its death
        wait_until(lambda: ended(stack, post.reply.json()["sessionId"]), 10, "the session is ended")
    else:
        post.clean_error()


def nothing_stays(stack):
    """As operations.md promises it: what a client was told of in the moment of a worker's death ends like any session for which
    nobody comes, all else at once."""
    wait_until(lambda: all(s["state"] not in ("NEW", "STARTING") for s in sessions(stack)), 30, "agents listen or are gone")
    wait_until(lambda: sessions_known(stack) == 0, max(10, DETACH) + CLEANING, "no orphan is left")
    end_all(stack)


@pytest.fixture(scope="module")
def warm():
    """The same with interpreters that wait for a session."""
    with Stack(**SETTINGS, AGENT_SIMULATOR_WARM_POOL=str(POOL)) as running:
        yield running


def waiting(stack):
    return stack.counter("agentsim_warm")


@pytest.mark.parametrize("name", WHO)
def test_whoever_is_killed_while_a_waiting_interpreter_is_taken_leaves_no_orphan(warm, chance, name):
    rounds = pick(2, 60)
    progress = Progress(f"kills of {name}, warm", rounds)
    for done in range(1, rounds + 1):
        if chance.random() < 0.7:  # else it is killed while some are being made
            wait_until(lambda: waiting(warm) == POOL, 60, "some wait")
        one_round(warm, chance, name, 0.06)
        time.sleep(pick(0, 2))
        progress.at(done)
    nothing_stays(warm)
    wait_until(lambda: waiting(warm) == POOL, 90, "some wait")
    session = warm.create(numbers())  # and one of them is taken
    assert ended(warm, session)
    assert warm.internal("GET", "/health").json().get("quarantined", 0) == 0


@pytest.mark.parametrize("name", WHO)
def test_whoever_is_killed_at_any_moment_leaves_no_orphan(stack, chance, name):
    rounds = pick(4, 100)
    progress = Progress(f"kills of {name}", rounds)
    for done in range(1, rounds + 1):
        one_round(stack, chance, name, 0.2)
        time.sleep(pick(0, 2))  # more often, and the keeper slows down
        progress.at(done)
    nothing_stays(stack)
    stack.assert_clean(CLEANING)
