"""Requests made to hold a worker: each is over in a bounded time, and others are answered."""
import contextlib
import json
import threading
import time

import pytest

VALIDATE = "/besser_api/simulation/validate"
SESSIONS = "/besser_api/simulation/sessions"


def diagram_with(elements):
    return {
        "title": "wide",
        "model": {
            "type": "AgentDiagram",
            "elements": {
                "s": {"id": "s", "name": "welcome", "type": "AgentState"},
                "i": {"id": "i", "name": "", "type": "StateInitialNode"},
                **elements,
            },
            "relationships": {"r": {"id": "r", "type": "AgentStateTransitionInit", "source": {"element": "i"}, "target": {"element": "s"}}},
        },
    }


def slow_tools(count):
    """CPython compares every keyword with every other: a second for each of these."""
    keywords = ",".join(f"a{i}=1" for i in range(10000))
    return {f"t{n}": {"id": f"t{n}", "name": f"tool{n}", "type": "AgentTool",
                      "code": f"def tool{n}(x):\n    return f({keywords})\n"} for n in range(count)}


@pytest.mark.parametrize("path", [VALIDATE, SESSIONS])
def test_many_slow_pieces_of_python_do_not_hold_a_worker_for_minutes(stack, path):
    began = time.monotonic()
    reply = stack.post(path, diagram_with(slow_tools(200)), timeout=120)
    assert time.monotonic() - began < 35
    assert "too much Python code" in reply.body.decode()
    assert (reply.status, reply.json().get("valid")) == ((200, False) if path == VALIDATE else (400, None))
