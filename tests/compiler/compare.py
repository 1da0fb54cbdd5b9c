"""Two dumps of programs for one diagram, the reference's and ours: what differs, as far as a user could notice."""

from __future__ import annotations

import copy
import re
import sys

from tests.compiler import harness

sys.path.insert(0, str(harness.SUPPORT))

import check_fixtures  # noqa: E402

# Sentences whose wording is each generator's own.
FREE = [
    (re.compile(pattern, re.S), name)
    for pattern, name in (
        (r"\AYou are a helpful assistant\. Generate a concise plain-text answer.*\Z", "<answer the query>"),
        (r"\AAnswer the question from the database result in plain text.*\Z", "<answer the query>"),
        (r"\AUse the following webpage content to answer the question:\n", "<use the pages>"),
        (r"\AAnswer the user from the following web pages: ", "<use the pages>"),
        (r"\AOriginal user query:\n(.*)\n\nRetrieved database answer:\n", r"<query> \1 <answer> "),
        (r"\AQuestion: (.*)\nDatabase result: ", r"<query> \1 <answer> "),
        (r"\ANo SQL query configured for this database action\.\Z", "<no SQL>"),
        (r"\ANo SQL query is configured for this action\.\Z", "<no SQL>"),
    )
]

BROKEN = "<half characters>"


def plain(value):
    if isinstance(value, str):
        for pattern, name in FREE:
            value = pattern.sub(name, value)
        return value
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        if "broken_text" in value:  # agent_dump's word for half characters
            return BROKEN + value["broken_text"]
        return {key: plain(item) for key, item in value.items()}
    return value


def without(config, *path):
    """Removes a setting that a session decides itself, and mappings that held nothing else."""
    if isinstance(config, dict) and path[0] in config:
        if len(path) == 1:
            del config[path[0]]
        else:
            without(config[path[0]], *path[1:])
            if config[path[0]] in ({}, None):
                del config[path[0]]


def comparable(dump):
    dump = plain(check_fixtures.normalise(copy.deepcopy(dump)))
    if "error" in dump:
        return dump
    for path in (
        ("platforms", "websocket", "host"),
        ("platforms", "websocket", "port"),
        ("db", "monitoring", "enabled"),
        ("db", "streamlit", "enabled"),
    ):
        without(dump["config"], *path)
    dump["config"] = dump["config"] or None
    for rag in dump["rags"]:
        rag["loads"] = []  # documents may be loaded at any time
    return dump


def differences(theirs, ours):
    """[(path, reference, ours)]; a program that does not load is one difference at "(load)"."""
    theirs, ours = comparable(theirs), comparable(ours)
    if "error" in theirs or "error" in ours:
        return (
            []
            if "error" in theirs and "error" in ours
            else [("(load)", theirs.get("error", "loads"), ours.get("error", "loads"))]
        )
    return check_fixtures.differences(theirs, ours)


def show(entries):
    return "\n".join(check_fixtures.show(entries))
