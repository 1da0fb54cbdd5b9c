"""Diagram -> text -> diagram -> program is the program of the diagram; text -> diagram -> text is the text."""

from __future__ import annotations

import json

import pytest

from tests.buml.exporting import arc, custom, drawn, exported
from tests.compiler import compare, harness
from tests.support import random_diagram


def imported(text, folder):
    """The diagram that the text becomes."""
    source, made = folder / "model.py", folder / "diagram.json"
    source.write_text(text, encoding="ascii")
    run = harness.agentsim("import", "--quiet", "--output", made, source)
    assert run.status == harness.OK, run.said
    return json.loads(made.read_text(encoding="utf-8"))


def program(request, folder):
    run = harness.generate(request, folder)
    assert run.status == harness.OK, run.said
    return harness.files_of(folder)


def again(request, model):
    """The request with another model: settings of a program are no part of a text."""
    return {**{key: value for key, value in request.items() if key != "agentComponents"}, "model": model}


def check(request, dumper, folder):
    first = program(request, folder / "first")
    text = exported(request)
    second_request = again(request, imported(text, folder)["model"])
    second = program(second_request, folder / "second")
    if first != second:  # parameters of LLMs are written in the order of their names: the same agent in other bytes
        assert set(first) == set(second)
        dumps = [dumper.dump(str(folder / name)) for name in ("first", "second")]
        found = compare.differences(*dumps)
        assert not found, compare.show(found)
    config = {"default_llm_name": (request.get("config") or {}).get("default_llm_name")}
    plain = exported({**request, "config": config})
    assert exported({**second_request, "config": {}}) == plain == text


@pytest.fixture(scope="module", name="dumper")
def dumper_fixture():
    harness.install_reference()
    running = harness.Dumper()
    yield running
    running.close()


@pytest.mark.parametrize("name", [name for name in harness.fixture_names() if harness.is_valid_fixture(name)])
def test_a_fixture(name, dumper, tmp_path):
    check(harness.fixture(name), dumper, tmp_path)


@pytest.mark.parametrize("seed", harness.seeds(25, salt=36))
def test_a_random_diagram(seed, dumper, tmp_path):
    check(random_diagram.build(seed), dumper, tmp_path)


@pytest.mark.parametrize("seed", harness.seeds(25, salt=37))
def test_a_difficult_random_diagram(seed, dumper, tmp_path):
    check(random_diagram.build(seed, random_diagram.ODDITIES, states=(3, 12)), dumper, tmp_path)


@pytest.mark.parametrize("ending", ["", "\n", "\n\n\n"])
def test_line_breaks_behind_a_function(ending, tmp_path):
    act, check_it = f"def act(session):\n    pass{ending}", f"def check(session):\n    return 1{ending}"
    request = drawn({"a": {"actionType": "CustomCodeAction", "name": act}}, {"t": custom(check_it)}, actions=["a"])
    text = exported(request)
    assert "source=" not in text and "\ndef act(" in text and "\ndef check(" in text
    model = imported(text, tmp_path)["model"]
    assert [element["name"] for element in model["elements"].values() if element.get("actionType")] == [act]
    assert [one["custom"]["condition"] for one in model["relationships"].values() if "custom" in one] == [[check_it]]


NUMBERS = [0, -0.0, 1.0, -2.5, 1e300, 2**53 + 1, -(2**63), 2**64, -(10**30)]


@pytest.mark.parametrize("number", NUMBERS)
def test_numbers_keep_their_form(number, tmp_path):
    value = {"variable": "v", "operator": "<", "targetValue": number}
    request = drawn(
        {"l": {"type": "AgentLLM", "name": "g", "provider": "openai", "parameters": {"x": number, "y": [number]}}},
        {"t": arc(predefined={"predefinedType": "when_variable_operation_matched", "conditionValue": value})},
    )
    model = imported(exported(request), tmp_path)["model"]
    parameters = [one["parameters"] for one in model["components"].values() if one["type"] == "AgentLLM"][0]
    targets = [one["predefined"]["conditionValue"]["targetValue"] for one in model["relationships"].values()
               if "predefined" in one]
    assert [repr(found) for found in (parameters["x"], *parameters["y"], *targets)] == [repr(number)] * 3
