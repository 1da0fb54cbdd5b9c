"""What the reference loses on the way out does not get lost here: the last table of the B-UML contract, row by row as
far as it is about writing. Each text is executed with the reference's metamodel."""

from __future__ import annotations

import pytest

from tests.buml.exporting import arc, custom, drawn, exported


@pytest.fixture(name="agent_of")
def agent_of_fixture(reference, tmp_path):
    return lambda request: reference.run(exported(request), tmp_path)["agents"]["agent"]


def code(source):
    return {"actionType": "CustomCodeAction", "name": source}


def reply(text):
    return {"actionType": "TextReplyAction", "name": text}


def test_1_a_description_of_the_agent(agent_of):
    agent = agent_of(drawn({"c": {"type": "Comments", "name": 'all "of" it'}}))
    assert agent["description"] == 'all "of" it'


def test_2_a_description_of_a_state(agent_of):
    link = {"type": "Link", "source": {"element": "c"}, "target": {"element": "s"}}
    reasoning = drawn({"c": {"type": "Comments", "name": "why"}}, {"k": link}, stateType="reasoning", max_steps=3)
    state = agent_of(reasoning)["states"][0]
    assert state["description"] == "why" and state["class"] == "ReasoningState" and state["max_steps"] == 3


def test_3_negative_numbers(agent_of):
    place = {"actionType": "WebSocketReplyLocationAction", "ws_latitude": -1.5, "ws_longitude": -70}
    value = {"variable": "n", "operator": "<", "targetValue": -5}
    compare = arc(predefined={"predefinedType": "when_variable_operation_matched", "conditionValue": value})
    state = agent_of(drawn({"a": place}, {"t": compare}, actions=["a"]))["states"][0]
    assert (state["body"][0]["latitude"], state["body"][0]["longitude"]) == (-1.5, -70.0)
    assert state["transitions"][0]["conditions"][0]["target"] == -5


def test_4_code_made_of_replies_only(agent_of):
    source = "def say(session):\n    session.reply('hi')"
    body = agent_of(drawn({"a": code(source)}, actions=["a"]))["states"][0]["body"]
    assert body == [{"class": "CustomCodeAction", "source": source}]


def test_5_functions_of_one_name(agent_of):
    one, two = "def f(session):\n    x(1)", "def f(session):\n    x(2)"
    conditions = custom("def c(session):\n    return 1"), custom("def c(session):\n    return 2")
    elements = {"a": code(one), "b": code(two), "n": {"type": "AgentState", "name": "next", "actions": ["b"]}}
    states = agent_of(drawn(elements, dict(zip("tu", conditions)), actions=["a"]))["states"]
    assert [state["body"][0]["source"] for state in states] == [one, two]
    sources = [arc["conditions"][0]["source"] for arc in states[0]["transitions"]]
    assert sources == ["def c(session):\n    return 1", "def c(session):\n    return 2"]


def test_6_code_among_other_actions(agent_of):
    one, two = "def f(session):\n    x(1)", "def g(session):\n    x(2)"
    elements = {"a": code(one), "b": reply("hi"), "c": code(two)}
    body = agent_of(drawn(elements, actions=["a", "b", "c"]))["states"][0]["body"]
    assert [action.get("source", action.get("message")) for action in body] == [one, "hi", two]


@pytest.mark.parametrize(
    "source",
    ["import re\ndef c(session):\n    return re", "lambda session: True", "def c(session, x=1 / 0):\n    return x"],
)
def test_7_conditions_that_are_more_than_a_function(source, agent_of):
    arcs = agent_of(drawn(relationships={"t": custom(source)}))["states"][0]["transitions"]
    assert arcs[0]["conditions"][0]["source"] == source


def test_8_names_that_are_equal_when_safe(agent_of):
    names = ["Go.x", "Go_x", "agent", "gpt", "Body", "hub_body", "f", "condition_1_1", "operator", "default_llm"]
    elements = {f"n{n}": {"type": "AgentState", "name": name} for n, name in enumerate(names)}
    arcs = {f"t{n}": arc(target=f"n{n}", predefined={"predefinedType": "auto"}) for n in range(len(names))}
    elements |= {
        "l": {"type": "AgentLLM", "name": "gpt"},
        "q": {"type": "AgentIntent", "name": "go x"[:2]},
        "a": code("def f(session):\n    pass"),
    }
    agent = agent_of(drawn(elements, {"c": custom("def hub(session):\n    return 1"), **arcs}, actions=["a"]))
    assert [state["name"] for state in agent["states"]] == ["hub", *names]
    assert [arc["to"] for arc in agent["states"][0]["transitions"]] == ["hub", *names]
    assert agent["llms"][0]["name"] == agent["default_llm"] == "gpt"


@pytest.mark.parametrize("name", ["2nd", "class", "é", "...", "print", "x" * 300])
def test_9_names_that_are_no_identifiers(name, agent_of):
    agent = agent_of(drawn({"n": {"type": "AgentState", "name": name}, "m": {"type": "AgentIntent", "name": f"{name}i"}}))
    assert agent["states"][1]["name"] == name and agent["intents"][0]["name"] == f"{name}i"


def test_10_a_gui_without_reply_keeps_its_settings(reference, tmp_path):
    gui = {"type": "AgentGUI", "gui_id": "a b", "persist": False, "width": "9px", "is_form": True}
    made = reference.run(exported(drawn({"g": gui})), tmp_path)
    assert made["settings"] == [{"gui_id": "a b", "persist": False, "width": "9px", "is_form": True}]
    assert made["agents"]["agent"]["guis"][0][0] == "a b"
    assert "Screen(" not in made["agents"]["agent"]["guis"][0][1]


def test_10_ids_of_elements_that_are_words_of_the_text(agent_of):
    ids = ["set", "gui_model", "9lives", "Home", "home", "Text", "def"]
    parts = [{"type": "text", "attributes": {"id": one}, "content": one} for one in ids]
    pages = [{"name": name, "frames": [{"component": {"components": parts}}]} for name in ("Home", "home")]
    gui = {"type": "AgentGUI", "gui_id": "g", "guiModel": {"pages": pages}}
    text = agent_of(drawn({"g": gui}))["guis"][0][1]
    assert all(text.count(f'component_id="{one}"') == 2 for one in ids)


@pytest.mark.parametrize("value", [5, 5.0, -0.5, True, None, "5", [1, "a"], {"k": [None]}])
def test_11_targets_keep_their_type(value, agent_of):
    payload = {"variable": "n", "operator": "!=", "targetValue": value}
    compare = arc(predefined={"predefinedType": "when_variable_operation_matched", "conditionValue": payload})
    target = agent_of(drawn(relationships={"t": compare}))["states"][0]["transitions"][0]["conditions"][0]["target"]
    assert target == value and type(target) is type(value)


def test_11_sql_outside_of_its_mode(agent_of):
    action = {"actionType": "DBAction", "dbQueryMode": "llm_query", "dbSqlQuery": "SELECT 1"}
    assert agent_of(drawn({"a": action}, actions=["a"]))["states"][0]["body"][0]["db_sql_query"] == "SELECT 1"


def test_13_halves_of_characters(agent_of):
    body = agent_of(drawn({"a": reply("a\ud83db")}, actions=["a"]))["states"][0]["body"]
    assert body[0]["message"] == "a\ufffdb"


def test_15_code_of_tools_does_not_run(agent_of, tmp_path):
    mark = tmp_path / "ran"
    source = f"open({str(mark)!r}, 'w')\ndef t():\n    pass"
    agent = agent_of(drawn({"t": {"type": "AgentTool", "name": "t", "code": source}}))
    assert agent["tools"][0]["code"] == source and not mark.exists()


def test_user_code_does_not_run_either(agent_of, tmp_path):
    mark = tmp_path / "ran"
    source = f"def f(session, x=open({str(mark)!r}, 'w')):\n    pass"
    decorated = f"@open({str(mark)!r}, 'w')\ndef g(session):\n    pass"
    states = agent_of(drawn({"a": code(source)}, {"t": custom(decorated)}, actions=["a"]))["states"]
    assert states[0]["body"][0]["source"] == source and not mark.exists()
    assert states[0]["transitions"][0]["conditions"][0]["source"] == decorated
