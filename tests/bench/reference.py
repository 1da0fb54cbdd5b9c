"""The reference's two services, started on the loopback for one measurement: PyPI besser 8.4.1.

    with Reference() as them:           simulator and, in front of it, the public backend
    with Reference(simulator=False)     the backend alone

Their environments come from docker/install/testenv.sh. The simulator wants root, and its sandbox shows agents neither
/root nor the top-level directory of its sessions (/tmp): it runs in a mount namespace with a /tmp of its own, where
build/simulator is also below /mnt.
"""
from __future__ import annotations

import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import uuid

from tests.support.stack import Stack, free_port, wait_until

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = "besser.utilities.web_modeling_editor"
TOKEN = "bench-token"
PUBLIC = "/besser_api/simulation"
INSIDE = """
mount -t tmpfs -o mode=755 tmpfs /mnt && mkdir /mnt/simulator && mount --bind "$0" /mnt/simulator && mount -t tmpfs tmpfs /tmp && cd / && exec setpriv --pdeathsig KILL \
/mnt/simulator/bin/python -m uvicorn "$1" --host 127.0.0.1 --port "$2" --log-level warning
"""


def install(*names):
    for name in names:
        subprocess.run([ROOT / "docker" / "install" / "testenv.sh", name], check=True, stdout=subprocess.DEVNULL)


class Reference:
    """Settings are environment variables of both services."""

    def __init__(self, simulator=True, backend=True, sessions=30, **settings):
        install(*(["backend"] if backend else []), *(["simulator"] if simulator else []))
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="agentsim-reference-"))
        self.with_simulator, self.with_backend = simulator, backend
        self.port, self.internal_port = free_port(), free_port()
        self.env = {
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
            "LANG": "C.UTF-8",
            "HOME": str(self.dir),
            "AGENT_SIMULATOR_API_TOKEN": TOKEN,
            "AGENT_SIMULATOR_URL": f"http://127.0.0.1:{self.internal_port}",
            "AGENT_SIMULATOR_REQUIRE_AUTH": "false",
            "AGENT_SIMULATOR_RESTRICT_CUSTOM_CODE": "false",
            "AGENT_SIMULATOR_RATE_LIMIT_MAX_REQUESTS": "10000000",
            "AGENT_SIMULATOR_MAX_SESSIONS": str(sessions),
            "AGENT_SIMULATOR_MAX_SESSIONS_PER_ACTOR": str(sessions),
            "NLTK_DATA": f"{os.path.realpath('/opt/agentsim/runtime')}/nltk_data",
            **settings,
        }
        self.processes = []
        self.wrapper = []  # stands before the commands: another network to live in, for one

    def __enter__(self):
        try:
            if self.with_simulator:
                module = f"{PACKAGE}.agent_simulator.agent_simulator_api:app"
                self._start("simulator", ["unshare", "-m", "--propagation", "private", "bash", "-c", INSIDE,
                                          ROOT / "build" / "simulator", module, str(self.internal_port)], self.internal_port)
            if self.with_backend:
                self._start("backend", ["setpriv", "--pdeathsig", "KILL", ROOT / "build" / "backend" / "bin" / "python", "-m", "uvicorn", "--app-dir",
                                        pathlib.Path(__file__).parent, "reference_backend:app", "--host", "127.0.0.1", "--port", str(self.port), "--log-level",
                                        "warning"], self.port)
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_exc):
        self.stop()

    def _start(self, name, command, port):
        self.log = self.dir / f"{name}.log"
        with open(self.log, "wb") as log:
            process = subprocess.Popen([*self.wrapper, *command], env=self.env, cwd=self.dir, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.processes.append(process)

        def answers():
            if process.poll() is not None:
                raise AssertionError(f"the reference's {name} ended:\n" + self.log.read_text(errors="replace")[-3000:])
            with contextlib.suppress(OSError):
                return self.request("GET", "/health", port=port).status in (200, 401)  # the simulator wants its token
            return False

        wait_until(answers, 60, f"the reference's {name} answers")

    def stop(self):
        for process in reversed(self.processes):
            process.send_signal(signal.SIGTERM)
        for process in self.processes:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        shutil.rmtree(self.dir, ignore_errors=True)

    def files(self, session):
        """What the session's directory holds: path -> text."""
        answer = self.internal("GET", f"/sessions/{session}/files", timeout=120)
        return {f["path"]: f["content"] for f in answer.json()["files"]} if answer.status == 200 else {}

    @property
    def pids(self):
        return [process.pid for process in self.processes]

    request = Stack.request

    def internal(self, method, path, body=None, **kw):
        return self.request(method, path, body, headers={"X-Agent-Simulator-Token": TOKEN}, port=self.internal_port, **kw)

    def create(self, request):
        reply = self.request("POST", f"{PUBLIC}/sessions", request)
        assert reply.status == 200, reply
        return reply.json()["sessionId"]

    def create_program(self, agent_code, support_files=None, session=None):
        session = session or str(uuid.uuid4())
        reply = self.internal("POST", "/sessions", {"session_id": session, "agent_code": agent_code, "config_yaml": "", "env_vars": {},
                                                    "event_list": [], "support_files": support_files or {}, "workspace_paths": []})
        assert reply.status == 200, reply
        return session, reply.json()

    def own(self, session):
        """Makes a session of create_program ours in the eyes of the backend."""
        assert self.request("POST", f"/bench/owned/{session}").status == 200

    def end(self, session):
        return self.request("DELETE", f"{PUBLIC}/sessions/{session}")

    def end_program(self, session):
        return self.internal("DELETE", f"/sessions/{session}")

    socket = Stack.socket
    talk = Stack.talk
