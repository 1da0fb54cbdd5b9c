"""A private agentsim for one test module: all processes, own directories, own ports, own session UIDs.

    with Stack(AGENT_SIMULATOR_MAX_SESSIONS="3") as stack:
        session = stack.create(diagram)
        with stack.talk(session) as ws: ...

No interpreter waits for sessions unless a test says so: many services here see one session or none, and would make two
for nobody. The service that a file of tests/integration shares has the product's own number of them (conftest.py).

Needs root, like the service itself. Everything is started through agentsim-keeper, so the chain is the
installed one: nginx -> FastCGI worker -> supervisor -> launcher -> holder -> bubblewrap -> the runtime.
"""
from __future__ import annotations

import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

from websockets.sync.client import connect

from tests.support.ports import free_port
from tests.support.uids import Users

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / os.environ.get("AGENTSIM_BUILD", "build")
SANITIZED = "asan" in str(BUILD)
# What shared/forget does, which is not linked then: the sanitizer's allocator overwrites what is freed, too.
SANITIZER = "max_free_fill_size=1073741824:free_fill_byte=90"
TOKEN = "a-token-for-tests"


PATIENCE = 3  # times as long as an idle machine may take


def wait_until(condition, seconds, what):
    """The value of condition() as soon as it is true; fails with `what` when it takes more than `seconds` on an idle machine."""
    deadline = time.monotonic() + PATIENCE * seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {PATIENCE} times {seconds} s: {what}")
        time.sleep(0.02)


def processes_of_uids(first, last):
    """Process ids whose real UID lies in [first, last]."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with contextlib.suppress(OSError):
                uid = os.stat(f"/proc/{entry}").st_uid
                real = int(pathlib.Path(f"/proc/{entry}/status").read_text().split("Uid:")[1].split()[0])
                if first <= uid <= last or first <= real <= last:
                    found.append(int(entry))
    return found


def children_of(pid):
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with contextlib.suppress(OSError, IndexError, ValueError):
                stat = pathlib.Path(f"/proc/{entry}/stat").read_text()
                if int(stat.rpartition(")")[2].split()[1]) == pid:
                    found.append(int(entry))
    return found


def runs(pid):
    """Whether it has not ended: one that its parent has not asked for yet has."""
    with contextlib.suppress(OSError):
        return "\nState:\tZ" not in pathlib.Path(f"/proc/{pid}/status").read_text()
    return False


def kill(*pids, number=signal.SIGKILL):
    """Who is killed has ended afterwards, with every socket that it had: a kill is carried out when its process gets a processor."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)
    if number == signal.SIGKILL:
        wait_until(lambda: not any(map(runs, pids)), 30, f"{pids} end")


class Reply:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    def json(self):
        return json.loads(self.body)

    def __repr__(self):
        return f"<{self.status} {self.body[:500]!r}>"


class Stack:
    """See the module's text. Settings are environment variables of the service; None removes one. file: text of a
    configuration file, which set_file() writes anew."""

    def __init__(self, file=None, **settings):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="agentsim-test-"))
        self.dir.chmod(0o755)
        self.bin = self.dir / "bin"
        self.runtime_dir = self.dir / "run"
        self.state_dir = self.dir / "state"
        self.port, self.internal_port = free_port(), free_port()
        self.max_sessions = int(settings.get("AGENT_SIMULATOR_MAX_SESSIONS", 5))
        self.users = Users(self.max_sessions + 65)  # and whoever waits ready for a session
        self.uid_base = self.users.first
        self.env = {
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
            "LANG": "C.UTF-8",
            "AGENT_SIMULATOR_API_TOKEN": TOKEN,
            "AGENT_SIMULATOR_REQUIRE_AUTH": "false",
            "AGENT_SIMULATOR_RATE_LIMIT_MAX_REQUESTS": "100000",
            "AGENT_SIMULATOR_MAX_SESSIONS": "5",
            "AGENT_SIMULATOR_MAX_SESSIONS_PER_ACTOR": "5",
            "AGENT_SIMULATOR_SESSION_UID_BASE": str(self.uid_base),
            "AGENT_SIMULATOR_RESTRICT_CUSTOM_CODE": "false",
            "AGENT_SIMULATOR_RUNTIME_DIR": str(self.runtime_dir),
            "AGENT_SIMULATOR_STATE_DIR": str(self.state_dir),
            "AGENT_SIMULATOR_PROGRAM_DIR": str(self.bin),
            "AGENT_SIMULATOR_NGINX_CONF": str(self.dir / "nginx" / "agentsim.conf"),
            "AGENT_SIMULATOR_WORKERS": "2",
            "AGENT_SIMULATOR_WARM_POOL": "0",
        }
        self.env.update({k: v for k, v in settings.items() if v is not None})
        for key in [k for k, v in settings.items() if v is None]:
            self.env.pop(key, None)
        for key in ("ASAN_OPTIONS", "UBSAN_OPTIONS"):
            if key in os.environ:
                self.env[key] = os.environ[key]
        if SANITIZED:
            self.env["ASAN_OPTIONS"] = ":".join(filter(None, (SANITIZER, self.env.get("ASAN_OPTIONS"))))
        self.log = self.dir / "log"
        self.keeper = None
        self.file = None
        if file is not None:
            self.file = self.dir / "agentsim.yaml"
            self.set_file(file)
        self.wrapper = []  # stands before the keeper's command: another network to live in, for one

    # ---- life ----

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_exc):
        self.stop()

    def set_file(self, text):
        self.file.write_text(text)

    def install(self):
        shutil.copytree(BUILD / "bin", self.bin)
        subprocess.run([ROOT / "nginx" / "install-www.sh", ROOT / "docs" / "examples", self.dir / "www"], check=True)
        conf = self.dir / "nginx"
        conf.mkdir(exist_ok=True)
        subprocess.run(
            [ROOT / "nginx" / "render.sh", conf / "agentsim.conf"],
            check=True,
            env={
                **os.environ,
                "RUNTIME_DIR": str(self.runtime_dir),
                "STATE_DIR": str(self.state_dir),
                "WWW_DIR": str(self.dir / "www"),
                "CONF_DIR": str(conf),
                "PUBLIC_LISTEN": f"127.0.0.1:{self.port}",
                "INTERNAL_LISTEN": f"127.0.0.1:{self.internal_port}",
                **{name: value for name, value in self.env.items() if name == "TRUSTED_PROXIES"},
            },
        )

    def start(self):
        if not self.bin.exists():
            self.install()
        with open(self.log, "ab") as log:
            self.keeper = subprocess.Popen(
                [*self.wrapper, self.bin / "agentsim-keeper", *(["--config", self.file] if self.file else [])], env=self.env, stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd="/"
            )

        def answers():
            if self.keeper.poll() is not None:
                raise AssertionError("the keeper ended:\n" + self.log_text())
            with contextlib.suppress(OSError, urllib.error.URLError, ValueError):
                return self.get("/health").status == 200 and self.internal("GET", "/health").json().get("sandbox") != ""
            return False

        try:
            wait_until(answers, 30, "the service answers")
            wait_until(lambda: self.sandbox() in ("ok", "off"), 30, "the sandbox has passed its self-test")
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.log_text()[-4000:]}") from None

    def is_up(self):
        """Whether anything still listens on the public address."""
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
            return True
        return False

    def sandbox(self):
        with contextlib.suppress(OSError, ValueError):
            return self.internal("GET", "/health").json().get("sandbox")

    def stop(self):
        if self.keeper and self.keeper.poll() is None:
            self.keeper.terminate()
            try:
                self.keeper.wait(120)
            except subprocess.TimeoutExpired:
                self.keeper.kill()
                self.keeper.wait()
        if self.users.locks:
            for pid in processes_of_uids(self.uid_base, self.uid_base + self.max_sessions):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        self.users.release()
        found = self.sanitizers_words()
        shutil.rmtree(self.dir, ignore_errors=True)
        assert not found, found

    def sanitizers_words(self):
        """What sanitizers found, leaks at the end of a process included."""
        text = self.log_text() if SANITIZED else ""
        places = [text.find(word) for word in ("Sanitizer", "runtime error:") if word in text]
        return text[max(0, min(places) - 200):][:6000] if places else ""

    def log_text(self):
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    def children(self, program):
        """Process ids of the keeper's children that run `program` (agentsim-fcgi, agentsim-supervisor, nginx ...)."""
        found = []
        for pid in children_of(self.keeper.pid):
            with contextlib.suppress(OSError):
                if pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[0].decode().endswith(program) or (
                    program == "nginx" and b"nginx" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
                ):
                    found.append(pid)
        return found

    # ---- HTTP ----

    def request(self, method, path, body=None, headers=None, port=None, timeout=60):
        data = body if isinstance(body, (bytes, type(None))) else json.dumps(body).encode()
        request = urllib.request.Request(
            f"http://127.0.0.1:{port or self.port}{path}", data=data, method=method, headers=headers or {}
        )
        if data is not None and "Content-type" not in request.headers:
            request.add_header("Content-Type", "application/json")
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), _NoRedirect())
        try:
            with opener.open(request, timeout=timeout) as answer:
                return Reply(answer.status, answer.headers, answer.read())
        except urllib.error.HTTPError as error:
            return Reply(error.code, error.headers, error.read())

    def get(self, path, **kw):
        return self.request("GET", path, **kw)

    def post(self, path, body, **kw):
        return self.request("POST", path, body, **kw)

    def internal(self, method, path, body=None, token=TOKEN, **kw):
        headers = {"X-Agent-Simulator-Token": token} if token is not None else {}
        return self.request(method, path, body, headers=headers, port=self.internal_port, **kw)

    def counter(self, name):
        """A number of the page for Prometheus."""
        page = self.internal("GET", "/metrics").body.decode()
        return float(re.search(rf"^{re.escape(name)} (\S+)$", page, re.M)[1])

    # ---- sessions ----

    def create(self, request):
        reply = self.post("/besser_api/simulation/sessions", request)
        assert reply.status == 200, reply
        return reply.json()["sessionId"]

    def create_program(self, agent_code, config_yaml="", env_vars=None, support_files=None):
        """A session of any Python program, through the internal surface: for agents that misbehave."""
        import uuid

        session = str(uuid.uuid4())
        reply = self.internal(
            "POST",
            "/sessions",
            {
                "session_id": session,
                "agent_code": agent_code,
                "config_yaml": config_yaml,
                "env_vars": env_vars or {},
                "event_list": [],
                "support_files": support_files or {},
                "workspace_paths": [],
            },
        )
        assert reply.status == 200, reply
        return session

    def end(self, session):
        return self.request("DELETE", f"/besser_api/simulation/sessions/{session}")

    def files(self, session):
        return self.get(f"/besser_api/simulation/sessions/{session}/files").json()

    def state(self, session):
        return self.get(f"/besser_api/simulation/sessions/{session}")

    def socket(self, session, **kw):
        return connect(f"ws://127.0.0.1:{self.port}/besser_api/simulation/{session}/ws", max_size=None, proxy=None, **{"open_timeout": 30, **kw})

    def internal_socket(self, session, token=TOKEN):
        return connect(
            f"ws://127.0.0.1:{self.internal_port}/sessions/{session}/ws",
            max_size=None,
            proxy=None,
            open_timeout=30,
            additional_headers={"X-Agent-Simulator-Token": token},
        )

    def talk(self, session, **auth):
        return Conversation(self.socket(session), auth)

    def talk_inside(self, session):
        """With a session of create_program, whose owner is the backend."""
        return Conversation(self.internal_socket(session))

    def slot_dir(self, slot):
        """Where a slot's directory is: with disks, in the launcher's own mount namespace."""
        for launcher in self.children("agentsim-launcher"):
            disk = pathlib.Path(f"/proc/{launcher}/root{self.state_dir}/disks/{slot}")
            if os.path.ismount(disk):
                return disk / str(slot)
        return self.state_dir / "slots" / str(slot)

    def waiting(self):
        """Interpreters that wait for a session, in a work directory in which nothing is: process ids by slot."""
        found = {}
        for pid in processes_of_uids(self.uid_base, self.uid_base + self.max_sessions):
            with contextlib.suppress(OSError):
                status = pathlib.Path(f"/proc/{pid}/status").read_text()
                words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
                if status.startswith("Name:\tpython") and b"agent.py" in words and not os.listdir(f"/proc/{pid}/cwd"):
                    found[int(status.split("Uid:")[1].split()[0]) - self.uid_base] = pid
        return found

    def session_processes(self):
        """Process ids of all that belongs to sessions, those without an agent included."""
        done = subprocess.run([self.bin / "agentsim", "sessions", "--json"], env=self.env, capture_output=True, text=True, check=True)
        return [pid for session in json.loads(done.stdout)
                for pid in processes_of_uids(self.uid_base + session["slot"], self.uid_base + session["slot"])]

    def leftovers(self):
        """What a stack without sessions must not have: processes of session UIDs, slot directories, sockets."""
        holders = self.runtime_dir / "holders"
        waiting = self.waiting()
        slots = [slot for slot in range(self.max_sessions) if slot not in waiting]
        return {
            "processes": [pid for slot in slots for pid in processes_of_uids(self.uid_base + slot, self.uid_base + slot)],
            "directories": [slot for slot in slots if self.slot_dir(slot).exists()],
            "sockets": [name for name in sorted(os.listdir(holders)) if int(name.removesuffix(".sock")) in slots] if holders.exists() else [],
        }

    def assert_clean(self, seconds=15):
        wait_until(lambda: not any(self.leftovers().values()), seconds, f"nothing is left: {self.leftovers()}")


class Conversation:
    """A browser's side of one socket: signed in (unless auth is None), frames read one by one."""

    def __init__(self, opening, auth=None):
        self.opening = opening
        self.ws = ws = opening.__enter__()
        if auth is not None:
            ws.send(json.dumps({"type": "auth", "githubSession": "", **auth}))
            self.hello = json.loads(ws.recv(timeout=30))
        self.frames = []

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.opening.__exit__(*exc)

    def next(self, timeout=90):
        frame = json.loads(self.ws.recv(timeout=timeout))
        self.frames.append(frame)
        return frame

    def until(self, wanted, timeout=90):
        """The first frame for which wanted(frame) is true; the others are kept in .frames."""
        deadline = time.monotonic() + timeout
        while True:
            frame = self.next(max(0.01, deadline - time.monotonic()))
            if wanted(frame):
                return frame

    def reply(self, timeout=90):
        """The message of the agent's next own frame."""
        return self.until(lambda f: "action" in f, timeout)["message"]

    def say(self, text):
        self.ws.send(json.dumps({"action": "user_message", "message": text}))

    def send(self, action, message):
        self.ws.send(json.dumps({"action": action, "message": message}))


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_args):
        return None
