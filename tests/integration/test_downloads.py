"""POST generate-output and validate-diagram at one worker: the archive, refusals, verdicts with warnings."""
import io
import json
import zipfile

import pytest

from tests.integration.test_worker import Worker
from tests.support.fastcgi import ask

GENERATE, JUDGE = "/besser_api/generate-output", "/besser_api/validate-diagram"


@pytest.fixture(scope="module")
def worker():
    running = Worker()
    yield running
    running.close()


def drawn(greeting="hello", **elements):
    return {
        "type": "AgentDiagram",
        "elements": {"i": {"type": "StateInitialNode"}, "s": {"type": "AgentState", "name": "hub", "actions": ["a"]},
                     "a": {"actionType": "TextReplyAction", "name": greeting}, **elements},
        "relationships": {"r": {"type": "AgentStateTransitionInit", "source": {"element": "i"}, "target": {"element": "s"}}},
    }


def post(worker, path, **members):
    body = {"title": "Guide", "model": drawn(), **members}
    status, headers, answer, _ended = ask(worker.path, "POST", path, json.dumps(body).encode())
    return status, {name.lower(): value for name, value in headers.items()}, answer


def archive(worker, **members):
    status, headers, answer = post(worker, GENERATE, generator="agent", **members)
    assert status == 200, answer
    assert headers["content-type"] == "application/zip"
    assert headers["content-disposition"].startswith('attachment; filename="agent_output.zip"')
    with zipfile.ZipFile(io.BytesIO(answer)) as opened:
        assert opened.testzip() is None
        return {info.filename: opened.read(info).decode() for info in opened.infolist()}


def detail(worker, **members):
    status, _headers, answer = post(worker, GENERATE, **{"generator": "agent", **members})
    assert status == 400
    return json.loads(answer)["detail"]


def test_an_archive_holds_one_program(worker):
    files = archive(worker, configYaml="nlp:\n  language: fr\n", config={"agentPlatform": "telegram"})
    assert set(files) == {"Guide.py", "agent_model.py", "config.yaml", "readme.txt"}
    assert files["config.yaml"] == "nlp:\n  language: fr\n"
    assert "use_telegram_platform()" in files["Guide.py"] and "python Guide.py" in files["readme.txt"]
    assert files == archive(worker, configYaml="nlp:\n  language: fr\n", config={"agentPlatform": "telegram"})


def test_an_archive_holds_profiles(worker):
    mapping = [{"name": "the kids", "user_profile": {"age": 9}, "agent_model": drawn("hi")}]
    files = archive(worker, config={"personalizationMapping": mapping})
    assert set(files) == {"Guide.py", "agent_model.py", "config.yaml", "readme.txt", "user_profiles.json"}
    assert json.loads(files["user_profiles.json"]) == [{"name": "the kids", "user_profile": {"age": 9}}]
    assert "'hub_the_kids'" in files["Guide.py"] and "'router_initial_state', initial=True" in files["Guide.py"]


@pytest.mark.parametrize("config, folders", [
    ({"languages": {"target": ["fr", "pt-BR"]}}, {"default", "fr", "pt-BR"}),
    ({"baseModel": drawn("base"), "variations": [{"name": "../../x y", "model": drawn("ho")}]}, {"_.._x_y"}),
    ({"configurations": [{"name": "café", "configuration": {}}, {"configuration": {}}]}, {"caf_", "configuration_2"}),
])
def test_an_archive_holds_folders(worker, config, folders):
    files = archive(worker, config=config)
    assert {name.split("/")[0] for name in files if "/" in name} == folders
    for folder in folders:
        compile(files[f"{folder}/Guide.py"], folder, "exec")


@pytest.mark.parametrize("members, named", [
    ({"config": {"personalizationMapping": [{"user_profile": {}}, {"name": "x"}]}}, "personalizationMapping[1]"),
    ({"config": {"languages": {"target": ["../fr"]}}}, "../fr"),
    ({"config": {"baseModel": drawn(), "variations": [{"model": drawn(s={"type": "AgentState", "name": "a b"})}]}},
     "variations[0]"),
    ({"model": drawn(s={"type": "AgentState", "name": "a-b"})}, "a-b"),
    ({"generator": "django"}, "django"),
    ({"generator": None}, "agent"),
    ({"model": {}}, "no state"),
])
def test_what_cannot_be_built_is_refused(worker, members, named):
    assert named in detail(worker, **members)


def test_a_download_may_do_what_a_session_may_not(worker):
    code = {"actionType": "CustomCodeAction", "name": "def f(session):\n    import subprocess"}
    assert "import subprocess" in archive(worker, model=drawn(a=code))["Guide.py"]


# ---- validate-diagram


def verdict(worker, **members):
    status, headers, answer = post(worker, JUDGE, **members)
    assert status == 200 and headers["content-type"] == "application/json"
    verdict = json.loads(answer)
    assert set(verdict) == {"isValid", "errors", "warnings", "message"} and verdict["message"]
    assert verdict["isValid"] == (not verdict["errors"])
    return verdict


def test_a_right_diagram_is_valid(worker):
    assert verdict(worker) == {**verdict(worker), "isValid": True, "errors": [], "warnings": []}
    assert verdict(worker, model={})["isValid"]  # an empty model is one (4.2); a program of it is refused


def test_warnings_do_not_make_a_diagram_invalid(worker):
    tool = {"type": "AgentTool", "name": "f", "code": "def f():\n    return 1"}
    space = {"type": "AgentWorkspace", "name": "notes", "path": "notes"}
    found = verdict(worker, model=drawn(t=tool, w=space), config={"language": "french"})
    assert found["isValid"] and len(found["warnings"]) == 3
    for name in ('"f"', '"notes"', '"french"'):
        assert any(name in warning for warning in found["warnings"])


def test_what_will_not_work_in_a_session_is_told(worker):
    """The warnings of `agentsim validate`: models that no session can run, intents that nothing recognises."""
    local = {"type": "AgentLLM", "name": "bert", "provider": "huggingface"}
    found = verdict(worker, model=drawn(l=local))
    assert found["isValid"] and any('"bert"' in warning and "transformers" in warning for warning in found["warnings"])
    found = verdict(worker, model=drawn(n={"type": "AgentIntent", "name": "hello"}))
    assert found["isValid"] and any("no LLM" in warning for warning in found["warnings"])


def test_errors_and_warnings_come_together(worker):
    tools = {"t": {"type": "AgentTool", "name": "f", "code": "def f():\n    return 1"},
             "u": {"type": "AgentTool", "name": "g.h", "code": "x = 1", "description": "d"}}
    found = verdict(worker, model=drawn(**tools))
    assert not found["isValid"] and len(found["errors"]) == 2 and len(found["warnings"]) == 1
    assert all("g.h" in error for error in found["errors"])


@pytest.mark.parametrize("members, named", [
    ({"model": drawn(s={"type": "AgentState", "name": "a b"})}, "a b"),
    ({"model": {"elements": [1]}}, "model.elements"),
    ({"model": {"elements": {"x": 1}}}, "model.elements.x"),
    ({"title": "My-Agent"}, "My-Agent"),
    ({"model": drawn("a\x00b")}, "U+0000"),
    ({"model": {"type": "ClassDiagram", "elements": {}}}, "ClassDiagram"),
    ({"model": {"type": "Nope"}}, "Nope"),
])
def test_a_wrong_diagram_is_a_verdict_and_no_failure(worker, members, named):
    found = verdict(worker, **members)
    assert not found["isValid"] and named in " ".join(found["errors"])


def test_what_is_no_diagram_request_is_refused(worker):
    for path in (JUDGE, GENERATE):
        for body, kind in ((b"{", "json_invalid"), (b"", "missing"), (b"[]", "model_attributes_type"),
                           (b'{"title": 5, "model": []}', "string_type"), (b"{}", "missing")):
            status, _headers, answer, _ended = ask(worker.path, "POST", path, body)
            assert status == 422, (path, body)
            assert json.loads(answer)["detail"][0]["type"] == kind


# ---- export-buml


def test_a_diagram_is_exported_as_python(worker):
    status, headers, answer = post(worker, "/besser_api/export-buml", model=drawn("it's"))
    assert status == 200 and headers["content-type"].startswith("text/plain")
    assert headers["content-disposition"].startswith('attachment; filename="agent_buml.py"')
    compile(answer, "agent_buml.py", "exec")
    assert b"AgentReply('it\\x27s')" in answer and answer.isascii() and b"\r" not in answer
    assert archive(worker, model=drawn("it's"))["agent_model.py"] == answer.decode()


@pytest.mark.parametrize("members, status, named", [
    ({"model": {"type": "StateMachineDiagram"}}, 400, "StateMachineDiagram"),
    ({"model": drawn(s={"type": "AgentState", "name": "a b"})}, 400, "a b"),
    ({"model": drawn("a\x00b")}, 400, "U+0000"),
    ({"model": 7}, 422, "dict_type"),
])
def test_what_is_not_exported(worker, members, status, named):
    answered, _headers, answer = post(worker, "/besser_api/export-buml", **members)
    assert answered == status and named in answer.decode()


def project(**diagrams):
    return {"id": "p", "type": "Project", "createdAt": "2024-01-01", "name": "Mine", "diagrams": diagrams}


def test_a_project_of_agents_is_exported(worker):
    agents = [{"title": "One", "model": drawn()}, {"title": "Two", "model": drawn("hi")}]
    body = json.dumps(project(AgentDiagram=agents, ClassDiagram=[{"title": "c", "model": {"elements": {}}}])).encode()
    status, headers, answer, _ended = ask(worker.path, "POST", "/besser_api/export-project-as-buml", body)
    assert status == 200 and "project.py" in {k.lower(): v for k, v in headers.items()}["content-disposition"]
    compile(answer, "project.py", "exec")
    assert b"models=[agent_1, agent_2]" in answer


def test_a_project_of_other_diagrams_is_refused_by_name(worker):
    body = json.dumps(project(ClassDiagram=[{"title": "c", "model": {"elements": {"x": {}}}}])).encode()
    status, _headers, answer, _ended = ask(worker.path, "POST", "/besser_api/export-project-as-buml", body)
    assert status == 400 and b"ClassDiagram" in answer


@pytest.mark.parametrize("diagrams, kind, place", [
    ([None], "model_attributes_type", [0]), ([{"title": "x", "model": {}}, "y"], "model_attributes_type", [1]),
    ([{"title": "x"}], "missing", [0, "model"]), ([{"model": {}}], "missing", [0, "title"]),
    ({"title": 5, "model": {}}, "string_type", [0, "title"]), (7, "list_type", []),
])
def test_what_is_no_diagram_in_a_project_is_named(worker, diagrams, kind, place):
    body = json.dumps(project(AgentDiagram=diagrams)).encode()
    status, _headers, answer, _ended = ask(worker.path, "POST", "/besser_api/export-project-as-buml", body)
    fault = json.loads(answer)["detail"][0]
    assert (status, fault["type"], fault["loc"]) == (422, kind, ["body", "diagrams", "AgentDiagram", *place])
