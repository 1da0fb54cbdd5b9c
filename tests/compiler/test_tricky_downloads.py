"""Databases, forms, voices, settings, and programs that run elsewhere, told by what a user sees: each test draws an agent,
talks to its program under the framework, and writes the conversation down as it is to be (tricky.py)."""

from __future__ import annotations

import base64
import json

import pytest

from tests.compiler import harness
from tests.compiler.talks import gui_frame
from tests.compiler.tricky import RESET, WAKE, variables, words
from tests.support.draw import Diagram, action, code, llm, llm_reply, rag, rag_reply, sql, text, workspace


# ---- databases, forms, voices ------------------------------------------------------------------------------------------
def test_each_database_is_asked_by_its_name(talk):
    yaml = "db:\n  sql:\n" + "".join(f"    - {name}:\n        dialect: sqlite\n        database: {name}.db\n" for name in ("db1", "it_s"))
    custom = {"dbSelectionType": "custom", "dbCustomName": "it_s"}
    d = Diagram("Two")
    d.state("hub", *[sql(query, send=False, **where) for where in ({}, custom) for query in ("CREATE TABLE t (x text)",)],
            sql("INSERT INTO t VALUES ('other; -- {user_message} \\')", send=False, **custom), sql("SELECT count(*) FROM t"),
            sql("SELECT x FROM t", store="x", **custom), sql("SELECT count(*) FROM t", dbSelectionType="custom", dbCustomName=" "),
            text("({x})", fill=True))
    assert words(talk(d, configYaml=yaml)) == [["0", "other; -- {user_message} \\", "0", "(other; -- {user_message} \\)"]]


def test_what_a_form_was_filled_with_is_remembered_if_it_persists(talk):
    d = Diagram("Remembers")
    for gui, persist in (("kept", True), ("gone", False)):
        d.add({"type": "AgentGUI", "name": gui, "gui_id": gui, "persist": persist, "is_form": True, "width": "300px"})
    hub = d.state("hub", action("GUIReplyAction", guiId="kept"), action("GUIReplyAction", guiId="gone"))
    show = d.state("show", code("for gui in ('kept', 'gone'):\n    session.reply(json.dumps(session.gui_inputs.get(gui)))"))
    d.go(hub, show, "when_form_submitted")
    d.go(show, show, "when_form_submitted")
    steps = [{"send": gui_frame("kept", "onChange", name="days", value="2")}, {"send": gui_frame("gone", "onChange", name="a", value=1)},
             {"send": gui_frame("kept", "onSubmit", value={"name": "Ada"})}, {"send": gui_frame("gone", "onSubmit", value={"a": 2})}]
    conversation = words(talk(d, *steps))
    assert [kind for kind, _ in conversation[0]] == ["gui", "gui"] and json.loads(conversation[0][0][1])["width"] == "300px"
    assert conversation[1:3] == [[], []]
    assert [json.loads(said) for said in conversation[3]] == [{"days": "2", "name": "Ada"}, None]
    assert [json.loads(said) for said in conversation[4]] == [{"days": "2", "name": "Ada"}, None]


def test_a_voice_without_ears_is_heard_as_a_message_that_says_so(talk):
    d = Diagram("Deaf")
    hub = d.state("hub")
    d.go(hub, d.state("heard", text("{user_message}", fill=True)), "when_no_intent_matched")
    voice = {"send": {"action": "user_voice", "message": base64.b64encode(b"RIFF").decode()}}
    assert words(talk(d, voice))[1][-1] == "Error transcribing audio message"


def test_code_reads_the_object_that_was_sent(talk):
    d = Diagram("Objects")
    hub = d.state("hub")
    d.on(hub, d.state("got", code("session.reply(json.dumps(session.event.json, ensure_ascii=False))"), text("<{user_message}>", fill=True)),
         "ReceiveJSONEvent")
    sent = {"message": "é", "n": [1, None], "deep": {"a": True}}
    heard = words(talk(d, json.dumps(sent), RESET, {"send": {"action": "user_message", "message": sent}}, RESET, '{"n": 1}'))
    assert json.loads(heard[1][0]) == json.loads(heard[3][0]) == sent and heard[1][1] == heard[3][1]
    assert json.loads(heard[5][0]) == {"n": 1}


@pytest.mark.parametrize("path,made", (("notes", True), ("./a b/c", True), ("a/../notes", False), ("/nowhere/notes", False)))
def test_a_download_makes_the_folders_below_its_own(path, made, talk, model, tmp_path):
    d = Diagram("Folders", llm("fast", base_url=model.url), workspace("notes", path))
    d.state("hub", text("hello"))
    assert talk(d, download=True, ends=None if made else "start") == ([["[hub]", "hello"]] if made else [])
    assert (tmp_path / "agent" / path).is_dir() == made and (made or "Workspace path does not exist" in talk.said)


def test_a_model_of_a_download_is_told_whom_it_talks_to(talk, model):
    base, kids = Diagram("Hub", llm("fast", base_url=model.url)), Diagram("Hub")
    hub = base.state("hub", text("hello"))
    base.go(hub, hub, "when_no_intent_matched")
    small = kids.state("hub", text("hi!"))
    asked = kids.state("asked", llm_reply(prompt="[[system]]"))
    kids.go(small, asked, "when_no_intent_matched")
    mapping = [{"name": "kids", "user_profile": {"age": 8, "likes": "bïkes"}, "configuration": {"agentStyle": "playful", "adaptContentToUserProfile": True},
                "agent_model": kids.request()["model"]}]
    config = {"personalizationMapping": mapping}
    heard = words(talk(base, variables(user_profile="kids"), WAKE, "x", download=True, config=config))
    assert heard[2] == ["hi!"] and all(word in heard[3][0] for word in ("playful", "bïkes")), heard

# ---- settings ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("config", (
    None, {}, {"agentPlatform": "websocket"}, {"agentPlatform": "streamlit"}, {"agentPlatform": "telegram"}, {"system": {"agentPlatform": "x"}},
    {"language": "none"}, {"agentStyle": "formal", "sentenceLength": "short", "responseTiming": "instant", "avatar": "x"},
    {"personalizationMapping": [{"name": "kids", "user_profile": {"age": 8}}]}, {"modality": {"inputModalities": ["text"]}}))
def test_settings_that_leave_a_session_as_it_is(config, talk):
    d = Diagram("Settings")
    hub = d.state("hub", text("hello"))
    d.go(hub, hub, "when_no_intent_matched")
    assert talk(d, "x", config=config) == [["[hub]", "hello"]] * 2


def test_a_language_leaves_texts_as_drawn_and_says_so(talk):
    d = Diagram("Translated")
    d.state("hub", text("hello"))
    assert talk(d, config={"language": "french"}) == [["[hub]", "hello"]]
    run = harness.verdict(d.request(config={"language": "french"}))
    assert run.status == harness.OK and "config.language" in run.said and "french" in run.said


# ---- downloads ---------------------------------------------------------------------------------------------------------
def test_a_download_says_what_a_session_says(talk):
    d = Diagram("Same")
    hub = d.state("hub", text("hello {name}", fill=True), fallback=[text("pardon")])
    d.on(hub, d.state("on", text("on")), "ReceiveTextEvent", "def go(session):\n    return session.event.message == 'go'\n")
    assert talk(d, "x", "go", download=True) == [["[hub]", "hello "], ["pardon"], ["[on]", "on"]]


def test_profiles_of_a_download_have_conversations_of_their_own(talk):
    base, kids = Diagram("Hub"), Diagram("Hub")
    hub = base.state("hub", text("hello"))
    base.go(hub, hub, "when_no_intent_matched")
    small = kids.state("hub", text("hi!"))
    kids.go(small, small, "when_no_intent_matched")
    mapping = [{"name": "kids", "user_profile": {"age": 8}, "agent_model": kids.request()["model"]},
               {"name": "adults", "user_profile": {"age": 40}}]
    heard = talk(base, "x", variables(user_profile="kids"), WAKE, "y", variables(user_profile="adults"), WAKE,
                 download=True, config={"personalizationMapping": mapping})
    assert words(heard) == [["hello"], ["hello"], [], ["hi!"], ["hi!"], [], ["hello"]]


def test_a_download_starts_with_a_store_whose_folder_holds_no_documents(talk, model):
    d = Diagram("Stored", llm("fast", base_url=model.url), rag("papers"), rag("Hybrid", use_hybrid_rag=True))
    hub = d.state("hub", text("hello"))
    d.go(hub, d.state("ask", rag_reply("papers")), "when_no_intent_matched")
    first, (_, answer) = talk(d, "x", download=True)
    assert first == ["[hub]", "hello"] and answer[0] == "rag" and answer[1]["docs"] == []
