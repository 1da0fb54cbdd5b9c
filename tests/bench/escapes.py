"""escapes: the attempts of tests/security/inside against the reference's simulator. What they do here is a test: make
test-security."""
from __future__ import annotations

import errno
import json
import os
import pathlib
import platform
import socket
import sys
import tempfile
import time
import uuid

from tests.bench.reference import TOKEN, Reference
from tests.bench.table import progress, show
from tests.security import conftest as ours
from tests.security.table import AREAS, load
from tests.support.netns import Network
from tests.support.stack import processes_of_uids

INSIDE = ours.HERE / "inside"
UID_BASE = 22000
REFUSALS = {*errno.errorcode.values(), "timeout", "nothing", "gaierror"}

# Both services show the files of a session; only one shows what it prints before somebody is connected to its agent.
TO_A_FILE = """
import builtins
said = open("said.txt", "a")
builtins.print = lambda *words, **how: (said.write(" ".join(map(str, words)) + "\\n"), said.flush())
"""


def directory(session):
    return f"/tmp/sessions/{session}"


def moved(text, session):
    """The attempts know their directory as /work."""
    return text.replace("/work", directory(session))


def start(them, name, session, program, files=None):
    progress(f"{name}")
    code = TO_A_FILE + f"import os\nos.makedirs('{directory(session)}/tmp', exist_ok=True)\n" + moved(program, session)
    them.create_program(code, {path: moved(text, session) for path, text in (files or {}).items()}, session)


def said(them, session, last, seconds):
    """The lines that an agent wrote, once one begins with `last` or nothing came for some seconds."""
    lines, until = [], time.monotonic() + seconds
    while time.monotonic() < until and not any(line.startswith(last) for line in lines):
        time.sleep(0.5)
        now = them.files(session).get("said.txt", "").splitlines()
        if len(now) > len(lines):
            lines, until = now, time.monotonic() + seconds
    return lines


def facts_of(them, sibling, session):
    pids = {"keeper": them.pids[0], "supervisor": them.pids[0], "launcher": them.pids[0], "nginx": them.pids[1]}
    uid = sibling["uid"]
    own = processes_of_uids(uid, uid)
    pids |= {"holder": own[0], "bubblewrap": own[0], "sibling": own[-1]}
    return {
        "calls": ours.numbers_of_calls(), "newest": 450, "machine": platform.machine(), "sibling": {**sibling, "work": directory(session)},
        "pids": pids, "abstract": f"agentsim-bench-{os.getpid()}", "ports": [them.port, them.internal_port], "sockets": [],
        "directories": ["/tmp/sessions", directory(session)],
        "addresses": ["11.77.0.1", "10.77.0.1", "11.77.0.2", "169.254.169.254", "2a11:77::1", "fd77::2", "192.0.2.1"],
        "own_files": [f"{name}.py" for name in ("kit", *AREAS)] + ["said.txt"], "python": "/usr/bin/python3",
        "large_file": str(max((p for p in pathlib.Path("/usr/bin").iterdir() if p.is_file()), key=lambda p: p.stat().st_size)),
        "proc": sorted(p.name for p in pathlib.Path("/proc").iterdir() if p.is_file()), "setuid": ours.setuid_programs(), "token": TOKEN.encode().hex(),
    }


def run(them):
    first, before = (str(uuid.uuid4()) for _ in range(2))
    start(them, "a session beside", first, (INSIDE / "sibling.py").read_text())
    lines = said(them, first, "SIBLING", 60)
    assert lines and lines[-1].startswith("SIBLING "), them.files(first)
    sibling = json.loads(lines[-1].removeprefix("SIBLING "))
    start(them, "a session before", before, (INSIDE / "earlier.py").read_text())
    said(them, before, "LEFT", 30)
    them.internal("DELETE", f"/sessions/{before}", timeout=120)
    facts = facts_of(them, sibling, first)
    with socket.socket(socket.AF_UNIX) as abstract:
        abstract.bind("\0" + facts["abstract"])
        abstract.listen()
        outcomes = {}
        for area in AREAS:  # a session each: there, an attempt may end its session
            lines = attempts_of(them, area, facts)
            outcomes.update(json.loads(line.removeprefix("OUTCOME ")) for line in lines if line.startswith("OUTCOME "))
    return outcomes


def attempts_of(them, area, facts):
    session = str(uuid.uuid4())
    files = {f"{name}.py": (INSIDE / f"{name}.py").read_text() for name in ("kit", area)}
    program = "import kit\nkit.PATIENCE = 5\n" + ours.ATTACKER % area
    start(them, f"attempts: {area}", session, program, {**files, "facts.json": json.dumps(facts)})
    lines = said(them, session, "DONE", 25)
    them.internal("DELETE", f"/sessions/{session}", timeout=120)
    return lines


def is_refusal(outcome):
    """Errors and kinds of ends, alone or in a list of nothing else."""
    if isinstance(outcome, list):
        return all(is_refusal(o) for o in outcome)
    return isinstance(outcome, str) and (outcome in REFUSALS or outcome.split(":")[0] in REFUSALS or outcome.startswith("signal ") or
                                         "Error" in outcome.split(":")[0])


def main():
    attempts = load()
    with tempfile.TemporaryDirectory(prefix="agentsim-bench-") as made, Network() as net:
        folder = pathlib.Path(made)
        log = folder / "hits"
        log.touch()
        net.run("world", [sys.executable, ours.SERVERS, "http", log])
        net.run("here", [sys.executable, ours.SERVERS, "http", log, "--port", "8080"])
        net.run("here", [sys.executable, ours.SERVERS, "dns", folder / "names"])
        them = Reference(sessions=3, AGENT_SIMULATOR_SESSION_UID_BASE=str(UID_BASE), AGENT_SIMULATOR_RLIMIT_NPROC="48",
                         AGENT_SIMULATOR_RLIMIT_NOFILE="200", AGENT_SIMULATOR_RLIMIT_FSIZE_MB="33", AGENT_SIMULATOR_RLIMIT_CPU_SEC="60")
        them.wrapper = net.command("here")
        with net.inside("here"), them:
            outcomes = run(them)
    report(attempts, outcomes)


def report(attempts, outcomes):
    verdicts = {}
    for a in attempts:
        if a.name not in outcomes:
            verdicts[a.name] = "did not run"
        elif outcomes[a.name] in a.outcomes:
            verdicts[a.name] = "stopped"
        else:
            verdicts[a.name] = "stopped otherwise" if is_refusal(outcomes[a.name]) else "not stopped"
    kinds = ("stopped", "stopped otherwise", "not stopped", "did not run")
    rows = []
    for area in (*AREAS, None):
        chosen = [a for a in attempts if area in (a.area, None)]
        rows.append([area or "all", len(chosen), *(sum(verdicts[a.name] == kind for a in chosen) for kind in kinds)])
    show("Attempts inside a session of the reference", ["area", "attempts", *kinds], rows,
         ["stopped: by the same outcome as here, where all are; otherwise: by another error; not stopped: it got something"])
    show("Not stopped there", ["attempt", "what it tries", "outcome"],
         [[a.name, a.what[:90], json.dumps(outcomes[a.name])[:70]] for a in attempts if verdicts[a.name] == "not stopped"],
         ["the reference's simulator ran on this machine's own file system; its container image holds less of one"], left=(0, 1, 2))
