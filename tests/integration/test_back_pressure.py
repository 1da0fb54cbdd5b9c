"""Slow readers and floods through the whole chain: bounded memory, an agent that is never held up while nobody is there, and
nothing lost while somebody is. The bounds are those of docs/operations.md; tests/faults/test_slow_readers.py is the long form."""
import json
import time

import pytest

from tests.support.draw import Diagram, code
from tests.support.slow import LARGE, MARK, MIB, REPLAY, SANITIZED, SMALL, SlowBrowser, Watch, agent, flood, in_thread
from tests.support.stack import wait_until

# What an agent says before its browser is there may be dropped: each begins when it is told to.
SETTINGS = {"AGENT_SIMULATOR_WARM_POOL": "0", "AGENT_SIMULATOR_MAX_SESSIONS": "2", "AGENT_SIMULATOR_REPLAY_BYTES": str(REPLAY),
            "AGENT_SIMULATOR_DETACH_SECONDS": "60"}
WINDOW = 65536  # of a browser that reads


@pytest.fixture
def session(stack):
    """start(program): its id, and its memory's observer."""
    begun = []

    def start(program):
        begun.append(stack.create_program(program))
        return begun[-1], Watch(stack)

    yield start
    for one in begun:
        assert stack.internal("DELETE", f"/sessions/{one}").status == 200


def done(stack, session_id):
    return lambda: any(f["path"] == "done" for f in stack.internal("GET", f"/sessions/{session_id}/files").json().get("files", []))


def said(ws, timeout=90):
    """What the agent says, without the frames of the service."""
    return (m for m in iter(lambda: ws.recv(timeout=timeout), None) if not m.startswith("{"))


def test_a_flood_that_nobody_hears_is_drained(stack, session):
    name, memory = session(agent(beside=in_thread(flood(50))))
    wait_until(lambda: memory.look() or done(stack, name)(), 30, "the agent has written everything")
    memory.check(**SMALL)
    with stack.internal_socket(name) as ws:  # what is left is the newest, and whole
        frame = json.loads(ws.recv(timeout=30))
        assert frame["type"] == "stdout" and set(frame["line"]) <= {"x", "\ufffd"}


def test_frames_that_nobody_hears_are_drained(stack, session):
    """With its socket open and nobody behind it, an agent that talks all the time is as free as one that prints."""
    name, memory = session(agent(talk=f"for n in range(60000): ws.send(str(n))\n{MARK}\nfor m in ws: ws.send(m)"))
    wait_until(lambda: memory.look() or done(stack, name)(), 60, "the agent has said everything")
    memory.check(**SMALL)
    with stack.internal_socket(name) as ws:
        first = next(said(ws))
        assert int(first) > 30_000
        for n in range(int(first) + 1, 60_000):
            assert next(said(ws)) == str(n)


def test_thousands_of_small_frames_pass_in_order_both_ways(stack, session):
    count = 20_000
    name, memory = session(agent(talk=f"ws.recv()\nfor n in range({count}):\n    ws.send(str(n))\n"
                                      f"for n in range({count}):\n    assert ws.recv() == str(n)\nws.send('all of them')"))
    with stack.internal_socket(name) as ws:
        ws.send("go")
        heard = said(ws)
        for n in range(count):
            assert next(heard) == str(n)
        for n in range(count):
            ws.send(str(n))
        assert next(heard) == "all of them"
    memory.check(**SMALL)


def test_sixteen_mebibytes_pass_both_ways(stack, session):
    name, memory = session(agent())
    text = "y" * (16 * MIB - 64)
    with stack.internal_socket(name) as ws:
        for _ in range(2):
            ws.send(text)
            assert next(said(ws, 60)) == text
            memory.look()
        wait_until(lambda: SANITIZED or memory.now()["holder"] - memory.first["holder"] < 2 * REPLAY / MIB + 2 * 16 + 8, 10, "the copies are given back")
    memory.check(**LARGE)


def test_a_reader_that_stops_holds_the_agent_up_and_then_hears_everything(stack, session):
    total = 30_000  # of a kilobyte each: far more than is buffered anywhere
    name, memory = session(agent(talk=f"ws.recv()\nsent = open('sent', 'wb', 0)\nfor n in range({total}):\n    ws.send('%06d' % n + 'z' * 1018)\n"
                                      "    sent.write(b'.')\nws.recv()"))
    browser = SlowBrowser(stack, name)
    browser.say("go")

    def sent():
        files = stack.internal("GET", f"/sessions/{name}/files").json().get("files", [])
        return next((len(f["content"]) for f in files if f["path"] == "sent"), 0)

    def stands_still():
        before = sent()
        end = time.monotonic() + 0.5
        while time.monotonic() < end:
            memory.look()
            time.sleep(0.05)
        return before and sent() == before

    wait_until(stands_still, 30, "the agent is held up")
    assert sent() < total
    assert wait_until(browser.waiting_in_kernel, 10, "the kernel has some of it") < MIB  # or a browser that reads slowly would seem to read nothing for minutes
    heard = 0
    browser.at_pace(1, look=memory.look)
    browser.hurry()
    while heard < total:
        for text in browser.messages():
            assert text.startswith(b"%06d" % heard)
            heard += 1
        if heard < total:
            assert browser.read()
    memory.check(**SMALL)
    browser.close()




# ---- browsers that come in the middle ----------------------------------------------------------------------------------

def talkative(frames, size):
    """An agent of the framework: the answer to "N" is that many numbered frames."""
    d = Diagram("Talkative")
    ready = d.state("ready", code("session.reply('ready')"))
    talk = d.state("talk", code(f"for n in range({frames}): session.reply('%06d' % n + 'z' * {size})"))
    for source in (ready, talk):
        d.on(source, talk)
    return d.request()


def numbers(texts):
    return [int(json.loads(text)["message"][:6]) for text in texts if b"z\"" in text]


def start_talking(stack, request, **auth):
    name = stack.create(request)
    browser = SlowBrowser(stack, name, {"features": ["exit"], **auth}, WINDOW)
    while b"ready" not in b"".join(browser.messages()):
        assert browser.read()
    browser.say('{"action":"user_message","message":"go"}')
    return name, browser


def read_some(browser, size):
    got = 0
    while got < size:
        before = len(browser.buffer)
        assert browser.read(4096)
        got += len(browser.buffer) - before


def test_a_second_tab_takes_over_in_the_middle_of_a_long_frame(stack):
    name, first = start_talking(stack, talkative(3, 12_000_000))
    read_some(first, 1 << 20)  # of thirty-six
    assert first.messages() == []
    received = first.received
    for _ in range(2):  # and that one is thrown out in the middle, too
        second = SlowBrowser(stack, name, {"features": ["exit"], "received": received}, WINDOW)
        assert second.hello == {"type": "auth_ok", "resumed": True, "from": received + 1}
        while first.code is None and first.read(1 << 20):
            assert len(numbers(first.messages())) <= 1
        assert first.code in (4409, None)
        first.close()
        first = second
        read_some(first, 1 << 20)
    heard = []
    while len(heard) < 3:
        heard += numbers(first.messages())
        if len(heard) < 3:
            assert first.read(1 << 20)
    assert heard == [0, 1, 2] and first.own == []
    first.close()
    assert stack.end(name).status == 200


def test_a_browser_that_resumes_again_and_again_in_a_flood_misses_nothing(stack):
    total = 6000
    name, browser = start_talking(stack, talkative(total, 100))
    heard, resumed = [], 0
    while len(heard) < total:
        for text in browser.messages():
            heard += numbers([text])
        if len(heard) // 500 > resumed:
            resumed += 1
            received = browser.received
            if resumed % 2:  # it takes over, or comes after the end
                browser.close()
            again = SlowBrowser(stack, name, {"received": received}, WINDOW)
            assert again.hello == {"type": "auth_ok", "resumed": True, "from": received + 1}
            browser.close()
            browser = again
        elif len(heard) < total:
            assert browser.read()
    assert heard == list(range(total)) and resumed > 5
    browser.close()
    assert stack.end(name).status == 200


def test_clients_that_ask_for_nothing_see_nothing_new(stack):
    """Frames are lost, another tab takes over, the session ends: not a word of what is beyond the reference."""
    name, browser = start_talking(stack, talkative(1500, 1000), features=[])
    assert browser.hello == {"type": "auth_ok"}
    browser.close()
    wait_until(lambda: stack.state(name).json()["framesSent"] > 1500, 30, "everything was said, and most of it dropped")
    texts, closes = [], []
    for last in (False, True):
        first, second = SlowBrowser(stack, name, {}, WINDOW), None
        assert first.hello == {"type": "auth_ok"}
        if last:
            assert stack.end(name).status == 200
        else:
            second = SlowBrowser(stack, name, {}, WINDOW)
            assert second.hello == {"type": "auth_ok"}
        while first.read():
            texts += first.frames()
        closes.append(first.code)
        for one in filter(None, (first, second)):
            one.close()
    assert {json.loads(text).get("type") for text in texts} <= {None, "stdout", "state_change"}
    assert closes[0] == 4409 and closes[1] in (1000, 1001), closes
