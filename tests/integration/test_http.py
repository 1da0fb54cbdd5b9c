"""Statuses, bodies and headers of the REST surface, through nginx: http-api contract, sections 1, 6 and 8."""
import io
import json
import socket
import uuid
import zipfile

import pytest
from websockets.exceptions import ConnectionClosed

from tests.support import draw
from tests.support.stack import Stack, wait_until

VALIDATE = "/besser_api/simulation/validate"
SESSIONS = "/besser_api/simulation/sessions"
NOBODYS = "3f2c1b6e-0d41-4c39-9d1e-5a7f7d0b8a11"
SECURITY_HEADERS = {"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY",
                    "Referrer-Policy": "strict-origin-when-cross-origin"}


def good(**members):
    return {"title": "T", "model": {"type": "AgentDiagram", "elements": {}, "relationships": {}}, **members}


def fault(reply):
    assert reply.status == 422, reply
    return [(f["type"], f["loc"]) for f in reply.json()["detail"]]


def test_health_and_root(stack):
    assert stack.get("/health").json() == {"status": "ok"}
    root = stack.get("/besser_api/").json()
    assert "agent" in json.dumps(root) and any("simulation/sessions" in json.dumps(v) for v in root.values())


def test_limits(stack):
    limits = stack.get("/besser_api/simulation/limits").json()
    assert limits == {"memoryMb": None, "cpuCores": None, "diskMb": None, "sessionLifetimeSeconds": 900,
                      "editorQuotaEnabled": False}


@pytest.mark.parametrize("path", ["/health", "/besser_api/simulation/limits", "/nothing", SESSIONS + "/x", "/"])
def test_every_answer_has_a_request_id_and_the_security_headers(stack, path):
    reply = stack.get(path)
    assert uuid.UUID(reply.headers["X-Request-ID"])
    assert len(reply.headers.get_all("X-Request-ID")) == 1
    for name, value in SECURITY_HEADERS.items():
        assert reply.headers.get_all(name) == [value]
    assert "unsafe-eval" not in reply.headers["Content-Security-Policy"]
    assert "camera=()" in reply.headers["Permissions-Policy"]


@pytest.mark.parametrize("method, path, status, allow", [
    ("GET", "/nothing/here", 404, None),
    ("GET", "/besser_api/nothing", 404, None),
    ("GET", VALIDATE, 405, "POST"),
    ("DELETE", "/health", 405, "GET"),
    ("PUT", SESSIONS, 405, "POST"),
    ("GET", "/besser_api/simulation/limits/", 307, None),
    ("GET", SESSIONS + "/not-a-uuid/files", 400, None),
    ("GET", f"{SESSIONS}/{NOBODYS}/files", 404, None),
    ("GET", f"{SESSIONS}/{NOBODYS.replace('-', '')}/files", 404, None),
    ("GET", f"{SESSIONS}/%7Burn:uuid:{NOBODYS.upper()}%7D/files", 404, None),
    ("GET", f"{SESSIONS}/{NOBODYS}0/files", 400, None),
    ("DELETE", f"{SESSIONS}/{NOBODYS}", 404, None),
    ("DELETE", SESSIONS + "/..%2f..%2fetc", 400, None),
])
def test_routes(stack, method, path, status, allow):
    reply = stack.request(method, path)
    assert reply.status == status, reply
    if allow:
        assert allow in reply.headers["Allow"]
    if status >= 400:
        assert isinstance(reply.json()["detail"], str)
    if status == 404 and "nothing" in path:
        assert reply.json() == {"detail": "Not Found"}
    if status == 307:
        assert reply.headers["Location"].endswith("/besser_api/simulation/limits")


@pytest.mark.parametrize("body, kind, location", [
    (b"", "missing", ["body"]),
    (b"{", "json_invalid", None),
    (b'{"title": "x"', "json_invalid", None),
    (b"null", "model_attributes_type", ["body"]),
    (b"[]", "model_attributes_type", ["body"]),
    (b'"x"', "model_attributes_type", ["body"]),
    (b'{"model": {}}', "missing", ["body", "title"]),
    (b'{"title": "x"}', "missing", ["body", "model"]),
    (b'{"title": 1, "model": {}}', "string_type", ["body", "title"]),
    (b'{"title": "x", "model": []}', "dict_type", ["body", "model"]),
    (b'{"title": "x", "model": {}, "configYaml": 4}', "string_type", ["body", "configYaml"]),
])
@pytest.mark.parametrize("path", [VALIDATE, SESSIONS])
def test_schema_faults_are_422(stack, path, body, kind, location):
    faults = fault(stack.post(path, body))
    assert faults[0][0] == kind
    if location:
        assert faults[0][1] == location


def test_several_faults_come_in_schema_order(stack):
    assert fault(stack.post(VALIDATE, b"{}")) == [("missing", ["body", "title"]), ("missing", ["body", "model"])]


@pytest.mark.parametrize("body", [b'{"title": "\xff", "model": {}}', b'{"title":' + b"[" * 1500 + b"]" * 1500 + b"}"])
def test_what_no_reader_should_take_is_400(stack, body):
    reply = stack.post(VALIDATE, body)
    assert reply.status == 400 and reply.json()["detail"]


@pytest.mark.parametrize("content_type, status", [
    ("application/json", 200), ("application/json; charset=utf-8", 200), ("application/ld+json", 200), ("text/plain", 422)])
def test_content_types(stack, diagram, content_type, status):
    reply = stack.post(VALIDATE, diagram("hello_minimal"), headers={"Content-Type": content_type})
    assert reply.status == status, reply


def test_a_byte_order_mark_and_unknown_members_are_accepted(stack, diagram):
    body = b"\xef\xbb\xbf" + json.dumps({**diagram("hello_minimal"), "unknown": [1]}).encode()
    assert stack.post(VALIDATE, body).json()["valid"] is True


def test_validate_shows_the_program(stack, diagram):
    reply = stack.post(VALIDATE, diagram("talk_ticket_machine"))
    assert reply.status == 200
    verdict = reply.json()
    assert verdict["valid"] is True and verdict["errors"] == [] and verdict["eventList"] == ["ReceiveTextEvent"]
    assert "Tickets here. Where to?" in verdict["agentCode"]
    compile(verdict["agentCode"], "agent.py", "exec")


@pytest.mark.parametrize("name, word", [
    ("error_no_initial_state", "initial"), ("error_state_twice", ""), ("lint_import_os", "os"), ("error_workspace_parent", ""),
    ("error_no_states", "state"), ("error_shape_element_null", "")])
def test_bad_diagrams_are_refused_by_both_routes(stack, diagram, name, word):
    verdict = stack.post(VALIDATE, diagram(name))
    assert verdict.status in (200, 400), verdict
    if verdict.status == 200:
        assert verdict.json()["valid"] is False and verdict.json()["errors"]
        assert word in json.dumps(verdict.json()["errors"])
    refused = stack.post(SESSIONS, diagram(name))
    assert refused.status == 400 and word in refused.json()["detail"]


def test_bad_yaml_names_its_line(stack, diagram):
    body = {**diagram("hello_minimal"), "configYaml": "a: 1\nb: [unclosed\n"}
    assert stack.post(VALIDATE, body).json()["valid"] is False
    refused = stack.post(SESSIONS, body)
    assert refused.status == 400 and "line" in refused.json()["detail"]


def test_u0000_is_refused_and_half_a_character_is_repaired(stack, diagram):
    text = json.dumps({**diagram("hello_minimal"), "title": "a\0b"})
    assert "\\u0000" in text
    assert stack.post(SESSIONS, text.encode()).status == 400
    verdict = stack.post(VALIDATE, {**diagram("text_half_character")})
    assert verdict.status == 200 and verdict.json()["valid"] is True


def test_credentials_never_come_back(stack, diagram):
    body = {**diagram("error_state_twice"), "credentials": {"openAiApiKey": "sk-very-secret-1"}}
    for reply in (stack.post(SESSIONS, body), stack.post(VALIDATE, {**body, "model": diagram("hello_minimal")["model"]})):
        assert b"sk-very-secret-1" not in reply.body
    assert "sk-very-secret-1" not in stack.log_text()


def test_a_body_over_50_mib_is_413(stack):
    with socket.create_connection(("127.0.0.1", stack.port), 60) as client:
        client.sendall(b"POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
                       % (VALIDATE.encode(), 50 * 1024 * 1024 + 1))
        answer = client.recv(65536)
    assert b" 413 " in answer.split(b"\r\n")[0] and b'{"detail"' in answer


def test_a_body_of_exactly_50_mib_is_read(stack):
    head, tail = b'{"title": "', b'"}'
    body = head + b"x" * (50 * 1024 * 1024 - len(head) - len(tail)) + tail
    assert fault(stack.post(VALIDATE, body)) == [("missing", ["body", "model"])]


def test_two_sessions_start_by_other_letter_case(stack, diagram):
    session = stack.create(diagram("hello_minimal"))
    assert stack.state(session.upper()).json()["sessionId"] == session
    stack.end(session)


def test_session_state(stack, diagram):
    session = stack.create(diagram("hello_minimal"))
    with stack.talk(session) as talk:
        talk.reply()
        state = stack.state(session).json()
        assert state["framesSent"] >= len(talk.frames)
        assert state["sessionId"] == session and state["attached"] is True and state["exit"] is None
        assert state["expiresAt"] > state["startedAt"]
    stack.end(session)


def test_a_file_and_the_archive_can_be_downloaded(stack, diagram):
    session = stack.create(diagram("hello_minimal"))
    with stack.talk(session) as talk:
        talk.reply()
    base = f"{SESSIONS}/{session}"
    one = stack.get(f"{base}/files/agent.py")
    assert one.status == 200 and "attachment" in one.headers["Content-Disposition"] and b"Agent(" in one.body
    archive = stack.get(f"{base}/archive")
    assert archive.headers["Content-Type"] == "application/zip"
    with zipfile.ZipFile(io.BytesIO(archive.body)) as z:
        assert z.read("agent.py") == one.body and z.testzip() is None
    for path in ("missing", "../x", "%2e%2e/x", "..%2fx", "tmp", "/etc/passwd"):
        assert stack.get(f"{base}/files/{path}").status in (400, 404)
    stack.end(session)


def test_a_file_with_a_backslash_in_its_name_can_be_downloaded(stack):
    d = draw.Diagram("Windows")
    d.state("start", draw.code(r"""
        import pathlib
        pathlib.Path("C:\\notes.txt").write_text("mine")
        session.reply("done")"""))
    session = stack.create(d.request())
    with stack.talk(session) as talk:
        talk.reply()
    base = f"{SESSIONS}/{session}"
    assert {"path": "C:\\notes.txt", "content": "mine"} in stack.get(f"{base}/files").json()["files"]
    one = stack.get(f"{base}/files/C%3A%5Cnotes.txt")
    assert (one.status, one.body) == (200, b"mine") and 'filename="C:_notes.txt"' in one.headers["Content-Disposition"]
    with zipfile.ZipFile(io.BytesIO(stack.get(f"{base}/archive").body)) as z:
        assert z.read("C__notes.txt") == b"mine"
    assert stack.get(f"{base}/files/..%5Cagent.py").status == 404
    stack.end(session)


def test_cors_preflight():
    with Stack(CORS_ORIGINS="https://editor.example,https://other.example") as allowed:
        headers = {"Origin": "https://editor.example", "Access-Control-Request-Method": "POST"}
        reply = allowed.request("OPTIONS", SESSIONS, headers=headers)
        assert reply.status == 200 and reply.headers["Access-Control-Allow-Origin"] == "https://editor.example"
        assert reply.headers["Access-Control-Max-Age"] == "600"
        foreign = allowed.request("OPTIONS", SESSIONS, headers={**headers, "Origin": "https://evil.example"})
        assert foreign.status == 400 and "Access-Control-Allow-Origin" not in foreign.headers
        plain = allowed.get("/health", headers={"Origin": "https://other.example"})
        assert plain.headers["Access-Control-Allow-Origin"] == "https://other.example"


def test_sign_in_needed(diagram):
    with Stack(AGENT_SIMULATOR_REQUIRE_AUTH="true") as closed:
        assert closed.post(SESSIONS, diagram("hello_minimal")).status == 401
        assert closed.post(VALIDATE, diagram("hello_minimal")).status == 401
        assert closed.get(f"{SESSIONS}/{uuid.uuid4()}/files").status == 401
        assert closed.post(VALIDATE, b"{").status == 422  # the body is looked at first
        with closed.socket(uuid.uuid4()) as ws:
            ws.send(json.dumps({"type": "auth", "githubSession": "x" * 40}))
            assert json.loads(ws.recv(timeout=60))["type"] == "error"
            with pytest.raises(ConnectionClosed) as ended:
                ws.recv(timeout=60)
            assert ended.value.rcvd.code == 4401


def test_rate_limit_cap_and_restriction(diagram):
    with Stack(AGENT_SIMULATOR_RATE_LIMIT_MAX_REQUESTS="4", AGENT_SIMULATOR_MAX_SESSIONS_PER_ACTOR="1",
               AGENT_SIMULATOR_RESTRICT_CUSTOM_CODE="true") as strict:
        restricted = strict.post(SESSIONS, diagram("talk_custom_code"))
        assert restricted.status == 403
        verdict = strict.post(VALIDATE, diagram("talk_custom_code"))
        assert verdict.status == 200 and verdict.json()["valid"] is False
        session = strict.create(diagram("hello_minimal"))
        assert strict.post(SESSIONS, diagram("hello_minimal")).status == 429  # detached or starting: one session per owner
        over = strict.post(VALIDATE, diagram("hello_minimal"))
        assert over.status == 429 and 1 <= int(over.headers["Retry-After"]) <= 60
        strict.end(session)


def test_the_internal_surface_wants_its_token(stack):
    for token in (None, "", "wrong", stack.env["AGENT_SIMULATOR_API_TOKEN"] + "x"):
        assert stack.internal("GET", "/health", token=token).status == 401
        assert stack.internal("DELETE", f"/sessions/{uuid.uuid4()}", token=token).status == 401
        for path in ("/nothing", f"/sessions/{uuid.uuid4()}/ws", f"/sessions/{uuid.uuid4()}/ws/"):
            assert stack.internal("GET", path, token=token).status == 401
    assert stack.internal("GET", f"/sessions/{uuid.uuid4()}/ws").status == 404
    health = stack.internal("GET", "/health").json()
    assert health["status"] == "ok" and health["sandbox"] == "ok"
    assert stack.internal("DELETE", f"/sessions/{uuid.uuid4()}").json() == {"ok": True}
