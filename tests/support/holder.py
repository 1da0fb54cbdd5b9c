"""Agents for tests of agentsim-holder by itself: one session at a time, with the test as supervisor, worker and browser."""
from __future__ import annotations

import contextlib
import pathlib
import time

from tests.support import wire
from tests.support.stack import wait_until
from tests.support.uids import Users

USERS = Users(192)  # of this process's tests, held as long as they run
UID = USERS.first

# What a holder of these tests is told; a module adds to it with SETTINGS. No time is up on a busy machine in which nothing but
# the agent's work takes time; tests of the deadlines set those that they are about.
SETTINGS = {"AGENT_SIMULATOR_MAX_SESSIONS": "20", "AGENT_SIMULATOR_REPLAY_BYTES": "262144", "AGENT_SIMULATOR_DETACH_SECONDS": "30",
            "AGENT_SIMULATOR_READY_SECONDS": "60", "AGENT_SIMULATOR_RLIMIT_CPU_SEC": "30"}

# A WebSocket server without the framework: what it says and does is up to the test.
SERVER = """
import os, signal, sys, threading, time
from websockets.sync.server import serve
PORT = int(os.environ["BESSER_WS_PORT"])
{setup}
def handle(ws):
    {greet}
    for m in ws:
        {each}
with serve(handle, "127.0.0.1", PORT, max_size=None, compression=None) as server:
    print("x's WebSocketPlatform starting at ws://127.0.0.1:%d" % PORT)
    server.serve_forever()
"""

SANITIZED = "asan" in str(wire.BUILD)  # freed memory is kept there


def server(each="ws.send(m)", greet="pass", setup=""):
    return {"agent.py": SERVER.format(each=each.replace("\n", "\n        "), greet=greet, setup=setup)}


def numbered(n, size=100):
    """Answers anything with frames from 0 to n - 1."""
    return server(each=f"for i in range({n}):\n    ws.send('{{\"i\": %d, \"x\": \"%s\"}}' % (i, 'x' * {size}))")


def frames_i(frames):
    return [f["i"] for f in frames if "i" in f]


def ready(holder, control, files):
    """Starts it: its browser, once the agent takes frames."""
    holder.run(files)
    browser = holder.attach()
    control.phase(wire.IS_READY)
    return browser


def ticks(pid):
    """Processor time so far, in hundredths of a second; None: it has ended."""
    with contextlib.suppress(OSError):
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return int(fields[11]) + int(fields[12])


def at_rest(*pids):
    """Whether they compute less than a fifth of the time: a loop that spins takes all that it gets."""
    before, began = [ticks(pid) for pid in pids], time.monotonic()
    time.sleep(0.5)  # what is measured
    after = [ticks(pid) for pid in pids]
    return None not in before + after and sum(after) - sum(before) < (time.monotonic() - began) * 20


def comes_to_rest(*pids):
    """What they had to do is done some day; a loop that spins never ends."""
    wait_until(lambda: at_rest(*pids), 20, f"{pids} wait instead of trying again and again")


def memory_mb(pid):
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(text.split("VmRSS:")[1].split()[0]) / 1024 / (20 if SANITIZED else 1)
