"""docs/openapi.json against the service that serves it: the same addresses, the same methods, the same answers."""

import json
import uuid

import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import validate

from tests.support.stack import ROOT, Stack

GREETER = {"title": "greeter", "model": json.loads((ROOT / "tests/golden/greeter.json").read_text())["model"]}
SIMULATION = "/besser_api/simulation"


@pytest.fixture(scope="module")
def stack():
    with Stack() as s:
        yield s


@pytest.fixture(scope="module")
def document(stack):
    reply = stack.get("/besser_api/openapi.json")
    assert reply.status == 200 and reply.headers["Content-Type"] == "application/json"
    return reply.json()


def methods(document, path):
    return {m.upper() for m in document["paths"][path] if m in ("get", "post", "put", "delete")}


def check(document, path, method, reply):
    """The answer's status is one of the document's, its body what the document says."""
    answers = document["paths"][path][method]["responses"]
    assert str(reply.status) in answers, reply
    answer = answers[str(reply.status)]
    if "$ref" in answer:
        answer = document["components"]["responses"][answer["$ref"].rpartition("/")[2]]
    media = reply.headers["Content-Type"].partition(";")[0]
    assert media in answer["content"], reply
    if media == "application/json":
        schema = {**answer["content"][media]["schema"], "components": document["components"]}
        Draft202012Validator(schema).validate(reply.json())
    assert uuid.UUID(reply.headers["X-Request-ID"])


def test_it_is_openapi_3_1_and_of_this_version(document):
    validate(document)
    makefile = (ROOT / "Makefile").read_text()
    assert f"VERSION := {document['info']['version']}\n" in makefile


def test_it_names_exactly_the_routes_there_are(stack, document):
    routes = {(e["method"], e["path"].replace("{path*}", "{path}")) for e in stack.get("/besser_api/").json()["endpoints"]}
    routes.discard(("GET", SIMULATION + "/{id}/ws"))
    assert routes == {(m, path) for path in document["paths"] for m in methods(document, path)}


def test_every_address_refuses_other_methods_and_names_its_own(stack, document):
    for path in document["paths"]:
        address = path.replace("{id}", str(uuid.uuid4())).replace("{path}", "a/b.txt")
        reply = stack.request("PATCH", address)
        assert reply.status == 405, (path, reply)
        allowed = {m.strip() for m in reply.headers["Allow"].split(",")} - {"HEAD", "OPTIONS"}
        assert allowed == methods(document, path), path


def test_answers_are_what_it_says(stack, document):
    def ask(path, method="get", body=None, **arguments):
        reply = stack.request(method.upper(), path.format(**arguments), body)
        check(document, path, method, reply)
        return reply

    for path in ("/health", "/besser_api/", "/besser_api/openapi.json", SIMULATION + "/limits"):
        assert ask(path).status == 200
    for body in (GREETER, {**GREETER, "model": {"elements": {}}}):
        ask(SIMULATION + "/validate", "post", body)
        ask("/besser_api/validate-diagram", "post", body)
        ask("/besser_api/export-buml", "post", body)
        ask("/besser_api/generate-output", "post", {**body, "generator": "agent"})
    for path in (SIMULATION + "/validate", SIMULATION + "/sessions", "/besser_api/generate-output", "/besser_api/export-buml"):
        assert ask(path, "post", {"title": 1}).status == 422
        assert ask(path, "post", b"{").status == 422

    session = ask(SIMULATION + "/sessions", "post", GREETER).json()["sessionId"]
    with stack.talk(session) as talk:
        talk.say("hello")
        talk.reply()
    for path in ("", "/files", "/archive", "/transcript"):
        assert ask(SIMULATION + "/sessions/{id}" + path, id=session).status == 200
        assert ask(SIMULATION + "/sessions/{id}" + path, id=uuid.uuid4()).status == 404
        assert ask(SIMULATION + "/sessions/{id}" + path, id="x").status == 400
    assert ask(SIMULATION + "/sessions/{id}", "delete", id=session).status == 200
