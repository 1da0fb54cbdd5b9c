"""Draws agent diagrams for tests, as the editor saves them but without its decoration.

    d = Diagram("Bike_shop", llm("fast", base_url=model))
    hello = d.state("hello", text("Hello, {name}", fill=True), llm_reply(store="answer"))
    d.go(hello, hello, "when_no_intent_matched")
    stack.create(d.request(configYaml=...))

The first state drawn is the initial one. Actions and components are plain dictionaries with the members of the format,
so whatever a helper below does not know can be given by its own name: llm_reply(llm_name="slow").
"""
from __future__ import annotations

import json
import textwrap


class Diagram:
    def __init__(self, title, *components):
        self.title = title
        self.elements, self.relationships, self.components = {}, {}, {}
        for component in components:
            self.add(component)

    def new_id(self):
        return f"e{len(self.elements) + len(self.relationships) + len(self.components) + 1}"

    def put(self, element):
        key = self.new_id()
        self.elements[key] = {"id": key, **element}
        return key

    def add(self, component):
        key = self.new_id()
        self.components[key] = {"id": key, **component}
        return component["name"]

    def intent(self, name, *sentences, **members):
        bodies = []
        for sentence in sentences:
            key = self.new_id()
            self.components[key] = {"id": key, "type": "AgentIntentBody", "name": sentence}
            bodies.append(key)
        return self.add({"type": "AgentIntent", "name": name, "bodies": bodies, **members})

    def state(self, name, *actions, fallback=(), **members):
        first = not any(e["type"] == "AgentState" for e in self.elements.values())
        key = self.put({
            "type": "AgentState", "name": name, "actions": [self.put(dict(a)) for a in actions],
            "fallbackActions": [self.put(dict(a)) for a in fallback], "fallbackBodyEnabled": bool(fallback), **members})
        if first:
            self.arc(self.put({"type": "StateInitialNode", "name": ""}), key, type="AgentStateTransitionInit")
        return key

    def reasoning(self, name, **members):
        return self.state(name, stateType="reasoning", **members)

    def arc(self, source, target, **members):
        key = self.new_id()
        self.relationships[key] = {"id": key, "type": "AgentStateTransition", "source": {"element": source},
                                   "target": {"element": target}, **members}

    def go(self, source, target, kind="auto", **payload):
        """A transition of a predefined kind: auto, when_intent_matched (intentName=), when_no_intent_matched ..."""
        self.arc(source, target, transitionType="predefined", predefined={"predefinedType": kind, **payload})

    def on(self, source, target, event="ReceiveTextEvent", *conditions):
        """A transition by an event of BAF, and conditions in Python."""
        self.arc(source, target, transitionType="custom",
                 custom={"event": event, "condition": [textwrap.dedent(c) for c in conditions]})

    def request(self, **more):
        model = {"version": "3.0.0", "type": "AgentDiagram", "elements": self.elements,
                 "relationships": self.relationships, "components": self.components}
        return {"title": self.title, "model": model, **more}

    def __str__(self):
        return json.dumps(self.request(), indent=1)


# ---- components -----------------------------------------------------------------------------------------------------

def llm(name, provider="openai", *, model=None, **parameters):
    """base_url=, api_key= and whatever else is sent with each request."""
    if model:
        parameters["model"] = model
    if provider != "ollama":
        parameters.setdefault("api_key", "a-key")
    return {"type": "AgentLLM", "name": name, "provider": provider, "parameters": parameters}


def tool(name, code, description=""):
    return {"type": "AgentTool", "name": name, "code": textwrap.dedent(code), "description": description}


def skill(name, content, description=None):
    return {"type": "AgentSkill", "name": name, "content": content, "description": description}


def workspace(name, path, description="Files", **members):
    return {"type": "AgentWorkspace", "name": name, "path": path, "description": description, **members}


def rag(name, **members):
    return {"type": "AgentRagElement", "name": name, **members}


# ---- actions --------------------------------------------------------------------------------------------------------

def action(kind, name="", **members):
    return {"type": "AgentStateBody", "actionType": kind, "name": name, **members}


def produced(store=None, send=True, prompt=None, **members):
    """What the actions that produce a text have in common. A prompt may name session variables."""
    common = {"storeInSession": store, "sendReply": send}
    if prompt is not None:
        common.update(inputPromptMode="custom", customInputPrompt=prompt, customInputPromptUseSessionVars=True)
    return {**common, **members}


def text(words, fill=False):
    return action("TextReplyAction", words, useSessionVars=fill)


def llm_reply(system=None, fill=False, **members):
    return action("LLMReplyAction", system_message=system, systemPromptUseSessionVars=fill, **produced(**members))


def llm_chat(system=None, **members):
    return action("LLMChatAction", system_message=system, **produced(**members))


def rag_reply(store_name, **members):
    return action("RAGReplyAction", ragDatabaseName=store_name, **produced(**members))


def sql(query, **members):
    return action("DBAction", dbQueryMode="sql", dbSqlQuery=query, **produced(**members))


def ask_database(**members):
    return action("DBAction", **produced(**members))


def crawl(url, **members):
    return action("WebCrawlLLMAction", initial_url=url, **produced(**members))


def speech(words, speed=None):
    return action("WebSocketReplySpeechAction", ws_message=words, ws_audio_speed=speed)


def reply_file():
    return action("WebSocketReplyFileAction")


def reply_image():
    return action("WebSocketReplyImageAction")


def reply_dataframe():
    return action("WebSocketReplyDataframeAction")


def reply_plotly():
    return action("WebSocketReplyPlotlyAction")


def code(body):
    """Custom code: the lines of a function of `session`."""
    return action("CustomCodeAction", "def act(session):\n" + textwrap.indent(textwrap.dedent(body).strip("\n"), "    ") + "\n")
