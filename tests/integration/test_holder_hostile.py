"""A holder by itself: peers and agents that do what nobody expects."""
import contextlib
import select
import struct
import time

import pytest

from tests.support import wire
from tests.support.holder import at_rest, comes_to_rest, frames_i, memory_mb, ready, server
from tests.support.stack import wait_until
from tests.support.wire import Closed, lines


@pytest.mark.parametrize("data", [
    b"GET / HTTP/1.1\r\n\r\n", b"\xff" * 64, b"\0" * 8, bytes([4, 0, 0, 0, 64, 0, 0, 0, 1, 2, 3, 4]),
    bytes([0, 0, 0, 0, 1, 0, 0, 0]), bytes([0, 0, 0, 0, 65, 0, 0, 0]), bytes([0, 0, 0, 0, 32, 0, 1, 0]),
    bytes([9, 0, 0, 0, 32, 0, 0, 0]) + b"x" * 9, bytes([5, 0, 0, 0, 97, 0, 0, 0]) + b"\xff\xff\xff\xff\0",
])
def test_strange_bytes_end_the_connection_not_the_session(holder, control, data):
    with holder.connect() as sock:
        sock.sendall(data)
        sock.settimeout(60)
        while sock.recv(4096):
            pass
    holder.run(server())
    control.phase(wire.IS_READY)


def test_what_a_newer_worker_asks_for_is_refused_with_the_reason(holder, control):
    for kind in (105, 999):
        with wire.Frames(holder.connect()) as worker:
            worker.send(kind, b"what that takes")
            failed = wire.Failed(worker.expect(wire.HOLD_FAILED))
            assert failed.kind == 10 and "started by another version" in failed.text
            with pytest.raises(Closed):
                worker.recv()
    holder.run(server())
    control.phase(wire.IS_READY)


def test_only_of_a_newer_supervisor_is_it_taken_that_it_says_more(holder, control):
    control.send(wire.VERSION, struct.pack("=II", 9, 1))
    control.send(999, b"news")
    control.send(wire.PING)
    control.until(wire.PONG).end()
    with holder.control() as older:
        older.send(wire.VERSION, struct.pack("=II", 1, 0))
        older.send(999, b"news")
        with pytest.raises(Closed):
            older.until(wire.PONG)
    with holder.control() as next_one:
        holder.run(server())
        next_one.phase(wire.IS_READY)


def test_roles_never_mix(holder, control):
    with holder.attach() as browser:
        browser.send(wire.END, b"\6")
        with pytest.raises(Closed):
            browser.recv()
    holder.run(server())
    control.phase(wire.IS_READY)


def test_hostile_websocket_bytes_do_not_end_the_session(holder, control):
    program = ("import base64,hashlib,os,socket,struct,time\n"
               "s=socket.create_server(('127.0.0.1',int(os.environ['BESSER_WS_PORT'])))\n"
               "tricks=[b'\\xff'*100, b'\\x81\\xff'+b'x'*200, b'\\x01\\x01a'*100, b'\\x80\\x01a', b'\\x81\\x02\\xff\\xfe', b'\\x82\\x03\\xff\\xfe\\xfd',\n"
               "  b'\\x88\\x01x', b'\\x88\\x02\\x00\\x01', b'\\x89\\x7e\\xff\\xff', b'\\x81\\x7f'+b'\\xff'*8, b'\\xc1\\x01a', b'\\x89\\x00'*30000, b'\\x81\\x05hello']\n"
               "while True:\n"
               "    c,_=s.accept()\n"
               "    q=b''\n"
               "    while b'\\r\\n\\r\\n' not in q: q+=c.recv(4096)\n"
               "    key=[l.split(b': ')[1] for l in q.split(b'\\r\\n') if l.startswith(b'Sec-WebSocket-Key')][0]\n"
               "    acc=base64.b64encode(hashlib.sha1(key+b'258EAFA5-E914-47DA-95CA-C5AB0DC85B11').digest())\n"
               "    c.sendall(b'HTTP/1.1 101 X\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\nSec-WebSocket-Accept: '+acc+b'\\r\\n\\r\\n'+(tricks.pop(0) if tricks else b''))\n"
               "    c.settimeout(0.2)\n"
               "    try:\n"
               "        while c.recv(65536): pass\n"
               "    except OSError: pass\n"
               "    if not tricks: print('survived'); c.sendall(b'\\x81\\x07{\"n\":9}'); time.sleep(600)\n"
               "    c.close()\n")
    holder.run({"agent.py": program})
    with holder.attach() as browser:
        texts = []
        while (text := browser.frame(timeout=60)) != '{"n":9}':
            texts.append(text)
    # Of all the malformed ones only the binary frame is a message: it has no rules about its bytes.
    assert "hello" in texts and [t for t in texts if "\ufffd" in t and not t.startswith("{")] == ["\ufffd" * 3]
    assert memory_mb(holder.pid) < 60


# ---- agents ---------------------------------------------------------------------------------------------------------

# Answers one handshake after the other by hand; conversation(c) then may say any bytes.
RAW = """
import base64, hashlib, os, socket, sys, time
s = socket.create_server(("127.0.0.1", int(os.environ["BESSER_WS_PORT"])))
def accept():
    c, _ = s.accept()
    q = b""
    while b"\\r\\n\\r\\n" not in q:
        q += c.recv(4096)
    key = [l.split(b": ")[1] for l in q.split(b"\\r\\n") if l.startswith(b"Sec-WebSocket-Key")][0]
    proof = base64.b64encode(hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest())
    c.sendall(b"HTTP/1.1 101 X\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\nSec-WebSocket-Accept: " + proof + b"\\r\\n\\r\\n")
    return c
"""


def raw(program):
    return {"agent.py": RAW + program}


def serves(holder):
    """It answers others whatever its agent does."""
    assert "agent.py" in holder.list()[0]
    with holder.connect() as sock, wire.Frames(sock) as asked:
        asked.send(104)  # HOLD_TRANSCRIPT
        asked.until(106)


def test_an_agent_that_opens_and_closes_all_the_time_is_met_ever_more_slowly(holder, control):
    began = time.monotonic()
    holder.run(raw("n = 0\nwhile True:\n    accept().close()\n    n += 1\n    print('connection', n, flush=True)\n"))
    with holder.attach() as browser:
        browser.find(lambda f: f.get("line") == "connection 5")
        seen = 5
        serves(holder)
        comes_to_rest(holder.pid)
        # 0.1, 0.2, 0.4, 0.8, then 1.6 and 2 seconds lie between them
        assert time.monotonic() - began > 1.4 and seen <= 5
        assert control.phase(wire.IS_READY)
        control.end()
        browser.rest()


def test_a_million_fragments_of_one_byte_are_one_message(holder):
    holder.run(raw("c = accept()\nc.sendall(b'\\x01\\x01<' + b'\\x00\\x01a' * 1000000 + b'\\x00\\x00' * 100000 + b'\\x80\\x01>')\n"
                   "print('sent', flush=True)\ntime.sleep(600)"))
    with holder.attach() as browser:
        texts = [browser.frame() for _ in range(2)]
        serves(holder)
    assert "<" + "a" * 1000000 + ">" in texts
    assert memory_mb(holder.pid) < 40


def test_pings_without_an_end_and_nobody_who_reads_the_answers(holder):
    holder.run(raw("c = accept()\nc.settimeout(3)\nn = 0\ntry:\n    while n < 400:\n        c.sendall((b'\\x89\\x7d' + b'p' * 125) * 1000)\n        n += 1\n"
                   "except OSError: pass\nprint('stopped at', n, flush=True)\nc.settimeout(None)\ntime.sleep(600)"))
    with holder.attach() as browser:
        stopped = browser.find(lambda f: f.get("line", "").startswith("stopped"))[-1]["line"]
        serves(holder)
    assert int(stopped.split()[-1]) < 400, "it is not read any more when it does not read"
    assert memory_mb(holder.pid) < 30
    comes_to_rest(holder.pid)


def test_states_with_names_of_64_kib(holder, control):
    holder.run(server(setup="for n in range(300):\n    print('[' + chr(97 + n % 26) * 65000 + '] Running body')"))
    control.phase(wire.IS_READY)
    assert memory_mb(holder.pid) < 40
    with holder.attach() as browser:
        frames = browser.find(lambda f: "starting at" in f.get("line", ""))
    states = [f["state"] for f in frames if f["type"] == "state_change"]
    assert states and all(len(set(s)) == 1 and len(s) == 65000 for s in states)
    assert states[-1][0] == chr(97 + 299 % 26)


def test_lines_without_a_byte_cost_no_more_than_others(holder, control):
    holder.run(server(each="for n in range(6):\n    os.write(1, b'\\n' * 65536)\nws.send('{\"done\": 1}')"))
    with holder.attach() as browser:
        browser.find(lambda f: "starting at" in f.get("line", ""))
        browser.say("go")
        wait_until(lambda: at_rest(*holder.processes()), 30, "it is held up, as nobody reads")
        assert memory_mb(holder.pid) < 50
        frames = browser.find(lambda f: f == {"done": 1})
        while sum(f.get("line") == "" for f in frames) < 6 * 65536:
            frames.append(browser.json())
    assert memory_mb(holder.pid) < 50


def test_a_program_that_says_all_the_time_that_it_listens_is_not_believed(hasty):
    holder, control = hasty
    holder.run({"agent.py": "import time\nfor n in range(1000000): print(\"x's WebSocketPlatform starting at ws://127.0.0.1:8765\")\ntime.sleep(600)"})
    for _ in range(10):
        assert len(holder.processes()) <= 5, "at most one process at a time makes the socket"
    assert control.gone(timeout=60) == ("start-failed", 0)


@pytest.mark.parametrize("how, exit_", [
    ("os._exit(4)", ("exited", 4)),
    ("os.kill(os.getpid(), signal.SIGKILL)", ("signaled", 9)),
    ("ws.send('{\"bye\": 1}'); sys.exit('bye')", None),  # only the thread of that connection: the session goes on
])
def test_who_keeps_the_pipe_open_does_not_keep_the_session(holder, control, how, exit_):
    """Grandchildren in sessions of their own with all descriptors: they are ended, and the end is told."""
    fork = ("for i in range(3):\n    if os.fork() == 0:\n        os.setsid()\n        if os.fork(): os._exit(0)\n"
            "        while True:\n            time.sleep(600)")
    with ready(holder, control, server(setup=fork, each=how)) as browser:
        browser.say("go")
        if exit_ is None:
            browser.find(lambda f: f == {"bye": 1})
            serves(holder)
            control.end()
            exit_ = ("stopped", 0)
        assert control.gone() == exit_
        browser.rest()
        assert browser.exit == exit_
    wait_until(lambda: holder.processes() == [holder.pid], 10, "only the holder is left")


def test_output_may_be_closed_and_the_conversation_goes_on(holder, control):
    with ready(holder, control, server(each="for fd in (0, 1, 2):\n    os.close(fd)\nws.send(m)\nfor m in ws:\n    ws.send(m)")) as browser:
        for n in range(3):
            browser.say('{"n": %d}' % n)
            browser.find(lambda f, n=n: f == {"n": n})
        comes_to_rest(holder.pid)
        control.end()
        browser.rest()
        assert browser.exit == ("stopped", 0)


@pytest.mark.parametrize("who, exit_", [("child", ("signaled", 9)), ("parent", ("exited", 7))])
def test_an_agent_that_kills_all_it_can_ends_with_the_reason(holder, control, who, exit_):
    """PID 1 of the sandbox is not among them."""
    each = ("if os.fork() == 0:\n    os.kill(-1, 9)\n    os._exit(0)\ntime.sleep(600)" if who == "child"
            else "if os.fork() == 0:\n    time.sleep(600)\nos.kill(-1, 9)\ntime.sleep(0.3)\nos._exit(7)")
    with ready(holder, control, server(each=each)) as browser:
        browser.say("go")
        browser.rest()
        assert browser.exit == exit_
    assert control.gone() == exit_


def test_a_megabyte_in_the_pipe_at_the_end_is_delivered(holder, control):
    each = ("import fcntl\nfcntl.fcntl(1, 1031, 1 << 20)\nos.set_blocking(1, False)\nn = 0\ntry:\n"
            "    while True:\n        os.write(1, b'%07d' % n + b'-' * 992 + b'\\n')\n        n += 1\nexcept BlockingIOError: pass\n"
            "os.kill(os.getpid(), signal.SIGKILL)")
    with ready(holder, control, server(each=each)) as browser:
        browser.say("go")
        frames = browser.rest()
        assert browser.exit == ("signaled", 9)
    told = [int(line[:7]) for line in lines(frames) if line.endswith("-" * 992)]
    assert len(told) > 500 and told == list(range(len(told)))


def test_what_lies_in_the_socket_at_the_end_reaches_a_browser_that_reads_late(holder, control):
    """Frames of 256 bytes, which fill the holder's buffer without a rest, behind a journal that is full already."""
    each = ("text = '{\"i\": %06d}'\nfor n in range(8000):\n    ws.send(('{\"i\": %d}' % n).ljust(252))\nos._exit(5)")
    with ready(holder, control, server(each=each)) as browser:
        browser.find(lambda f: "starting at" in f.get("line", ""))
        browser.say("go")
        assert control.gone() == ("exited", 5)
        frames = browser.rest()
        assert browser.exit == ("exited", 5)
    assert frames_i(frames) == list(range(8000))


def test_frames_without_a_byte_do_not_fill_the_memory(holder, control):
    """A browser that floods an agent which does not read."""
    with ready(holder, control, server(each="time.sleep(600)")) as browser:
        browser.say("")
        flood = memoryview((struct.pack("=IHH", 5, wire.SEND, 0) + wire.string(b"")) * 1_000_000)
        browser.sock.setblocking(False)
        while flood and select.select([], [browser.sock], [], 1)[1]:
            with contextlib.suppress(BlockingIOError):
                flood = flood[browser.sock.send(flood[:1 << 16]):]
        assert flood, "it is not read any more"
        assert memory_mb(holder.pid) < 30


def test_a_frame_that_is_too_long_for_the_agent_does_not_silence_it(holder):
    files = server()
    files["agent.py"] = files["agent.py"].replace("max_size=None", "max_size=1 << 20")
    holder.run(files)
    with holder.attach() as browser:
        browser.find(lambda f: "starting at" in f.get("line", ""))
        browser.say("x" * (12 << 20))
        browser.say('{"n": 1}')
        browser.find(lambda f: f == {"n": 1}, timeout=60)
