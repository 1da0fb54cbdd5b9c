"""Runs under build/reference: generates programs with the reference as its simulator endpoint does. One line of JSON in,
{"request": JSON text, "out": directory}, one line out. A forked child does each, without network and with limits: the
diagrams are ours, but the reference pastes texts into programs and file names."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import resource
import socket
import sys
import tempfile

import jinja2
from deep_translator import GoogleTranslator

from besser.BUML.metamodel.state_machine.state_machine import CustomCodeAction
from besser.generators.agents.baf_generator import BAFGenerator, GenerationMode
from besser.utilities.web_modeling_editor.backend.services.converters import process_agent_diagram
from besser.utilities.web_modeling_editor.backend.services.validators import python_code_validator as lint

WARM_UP = """{"title": "x", "model": {"elements": {"s": {"type": "AgentState", "name": "s", "actions": ["a"]}, "i":
    {"type": "StateInitialNode"}, "a": {"actionType": "GUIReplyAction", "guiId": "g"}, "g": {"type": "AgentGUI", "gui_id":
    "g"}}, "relationships": {"r": {"type": "AgentStateTransitionInit", "source": {"element": "i"}, "target": {"element":
    "s"}}}}}"""


def compile_templates_once():
    """The generator makes a new template environment for every program; the code of a template is always the same."""
    compiled, compile_template = {}, jinja2.Environment.compile

    def remembered(environment, source, name=None, filename=None, raw=False, defer_init=False):
        key = (source, name, filename, raw, defer_init)
        if key not in compiled:
            compiled[key] = compile_template(environment, source, name, filename, raw, defer_init)
        return compiled[key]

    jinja2.Environment.compile = remembered


def refuse(*_args, **_kwargs):
    raise OSError("no network")


def check_code(agent):
    """The lint of sessions: custom code of bodies and fallback bodies, then tools."""
    bodies = [body for state in agent.states for body in (state.body, state.fallback_body) if body]
    for action in (action for body in bodies for action in body.actions):
        if isinstance(action, CustomCodeAction):
            lint.validate_custom_code_action(action.code, simulation=True)
    for tool in agent.tools:
        if tool.code:
            lint.lint_simulation_tool_code(tool.code)


def generate(request, out):
    config = request.get("config") or {}
    agent = process_agent_diagram({**request, "config": config})
    check_code(agent)
    config_yaml = request["configYaml"] if isinstance(request.get("configYaml"), str) else None
    BAFGenerator(
        agent,
        output_dir=out,
        config=config,
        generation_mode=GenerationMode.CODE_ONLY,
        config_yaml=config_yaml,
        test_mode=True,
    ).generate()
    return agent


def facts(agent, out):
    """What `agentsim inspect` tells of a session, as the reference's endpoint works it out."""
    events = []
    for state in agent.states:
        for transition in state.transitions:
            name = type(transition.event).__name__ if transition.event is not None else None
            if name and name not in events:
                events.append(name)
    files = [path for path in ("tools.py",) if os.path.exists(os.path.join(out, path))]
    for folder in ("skills", "guis"):
        if os.path.isdir(os.path.join(out, folder)):
            files += [f"{folder}/{name}" for name in sorted(os.listdir(os.path.join(out, folder)))]
    return {"event_list": events, "workspace_paths": [item.path for item in agent.workspaces], "support_files": files}


def answer(line):
    question = json.loads(line)
    try:
        request = json.loads(question["request"])
        os.makedirs(question["out"], exist_ok=True)
        os.chdir(question["out"])
        agent = generate(request, question["out"])
        return {"ok": True, **facts(agent, question["out"])}
    except BaseException as error:
        return {"error": type(error).__name__, "message": str(error)}


def forked(line):
    here, there = os.pipe()
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
        resource.setrlimit(resource.RLIMIT_FSIZE, (64 << 20, 64 << 20))
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        with os.fdopen(there, "w", encoding="ascii") as stream:
            json.dump(answer(line), stream)
        os._exit(0)
    os.close(there)
    with os.fdopen(here, encoding="ascii") as stream:
        text = stream.read()
    os.waitpid(child, 0)
    return text or json.dumps({"error": "Died", "message": "the child died"})


def main():
    logging.disable(logging.CRITICAL)
    GoogleTranslator.translate = refuse
    socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse
    compile_templates_once()
    with tempfile.TemporaryDirectory() as scratch:  # fills the memory of templates that the children inherit
        with contextlib.redirect_stdout(sys.stderr):
            generate(json.loads(WARM_UP), scratch)
    for line in sys.stdin:
        print(forked(line), flush=True)


if __name__ == "__main__":
    main()
