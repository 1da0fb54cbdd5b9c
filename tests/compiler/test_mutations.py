"""The fixtures, changed by the rules of tests/support/mutate_diagram.py as editors and users change diagrams: no crash, one
verdict of all commands, refusals that say where, programs that Python and pyflakes like and the framework loads, and what
the reference makes of them. `make test` takes a sample; AGENTSIM_COMPILER_SCALE=100 takes thousands."""

from __future__ import annotations

import json
import re

import pytest

from tests.compiler import compare, harness, reference_faults
from tests.compiler.request_view import View
from tests.compiler.test_programs import check_files
from tests.support import mutate_diagram

# The reference has no opinion: what it dies of has no rule.
INTERNAL = ("TypeError", "AttributeError", "KeyError", "IndexError", "UnicodeEncodeError", "OverflowError", "OSError",
            "FileNotFoundError", "NotADirectoryError", "IsADirectoryError", "RecursionError", "Died")  # fmt: skip
OWN_RULES = {24, 25, 27, 29}  # and 28 for conditions; the reference has none of these

def has_nul(request):
    return "\\u0000" in json.dumps(request)


def right_fixtures():
    """Those of which the reference makes what it should: every difference then is of the change."""
    expected = [(path, harness.FIXTURES / "expected" / path.name) for path in mutate_diagram.FIXTURES]
    return [path for path, facts in expected if json.loads(facts.read_text(encoding="utf-8"))["reference"]["agrees"]]


RIGHT = right_fixtures()


def where_of(line):
    """The JSON path of a finding of the command line; findings about the whole diagram have none."""
    found = re.match(r'error ([\w.]+(?:\[(?:"[^"]*"|\d+)\][\w.]*)*): ', line)
    return found[1] if found else None


def check_refusal(run, request):
    if has_nul(request):
        return  # refused before there are elements to name
    errors = [line for line in run.said.splitlines() if line.startswith("error")]
    assert errors, run.said
    for line in errors:
        assert where_of(line) or line.startswith(("error: Code of this diagram", "error: config.yaml")), line


@pytest.mark.parametrize("seed", harness.seeds(25, salt=20))
def test_changed_diagrams_are_compiled_or_refused_with_a_place(seed, tmp_path):
    name, request, done = mutate_diagram.of_seed(seed, tamed=0.3)
    print(name, *done)
    run, judged = harness.generate(request, tmp_path / "one"), harness.verdict(request)
    assert run.status == judged.status, f"{run.said}\n{judged.said}"
    if run.status == harness.REFUSED:
        check_refusal(run, request)
        return
    assert run.status == harness.OK, run.said
    files = harness.files_of(tmp_path / "one")
    check_files(files, request)
    assert harness.generate(request, tmp_path / "two").status == harness.OK
    assert harness.files_of(tmp_path / "two") == files
    assert harness.agentsim("export", "-o", tmp_path / "b.py", "-", request=request).status == harness.OK
    other = harness.agentsim("generate", "--quiet", "--output", tmp_path / "download", "-", request=request)
    if other.status == harness.REFUSED:
        assert "config." in other.said  # kinds of users, languages: no affair of sessions
    else:
        assert other.status == harness.OK, other.said


def explained(view, path, theirs, ours):
    """By a fault of the reference, whose rows know the random diagrams: here each may have any of them."""
    if path == reference_faults.LOAD and ours == "loads":
        return True  # it writes a program that does not run
    if path.endswith(".target") and theirs in (str(ours), str(float(ours or 0))):
        return True  # [V7]
    return reference_faults.explained(view, (path, theirs, ours)) is not None


def check_verdicts(run, answer, request):
    """Where the two differ there is a rule that says why."""
    if run.status == harness.OK and "error" in answer:
        return answer["error"] in INTERNAL or reference_faults.explained_refusal(View(request), answer) is not None
    if run.status == harness.REFUSED and "error" not in answer:
        rules = {int(number) for number in re.findall(r"\(rule (\d+)\)$", run.said, re.M)}
        others = "condition" in run.said and 28 in rules or "error: config.yaml" in run.said
        return bool(rules & OWN_RULES) or others or "U+0000" in run.said
    return True


@pytest.mark.parametrize("seed", harness.seeds(40, salt=21))
def test_changed_diagrams_mean_what_the_reference_makes_of_them(seed, reference, dumper, tmp_path):
    name, request, done = mutate_diagram.of_seed(seed, RIGHT, tamed=1)
    print(name, *done)
    run = harness.generate(request, tmp_path / "ours")
    answer = reference.generate(request, tmp_path / "down" / "down" / "theirs")  # some titles climb up
    assert check_verdicts(run, answer, request), f"{answer}\n{run.said}"
    if run.status == harness.REFUSED:
        return
    ours = dumper.dump(tmp_path / "ours")
    assert "error" not in ours, ours
    if "error" in answer:
        return
    found = compare.differences(dumper.dump(tmp_path / "down" / "down" / "theirs"), ours)
    view = View(request)
    news = [item for item in found if not explained(view, *item)]
    assert not news, f"{seed} {name} {done}\n{compare.show(news)}"
