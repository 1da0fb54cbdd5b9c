"""What agents do with events, intents and conditions, and what sessions know, told by what a user sees: each test draws an agent,
talks to its program under the framework, and writes the conversation down as it is to be (tricky.py)."""

from __future__ import annotations

import pytest

from tests.compiler.talks import file_frame, gui_frame, say
from tests.compiler.tricky import RESET, WAKE, variables, words
from tests.support.draw import Diagram, action, code, llm, text


# ---- events ------------------------------------------------------------------------------------------------------------
def test_a_file_that_comes_too_early_acts_when_it_is_wanted(talk):
    d = Diagram("Early")
    hub, want = d.state("hub", text("talk")), d.state("want", text("a file?"), fallback=[text("no file")])
    got = d.state("got", code("session.reply(session.event.file.name)"), text("[{user_message}]", fill=True))
    d.go(hub, want, "when_no_intent_matched")
    d.go(want, got, "when_file_received")
    d.go(got, want, "when_no_intent_matched")
    assert words(talk(d, {"send": file_frame("a/b")}, "x", "y", "z", {"send": file_frame("c/d")})) == [
        ["talk"], [], ["a file?", "a.bin", "[]"], ["a file?"], ["no file"], ["a.bin", "[]"]]


@pytest.mark.parametrize("wanted,sent,fits", (
    ("pdf", "application/pdf", True), ("PDF, txt", "text/plain", True), ("jpg", "image/jpeg", True), ("csv", "text/plain", False),
    ("image/webp", "image/webp", True), ("image/*", "image/png", False), ("", "weird/type", True), (" , ", "x", True),
    ("odt", "odt", True), ("application/zip", "application/ZIP", False)))
def test_files_are_taken_by_their_types(wanted, sent, fits, talk):
    d = Diagram("Types")
    hub = d.state("hub")
    d.go(hub, d.state("got", text("got")), "when_file_received", fileType=wanted)
    assert words(talk(d, {"send": file_frame(sent)})) == [[], ["got"] if fits else []]


EVENTS = {
    "text": say("hello"), "object": say('{"a": 1}'), "object with a message": say('{"message": "hello"}'),
    "agent": {"send": {"action": "agent_reply_str", "message": "hello"}}, "file": {"send": file_frame("text/plain")},
    "form": {"send": gui_frame("g", "onSubmit", value={})}, "click": {"send": gui_frame("g", "onClick")}}
TAKES = {
    "ReceiveTextEvent": {"text", "agent"}, "ReceiveJSONEvent": {"object", "object with a message"},
    "ReceiveMessageEvent": {"text", "agent", "object", "object with a message"}, "ReceiveFileEvent": {"file"},
    "GUIEvent": {"form", "click"}, "DummyEvent": set(), "WildcardEvent": set(EVENTS)}


@pytest.mark.parametrize("event", TAKES)
def test_events_are_taken_by_their_kinds(event, talk):
    d = Diagram("Kinds")
    hub = d.state("hub", fallback=[text("no")])
    d.on(hub, d.state("got", text("got")), event)
    steps = [step for sent in EVENTS.values() for step in (RESET, sent)]
    heard = words(talk(d, *steps))[2::2]
    for sent, answer in zip(EVENTS, heard):
        human = sent in ("text", "object with a message")
        assert answer == (["got"] if sent in TAKES[event] else ["no"] if human else []), sent


def test_forms_and_clicks_go_where_they_are_sent(talk):
    d = Diagram("Forms")
    for gui in ("left", "right"):
        d.add({"type": "AgentGUI", "name": gui, "gui_id": gui, "is_form": True})
    show = [action("GUIReplyAction", guiId="left"), action("GUIReplyAction", guiId="right")]
    hub = d.state("hub", *show)
    d.go(hub, d.state("sent_left", code("session.reply(str(session.event.event_data['value']))")), "when_form_submitted",
         formGuiId="left")
    d.arc(hub, d.state("clicked", text("clicked")), transitionType="custom",
          custom={"event": "GUIEvent", "guiEventGuiId": "right", "condition": []})
    d.go(hub, d.state("any", text("any form")), "when_form_submitted")
    sent = {"a": [1, {"b": "é"}]}
    heard = words(talk(d, {"send": gui_frame("left", "onSubmit", value=sent)}, RESET, {"send": gui_frame("right", "onClick")},
                       RESET, {"send": gui_frame("left", "onClick")}, {"send": gui_frame("else", "onSubmit", value={})}))
    assert [heard[number] for number in (1, 3, 5, 6)] == [[str(sent)], ["clicked"], [], ["any form"]]


def test_code_finds_what_each_event_brings(talk):
    d = Diagram("Brings")
    hub = d.state("hub", code("""
        event = session.event
        names = ("message", "json", "event_data", "message_id")
        session.reply("nothing" if event is None else [event.file.name, event.file.type, event.file.base64] if hasattr(event, "file")
                      else {name: getattr(event, name) for name in names if getattr(event, name, None) is not None})"""))
    for event in ("ReceiveTextEvent", "ReceiveJSONEvent", "ReceiveFileEvent", "GUIEvent"):
        d.on(hub, hub, event)
    heard = words(talk(d, "hi", {"send": {"action": "user_message", "message": {"a": 1}}}, {"send": file_frame("text/plain")},
                       {"send": gui_frame("g", "onClick")}))
    clicked = heard.pop()[0]
    assert heard == [["nothing"], [{"message": "hi"}], [{"message": '{"a": 1}', "json": {"a": 1}}], [["a.bin", "text/plain", "Y29udGVudA=="]]]
    assert clicked["message_id"] == "g" and clicked["event_data"]["action"] == "onClick" and set(clicked) == {"message_id", "event_data"}


def test_of_several_that_fit_the_first_one_drawn_is_taken(talk):
    d = Diagram("First")
    hub = d.state("hub")
    for number in (3, 1, 2):
        d.on(hub, d.state(f"s{number}", text(str(number))), "ReceiveTextEvent", f"def at_least(session):\n"
             f"    return len(session.event.message) >= {number}\n")
    d.go(hub, d.state("rest", text("rest")), "when_no_intent_matched")
    heard = words(talk(d, "", RESET, "a", RESET, "ab", RESET, "abc"))
    assert heard[1::2] == [["rest"], ["1"], ["1"], ["3"]]


def test_two_messages_at_once_are_answered_one_after_the_other(talk):
    d = Diagram("Quick")
    hub = d.state("hub")
    echo = d.state("echo", text("({user_message})", fill=True))
    d.go(hub, echo, "when_no_intent_matched")
    d.go(echo, echo, "when_no_intent_matched")
    frames = [say(word)["send"] for word in ("one", "two", "three")]
    assert words(talk(d, {"together": frames})) == [[], ["(one)", "(two)", "(three)"]]


# ---- intents -----------------------------------------------------------------------------------------------------------
def test_a_sentence_of_two_intents_means_the_one_whose_transition_is_drawn_first(talk, model):
    d = Diagram("Twice", llm("fast", base_url=model.url))
    first, second = d.intent("first", "open the door", "open it"), d.intent("second", "close it", "open the door")
    hub = d.state("hub", fallback=[text("?")])
    for intent in (second, first):
        d.go(hub, d.state("is_" + intent, text(intent)), "when_intent_matched", intentName=intent)
    heard = words(talk(d, "open the door", RESET, "close it", RESET, "something else"))
    assert heard[1::2] == [["second"], ["second"], ["?"]]


def test_an_intent_counts_only_where_it_leads_somewhere(talk, model):
    d = Diagram("Here", llm("fast", base_url=model.url))
    hello, bye = d.intent("hello", "good morning"), d.intent("bye", "good night", intent_description="the user leaves")
    hub, there = d.state("hub", fallback=[text("hub?")]), d.state("there", text("there"), fallback=[text("there?")])
    d.go(hub, there, "when_intent_matched", intentName=hello)
    d.go(there, hub, "when_intent_matched", intentName=bye)
    assert talk(d, "good night", "good morning", "good morning", "good night") == [
        ["[hub]"], ["hub?"], ["[there]", "there"], ["there?"], ["[hub]"]]


def test_a_text_that_means_no_intent_goes_where_it_is_drawn_to_go(talk, model):
    d = Diagram("None", llm("fast", base_url=model.url))
    hello = d.intent("hello", "good morning")
    hub = d.state("hub", fallback=[text("never")])
    d.go(hub, d.state("other", text("other")), "when_no_intent_matched")
    d.go(hub, d.state("greeted", text("greeted")), "when_intent_matched", intentName=hello)
    heard = words(talk(d, "good morning", RESET, "what", RESET, "[[junk]]", RESET, "[[status 500]]"))
    assert heard[1::2] == [["greeted"], ["other"], ["other"], ["other"]]


# ---- sessions ----------------------------------------------------------------------------------------------------------
def test_variables_belong_to_one_session_and_globals_to_the_agent(talk):
    d = Diagram("Apart")
    hub = d.state("hub", text("<{word}>", fill=True), code(
        "global seen\ntry:\n    seen += 1\nexcept NameError:\n    seen = 1\nsession.reply(str(seen))"))
    keep = d.state("keep", code("session.set('word', session.event.message)"), text("<{word}>", fill=True))
    d.go(hub, keep, "when_no_intent_matched")
    d.go(keep, keep, "when_no_intent_matched")
    a, b = {"user": "a"}, {"user": "b"}
    heard = words(talk(d, {**say("mine"), **a}, {**say("yours"), **b}, {**say("x"), **a}, {**RESET, **a}, b))
    assert heard == [["<>", "1"], ["<>", "2", "<mine>"], ["<>", "3", "<yours>"], ["<x>"], ["<>", "4"], []]


def test_a_reset_forgets_variables_and_state(talk):
    d = Diagram("Anew")
    hub, there = d.state("hub", text("hub {word}", fill=True)), d.state("there", text("there {word}", fill=True))
    d.go(hub, there, "when_no_intent_matched")
    assert words(talk(d, variables(word="kept"), "x", RESET, "y", RESET, RESET)) == [
        ["hub "], [], ["there kept"], ["hub "], ["there "], ["hub "], ["hub "]]


# ---- conditions and comparisons ----------------------------------------------------------------------------------------
def test_conditions_without_an_event_wait_for_their_moment(talk):
    d = Diagram("Moment")
    hub = d.state("hub", fallback=[text("not yet")])
    d.on(hub, d.state("both", text("both")), "None", "def a(session):\n    return bool(session.get('a'))\n",
         "def b(session, params: dict):\n    return params == {} and bool(session.get('b'))\n")
    d.on(hub, d.state("never"), "None", "def broken(session):\n    return session.event.message.upper()['x']\n")
    assert words(talk(d, variables(a=1), WAKE, "x", variables(b=1), WAKE)) == [[], [], [], [], [], ["both"]]


@pytest.mark.parametrize("value,target,fits", (
    (5, 5, "<= == >="), (4, 5, "< <= !="), (6, 5.5, "> >= !="), ("b", "a", "> >= !="), ("5", 5, "<= == >="), (True, True, "<= == >="),
    ("true", True, "<= == >="), (None, 5, ""), (None, None, ""), ([1], [1], "<= == >="), ("10", "9", "< <= !="), (10, "9", "< <= !="),
    ("", "", "<= == >="), ({"a": 1}, "x", "> >= !=")))
def test_comparisons_of_every_operator(value, target, fits, talk):
    d = Diagram("Compares")
    hub = d.state("hub")
    signs = ("<", "<=", "==", ">=", ">", "!=")
    for sign in signs:
        there = d.state(f"is{signs.index(sign)}", text(sign))
        pick = {"variable": "asked", "operator": "==", "targetValue": sign}
        at = d.state(f"at{signs.index(sign)}")
        d.go(hub, at, "when_variable_operation_matched", conditionValue=pick)
        d.go(at, there, "when_variable_operation_matched", conditionValue={"variable": "v", "operator": sign, "targetValue": target})
    steps = [{**step, "user": sign} for sign in signs for step in (variables(v=value, asked=sign), WAKE)]
    heard = words(talk(d, *steps))[2::2]
    assert {sign for sign, said in zip(signs, heard) if said == [sign]} == set(fits.split())
