"""Tables of the contract, row by row, with what each row has to give written down by hand: coercions (2.2), names
(2.1, 2.3), transitions (4.3 to 4.5), findings (5) and paths (8.3). Rows share a diagram wherever they can be valid
together, so that a table is one program."""

from __future__ import annotations

import json
import re

import pytest

from tests.compiler import harness
from tests.compiler.test_semantics import one_state

ABSENT = object()
MESSAGE = "good morning"
COMPOSED, TAKEN_APART = "caf\u00e9", "cafe\u0301"
LLM = {"type": "AgentLLM", "name": "model", "provider": "openai"}
PROBES = {"probes": [{"name": "full", "vars": {"*": "v({key})"}, "event": {"type": "text", "message": MESSAGE}}]}


def action(kind, **members):
    return {"type": "AgentStateBody", "actionType": kind, **{k: v for k, v in members.items() if v is not ABSENT}}


def state(name, actions=(), **members):
    return {"type": "AgentState", "name": name, "actions": list(actions), **members}


def drawn(*elements, arcs=(), title="One", **more):
    """A diagram of these elements, called e0, e1 ...; the first one is the initial state. An arc: (from, to, members)."""
    known = {f"e{number}": element for number, element in enumerate(elements)}
    relationships = {"r": {"type": "AgentStateTransitionInit", "source": {"element": "i"}, "target": {"element": "e0"}}}
    for number, (source, target, members) in enumerate(arcs):
        relationships[f"r{number}"] = {"type": "AgentStateTransition", "source": {"element": source},
                                       "target": {"element": target}, **members}
    return {"title": title, "model": {"elements": {**known, "i": {"type": "StateInitialNode"}},
                                      "relationships": relationships}, **more}


@pytest.fixture
def dump(dumper, tmp_path):
    def made(request):
        (tmp_path / "probes.json").write_text(json.dumps(PROBES))
        run = harness.generate(request, tmp_path / "out")
        assert run.status == harness.OK, run.said
        described = dumper.dump(tmp_path / "out", tmp_path / "probes.json")
        assert "error" not in described, described
        return described

    return made


@pytest.fixture
def calls(dump):
    """What the only state's body does: one list for every action, cut at the texts between them."""

    def made(actions, *elements):
        marked = [part for item in actions for part in (item, action("TextReplyAction", name="|"))]
        done = dump(one_state(*marked, **{f"x{number}": element for number, element in enumerate(elements)}))
        found = [[]]
        for call in done["states"][0]["body"]["full"]["calls"]:
            if call == ["reply", "|"]:
                found.append([])
            else:
                found[-1].append(call)
        return found[:-1]

    return made


# ---- 2.2
TRUE = (True, 1, 0.1, "false", "0", " ", [0], {"a": 0})
FALSE = (None, False, 0, 0.0, -0.0, "", [], {})
WHOLE = [(ABSENT, 2), (None, 2), (2.9, 2), (-2.9, -2), (True, 1), (False, 0), ("7", 7), (" 7\n", 7), ("+5", 5), ("-5", -5),
         ("5.0", 2), ("", 2), (" ", 2), ("x", 2), ([], 2), ({}, 2), ("0x10", 2), ("1e3", 2), (1e3, 1000), ("--1", 2), (0, 0),
         ("000", 0), ("nan", 2), ("-", 2), ("1 0", 2), (float("inf"), 2)]
BROKEN = [(ABSENT, 0), (None, 0), (5, 5), ("48.5", 48.5), (" -48.5 ", -48.5), ("1e1", 10), ("", 0), ("x", 0), ([], 0), ({}, 0),
          (True, 1), ("inf", 0), ("-Infinity", 0), ("NaN", 0), ("1e999", 0), ("0x10", 0), (".5", 0.5), ("5.", 5), ("48,5", 0),
          ("+1.25", 1.25), ("1e-400", 0), (float("inf"), 0)]
TEXTS = [(ABSENT, ""), (None, ""), (5, "5"), (-1, "-1"), (1.5, "1.5"), (True, "true"), (False, "false"), ("\x01 a\x7f\n", " a\n")]


def test_truth(calls):
    values = [ABSENT, *TRUE, *FALSE]
    said = calls([action("TextReplyAction", name="{k}", useSessionVars=value) for value in values])
    assert said == [[["reply", "v(k)" if value in TRUE and value is not ABSENT else "{k}"]] for value in values]
    sent = calls([action("LLMReplyAction", sendReply=value) for value in values], LLM)
    assert [len(done) == 2 for done in sent] == [value is ABSENT or value in TRUE for value in values]


def test_whole_numbers(calls):
    done = calls([action("WebCrawlLLMAction", initial_url="u", max_depth=value) for value, _wanted in WHOLE], LLM)
    assert [found[0][1]["max_depth"] for found in done] == [wanted for _value, wanted in WHOLE]


def test_broken_numbers(calls):
    done = calls([action("WebSocketReplyLocationAction", ws_latitude=value) for value, _wanted in BROKEN])
    assert [found[0][1]["latitude"] for found in done] == [wanted for _value, wanted in BROKEN]


def test_texts(calls):
    for kind, member, call in (("TextReplyAction", "name", "reply"), ("WebSocketReplyHTMLAction", "ws_message", "reply_html")):
        done = calls([action(kind, **{member: value}) for value, _wanted in TEXTS])
        assert done == [[[call, wanted]] for _value, wanted in TEXTS]


def test_options_are_lines(calls):
    rows = [("a\r\nb", ["a", "b"]), ("a\rb", ["a\rb"]), ("a\u2028b", ["a\u2028b"]), ("\n a \n\t\n b\n", ["a", "b"]), ("", []),
            ("x\nx", ["x", "x"]), ("{k}", ["{k}"]), ("a\x0bb", ["a\x0bb"]), ("\u00a0a\u00a0", ["a"]), (" \n ", []), (ABSENT, [])]
    done = calls([action("WebSocketReplyOptionsAction", ws_options=value, useSessionVars=True) for value, _wanted in rows])
    assert done == [[["reply_options", wanted]] for _value, wanted in rows]


def test_database_words(calls):
    rows = [({}, "query", "db1"), ({"dbOperation": " SELECT\x01 "}, "select", "db1"), ({"dbOperation": None}, "query", "db1"),
            ({"dbOperation": "Update"}, "update", "db1"), ({"dbOperation": ""}, "query", "db1"),
            ({"dbSelectionType": "Custom", "dbCustomName": " sales "}, "query", "sales"), ({"dbCustomName": "sales"}, "query", "db1"),
            ({"dbSelectionType": "custom", "dbCustomName": "  "}, "query", "db1")]
    done = calls([action("DBAction", dbQueryMode=" SQL ", dbSqlQuery="SELECT 1", **members) for members, _method, _db in rows])
    assert [(found[0][0], found[0][1]["db"]) for found in done] == [(f"db.{method}", db) for _members, method, db in rows]


# ---- 2.1: one name in two canonical forms
def test_a_name_is_the_same_in_both_forms(calls):
    named = [("LLMReplyAction", {"llm_name": TAKEN_APART}), ("LLMChatAction", {"llm_name": TAKEN_APART}),
             ("DBAction", {"llm_name": TAKEN_APART}), ("RAGReplyAction", {"ragDatabaseName": TAKEN_APART}),
             ("GUIReplyAction", {"guiId": TAKEN_APART}), ("WebCrawlLLMAction", {"llm_name": TAKEN_APART, "initial_url": "u"})]
    parts = (LLM, {**LLM, "name": COMPOSED}, {"type": "AgentRagElement", "name": COMPOSED, "llm_name": TAKEN_APART},
             {"type": "AgentGUI", "gui_id": COMPOSED})
    chat, talk, rows, documents, gui, pages = calls([action(kind, **members) for kind, members in named], *parts)
    for done in (chat, talk, rows, pages):
        assert COMPOSED in [call[1].get("llm") for call in done if call[0] != "reply" and isinstance(call[1], dict)]
    assert [documents[0][0], gui[0]] == ["rag.run", ["reply_gui", {"gui": COMPOSED}]]


def test_states_and_settings_find_names_in_both_forms(dump):
    found = dump(drawn(state("a"), {**LLM, "name": "first"}, {**LLM, "name": COMPOSED}, {**LLM, "name": TAKEN_APART},
                       state("thinks", stateType="reasoning", llm_name=TAKEN_APART),
                       {"type": "AgentRagElement", "name": "docs", "llm_name": TAKEN_APART},
                       {"type": "AgentIntent", "name": COMPOSED},
                       arcs=[("e0", "e4", {"predefinedType": "when_intent_matched", "intentName": TAKEN_APART.upper()})],
                       config={"llm": {"name": TAKEN_APART}, "default_llm_name": TAKEN_APART}))
    assert [item["name"] for item in found["llms"]] == ["first", COMPOSED]
    assert (found["ic"]["llm_name"], found["rags"][0]["llm"]) == (COMPOSED, COMPOSED)
    assert found["states"][1]["reasoning"]["llm"] == COMPOSED
    assert found["states"][0]["transitions"][0]["intent"] == COMPOSED


# ---- 2.3
LEGAL = ["a\u00a0b", "a\u2013b", "a\tb", "a\nb", "a.b", "a'b\"c", "../a", "lambda", "match", "None", "\U0001f600", "a\x01b", "a]b[c",
         "%s{x}", "12", "q" * 3000, "a\u2028b", "a\u2212b", "a\\b", "x\u00b2", "x2", "X2", "__name__", "self"]


def test_names_that_the_rule_allows(dump):
    intents = [{"type": "AgentIntent", "name": f"i{name}"} for name in LEGAL]
    found = dump(drawn(*map(state, LEGAL), *intents))
    assert [item["name"] for item in found["states"]] == LEGAL
    assert [item["name"] for item in found["intents"]] == [f"i{name}" for name in LEGAL]


# ---- 4.3 to 4.5: members of an arc, what it becomes
YES, NO = "def c(session):\n    return True\n", "def c(session):\n    return False\n"


def compare(operator, value, variable="x"):
    return {"variable": variable, "operator": operator, "targetValue": value}


def predefined(kind, **members):
    return {"transitionType": "predefined", "predefined": {"predefinedType": kind, **members}}


def custom(**members):
    return {"transitionType": "custom", "custom": members}


ARCS = [
    ({}, "no_intent"), ({"predefined": None, "custom": None}, "no_intent"), ({"predefinedType": "auto"}, "auto"),
    ({"transitionType": "Custom", "predefined": {"predefinedType": "auto"}, "custom": {"event": "DummyEvent"}}, "auto"),
    ({"predefined": {"predefinedType": ""}, "predefinedType": "auto"}, "auto"),
    ({"predefined": {"predefinedType": "when_file_received"}, "predefinedType": "auto"}, "file"),
    (predefined("AUTO"), "no_intent"), (predefined(5), "no_intent"), (predefined("when_magic"), "no_intent"),
    (predefined("when_intent_matched", intentName="", conditionValue="x"), None),
    ({**predefined("when_intent_matched", intentName=""), "intentName": "", "conditionValue": " BOOK "}, "intent book"),
    ({**predefined("when_intent_matched", intentName="book"), "intentName": "other"}, "intent book"),
    (predefined("when_intent_matched", intentName=["book"]), None), (predefined("when_intent_matched", intentName=" "), None),
    (predefined("when_intent_matched", intentName=" Fallback_Intent"), "no_intent"),
    *[(predefined("when_file_received", fileType=value), f"file {wanted}".rstrip()) for value, wanted in (
        ("PDF, ,Png", "application/pdf image/png"), ("JPEG", "image/jpeg"), (", ,", ""), ("docx", "docx"), (".pdf", ".pdf"),
        ("image/*", "image/*"), ("Text/PLAIN", "Text/PLAIN"), ("jpg,jpeg", "image/jpeg image/jpeg"), (5, ""), (["pdf"], ""))],
    ({"predefinedType": "when_file_received", "conditionValue": "png"}, "file image/png"),
    ({"predefinedType": "when_form_submitted", "formGuiId": "g", "conditionValue": "x"}, "form g"),
    (predefined("when_form_submitted", formGuiId=""), "form None"),
    *[(predefined("when_variable_operation_matched", conditionValue=compare(sign, 5)), f"variable x {name} 5") for sign, name in (
        ("<", "lt"), ("<=", "le"), ("==", "eq"), (">=", "ge"), (">", "gt"), ("!=", "ne"))],
    *[(predefined("when_variable_operation_matched", conditionValue=compare(sign, 5)), None) for sign in ("=", "<>", " ==", "in")],
    *[(predefined("when_variable_operation_matched", conditionValue=value), "no_intent") for value in (
        compare("", 5), compare("==", 5, variable=None), {}, "x == 1", ["x"], 5, None, False)],
    *[(predefined("when_variable_operation_matched", conditionValue=compare("==", value)), f"variable x eq {json.dumps(value)}")
      for value in (-1.5, True, None, "", "5", "true", "a'\"\\\n", 2**70)],
    ({"predefinedType": "when_variable_operation_matched", "predefined": {"conditionValue": None},
      "conditionValue": compare("<", "3")}, 'variable x lt "3"'),
    *[(custom(event=event), f"custom {event} None") for event in (
        "ReceiveTextEvent", "ReceiveJSONEvent", "ReceiveFileEvent", "DummyEvent", "WildcardEvent", "ReceiveMessageEvent", "GUIEvent")],
    *[(custom(event=event), "auto") for event in ("None", None, "", "ClickEvent", "dummyevent", 5)],
    ({**custom(event=""), "event": "DummyEvent"}, "custom DummyEvent None"),
    ({"transitionType": "custom", "customEvent": "DummyEvent"}, "custom DummyEvent None"),
    (custom(event="DummyEvent", condition=["", " \n", None, 5]), "custom DummyEvent None"),
    (custom(condition=[YES, NO]), "custom None False"), (custom(condition=[YES, YES]), "custom None True"),
    ({**custom(condition=YES), "conditions": [NO], "customConditions": [YES]}, "custom None False"),
    ({"transitionType": "custom", "conditions": "x", "customConditions": [YES]}, "custom None True"),
    ({**custom(condition=[]), "conditions": [YES]}, "auto"),
    ({"condition": "when_variable_operation_matched", "variable": "x", "operator": ">=", "targetValue": "5"}, 'variable x ge "5"'),
]


def spoken(arc):
    if arc["kind"] == "custom":
        return f"custom {(arc['event'] or {}).get('class')} {(arc['condition'] or {}).get('full')}"
    if arc["kind"] == "variable":
        return f"variable {arc['variable']} {arc['operator']} {json.dumps(arc['target'])}"
    more = {"file": " ".join(arc.get("types") or ()), "form": str(arc.get("form")), "intent": arc.get("intent")}
    return f"{arc['kind']} {more.get(arc['kind'], '')}".rstrip()


def test_arcs(dump):
    sources = [state(f"s{number}") for number in range(len(ARCS))]
    request = drawn(*sources, {"type": "AgentIntent", "name": "book"},
                    arcs=[(f"e{number}", "e0", members) for number, (members, _wanted) in enumerate(ARCS)])
    found = [[spoken(arc) for arc in item["transitions"]] for item in dump(request)["states"]]
    assert found == [[wanted] if wanted else [] for _members, wanted in ARCS]


# ---- 1.3, 2.3 and 5: what is refused, and what the sentence names, in this order
A, B = state("hub"), state("end")
TWO = ("e0", "e1")


def acts(*actions):
    """A diagram whose only state has these actions, among the components as x0, x1 ..."""
    request = drawn(state("hub", [f"x{number}" for number in range(len(actions))]))
    request["model"]["components"] = {f"x{number}": item for number, item in enumerate(actions)}
    return request


REFUSED = {
    "blank title": (drawn(A, title="\t\n"), ["title"]),
    "hyphen after a space": (drawn(A, title="a -b"), ["hyphen"]),
    "source null": (drawn(A, arcs=[("e0", "e0", {"source": None})]), ["model.relationships.r0.source"]),
    "target a list": (drawn(A, arcs=[("e0", "e0", {"target": ["e0"]})]), ["model.relationships.r0.target"]),
    "GUI without id text": (drawn(A, {"type": "AgentGUI", "gui_id": None}), ["model.elements.e1.gui_id"]),
    "options null": (acts(action("WebSocketReplyOptionsAction", ws_options=None)), ["model.components.x0.ws_options"]),
    "provider a number": (drawn(A, {**LLM, "provider": 5}), ["model.elements.e1.provider"]),
    "state twice in two forms": (drawn(state(COMPOSED), state(TAKEN_APART)), ["rule 4"]),
    "GUI twice in two forms": (drawn(A, {"type": "AgentGUI", "gui_id": COMPOSED}, {"type": "AgentGUI", "gui_id": TAKEN_APART}), ["One"]),
    "state and intent": (drawn(state("stra\u00dfe"), {"type": "AgentIntent", "name": "STRASSE"}), ["stra\u00dfe"]),
    "one intent twice": (drawn(A, B, {"type": "AgentIntent", "name": "book"}, arcs=[
        (*TWO, predefined("when_intent_matched", intentName="book")), (*TWO, predefined("when_intent_matched", intentName=" BOOK "))]),
        ["hub", "book"]),
    "mode in capitals": (acts(action("LLMReplyAction", inputPromptMode="Custom")), ["hub", "Custom", "last_user_message"]),
    "no custom prompt": (acts(action("RAGReplyAction", name="d", inputPromptMode="custom")), ["hub", "customInputPrompt"]),
    "crawl of nothing known": (acts(action("WebCrawlLLMAction", initial_url="u", crawl_format="HTML", llm_name="gone")),
                               ["gone", "HTML"]),
    "GUI of another case": (acts(action("GUIReplyAction", guiId="Card")), ["hub", "Card"]),
    "tools": (drawn(A, {"type": "AgentTool", "name": "t1", "code": " "}, {"type": "AgentTool", "name": "t.2", "code": "x = 1"}),
              ["t1", "t.2", "t.2"]),
    "workspace": (drawn(A, {"type": "AgentWorkspace", "name": "w1", "path": " ", "max_read_bytes": 0.5}), ["w1", "w1", "0"]),
    "steps": (drawn(A, state("thinks", stateType="reasoning", max_steps=False)), ["thinks"]),
    "steps no number": (drawn(A, state("thinks", stateType="reasoning", max_steps="1e2")), ["thinks", "max_steps"]),
    "auto before another": (drawn(A, B, arcs=[(*TWO, custom()), (*TWO, custom(event="DummyEvent"))]), ["hub", "end"]),
    "condition": (drawn(A, B, arcs=[(*TWO, custom(condition=[YES, "async def c(session):\n    return 1"]))]), ["hub", "end", "2"]),
    "all of phase B": (drawn(
        state("Hello", ["e5"]), B, {"type": "AgentIntent", "name": "hello"}, {"type": "AgentTool", "name": "tl", "code": ""},
        {"type": "AgentSkill", "name": "sk", "content": ""}, action("LLMReplyAction", llm_name="gone"),
        {"type": "AgentWorkspace", "name": "ws", "path": ""}, state("thinks", stateType="reasoning", max_steps=0),
        arcs=[("e1", "e0", predefined("when_intent_matched", intentName="nope"))]),
        ["Hello", "nope", "tl", "sk", "ws", "thinks", "gone"]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    request, names = REFUSED[name]
    run = harness.verdict(request)
    assert run.status == harness.REFUSED, run.said
    assert re.search(".*".join(map(re.escape, names)), run.said, re.DOTALL), run.said


# ---- 8.3
PATHS = [("/data/./x\\y", "data/x/y"), ("C:\\data", "data"), ("a//b/", "a/b"), ("  q/r ", "q/r"), ("d:x", "x"), ("a/.../b", "a/.../b"),
         ("\\\\srv\\share", "srv/share"), (".ssh", ".ssh"), ("~/x", "~/x"), ("\u00fc/\U0001f600", "\u00fc/\U0001f600")]


def test_workspace_paths(dump):
    spaces = [{"type": "AgentWorkspace", "name": f"w{number}", "path": raw} for number, (raw, _wanted) in enumerate(PATHS)]
    found = {item["name"]: item["root"] for item in dump(drawn(A, *spaces))["workspaces"]}
    assert found == {f"w{number}": wanted for number, (_raw, wanted) in enumerate(PATHS)}


@pytest.mark.parametrize("path", ["../x", "a/../b", "/", "C:\\", ".", "..\\x", "C:..\\x", "a/..", "./."])
def test_workspace_paths_that_lead_nowhere(path):
    run = harness.verdict(drawn(A, {"type": "AgentWorkspace", "name": "notes", "path": path}))
    assert run.status == harness.REFUSED and "notes" in run.said
