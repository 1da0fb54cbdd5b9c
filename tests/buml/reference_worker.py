"""Runs under build/reference: what the reference makes of B-UML files. One line of JSON in, one out; each in a forked
child, without network and with limits.

{"do": "run", "path": file}           the file is executed with the metamodel, its agents are described
{"do": "convert", "request": JSON}    the reference's own model of a diagram, described the same way
{"do": "import", "path": file}        what the reference's importer reads: diagram JSON
{"do": "import-project", "path": file}  the same for a project file
{"do": "write", "request": JSON}      the reference's own file of a diagram: {"text"}
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import sys
import tempfile

from besser.BUML.metamodel.state_machine import agent as metamodel
from besser.BUML.metamodel.state_machine.state_machine import CustomCodeAction
from besser.utilities.buml_code_builder.agent_model_builder import agent_model_to_code
from besser.utilities.buml_code_builder.gui_model_builder import gui_model_to_code
from besser.utilities.web_modeling_editor.backend.services.converters import process_agent_diagram
from besser.utilities.web_modeling_editor.backend.services.converters.buml_to_json.agent_diagram_converter import (
    agent_buml_to_json,
)
from besser.utilities.web_modeling_editor.backend.services.converters.buml_to_json.project_converter import (
    project_to_json,
)

from tests.support import forked


def description(thing):
    return (thing.metadata.description if thing.metadata else None) or None


def code(source):
    """Where code ends is not the same in all forms: a file knows no function without a line break behind it."""
    return source.rstrip("\n") if source else source


def action(thing):
    if isinstance(thing, CustomCodeAction):
        return {"class": "CustomCodeAction", "source": code(thing.code)}
    return {"class": type(thing).__name__, **{key: value for key, value in sorted(vars(thing).items())}}


def body(thing):
    return [action(item) for item in thing.actions] if thing else None


def event(thing):
    if thing is None:
        return None
    told = {"class": type(thing).__name__}
    if isinstance(thing, metamodel.GUIEvent):
        told["message_id"] = thing.message_id
    return told


def condition(thing):
    kind = type(thing).__name__
    told = {"class": kind}
    if kind == "IntentMatcher":
        told["intent"] = thing.intent.name
    elif kind == "VariableOperationMatcher":
        told.update(variable=thing.var_name, operation=thing.operation.__name__, target=thing.target)
    elif kind == "FileTypeMatcher":
        told["types"] = thing.allowed_types
    elif kind == "FormSubmitMatcher":
        told["form"] = thing.form_id
    elif kind == "Condition":
        told["source"] = code(thing.code)
    return told


def transition(thing):
    return {
        "to": thing.dest.name,
        "event": event(thing.event),
        "conditions": [condition(item) for item in thing.conditions or []],
    }


def state(thing):
    told = {
        "class": type(thing).__name__,
        "name": thing.name,
        "initial": thing.initial,
        "description": description(thing),
        "body": body(thing.body),
        "fallback": body(thing.fallback_body),
        "transitions": [transition(item) for item in thing.transitions],
    }
    if isinstance(thing, metamodel.ReasoningState):
        for key in ("llm", "max_steps", "enable_task_planning", "stream_steps", "system_prompt", "fallback_message"):
            told[key] = getattr(thing, key)
    return told


def gui(model):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "gui.py")
        gui_model_to_code(model, path, model_var_name="gui_model")
        with open(path, encoding="utf-8") as stream:
            return stream.read()


def members(thing, keys):
    return {key: getattr(thing, key) for key in keys}


def agent(thing):
    return {
        "name": thing.name,
        "description": description(thing),
        "properties": [[item.section, item.name, item.value] for item in thing.properties],
        "intents": [
            {"name": item.name, "sentences": item.training_sentences, "description": item.description or None}
            for item in thing.intents
        ],
        "tools": [members(item, ("name", "description", "code")) for item in thing.tools],
        "skills": [members(item, ("name", "content", "description")) for item in thing.skills],
        "workspaces": [
            members(item, ("name", "path", "description", "writable", "max_read_bytes")) for item in thing.workspaces
        ],
        "rags": [
            {
                "store": vars(item.vector_store),
                "splitter": vars(item.splitter),
                **members(
                    item,
                    ("name", "llm_name", "llm_prompt", "k", "num_previous_messages", "use_hybrid_rag", "bm25_weight"),
                ),
            }
            for item in thing.rags
        ],
        "llms": [
            {
                "class": type(item).__name__,
                "name": item.name,
                "parameters": item.parameters,
                "history": getattr(item, "num_previous_messages", None),
                "context": item.global_context,
            }
            for item in thing.llms
        ],
        "default_llm": thing.default_llm_name,
        "guis": [[gui_id, gui(model)] for gui_id, model in thing.gui_models.items()],
        "states": [state(item) for item in thing.states],
    }


def run(path):
    spec = importlib.util.spec_from_file_location("exported", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["exported"] = module
    spec.loader.exec_module(module)
    agents = {name: agent(thing) for name, thing in vars(module).items() if isinstance(thing, metamodel.Agent)}
    unused = [
        vars(thing) for name, thing in vars(module).items() if isinstance(thing, metamodel.GUIReplyAction)
    ]
    return {"agents": agents, "settings": unused}


def read(path):
    with open(path, encoding="utf-8") as stream:
        return stream.read()


def written(request):
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(sys.stderr):
        path = os.path.join(folder, "written.py")
        agent_model_to_code(process_agent_diagram({**request, "config": request.get("config") or {}}), path)
        return {"text": read(path)}


def answer(line):
    question = json.loads(line)
    try:
        if question["do"] == "run":
            return run(question["path"])
        if question["do"] == "convert":
            request = json.loads(question["request"])
            return agent(process_agent_diagram({**request, "config": request.get("config") or {}}))
        if question["do"] == "write":
            return written(json.loads(question["request"]))
        if question["do"] == "import-project":
            return project_to_json(read(question["path"]))
        return agent_buml_to_json(read(question["path"]))
    except BaseException as error:
        return {"error": type(error).__name__, "message": str(error)}


def main():
    forked.cut_off()
    forked.serve(answer, 60)


if __name__ == "__main__":
    main()
