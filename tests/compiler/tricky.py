"""What a user sees of a conversation with an agent's program, for tests that write it down (the fixture `talk`).

A conversation is a list of lists, the first one for connecting, then one for each step: a text for a text reply,
"[name]" when the body of a state starts, (kind, message) for every other frame."""

from __future__ import annotations


class State(str):
    """The body of a state starts."""


def shown(event):
    if "state" in event:
        return State(f"[{event['state']}]")
    if event["action"] == "agent_reply_str":
        return event["message"]
    return (event["action"].removeprefix("agent_reply_"), event["message"])


def words(conversation):
    """Without the states."""
    return [[event for event in step if not isinstance(event, State)] for step in conversation]


def variables(**values):
    return {"send": {"action": "user_set_variable", "message": values}}


WAKE = {"wake": True}
RESET = {"send": {"action": "reset", "message": None}}


def reasoning(d, name="think", **members):
    state = d.reasoning(name, **members)
    d.go(state, state, "when_no_intent_matched")
    return state


def answers(conversation):
    return [[event for event in step if isinstance(event, str)] for step in words(conversation)]
