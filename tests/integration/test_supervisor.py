"""agentsim-supervisor between stand-ins: workers, the the launcher and holders."""
import json
import os
import re
import select
import signal
import struct
import threading
import time
import uuid

import pytest

from tests.support import supervisor_rig as rig_module
from tests.support.supervisor_rig import HELLO, Rig, close_code, failure, greet, refused, send_message, text, u8, u32, wait_until

ME = "ip:127.0.0.1"


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


# ---- workers ----


def test_a_session_starts_and_its_creator_talks_to_the_holder_directly(rig):
    session = uuid.uuid4()
    _, fields, sock = rig.ask(rig_module.CREATE, session.bytes + text(ME) + u32(0), rig_module.CREATED)
    assert fields.number("I") == 8765
    holder = rig.launcher.holder(session)
    send_message(sock, 32, b"bundle")  # a blocking write on a blocking socket
    assert sock.getblocking()
    assert holder.others.get(timeout=30) == (32, b"bundle")
    assert holder.claimed.wait(30)
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
    assert holder.others.get(timeout=30)[0] == 96


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
    assert done.wait(30)
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
    rig.health()  # a turn of its loop, in which it reads the end of that connection: before the start
    rig.launcher._start(slot, session)
    wait_until(lambda: rig.is_gone(session), what="the orphan is gone")
    assert slot in rig.launcher.stops


def test_a_holder_that_ends_takes_its_session_along(rig):
    session, holder = rig.ready()
    rig.launcher.tell(rig_module.L_EXITED, rig.info(session)["slot"], value=9, session=holder.session)
    wait_until(lambda: rig.is_gone(session))


def test_a_slot_that_is_told_clean_twice_keeps_who_has_it_now():
    """The launcher clears a slot by itself, a stop crosses with that and is answered too, in a slot that is used again."""
    with Rig(slots=1) as one:
        first, _ = one.ready()
        one.launcher.keeps_cleaning = True
        stops = len(one.launcher.stops)
        one.launcher.holders.pop(0).close()
        wait_until(lambda: len(one.launcher.stops) > stops, what="the stop that crosses")
        one.launcher.tell(rig_module.L_CLEAN, 0, session=first)
        second, _ = one.ready()
        one.launcher.tell(rig_module.L_CLEAN, 0)
        for _ in range(3):  # each a turn of its loop
            assert one.health()["sessions"] == 1
        assert one.info(second)["state"] == "READY"
        assert failure(one, rig_module.CREATE, uuid.uuid4().bytes + text("ip:192.0.2.7") + u32(0)).kind == rig_module.LIMIT
        one.launcher.keeps_cleaning = False
        one.end(second)


def test_an_agent_that_ends_is_reported_until_its_holder_is_done(rig):
    session, holder = rig.ready()
    holder.end(rig_module.SIGNALED, 9, done=False)
    info = wait_until(lambda: (i := rig.info(session))["reason"] and i)
    assert (info["reason"], info["code"]) == ("signaled", 9)
    send_message(holder.control, rig_module.DONE)
    wait_until(lambda: rig.is_gone(session))
    info = rig.info(session)  # and after it, to its owner
    assert (info["state"], info["reason"], info["code"], info["attached"]) == ("GONE", "signaled", 9, False)
    assert failure(rig, rig_module.INFO, session.bytes + text("ip:192.0.2.7")).kind == rig_module.NOT_FOUND
    for kind in (rig_module.OPEN, rig_module.END):
        assert failure(rig, kind, session.bytes + text(ME)).kind == rig_module.NOT_FOUND


class Asking:
    """A request that waits for a place."""

    def __init__(self, rig, actor, seconds):
        self.id, self.actor, self.sock = uuid.uuid4(), actor, rig.connect()
        send_message(self.sock, rig_module.QUEUE, self.id.bytes + text(actor) + u32(seconds))

    def answer(self):
        fds = []
        kind, payload = rig_module.recv_message(self.sock, fds)
        for fd in fds:
            os.close(fd)
        self.sock.close()
        return kind, rig_module.Fields(payload)


def waiting(rig):
    page = rig.ask(rig_module.METRICS)[1].text()
    return int(re.search(r"^agentsim_queue_length (\d+)", page, re.M).group(1))


def queue_up(rig, actors, seconds=60):
    asking = []
    for actor in actors:
        asking.append(Asking(rig, actor, seconds))
        wait_until(lambda: waiting(rig) == len(asking), what="it is in the queue")
    return asking


def test_who_waits_gets_the_next_place_and_owners_take_turns(rig):
    sessions = [rig.ready("ip:192.0.2.1")[0] for _ in range(4)]
    many, one = "ip:192.0.2.2", "ip:192.0.2.3"
    asking = queue_up(rig, [many, many, one])
    refused = failure(rig, rig_module.CREATE, uuid.uuid4().bytes + text(ME) + u32(0))  # who does not wait overtakes nobody
    assert refused.kind == rig_module.LIMIT and refused.wait >= 1
    for session, who in zip(sessions, (0, 2, 1)):
        rig.end(session, "ip:192.0.2.1")
        assert asking[who].answer()[0] == rig_module.CREATED
        assert rig.info(asking[who].id, asking[who].actor)["state"] == "STARTING"
    assert waiting(rig) == 0


def test_a_wait_that_ends_in_vain_tells_where_one_stood_and_how_long_it_takes(rig):
    holders = [rig.ready("ip:192.0.2.1")[1] for _ in range(4)]
    patient = queue_up(rig, ["ip:192.0.2.2"])
    hasty = Asking(rig, "ip:192.0.2.3", 1)
    kind, fields = hasty.answer()
    assert kind == rig_module.FULL
    seconds, position, in_line, sentence = fields.number("I"), fields.number("I"), fields.number("I"), fields.text()
    ends = sorted(h.expires for h in holders)
    assert abs(seconds - (ends[1] / 1000 - time.time())) < 20  # the second place that surely comes free
    assert position == 2 and in_line >= 1 and "number 2" in sentence
    assert failure(rig, rig_module.QUEUE, uuid.uuid4().bytes + text(ME) + u32(61)).kind == rig_module.BAD_REQUEST
    patient[0].sock.close()
    wait_until(lambda: waiting(rig) == 0, what="who went away is out of the queue")


def test_the_queue_is_bounded_for_each_and_in_all(rig):
    for _ in range(4):
        rig.ready("ip:192.0.2.1")
    mine = queue_up(rig, [ME] * 4)
    assert Asking(rig, ME, 20).answer()[0] == rig_module.FULL
    others = []
    for n in range(28):
        others.append(Asking(rig, f"ip:192.0.2.{100 + n}", 60))
    wait_until(lambda: waiting(rig) == 32, what="the queue is full")
    assert Asking(rig, "ip:192.0.2.99", 20).answer()[0] == rig_module.FULL
    for asking in mine + others:
        asking.sock.close()
    wait_until(lambda: waiting(rig) == 0, what="all have left")


def test_an_agent_that_ends_makes_room_for_who_waits(rig):
    ended, holder = rig.ready("ip:192.0.2.1")
    for n in (2, 3, 4):
        rig.ready(f"ip:192.0.2.{n}")
    asking = queue_up(rig, [ME])
    holder.end(rig_module.EXITED, 0, done=False)
    assert asking[0].answer()[0] == rig_module.CREATED
    assert rig.info(ended, "ip:192.0.2.1")["state"] == "GONE"


def test_who_waits_is_told_when_the_launcher_dies():
    with Rig(slots=1) as rig:
        rig.ready("ip:192.0.2.1")
        asking = queue_up(rig, [ME])
        rig.launcher.die()
        kind, fields = asking[0].answer()
        assert kind == rig_module.ERROR and fields.number("I") == rig_module.UNAVAILABLE


def test_what_its_owner_ended_is_not_remembered(rig):
    session, _ = rig.ready()
    rig.end(session)
    assert failure(rig, rig_module.INFO, session.bytes + text(ME)).kind == rig_module.NOT_FOUND


def test_a_session_without_its_agent_makes_room_for_others(rig):
    ended, holder = rig.ready("ip:192.0.2.1")
    others = [rig.create(f"ip:192.0.2.{n}") for n in (2, 3, 4)]
    assert failure(rig, rig_module.CREATE, uuid.uuid4().bytes + text(ME) + u32(0)).kind == rig_module.LIMIT
    holder.end(rig_module.EXITED, 3, done=False)
    wait_until(lambda: rig.info(ended, "ip:192.0.2.1")["reason"])
    new = rig.create()
    info = rig.info(ended, "ip:192.0.2.1")
    assert (info["state"], info["reason"], info["code"]) == ("GONE", "exited", 3)
    assert all(rig.info(s, f"ip:192.0.2.{n}")["state"] == "STARTING" for n, s in enumerate(others, 2))
    assert rig.info(new)["state"] == "STARTING"


def test_a_full_service_goes_on_after_a_kill_without_a_free_place_to_test_in():
    with Rig(slots=1) as rig:
        session, _ = rig.ready("ip:192.0.2.1")
        rig.kill()
        rig.start()  # waits for the verdict
        asking = queue_up(rig, [ME])
        rig.end(session, "ip:192.0.2.1")
        assert asking[0].answer()[0] == rig_module.CREATED


def test_who_comes_while_a_place_is_cleared_waits_for_it(rig):
    sessions = [rig.ready(f"ip:192.0.2.{n}")[0] for n in range(4)]
    slot = rig.info(sessions[0], "ip:192.0.2.0")["slot"]
    rig.launcher.keeps_cleaning = True
    try:
        ender = threading.Thread(target=lambda: rig.end(sessions[0], "ip:192.0.2.0"))
        ender.start()
        wait_until(lambda: rig.info(sessions[0], "ip:192.0.2.0")["state"] == "STOPPING")
        asking = [rig.connect() for _ in range(2)]
        for sock in asking:
            send_message(sock, rig_module.CREATE, uuid.uuid4().bytes + text(ME) + u32(0))
        told = select.select(asking, [], [], 30)[0]
        answers = [rig_module.recv_message(sock, []) for sock in told]
        assert [a[0] for a in answers] == [rig_module.ERROR], answers  # one place is no two
    finally:
        rig.launcher.keeps_cleaning = False
    rig.launcher._stop(slot)
    waiting = next(sock for sock in asking if sock not in told)
    answer = rig_module.recv_message(waiting, [])
    assert answer[0] == rig_module.CREATED, answer
    ender.join(30)
    for sock in asking:
        sock.close()


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
    (rig_module.CREATE, b""), (rig_module.CREATE, bytes(16) + text(ME)), (rig_module.QUEUE, bytes(16) + text(ME) + u32(0)),
    (rig_module.INFO, bytes(16) + text("")), (rig_module.HEALTH, b"x"), (rig_module.ADMIT, text("x" * 200) + u32(1)),
])
def test_a_malformed_request_is_refused(rig, kind, payload):
    assert failure(rig, kind, payload).kind == rig_module.BAD_REQUEST


@pytest.mark.parametrize("kind, payload", [(0, b""), (7777, b""), (rig_module.CREATE, bytes(16) + text(ME) + u32(1 << 20))])
def test_a_request_of_a_newer_worker_is_refused_with_the_reason(rig, kind, payload):
    refused = failure(rig, kind, payload)
    assert refused.kind == rig_module.UNAVAILABLE and "is being upgraded" in refused.sentence


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
    started = time.monotonic()
    stuck = [rig.connect() for _ in range(256)]
    assert rig.health()["sandbox"] == "ok"
    assert 5 < time.monotonic() - started < 30
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
        assert failed.kind == rig_module.LIMIT and 3500 < failed.wait <= 3600
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


@pytest.mark.parametrize("how", ["gone", "nonsense", "taken", "older"])
def test_a_session_that_nobody_was_told_of_does_not_keep_its_owner_from_the_next_try(how):
    """The worker died, or its client left, when the agent had started."""
    with Rig(MAX_SESSIONS_PER_ACTOR="1") as rig:
        session, fds = uuid.uuid4(), []
        with rig.connect() as worker:
            send_message(worker, rig_module.CREATE, session.bytes + text(ME) + u32(0 if how == "older" else rig_module.TAKES))
            assert rig_module.recv_message(worker, fds)[0] == rig_module.CREATED
            holder = rig.launcher.holder(session)
            holder.phase(rig_module.READY)
            wait_until(lambda: rig.info(session)["state"] == "READY", what="READY")
            if how == "nonsense":
                send_message(worker, rig_module.HEALTH)
            elif how == "taken":
                send_message(worker, rig_module.TAKEN)
                assert worker.recv(1) == b"", "no answer, the end"
        os.close(fds[0])
        if how in ("taken", "older"):
            assert failure(rig, rig_module.ADMIT, text(ME) + u32(rig_module.CAP)).kind == rig_module.LIMIT
            assert rig.info(session)["state"] == "READY"
        else:
            wait_until(lambda: rig.health()["sessions"] == 0, what="it has ended")
            assert failure(rig, rig_module.INFO, session.bytes + text(ME)).kind == rig_module.NOT_FOUND
            rig.ask(rig_module.ADMIT, text(ME) + u32(rig_module.CAP), rig_module.OK)


def test_a_supervisor_that_ends_takes_no_session_along_whose_client_is_about_to_be_told():
    with Rig() as rig:
        session, fds = uuid.uuid4(), []
        with rig.connect() as worker:
            send_message(worker, rig_module.CREATE, session.bytes + text(ME) + u32(rig_module.TAKES))
            assert rig_module.recv_message(worker, fds)[0] == rig_module.CREATED
            rig.launcher.holder(session).phase(rig_module.READY)
            rig.process.send_signal(signal.SIGTERM)
            assert rig.process.wait(10) == 0
        os.close(fds[0])
        rig.start()
        wait_until(lambda: rig.info(session)["state"] == "DETACHED", what="it is found again")


def test_an_agent_that_died_does_not_keep_its_owner_from_the_next_try():
    with Rig(MAX_SESSIONS_PER_ACTOR="1") as rig:
        session, holder = rig.ready()
        holder.end(rig_module.START_FAILED, 1, done=False)  # its holder waits for somebody who fetches the last words
        wait_until(lambda: rig.info(session)["reason"])
        rig.ask(rig_module.ADMIT, text(ME) + u32(rig_module.CAP), rig_module.OK)
        rig.create()
        assert rig.is_gone(session)


def test_processes_that_cannot_be_killed_cost_their_slot_only():
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
        thread.join(30)
        assert ended[0].kind == rig_module.INTERNAL
        assert rig.health()["quarantined"] == 1 and rig.is_gone(session)
        assert rig.counter("agentsim_slots_quarantined") == 1
        assert "quarantined" in rig.log_text()
        rig.create()
        assert failure(rig, rig_module.CREATE, uuid.uuid4().bytes + text(ME) + u32(0)).kind == rig_module.LIMIT
        rig.launcher._stop(slot)  # later it worked
        wait_until(lambda: rig.health()["quarantined"] == 0)
        assert rig.counter("agentsim_slots_quarantined") == 0
        rig.create()


def test_a_session_past_its_lifetime_is_ended_even_if_its_holder_forgot():
    with Rig(SESSION_LIFETIME_SECONDS="4") as rig:
        session, holder = rig.ready()
        holder.answers_end = False
        with rig.socket(session) as ws:
            greet(ws)
            assert holder.ends.get(timeout=30) == rig_module.EXPIRED
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
        assert (rig.counter("agentsim_sandbox_ok"), rig.counter("agentsim_sandbox_refusals_total")) == (0, 0)
        failed = failure(rig, rig_module.CREATE, uuid.uuid4().bytes + text(ME) + u32(0))
        assert failed.kind == rig_module.UNAVAILABLE and "unprivileged user namespaces are off" in failed.sentence
        assert rig.counter("agentsim_sandbox_refusals_total") == 1
        rig.launcher.probe_answer = u8(1) + text("")
        rig.launcher.drop()
        wait_until(lambda: rig.health()["sandbox"] == "ok")
        rig.create()
        assert (rig.counter("agentsim_sandbox_ok"), rig.counter("agentsim_sandbox_refusals_total")) == (1, 1)


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
            assert ws.recv(timeout=30) == "still here"
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
