"""User code shares a program with what is generated and with other user code: it may call things as it likes, and nothing
else of the agent notices (7.7, 7.8, 7.9)."""

from __future__ import annotations

import builtins
import copy
import keyword

import pytest

from tests.compiler import compare, harness
from tests.compiler.request_view import View
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
