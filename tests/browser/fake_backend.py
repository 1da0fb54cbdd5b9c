"""A service that does what a test says: for frames that a real agent hardly makes, and for broken connections.

It speaks the contract (REST and socket, with resume) behind our real nginx. Sessions are FakeSession objects; a test
pushes frames into them and looks at what the console sent.
"""
from __future__ import annotations

import contextlib
import json
import re
import threading
import uuid

from tests.support.front import Front, json_reply
from tests.support.stack import wait_until

SIMULATION = "/besser_api/simulation"


class FakeSession:
    def __init__(self):
        self.id = str(uuid.uuid4())
        self.frames = []        # what the console should have got, in order
        self.got = []           # what it sent, parsed
        self.auths = []         # its sign-in frames
        self.files = {"files": [], "directories": []}
        self.on_message = None  # called with (session, frame)
        self.ended = False
        self.state = "attached"
        self.socket = None
        self.base = 0
        self.lock = threading.Lock()

    def push(self, *frames):
        """Dictionaries become JSON; strings are sent as they are."""
        for frame in frames:
            text = frame if isinstance(frame, str) else json.dumps(frame)
            with self.lock:
                self.frames.append(text)
                if self.socket:
                    self.socket.send(text)

    def reply(self, action, message, **members):
        self.push({"action": action, "message": message, "history": False, "timestamp": "2026-01-31 12:00:00",
                   "message_id": None, **members})

    def say(self, text):
        self.reply("agent_reply_str", text)

    def enter(self, state):
        self.push({"type": "state_change", "state": state, "_source": "log_state"})

    def print(self, line):
        self.push({"type": "stdout", "line": line})

    def drop(self, code=1012):
        """Closes the console's socket; frames pushed from now on are kept for the next one."""
        with self.lock:
            socket, self.socket = self.socket, None
        socket.close(code)

    def attached(self):
        return wait_until(lambda: self.socket, 15, "the console is connected")

    def wait_for(self, action):
        """The newest frame of that action that the console sent."""
        return wait_until(lambda: next((f for f in reversed(self.got) if f.get("action") == action), None), 10, action)


class FakeService:
    """FastCGI and WebSocket handlers of a Front, and what the test may change about them."""

    def __init__(self):
        self.sessions = {}
        self.requests = []          # (method, path, parsed body)
        self.validate_answer = {"valid": True, "agentCode": "# an agent\nprint('hello')\n", "eventList": [], "errors": []}
        self.judge_answer = {"isValid": True, "errors": [], "warnings": [], "message": ""}
        self.start_error = None     # (status, detail)
        self.close_code = None      # refuse sockets with this code
        self.on_start = lambda session: None
        self.hold = None            # an Event: sockets are answered once it is set
        self.archive = True
        self.prefer = None          # the header of the newest start

    @property
    def newest(self):
        return wait_until(lambda: list(self.sessions.values())[-1:], 10, "a session was started")[0]

    def fastcgi(self, params, body):
        method, path = params["REQUEST_METHOD"], params["SCRIPT_NAME"]
        value = json.loads(body) if body else None
        self.requests.append((method, path, value))
        if (method, path) == ("POST", f"{SIMULATION}/validate"):
            return json_reply(200, self.validate_answer)
        if (method, path) == ("POST", "/besser_api/validate-diagram"):
            return json_reply(200, self.judge_answer) if self.judge_answer else json_reply(404, {"detail": "Not Found"})
        if (method, path) == ("POST", f"{SIMULATION}/sessions"):
            self.prefer = params.get("HTTP_PREFER")
            return self._start()
        if path == f"{SIMULATION}/limits":
            return json_reply(200, {"memoryMb": None, "cpuCores": None, "diskMb": None,
                                    "sessionLifetimeSeconds": 900, "editorQuotaEnabled": False})
        match = re.fullmatch(rf"{SIMULATION}/sessions/([^/]+)(/.*)?", path)
        session = self.sessions.get(match[1]) if match else None
        if not session or session.ended:
            return json_reply(404, {"detail": "There is no such session."})
        return self._of_session(session, method, match[2])

    def _start(self):
        if self.start_error:
            status, detail = self.start_error
            return json_reply(status, {"detail": detail})
        session = FakeSession()
        self.sessions[session.id] = session
        self.on_start(session)
        return json_reply(200, {"sessionId": session.id, "eventList": []})

    def _of_session(self, session, method, rest):
        if method == "DELETE":
            session.ended = True
            return json_reply(200, {"ok": True})
        if method == "GET" and rest is None:
            return json_reply(200, {"sessionId": session.id, "state": session.state, "startedAt": "2026-01-31T12:00:00.000Z",
                                    "expiresAt": None, "attached": True, "framesSent": len(session.frames), "exit": None})
        if rest == "/files":
            return json_reply(200, session.files)
        if rest == "/archive" and self.archive:
            return 200, [("Content-Type", "application/zip")], b"PK\x05\x06" + bytes(18)
        if rest and rest.startswith("/files/"):
            content = next((f["content"] for f in session.files["files"] if f["path"] == rest[7:]), None)
            if content is not None:
                return 200, [("Content-Type", "application/octet-stream"),
                             ("Content-Disposition", "attachment")], content.encode()
        return json_reply(404, {"detail": "Not Found"})

    def websocket(self, ws):
        session = self.sessions.get(ws.request.path.split("/")[3])
        auth = json.loads(ws.recv(timeout=60))
        if self.hold:
            self.hold.wait(120)
        if self.close_code or not session or session.ended:
            ws.send(json.dumps({"type": "error", "message": "not now"}))
            ws.close(self.close_code or 4404)
            return
        with session.lock:
            if session.socket:
                session.socket.close(4409)
            session.auths.append(auth)
            received = auth.get("received")
            if received is None:
                ws.send(json.dumps({"type": "auth_ok"}))
                missed = session.frames
            else:
                ws.send(json.dumps({"type": "auth_ok", "resumed": True, "from": received + 1}))
                missed = session.frames[received:]
            for text in missed:
                ws.send(text)
            session.socket = ws
        with contextlib.suppress(Exception):
            for text in ws:
                frame = json.loads(text)
                session.got.append(frame)
                if session.on_message:
                    session.on_message(session, frame)


def fake_front(service, examples):
    return Front(service.fastcgi, service.websocket, examples)
