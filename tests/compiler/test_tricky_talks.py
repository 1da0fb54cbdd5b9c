"""What agents do in the corners of the language, told by what a user sees: each test draws an agent, talks to its program
under the framework, and writes the conversation down as it is to be.

A conversation is a list of lists, the first one for connecting, then one for each step: a text for a text reply,
"[name]" when the body of a state starts, (kind, message) for every other frame."""

from __future__ import annotations

import base64
import json
import re
import textwrap

import pytest

from tests.compiler import harness
from tests.compiler.talks import file_frame, gui_frame, say
from tests.support.draw import (
    Diagram, action, code, llm, llm_reply, rag, rag_reply, skill, sql, text, tool, workspace)


class State(str):
    """The body of a state starts."""


def shown(event):
    if "state" in event:
        return State(f"[{event['state']}]")
    if event["action"] == "agent_reply_str":
        return event["message"]
    return (event["action"].removeprefix("agent_reply_"), event["message"])


@pytest.fixture
def talk(ours, tmp_path):
    """talk(diagram, steps ..., request members=...): the conversation. A step may be the text to say."""

    def hold(diagram, *steps, ends=None, download=False, **more):
        folder = tmp_path / "agent"
        folder.mkdir()
        request = diagram.request(**more) if isinstance(diagram, Diagram) else {**diagram, **more}
        mode = () if download else ("--session",)
        run = harness.agentsim("generate", *mode, "--quiet", "--output", folder, "-", request=request)
        assert run.status == harness.OK, run.said
        answer = ours.hold(folder, [say(step) if isinstance(step, str) else step for step in steps])
        hold.said, hold.warned = answer["said"], run.said
        assert answer["end"] == ends, f"{answer['end']}\n{answer['said']}"
        return [[shown(event) for event in step] for step in answer["steps"]]

    return hold


def words(conversation):
    """Without the states."""
    return [[event for event in step if not isinstance(event, State)] for step in conversation]


def variables(**values):
    return {"send": {"action": "user_set_variable", "message": values}}


WAKE = {"wake": True}
RESET = {"send": {"action": "reset", "message": None}}


# ---- what raises -------------------------------------------------------------------------------------------------------
def test_a_condition_that_raises_is_false_and_the_next_transition_is_tried(talk):
    d = Diagram("Raises")
    hub, bad, good = d.state("hub", text("hi")), d.state("bad", text("bad")), d.state("good", text("good"))
    d.on(hub, bad, "ReceiveTextEvent", "def broken(session):\n    return 1 / 0\n")
    d.on(hub, bad, "ReceiveTextEvent", "def wrong(session):\n    return session.event.nothing\n")
    d.on(hub, good, "ReceiveTextEvent", "def fine(session):\n    return session.event.message == 'go'\n")
    conversation = talk(d, "stay", "go")
    assert conversation[0] == ["[hub]", "hi"] and conversation[2] == ["[good]", "good"]
    assert len(conversation[1]) == 1 and conversation[1] != ["good"]  # the framework's apology
    assert "ZeroDivisionError" in talk.said


def test_a_condition_among_several_that_raises_fails_them_all(talk):
    d = Diagram("Chain")
    hub, on = d.state("hub"), d.state("on", text("on"))
    yes, no = "def yes(session):\n    return True\n", "def no(session):\n    raise KeyError('x')\n"
    d.on(hub, on, "ReceiveTextEvent", yes, no)
    d.on(hub, on, "ReceiveTextEvent", no, yes)
    d.on(hub, on, "ReceiveTextEvent", yes, yes, yes)
    assert talk(d, "x") == [["[hub]"], ["[on]", "on"]]


def test_a_first_body_that_raises_leaves_an_agent_that_listens(talk):
    d = Diagram("Stumbles")
    start = d.state("start", text("before"), code("raise RuntimeError('on purpose')"), text("lost"))
    d.go(start, d.state("next", text("alive")), "when_no_intent_matched")
    assert talk(d, "x", RESET, "y") == [["[start]", "before"], ["[next]", "alive"], ["[start]", "before"],
                                         ["[next]", "alive"]]
    assert "on purpose" in talk.said


def test_a_body_that_raises_does_not_stop_the_way_on(talk):
    d = Diagram("Goes_on")
    start, one, two = d.state("start"), d.state("one", code("raise ValueError"), text("lost")), d.state("two", text("two"))
    d.go(start, one, "when_no_intent_matched")
    d.go(one, two)
    assert talk(d, "x") == [["[start]"], ["[one]", "[two]", "two"]]


def test_a_fallback_that_raises_is_tried_again(talk):
    d = Diagram("Fallback")
    hub = d.state("hub", fallback=[text("hm"), code("raise OSError('on purpose')"), text("lost")])
    d.on(hub, hub, "ReceiveTextEvent", "def never(session):\n    return False\n")
    assert talk(d, "x", "y") == [["[hub]"], ["hm"], ["hm"]]


EXITS = ("exit()", "quit(3)", "raise SystemExit('on purpose')", "raise SystemExit", "raise KeyboardInterrupt",
         "raise GeneratorExit('on purpose')")


@pytest.mark.parametrize("way", EXITS)
def test_code_that_ends_the_program_is_told_and_the_conversation_goes_on(way, talk):
    d = Diagram("Ends")
    hub = d.state("hub", text("hi"), code(way), text("lost"), fallback=[text("hm"), code(way), text("lost")])
    two = d.state("two", text("two"), code(way), text("lost"))
    d.on(hub, two, "ReceiveTextEvent", f"def ends(session):\n    {way}\n")
    d.on(hub, two, "ReceiveTextEvent", "def go(session):\n    return session.event.message == 'go'\n")
    d.go(two, hub, "when_no_intent_matched")
    assert words(talk(d, "x", "go", "y", RESET, "go")) == [["hi"], ["hm"], ["two"], ["hi"], ["hi"], ["two"]]
    name = "KeyboardInterrupt" if "Keyboard" in way else "GeneratorExit" if "Generator" in way else "SystemExit"
    assert len(re.findall(rf"^{name}\b", talk.said, re.M)) >= 5, talk.said
    assert "An error occurred while executing" in talk.said and 'agent.py", line ' in talk.said


# ---- nothing fits ------------------------------------------------------------------------------------------------------
def test_a_state_whose_transitions_all_fail_falls_back_each_time(talk):
    d = Diagram("Stays")
    hub, other = d.state("hub", text("hi"), fallback=[text("no: {user_message}", fill=True)]), d.state("other")
    d.go(hub, other, "when_variable_operation_matched",
         conditionValue={"variable": "age", "operator": ">", "targetValue": 18})
    d.go(hub, other, "when_file_received", fileType="pdf")
    d.on(hub, other, "ReceiveJSONEvent")
    d.on(hub, other, "ReceiveTextEvent", "def never(session):\n    return False\n")
    steps = ["one", "{age}", "", variables(age=18), WAKE, "two", variables(age="nineteen"), WAKE, "three"]
    assert talk(d, *steps) == [["[hub]", "hi"], ["no: one"], ["no: {age}"], ["no: "], [], [], ["no: two"], [],
                               ["[other]"], []]


def test_without_event_transitions_a_text_waits_for_the_state_that_wants_it(talk):
    d = Diagram("Waits")
    hub, there = d.state("hub", text("hi"), fallback=[text("never")]), d.state("there", text("there"))
    got = d.state("got", text("got {user_message}", fill=True))
    d.go(hub, there, "when_variable_operation_matched",
         conditionValue={"variable": "ready", "operator": "==", "targetValue": True})
    d.go(there, got, "when_no_intent_matched")
    conversation = talk(d, "early", variables(ready=False), WAKE, variables(ready=True), WAKE)
    assert conversation == [["[hub]", "hi"], [], [], [], [], ["[there]", "there", "[got]", "got early"]]


def test_a_state_without_a_way_out_is_silent(talk):
    d = Diagram("End")
    hub = d.state("hub", text("hi"), fallback=[text("never")])
    d.go(hub, d.state("end", text("bye"), fallback=[text("never")]), "when_no_intent_matched")
    assert talk(d, "x", "y", {"send": file_frame("text/plain")}, RESET) == [
        ["[hub]", "hi"], ["[end]", "bye"], [], [], ["[hub]", "hi"]]


def test_a_state_that_has_no_fallback_apologises_in_the_words_of_the_framework(talk):
    d = Diagram("Sorry")
    hub = d.state("hub")
    d.on(hub, hub, "ReceiveFileEvent")
    with_body = d.state("never", fallback=[text("never")], fallbackBodyEnabled=False)
    d.go(hub, with_body, "when_file_received", fileType="pdf")
    first, second = talk(d, "x")
    assert first == ["[hub]"] and len(second) == 1 and "Sorry" in second[0]


# ---- ways without an event ---------------------------------------------------------------------------------------------
def test_an_auto_transition_to_the_state_itself_never_rests(talk):
    d = Diagram("Spins")
    hub = d.state("hub", text("again"))
    d.go(hub, hub)
    conversation = talk(d, ends="endless")
    assert conversation[0][:4] == ["[hub]", "again"] * 2 and len(conversation[0]) > 100


def test_a_circle_of_states_that_say_nothing_never_rests(talk):
    d = Diagram("Circle")
    states = [d.state(name) for name in ("a", "b", "c")]
    for source, target in zip(states, states[1:] + states[:1]):
        d.go(source, target)
    assert talk(d, ends="endless")[0][:4] == ["[a]", "[b]", "[c]", "[a]"]


def test_a_circle_that_a_condition_opens_comes_to_rest(talk):
    d = Diagram("Counts")
    count = d.state("count", code("n = (session.get('n') or 0) + 1\nsession.set('n', n)\nsession.reply(str(n))"))
    again, done = d.state("again"), d.state("done", text("done"))
    d.go(count, done, "when_variable_operation_matched", conditionValue={"variable": "n", "operator": ">=", "targetValue": 3})
    d.go(count, again)
    d.go(again, count)
    assert words(talk(d)) == [["1", "2", "3", "done"]]


def test_auto_comes_after_what_stands_before_it(talk):
    """A waiting event is taken by an earlier transition, else auto leads away at once and the event waits on."""
    d = Diagram("Last")
    hub, by_file, away = d.state("hub"), d.state("by_file", text("file")), d.state("away", text("away"))
    d.go(hub, by_file, "when_file_received")
    d.go(hub, away)
    d.go(away, hub, "when_no_intent_matched")
    assert talk(d, {"send": file_frame("text/plain")}, "x") == [
        ["[hub]", "[away]", "away"], [], ["[hub]", "[by_file]", "file"]]


def test_a_chain_after_a_message_knows_the_message(talk):
    d = Diagram("Chain")
    hub, one = d.state("hub"), d.state("one", text("1 {user_message}", fill=True))
    two, three = d.state("two", text("2 {user_message}", fill=True)), d.state("three", text("3 {user_message}", fill=True))
    d.go(hub, one, "when_no_intent_matched")
    d.go(one, two)
    d.go(two, three)
    assert words(talk(d, "é😀")) == [[], ["1 é😀", "2 é😀", "3 é😀"]]


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


# ---- texts -------------------------------------------------------------------------------------------------------------
FILLED = (
    ("{name}", "Ada"), ("{{name}}", "{Ada}"), ("{{{name}}}", "{{Ada}}"), ("{nothing}", ""), ("{{nothing}}", "{}"), ("{n}", "0"),
    ("{flag}", "False"), ("{}", "{}"), ("{ name }", "{ name }"), ("{0}", "zero"), ("{name!r:>9}", "{name!r:>9}"), ("%s %(name)s", None),
    ("{name", None), ("name}", None), ("{na me}", None), ("<b onclick='x'>{name}</b>", "<b onclick='x'>Ada</b>"),
    ("**{name}** `c` [l](http://x)", "**Ada** `c` [l](http://x)"), ("\\{name\\}", None), ("$ {name}", "$ Ada"),
    ("{größe}/{имя}/{名前}", "XL/Анна/花"), ("{list} {dict}", "[1, 'a'] {'k': None}"), ("{trick}", "{name}"), ("{user_message}", ""),
    ("\n{name}\r\n\t\u2028", "\nAda\r\n\t\u2028"))
VALUES = {"name": "Ada", "n": 0, "flag": False, "0": "zero", "größe": "XL", "имя": "Анна", "名前": "花", "list": [1, "a"],
          "dict": {"k": None}, "trick": "{name}"}


def test_placeholders_in_every_kind_of_reply(talk):
    d = Diagram("Fills")
    sent = [template for template, _ in FILLED]
    fill = [text(words, fill=True) for words in sent]
    fill += [action(f"WebSocketReply{kind}Action", ws_message=words, useSessionVars=True)
             for kind in ("Markdown", "HTML") for words in sent]
    raw = [text(words) for words in sent] + [action("WebSocketReplyHTMLAction", ws_message=words) for words in sent]
    hub, show = d.state("hub"), d.state("show", *fill, *raw)
    d.on(hub, show, "ReceiveFileEvent")
    wanted = [words if filled is None else filled for words, filled in FILLED]
    step = words(talk(d, variables(**VALUES), {"send": file_frame("x")}))[2]
    count = len(wanted)
    assert step[:count] == wanted
    assert step[count:3 * count] == [(kind, words) for kind in ("markdown", "html") for words in wanted]
    assert step[3 * count:] == sent + [("html", words) for words in sent]


def test_long_and_strange_replies_arrive_whole(talk):
    replies = ["x" * 1_000_000, "é😀\u2028" * 30_000, "\n".join("| a | b |" for _ in range(2000)), "</script><!--", "{" * 5000,
               "'''\"\"\"\\", " leading and trailing ", "\u202eright to left", "a\u0301\u0300" * 500]
    d = Diagram("Long")
    d.state("hub", *[text(reply, fill=fill) for reply in replies for fill in (False, True)])
    assert words(talk(d)) == [[reply for reply in replies for _ in (0, 1)]]


def test_options_and_places_are_sent_as_drawn(talk):
    d = Diagram("Plain")
    d.state("hub", action("WebSocketReplyOptionsAction", ws_options=" {name} \n\n<b>B</b>\r\nÄ 😀\n"),
            action("WebSocketReplyLocationAction", ws_latitude="49.5", ws_longitude=-6),
            action("WebSocketReplyOptionsAction", ws_options=" \n"), action("WebSocketReplyLocationAction"))
    (step,) = words(talk(d))
    assert json.loads(step[0][1]) == {"0": "{name}", "1": "<b>B</b>", "2": "Ä 😀"}
    assert step[1] == ("location", {"latitude": 49.5, "longitude": -6})
    assert step[2:] == [("options", "{}"), ("location", {"latitude": 0, "longitude": 0})]


# ---- names -------------------------------------------------------------------------------------------------------------
NAMES = ("été", "名前", "a.b", "class", "[x]]>[y]", "42", "😀", "two\nlines", "{name}", "'quote\"", "my_agent", "session")


def test_states_of_any_name_are_entered_by_that_name(talk):
    d = Diagram("Names")
    states = [d.state(name, text(name)) for name in NAMES]
    for source, target in zip(states, states[1:]):
        d.go(source, target, "when_no_intent_matched")
    assert talk(d, *["x"] * (len(NAMES) - 1)) == [[f"[{name}]", name] for name in NAMES]


OWN_NAMES = ("agent", "platform", "body_hub", "state_hub", "my_body_hub", "fill", "message_of", "comparison", "Session", "json", "str",
             "default_llm", "code_hub", "condition_1_1", "helper", "hub", "main", "__name__", "self", "re", "logger", "getattr", "all_of")


@pytest.mark.parametrize("name", OWN_NAMES)
def test_code_that_is_called_like_the_program_s_own_things(name, talk):
    d = Diagram("Same_names")
    source = f"def {name}(session):\n    session.reply('code')\n"
    hub = d.state("hub", text("a {x}", fill=True), action("CustomCodeAction", source), text("b {user_message}", fill=True))
    low = {"variable": "x", "operator": "<", "targetValue": 3}
    d.go(hub, d.state("low", text("low"), action("CustomCodeAction", source)), "when_variable_operation_matched", conditionValue=low)
    d.on(hub, hub, "ReceiveTextEvent", f"def {name}(session, params):\n    return session.event.message == 'go'\n",
         "def other(session):\n    return True\n")
    assert words(talk(d, "go", variables(x=2), WAKE)) == [["a ", "code", "b "], ["a ", "code", "b go"], [], ["low", "code"]]


def test_code_that_takes_the_program_s_names_away(talk):
    taken = ("agent", "platform", "json", "operator", "os", "logging", "Session", "hub", "str", "getattr", "isinstance", "bool", "print")
    source = "def take(session):\n    global " + ", ".join(taken) + "\n    " + " = ".join(taken) + " = None\n    session.reply('taken')\n"
    d = Diagram("Taken")
    hub = d.state("hub", action("CustomCodeAction", source), text("{x}", fill=True), action("WebSocketReplyHTMLAction", ws_message="h"))
    low = {"variable": "x", "operator": "<", "targetValue": 3}
    d.go(hub, hub, "when_variable_operation_matched", conditionValue={**low, "operator": "==", "targetValue": "never"})
    d.go(hub, d.state("low", text("low {x}", fill=True)), "when_variable_operation_matched", conditionValue=low)
    assert words(talk(d, variables(x=2), WAKE)) == [["taken", "", ("html", "h")], [], ["low 2"]]


def test_code_of_one_name_in_every_place(talk):
    """A function, its helper and a constant, all named alike everywhere, each with another value."""
    d = Diagram("Alike")

    def piece(value):
        return action("CustomCodeAction", f"def run(session):\n    def helper():\n        return {value!r}\n    session.reply(helper())\n")

    hub = d.state("hub", piece("one"), piece("two"), fallback=[piece("three")])
    for value in ("a", "b"):
        d.on(hub, d.state("is_" + value, piece("at " + value)), "ReceiveTextEvent",
             f"LIMIT = {value!r}\n\ndef check(session):\n    return helper(session) == LIMIT\n\ndef helper(session):\n"
             f"    return session.event.message\n")
    heard = words(talk(d, "c", "a", RESET, "b"))
    assert heard == [["one", "two"], ["three"], ["at a"], ["one", "two"], ["at b"]]


def reasoning(d, name="think", **members):
    state = d.reasoning(name, **members)
    d.go(state, state, "when_no_intent_matched")
    return state


def answers(conversation):
    return [[event for event in step if isinstance(event, str)] for step in words(conversation)]


def test_a_tool_that_ends_the_program_is_a_tool_that_fails(talk, model):
    d = Diagram("Leaves", llm("fast", base_url=model.url), tool("leave", "def leave() -> str:\n    exit()\n", "Leaves"))
    hub = d.state("hub", text("hub"))
    d.go(hub, reasoning(d), "when_no_intent_matched")
    heard = answers(talk(d, "[[tool leave {}]]", "still there?"))
    assert heard[1] == ["LLM: ERROR: SystemExit: None"] and heard[2] == ["LLM: still there?"], heard
    assert "'leave' raised SystemExit" in talk.said


@pytest.mark.parametrize("name", ("think", "hub", "agent", "print", "tool", "load_tool", "json"))
def test_tools_that_are_called_like_states_and_other_things(name, talk, model):
    d = Diagram("Tools", llm("fast", base_url=model.url), tool(name, f"def {name}(word: str) -> str:\n    return word[::-1]\n", "Turns"),
                skill("hub", "Be kind."), workspace("think", "hub"))
    hub = d.state("hub", text("hub"))
    d.go(hub, reasoning(d), "when_no_intent_matched")
    heard = answers(talk(d, f'[[tool {name} {{"word": "abc"}}]]', f'[[tool {name} {{"word": "xy"}}]] and on'))
    assert heard == [["hub"], ["LLM: cba"], ["LLM: yx"]]


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


# ---- what a model says -------------------------------------------------------------------------------------------------
def test_an_answer_that_is_kept_decides_where_to_go(talk, model):
    d = Diagram("Decides", llm("fast", base_url=model.url))
    hub = d.state("hub", text("?"), fallback=[text("never")])
    ask = d.state("ask", llm_reply(store="mood", send=False))
    yes, no = d.state("yes", text("yes: {mood}", fill=True)), d.state("no", text("no: {mood}", fill=True))
    d.go(hub, ask, "when_no_intent_matched")
    d.go(ask, yes, "when_variable_operation_matched", conditionValue={"variable": "mood", "operator": "==", "targetValue": "good"})
    d.go(ask, no)
    assert words(talk(d, "[[say good]]", RESET, "[[say {mood}]]")) == [["?"], ["yes: good"], ["?"], ["no: {mood}"]]


@pytest.mark.parametrize("threshold,answer", ((0.4, "hours"), (0.9, "?")))
def test_an_intent_is_as_sure_as_the_settings_want(threshold, answer, talk, model):
    d = Diagram("Sure", llm("fast", base_url=model.url))
    hours = d.intent("hours", "when are you open")
    hub = d.state("hub", fallback=[text("?")])
    d.go(hub, d.state("told", text("hours")), "when_intent_matched", intentName=hours)
    assert words(talk(d, "when open", configYaml=f"nlp:\n  intent_threshold: {threshold}\n")) == [[], [answer]]


@pytest.mark.parametrize("score,answer", (
    ("0.9", "hours"), (" 90 %", "hours"), (1, "hours"), (True, "hours"), ("0.1", "?"), ("nan", "?"), ("very sure", "?"), ("", "?"),
    (None, "?"), ({"score": 0.9}, "?")))
def test_a_score_is_a_number_however_the_model_writes_it(score, answer, talk, model):
    d = Diagram("Sure", llm("fast", base_url=model.url))
    hours = d.intent("hours", "when are you open")
    hub = d.state("hub", fallback=[text("?")])
    d.go(hub, d.state("told", text("hours")), "when_intent_matched", intentName=hours)
    assert words(talk(d, f"when [[score {json.dumps(score)}]]")) == [[], [answer]]


def test_a_fallback_may_ask_a_model(talk, model):
    d = Diagram("Asks", llm("fast", base_url=model.url))
    hub = d.state("hub", fallback=[text("hm, {user_message}", fill=True), llm_reply("For {name}.", fill=True, store="said"),
                                   text("<{said}>", fill=True)])
    d.on(hub, hub, "ReceiveFileEvent")
    assert words(talk(d, variables(name="Ada"), "[[system]]")) == [[], [], ["hm, [[system]]", "For Ada.", "<For Ada.>"]]


def test_a_prompt_of_a_store_may_name_variables(talk, model):
    d = Diagram("Prompted", llm("fast", base_url=model.url),
                rag("pumps", embedding_provider="ollama", embedding_base_url=model.url.removesuffix("/v1")))
    d.state("hub", code("session.set('tone', 'kindly')\npumps.add_text('The valve is red.', {'source': 'x'})"),
            rag_reply("pumps", prompt="{tone}, what is red?", **{"promptUseSessionVars": True}),
            {**rag_reply("pumps"), "prompt": "Answer {tone}.", "promptUseSessionVars": True},
            {**rag_reply("pumps"), "prompt": "Answer {tone}."})
    said = [message["answer"] for _, message in talk(d)[0][1:]]
    assert "kindly, what is red?" in said[0] and "Answer kindly." in said[1] and "Answer {tone}." in said[2]
    assert all("The valve is red." in answer for answer in said)


# ---- reasoning ---------------------------------------------------------------------------------------------------------
def test_a_reasoning_state_asks_its_own_model_and_is_left_like_any_other(talk, model):
    d = Diagram("Thinks", llm("first", base_url=model.url), llm("deep", base_url=model.url + "/../nowhere"),
                llm("own", base_url=model.url))
    think = d.reasoning("think", llm_name="own", stream_steps=False, enable_task_planning=False)
    d.go(think, d.state("left", text("left")), "when_variable_operation_matched",
         conditionValue={"variable": "done", "operator": "==", "targetValue": True})
    d.go(think, d.state("by_file", text("file")), "when_file_received")
    d.go(think, think, "when_no_intent_matched")
    heard = answers(talk(d, "[[say fine]]", variables(done=True), WAKE, RESET, {"send": file_frame("a/b")}))
    assert heard[1:] == [["fine"], [], ["left"], heard[0], ["file"]] and len(heard[0]) == 1


def test_reasoning_goes_on_by_itself_to_the_next_state(talk, model):
    d = Diagram("Passes", llm("fast", base_url=model.url))
    hub, think = d.state("hub", text("hub")), d.reasoning("think", stream_steps=False)
    d.go(hub, think, "when_no_intent_matched")
    d.go(think, d.state("after", text("after {user_message}", fill=True)))
    assert answers(talk(d, "[[say thought]]")) == [["hub"], ["thought", "after [[say thought]]"]]


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
