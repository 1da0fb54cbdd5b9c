"""Runs under build/reference: generates programs with the reference as its simulator endpoint does. One line of JSON in,
{"request": JSON text, "out": directory}, one line out. A forked child does each, without network and with limits: the
diagrams are ours, but the reference pastes texts into programs and file names."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import tempfile

import jinja2
from deep_translator import GoogleTranslator

from besser.BUML.metamodel.state_machine.state_machine import CustomCodeAction
from besser.generators.agents.baf_generator import BAFGenerator, GenerationMode
from besser.utilities.web_modeling_editor.backend.services.converters import process_agent_diagram
from besser.utilities.web_modeling_editor.backend.services.validators import python_code_validator as lint

from tests.support import forked

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


def main():
    forked.cut_off()
    GoogleTranslator.translate = forked.refuse
    compile_templates_once()
    with tempfile.TemporaryDirectory() as scratch:  # fills the memory of templates that the children inherit
        with contextlib.redirect_stdout(sys.stderr):
            generate(json.loads(WARM_UP), scratch)
    forked.serve(answer, 20)


if __name__ == "__main__":
    main()
