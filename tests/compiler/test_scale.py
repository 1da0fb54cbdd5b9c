"""Large diagrams of every shape: computing time grows with the size and not faster, memory stays in bounds."""

from __future__ import annotations

import pytest

from tests.compiler import harness

SMALL, FACTOR = 1000, 4
SLACK = 2.2  # how much more than FACTOR times the time is still noise
SECONDS, MEGABYTES = 20, 900


def request(elements, components=None, arcs=(), config=None):
    """A diagram with one initial state "hub" (element s0) besides."""
    hub = {"s0": {"type": "AgentState", "name": "hub", "actions": []}, "i0": {"type": "StateInitialNode"}}
    hub["s0"].update(elements.pop("s0", {}))
    relationships = {
        "r0": {"type": "AgentStateTransitionInit", "source": {"element": "i0"}, "target": {"element": "s0"}}
    }
    for number, (source, target, fields) in enumerate(arcs):
        relationships[f"r{number + 1}"] = {
            "type": "AgentStateTransition",
            "source": {"element": source},
            "target": {"element": target},
            **fields,
        }
    model = {"elements": {**hub, **elements}, "components": components or {}, "relationships": relationships}
    return {"title": "Large", "model": model, "config": config or {}}


def many(count, make):
    return {f"x{number}": make(number) for number in range(count)}


def text(body="hello", **fields):
    return {"type": "AgentStateBody", "actionType": "TextReplyAction", "name": body, **fields}


def states(n):
    return request(many(n, lambda k: {"type": "AgentState", "name": f"state_{k}", "actions": []}))


def similar_state_names(n):
    return request(
        many(
            n,
            lambda k: {
                "type": "AgentState",
                "name": "a" + "".join(".:/"[k // 3**d % 3] for d in range(9)),
                "actions": [],
            },
        )
    )


def long_names(n):
    return request(many(n, lambda k: {"type": "AgentState", "name": "é" * 100 + str(k), "actions": []}))


def reasoning_states(n):
    return request(
        many(n, lambda k: {"type": "AgentReasoningState", "name": f"state_{k}", "system_prompt": "p" * 50})
    )


def actions(n):
    return request({**many(n, lambda k: text(f"text {k}")), "s0": {"actions": [f"x{k}" for k in range(n)]}})


def one_action_many_times(n):
    return request({"a": text("again {name}", useSessionVars=True), "s0": {"actions": ["a"] * n}})


def intents(n):
    names = many(n, lambda k: {"type": "AgentIntent", "name": f"intent_{k}", "bodies": ["b"]})
    arcs = [
        ("s0", "s0", {"predefined": {"predefinedType": "when_intent_matched", "intentName": f"INTENT_{k}"}})
        for k in range(n)
    ]
    return request({}, {**names, "b": {"type": "AgentIntentBody", "name": "hello"}}, arcs)


def sentences(n):
    bodies = many(n, lambda k: {"type": "AgentIntentBody", "name": f"sentence {k}"})
    return request({}, {**bodies, "i": {"type": "AgentIntent", "name": "intent", "bodies": list(bodies)}})


def transitions(n):
    fields = {
        "predefined": {
            "predefinedType": "when_variable_operation_matched",
            "conditionValue": {"variable": "x", "operator": "<", "targetValue": 1},
        }
    }
    return request({}, arcs=[("s0", "s0", fields)] * n)


def file_types(n):
    return request(
        {}, arcs=[("s0", "s0", {"predefined": {"predefinedType": "when_file_received", "fileType": "pdf," * n}})]
    )


def conditions(n):
    """One source, so that it is judged once: the time of CPython is not what is measured."""
    source = "def late(session):\n    return True\n"
    custom = {"transitionType": "custom", "custom": {"event": "DummyEvent", "condition": [source]}}
    return request({}, arcs=[("s0", "s0", custom)] * (n // 2))


def llms(n):
    used = many(n, lambda k: {"type": "AgentStateBody", "actionType": "LLMReplyAction", "llm_name": f"llm {k}"})
    return request(
        {**used, "s0": {"actions": list(used)}}, {f"l{k}": {"type": "AgentLLM", "name": f"llm {k}"} for k in range(n)}
    )


def rags(n):
    used = many(
        n, lambda k: {"type": "AgentStateBody", "actionType": "RAGReplyAction", "ragDatabaseName": f"rag.{k}"}
    )
    return request(
        {**used, "s0": {"actions": list(used)}},
        {f"l{k}": {"type": "AgentRagElement", "name": f"rag.{k}"} for k in range(n)},
    )


def skills(n):
    return request({}, many(n, lambda k: {"type": "AgentSkill", "name": f"skill/{k}", "content": "c"}))


def workspaces(n):
    return request(
        {}, many(n, lambda k: {"type": "AgentWorkspace", "name": f"w{k}", "path": f"a/{k}", "description": "d"})
    )


def guis(n):
    used = many(n, lambda k: {"type": "AgentStateBody", "actionType": "GUIReplyAction", "guiId": f"gui {k}"})
    return request(
        {**used, "s0": {"actions": list(used)}},
        {f"g{k}": {"type": "AgentGUI", "gui_id": f"gui {k}", "guiModel": None} for k in range(n)},
    )


def repeated_components(n):
    return request(
        {},
        many(
            n,
            lambda k: {
                "type": ("AgentLLM", "AgentTool", "AgentSkill")[k % 3],
                "name": "same",
                "content": "c",
                "code": "def same():\n    pass\n",
                "description": "d",
            },
        ),
    )


def comments(n):
    made = request(many(n, lambda k: {"type": "Comments", "name": f"comment {k}"}))
    for number in range(n):
        made["model"]["relationships"][f"l{number}"] = {
            "type": "Link",
            "source": {"element": f"x{number}"},
            "target": {"element": "s0"},
        }
    return made


def foreign_elements(n):
    return request(many(n, lambda k: {"type": "Class", "name": "x"}), arcs=[("nowhere", "s0", {})] * n)


def unknown_ids(n):
    return request({"s0": {"actions": [f"nowhere{k}" for k in range(n)]}})


def placeholders(n):
    body = " ".join(f"{{name{k}}}" for k in range(n))
    return request({"a": text(body, useSessionVars=True), "s0": {"actions": ["a"]}})


def parameters(n):
    return request(
        {}, {"l": {"type": "AgentLLM", "name": "m", "parameters": {f"k{k}": [k, {"x": "y"}] for k in range(n)}}}
    )


def findings(n):
    """Every state is wrong: twenty times as many findings as are shown."""
    return request(many(n, lambda k: {"type": "AgentReasoningState", "name": f"state_{k}", "llm_name": "nobody"}))


def options(n):
    element = {"type": "AgentStateBody", "actionType": "WebSocketReplyOptionsAction", "ws_options": "option\n" * n}
    return request({"a": element, "s0": {"actions": ["a"]}})


def marks(n):
    """Names of one letter below ever more accents, which normal forms would put in order."""
    name = "a" + "\u0301\u0327" * 10 * n
    arc = ("s0", "s0", {"predefinedType": "when_intent_matched", "intentName": name + "x"})
    return request(
        {"x": {"type": "AgentState", "name": name, "actions": []}},
        {"i": {"type": "AgentIntent", "name": name + "x"}, "l": {"type": "AgentLLM", "name": name}},
        arcs=[arc],
    )


SHAPES = (
    states,
    similar_state_names,
    long_names,
    reasoning_states,
    actions,
    one_action_many_times,
    intents,
    sentences,
    transitions,
    file_types,
    conditions,
    llms,
    rags,
    skills,
    workspaces,
    guis,
    repeated_components,
    comments,
    foreign_elements,
    unknown_ids,
    placeholders,
    parameters,
    findings,
    options,
    marks,
)


def cost(shape, count):
    """Computing time and memory of the cheaper of two runs."""
    text_of = harness.to_json(shape(count))
    runs = [harness.measured("validate", "--quiet", "-", text=text_of) for _ in range(2)]
    expected = harness.REFUSED if shape is findings else harness.OK
    assert all(run.status == expected for run in runs), harness.verdict(shape(min(count, 5))).said[:500]
    return min(run.seconds for run in runs), max(run.megabytes for run in runs)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_time_grows_with_the_size(shape):
    start, _ = cost(states, 1)
    small, _ = cost(shape, SMALL)
    large, megabytes = cost(shape, SMALL * FACTOR)
    allowed = FACTOR * SLACK * max(small - start, 0.01) + 0.1
    assert large - start < allowed, f"{SMALL}: {small - start:.3f} s, {SMALL * FACTOR}: {large - start:.3f} s"
    assert large < SECONDS and megabytes < MEGABYTES


@pytest.mark.parametrize("place", ("elements", "components", "relationships", "agentComponents"))
def test_too_many_parts_are_refused_before_any_work(place):
    made = request({})
    target = made if place == "agentComponents" else made["model"]
    target[place] = {**target.get(place, {}), **many(100_001, lambda k: {})}
    run = harness.measured("validate", "-", text=harness.to_json(made))
    assert run.status == harness.REFUSED and place in run.said and "100000" in run.said
    assert run.seconds < SECONDS / 4 and run.megabytes < MEGABYTES / 4


def test_too_many_values_are_refused_while_they_are_read():
    run = harness.measured("validate", "-", text='{"title":"T","model":{"elements":{},"x":[' + "0," * 3_000_000 + "0]}}")
    assert run.status != harness.OK and "values" in run.said
    assert run.seconds < SECONDS / 4 and run.megabytes < MEGABYTES / 4


def test_a_list_of_file_types_counts_as_often_as_it_is_kept():
    arc = ("s0", "s0", {"predefinedType": "when_file_received", "fileType": "a," * 10_000_000})
    run = harness.measured("validate", "-", text=harness.to_json(request({}, arcs=[arc])))
    assert run.status == harness.REFUSED and "too large" in run.said
    assert run.seconds < SECONDS / 4 and run.megabytes < MEGABYTES / 2
