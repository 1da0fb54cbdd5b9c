"""Invalid diagrams: refused by the rule that they break, naming what is wrong, whatever else is drawn; and the reference
gives the same verdict but where a deviation says otherwise."""

from __future__ import annotations

import copy
import random
import warnings

import pytest

from tests.compiler import harness
from tests.compiler.snippets import ALL
from tests.compiler.test_code import condition_is_right
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


# ---- validate does not ask about the whole program when its pieces are valid in every place -------------------------
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    CONDITION_SNIPPETS = [
        source for source in ALL if condition_is_right(source) and source.strip() and len(source) < 3000
    ]
COMBINING = [
    "from __future__ import annotations\ndef f(session):\n    return True\n",
    "from .__future__ import x\ndef f(session):\n    return True\n",
    "global agent\ndef f(session):\n    return True\n",
    "if True:\n    global state_that_is\nstate_that_is = 1\ndef f(session):\n    return True\n",
    "class A:\n    global json\n    json = 1\ndef f(session):\n    return True\n",
    "x: int = 1\ndef f(session):\n    return True\n",
    "def f(session):\n    global x\n    x = 1\n    return True\n",
    "def f(session):\n    return True\n# no line break at the end",
    "def f(session):\n    return True\n    ",
    "def f(session):\n    return True\n\\\n",
    "def f(session): return '''\n'''",
    "\ufeffdef f(session): return True",
    "def f(session):\r    return True\r",
    "def f(session):\n    return helper()\ndef helper(): return True\nfrom math import *\n",
    "async def g(): await f\ndef f(session): return [x async for x in session]\n",
]


def with_conditions(*sources):
    request = copy.deepcopy(harness.fixture("hello_minimal"))
    model = request["model"]
    state = next(key for key, item in model["elements"].items() if item["type"] == "AgentState")
    for number, source in enumerate(sources):
        model["relationships"][f"arc{number}"] = {
            "type": "AgentStateTransition",
            "source": {"element": state},
            "target": {"element": state},
            "transitionType": "custom",
            "custom": {"event": "DummyEvent", "condition": [source]},
        }
    return request


def check_same_verdict(request, folder):
    """What validate says is what CPython says about the program that a session gets."""
    shown, run = harness.verdict(request), harness.generate(request, folder)
    assert shown.status == run.status, f"validate: {shown.said}\nprogram: {run.said}"
    if run.status == harness.OK:
        for path, content in harness.files_of(folder).items():
            if path.endswith(".py"):
                compile(content, path, "exec", dont_inherit=True)


@pytest.mark.filterwarnings("ignore::SyntaxWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize("seed", harness.seeds(40, salt=22))
def test_code_that_is_right_alone_is_judged_in_its_program(seed, tmp_path):
    rng = random.Random(seed)
    sources = [rng.choice(COMBINING if rng.random() < 0.5 else CONDITION_SNIPPETS) for _ in range(rng.randint(2, 4))]
    check_same_verdict(with_conditions(*sources), tmp_path / "out")


@pytest.mark.parametrize("first", COMBINING, ids=range(len(COMBINING)))
def test_code_that_clashes_with_what_stands_above(first, tmp_path):
    for number, second in enumerate(("x = 0\nagent = 1\njson = 2\ndef f(session): return x\n", first)):
        check_same_verdict(with_conditions(second, first), tmp_path / str(number))


@pytest.mark.parametrize("chunk", range(4))
def test_the_verdict_on_a_fixture_is_that_on_its_program(chunk, tmp_path):
    for name in harness.fixture_names()[chunk::4]:
        if not name.startswith("big_"):
            check_same_verdict(harness.fixture(name), tmp_path / name)


@pytest.mark.parametrize("seed", harness.seeds(15, salt=23))
def test_the_verdict_on_a_random_diagram_is_that_on_its_program(seed, tmp_path):
    check_same_verdict(random_diagram.build(seed, random_diagram.ODDITIES, states=(1, 12)), tmp_path / "out")
