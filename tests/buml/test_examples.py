"""The framework's own example agents, written by people: all states, intents and their ways are found in them."""

import json
import re
import subprocess

import pytest

from tests.support.stack import BUILD, ROOT

EXAMPLES = sorted((ROOT / "build" / "reference").glob("lib/python3*/site-packages/baf/test/examples/*_agent.py"))


def test_the_examples_are_there():
    assert len(EXAMPLES) > 10


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_an_example_is_read_as_a_diagram(path, tmp_path):
    text = path.read_text()
    drawn = {kind: set(re.findall(rf"^\w+ *= *\w+\.{method}\(\s*(?:name=)?'([^']+)'", text, re.M))
             for kind, method in (("AgentState", "new_state"), ("AgentIntent", "new_intent"))}
    out = tmp_path / "diagram.json"
    done = subprocess.run([BUILD / "bin" / "agentsim", "import", "-o", out, path], capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    model = json.loads(out.read_text())["model"]
    elements = [*model["elements"].values(), *model["components"].values()]
    for kind, names in drawn.items():
        assert {e["name"] for e in elements if e["type"] == kind} == names, kind
    ways = len(re.findall(r"^[^#\n]*\.go_to\(", text, re.M))
    left_out = len(re.findall(r"transition is left out", done.stderr))
    assert len(model["relationships"]) + left_out == ways + bool(drawn["AgentState"]), "nothing is dropped silently"
    assert "load_properties" in done.stderr, "what has no place in a diagram is named"
    again = subprocess.run([BUILD / "bin" / "agentsim", "validate", out], capture_output=True, encoding="utf-8")
    assert again.returncode in (0, 1) and "Traceback" not in again.stderr
