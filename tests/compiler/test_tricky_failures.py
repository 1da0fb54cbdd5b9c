"""What agents do when something raises, nothing fits or nothing waits, told by what a user sees: each test draws an agent,
talks to its program under the framework, and writes the conversation down as it is to be (tricky.py)."""

from __future__ import annotations

import re

import pytest

from tests.compiler.talks import file_frame
from tests.compiler.tricky import RESET, WAKE, variables, words
from tests.support.draw import Diagram, code, text


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
