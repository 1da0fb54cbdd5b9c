"""Diagrams as B-UML Python: every text executes with the reference's metamodel and makes the model that the reference's
own converter makes of the diagram, whatever its texts are."""

from __future__ import annotations

import random

import pytest

from tests.buml.exporting import differences, drawn, exported, folded
from tests.compiler import harness, structure
from tests.compiler.test_structure import check_literals, fill, hostile
from tests.support import random_diagram

FIXTURES = [
    name for name in harness.fixture_names() if harness.is_valid_fixture(name) and not name.startswith("big_")
]

# Where the reference's model of a diagram is another one on purpose: number in section 10 of the diagram contract.
DEVIATIONS = {
    "intent_name_padded": ("V20", ".intent"),
    "numbers_not_finite": ("V18", "."),
    "transitions_oldest_spellings": ("4.3", ".transitions["),
}


def same(theirs, ours):
    return differences(folded(theirs), folded(ours))


@pytest.mark.parametrize("name", FIXTURES)
def test_a_fixture_executes_and_makes_its_model(name, reference, tmp_path):
    request = harness.fixture(name)
    ours = reference.run(exported(request), tmp_path)["agents"]["agent"]
    theirs = reference.convert(request)
    _, excused = DEVIATIONS.get(name, ("", None))
    if "error" not in theirs:
        assert not [found for found in same(theirs, ours) if not excused or excused not in found[0]]


@pytest.mark.parametrize("name", [name for name in harness.fixture_names() if name.startswith("big_")])
def test_a_big_one_executes(name, reference, tmp_path):
    if harness.is_valid_fixture(name):
        assert reference.run(exported(harness.fixture(name)), tmp_path)["agents"]["agent"]["states"]


# Only what a database action does not use is another thing: its custom name without custom selection.
@pytest.mark.parametrize("seed", harness.seeds(40, salt=31))
def test_a_random_diagram_executes_and_makes_its_model(seed, reference, tmp_path):
    request = random_diagram.build(seed)
    ours = reference.run(exported(request), tmp_path)["agents"]["agent"]
    found = same(reference.convert(request), ours)
    assert not [one for one in found if not one[0].endswith("db_custom_name")]


@pytest.mark.parametrize("seed", harness.seeds(30, salt=32))
def test_a_difficult_random_diagram_executes(seed, reference, tmp_path):
    request = random_diagram.build(seed, random_diagram.ODDITIES, states=(3, 12))
    ours = reference.run(exported(request), tmp_path)["agents"]["agent"]
    states = [e for _, e in structure.elements_of(request) if e.get("type") in ("AgentState", "AgentReasoningState")]
    assert len(ours["states"]) == len(states)


# ---- texts


def check_texts(request, rng):
    """Other strings in all text fields: the same file but for literals, which hold exactly the strings."""
    fields = structure.text_fields(request)
    markers = [f"Marker{number}x" for number in range(len(fields))]
    texts = [hostile(rng, how) for _, _, how in fields]
    strings = {marker: structure.becomes(text, how) for marker, text, (_, _, how) in zip(markers, texts, fields)}
    fill(request, markers)
    literals, tree = structure.constants(exported(request))
    fill(request, texts)
    after, tree_after = structure.constants(exported(request))
    assert tree == tree_after
    check_literals(literals, after, strings)
    return len(fields)


@pytest.mark.parametrize("name", FIXTURES)
def test_no_text_of_a_fixture_changes_the_file(name):
    check_texts(harness.fixture(name), random.Random(f"{harness.SEED} {name} buml"))


def test_no_text_of_a_random_diagram_changes_the_file():
    """Together with the fixtures: thousands of strings."""
    count = sum(len(structure.text_fields(harness.fixture(name))) for name in FIXTURES)
    for seed in harness.seeds(40, salt=33):
        count += check_texts(random_diagram.build(seed, {"code_mixed", "object_replies"}, (3, 12)), random.Random(seed))
    assert count >= 2000


@pytest.mark.parametrize(
    "text",
    [
        "'", '"', "\\", "'''", '"""', "\n", "\r", "\r\n", "\x0b", "\x0c", "\x85", "\u2028", "\u2029", "😀", "\ud83d", "{",
        "}", "{{7*7}}", "{% x %}", "#", ";", "$(x)", "../", "# AGENT MODEL #", "\n# PROJECT DEFINITION #\n",
        "models=[x]", "a" * (1 << 20),
    ],
    ids=lambda text: ascii(text)[:20],
)  # fmt: skip
def test_the_strings_that_the_contract_names(text, reference, tmp_path):
    """In a reply, in tool code and in a description, where nothing is cleaned away but control characters."""
    tool = {"type": "AgentTool", "name": "t", "code": f"x{text}", "description": f"d{text}"}
    reply = {"actionType": "TextReplyAction", "name": f"m{text}"}
    request = drawn({"t": tool, "a": reply}, actions=["a"])
    agent = reference.run(exported(request), tmp_path)["agents"]["agent"]
    assert agent["tools"][0]["code"] == structure.becomes(f"x{text}", structure.RAW)
    assert agent["states"][0]["body"][0]["message"] == structure.becomes(f"m{text}", structure.CLEAN)


def test_equal_diagrams_give_equal_bytes():
    for seed in harness.seeds(5, salt=34):
        request = random_diagram.build(seed, random_diagram.ODDITIES)
        assert exported(request) == exported(request)


# ---- the command


def test_what_is_refused_writes_nothing(tmp_path):
    run = harness.agentsim("export", "-o", tmp_path / "x.py", "-", request=drawn(title="a-b"))
    assert run.status == harness.REFUSED and "a-b" in run.err and not list(tmp_path.iterdir())
    run = harness.agentsim("export", "-o", tmp_path / "x.py", "-", request={"model": {"type": "BPMNDiagram"}})
    assert run.status == harness.REFUSED and "BPMNDiagram" in run.err


def test_a_file_is_written(tmp_path):
    run = harness.agentsim("export", "-o", tmp_path / "x.py", "-", request=drawn())
    assert run.status == harness.OK and (tmp_path / "x.py").read_text() == exported(drawn())
    assert harness.agentsim("export", "-", request=drawn()).out == exported(drawn()), "and to standard output where none is named"
