"""What a request brought is nowhere in the service when it was answered: credentials, keys in configYaml, whatever the answer"""
import contextlib
import http.client
import json
import pathlib
import re
import socket
import uuid

import pytest

from tests.bench.wire import handshake
from tests.security.test_secrets import memory
from tests.support.stack import Stack, children_of, wait_until

OPENAI, HUGGING, REPLICATE, YAML = (f"sk-{name}-that-nobody-may-keep" for name in ("openai", "hugging", "replicate", "yaml"))
SECRETS = (OPENAI, HUGGING, REPLICATE, YAML)
MARK = b"-that-nobody-may-keep"
SIMULATION = "/besser_api/simulation"
WORKERS = 2


@pytest.fixture(scope="module")
def stack():
    with Stack(AGENT_SIMULATOR_WORKERS=str(WORKERS)) as stack:
        yield stack


def held(pids):
    """The processes that hold a secret, and which."""
    found = {}
    for pid in pids:
        content = memory(pid)
        if MARK in content:
            found[pathlib.Path(f"/proc/{pid}/comm").read_text().strip()] = [s for s in SECRETS if s.encode() in content]
    return found


def all_of(stack):
    pids = [stack.keeper.pid]
    pids += [pid for name in ("agentsim-fcgi", "agentsim-supervisor", "agentsim-launcher", "nginx") for pid in stack.children(name)]
    pids += [pid for master in stack.children("nginx") for pid in children_of(master)]
    pids += [pid for worker in stack.children("agentsim-fcgi") for pid in children_of(worker)]
    assert len(pids) >= WORKERS + 5
    return pids


def states(diagram, count):
    """A diagram of many states, each with its own text."""
    request = diagram("hello_minimal")
    elements = request["model"]["elements"]
    state = next(e for e in elements.values() if e["type"] == "AgentState")
    for n in range(count):
        elements[f"more{n}"] = {**state, "id": f"more{n}", "name": f"more_{n}", "bodies": [], "fallbackBodies": []}
    return request


def requests(diagram):
    """(path, body, expected status)"""
    good = diagram("hello_minimal")
    keys = {"openAiApiKey": OPENAI, "huggingFaceToken": HUGGING, "replicateApiKey": REPLICATE}
    yaml = f"nlp:\n  openai:\n    api_key: {YAML}\n"
    full = {**good, "credentials": keys, "configYaml": yaml}
    for body in (full, {**states(diagram, 300), "credentials": keys, "configYaml": yaml}):
        yield "/validate", body, 200
    for spoilt in ({"configYaml": yaml + "\tx: ["}, {"configYaml": yaml + "x" * 200_000}, {"configYaml": f"[{YAML}]"}, {"model": {}},
                   {"title": " "}, {"credentials": {**keys, "openAiApiKey": OPENAI * 3000}}, {"credentials": {**keys, OPENAI: OPENAI}},
                   {"model": {**good["model"], "elements": {"x": YAML}}}):
        yield "/validate", {**full, **spoilt}, 200
    for spoilt in ({"configYaml": yaml + "\tx: ["}, {"model": {}}, {"credentials": {**keys, "openAiApiKey": OPENAI * 3000}}):
        yield "/sessions", {**full, **spoilt}, 400
    for spoilt in ({"credentials": [OPENAI]}, {"credentials": {"openAiApiKey": [OPENAI]}}, {"credentials": OPENAI}, {"model": YAML},
                   {"configYaml": [YAML]}, {"title": None}):
        for path in ("/validate", "/sessions"):
            yield path, {**full, **spoilt}, 422
    text = json.dumps(full)
    for broken in (text[:-1], text + "]", text.replace(OPENAI, OPENAI + "\\u0000"), text.replace(OPENAI, OPENAI + "\\ud800"),
                   text.replace(OPENAI, OPENAI + "\\q"), text.replace(OPENAI, OPENAI + "\xff"), text + "1" * 5000,
                   text[:-1] + ',"n":' + "1" * 100 + "}"):
        yield "/validate", broken.encode("latin-1"), None
    yield "/validate", {**full, "title": "x" * 3_000_000}, None
    yield "/sessions", full, 200


def test_what_a_request_brought_is_forgotten(stack, diagram):
    seen = set()
    for path, body, status in requests(diagram):
        reply = stack.post(SIMULATION + path, body)
        assert status in (None, reply.status), (path, str(body)[-300:], reply)
        seen.add(reply.status)
        if path == "/sessions" and reply.status == 200:
            stack.end(reply.json()["sessionId"])
        # A client may have its answer a moment before the worker is through.
        wait_until(lambda: not held(stack.children("agentsim-fcgi")), 10, f"{path} is forgotten: {str(body)[-300:]}")
    wait_until(lambda: not held(all_of(stack)), 10, "all is forgotten")
    assert seen >= {200, 400, 422}, seen
    stack.assert_clean()


def nginx_of(stack):
    masters = stack.children("nginx")
    return masters + [pid for master in masters for pid in children_of(master)]


def test_headers_are_forgotten_while_the_connection_stays(stack):
    connection = http.client.HTTPConnection("127.0.0.1", stack.port)
    fields = {"Authorization": f"Bearer {OPENAI}", "Cookie": "x" * 3000 + HUGGING}
    for path in ("/", "/no-such-page", f"{SIMULATION}/limits"):
        connection.request("GET", path, headers=fields)
        connection.getresponse().read()
        wait_until(lambda: not held(all_of(stack)), 10, f"{path} is forgotten")
    connection.close()


def unmasked(text):
    """A frame whose mask changes nothing, so that its text can be found on its way."""
    assert 125 < len(text) < 65536
    return bytes([0x81, 0x80 | 126]) + len(text).to_bytes(2, "big") + bytes(4) + text


def test_what_a_socket_brought_is_forgotten_with_it(stack):
    """By nginx all of it, by the supervisor the sign-in: the frames behind it are words of a conversation."""
    auth = json.dumps({"type": "auth", "githubSession": OPENAI}).ljust(200).encode()
    with socket.create_connection(("127.0.0.1", stack.port), 60) as s:
        s.sendall(handshake(f"{SIMULATION}/3f2b8a90-0000-4000-8000-000000000001/ws", stack.port, [("Cookie", YAML)]))
        assert b" 101 " in s.recv(4096)
        assert held(nginx_of(stack)), "the test looks where it is"
        s.sendall(unmasked(auth) + unmasked(REPLICATE.encode() * 1900) * 3)
        with contextlib.suppress(ConnectionResetError):
            while s.recv(4096):
                pass
    wait_until(lambda: not held(nginx_of(stack)), 10, "nginx has forgotten the conversation")
    wait_until(lambda: not any(OPENAI in secrets for secrets in held(all_of(stack)).values()), 10, "the sign-in is forgotten")


def kib_of_buffers(pid):
    """What of the addresses of FORGET_SLOTS buffers is there."""
    parts = re.findall(r"^Size: +(\d+) kB$.*?^Rss: +(\d+) kB$", pathlib.Path(f"/proc/{pid}/smaps").read_text(), re.M | re.S)
    (there,) = (int(rss) for size, rss in parts if int(size) >= 2 << 20)
    return there


def test_an_idle_socket_holds_no_page_of_its_buffers(stack):
    """Not even the one with the supervisor's answer, of which nothing is missing."""
    workers = [pid for master in stack.children("nginx") for pid in children_of(master)]
    with contextlib.ExitStack() as sockets:
        for _ in range(50):
            s = sockets.enter_context(socket.create_connection(("127.0.0.1", stack.port), 60))
            s.sendall(handshake(f"{SIMULATION}/3f2b8a90-0000-4000-8000-000000000001/ws", stack.port))
            answer = http.client.HTTPResponse(s)
            answer.begin()
            assert answer.status == 101 and answer.headers["Sec-WebSocket-Accept"].endswith("=")
            assert str(uuid.UUID(answer.headers["X-Request-ID"])) == answer.headers["X-Request-ID"]
            assert answer.headers["X-Content-Type-Options"] == "nosniff" and "default-src 'none'" in answer.headers["Content-Security-Policy"]
        assert sum(map(kib_of_buffers, workers)) < 50 * 4 / 2
        s.sendall(unmasked(b"{}".ljust(200)))
        assert b"error" in s.recv(4096), "what comes then finds its way"
