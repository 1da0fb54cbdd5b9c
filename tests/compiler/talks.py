"""Conversations of generated programs under the framework (tests/support/agent_talk.py): scripts to play, and what two
programs said, compared as a browser would."""

from __future__ import annotations

import base64
import copy
import json
import os
import random
import re
import subprocess
import sys
import unicodedata

from tests.compiler import harness
from tests.compiler.request_view import View
from tests.support import random_text

RUNTIME_PYTHON = os.environ.get("AGENT_SIMULATOR_PYTHON", "/opt/agentsim/runtime/bin/python")
CONFIG_YAML = """agent:
  check_transitions_delay: 600
nlp:
  intent_threshold: 0.4
db:
  sql:
    - db1:
        dialect: sqlite
        file: shop.db
"""


class Model:
    """The model server for tests, on a free port."""

    def __init__(self):
        command = [sys.executable, str(harness.SUPPORT / "fake_llm.py"), "--port", "0"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.url = re.search(r"http://\S+", self.process.stdout.readline()).group(0)

    def close(self):
        self.process.terminate()
        self.process.wait(10)


class Talker(harness.Lines):
    """agent_talk.py under the agents' interpreter; mended: for the programs of the reference."""

    def __init__(self, model, mended=False):
        packages = harness.ROOT / "build" / "reference" / "lib" / "python3.11" / "site-packages"
        more = ("--mended", "--path", str(packages)) if mended else ()
        env = {"OPENAI_BASE_URL": model.url, "OPENAI_API_KEY": "a-key", "OPENBLAS_NUM_THREADS": "1"}
        super().__init__(RUNTIME_PYTHON, str(harness.SUPPORT / "agent_talk.py"), *more, env={**os.environ, **env})

    def hold(self, directory, steps):
        return self.ask(json.dumps({"directory": str(directory), "steps": steps}))


# ---- diagrams ----------------------------------------------------------------------------------------------------------
def at_home(request, model, stores=False):
    """The same diagram for a machine without a network: models answer here, the database is a file. Stores of documents
    take seconds to load and are left out unless they are asked for."""
    request = copy.deepcopy(request)
    view = View(request)
    for element in view.of_type("AgentLLM"):
        element["provider"] = "openai"
        element["parameters"] = {"base_url": model.url, "api_key": "a-key"}
    for settings in (view.config, view.config.get("system")):
        if isinstance(settings, dict):
            settings.pop("intentRecognitionTechnology", None)  # the classical one needs PyTorch
    for element in [] if stores else view.of_type("AgentRagElement"):
        element["type"] = "left out"
    request["configYaml"] = CONFIG_YAML
    without_circles(request["model"]["relationships"], [key for key, item in view.elements.items() if item.get("type") in STATES])
    return request


STATES = ("AgentState", "AgentReasoningState")


def without_circles(arcs, states):
    """Unconditional transitions lead to later states only: an agent that never rests says nothing new."""
    for arc in arcs.values():
        if (arc.get("predefined") or arc).get("predefinedType") == "auto":
            source, target = arc["source"]["element"], arc["target"]["element"]
            if source in states and target in states and states.index(target) <= states.index(source):
                arc.pop("predefinedType", None)
                arc.update(transitionType="predefined", predefined={"predefinedType": "when_no_intent_matched"})


# ---- scripts -----------------------------------------------------------------------------------------------------------
def say(text):
    return {"send": {"action": "user_message", "message": text}}


def file_frame(mime, content=b"content"):
    body = {"name": "a.bin", "type": mime, "base64": base64.b64encode(content).decode("ascii")}
    return {"action": "user_file", "message": json.dumps(body)}


def gui_frame(gui, action, **more):
    return {"action": "user_gui_event", "message": {"elementId": "b1", "action": action, "messageId": gui, **more}}


MIMES = ("application/pdf", "text/plain", "image/png", "application/zip", "text/csv", "odt", "weird/type")
EXTENSIONS = {"pdf": "application/pdf", "txt": "text/plain", "json": "application/json", "csv": "text/csv", "xml": "text/xml",
              "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif", "mp3": "audio/mpeg",
              "mp4": "video/mp4"}
ODD_TEXTS = ("", " ", "42", "-3.5", "1e400", "null", "[1, 2]", '"quoted"', "ß и 世界 😀", "a\nb\r\n\tc", "x" * 20000, "good",
             "it's \"q\" \\ \\n", "<b>x</b> & **md** `c`", "%s {} {0}", "\u2028\u202e\ufeff", "e\u0301")
JSONS = ('{"message": "good"}', '{"message": "Berlin"}', '{"a": 1}', '{"message": 5}', "{}")


def typed(text):
    """What a user can have seen and typed: halves of characters become U+FFFD when a diagram is read."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def sentences_of(view, intents=None):
    intents = view.of_type("AgentIntent") if intents is None else intents
    names = [view.elements.get(key, {}).get("name") for intent in intents
             for key in intent.get("bodies") or intent.get("ownedElements") or ()]
    return [typed(name) for name in names if name and isinstance(name, str)]


def options_of(view):
    return [typed(line.strip()) for action in view.actions_of("WebSocketReplyOptionsAction")
            for line in action.get("ws_options", "").split("\n") if line.strip()]


def fitting(operation, target):
    """A value, not one that is false, with which a comparison holds."""
    if isinstance(target, (int, float)) and not isinstance(target, bool):
        return {"<": target - 1, ">": target + 1, "!=": target + 1}.get(operation, target) or -0.5
    return {"<": "!", ">": f"{target}~", "!=": f"{target}x"}.get(operation, target) or "!"


def answers_to(rng, view, block, spoken, gui):
    """Steps that a transition waits for, as far as that can be told."""
    kind = block.get("predefinedType") or block.get("event") or block.get("customEvent")
    if kind == "when_intent_matched":
        meant = [intent for intent in view.of_type("AgentIntent") if intent.get("name") == block.get("intentName")]
        texts = sentences_of(view, meant)
        return [say(rng.choice(texts))] if texts else []
    compared = block.get("conditionValue")
    if isinstance(compared, dict) and {"variable", "operator", "targetValue"} <= set(compared):
        value = {compared["variable"]: fitting(compared["operator"], compared["targetValue"])}
        return [{"send": {"action": "user_set_variable", "message": value}}, {"wake": True}]
    if kind in ("when_file_received", "ReceiveFileEvent"):
        wanted = str(block.get("fileType") or "").split(",")[0].strip().lower()
        return [{"send": file_frame(EXTENSIONS.get(wanted, wanted or "text/plain"))}]
    if kind in ("when_form_submitted", "GUIEvent"):
        sender = block.get("formGuiId") or block.get("guiEventGuiId") or gui
        return [{"send": gui_frame(sender, "onSubmit", value={"days": "3"})}]
    return [say(rng.choice(JSONS) if kind == "ReceiveJSONEvent" else spoken())]


def script(request, seed, count=14):
    """What a user does who tries everything, and mostly what the diagram waits for: steps for agent_talk.py."""
    rng, view = random.Random(seed), View(request)
    sentences, options = sentences_of(view), options_of(view)
    guis = [gui for gui in view.values("gui_id") if isinstance(gui, str)] or ["nowhere"]
    spoken = [lambda: rng.choice(sentences)] * 4 if sentences else []
    spoken += [lambda: rng.choice(options)] if options else []
    spoken += [lambda: rng.choice(ODD_TEXTS), lambda: random_text.tame(rng, 3).replace("{", "("), lambda: rng.choice(JSONS)]
    blocks = [block for _, block in view.arcs]

    def text():
        return rng.choice(spoken)()

    def variables():
        values = {"name": rng.choice(("Ada", "it's", "Berlin")), "age": rng.choice((18, 7, "10", "Berlin", True)),
                  "city": rng.choice(("Berlin", "10")), "total": rng.choice((2.5, 100, "it is"))}
        return {key: values[key] for key in rng.sample(list(values), rng.randint(1, 4))}

    def expected():
        return answers_to(rng, view, rng.choice(blocks), text, rng.choice(guis))

    makers = [
        (14, expected),
        (5, lambda: [say(text())]),
        (1, lambda: [{"send": file_frame(rng.choice(MIMES))}]),
        (1, lambda: [{"send": gui_frame(rng.choice(guis), "onClick")}]),
        (1, lambda: [{"send": {"action": "user_set_variable", "message": variables()}}, {"wake": True}]),
        (1, lambda: [{"together": [say(text())["send"], say(text())["send"]]}]),
        (1, lambda: [{"send": {"action": "agent_reply_str", "message": "from an agent"}}]),
        (1, lambda: [{"send": {"action": "reset", "message": None}}]),
    ]
    weights = [weight for weight, _ in makers]
    return [step for _ in range(count) for step in rng.choices(makers, weights)[0][1]()]


# ---- what was said -----------------------------------------------------------------------------------------------------
# Sentences whose wording is each generator's own, also where a model repeats them.
FREE = tuple((re.compile(pattern, re.S), name) for pattern, name in (
    (r"Original user query:\n(.*?)\n\nRetrieved database answer:\n", r"<query> \1 <answer> "),
    (r"Question: (.*?)\nDatabase result: ", r"<query> \1 <answer> "),
    (r"No SQL query (is )?configured for this (database )?action\.", "<no SQL>"),
))


def plain(message):
    if isinstance(message, str):
        for pattern, name in FREE:
            message = pattern.sub(name, message)
        return unicodedata.normalize("NFC", message)
    if isinstance(message, dict):
        return {key: plain(item) for key, item in message.items()}
    return message


def heard(answer):
    """Events of every step; a JSON text as what it says."""
    def event(item):
        message = item.get("message")
        if item.get("action") in ("agent_reply_gui", "agent_reply_options") and isinstance(message, str):
            message = json.loads(message)
        return {**item, "message": plain(message)} if "message" in item else item

    return [[event(item) for item in step] for step in answer["steps"]]


def first_difference(steps, theirs, ours):
    """Where two conversations part, as text; "" when they do not."""
    one, two = heard(theirs), heard(ours)
    for number in range(max(len(one), len(two))):
        left = one[number] if number < len(one) else f"(over: {theirs['end']})"
        right = two[number] if number < len(two) else f"(over: {ours['end']})"
        if left != right:
            done = "connecting" if number == 0 else json.dumps(steps[number - 1], ensure_ascii=False)[:600]
            same = next((k for k, pair in enumerate(zip(left, right)) if pair[0] != pair[1]), min(len(left), len(right)))
            return f"step {number}, event {same}: {done}\n  reference {brief(left[same:])}\n  ours      {brief(right[same:])}"
    return "" if theirs["end"] == ours["end"] else f"ends: {theirs['end']} and {ours['end']}"


def brief(events):
    return json.dumps(events, ensure_ascii=False)[:1500]


# What no diagram can ask for. Other exceptions may be what its code, its models and its databases deserve.
OWN = "NameError|UnboundLocalError|ImportError|ModuleNotFoundError|RecursionError|SyntaxError|UnicodeEncodeError"


def own_faults(said):
    """Tracebacks that are a fault of the program itself. (The framework's log cannot hold half a character; it goes on.)"""
    blocks = re.findall(rf"^Traceback(?:(?!^Traceback).)*?^(?:{OWN})\b[^\n]*", said, re.M | re.S)
    return [block for block in blocks if "/logging/__init__.py" not in block]
