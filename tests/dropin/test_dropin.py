"""The place of the reference's simulator: the reference's own backend (PyPI besser 8.4.1), unchanged, drives this service
through the internal surface. What its clients see is then compared with what they see on our public surface, which
replaces both: the same statuses, the same bodies but for sentences and ids, the same frames."""

import contextlib
import json
import re
import uuid

import pytest
import websockets

from tests.bench.reference import Reference
from tests.support.stack import ROOT, TOKEN, Stack, wait_until

SIMULATION = "/besser_api/simulation"
PLACES = 2


def diagram(name):
    return json.loads((ROOT / "tests" / "fixtures" / "diagrams" / f"{name}.json").read_text())


class Ours:
    """Our public surface, where the backend was."""

    def __init__(self, stack):
        self.stack, self.port = stack, stack.port

    request, socket, talk, end = Stack.request, Stack.socket, Stack.talk, Stack.end


@pytest.fixture(scope="module")
def stack():
    with Stack(AGENT_SIMULATOR_MAX_SESSIONS=str(PLACES), AGENT_SIMULATOR_MAX_SESSIONS_PER_ACTOR="9",
               AGENT_SIMULATOR_DETACH_SECONDS="5") as s:
        yield s


@pytest.fixture(scope="module")
def backend(stack):
    with Reference(simulator=False, AGENT_SIMULATOR_API_TOKEN=TOKEN, AGENT_SIMULATOR_MAX_SESSIONS_PER_ACTOR="9",
                   AGENT_SIMULATOR_URL=f"http://127.0.0.1:{stack.internal_port}") as b:
        yield b


@pytest.fixture(params=["backend", "ours"])
def service(request, stack):
    """Each test runs against both: what it asserts holds for a client of either."""
    yield request.getfixturevalue("backend") if request.param == "backend" else Ours(stack)
    stack.assert_clean()


def shape(value):
    """A body without what may differ: sentences, ids, code."""
    if isinstance(value, dict):
        return {k: shape(v) for k, v in value.items()}
    if isinstance(value, list):
        return [shape(v) for v in value]
    return type(value).__name__ if isinstance(value, str) else value


def start(service, name):
    reply = service.request("POST", f"{SIMULATION}/sessions", diagram(name))
    assert reply.status == 200, reply
    body = reply.json()
    assert set(body) == {"sessionId", "eventList"}
    return str(uuid.UUID(body["sessionId"]))


def test_a_whole_conversation(service):
    session = start(service, "talk_variables")
    with service.talk(session) as talk:
        assert talk.hello == {"type": "auth_ok"}
        first = talk.until(lambda f: "action" in f)
        assert {"action", "message", "history", "timestamp"} <= set(first)
        assert first["action"] == "agent_reply_str" and first["message"] == "Hello , level ."
        talk.say("hi")
        assert talk.reply() == "You said: hi"
        kinds = {f.get("type", f.get("action")) for f in talk.frames}
        assert {"stdout", "state_change", "agent_reply_str"} <= kinds
        states = [f for f in talk.frames if f.get("type") == "state_change"]
        assert states[0] == {"type": "state_change", "state": states[0]["state"], "_source": "log_state"}
    assert service.end(session).status in (200, 404)  # the backend ends a session with its socket


def test_files_are_listed_and_the_session_deleted(service):
    session = start(service, "talk_files")
    with service.talk(session) as talk:
        talk.reply()
        listing = service.request("GET", f"{SIMULATION}/sessions/{session}/files")
        assert listing.status == 200
        body = listing.json()
        assert set(body) == {"files", "directories"} and all(set(f) == {"path", "content"} for f in body["files"])
        assert "agent.py" in {f["path"] for f in body["files"]}
        gone = service.end(session)
        assert gone.status == 200 and gone.json() == {"ok": True}
    assert service.request("GET", f"{SIMULATION}/sessions/{session}/files").status == 404


def test_a_full_service_says_so(service):
    sessions, sockets = [], []
    for _ in range(PLACES):
        sessions.append(start(service, "talk_variables"))
        sockets.append(service.talk(sessions[-1]))
    reply = service.request("POST", f"{SIMULATION}/sessions", diagram("talk_variables"))
    assert reply.status == 429 and isinstance(reply.json()["detail"], str)
    for session, talk in zip(sessions, sockets):
        assert service.end(session).status == 200
        with talk:
            pass


def close_code(service, session, first):
    with service.socket(session) as ws:
        if first is not None:
            ws.send(first)
        frame = json.loads(ws.recv(timeout=60))
        assert frame["type"] == "error" and isinstance(frame["message"], str)
        with pytest.raises(websockets.ConnectionClosed) as closed:
            ws.recv(timeout=60)
        return closed.value.rcvd.code


AUTH = json.dumps({"type": "auth", "githubSession": ""})


@pytest.mark.parametrize("session, first, code", [
    ("no-uuid", None, 4400), (str(uuid.UUID(int=7)), AUTH, 4404), (str(uuid.UUID(int=7)), "{", 4401),
    (str(uuid.UUID(int=7)), b"\x00", 4401), (str(uuid.UUID(int=7)), '{"type":"auth","githubSession":7}', 4401),
    (str(uuid.UUID(int=7)), '"auth"', 4401),
])
def test_sockets_are_refused_with_the_same_codes(service, session, first, code):
    assert close_code(service, session, first) == code


def test_answers_have_the_same_shape(backend, stack):
    ours = Ours(stack)
    assert set(ours.request("GET", SIMULATION + "/limits").json()) == set(backend.request("GET", SIMULATION + "/limits").json())
    requests = [
        ("GET", "/sessions/x/files", None), ("DELETE", "/sessions/x", None),
        ("GET", f"/sessions/{uuid.uuid4()}/files", None), ("DELETE", f"/sessions/{uuid.uuid4()}", None),
        ("POST", "/validate", diagram("talk_variables")), ("POST", "/validate", diagram("error_intent_space")),
        ("POST", "/sessions", diagram("error_intent_space")), ("POST", "/sessions", {}),
        ("POST", "/sessions", b"{"), ("POST", "/sessions", b""), ("POST", "/validate", {"title": 1, "model": []}),
        ("PUT", "/sessions", None), ("GET", "/nothing", None), ("GET", "/limits/", None),
    ]
    for method, path, body in requests:
        theirs = backend.request(method, SIMULATION + path, body)
        mine = ours.request(method, SIMULATION + path, body)
        assert mine.status == theirs.status, (method, path, theirs, mine)
        if theirs.body and theirs.headers["Content-Type"] == "application/json":
            a, b = shape(theirs.json()), shape(mine.json())
            if theirs.status == 422:  # what is wrong and where is the contract, its wording is not
                a, b = ([(e["type"], e["loc"]) for e in r.json()["detail"]] for r in (theirs, mine))
            assert a == b, (method, path)


def frames_of(service, name, words):
    session = start(service, name)
    with service.talk(session) as talk:
        talk.reply()
        for word in words:
            talk.say(word)
            talk.reply()
        with contextlib.suppress(TimeoutError):  # output and frames are two streams: one may be a moment behind
            while True:
                talk.next(timeout=2)
        frames = [f for f in talk.frames if "action" in f]
        states = [f["state"] for f in talk.frames if f.get("type") == "state_change"]
    service.end(session)
    return [(f["action"], f["message"], sorted(f)) for f in frames], states


def test_frames_are_the_same(backend, stack):
    for name, words in (("talk_variables", ["hi", "there"]), ("talk_transition_order", ["hello"])):
        theirs = frames_of(backend, name, words)
        stack.assert_clean()
        mine = frames_of(Ours(stack), name, words)
        stack.assert_clean()
        assert mine[0] == theirs[0]
        assert mine[1] == theirs[1]


def test_credentials_reach_the_agent_through_the_backend(backend, stack):
    body = {**diagram("talk_variables"), "credentials": {"openAiApiKey": "sk-drop-in", "huggingFaceToken": ""}}
    reply = backend.request("POST", f"{SIMULATION}/sessions", body)
    assert reply.status == 200, reply
    session = reply.json()["sessionId"]
    with backend.talk(session) as talk:
        talk.reply()
        files = backend.request("GET", f"{SIMULATION}/sessions/{session}/files").json()["files"]
        config = next(f["content"] for f in files if f["path"] == "config.yaml")
        assert re.search(r"api_key: *['\"]?sk-drop-in", config)
        backend.end(session)
    stack.assert_clean()


def test_a_service_that_is_down_is_503_to_the_backends_clients(backend, stack):
    stack.keeper.terminate()
    stack.keeper.wait(90)
    try:
        reply = backend.request("POST", f"{SIMULATION}/sessions", diagram("talk_variables"))
        assert reply.status == 503 and isinstance(reply.json()["detail"], str)
    finally:
        stack.start()
    wait_until(lambda: start_and_end(backend), 30, "sessions start again")


def start_and_end(service):
    reply = service.request("POST", f"{SIMULATION}/sessions", diagram("talk_variables"))
    if reply.status != 200:
        return False
    return service.end(reply.json()["sessionId"]).status == 200
