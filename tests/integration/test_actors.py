"""Whom a request counts for, and how often: one truth for all workers, by address or by sign-in."""
from __future__ import annotations

import concurrent.futures
import json
import time
import uuid

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from tests.integration.test_signin import Browser, closed, settings
from tests.support.fake_github import FakeGitHub
from tests.support.stack import Stack, wait_until

SIMULATION = "/besser_api/simulation"
TINY = {"title": "t", "model": {}}
ALLOWED = 5


# ---- by address ----

@pytest.fixture(scope="module")
def stack():
    patch = pytest.MonkeyPatch()
    patch.setenv("TRUSTED_PROXIES", "127.0.0.1")  # the tests speak for everybody
    with Stack(AGENT_SIMULATOR_RATE_LIMIT_MAX_REQUESTS=str(ALLOWED), AGENT_SIMULATOR_WORKERS="4", AGENT_SIMULATOR_MAX_SESSIONS_PER_ACTOR="1",
               AGENT_SIMULATOR_RATE_LIMIT_WINDOW_SECONDS="3600") as running:
        patch.undo()
        yield running
        running.assert_clean()


def as_address(address):
    return {"X-Forwarded-For": address}


def validate(stack, headers):
    return stack.request("POST", SIMULATION + "/validate", TINY, headers=headers)


def test_all_workers_count_together(stack):
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        replies = list(pool.map(lambda _: validate(stack, as_address("192.0.2.1")), range(40)))
    assert sorted(r.status for r in replies) == [200] * ALLOWED + [429] * (40 - ALLOWED)
    for refused in (r for r in replies if r.status == 429):
        assert 3500 < int(refused.headers["Retry-After"]) <= 3600
        assert refused.headers["Retry-After"] in refused.json()["detail"]
    assert validate(stack, as_address("192.0.2.2")).status == 200


def test_a_household_of_the_sixth_version_counts_as_one(stack):
    for host in range(ALLOWED):
        assert validate(stack, as_address(f"2001:db8:1:2::{host}")).status == 200
    assert validate(stack, as_address("2001:db8:1:2:ffff::1")).status == 429
    assert validate(stack, as_address("2001:db8:1:3::1")).status == 200


def test_one_address_in_both_spellings_counts_as_one(stack):
    for number in range(ALLOWED):
        assert validate(stack, as_address("::ffff:192.0.2.7" if number % 2 else "192.0.2.7")).status == 200
    assert validate(stack, as_address("::ffff:c000:207")).status == 429


def test_the_socket_counts_too_and_before_the_owner_is_asked(stack):
    def knock():
        with connect(f"ws://127.0.0.1:{stack.port}{SIMULATION}/{uuid.uuid4()}/ws", proxy=None, additional_headers=as_address("192.0.2.3")) as ws:
            ws.send(json.dumps({"type": "auth", "githubSession": ""}))
            with pytest.raises(ConnectionClosed) as end:
                while True:
                    ws.recv(timeout=30)
        return end.value.rcvd.code

    assert [knock() for _ in range(ALLOWED + 1)] == [4404] * ALLOWED + [4429]
    assert validate(stack, as_address("192.0.2.3")).status == 429


def test_a_session_belongs_to_its_address(stack, diagram):
    mine, neighbour, other = (as_address(a) for a in ("2001:db8:5:5::1", "2001:db8:5:5::2", "2001:db8:5:6::1"))
    started = stack.request("POST", SIMULATION + "/sessions", diagram("hello_minimal"), headers=mine)
    assert started.status == 200, started
    path = f"{SIMULATION}/sessions/{started.json()['sessionId']}"
    assert stack.get(path, headers=mine).status == 200
    assert stack.get(path, headers=neighbour).status == 200
    unknown = stack.get(f"{SIMULATION}/sessions/{uuid.uuid4()}", headers=other)
    for method, rest in (("GET", ""), ("GET", "/files"), ("GET", "/archive"), ("DELETE", "")):
        reply = stack.request(method, path + rest, headers=other)
        assert (reply.status, reply.body) == (unknown.status, unknown.body) == (404, unknown.body)
    assert stack.request("DELETE", path, headers=mine).status == 200


# ---- by sign-in ----

def test_sign_ins_of_one_address_count_apart_and_the_wait_is_exact():
    with FakeGitHub() as github, Stack(**settings(github, AGENT_SIMULATOR_RATE_LIMIT_MAX_REQUESTS="2",
                                                  AGENT_SIMULATOR_RATE_LIMIT_WINDOW_SECONDS="10")) as stack:
        ada, bob = ({"X-GitHub-Session": Browser(stack).sign_in(github, name)} for name in ("ada", "bob"))
        assert [validate(stack, {}).status for _ in range(5)] == [401] * 5, "who is not signed in is not counted"
        assert validate(stack, ada).status == 200
        assert closed(stack, uuid.uuid4(), githubSession=ada["X-GitHub-Session"])[1] == 4404
        refused = validate(stack, ada)
        assert refused.status == 429
        assert closed(stack, uuid.uuid4(), githubSession=ada["X-GitHub-Session"])[1] == 4429
        assert validate(stack, bob).status == 200
        end = time.monotonic() + int(refused.headers["Retry-After"])
        wait_until(lambda: time.monotonic() >= end, 10, "the time it was told")
        assert validate(stack, ada).status == 200
