"""User code shares a program with what is generated and with other user code: it may call things as it likes, and nothing
else of the agent notices (7.7, 7.8, 7.9)."""

from __future__ import annotations

import builtins
import copy
import keyword

import pytest

from tests.compiler import compare, harness
from tests.compiler.request_view import View
from tests.compiler.test_programs import check_files
from tests.support import random_diagram, random_text

BUILTINS = [
    name for name in dir(builtins) if not keyword.iskeyword(name) and name not in ("__debug__", "__build_class__")
]
PROGRAM = [name for name in random_text.PROGRAM_NAMES if name.isidentifier()]
PREFIXES = ["my_", "my", "my_agent", "my1_", "my_1_agent", "_my_agent", "my__", "my_my_", "my_builtins", "m_y"]


def with_condition(request, source):
    """One more transition of a state without an automatic one, whose condition has this source."""
    request = copy.deepcopy(request)
    model = request["model"]
    model["elements"]["shadow_state"] = {"type": "AgentState", "name": "shadow_state", "actions": []}
    model["relationships"]["shadow"] = {
        "type": "AgentStateTransition",
        "source": {"element": "shadow_state"},
        "target": {"element": "shadow_state"},
        "transitionType": "custom",
        "custom": {"event": "None", "condition": [source]},
    }
    return request


def dump(request, dumper, folder):
    run = harness.generate(request, folder)
    assert run.status == harness.OK, run.said
    check_files(harness.files_of(folder), request)
    described = dumper.dump(folder)
    assert "error" not in described, described
    return described


def check_unnoticed(request, names, dumper, tmp_path):
    """The agent behaves the same with a condition that rebinds all of the names at the top of its source."""
    harmless = "def decide(session):\n    return True\n"
    rebinding = "".join(f"{name} = None\n" for name in names) + harmless
    one = dump(with_condition(request, harmless), dumper, tmp_path / "harmless")
    two = dump(with_condition(request, rebinding), dumper, tmp_path / "rebinding")
    assert not compare.differences(one, two), compare.show(compare.differences(one, two))


def without_user_code(seed):
    """Code of the diagram itself does notice: it is shown the names that are rebound."""
    oddities = {"object_replies", "placeholders", "gui_filters", "tool_helpers"}
    request = random_diagram.build(seed, oddities, states=(3, 6))
    for element in request["model"]["elements"].values():
        if View.kind(element) == "CustomCodeAction":
            element.update(actionType="TextReplyAction", name="no code")
    for arc in request["model"]["relationships"].values():
        if arc.get("transitionType") == "custom":
            arc.pop("customConditions", None)
            arc["custom"] = {"event": "DummyEvent"}
    return request


@pytest.mark.parametrize("seed", harness.seeds(6, salt=40))
def test_names_of_the_program_may_be_rebound(seed, dumper, tmp_path):
    request = without_user_code(seed)
    check_unnoticed(
        request,
        PROGRAM + [name for name in ("Agent", "GUIEvent", "json", "re") if name not in PROGRAM],
        dumper,
        tmp_path,
    )


@pytest.mark.parametrize(
    "name",
    (
        "many_actions_in_order",
        "text_session_variables",
        "db_sql",
        "web_crawl",
        "speech_replies",
        "llm_reply_variants",
        "rag_ollama_hybrid",
        "replies_from_variables",
        "transitions_predefined",
        "reasoning_with_tools",
        "gui_form",
        "config_speech",
        "variable_target_types",
    ),
)
def test_builtins_may_be_rebound(name, dumper, tmp_path):
    check_unnoticed(harness.fixture(name), BUILTINS + PROGRAM, dumper, tmp_path)


@pytest.mark.parametrize("word", PREFIXES)
def test_private_names_stay_clear_of_user_code(word, dumper, tmp_path):
    request = harness.fixture("many_actions_in_order")
    names = [word, f"{word}agent", f"{word}_agent", f"{word}platform", f"{word}state_start", f"{word}1_agent"]
    check_unnoticed(request, names, dumper, tmp_path)


def test_functions_of_equal_names_stay_apart(dumper, tmp_path):
    """Two bodies and two conditions define the same function, each its own."""
    model = {
        "elements": {"i": {"type": "StateInitialNode"}},
        "relationships": {
            "r": {"type": "AgentStateTransitionInit", "source": {"element": "i"}, "target": {"element": "s0"}}
        },
    }
    for number in range(2):
        code = f"def act(session):\n    session.reply('body {number}')\n"
        model["elements"][f"a{number}"] = {"type": "AgentStateBody", "actionType": "CustomCodeAction", "name": code}
        model["elements"][f"s{number}"] = {"type": "AgentState", "name": f"s{number}", "actions": [f"a{number}"]}
        model["relationships"][f"r{number}"] = {
            "type": "AgentStateTransition",
            "source": {"element": f"s{number}"},
            "target": {"element": "s0"},
            "transitionType": "custom",
            "custom": {"event": "None", "condition": [f"def act(session):\n    return {number} == 1\n"]},
        }
    described = dump({"title": "Twins", "model": model}, dumper, tmp_path / "out")
    for number, state in enumerate(described["states"]):
        assert state["body"]["bare"]["calls"] == [["reply", f"body {number}"]]
        assert state["transitions"][0]["condition"]["bare"] is (number == 1)


def agent_of(bodies, conditions, names=None):
    """A ring of states: state n has the n-th body (source or None) and one transition with the n-th condition."""
    names = names or [f"s{number}" for number in range(len(bodies))]
    model = {
        "elements": {"i": {"type": "StateInitialNode"}},
        "relationships": {
            "r": {"type": "AgentStateTransitionInit", "source": {"element": "i"}, "target": {"element": "s0"}}
        },
    }
    for number, (code, condition) in enumerate(zip(bodies, conditions)):
        model["elements"][f"s{number}"] = {"type": "AgentState", "name": names[number], "actions": []}
        if code:
            model["elements"][f"a{number}"] = {
                "type": "AgentStateBody",
                "actionType": "CustomCodeAction",
                "name": code,
            }
            model["elements"][f"s{number}"]["actions"] = [f"a{number}"]
        if condition:
            model["relationships"][f"r{number}"] = {
                "type": "AgentStateTransition",
                "source": {"element": f"s{number}"},
                "target": {"element": "s0"},
                "transitionType": "custom",
                "custom": {"event": "None", "condition": [condition]},
            }
    return {"title": "Ring", "model": model}


def behaviour(described, number):
    """What the n-th state's body replies, and whether its condition holds."""
    state = described["states"][number]
    body = state["body"]["bare"]["calls"] if state.get("body") else None
    return body, [arc["condition"]["bare"] for arc in state["transitions"]]


def test_helpers_of_equal_names_stay_apart(dumper, tmp_path):
    """Conditions define a helper of one name each, and so does a body that calls itself."""
    helped = "def helper(session):\n    return {}\n\n\ndef decide(session):\n    return helper(session)\n"
    again = (
        "def helper(session, depth=2):\n    session.reply('{0} %s' % depth)\n"
        "    if depth:\n        helper(session, depth - 1)\n"
    )
    request = agent_of([again.format("a"), again.format("b"), None], [helped.format(True), helped.format(False), None])
    described = dump(request, dumper, tmp_path / "out")
    assert behaviour(described, 0) == ([["reply", "a 2"], ["reply", "a 1"], ["reply", "a 0"]], [True])
    assert behaviour(described, 1) == ([["reply", "b 2"], ["reply", "b 1"], ["reply", "b 0"]], [False])


def test_constants_classes_and_imports_stay_apart(dumper, tmp_path):
    first = (
        "import math as lib\nLIMIT = 1\n\n\nclass Rule:\n    text = '''one\n  two\n'''\n\n    def holds(self):\n"
        "        return LIMIT == 1 and lib.pi > 3 and self.text == '''one\n  two\n'''\n\n\n"
        "decide = None\n\n\ndef decide(session):\n    return Rule().holds() and [LIMIT for _ in (1,)] == [1]\n"
    )
    second = (
        "import string as lib\nLIMIT, Rule = 2, {'a': 2}\nfor Index in range(3):\n    pass\n\n\n"
        "def decide(session, params):\n    return lib.digits[LIMIT] == '2' and Rule['a'] == LIMIT and Index == 2\n"
    )
    described = dump(agent_of([None, None], [first, second]), dumper, tmp_path / "out")
    assert behaviour(described, 0)[1] == [True] and behaviour(described, 1)[1] == [True]


@pytest.mark.parametrize("name", ("json", "print", "agent", "platform", "Session", "len", "s2", "ReceiveTextEvent"))
def test_what_one_source_rebinds_another_still_has(name, dumper, tmp_path):
    """A condition takes a name for itself; the body that reads the name sees what it is meant to see."""
    taking = f"{name} = 'mine'\n\n\ndef decide(session):\n    return {name} == 'mine'\n"
    reading = f"def act(session):\n    session.reply(type({name}).__name__)\n"
    defining = f"def {name}(session):\n    return {name}.__name__ == '{name}'\n"
    request = agent_of([reading, reading, None], [taking, defining, None])
    described = dump(request, dumper, tmp_path / "out")
    alone = dump(agent_of([reading, None, None], [None, None, None]), dumper, tmp_path / "alone")
    seen = behaviour(alone, 0)[0]
    assert behaviour(described, 0) == (seen, [True]) and behaviour(described, 1) == (seen, [True])


def test_a_source_may_start_from_the_name_it_takes(dumper, tmp_path):
    own = (
        "json = json.dumps\nlen = len\n\n\ndef decide(session):\n    return helper() == '[2]'\n\n\n"
        "def helper():\n    return json([len('ab')])\n"
    )
    other = (
        "def decide(session):\n    return helper() == [3, 1]\n\n\n"
        "def helper():\n    return json.loads('[3]') + [len('x')]\n"
    )
    described = dump(agent_of([None, None], [own, other]), dumper, tmp_path / "out")
    assert behaviour(described, 0)[1] == [True] and behaviour(described, 1)[1] == [True]


def test_what_code_declares_global_is_shared(dumper, tmp_path):
    """`global` is how pieces of code share something on purpose, also when their other names clash."""
    counting = (
        "count = 0\n\n\ndef decide(session):\n    return helper() > 0\n\n\n"
        "def helper():\n    global count\n    count += 1\n    return count\n"
    )
    looking = "def decide(session):\n    return helper()\n\n\ndef helper():\n    return 'count' in globals()\n"
    telling = "def act(session):\n    global count\n    session.reply(str(count >= 0))\n"
    described = dump(agent_of([telling, None], [counting, looking]), dumper, tmp_path / "out")
    assert behaviour(described, 0) == ([["reply", "True"]], [True])
    assert behaviour(described, 1)[1] == [True]


def test_code_that_does_not_clash_stands_as_it_was_drawn(dumper, tmp_path):
    code = "def act(session):\n    session.reply('''a\n  b''')\n"
    condition = "LIMIT = 1\n\n\ndef decide(session, params):\n    return LIMIT\n"
    request = agent_of([code, code], [condition, "def decide(session, params):\n    return True\n"])
    dump(request, dumper, tmp_path / "out")
    program = (tmp_path / "out" / "agent.py").read_text(encoding="utf-8")
    assert program.count(code) == 2 and condition in program


@pytest.mark.parametrize(
    "odd",
    (
        "from math import *\n",
        "count: int = 0\n\n\ndef other():\n    global count\n    return count\n\n\n",
        "x = 1\rz = 2\n",
        "if True:\n\tx = 1\n",
        "x = (1,\n2)\ny = 'a\\\n  b'\n",
        "# only a comment\n\n",
        "\x0cx = 1\n",
        "class A:\n    def f(self):\n        return helper()\n",
        "x = 1\n\n\nclass A:\n    x = x + 1\n\n\n",
        "from __future__ import annotations\n\n\ndef later(value: Unknown) -> None:\n    pass\n\n\n",
        "global shared\nshared = 1\n",
    ),
)
def test_odd_sources_with_clashing_names_run(odd, dumper, tmp_path):
    source = odd + "def condition_{0}_1(session):\n    return helper()\n\n\ndef helper():\n    return {0} == 1\n"
    described = dump(agent_of([None, None], [source.format(1), source.format(2)]), dumper, tmp_path / "out")
    assert [behaviour(described, number)[1] for number in (0, 1)] == [[True], [False]]


def test_private_names_stay_clear_of_letters_that_python_reads_as_others(dumper, tmp_path):
    """Full-width letters: CPython takes the name for the plain one."""
    request = harness.fixture("many_actions_in_order")
    wide = str.maketrans("myownur_", "\uff4d\uff59\uff4f\uff57\uff4e\uff55\uff52\uff3f")
    names = [prefix.translate(wide) + name for prefix in ("my_", "own_", "our_") for name in ("agent", "platform")]
    check_unnoticed(request, names, dumper, tmp_path)


def test_names_in_any_script_are_published(dumper, tmp_path):
    """As Python reads them, and only where that takes nothing away from others."""
    names = ["\u00e9t\u00e9", "\u540d\u524d", "\ufb01n", "\uff41gent", "\uff43lass", "\u00b2x", "a.b"]
    code = "def act(session):\n    session.reply(' '.join([e\u0301te\u0301.name, \u540d\u524d.name, fin.name, agent.name]))\n"
    nothing = [None] * (len(names) - 1)
    described = dump(agent_of([code, *nothing], [None, *nothing], names), dumper, tmp_path / "out")
    assert behaviour(described, 0)[0] == [["reply", "\u00e9t\u00e9 \u540d\u524d \ufb01n Ring"]]
