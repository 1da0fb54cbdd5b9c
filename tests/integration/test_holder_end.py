"""A holder by itself: how sessions end, and supervisors that come and go."""
import time

import pytest

from tests.support import wire
from tests.support.holder import frames_i, ready, server
from tests.support.stack import wait_until
from tests.support.wire import Closed, Failed, lines

SETTINGS = {"AGENT_SIMULATOR_RLIMIT_CPU_SEC": "3", "AGENT_SIMULATOR_DETACH_SECONDS": "6"}

@pytest.mark.parametrize("how, exit_", [
    ("os._exit(3)", ("exited", 3)),
    ("os.kill(os.getpid(), signal.SIGSEGV)", ("signaled", 11)),
    ("os.kill(os.getpid(), signal.SIGKILL)", ("signaled", 9)),
    ("while True: pass", ("cpu", 24)),
    ("signal.signal(signal.SIGXCPU, signal.SIG_IGN)\nwhile True: pass", ("cpu", 9)),
])
def test_the_end_of_the_agent_has_a_reason(holder, control, how, exit_):
    setup = "signal.signal(signal.SIGXCPU, signal.SIG_IGN)" if how.startswith("signal.") else ""
    with ready(holder, control, server(setup=setup, each="print('bye')\n" + how.split("\n")[-1])) as browser:
        browser.say("x")
        frames = browser.rest(timeout=120)  # the limit counts computing time, of which a busy machine gives little
    assert lines(frames)[-1] == "bye" and browser.exit == exit_
    assert control.gone() == exit_
    control.done()


@pytest.mark.parametrize("reason", ["stopped", "expired"])
def test_the_owner_may_end_it_whatever_it_does(holder, control, reason):
    stubborn = ("[signal.signal(s, signal.SIG_IGN) for s in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)]\n"
                "for i in range(5):\n    if os.fork() == 0:\n        os.setsid()\n        if os.fork(): os._exit(0)\n"
                "        time.sleep(600)\n")
    with ready(holder, control, server(setup=stubborn)) as browser:
        wait_until(lambda: len(holder.processes()) >= 9, 10, "its children run")
        control.end(reason)
        browser.rest()
        assert browser.exit == (reason, 0)
    assert control.gone() == (reason, 0)
    wait_until(lambda: holder.processes() == [holder.pid], 10, "only the holder is left")
    control.done()


def test_the_lifetime_ends_it(holder):
    with holder.control(lifetime_ms=10_000) as control:
        assert 0 < control.expires - control.started < 14000
        with ready(holder, control, server()) as browser:
            browser.rest()
            assert browser.exit == ("expired", 0)
        assert control.gone() == ("expired", 0)


def test_after_the_end_it_waits_for_a_browser_then_is_done(holder, control):
    holder.run({"agent.py": "print('gone')"})
    assert control.gone()[0] == "start-failed"
    time.sleep(1)
    with holder.attach() as browser:
        assert lines(browser.rest()) == ["gone"]
    control.done(timeout=5)


def test_after_the_end_nobody_comes_and_it_is_done(holder, control):
    start = time.monotonic()
    holder.run({"agent.py": "print('gone')"})
    control.gone()
    control.done()
    assert 5 < time.monotonic() - start < 25


def test_a_stopped_session_nobody_looks_at_is_done_at_once(holder, control):
    holder.run(server())
    control.phase(wire.IS_READY)
    control.end()
    control.gone()
    control.done(timeout=5)


def test_a_program_that_comes_after_the_end_hears_of_the_end(holder, control):
    control.end()
    control.gone()
    with pytest.raises(Failed) as refused:
        holder.run(server())
    assert refused.value.text == "the session has ended (stopped)"


def test_what_the_agent_said_last_is_delivered(holder, control):
    with ready(holder, control, server(each="[ws.send('{\"i\": %d}' % i) for i in range(500)]\n[print(i) for i in range(500)]\nos._exit(0)")) as browser:
        browser.say("go")
        frames = browser.rest()
    assert frames_i(frames) == list(range(500))
    assert lines(frames)[-1] == "499"


def test_a_new_supervisor_adopts_what_it_finds(holder):
    with holder.control("ip:192.0.2.1", 60_000) as first:
        with ready(holder, first, server()) as browser:
            with holder.control("", 0) as second:
                assert (second.actor, second.id, second.started, second.expires) == (
                    "ip:192.0.2.1", holder.session, first.started, first.expires)
                assert second.phase(wire.IS_READY)[0] is True
                with pytest.raises(Closed):
                    while True:
                        first.recv()
                browser.say('{"n": 1}')
                browser.find(lambda f: f == {"n": 1})
                second.end()
                second.gone()
        with holder.control("", 0) as third:
            assert third.gone() == ("stopped", 0)
            third.done()


def test_the_session_lives_on_without_its_supervisor(holder):
    with holder.control() as control, ready(holder, control, server()) as browser:
        control.close()
        browser.say('{"n": 1}')
        browser.find(lambda f: f == {"n": 1})
