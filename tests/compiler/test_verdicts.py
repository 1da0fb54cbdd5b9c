"""Invalid diagrams: refused by the rule that they break, naming what is wrong, whatever else is drawn; and the reference
gives the same verdict but where a deviation says otherwise."""

from __future__ import annotations

import random

import pytest

from tests.compiler import harness
from tests.support import random_diagram
from tests.support.broken_diagram import BREAKS

IDS = [broken.name for broken in BREAKS]


def broken_request(broken, seed, oddities=()):
    request = random_diagram.build(seed, oddities, states=(1, 4), legacy=0)
    return request, broken.apply(request, random.Random(seed))


def check_refused(run, broken, names):
    assert run.status == harness.REFUSED, f"accepted: {broken.name}"
    missing = [name for name in names if name not in run.said]
    assert not missing, f"does not name {missing}: {run.said}"
    if broken.rule:
        assert f"(rule {broken.rule})" in run.said, run.said


@pytest.mark.parametrize("broken", BREAKS, ids=IDS)
def test_a_broken_rule_is_refused_and_named(broken):
    for seed in harness.seeds(1, salt=20):
        request, names = broken_request(broken, seed)
        check_refused(harness.verdict(request), broken, names)


@pytest.mark.parametrize("broken", BREAKS, ids=IDS)
def test_nothing_is_written_for_a_refused_diagram(broken, tmp_path):
    request, names = broken_request(broken, harness.SEED + 1, random_diagram.ODDITIES)
    check_refused(harness.generate(request, tmp_path / "out"), broken, names)
    assert not (tmp_path / "out").exists() or not list((tmp_path / "out").iterdir())


@pytest.mark.parametrize("broken", BREAKS, ids=IDS)
def test_the_reference_gives_the_same_verdict(broken, reference, tmp_path):
    request, _ = broken_request(broken, harness.SEED + 2)
    answer = reference.generate(request, tmp_path / "out")
    assert ("error" in answer) == (not broken.reference), f"{answer}; expected {broken.reference or 'a refusal'}"


@pytest.mark.parametrize("seed", harness.seeds(30, salt=21))
def test_several_broken_rules_are_refused(seed):
    rng = random.Random(seed)
    request = random_diagram.build(seed, states=(1, 4), legacy=0)
    for broken in rng.sample([item for item in BREAKS if item.rule], 3):
        broken.apply(request, rng)
    assert harness.verdict(request).status == harness.REFUSED
