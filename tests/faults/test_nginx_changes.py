"""nginx is reloaded, replaced, killed and stopped under a conversation, and nobody who connects is refused."""
from __future__ import annotations

import contextlib
import os
import pathlib
import shutil
import signal
import socket
import threading
import time

import pytest

from tests.faults.flow import Flow
from tests.faults.places import children_of, kill, one
from tests.faults.test_kill_points import sockets_of
from tests.support.front import NGINX
from tests.support.stack import Stack, wait_until


class OwnNginx(Stack):
    """With a copy of nginx, which can be replaced as a package's upgrade does it."""

    def __init__(self, **settings):
        super().__init__(**settings)
        self.nginx = self.dir / "nginx-program"
        self.env["AGENT_SIMULATOR_NGINX"] = str(self.nginx)
        shutil.copy(NGINX, self.nginx)

    def replace(self):
        new = self.dir / "nginx-new"
        shutil.copy(NGINX, new)
        os.rename(new, self.nginx)

    def master(self):
        with contextlib.suppress(OSError, ValueError):
            return int((self.runtime_dir / "nginx.pid").read_text())

    def conf(self):
        return self.dir / "nginx" / "agentsim.conf"


@pytest.fixture(scope="module")
def stack():
    with OwnNginx() as running:
        yield running
        running.assert_clean(30)


class Knocking:
    """Somebody who connects all the time and asks for a page: .refused are those who got none."""

    def __init__(self, stack):
        self.stack, self.refused, self.answered, self.stopping = stack, [], 0, False
        self.thread = threading.Thread(target=self._knock, daemon=True)

    def __enter__(self):
        self.thread.start()
        wait_until(lambda: self.answered, 10, "the first answer")
        return self

    def _knock(self):
        while not self.stopping:
            try:
                with socket.create_connection(("127.0.0.1", self.stack.port), 60) as s:
                    s.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                    s.settimeout(60)
                    if s.recv(12) != b"HTTP/1.1 200":
                        raise OSError("no answer")
                self.answered += 1
            except OSError as error:
                self.refused.append(repr(error))
            time.sleep(0.003)

    def __exit__(self, *_exc):
        more = self.answered + 3
        wait_until(lambda: self.answered >= more, 20, "answers go on")
        self.stopping = True
        self.thread.join(120)


def reload(stack):
    """Until the workers of before, who carry nothing, are gone."""
    before = set(children_of(stack.master()))
    os.kill(stack.master(), signal.SIGHUP)
    wait_until(lambda: (now := set(children_of(stack.master()))) and not now & before, 10, "new workers alone")


def keeper_has_the_door(stack):
    """Whether nginx's listening socket is the keeper's too."""
    rows = [line.split() for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]]
    doors = {f"socket:[{row[9]}]" for row in rows if row[1].endswith(f":{stack.port:04X}") and row[3] == "0A"}
    return doors and doors <= sockets_of(stack.keeper.pid)


def upgrade(stack, seconds=15):
    before = stack.master()
    stack.keeper.send_signal(signal.SIGUSR2)
    wait_until(lambda: stack.master() not in (None, before), seconds, "another nginx")
    wait_until(lambda: "takes over" in stack.log_text().rpartition("a new nginx starts")[2], seconds, "it has taken over")
    return before


def test_a_reload_cuts_nobody(stack):
    with Flow(stack) as flow, Knocking(stack) as knocking:
        flow.ask(400, pause=0.002)
        for _ in range(3):
            before = set(children_of(stack.master()))
            os.kill(stack.master(), signal.SIGHUP)
            wait_until(lambda b=before: set(children_of(stack.master())) - b, 10, "a new worker")
        flow.wait_for(400)
        assert flow.browser.lost == []
        stack.end(flow.session)
    assert knocking.refused == []


def test_another_nginx_takes_over_and_no_conversation_notices(stack):
    with Flow(stack) as flow, Knocking(stack) as knocking:
        flow.ask(600, pause=0.002)
        former = []
        for _ in range(2):
            stack.replace()
            former.append(upgrade(stack))
            # Without a conversation the former one ends at once, and the file is written again.
            assert os.path.samefile(f"/proc/{wait_until(stack.master, 5, 'its number')}/exe", stack.nginx)
            assert wait_until(stack.master, 5, "its number") in children_of(stack.keeper.pid)
        flow.wait_for(600)
        flow.ask(50)
        flow.wait_for(650)
        assert flow.browser.lost == [], "the first one still carries it"
        assert os.path.exists(f"/proc/{former[0]}")
        stack.end(flow.session)
    assert knocking.refused == []
    wait_until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in former), 20, "they end with their conversations")
    # The new one is watched like the first: reload and crash work as before.
    wait_until(stack.master, 5, "its number")
    before = set(children_of(stack.master()))
    stack.keeper.send_signal(signal.SIGHUP)
    wait_until(lambda: set(children_of(stack.master())) - before, 10, "a new worker")
    killed = stack.master()
    kill(killed)
    wait_until(lambda: stack.master() not in (None, killed) and stack.get("/health").status == 200, 10, "it is started again")


def test_a_new_nginx_that_does_not_start_changes_nothing(stack):
    good = stack.conf().read_text()
    before = stack.master()
    with Flow(stack) as flow:
        flow.ask(100000, pause=0.002)
        stack.conf().write_text(good + "\nnonsense;\n")
        try:
            stack.keeper.send_signal(signal.SIGUSR2)
            wait_until(lambda: "the old one stays" in stack.log_text(), 20, "it says so")
        finally:
            stack.conf().write_text(good)
        flow.wait_for(flow.browser.number + 50)
        assert flow.browser.lost == []
        assert stack.master() == before and one(stack, "nginx") == before
        stack.end(flow.session)
    assert stack.get("/health").status == 200


def test_a_killed_nginx_refuses_nobody(stack):
    with Flow(stack) as flow, Knocking(stack) as knocking:
        flow.ask(400, pause=0.002)
        for _ in range(2):
            killed = one(stack, "nginx")
            wait_until(lambda: stack.master() == one(stack, "nginx") and keeper_has_the_door(stack), 10, "it has started")
            kill(killed)
            wait_until(lambda k=killed: [p for p in stack.children("nginx") if p != k], 10, "another nginx")
        flow.wait_for(400)
        stack.end(flow.session)
    # Who was inside is cut; who was at the door waits.
    assert not [r for r in knocking.refused if "Refused" in r], knocking.refused


def test_browsers_that_an_old_nginx_cuts_come_back(stack):
    good = stack.conf().read_text()
    try:
        stack.conf().write_text("worker_shutdown_timeout 1s;\n" + good)
        reload(stack)
        with Flow(stack) as flow:
            flow.ask(1500, pause=0.002)
            os.kill(stack.master(), signal.SIGHUP)
            wait_until(lambda: flow.browser.lost or flow.ended, 20, "the old worker gives up")
            flow.wait_for(1500)
            stack.end(flow.session)
    finally:
        stack.conf().write_text(good)
        reload(stack)


def test_the_end_of_the_service_is_told_to_browsers():
    with OwnNginx() as own:
        with Flow(own) as flow:
            ws = flow.browser.ws
            own.keeper.terminate()
            assert own.keeper.wait(90) == 0
            wait_until(lambda: ws.protocol.close_code is not None, 10, "the socket is closed")
            assert ws.protocol.close_code in (1000, 1012), "with a word, not by a cut"
