"""agentsim-supervisor alone, between stand-ins of its neighbours (tests/support/supervisor_rig.py)."""
import json
import os
import signal
import socket
import struct
import threading
import time
import uuid

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.frames import Frame, Opcode

from tests.support import supervisor_rig as rig_module
from tests.support.supervisor_rig import Failed, Rig, recv_message, send_message, text, u8, u32, wait_until

ME = "ip:127.0.0.1"
HELLO = {"type": "auth", "githubSession": ""}
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
        shared = request.getfixturevalue("rig")
        _, fields, _ = shared.ask(rig_module.LIST)
        for _ in range(fields.number("I")):
            session = fields.session()
            shared.end(uuid.UUID(session["id"]), session["actor"])
        wait_until(lambda: shared.health()["sessions"] == 0, what="no session is left")


def greet(ws, **more):
    ws.send(json.dumps({**HELLO, **more}))
    return json.loads(ws.recv(timeout=10))


def close_code(ws, seconds=20):
    """Reads on until the close; the code, and the frames before it."""
    frames = []
    with pytest.raises(ConnectionClosed) as closed:
        while True:
            frames.append(ws.recv(timeout=seconds))
    return (closed.value.rcvd.code if closed.value.rcvd else 1006), frames


def refused(ws):
    """The one error frame, then the code."""
    code, frames = close_code(ws)
    assert len(frames) == 1, frames
    frame = json.loads(frames[0])
    assert frame["type"] == "error" and frame["message"]
    return code


def failure(rig, *args):
    with pytest.raises(Failed) as failed:
        rig.ask(*args)
    return failed.value


# ---- workers ----


def test_a_session_starts_and_its_creator_talks_to_the_holder_directly(rig):
    session = uuid.uuid4()
    _, fields, sock = rig.ask(rig_module.CREATE, session.bytes + text(ME) + u32(0), rig_module.CREATED)
    assert fields.number("I") == 8765
    holder = rig.launcher.holder(session)
    send_message(sock, 32, b"bundle")  # a blocking write on a blocking socket
    assert sock.getblocking()
    assert holder.others.get(timeout=5) == (32, b"bundle")
    holder.claimed.wait(5)
    assert holder.actor == ME
    assert 890_000 < holder.expires - int(time.time() * 1000) < 901_000
    info = rig.info(session)
    assert info["state"] == "STARTING" and info["id"] == str(session) and info["reason"] == "" and not info["attached"]
    assert info["expires"] - info["started"] == 900_000
    holder.phase(rig_module.READY)
    wait_until(lambda: rig.info(session)["state"] == "READY")


def test_an_id_is_used_once(rig):
    session = rig.create()
    assert failure(rig, rig_module.CREATE, session.bytes + text(ME) + u32(0)).kind == rig_module.CONFLICT
    rig.end(session)
    rig.create(session=session)


def test_a_session_of_somebody_else_is_as_unknown_as_none(rig):
    session = rig.create("ip:192.0.2.1")
    answers = set()
    for kind in (rig_module.INFO, rig_module.OPEN, rig_module.END):
        for asked in (session, uuid.uuid4()):
            failed = failure(rig, kind, asked.bytes + text(ME))
            answers.add((failed.kind, failed.sentence))
    assert len(answers) == 1 and answers.pop()[0] == rig_module.NOT_FOUND
    assert rig.info(session, "ip:192.0.2.1")["actor"] == "ip:192.0.2.1"


def test_files_are_fetched_over_a_connection_of_the_workers_own(rig):
    session, holder = rig.ready()
    _, _, sock = rig.ask(rig_module.OPEN, session.bytes + text(ME), rig_module.OK)
    send_message(sock, 96, struct.pack("<Q", 512))
    assert holder.others.get(timeout=5)[0] == 96


def test_an_end_is_answered_when_nothing_is_left(rig):
    session, _ = rig.ready()
    rig.launcher.keeps_cleaning = True
    try:
        done = threading.Event()
        threading.Thread(target=lambda: (rig.end(session), done.set()), daemon=True).start()
        slot = rig.info(session)["slot"]
        wait_until(lambda: slot in rig.launcher.stops)
        assert not done.wait(0.2)
        assert rig.info(session)["state"] == "STOPPING"
    finally:
        rig.launcher.keeps_cleaning = False
    rig.launcher._stop(slot)
    assert done.wait(5)
    assert rig.is_gone(session)


def test_a_start_that_fails_is_told_and_costs_no_slot(rig):
    rig.launcher.start_errno = 12
    try:
        for _ in range(10):
            failed = failure(rig, rig_module.CREATE, uuid.uuid4().bytes + text(ME) + u32(0))
            assert failed.kind == rig_module.INTERNAL and "Cannot allocate memory" in failed.sentence
    finally:
        rig.launcher.start_errno = 0
    for _ in range(4):
        rig.create()


def test_a_worker_that_dies_while_it_waits_leaves_no_session(rig):
    session = uuid.uuid4()
    rig.launcher.keeps_starting = True
    with rig.connect() as sock:
        send_message(sock, rig_module.CREATE, session.bytes + text(ME) + u32(0))
        slot = wait_until(lambda: next((s for s, i in rig.launcher.starts if i == session), None) is not None and
                          [s for s, i in rig.launcher.starts if i == session])[0]
    rig.launcher.keeps_starting = False
    time.sleep(0.05)  # lets the supervisor read the end of that connection before the start
    rig.launcher._start(slot, session)
    wait_until(lambda: rig.is_gone(session), what="the orphan is gone")
    assert slot in rig.launcher.stops


def test_a_holder_that_ends_takes_its_session_along(rig):
    session, holder = rig.ready()
    rig.launcher.tell(rig_module.L_EXITED, rig.info(session)["slot"], value=9, session=holder.session)
    wait_until(lambda: rig.is_gone(session))


def test_an_agent_that_ends_is_reported_until_its_holder_is_done(rig):
    session, holder = rig.ready()
    holder.end(rig_module.SIGNALED, 9, done=False)
    info = wait_until(lambda: (i := rig.info(session))["reason"] and i)
    assert (info["reason"], info["code"]) == ("signaled", 9)
    send_message(holder.control, rig_module.DONE)
    wait_until(lambda: rig.is_gone(session))


@pytest.mark.parametrize("kind, payload", [
    (rig_module.PHASE, b""), (rig_module.PHASE, u8(9) + u8(0) + bytes(8)), (rig_module.GONE, u8(0) + bytes(4)),
    (rig_module.FRAME, bytes(20)), (999, b""), (rig_module.IDENTITY, b"x" * 3000),
])
def test_a_holder_that_talks_nonsense_loses_its_session(rig, kind, payload):
    session, holder = rig.ready()
    other, _ = rig.ready()
    send_message(holder.control, kind, payload)
    wait_until(lambda: rig.is_gone(session))
    assert rig.info(other)["state"] == "READY"


def test_a_holder_cannot_make_us_allocate_what_it_announces(rig):
    session, holder = rig.ready()
    holder.control.sendall(struct.pack("<IHH", 2**31, rig_module.PHASE, 0) + b"x" * 100)
    wait_until(lambda: rig.is_gone(session))


@pytest.mark.parametrize("kind, payload", [
    (0, b""), (7777, b""), (rig_module.CREATE, b""), (rig_module.CREATE, bytes(16) + text(ME) + u32(64)),
    (rig_module.INFO, bytes(16) + text("")), (rig_module.HEALTH, b"x"), (rig_module.ADMIT, text("x" * 200) + u32(1)),
])
def test_a_malformed_request_is_refused(rig, kind, payload):
    assert failure(rig, kind, payload).kind == rig_module.BAD_REQUEST


def test_an_oversized_request_ends_the_connection(rig):
    with rig.connect() as sock:
        sock.sendall(struct.pack("<IHH", 1 << 30, rig_module.CREATE, 0))
        assert sock.recv(1) == b""


def test_stuck_workers_do_not_keep_others_out(rig):
    stuck = [rig.connect() for _ in range(200)]
    assert rig.health()["sandbox"] == "ok"
    for sock in stuck:
        sock.close()


def test_too_many_workers_wait_until_the_stuck_ones_time_out(rig):
    stuck = [rig.connect() for _ in range(256)]
    started = time.monotonic()
    assert rig.health()["sandbox"] == "ok"
    assert 5 < time.monotonic() - started < 15
    for sock in stuck:
        sock.close()


def test_the_list_names_every_session(rig):
    sessions = {str(rig.create(f"ip:192.0.2.{i}")): f"ip:192.0.2.{i}" for i in range(3)}
    _, fields, _ = rig.ask(rig_module.LIST, want=rig_module.SESSIONS)
    listed = [fields.session() for _ in range(fields.number("I"))]
    assert {s["id"]: s["actor"] for s in listed} == sessions
    assert rig.health()["sessions"] == 3 and rig.health()["capacity"] == 4


def test_a_full_service_refuses_and_recovers(rig):
    sessions = [rig.create() for _ in range(4)]
    failed = failure(rig, rig_module.CREATE, uuid.uuid4().bytes + text("ip:192.0.2.9") + u32(0))
    assert failed.kind == rig_module.LIMIT
    rig.end(sessions[0])
    rig.create("ip:192.0.2.9")


def test_the_rate_is_one_for_workers_and_browsers():
    with Rig(RATE_LIMIT_MAX_REQUESTS="3", RATE_LIMIT_WINDOW_SECONDS="3600") as rig:
        session, _ = rig.ready()
        for _ in range(2):
            rig.ask(rig_module.ADMIT, text(ME) + u32(rig_module.RATE), rig_module.OK)
        with rig.socket(session) as ws:
            assert greet(ws) == {"type": "auth_ok"}
        failed = failure(rig, rig_module.ADMIT, text(ME) + u32(rig_module.RATE))
        assert failed.kind == rig_module.LIMIT and 3590 < failed.wait <= 3600
        with rig.socket(session) as ws:
            ws.send(json.dumps(HELLO))
            assert refused(ws) == 4429
        rig.ask(rig_module.ADMIT, text("ip:192.0.2.7") + u32(rig_module.RATE), rig_module.OK)
        rig.ask(rig_module.ADMIT, text(ME) + u32(rig_module.CAP), rig_module.OK)
        with rig.socket(session, address="192.0.2.8") as ws:  # somebody else: in time, but not theirs
            ws.send(json.dumps(HELLO))
            assert refused(ws) == 4404


def test_an_owner_at_the_cap_is_refused_unless_a_session_was_left():
    with Rig(MAX_SESSIONS_PER_ACTOR="1") as rig:
        session, holder = rig.ready()
        for kind, payload in ((rig_module.ADMIT, text(ME) + u32(rig_module.CAP)),
                              (rig_module.CREATE, uuid.uuid4().bytes + text(ME) + u32(0))):
            assert failure(rig, kind, payload).kind == rig_module.LIMIT
        rig.create("ip:192.0.2.1")
        with rig.socket(session) as ws:
            greet(ws)
            assert failure(rig, rig_module.ADMIT, text(ME) + u32(rig_module.CAP)).kind == rig_module.LIMIT
        wait_until(lambda: rig.info(session)["state"] == "DETACHED")
        rig.ask(rig_module.ADMIT, text(ME) + u32(rig_module.CAP), rig_module.OK)
        second = rig.create()
        assert rig.is_gone(session) and rig.info(second)["state"] == "STARTING"
        assert [rig.create(internal=True, actor="internal") for _ in range(2)]  # no cap on that surface


def test_a_processes_that_cannot_be_killed_cost_their_slot_only():
    with Rig(slots=2) as rig:
        session, holder = rig.ready()
        slot = rig.info(session)["slot"]
        rig.launcher.keeps_cleaning = True
        ended = []
        thread = threading.Thread(target=lambda: ended.append(failure(rig, rig_module.END, session.bytes + text(ME))))
        thread.start()
        wait_until(lambda: slot in rig.launcher.stops)
        rig.launcher.keeps_cleaning = False
        rig.launcher.tell(rig_module.L_QUARANTINED, slot, value=2)
        thread.join(5)
        assert ended[0].kind == rig_module.INTERNAL
        assert rig.health()["quarantined"] == 1 and rig.is_gone(session)
        assert "quarantined" in rig.log_text()
        rig.create()
        assert failure(rig, rig_module.CREATE, uuid.uuid4().bytes + text(ME) + u32(0)).kind == rig_module.LIMIT
        rig.launcher._stop(slot)  # later it worked
        wait_until(lambda: rig.health()["quarantined"] == 0)
        rig.create()


def test_a_session_past_its_lifetime_is_ended_even_if_its_holder_forgot():
    with Rig(SESSION_LIFETIME_SECONDS="1") as rig:
        session, holder = rig.ready()
        holder.answers_end = False
        with rig.socket(session) as ws:
            greet(ws)
            assert holder.ends.get(timeout=15) == rig_module.EXPIRED
            wait_until(lambda: rig.is_gone(session), 15)
            assert close_code(ws)[0] == 1011  # this holder said nothing


# ---- launcher and self-test ----


def test_no_session_before_the_sandbox_is_proven():
    with Rig(ready=False) as rig:
        wait_until(lambda: rig.health()["sandbox"] == "ok")
        # The first start of all was the self-test's, under an id of its own, and it was cleared away.
        slot, _ = rig.launcher.starts[0]
        assert rig.launcher.stops == [slot]
        rig.launcher.probe_answer = u8(0) + text("unprivileged user namespaces are off")
        rig.launcher.drop()  # the channel breaks: everything has to be proven again
        wait_until(lambda: rig.health()["sandbox"] == "unavailable: unprivileged user namespaces are off")
        failed = failure(rig, rig_module.CREATE, uuid.uuid4().bytes + text(ME) + u32(0))
        assert failed.kind == rig_module.UNAVAILABLE and "unprivileged user namespaces are off" in failed.sentence
        rig.launcher.probe_answer = u8(1) + text("")
        rig.launcher.drop()
        wait_until(lambda: rig.health()["sandbox"] == "ok")
        rig.create()


def test_without_a_sandbox_there_is_no_self_test_but_a_warning():
    with Rig(ready=False, SANDBOX="off") as rig:
        assert rig.health()["sandbox"] == "off"
        wait_until(lambda: "launcher: connected" in rig.log_text())
        assert rig.launcher.starts == [] and "UNCONFINED" in rig.log_text()
        session = uuid.uuid4()
        _, fields, _ = rig.ask(rig_module.CREATE, session.bytes + text(ME) + u32(0), rig_module.CREATED)
        assert fields.number("I") == 7700 + rig.info(session)["slot"]  # one network for all: a port for each


def test_a_broken_channel_costs_no_session():
    with Rig() as rig:
        session, holder = rig.ready()
        with rig.socket(session) as ws:
            greet(ws)
            rig.launcher.drop()
            wait_until(lambda: rig.log_text().count("launcher: connected") == 2)
            holder.say("still here")
            assert ws.recv(timeout=5) == "still here"
            assert rig.info(session)["state"] == "ATTACHED"
        rig.end(session)


def test_a_dead_launcher_ends_its_sessions_and_service_resumes():
    with Rig() as rig:
        session, _ = rig.ready()
        with rig.socket(session) as ws:
            greet(ws)
            rig.launcher.die()
            assert close_code(ws)[0] == 1011
        assert failure(rig, rig_module.CREATE, uuid.uuid4().bytes + text(ME) + u32(0)).kind == rig_module.UNAVAILABLE
        assert rig.health()["sandbox"].startswith("unavailable")
        rig.launcher.open()
        wait_until(lambda: rig.health()["sandbox"] == "ok")
        assert rig.is_gone(session)
        rig.create()


def test_a_launcher_that_talks_nonsense_is_not_listened_to():
    with Rig() as rig:
        session, _ = rig.ready()
        rig.launcher.sock.send(b"short")
        wait_until(lambda: rig.log_text().count("launcher: connected") == 2)
        rig.launcher.tell(rig_module.L_CLEAN, 99)
        wait_until(lambda: rig.log_text().count("launcher: connected") == 3)
        assert rig.info(session)["state"] == "READY"


# ---- restarts of our own ----


def test_a_killed_supervisor_finds_its_sessions_again():
    with Rig() as rig:
        session, holder = rig.ready()
        starting = rig.create("ip:192.0.2.1")
        with rig.socket(session) as ws:
            greet(ws)
            holder.say("one")
            assert ws.recv(timeout=5) == "one"
            before = rig.info(session)
            rig.kill()
            close_code(ws)
        holder.say("two")
        rig.start()
        after = wait_until(lambda: (i := rig.info(session))["state"] == "DETACHED" and i)
        for field in ("id", "actor", "started", "slot"):
            assert after[field] == before[field]
        assert abs(after["expires"] - before["expires"]) < 1000
        assert rig.info(starting, "ip:192.0.2.1")["state"] == "STARTING"
        with rig.socket(session) as ws:
            assert greet(ws, received=1) == {"type": "auth_ok", "resumed": True, "from": 2}
            assert ws.recv(timeout=5) == "two"
        assert len(rig.launcher.holders) == 2
        rig.end(session)
        rig.end(starting, "ip:192.0.2.1")


def test_what_cannot_be_found_again_is_stopped():
    with Rig() as rig:
        lost, liar, silent = [rig.ready() for _ in range(3)]
        rig.kill()
        lost[1].close()
        liar[1].claims = uuid.uuid4()
        silent[1].actor = ""
        rig.start()
        wait_until(lambda: len(rig.launcher.holders) == 0, what="all three are stopped")
        assert rig.health()["sessions"] == 0 and rig.is_gone(liar[0])


def test_a_stop_sends_browsers_away_to_come_back_and_leaves_sessions_alone():
    with Rig() as rig:
        session, holder = rig.ready()
        with rig.socket(session) as ws, rig.socket(session) as undecided:
            greet(ws)
            rig.process.send_signal(signal.SIGTERM)
            assert close_code(ws)[0] == 1012
            assert close_code(undecided)[0] == 1012
        assert rig.process.wait(10) == 0
        assert rig.launcher.stops == [0] and holder.ends.empty()  # only the self-test's slot was ever cleared
        rig.start()
        assert wait_until(lambda: rig.info(session)["state"] == "DETACHED")
        with rig.socket(session) as ws:
            assert greet(ws) == {"type": "auth_ok"}


def test_a_stop_does_not_wait_for_a_browser_that_is_stuck():
    with Rig() as rig:
        session, holder = rig.ready()
        raw = raw_browser(rig, session)
        wait_until(lambda: holder.attached)
        threading.Thread(target=lambda: [holder.say("x" * 100_000) for _ in range(100)], daemon=True).start()
        wait_until(lambda: len(holder.frames) > 5)
        time.sleep(0.2)
        started = time.monotonic()
        rig.process.send_signal(signal.SIGTERM)
        assert rig.process.wait(10) == 0
        assert time.monotonic() - started < 6
        raw.close()


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
        assert json.loads(ws.recv(timeout=5)) == {"type": "auth_ok"}


def test_a_late_first_frame_is_refused(rig):
    session, _ = rig.ready()
    with rig.socket(session) as ws:
        started = time.monotonic()
        assert refused(ws) == 4401
        assert 9 < time.monotonic() - started < 12


def test_ids_and_owners(rig):
    session, _ = rig.ready()
    for wrong in ("x", "0", str(session)[:-1], str(session) + "0", "{" + str(session) + "}"):
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
        assert time.monotonic() - started < 12
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
            raw.settimeout(15)
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
        raw.settimeout(15)
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
        assert ws.recv(timeout=5) == "before"  # no auth frame, no auth_ok
        ws.send("user words")
        assert holder.heard.get(timeout=5) == "user words"
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
        assert [ws.recv(timeout=5) for _ in ours] == ours
        for frame in ours:
            ws.send(frame)
        assert [holder.heard.get(timeout=5) for _ in ours] == ours
        info = rig.info(session)
        assert info["state"] == "ATTACHED" and info["attached"] and info["frames"] == 500


def test_a_message_in_fragments_is_one_message(rig):
    session, holder = rig.ready()
    with rig.socket(session) as ws:
        greet(ws)
        ws.send(iter(["a", "", "b" * 70000, "", "ü"]))
        assert holder.heard.get(timeout=5) == "a" + "b" * 70000 + "ü"
        ws.send("")
        assert holder.heard.get(timeout=5) == ""
        assert ws.ping().wait(5)
        ws.send("after")
        assert holder.heard.get(timeout=5) == "after"


@pytest.mark.parametrize("size", [125, 126, 65535, 65536, 1 * MIB, 16 * MIB])
def test_frames_of_every_size_pass(rig, size):
    session, holder = rig.ready()
    with rig.socket(session) as ws:
        greet(ws)
        ws.send("x" * size)
        assert holder.heard.get(timeout=20) == "x" * size
        holder.say("y" * size)
        assert ws.recv(timeout=20) == "y" * size


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
        assert holder.heard.get(timeout=5) == "fine"
        assert holder.heard.empty()


def test_output_before_the_first_browser_is_delivered(rig):
    session, holder = rig.ready()
    for i in range(3):
        holder.say(f"early {i}")
    with rig.socket(session) as ws:
        assert greet(ws) == {"type": "auth_ok"}
        assert [ws.recv(timeout=5) for _ in range(3)] == ["early 0", "early 1", "early 2"]


def test_a_browser_may_come_before_the_agent_is_ready(rig):
    session = rig.create()
    holder = rig.launcher.holder(session)
    with rig.socket(session) as ws:
        assert greet(ws) == {"type": "auth_ok"}
        holder.say("starting up")
        assert ws.recv(timeout=5) == "starting up"
        holder.phase(rig_module.READY)
        assert rig.info(session)["state"] == "ATTACHED"


def test_a_client_that_counts_gets_exactly_the_rest(rig):
    session, holder = rig.ready()
    for i in range(10):
        holder.say(f"f{i + 1}")
    with rig.socket(session) as ws:
        greet(ws)
        for i in range(10):
            ws.recv(timeout=5)
    for got in (10, 7, 0):
        with rig.socket(session) as ws:
            assert greet(ws, received=got) == {"type": "auth_ok", "resumed": True, "from": got + 1}
            assert [ws.recv(timeout=5) for _ in range(10 - got)] == [f"f{i}" for i in range(got + 1, 11)]
            with pytest.raises(TimeoutError):
                ws.recv(timeout=0.05)


def test_a_client_that_does_not_count_gets_what_nobody_got(rig):
    session, holder = rig.ready()
    with rig.socket(session) as ws:
        greet(ws)
        holder.say("one")
        assert ws.recv(timeout=5) == "one"
    wait_until(lambda: rig.info(session)["state"] == "DETACHED")
    holder.say("two")
    with rig.socket(session) as ws:
        assert greet(ws) == {"type": "auth_ok"}
        assert ws.recv(timeout=5) == "two"
    # This client counts from its own first auth_ok: "two" is its first frame.
    holder.say("three")
    with rig.socket(session) as ws:
        assert greet(ws, received=1) == {"type": "auth_ok", "resumed": True, "from": 2}
        assert ws.recv(timeout=5) == "three"


def test_frames_that_are_no_longer_kept_are_counted(rig):
    session, holder = rig.ready()
    for i in range(10):
        holder.say(f"f{i + 1}")
    holder.forget_frames(6)
    with rig.socket(session) as ws:
        assert greet(ws, received=2) == {"type": "auth_ok", "resumed": True, "from": 3}
        assert json.loads(ws.recv(timeout=5)) == {"type": "replay_gap", "lost": 4}
        assert [ws.recv(timeout=5) for _ in range(4)] == ["f7", "f8", "f9", "f10"]


def test_the_newest_connection_takes_over(rig):
    session, holder = rig.ready()
    with rig.socket(session) as one:
        greet(one)
        holder.say("a")
        assert one.recv(timeout=5) == "a"
        with rig.socket(session) as two:
            assert greet(two, received=1) == {"type": "auth_ok", "resumed": True, "from": 2}
            assert close_code(one) == (4409, [])
            assert rig.info(session)["state"] == "ATTACHED"
            two.send("hello")
            assert holder.heard.get(timeout=5) == "hello"
            holder.say("b")
            assert two.recv(timeout=5) == "b"


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
        assert holder.ends.get(timeout=5) == rig_module.STOPPED
        code, frames = close_code(ws)
        assert code == 1000 and json.loads(frames[0])["reason"] == "stopped"


def test_a_holder_that_cannot_say_good_bye_is_not_waited_for_long(rig):
    session, holder = rig.ready()
    holder.answers_end = False
    with rig.socket(session) as ws:
        greet(ws, features=["exit"])
        started = time.monotonic()
        rig.end(session)
        assert 2 < time.monotonic() - started < 6
        assert refused(ws) == 1011


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


# ---- browsers: flow ----


def raw_browser(rig, session):
    """A browser that shook hands and signed in, as a bare socket that reads only when told."""
    raw = socket.socket(socket.AF_UNIX)
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    raw.settimeout(30)
    raw.connect(str(rig.dir / "ws.sock"))
    raw.sendall(f"GET /besser_api/simulation/{session}/ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\nX-Real-IP: 127.0.0.1\r\n\r\n".encode())
    answer = b""
    while b"\r\n\r\n" not in answer:
        answer += raw.recv(1)
    raw.sendall(Frame(Opcode.TEXT, json.dumps(HELLO).encode()).serialize(mask=True))
    return raw


def read_raw_frame(raw, buffered):
    def need(n):
        while len(buffered) < n:
            part = raw.recv(65536)
            assert part, "closed"
            buffered.extend(part)
        data = bytes(buffered[:n])
        del buffered[:n]
        return data

    first, length = need(2)
    if length == 126:
        length = struct.unpack("!H", need(2))[0]
    elif length == 127:
        length = struct.unpack("!Q", need(8))[0]
    return first & 15, need(length)


def rss_mib(rig):
    for line in open(f"/proc/{rig.process.pid}/status"):
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024


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
    stuck = -1
    while stuck != len(said):  # until nothing moves any more
        stuck = len(said)
        time.sleep(0.3)
    assert stuck < 60  # the kernel's buffers and ours, not 26 MB
    assert rss_mib(rig) - before < 8
    other, other_holder = rig.ready("ip:192.0.2.1")
    with rig.socket(other, address="192.0.2.1") as ws:  # nobody else notices
        greet(ws)
        other_holder.say("quick")
        assert ws.recv(timeout=1) == "quick"
    buffered = bytearray()
    opcode, hello = read_raw_frame(raw, buffered)
    assert (opcode, json.loads(hello)) == (1, {"type": "auth_ok"})
    for i in range(total):
        opcode, data = read_raw_frame(raw, buffered)
        assert opcode == 1 and data[:6] == b"%06d" % i and len(data) == 65536
    thread.join(5)
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
    stuck = -1
    while stuck != len(sent):  # until nothing moves any more
        stuck = len(sent)
        time.sleep(0.3)
    assert stuck < 60
    assert rss_mib(rig) - before < 8
    holder.say("the other way is open")
    assert read_raw_frame(raw, buffered) == (1, b"the other way is open")
    holder.reads.set()
    for i in range(total):
        assert holder.heard.get(timeout=10)[:6] == f"{i:06}"
    thread.join(5)
    assert not thread.is_alive()
    raw.close()


def test_a_stuck_browser_is_pushed_out_by_the_next(rig):
    session, holder = rig.ready()
    raw = raw_browser(rig, session)
    wait_until(lambda: holder.attached)
    threading.Thread(target=lambda: [holder.say("q" * 65536) for _ in range(100)], daemon=True).start()
    time.sleep(0.3)
    with rig.socket(session) as ws:
        greet(ws, received=0)
        for _ in range(100):
            assert len(ws.recv(timeout=10)) == 65536
        started = time.monotonic()
        try:
            while raw.recv(65536):
                pass
        except OSError:
            pass
        assert time.monotonic() - started < 15
    raw.close()


def test_the_memory_of_large_frames_comes_back(rig):
    session, holder = rig.ready()
    with rig.socket(session) as ws:
        greet(ws)
        before = rss_mib(rig)
        for _ in range(5):
            ws.send("x" * (16 * MIB))
            holder.heard.get(timeout=20)
            holder.say("y" * (16 * MIB))
            ws.recv(timeout=20)
        ws.send("small")
        holder.heard.get(timeout=5)
        holder.say("small")
        ws.recv(timeout=5)
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
            ws.recv(timeout=5)
            if len(rig.launcher.starts) % 2:
                holder.end(rig_module.EXITED)
                close_code(ws)
            else:
                rig.end(session)
        wait_until(lambda: rig.is_gone(session))

    for _ in range(5):
        once()
    fds, rss = count(), rss_mib(rig)
    for _ in range(60):
        once()
    wait_until(lambda: count() == fds, what="no descriptor is left")
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
            assert (rss_mib(rig) - before) * 1024 / 500 < 16  # KiB for each session and its browser
        holder = rig.launcher.holder(sessions[250])
        started = time.monotonic()
        for i in range(200):
            holder.say(str(i))
            assert read_raw_frame(sockets[250], bytearray())[1] == str(i).encode()
        assert time.monotonic() - started < 2
        cpu = open(f"/proc/{rig.process.pid}/stat").read().split()[13:15]
        time.sleep(1)
        idle = sum(map(int, open(f"/proc/{rig.process.pid}/stat").read().split()[13:15])) - sum(map(int, cpu))
        assert idle <= 2  # clock ticks of 10 ms
        for raw in sockets:
            raw.close()
