"""A holder by itself: browsers that come, go, take over and read slowly. Nothing is lost or told twice."""
import contextlib
import json
import select
import struct
import threading
import time

import pytest

from tests.support import wire
from tests.support.holder import at_rest, frames_i, memory_mb, numbered, ready, server
from tests.support.stack import wait_until
from tests.support.wire import Browser, Closed, Frames, lines


def test_a_browser_that_returns_gets_every_frame_once(holder, control):
    holder.run(numbered(1000))
    control.phase(wire.IS_READY)
    got, received = [], None
    with holder.attach() as browser:
        browser.say("go")
        while len(frames_i(got)) < 50:
            got.append(browser.json())
        received = browser.number
    while len(frames_i(got)) < 1000:
        with holder.attach(received) as browser:
            assert (browser.first, browser.lost) == (received + 1, 0)
            for _ in range(170):
                got.append(browser.json())
                if frames_i(got[-1:]) == [999]:
                    break
            received = browser.number
    assert frames_i(got) == list(range(1000))


def test_lost_frames_are_counted_and_do_not_move_the_clients_count(holder, control):
    holder.run(numbered(3000, 200))  # 600 kB and more, the journal holds 256 KiB
    control.phase(wire.IS_READY)
    with holder.attach() as browser:
        browser.say("go")
        head = browser.find(lambda f: f.get("i") == 5)
        received = browser.number
    wait_until(lambda: control.phase(wire.IS_READY)[1] >= 3000, 20, "all frames are there")
    with holder.attach(received) as browser:
        assert browser.first == received + 1 and browser.lost > 0
        rest = browser.find(lambda f: f.get("i") == 2999)
        lost = browser.lost
        assert frames_i(rest)[0] == 6 + lost
        assert len(frames_i(head)) + lost + len(frames_i(rest)) == 3000
        middle = browser.number - 100
    with holder.attach(middle) as browser:  # the count goes on as if nothing had been lost
        assert (browser.first, browser.lost) == (middle + 1, 0)
        assert frames_i(browser.find(lambda f: f.get("i") == 2999))[0] == 2900
    with holder.attach(received) as browser:  # the answer about the gap may not have arrived: it is told again
        assert browser.lost == lost


def test_a_fresh_browser_goes_on_where_delivery_stopped_and_counts_from_one(holder):
    holder.run(server())
    with holder.attach() as first:
        first.say('{"n": 1}')
        first.find(lambda f: f == {"n": 1})
        with holder.attach() as second:  # takes over
            with pytest.raises(Closed):
                while True:
                    first.recv()
            assert (second.first, second.lost) == (1, 0)
            second.say('{"n": 2}')
            assert second.find(lambda f: "n" in f) == [{"n": 2}]


def test_output_before_the_first_browser_waits_for_it(holder, control):
    holder.run(server(setup="[print('line', i) for i in range(2000)]"))
    control.phase(wire.IS_READY)
    with holder.attach() as browser:
        got = lines(browser.find(lambda f: "starting at" in f.get("line", "")))
    assert got[:-1] == [f"line {i}" for i in range(2000)]


def test_a_session_nobody_looks_at_ends(hasty):
    holder, control = hasty
    holder.run(server())
    with holder.attach() as browser:
        browser.find(lambda f: "starting at" in f.get("line", ""))
        control.phase(wire.IS_READY)
        time.sleep(4.5)  # as long as somebody looks it goes on
        browser.say('{"n": 1}')
        browser.find(lambda f: f == {"n": 1})
    left = time.monotonic()
    assert control.gone() == ("stopped", 0)
    assert 3.5 < time.monotonic() - left < 20
    control.done()


def test_a_browser_in_time_keeps_the_session(hasty):
    holder, control = hasty
    holder.run(server())
    control.phase(wire.IS_READY)
    for _ in range(3):
        with holder.attach() as browser:
            browser.say('{"n": 1}')
            browser.find(lambda f: f == {"n": 1})
        time.sleep(1.5)
    with holder.attach():
        pass


def test_a_slow_browser_holds_the_agent_up_and_loses_nothing(holder):
    holder.run(server(setup="print('%')",
                      each="for i in range(2000):\n    ws.send('{\"i\": %d, \"x\": \"%s\"}' % (i, 'x' * 20000))\n    print('p%d' % i)"))
    with holder.attach() as browser:
        browser.find(lambda f: "starting at" in f.get("line", ""))
        browser.say("go")
        wait_until(lambda: at_rest(*holder.processes()), 30, "the agent is held up")
        assert memory_mb(holder.pid) < 40  # 40 MB wait in all, most of them inside the agent
        got = browser.find(lambda f: f.get("line") == "p1999", timeout=60)
        got += [] if 1999 in frames_i(got) else browser.find(lambda f: f.get("i") == 1999)
    assert frames_i(got) == list(range(2000))
    assert [x for x in lines(got) if x.startswith("p")] == [f"p{i}" for i in range(2000)]


def test_an_agent_that_does_not_read_holds_the_browser_up(holder):
    holder.run(server(each="if m == 'wait':\n    time.sleep(3)\nelse:\n    ws.send(m[:20])"))
    with holder.attach() as browser:
        browser.find(lambda f: "starting at" in f.get("line", ""))
        browser.say("wait")
        message = struct.pack("=IHH", 100_005, wire.SEND, 0) + wire.string(b"{}" + b" " * 99_998)
        waiting = memoryview(message * 300)
        browser.sock.setblocking(False)
        start, most = time.monotonic(), 0
        while waiting:  # as a supervisor does: writes what the socket takes
            with contextlib.suppress(BlockingIOError):
                waiting = waiting[browser.sock.send(waiting[:1 << 16]):]
            if time.monotonic() - start < 2:
                most = max(most, len(message) * 300 - len(waiting))
            select.select([], [browser.sock], [], 0.1)
        browser.sock.setblocking(True)
        assert 1 << 20 < most < 16 << 20  # the queue, the sockets; not all of it
        assert memory_mb(holder.pid) < 60
        for _ in range(300):
            while not (text := browser.frame()).startswith("{} "):
                pass


def test_output_is_drained_while_nobody_is_attached(holder, control):
    holder.run(server(setup="threading.Thread(target=lambda: [print('z' * 1000) for _ in range(20000)] and print('all'), daemon=True).start()"))
    while control.phase(wire.IS_READY)[1] <= 20000:  # it may be drained before the agent is ready
        pass
    assert memory_mb(holder.pid) < 40


# ---- in the middle of something --------------------------------------------------------------------------------------

BIG = 15 << 20


@pytest.mark.parametrize("after", [None, 1])
def test_a_browser_that_takes_over_in_the_middle_of_a_long_frame_gets_it_whole(holder, control, after):
    with ready(holder, control, server(each=f"ws.send('x' * {BIG})\nws.send('{{\"n\": 1}}')")) as first:
        first.find(lambda f: "starting at" in f.get("line", ""))
        received = first.number
        first.say("go")
        got = 0
        while got < 1 << 20:  # of fifteen
            got += len(first.sock.recv(65536))
        with (holder.attach() if after is None else holder.attach(received)) as second:
            assert second.first == (1 if after is None else received + 1) and second.lost == 0
            assert len(second.frame(60)) == BIG
            assert second.json() == {"n": 1}
            with contextlib.suppress(ConnectionResetError):
                while data := first.sock.recv(1 << 20):
                    got += len(data)
            assert got < BIG, "the first one is cut off, not served to the end"


def test_of_two_that_resume_at_once_one_gets_everything(holder, control):
    """In the middle of a flood, again and again; the other one is closed without a fault."""
    total = 1500  # all of them stay in the journal
    with ready(holder, control, numbered(total, 10)) as browser:
        browser.say("go")
        got = [f for f in browser.find(lambda f: f.get("i") == 10) if "i" in f]
        received = browser.number
    while len(got) < total:
        pair = [Frames(holder.connect()) for _ in range(2)]
        threads = [threading.Thread(target=p.send, args=(wire.ATTACH, struct.pack("=Q", received))) for p in pair]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        served = 0
        for one in pair:
            with contextlib.suppress(Closed), one:
                f = one.expect(wire.ATTACHED)
                first, lost = f.u64(), f.u64()
                if first != received + 1:
                    continue  # the second of the two: it resumes where the first one was
                assert lost == 0
                while served < 70 and len(got) < total:
                    f = one.expect(wire.FRAME)
                    assert f.u64() == received + 1
                    received += 1
                    text = json.loads(f.bytes())
                    got += [text] if "i" in text else []
                    served += 1
        assert served or len(got) == total
    assert frames_i(got) == list(range(total))


def test_who_says_it_has_more_than_there_is_gets_what_follows(holder, control):
    with ready(holder, control, server()) as browser:
        browser.say('{"n": 1}')
        browser.find(lambda f: f == {"n": 1})
        have = browser.number
    for beyond in (have + 1, 10**6, 2**63, 2**64 - 2):
        with holder.attach(beyond) as browser:
            assert (browser.first, browser.lost) == (have + 1, 0)
    with holder.attach(have + 5) as browser:
        browser.say('{"n": 2}')
        assert browser.json() == {"n": 2} and browser.number == have + 1


def test_a_browser_that_leaves_at_once_brings_nothing_back(holder, control):
    """Nobody counts here: each goes on where delivery stopped, and none hears again what another was told."""
    with ready(holder, control, server()) as browser:
        browser.say('{"n": 0}')
        browser.find(lambda f: f == {"n": 0})
    for n in range(1, 20):
        with holder.connect() as sock, holder.connect() as other:
            for s in (sock, other):
                s.sendall(struct.pack("=IHHQ", 8, wire.ATTACH, 0, wire.FRESH))
        with holder.attach() as browser:
            browser.say('{"n": %d}' % n)
            assert browser.json() == {"n": n}


def test_losses_are_counted_to_the_last_frame_when_output_and_frames_mix(holder, control):
    each = "for i in range(3000):\n    ws.send('{\"i\": %d, \"x\": \"%s\"}' % (i, 'x' * (i * 7 % 300)))\n    print('line %d' % i)"
    with ready(holder, control, server(each=each)) as browser:
        browser.find(lambda f: "starting at" in f.get("line", ""))
        browser.say("go")
        head = browser.find(lambda f: f.get("i") == 20)
        received = browser.number
    before = received - len(head)
    wait_until(lambda: control.phase(wire.IS_READY)[1] >= before + 6000, 30, "all frames are there")
    for _ in range(2):
        with holder.attach(received) as browser:
            assert browser.first == received + 1 and browser.lost > 0
            rest = []
            while not (frames_i(rest)[-1:] == [2999] and lines(rest)[-1:] == ["line 2999"]):
                rest.append(browser.json())
            assert len(head) + browser.lost + len(rest) == 6000
            assert frames_i(rest) == list(range(3000 - len(frames_i(rest)), 3000))
            told = [int(line.split()[1]) for line in lines(rest)]
            assert told == list(range(3000 - len(told), 3000))
            assert len(frames_i(head)) + len(lines(head)) == len(head)
            lost = browser.lost
    with holder.attach(received + 1) as browser:  # it has heard of the gap
        assert browser.lost == 0
    assert lost == 6000 - len(head) - len(rest)


def test_the_reason_waits_for_a_browser_that_resumes_after_the_end(holder, control):
    with ready(holder, control, server(each="ws.send('{\"bye\": 1}')\ntime.sleep(0.3)\nos._exit(9)")) as browser:
        browser.find(lambda f: "starting at" in f.get("line", ""))
        received = browser.number
        browser.say("go")
    assert control.gone() == ("exited", 9)
    for _ in range(3):  # as often as it does not get to the end
        with Browser(holder.connect(), received) as browser:
            assert browser.first == received + 1
    with holder.attach(received) as browser:
        assert browser.rest() == [{"bye": 1}] and browser.exit == ("exited", 9)
    control.done()
