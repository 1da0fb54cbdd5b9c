"""What saved diagrams gather over the years and a compiler has to pass over: ends that lead nowhere, repeated and blank
components, unknown words, values of the wrong type where that is allowed. Diagrams stay valid."""

from __future__ import annotations


def tie(builder):
    """Adds some to a random_diagram.Builder whose states and transitions are drawn."""
    for add in (
        odd_conditions,
        arcs_to_nowhere,
        odd_comparisons,
        odd_kinds,
        repeated_components,
        odd_lists,
        odd_states,
        odd_intents,
        foreign_things,
        another_start,
    ):
        if builder.chance(0.5):
            add(builder)


def free_arc(b):
    """A transition of a state that has no automatic one, which would have to be the last."""
    automatic = {
        arc["source"]["element"]
        for arc in b.relationships.values()
        if "auto" in (arc.get("predefinedType"), (arc.get("predefined") or {}).get("predefinedType"))
    }
    free = [key for key in b.states if key not in automatic]
    return b.arc(b.pick(free), b.pick(b.states)) if free else {}


def arcs_to_nowhere(b):
    b.arc("nowhere", b.pick(b.states))
    b.arc(b.pick(b.states), "nowhere")["predefinedType"] = "auto"
    for member in ("source", "target"):
        arc = b.arc(b.pick(b.states), b.pick(b.states))
        if b.chance(0.5):
            del arc[member]
        else:
            arc[member] = b.pick(({}, {"element": None}, {"element": ""}))


def odd_comparisons(b):
    for fields in (
        {"variable": "x", "operator": "~", "targetValue": "1"},
        {"variable": "", "operator": "<"},
        {"variable": "x", "targetValue": "1"},
        {},
        "text",
        5,
        None,
        [1],
    ):
        if b.chance(0.4):
            b.predefined(free_arc(b), "when_variable_operation_matched", conditionValue=fields)


def odd_kinds(b):
    for fields in (
        {"predefinedType": "sometimes"},
        {"predefinedType": ""},
        {"predefined": None},
        {"predefined": {}},
        {"transitionType": "other", "custom": {"event": "DummyEvent"}},
        {
            "predefined": {
                "predefinedType": "when_file_received",
                "fileType": b.pick((" , ,pdf,, PNG", ",", " ", None, 5, "a/b, c")),
            }
        },
        {"predefined": {"predefinedType": "when_intent_matched", "intentName": b.pick(("", " ", None))}},
        {"predefined": {"predefinedType": "when_form_submitted", "formGuiId": b.pick(("", None, "nowhere"))}},
    ):
        if b.chance(0.4):
            free_arc(b).update(fields)


def odd_conditions(b):
    """Comes first: a condition's name counts the transitions before it."""
    source = f"def condition_{b.arcs_created + 1}_1(session):\n    return True\n"
    event = b.pick(("NoSuchEvent", "", None, "ReceiveTextEvent"))
    free_arc(b).update(transitionType="custom", custom={"event": event, "condition": ["", " \n", None, 5, source]})


def repeated_components(b):
    for element in list(b.components.values()):
        if element["type"] in (
            "AgentLLM",
            "AgentRagElement",
            "AgentTool",
            "AgentSkill",
            "AgentWorkspace",
        ) and b.chance(0.3):
            fields = {key: value for key, value in element.items() if key not in ("id", "type")}
            fields.update(
                b.pick(({"description": "another"}, {"k": 7}, {"num_previous_messages": 3}, {"code": "no Python ("}))
            )
            b.component(element["type"], fields)
    for kind in ("AgentLLM", "AgentRagElement", "AgentTool", "AgentSkill", "AgentWorkspace"):
        if b.chance(0.3):
            b.component(kind, {"name": b.pick(("", " \t\n", "\x01", None)), "provider": "nobody", "code": "("})


def odd_lists(b):
    for element in b.elements.values():
        if element.get("type") != "AgentState" or not b.chance(0.4):
            continue
        if "actions" in element:
            element["bodies"] = [key for key, item in b.elements.items() if item.get("type") == "AgentStateBody"][:2]
        if "fallbackActions" in element:
            element["fallbackBodies"] = list(element["fallbackActions"])
        if b.chance(0.3):
            element["fallbackBodyEnabled"] = b.pick((0, "", None, [], 1, "false", {}))


def odd_states(b):
    for element in b.elements.values():
        if element.get("type") == "AgentState" and "stateType" not in element and b.chance(0.4):
            element["stateType"] = b.pick(("standard", "other", "", None, 5))


def odd_intents(b):
    for element in b.components.values():
        if element["type"] == "AgentIntent" and b.chance(0.6):
            ids = element.pop("bodies", None) or element.pop("ownedElements", None) or []
            element.pop("ownedElements", None)
            element["bodies"] = b.pick(([], None, ["nowhere", *ids], ids))
            if not element["bodies"] and b.chance(0.5):
                element["ownedElements"] = ids
    for key, element in list(b.components.items()):
        if element["type"] == "AgentIntentBody" and b.chance(0.2):
            element["name"] = b.pick(("", "  ", "\x01\x02", "\tx "))


def foreign_things(b):
    key = b.new_id("f")
    b.elements[key] = {"id": key, "type": b.pick(("Class", "", None, 5)), "name": "x"}
    b.elements[b.new_id("f")] = {}
    b.arc(key, b.pick(b.states), b.pick(("ClassAssociation", "", None)))
    b.component("AgentSomething", {"name": "x"})
    for element in b.elements.values():
        if b.chance(0.1):
            element.update(bounds={"x": 0, "y": 1.5}, highlight=None, assessmentNote="é")


def another_start(b):
    key = b.new_id("i")
    b.elements[key] = {"id": key, "type": "StateInitialNode"}
    for target in (b.pick(b.states), "nowhere"):
        b.arc(key, target, b.pick(("AgentStateTransition", "AgentStateTransitionInit")))
