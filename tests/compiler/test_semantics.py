"""What the tables of the contract say word by word, worked out here once more and compared with generated programs: the
interpolation of texts (7.5), comparisons (D1), the names that user code is shown (7.7)."""

from __future__ import annotations

import ast
import builtins
import json
import keyword
import operator
import random
import re
import unicodedata

import pytest

from tests.compiler import harness
from tests.support import random_diagram, random_text


def one_state(*actions, **elements):
    """A diagram whose only state has these actions."""
    model = {
        "elements": {"i": {"type": "StateInitialNode"}, "s": {"type": "AgentState", "name": "hub", "actions": []}}
    }
    model["relationships"] = {
        "r": {"type": "AgentStateTransitionInit", "source": {"element": "i"}, "target": {"element": "s"}}
    }
    for number, action in enumerate(actions):
        model["elements"][f"a{number}"] = {"type": "AgentStateBody", **action}
        model["elements"]["s"]["actions"].append(f"a{number}")
    model["elements"].update(elements)
    return {"title": "One", "model": model}


# ---- 7.5 -----------------------------------------------------------------------------------------------------------
# The last two are not set: of two spellings of one name which one counts is free.
NAMES = ("name", "a", "größe", "имя", "x1", "_", "__", "9", "user_message", "名前", "e\u0301t", "n\u00b2", "ét")
VALUES = (
    "Ann",
    "",
    "{name}",
    "{a}{b}",
    0,
    0.0,
    False,
    True,
    None,
    5,
    2.5,
    "it's \"x\"\n\\n",
    "😀",
    [1, "a"],
    {"k": 1},
)


def interpolated(text, variables, message):
    """One pass, left to right; only an unset variable is empty."""

    def shown(match):
        name = unicodedata.normalize("NFC", match[1])
        if not re.fullmatch(r"\w+", name):
            return match[0]
        known = {unicodedata.normalize("NFC", key): value for key, value in variables.items()}
        value = message if name == "user_message" else known.get(name)
        return "" if value is None else str(value)

    return re.sub(r"\{([^{}]+)\}", shown, text)


def template(rng):
    pieces = [f"{{{name}}}" for name in NAMES] + [
        "{",
        "}",
        "{}",
        "{ a }",
        "{a b}",
        "{a-b}",
        "{{a}}",
        "{x{a}}",
        "{a",
        "a}",
        "%s",
        "\\",
        "'",
    ]
    return "".join(rng.choice(pieces + [random_text.tame(rng, 1)]) for _ in range(rng.randint(1, 12)))


@pytest.mark.parametrize("seed", harness.seeds(15, salt=50))
def test_placeholders_are_filled_in_one_pass(seed, dumper, tmp_path):
    rng = random.Random(seed)
    texts = [template(rng) for _ in range(20)]
    variables = {name: rng.choice(VALUES) for name in rng.sample(NAMES[:-2], 6) if name != "user_message"}
    message = rng.choice(("hello", "{name}", "", "it's {a}"))
    kinds = (
        {"actionType": "TextReplyAction"},
        {"actionType": "WebSocketReplyMarkdownAction"},
        {"actionType": "WebSocketReplyHTMLAction"},
        {"actionType": "WebSocketReplySpeechAction"},
    )
    actions = [
        {**rng.choice(kinds), "name": text, "ws_message": text, "useSessionVars": rng.random() < 0.8}
        for text in texts
    ]
    probes = tmp_path / "probes.json"
    event = {"type": "text", "message": message}
    probes.write_text(json.dumps({"probes": [{"name": "p", "vars": variables, "event": event}]}), encoding="utf-8")
    run = harness.generate(one_state(*actions), tmp_path / "out")
    assert run.status == harness.OK, run.said
    calls = dumper.dump(tmp_path / "out", probes)["states"][0]["body"]["p"]["calls"]
    wanted = [
        interpolated(text, variables, message) if action["useSessionVars"] else text
        for text, action in zip(texts, actions)
    ]
    assert [call[1] for call in calls] == wanted


# ---- D1 --------------------------------------------------------------------------------------------------------------
OPERATORS = {
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    ">=": operator.ge,
    ">": operator.gt,
    "!=": operator.ne,
}
COMPARED = (
    None,
    0,
    1,
    -1,
    10,
    9,
    2.5,
    10.0,
    True,
    False,
    "",
    "10",
    "9",
    "2.5",
    "a",
    "A",
    "True",
    "true",
    "é",
    [],
    [1],
    {},
    {"a": 1},
    "None",
    10**20,
    "1",
    "0",
    "False",
)


def holds(symbol, value, target):
    """Numbers by value, equal types as they are, different types by their text; never an unset variable."""
    if value is None:
        return False
    numbers = isinstance(value, (int, float)) and isinstance(target, (int, float))
    if not numbers and target is not None and type(value) is not type(target):
        value, target = str(value), str(target)
        if {value.lower(), target.lower()} & {"true", "false"}:
            return None  # the spelling of truth values in texts is free
    try:
        return bool(OPERATORS[symbol](value, target))
    except TypeError:
        return False


def test_comparisons_never_raise_and_compare_by_type_or_text(tmp_path):
    """The function of the program that compares, called with every pair of values."""
    arc = {
        "type": "AgentStateTransition",
        "source": {"element": "s"},
        "target": {"element": "s"},
        "predefined": {
            "predefinedType": "when_variable_operation_matched",
            "conditionValue": {"variable": "x", "operator": "<", "targetValue": 1},
        },
    }
    request = one_state()
    request["model"]["relationships"]["arc"] = arc
    assert harness.generate(request, tmp_path).status == harness.OK
    tree = ast.parse((tmp_path / "agent.py").read_text(encoding="utf-8"))
    tree.body = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("compar")]
    names = {}
    exec(compile(tree, "agent.py", "exec"), names)
    for symbol, operation in OPERATORS.items():
        compare = names["comparison"](operation)
        for value in COMPARED:
            for target in [item for item in COMPARED if not isinstance(item, (list, dict))]:
                wanted, got = holds(symbol, value, target), compare(value, target)
                assert isinstance(got, bool)
                assert wanted is None or got == wanted, f"{value!r} {symbol} {target!r}: {got}"


# ---- 7.7 -------------------------------------------------------------------------------------------------------------
FIXED = {
    "agent",
    "platform",
    "default_llm",
    "ic_config",
    "json",
    "logging",
    "operator",
    "os",
    "Session",
    "AgentSession",
}
SHOW = "def show(session):\n    session.set('names', sorted(globals()))\n"


def is_alias(name):
    return name.isidentifier() and not keyword.iskeyword(name)


@pytest.mark.parametrize("seed", harness.seeds(15, salt=51))
def test_user_code_sees_the_names_the_contract_lists(seed, dumper, tmp_path):
    request = random_diagram.build(seed, {"state_names", "intent_names"}, states=(2, 6), legacy=0)
    elements, components = request["model"]["elements"], request["model"]["components"]
    elements["show"] = {"type": "AgentStateBody", "actionType": "CustomCodeAction", "name": SHOW}
    elements["seen"] = {"type": "AgentState", "name": "state_that_shows", "actions": ["show"]}
    run = harness.generate(request, tmp_path / "out")
    assert run.status == harness.OK, run.said
    states = dumper.dump(tmp_path / "out")["states"]
    calls = next(state for state in states if state["name"] == "state_that_shows")["body"]["bare"]["calls"]
    seen = set(next(call[2] for call in calls if call[1] == "names"))
    assert FIXED <= seen
    own = [item["name"] for item in elements.values() if item["type"] in ("AgentState", "AgentReasoningState")]
    own += [item["name"] for item in components.values() if item["type"] == "AgentIntent"]
    reserved = FIXED | {"stt", "tts", "show", *keyword.softkwlist}
    for name in own:
        if (
            is_alias(name)
            and not name.startswith("__")
            and name not in reserved
            and name.isascii()
            and not hasattr(builtins, name)
        ):
            assert name in seen or name.startswith("LLM") or name.endswith("Event"), name
        elif not is_alias(name):
            assert name not in seen
