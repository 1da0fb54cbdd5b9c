"""What agents say in odd texts and under odd names, told by what a user sees: each test draws an agent,
talks to its program under the framework, and writes the conversation down as it is to be (tricky.py)."""

from __future__ import annotations

import json

import pytest

from tests.compiler.talks import file_frame
from tests.compiler.tricky import RESET, WAKE, variables, words
from tests.support.draw import Diagram, action, text


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
