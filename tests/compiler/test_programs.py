"""Every generated program, of the fixtures and of random diagrams: it compiles, a linter has nothing to say about it, it
loads under the framework, and equal diagrams give equal bytes."""

from __future__ import annotations

import copy
import io
import json
import pathlib
import random
import re

import pytest
from pyflakes import api, reporter

from tests.compiler import harness
from tests.support import random_diagram

VALID_FIXTURES = [name for name in harness.fixture_names() if harness.is_valid_fixture(name)]


def user_lines(request):
    """The lines of a diagram's own code: what a linter says about those is the designer's affair."""
    lines = set()

    def walk(value):
        if isinstance(value, dict):
            for item in value.values():
                walk(item)
        elif isinstance(value, list):
            for item in value:
                walk(item)
        elif isinstance(value, str) and ("def " in value or "import " in value):
            lines.update(line.strip() for line in value.splitlines())

    walk(request)
    return lines


def complaints(path, source, own):
    """What pyflakes says about a file, but for the lines of user code."""
    heard, lines = io.StringIO(), source.splitlines()
    api.check(source, path, reporter.Reporter(heard, heard))
    said = re.findall(rf"^{re.escape(path)}:(\d+):.*$", heard.getvalue(), re.M)
    texts = heard.getvalue().splitlines()
    return [text for number, text in zip(said, texts) if lines[int(number) - 1].strip() not in own]


def check_files(files, request):
    own = user_lines(request)
    for path, content in files.items():
        if not path.endswith(".py"):
            continue
        text = content.decode("utf-8")
        compile(text, path, "exec", dont_inherit=True)
        if pathlib.PurePath(path).name == "agent_model.py":
            continue  # imports the metamodel as every such file does; tests/buml looks at it
        heard = complaints(path, text, own)
        assert not heard, f"{heard}\n{text if len(text) < 6000 else ''}"


def generated(request, folder):
    run = harness.generate(request, folder)
    assert run.status == harness.OK, run.said
    return harness.files_of(folder)


def respelled(request, rng):
    """The same document with other white space and other spellings of its characters."""
    text = json.dumps(
        request,
        ensure_ascii=rng.random() < 0.5,
        indent=rng.choice((None, 0, 1, "\t")),
        separators=rng.choice(((",", ":"), (" , ", " :\r\n "), None)),
    )
    return text.replace("/", "\\/") if rng.random() < 0.5 else text


@pytest.mark.parametrize("name", VALID_FIXTURES)
def test_the_program_of_a_fixture_is_clean(name, tmp_path):
    request = harness.fixture(name)
    check_files(generated(request, tmp_path / "out"), request)


@pytest.mark.parametrize("seed", harness.seeds(40, salt=5))
def test_the_program_of_a_random_diagram_is_clean(seed, tmp_path):
    request = random_diagram.build(seed, random_diagram.ODDITIES, states=(1, 12))
    check_files(generated(request, tmp_path / "out"), request)


@pytest.mark.parametrize("seed", harness.seeds(25, salt=6))
def test_equal_diagrams_give_equal_bytes(seed, tmp_path):
    rng = random.Random(seed)
    oddities = set(random_diagram.ODDITIES) - {"numbers", "text_surrogates"}  # these have one spelling in JSON
    request = random_diagram.build(seed, oddities)
    first = generated(request, tmp_path / "first")
    for number in range(2):
        run = harness.agentsim(
            "generate", "--session", "--quiet", "--output", tmp_path / str(number), "-", text=respelled(request, rng)
        )
        assert run.status == harness.OK, run.said
        assert harness.files_of(tmp_path / str(number)) == first


@pytest.mark.parametrize("seed", harness.seeds(25, salt=7))
def test_the_program_of_a_difficult_diagram_loads(seed, dumper, tmp_path):
    generated(random_diagram.build(seed, random_diagram.ODDITIES, states=(1, 12)), tmp_path / "out")
    described = dumper.dump(tmp_path / "out")
    assert "error" not in described, described


VALUES = (
    None,
    0,
    1,
    -1,
    5,
    2.5,
    1e400,
    True,
    False,
    "",
    "x",
    " ",
    "5",
    "null",
    [],
    ["x"],
    [None],
    {},
    {"a": 1},
    [[]] * 50,
)


def places(value, path=()):
    """Paths of every member and item of a document."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield path + (key,)
        yield from places(item, path + (key,))


def with_odd_values(request, rng, count):
    """Some members or items, whichever, hold something else."""
    for _ in range(count):
        path = rng.choice(list(places(request)))
        place = request
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = copy.deepcopy(rng.choice(VALUES))
    return request


@pytest.mark.parametrize("seed", harness.seeds(60, salt=11))
def test_values_of_any_type_are_refused_or_give_a_program_that_loads(seed, dumper, tmp_path):
    rng = random.Random(seed)
    request = random_diagram.build(seed, ("loose_ends", "settings", "code_mixed"), states=(2, 5))
    run = harness.generate(with_odd_values(request, rng, rng.randint(1, 3)), tmp_path / "out")
    if run.status == harness.REFUSED:
        assert run.said.strip()
        return
    described = dumper.dump(tmp_path / "out")
    assert "error" not in described, described


def test_a_large_diagram_loads_and_is_clean(dumper, tmp_path):
    request = random_diagram.build(harness.SEED, random_diagram.ODDITIES, states=(150, 150))
    check_files(generated(request, tmp_path / "out"), request)
    described = dumper.dump(tmp_path / "out")
    assert "error" not in described and len(described["states"]) == 150
