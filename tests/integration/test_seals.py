"""Our own programs have given up what they do not need: no new privileges, a system call filter each. That it is there is
shown by a call made in the running process, as somebody who took it over would make it."""
import contextlib
import errno
import os
import pathlib

import pytest

from tests.support.inject import system_call
from tests.support.stack import processes_of_uids

# numbers of x86-64
GETPID, SOCKET, EXECVE, MMAP, KEYCTL, UNSHARE, PTRACE, IO_URING_SETUP, PIDFD_GETFD = 39, 41, 59, 9, 250, 272, 101, 425, 438
AF_UNIX, AF_INET, AF_NETLINK, AF_VSOCK = 1, 2, 16, 40
NEWEST, THREAD_KEYRING, NEW_USER = 450, -1, 0x10000000
SANITIZED = "asan" in os.environ.get("AGENTSIM_BUILD", "")

# call, arguments, what it has to fail with
EVERYBODY = [
    (KEYCTL, (0, THREAD_KEYRING, 1), errno.EPERM),
    (IO_URING_SETUP, (1, 0), None),
    (PIDFD_GETFD, (-1, 0, 0), errno.EPERM),
    (NEWEST + 1, (), errno.ENOSYS),
    (SOCKET, (AF_VSOCK, 1, 0), None),
    (SOCKET, (AF_NETLINK, 3, 9), None),
]
LISTED = [(UNSHARE, (NEW_USER,), errno.EPERM)]
SUPERVISOR = [(SOCKET, (AF_INET, 1, 0), errno.EPERM), (EXECVE, (0, 0, 0), errno.EPERM)]
SUPERVISOR_ONLY_WITHOUT_SANITIZERS = [(MMAP, (0, 4096, 5, 0x22, -1, 0), errno.EPERM), (PTRACE, (0,), errno.EPERM)]


def status(pid):
    return dict(line.split(":\t", 1) for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines() if ":\t" in line)


@pytest.fixture(scope="module")
def session(stack):
    session = stack.create_program("import time\nprint('up', flush=True)\ntime.sleep(600)\n")
    with stack.internal_socket(session) as ws:
        ws.recv(timeout=60)
        yield session
    stack.internal("DELETE", f"/sessions/{session}")


def one_of_session(stack, name):
    """A process of a session's user whose name begins so."""
    for pid in processes_of_uids(stack.uid_base, stack.uid_base + stack.max_sessions):
        with contextlib.suppress(OSError):  # there for a moment
            if pathlib.Path(f"/proc/{pid}/comm").read_text().startswith(name):
                return pid
    raise AssertionError(f"no {name}")


@pytest.fixture(scope="module")
def programs(stack, session):
    holder = one_of_session(stack, "agentsim-holder")
    return {"supervisor": stack.children("agentsim-supervisor")[0], "worker": stack.children("agentsim-fcgi")[0],
            "launcher": stack.children("agentsim-launcher")[0], "holder": holder}


@pytest.mark.parametrize("name", ["supervisor", "worker", "launcher", "holder"])
def test_a_program_has_no_way_to_new_privileges_and_one_filter(programs, name):
    fields = status(programs[name])
    assert (fields["NoNewPrivs"], fields["Seccomp"]) == ("1", "2")
    expected = {"holder": "2"}.get(name, "1")  # the launcher's is inherited
    assert fields.get("Seccomp_filters", expected) == expected


@pytest.mark.parametrize("name", ["supervisor", "worker", "launcher", "holder"])
def test_a_program_that_was_taken_over_cannot_make_other_calls(stack, programs, name):
    pid = programs[name]
    calls = EVERYBODY + (LISTED if name in ("supervisor", "worker") else []) + (SUPERVISOR if name == "supervisor" else [])
    if name == "supervisor" and not SANITIZED:
        calls = calls + SUPERVISOR_ONLY_WITHOUT_SANITIZERS
    assert system_call(pid, GETPID) == pid, "a call that it may make"
    for number, arguments, error in calls:
        refused = (-error,) if error else (-errno.EPERM, -errno.ENOSYS, -errno.EAFNOSUPPORT, -errno.EPROTONOSUPPORT)
        assert system_call(pid, number, *arguments) in refused, (name, number)
    assert system_call(pid, SOCKET, AF_VSOCK, 1, 0) in (-errno.EPERM, -errno.EAFNOSUPPORT)
    assert stack.get("/health").status == 200, "and it goes on with its work"


def test_an_agent_inherits_both_and_has_its_own(stack, session):
    agent = one_of_session(stack, "python")
    assert status(agent).get("Seccomp_filters", "3") == "3"
