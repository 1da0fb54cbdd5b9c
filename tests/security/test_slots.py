"""Slots and user ids"""
import ctypes
import os
import pathlib

from tests.security.table import stopped_by
from tests.support.stack import processes_of_uids, wait_until


@stopped_by("own PID namespace")
def test_killing_everybody(stack, wrecked, sibling, bag):
    """send SIGKILL to every process there is (kill -1)"""
    assert wrecked["lines"][-1] == "sent No such process" and all(wrecked["alive"])
    assert stack.state(bag["session"]).json()["exit"] is None


@stopped_by("every process of the user id is ended, the directory removed, only then the slot returns")
def test_leaving_things_behind(attacker):
    """ignore signals, fork twice, close a directory, nest 4000 directories: something to stay for the user id's next session"""
    assert attacker["left"] == {"processes": [], "directory": False, "socket": False}


@stopped_by("a new session, a new directory: the user id is all they have in common")
def test_user_id_used_again_at_once(stack, free_slot):
    """be the next session of a user id a moment after the last: processes, files, queues, keys"""
    code = ("import ctypes, os\nopen('/tmp/mine', 'w').close(); open('mine', 'w').close(); open('/dev/shm/mine', 'w').close()\n"
            "seen = [len([p for p in os.listdir('/proc') if p.isdigit()]), ctypes.CDLL(None).mq_open(b'/mine', os.O_RDONLY)]\n"
            "ctypes.CDLL(None).mq_open(b'/mine', os.O_CREAT | os.O_RDWR, 0o666, None)\n"
            "print('SEEN', seen, os.getuid(), flush=True)\nif os.fork() == 0: os.setsid()\nimport time; time.sleep(60)")
    from tests.security.conftest import said

    users = set()
    for _ in range(3):
        session = stack.create_program("import os\nleft = [d for d in ('/tmp', '/dev/shm', '/work') if 'mine' in os.listdir(d)]\nprint('LEFT', left, flush=True)\n" + code)
        lines = said(stack, session, "SEEN")
        assert stack.internal("DELETE", f"/sessions/{session}").status == 200
        assert "LEFT []" in lines
        users.add(lines[-1].split("] ")[1])
        assert lines[-1].startswith("SEEN [2, -1]"), lines
    assert len(users) == 1


HOARD = r"""
import ctypes, errno, fcntl, os, time
libc = ctypes.CDLL(None, use_errno=True)
fd, name = os.open("/tmp/locks", os.O_RDWR | os.O_CREAT), os.memfd_create("locks")
# a child with the parent's table of files would leave its locks to nobody
shared = libc.syscall(ctypes.c_long(%d), ctypes.c_long(0x400 | 17), 0, 0, 0, 0)
if shared == 0:
    os._exit(0)
print("SHARED", shared, errno.errorcode.get(ctypes.get_errno()), flush=True)
for part in range(%d):
    fcntl.lockf(fd if part %% 2 else name, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, 2 * part)
print("HELD", flush=True)
time.sleep(60)
"""


@stopped_by("the launcher counts them, and ends the session; none outlives its process")
def test_locks_without_number(stack, free_slot, sibling):
    """fill the kernel's memory with locks on single bytes of files (fcntl), which no limit counts; leave them to no process"""
    from tests.security.conftest import said

    clone = ctypes.CDLL("libseccomp.so.2").seccomp_syscall_resolve_name(b"clone")
    few = stack.create_program(HOARD % (clone, 1000))
    assert "SHARED -1 EPERM" in said(stack, few, "HELD")
    assert stack.internal("DELETE", f"/sessions/{few}").status == 200
    many = stack.create_program(HOARD % (clone, 12000))
    wait_until(lambda: "locks on files: it is ended" in stack.log_text(), 30, "it is ended")
    wait_until(lambda: stack.internal("GET", f"/sessions/{many}/files").status == 404 or not processes_of_uids(stack.uid_base + free_slot, stack.uid_base + free_slot), 30, "it is gone")
    stack.internal("DELETE", f"/sessions/{many}")
    assert os.path.exists(f"/proc/{sibling['pids']['sibling']}")


def test_the_page_lists_every_attempt():
    from tests.security import table

    page = table.PAGE.read_text(encoding="utf-8")
    assert table.BEGIN + "\n" + table.text() + table.END in page, "run: python -m tests.security.table --write"


def test_links_of_the_page_lead_somewhere():
    from tests.security import table
    import re

    for target in re.findall(r"\]\(([^)#:]+)\)", table.PAGE.read_text(encoding="utf-8")):
        assert (table.PAGE.parent / pathlib.Path(target)).exists(), target
