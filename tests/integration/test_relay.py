"""agentsim-supervisor between stand-ins: browsers, from the handshake to the close (HTTP contract, sections 3 and 8)."""
import contextlib
import json
import os
import socket
import struct
import threading
import time
import uuid

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.frames import Frame, Opcode

from tests.support import supervisor_rig as rig_module
from tests.support.supervisor_rig import (HELLO, Rig, close_code, greet, raw_browser, read_raw_frame, refused, rss_mib, send_message, text,
                                          u8, wait_still, wait_until)

MIB = 1 << 20


@pytest.fixture(scope="module")
def rig():
    with Rig() as running:
        yield running


@pytest.fixture(autouse=True)
def clean(request):
    """Tests that share the rig leave no session behind."""
    yield
    if "rig" in request.fixturenames:
        rig_module.leave_no_session(request.getfixturevalue("rig"))


# ---- browsers: the way in ----


@pytest.mark.parametrize("frame, code", [
    ("", 4401), ("nonsense", 4401), ("[]", 4401), ("null", 4401), ('"auth"', 4401), ("{}", 4401), ('{"type":"hello"}', 4401),
    ('{"type":["auth"]}', 4401), ('{"type":"auth","githubSession":5}', 4401), ('{"type":"auth","githubSession":{}}', 4401),
    ('{"type":"auth","received":-1}', 4401), ('{"type":"auth","received":1.5}', 4401), ('{"type":"auth","received":"1"}', 4401),
    ('{"type":"auth","received":1e300}', 4401), ('{"type":"auth","features":"exit"}', 4401), (b'{"type":"auth"}', 4401),
    ('{"type":"auth","x":"' + "y" * 20000 + '"}', 4401),
])
def test_a_wrong_first_frame_is_refused(rig, frame, code):
    session, _ = rig.ready()
    with rig.socket(session) as ws:
        ws.send(frame)
        assert refused(ws) == code


@pytest.mark.parametrize("frame", [
    '{"type":"auth"}', '{"type":"auth","githubSession":null}', '{"type":"auth","githubSession":""}',
    '{"type":"auth","githubSession":"anything"}', '{"type":"auth","received":null,"features":null}',
    ' {"type":"auth","features":["later",7,"exit"],"more":[1]}',
])
def test_a_right_first_frame_is_answered(rig, frame):
    session, _ = rig.ready()
    with rig.socket(session) as ws:
        ws.send(frame)
        assert json.loads(ws.recv(timeout=30)) == {"type": "auth_ok"}


def masked(first, payload=b""):
    """A short frame whose mask changes nothing."""
    return bytes([first, 0x80 | len(payload)]) + bytes(4) + payload


LONG_FRAME = bytes([0x81, 0x80 | 127]) + struct.pack("!Q", 1 << 30) + bytes(4)


@pytest.mark.parametrize("first, more", [
    (masked(0x01), masked(0x00) * 4000), (masked(0x01, b"x"), masked(0x00, b"x") * 4000), (b"", masked(0x89) * 4000),
    (b"", masked(0x89, b"x" * 125) * 400), (b"", masked(0x8a) * 4000), (b"", masked(0x8a, b"x") * 4000), (LONG_FRAME, bytes(65536)),
    (b"", masked(0x81, b"[]") * 3000), (b"", masked(0x81, b'{"type":"auth"}') * 2000),
], ids=["empty pieces", "pieces", "pings", "long pings", "pongs", "long pongs", "a frame without end", "wrong frames", "many frames"])
def test_a_flood_of_a_stranger_is_cut(rig, first, more):
    """Whatever it sends, before or after it was refused, it cannot have the supervisor read on and on."""
    session, sent = uuid.uuid4(), 0
    with raw_browser(rig, session, hello=None) as s:
        s.settimeout(30)
        with pytest.raises(OSError) as cut:
            s.sendall(first)
            while sent < 30 * MIB:
                sent += s.send(more)
        assert not isinstance(cut.value, TimeoutError)
    assert sent < 10 * MIB


def test_a_client_that_does_not_mask_is_refused(rig):
    session, _ = rig.ready()
    with raw_browser(rig, session, hello=None) as s:
        s.sendall(Frame(Opcode.TEXT, json.dumps(HELLO).encode()).serialize(mask=False))
        first, payload = read_raw_frame(s, bytearray())
        assert (first, payload[:2]) == (8, struct.pack("!H", 1002))


def test_what_comes_right_behind_the_first_frame_is_heard(rig):
    session, holder = rig.ready()
    with rig.socket(session) as ws:
        ws.send(json.dumps(HELLO))
        for n in range(40):
            ws.send(f"{n}" + "x" * 65536)
        assert json.loads(ws.recv(timeout=30))["type"] == "auth_ok"
        assert [holder.heard.get(timeout=30).rstrip("x") for _ in range(40)] == [str(n) for n in range(40)]


def test_refused_handshakes_do_not_fill_the_log(rig):
    before, began = rig.log_text().count("websocket: refused"), time.monotonic()
    for _ in range(60):
        with pytest.raises(InvalidStatus):
            rig.socket(None, "/nowhere")
    spans = 2 + int(time.monotonic() - began) // 10  # of ten seconds, the first of which may have begun before
    assert 0 < rig.log_text().count("websocket: refused") - before <= min(11 * spans, 50)


def test_a_late_first_frame_is_refused(rig):
    session, _ = rig.ready()
    started = time.monotonic()
    with rig.socket(session) as ws:
        assert refused(ws) == 4401
        assert 9 < time.monotonic() - started < 25


def test_ids_and_owners(rig):
    session, _ = rig.ready()
    for wrong in ("x", "0", str(session)[:-1], str(session) + "0", "(" + str(session) + ")"):
        with rig.socket(session, f"/besser_api/simulation/{wrong}/ws") as ws:
            assert refused(ws) == 4400  # before any first frame
    for path, address, code in ((str(session), "192.0.2.1", 4404), (str(uuid.uuid4()), "127.0.0.1", 4404)):
        with rig.socket(session, f"/besser_api/simulation/{path}/ws", address=address) as ws:
            ws.send(json.dumps(HELLO))
            assert refused(ws) == code
    with rig.socket(session, f"/besser_api/simulation/{str(session).upper()}/ws?x=1", surface=None) as ws:
        assert greet(ws) == {"type": "auth_ok"}  # + the same session; no surface header: the public one


def test_an_ended_session_is_unknown(rig):
    session, _ = rig.ready()
    rig.end(session)
    with rig.socket(session) as ws:
        ws.send(json.dumps(HELLO))
        assert refused(ws) == 4404


def test_neighbours_in_one_ipv6_network_are_one_owner(rig):
    session, _ = rig.ready("ip:2001:db8:1:2::/64")
    for address, code in (("2001:db8:1:2::5", None), ("2001:db8:1:2:ffff::1", None), ("2001:db8:1:3::5", 4404)):
        with rig.socket(session, address=address) as ws:
            if code:
                ws.send(json.dumps(HELLO))
                assert refused(ws) == code
            else:
                assert greet(ws) == {"type": "auth_ok"}


def test_where_sign_in_is_needed_nobody_is_signed_in_yet():
    with Rig(REQUIRE_AUTH="true") as rig:
        session, _ = rig.ready()
        for token in ("", "some-session"):
            with rig.socket(session) as ws:
                ws.send(json.dumps({"type": "auth", "githubSession": token}))
                assert refused(ws) == 4401


def test_a_holder_that_does_not_answer_is_an_agent_out_of_reach(rig):
    session, holder = rig.ready()
    holder.answers_attach = False
    with rig.socket(session) as ws:
        ws.send(json.dumps(HELLO))
        started = time.monotonic()
        assert refused(ws) == 1011
        assert time.monotonic() - started < 25
    session, holder = rig.ready()
    holder.listener.close()
    os.unlink(holder.path)
    with rig.socket(session) as ws:
        ws.send(json.dumps(HELLO))
        assert refused(ws) == 1011


def status_of(rig, *args, **kw):
    with pytest.raises(InvalidStatus) as refusal:
        rig.socket(*args, **kw)
    return refusal.value.response.status_code


def test_requests_that_are_no_conversation_are_refused_before_the_upgrade(rig):
    session, _ = rig.ready()
    for path in ("/", "/ws", f"/besser_api/simulation/{session}", f"/besser_api/simulation/{session}/ws/", f"/sessions/{session}/ws",
                 f"/besser_api/simulation/a/b/ws"):
        assert status_of(rig, session, path) in (403, 404)
    for request, status in ((b"GET /besser_api/simulation/x/ws HTTP/1.1\r\nHost: x\r\n\r\n", 404),
                            (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc", 404),
                            (b"GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\nHTTP2-Settings: AA\r\n\r\n", 403)):
        with socket.socket(socket.AF_UNIX) as raw:
            raw.settimeout(45)
            raw.connect(str(rig.dir / "ws.sock"))
            raw.sendall(request)
            answer = b""
            while part := raw.recv(4096):
                answer += part
        assert answer.startswith(f"HTTP/1.1 {status} ".encode()), answer
        assert json.loads(answer.split(b"\r\n\r\n")[1])["detail"]


def test_connections_that_never_ask_are_cut(rig):
    raws = []
    for sent in (b"", b"GET /besser_api", b"\x00\x01\x02"):
        raw = socket.socket(socket.AF_UNIX)
        raw.settimeout(45)
        raw.connect(str(rig.dir / "ws.sock"))
        raw.sendall(sent)
        raws.append(raw)
    for raw in raws:
        while raw.recv(4096):
            pass
        raw.close()
    assert rig.health()["sandbox"] == "ok"


def test_pages_of_foreign_origins_are_refused_where_origins_are_configured():
    with Rig(CORS_ORIGINS="https://editor.example, https://b.example", DEPLOYMENT_URL="https://home.example/editor") as rig:
        session, _ = rig.ready()
        for origin, allowed in (("https://editor.example", True), ("https://B.example", True), ("http://localhost", True), (None, True), ("https://home.example", True), ("https://home.exampl", False),
                                ("https://evil.example", False), ("https://editor.example.evil.example", False), ("null", False),
                                ("http://localhost.evil.example", False), ("https://" + "x" * 3000, False)):
            if allowed:
                with rig.socket(session, origin=origin) as ws:
                    assert greet(ws) == {"type": "auth_ok"}
            else:
                assert status_of(rig, session, origin=origin) == 403


# ---- browsers: the internal surface ----


def test_the_internal_surface_wants_its_token(rig):
    session, holder = rig.ready("internal", internal=True)
    for token in (None, "", "wrong", "s3cre", "s3crets"):
        with pytest.raises(InvalidStatus) as refusal:
            rig.internal_socket(session, token)
        assert refusal.value.response.status_code == 403
    holder.say("before")
    with rig.internal_socket(session) as ws:
        assert ws.recv(timeout=30) == "before"  # no auth frame, no auth_ok
        ws.send("user words")
        assert holder.heard.get(timeout=30) == "user words"
    assert status_of(rig, session, f"/besser_api/simulation/{session}/ws", surface="internal") in (403, 404)


def test_the_internal_surface_without_a_token_configured_is_closed():
    with Rig(API_TOKEN="") as rig:
        session, _ = rig.ready("internal", internal=True)
        for token in (None, "", "x"):
            with pytest.raises(InvalidStatus) as refusal:
                rig.internal_socket(session, token)
            assert refusal.value.response.status_code == 403


def test_the_internal_surface_has_its_own_code_for_the_unknown(rig):
    mine, _ = rig.ready()
    for session, code in (("x", 4400), (uuid.uuid4(), 4004), (mine, 4004)):
        with rig.internal_socket(session) as ws:
            assert refused(ws) == code


# ---- browsers: the conversation ----


def test_frames_pass_both_ways_in_order_and_unchanged(rig):
    session, holder = rig.ready()
    with rig.socket(session) as ws:
        greet(ws)
        ours = [f"{{\"n\": {i}, \"é\": \"\\u00e9 漢 🚲\"}}" + "x" * (i * 7 % 5000) for i in range(500)]
        threading.Thread(target=lambda: [holder.say(frame) for frame in ours], daemon=True).start()
        assert [ws.recv(timeout=30) for _ in ours] == ours
        for frame in ours:
            ws.send(frame)
        assert [holder.heard.get(timeout=30) for _ in ours] == ours
        holder.phase(rig_module.READY)
        info = wait_until(lambda: (i := rig.info(session))["frames"] == 500 and i)
        assert info["state"] == "ATTACHED" and info["attached"]


def test_a_message_in_fragments_is_one_message(rig):
    session, holder = rig.ready()
    with rig.socket(session) as ws:
        greet(ws)
        ws.send(iter(["a", "", "b" * 70000, "", "ü"]))
        assert holder.heard.get(timeout=30) == "a" + "b" * 70000 + "ü"
        ws.send("")
        assert holder.heard.get(timeout=30) == ""
        assert ws.ping().wait(30)
        ws.send("after")
        assert holder.heard.get(timeout=30) == "after"


@pytest.mark.parametrize("size", [125, 126, 65535, 65536, 1 * MIB, 16 * MIB])
def test_frames_of_every_size_pass(rig, size):
    session, holder = rig.ready()
    with rig.socket(session) as ws:
        greet(ws)
        ws.send("x" * size)
        assert holder.heard.get(timeout=30) == "x" * size
        holder.say("y" * size)
        assert ws.recv(timeout=30) == "y" * size


def test_a_frame_over_16_mib_is_too_large(rig):
    session, _ = rig.ready()
    for message in ("x" * (16 * MIB + 1), iter(["x" * (8 * MIB)] * 3)):
        with rig.socket(session) as ws:
            greet(ws)
            try:
                ws.send(message)
            except ConnectionClosed:
                pass
            assert close_code(ws)[0] == 1009
    wait_until(lambda: rig.info(session)["state"] == "DETACHED")


def test_binary_and_malformed_text_close_but_the_session_lives(rig):
    session, holder = rig.ready()
    with rig.socket(session) as ws:
        greet(ws)
        ws.send(b"binary")
        assert close_code(ws)[0] == 1003
    for fragments in ([(Opcode.TEXT, b"\xff", True)], [(Opcode.TEXT, b"ab\xc3", True)], [(Opcode.TEXT, b"\xc3", False), (Opcode.CONT, b"", True)]):
        with rig.socket(session) as ws:
            greet(ws)
            for opcode, data, final in fragments:
                ws.socket.sendall(Frame(opcode, data, final).serialize(mask=True))
            assert close_code(ws)[0] == 1007
    with rig.socket(session) as ws:
        assert greet(ws) == {"type": "auth_ok"}
        ws.send("fine")
        assert holder.heard.get(timeout=30) == "fine"
        assert holder.heard.empty()


def test_output_before_the_first_browser_is_delivered(rig):
    session, holder = rig.ready()
    for i in range(3):
        holder.say(f"early {i}")
    with rig.socket(session) as ws:
        assert greet(ws) == {"type": "auth_ok"}
        assert [ws.recv(timeout=30) for _ in range(3)] == ["early 0", "early 1", "early 2"]


def test_a_browser_may_come_before_the_agent_is_ready(rig):
    session = rig.create()
    holder = rig.launcher.holder(session)
    with rig.socket(session) as ws:
        assert greet(ws) == {"type": "auth_ok"}
        holder.say("starting up")
        assert ws.recv(timeout=30) == "starting up"
        holder.phase(rig_module.READY)
        assert rig.info(session)["state"] == "ATTACHED"


def test_a_client_that_counts_gets_exactly_the_rest(rig):
    session, holder = rig.ready()
    for i in range(10):
        holder.say(f"f{i + 1}")
    with rig.socket(session) as ws:
        greet(ws)
        for i in range(10):
            ws.recv(timeout=30)
    for got in (10, 7, 0):
        with rig.socket(session) as ws:
            assert greet(ws, received=got) == {"type": "auth_ok", "resumed": True, "from": got + 1}
            assert [ws.recv(timeout=30) for _ in range(10 - got)] == [f"f{i}" for i in range(got + 1, 11)]
            with pytest.raises(TimeoutError):
                ws.recv(timeout=0.05)


def test_a_client_that_does_not_count_gets_what_nobody_got(rig):
    session, holder = rig.ready()
    with rig.socket(session) as ws:
        greet(ws)
        holder.say("one")
        assert ws.recv(timeout=30) == "one"
    wait_until(lambda: rig.info(session)["state"] == "DETACHED")
    holder.say("two")
    with rig.socket(session) as ws:
        assert greet(ws) == {"type": "auth_ok"}
        assert ws.recv(timeout=30) == "two"
    # This client counts from its own first auth_ok: "two" is its first frame.
    holder.say("three")
    with rig.socket(session) as ws:
        assert greet(ws, received=1) == {"type": "auth_ok", "resumed": True, "from": 2}
        assert ws.recv(timeout=30) == "three"


def test_frames_that_are_no_longer_kept_are_counted(rig):
    session, holder = rig.ready()
    for i in range(10):
        holder.say(f"f{i + 1}")
    holder.forget_frames(6)
    with rig.socket(session) as ws:
        assert greet(ws, received=2) == {"type": "auth_ok", "resumed": True, "from": 3}
        assert json.loads(ws.recv(timeout=30)) == {"type": "replay_gap", "lost": 4}
        assert [ws.recv(timeout=30) for _ in range(4)] == ["f7", "f8", "f9", "f10"]
    with rig.socket(session) as ws:  # six got: the count of the client goes on without a jump
        assert greet(ws, received=6) == {"type": "auth_ok", "resumed": True, "from": 7}
        holder.say("f11")
        assert ws.recv(timeout=30) == "f11"
    with rig.socket(session) as ws:  # nobody can have got more than there was
        assert greet(ws, received=1000) == {"type": "auth_ok", "resumed": True, "from": 8}


def test_the_newest_connection_takes_over(rig):
    session, holder = rig.ready()
    with rig.socket(session) as one:
        greet(one)
        holder.say("a")
        assert one.recv(timeout=30) == "a"
        with rig.socket(session) as two:
            assert greet(two, received=1) == {"type": "auth_ok", "resumed": True, "from": 2}
            assert close_code(one) == (4409, [])
            assert rig.info(session)["state"] == "ATTACHED"
            two.send("hello")
            assert holder.heard.get(timeout=30) == "hello"
            holder.say("b")
            assert two.recv(timeout=30) == "b"


@pytest.mark.parametrize("reason, name, code, close", [
    (rig_module.EXITED, "exited", 3, 1000), (rig_module.MEMORY, "memory", 0, 1000), (rig_module.START_FAILED, "start-failed", 1, 1011),
])
def test_an_end_is_told_to_those_who_asked(rig, reason, name, code, close):
    for features in (["exit"], []):
        session, holder = rig.ready()
        with rig.socket(session) as ws:
            greet(ws, features=features)
            holder.say("last words")
            holder.end(reason, code)
            got, frames = close_code(ws)
            assert got == close
            assert frames[0] == "last words"
            assert [json.loads(f) for f in frames[1:]] == ([{"type": "exit", "reason": name, "code": code}] if features else [])
        wait_until(lambda: rig.is_gone(session))


def test_a_stopped_session_tells_its_browser_first(rig):
    session, holder = rig.ready()
    with rig.socket(session) as ws:
        greet(ws, features=["exit"])
        rig.end(session)
        assert holder.ends.get(timeout=30) == rig_module.STOPPED
        code, frames = close_code(ws)
        assert code == 1000 and json.loads(frames[0])["reason"] == "stopped"


def test_a_holder_that_cannot_say_good_bye_is_not_waited_for_long(rig):
    session, holder = rig.ready()
    holder.answers_end = False
    with rig.socket(session) as ws:
        greet(ws, features=["exit"])
        started = time.monotonic()
        rig.end(session)
        assert 2 < time.monotonic() - started < 15
        code, frames = close_code(ws)
        assert code == 1011 and [json.loads(f)["type"] for f in frames] == ["error", "exit"]
        assert json.loads(frames[1])["reason"] == "stopped"


@pytest.mark.parametrize("news_first", [True, False])
def test_a_killed_holder_is_told_with_its_reason(rig, news_first):
    for features in (["exit"], []):
        session, holder = rig.ready()
        with rig.socket(session) as ws:
            greet(ws, features=features)
            holder.say("last words")
            assert ws.recv(timeout=30) == "last words"
            for end in (holder.control, holder.attached) if news_first else (holder.attached, holder.control):
                with contextlib.suppress(OSError):  # the rig's launcher may have been told to stop it already
                    end.shutdown(socket.SHUT_RDWR)
            started = time.monotonic()
            code, frames = close_code(ws)
            assert code == 1011 and time.monotonic() - started < 15
            frames = [json.loads(f) for f in frames]
            assert frames[0]["type"] == "error"
            assert frames[1:] == ([{"type": "exit", "reason": "signaled", "code": 9}] if features else [])
        wait_until(lambda: rig.is_gone(session))
        assert rig.info(session)["reason"] == "signaled"


def test_a_conversation_lost_without_its_session_can_be_taken_up_again(rig):
    session, holder = rig.ready()
    with rig.socket(session) as ws:
        greet(ws, features=["exit"])
        holder.attached.shutdown(socket.SHUT_RDWR)
        assert refused(ws) == 1011
    with rig.socket(session) as ws:
        assert greet(ws, received=0) == {"type": "auth_ok", "resumed": True, "from": 1}


@pytest.mark.parametrize("kind, payload", [
    (rig_module.FRAME, b"short"), (rig_module.FRAME, bytes(8) + text("number zero")), (rig_module.PHASE, u8(2) + u8(0) + bytes(8)),
    (rig_module.ATTACHED, struct.pack("<QQ", 1, 0)),
])
def test_a_holder_that_talks_nonsense_loses_that_conversation(rig, kind, payload):
    session, holder = rig.ready()
    with rig.socket(session) as ws:
        greet(ws)
        send_message(holder.attached, kind, payload)
        assert refused(ws) == 1011


def test_a_silent_browser_is_pinged_and_a_dead_one_found():
    with Rig(PING_SECONDS="1") as rig:
        session, _ = rig.ready()
        with rig.socket(session) as alive:  # its library answers pings
            greet(alive)
            silent, _ = rig.ready()
            raw = raw_browser(rig, silent)
            buffered = bytearray()
            kinds = []
            with pytest.raises(AssertionError, match="closed"):
                while True:
                    kinds.append(read_raw_frame(raw, buffered)[0])
            assert kinds == [Opcode.TEXT, Opcode.PING, Opcode.PING, Opcode.PING]
            wait_until(lambda: rig.info(silent)["state"] == "DETACHED", what="the dead browser is let go")
            assert rig.info(session)["attached"]
            alive.send("still here")
            assert rig.launcher.holder(session).heard.get(timeout=30) == "still here"


# ---- browsers: flow ----


def test_a_browser_that_does_not_read_holds_its_agent_back_and_loses_nothing(rig):
    session, holder = rig.ready()
    raw = raw_browser(rig, session)
    wait_until(lambda: holder.attached, what="the browser is attached")
    total, said = 400, []

    def talk():
        for i in range(total):
            holder.say(f"{i:06}" + "z" * 65530)
            said.append(i)

    before = rss_mib(rig)
    thread = threading.Thread(target=talk, daemon=True)
    thread.start()
    wait_until(lambda: len(said) > 2, what="something was said")
    stuck = wait_still(lambda: len(said))
    assert stuck < 60  # the kernel's buffers and ours, not 26 MB
    assert rss_mib(rig) - before < 8
    other, other_holder = rig.ready("ip:192.0.2.1")
    with rig.socket(other, address="192.0.2.1") as ws:  # nobody else notices
        greet(ws)
        other_holder.say("quick")
        assert ws.recv(timeout=30) == "quick"
    buffered = bytearray()
    opcode, hello = read_raw_frame(raw, buffered)
    assert (opcode, json.loads(hello)) == (1, {"type": "auth_ok"})
    for i in range(total):
        opcode, data = read_raw_frame(raw, buffered)
        assert opcode == 1 and data[:6] == b"%06d" % i and len(data) == 65536
    thread.join(30)
    raw.close()


def test_a_holder_that_does_not_read_holds_its_browser_back_and_loses_nothing(rig):
    session, holder = rig.ready()
    total, sent = 400, []
    holder.reads.clear()
    before = rss_mib(rig)
    raw, buffered = raw_browser(rig, session), bytearray()
    assert json.loads(read_raw_frame(raw, buffered)[1]) == {"type": "auth_ok"}

    def talk():
        for i in range(total):
            raw.sendall(Frame(Opcode.TEXT, f"{i:06}".encode() + b"z" * 65530).serialize(mask=True))
            sent.append(i)

    thread = threading.Thread(target=talk, daemon=True)
    thread.start()
    wait_until(lambda: len(sent) > 2, what="something was sent")
    stuck = wait_still(lambda: len(sent))
    assert stuck < 60
    assert rss_mib(rig) - before < 8
    holder.say("the other way is open")
    assert read_raw_frame(raw, buffered) == (1, b"the other way is open")
    holder.reads.set()
    for i in range(total):
        assert holder.heard.get(timeout=30)[:6] == f"{i:06}"
    thread.join(30)
    assert not thread.is_alive()
    raw.close()


def test_a_stuck_browser_is_pushed_out_by_the_next(rig):
    session, holder = rig.ready()
    raw = raw_browser(rig, session)
    wait_until(lambda: holder.attached)
    said = []
    threading.Thread(target=lambda: [said.append(holder.say("q" * 65536)) for _ in range(100)], daemon=True).start()
    wait_until(lambda: len(said) > 2)
    assert wait_still(lambda: len(said)) < 100, "it is stuck"
    with rig.socket(session) as ws:
        greet(ws, received=0)
        for _ in range(100):
            assert len(ws.recv(timeout=30)) == 65536
        started = time.monotonic()
        try:
            while raw.recv(65536):
                pass
        except OSError:
            pass
        assert time.monotonic() - started < 25
    raw.close()


def test_the_memory_of_large_frames_comes_back(rig):
    session, holder = rig.ready()
    with rig.socket(session) as ws:
        greet(ws)
        before = rss_mib(rig)
        for _ in range(5):
            ws.send("x" * (16 * MIB))
            holder.heard.get(timeout=30)
            holder.say("y" * (16 * MIB))
            ws.recv(timeout=30)
        ws.send("small")
        holder.heard.get(timeout=30)
        holder.say("small")
        ws.recv(timeout=30)
        if "asan" not in str(rig_module.PROGRAM):
            assert rss_mib(rig) - before < 6


def test_sessions_come_and_go_and_leave_nothing(rig):
    def count():
        return len(os.listdir(f"/proc/{rig.process.pid}/fd"))

    def once():
        session, holder = rig.ready()
        with rig.socket(session) as ws:
            greet(ws)
            holder.say("x")
            ws.recv(timeout=30)
            if len(rig.launcher.starts) % 2:
                holder.end(rig_module.EXITED)
                close_code(ws)
            else:
                rig.end(session)
        wait_until(lambda: rig.is_gone(session))

    for _ in range(5):
        once()
    fds, rss = wait_still(count), rss_mib(rig)
    for _ in range(60):
        once()
    wait_until(lambda: count() <= fds, what="no descriptor is left")
    assert rss_mib(rig) - rss < 2 or "asan" in str(rig_module.PROGRAM)


def test_many_idle_browsers_are_cheap():
    with Rig(slots=500) as rig:
        before = rss_mib(rig)
        sockets, sessions = [], []
        for i in range(500):
            session = rig.create()
            sessions.append(session)
            raw = raw_browser(rig, session)
            sockets.append(raw)
        for raw in sockets:
            assert json.loads(read_raw_frame(raw, bytearray())[1]) == {"type": "auth_ok"}
        if "asan" not in str(rig_module.PROGRAM):
            assert (rss_mib(rig) - before) * 1024 / 500 < 10  # KiB for each session and its browser
        holder = rig.launcher.holder(sessions[250])
        started = time.monotonic()
        for i in range(200):
            holder.say(str(i))
            assert read_raw_frame(sockets[250], bytearray())[1] == str(i).encode()
        assert time.monotonic() - started < 15
        cpu = open(f"/proc/{rig.process.pid}/stat").read().split()[13:15]
        time.sleep(1)
        idle = sum(map(int, open(f"/proc/{rig.process.pid}/stat").read().split()[13:15])) - sum(map(int, cpu))
        assert idle <= 2  # clock ticks of 10 ms
        for raw in sockets:
            raw.close()
