"""The filter of system calls, inside a session: what agents need works, what they must not have fails for its reason.
Every row of the table is run in tests/unit/test_seccomp.c; here it is shown that the filter is there, for everybody."""
import json

import pytest
from websockets.exceptions import ConnectionClosed

WORKS = r"""
import asyncio, concurrent.futures, json, multiprocessing, os, socket, sqlite3, subprocess, tempfile, threading
import numpy, pandas

def threads():
    seen = []
    ts = [threading.Thread(target=seen.append, args=(i,)) for i in range(10)]
    [t.start() for t in ts]; [t.join() for t in ts]
    return len(seen)

def database():
    c = sqlite3.connect(os.path.join(tempfile.mkdtemp(), "x.db"))
    c.execute("pragma journal_mode=wal"); c.execute("create table t(x)"); c.executemany("insert into t values (?)", [(1,), (2,)])
    c.commit()
    return c.execute("select sum(x) from t").fetchone()[0]

async def child():
    p = await asyncio.create_subprocess_exec("/bin/echo", "hi", stdout=asyncio.subprocess.PIPE)
    return (await p.communicate())[0].decode().strip()

def pool():
    with concurrent.futures.ProcessPoolExecutor(2) as e:
        return sum(e.map(abs, [-1, -2]))

def unix():
    a, b = socket.socketpair()
    a.send(b"x")
    return b.recv(1).decode()

def tried(f):
    try:
        return f()
    except Exception as e:
        return f"{type(e).__name__}: {e}"

report = {
    "numpy": lambda: float((numpy.eye(300) @ numpy.ones((300, 300))).sum()),
    "pandas": lambda: int(pandas.DataFrame({"a": [1, 1, 2]}).groupby("a").size().max()),
    "threads": threads, "database": database, "child": lambda: asyncio.run(child()), "pool": pool, "unix": unix,
    "shell": lambda: subprocess.run("echo a | tr a b", shell=True, capture_output=True, text=True).stdout.strip(),
    "resolved": lambda: socket.getaddrinfo("localhost", 80, flags=socket.AI_ADDRCONFIG)[0][4][0],
    "fork": lambda: os.waitpid(os.fork() or os._exit(7), 0)[1] >> 8,
    "memory": lambda: len(os.read(os.memfd_create("x"), 1)),
    "framework": lambda: __import__("baf.core.agent").core.agent.Agent.__name__,
    "filter": lambda: [l.split()[1] for l in open("/proc/self/status") if l.startswith("Seccomp:")][0],
}
print("REPORT " + json.dumps({k: tried(f) for k, f in report.items()}), flush=True)
"""

# Calls by number (x86-64), so that no library stands between: name, number, arguments, errno.
REFUSED = [
    ("vsock", 41, (40, 1, 0), "EAFNOSUPPORT"),
    ("vsock with a high bit", 41, (1 << 32 | 40, 1, 0), "EAFNOSUPPORT"),
    ("netlink", 41, (16, 3, 0), "EAFNOSUPPORT"),
    ("packet", 41, (17, 3, 0), "EAFNOSUPPORT"),
    ("kernel cryptography", 41, (38, 5, 0), "EAFNOSUPPORT"),
    ("raw", 41, (2, 3, 1), ("ESOCKTNOSUPPORT", "EPROTONOSUPPORT")),
    ("multipath", 41, (2, 1, 262), "EPROTONOSUPPORT"),
    ("io_uring", 425, (8, 0), "ENOSYS"),
    ("clone3", 435, (0, 0), "ENOSYS"),
    ("user namespace by clone", 56, (0x10000000 | 17, 0, 0, 0, 0), "EPERM"),
    ("network namespace by unshare", 272, (0x40000000,), "EPERM"),
    ("setns", 308, (0, 0), "EPERM"),
    ("mount", 165, (0, 0, 0, 0, 0), "EPERM"),
    ("open_tree", 428, (-100, 0, 0), "EPERM"),
    ("pivot_root", 155, (0, 0), "EPERM"),
    ("ptrace", 101, (16, 1, 0, 0), "EPERM"),
    ("memory of another process", 310, (1, 0, 0, 0, 0, 0), "EPERM"),
    ("descriptor of another process", 438, (0, 0, 0), "EPERM"),
    ("keyring", 250, (0, -4, 1), "EPERM"),
    ("bpf", 321, (0, 0, 0), "EPERM"),
    ("perf", 298, (0, 0, -1, -1, 0), "EPERM"),
    ("userfaultfd", 323, (0,), "EPERM"),
    ("file by handle", 304, (0, 0, 0), "EPERM"),
    ("no random addresses", 135, (0x0040000,), "EPERM"),
    ("words into a terminal", 16, (0, 0x5412, 0), "EPERM"),
    ("words into a terminal, with a high bit", 16, (0, 1 << 32 | 0x5412, 0), "EPERM"),
    ("shared memory of nobody", 29, (0, 4096, 0o600 | 0o1000), "ENOSYS"),
    ("a module", 313, (0, 0, 0), "EPERM"),
    ("reboot", 169, (0, 0, 0, 0), "EPERM"),
    ("a call that is newer than the table", 467, (0, 0, 0), "ENOSYS"),
    ("the x32 table", 0x40000000 + 39, (), "ENOSYS"),
]

TRIES = """
import ctypes, errno, json
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def call(number, args):
    ctypes.set_errno(0)
    r = libc.syscall(ctypes.c_long(number), *[ctypes.c_long(a) for a in args])
    return errno.errorcode.get(ctypes.get_errno()) if r == -1 else "worked"
print("REPORT " + json.dumps([call(n, a) for n, a in %r]), flush=True)
"""


def report(stack, code):
    session = stack.create_program(code)
    lines = []
    with stack.internal_socket(session) as ws, pytest.raises(ConnectionClosed):
        while True:
            lines.append(json.loads(ws.recv(timeout=90)).get("line", ""))
    found = [line for line in lines if line.startswith("REPORT ")]
    assert found, "\n".join(lines)
    return json.loads(found[0].removeprefix("REPORT "))


def test_what_agents_are_made_of_works_under_the_filter(stack):
    assert report(stack, WORKS) == {
        "numpy": 90000.0, "pandas": 2, "threads": 10, "database": 3, "child": "hi", "pool": 3, "unix": "x", "shell": "b",
        "resolved": "127.0.0.1", "fork": 7, "memory": 0, "framework": "Agent", "filter": "2"}


def test_what_agents_must_not_have_fails_for_its_reason(stack):
    got = report(stack, TRIES % [(number, args) for _, number, args, _ in REFUSED])
    for (name, _, _, expected), answer in zip(REFUSED, got, strict=True):
        assert answer in ((expected,) if isinstance(expected, str) else expected), (name, answer)
