"""Programs that run: the reference's and ours under the same framework, the same user, and every frame compared.

What the reference is known to do wrong while it runs is mended from outside (agent_talk.py --mended), so that what comes
after can be compared; what its programs cannot do at all is what reference_faults.py and the fixtures list.
In make test every fourth fixture is talked to, and some random diagrams; AGENTSIM_SOAK=1 takes all fixtures, ten times as many
diagrams, and leaves them their stores of documents."""

from __future__ import annotations

import json
import os
import shutil

import pytest

from tests.compiler import harness, talks
from tests.support import random_diagram

SOAK = os.environ.get("AGENTSIM_SOAK") == "1"
# Ways of writing the same that the reference reads as it should, and what makes conversations longer.
TAME = ("loose_ends", "settings", "tool_helpers", "variable_types", "global_context")


def seeds(count, salt):
    return harness.seeds(count * 10 if SOAK else count, salt)


def programs(request, reference, folder):
    """Directories of the reference's program and of ours."""
    for name in ("theirs", "ours"):
        (folder / name).mkdir()
    run = harness.generate(request, folder / "ours")
    assert run.status == harness.OK, run.said
    answer = reference.generate(request, folder / "theirs")
    assert "error" not in answer, answer
    for note in (folder / "theirs").glob("*/README.txt"):
        shutil.rmtree(note.parent)  # a session has no folder of documents
    return folder / "theirs", folder / "ours"


def compare(request, seed, reference, theirs, ours, folder):
    steps = talks.script(request, seed)
    one, two = programs(request, reference, folder)
    first, second = theirs.hold(one, steps), ours.hold(two, steps)
    parted = talks.first_difference(steps, first, second)
    assert not parted, f"{parted}\n{(first if first['end'] == 'start' else second)['said'][-1500:]}"


def fixtures(agreed):
    """Valid ones about which the reference is right, or not. In order of their names neighbours are alike: every fourth one
    is a sample of all kinds."""
    names = []
    for name in harness.fixture_names():
        expected = json.loads((harness.FIXTURES / "expected" / f"{name}.json").read_text(encoding="utf-8"))
        if expected["outcome"] == "ok" and expected["reference"]["agrees"] == agreed:
            names.append(name)
    return names if SOAK else names[::4]


def talks_on(request, seed, ours, folder):
    """Whatever is drawn and said: the program comes up, hears everything, and no line of its own raises."""
    run = harness.generate(request, folder)
    assert run.status == harness.OK, run.said
    answer = ours.hold(folder, talks.script(request, seed))
    assert answer["end"] in (None, "endless"), f"{answer['end']}\n{answer['said']}"
    wrong = talks.own_faults(answer["said"])
    assert not wrong, wrong


@pytest.mark.parametrize("name", fixtures(agreed=True))
def test_a_fixture_is_talked_to_as_to_the_reference(name, model, reference, theirs, ours, tmp_path):
    compare(talks.at_home(harness.fixture(name), model, SOAK), name, reference, theirs, ours, tmp_path)


@pytest.mark.parametrize("seed", seeds(20, salt=60))
def test_a_random_agent_says_what_the_reference_says(seed, model, reference, theirs, ours, tmp_path):
    request = talks.at_home(random_diagram.build(seed, ()), model, SOAK)
    compare(request, seed, reference, theirs, ours, tmp_path)


@pytest.mark.parametrize("seed", seeds(6, salt=61))
def test_so_does_one_with_loose_ends(seed, model, reference, theirs, ours, tmp_path):
    request = talks.at_home(random_diagram.build(seed, TAME), model, SOAK)
    compare(request, seed, reference, theirs, ours, tmp_path)


@pytest.mark.parametrize("name", fixtures(agreed=False))
def test_a_fixture_that_is_too_much_for_the_reference_talks_on(name, model, ours, tmp_path):
    talks_on(talks.at_home(harness.fixture(name), model, SOAK), name, ours, tmp_path)


@pytest.mark.parametrize("seed", seeds(8, salt=62))
def test_a_difficult_agent_talks_on(seed, model, ours, tmp_path):
    talks_on(talks.at_home(random_diagram.build(seed, random_diagram.ODDITIES), model, SOAK), seed, ours, tmp_path)


@pytest.mark.parametrize("seed", seeds(6, salt=63))
def test_a_download_says_what_a_session_says(seed, model, ours, tmp_path):
    oddities = set(random_diagram.ODDITIES) - {"personalization", "telegram", "workspace_paths"}
    request, answers = talks.at_home(random_diagram.build(seed, oddities), model, SOAK), []
    steps = talks.script(request, seed)
    for number, mode in enumerate((("--session",), ())):
        folder = tmp_path / str(number)
        run = harness.agentsim("generate", *mode, "--quiet", "--output", folder, "-", request=request)
        assert run.status == harness.OK, run.said
        answers.append(ours.hold(folder, steps))
    parted = talks.first_difference(steps, *answers)
    assert not parted, f"{parted}\n{answers[1]['said'][-1500:]}"
