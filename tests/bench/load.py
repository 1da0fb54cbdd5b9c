"""load: GET limits and GET files beside the reference; 500 mixed clients for a minute."""
from __future__ import annotations

import asyncio
import collections
import contextlib
import json
import os
import random
import resource
import time

from tests.bench import diagrams, http_load
from tests.bench.machine import Cost
from tests.bench.reference import Reference
from tests.bench.service import UNLIMITED, pids_of
from tests.bench.table import percentile, progress, ratio, show
from tests.bench.wire import frame, handshake
from tests.support.stack import TOKEN, Stack

API = "/besser_api/simulation"
SECONDS = int(os.environ.get("SECONDS_OF_LOAD", "60"))
TALKERS, STARTERS, OTHERS = 40, 5, 455
PER_MINUTE = 15  # requests of one address that the limiter lets through: the rest is the 429 that is meant


# ---- GET ------------------------------------------------------------------------------------------------------------

def reads():
    rows = []
    with contextlib.ExitStack() as held:
        here, there = held.enter_context(Stack(AGENT_SIMULATOR_WORKERS="4", **UNLIMITED)), held.enter_context(Reference(sessions=2))
        paths = {}
        for service in (here, there):
            session = service.create(diagrams.small())
            assert held.enter_context(service.talk(session)).reply() == "ready"  # stays: the reference ends a session that nobody is with
            paths[service] = {"GET limits": f"{API}/limits", "GET files, small session": f"{API}/sessions/{session}/files"}
        for name, clients in (("GET limits", 32), ("GET files, small session", 8)):  # 8: as many as one address may have
            progress(name)
            ours, theirs = (http_load.run(pids_of(s), f"http://127.0.0.1:{s.port}{paths[s][name]}", seconds=4, clients=c) for s, c in ((here, clients), (there, 8)))
            for load in (ours, theirs):
                assert not load.lost, load
            rows.append([name, ours.rate, ours.p50, ours.p99, ours.per_core, sum(ours.other.values()), theirs.rate, theirs.p50, theirs.p99, theirs.per_core,
                         sum(theirs.other.values()), ratio(ours.rate, theirs.rate), ratio(ours.per_core, theirs.per_core)])
    show("Reads, requests a second",
         ["", "/s", "p50 ms", "p99 ms", "/core-s", "not 200", "ref /s", "p50 ms", "p99 ms", "/core-s", "not 200", "ratio", "per core"], rows)


# ---- many clients ---------------------------------------------------------------------------------------------------

class Client:
    """One connection that is kept, from an address of its own."""

    def __init__(self, stack, number, seen):
        self.stack, self.number, self.seen = stack, number, seen
        self.address = f"127.0.{10 + number // 250}.{number % 250 + 1}"
        self.random = random.Random(number)
        self.streams = None

    async def ask(self, what, method, path, body=b"", good=(200,), meant=(), port=None, token=None):
        """The status, noted under `what` with the time that it took."""
        port = port or self.stack.port
        began = time.perf_counter()
        try:
            if not self.streams:
                self.streams = await asyncio.open_connection("127.0.0.1", port, local_addr=(self.address, 0))
            reader, writer = self.streams
            head = f"{method} {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
            writer.write(head.encode() + body)
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 60)
            fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:] if b": " in line)
            if b"content-length" in fields:
                answer = await reader.readexactly(int(fields[b"content-length"]))
            else:
                answer = b""
                while size := int(await reader.readline(), 16):
                    answer += await reader.readexactly(size + 2)
                await reader.readline()
            status = int(head.split()[1])
            if fields.get(b"connection") == b"close":
                await self.hang_up()
        except (OSError, EOFError, asyncio.TimeoutError) as error:
            await self.hang_up()
            self.seen.failed(what, type(error).__name__)
            return 0, b""
        if status in meant:
            self.seen.limited[what] += 1
        elif status in good:
            self.seen.took[what].append(time.perf_counter() - began)
        else:
            self.seen.failed(what, f"{status} {answer[:80]!r}")
        return status, answer

    async def hang_up(self):
        if self.streams:
            self.streams[1].close()
            with contextlib.suppress(OSError):
                await self.streams[1].wait_closed()
        self.streams = None


class Seen:
    def __init__(self):
        self.took = collections.defaultdict(list)
        self.limited, self.errors = collections.Counter(), collections.Counter()

    def failed(self, what, how):
        self.errors[f"{what}: {how}"] += 1


class Channel:
    """A WebSocket over asyncio streams."""

    async def open(self, port, path, address, headers=()):
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(address, 0), limit=1 << 20)
        self.writer.write(handshake(path, port, headers))
        head = await self.reader.readuntil(b"\r\n\r\n")
        if b" 101 " not in head[:16]:
            raise ConnectionError(head[:40].decode())
        return self

    def say(self, data):
        self.writer.write(frame(data))

    async def hear(self):
        while True:
            head = await self.reader.readexactly(2)
            n = head[1] & 127
            if n >= 126:
                n = int.from_bytes(await self.reader.readexactly(2 if n == 126 else 8), "big")
            data = await self.reader.readexactly(n)
            if head[0] & 15 == 8:
                raise ConnectionError(f"close {int.from_bytes(data[:2], 'big')}")
            if head[0] & 15 == 9:
                self.writer.write(frame(data, 10))
            else:
                return data

    async def until(self, wanted):
        async with asyncio.timeout(60):
            while wanted not in (data := await self.hear()):
                pass
        return data


async def talk(client, session, until):
    """A browser that says 128 bytes five times a second and waits for each echo."""
    channel = await Channel().open(client.stack.internal_port, f"/sessions/{session}/ws", client.address, [("X-Agent-Simulator-Token", TOKEN)])
    number = 0
    while time.monotonic() < until:
        text = f"{client.number:04d}-{number:08d}".encode().ljust(128, b".")
        began = time.perf_counter()
        channel.say(text)
        await channel.until(text)
        client.seen.took["message and echo"].append(time.perf_counter() - began)
        number += 1
        await asyncio.sleep(0.2)
    channel.writer.close()


async def start_and_talk(client, until):
    """Someone who presses Test: start, greeting, one question, files, end; again after a pause."""
    body = json.dumps(diagrams.small()).encode()
    while time.monotonic() < until:
        began = time.perf_counter()
        status, answer = await client.ask("POST sessions", "POST", f"{API}/sessions", body, meant=(429,))
        if status == 200:
            session = json.loads(answer)["sessionId"]
            try:
                await one_conversation(client, session, began)
            except ConnectionError as error:
                if "4429" not in str(error):  # a sign-in over the rate of this address is meant
                    raise
                client.seen.limited["POST to first agent message"] += 1
            await client.ask("DELETE session", "DELETE", f"{API}/sessions/{session}")
        await asyncio.sleep(client.random.uniform(2, 6))


async def one_conversation(client, session, began):
    channel = await Channel().open(client.stack.port, f"{API}/{session}/ws", client.address)
    channel.say(b'{"type":"auth","githubSession":""}')
    await channel.until(b'"ready"')
    client.seen.took["POST to first agent message"].append(time.perf_counter() - began)
    began = time.perf_counter()
    channel.say(b'{"action":"user_message","message":"how are you"}')
    await channel.until(b'"how are you"')
    client.seen.took["question and answer of the framework"].append(time.perf_counter() - began)
    await client.ask("GET files", "GET", f"{API}/sessions/{session}/files")
    channel.writer.close()


async def look_around(client, until):
    """Someone with the console or the editor open: a request every second or so."""
    small, middle = (json.dumps(d).encode() for d in (diagrams.small(), diagrams.chain(20)))
    unknown = f"{API}/sessions/3f2b8a90-0000-4000-8000-{client.number:012d}"
    choices = [
        (40, ("GET limits", "GET", f"{API}/limits")),
        (20, ("GET /", "GET", "/")),
        (20, ("POST validate, 2 states", "POST", f"{API}/validate", small, (200,), (429,))),
        (10, ("POST validate, 20 states", "POST", f"{API}/validate", middle, (200,), (429,))),
        (5, ("GET state, unknown", "GET", unknown, b"", (404,))),
        (5, ("GET files, unknown", "GET", unknown + "/files", b"", (404,))),
    ]
    weights = [weight for weight, _ in choices]
    await asyncio.sleep(client.random.uniform(0, 1))
    while time.monotonic() < until:
        await client.ask(*client.random.choices([c for _, c in choices], weights)[0])
        await asyncio.sleep(client.random.expovariate(1.0))
    await client.hang_up()


async def guarded(client, what, work):
    try:
        await work
    except (OSError, EOFError, TimeoutError) as error:
        client.seen.failed(what, repr(error)[:80])


async def everybody(stack, sessions, seconds):
    seen, until = Seen(), time.monotonic() + seconds
    clients = [Client(stack, n, seen) for n in range(TALKERS + STARTERS + OTHERS)]
    work = [guarded(c, "talker", talk(c, s, until)) for c, s in zip(clients, sessions)]
    work += [guarded(c, "starter", start_and_talk(c, until)) for c in clients[TALKERS : TALKERS + STARTERS]]
    work += [guarded(c, "looker", look_around(c, until)) for c in clients[TALKERS + STARTERS :]]
    await asyncio.gather(*work)
    return seen


def crowd():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
    most = TALKERS + STARTERS
    with Stack(AGENT_SIMULATOR_MAX_SESSIONS=str(most), AGENT_SIMULATOR_MAX_SESSIONS_PER_ACTOR=str(most), AGENT_SIMULATOR_WORKERS="4",
               AGENT_SIMULATOR_RATE_LIMIT_MAX_REQUESTS=str(PER_MINUTE), AGENT_SIMULATOR_READY_SECONDS="600") as stack:
        progress(f"start {TALKERS} light agents")
        sessions = [stack.create_program(diagrams.ECHO_PROGRAM) for _ in range(TALKERS)]
        progress(f"{TALKERS + STARTERS + OTHERS} clients for {SECONDS} s")
        with Cost(stack.keeper.pid) as cost:
            seen = asyncio.run(everybody(stack, sessions, SECONDS))
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    rows = [[what, len(v), *(percentile(v, p) * 1000 for p in (0.5, 0.95, 0.99)), max(v) * 1000, seen.limited[what]] for what, v in sorted(seen.took.items())]
    done, bad = sum(len(v) for v in seen.took.values()), sum(seen.errors.values())
    show(f"{len(seen.took)} kinds of requests of {TALKERS + STARTERS + OTHERS} clients in {SECONDS} s", ["", "n", "p50 ms", "p95 ms", "p99 ms", "max ms", "429 meant"], rows,
         [f"{done} answers as wanted, {sum(seen.limited.values())} times 429 as meant, {bad} errors ({bad / max(1, done + bad):.2%})",
          *(f"error: {how} ({n})" for how, n in seen.errors.most_common(10)), f"the machine was {cost.others:.0%} busy, the client included"])


def main():
    reads()
    crowd()
