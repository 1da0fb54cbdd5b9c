"""No text of a diagram can change the structure of its program (7.9). Hostile strings are put into every text field of
every fixture at once; the program's tree is the same as with harmless ones, and its literals hold exactly the strings.
Names likewise: refused by the name rule, or the same tree up to a renaming of variables."""

from __future__ import annotations

import ast
import copy
import random

import pytest

from tests.compiler import harness, structure
from tests.support import random_diagram, random_text

FIXTURES = [
    name for name in harness.fixture_names() if harness.is_valid_fixture(name) and not name.startswith("big_")
]
ROUNDS = harness.scaled(2)


def programs(request, folder):
    """The Python files of a request by path; the test fails when it is refused."""
    run = harness.generate(request, folder)
    assert run.status == harness.OK, run.said
    return {
        path: content.decode("utf-8") for path, content in harness.files_of(folder).items() if path.endswith(".py")
    }


def hostile(rng, how):
    """A string that leaves something over when it is cleaned: empty texts are another diagram."""
    while True:
        text = random_text.field(rng)
        if rng.random() < 0.05:
            text += rng.choice(("\ud83d", "\ude00", "\udfff\ud800"))
        if rng.random() < 0.3:
            text += "{name}{user_message}"
        text = structure.written(text, how)
        if how == structure.LABEL or structure.becomes(text, how).strip():
            return text


def fill(request, texts):
    for (place, key, _), text in zip(structure.text_fields(request), texts):
        place[key] = text


def with_strings(text, strings):
    """A text of the harmless program with the strings where their markers are."""
    for marker, string in strings.items():
        text = text.replace(marker, string)
    return text


def check_literals(harmless, literals, strings):
    """Every literal of the harmless program that holds a marker holds the string instead; no other changed."""
    assert len(harmless) == len(literals)
    for before, after in zip(harmless, literals):
        assert after == with_strings(before, strings)


def check_request(request, rng, folder):
    """Puts other strings into all text fields of a request and compares; the number of fields."""
    fields = structure.text_fields(request)
    markers = [f"Marker{number}x" for number in range(len(fields))]
    texts = [hostile(rng, how) for _, _, how in fields]
    strings = {marker: structure.becomes(text, how) for marker, text, (_, _, how) in zip(markers, texts, fields)}
    fill(request, markers)
    harmless = programs(request, folder / "harmless")
    fill(request, texts)
    hostile_ones = programs(request, folder / "hostile")
    assert list(harmless) == list(hostile_ones)
    for path, source in hostile_ones.items():
        before, tree_before = structure.constants(harmless[path])
        after, tree_after = structure.constants(source)
        assert tree_after == tree_before, path
        check_literals(before, after, strings)
    before = harness.files_of(folder / "harmless")
    for path, content in harness.files_of(folder / "hostile").items():
        if path.startswith("skills/"):  # what a skill says is written as it is
            assert content.decode("utf-8") == with_strings(before[path].decode("utf-8"), strings)
    return len(fields)


@pytest.mark.parametrize("name", FIXTURES)
def test_no_text_of_a_fixture_changes_the_program(name, tmp_path):
    for number in range(ROUNDS):
        folder = tmp_path / str(number)
        folder.mkdir()
        check_request(harness.fixture(name), random.Random(f"{harness.SEED} {name} {number}"), folder)


RANDOM_SEEDS = harness.seeds(30, salt=8)


def random_request(seed):
    oddities = {"object_replies", "code_mixed", "condition_names", "global_context"}
    return random_diagram.build(seed, oddities, states=(3, 12))


@pytest.mark.parametrize("seed", RANDOM_SEEDS)
def test_no_text_of_a_random_diagram_changes_the_program(seed, tmp_path):
    check_request(random_request(seed), random.Random(seed), tmp_path)


def test_thousands_of_strings_are_tried():
    """The tests above put this many strings into programs."""
    count = ROUNDS * sum(len(structure.text_fields(harness.fixture(name))) for name in FIXTURES)
    count += sum(len(structure.text_fields(random_request(seed))) for seed in RANDOM_SEEDS)
    assert count >= 2000


@pytest.mark.parametrize(
    "text",
    [
        "'",
        '"',
        "\\",
        "'''",
        '"""',
        "\n",
        "\r",
        "\r\n",
        "\x0b",
        "\x0c",
        "\x85",
        "\u2028",
        "\u2029",
        "😀",
        "{",
        "}",
        "{{7*7}}",
        "{% x %}",
        "#",
        ";",
        "$(x)",
        "../",
        "a" * (1 << 20),
    ],
    ids=lambda text: ascii(text)[:20],
)
def test_the_strings_that_the_contract_names(text, tmp_path):
    """In every text field of three diagrams that have all of them."""
    for number, name in enumerate(("text_quotes_and_backslashes", "many_actions_in_order", "variable_quote")):
        request = harness.fixture(name)
        fields = structure.text_fields(request)
        fields = fields[:3] if len(text) > 1000 else fields
        plain, odd = copy.deepcopy(request), copy.deepcopy(request)
        fill(plain, ["x"] * len(fields))
        fill(odd, [f"x{text}"] * len(fields))
        one = programs(plain, tmp_path / f"{number}plain")
        two = programs(odd, tmp_path / f"{number}odd")
        assert {path: structure.constants(source)[1] for path, source in one.items()} == {
            path: structure.constants(source)[1] for path, source in two.items()
        }


# ---- names -----------------------------------------------------------------------------------------------------------
def hostile_name(rng):
    draw = rng.random()
    if draw < 0.4:
        return random_text.name(rng, set(), "x", odd=True)
    if draw < 0.6:
        return rng.choice(random_text.PROGRAM_NAMES)
    name = random_text.field(rng, 6)
    return name.replace(" ", "_").replace("-", "_") if rng.random() < 0.8 else name


@pytest.mark.parametrize("name", FIXTURES)
def test_names_are_refused_or_rename_variables(name, tmp_path):
    rng = random.Random(f"{harness.SEED} names {name}")
    request = harness.fixture(name)
    named = structure.named_elements(request)
    before = programs(request, tmp_path / "before")["agent.py"] if named else ""
    for number in range(min(len(named), 2 * ROUNDS)):
        index, new = rng.randrange(len(named)), hostile_name(rng)
        if not structure.clean(new.strip()):
            continue  # nothing is left of it: most kinds of elements are then passed over
        renamed = structure.rename(request, index, new)
        run = harness.generate(renamed, tmp_path / str(number))
        if run.status == harness.REFUSED:
            assert structure.is_refused_name(new) or is_taken(request, index, new), f"{new!r} is refused: {run.said}"
            continue
        source = harness.files_of(tmp_path / str(number))["agent.py"].decode("utf-8")
        try:
            structure.same_up_to_names(before, source)
        except structure.Renamed as difference:
            pytest.fail(
                f"{named[index][0]['type']} {named[index][0][named[index][1]]!r} called {new!r}: {difference}"
            )


def is_taken(request, index, new):
    """Another element has the name already (states and intents share one space, whatever the case)."""
    others = [
        element[key] for number, (element, key) in enumerate(structure.named_elements(request)) if number != index
    ]
    return (
        new.strip().casefold() in [other.strip().casefold() for other in others]
        or new.strip().casefold() == "fallback_intent"
    )


@pytest.mark.parametrize("seed", harness.seeds(30, salt=9))
def test_titles_are_refused_or_literals(seed, tmp_path):
    rng = random.Random(seed)
    request = harness.fixture("hello_minimal")
    before = programs(request, tmp_path / "before")["agent.py"]
    for number in range(4):
        title = hostile_name(rng)
        run = harness.generate({**request, "title": title}, tmp_path / str(number))
        if run.status == harness.REFUSED:
            assert not title.strip() or "-" in title, f"{title!r}: {run.said}"
            continue
        after = harness.files_of(tmp_path / str(number))["agent.py"].decode("utf-8")
        assert structure.constants(before)[1] == structure.constants(after)[1]
        call = next(
            node
            for node in ast.walk(ast.parse(after))
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Agent"
        )
        assert ast.literal_eval(call.args[0]) == structure.becomes(title, structure.RAW).replace(" ", "_")
