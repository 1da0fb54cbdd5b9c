"""What the attempts share, inside a session (where this is agent.py's library) and outside (where tests read the list).

An attempt is a function. What came of it is its outcome: the name of an errno, what it returned, another exception as
text, "signal SIGSYS" or "timeout". An attempt names the outcomes that are right; anything else is a hole or a changed
machine, and a failed test."""
import ctypes
import errno
import json
import os
import select
import signal
import socket
import time

ATTEMPTS = []
facts = {}  # what the test knows and an attacker might guess: numbers of calls, paths, process ids, addresses
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
PATIENCE = 120  # seconds; none of them takes a second on an idle machine
inherited = []  # descriptors that the agent had when it began


def note_descriptors():
    names = [int(n) for n in os.listdir("/proc/self/fd")]
    inherited.extend(n for n in sorted(names) if os.path.exists(f"/proc/self/fd/{n}") or n < 3)


class Attempt:
    def __init__(self, function, stopped_by, outcomes):
        self.name, self.run = function.__name__, function
        self.what = " ".join(function.__doc__.split())
        self.area = function.__module__
        self.stopped_by, self.outcomes = stopped_by, outcomes


def attempt(stopped_by, *outcomes):
    """What stops it, and each outcome that shows just that."""
    return lambda function: ATTEMPTS.append(Attempt(function, stopped_by, outcomes)) or function


# ---- for attempts -----------------------------------------------------------------------------------------------------

def call(name, *args):
    """A system call by its number, so that no library stands between."""
    ctypes.set_errno(0)
    wide = [ctypes.c_long(a) if isinstance(a, int) else a for a in args]
    number = name if isinstance(name, int) else facts["calls"][name]
    result = libc.syscall(ctypes.c_long(number), *wide)
    if result == -1:
        raise OSError(ctypes.get_errno(), str(name))
    return result


def outcome(function, *args):
    """What came of it, as text or a value for JSON."""
    try:
        return function(*args)
    except socket.gaierror as e:
        return "gaierror: " + e.strerror
    except OSError as e:
        return errno.errorcode.get(e.errno, f"{type(e).__name__}: {e}")
    except Exception as e:
        return f"{type(e).__name__}: {e}"


def each(function, things):
    """The different outcomes of many tries, sorted: one when all were stopped by the same thing."""
    found = {json.dumps(outcome(function, *(t if isinstance(t, tuple) else (t,)))) for t in things}
    return [json.loads(text) for text in sorted(found)]


def read(path, most=4096):
    with open(path, "rb") as f:
        return f.read(most).decode(errors="replace")


def write(path, text):
    with open(path, "r+b", buffering=0) as f:
        f.write(text.encode())
    return "written"


def status(field, pid="self"):
    with open(f"/proc/{pid}/status") as f:
        return next(line.split(":")[1].split() for line in f if line.startswith(field + ":"))


# ---- the run ----------------------------------------------------------------------------------------------------------

def isolated(function):
    """The outcome of a child of its own, whatever it does to itself."""
    receive, send = os.pipe()
    child = os.fork()
    if child == 0:
        os.setsid()
        os.close(receive)
        os.write(send, json.dumps(outcome(function)).encode())
        os._exit(0)
    os.close(send)
    got, until = b"", time.monotonic() + PATIENCE
    while select.select([receive], [], [], max(0, until - time.monotonic()))[0]:
        part = os.read(receive, 65536)
        if not part:
            break
        got += part
    else:
        os.kill(child, signal.SIGKILL)
        got = b'"timeout"'
    os.close(receive)
    _, how = os.waitpid(child, 0)
    if os.WIFSIGNALED(how) and not got:
        return "signal " + signal.Signals(os.WTERMSIG(how)).name
    return json.loads(got or b'"nothing"')


def run_all():
    for a in ATTEMPTS:
        print("OUTCOME " + json.dumps([a.name, isolated(a.run)]), flush=True)
