"""Where the processes of a Stack are."""
from __future__ import annotations

import contextlib
import pathlib
import signal
import socket
import uuid

from tests.support import supervisor_rig as rpc
from tests.support.stack import children_of, kill, processes_of_uids, wait_until


def command(pid):
    with contextlib.suppress(OSError):
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    return ""


def tree(pid):
    """All descendants, children first."""
    found = []
    for child in children_of(pid):
        found += [child, *tree(child)]
    return found


def one(stack, program):
    """The first of them, which the keeper may have to start again before."""
    return wait_until(lambda: stack.children(program), 20, f"{program} runs")[0]


def nginx_workers(stack):
    return [pid for master in stack.children("nginx") for pid in children_of(master)]


def of_sessions(stack, word):
    """Processes of session users whose command has that word: "agentsim-holder", "bwrap", "agent.py"."""
    found = []
    for pid in processes_of_uids(stack.uid_base, stack.uid_base + stack.max_sessions):
        if word in command(pid):
            found.append(pid)
    return found


@contextlib.contextmanager
def stopped(*pids):
    """They do nothing meanwhile."""
    kill(*pids, number=signal.SIGSTOP)
    try:
        yield
    finally:
        kill(*pids, number=signal.SIGCONT)


def ask(stack, kind, payload=b""):
    """The supervisor's answer to a worker: (type, fields)."""
    with socket.socket(socket.AF_UNIX) as sock:
        sock.settimeout(60)
        sock.connect(str(stack.runtime_dir / "supervisor.sock"))
        rpc.send_message(sock, kind, payload)
        kind, payload = rpc.recv_message(sock, [])
        return kind, rpc.Fields(payload)


def launcher_is_free(stack):
    """Whoever connected to the launcher before has been heard, and the supervisor, whom each of those displaced, is back."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as sock:
        sock.connect(str(stack.runtime_dir / "launcher.sock"))  # waits when others do, which it would not with a timeout
        sock.settimeout(60)
        assert sock.recv(4096), "the launcher tells its slots"  # and has let go of the supervisor
    stack.sandbox()  # a turn of the supervisor's loop: it has noticed
    wait_until(lambda: stack.sandbox() == "ok", 60, "the supervisor has its channel again")


def sessions(stack):
    kind, fields = ask(stack, rpc.LIST)
    assert kind == rpc.SESSIONS
    return [fields.session() for _ in range(fields.number("I"))]


def end_all(stack):
    for session in sessions(stack):
        ask(stack, rpc.END, uuid.UUID(session["id"]).bytes + rpc.text(session["actor"]))
