"""Random diagrams through the reference and through `agentsim`: the same verdict, and programs that behave alike, but for
the faults listed in reference_faults.py."""

from __future__ import annotations

import json

import pytest

from tests.compiler import compare, harness, reference_faults
from tests.compiler.request_view import View
from tests.support import random_diagram
from tests.support.random_diagram import ODDITIES

# What a body does when no message has come, and with variables that are false: the default probes have neither.
QUIET = {
    "probes": [
        {"name": "quiet", "vars": {"name": "", "age": 0, "total": False, "city": 0.0}, "event": {"type": "none"}},
        {"name": "file", "vars": {"*": "v({key})"}, "event": {"type": "file", "name": "a.txt", "mime": "text/plain"}},
    ]
}


def differences(request, reference, dumper, folder, faults, probes=None):
    """Differences and refusals that no fault explains, as text; "" when all is well."""
    view = View(request)
    ours = harness.generate(request, folder / "ours")
    assert ours.status == harness.OK, f"a valid diagram is refused: {ours.said[-1500:]}"
    described = dumper.dump(folder / "ours", probes)
    assert "error" not in described, f"our program does not load: {described}"
    answer = reference.generate(request, folder / "down" / "down" / "theirs")  # some titles climb up
    if "error" in answer:
        fault = reference_faults.explained_refusal(view, answer, faults)
        return "" if fault else f"  the reference refuses: {answer}"
    found = compare.differences(dumper.dump(folder / "down" / "down" / "theirs", probes), described)
    return compare.show([item for item in found if not reference_faults.explained(view, item, faults)])


def check(seed, oddities, faults, reference, dumper, tmp_path, probes=None):
    request = random_diagram.build(seed, oddities)
    problems = differences(request, reference, dumper, tmp_path, faults, probes)
    assert not problems, f"random_diagram {seed} {' '.join(oddities)}\n{problems}"


@pytest.mark.parametrize("seed", harness.seeds(50, salt=1))
def test_the_same_program_as_the_reference_where_it_is_right(seed, reference, dumper, tmp_path):
    check(seed, (), (), reference, dumper, tmp_path)


@pytest.mark.parametrize("seed", harness.seeds(25, salt=10))
def test_the_same_facts_as_the_reference(seed, reference, tmp_path):
    """Events, workspaces and support files, in the reference's order."""
    request = random_diagram.build(seed, ("loose_ends", "two_conditions", "condition_names"), states=(2, 10))
    answer = reference.generate(request, tmp_path)
    run = harness.agentsim("inspect", "-", request=request)
    assert run.status == harness.OK, run.said
    facts = json.loads(run.out)
    for key in ("event_list", "workspace_paths", "support_files"):
        assert facts[key] == answer[key], (seed, key)


@pytest.mark.parametrize("oddity", ODDITIES)
def test_better_only_where_the_reference_is_known_to_be_wrong(oddity, reference, dumper, tmp_path):
    faults = reference_faults.rows_for([oddity])
    for number, seed in enumerate(harness.seeds(3, salt=2)):
        (tmp_path / str(number)).mkdir()
        check(seed, (oddity,), faults, reference, dumper, tmp_path / str(number))


@pytest.mark.parametrize("seed", harness.seeds(8, salt=3))
def test_everything_difficult_at_once_is_explained(seed, reference, dumper, tmp_path):
    """But half characters, which end the reference before anything else can show."""
    oddities = tuple(oddity for oddity in ODDITIES if oddity != "text_surrogates")
    check(seed, oddities, reference_faults.FAULTS, reference, dumper, tmp_path)


@pytest.mark.parametrize("seed", harness.seeds(10, salt=4))
def test_bodies_without_a_message_and_with_false_variables(seed, reference, dumper, tmp_path):
    """[V6] and [D4]: the body goes on, 0 is shown. Beyond them nothing differs."""
    probes = tmp_path / "probes.json"
    probes.write_text(json.dumps(QUIET), encoding="utf-8")
    check(seed, (), reference_faults.QUIET_FAULTS, reference, dumper, tmp_path, probes)


def test_every_fault_is_seen(reference, dumper, tmp_path):
    """A row that explains nothing any more has to go."""
    seen, wanted = set(), {id(fault) for fault in reference_faults.FAULTS}
    for fault in reference_faults.FAULTS:
        for seed in range(200):
            if id(fault) in seen:
                break
            request = random_diagram.build(seed, fault.samples[:1])
            view = View(request)
            if not fault.shows(view):
                continue
            folder = tmp_path / f"{id(fault)}-{seed}"
            answer = reference.generate(request, folder / "down" / "down" / "theirs")
            if "error" in answer:
                seen |= {id(fault)} & {id(reference_faults.explained_refusal(view, answer, (fault,)))}
                continue
            assert harness.generate(request, folder / "ours").status == harness.OK
            found = compare.differences(
                dumper.dump(folder / "down" / "down" / "theirs"), dumper.dump(folder / "ours")
            )
            if any(fault.explains(*item) for item in found):
                seen.add(id(fault))
    missing = [fault.what for fault in reference_faults.FAULTS if id(fault) in wanted - seen]
    assert not missing
