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


# ---- numbers ---------------------------------------------------------------------------------------------------------
NUMBERS = (
    "0 -0 0.0 -0.0 1 1.0 -1.0 1e2 1E2 1.5e3 100 1e22 1e23 1e15 1e16 123456789012345 1234567890123456 9007199254740991 "
    "9007199254740992 9007199254740993 -9007199254740993 9007199254740993.0 4503599627370497.5 9223372036854775807 "
    "9223372036854775808 -9223372036854775808 -9223372036854775809 18446744073709551615 18446744073709551616 "
    "123456789012345678901234567890 -123456789012345678901234567890123456789012345678901234567890123456789012345678901 "
    "0.1 0.30000000000000004 5e-324 1.7976931348623157e308 2.2250738585072014e-308 1e-7 0.0001 0.00001 -1.5 3.14 "
    "0.1000000000000000055511151231257827021181583404541015625 1.000 1e0 1e-0 12345678901234567890.5 1e+2"
).split()


def literal_of(program, call, keyword):
    """The value of a keyword argument of a call in a program."""
    for node in ast.walk(ast.parse(program)):
        if isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) == call:
            for item in node.keywords:
                if item.arg == keyword:
                    return ast.literal_eval(item.value)
            if isinstance(keyword, int):
                return ast.literal_eval(node.args[keyword])
    raise AssertionError(f"no {call}")


def same(one, two):
    """Equal, of one type, and of one sign also when zero."""
    if isinstance(one, (list, dict)):
        return repr(one) == repr(two)
    return type(one) is type(two) and repr(one) == repr(two)


def numbers_request(tokens):
    """JSON text: every number as parameter, in a list and as the value of a comparison; repeated members between."""
    parameters = ", ".join(f'"p{index}": {token}' for index, token in enumerate(tokens))
    arcs = "".join(
        f', "arc{index}": {{"type": "AgentStateTransition", "source": {{"element": "s"}}, "target": {{"element": "s"}}, '
        f'"predefined": {{"predefinedType": "when_variable_operation_matched", "conditionValue": '
        f'{{"variable": "v{index}", "targetValue": 1.0, "operator": "==", "targetValue": {token}}}}}}}'
        for index, token in enumerate(tokens)
    )
    return (
        '{"title": "N", "model": {"size": {"width": 1.0, "height": 12345678901234567890}, "elements": {"i": {"type": '
        '"StateInitialNode"}, "s": {"type": "AgentState", "name": "hub", "actions": ["a"], "x": 1e2}, "a": {"type": '
        f'"AgentStateBody", "actionType": "TextReplyAction", "name": {tokens[0]}}}}}, "components": {{"l": {{"type": '
        f'"AgentLLM", "name": "m", "num_previous_messages": {tokens[1]}, "parameters": {{"all": [{", ".join(tokens)}], '
        f'{parameters}}}}}}}, "relationships": {{"r": {{"type": "AgentStateTransitionInit", "source": {{"element": "i"}}, '
        f'"target": {{"element": "s"}}}}{arcs}}}}}}}'
    )


def test_numbers_reach_the_program_as_they_were_written(tmp_path):
    run = harness.agentsim(
        "generate", "--session", "--quiet", "--output", tmp_path, "-", text=numbers_request(NUMBERS)
    )
    assert run.status == harness.OK, run.said
    program = (tmp_path / "agent.py").read_text(encoding="utf-8")
    wanted = [json.loads(token) for token in NUMBERS]
    parameters = literal_of(program, "LLMOpenAI", "parameters")
    assert all(same(one, two) for one, two in zip(parameters["all"], wanted))
    assert all(same(parameters[f"p{index}"], value) for index, value in enumerate(wanted))
    targets = {}
    for node in ast.walk(ast.parse(program)):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "when_variable_matches_operation":
            targets[ast.literal_eval(node.args[0])] = ast.literal_eval(node.args[2])
    assert all(same(targets[f"v{index}"], value) for index, value in enumerate(wanted))


@pytest.mark.parametrize("token", NUMBERS)
def test_numbers_as_texts_read_as_they_were_written(token, tmp_path):
    """A text field that holds a number, and a whole number of a setting: truncated, kept to 64 bits."""
    run = harness.agentsim("generate", "--session", "-q", "-o", tmp_path, "-", text=numbers_request([token, token]))
    assert run.status == harness.OK, run.said
    program, value = (tmp_path / "agent.py").read_text(encoding="utf-8"), json.loads(token)
    assert literal_of(program, "reply", 0) == str(value)
    messages = max(-(2**63), min(2**63 - 1, int(value)))
    if messages:
        assert literal_of(program, "LLMOpenAI", "num_previous_messages") == messages


@pytest.mark.parametrize("token, taken", [
    ("9223372036854775807", None), ("-9223372036854775808", None), ("9223372036854775808", 2**63 - 1), ("-1" + "0" * 30, -(2**63)), ("1e19", 2**63 - 1)
])
def test_counts_that_64_bits_do_not_hold_are_told(token, taken):
    """What counts something does not have to keep its digits; who wrote them has to know."""
    told = [line for line in harness.agentsim("validate", "-", text=numbers_request(["1", token])).said.splitlines() if "64 bits" in line]
    assert len(told) == (taken is not None)
    assert not told or told[0].startswith("warning model.components.l.num_previous_messages: ") and f": {taken} is taken" in told[0]


@pytest.mark.parametrize("token", ("9" * 309, "-" + "1" * 400, "1" + "0" * 5000))
def test_integers_that_no_machine_holds_are_refused(token):
    run = harness.agentsim("validate", "-", text=numbers_request([token, "1"]))
    assert run.status != harness.OK and "beyond what a machine can hold" in run.said


# ---- smaller rows --------------------------------------------------------------------------------------------------
def described(request, dumper, folder):
    run = harness.generate(request, folder)
    assert run.status == harness.OK, run.said
    return dumper.dump(folder)


def test_a_blank_name_of_a_model_is_none(dumper, tmp_path):
    """Rule 22 lets it pass, so the default answers."""
    actions = [
        {"actionType": kind, "llm_name": " \t", "initial_url": "https://x.example"}
        for kind in ("LLMReplyAction", "LLMChatAction", "DBAction", "WebCrawlLLMAction")
    ]
    request = one_state(*actions, one={"type": "AgentLLM", "name": "one", "provider": "openai"})
    body = described(request, dumper, tmp_path / "out")["states"][0]["body"]["bare"]
    assert "raises" not in body
    assert [call[1]["llm"] for call in body["calls"] if call[0].startswith("llm.")] == ["one"] * 4


@pytest.mark.parametrize("word,speaks", (("speech", True), ("SPEECH", True), (" speech", False), ("speeches", False)))
def test_only_the_word_speech_makes_an_agent_speak(word, speaks, dumper, tmp_path):
    request = {**one_state(), "config": {"inputModalities": ["text", word], "outputModalities": [word]}}
    speech = described(request, dumper, tmp_path / "out")["speech"]
    assert [speech["input"] is not None, speech["output"] is not None] == [speaks, speaks]


def test_the_store_of_documents_has_the_name_in_small_letters(dumper, tmp_path):
    """2.4; where that could not be the name of one folder, the file-safe one of 8.3."""
    stores = {"Men\u00fa": "men\u00fa", "\u540d\u524d": "\u540d\u524d", "it's": "it's", "Skills": "skills", "../X": "_x",
              "a/B": "a_b", "a_b": "a_b_2", ".k": "k", "Tab\tb": "tab_b", "menu": "menu", "MENU": "menu_2"}
    rags = {f"g{number}": {"type": "AgentRagElement", "name": name} for number, name in enumerate(stores)}
    found = {rag["store"] for rag in described(one_state(**rags), dumper, tmp_path / "out")["rags"]}
    assert found == {f"vector_store/{store}" for store in stores.values()}


def test_a_tool_whose_function_has_another_name_is_the_first_public_one(dumper, tmp_path):
    """And code that ends while it is loaded takes nobody else along."""
    tools = {
        "one": {"type": "AgentTool", "name": "one", "code": "def _help():\n    return 1\n\ndef main(x):\n    return _help()"},
        "two": {"type": "AgentTool", "name": "two", "code": "def _only():\n    return 2"},
        "bad": {"type": "AgentTool", "name": "bad", "code": "def bad():\n    pass\nraise SystemExit(3)"},
    }
    tools_of = described(one_state(**tools), dumper, tmp_path / "out")["tools"]
    assert {tool["name"]: sorted(tool["parameters"]["properties"]) for tool in tools_of} == {"one": ["x"], "two": []}
