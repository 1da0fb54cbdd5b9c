"""Readers of a kilobyte a second, readers that stop, and floods, for as long as it takes to see a leak. The bounds are those
of docs/operations.md; what is short here is tests/integration/test_back_pressure.py."""
from __future__ import annotations

import json
import re
import time

import pytest

from tests.faults.scale import Progress, pick
from tests.support.draw import Diagram, code
from tests.support.slow import LARGE, MIB, REPLAY, SMALL, SlowBrowser, Watch, agent, flood, in_thread
from tests.support.stack import wait_until

SETTINGS = {"AGENT_SIMULATOR_MAX_SESSIONS": "2", "AGENT_SIMULATOR_REPLAY_BYTES": str(REPLAY), "AGENT_SIMULATOR_DETACH_SECONDS": "120",
            "AGENT_SIMULATOR_SESSION_LIFETIME_SECONDS": "7200"}
GIVEN_UP = 600  # seconds after which a browser that takes nothing is let go


@pytest.fixture
def session(stack):
    begun = []

    def start(program):
        begun.append(stack.create_program(program))
        return begun[-1]

    yield start
    for one in begun:
        assert stack.internal("DELETE", f"/sessions/{one}").status == 200


def test_a_kilobyte_a_second_while_the_agent_writes_all_it_can(stack, session):
    """Longer than a browser that takes nothing is kept: this one takes something all the time."""
    total, seconds = 30_000, pick(4, GIVEN_UP + 120)
    name = session(agent(talk=f"ws.recv()\nfor n in range({total}):\n    ws.send('%06d' % n + 'z' * 1018)\nws.recv()"))
    browser, memory, progress = SlowBrowser(stack, name), Watch(stack), Progress("a kilobyte a second", seconds)
    browser.say("go")
    began = time.monotonic()
    browser.at_pace(seconds, look=lambda: (memory.look(), progress.at(int(time.monotonic() - began), str(memory.grown()))))
    memory.check(**SMALL)
    browser.hurry()
    heard = 0
    while heard < total:
        for text in browser.messages():
            assert text.startswith(b"%06d" % heard), text[:20]
            heard += 1
        if heard < total:
            assert browser.read(1 << 20), f"cut after {heard} frames"
    browser.close()
    memory.check(**SMALL)


def replies(total):
    """An agent of the framework that says so many numbered kilobytes, whatever it is told."""
    d = Diagram("Talkative")
    ready = d.state("ready", code("session.reply('ready')"))
    talk = d.state("talk", code(f"for n in range({total}): session.reply('%06d' % n + 'z' * 1000)"))
    for source in (ready, talk):
        d.on(source, talk)
    return d.request()


def numbers_in(texts):
    return [int(n) for text in texts for n in re.findall(rb'"message": ?"(\d{6})z', text)]


def test_a_reader_that_stops_hears_the_rest_when_it_goes_on(stack):
    """In the long form it is given up after ten minutes, comes back, and is told what is gone."""
    total = 12_000
    name = stack.create(replies(total))
    browser = SlowBrowser(stack, name, {"features": ["exit"]})
    memory = Watch(stack)
    heard = []
    while b"ready" not in b"".join(browser.messages()):
        browser.read()
    browser.say(json.dumps({"action": "user_message", "message": "go"}))
    until, progress = time.monotonic() + pick(3, GIVEN_UP + 60), Progress("no byte is read", GIVEN_UP + 60)
    while time.monotonic() < until:
        time.sleep(1)
        memory.look()
        progress.at(int(GIVEN_UP + 60 - (until - time.monotonic())), str(memory.grown()))
    attached = stack.state(name).json()["attached"]
    assert attached is pick(True, False)
    browser.hurry()
    lost = 0
    while len(heard) + lost < total:
        heard += numbers_in(browser.messages())
        if heard and heard[-1] == total - 1:
            break
        if not browser.read(1 << 20):  # all that had left before
            browser.close()
            assert not attached
            browser = SlowBrowser(stack, name, {"features": ["exit"], "received": browser.received})
            assert browser.hello["resumed"], browser.hello
    gaps = [f["lost"] for f in browser.own if f["type"] == "replay_gap"]
    assert heard == sorted(set(heard)) and heard[-1] == total - 1
    if attached:
        assert gaps == [] and heard == list(range(total))
    else:
        assert len(gaps) == 1
        state = stack.state(name).json()
        assert browser.received + gaps[0] == state["framesSent"], "each frame was heard or is counted"
    browser.close()
    memory.check(**SMALL)
    assert stack.end(name).status == 200


def test_ten_thousand_frames_a_second(stack, session):
    seconds = pick(2, 60)
    total = 10_000 * seconds
    name = session(agent(talk=f"began = time.monotonic()\nfor n in range({total}):\n    ws.send(str(n))\n    if n % 100 == 0:\n"
                              "        time.sleep(max(0, n / 10000 - (time.monotonic() - began)))\n"
                              "ws.send('took %.1f' % (time.monotonic() - began))\nws.recv()"))
    memory, progress, heard = Watch(stack), Progress("frames", total), 0
    with stack.internal_socket(name) as ws:
        ws.send("go")
        for text in iter(lambda: ws.recv(timeout=90), None):
            if text.startswith("{"):
                continue
            if text.startswith("took"):
                break
            assert text == str(heard)
            heard += 1
            if heard % 2000 == 0:
                memory.look()
                progress.at(heard, text)
    assert heard == total
    memory.check(**SMALL)


def test_sixteen_mebibytes_again_and_again(stack, session):
    rounds = pick(2, 40)
    name = session(agent())
    memory, progress = Watch(stack), Progress("frames of 16 MiB, there and back", rounds)
    text = "y" * (16 * MIB - 64)
    with stack.internal_socket(name) as ws:
        for n in range(rounds):
            ws.send(text)
            assert next(m for m in iter(lambda: ws.recv(timeout=60), None) if not m.startswith("{")) == text
            memory.look()
            progress.at(n + 1, str(memory.grown()))
    memory.check(**LARGE)


@pytest.mark.parametrize("somebody", [False, True])
def test_a_line_without_an_end(stack, session, somebody):
    """50 MB in the short form, 400 in the long one; nobody hears it, or somebody every byte."""
    megabytes = pick(50, 400)
    write = in_thread(flood(megabytes))
    name = session(agent(talk=f"ws.recv()\n{write}\nfor m in ws: pass") if somebody else agent(beside=write))
    memory = Watch(stack)

    def written():
        memory.look()
        return any(f["path"] == "done" for f in stack.internal("GET", f"/sessions/{name}/files").json().get("files", []))

    if not somebody:
        wait_until(written, pick(60, 300), "the agent has written everything")
        memory.check(**SMALL)
        return
    whole = broken = 0
    with stack.internal_socket(name) as ws:
        ws.send("go")
        while whole + broken < megabytes * 1_000_000:
            frame = json.loads(ws.recv(timeout=90))
            if frame.get("type") == "stdout" and "starting at" not in frame["line"]:
                broken += frame["line"].count("\ufffd")
                whole += frame["line"].count("x")
                memory.look()
    assert (whole, broken) == (megabytes * 990_000, megabytes * 10_000)
    memory.check(**SMALL)
