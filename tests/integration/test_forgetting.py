"""What a request brought is nowhere in the service when it was answered: credentials, keys in configYaml, whatever the answer"""
import json
import pathlib

import pytest

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
    assert not held(all_of(stack))
    assert seen >= {200, 400, 422}, seen
    stack.assert_clean()
