#!/usr/bin/env python3
"""Holds conversations with generated agents under the real framework, many a second: for the tests.

    agent_talk.py [--mended] [--path FOLDER]

Runs under the agents' own interpreter, loads the framework once and forks for every conversation. One line of JSON in,
one line out:

    {"directory": DIR, "steps": [STEP ...]}   ->   {"steps": [[EVENT ...] ...], "end": null, "said": "..."}

The answer's first list is what connecting brings, then comes one list a step. An EVENT is a frame of the agent without
its time ({"action", "message", and "message_id", "history" when they say something}) or {"state": NAME} when the body of
a state starts. `end` tells why a conversation stopped early: "endless" (LIMIT events in one step), "stuck" (no end in
sight), "closed" (the agent gave up the connection), "start" (the program did not come up); "said" is what the process
printed last. A STEP is

    {"send": FRAME} or {"send_raw": TEXT}   one frame; the next step comes when the agent is at rest
    {"together": [FRAME ...]}               frames that arrive while the agent is busy
    {"wake": true}                          the periodic look at conditions, which otherwise takes seconds

and may name a {"user": NAME}: each name is a session of its own, connected at its first step (whose list holds both).

Everything above the socket is the framework as it is; the WebSocket server alone is replaced, so that the end of a turn
is known and not guessed. --mended repairs what the programs of the reference are known to stumble over, so that the rest
of a conversation can be compared: events without a message (V6), comparisons that raise (D1), training sentences in
another normal form than the user's text (V27).
--path adds a folder of packages behind the interpreter's own.
"""
import argparse
import glob
import importlib
import io
import json
import os
import queue
import socket
import sys
import tempfile
import threading
import time
import types
import unicodedata

LIMIT = 150
PATIENCE = 30
PRELOADED = ("openai", "openai.resources.chat.completions", "baf.core.agent", "baf.library.state", "baf.nlp.llm.llm_openai_api",
             "baf.nlp.intent_classifier.llm_intent_classifier", "baf.platforms.websocket.websocket_platform")
ALSO_FOR_THE_REFERENCE = ("baf.nlp.llm.llm_anthropic", "baf.nlp.llm.llm_huggingface", "baf.nlp.llm.llm_huggingface_api",
                          "baf.nlp.llm.llm_ollama", "baf.nlp.llm.llm_replicate_api", "baf.nlp.llm.llm_openrouter",
                          "baf.nlp.speech2text.openai_speech2text", "baf.nlp.text2speech.openai_text2speech",
                          "besser.utilities.buml_code_builder.common")


class Ended(Exception):
    """The conversation cannot go on."""


class Connection:
    """Stands for one browser's socket on the side of the agent."""

    def __init__(self, key):
        self.id = key
        self.request = types.SimpleNamespace(headers={"X-Session-ID": key}, path="/")
        self.inbox = queue.Queue()
        self.changed = threading.Condition()
        self.delivered = self.asked = 0
        self.over = False
        self.events = []

    # What the framework does with a socket
    def __iter__(self):
        while True:
            with self.changed:
                self.asked += 1
                self.changed.notify_all()
            yield self.inbox.get()

    def send(self, text):
        frame = json.loads(text)
        shown = {key: frame[key] for key in ("action", "message")}
        shown.update({key: frame[key] for key in ("message_id", "history") if frame.get(key)})
        self.note(shown)

    def close_socket(self):
        pass

    # What the test does with it
    def note(self, event):
        with self.changed:
            if len(self.events) < LIMIT:
                self.events.append(event)
            self.changed.notify_all()

    def deliver(self, text):
        with self.changed:
            self.delivered += 1
        self.inbox.put(text)

    def serve(self, handler):
        try:
            handler(self)
        finally:
            with self.changed:
                self.over = True
                self.changed.notify_all()

    def wait(self, true, deadline):
        """Until the condition holds; raises when the agent says too much, or nothing for too long."""
        with self.changed:
            while not true():
                if len(self.events) >= LIMIT:
                    raise Ended("endless")
                if not self.changed.wait(max(0, deadline - time.monotonic())):
                    raise Ended("stuck")

    def settle(self, agent):
        """Returns when nothing is left to do for the session of this connection."""
        deadline = time.monotonic() + PATIENCE
        self.wait(lambda: self.over or self.asked == self.delivered + 1, deadline)
        if self.over:
            raise Ended("closed")
        loop = agent._sessions[self.id]._event_loop
        rest = []

        def mark():
            if loop._ready:
                loop.call_soon(mark)
                return
            with self.changed:
                rest.append(True)
                self.changed.notify_all()

        loop.call_soon_threadsafe(mark)
        self.wait(lambda: rest, deadline)


class Talk:
    """The conversation of one process."""

    def __init__(self):
        self.agent = self.handler = None
        self.users = {}

    # ---- in place of parts of the framework
    def install(self, modules):
        talk = self

        def serve(handler, **_options):
            talk.handler = handler
            return types.SimpleNamespace(serve_forever=threading.Event().wait, shutdown=lambda: None)

        modules.websocket.serve = serve
        run_agent, run_state, stop_loop = modules.Agent.run, modules.State.run, modules.Session._stop_event_thread

        def run(agent, train=True, sleep=True):
            talk.agent = agent
            run_agent(agent, train, sleep=False)

        def run_body(state, session):
            for user in talk.users.values():
                if user.id == session.id:
                    user.note({"state": state.name})
            run_state(state, session)

        def stop(session):
            session._event_loop.call_soon_threadsafe(session._event_loop.stop)  # wakes it, too
            stop_loop(session)

        start = modules.websocket.WebSocketPlatform.start

        def start_without_ui(platform):
            platform._use_ui = False  # a download would open a web page in a process of its own
            start(platform)

        modules.websocket.WebSocketPlatform.start = start_without_ui
        modules.Agent.run, modules.State.run, modules.Session._stop_event_thread = run, run_body, stop

    # ---- steps
    def user(self, name):
        """The connection of a user, and whether it is new."""
        if name in self.users:
            return self.users[name], False
        made = self.users[name] = Connection(name)
        threading.Thread(target=made.serve, args=(self.handler,), daemon=True).start()
        made.settle(self.agent)
        return made, True

    def play(self, step):
        user, _ = self.user(step.get("user", "browser"))
        loop = self.agent._sessions[user.id]._event_loop
        if "together" in step:
            gate = threading.Event()
            loop.call_soon_threadsafe(gate.wait)
            for frame in step["together"]:
                user.deliver(json.dumps(frame))
            user.wait(lambda: user.over or user.asked == user.delivered + 1, time.monotonic() + PATIENCE)
            gate.set()
        elif step.get("wake"):
            self.agent._sessions[user.id].call_manage_transition()
        elif "send" in step or "send_raw" in step:
            user.deliver(step["send_raw"] if "send_raw" in step else json.dumps(step["send"]))
        user.settle(self.agent)
        events, user.events = user.events, []
        return events

    def hold(self, steps):
        """(lists of events, why it ended)."""
        heard = []
        try:
            heard.append(self.play({}))
            for step in steps:
                heard.append(self.play(step))
        except Ended as reason:
            heard.append([event for user in self.users.values() for event in user.events])
            return heard, str(reason)
        return heard, None


def main_program(directory):
    """agent.py, or the program of a download, which has the agent's name."""
    names = [os.path.basename(path) for path in glob.glob(os.path.join(glob.escape(directory), "*.py"))]
    others = ("tools.py", "agent_model.py", "personalized_agent_model.py")
    return "agent.py" if "agent.py" in names else next(name for name in names if name not in others)


def mend(modules):
    """What a program of the reference cannot help: see the text above."""
    Session, events, conditions = modules.Session, modules.events, modules.conditions
    quiet = events.ReceiveMessageEvent("")
    quiet.predicted_intent = None
    modules.events.ReceiveFileEvent.message = modules.events.GUIEvent.message = ""
    Session.event = property(lambda self: self._event or quiet, Session.event.fset)

    def compare(session, params):
        value, target, operation = session.get(params["var_name"]), params["target"], params["operation"]
        if value is None:
            return False
        numbers = isinstance(value, (int, float)) and isinstance(target, (int, float))
        if not numbers and type(value) is not type(target):
            value, target = str(value), str(target)
        try:
            return bool(operation(value, target))
        except TypeError:
            return False

    conditions.variable_matches_operation = compare
    new_intent = modules.Agent.new_intent

    def composed(agent, name, sentences=None, parameters=None, description=None):
        sentences = [unicodedata.normalize("NFC", sentence) for sentence in sentences or ()]
        return new_intent(agent, name, sentences, parameters, description)

    modules.Agent.new_intent = composed


def stay_here():
    """There is no network; a name that has to be looked up does not exist."""
    look_up = socket.getaddrinfo

    def here(host, *rest, **more):
        if host not in ("127.0.0.1", "localhost"):
            raise socket.gaierror(socket.EAI_NONAME, f"{host} is not here")
        return look_up(host, *rest, **more)

    socket.getaddrinfo = here


def load_framework(names):
    for name in names:
        importlib.import_module(name)
    return types.SimpleNamespace(
        Agent=importlib.import_module("baf.core.agent").Agent, State=importlib.import_module("baf.core.state").State,
        Session=importlib.import_module("baf.core.session").Session,
        events=importlib.import_module("baf.library.transition.events.base_events"),
        conditions=importlib.import_module("baf.library.transition.conditions"),
        websocket=importlib.import_module("baf.platforms.websocket.websocket_platform"))


def converse(question, modules):
    """In the child: runs the program and talks to it."""
    os.chdir(question["directory"])
    name = main_program(".")
    sys.path.insert(0, os.getcwd())
    talk = Talk()
    talk.install(modules)
    main = types.ModuleType("__main__")
    main.__file__ = os.path.join(os.getcwd(), name)
    sys.modules["__main__"] = main
    try:
        with open(name, "rb") as stream:
            exec(compile(stream.read(), name, "exec"), main.__dict__)
        deadline = time.monotonic() + PATIENCE
        while not all(platform.running for platform in talk.agent._platforms):
            if time.monotonic() > deadline:
                raise TimeoutError("no platform")
            time.sleep(0.002)
    except BaseException:
        import traceback
        traceback.print_exc()
        return {"steps": [], "end": "start"}
    heard, end = talk.hold(question["steps"])
    return {"steps": heard, "end": end}


def forked(line, modules, log):
    here, there = os.pipe()
    log.seek(0)
    log.truncate()
    child = os.fork()
    if child == 0:
        os.close(here)
        try:
            answer = json.dumps(converse(json.loads(line), modules))
            with os.fdopen(there, "w", encoding="ascii") as stream:
                stream.write(answer)
        finally:
            os._exit(0)
    os.close(there)
    with os.fdopen(here, encoding="ascii") as stream:
        text = stream.read()
    os.waitpid(child, 0)
    log.seek(0)
    answer = json.loads(text) if text else {"steps": [], "end": "died"}
    return json.dumps({**answer, "said": log.read()[-4000:]})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mended", action="store_true")
    parser.add_argument("--path", action="append", default=[])
    options = parser.parse_args()
    sys.path += options.path
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    log = tempfile.TemporaryFile()
    os.dup2(log.fileno(), 1)
    os.dup2(log.fileno(), 2)
    sys.path[:] = [os.path.abspath(path) for path in sys.path]
    with tempfile.TemporaryDirectory() as scratch:  # where the framework begins a log at once
        os.chdir(scratch)
        modules = load_framework(PRELOADED + (ALSO_FOR_THE_REFERENCE if options.mended else ()))
        os.chdir("/")
    stay_here()
    if options.mended:
        mend(modules)
    reader = io.TextIOWrapper(log, encoding="utf-8", errors="replace")
    for line in sys.stdin:
        answers.write(forked(line, modules, reader) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
