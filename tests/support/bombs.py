"""Agents that do what they are told, and a neighbour that is watched meanwhile."""
from __future__ import annotations

import contextlib
import json
import re
import statistics
import threading
import time

from tests.support.cgroups import Group
from tests.support.stack import wait_until

# A message is Python text that the agent executes; it answers with what that text left in `out`.
OBEDIENT = """
import json
from websockets.sync.server import serve

def frame(text):
    return json.dumps({"action": "agent_reply_str", "message": str(text), "history": False, "timestamp": "", "message_id": None})

def talk(ws):
    ws.send(frame("hello"))
    scope = {}
    for text in ws:
        scope["out"] = ""
        try:
            exec(json.loads(text)["message"], scope)
        except BaseException as error:
            scope["out"] = repr(error)
        ws.send(frame(scope["out"]))

with serve(talk, "127.0.0.1", 8765) as server:
    server.serve_forever()
"""


class Agent:
    """A session of that program, with its conversation."""

    def __init__(self, stack):
        self.stack = stack
        self.asking = threading.Lock()
        self.session = stack.create_program(OBEDIENT)
        self.opening = stack.internal_socket(self.session)
        self.ws = self.opening.__enter__()
        assert self.answer() == "hello"

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        with contextlib.suppress(Exception):
            self.opening.__exit__(*exc)
        self.stack.internal("DELETE", f"/sessions/{self.session}")

    def answer(self, timeout=180):
        deadline = time.monotonic() + timeout
        while True:
            frame = json.loads(self.ws.recv(timeout=max(0.01, deadline - time.monotonic())))
            if "action" in frame:
                return frame["message"]

    def tell(self, text):
        self.ws.send(json.dumps({"action": "user_message", "message": text}))

    def run(self, text, timeout=180):
        with self.asking:
            self.tell(text)
            return self.answer(timeout)

    def end(self, timeout=180):
        """(reason, code) of its end, as its holder logs it."""
        pattern = re.compile(rf"session={self.session} ended: (\S+) (\d+)")
        reason, code = wait_until(lambda: pattern.search(self.stack.log_text()), timeout, "the agent ends").groups()
        return reason, int(code)

    def slot(self):
        found = re.search(rf"session={self.session}[^\n]* session starts in slot (\d+)", self.stack.log_text())
        return int(found[1])

    def group(self, controller):
        return Group(controller, self.stack.uid_base, self.slot())


class Neighbour(Agent):
    """Asked all the time by a thread of its own while the block runs; afterwards it must still answer, and says how
    long that took."""

    def __init__(self, stack):
        super().__init__(stack)
        self.times, self.stop, self.failure = [], threading.Event(), None
        self.thread = None

    @contextlib.contextmanager
    def watched(self, what):
        self.times, self.failure = [], None
        self.stop.clear()
        self.thread = threading.Thread(target=self._ask)
        self.thread.start()
        try:
            yield
        finally:
            self.stop.set()
            self.thread.join()
        assert self.failure is None, f"the neighbour did not answer: {self.failure!r}"
        assert self.run("out = 'still here'") == "still here"
        quantiles = statistics.quantiles(self.times, n=100) if len(self.times) > 1 else [self.times[0]] * 99
        print(f"\nneighbour during {what}: {len(self.times)} answers, p50 {quantiles[49] * 1e3:.1f} ms, "
              f"p99 {quantiles[98] * 1e3:.1f} ms, longest {max(self.times) * 1e3:.1f} ms", end="")

    def _ask(self):
        try:
            while True:
                started = time.monotonic()
                assert self.run("out = 'yes'") == "yes"
                self.times.append(time.monotonic() - started)
                if self.stop.wait(0.02):
                    return
        except Exception as error:  # told to the test by watched()
            self.failure = error
