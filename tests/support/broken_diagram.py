"""Ways to make a valid request invalid, one rule each.

    for broken in BREAKS: names = broken.apply(request, rng)     changes the request; what the refusal has to name

`rule` is the number in section 5 of the agent diagram contract, 0 = the shape of the document (1.3). `reference` is empty
when the reference refuses too; else the deviation that says why it accepts.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable


@dataclasses.dataclass(frozen=True)
class Break:
    name: str
    rule: int
    apply: Callable
    reference: str = ""


# ---- putting things into a request ---------------------------------------------------------------------------------
def new_key(request, kind):
    number = 1
    while any(
        f"{kind}{number}" in (place or {})
        for place in (
            request["model"].get("elements"),
            request["model"].get("components"),
            request["model"].get("relationships"),
        )
    ):
        number += 1
    return f"{kind}{number}"


def component(request, kind, **fields):
    key = new_key(request, "broken")
    request["model"].setdefault("components", {})[key] = {"id": key, "type": kind, **fields}
    return key


def element(request, kind, **fields):
    key = new_key(request, "added")
    request["model"]["elements"][key] = {"id": key, "type": kind, **fields}
    return key


def state(request, name, **fields):
    return element(request, "AgentState", **{"name": name, "actions": [], **fields})


def arc(request, source, target, **fields):
    key = new_key(request, "arc")
    request["model"]["relationships"][key] = {
        "id": key,
        "type": "AgentStateTransition",
        "source": {"element": source},
        "target": {"element": target},
        **fields,
    }


def action(request, kind, fallback=False, **fields):
    """In a state of its own, called broken_state."""
    key = element(request, "AgentStateBody", actionType=kind, **{"name": "x", **fields})
    state(request, "broken_state", **{"fallbackActions" if fallback else "actions": [key]})
    return key


def tool(request, code, name="broken_tool", description="d"):
    component(request, "AgentTool", name=name, description=description, code=code)


def condition(request, source):
    first, second = state(request, "broken_from"), state(request, "broken_to")
    arc(request, first, second, transitionType="custom", custom={"event": "None", "condition": [source]})


def intent_arc(request, source, target, intent):
    arc(
        request,
        source,
        target,
        transitionType="predefined",
        predefined={"predefinedType": "when_intent_matched", "intentName": intent},
    )


# ---- the breaks ----------------------------------------------------------------------------------------------------
def named(kind, **fields):
    """A component whose name breaks the name rule: two rows each, for a blank inside and for a hyphen."""

    def with_name(name):
        def apply(request, _rng):
            component(request, kind, **{"name": name, **fields})
            return [name]

        return apply

    return with_name("broken name"), with_name("broken-name")


def state_name(name):
    def apply(request, _rng):
        state(request, name)
        return [name] if isinstance(name, str) and name.strip() else ["name"]

    return apply


def title(value, names):
    def apply(request, _rng):
        request["title"] = value
        return names

    return apply


def calls(function, *names, **fields):
    """function(request, **fields), and the names that the refusal must mention."""

    def apply(request, _rng):
        function(request, **fields)
        return list(names)

    return apply


def twice(kind, key="name", names=("twin",)):
    def apply(request, _rng):
        for _ in range(2):
            if kind == "AgentState":
                state(request, "twin")
            else:
                component(request, kind, **{key: "twin"})
        return list(names)

    return apply


def no_initial(request, _rng):
    relationships = request["model"]["relationships"]
    initial = [key for key, item in request["model"]["elements"].items() if item.get("type") == "StateInitialNode"]
    for key in [key for key, item in relationships.items() if (item.get("source") or {}).get("element") in initial]:
        del relationships[key]
    return ["initial"]


def intent_used_twice(request, rng):
    component(request, "AgentIntent", name="twice_used", bodies=[])
    first, second = state(request, "broken_from"), state(request, "broken_to")
    intent_arc(request, first, second, "twice_used")
    intent_arc(request, first, first, rng.choice(("twice_used", "TWICE_used")))
    return ["twice_used"]


def state_like_intent(request, rng):
    component(request, "AgentIntent", name="Both_things", bodies=[])
    state(request, rng.choice(("both_things", "Both_things", "BOTH_THINGS")))
    return []


def unknown_intent(request, _rng):
    intent_arc(request, state(request, "broken_from"), state(request, "broken_to"), "never_drawn")
    return ["broken_from", "broken_to", "never_drawn"]


def auto_first(request, _rng):
    first, second = state(request, "broken_from"), state(request, "broken_to")
    arc(request, first, second, transitionType="predefined", predefined={"predefinedType": "auto"})
    arc(request, first, first, transitionType="predefined", predefined={"predefinedType": "when_no_intent_matched"})
    return ["broken_from"]


def no_states(request, _rng):
    model = request["model"]
    for place in (model["elements"], model.get("components") or {}, request.get("agentComponents") or {}):
        for key in [key for key, item in place.items() if item.get("type") in ("AgentState", "AgentReasoningState")]:
            del place[key]
    return ["state"]


def shape(*path, value):
    def apply(request, _rng):
        place = request
        for key in path[:-1]:
            place = place.setdefault(key, {})
        place[path[-1]] = value
        return []

    return apply


DB = {"dbSelectionType": "elsewhere", "dbQueryMode": "guess", "dbOperation": "drop"}
LLM_USERS = ("LLMReplyAction", "LLMChatAction", "DBAction")
CODE_PARTS = ("code", "broken_tool")

BREAKS = (
    Break("title with a hyphen", 1, title("a-b", ["a-b"])),
    Break("empty title", 1, title("", [])),
    Break("blank title", 1, title("\t\n", [])),
    *(
        Break(f"{kind} name with a {what}", 1, apply)
        for kind, fields in (
            ("AgentIntent", {"bodies": []}),
            ("AgentTool", {"code": "def f(): pass", "description": "d"}),
            ("AgentSkill", {"content": "c"}),
            ("AgentWorkspace", {"path": "p", "description": "d"}),
            ("AgentRagElement", {}),
        )
        for what, apply in zip(("blank", "hyphen"), named(kind, **fields))
    ),
    *(Break(f"state called {name!r}", 1, state_name(name)) for name in ("a b", "a-b", "", "\t", None, 5)),
    Break("provider", 2, calls(component, "nowhere", kind="AgentLLM", name="m", provider="nowhere")),
    Break("intent twice", 3, twice("AgentIntent")),
    Break("state twice", 4, twice("AgentState")),
    Break("GUI twice", 5, twice("AgentGUI", "gui_id")),
    Break("no initial state", 6, no_initial),
    Break("intent used twice", 7, intent_used_twice),
    Break(
        "prompt mode",
        8,
        calls(action, "broken_state", "sometimes", kind="LLMReplyAction", inputPromptMode="sometimes"),
    ),
    Break("custom prompt missing", 8, calls(action, "broken_state", kind="LLMReplyAction", inputPromptMode="custom")),
    *(Break(key, 9, calls(action, value, kind="DBAction", **{key: value})) for key, value in DB.items()),
    Break("code without function", 10, calls(action, kind="CustomCodeAction", name="x = 1")),
    Break("code with a syntax error", 10, calls(action, kind="CustomCodeAction", name="def f(session):\n  x = = 1")),
    Break("code of another parameter", 10, calls(action, kind="CustomCodeAction", name="def f(s):\n  pass")),
    Break("steps as text", 11, calls(state, "max_steps", name="thinker", stateType="reasoning", max_steps="many")),
    Break(
        "bytes as text",
        11,
        calls(component, "max_read_bytes", kind="AgentWorkspace", name="w", path="p", max_read_bytes="many"),
    ),
    Break("state called like an intent", 12, state_like_intent),
    Break("unknown intent", 13, unknown_intent),
    Break("blank tool", 14, calls(tool, "broken_tool", code=" \n")),
    Break("tool without function", 15, calls(tool, "broken_tool", code="x = 1")),
    Break("tool name", 16, calls(tool, "f.x", code="def f():\n  pass", name="f.x")),
    Break("blank skill", 17, calls(component, "broken_skill", kind="AgentSkill", name="broken_skill", content=" ")),
    Break("blank workspace", 18, calls(component, "broken_ws", kind="AgentWorkspace", name="broken_ws", path=" ")),
    Break(
        "no bytes",
        19,
        calls(component, "broken_ws", kind="AgentWorkspace", name="broken_ws", path="p", max_read_bytes=0),
    ),
    Break("no steps", 20, calls(state, "thinker", name="thinker", stateType="reasoning", max_steps=0)),
    *(
        Break(
            f"unknown LLM of {kind}{' in a fallback' if fallback else ''}",
            22,
            calls(action, "broken_state", "nobody", kind=kind, fallback=fallback, llm_name="nobody"),
        )
        for kind in LLM_USERS
        for fallback in (False, True)
    ),
    Break(
        "unknown LLM of a reasoning state",
        22,
        calls(state, "thinker", "nobody", name="thinker", stateType="reasoning", llm_name="nobody"),
    ),
    Break(
        "unknown LLM of a RAG",
        22,
        calls(component, "broken_rag", "nobody", kind="AgentRagElement", name="broken_rag", llm_name="nobody"),
    ),
    Break(
        "unknown GUI",
        23,
        calls(action, "broken_state", "nothing_drawn", kind="GUIReplyAction", guiId="nothing_drawn"),
    ),
    Break(
        "unknown LLM of a crawl",
        24,
        calls(action, "broken_state", "nobody", kind="WebCrawlLLMAction", initial_url="u", llm_name="nobody"),
        "V23",
    ),
    Break(
        "crawl format",
        24,
        calls(action, "broken_state", "pdf", kind="WebCrawlLLMAction", initial_url="u", crawl_format="pdf"),
        "V23",
    ),
    Break("automatic transition first", 25, auto_first, "V16"),
    *(
        Break(
            f"workspace at {path!r}",
            27,
            calls(component, "broken_ws", kind="AgentWorkspace", name="broken_ws", path=path, description="d"),
        )
        for path in ("../up", "a/../../b", "..\\up", "/", "C:\\")
    ),
    Break("code imports os", 28, calls(action, "os", kind="CustomCodeAction", name="def f(session):\n  import os")),
    Break(
        "code in a fallback calls eval",
        28,
        calls(action, "eval", kind="CustomCodeAction", fallback=True, name="def f(session):\n  eval('1')"),
    ),
    Break("tool imports socket", 28, calls(tool, "socket", "broken_tool", code="import socket\ndef f():\n  pass")),
    Break("tool with a syntax error", 28, calls(tool, "broken_tool", code="def f():\n  x = = 1")),
    Break(
        "condition imports os", 28, calls(condition, "os", source="def condition_1_1(session):\n  import os"), "V3"
    ),
    Break("condition with a syntax error", 28, calls(condition, "broken_from", source="def f(session)"), "V3"),
    Break("condition without function", 29, calls(condition, "broken_from", "broken_to", source="x = 1"), "V3"),
    Break(
        "condition of three parameters",
        29,
        calls(condition, "broken_from", "broken_to", source="def f(a, b, c):\n  pass"),
        "V3",
    ),
    Break("no states", 29, no_states, "V16"),
    Break("elements as a list", 0, shape("model", "elements", value=[1])),
    Break("relationships as a text", 0, shape("model", "relationships", value="x")),
    Break("components as a number", 0, shape("model", "components", value=5)),
    Break("element as null", 0, shape("model", "elements", "nothing", value=None)),
    Break("element as a list", 0, shape("model", "elements", "nothing", value=[])),
    Break("relationship as a text", 0, shape("model", "relationships", "nothing", value="x")),
    Break(
        "source as a text",
        0,
        shape("model", "relationships", "odd", value={"type": "AgentStateTransition", "source": "s", "target": {}}),
    ),
    Break("title as a number", 0, shape("title", value=5)),
    Break("options as a number", 0, calls(action, kind="WebSocketReplyOptionsAction", ws_options=5)),
    Break("LLM name as a number", 0, calls(component, kind="AgentLLM", name=5)),
    Break("provider as a list", 0, calls(component, kind="AgentLLM", name="m", provider=["openai"])),
    Break("GUI id as a number", 0, calls(component, kind="AgentGUI", gui_id=5)),
    Break("RAG prompt as a list", 0, calls(component, kind="AgentRagElement", name="r", llm_prompt=["x"])),
)
