"""agentsim-supervisor stops, is killed and starts again, beside launchers and holders of the same and of other builds."""
import os
import signal
import threading
import time
import uuid

import pytest

from tests.support import supervisor_rig as rig_module
from tests.support.supervisor_rig import Rig, close_code, failure, greet, raw_browser, send_message, text, u32, wait_still, wait_until

ME = "ip:127.0.0.1"


def test_a_killed_supervisor_finds_its_sessions_again():
    with Rig() as rig:
        session, holder = rig.ready()
        starting = rig.create("ip:192.0.2.1")
        with rig.socket(session) as ws:
            greet(ws)
            holder.say("one")
            assert ws.recv(timeout=30) == "one"
            before = rig.info(session)
            rig.kill()
            close_code(ws)
        holder.say("two")
        rig.start()
        after = wait_until(lambda: (i := rig.found(session)) and i["state"] == "DETACHED" and i)
        for field in ("id", "actor", "started", "slot"):
            assert after[field] == before[field]
        assert abs(after["expires"] - before["expires"]) < 1000
        assert wait_until(lambda: rig.found(starting, "ip:192.0.2.1"))["state"] == "STARTING"
        with rig.socket(session) as ws:
            assert greet(ws, received=1) == {"type": "auth_ok", "resumed": True, "from": 2}
            assert ws.recv(timeout=30) == "two"
        wait_until(lambda: len(rig.launcher.holders) == 2, what="only the self-test's slot was cleared")
        rig.end(session)
        rig.end(starting, "ip:192.0.2.1")


@pytest.mark.parametrize("version, works_with, lives", [(0, 0, True), (1, 0, True), (9, 1, True), (9, 0, True), (9, 2, False)])
def test_holders_and_launchers_of_another_build(version, works_with, lives):
    """An upgrade, or a step back: what they have in common is enough for a conversation, or its owner is told that it is over."""
    with Rig() as rig:
        session, holder = rig.ready()
        holder.say("one")
        rig.kill()
        holder.version = rig.launcher.version = version
        holder.works_with = rig.launcher.works_with = works_with if lives else 0
        if not lives:
            holder.works_with = works_with
        holder.greeted.clear()
        rig.start()
        if not lives:
            wait_until(lambda: rig.is_gone(session), what="it has ended")
            assert rig.info(session)["reason"] == "stopped"
            assert "its holder speaks version 9, and none before 2; this supervisor speaks 0 to 1: it ends" in rig.log_text()
            return
        wait_until(lambda: rig.info(session)["state"] == "DETACHED", what="it is found again")
        assert not version or holder.greeted.wait(30), "it was told whom it speaks with"
        assert version or not holder.greeted.is_set(), "it would end the connection"
        if version > 1:
            send_message(holder.control, 999, b"news")  # of no interest to us
            rig.launcher.tell(77, 999)
        with rig.socket(session) as ws:
            assert greet(ws, received=0) == {"type": "auth_ok", "resumed": True, "from": 1}
            assert ws.recv(timeout=30) == "one"
        rig.end(session)
        rig.create()


def test_a_launcher_of_another_build_starts_nothing_and_everybody_is_told_why():
    with Rig() as rig:
        rig.kill()
        rig.launcher.version, rig.launcher.works_with = 9, 2
        rig.start(ready=False)
        wait_until(lambda: "of another version" in rig.health()["sandbox"])
        refused = failure(rig, rig_module.CREATE, uuid.uuid4().bytes + text(ME) + u32(0))
        assert refused.kind == rig_module.UNAVAILABLE and "of another version" in refused.sentence


@pytest.mark.parametrize("slots", [2, 9])
def test_places_are_what_the_launcher_has(slots):
    """The settings were changed, nobody restarted the service, and the supervisor was killed."""
    with Rig(slots=4) as rig:
        sessions = [rig.ready()[0] for _ in range(3)]
        rig.kill()
        rig.settings["MAX_SESSIONS"] = str(slots)
        rig.start()
        for session in sessions:
            wait_until(lambda s=session: rig.info(s)["state"] == "DETACHED", what="it is found again")
        assert rig.health()["capacity"] == 4
        assert f"the launcher has 4 places, not {slots}" in rig.log_text()
        assert rig.counter("agentsim_slots") == 4
        rig.end(sessions[2])
        rig.create()


def test_who_knocked_how_often_is_known_after_a_kill():
    with Rig(RATE_LIMIT_MAX_REQUESTS="3", RATE_LIMIT_WINDOW_SECONDS="600") as rig:
        knock = text(ME) + u32(rig_module.RATE)
        for n in range(3):
            if n:
                rig.kill()
                rig.start()
            rig.ask(rig_module.ADMIT, knock, rig_module.OK)
        rig.kill()
        rig.start()
        refused = failure(rig, rig_module.ADMIT, knock)
        assert refused.kind == rig_module.LIMIT and 500 < refused.wait <= 600
        rig.ask(rig_module.ADMIT, text("ip:192.0.2.9") + u32(rig_module.RATE), rig_module.OK)
        rig.kill()
        (rig.dir / "rates" / "now").write_bytes(b"boot of another machine\n1 " + ME.encode() + b"\n")  # or any other bytes
        (rig.dir / "rates" / "before").write_bytes(os.urandom(5000))
        rig.start()
        rig.ask(rig_module.ADMIT, knock, rig_module.OK)


def test_what_cannot_be_found_again_is_stopped():
    with Rig() as rig:
        lost, liar, silent = [rig.ready() for _ in range(3)]
        rig.kill()
        lost[1].close()
        liar[1].claims = uuid.uuid4()
        silent[1].actor = ""
        rig.start()
        wait_until(lambda: len(rig.launcher.holders) == 0, what="all three are stopped")
        wait_until(lambda: rig.health()["sessions"] == 0, what="their slots are free")
        assert rig.is_gone(liar[0])


def test_a_stop_sends_browsers_away_to_come_back_and_leaves_sessions_alone():
    with Rig() as rig:
        session, holder = rig.ready()
        with rig.socket(session) as ws, rig.socket(session) as undecided:
            greet(ws)
            rig.process.send_signal(signal.SIGTERM)
            assert close_code(ws)[0] == 1012
            assert close_code(undecided)[0] == 1012
        assert rig.process.wait(30) == 0
        wait_until(lambda: rig.launcher.at_end, what="the launcher has read everything")
        assert rig.launcher.stops == [0] and holder.ends.empty()  # only the self-test's slot was ever cleared
        rig.start()
        assert wait_until(lambda: (i := rig.found(session)) and i["state"] == "DETACHED")
        with rig.socket(session) as ws:
            assert greet(ws) == {"type": "auth_ok"}


def test_a_stop_does_not_wait_for_a_browser_that_is_stuck():
    with Rig() as rig:
        session, holder = rig.ready()
        raw = raw_browser(rig, session)
        wait_until(lambda: holder.attached)
        said = []
        threading.Thread(target=lambda: [said.append(holder.say("x" * 100_000)) for _ in range(100)], daemon=True).start()
        wait_until(lambda: len(said) > 2)
        assert wait_still(lambda: len(said)) < 100, "it is stuck"
        started = time.monotonic()
        rig.process.send_signal(signal.SIGTERM)
        assert rig.process.wait(30) == 0
        assert time.monotonic() - started < 15
        raw.close()
