"""The machine's clock is set while the service runs: nothing ends early or late, nothing waits for the difference."""
from __future__ import annotations

import threading
import time
from datetime import datetime
from email.utils import parsedate_to_datetime

import pytest

from tests.faults.flow import Browser, Flow, numbers
from tests.faults.places import end_all, kill, of_sessions, one
from tests.integration.test_signin import Browser as Person
from tests.integration.test_signin import settings, status_of
from tests.support.clock import HOUR, YEAR, ClockStack
from tests.support.fake_github import FakeGitHub
from tests.support.stack import wait_until

SETTINGS = {"AGENT_SIMULATOR_MAX_SESSIONS": "2", "AGENT_SIMULATOR_MAX_SESSIONS_PER_ACTOR": "5"}
JUMPS = [HOUR, -HOUR, 10 * YEAR, -10 * YEAR, -HOUR, HOUR]
SESSIONS = "/besser_api/simulation/sessions"
SLACK = 8  # seconds that a busy machine may add to a deadline


@pytest.fixture(scope="module")
def stack():
    with ClockStack(**SETTINGS) as running:
        yield running
        running.assert_clean(30)


@pytest.fixture(autouse=True)
def as_it_was(request):
    yield
    if "stack" in request.fixturenames:
        running = request.getfixturevalue("stack")
        running.jump(round(-running.off_by()))
        end_all(running)
        running.assert_clean(30)


def at(text):
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def shown(stack, session):
    return stack.state(session).json()


def ends_between(began, first, last, ended):
    """ended() comes true so many seconds after `began` by a clock that nobody sets."""
    wait_until(ended, last + SLACK - (time.monotonic() - began), f"it ends after {last} s")
    assert time.monotonic() - began >= first, "it ended early"


def test_every_process_has_that_clock_and_the_log_goes_on(stack):
    with Flow(stack) as flow:
        flow.ask(10)
        flow.wait_for(10)
        pids = [one(stack, "nginx"), one(stack, "agentsim-supervisor"), one(stack, "agentsim-launcher"), one(stack, "agentsim-fcgi"),
                stack.keeper.pid, *of_sessions(stack, "agentsim-holder")]
        assert all(stack.preloaded(pid) for pid in pids)
        for jump in JUMPS:
            stack.jump(jump)
            reply = stack.get("/health")
            assert abs(parsedate_to_datetime(reply.headers["Date"]).timestamp() - stack.now()) < SLACK  # nginx's
            stack.end(stack.create(numbers()))
            lines = [line for line in stack.log_text().splitlines() if " audit: " in line]
            assert abs(at(lines[-1].split()[0]) - stack.now()) < SLACK, lines[-1]  # the supervisor's
        stack.end(flow.session)


def test_a_conversation_goes_on(stack):
    with Flow(stack) as flow:
        flow.ask(len(JUMPS) * 100, pause=0.002)
        for turn, jump in enumerate(JUMPS, 1):
            flow.wait_for(turn * 100 - 80)
            stack.jump(jump)
            flow.wait_for(turn * 100 - 50)
        flow.wait_for(len(JUMPS) * 100)
        assert flow.browser.lost == []
        stack.jump(HOUR)
        kill(one(stack, "agentsim-supervisor"))  # the next one learns of the session from its holder
        flow.ask(50)
        flow.wait_for(len(JUMPS) * 100 + 50)
        left = at(shown(stack, flow.session)["expiresAt"]) - stack.now()
        assert 0 < left <= 3600, "its lifetime is what it was"
        stack.end(flow.session)


def far_ahead_then_back(stack, until, still):
    """What waits for a time must neither see it come nor wait for it once more. until: when that time comes by a clock that
    nobody sets, and no earlier."""
    stack.jump(10 * YEAR)
    time.sleep(0.3)  # for timers that would run out now
    assert still() or time.monotonic() >= until
    stack.jump(-10 * YEAR - HOUR)
    assert still() or time.monotonic() >= until


def test_a_session_that_nobody_attends_waits_as_long_as_ever():
    with ClockStack(AGENT_SIMULATOR_DETACH_SECONDS="4", **SETTINGS) as stack:
        browser = Browser(stack, stack.create(numbers()))
        browser.until_ready()
        began = time.monotonic()
        browser.close()
        wait_until(lambda: shown(stack, browser.session)["state"] in ("detached", "gone"), 5, "the browser has left")
        far_ahead_then_back(stack, began + 4, lambda: shown(stack, browser.session)["state"] == "detached")
        ends_between(began, 4, 4, lambda: shown(stack, browser.session)["state"] == "gone")


def test_a_session_lives_as_long_as_ever():
    with ClockStack(AGENT_SIMULATOR_SESSION_LIFETIME_SECONDS="10", **SETTINGS) as stack:
        began = time.monotonic()
        with Flow(stack) as flow:
            flow.ask(100000, pause=0.01)
            far_ahead_then_back(stack, began + 10, lambda: not flow.ended)
            assert flow.wait_for_the_end().reason() == "expired"
            assert time.monotonic() - began >= 10, "it ended early"


def test_a_rate_is_what_it_was():
    def validate(stack):
        return stack.post("/besser_api/simulation/validate", numbers()).status

    with ClockStack(AGENT_SIMULATOR_RATE_LIMIT_MAX_REQUESTS="2", AGENT_SIMULATOR_RATE_LIMIT_WINDOW_SECONDS="6", **SETTINGS) as stack:
        began = time.monotonic()
        assert [validate(stack) for _ in range(3)] == [200, 200, 429]
        far_ahead_then_back(stack, began + 6, lambda: validate(stack) == 429)
        ends_between(began, 6, 6, lambda: validate(stack) == 200)


def in_a_thread(work):
    box = []
    thread = threading.Thread(target=lambda: box.append(work()), daemon=True)
    thread.start()
    return thread, box


def test_who_waits_for_a_place_waits_on(stack):
    def ask(seconds):
        return stack.post(SESSIONS, numbers(), headers={"Prefer": f"wait={seconds}"})

    held = [stack.create(numbers()) for _ in range(2)]
    began = time.monotonic()
    patient, got = in_a_thread(lambda: ask(50))
    hasty, refused = in_a_thread(lambda: ask(5))
    wait_until(lambda: "agentsim_queue_length 2" in stack.internal("GET", "/metrics").body.decode(), 10, "both wait")
    far_ahead_then_back(stack, began + 5, lambda: patient.is_alive() and hasty.is_alive())
    ends_between(began, 5, 5, lambda: refused)
    hasty.join()
    assert refused[0].status == 429
    assert patient.is_alive()
    stack.end(held[0])
    patient.join(90)
    assert got and got[0].status == 200, got


def test_a_sign_in_is_finished_and_stays():
    """Also on a machine that starts in another decade and is set right later: the file of sign-ins goes along."""
    with FakeGitHub() as github, ClockStack(**settings(github, **SETTINGS)) as stack:
        known = [Person(stack).sign_in(github)]
        for jump in (HOUR, -HOUR, 10 * YEAR, -20 * YEAR):
            person = Person(stack)
            _, values = person.begin()
            stack.jump(jump)
            answer = person.back(code=github.new_code(), state=values["state"])
            assert "github_session" in answer, answer
            known.append(answer["github_session"])
            former = one(stack, "agentsim-supervisor")
            kill(former)
            wait_until(lambda f=former: [p for p in stack.children("agentsim-supervisor") if p != f], 10, "another supervisor")
            assert all(status_of(stack, session)["authenticated"] for session in known)
