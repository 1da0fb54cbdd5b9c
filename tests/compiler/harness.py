"""What the compiler's tests share: running `agentsim`, dumping programs, asking the reference.

AGENTSIM_COMPILER_SCALE multiplies the sample sizes (default 1: each file within three minutes on one core),
AGENTSIM_COMPILER_SEED moves all of them to other samples; a failing test names the seed of its diagram.
"""

from __future__ import annotations

import atexit
import contextlib
import dataclasses
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / os.environ.get("AGENTSIM_BUILD", "build")
REFERENCE_PYTHON = str(ROOT / "build" / "reference" / "bin" / "python")
SUPPORT = ROOT / "tests" / "support"
FIXTURES = ROOT / "tests" / "fixtures"
SCALE = float(os.environ.get("AGENTSIM_COMPILER_SCALE", "1"))
SEED = int(os.environ.get("AGENTSIM_COMPILER_SEED", "0")) * 1_000_000

OK, REFUSED = 0, 1


def own_programs():
    """A copy of the programs, so that a build beside the tests does not disturb them."""
    folder = tempfile.mkdtemp(prefix="agentsim-compiler-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for name in ("agentsim", "agentsim-pyparse"):
        shutil.copy2(BUILD / "bin" / name, folder)
    return folder + "/agentsim"


AGENTSIM = own_programs()


def scaled(count):
    return max(1, round(count * SCALE))


def seeds(count, salt=0):
    """`count` seeds at scale 1. salt keeps the samples of different tests apart."""
    return [SEED + salt * 100_000 + number for number in range(scaled(count))]


def to_json(request):
    """JSON text; infinities are written as numbers that are too large, the only way a client can send them."""
    text = json.dumps(request)
    return re.sub(r'(?<=[:\[,] )(-?)Infinity(?=[,\]}])', r"\g<1>1e400", text)


@dataclasses.dataclass
class Run:
    """One call of the program: its answer, and what it cost."""

    status: int
    out: str
    err: str
    seconds: float = 0.0  # of computing, with its children
    megabytes: float = 0.0  # largest resident size of any process of it

    @property
    def said(self):
        return self.out + self.err


def agentsim(*arguments, request=None, text=None, timeout=60):
    """Runs agentsim; a request becomes its standard input. A crash is a failure whatever the test is about."""
    body = text if text is not None else to_json(request) if request is not None else ""
    done = subprocess.run(
        [AGENTSIM, *map(str, arguments)],
        input=body if isinstance(body, bytes) else body.encode("utf-8", "surrogatepass"),
        capture_output=True,
        timeout=timeout,
        check=False,
    )
    run = Run(done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"))
    assert run.status in (0, 1, 2, 3), f"agentsim died with status {run.status}: {run.said[-2000:]}"
    assert "Sanitizer" not in run.err and "runtime error:" not in run.err, run.err[-4000:]
    return run


def measured(*arguments, text, timeout=60):
    """agentsim() by way of a child of its own, so that its use of time and memory is known."""
    here, there = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        with contextlib.suppress(BaseException):
            os.close(here)
            run = agentsim(*arguments, text=text, timeout=timeout)
            used = resource.getrusage(resource.RUSAGE_CHILDREN)
            run.seconds, run.megabytes = used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
            with os.fdopen(there, "w", encoding="utf-8") as stream:
                json.dump(dataclasses.asdict(run), stream)
            status = 0
        os._exit(status)
    os.close(there)
    with os.fdopen(here, encoding="utf-8") as stream:
        answer = stream.read()
    os.waitpid(child, 0)
    assert answer, f"agentsim {arguments} crashed or took more than {timeout} s"
    return Run(**json.loads(answer))


def generate(request, directory):
    """The program of a request as a session gets it: a Run, and below the directory the files when it is valid."""
    return agentsim("generate", "--session", "--quiet", "--output", directory, "-", request=request)


def verdict(request):
    return agentsim("validate", "-", request=request)


def files_of(directory):
    """Path -> bytes of everything below a directory."""
    root = pathlib.Path(directory)
    return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def fixture_names():
    return sorted(path.stem for path in (FIXTURES / "diagrams").glob("*.json"))


def fixture(name):
    return json.loads((FIXTURES / "diagrams" / f"{name}.json").read_text(encoding="utf-8"))


def is_valid_fixture(name):
    expected = json.loads((FIXTURES / "expected" / f"{name}.json").read_text(encoding="utf-8"))
    return expected["outcome"] == "ok"


class Lines:
    """A helper process that answers every line of JSON with one."""

    def __init__(self, *command, env=None):
        self.process = subprocess.Popen(
            command,
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
            cwd=ROOT,
        )

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        assert answer, f"{self.process.args} ended"
        return json.loads(answer)

    def close(self):
        self.process.stdin.close()
        self.process.wait(30)


class Dumper(Lines):
    """agent_dump.py under the reference's interpreter, which has the framework."""

    def __init__(self):
        super().__init__(REFERENCE_PYTHON, str(SUPPORT / "agent_dump.py"), "--jsonl")

    def dump(self, directory, probes=None):
        return self.ask(f"{directory}\t{probes}" if probes else str(directory))["dump"]


class Reference(Lines):
    """The reference generator in one process; each request in a child of it."""

    def __init__(self):
        super().__init__(REFERENCE_PYTHON, "-m", "tests.compiler.reference_worker")

    def generate(self, request, directory):
        """{"ok": True} and the files, or {"error": class, "message": ...}."""
        return self.ask(json.dumps({"request": to_json(request), "out": str(directory)}))


def install_reference():
    subprocess.run([str(ROOT / "docker" / "install" / "testenv.sh"), "reference"], check=True, stdout=sys.stderr)
