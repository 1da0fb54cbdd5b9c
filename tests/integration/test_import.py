"""POST get-json-model and get-project-json-model at one worker: files that are read, files that are refused."""
import json
import urllib.parse

import pytest

from tests.integration.test_worker import Worker
from tests.support.fastcgi import ask

ONE, PROJECT = "/besser_api/get-json-model", "/besser_api/get-project-json-model"
AGENT = """
a = Agent('Desk')
s = a.new_state('s', initial=True)
b = Body('b').add_action(AgentReply('hi'))
s.set_body(b)
"""


@pytest.fixture(scope="module")
def worker():
    running = Worker()
    yield running
    running.close()


def upload(worker, content, filename="desk.agent.py", path=ONE, field="buml_file", boundary="xyz"):
    if isinstance(content, str):
        content = content.encode()
    head = f'--{boundary}\r\nContent-Disposition: form-data; name="{field}"; filename="{filename}"\r\n\r\n'.encode()
    body = head + content + f"\r\n--{boundary}--\r\n".encode()
    status, _headers, answer, _ended = ask(
        worker.path, "POST", path, body, CONTENT_TYPE=f"multipart/form-data; boundary={boundary}"
    )
    return status, json.loads(answer)


def imported(worker, content, **how):
    status, answer = upload(worker, content, **how)
    assert status == 200, answer
    return answer


def test_a_file_becomes_a_diagram(worker):
    answer = imported(worker, AGENT)
    assert list(answer) == ["title", "model", "diagramType", "exportedAt", "version", "warnings"]
    assert (answer["title"], answer["diagramType"], answer["warnings"]) == ("Desk", "AgentDiagram", [])
    assert answer["model"]["type"] == "AgentDiagram"
    names = {element["name"] for element in answer["model"]["elements"].values()}
    assert {"s", "hi"} <= names


def test_a_file_without_a_name_lends_its_own(worker):
    assert imported(worker, "a.new_state('s')")["title"] == "desk.agent"
    assert imported(worker, "a.new_state('s')", filename="C:\\\\dir\\\\x.PY")["title"] == "x"


def test_warnings_name_the_line(worker):
    warnings = imported(worker, AGENT + "a.add_property(ConfigProperty('x', 'y', 1))\nprint('z')\n")["warnings"]
    assert any(text.startswith("Line 6: add_property") for text in warnings)
    assert any(text.startswith("Line 7:") and "print('z')" in text for text in warnings)


def test_an_import_is_a_request_that_compiles(worker):
    answer = imported(worker, AGENT)
    request = json.dumps({"title": answer["title"], "model": answer["model"]}).encode()
    _status, _headers, verdict, _ended = ask(worker.path, "POST", "/besser_api/validate-diagram", request)
    assert json.loads(verdict)["isValid"] is True


@pytest.mark.parametrize("content, how, status, named", [
    (AGENT, {"filename": "desk.txt"}, 415, ".py"),
    (AGENT, {"filename": "desk"}, 415, ".py"),
    (AGENT, {"field": "file"}, 422, "buml_file"),
    (b"a = Agent('\xff')", {}, 400, "UTF-8"),
    ("a = Agent('x'\n", {}, 400, "line 1, column 10"),
    ("a = Agent('x')\n\x00", {}, 400, "null bytes"),
    ("x = 1", {}, 400, "no agent"),
    ("m = DomainModel(name='x')", {}, 400, "ClassDiagram"),
    ("sm = StateMachine(name='x')", {}, 400, "StateMachineDiagram"),
    (AGENT + "p = Project(name='p', models=[agent, domain_model_2])", {}, 400, "ClassDiagram"),
    (AGENT + "#" * (2 << 20), {}, 413, "2 MiB"),
    (AGENT + "#" * (3 << 20), {}, 413, ""),
    (AGENT + "x = " + "[" * 150 + "]" * 150, {}, 400, "100 levels"),
])
@pytest.mark.parametrize("path", [ONE, PROJECT])
def test_what_is_refused(worker, path, content, how, status, named):
    answered, answer = upload(worker, content, path=path, **how)
    assert answered == status, answer
    assert named in json.dumps(answer)


def test_bodies_that_are_no_upload(worker):
    for body, kind, wanted in [(b"", "multipart/form-data", 400), (b"--y", "multipart/form-data; boundary=x", 400),
                               (b"--x", "multipart/form-data; boundary=x", 422),
                               (b"{}", "application/json", 422), (b"buml_file=x", "application/x-www-form-urlencoded", 422),
                               (b"", "multipart/form-data; boundary=x", 422), (b"", "", 422)]:
        status, _headers, answer, _ended = ask(worker.path, "POST", ONE, body, CONTENT_TYPE=kind)
        assert status == wanted, (body, kind, answer)
        if wanted == 422:
            fault = json.loads(answer)["detail"][0]
            assert (fault["type"], fault["loc"]) == ("missing", ["body", "buml_file"])


@pytest.mark.parametrize("content", [
    AGENT.replace("\n", "\r\n"), AGENT.replace("\n", "\r"), "\ufeff" + AGENT, "# coding: latin-1\n" + AGENT, "\f\n" + AGENT,
])
def test_line_ends_and_marks(worker, content):
    assert imported(worker, content)["title"] == "Desk"


TWO = """
# AGENT MODEL 1: "First" #
###############
# AGENT MODEL #
###############
agent_1 = Agent('One')
agent_1.new_state('s').set_body(Body('b', actions=[AgentReply('''
# PROJECT DEFINITION #
models=[domain_model]
# AGENT MODEL #
''')]))
# AGENT MODEL 2 #
agent_2 = Agent('Two')
agent_2.new_state('t')
######################
# PROJECT DEFINITION #
######################
metadata = Metadata(description="say \\"hi\\"")
project = Project(name='it\\'s', models=[agent_1, agent_2], owner="me", metadata=metadata)
"""


def test_a_project_has_all_its_agents(worker):
    project = imported(worker, TWO, path=PROJECT)
    assert (project["type"], project["schemaVersion"], project["currentDiagramType"]) == ("Project", 3, "ClassDiagram")
    assert (project["name"], project["owner"], project["description"]) == ("it's", "me", 'say "hi"')
    agents = project["diagrams"]["AgentDiagram"]
    assert [entry["title"] for entry in agents] == ["First", "Two"]
    texts = [element["name"] for element in agents[0]["model"]["elements"].values()]
    assert any("# PROJECT DEFINITION #\nmodels=[domain_model]" in text for text in texts)
    assert all(project["diagrams"][kind] for kind in project["currentDiagramIndices"])
    assert imported(worker, TWO)["title"] == "First"


def test_an_exported_project_comes_back(worker):
    models = [imported(worker, AGENT.replace("Desk", title)) for title in ("One", "Two")]
    project = {"id": "p", "type": "Project", "name": "Mine", "createdAt": "2024-01-01", "owner": "me",
               "diagrams": {"AgentDiagram": [{"title": one["title"], "model": one["model"]} for one in models]}}
    status, _headers, text, _ended = ask(
        worker.path, "POST", "/besser_api/export-project-as-buml", json.dumps(project).encode()
    )
    assert status == 200, text
    back = imported(worker, text, path=PROJECT)
    assert (back["name"], back["owner"]) == ("Mine", "me")
    agents = back["diagrams"]["AgentDiagram"]
    assert [entry["title"] for entry in agents] == ["One", "Two"]
    assert [entry["model"] for entry in agents] == [one["model"] for one in models]


def test_a_single_diagram_becomes_a_project(worker):
    project = imported(worker, AGENT, path=PROJECT)
    assert (project["name"], project["owner"]) == ("Imported Project", "Unknown")
    assert project["currentDiagramType"] == project["settings"]["defaultDiagramType"] == "AgentDiagram"
    assert [entry["title"] for entry in project["diagrams"]["AgentDiagram"]] == ["Desk"]


def test_names_of_files_are_only_text(worker):
    name = urllib.parse.unquote("..%2F..%2Fetc%2F%C3%A9.py")
    assert imported(worker, "a.new_state('s')", filename=name)["title"] == "é"
