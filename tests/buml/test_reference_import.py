"""What the reference's importer reads of the files written here: as far as it can, the diagram that was exported."""

from __future__ import annotations

import collections

import pytest

from tests.buml.exporting import drawn, exported
from tests.compiler import harness
from tests.support import random_diagram

KINDS = ("AgentIntent", "AgentRagElement", "AgentTool", "AgentSkill", "AgentWorkspace", "AgentLLM", "AgentGUI")


def counted(model):
    """Names by kind of element, and the number of transitions."""
    found = collections.Counter()
    for place in (model.get("elements"), model.get("components")):
        for element in (place or {}).values():
            kind = element.get("type")
            if kind in ("AgentState", "AgentReasoningState"):
                found["state", element["name"]] += 1
            elif kind in KINDS:
                found[kind, element.get("gui_id") or element["name"]] += 1
    for relation in (model.get("relationships") or {}).values():
        found["transitions"] += relation["type"] == "AgentStateTransition"
    return found


@pytest.mark.parametrize("seed", harness.seeds(25, salt=35))
def test_elements_and_transitions_of_a_random_diagram(seed, reference, tmp_path):
    request = random_diagram.build(seed)
    theirs = reference.about("import", exported(request), tmp_path)
    again = harness.agentsim("export", "-o", "-", "-", request={"title": "X", "model": theirs})
    assert again.status in (harness.OK, harness.REFUSED), again.said
    mine = collections.Counter(counted(request["model"]))
    assert {key for key in mine if key != "transitions"} <= set(counted(theirs))


@pytest.mark.parametrize("ending", ["", "\n"])
def test_code_is_read_where_it_stands_alone(ending, reference, tmp_path):
    source = "def act(session: AgentSession):\n    session.set('a', 1)"
    request = drawn({"a": {"actionType": "CustomCodeAction", "name": source + ending}}, actions=["a"])
    theirs = reference.about("import", exported(request), tmp_path)
    bodies = [element for element in theirs["elements"].values() if element["type"] == "AgentStateBody"]
    assert [body["name"] for body in bodies] == [source]
