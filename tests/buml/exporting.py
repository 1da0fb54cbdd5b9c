"""What the tests of B-UML texts share."""

from __future__ import annotations

import unicodedata

from tests.compiler import harness


def exported(request):
    """The B-UML text of a request; the test fails when it is refused."""
    run = harness.agentsim("export", "-o", "-", "-", request=request)
    assert run.status == harness.OK, run.said
    assert run.out.isascii() and "\r" not in run.out and run.out.endswith("\n")
    return run.out


def drawn(elements=None, relationships=None, title="Guide", **state):
    """A diagram of one state, hub (element s), with more elements and relationships."""
    return {
        "title": title,
        "model": {
            "type": "AgentDiagram",
            "elements": {
                "i": {"type": "StateInitialNode"},
                "s": {"type": "AgentState", "name": "hub", **state},
                **(elements or {}),
            },
            "relationships": {
                "r": {"type": "AgentStateTransitionInit", "source": {"element": "i"}, "target": {"element": "s"}},
                **(relationships or {}),
            },
        },
    }


def arc(source="s", target="s", **members):
    return {"type": "AgentStateTransition", "source": {"element": source}, "target": {"element": target}, **members}


def custom(*conditions, **members):
    return arc(transitionType="custom", custom={"event": "None", "condition": list(conditions)}, **members)


def folded(value):
    """The reference changes texts to compatibility form, we do not [V27]; it reads "" where we read nothing."""
    if isinstance(value, dict):
        return {key: folded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [folded(item) for item in value]
    if isinstance(value, str):
        whole = value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        return unicodedata.normalize("NFKC", whole) or None
    return value


def differences(one, two, path=""):
    """[(path, value, other value)]"""
    if isinstance(one, dict) and isinstance(two, dict):
        keys = sorted(set(one) | set(two))
        return [found for key in keys for found in differences(one.get(key), two.get(key), f"{path}.{key}")]
    if isinstance(one, list) and isinstance(two, list) and len(one) == len(two):
        pairs = enumerate(zip(one, two))
        return [found for number, pair in pairs for found in differences(*pair, f"{path}[{number}]")]
    return [] if type(one) is type(two) and one == two else [(path, one, two)]
