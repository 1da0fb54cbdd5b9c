"""Every field of the contract's tables (sections 2 to 6) with a value of every kind, one at a time: what the program then
does is what the reference's does, absent members, nulls, numbers in texts and truth values of odd types included."""

from __future__ import annotations

import copy
import json
import random

import pytest

from tests.compiler import compare, harness, reference_faults
from tests.compiler.request_view import View

ABSENT = object()
VALUES = (ABSENT, None, 0, 1, 2.7, -3, True, False, "", " ", "  x ", "false", "3", " 4 ", "1.5", "1e2", "nan", "x")
VALUES += ([], ["x"], {}, {"a": 1})

INPUT = {"inputPromptMode": "custom", "customInputPrompt": "cp {a}", "customInputPromptUseSessionVars": True}
OUTPUT = {"storeInSession": "key", "sendReply": True}
PROMPT = {"system_message": "sm", "llmPrompt": "lp", "systemPromptUseSessionVars": True}
NAMED = {"llm_name": "m", "llmName": "m2"}
MESSAGE = {"ws_message": "wm {a}", "useSessionVars": True}
ACTIONS = (
    ("TextReplyAction", {"name": "n {a}", "useSessionVars": True}),
    ("LLMReplyAction", {**PROMPT, **NAMED, **INPUT, **OUTPUT}),
    ("LLMChatAction", {**PROMPT, **NAMED, **OUTPUT}),
    (
        "RAGReplyAction",
        {
            "ragDatabaseName": "docs",
            "name": "docs",
            "prompt": "pp",
            "promptUseSessionVars": True,
            **INPUT,
            **OUTPUT,
        },
    ),
    (
        "DBAction",
        {
            "dbSelectionType": "custom",
            "dbCustomName": "dbx",
            "dbQueryMode": "sql",
            "dbOperation": "select",
            "dbSqlQuery": "SELECT 1",
            "llm_name": "m",
            **OUTPUT,
        },
    ),
    ("DBAction", {"dbQueryMode": "llm_query", "dbOperation": "any", "llm_name": "m", **INPUT, **OUTPUT}),
    (
        "WebCrawlLLMAction",
        {
            "initial_url": "http://x",
            "max_depth": 3,
            "max_pages": 5,
            "crawl_format": "html",
            "base_url_prefix": "http",
            "run_crawl": True,
            "no_crawl_error_message": "no",
            "system_message_prefix": "smp",
            "systemMessagePrefixUseSessionVars": True,
            "llm_name": "m",
            **OUTPUT,
        },
    ),
    ("WebSocketReplyMarkdownAction", MESSAGE),
    ("WebSocketReplyHTMLAction", MESSAGE),
    ("WebSocketReplySpeechAction", {**MESSAGE, "ws_audio_speed": 1.2}),
    ("WebSocketReplyOptionsAction", {"ws_options": "a\nb"}),
    ("WebSocketReplyLocationAction", {"ws_latitude": 1.5, "ws_longitude": 2.5}),
    ("GUIReplyAction", {"guiId": "g1", "gui_id": "g1", "persist": False, "width": "1px", "is_form": True}),
)
COMPARISON = {"variable": "v", "operator": "<", "targetValue": 5}
CONDITION = "def f(session):\n    return True"
ARCS = (
    {
        "transitionType": "predefined",
        "predefined": {"predefinedType": "when_intent_matched", "intentName": "greet"},
        "intentName": "greet",
        "conditionValue": "greet",
        "predefinedType": "when_intent_matched",
    },
    {"predefined": {"predefinedType": "when_variable_operation_matched", "conditionValue": COMPARISON}},
    {"predefined": {"predefinedType": "when_file_received", "fileType": "pdf, x"}},
    {"predefined": {"predefinedType": "when_form_submitted", "formGuiId": "g1"}},
    {
        "transitionType": "custom",
        "custom": {"event": "GUIEvent", "guiEventGuiId": "g1", "condition": [CONDITION]},
    },
    {
        "transitionType": "custom",
        "custom": {"event": "ReceiveTextEvent"},
        "event": "DummyEvent",
        "customEvent": "WildcardEvent",
    },
)
CONFIG = {
    "default_llm_name": "m2",
    "agentPlatform": "websocket",
    "agentPlatformUseStreamlit": True,
    "intentRecognitionTechnology": "llm-based",
    "llm": {"name": "m2", "model": "gpt"},
    "inputModalities": ["text"],
    "outputModalities": ["speech"],
    "language": "none",
    "system": {"agentPlatform": "streamlit"},
    "modality": {"outputModalities": ["speech"]},
}
COMPONENTS = {
    "m": {"type": "AgentLLM", "name": "m", "provider": "openai", "parameters": {"temperature": 0.5}},
    "m2": {"type": "AgentLLM", "name": "m2", "provider": "ollama", "num_previous_messages": 2, "global_context": "gc"},
    "to": {"type": "AgentTool", "name": "f", "description": "d", "code": "def f(a):\n    return a\n"},
    "sk": {"type": "AgentSkill", "name": "sk", "content": "body", "description": "d"},
    "w": {
        "type": "AgentWorkspace",
        "name": "w",
        "path": "data",
        "description": "d",
        "writable": True,
        "max_read_bytes": 100,
    },
    "n": {
        "type": "AgentIntent",
        "name": "greet",
        "bodies": ["nb"],
        "ownedElements": ["nb2"],
        "intent_description": "desc",
    },
    "nb": {"type": "AgentIntentBody", "name": "hi"},
    "nb2": {"type": "AgentIntentBody", "name": "yo"},
    "g": {"type": "AgentGUI", "gui_id": "g1", "persist": True, "width": "50%", "is_form": False, "guiModel": None},
    "ra": {
        "type": "AgentRagElement",
        "name": "docs",
        "embedding_provider": "ollama",
        "llm_name": "m",
        "llm_prompt": "lp",
        "k": 3,
        "num_previous_messages": 0,
        "use_hybrid_rag": True,
        "bm25_weight": 0.5,
    },
}
ELEMENTS = {
    "i": {"type": "StateInitialNode"},
    "s": {
        "type": "AgentState",
        "name": "hub",
        "stateType": "standard",
        "actions": ["a", "t"],
        "fallbackBodyEnabled": True,
        "fallbackActions": ["t"],
        "fallbackBodies": ["a"],
    },
    "s2": {"type": "AgentState", "name": "other", "actions": [], "bodies": ["t"]},
    "r": {
        "type": "AgentReasoningState",
        "name": "think",
        "llm_name": "m",
        "llm": "m2",
        "max_steps": 5,
        "enable_task_planning": False,
        "stream_steps": False,
        "system_prompt": "sp",
        "fallback_message": "fm",
    },
    "a": {"type": "AgentStateBody", "actionType": "TextReplyAction", "name": "hello {name}"},
    "t": {"type": "AgentStateBody", "actionType": "TextReplyAction", "name": "tt"},
    "c": {"type": "Comments", "name": "note"},
}


def arc(source, target, **fields):
    return {"type": "AgentStateTransition", "source": {"element": source}, "target": {"element": target}, **fields}


def base():
    arcs = {
        "r0": arc("i", "s"),
        "r1": arc("s", "s2", predefined={"predefinedType": "when_no_intent_matched"}),
        "r2": arc("s2", "s", predefined={"predefinedType": "auto"}),
    }
    model = {"elements": ELEMENTS, "components": COMPONENTS, "relationships": arcs}
    return copy.deepcopy({"title": "Base", "model": model, "config": {}})


def paths(value, at=()):
    """Of every member, but types of elements."""
    for key, item in value.items():
        if key != "type":
            yield (*at, key)
        if isinstance(item, dict):
            yield from paths(item, (*at, key))


def places():
    """(request, path of a field)."""
    for where in ("elements", "components", "relationships"):
        request = base()
        for path in paths(request["model"][where], ("model", where)):
            if len(path) > 3:
                yield request, path
    for kind, fields in ACTIONS:
        request = base()
        request["model"]["elements"]["a"] = {"type": "AgentStateBody", "actionType": kind, **copy.deepcopy(fields)}
        for key in (*fields, "actionType", "replyType"):
            yield request, ("model", "elements", "a", key)
    for fields in ARCS:
        request = base()
        request["model"]["relationships"]["r1"] = arc("s", "s", **copy.deepcopy(fields))
        for path in paths(fields, ("model", "relationships", "r1")):
            yield request, path
    for key in CONFIG:
        request = base()
        request["config"] = {name: value for name, value in copy.deepcopy(CONFIG).items() if name != "system" or key == name}
        yield request, ("config", key)


PLACES = list(places())


def with_value(request, path, value):
    request = copy.deepcopy(request)
    place = request
    for key in path[:-1]:
        place = place[key]
    place.pop(path[-1], None)
    if value is not ABSENT:
        place[path[-1]] = copy.deepcopy(value)
    return request


WORDS = ("dbSelectionType", "dbQueryMode", "dbOperation", "inputPromptMode")
SPELLINGS = ("", " ", "\t", "\x01", " sql ", "SQL", " Custom ", "custom ", "ANY", "\u00a0select", "last_user_message ")


@pytest.mark.parametrize("word", WORDS)
def test_a_word_of_a_list_is_spelled_as_the_reference_takes_it(word, reference, tmp_path):
    for number, ((request, path), value) in enumerate(
        (place, value) for place in PLACES if place[1][-1] == word for value in SPELLINGS
    ):
        request = with_value(request, path, value)
        theirs = reference.generate(request, tmp_path / str(number) / "theirs")
        assert (harness.verdict(request).status == harness.REFUSED) == ("error" in theirs), f"{word} = {value!r}: {theirs}"


@pytest.mark.parametrize("seed", harness.seeds(60, salt=60))
def test_a_field_reads_as_the_reference_reads_it(seed, reference, dumper, tmp_path):
    """Where the reference dies of a type, we may refuse or go on; where it refuses, so do we."""
    rng = random.Random(seed)
    (request, path), value = rng.choice(PLACES), rng.choice(VALUES)
    request = with_value(request, path, value)
    what = f"{'.'.join(path)} = {'absent' if value is ABSENT else json.dumps(value)}"
    view, ours = View(request), harness.generate(request, tmp_path / "ours")
    theirs = reference.generate(request, tmp_path / "down" / "theirs")
    if theirs.get("error") in ("TypeError", "AttributeError", "KeyError"):
        return
    if ours.status == harness.REFUSED and "error" not in theirs:
        strict = ("(rule 24)", "(rule 25)", "(rule 28)", "(rule 29)")  # V3, V16, V23: what only we refuse
        assert any(rule in ours.said for rule in strict), f"{what}: {ours.said}"
        return
    if "error" in theirs:
        assert ours.status == harness.REFUSED, f"{what}: {theirs}"
        return
    found = compare.differences(dumper.dump(tmp_path / "down" / "theirs"), dumper.dump(tmp_path / "ours"))
    found = [item for item in found if not reference_faults.explained(view, item)]
    assert not found, f"{what}\n{compare.show(found)}"


# ---- lists -----------------------------------------------------------------------------------------------------------
def listed(key, value):
    """Two actions of one letter each, a sentence of another, and a value in place of one list of them."""
    body = {"type": "AgentStateBody", "actionType": "TextReplyAction"}
    state, intent = {"type": "AgentState", "name": "hub", "actions": ["a"]}, {"type": "AgentIntent", "name": "hi", "bodies": ["b"]}
    (intent if key in ("bodies", "ownedElements") else state)[key] = value
    if key == "ownedElements":
        del intent["bodies"]
    return {"title": "Lists", "model": {
        "elements": {"i": {"type": "StateInitialNode"}, "s": state, "a": {**body, "name": "A"}, "b": {**body, "name": "B"}},
        "components": {"n": intent, "l": {"type": "AgentLLM", "name": "m"}},
        "relationships": {"r": {"type": "AgentStateTransitionInit", "source": {"element": "i"}, "target": {"element": "s"}}}}}


@pytest.mark.parametrize("key, where", [("actions", "elements.s"), ("fallbackActions", "elements.s"), ("fallbackBodies", "elements.s"),
                                        ("bodies", "components.n"), ("ownedElements", "components.n")])
def test_what_stands_in_place_of_a_list_of_ids_is_told(key, where):
    """The reference takes a text for its letters and an object for its keys, and dies (500) of what it cannot walk over."""
    for value in (None, "", 0, False, {}, [], ["nobody"], [1], [None], ["a", "b"]):
        run = harness.verdict(listed(key, value))
        assert (run.status, run.said) == (harness.OK, ""), value
    for value in ("a", "ab", {"a": 1}):
        run = harness.verdict(listed(key, value))
        assert run.status == harness.OK and f"warning model.{where}.{key}: " in run.said and "not a list of ids" in run.said
    for value in (1, 1.5, True, [["a"]], ["a", {"id": "a"}]):
        run = harness.verdict(listed(key, value))
        assert run.status == harness.REFUSED and f"error model.{where}.{key}: " in run.said and "must be a list of ids" in run.said


@pytest.mark.parametrize("more, said", [
    ({"config": {"outputModalities": "speech"}}, "warning config.outputModalities: outputModalities is no list"),
    ({"config": {"modality": {"inputModalities": {"speech": 1}}}}, "warning config.inputModalities: inputModalities is no list"),
])
def test_modalities_that_are_no_list_are_told(more, said):
    run = harness.verdict({**listed("actions", ["a"]), **more})
    assert run.status == harness.OK and said in run.said


@pytest.mark.parametrize("where", ("custom", "node"))
def test_conditions_that_are_no_list_are_told(where):
    request, source = listed("actions", ["a"]), "def f(session):\n    return True"
    custom = {"event": "ReceiveTextEvent", **({"condition": source} if where == "custom" else {})}
    request["model"]["relationships"]["t"] = {"type": "AgentStateTransition", "source": {"element": "s"}, "target": {"element": "s"},
                                              "transitionType": "custom", "custom": custom, **({"conditions": source} if where == "node" else {})}
    run = harness.verdict(request)
    assert run.status == harness.OK and 'warning model.relationships.t: State "hub": conditions that are no list' in run.said
