"""Projects of agents as one file: executed with the reference's metamodel, and read by its importer."""

from __future__ import annotations

import json

import pytest

from tests.buml.exporting import drawn
from tests.integration.test_worker import Worker
from tests.support.fastcgi import ask

EXPORT = "/besser_api/export-project-as-buml"


@pytest.fixture(scope="module", name="worker")
def worker_fixture():
    running = Worker()
    yield running
    running.close()


def export(worker, *diagrams, **members):
    project = {"id": "p", "type": "Project", "name": "Mine", "createdAt": "2024-01-01", **members}
    project["diagrams"] = {"AgentDiagram": [dict(diagram) for diagram in diagrams], **members.get("diagrams", {})}
    status, _headers, answer, _ended = ask(worker.path, "POST", EXPORT, json.dumps(project).encode())
    assert status == 200, answer
    return answer.decode("ascii")


def saying(title, text):
    return drawn({"a": {"actionType": "TextReplyAction", "name": text}}, title=title, actions=["a"])


def test_agents_do_not_get_into_each_other(worker, reference, tmp_path):
    text = export(worker, saying("One", "hi"), saying("Two", "ho"), saying("Three", "he"))
    agents = reference.run(text, tmp_path)["agents"]
    assert {name: agent["name"] for name, agent in agents.items()} == {
        "agent_1": "One",
        "agent_2": "Two",
        "agent_3": "Three",
    }
    assert [agents[f"agent_{n}"]["states"][0]["body"][0]["message"] for n in (1, 2, 3)] == ["hi", "ho", "he"]


@pytest.mark.parametrize(
    "text", ["# AGENT MODEL #", "\n# PROJECT DEFINITION #\n", "models=[x]", "project = Project(", '"""', "'"]
)
def test_texts_that_look_like_sections_are_texts(text, worker, reference, tmp_path):
    made = export(worker, saying("One", text), saying("Two", "x"), name=f"a {text}", description=text, owner=text)
    agents = reference.run(made, tmp_path)["agents"]
    assert agents["agent_1"]["states"][0]["body"][0]["message"] == text
    banners = [line for line in made.splitlines() if line.startswith("# ")]
    assert banners[1:] == ['# AGENT MODEL 1: "One" #', '# AGENT MODEL 2: "Two" #', "# PROJECT DEFINITION #"]


def test_the_references_importer_reads_every_agent(worker, reference, tmp_path):
    made = export(worker, saying("One", "hi"), saying("Two", "ho"))
    answer = reference.about("import-project", made, tmp_path)
    texts = [
        element["name"]
        for diagram in answer["diagrams"]["AgentDiagram"]
        for element in diagram["model"]["elements"].values()
        if element["type"] == "AgentStateBody"
    ]
    assert texts == ["hi", "ho"]
