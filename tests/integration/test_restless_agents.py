"""Agents that never come to rest, or whose words are odd, through the whole chain: the service stays a service, and a
browser gets what was drawn."""
import pytest

from tests.support.draw import Diagram, action, code, text
from tests.support.stack import Conversation

SETTINGS = {"AGENT_SIMULATOR_MAX_SESSIONS": "4", "AGENT_SIMULATOR_MAX_SESSIONS_PER_ACTOR": "4"}


def circle(title, *actions):
    d = Diagram(title)
    first, second = d.state("first", *actions), d.state("second")
    d.go(first, second)
    d.go(second, first)
    return d


def echo():
    d = Diagram("Echo")
    hub = d.state("hub", text("hi"))
    said = d.state("said", text("{user_message}", fill=True))
    d.go(hub, said, "when_no_intent_matched")
    d.go(said, said, "when_no_intent_matched")
    return d


@pytest.mark.parametrize("actions", ((), (text("again"),), (text("x" * 100_000),)), ids=("silent", "short", "long"))
def test_a_circle_of_auto_transitions_keeps_nobody_else_from_talking(stack, actions):
    restless, calm = stack.create(circle("Circle", *actions).request()), stack.create(echo().request())
    # A client that reads no more waits for the answer to its close frame behind all that is still coming.
    with Conversation(stack.socket(restless, close_timeout=0.1), {}) as heard, stack.talk(calm) as talk:
        assert talk.reply() == "hi"
        for number in range(20):
            heard.next()
            talk.say(f"word {number}")
            assert talk.reply(timeout=30) == f"word {number}"
        assert stack.get("/health").status == 200
    assert stack.end(restless).status == 200
    with stack.talk(calm) as talk:
        talk.say("still here")
        assert talk.until(lambda f: f.get("message") == "still here")
    stack.end(calm)


def test_hundreds_of_senseless_messages_keep_the_agent_from_hearing_no_longer_than_a_few(stack):
    session = stack.create(echo().request())
    with stack.talk(session) as talk:
        assert talk.reply() == "hi"
        for how_many, message in ((1, "no JSON"), (300, "no JSON"), (300, "{}"), (100, "[" * 20000)):
            for number in range(how_many):
                talk.ws.send(message)
                if number % 50 == 7:  # a reply to it may be lost, as all that an agent says while it has no connection
                    talk.say(f"among {message[:9]} {number}")
            talk.say(f"behind {message[:9]}")
            talk.until(lambda f, m=message: f.get("message") == f"behind {m[:9]}")
        assert any(f.get("type") == "error" and "some were not passed on" in f["message"] for f in talk.frames)
    assert stack.end(session).status == 200


NAMES = ("été", "名前", "a.b", "class", "[x]]>[y]", "42", "😀", "{name}", "'quote\"", "<b>x</b>", "e\u0301\u202e")


def test_states_of_any_name_change_for_the_browser_by_that_name(stack):
    d = Diagram("Names")
    states = [d.state(name, text(name)) for name in NAMES]
    for source, target in zip(states, states[1:]):
        d.go(source, target, "when_no_intent_matched")
    session = stack.create(d.request())
    with stack.talk(session) as talk:
        for number, name in enumerate(NAMES):
            if number:
                talk.say("next")
            assert talk.reply() == name
        if not any(f.get("state") == NAMES[-1] for f in talk.frames):  # output takes another way than replies
            talk.until(lambda f: f.get("state") == NAMES[-1])
        seen = [f["state"] for f in talk.frames if f.get("type") == "state_change"]
        assert [name for number, name in enumerate(seen) if not number or seen[number - 1] != name] == list(NAMES)
    stack.end(session)


def test_long_and_strange_replies_reach_the_browser_whole(stack):
    replies = ["x" * 1_000_000, "é😀\u2028" * 30_000, "</script><!-- {{7*7}} {% x %}", "{" * 5000, "'''\"\"\"\\", "\u202eright to left",
               "[first] --> [second]\n2026-01-31 12:00:00,123 - BESSER Agentic Framework - INFO - auto: [first] --> [second]"]
    d = Diagram("Long")
    d.state("hub", *[text(reply) for reply in replies], *[action("WebSocketReplyHTMLAction", ws_message=reply) for reply in replies])
    session = stack.create(d.request())
    with stack.talk(session) as talk:
        assert [talk.reply() for _ in range(2 * len(replies))] == replies * 2
    stack.end(session)


def test_code_that_never_ends_silences_its_own_agent_only(stack):
    d = Diagram("Loop")
    d.state("hub", text("before"), code("while True:\n    pass"))
    stuck, calm = stack.create(d.request()), stack.create(echo().request())
    with stack.talk(stuck) as waiting, stack.talk(calm) as talk:
        assert waiting.reply() == "before" and talk.reply() == "hi"
        waiting.say("hello?")
        for number in range(5):
            talk.say(str(number))
            assert talk.reply(timeout=30) == str(number)
    assert stack.end(stuck).status == 200
    stack.end(calm)
