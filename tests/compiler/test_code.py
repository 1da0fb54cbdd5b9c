"""Custom code, tools and conditions: the verdict of `agentsim validate` is CPython's own compile() and the rules of section
9, worked out here once more with the ast module, for every snippet of snippets.py in each of the three places."""

from __future__ import annotations

import ast
import copy
import os
import re
import textwrap

import pytest

from tests.compiler import harness
from tests.compiler.snippets import ALL

MODULES = set(
    "os subprocess socket sys ctypes importlib shutil urllib http ftplib smtplib pickle marshal builtins pty signal".split()
)
BUILTINS = set("exec eval __import__ compile open breakpoint".split())
CUSTOM, TOOL, CONDITION = "custom code", "tool", "condition"
CHUNKS = 12

pytestmark = pytest.mark.filterwarnings("ignore::SyntaxWarning", "ignore::DeprecationWarning")


def compiles(source):
    try:
        compile(source, "<code>", "exec", dont_inherit=True)
        return True
    except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
        return False


def forbidden(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        else:
            names = []
        if any(name.partition(".")[0] in MODULES for name in names):
            return True
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in BUILTINS:
            return True
    return False


def takes_session(function):
    """Callable as f(session) or f(session, {})."""
    arguments = function.args
    ordinary = len(arguments.posonlyargs) + len(arguments.args)
    required = ordinary - len(arguments.defaults)
    if any(default is None for default in arguments.kw_defaults):
        return False
    return required <= 2 and (ordinary > 0 or arguments.vararg is not None)


def custom_code_is_right(source):
    if not source.strip() or not compiles(source):
        return False
    body = ast.parse(source).body
    if len(body) != 1 or not isinstance(body[0], ast.FunctionDef) or not body[0].args.args:
        return False
    return body[0].args.args[0].arg == "session" and not forbidden(body[0])


def tool_is_right(source):
    if not source.strip() or not re.search(r"^\s*def\s+[^\W\d]\w*\s*\(", source, re.M):
        return False
    return compiles(source) and not forbidden(ast.parse(source))


def condition_is_right(source):
    if not source.strip():
        return True  # it is passed over
    if not compiles(source):
        source = textwrap.dedent(source)
    if not compiles(source):
        return False
    tree = ast.parse(source)
    functions = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            functions[node.name] = node
    if not functions or forbidden(tree):
        return False
    return takes_session(functions.get("condition_1_1") or next(iter(functions.values())))


RIGHT = {CUSTOM: custom_code_is_right, TOOL: tool_is_right, CONDITION: condition_is_right}


def request_with(source, place):
    request = copy.deepcopy(harness.fixture("hello_minimal"))
    model = request["model"]
    state = next(key for key, item in model["elements"].items() if item["type"] == "AgentState")
    if place == CUSTOM:
        model["elements"]["code"] = {
            "id": "code",
            "type": "AgentStateBody",
            "actionType": "CustomCodeAction",
            "name": source,
        }
        model["elements"][state]["actions"] = ["code"]
    elif place == TOOL:
        model.setdefault("components", {})["tool"] = {
            "id": "tool",
            "type": "AgentTool",
            "name": "f",
            "description": "d",
            "code": source,
        }
    else:
        model["relationships"]["arc"] = {
            "id": "arc",
            "type": "AgentStateTransition",
            "source": {"element": state},
            "target": {"element": state},
            "transitionType": "custom",
            "custom": {"event": "None", "condition": [source]},
        }
    return request


@pytest.mark.parametrize("chunk", range(CHUNKS))
@pytest.mark.parametrize("place", RIGHT)
def test_the_verdict_is_cpythons_and_the_rules(place, chunk):
    wrong = []
    for source in ALL[chunk::CHUNKS]:
        # U+0000 is refused in any text of a document, wherever it stands.
        expected = RIGHT[place](source) and "\0" not in source
        run = harness.verdict(request_with(source, place))
        if (run.status == harness.OK) != expected:
            wrong.append(f"{'accepted' if run.status == 0 else 'refused'}: {source[:200]!r}\n    {run.said[:300]}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("place", RIGHT)
def test_the_corpus_has_enough_of_both(place):
    right = sum(RIGHT[place](source) for source in ALL)
    assert len(set(ALL)) >= 350 and right >= 80 and len(ALL) - right >= 150


@pytest.mark.parametrize("place", (CUSTOM, TOOL, CONDITION))
def test_code_that_is_accepted_loads(place, dumper, tmp_path):
    """Every snippet that is right in some place gives a program that compiles and loads there."""
    for number, source in enumerate(
        item for item in ALL if RIGHT[place](item) and "\0" not in item and len(item) < 2000
    ):
        if number % 4 and harness.SCALE <= 1:
            continue
        run = harness.generate(request_with(source, place), tmp_path / str(number))
        assert run.status == harness.OK, run.said
        described = dumper.dump(tmp_path / str(number))
        if (
            place == CUSTOM and "error" in described
        ):  # what runs when a function is defined may fail: that is its author's
            assert described["error"]["stage"] == "import" and ("@" in source or "def f(session" in source), described
            continue
        assert "error" not in described, (source, described)


def test_pathological_sources_take_bounded_time_and_memory():
    for source in (
        "(" * 100_000,
        "x = " + "-" * 200_000 + "1",
        "x = " + "a." * 100_000,
        "x = " + "[" * 90 + "]" * 90,
        "x = '" + "a" * 3_000_000 + "'",
        "def f(session):\n" + "    x = 1\n" * 200_000,
        "x = " + " ** ".join("9" * 5000),
        "x = " + "1," * 500_000,
    ):
        run = harness.measured("validate", "-", text=harness.to_json(request_with(source, CUSTOM)))
        assert run.status == harness.REFUSED or source.startswith("def f"), run.said[:300]
        assert run.seconds < 8 and run.megabytes < 600, f"{source[:20]}: {run.seconds} s, {run.megabytes} MB"


def test_nothing_of_the_code_is_executed(tmp_path):
    marker = tmp_path / "executed"
    for place in RIGHT:
        for source in (
            f"def f(session, x=open({str(marker)!r}, 'w')): pass",
            f"import os; os.close(os.open({str(marker)!r}, {os.O_CREAT}))\ndef f(a): pass",
        ):
            harness.verdict(request_with(source, place))
    assert not marker.exists()
