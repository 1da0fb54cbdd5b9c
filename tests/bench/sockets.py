"""sockets: 10 000 idle WebSockets through nginx; the relay while POST validate is under full load.

An idle socket is one that a browser opened and on which nobody has signed in: of all others there are no more than
sessions. What it costs is what all our processes hold in addition (Pss: shared pages in parts), over the number of
sockets; the kernel's own records of connections are no process's memory and not counted."""
from __future__ import annotations

import contextlib
import json
import os
import random
import resource
import select
import socket
import time

from tests.bench import diagrams, http_load
from tests.bench.machine import pss_kib, tree
from tests.bench.service import UNLIMITED, open_session
from tests.bench.table import percentile, progress, show
from tests.bench.wire import handshake, round_trips
from tests.support.stack import Stack, wait_until

COUNT = 10_000
SOURCES = 16  # addresses of clients: one address may have 1000
UNKNOWN = "/besser_api/simulation/3f2b8a90-0000-4000-8000-000000000001/ws"
# What a browser says besides: nginx keeps it all as long as the socket lasts.
BROWSER = [
    ("Pragma", "no-cache"), ("Cache-Control", "no-cache"),
    ("User-Agent", "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36"),
    ("Accept-Encoding", "gzip, deflate, br, zstd"), ("Accept-Language", "en-GB,en;q=0.9,de;q=0.8"),
    ("Sec-WebSocket-Extensions", "permessage-deflate; client_max_window_bits"),
]


def connect_all(port, count):
    """Upgraded sockets, and how many were refused. They say nothing more: the service closes them after ten seconds."""
    made, refused = [], []
    poll, waiting = select.epoll(), {}

    def look(timeout):
        for fd, _ in poll.poll(timeout):
            s = waiting.pop(fd)
            poll.unregister(fd)
            head = b""
            with contextlib.suppress(OSError):
                head = s.recv(4096)
            (made if b" 101 " in head[:16] else refused).append(s)

    for number in range(count):
        s = socket.socket()
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        s.bind((f"127.0.2.{number % SOURCES + 1}", 0))
        try:
            s.connect(("127.0.0.1", port))
            s.sendall(handshake(UNKNOWN, port, [*BROWSER, ("Origin", f"http://127.0.0.1:{port}")]))
        except OSError:
            refused.append(s)
            continue
        waiting[s.fileno()] = s
        poll.register(s.fileno(), select.EPOLLIN)
        if len(waiting) > 200:
            look(1)
    until = time.monotonic() + 20
    while waiting and time.monotonic() < until:
        look(1)
    refused += waiting.values()
    return made, refused


def idle(stack):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, COUNT + 1000), hard))
    parts = {"nginx": tree(*stack.children("nginx")), "supervisor": stack.children("agentsim-supervisor")}
    progress(f"{COUNT} idle sockets")
    before = {name: pss_kib(pids) for name, pids in parts.items()}
    began = time.monotonic()
    made, refused = connect_all(stack.port, COUNT)
    opened = time.monotonic() - began
    full = {name: pss_kib(pids) for name, pids in parts.items()}
    asked = time.monotonic()
    limits = stack.get("/besser_api/simulation/limits").status
    answered = (time.monotonic() - asked) * 1000
    early = sum(1 for s in made if closed(s))
    random.Random(1).shuffle(made)
    few = without(made[len(made) // 10 :] + refused, parts, 200 + 3 * COUNT // 10)
    after = without(made, parts, 200)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    rows = [[name, *(x[name] / 1024 for x in (before, full, few, after)), (full[name] - before[name]) / max(1, len(made))] for name in parts]
    rows.append(["together", *(sum(row[i] for row in rows) for i in range(1, 6))])
    show(f"{COUNT} idle WebSockets: {len(made)} opened in {opened:.1f} s, {len(refused)} refused, {early} closed by the service meanwhile",
         ["memory", "before MiB", "with them", "a tenth left", "after", "KiB each"], rows, [f"GET limits beside them: {limits} in {answered:.1f} ms"])


def without(sockets, parts, descriptors):
    """Memory when these are closed and the service has let go of them."""
    for s in sockets:
        s.close()
    wait_until(lambda: sockets_of(parts) < descriptors, 30, "the service has let go of the sockets")
    time.sleep(1)
    return {name: pss_kib(pids) for name, pids in parts.items()}


def closed(s):
    s.setblocking(False)
    try:
        return not s.recv(1)
    except BlockingIOError:
        return False
    except OSError:
        return True


def sockets_of(parts):
    return sum(len(os.listdir(f"/proc/{pid}/fd")) for pids in parts.values() for pid in pids)


def beside_load(stack):
    """One conversation of small frames, a hundred a second, while POST validate is asked as fast as it goes."""
    session, w = open_session(stack)
    body = json.dumps(diagrams.chain(20)).encode()
    url = f"http://127.0.0.1:{stack.port}/besser_api/simulation/validate"
    rows = []
    for name, loaded in (("nothing else", False), ("POST validate, 20 states, 16 clients", True)):
        progress(f"relay beside {name}")
        load = http_load.begin(url, "POST", body, seconds=8, clients=16) if loaded else None
        times = paced(w, 128, 6)
        answer = http_load.end(*load)[0] if load else None
        rows.append([name, len(times), *(percentile(times, p) * 1000 for p in (0.5, 0.95, 0.99)), max(times) * 1000,
                     answer["requests"] / answer["seconds"] if answer else None])
    w.close()
    stack.internal("DELETE", f"/sessions/{session}")
    show("Round trips of 128 B, a hundred a second, beside", ["load", "n", "p50 ms", "p95 ms", "p99 ms", "max ms", "validate /s"], rows)


def paced(w, size, seconds):
    times, until = [], time.monotonic() + seconds
    while time.monotonic() < until:
        times += round_trips([w], size, 0)
        time.sleep(0.01)
    return times


def main():
    with Stack(AGENT_SIMULATOR_WORKERS="4", **UNLIMITED) as stack:
        idle(stack)
        beside_load(stack)
